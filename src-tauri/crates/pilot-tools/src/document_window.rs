//! A document cut to what one answer may hold. The parts of a document are laid out as one stream (text of a part, then
//! the rows of its tables); an offset is a place in that stream, so that the next call goes on where this one stopped.

use pilot_documents::{Document, DocumentKind, DocumentStatus, InvoiceFields, Part, PartKind, Table};
use pilot_types::ErrorCode;
use serde::Serialize;

/// Most of the remarks that an answer carries, in bytes.
const MAX_NOTES_BYTES: usize = 8 * 1024;
/// What the keys of a part and of a table cost at most, in bytes, beside their names.
const PART_OVERHEAD: usize = 160;

/// A document, or a piece of it, as a model gets it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DocumentWindow {
    pub(crate) path: String,
    pub(crate) kind: DocumentKind,
    pub(crate) status: DocumentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<ErrorCode>,
    pub(crate) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) invoice: Option<InvoiceFields>,
    pub(crate) offset: usize,
    pub(crate) parts: Vec<PartWindow>,
    /// Where the next call goes on; left out when nothing is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<usize>,
    /// How much is left, in bytes.
    pub(crate) left: usize,
}

/// A part, or a piece of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PartWindow {
    kind: PartKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<Table>,
}

/// Cuts a document to `limit` bytes of JSON, beginning at `offset` of its stream.
pub(crate) fn cut(path: &str, document: Document, offset: usize, limit: usize) -> DocumentWindow {
    let parts = parts_of(&document);
    let mut window = DocumentWindow {
        path: path.to_owned(),
        kind: document.kind,
        status: document.status,
        code: document.code,
        notes: keep_notes(document.notes),
        invoice: document.invoice,
        offset,
        parts: Vec::new(),
        next_offset: None,
        left: 0,
    };
    let fixed = serde_json::to_string(&window).map_or(0, |text| text.len()) + 64;
    let mut stream = Stream { position: 0, offset, room: limit.saturating_sub(fixed), is_full: false };
    for part in &parts {
        if let Some(part) = stream.take_part(part) {
            window.parts.push(part);
        }
        if stream.is_full {
            break;
        }
    }
    let total = parts.iter().map(part_length).sum::<usize>();
    window.offset = offset.min(total);
    window.left = total.saturating_sub(stream.position.max(window.offset));
    window.next_offset = (window.left > 0).then_some(stream.position);
    window
}

/// The parts without what is said twice: a sheet's text is its table again. A document that has text and no part is
/// one part.
fn parts_of(document: &Document) -> Vec<Part> {
    let mut parts = document.parts.clone();
    for part in &mut parts {
        if part.kind == PartKind::Sheet && !part.tables.is_empty() {
            part.text = String::new();
        }
    }
    if parts.iter().all(|part| part_length(part) == 0) && !document.text.is_empty() {
        parts.push(Part {
            kind: PartKind::Text,
            page: None,
            sheet: None,
            hidden: false,
            text: document.text.clone(),
            tables: Vec::new(),
        });
    }
    parts
}

fn keep_notes(notes: Vec<String>) -> Vec<String> {
    let (mut kept, mut bytes, all) = (Vec::new(), 0, notes.len());
    for note in notes {
        bytes += json_length(&note) + 3;
        if bytes > MAX_NOTES_BYTES {
            kept.push(format!("{} more remarks are left out", all - kept.len()));
            break;
        }
        kept.push(note);
    }
    kept
}

fn part_length(part: &Part) -> usize {
    part.text.len()
        + part.tables.iter().flat_map(|table| &table.rows).map(|row| row_length(row)).sum::<usize>()
}

/// Length of a row in the stream: its cells and one byte for each.
fn row_length(row: &[String]) -> usize {
    row.iter().map(|cell| cell.len() + 1).sum::<usize>() + 1
}

struct Stream {
    /// Place in the stream behind what was looked at and taken or passed over.
    position: usize,
    offset: usize,
    /// Bytes of JSON that may still be taken.
    room: usize,
    is_full: bool,
}

