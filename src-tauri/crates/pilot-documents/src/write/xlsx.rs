//! Workbooks. Text is written as text, so that nothing is a formula; the time of creation is fixed, so that the bytes on
//! the card are the bytes that are written.

use super::{Cell, ChartKind, ChartSpec, ColumnSpec, SheetSpec};
use crate::error::DocumentError;
use crate::fold::{is_cjk, key};
use crate::money;
use chrono::{Datelike, NaiveDate};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use rust_xlsxwriter::{
    Chart, ChartType, DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError,
};

/// Most sheets of a workbook.
const SHEETS: usize = 60;
/// Most cells of a workbook.
const CELLS: usize = 1_000_000;
/// Most characters of a cell, by Excel's rule.
const CELL_CHARS: usize = 32_767;

/// How the cells of a column are written.
#[derive(Clone, Debug, PartialEq)]
enum Style {
    /// As each cell is.
    Own,
    Text,
    /// Numbers with this format; strings are read as numbers.
    Number(String),
    /// Days.
    Date,
}

/// A workbook from sheets of rows, with an optional chart. The same sheets give the same bytes.
///
/// # Errors
/// [`DocumentError::Arguments`] with words for what does not fit: names, formats, sizes, a chart without its columns.
pub fn xlsx(sheets: &[SheetSpec], chart: Option<&ChartSpec>) -> Result<Vec<u8>, DocumentError> {
    check(sheets)?;
    let mut book = Workbook::new();
    let created = ExcelDateTime::from_ymd(2000, 1, 1).map_err(failed)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&created));
    for spec in sheets {
        let mut sheet = Worksheet::new();
        sheet.set_name(&spec.name).map_err(failed)?;
        let size = fill(&mut sheet, spec)?;
        if let Some(chart) = chart.filter(|chart| chart.sheet == spec.name) {
            insert(&mut sheet, spec, chart, size)?;
        }
        book.push_worksheet(sheet);
    }
    if let Some(chart) = chart
        && !sheets.iter().any(|spec| spec.name == chart.sheet)
    {
        return Err(DocumentError::Arguments(format!("there is no sheet {:?} for the chart", chart.sheet)));
    }
    book.save_to_buffer().map_err(failed)
}

fn failed(error: XlsxError) -> DocumentError {
    DocumentError::Arguments(format!("the workbook cannot be made: {error}"))
}

fn check(sheets: &[SheetSpec]) -> Result<(), DocumentError> {
    let wrong = |text: String| Err(DocumentError::Arguments(text));
    if sheets.is_empty() || sheets.len() > SHEETS {
        return wrong(format!("a workbook has 1 to {SHEETS} sheets, not {}", sheets.len()));
    }
    let mut names: Vec<String> = Vec::new();
    let mut cells = 0usize;
    for sheet in sheets {
        let name = sheet.name.as_str();
        let bad = name.is_empty()
            || name.chars().count() > 31
            || name.contains(['[', ']', ':', '*', '?', '/', '\\'])
            || name.starts_with('\'')
            || name.ends_with('\'');
        if bad || name.chars().any(char::is_control) {
            return wrong(format!(
                "{name:?} cannot be the name of a sheet: 1 to 31 characters, none of [ ] : * ? / \\"
            ));
        }
        let lower = name.to_lowercase();
        if names.contains(&lower) {
            return wrong(format!("two sheets are named {name:?}"));
        }
        names.push(lower);
        cells += sheet.rows.iter().map(Vec::len).sum::<usize>() + sheet.columns.as_ref().map_or(0, Vec::len);
        let widest = sheet.rows.iter().map(Vec::len).max().unwrap_or(0);
        if widest > crate::limits::COLUMNS as usize || sheet.rows.len() > 1_048_575 {
            return wrong(format!("sheet {name:?} is larger than a sheet can be"));
        }
        if let Some(columns) = sheet.columns.as_ref().filter(|columns| columns.len() < widest) {
            return wrong(format!(
                "sheet {name:?} has {} columns and a row of {widest} cells",
                columns.len()
            ));
        }
    }
    if cells > CELLS { wrong(format!("{cells} cells; {CELLS} are written at most")) } else { Ok(()) }
}

fn styles(spec: &SheetSpec) -> Result<Vec<Style>, DocumentError> {
    let style = |column: &ColumnSpec| -> Result<Style, DocumentError> {
        let Some(format) = column.format.as_deref() else { return Ok(Style::Own) };
        Ok(match format {
            "" | "general" => Style::Own,
            "text" => Style::Text,
            "number" => Style::Number("General".to_owned()),
            "integer" => Style::Number("0".to_owned()),
            "amount" => Style::Number("#,##0.00".to_owned()),
            "percent" => Style::Number("0.00%".to_owned()),
            "date" => Style::Date,
            other => of_code(other).ok_or_else(|| {
                DocumentError::Arguments(format!("{other:?} is no format: text, number, integer, amount, percent, date, or a number format such as #,##0.00"))
            })?,
        })
    };
    spec.columns.as_ref().map_or_else(|| Ok(Vec::new()), |columns| columns.iter().map(style).collect())
}

