//! Puts a card together.

use crate::card::{
    Card, DiffLine, Difference, FigureVerdict, FlagKind, LineKind, NumberCheck, TableDifference, Verb, Weight,
};
use crate::content::{Content, facts};
use crate::figures::{ToolEvidence, check_grids, check_text};
use crate::flags::{Flagged, flags, original, pieces};
use crate::grid::{Grid, column_letters};
use crate::lines::{line_changes, line_difference};
use crate::losses::losses;
use crate::rows::{table_difference, takes_away};
use crate::shown::hidden_count;
use crate::tables::{Form, csv_format, form, grids};
use std::collections::{BTreeSet, HashMap};

/// What a card is made from.
#[derive(Clone, Copy, Debug)]
pub struct CardInput<'a> {
    /// Path of the target relative to the workspace; `None` for an outside program.
    pub path: Option<&'a str>,
    /// Whether memory would change.
    pub memory: bool,
    /// The target's bytes as they are; `None` when nothing is there.
    pub before: Option<&'a [u8]>,
    /// The exact bytes that would be written, or the exact text that an outside program would get.
    pub after: &'a [u8],
    /// Whether a program outside this one is asked.
    pub outside: bool,
    /// Results of the task's reading tools.
    pub results: &'a [ToolEvidence<'a>],
    /// What the model said about it.
    pub said: &'a str,
}

/// The difference of two contents, with what it was read from.
struct Compared {
    difference: Difference,
    /// Tables of the new bytes, where the difference is one of tables.
    new_grids: Option<Vec<Grid>>,
    /// Whether what is there now could not be read as what it is called.
    unreadable: bool,
}

/// Everything that a card shows about an effect, from facts only. Pure: the same input gives the same card.
#[must_use]
pub fn card(input: &CardInput<'_>) -> Card {
    let path = input.path.unwrap_or("");
    let compared = if input.outside {
        outside(input.after)
    } else {
        compare(input.before, Content::written(input.after), input.after, path)
    };
    let numbers = numbers(input, &compared);
    let is_workbook = !input.outside && form(path) == Form::Workbook;
    let mut losses = match input.before {
        Some(before) if !input.outside => losses(before, input.after, is_workbook),
        Some(_) | None => Vec::new(),
    };
    if compared.unreadable && losses.is_empty() {
        losses.push(crate::card::Loss { kind: crate::card::LossKind::Unreadable, count: 1 });
    }
    let mut flagged = flags(input.path, input.said, &pieces(&compared.difference));
    let places = Places::of(&compared.difference);
    let numbers = flag_figures(numbers, &places, &mut flagged);
    let mut must_see = taken_away(&compared.difference);
    let takes_something = !must_see.is_empty();
    must_see.extend(flagged.changes.iter().filter(|change| **change > 0));
    let changes = changes(&compared.difference);
    if input.memory || input.outside {
        // What is remembered, or leaves this program, must have been read even where it only adds.
        must_see.extend(1..=changes);
    }
    let is_heavy =
        input.memory || input.outside || takes_something || !losses.is_empty() || !flagged.flags.is_empty();
    let weight = match (is_heavy, input.before) {
        (true, _) => Weight::Heavy,
        (false, None) => Weight::Quiet,
        (false, Some(_)) => Weight::Normal,
    };
    let verb = match (input.outside, input.before) {
        (true, _) => Verb::Outside,
        (false, None) => Verb::Create,
        (false, Some(_)) => Verb::Overwrite,
    };
    Card {
        weight,
        verb,
        before: input
            .before
            .filter(|_| !input.outside)
            .map(|bytes| facts(bytes, &Content::of(bytes), is_workbook)),
        after: (!input.outside).then(|| facts(input.after, &Content::written(input.after), is_workbook)),
        losses,
        hidden_characters: hidden_characters(input.after, &compared),
        difference: compared.difference,
        flags: flagged.flags,
        changes,
        must_see: must_see.into_iter().collect(),
        numbers,
    }
}

/// The difference of two contents of a file, by its kind. Also what an undo would change.
#[must_use]
pub fn difference(before: Option<&[u8]>, after: &[u8], path: &str) -> Difference {
    compare(before, Content::of(after), after, path).difference
}

