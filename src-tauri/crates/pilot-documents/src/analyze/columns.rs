//! Which column is what: the header row, its meanings, and a look at the cells below it.

use super::field::{Field, Row};
use crate::date::{self, Order};
use crate::fold;
use crate::header::{self, Column, Role};
use crate::model::ColumnChoice;
use crate::money::{self, Mark, Votes};
use rust_decimal::Decimal;

/// Rows from the top in which a header is looked for.
const HEADER_ROWS: usize = 30;
/// Rows below it that vote on decimal marks, dates and on which column holds what it says.
const VOTERS: usize = 400;

/// Columns that are looked at.
const WIDTH: usize = 512;

/// Where the amount of a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AmountFrom {
    Column(usize),
    /// Net and tax, where no column has both.
    Sum(usize, usize),
    /// Money out and money in of a bank account.
    DebitCredit(usize, usize),
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Index in the sample of the first row below the header.
    pub(super) data: usize,
    pub(super) headers: Vec<String>,
    pub(super) amount: AmountFrom,
    pub(super) supplier: Option<usize>,
    /// One invoice may have its number in one of several columns (发票号码, 数电发票号码).
    pub(super) numbers: Vec<usize>,
    pub(super) code: Option<usize>,
    pub(super) date: Option<usize>,
    pub(super) currency: Option<usize>,
    pub(super) status: Vec<usize>,
    /// Net, tax and gross, when all three are there to be checked against each other.
    pub(super) check: Option<(usize, usize, usize)>,
    pub(super) default_currency: Option<&'static str>,
    pub(super) scale: Decimal,
    pub(super) mark: Option<Mark>,
    pub(super) order: Option<Order>,
    /// Dates or amounts that nothing decided, in words.
    pub(super) doubts: Vec<String>,
    pub(super) by_line: bool,
}

/// A row of the sample with its number in the file.
pub(super) struct Sample<'a, R: Row + ?Sized> {
    pub(super) rows: Vec<(u32, &'a R)>,
    pub(super) chinese: bool,
}

/// A candidate for the header row.
struct Head {
    data: usize,
    texts: Vec<String>,
    columns: Vec<Option<Column>>,
    score: u32,
}

impl<R: Row + ?Sized> Sample<'_, R> {
    /// Finds the columns; the error says what is missing.
    pub(super) fn columns(&self, choice: &ColumnChoice) -> Result<Columns, String> {
        let head = self.head(choice)?;
        let pick = Pick { sample: self, head: &head };
        pick.columns(choice)
    }

    fn texts(&self, row: usize) -> Vec<String> {
        let Some((_, cells)) = self.rows.get(row) else { return Vec::new() };
        (0..cells.width().min(WIDTH))
            .map(|column| match cells.field(column) {
                Field::Text(text) => text.to_owned(),
                _ => String::new(),
            })
            .collect()
    }

    /// The row whose cells are most like a header; earlier rows win a tie.
    fn head(&self, choice: &ColumnChoice) -> Result<Head, String> {
        let wanted: Vec<&str> = [&choice.supplier, &choice.amount, &choice.date]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let mut best: Option<Head> = None;
        for row in 0..self.rows.len().min(HEADER_ROWS) {
            for head in [self.single(row), self.double(row)].into_iter().flatten() {
                let named = wanted.iter().filter(|name| find_named(&head.texts, name).is_some()).count();
                let head = Head { score: head.score + 100 * u32::try_from(named).unwrap_or(0), ..head };
                if best.as_ref().is_none_or(|best| head.score > best.score) {
                    best = Some(head);
                }
            }
        }
        let Some(best) = best else { return Err("no header row with an amount column was found".to_owned()) };
        if let Some(missing) = wanted.iter().find(|name| find_named(&best.texts, name).is_none()) {
            return Err(format!("there is no column {missing:?}"));
        }
        let roles = best.columns.iter().flatten().map(|column| column.role);
        let money = roles
            .clone()
            .any(|role| matches!(role, Role::Gross | Role::Amount | Role::Net | Role::Debit | Role::Credit));
        if choice.amount.is_some() || (money && best.score >= 2) {
            Ok(best)
        } else {
            Err("no header row with an amount column was found".to_owned())
        }
    }

    fn single(&self, row: usize) -> Option<Head> {
        self.judge(self.texts(row), row + 1, row..row + 1)
    }

    /// A header over two rows, where merged cells in the first stand over several in the second.
    fn double(&self, row: usize) -> Option<Head> {
        let (first, second) = (self.texts(row), self.texts(row + 1));
        let filled = |texts: &[String]| texts.iter().filter(|text| !text.is_empty()).count();
        let known = second.iter().filter(|text| header::understand(text).is_some()).count();
        // The second row stands under merged cells of the first, or is a header of its own.
        let under = (0..second.len())
            .any(|column| !second[column].is_empty() && first.get(column).is_none_or(String::is_empty));
        if filled(&first) < 2 || filled(&second) < 2 || known < 1 || (known < 2 && !under) {
            return None;
        }
        let mut above = String::new();
        let width = first.len().max(second.len());
        let texts = (0..width)
            .map(|column| {
                let (top, low) = (
                    first.get(column).cloned().unwrap_or_default(),
                    second.get(column).cloned().unwrap_or_default(),
                );
                if !top.is_empty() {
                    above = top.clone();
                }
                if low.is_empty() {
                    top
                } else if top.is_empty() {
                    format!("{above}{low}")
                } else {
                    format!("{top}{low}")
                }
            })
            .collect();
        self.judge(texts, row + 2, row..row + 2)
    }

    fn judge(&self, texts: Vec<String>, data: usize, rows: std::ops::Range<usize>) -> Option<Head> {
        // A header holds words. Numbers and dates belong to rows of data.
        let numbers: usize = rows
            .filter_map(|row| self.rows.get(row))
            .map(|(_, cells)| {
                (0..cells.width().min(WIDTH)).filter(|column| is_value(cells.field(*column))).count()
            })
            .sum();
        let filled = texts.iter().filter(|text| !text.is_empty()).count();
        if filled < 2 || numbers * 2 > filled {
            return None;
        }
        let columns: Vec<Option<Column>> = texts.iter().map(|text| header::understand(text)).collect();
        let mut roles: Vec<Role> =
            columns.iter().flatten().map(|column| column.role).filter(|role| *role != Role::Other).collect();
        roles.sort();
        roles.dedup();
        let score = u32::try_from(roles.len()).unwrap_or(0);
        Some(Head { data, texts, columns, score })
    }
}

