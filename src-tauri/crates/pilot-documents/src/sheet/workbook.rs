//! Opens a workbook of any kind.

use super::{Collector, Full, Sheet, Value, Workbook, biff, ods, zipped};
use crate::error::DocumentError;
use crate::limits;
use crate::model::DocumentKind;
use crate::zip_gate;
use calamine::{Data, Reader, Xls, Xlsb, Xlsx, XlsxError};
use std::io::Cursor;

/// Most shared formulas of a workbook.
const SHARED_FORMULAS: u64 = 1_000_000;

/// Reads all sheets, or only the one that was asked for.
pub(crate) fn open(kind: DocumentKind, bytes: &[u8], only: Option<&str>) -> Result<Workbook, DocumentError> {
    let book = match kind {
        DocumentKind::Xlsx => xlsx(bytes, only),
        DocumentKind::Xlsb => xlsb(bytes, only),
        DocumentKind::Xls => xls(bytes, only),
        DocumentKind::Ods => ods::read(bytes, only),
        _ => Err(DocumentError::Unsupported("not a workbook".to_owned())),
    }?;
    if let (Some(only), true) = (only, book.sheets.is_empty()) {
        return Err(DocumentError::Arguments(format!("there is no sheet named {only:?}")));
    }
    // A small file that spreads one text over thousands of cells is a bomb; a large one is only large.
    if book.cut && (bytes.len() as u64) * 64 < limits::TEXT_BYTES as u64 {
        return Err(DocumentError::Limit(format!(
            "{} bytes of workbook would give more cells or text than is read",
            bytes.len()
        )));
    }
    Ok(book)
}

fn wanted(only: Option<&str>, sheet: &Sheet) -> bool {
    only.is_none_or(|only| sheet.name == only)
}

/// Reads sheet after sheet within the limits of the whole workbook.
fn each(
    sheets: Vec<Sheet>,
    only: Option<&str>,
    mut read: impl FnMut(&mut Sheet, &mut Collector) -> Result<Option<Full>, String>,
) -> Result<Workbook, DocumentError> {
    let mut book = Workbook::default();
    let (mut cells, mut text) = (limits::CELLS, limits::TEXT_BYTES);
    let mut failed = 0;
    for mut sheet in sheets.into_iter().filter(|sheet| wanted(only, sheet)) {
        let mut collector = Collector::new(cells, text);
        match read(&mut sheet, &mut collector) {
            Ok(full) => book.cut |= full.is_some(),
            Err(error) => {
                failed += 1;
                book.notes.push(format!("sheet {:?} could not be read: {error}", sheet.name));
            }
        }
        let (blocks, used, letters) = collector.finish();
        sheet.blocks = blocks;
        cells = cells.saturating_sub(used);
        text = text.saturating_sub(letters);
        book.sheets.push(sheet);
        if book.cut {
            book.notes.push("the workbook holds more than is read; the rest is missing".to_owned());
            break;
        }
    }
    if failed > 0 && failed == book.sheets.len() {
        return Err(DocumentError::Broken(book.notes.join("; ")));
    }
    book.cut |= failed > 0;
    Ok(book)
}

fn broken(error: &impl std::fmt::Display) -> DocumentError {
    DocumentError::Broken(format!("the workbook cannot be read: {error}"))
}

fn xlsx(bytes: &[u8], only: Option<&str>) -> Result<Workbook, DocumentError> {
    if bytes.starts_with(&[0xD0, 0xCF]) {
        return Err(DocumentError::Encrypted("the workbook needs a password".to_owned()));
    }
    zip_gate::check(bytes)?;
    let mut book: Xlsx<_> =
        calamine::open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| match error {
            XlsxError::Password => DocumentError::Encrypted("the workbook needs a password".to_owned()),
            other => broken(&other),
        })?;
    let sheets = zipped::sheets(&book);
    let mut indices: Option<u64> = None;
    let mut found = each(sheets, only, |sheet, collector| {
        let (full, blanks) = zipped::xlsx(&mut book, sheet, collector)?;
        if full.is_some() || !blanks {
            return Ok(full);
        }
        // The reader keeps shared formulas by the index that the file names; a wild index would cost gigabytes.
        let indices =
            *indices.get_or_insert_with(|| zip_gate::largest_number(bytes, "xl/worksheets/", b" si=\""));
        if indices > SHARED_FORMULAS {
            return Err("its formulas have indices that no program writes".to_owned());
        }
        zipped::uncomputed(&mut book, sheet, collector)
    })?;
    // Merged cells matter to a reader of the table, never to its arithmetic; a failure to list them is no failure.
    for sheet in &mut found.sheets {
        if let Ok(merged) = book.merge_cells_by_sheet_name(&sheet.name) {
            sheet.merged = u32::try_from(merged.len()).unwrap_or(u32::MAX);
        }
    }
    Ok(found)
}

fn xlsb(bytes: &[u8], only: Option<&str>) -> Result<Workbook, DocumentError> {
    zip_gate::check(bytes)?;
    let mut book: Xlsb<_> =
        calamine::open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let sheets = zipped::sheets(&book);
    each(sheets, only, |sheet, collector| zipped::xlsb(&mut book, sheet, collector))
}

fn xls(bytes: &[u8], only: Option<&str>) -> Result<Workbook, DocumentError> {
    let facts = biff::look(bytes)?;
    let mut book: Xls<_> =
        calamine::open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let sheets = zipped::sheets(&book);
    each(sheets, only, |sheet, collector| {
        let range = book.worksheet_range(&sheet.name).map_err(|error| error.to_string())?;
        if let Ok(merged) = book.merge_cells_by_sheet_name(&sheet.name) {
            sheet.merged = u32::try_from(merged.len()).unwrap_or(u32::MAX);
        }
        let Some((top, left)) = range.start() else { return Ok(None) };
        for (row, column, data) in range.used_cells() {
            // Positions come from the file's own 16-bit fields; they cannot overflow.
            let (row, column) = (top.saturating_add(row as u32), left.saturating_add(column as u32));
            let currency = facts.currency(&sheet.name, row, column);
            if let Some(code) = currency
                && !sheet.currencies.contains(&code)
            {
                sheet.currencies.push(code);
            }
            if collector.add(row, column, of_data(data, currency)).is_err() {
                return Ok(Some(Full));
            }
        }
        Ok(None)
    })
}

fn of_data(data: &Data, currency: Option<&'static str>) -> Value {
    match data {
        Data::Int(value) => Value::Number { value: (*value).into(), currency },
        Data::Float(value) => zipped::number(*value, currency),
        Data::String(text) => zipped::string(text),
        Data::Bool(value) => Value::Bool(*value),
        Data::DateTime(time) => zipped::moment(time),
        Data::DateTimeIso(text) => zipped::iso(text),
        Data::DurationIso(text) => Value::Time(text.clone()),
        Data::Error(error) => Value::Error(error.to_string()),
        Data::Empty => Value::Empty,
    }
}