fn outside(request: &[u8]) -> Compared {
    let lines = line_difference(&[], &Content::written(request).lines());
    Compared { difference: Difference::Outside { lines }, new_grids: None, unreadable: false }
}

fn compare(before: Option<&[u8]>, new: Content<'_>, after: &[u8], path: &str) -> Compared {
    match form(path) {
        Form::Text => compare_text(before, &new, false),
        Form::Csv => compare_csv(before, &new, path),
        Form::Workbook => compare_workbooks(before, &new, after, path),
    }
}

fn compare_text(before: Option<&[u8]>, new: &Content<'_>, unreadable: bool) -> Compared {
    let old = Content::of(before.unwrap_or_default());
    let lines = line_difference(&old.lines(), &new.lines());
    Compared { difference: Difference::Text { lines }, new_grids: None, unreadable }
}

fn compare_csv(before: Option<&[u8]>, new: &Content<'_>, path: &str) -> Compared {
    let old = before.map(Content::of);
    // Rows are read from the text that the lines show, so that both say the same.
    let read = |content: &Content<'_>| {
        let is_plain = content.is_text && !content.text.contains('\0');
        let grids = if is_plain { grids(path, content.text.as_bytes()) } else { None };
        grids.map(|grids| grids.into_iter().next().unwrap_or_default())
    };
    let (Some(new_grid), Some(old_grid)) =
        (read(new), old.as_ref().map_or(Some(None), |old| read(old).map(Some)))
    else {
        return compare_text(before, new, false);
    };
    let old_lines = old.as_ref().map(Content::lines).unwrap_or_default();
    let lines = line_difference(&old_lines, &new.lines());
    let table = table_difference(old_grid.as_ref(), Some(&new_grid), &mut 0);
    // Quotes, delimiters or blank lines alone are seen only in the text.
    if table.rows.iter().all(|row| row.change == 0) && line_changes(&lines) > 0 {
        return Compared { difference: Difference::Text { lines }, new_grids: None, unreadable: false };
    }
    let new_format = csv_format(new);
    let format = match old.as_ref().map(csv_format) {
        Some(old_format) if old_format != new_format => format!("{old_format} → {new_format}"),
        Some(_) | None => new_format,
    };
    Compared {
        difference: Difference::Rows { table, format, lines },
        new_grids: Some(vec![new_grid]),
        unreadable: false,
    }
}

fn compare_workbooks(before: Option<&[u8]>, new_content: &Content<'_>, after: &[u8], path: &str) -> Compared {
    let Some(new) = grids(path, after) else { return compare_text(before, new_content, before.is_some()) };
    let old = before.map(|bytes| grids(path, bytes));
    let unreadable = matches!(old, Some(None));
    let old = old.flatten().unwrap_or_default();
    let mut change = 0;
    let mut sheets = Vec::new();
    let gone = old.iter().filter(|grid| !new.iter().any(|other| other.name == grid.name));
    for grid in &new {
        let before = old.iter().find(|other| other.name == grid.name);
        sheets.push(table_difference(before, Some(grid), &mut change));
    }
    for grid in gone {
        sheets.push(table_difference(Some(grid), None, &mut change));
    }
    Compared { difference: Difference::Cells { sheets }, new_grids: Some(new), unreadable }
}

fn numbers(input: &CardInput<'_>, compared: &Compared) -> NumberCheck {
    if input.outside {
        return NumberCheck::default();
    }
    match &compared.new_grids {
        Some(grids) => check_grids(grids, input.results),
        None => {
            let content = Content::written(input.after);
            if content.is_text { check_text(&content.text, input.results) } else { NumberCheck::default() }
        }
    }
}

fn hidden_characters(after: &[u8], compared: &Compared) -> u32 {
    match (&compared.difference, &compared.new_grids) {
        (Difference::Cells { .. }, Some(grids)) => grids
            .iter()
            .flat_map(|grid| grid.rows.iter().flatten())
            .map(|cell| hidden_count(cell))
            .fold(0, u32::saturating_add),
        (
            Difference::Text { .. }
            | Difference::Rows { .. }
            | Difference::Outside { .. }
            | Difference::Cells { .. },
            _,
        ) => Content::written(after)
            .lines()
            .iter()
            .map(|line| hidden_count(line.text))
            .fold(0, u32::saturating_add),
    }
}

