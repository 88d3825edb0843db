//! Rows that were counted, packed: a million of them fit into some sixty megabytes.

use crate::fold;
use chrono::{Datelike, NaiveDate};
use rust_decimal::Decimal;
use std::collections::HashMap;

/// One counted row or document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) amount: Decimal,
    pub(super) supplier: Name,
    pub(super) code: Name,
    /// Days since the year one; `i32::MIN` for none.
    pub(super) day: i32,
    /// Place of the number in the arena.
    number: (u32, u16),
    pub(super) currency: u16,
    pub(super) table: u32,
    pub(super) row: u32,
}

/// A name by its place in the list; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Name(u32);

impl Name {
    pub(super) fn place(self) -> u32 {
        self.0
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// A table or document that rows come from.
#[derive(Clone, Debug, Default)]
pub(super) struct TableSource {
    pub(super) file: String,
    pub(super) sheet: Option<String>,
    pub(super) page: Option<u32>,
    /// A row for each line of an invoice.
    pub(super) by_line: bool,
}

/// What a row says, before it is packed.
#[derive(Clone, Debug)]
pub(super) struct Facts<'a> {
    pub(super) amount: Decimal,
    /// ISO code; empty when unknown.
    pub(super) currency: &'a str,
    pub(super) supplier: &'a str,
    pub(super) number: &'a str,
    pub(super) code: &'a str,
    pub(super) date: Option<NaiveDate>,
    pub(super) row: u32,
}

/// All rows.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) items: Vec<Item>,
    pub(super) tables: Vec<TableSource>,
    /// Other amounts of a document: net, due; a ledger may list either.
    pub(super) others: HashMap<u32, Vec<Decimal>>,
    numbers: String,
    names: Vec<String>,
    by_spelling: HashMap<String, Name>,
    by_key: HashMap<String, Name>,
    currencies: Vec<String>,
}

impl Store {
    /// Begins a table; rows that follow belong to it.
    pub(super) fn begin(&mut self, source: TableSource) -> u32 {
        self.tables.push(source);
        u32::try_from(self.tables.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds a row to a table and gives its index.
    pub(super) fn add(&mut self, table: u32, facts: &Facts<'_>) -> u32 {
        let item = Item {
            amount: facts.amount,
            supplier: self.name(facts.supplier),
            code: self.name(facts.code),
            day: facts.date.map_or(i32::MIN, |date| date.num_days_from_ce()),
            number: self.number_of(facts.number),
            currency: self.currency_of(facts.currency),
            table,
            row: facts.row,
        };
        self.items.push(item);
        u32::try_from(self.items.len() - 1).unwrap_or(u32::MAX)
    }

    /// The same name in another spelling (width, case, blanks, brackets) is the same supplier.
    fn name(&mut self, text: &str) -> Name {
        if text.is_empty() {
            return Name::default();
        }
        if let Some(found) = self.by_spelling.get(text) {
            return *found;
        }
        let key = fold::key(text);
        let next = Name(u32::try_from(self.names.len() + 1).unwrap_or(u32::MAX));
        let name = if key.is_empty() { next } else { *self.by_key.entry(key).or_insert(next) };
        if name == next {
            self.names.push(text.to_owned());
        }
        // A column of a million different names would keep two copies of each; the key alone finds them too.
        if self.by_spelling.len() < 200_000 {
            self.by_spelling.insert(text.to_owned(), name);
        }
        name
    }

    pub(super) fn spelled(&self, name: Name) -> &str {
        match name.0.checked_sub(1) {
            Some(index) => self.names.get(index as usize).map_or("", String::as_str),
            None => "",
        }
    }

    fn number_of(&mut self, text: &str) -> (u32, u16) {
        let text = fold::cut(text, 200);
        let start = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.push_str(text);
        (start, u16::try_from(text.len()).unwrap_or(0))
    }

    pub(super) fn number(&self, item: &Item) -> &str {
        let start = item.number.0 as usize;
        self.numbers.get(start..start + usize::from(item.number.1)).unwrap_or("")
    }

    fn currency_of(&mut self, code: &str) -> u16 {
        if code.is_empty() {
            return 0;
        }
        let at = self.currencies.iter().position(|other| other == code).unwrap_or_else(|| {
            self.currencies.push(code.to_owned());
            self.currencies.len() - 1
        });
        u16::try_from(at + 1).unwrap_or(0)
    }

    /// The code of a currency; empty when unknown.
    pub(super) fn currency(&self, item: &Item) -> &str {
        match usize::from(item.currency).checked_sub(1) {
            Some(index) => self.currencies.get(index).map_or("", String::as_str),
            None => "",
        }
    }

    pub(super) fn date(item: &Item) -> Option<NaiveDate> {
        (item.day != i32::MIN).then(|| NaiveDate::from_num_days_from_ce_opt(item.day)).flatten()
    }

    /// True when the row is a line of an invoice rather than an invoice.
    pub(super) fn is_by_line(&self, item: &Item) -> bool {
        self.tables.get(item.table as usize).is_some_and(|table| table.by_line)
    }

    pub(super) fn source(&self, item: &Item) -> crate::model::RowSource {
        let table = self.tables.get(item.table as usize).cloned().unwrap_or_default();
        crate::model::RowSource { file: table.file, sheet: table.sheet, page: table.page, row: item.row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_one_supplier() {
        let mut store = Store::default();
        let table = store.begin(TableSource::default());
        for supplier in ["青禾（上海）有限公司", "青禾(上海)有限公司", " 青禾(上海)有限公司"]
        {
            let facts = Facts {
                amount: Decimal::ONE,
                currency: "CNY",
                supplier,
                number: "0012",
                code: "",
                date: None,
                row: 2,
            };
            store.add(table, &facts);
        }
        let first = store.items[0].supplier;
        assert!(
            store.items.iter().all(|item| item.supplier == first),
            "width and blanks do not make another supplier"
        );
        assert_eq!(store.spelled(first), "青禾（上海）有限公司", "shown as it was first written");
        assert_eq!(store.number(&store.items[2]), "0012", "numbers keep their zeros");
    }
}
