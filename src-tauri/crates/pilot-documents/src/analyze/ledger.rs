//! Row after row of a ledger: amount, supplier, number, date; and the rows that are no invoices.

use super::columns::{AmountFrom, Columns, compact, serial};
use super::field::{Field, Row};
use super::log::Log;
use super::store::{Facts, Store};
use crate::date;
use crate::fold;
use crate::header::{self, Total};
use crate::model::RowSource;
use crate::money;
use chrono::NaiveDate;
use pilot_types::ErrorCode;
use rust_decimal::Decimal;

/// A table while its rows are read.
pub(super) struct Ledger {
    columns: Columns,
    table: u32,
    /// File, sheet and page of every row.
    place: RowSource,
    /// The currency of a document in Chinese, where nothing names another.
    fallback: &'static str,
    /// An empty supplier cell repeats the one above: the sheet merges cells.
    merged: bool,
    supplier: String,
    /// Sum of all rows so far, and of those since the last row of totals.
    sum: Decimal,
    since: Decimal,
    counts: Counts,
}

/// How many rows were something else.
#[derive(Debug, Default)]
struct Counts {
    rows: u32,
    totals: u32,
    remarks: u32,
    void: u32,
    credit: u32,
    damaged: u32,
    dates: u32,
    unknown_currency: u32,
}

/// What a cell for an amount gave.
enum Read {
    Value(Decimal, Option<&'static str>),
    Empty,
    Bad(String),
}

impl Ledger {
    pub(super) fn new(columns: Columns, table: u32, place: RowSource, chinese: bool, merged: bool) -> Self {
        let fallback = if chinese { "CNY" } else { "" };
        Self {
            columns,
            table,
            place,
            fallback,
            merged,
            supplier: String::new(),
            sum: Decimal::ZERO,
            since: Decimal::ZERO,
            counts: Counts::default(),
        }
    }

    fn source(&self, number: u32) -> RowSource {
        RowSource { row: number, ..self.place.clone() }
    }

    /// Reads one row.
    pub(super) fn row<R: Row + ?Sized>(&mut self, number: u32, row: &R, store: &mut Store, log: &mut Log) {
        let amount = self.amount(row);
        let date = self.columns.date.map(|column| (row.field(column), column));
        let day = date.and_then(|(field, _)| self.day(field));
        let mut invoice = String::new();
        self.number(row, &mut invoice);
        if invoice.is_empty() && day.is_none() && self.is_total(number, row, &amount, log) {
            return;
        }
        let (value, sign) = match amount {
            Read::Value(value, sign) => (value, sign),
            Read::Empty => return self.without_amount(number, row, log),
            Read::Bad(why) => {
                if !self.repeats_header(row) {
                    log.unread(self.source(number), ErrorCode::DocumentUnsupported, why);
                }
                return;
            }
        };
        if date.is_some_and(|(field, _)| !field.is_empty()) && day.is_none() {
            self.counts.dates += 1;
        }
        let Some(value) = self.by_status(row, value) else {
            self.counts.void += 1;
            return;
        };
        self.check(number, row, &invoice, log);
        let currency = self.currency(row, sign);
        let supplier = self.supplier_of(row);
        let code = self.columns.code.map(|column| row.field(column).shown()).unwrap_or_default();
        let facts = Facts {
            amount: value,
            currency: &currency,
            supplier: &supplier,
            number: &invoice,
            code: &code,
            date: day,
            row: number,
        };
        store.add(self.table, &facts);
        self.counts.rows += 1;
        self.sum = self.sum.saturating_add(value);
        self.since = self.since.saturating_add(value);
    }

    fn amount<R: Row + ?Sized>(&self, row: &R) -> Read {
        match self.columns.amount {
            AmountFrom::Column(column) => self.read(row.field(column)),
            AmountFrom::Sum(net, tax) => match (self.read(row.field(net)), self.read(row.field(tax))) {
                (Read::Value(net, sign), Read::Value(tax, _)) => Read::Value(net.saturating_add(tax), sign),
                // An exempt line has no tax, or *** in its place.
                (Read::Value(net, sign), Read::Empty | Read::Bad(_)) => Read::Value(net, sign),
                (other, _) => other,
            },
            AmountFrom::DebitCredit(debit, credit) => {
                match (self.read(row.field(debit)), self.read(row.field(credit))) {
                    (Read::Bad(why), _) | (_, Read::Bad(why)) => Read::Bad(why),
                    (Read::Empty, Read::Empty) => Read::Empty,
                    (out, into) => {
                        let plain = |read: &Read| {
                            if let Read::Value(value, _) = read { *value } else { Decimal::ZERO }
                        };
                        let sign = if let Read::Value(_, sign) = &out { *sign } else { None };
                        Read::Value(plain(&into).saturating_sub(plain(&out).abs()), sign)
                    }
                }
            }
        }
    }

