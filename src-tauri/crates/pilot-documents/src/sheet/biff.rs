//! A look at the records of an XLS before it is read: password, how far its cells reach, and the currency that number
//! formats show. The reader behind it lays each sheet out as a rectangle, so a far corner must be known first.

use crate::error::DocumentError;
use crate::{limits, money};
use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};

/// What the records say.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Currency by sheet name, row and column.
    currencies: HashMap<(String, u32, u32), &'static str>,
}

impl Facts {
    pub(super) fn currency(&self, sheet: &str, row: u32, column: u32) -> Option<&'static str> {
        if self.currencies.is_empty() {
            return None;
        }
        self.currencies.get(&(sheet.to_owned(), row, column)).copied()
    }
}

struct Record<'a> {
    kind: u16,
    start: usize,
    data: &'a [u8],
}

/// Reads the records of the workbook stream; a broken tail ends the list, the reader behind will say what it thinks.
fn records(stream: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0usize;
    std::iter::from_fn(move || {
        let kind = u16_at(stream, at)?;
        let length = usize::from(u16_at(stream, at + 2)?);
        let data = stream.get(at + 4..at + 4 + length)?;
        let record = Record { kind, start: at, data };
        at += 4 + length;
        Some(record)
    })
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]))
}

/// Looks at the records of an XLS.
pub(super) fn look(bytes: &[u8]) -> Result<Facts, DocumentError> {
    let stream = stream(bytes)?;
    let mut facts = Facts::default();
    let mut formats: BTreeMap<u16, &'static str> = BTreeMap::new();
    let mut styles: Vec<Option<&'static str>> = Vec::new();
    let mut sheets: HashMap<usize, String> = HashMap::new();
    let mut current: Option<String> = None;
    let mut bounds = Bounds::default();
    for record in records(&stream) {
        let data = record.data;
        match record.kind {
            0x002F if u16_at(data, 0) != Some(0) || data.len() > 4 => {
                return Err(DocumentError::Encrypted("the workbook needs a password".to_owned()));
            }
            0x0809 => {
                bounds.next_sheet()?;
                current = sheets.get(&record.start).cloned();
            }
            0x0085 => {
                if let (Some(low), Some(high)) = (u16_at(data, 0), u16_at(data, 2)) {
                    sheets.insert(
                        usize::from(high) << 16 | usize::from(low),
                        name(data.get(6..).unwrap_or_default()),
                    );
                }
            }
            0x041E => {
                if let (Some(id), Some(code)) = (u16_at(data, 0), money::of_number_format(&format(data))) {
                    formats.insert(id, code);
                }
            }
            0x00E0 => styles.push(u16_at(data, 2).and_then(|id| formats.get(&id).copied())),
            0x0203 | 0x027E | 0x00FD | 0x0204 | 0x00D6 | 0x0006 | 0x0206 | 0x0406 | 0x0205 => {
                let (Some(row), Some(column), Some(style)) =
                    (u16_at(data, 0), u16_at(data, 2), u16_at(data, 4))
                else {
                    continue;
                };
                bounds.add(row, column);
                note_currency(&mut facts, current.as_ref(), &styles, (row, column, style));
            }
            0x00BD => {
                let (Some(row), Some(first)) = (u16_at(data, 0), u16_at(data, 2)) else { continue };
                for (index, cell) in data.get(4..).unwrap_or_default().chunks_exact(6).enumerate() {
                    let column = first.saturating_add(u16::try_from(index).unwrap_or(u16::MAX));
                    bounds.add(row, column);
                    note_currency(
                        &mut facts,
                        current.as_ref(),
                        &styles,
                        (row, column, u16_at(cell, 0).unwrap_or(0)),
                    );
                }
            }
            _ => {}
        }
    }
    bounds.next_sheet()?;
    Ok(facts)
}

fn note_currency(
    facts: &mut Facts,
    sheet: Option<&String>,
    styles: &[Option<&'static str>],
    cell: (u16, u16, u16),
) {
    let (row, column, style) = cell;
    if let (Some(sheet), Some(Some(code))) = (sheet, styles.get(usize::from(style))) {
        facts.currencies.insert((sheet.clone(), u32::from(row), u32::from(column)), code);
    }
}

fn stream(bytes: &[u8]) -> Result<Vec<u8>, DocumentError> {
    let broken =
        |error: std::io::Error| DocumentError::Broken(format!("the workbook cannot be read: {error}"));
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(broken)?;
    let name = ["/Workbook", "/Book", "/WORKBOOK", "/BOOK"].into_iter().find(|name| file.is_stream(name));
    let Some(name) = name else {
        return Err(DocumentError::Unsupported("an OLE file without a workbook".to_owned()));
    };
    let mut out = Vec::new();
    // A stream cannot hold more than the file; a looping chain would say otherwise.
    file.open_stream(name).map_err(broken)?.take(bytes.len() as u64).read_to_end(&mut out).map_err(broken)?;
    Ok(out)
}

/// A sheet name; only BIFF8 says how its letters are stored, which is enough for matching.
fn name(data: &[u8]) -> String {
    let length = usize::from(data.first().copied().unwrap_or(0));
    let flags = data.get(1).copied().unwrap_or(0);
    letters(data.get(2..).unwrap_or_default(), length, flags & 1 == 1)
}

fn format(data: &[u8]) -> String {
    let length = usize::from(u16_at(data, 2).unwrap_or(0));
    let flags = data.get(4).copied().unwrap_or(0);
    letters(data.get(5..).unwrap_or_default(), length, flags & 1 == 1)
}

fn letters(data: &[u8], length: usize, wide: bool) -> String {
    if wide {
        let units: Vec<u16> =
            data.chunks_exact(2).take(length).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    } else {
        data.iter().take(length).map(|byte| char::from(*byte)).collect()
    }
}

/// Rectangle of one sheet, and the sum of those before it.
#[derive(Debug, Default)]
struct Bounds {
    rows: Option<(u16, u16)>,
    columns: Option<(u16, u16)>,
    total: u64,
}

impl Bounds {
    fn add(&mut self, row: u16, column: u16) {
        let grow = |range: Option<(u16, u16)>, value: u16| {
            range.map_or((value, value), |(low, high)| (low.min(value), high.max(value)))
        };
        self.rows = Some(grow(self.rows, row));
        self.columns = Some(grow(self.columns, column));
    }

    fn next_sheet(&mut self) -> Result<(), DocumentError> {
        if let (Some((top, bottom)), Some((left, right))) = (self.rows.take(), self.columns.take()) {
            self.total += (u64::from(bottom - top) + 1) * (u64::from(right - left) + 1);
        }
        if self.total > 2 * limits::CELLS as u64 {
            return Err(DocumentError::Limit(format!("the sheets reach over {} cells", self.total)));
        }
        Ok(())
    }
}
