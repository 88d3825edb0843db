//! OpenDocument spreadsheets: exact decimals, currencies and hidden sheets from the XML itself.

use super::{Collector, Full, Sheet, Value, Workbook, zipped};
use crate::error::DocumentError;
use crate::money;
use crate::{limits, xml, zip_gate};
use quick_xml::events::{BytesStart, Event};
use std::collections::HashSet;
use std::str::FromStr;

/// Reads all sheets, or only the one that was asked for.
pub(super) fn read(bytes: &[u8], only: Option<&str>) -> Result<Workbook, DocumentError> {
    let mut archive = zip_gate::check(bytes)?;
    if let Some(manifest) = zip_gate::entry(&mut archive, "META-INF/manifest.xml")?
        && contains(&manifest, b"encryption-data")
    {
        return Err(DocumentError::Encrypted("the spreadsheet needs a password".to_owned()));
    }
    let Some(content) = zip_gate::entry(&mut archive, "content.xml")? else {
        return Err(DocumentError::Broken("the spreadsheet has no content".to_owned()));
    };
    let content = crate::text::decode(&content, false).text;
    let mut reading = Reading {
        only: only.map(str::to_owned),
        cells: limits::CELLS,
        text: limits::TEXT_BYTES,
        ..Reading::default()
    };
    reading.run(&content)?;
    Ok(reading.book)
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// A cell while it is read.
#[derive(Debug, Default)]
struct Cell {
    kind: String,
    value: String,
    currency: Option<&'static str>,
    repeat: u32,
    formula: bool,
    text: String,
    paragraphs: u32,
}

#[derive(Debug, Default)]
struct Reading {
    book: Workbook,
    only: Option<String>,
    hidden_styles: HashSet<String>,
    style: Option<String>,
    sheet: Option<(Sheet, Collector)>,
    row: u32,
    row_repeat: u32,
    row_cells: Vec<(u32, Value)>,
    column: u32,
    cell: Option<Cell>,
    /// Depth of annotations and tracked changes, whose text is not the cell's.
    aside: u32,
    cells: usize,
    text: usize,
}

impl Reading {
    fn run(&mut self, content: &str) -> Result<(), DocumentError> {
        let mut walk = xml::Walk::new(content);
        while let Some(step) = walk.next()? {
            match step {
                Event::Start(tag) => self.open(&tag),
                Event::Empty(tag) => {
                    self.open(&tag);
                    self.close(xml::local(&tag));
                }
                Event::End(tag) => self.close(xml::local_end(&tag)),
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    if let (Some(cell), 0) = (&mut self.cell, self.aside) {
                        xml::push_text(&step, &mut cell.text);
                    }
                }
                _ => {}
            }
            if self.book.cut {
                self.book
                    .notes
                    .push("the spreadsheet holds more than is read; the rest is missing".to_owned());
                self.end_sheet();
                break;
            }
        }
        Ok(())
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        match xml::local(tag) {
            "style" => self.style = xml::attribute(tag, "name"),
            "table-properties" => {
                if xml::attribute(tag, "display").as_deref() == Some("false")
                    && let Some(style) = &self.style
                {
                    self.hidden_styles.insert(style.clone());
                }
            }
            "annotation" | "tracked-changes" => self.aside += 1,
            "table" if self.sheet.is_none() && self.aside == 0 => self.open_table(tag),
            "table-row" => {
                self.row_repeat = repeat(tag, "number-rows-repeated");
                self.row_cells.clear();
                self.column = 0;
            }
            "table-cell" | "covered-table-cell" if self.sheet.is_some() => {
                let currency = xml::attribute(tag, "currency").and_then(|text| money::currency_code(&text));
                let value = ["value", "date-value", "time-value", "boolean-value", "string-value"]
                    .into_iter()
                    .find_map(|name| xml::attribute(tag, name));
                let merged = xml::attribute(tag, "number-columns-spanned").is_some();
                if let (true, Some((sheet, _))) = (merged, &mut self.sheet) {
                    sheet.merged += 1;
                }
                self.cell = Some(Cell {
                    kind: xml::attribute(tag, "value-type").unwrap_or_default(),
                    value: value.unwrap_or_default(),
                    currency,
                    repeat: repeat(tag, "number-columns-repeated"),
                    formula: xml::attribute(tag, "formula").is_some(),
                    ..Cell::default()
                });
            }
            "p" => {
                if let (Some(cell), 0) = (&mut self.cell, self.aside) {
                    if cell.paragraphs > 0 {
                        cell.text.push('\n');
                    }
                    cell.paragraphs += 1;
                }
            }
            "s" | "tab" | "line-break" => {
                if let (Some(cell), 0) = (&mut self.cell, self.aside) {
                    cell.text.push(if xml::local(tag) == "line-break" { '\n' } else { ' ' });
                }
            }
            _ => {}
        }
    }

    fn open_table(&mut self, tag: &BytesStart<'_>) {
        let name = xml::attribute(tag, "name").unwrap_or_default();
        if self.only.as_ref().is_some_and(|only| *only != name) {
            return;
        }
        let hidden =
            xml::attribute(tag, "style-name").is_some_and(|style| self.hidden_styles.contains(&style));
        self.row = 0;
        self.sheet =
            Some((Sheet { name, hidden, ..Sheet::default() }, Collector::new(self.cells, self.text)));
    }

    fn close(&mut self, name: &str) {
        match name {
            "annotation" | "tracked-changes" => self.aside = self.aside.saturating_sub(1),
            "table-cell" | "covered-table-cell" => self.end_cell(),
            "table-row" if self.sheet.is_some() => self.end_row(),
            "table" => self.end_sheet(),
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        let repeat = cell.repeat;
        let value = self.value(cell);
        if value != Value::Empty {
            // A filled cell that repeats to the edge of the sheet is a bomb; thousands side by side are no table.
            for offset in 0..repeat.min(1_024) {
                self.row_cells.push((self.column.saturating_add(offset), value.clone()));
            }
        }
        self.column = self.column.saturating_add(repeat);
    }

    fn value(&mut self, cell: Cell) -> Value {
        let value = match cell.kind.as_str() {
            "float" | "currency" | "percentage" => match rust_decimal::Decimal::from_str(&cell.value)
                .or_else(|_| rust_decimal::Decimal::from_scientific(&cell.value))
            {
                // The program that wrote it printed a float; noise beyond 15 digits is not the person's.
                Ok(value) if value.scale() > 12 => {
                    cell.value.parse().ok().and_then(money::from_float).map_or(
                        Value::Number { value, currency: cell.currency },
                        |value| Value::Number { value, currency: cell.currency },
                    )
                }
                Ok(value) => Value::Number { value, currency: cell.currency },
                Err(_) => Value::Huge(cell.value.clone()),
            },
            "date" => zipped::iso(&cell.value),
            "time" => Value::Time(clock(&cell.value)),
            "boolean" => Value::Bool(cell.value == "true"),
            _ if !cell.text.is_empty() => Value::Text(cell.text.clone()),
            _ if !cell.value.is_empty() => Value::Text(cell.value.clone()),
            _ if cell.formula => Value::Uncomputed,
            _ => Value::Empty,
        };
        let value = match value {
            Value::Text(text) if cell.formula && text.starts_with('#') && text.ends_with(['!', '?', 'A']) => {
                Value::Error(text)
            }
            other => other,
        };
        if let (Value::Number { currency: Some(code), .. }, Some((sheet, _))) = (&value, &mut self.sheet)
            && !sheet.currencies.contains(code)
        {
            sheet.currencies.push(code);
        }
        if let (Value::Uncomputed, Some((sheet, _))) = (&value, &mut self.sheet) {
            sheet.uncomputed += 1;
        }
        value
    }

    fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.row_cells);
        if let (Some((_, collector)), false) = (&mut self.sheet, cells.is_empty()) {
            let mut full: Result<(), Full> = Ok(());
            'rows: for offset in 0..self.row_repeat {
                for (column, value) in &cells {
                    full = collector.add(self.row.saturating_add(offset), *column, value.clone());
                    if full.is_err() {
                        break 'rows;
                    }
                }
            }
            self.book.cut |= full.is_err();
        }
        self.row = self.row.saturating_add(self.row_repeat);
    }

    fn end_sheet(&mut self) {
        let Some((mut sheet, collector)) = self.sheet.take() else { return };
        let (blocks, cells, text) = collector.finish();
        sheet.blocks = blocks;
        self.cells = self.cells.saturating_sub(cells);
        self.text = self.text.saturating_sub(text);
        self.book.sheets.push(sheet);
    }
}