impl Stream {
    fn take_part(&mut self, part: &Part) -> Option<PartWindow> {
        let length = part_length(part);
        // A part without content (a scanned page) is shown where it stands.
        if self.position + length <= self.offset && (length > 0 || self.position < self.offset) {
            self.position += length;
            return None;
        }
        let cost = PART_OVERHEAD + part.sheet.as_deref().map_or(0, json_length);
        if self.room < cost {
            self.is_full = true;
            return None;
        }
        self.room -= cost;
        let text = self.take_text(&part.text);
        let mut tables = Vec::new();
        for table in &part.tables {
            if self.is_full {
                break;
            }
            tables.extend(self.take_table(table));
        }
        Some(PartWindow {
            kind: part.kind,
            page: part.page,
            sheet: part.sheet.clone(),
            hidden: part.hidden,
            text,
            tables,
        })
    }

    fn take_text(&mut self, text: &str) -> String {
        let mut start = self.offset.saturating_sub(self.position).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = start;
        for c in text[start..].chars() {
            let cost = char_cost(c);
            if cost > self.room {
                self.is_full = true;
                break;
            }
            self.room -= cost;
            end += c.len_utf8();
        }
        self.position += end;
        text[start..end].to_owned()
    }

    fn take_table(&mut self, table: &Table) -> Option<Table> {
        let mut taken = Table { first_row: table.first_row, rows: Vec::new() };
        if self.room < PART_OVERHEAD {
            self.is_full = true;
            return None;
        }
        self.room -= PART_OVERHEAD;
        for (row, number) in table.rows.iter().zip(table.first_row..) {
            let length = row_length(row);
            if self.position + length <= self.offset {
                self.position += length;
                continue;
            }
            let cost = row.iter().map(|cell| json_length(cell) + 1).sum::<usize>() + 3;
            if taken.rows.is_empty() {
                taken.first_row = number;
            }
            if cost <= self.room {
                self.room -= cost;
                self.position += length;
                taken.rows.push(row.clone());
                continue;
            }
            // A row that no answer can hold is shown with its cells cut, or the stream would never get past it.
            if self.is_fresh(&taken) {
                taken.rows.push(cut_cells(row, self.room));
                self.position += length;
            }
            self.is_full = true;
            break;
        }
        (!taken.rows.is_empty()).then_some(taken)
    }

    /// True when nothing of the stream was taken since the offset.
    fn is_fresh(&self, taken: &Table) -> bool {
        taken.rows.is_empty() && self.position <= self.offset
    }
}

fn cut_cells(row: &[String], room: usize) -> Vec<String> {
    const MARK: &str = "… (cut)";
    let mut room = room.saturating_sub(16);
    let mut cells = Vec::new();
    for cell in row {
        let cost = json_length(cell) + 1;
        if cost + MARK.len() + 3 <= room {
            room -= cost;
            cells.push(cell.clone());
            continue;
        }
        let mut kept = String::new();
        let mut left = room.saturating_sub(MARK.len() + 3);
        for c in cell.chars() {
            if char_cost(c) > left {
                break;
            }
            left -= char_cost(c);
            kept.push(c);
        }
        kept.push_str(MARK);
        cells.push(kept);
        break;
    }
    cells
}

/// Length of a text as a JSON string, with its quotes.
fn json_length(text: &str) -> usize {
    text.chars().map(char_cost).sum::<usize>() + 2
}

