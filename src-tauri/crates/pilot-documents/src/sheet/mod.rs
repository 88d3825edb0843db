//! Workbooks: cells with their types, the way a person would read them.
//!
//! XLSX, XLSB and XLS come through `calamine`, cell by cell where it can, so that one cell in a far corner costs one
//! cell. OpenDocument is read here: its XML holds exact decimals and the currency of each cell.

mod biff;
mod ods;
mod present;
mod workbook;
mod zipped;

pub(crate) use present::document;
pub(crate) use workbook::open;

use chrono::{NaiveDate, NaiveDateTime};
use rust_decimal::Decimal;

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    #[default]
    Empty,
    Text(String),
    Number {
        value: Decimal,
        /// From the number format.
        currency: Option<&'static str>,
    },
    /// A number that no decimal of 28 digits can hold.
    Huge(String),
    Date(NaiveDate),
    DateTime(NaiveDateTime),
    /// A time of day or a duration.
    Time(String),
    Bool(bool),
    /// `#REF!` and the like.
    Error(String),
    /// A formula whose result is not stored in the file. Never zero.
    Uncomputed,
}

/// What stands in the text for a formula without a stored result.
pub(crate) const UNCOMPUTED: &str = "(not computed)";

impl Value {
    /// The cell as text. Dates are ISO; numbers have all their digits.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Time(text) | Self::Error(text) | Self::Huge(text) => text.clone(),
            Self::Number { value, .. } => value.to_string(),
            Self::Date(date) => date.to_string(),
            Self::DateTime(time) => time.format("%Y-%m-%d %H:%M:%S").to_string(),
            Self::Bool(true) => "TRUE".to_owned(),
            Self::Bool(false) => "FALSE".to_owned(),
            Self::Uncomputed => UNCOMPUTED.to_owned(),
        }
    }
}

/// Rows of one sheet. Empty rows between others are kept up to a limit, so that a row keeps its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) hidden: bool,
    /// Blocks of rows with the number of their first row, from 1.
    pub(crate) blocks: Vec<Block>,
    /// Formulas without a stored result.
    pub(crate) uncomputed: u32,
    /// Merged ranges, counted.
    pub(crate) merged: u32,
    /// Currencies that number formats showed.
    pub(crate) currencies: Vec<&'static str>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block {
    pub(crate) first_row: u32,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// A workbook.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Workbook {
    pub(crate) sheets: Vec<Sheet>,
    /// In words: what is missing.
    pub(crate) notes: Vec<String>,
    /// True when a limit stopped the reading.
    pub(crate) cut: bool,
}

/// Puts cells that come in any order within a row, and rows in order, into blocks; counts against the limits.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    blocks: Vec<Block>,
    /// Row index (from 0) of the last row of the last block.
    last: u32,
    cells: usize,
    text: usize,
    /// What is left of the workbook's limits.
    cell_limit: usize,
    text_limit: usize,
}

/// A limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Collector {
    pub(crate) fn new(cell_limit: usize, text_limit: usize) -> Self {
        Self { cell_limit, text_limit, ..Self::default() }
    }

    /// Adds a cell at a row and column from 0.
    pub(crate) fn add(&mut self, row: u32, column: u32, value: Value) -> Result<(), Full> {
        if value == Value::Empty || column >= crate::limits::COLUMNS {
            return Ok(());
        }
        if let Value::Text(text) = &value {
            self.text += text.len();
        }
        let width = column as usize + 1;
        let cells = self.row(row)?;
        let added = width.saturating_sub(cells.len());
        if cells.len() < width {
            cells.resize(width, Value::Empty);
        }
        cells[column as usize] = value;
        self.cells += added;
        if self.cells > self.cell_limit || self.text > self.text_limit { Err(Full) } else { Ok(()) }
    }

    /// Like [`Collector::add`], but only where no value stands yet, in any block that was begun before.
    pub(crate) fn fill(&mut self, row: u32, column: u32, value: Value) -> Result<(), Full> {
        let holds = |block: &Block| {
            row + 1 >= block.first_row && ((row + 1 - block.first_row) as usize) < block.rows.len()
        };
        let Some(at) = self.blocks.iter().position(holds) else { return self.add(row, column, value) };
        let block = &mut self.blocks[at];
        let cells = &mut block.rows[(row + 1 - block.first_row) as usize];
        let (column, before) = (column as usize, cells.len());
        if column >= crate::limits::COLUMNS as usize {
            return Ok(());
        }
        if before <= column {
            cells.resize(column + 1, Value::Empty);
        }
        if cells[column] == Value::Empty {
            cells[column] = value;
        }
        self.cells += (column + 1).saturating_sub(before);
        if self.cells > self.cell_limit { Err(Full) } else { Ok(()) }
    }

    fn row(&mut self, row: u32) -> Result<&mut Vec<Value>, Full> {
        let fits = self
            .blocks
            .last()
            .is_some_and(|block| row + 1 >= block.first_row && row <= self.last + crate::limits::ROW_GAP);
        if !fits {
            self.blocks.push(Block { first_row: row + 1, rows: Vec::new() });
            self.last = row;
        }
        let block = self.blocks.last_mut().ok_or(Full)?;
        let index = (row + 1 - block.first_row) as usize;
        if index >= block.rows.len() {
            block.rows.resize(index + 1, Vec::new());
            self.last = row;
        }
        Ok(&mut block.rows[index])
    }

    /// What was collected, and how much of the limits was used.
    pub(crate) fn finish(self) -> (Vec<Block>, usize, usize) {
        (self.blocks, self.cells, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn a_far_corner_costs_a_block_not_a_million_rows() {
        let mut collector = Collector::new(100_000, 1_000);
        collector.add(0, 0, text("a")).unwrap();
        collector.add(2, 1, text("b")).unwrap();
        collector.add(1_048_575, 16_383, text("far")).unwrap();
        let (blocks, cells, _) = collector.finish();
        assert_eq!(blocks.len(), 2, "the far cell stands in a block of its own");
        assert_eq!(blocks[0].rows.len(), 3, "an empty row between others is kept");
        assert_eq!(blocks[1].first_row, 1_048_576, "with its own row number");
        assert_eq!(cells, 1 + 2 + 16_384, "empty cells before it are counted");
    }

    #[test]
    fn limits_stop_the_reading() {
        let mut collector = Collector::new(2, 1_000);
        assert_eq!(collector.add(0, 0, text("a")), Ok(()), "within the limit");
        assert_eq!(collector.add(1, 2, text("b")), Err(Full), "three more cells are too many");
        let mut collector = Collector::new(100, 3);
        assert_eq!(collector.add(0, 0, text("four")), Err(Full), "text counts too");
    }
}