fn changes(difference: &Difference) -> u32 {
    let of_table = |table: &TableDifference| table.rows.iter().map(|row| row.change).max().unwrap_or(0);
    match difference {
        Difference::Text { lines } | Difference::Outside { lines } => line_changes(lines),
        Difference::Rows { table, .. } => of_table(table),
        Difference::Cells { sheets } => sheets.iter().map(of_table).max().unwrap_or(0),
    }
}

/// Changes that remove or replace something.
fn taken_away(difference: &Difference) -> BTreeSet<u32> {
    let of_table = |table: &TableDifference| -> Vec<u32> {
        table.rows.iter().filter(|row| takes_away(row)).map(|row| row.change).collect()
    };
    match difference {
        Difference::Text { lines } | Difference::Outside { lines } => lines
            .iter()
            .enumerate()
            .filter(|(at, line)| line.kind == LineKind::Removed && !only_gained_its_end(lines, *at))
            .map(|(_, line)| line.change)
            .collect(),
        Difference::Rows { table, .. } => of_table(table).into_iter().collect(),
        Difference::Cells { sheets } => sheets.iter().flat_map(of_table).collect(),
    }
}

/// A last line without a line end that goes on the same, with more behind it: text was only added.
fn only_gained_its_end(lines: &[DiffLine], at: usize) -> bool {
    let (Some(removed), Some(added)) = (lines.get(at), lines.get(at + 1)) else { return false };
    removed.no_line_end
        && added.kind == LineKind::Added
        && added.change == removed.change
        && !added.no_line_end
        && original(&added.spans) == original(&removed.spans)
}

/// Where a figure stands in the difference: its change, 0 for what does not change.
struct Places(HashMap<String, u32>);

impl Places {
    fn of(difference: &Difference) -> Self {
        let mut places = HashMap::new();
        match difference {
            Difference::Text { lines } | Difference::Outside { lines } => {
                places.extend(
                    lines.iter().filter_map(|line| line.new.map(|number| (number.to_string(), line.change))),
                );
            }
            Difference::Rows { table, .. } => cells_of(table, &mut places),
            Difference::Cells { sheets } => sheets.iter().for_each(|sheet| cells_of(sheet, &mut places)),
        }
        Self(places)
    }
}

fn cells_of(table: &TableDifference, places: &mut HashMap<String, u32>) {
    for row in &table.rows {
        let Some(number) = row.new else { continue };
        for (cell, column) in row.cells.iter().zip(&table.column_places) {
            let Some(column) = column.new else { continue };
            let reference = format!("{}{number}", column_letters(column as usize - 1));
            let place = table.name.as_ref().map_or(reference.clone(), |name| format!("{name}!{reference}"));
            let same = row.kind == LineKind::Changed && cell.old.is_none();
            places.insert(place, if same { 0 } else { row.change });
        }
    }
}

/// Marks what stands in the present file already, and flags the rest where no tool result explains it.
fn flag_figures(mut numbers: NumberCheck, places: &Places, flagged: &mut Flagged) -> NumberCheck {
    for figure in &mut numbers.figures {
        figure.kept = places.0.get(&figure.place) == Some(&0);
    }
    let mut flag = |kind: FlagKind, belongs: fn(&FigureVerdict) -> bool| {
        let open: Vec<(&str, Option<u32>)> = numbers
            .figures
            .iter()
            .filter(|figure| !figure.kept && belongs(&figure.verdict))
            .map(|figure| (figure.text.as_str(), places.0.get(&figure.place).copied()))
            .collect();
        flagged.add_figures(kind, &open);
    };
    flag(FlagKind::DifferingFigures, |verdict| matches!(verdict, FigureVerdict::Differs { .. }));
    flag(FlagKind::UnsourcedFigures, |verdict| matches!(verdict, FigureVerdict::Unsourced));
    flagged.sort();
    numbers
}