    fn read(&self, field: Field<'_>) -> Read {
        let scaled = |value: Decimal| {
            if self.columns.scale == Decimal::ONE {
                Some(value)
            } else {
                value.checked_mul(self.columns.scale)
            }
        };
        match field {
            Field::Empty => Read::Empty,
            Field::Number(value, sign) => scaled(value)
                .map_or_else(|| Read::Bad(format!("{value} is too large")), |value| Read::Value(value, sign)),
            Field::Text(text) => {
                if matches!(
                    text,
                    "-" | "--" | "—" | "–" | "/" | "\\" | "无" | "n/a" | "N/A" | "null" | "NULL" | "nil"
                ) {
                    return Read::Empty;
                }
                match money::parse(text, self.columns.mark) {
                    Some(amount) => scaled(amount.value).map_or_else(
                        || Read::Bad(format!("{text:?} is too large")),
                        |value| Read::Value(value, amount.currency),
                    ),
                    None => Read::Bad(format!("{:?} is no amount", fold::cut(text, 80))),
                }
            }
            Field::Date(date) => Read::Bad(format!("{date} is a date, not an amount")),
            Field::Odd(value) => Read::Bad(format!("{:?} is no amount", value.shown())),
            Field::Uncomputed => Read::Bad("the formula has no stored result".to_owned()),
        }
    }

    fn day(&self, field: Field<'_>) -> Option<NaiveDate> {
        match field {
            Field::Date(date) => Some(date),
            Field::Text(text) => date::parse(text, self.columns.order).map(|found| found.date),
            Field::Number(value, _) => compact(value).or_else(|| serial(value)),
            Field::Empty | Field::Odd(_) | Field::Uncomputed => None,
        }
    }

    /// The invoice number. One that a spreadsheet cut to 15 digits is shown nowhere as if it were whole.
    fn number<R: Row + ?Sized>(&mut self, row: &R, out: &mut String) {
        for at in 0..self.columns.numbers.len() {
            match row.field(self.columns.numbers[at]) {
                Field::Text(text) => {
                    if scientific(text) {
                        self.counts.damaged += 1;
                        continue;
                    }
                    out.push_str(text);
                }
                Field::Number(value, _) => {
                    let digits = value.normalize().to_string();
                    if digits.len() > 15 {
                        self.counts.damaged += 1;
                        continue;
                    }
                    out.push_str(&digits);
                }
                Field::Odd(crate::sheet::Value::Huge(_)) => self.counts.damaged += 1,
                Field::Empty | Field::Date(_) | Field::Odd(_) | Field::Uncomputed => {}
            }
            if !out.is_empty() {
                return;
            }
        }
    }

