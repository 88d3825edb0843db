//! Text with its place: lines of cells, the common form that pages, letters and sheets are read in.

use crate::fold::is_cjk;
use crate::model::Table;

/// A piece of a line that stands apart from its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Left edge in points, or a column's place times [`COLUMN`].
    pub(crate) x0: f32,
    /// Right edge.
    pub(crate) x1: f32,
}

/// Width that stands for one column where a document has columns but no coordinates.
pub(crate) const COLUMN: f32 = 100.0;

/// A line of cells, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) page: u32,
    /// Distance from the top of the page; grows downwards.
    pub(crate) y: f32,
    pub(crate) height: f32,
    pub(crate) cells: Vec<Cell>,
}

impl Line {
    /// A line of one text without coordinates; tabs make cells.
    pub(crate) fn of_text(page: u32, number: usize, text: &str) -> Self {
        let cells = text
            .split('\t')
            .enumerate()
            .filter(|(_, piece)| !piece.trim().is_empty())
            .map(|(column, piece)| Cell::at_column(column, piece.trim().to_owned()))
            .collect();
        Self { page, y: number as f32 * 12.0, height: 10.0, cells }
    }

    /// The line as text, cells apart by a tab.
    pub(crate) fn text(&self) -> String {
        let pieces: Vec<&str> = self.cells.iter().map(|cell| cell.text.as_str()).collect();
        pieces.join("\t")
    }

    /// The line without blanks, for matching.
    pub(crate) fn squashed(&self) -> String {
        self.cells.iter().flat_map(|cell| cell.text.chars()).filter(|c| !c.is_whitespace()).collect()
    }
}

impl Cell {
    /// A cell of a table without coordinates.
    pub(crate) fn at_column(column: usize, text: String) -> Self {
        let x0 = column as f32 * COLUMN;
        Self { text, x0, x1: x0 + COLUMN * 0.8 }
    }

    pub(crate) fn overlaps(&self, other: &Cell) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1
    }
}

/// Lines of a table whose cells have only an order.
pub(crate) fn of_rows<S: AsRef<str>>(page: u32, rows: &[Vec<S>], first: usize) -> Vec<Line> {
    rows.iter()
        .enumerate()
        .map(|(index, row)| Line {
            page,
            y: (first + index) as f32 * 12.0,
            height: 10.0,
            cells: row
                .iter()
                .enumerate()
                .filter(|(_, text)| !text.as_ref().trim().is_empty())
                .map(|(column, text)| Cell::at_column(column, text.as_ref().trim().to_owned()))
                .collect(),
        })
        .filter(|line| !line.cells.is_empty())
        .collect()
}

/// All lines as text.
pub(crate) fn text(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&line.text());
    }
    out
}

/// Finds tables: at least three lines in a row, most with three or more cells, that share columns.
pub(crate) fn tables(lines: &[Line]) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let end = run_end(lines, start);
        let run = &lines[start..end];
        let wide = run.iter().filter(|line| line.cells.len() >= 3).count();
        if run.len() >= 3 && wide >= 2 {
            tables.push(Table { first_row: u32::try_from(start + 1).unwrap_or(u32::MAX), rows: grid(run) });
        }
        start = end.max(start + 1);
    }
    tables
}

/// Where the run of table lines that begins here ends. One narrow line inside belongs to it: a wrapped cell.
fn run_end(lines: &[Line], start: usize) -> usize {
    if lines[start].cells.len() < 2 {
        return start + 1;
    }
    let mut end = start + 1;
    let mut narrow = 0;
    while end < lines.len() {
        let (before, line) = (&lines[end - 1], &lines[end]);
        let gap = line.y - before.y;
        if line.page != before.page || gap > before.height.max(line.height) * 3.5 {
            break;
        }
        narrow = if line.cells.len() < 2 { narrow + 1 } else { 0 };
        if narrow > 1 {
            break;
        }
        end += 1;
    }
    end - narrow.min(1)
}

