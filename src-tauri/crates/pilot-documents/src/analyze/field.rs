//! A cell of a ledger row, borrowed from a record of text or from a workbook.

use crate::sheet::Value;
use chrono::NaiveDate;
use rust_decimal::Decimal;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Empty,
    Text(&'a str),
    Number(Decimal, Option<&'static str>),
    Date(NaiveDate),
    /// Something that is no amount, name or date: an error, a truth value, a time.
    Odd(&'a Value),
    Uncomputed,
}

/// A row of cells.
pub(super) trait Row {
    fn width(&self) -> usize;
    fn field(&self, column: usize) -> Field<'_>;
}

impl Row for csv::StringRecord {
    fn width(&self) -> usize {
        self.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        match self.get(column) {
            Some(text) => of_text(text),
            None => Field::Empty,
        }
    }
}

fn of_text(text: &str) -> Field<'_> {
    let text = text.trim();
    if text.is_empty() { Field::Empty } else { Field::Text(text) }
}

impl Row for [Value] {
    fn width(&self) -> usize {
        self.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        match self.get(column) {
            None | Some(Value::Empty) => Field::Empty,
            Some(Value::Text(text)) => of_text(text),
            Some(Value::Number { value, currency }) => Field::Number(*value, *currency),
            Some(Value::Date(date)) => Field::Date(*date),
            Some(Value::DateTime(time)) => Field::Date(time.date()),
            Some(Value::Uncomputed) => Field::Uncomputed,
            Some(value @ (Value::Huge(_) | Value::Time(_) | Value::Bool(_) | Value::Error(_))) => {
                Field::Odd(value)
            }
        }
    }
}

impl Row for [String] {
    fn width(&self) -> usize {
        self.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        self.get(column).map_or(Field::Empty, |text| of_text(text))
    }
}

impl Field<'_> {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Field::Empty)
    }

    /// The cell as text, for messages and names.
    pub(super) fn shown(&self) -> String {
        match self {
            Field::Empty => String::new(),
            Field::Text(text) => (*text).to_owned(),
            Field::Number(value, _) => value.to_string(),
            Field::Date(date) => date.to_string(),
            Field::Odd(value) => value.shown(),
            Field::Uncomputed => crate::sheet::UNCOMPUTED.to_owned(),
        }
    }
}
