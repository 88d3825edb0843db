//! The bytes of reports: Markdown, CSV and XLSX. Data is never a formula, and the same rows give the same bytes.

mod csv;
mod markdown;
mod xlsx;

pub use csv::{csv, csv_from_text, csv_safe};
pub use markdown::markdown;
pub use xlsx::xlsx;

use crate::error::DocumentError;
use chrono::NaiveDate;
use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A cell of a report. In JSON: `null`, a string, or a number. A string is text, whatever it looks like, unless the
/// format of its column makes it a number or a date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// An exact number.
    Number(Decimal),
    /// A day.
    Date(NaiveDate),
}

impl Cell {
    /// A cell from a JSON value; the error says what is not a cell.
    ///
    /// # Errors
    /// For lists, objects, truth values, and numbers that no decimal of 28 digits can hold.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, DocumentError> {
        match value {
            serde_json::Value::Null => Ok(Self::Empty),
            serde_json::Value::String(text) if text.is_empty() => Ok(Self::Empty),
            serde_json::Value::String(text) => Ok(Self::Text(text.clone())),
            serde_json::Value::Number(number) => {
                decimal(&number.to_string()).map(Self::Number).ok_or_else(|| {
                    DocumentError::Arguments(format!("{number} has more digits than a cell can hold"))
                })
            }
            serde_json::Value::Bool(_) | serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
                Err(DocumentError::Arguments("a cell is text, a number or null".to_owned()))
            }
        }
    }

    /// The cell as text.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Number(value) => value.to_string(),
            Self::Date(date) => date.to_string(),
        }
    }
}

fn decimal(text: &str) -> Option<Decimal> {
    if text.contains(['e', 'E']) {
        Decimal::from_scientific(text).ok()
    } else {
        Decimal::from_str_exact(text).ok()
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            // A number of JSON may be read as a float elsewhere; its text is what counts here.
            Self::Number(value) => match value.to_string().parse::<serde_json::Number>() {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(&value.to_string()),
            },
            Self::Date(date) => serializer.serialize_str(&date.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_json(&value).map_err(serde::de::Error::custom)
    }
}

/// A column of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Header.
    pub header: String,
    /// `text`, `number`, `integer`, `amount`, `percent`, `date`, or a number format of Excel such as `#,##0.00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// A sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SheetSpec {
    /// Name, at most 31 characters.
    pub name: String,
    /// Columns; without them the first row is the header if it is all text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<ColumnSpec>>,
    /// Rows of cells.
    pub rows: Vec<Vec<Cell>>,
}

/// Kind of chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Bars, the first row on top.
    Bar,
    /// A line.
    Line,
}

/// A native chart beside the table of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// Kind.
    pub kind: ChartKind,
    /// Sheet that holds the data and gets the chart.
    pub sheet: String,
    /// Header or letter of the column with the names.
    pub categories: String,
    /// Header or letter of the column with the numbers.
    pub values: String,
    /// Title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// True for a text that a spreadsheet program would take for a formula or a command, also behind blanks, invisible
/// characters, and in full-width form. Plain numbers such as `-12.50` are none.
#[must_use]
pub fn is_formula_like(text: &str) -> bool {
    let invisible = |c: char| {
        c.is_whitespace() && !matches!(c, '\t' | '\r' | '\n')
            || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{00ad}' | '\0')
    };
    let body = text.trim_start_matches(invisible);
    let Some(first) = body.chars().next() else { return false };
    if !matches!(
        first,
        '=' | '+'
            | '-'
            | '@'
            | '\t'
            | '\r'
            | '\n'
            | '＝'
            | '＋'
            | '－'
            | '＠'
            | '﹦'
            | '﹢'
            | '﹣'
            | '﹫'
            | '|'
            | '%'
    ) {
        return false;
    }
    // A leading bar or per cent is a command only as part of one.
    if matches!(first, '|' | '%') && !body.contains(['!', '=', '(']) {
        return false;
    }
    let number = body.len() == text.len() && is_plain_number(text);
    let dashes = body.chars().all(|c| matches!(c, '-' | '—' | '–' | '－'));
    !number && !dashes
}

/// `-12.50`, `+3`, `-1,234.56`, `-5%`: digits with a sign, nothing that could be a name.
fn is_plain_number(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let body = body.strip_suffix('%').unwrap_or(body);
    !body.is_empty()
        && body.starts_with(|c: char| c.is_ascii_digit())
        && body.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        && crate::money::parse(body, None).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_known_in_every_disguise() {
        for text in [
            "=1+1",
            "+1+cmd",
            "-2+3+cmd|' /C calc'!A0",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1+1",
            "＋1",
            "－1a",
            "＠x",
            " =1",
            "\u{feff}=1",
            "\u{200b}=1",
            "-(1)",
            "+86 138 0000",
            "=",
            "--1",
        ] {
            assert!(is_formula_like(text), "{text:?} must be defused");
        }
        for text in [
            "",
            "-12.50",
            "+3",
            "-1,234.56",
            "-5%",
            "-",
            "—",
            "a=b",
            "1+1",
            "2026-03-05",
            "100%",
            "|a|b|",
            "INV-1",
            "青禾",
        ] {
            assert!(!is_formula_like(text), "{text:?} is harmless");
        }
    }

    #[test]
    fn cells_of_json() {
        let cells: Vec<Cell> = serde_json::from_str(r#"[null,"","=1",12.50,-3,"2026-03-05",1e3]"#).unwrap();
        assert_eq!(cells[0], Cell::Empty, "null");
        assert_eq!(cells[2], Cell::Text("=1".into()), "text stays text");
        assert_eq!(cells[3], Cell::Number(Decimal::new(125, 1)), "numbers are exact");
        assert_eq!(cells[5], Cell::Text("2026-03-05".into()), "a date only by its column");
        assert!(serde_json::from_str::<Cell>("true").is_err(), "a truth value is no cell");
        assert!(
            serde_json::from_str::<SheetSpec>(r#"{"name":"a","rows":[],"formula":"=1"}"#).is_err(),
            "unknown fields are refused"
        );
        assert!(
            serde_json::from_str::<Cell>(r#"{"formula":"=1"}"#).is_err(),
            "there is no way to say a formula"
        );
    }
}