    fn supplier_of<R: Row + ?Sized>(&mut self, row: &R) -> String {
        let Some(column) = self.columns.supplier else { return String::new() };
        let name = match row.field(column) {
            Field::Text(text) if text.contains(['\n', '\t', '\r']) => {
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Field::Text(text) => text.to_owned(),
            Field::Empty if self.merged => return self.supplier.clone(),
            other => other.shown(),
        };
        if self.merged {
            self.supplier.clone_from(&name);
        }
        name
    }

    fn currency<R: Row + ?Sized>(&mut self, row: &R, sign: Option<&'static str>) -> String {
        if let Some(Field::Text(text)) = self.columns.currency.map(|column| row.field(column)) {
            if let Some(code) = money::currency_code(text).or_else(|| money::currency_in_text(text)) {
                return code.to_owned();
            }
            let upper = text.to_ascii_uppercase();
            if upper.len() == 3 && upper.bytes().all(|byte| byte.is_ascii_uppercase()) {
                return upper;
            }
            self.counts.unknown_currency += 1;
        }
        sign.or(self.columns.default_currency).unwrap_or(self.fallback).to_owned()
    }

    /// The value with its sign; `None` for a row that was declared void.
    fn by_status<R: Row + ?Sized>(&mut self, row: &R, value: Decimal) -> Option<Decimal> {
        let mut value = value;
        for at in 0..self.columns.status.len() {
            let column = self.columns.status[at];
            let Field::Text(text) = row.field(column) else { continue };
            let key = fold::key(text);
            if ["作废", "已作废", "失效", "void", "voided", "cancelled", "canceled", "deleted", "已取消"]
                .contains(&key.as_str())
            {
                return None;
            }
            let asks = self.columns.headers.get(column).is_some_and(|header| header.contains("是否正数"));
            let red = [
                "红字",
                "红字发票",
                "负数发票",
                "负数",
                "红票",
                "贷项",
                "退款",
                "退货",
                "credit",
                "creditnote",
                "creditmemo",
                "cn",
                "refund",
                "gutschrift",
                "avoir",
                "notedecrédit",
                "rechnungskorrektur",
                "storno",
            ];
            if (red.contains(&key.as_str()) || (asks && matches!(key.as_str(), "否" | "n" | "no")))
                && value.is_sign_positive()
                && !value.is_zero()
            {
                self.counts.credit += 1;
                value = -value;
            }
        }
        Some(value)
    }

    /// Net and tax must make the gross.
    fn check<R: Row + ?Sized>(&self, number: u32, row: &R, invoice: &str, log: &mut Log) {
        let Some((net, tax, gross)) = self.columns.check else { return };
        let (Read::Value(net, _), Read::Value(tax, _), Read::Value(gross, _)) =
            (self.read(row.field(net)), self.read(row.field(tax)), self.read(row.field(gross)))
        else {
            return;
        };
        let sum = net.saturating_add(tax);
        if (sum - gross).abs() >= Decimal::new(1, 2) {
            let key = if invoice.is_empty() { self.place.file.clone() } else { invoice.to_owned() };
            log.conflict(
                key,
                format!("net {net} + tax {tax} = {sum}, but gross is {gross}"),
                vec![self.source(number)],
            );
        }
    }

    /// A row of totals is no invoice; what it says is compared with what was counted.
    fn is_total<R: Row + ?Sized>(&mut self, number: u32, row: &R, amount: &Read, log: &mut Log) -> bool {
        // The label stands in front; behind it 合计 may be part of anything.
        let texts = (0..row.width())
            .filter_map(|column| if let Field::Text(text) = row.field(column) { Some(text) } else { None });
        let label = texts.take(2).find_map(header::total_label);
        let value = if let Read::Value(value, _) = amount { Some(*value) } else { None };
        let nameless = self.columns.supplier.is_some_and(|column| row.field(column).is_empty());
        let unlabelled =
            label.is_none() && nameless && !self.merged && self.counts.rows >= 2 && value == Some(self.sum);
        if label.is_none() && !unlabelled {
            return false;
        }
        self.counts.totals += 1;
        if let (Some(value), Some(Total::Grand)) = (value, label)
            && value != self.sum
            && value != self.since
            && (value - self.sum).abs() >= Decimal::new(1, 2)
        {
            log.conflict(
                self.place.file.clone(),
                format!("the row of totals says {value}, the rows above it make {}", self.sum),
                vec![self.source(number)],
            );
        }
        self.since = Decimal::ZERO;
        true
    }

    fn without_amount<R: Row + ?Sized>(&mut self, number: u32, row: &R, log: &mut Log) {
        let filled = (0..row.width()).filter(|column| !row.field(*column).is_empty()).count();
        match filled {
            0 => {}
            1 => self.counts.remarks += 1,
            _ => log.unread(self.source(number), ErrorCode::DocumentUnsupported, "the row has no amount"),
        }
    }

    fn repeats_header<R: Row + ?Sized>(&self, row: &R) -> bool {
        let same = (0..row.width())
            .filter(|column| match (row.field(*column), self.columns.headers.get(*column)) {
                (Field::Text(text), Some(header)) => fold::key(text) == fold::key(header),
                _ => false,
            })
            .count();
        same >= 2
    }

    /// Says which columns were taken and what was passed over.
    pub(super) fn close(self, log: &mut Log) {
        let place = shown(&self.place);
        let name = |column: usize| {
            self.columns
                .headers
                .get(column)
                .map_or_else(|| format!("column {}", column + 1), |header| format!("{:?}", header.trim()))
        };
        let mut words = vec![match self.columns.amount {
            AmountFrom::Column(column) => format!("amount = {}", name(column)),
            AmountFrom::Sum(net, tax) => format!("amount = {} + {}", name(net), name(tax)),
            AmountFrom::DebitCredit(debit, credit) => {
                format!("amount = {} in, {} out", name(credit), name(debit))
            }
        }];
        let found = [
            ("supplier", self.columns.supplier),
            ("date", self.columns.date),
            ("number", self.columns.numbers.first().copied()),
            ("currency", self.columns.currency),
        ];
        words.extend(
            found
                .into_iter()
                .filter_map(|(what, column)| column.map(|column| format!("{what} = {}", name(column)))),
        );
        if self.columns.scale != Decimal::ONE {
            words.push(format!("amounts are in units of {}", self.columns.scale));
        }
        let counts = &self.counts;
        let counted = [
            (counts.totals, "rows of totals not counted"),
            (counts.void, "void rows not counted"),
            (counts.credit, "credit rows subtracted although printed positive"),
            (counts.remarks, "rows with a single cell passed over"),
            (
                counts.damaged,
                "numbers with more than 15 digits stored as a number: damaged, not used to find duplicates",
            ),
            (counts.dates, "dates could not be read"),
            (counts.unknown_currency, "currencies are not known"),
        ];
        words.extend(
            counted
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}")),
        );
        words.extend(self.columns.doubts.iter().cloned());
        log.note(format!("{place}: {}", words.join("; ")));
    }
}

/// File and sheet, for messages.
pub(super) fn shown(place: &RowSource) -> String {
    match (&place.sheet, place.page) {
        (Some(sheet), _) => format!("{} [{sheet}]", place.file),
        (None, Some(page)) => format!("{} page {page}", place.file),
        (None, None) => place.file.clone(),
    }
}

/// `2.699E+19`: a number that lost its digits on the way through a spreadsheet.
fn scientific(text: &str) -> bool {
    let Some((head, tail)) = text.split_once(['E', 'e']) else { return false };
    let digits = tail.strip_prefix('+').unwrap_or(tail);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && head.contains('.')
        && head.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