/// Puts the cells of a run into columns by where they overlap.
fn grid(run: &[Line]) -> Vec<Vec<String>> {
    let mut columns: Vec<(f32, f32)> = Vec::new();
    // Lines with most cells define the columns; a title across all of them does not.
    let most = run.iter().map(|line| line.cells.len()).max().unwrap_or(0);
    for line in run.iter().filter(|line| line.cells.len() * 2 > most) {
        for cell in line.cells.iter().take(501) {
            match columns.iter_mut().find(|(x0, x1)| cell.x0 < *x1 && *x0 < cell.x1) {
                Some((x0, x1)) => {
                    *x0 = x0.min(cell.x0);
                    *x1 = x1.max(cell.x1);
                }
                None => columns.push((cell.x0, cell.x1)),
            }
        }
    }
    // No table that a person reads has so many; the work would grow with their square.
    if columns.len() > 500 {
        return run.iter().map(|line| line.cells.iter().map(|cell| cell.text.clone()).collect()).collect();
    }
    columns.sort_by(|a, b| a.0.total_cmp(&b.0));
    merge_overlaps(&mut columns);
    run.iter().map(|line| row(line, &columns)).collect()
}

fn merge_overlaps(columns: &mut Vec<(f32, f32)>) {
    let mut merged: Vec<(f32, f32)> = Vec::with_capacity(columns.len());
    for (x0, x1) in columns.drain(..) {
        match merged.last_mut() {
            Some(last) if x0 < last.1 => last.1 = last.1.max(x1),
            _ => merged.push((x0, x1)),
        }
    }
    *columns = merged;
}

fn row(line: &Line, columns: &[(f32, f32)]) -> Vec<String> {
    let mut cells = vec![String::new(); columns.len()];
    for cell in &line.cells {
        let shared = |(x0, x1): &(f32, f32)| cell.x1.min(*x1) - cell.x0.max(*x0);
        let best = columns
            .iter()
            .enumerate()
            .max_by(|a, b| shared(a.1).total_cmp(&shared(b.1)))
            .map(|(index, _)| index);
        if let Some(text) = best.and_then(|index| cells.get_mut(index)) {
            if !text.is_empty() && needs_blank(text, &cell.text) {
                text.push(' ');
            }
            text.push_str(&cell.text);
        }
    }
    cells
}

/// True when two pieces that are joined need a blank between them.
pub(crate) fn needs_blank(before: &str, after: &str) -> bool {
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else { return false };
    !(left.is_whitespace() || right.is_whitespace() || (is_cjk(left) && is_cjk(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize, cells: &[(&str, f32, f32)]) -> Line {
        let cells =
            cells.iter().map(|(text, x0, x1)| Cell { text: (*text).to_owned(), x0: *x0, x1: *x1 }).collect();
        Line { page: 1, y: number as f32 * 12.0, height: 10.0, cells }
    }

    #[test]
    fn right_aligned_numbers_fall_under_their_header() {
        let lines = [
            line(0, &[("Invoice", 10.0, 60.0)]),
            line(2, &[("Item", 10.0, 30.0), ("Qty", 100.0, 115.0), ("Amount", 150.0, 190.0)]),
            line(3, &[("Paper", 10.0, 40.0), ("2", 108.0, 113.0), ("1,200.00", 160.0, 190.0)]),
            line(4, &[("Ink, a long name", 10.0, 90.0), ("10", 103.0, 113.0), ("9.00", 172.0, 190.0)]),
            line(5, &[("Total", 150.0, 170.0), ("1,209.00", 172.0, 190.0)]),
        ];
        let found = tables(&lines);
        assert_eq!(found.len(), 1, "one table");
        assert_eq!(found[0].rows[1], ["Paper", "2", "1,200.00"], "cells stand in their columns");
        assert_eq!(
            found[0].rows[3],
            ["", "", "Total 1,209.00"],
            "two pieces in one column are joined, not shifted"
        );
    }
}
