//! The difference of two tables, row by row and cell by cell.

use crate::align::{common, interned, longest_rising};
use crate::card::{CellChange, ColumnPlace, LineKind, RowChange, Span, SpanMark, TableDifference};
use crate::grid::Grid;
use crate::lines::marked;
use crate::row_match::{Matching, matched_rows};
use crate::shown::push_shown;
use std::collections::HashSet;

/// Cells longer than this many characters get marks on single words instead of on the whole cell.
const WHOLE_CELL: usize = 40;

/// A column on either side; at least one is set.
pub(crate) type Column = (Option<usize>, Option<usize>);

/// The difference of one table. `change` is the number of the last change so far and is carried on: every added,
/// removed, changed or moved row is one change.
pub(crate) fn table_difference(old: Option<&Grid>, new: Option<&Grid>, change: &mut u32) -> TableDifference {
    let empty = Grid::default();
    let (before, after) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
    let columns = columns(before, after);
    let matching = match (old, new) {
        (Some(_), Some(_)) => matched_rows(&before.rows, &after.rows, &columns),
        (None, _) | (_, None) => Matching { pairs: Vec::new(), by: None },
    };
    let rows = Merge { before, after, columns: &columns, change }.rows(&matching.pairs);
    let kind = match (old, new) {
        (None, Some(_)) => LineKind::Added,
        (Some(_), None) => LineKind::Removed,
        (None, None) | (Some(_), Some(_)) if rows.iter().all(|row| row.change == 0) => LineKind::Same,
        (None, None) | (Some(_), Some(_)) => LineKind::Changed,
    };
    let place = |at: Option<usize>| at.and_then(|at| u32::try_from(at + 1).ok());
    TableDifference {
        name: new.or(old).and_then(|grid| grid.name.clone()),
        kind,
        matched_by: matching.by,
        columns: u32::try_from(columns.len()).unwrap_or(u32::MAX),
        column_places: columns
            .iter()
            .map(|(old, new)| ColumnPlace { old: place(*old), new: place(*new) })
            .collect(),
        rows,
    }
}

/// Whether a changed row takes something away: a cell that held something, or its place.
pub(crate) fn takes_away(row: &RowChange) -> bool {
    match row.kind {
        LineKind::Same | LineKind::Added => false,
        LineKind::Removed => true,
        LineKind::Changed => {
            let mut filled = row.cells.iter().filter_map(|cell| cell.old.as_ref()).peekable();
            filled.peek().is_none() || filled.any(|spans| !spans.is_empty())
        }
    }
}

/// The cell of a row, empty where the row is shorter.
pub(crate) fn cell(row: &[String], at: Option<usize>) -> &str {
    at.and_then(|at| row.get(at)).map_or("", String::as_str)
}

/// Columns of both tables: by header name where that explains the difference, else by position.
fn columns(old: &Grid, new: &Grid) -> Vec<Column> {
    let (old_width, new_width) = (width(old), width(new));
    if let (Some(old_header), Some(new_header)) = (header(old, old_width), header(new, new_width))
        && old_header != new_header
    {
        let (old_numbers, new_numbers) = interned(&old_header, &new_header);
        let pairs = common(&old_numbers, &new_numbers);
        if pairs.len() * 2 >= old_width.min(new_width) {
            return by_header(&pairs, old_width, new_width);
        }
    }
    (0..old_width.max(new_width)).map(|column| (Some(column), Some(column))).collect()
}

fn width(table: &Grid) -> usize {
    table.rows.iter().map(Vec::len).max().unwrap_or(0)
}

/// The first row, when it names every column and no two alike.
fn header(table: &Grid, width: usize) -> Option<Vec<&str>> {
    let names: Vec<&str> = table.rows.first()?.iter().map(|name| name.trim()).collect();
    let distinct: HashSet<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    (width > 0 && names.len() == width && distinct.len() == width).then_some(names)
}

fn by_header(pairs: &[(usize, usize)], old_width: usize, new_width: usize) -> Vec<Column> {
    let mut columns = Vec::new();
    let (mut old_from, mut new_from) = (0, 0);
    for (old_at, new_at) in pairs.iter().copied().chain([(old_width, new_width)]) {
        if old_at - old_from == new_at - new_from {
            // As many names went as came: they were renamed.
            columns.extend((old_from..old_at).zip(new_from..new_at).map(|(old, new)| (Some(old), Some(new))));
        } else {
            columns.extend((old_from..old_at).map(|old| (Some(old), None)));
            columns.extend((new_from..new_at).map(|new| (None, Some(new))));
        }
        if old_at < old_width && new_at < new_width {
            columns.push((Some(old_at), Some(new_at)));
        }
        (old_from, new_from) = (old_at + 1, new_at + 1);
    }
    columns
}

