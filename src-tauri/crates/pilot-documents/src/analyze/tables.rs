//! Tables into rows: separated values as a stream, sheets of a workbook, tables of a page or letter.

use super::columns::Sample;
use super::field::Row;
use super::ledger::{Ledger, shown};
use super::store::TableSource;
use super::{Analyzer, MAX_ROWS};
use crate::csv_table::{Layout, Lines};
use crate::fold;
use crate::model::{RowSource, Table};
use crate::sheet::{Block, Sheet, Value, Workbook};
use pilot_types::ErrorCode;
use std::io::Read;

/// Records of a CSV that are read before its columns are decided.
const SAMPLE: usize = 1_000;

/// What came of a table.
pub(super) enum Outcome {
    /// Rows were read.
    Rows,
    /// It is no ledger; why.
    NoLedger(String),
}

impl Analyzer {
    /// Reads separated values, a record at a time.
    pub(super) fn csv(&mut self, name: &str, input: impl Read, layout: Layout, mut lines: Lines) -> Outcome {
        let mut reader = crate::csv_table::reader(input, layout.delimiter);
        let mut sample: Vec<(u32, csv::StringRecord)> = Vec::new();
        let mut record = csv::StringRecord::new();
        let mut bad = 0u32;
        while sample.len() < SAMPLE {
            match reader.read_record(&mut record) {
                Ok(true) => sample.push((line(&mut lines, &reader, &record), record.clone())),
                Ok(false) => break,
                Err(_) => bad += 1,
            }
            if bad > 10_000 {
                break;
            }
        }
        let chinese = sample.iter().take(200).any(|(_, record)| record.iter().any(fold::has_han));
        let rows = sample.iter().map(|(line, record)| (*line, record)).collect();
        let columns = match (Sample { rows, chinese }).columns(&self.options.columns) {
            Ok(columns) => columns,
            Err(why) => return Outcome::NoLedger(why),
        };
        let place = RowSource { file: name.to_owned(), ..RowSource::default() };
        let table = self.store.begin(TableSource {
            file: name.to_owned(),
            by_line: columns.by_line,
            ..TableSource::default()
        });
        let data = columns.data;
        let mut ledger = Ledger::new(columns, table, place.clone(), chinese, false);
        for (line, record) in sample.drain(..).skip(data) {
            ledger.row(line, &record, &mut self.store, &mut self.log);
        }
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {
                    ledger.row(line(&mut lines, &reader, &record), &record, &mut self.store, &mut self.log)
                }
                Ok(false) => break,
                Err(error) => {
                    bad += 1;
                    let row =
                        error.position().map_or(0, |position| u32::try_from(position.line()).unwrap_or(0));
                    self.log.unread(
                        RowSource { row, ..place.clone() },
                        ErrorCode::DocumentBroken,
                        format!("the row cannot be read: {error}"),
                    );
                    if bad > 10_000 {
                        break;
                    }
                }
            }
            if self.is_full(&place) {
                break;
            }
        }
        ledger.close(&mut self.log);
        Outcome::Rows
    }

    /// True when no more rows are taken; says so once.
    fn is_full(&mut self, place: &RowSource) -> bool {
        if self.store.items.len() < MAX_ROWS {
            return false;
        }
        if !self.full {
            self.full = true;
            self.log.unread(
                place.clone(),
                ErrorCode::DocumentLimit,
                format!("more than {MAX_ROWS} rows; the rest is not counted"),
            );
        }
        true
    }

    /// Reads the sheets of a workbook.
    pub(super) fn workbook(&mut self, name: &str, book: &Workbook) -> Outcome {
        let mut why = "the workbook holds no table with an amount column".to_owned();
        let mut found = false;
        let mut plans: Vec<(&Sheet, &Block, super::columns::Columns)> = Vec::new();
        for sheet in &book.sheets {
            for block in &sheet.blocks {
                let sample = sample_of(block);
                match sample.columns(&self.options.columns) {
                    Ok(columns)
                        if columns.supplier.is_some()
                            || !columns.numbers.is_empty()
                            || columns.date.is_some() =>
                    {
                        plans.push((sheet, block, columns))
                    }
                    Ok(_) => {
                        "the table has amounts, but neither supplier, number nor date".clone_into(&mut why)
                    }
                    Err(error) if plans.is_empty() => why = error,
                    Err(_) => {}
                }
            }
        }
        let by_invoice = plans
            .iter()
            .any(|(sheet, _, columns)| !sheet.hidden && !columns.by_line && !columns.numbers.is_empty());
        let detailed = plans.iter().any(|(sheet, _, columns)| {
            !sheet.hidden && (columns.date.is_some() || !columns.numbers.is_empty())
        });
        for (sheet, block, columns) in plans {
            let place =
                RowSource { file: name.to_owned(), sheet: Some(sheet.name.clone()), ..RowSource::default() };
            let rows = block.rows.len().saturating_sub(columns.data);
            let skipped = if sheet.hidden {
                Some("is hidden")
            } else if columns.by_line && by_invoice {
                Some("has a row for each line of the invoices that another sheet lists")
            } else if detailed
                && is_summary(&sheet.name)
                && columns.date.is_none()
                && columns.numbers.is_empty()
            {
                Some("sums up what another sheet lists")
            } else {
                None
            };
            if let Some(reason) = skipped {
                self.log
                    .note(format!("{}: the sheet {reason}; its {rows} rows are not counted", shown(&place)));
                found |= !sheet.hidden;
                continue;
            }
            found = true;
            self.block(name, sheet, block, columns, place);
        }
        if found { Outcome::Rows } else { Outcome::NoLedger(why) }
    }

    fn block(
        &mut self,
        name: &str,
        sheet: &Sheet,
        block: &Block,
        columns: super::columns::Columns,
        place: RowSource,
    ) {
        let chinese = sample_of(block).chinese;
        let table = self.store.begin(TableSource {
            file: name.to_owned(),
            sheet: Some(sheet.name.clone()),
            by_line: columns.by_line,
            ..TableSource::default()
        });
        let data = columns.data;
        let mut ledger = Ledger::new(columns, table, place.clone(), chinese, sheet.merged > 0);
        for (offset, row) in (0u32..).zip(&block.rows).skip(data) {
            if self.is_full(&place) {
                break;
            }
            ledger.row(block.first_row + offset, row.as_slice(), &mut self.store, &mut self.log);
        }
        ledger.close(&mut self.log);
    }

    /// Reads the tables of a page or letter that list invoices.
    pub(super) fn page_tables(&mut self, name: &str, tables: &[(Option<u32>, &Table)]) -> Outcome {
        let mut outcome =
            Outcome::NoLedger("neither an invoice nor a table of amounts was recognised".to_owned());
        for (page, table) in tables {
            let chinese = table.rows.iter().flatten().any(|cell| fold::has_han(cell));
            let rows =
                (table.first_row..).zip(&table.rows).map(|(row, cells)| (row, cells.as_slice())).collect();
            let Ok(columns) = (Sample { rows, chinese }).columns(&self.options.columns) else { continue };
            if columns.supplier.is_none() && columns.numbers.is_empty() {
                continue;
            }
            let place = RowSource { file: name.to_owned(), page: *page, ..RowSource::default() };
            let source = self.store.begin(TableSource {
                file: name.to_owned(),
                page: *page,
                ..TableSource::default()
            });
            let data = columns.data;
            let mut ledger = Ledger::new(columns, source, place, chinese, false);
            for (row, cells) in (table.first_row..).zip(&table.rows).skip(data) {
                ledger.row(row, cells.as_slice(), &mut self.store, &mut self.log);
            }
            ledger.close(&mut self.log);
            outcome = Outcome::Rows;
        }
        outcome
    }
}

fn line<R: Read>(lines: &mut Lines, reader: &csv::Reader<R>, record: &csv::StringRecord) -> u32 {
    u32::try_from(lines.of(reader, record)).unwrap_or(u32::MAX)
}

fn sample_of(block: &Block) -> Sample<'_, [Value]> {
    let rows: Vec<(u32, &[Value])> = (block.first_row..)
        .zip(&block.rows)
        .take(SAMPLE)
        .map(|(number, row)| (number, row.as_slice()))
        .collect();
    let han =
        |row: &[Value]| row.iter().any(|value| matches!(value, Value::Text(text) if fold::has_han(text)));
    let chinese = rows.iter().take(200).any(|(_, row)| han(row));
    Sample { rows, chinese }
}

fn is_summary(name: &str) -> bool {
    let lower = name.to_lowercase();
    [
        "汇总",
        "统计",
        "透视",
        "合计",
        "summary",
        "pivot",
        "overview",
        "totals",
        "zusammenfassung",
        "übersicht",
        "récap",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

impl<R: Row + ?Sized> Row for &R {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn field(&self, column: usize) -> super::field::Field<'_> {
        (**self).field(column)
    }
}
