//! Separated values: which character separates, and the rows as a table.

use crate::limits;
use crate::model::Table;

/// Characters that separate, in the order in which a tie is decided.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How many records the guess looks at.
const SAMPLE: usize = 60;

/// What is known about the layout of a table as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) delimiter: u8,
    /// Columns of most rows.
    pub(crate) columns: usize,
    /// Bytes before the table: the line `sep=;` that some programs write.
    pub(crate) skip: usize,
    /// True when nearly all rows agree.
    pub(crate) regular: bool,
}

/// Finds the delimiter by which character makes rows of the same width.
#[must_use]
pub(crate) fn layout(text: &str) -> Layout {
    let (skip, told) = sep_line(text);
    let head = crate::fold::cut(&text[skip..], 256 << 10);
    if let Some(delimiter) = told {
        let (columns, regular) = widths(head, delimiter);
        return Layout { delimiter, columns, skip, regular };
    }
    let mut best = Layout { delimiter: b',', columns: 1, skip, regular: false };
    let mut best_score = 0.0;
    for delimiter in DELIMITERS {
        let (columns, agree, rows) = agreement(head, delimiter);
        if columns < 2 {
            continue;
        }
        // Agreement counts most; more columns break a tie, as a decimal comma makes fewer than the real separator.
        let score = f64::from(agree) / f64::from(rows.max(1)) * 10.0 + (columns as f64).ln();
        if score > best_score + 0.001 {
            best_score = score;
            best = Layout { delimiter, columns, skip, regular: agree * 5 >= rows * 4 };
        }
    }
    best
}

/// `sep=;` in the first line tells Excel, and us.
fn sep_line(text: &str) -> (usize, Option<u8>) {
    let first = text.lines().next().unwrap_or_default();
    let plain = first.trim().trim_matches('"');
    match plain.strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => {
            let end = text[first.len()..]
                .find(|c| c != '\r' && c != '\n')
                .map_or(text.len(), |offset| first.len() + offset);
            (end, Some(*delimiter))
        }
        Some([]) if first.contains('\t') => (text.find('\n').map_or(text.len(), |at| at + 1), Some(b'\t')),
        _ => (0, None),
    }
}

fn widths(head: &str, delimiter: u8) -> (usize, bool) {
    let (columns, agree, rows) = agreement(head, delimiter);
    (columns, agree * 5 >= rows * 4)
}

/// The commonest width of the first rows, how many have it, and how many rows there are.
fn agreement(head: &str, delimiter: u8) -> (usize, u32, u32) {
    let mut counts: std::collections::BTreeMap<usize, u32> = std::collections::BTreeMap::new();
    let mut rows = 0;
    for record in reader(head.as_bytes(), delimiter).records().take(SAMPLE).flatten() {
        if record.len() == 1 && record.get(0).is_none_or(|field| field.trim().is_empty()) {
            continue;
        }
        *counts.entry(record.len()).or_default() += 1;
        rows += 1;
    }
    // Titles above a table have one column; the table's own width is the widest that several rows share.
    let best = counts
        .iter()
        .filter(|(columns, _)| **columns > 1)
        .max_by_key(|(columns, count)| (**count, **columns));
    best.map_or((1, 0, rows), |(columns, count)| (*columns, *count, rows))
}

/// Counts the lines of records. The reader's own position of a record lies before the empty lines that it passes over,
/// and it counts line feeds only; so the line is told from the record's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    end: &'static str,
    before: u64,
    records: u64,
}

impl Lines {
    /// For a text whose beginning is known, with so many lines before it.
    pub(crate) fn new(head: &str, before: u64) -> Self {
        Self { end: crate::text::line_end(crate::fold::cut(head, 64 << 10)), before, records: 0 }
    }

    /// The line, from 1, on which the record begins that was just read.
    pub(crate) fn of<R: std::io::Read>(
        &mut self,
        reader: &csv::Reader<R>,
        record: &csv::StringRecord,
    ) -> u64 {
        self.records += 1;
        let inside = record.as_slice().bytes().filter(|byte| *byte == b'\n').count() as u64;
        let end = reader.position().line();
        let line = match self.end {
            "CR" => self.records,
            // The line feed of CRLF is read with the next record.
            "CRLF" => end.saturating_sub(inside),
            _ => end.saturating_sub(inside + 1),
        };
        line + self.before
    }
}