/// A number format of Excel; only signs that show numbers, dates and currencies.
fn of_code(code: &str) -> Option<Style> {
    let fine = code.chars().count() <= 60
        && code.chars().all(|c| {
            c.is_ascii_digit()
                || matches!(
                    c,
                    '#' | '?'
                        | '.'
                        | ','
                        | '%'
                        | ';'
                        | '_'
                        | '('
                        | ')'
                        | '-'
                        | '+'
                        | '*'
                        | ' '
                        | '"'
                        | '/'
                        | ':'
                        | '\\'
                        | '['
                        | ']'
                        | '¥'
                        | '￥'
                        | '€'
                        | '$'
                        | '£'
                        | '元'
                        | '年'
                        | '月'
                        | '日'
                )
                || c.is_ascii_alphabetic()
        });
    let number = code.contains(['0', '#', '?']);
    let lower = code.to_ascii_lowercase();
    let date = lower.contains("yy") && lower.contains('m');
    match (fine, date, number) {
        (true, true, _) => Some(Style::Date),
        (true, false, true) => Some(Style::Number(code.to_owned())),
        _ => None,
    }
}

/// Writes header and rows; gives the number of header rows and of all rows.
fn fill(sheet: &mut Worksheet, spec: &SheetSpec) -> Result<(u32, u32), DocumentError> {
    let bold = Format::new().set_bold();
    let styles = styles(spec)?;
    let mut widths: Vec<usize> = Vec::new();
    let mut row = 0u32;
    if let Some(columns) = &spec.columns {
        for (index, column) in columns.iter().enumerate() {
            write_text(sheet, (0, index), &column.header, Some(&bold))?;
            widen(&mut widths, index, &column.header);
        }
        row = 1;
    }
    let first_is_header =
        row == 0 && spec.rows.len() > 1 && spec.rows[0].iter().all(|cell| matches!(cell, Cell::Text(_)));
    let header = if first_is_header { 1 } else { row };
    for (number, cells) in spec.rows.iter().enumerate() {
        for (index, cell) in cells.iter().enumerate() {
            if first_is_header && number == 0 {
                write_text(sheet, (0, index), &cell.shown(), Some(&bold))?;
            } else {
                write(sheet, (row, index), cell, styles.get(index).unwrap_or(&Style::Own))?;
            }
            widen(&mut widths, index, &cell.shown());
        }
        row += 1;
    }
    if header > 0 {
        sheet.set_freeze_panes(header, 0).map_err(failed)?;
    }
    for (index, width) in widths.iter().enumerate() {
        // Eight is Excel's own width; sixty keeps a long remark from pushing everything off the screen.
        let width = f64::from(u32::try_from((*width + 2).clamp(8, 60)).unwrap_or(60));
        sheet.set_column_width(column(index)?, width).map_err(failed)?;
    }
    Ok((header, row))
}

fn widen(widths: &mut Vec<usize>, index: usize, text: &str) {
    if widths.len() <= index {
        widths.resize(index + 1, 0);
    }
    let longest = text
        .lines()
        .map(|line| line.chars().map(|c| if is_cjk(c) { 2 } else { 1 }).sum::<usize>())
        .max()
        .unwrap_or(0);
    widths[index] = widths[index].max(longest);
}

fn column(index: usize) -> Result<u16, DocumentError> {
    u16::try_from(index)
        .map_err(|_| DocumentError::Arguments("more columns than a sheet can have".to_owned()))
}

fn write(
    sheet: &mut Worksheet,
    place: (u32, usize),
    cell: &Cell,
    style: &Style,
) -> Result<(), DocumentError> {
    match (cell, style) {
        (Cell::Empty, _) => Ok(()),
        (_, Style::Text) => write_text(sheet, place, &cell.shown(), None),
        (Cell::Number(value), Style::Number(code)) => write_number(sheet, place, *value, code),
        (Cell::Number(value), Style::Own | Style::Date) => write_number(sheet, place, *value, "General"),
        (Cell::Text(text), Style::Number(code)) => match plain_amount(text) {
            Some(value) => write_number(sheet, place, value, code),
            None => write_text(sheet, place, text, None),
        },
        (Cell::Text(text), Style::Date) => match text.parse::<NaiveDate>() {
            Ok(date) => write_date(sheet, place, date),
            Err(_) => write_text(sheet, place, text, None),
        },
        (Cell::Text(text), Style::Own) => write_text(sheet, place, text, None),
        (Cell::Date(date), Style::Own | Style::Date | Style::Number(_)) => write_date(sheet, place, *date),
    }
}

