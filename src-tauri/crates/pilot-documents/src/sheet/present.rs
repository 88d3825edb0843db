//! A workbook as a document: text by sheet, tables with row numbers, and what a reader must be told.

use super::{Block, Sheet, UNCOMPUTED, Workbook};
use crate::model::{Document, DocumentKind, DocumentStatus, Part, PartKind, Table};
use pilot_types::ErrorCode;

/// The workbook as a document.
pub(crate) fn document(kind: DocumentKind, book: &Workbook) -> Document {
    let mut notes = book.notes.clone();
    let mut text = String::new();
    let mut parts = Vec::new();
    for sheet in &book.sheets {
        notes.extend(remarks(sheet));
        let part = part(sheet);
        if !part.text.is_empty() || book.sheets.len() == 1 {
            if !text.is_empty() {
                text.push('\n');
            }
            if book.sheets.len() > 1 || sheet.hidden {
                let hidden = if sheet.hidden { " (hidden)" } else { "" };
                text.push_str(&format!("# {}{hidden}\n", sheet.name));
            }
            text.push_str(&part.text);
        }
        parts.push(part);
    }
    if parts.iter().all(|part| part.text.is_empty()) {
        notes.push("the workbook has no cell with content".to_owned());
    }
    let (status, code) = if book.cut {
        (DocumentStatus::Partial, Some(ErrorCode::DocumentLimit))
    } else {
        (DocumentStatus::Complete, None)
    };
    Document { kind, status, code, notes, text, parts, invoice: None }
}

fn remarks(sheet: &Sheet) -> Vec<String> {
    let mut notes = Vec::new();
    if sheet.hidden {
        notes.push(format!("sheet {:?} is hidden", sheet.name));
    }
    if sheet.uncomputed > 0 {
        notes.push(format!(
            "sheet {:?}: {} formulas have no stored result; they stand as {UNCOMPUTED}",
            sheet.name, sheet.uncomputed
        ));
    }
    if sheet.merged > 0 {
        notes.push(format!(
            "sheet {:?}: {} merged ranges; the value stands in the first cell",
            sheet.name, sheet.merged
        ));
    }
    if !sheet.currencies.is_empty() {
        notes.push(format!("sheet {:?}: number formats show {}", sheet.name, sheet.currencies.join(", ")));
    }
    notes
}

fn part(sheet: &Sheet) -> Part {
    let tables: Vec<Table> = sheet.blocks.iter().map(table).collect();
    let mut text = String::new();
    for table in &tables {
        for row in &table.rows {
            if !text.is_empty() {
                text.push('\n');
            }
            push_row(row, &mut text);
        }
    }
    Part {
        kind: PartKind::Sheet,
        page: None,
        sheet: Some(sheet.name.clone()),
        hidden: sheet.hidden,
        text,
        tables,
    }
}

/// A row with tabs between its cells; line ends inside a cell become blanks, empty cells at the end are dropped.
fn push_row(row: &[String], out: &mut String) {
    let filled = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    for (index, cell) in row[..filled].iter().enumerate() {
        if index > 0 {
            out.push('\t');
        }
        if cell.contains(['\n', '\r', '\t']) {
            out.push_str(&cell.replace("\r\n", " ").replace(['\n', '\r', '\t'], " "));
        } else {
            out.push_str(cell);
        }
    }
}

fn table(block: &Block) -> Table {
    Table {
        first_row: block.first_row,
        rows: block.rows.iter().map(|row| row.iter().map(super::Value::shown).collect()).collect(),
    }
}
