//! XLSX and XLSB, streamed cell by cell.

use super::{Collector, Full, Sheet, Value};
use crate::money;
use calamine::{DataRef, ExcelDateTime, Reader, SheetVisible, Xlsb, Xlsx};
use std::io::Cursor;

/// Bytes of a workbook under `calamine`.
pub(super) type Bytes<'a> = Cursor<&'a [u8]>;

/// Number formats of a workbook, by style: the currency they show.
pub(super) struct Styles(Vec<Option<&'static str>>);

impl Styles {
    fn get(&self, style: usize) -> Option<&'static str> {
        self.0.get(style).copied().flatten()
    }
}

/// Reads one sheet of an XLSX; true beside it when cells without a value exist, which may be formulas.
pub(super) fn xlsx(
    book: &mut Xlsx<Bytes<'_>>,
    sheet: &mut Sheet,
    into: &mut Collector,
) -> Result<(Option<Full>, bool), String> {
    let name = sheet.name.clone();
    let mut reader = book.worksheet_cells_reader(&name).map_err(|error| error.to_string())?;
    let styles = Styles(
        reader
            .styles()
            .iter()
            .map(|style| {
                style.number_format.as_ref().and_then(|format| money::of_number_format(&format.format_code))
            })
            .collect(),
    );
    let mut blanks = 0u32;
    while let Some((cell, style)) = reader.next_cell_with_style_id().map_err(|error| error.to_string())? {
        let (row, column) = cell.get_position();
        let value = convert(cell.get_value(), styles.get(style));
        if value == Value::Empty {
            blanks += 1;
            continue;
        }
        if let Value::Number { currency: Some(code), .. } = &value
            && !sheet.currencies.contains(code)
        {
            sheet.currencies.push(code);
        }
        if into.add(row, column, value).is_err() {
            return Ok((Some(Full), false));
        }
    }
    Ok((None, blanks > 0))
}

/// Finds formulas whose result the file does not hold.
pub(super) fn uncomputed(
    book: &mut Xlsx<Bytes<'_>>,
    sheet: &mut Sheet,
    into: &mut Collector,
) -> Result<Option<Full>, String> {
    let mut reader = book.worksheet_cells_reader(&sheet.name).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    while let Some(cell) = reader.next_cell_with_formula_metadata().map_err(|error| error.to_string())? {
        if cell.formula.is_some() && matches!(cell.value, DataRef::Empty) {
            found.push(cell.pos);
            if found.len() > crate::limits::CELLS {
                return Ok(Some(Full));
            }
        }
    }
    sheet.uncomputed = u32::try_from(found.len()).unwrap_or(u32::MAX);
    for (row, column) in found {
        if into.fill(row, column, Value::Uncomputed).is_err() {
            return Ok(Some(Full));
        }
    }
    Ok(None)
}

/// Reads one sheet of an XLSB.
pub(super) fn xlsb(
    book: &mut Xlsb<Bytes<'_>>,
    sheet: &Sheet,
    into: &mut Collector,
) -> Result<Option<Full>, String> {
    let mut reader = book.worksheet_cells_reader(&sheet.name).map_err(|error| error.to_string())?;
    while let Some(cell) = reader.next_cell().map_err(|error| error.to_string())? {
        let (row, column) = cell.get_position();
        if into.add(row, column, convert(cell.get_value(), None)).is_err() {
            return Ok(Some(Full));
        }
    }
    Ok(None)
}

/// Names and visibility of the sheets that hold cells.
pub(super) fn sheets<R, RS>(book: &R) -> Vec<Sheet>
where
    RS: std::io::Read + std::io::Seek,
    R: Reader<RS>,
{
    book.sheets_metadata()
        .iter()
        .filter(|sheet| {
            matches!(
                sheet.typ,
                calamine::SheetType::WorkSheet
                    | calamine::SheetType::MacroSheet
                    | calamine::SheetType::DialogSheet
            )
        })
        .map(|sheet| Sheet {
            name: sheet.name.clone(),
            hidden: sheet.visible != SheetVisible::Visible,
            ..Sheet::default()
        })
        .collect()
}