/// A string in a column of numbers: digits, a sign, a point, groups; nothing with a currency, which the column would hide.
fn plain_amount(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let percent = text.strip_suffix('%');
    let amount = money::parse(percent.unwrap_or(text), Some(money::Mark::Point))
        .filter(|amount| amount.currency.is_none())?;
    if percent.is_some() { amount.value.checked_div(Decimal::ONE_HUNDRED) } else { Some(amount.value) }
}

fn write_text(
    sheet: &mut Worksheet,
    place: (u32, usize),
    text: &str,
    format: Option<&Format>,
) -> Result<(), DocumentError> {
    if text.chars().count() > CELL_CHARS {
        return Err(DocumentError::Arguments(format!(
            "row {}: a cell holds at most {CELL_CHARS} characters",
            place.0 + 1
        )));
    }
    let column = column(place.1)?;
    match format {
        Some(format) => sheet.write_string_with_format(place.0, column, text, format),
        None => sheet.write_string(place.0, column, text),
    }
    .map(|_| ())
    .map_err(failed)
}

/// A number that Excel can hold is a number; one with more digits stays whole as text.
fn write_number(
    sheet: &mut Worksheet,
    place: (u32, usize),
    value: Decimal,
    code: &str,
) -> Result<(), DocumentError> {
    let digits = value.normalize().mantissa().unsigned_abs().to_string().len();
    let Some(float) = value.to_f64().filter(|_| digits <= 15) else {
        return write_text(sheet, place, &value.to_string(), None);
    };
    let format = Format::new().set_num_format(code);
    sheet.write_number_with_format(place.0, column(place.1)?, float, &format).map(|_| ()).map_err(failed)
}

fn write_date(sheet: &mut Worksheet, place: (u32, usize), date: NaiveDate) -> Result<(), DocumentError> {
    let (Ok(year), Ok(month), Ok(day)) =
        (u16::try_from(date.year()), u8::try_from(date.month()), u8::try_from(date.day()))
    else {
        return write_text(sheet, place, &date.to_string(), None);
    };
    let Ok(moment) = ExcelDateTime::from_ymd(year, month, day) else {
        return write_text(sheet, place, &date.to_string(), None);
    };
    let format = Format::new().set_num_format("yyyy-mm-dd");
    sheet.write_datetime_with_format(place.0, column(place.1)?, &moment, &format).map(|_| ()).map_err(failed)
}

fn insert(
    sheet: &mut Worksheet,
    spec: &SheetSpec,
    chart: &ChartSpec,
    (header, rows): (u32, u32),
) -> Result<(), DocumentError> {
    if rows <= header {
        return Err(DocumentError::Arguments(format!("sheet {:?} has no rows for a chart", spec.name)));
    }
    let names = named(spec, &chart.categories)?;
    let values = named(spec, &chart.values)?;
    let mut drawing = Chart::new(match chart.kind {
        ChartKind::Bar => ChartType::Bar,
        ChartKind::Line => ChartType::Line,
    });
    let range = |column: u16| (spec.name.as_str(), header, column, rows - 1, column);
    drawing
        .add_series()
        .set_categories(range(names))
        .set_values(range(values))
        .set_name(chart.values.as_str());
    match &chart.title {
        Some(title) => drawing.title().set_name(title.as_str()),
        None => drawing.title().set_hidden(),
    };
    drawing.legend().set_hidden();
    if chart.kind == ChartKind::Bar {
        // Excel draws the first row at the bottom; a reader expects it on top.
        drawing.x_axis().set_reverse();
    }
    let height = 120 + 24 * (rows - header).min(40);
    drawing.set_width(640).set_height(height.max(288));
    let width =
        spec.columns.as_ref().map_or(0, Vec::len).max(spec.rows.iter().map(Vec::len).max().unwrap_or(0));
    sheet.insert_chart(header, column(width + 1)?, &drawing).map(|_| ()).map_err(failed)
}

/// A column by header or letter.
fn named(spec: &SheetSpec, name: &str) -> Result<u16, DocumentError> {
    let headers: Vec<String> = match &spec.columns {
        Some(columns) => columns.iter().map(|column| column.header.clone()).collect(),
        None => spec.rows.first().map_or_else(Vec::new, |row| row.iter().map(Cell::shown).collect()),
    };
    let found = headers
        .iter()
        .position(|header| header == name)
        .or_else(|| headers.iter().position(|header| key(header) == key(name)));
    let letter = || {
        let fine = (1..=2).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let place = name.bytes().fold(0usize, |sum, byte| sum * 26 + usize::from(byte - b'A') + 1);
        (fine && place <= headers.len()).then(|| place - 1)
    };
    let index = found.or_else(letter).ok_or_else(|| {
        DocumentError::Arguments(format!(
            "the chart names a column {name:?} that sheet {:?} does not have",
            spec.name
        ))
    })?;
    column(index)
}
