//! Columns to values and back. Every reading error names its table and column, never the content.

use crate::StoreError;
use chrono::{DateTime, Utc};
use pilot_types::{Digest, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// One row that is being read.
pub(crate) struct Cells<'r> {
    row: &'r SqliteRow,
    table: &'static str,
}

impl<'r> Cells<'r> {
    pub(crate) fn of(table: &'static str, row: &'r SqliteRow) -> Self {
        Self { row, table }
    }

    pub(crate) fn unreadable(&self, column: &'static str, detail: impl std::fmt::Display) -> StoreError {
        StoreError::Unreadable { table: self.table, column, detail: detail.to_string() }
    }

    pub(crate) fn opt_text(&self, column: &'static str) -> Result<Option<&'r str>, StoreError> {
        self.row.try_get(column).map_err(|error| self.unreadable(column, error))
    }

    pub(crate) fn str(&self, column: &'static str) -> Result<&'r str, StoreError> {
        self.opt_text(column)?.ok_or_else(|| self.unreadable(column, "empty"))
    }

    pub(crate) fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.str(column).map(str::to_owned)
    }

    pub(crate) fn opt_string(&self, column: &'static str) -> Result<Option<String>, StoreError> {
        Ok(self.opt_text(column)?.map(str::to_owned))
    }

    pub(crate) fn opt_int(&self, column: &'static str) -> Result<Option<i64>, StoreError> {
        self.row.try_get(column).map_err(|error| self.unreadable(column, error))
    }

    pub(crate) fn int(&self, column: &'static str) -> Result<i64, StoreError> {
        self.opt_int(column)?.ok_or_else(|| self.unreadable(column, "empty"))
    }

    /// A number that is never negative.
    pub(crate) fn count<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T, StoreError> {
        T::try_from(self.int(column)?).map_err(|_| self.unreadable(column, "out of range"))
    }

    pub(crate) fn opt_count<T: TryFrom<i64>>(&self, column: &'static str) -> Result<Option<T>, StoreError> {
        self.opt_int(column)?
            .map(|value| T::try_from(value).map_err(|_| self.unreadable(column, "out of range")))
            .transpose()
    }

    /// Sixty-four bits without meaning as a number, such as an inode.
    pub(crate) fn bits(&self, column: &'static str) -> Result<u64, StoreError> {
        self.int(column).map(i64::cast_unsigned)
    }

    pub(crate) fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        self.int(column).map(|value| value != 0)
    }

    pub(crate) fn opt_time(&self, column: &'static str) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.opt_int(column)?
            .map(|micros| {
                DateTime::from_timestamp_micros(micros).ok_or_else(|| self.unreadable(column, "not a time"))
            })
            .transpose()
    }

    pub(crate) fn time(&self, column: &'static str) -> Result<DateTime<Utc>, StoreError> {
        self.opt_time(column)?.ok_or_else(|| self.unreadable(column, "empty"))
    }

    /// A value of a closed list, stored as its JSON word.
    pub(crate) fn opt_word<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        self.opt_text(column)?
            .map(|text| from_word(text).ok_or_else(|| self.unreadable(column, "unknown word")))
            .transpose()
    }

    pub(crate) fn word<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        self.opt_word(column)?.ok_or_else(|| self.unreadable(column, "empty"))
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(self.str(column)?)
            .map_err(|error| self.unreadable(column, error.classify_words()))
    }

    pub(crate) fn digest(&self, column: &'static str) -> Result<Digest, StoreError> {
        self.text(column).map(Digest::from_hex)
    }

    pub(crate) fn opt_digest(&self, column: &'static str) -> Result<Option<Digest>, StoreError> {
        Ok(self.opt_string(column)?.map(Digest::from_hex))
    }

    pub(crate) fn opt_code(&self, column: &'static str) -> Result<Option<ErrorCode>, StoreError> {
        self.opt_text(column)?
            .map(|text| ErrorCode::from_text(text).ok_or_else(|| self.unreadable(column, "unknown code")))
            .transpose()
    }
}

/// A JSON error without the content that it may quote.
trait Classify {
    fn classify_words(&self) -> String;
}

impl Classify for serde_json::Error {
    fn classify_words(&self) -> String {
        format!("not the JSON expected ({:?}) at {}:{}", self.classify(), self.line(), self.column())
    }
}

fn from_word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
}

/// A value of a closed list as its JSON word.
pub(crate) fn word<T: Serialize>(value: &T) -> Result<String, StoreError> {
    match serde_json::to_value(value)? {
        serde_json::Value::String(text) => Ok(text),
        other => Ok(other.to_string()),
    }
}

/// A value as JSON text.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    Ok(serde_json::to_string(value)?)
}

/// A time as stored.
pub(crate) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// A count as stored; what does not fit (beyond 9 × 10^18) is kept as the largest number that does.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