fn char_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if u32::from(c) < 0x20 => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(parts: Vec<Part>) -> Document {
        Document {
            kind: DocumentKind::Xlsx,
            status: DocumentStatus::Complete,
            code: None,
            notes: vec![],
            text: String::new(),
            parts,
            invoice: None,
        }
    }

    fn part(text: &str, rows: Vec<Vec<String>>) -> Part {
        let tables = if rows.is_empty() { vec![] } else { vec![Table { first_row: 5, rows }] };
        Part {
            kind: PartKind::Text,
            page: Some(1),
            sheet: None,
            hidden: false,
            text: text.to_owned(),
            tables,
        }
    }

    fn read_all(document: &Document, limit: usize) -> (String, Vec<(u32, Vec<String>)>, usize) {
        let (mut text, mut rows, mut offset, mut calls) = (String::new(), Vec::new(), 0, 0);
        loop {
            let window = cut("a.xlsx", document.clone(), offset, limit);
            let json = serde_json::to_string(&window).expect("a window is JSON");
            assert!(json.len() <= limit, "{} bytes is more than {limit}", json.len());
            for part in window.parts {
                text.push_str(&part.text);
                for table in part.tables {
                    rows.extend(table.rows.into_iter().zip(table.first_row..).map(|(row, n)| (n, row)));
                }
            }
            calls += 1;
            assert!(calls < 10_000, "each call must get further");
            match window.next_offset {
                Some(next) => {
                    assert!(next > offset, "a call that gets nowhere would be repeated for ever");
                    offset = next;
                }
                None => return (text, rows, calls),
            }
        }
    }

    #[test]
    fn a_small_document_is_one_answer_and_says_that_nothing_is_left() {
        let window =
            cut("a.xlsx", document(vec![part("hello", vec![vec!["a".into(), "b".into()]])]), 0, 102_400);
        assert_eq!((window.next_offset, window.left), (None, 0), "nothing is left");
        assert_eq!(window.parts[0].tables[0].first_row, 5, "rows keep their number in the file");
    }

    #[test]
    fn a_sheet_is_not_said_twice_and_a_bare_text_is_a_part() {
        let mut sheet = part("a\tb", vec![vec!["a".into(), "b".into()]]);
        sheet.kind = PartKind::Sheet;
        let window = cut("a.xlsx", document(vec![sheet]), 0, 102_400);
        assert_eq!(window.parts[0].text, "", "the table says it");
        let bare = Document { text: "only text".into(), ..document(vec![]) };
        assert_eq!(
            cut("a.txt", bare, 0, 102_400).parts[0].text,
            "only text",
            "text without parts is not lost"
        );
    }

    #[test]
    fn scanned_pages_are_shown_where_they_stand() {
        let mut scanned = part("", vec![]);
        (scanned.kind, scanned.page) = (PartKind::Scanned, Some(2));
        let window = cut("a.pdf", document(vec![part("one", vec![]), scanned.clone()]), 0, 102_400);
        assert_eq!(window.parts[1].kind, PartKind::Scanned, "an empty page is said, not left out");
        let window = cut("a.pdf", document(vec![scanned]), 0, 102_400);
        assert_eq!(window.parts.len(), 1, "also when it is the only one");
    }

    #[test]
    fn a_row_beyond_any_answer_is_cut_and_passed() {
        let rows = vec![vec!["k".into(), "中".repeat(20_000), "last".into()], vec!["next".into()]];
        let (_, rows, _) = read_all(&document(vec![part("x", rows)]), 4_096);
        assert!(
            rows.iter().any(|(_, row)| row.iter().any(|cell| cell.ends_with("(cut)"))),
            "the cut is said"
        );
        assert_eq!(
            rows.last(),
            Some(&(6, vec!["next".to_owned()])),
            "and the stream goes on with the right number"
        );
    }

    proptest! {
        #[test]
        fn reading_on_gives_everything_once(
            texts in prop::collection::vec("[a-z中\"\n\u{1}]{0,300}", 0..5),
            cells in prop::collection::vec(prop::collection::vec("[a-z金\"]{0,12}", 0..4), 0..40),
            limit in 1_200_usize..3_000,
        ) {
            let mut parts: Vec<Part> = texts.iter().map(|text| part(text, vec![])).collect();
            parts.push(part("", cells.clone()));
            let (text, rows, _) = read_all(&document(parts), limit);
            prop_assert_eq!(text, texts.concat(), "no byte is lost or doubled");
            let expected: Vec<(u32, Vec<String>)> = cells.into_iter().zip(5..).map(|(row, n)| (n, row)).collect();
            prop_assert_eq!(rows, expected, "no row is lost, doubled or misnumbered");
        }
    }
}