struct Merge<'a> {
    before: &'a Grid,
    after: &'a Grid,
    columns: &'a [Column],
    change: &'a mut u32,
}

impl Merge<'_> {
    /// All rows in the order of the new table; removed ones stand after the row that they followed.
    fn rows(mut self, pairs: &[(usize, usize)]) -> Vec<RowChange> {
        let mut partner: Vec<Option<usize>> = vec![None; self.after.rows.len()];
        let mut kept = vec![false; self.before.rows.len()];
        for (old, new) in pairs {
            partner[*new] = Some(*old);
            kept[*old] = true;
        }
        let order: Vec<usize> = partner.iter().flatten().copied().collect();
        let steady: HashSet<usize> = longest_rising(&order).into_iter().map(|at| order[at]).collect();
        let mut rows = Vec::with_capacity(self.after.rows.len());
        let mut removed_from = 0;
        self.removed(&mut removed_from, &kept, &mut rows);
        for (new, old) in partner.into_iter().enumerate() {
            match old {
                None => rows.push(self.row(None, Some(new), false)),
                Some(old) => {
                    rows.push(self.row(Some(old), Some(new), !steady.contains(&old)));
                    if steady.contains(&old) {
                        removed_from = removed_from.max(old + 1);
                        self.removed(&mut removed_from, &kept, &mut rows);
                    }
                }
            }
        }
        for (old, is_kept) in kept.iter().enumerate().skip(removed_from) {
            if !is_kept {
                rows.push(self.row(Some(old), None, false));
            }
        }
        rows
    }

    /// The removed rows that stood right here, over rows that moved elsewhere.
    fn removed(&mut self, from: &mut usize, kept: &[bool], rows: &mut Vec<RowChange>) {
        while kept.get(*from) == Some(&false) {
            rows.push(self.row(Some(*from), None, false));
            *from += 1;
        }
    }

    fn row(&mut self, old: Option<usize>, new: Option<usize>, moved: bool) -> RowChange {
        let before = old.and_then(|at| self.before.rows.get(at)).map(Vec::as_slice);
        let after = new.and_then(|at| self.after.rows.get(at)).map(Vec::as_slice);
        let cells: Vec<CellChange> =
            self.columns.iter().map(|column| cell_change(before, after, *column)).collect();
        let differs = cells.iter().any(|cell| cell.old.is_some());
        let kind = match (before.is_some(), after.is_some()) {
            (true, false) => LineKind::Removed,
            (false, _) => LineKind::Added,
            (true, true) if differs || moved => LineKind::Changed,
            (true, true) => LineKind::Same,
        };
        let change = if kind == LineKind::Same {
            0
        } else {
            *self.change += 1;
            *self.change
        };
        let number = |grid: &Grid, at: Option<usize>| at.and_then(|at| grid.numbers.get(at)).copied();
        let (old, new) = (number(self.before, old), number(self.after, new));
        RowChange { kind, old, new, cells, change }
    }
}

fn cell_change(before: Option<&[String]>, after: Option<&[String]>, column: Column) -> CellChange {
    let spans = |text: &str, mark: SpanMark| -> Vec<Span> {
        let mut spans = Vec::new();
        push_shown(text, mark, &mut spans);
        spans
    };
    match (before, after) {
        (None, None) => CellChange { old: None, new: None },
        (Some(row), None) => CellChange { old: Some(spans(cell(row, column.0), SpanMark::Plain)), new: None },
        (None, Some(row)) => CellChange { old: None, new: Some(spans(cell(row, column.1), SpanMark::Plain)) },
        (Some(old_row), Some(new_row)) => {
            let (old, new) = (cell(old_row, column.0), cell(new_row, column.1));
            let gone = column.1.is_none();
            if old == new {
                return CellChange { old: None, new: (!gone).then(|| spans(new, SpanMark::Plain)) };
            }
            if !gone
                && old.chars().count().min(new.chars().count()) > WHOLE_CELL
                && let Some((old, new)) = marked(old, new)
            {
                return CellChange { old: Some(old), new: Some(new) };
            }
            CellChange {
                old: Some(spans(old, SpanMark::Changed)),
                new: (!gone).then(|| spans(new, SpanMark::Changed)),
            }
        }
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