fn convert(data: &DataRef<'_>, currency: Option<&'static str>) -> Value {
    match data {
        DataRef::Int(value) => Value::Number { value: (*value).into(), currency },
        DataRef::Float(value) => number(*value, currency),
        DataRef::String(text) => string(text),
        DataRef::SharedString(text) => string(text),
        DataRef::Bool(value) => Value::Bool(*value),
        DataRef::DateTime(time) => moment(time),
        DataRef::DateTimeIso(text) => iso(text),
        DataRef::DurationIso(text) => Value::Time(text.clone()),
        DataRef::Error(error) => Value::Error(error.to_string()),
        DataRef::Empty => Value::Empty,
    }
}

pub(super) fn string(text: &str) -> Value {
    if text.is_empty() { Value::Empty } else { Value::Text(text.to_owned()) }
}

pub(super) fn number(value: f64, currency: Option<&'static str>) -> Value {
    match money::from_float(value) {
        Some(value) => Value::Number { value, currency },
        None => Value::Huge(format!("{value:e}")),
    }
}

/// A date, a date with a time, or a time of day, by what the serial number holds.
pub(super) fn moment(time: &ExcelDateTime) -> Value {
    let serial = time.as_f64();
    if time.is_duration() {
        return Value::Time(duration(serial));
    }
    if !(0.0..2_958_466.0).contains(&serial) {
        return number(serial, None);
    }
    if serial < 1.0 {
        // A serial below one is a time of day; duration() writes it the same way.
        return Value::Time(duration(serial));
    }
    match time.as_datetime() {
        Some(found) if found.time() == chrono::NaiveTime::MIN => Value::Date(found.date()),
        Some(found) => Value::DateTime(round_second(found)),
        None => number(serial, None),
    }
}

/// A time of day is a fraction of a float; half a second either way is noise.
fn round_second(time: chrono::NaiveDateTime) -> chrono::NaiveDateTime {
    use chrono::{Duration, Timelike};
    let nanos = time.nanosecond();
    let base = time.with_nanosecond(0).unwrap_or(time);
    if nanos >= 500_000_000 { base + Duration::seconds(1) } else { base }
}

fn duration(days: f64) -> String {
    let seconds = (days * 86_400.0).round();
    let sign = if seconds < 0.0 { "-" } else { "" };
    // Longer than a thousand years of hours is not a duration; as saturates, which is all that is needed.
    let total = seconds.abs() as u64;
    format!("{sign}{:02}:{:02}:{:02}", total / 3_600, total / 60 % 60, total % 60)
}

pub(super) fn iso(text: &str) -> Value {
    use chrono::NaiveDateTime;
    if let Ok(date) = text.trim_end_matches('Z').parse::<chrono::NaiveDate>() {
        return Value::Date(date);
    }
    for form in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(text.trim_end_matches('Z'), form) {
            return if time.time() == chrono::NaiveTime::MIN {
                Value::Date(time.date())
            } else {
                Value::DateTime(round_second(time))
            };
        }
    }
    Value::Time(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::ExcelDateTimeType;

    #[test]
    fn serials_of_both_calendars() {
        let day = |serial, old| moment(&ExcelDateTime::new(serial, ExcelDateTimeType::DateTime, old));
        assert_eq!(day(45367.0, false).shown(), "2024-03-16", "1900 calendar");
        assert_eq!(day(43905.0, true).shown(), "2024-03-16", "1904 calendar");
        assert_eq!(day(45367.5, false).shown(), "2024-03-16 12:00:00", "with a time");
        assert_eq!(day(0.75, false).shown(), "18:00:00", "only a time");
        let hours = moment(&ExcelDateTime::new(1.25, ExcelDateTimeType::TimeDelta, false));
        assert_eq!(hours.shown(), "30:00:00", "thirty hours are not a date");
        assert_eq!(iso("2021-01-01T10:10:10").shown(), "2021-01-01 10:10:10", "ISO dates of strict files");
    }
}