/// Input with a line end behind it, so that the last record ends like all others.
pub(crate) type Ended<R> = std::io::Chain<R, &'static [u8]>;

/// A reader that takes rows of any width.
pub(crate) fn reader<R: std::io::Read>(input: R, delimiter: u8) -> csv::Reader<Ended<R>> {
    let ended = input.chain(b"\n".as_slice());
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(ended)
}

/// The rows as a table; true when there are more than are given.
#[must_use]
pub(crate) fn table(text: &str) -> (Table, bool) {
    let layout = layout(text);
    let body = &text[layout.skip..];
    let before = u64::from(layout.skip > 0);
    let mut lines = Lines::new(body, before);
    let mut table = Table { first_row: u32::try_from(before + 1).unwrap_or(1), rows: Vec::new() };
    let mut cells = 0usize;
    let mut reader = reader(body.as_bytes(), layout.delimiter);
    let mut record = csv::StringRecord::new();
    while let Ok(true) = reader.read_record(&mut record) {
        let line = lines.of(&reader, &record);
        // The reader passes over empty lines; they are kept, so that a row keeps its number.
        let expected = u64::from(table.first_row) + table.rows.len() as u64;
        let empty = line.saturating_sub(expected).min(1_000);
        table.rows.extend((0..empty).map(|_| Vec::new()));
        cells += record.len();
        if table.rows.len() >= limits::CSV_TABLE_ROWS || cells > limits::CELLS {
            return (table, true);
        }
        table.rows.push(record.iter().map(str::to_owned).collect());
    }
    (table, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_separator_is_the_one_that_makes_even_rows() {
        for (text, delimiter) in [
            ("a,b,c\n1,2,3\n", b','),
            ("Name;Betrag\nMüller;1,50\nMeier;2,75\n", b';'),
            ("a\tb\n1,5\t2\n", b'\t'),
            ("供应商|金额\n青禾|1,200.00\n云杉|3.00\n", b'|'),
            ("Report of March, all suppliers\na;b;c\n1;2,5;3\n4;5,5;6\n", b';'),
            ("sep=;\na;b\n1;2\n", b';'),
            ("one column\nof words\n", b','),
        ] {
            assert_eq!(layout(text).delimiter, delimiter, "of {text:?}");
        }
    }

    #[test]
    fn quotes_and_empty_lines_keep_their_place() {
        let (table, more) = table("a,\"b\nstill b\"\n\n\"1\"\"2\",3\n");
        assert!(!more, "nothing is left");
        assert_eq!(table.rows[0], ["a", "b\nstill b"], "a quoted line end is part of the field");
        assert_eq!(table.rows.last().unwrap(), &["1\"2", "3"], "doubled quotes are one");
    }

    #[test]
    fn rows_have_the_numbers_of_their_lines() {
        for text in ["a,b\n1,2\n\n3,4\n", "a,b\r\n1,2\r\n\r\n3,4\r\n", "a,b\n1,2\n\n3,4"] {
            let (table, _) = table(text);
            assert_eq!(table.rows.len(), 4, "the empty line of {text:?} is a row");
            assert_eq!(table.rows[3], ["3", "4"], "so that the fourth line is the fourth row");
        }
        let mut lines = Lines::new("a,b\r1,2\r", 0);
        let mut reader = reader("a,b\r1,2\r".as_bytes(), b',');
        let mut record = csv::StringRecord::new();
        let mut numbers = Vec::new();
        while reader.read_record(&mut record).unwrap() {
            numbers.push(lines.of(&reader, &record));
        }
        assert_eq!(numbers, [1, 2], "old Mac files count too");
    }

    proptest! {
        #[test]
        fn any_text_makes_some_table(text in "[a-z0-9,;\t|\"\\n\\r 金]{0,200}") {
            let (table, _) = table(&text);
            prop_assert!(table.rows.len() <= text.len() + 1, "no rows from nothing");
        }
    }
}
