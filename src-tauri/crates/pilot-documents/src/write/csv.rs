//! Separated values that open as data in every spreadsheet program.

use super::{Cell, is_formula_like};
use crate::csv_table;

/// Rows as CSV: UTF-8 with a byte order mark (Excel needs it for Chinese), CRLF, text that looks like a formula behind
/// an apostrophe.
#[must_use]
pub fn csv(rows: &[Vec<Cell>]) -> Vec<u8> {
    let mut out = String::from("\u{feff}");
    for row in rows {
        for (index, cell) in row.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            match cell {
                Cell::Empty => {}
                Cell::Text(text) => push_field(&mut out, &csv_safe(text)),
                Cell::Number(_) | Cell::Date(_) => out.push_str(&cell.shown()),
            }
        }
        out.push_str("\r\n");
    }
    out.into_bytes()
}

/// A text that is CSV already, with the same fields in the form of [`csv`]. Whatever separator it used, the result uses
/// commas.
#[must_use]
pub fn csv_from_text(text: &str) -> Vec<u8> {
    let text = text.trim_start_matches('\u{feff}');
    let (table, _) = csv_table::table(text);
    let rows: Vec<Vec<Cell>> = table
        .rows
        .into_iter()
        .map(|row| {
            row.into_iter()
                .map(|field| if field.is_empty() { Cell::Empty } else { Cell::Text(field) })
                .collect()
        })
        .collect();
    csv(&rows)
}

/// A text as it may stand in a CSV: an apostrophe goes before what a program would run.
#[must_use]
pub fn csv_safe(text: &str) -> String {
    if is_formula_like(text) { format!("'{text}") } else { text.to_owned() }
}

/// Quotes a field that holds any separator that a program may use in some language.
fn push_field(out: &mut String, text: &str) {
    if text.contains([',', ';', '\t', '|', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    #[test]
    fn fields_and_bytes() {
        let rows = vec![
            vec![Cell::Text("供应商".into()), Cell::Text("a\"b".into()), Cell::Text("x;=1".into())],
            vec![Cell::Empty, Cell::Number(Decimal::new(-1250, 2)), Cell::Text("=1+1".into())],
        ];
        let text = String::from_utf8(csv(&rows)).unwrap();
        assert_eq!(
            text, "\u{feff}供应商,\"a\"\"b\",\"x;=1\"\r\n,-12.50,'=1+1\r\n",
            "marked, quoted, defused"
        );
    }

    #[test]
    fn text_becomes_the_same_table() {
        let bytes = csv_from_text("a;b\n=cmd|' /C calc'!A0;-5\n\"x\ny\";00012\n");
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "\u{feff}a,b\r\n'=cmd|' /C calc'!A0,-5\r\n\"x\ny\",00012\r\n"
                .replace("'=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            "same fields, safe form"
        );
    }

    proptest! {
        #[test]
        fn whatever_is_written_reads_back(fields in proptest::collection::vec("[ -~金额\\n]{0,12}", 2..5)) {
            let row: Vec<Cell> = fields.iter().map(|field| Cell::Text(field.clone())).collect();
            let text = String::from_utf8(csv(&[vec![Cell::Text("h".into()); fields.len()], row])).unwrap();
            let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.trim_start_matches('\u{feff}').as_bytes());
            let back: Vec<String> = reader.records().nth(1).unwrap().unwrap().iter().map(str::to_owned).collect();
            let expected: Vec<String> = fields.iter().map(|field| csv_safe(field)).collect();
            prop_assert_eq!(&back, &expected, "fields survive");
            prop_assert!(back.iter().all(|field| !is_formula_like(field)), "and none is a formula");
        }
    }
}
