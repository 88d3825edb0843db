//! A workbook in the old binary format (BIFF8 in a compound file), record by record. Spreadsheet programs of the last
//! thirty years open it; so must ours.

use std::io::{self, Cursor, Write};
use std::time::UNIX_EPOCH;

/// A cell.
pub(crate) enum Cell {
    Empty,
    Text(String),
    /// Shown with two places.
    Money(i64),
    /// An ISO date.
    Date(&'static str),
}

const DATE_FORMAT: u16 = 164;
const XF_GENERAL: u16 = 15;
const XF_MONEY: u16 = 16;
const XF_DATE: u16 = 17;

/// A workbook of one sheet. Widths are in characters.
pub(crate) fn workbook(sheet: &str, rows: &[Vec<Cell>], widths: &[u16]) -> io::Result<Vec<u8>> {
    let mut strings: Vec<String> = Vec::new();
    let body = sheet_records(rows, widths, &mut strings);
    let mut globals = globals_before_sheet();
    // The sheet's place is the length of all that stands before it; the record itself has a fixed size.
    let tail = globals_after_sheet(&strings);
    let place = globals.len() + bound_sheet(sheet, 0).len() + tail.len();
    globals.extend(bound_sheet(sheet, place as u32));
    globals.extend(tail);
    globals.extend(body);
    compound(&globals)
}

fn compound(stream: &[u8]) -> io::Result<Vec<u8>> {
    let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, Cursor::new(Vec::new()))?;
    file.create_stream("/Workbook")?.write_all(stream)?;
    file.set_created_time("/", UNIX_EPOCH)?;
    file.set_modified_time("/", UNIX_EPOCH)?;
    file.flush()?;
    Ok(file.into_inner().into_inner())
}

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 4);
    out.extend(kind.to_le_bytes());
    out.extend((data.len() as u16).to_le_bytes());
    out.extend(data);
    out
}

fn words(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A string with a 16-bit length, in UTF-16.
fn long_string(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut out = (units.len() as u16).to_le_bytes().to_vec();
    out.push(1);
    out.extend(words(&units));
    out
}

/// A string with an 8-bit length, in UTF-16.
fn short_string(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut out = vec![units.len() as u8, 1];
    out.extend(words(&units));
    out
}

fn begin(kind: u16) -> Vec<u8> {
    let mut data = words(&[0x0600, kind, 0x0DBB, 0x07CC]);
    data.extend([0x41, 0, 0, 0, 0x06, 0, 0, 0]);
    record(0x0809, &data)
}

fn format_of_cells(format: u16, style: bool) -> Vec<u8> {
    let mut data = words(&[0, format, if style { 0xFFF5 } else { 0x0001 }]);
    data.extend([0x20, 0, 0, if style || format == 0 { 0 } else { 0x04 }]);
    data.extend([0; 8]);
    data.extend(0x20C0_u16.to_le_bytes());
    record(0x00E0, &data)
}

fn globals_before_sheet() -> Vec<u8> {
    let mut out = begin(0x0005);
    out.extend(record(0x0042, &1200_u16.to_le_bytes()));
    out.extend(record(0x003D, &words(&[0, 0, 18000, 10000, 0x38, 0, 0, 1, 600])));
    out.extend(record(0x0022, &0_u16.to_le_bytes()));
    for _ in 0..4 {
        let mut font = words(&[220, 0, 0x7FFF, 400, 0]);
        font.extend([0, 0, 134, 0]);
        font.extend(short_string("SimSun"));
        out.extend(record(0x0031, &font));
    }
    let mut format = DATE_FORMAT.to_le_bytes().to_vec();
    format.extend(long_string("yyyy\\-mm\\-dd"));
    out.extend(record(0x041E, &format));
    for _ in 0..15 {
        out.extend(format_of_cells(0, true));
    }
    for format in [0, 4, DATE_FORMAT] {
        out.extend(format_of_cells(format, false));
    }
    out.extend(record(0x0293, &[0, 0x80, 0, 0xFF]));
    out
}

fn bound_sheet(name: &str, place: u32) -> Vec<u8> {
    let mut data = place.to_le_bytes().to_vec();
    data.extend([0, 0]);
    data.extend(short_string(name));
    record(0x0085, &data)
}

fn globals_after_sheet(strings: &[String]) -> Vec<u8> {
    let count = strings.len() as u32;
    let mut table = count.to_le_bytes().to_vec();
    table.extend(count.to_le_bytes());
    for text in strings {
        table.extend(long_string(text));
    }
    let mut out = record(0x00FC, &table);
    out.extend(record(0x000A, &[]));
    out
}

fn sheet_records(rows: &[Vec<Cell>], widths: &[u16], strings: &mut Vec<String>) -> Vec<u8> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as u16;
    let mut out = begin(0x0010);
    for (at, width) in widths.iter().enumerate() {
        out.extend(record(0x007D, &words(&[at as u16, at as u16, width * 256, XF_GENERAL, 0, 0])));
    }
    let mut size = 0_u32.to_le_bytes().to_vec();
    size.extend((rows.len() as u32).to_le_bytes());
    size.extend(words(&[0, columns, 0]));
    out.extend(record(0x0200, &size));
    for at in 0..rows.len() {
        out.extend(record(0x0208, &words(&[at as u16, 0, columns, 0x00FF, 0, 0, 0x0100, XF_GENERAL])));
    }
    for (row, cells) in rows.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            out.extend(cell_record(row as u16, column as u16, cell, strings));
        }
    }
    let mut window = words(&[0x06B6, 0, 0]);
    window.extend(64_u32.to_le_bytes());
    window.extend([0; 8]);
    out.extend(record(0x023E, &window));
    out.extend(record(0x000A, &[]));
    out
}

fn cell_record(row: u16, column: u16, cell: &Cell, strings: &mut Vec<String>) -> Vec<u8> {
    let number = |format: u16, value: f64| {
        let mut data = words(&[row, column, format]);
        data.extend(value.to_le_bytes());
        record(0x0203, &data)
    };
    match cell {
        Cell::Empty => Vec::new(),
        Cell::Text(text) => {
            let place = strings.iter().position(|known| known == text).unwrap_or_else(|| {
                strings.push(text.clone());
                strings.len() - 1
            });
            let mut data = words(&[row, column, XF_GENERAL]);
            data.extend((place as u32).to_le_bytes());
            record(0x00FD, &data)
        }
        Cell::Money(cents) => number(XF_MONEY, *cents as f64 / 100.0),
        Cell::Date(date) => number(XF_DATE, serial(date)),
    }
}

/// The day number of a spreadsheet (1900 system) of an ISO date.
fn serial(date: &str) -> f64 {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().unwrap_or(0));
    let (year, month, day) =
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    (days - 693_899) as f64
}