fn repeat(tag: &BytesStart<'_>, name: &str) -> u32 {
    xml::attribute(tag, name).and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, 1 << 20)
}

/// `PT08H30M00S` as `08:30:00`.
fn clock(text: &str) -> String {
    let Some(rest) = text.strip_prefix("PT") else { return text.to_owned() };
    let part = |unit: char| -> Option<u64> {
        let (head, _) = rest.split_once(unit)?;
        let digits = head.rsplit(|c: char| c.is_ascii_alphabetic()).next()?;
        digits.split(['.', ',']).next()?.parse().ok()
    };
    let (hours, minutes, seconds) = (part('H'), part('M'), part('S'));
    if hours.is_none() && minutes.is_none() && seconds.is_none() {
        return text.to_owned();
    }
    format!("{:02}:{:02}:{:02}", hours.unwrap_or(0), minutes.unwrap_or(0), seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rows: &str) -> Workbook {
        let content = format!(
            r#"<o:doc xmlns:o="o"><style:style style:name="h"><style:table-properties table:display="false"/></style:style>
            <table:table table:name="A" table:style-name="h">{rows}</table:table></o:doc>"#
        );
        let mut reading = Reading { cells: 1_000, text: 10_000, ..Reading::default() };
        reading.run(&content).unwrap();
        reading.book
    }

    #[test]
    fn values_are_exact_and_currencies_known() {
        let book = run(
            r#"<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16000"/></table:table-row>
            <table:table-row><table:table-cell office:value-type="currency" office:currency="EUR" office:value="99999999999999.98"><text:p>x</text:p></table:table-cell>
            <table:table-cell office:value-type="date" office:date-value="2024-03-16"/>
            <table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p></office:annotation><text:p>a &amp; b</text:p><text:p>c</text:p></table:table-cell>
            <table:table-cell table:formula="of:=1"/></table:table-row>"#,
        );
        let sheet = &book.sheets[0];
        assert!(sheet.hidden, "the style hides the sheet");
        assert_eq!(sheet.blocks[0].first_row, 4, "empty repeated rows only move the number");
        let shown: Vec<String> = sheet.blocks[0].rows[0].iter().map(Value::shown).collect();
        assert_eq!(
            shown,
            ["99999999999999.98", "2024-03-16", "a & b\nc", "(not computed)"],
            "text of notes is not the cell's"
        );
        assert_eq!(
            (sheet.currencies.clone(), sheet.uncomputed),
            (vec!["EUR"], 1),
            "what the sheet says of itself"
        );
    }

    #[test]
    fn a_repeated_filled_cell_is_bounded() {
        let book = run(
            r#"<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/></table:table-row>"#,
        );
        assert!(book.cut, "a sheet filled by repetition stops at the limit");
    }
}
