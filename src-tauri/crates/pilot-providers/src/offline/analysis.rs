//! The answer of `analyze_table`, as the conversation has it. Amounts stay the texts that they are: nothing is calculated
//! here.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// Amounts by currency.
pub(super) type Amounts = BTreeMap<String, Amount>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Analysis {
    pub(super) rows: u64,
    pub(super) files: u64,
    pub(super) totals: Amounts,
    pub(super) by_supplier: Vec<GroupTotal>,
    pub(super) by_month: Vec<GroupTotal>,
    pub(super) median: Amounts,
    pub(super) outlier_limit: Amounts,
    pub(super) outliers: Vec<Outlier>,
    pub(super) duplicates: Vec<Duplicate>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) unread_rows: Vec<Unread>,
    pub(super) items: Vec<Item>,
    pub(super) notes: Vec<String>,
    /// Lists that are not whole, with how many entries there are.
    pub(super) cut: BTreeMap<String, CutList>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CutList {
    pub(super) of: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GroupTotal {
    pub(super) key: String,
    pub(super) count: u64,
    pub(super) totals: Amounts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) sheet: Option<String>,
    pub(super) page: Option<u64>,
    pub(super) row: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outlier {
    pub(super) source: Place,
    pub(super) supplier: Option<String>,
    pub(super) number: Option<String>,
    pub(super) amount: Amount,
    pub(super) currency: String,
    pub(super) times_median: Amount,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Duplicate {
    pub(super) key: String,
    pub(super) amount: Amount,
    pub(super) currency: String,
    pub(super) sources: Vec<Place>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Conflict {
    pub(super) key: String,
    pub(super) detail: String,
    pub(super) sources: Vec<Place>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Unread {
    pub(super) source: Place,
    pub(super) code: String,
    pub(super) reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub(super) source: Place,
    pub(super) supplier: Option<String>,
    pub(super) number: Option<String>,
    pub(super) date: Option<String>,
    pub(super) amount: Amount,
    pub(super) currency: String,
}

/// A decimal as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount(String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(serde::de::Error::custom("an amount is a decimal"))
            }
        }
    }
}

impl Amount {
    /// True for a credit note.
    pub(super) fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }

    /// The digits as they are, with at least two places.
    pub(super) fn plain(&self) -> String {
        self.shown(false)
    }

    /// The same digits with thousands separators: `12,300.00`.
    pub(super) fn grouped(&self) -> String {
        self.shown(true)
    }

    fn shown(&self, grouped: bool) -> String {
        let (sign, digits) = self.0.strip_prefix('-').map_or(("", self.0.as_str()), |digits| ("-", digits));
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number =
            !whole.is_empty() && whole.bytes().chain(places.bytes()).all(|byte| byte.is_ascii_digit());
        if !is_number {
            return self.0.clone();
        }
        let mut text = sign.to_owned();
        for (place, digit) in whole.chars().enumerate() {
            if grouped && place > 0 && (whole.len() - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text.push('.');
        text.push_str(places);
        text.push_str(&"0".repeat(2_usize.saturating_sub(places.len())));
        text
    }
}

impl Analysis {
    /// Reads a result; `None` when it is no analysis.
    pub(super) fn read(content: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(content).ok()?;
        value.get("rows")?;
        serde_json::from_value(value).ok()
    }

    /// Files that the analysis left aside on purpose, as it says in its remarks: `FILE: WHAT; not counted`.
    pub(super) fn left_aside(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes.iter().filter_map(|note| left_aside(note))
    }

    /// The other remarks.
    pub(super) fn remarks(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str).filter(|note| left_aside(note).is_none())
    }

    /// How many entries a list has in all, when only some are shown.
    pub(super) fn length_of(&self, list: &str) -> Option<u64> {
        self.cut.get(list).map(|cut| cut.of)
    }
}

fn left_aside(note: &str) -> Option<(&str, &str)> {
    note.strip_suffix("; not counted")?.rsplit_once(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_digits() {
        let table = [
            ("12300", "12,300.00", "12300.00"),
            ("12300.5", "12,300.50", "12300.50"),
            ("-1234567.891", "-1,234,567.891", "-1234567.891"),
            ("0", "0.00", "0.00"),
            ("999", "999.00", "999.00"),
            ("1000", "1,000.00", "1000.00"),
            ("n/a", "n/a", "n/a"),
            ("", "", ""),
        ];
        for (text, grouped, plain) in table {
            let amount = Amount(text.to_owned());
            assert_eq!(
                (amount.grouped(), amount.plain()),
                (grouped.to_owned(), plain.to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_is_no_analysis_is_not_read() {
        for content in [
            "",
            "nothing",
            "[]",
            "{}",
            "{\"files\":3}",
            "{\"rows\":\"x\"}",
            "{\"rows\":1,\"totals\":{\"CNY\":null}}",
        ] {
            assert!(Analysis::read(content).is_none(), "{content}");
        }
        let analysis = Analysis::read("{\"rows\":2,\"totals\":{\"CNY\":1.5},\"more\":[1]}").unwrap();
        assert_eq!(analysis.totals["CNY"].plain(), "1.50", "numbers and unknown fields are taken");
    }
}