fn is_value(field: Field<'_>) -> bool {
    match field {
        Field::Number(..) | Field::Date(_) => true,
        Field::Text(text) => {
            text.bytes().any(|byte| byte.is_ascii_digit())
                && (money::parse(text, None).is_some() || date::parse(text, None).is_some())
        }
        Field::Empty | Field::Odd(_) | Field::Uncomputed => false,
    }
}

/// A column by the name that the caller gave: the same header, else one that contains it, else its letter.
fn find_named(headers: &[String], name: &str) -> Option<usize> {
    let key = fold::key(name);
    if key.is_empty() {
        return None;
    }
    let keys: Vec<String> = headers.iter().map(|header| fold::key(header)).collect();
    keys.iter()
        .position(|header| *header == key)
        .or_else(|| keys.iter().position(|header| header.contains(&key)))
}

struct Pick<'a, R: Row + ?Sized> {
    sample: &'a Sample<'a, R>,
    head: &'a Head,
}

impl<R: Row + ?Sized> Pick<'_, R> {
    fn columns(&self, choice: &ColumnChoice) -> Result<Columns, String> {
        let named = |name: &Option<String>| name.as_ref().and_then(|name| find_named(&self.head.texts, name));
        let amount = match named(&choice.amount) {
            Some(column) => AmountFrom::Column(column),
            None => self.amount().ok_or_else(|| "no column holds amounts".to_owned())?,
        };
        let (first, second) = match amount {
            AmountFrom::Column(column) => (column, column),
            AmountFrom::Sum(one, two) | AmountFrom::DebitCredit(one, two) => (one, two),
        };
        let supplier = named(&choice.supplier)
            .or_else(|| self.best(Role::Supplier, |_| true))
            .or_else(|| self.best(Role::Buyer, |_| true));
        let date =
            named(&choice.date).or_else(|| self.best(Role::Date, |column| self.share_of_dates(column) >= 50));
        let unit = self.head.columns.get(first).copied().flatten();
        let (title_currency, title_scale) = self.title();
        let mut votes = Votes::default();
        for column in [first, second] {
            self.each(column, |field| {
                if let Field::Text(text) = field {
                    votes.add(text);
                }
            });
        }
        let mut doubts = Vec::new();
        let order = self.order(date, &mut doubts);
        let mark = votes.mark().or_else(|| self.european().then_some(Mark::Comma));
        if votes.mark().is_none() && votes.open > 0 {
            doubts.push(format!(
                "{} amounts such as 1,234 have one separator and three digits; they are read as {}",
                votes.open,
                if mark == Some(Mark::Comma) { "1.234 = one thousand" } else { "1,234 = one thousand" }
            ));
        }
        let scale = unit
            .map(|unit| unit.scale)
            .filter(|scale| *scale != Decimal::ONE)
            .or(title_scale)
            .unwrap_or(Decimal::ONE);
        Ok(Columns {
            data: self.head.data,
            headers: self.head.texts.clone(),
            amount,
            supplier,
            numbers: self.numbers(),
            code: self.best(Role::Code, |_| true),
            date,
            currency: self.best(Role::Currency, |_| true),
            status: self.all(Role::Status),
            check: self.check(),
            default_currency: unit.and_then(|unit| unit.currency).or(title_currency),
            scale,
            mark,
            order,
            doubts,
            by_line: self.by_line(),
        })
    }

    fn all(&self, role: Role) -> Vec<usize> {
        self.head
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.is_some_and(|column| column.role == role))
            .map(|(index, _)| index)
            .collect()
    }

    /// The column of a role with the best header among those that pass a test of their content.
    fn best(&self, role: Role, test: impl Fn(usize) -> bool) -> Option<usize> {
        let rank = |column: &usize| self.head.columns[*column].map_or(u32::MAX, |found| found.rank);
        self.all(role).into_iter().filter(|column| test(*column)).min_by_key(rank)
    }

    fn each(&self, column: usize, mut look: impl FnMut(Field<'_>)) {
        for (_, row) in self.sample.rows.iter().skip(self.head.data).take(VOTERS) {
            look(row.field(column));
        }
    }

    fn share(&self, column: usize, test: impl Fn(Field<'_>) -> bool) -> u32 {
        let (mut filled, mut good) = (0u32, 0u32);
        self.each(column, |field| {
            if !field.is_empty() {
                filled += 1;
                good += u32::from(test(field));
            }
        });
        (good * 100).checked_div(filled).unwrap_or(0)
    }

    fn holds_money(&self, column: usize) -> bool {
        self.share(column, |field| match field {
            Field::Number(..) | Field::Uncomputed => true,
            Field::Text(text) => money::parse(text, None).is_some(),
            Field::Empty | Field::Date(_) | Field::Odd(_) => false,
        }) >= 50
    }

    fn share_of_dates(&self, column: usize) -> u32 {
        self.share(column, |field| match field {
            Field::Date(_) => true,
            Field::Number(value, _) => serial(value).is_some() || compact(value).is_some(),
            Field::Text(text) => date::parse(text, None).is_some(),
            Field::Empty | Field::Odd(_) | Field::Uncomputed => false,
        })
    }

    /// With tax before without; a bare "amount" beside a tax column is the amount without tax.
    fn amount(&self) -> Option<AmountFrom> {
        let gross = self.best(Role::Gross, |column| self.holds_money(column));
        let plain = self.best(Role::Amount, |column| self.holds_money(column));
        let net = self.best(Role::Net, |column| self.holds_money(column));
        let tax = self.best(Role::Tax, |column| self.holds_money(column));
        if let Some(gross) = gross {
            return Some(AmountFrom::Column(gross));
        }
        if let (Some(base), Some(tax)) = (net.or(plain), tax)
            && !self.tax_is_inside(base, tax)
        {
            return Some(AmountFrom::Sum(base, tax));
        }
        if let Some(column) = plain.or(net) {
            return Some(AmountFrom::Column(column));
        }
        let debit = self.best(Role::Debit, |column| self.holds_money(column));
        let credit = self.best(Role::Credit, |column| self.holds_money(column));
        match (debit, credit) {
            (Some(debit), Some(credit)) => Some(AmountFrom::DebitCredit(debit, credit)),
            (Some(column), None) | (None, Some(column)) => Some(AmountFrom::Column(column)),
            (None, None) => None,
        }
    }

    /// True when the tax of most rows is a usual share of the amount with tax and not of the amount without.
    fn tax_is_inside(&self, amount: usize, tax: usize) -> bool {
        let Some(rate) = self.best(Role::Rate, |_| true) else { return false };
        let (mut inside, mut outside) = (0, 0);
        for (_, row) in self.sample.rows.iter().skip(self.head.data).take(VOTERS) {
            let value = |column| match row.field(column) {
                Field::Number(value, _) => Some(value),
                Field::Text(text) => money::parse(text.trim_end_matches('%'), None).map(|found| found.value),
                Field::Empty | Field::Date(_) | Field::Odd(_) | Field::Uncomputed => None,
            };
            let (Some(amount), Some(tax), Some(rate)) = (value(amount), value(tax), value(rate)) else {
                continue;
            };
            let rate = if rate > Decimal::ONE { rate / Decimal::ONE_HUNDRED } else { rate };
            let near = |expected: Decimal| (expected - tax).abs() <= Decimal::new(6, 2);
            let (Some(without), Some(with)) = (
                amount.checked_mul(rate),
                amount.checked_mul(rate).and_then(|part| part.checked_div(Decimal::ONE + rate)),
            ) else {
                continue;
            };
            outside += u32::from(near(without));
            inside += u32::from(near(with) && !near(without));
        }
        inside > outside
    }

    fn numbers(&self) -> Vec<usize> {
        let mut found = self.all(Role::Number);
        let rank = |column: &usize| self.head.columns[*column].map_or(u32::MAX, |found| found.rank);
        found.sort_by_key(rank);
        // A header that merely says "No" counts only when nothing better is there, and never when it counts the rows.
        if found.len() > 1 {
            let best = rank(&found[0]);
            found.retain(|column| rank(column) < 8 || rank(column) == best);
        }
        found.retain(|column| !self.counts_rows(*column));
        found
    }

    /// 1, 2, 3 … is the row's number, not the invoice's.
    fn counts_rows(&self, column: usize) -> bool {
        let mut expected = 1u32;
        let mut good = 0u32;
        let mut seen = 0u32;
        self.each(column, |field| {
            let shown = field.shown();
            if !shown.is_empty() {
                seen += 1;
                good += u32::from(shown == expected.to_string());
                expected += 1;
            }
        });
        seen >= 2 && good * 10 >= seen * 9
    }

    fn check(&self) -> Option<(usize, usize, usize)> {
        let gross = self.best(Role::Gross, |column| self.holds_money(column))?;
        let tax = self.best(Role::Tax, |column| self.holds_money(column))?;
        let net = self
            .best(Role::Net, |column| self.holds_money(column))
            .or_else(|| self.best(Role::Amount, |column| self.holds_money(column)))?;
        Some((net, tax, gross))
    }

    /// True for a sheet with a row for each line of an invoice.
    fn by_line(&self) -> bool {
        let has = |role| !self.all(role).is_empty();
        has(Role::Item) && has(Role::Quantity) && has(Role::UnitPrice) && has(Role::Number)
    }

    /// What the rows above the header say: 单位：万元, Currency: EUR.
    fn title(&self) -> (Option<&'static str>, Option<Decimal>) {
        let (mut currency, mut scale) = (None, None);
        for row in 0..self.head.data.saturating_sub(1) {
            for text in self.sample.texts(row) {
                let tidy = fold::tidy(&text);
                let lower = tidy.to_lowercase();
                if ["单位", "币种", "unit", "currency", "货币", "währung", "devise", "in "]
                    .iter()
                    .any(|word| lower.contains(word))
                {
                    currency = currency.or_else(|| money::currency_in_text(&tidy));
                    scale = scale.or_else(|| header::scale(&tidy).map(Decimal::from));
                }
            }
        }
        (currency, scale)
    }

    fn order(&self, date: Option<usize>, doubts: &mut Vec<String>) -> Option<Order> {
        let column = date?;
        let (mut day, mut month, mut open) = (0u32, 0u32, 0u32);
        self.each(column, |field| {
            if let Field::Text(text) = field
                && let Some(found) = date::parse(text, None)
            {
                day += u32::from(found.proves == Some(Order::DayFirst));
                month += u32::from(found.proves == Some(Order::MonthFirst));
                open += u32::from(found.ambiguous);
            }
        });
        if day > 0 || month > 0 {
            return Some(if month > day { Order::MonthFirst } else { Order::DayFirst });
        }
        if open == 0 {
            return None;
        }
        let american = self.head.columns.iter().flatten().any(|column| column.currency == Some("USD"));
        let order = if american { Order::MonthFirst } else { Order::DayFirst };
        let words = if american { "month first" } else { "day first" };
        doubts.push(format!(
            "{open} dates such as 03/04 do not say which number is the day; they are read {words}"
        ));
        Some(order)
    }

    /// True when the headers are German or French: then a comma separates the fraction.
    fn european(&self) -> bool {
        const WORDS: [&str; 16] = [
            "betrag",
            "brutto",
            "netto",
            "datum",
            "rechnung",
            "lieferant",
            "mwst",
            "ust",
            "währung",
            "montant",
            "fournisseur",
            "facture",
            "devise",
            "ttc",
            "importe",
            "fecha",
        ];
        self.head.texts.iter().any(|text| {
            let lower = text.to_lowercase();
            WORDS.iter().any(|word| lower.contains(word))
        })
    }
}

/// A date as Excel counts it; only between 1982 and 2064, where nothing else is meant.
pub(super) fn serial(value: Decimal) -> Option<chrono::NaiveDate> {
    use rust_decimal::prelude::ToPrimitive;
    let days = value.trunc().to_i64()?;
    if !(30_000..=60_000).contains(&days) {
        return None;
    }
    chrono::NaiveDate::from_ymd_opt(1899, 12, 30)?.checked_add_signed(chrono::Duration::days(days))
}

/// 20240316 as a number.
pub(super) fn compact(value: Decimal) -> Option<chrono::NaiveDate> {
    if !value.fract().is_zero() {
        return None;
    }
    date::parse(&value.trunc().to_string(), None).map(|found| found.date)
}
