//! Which row of a new table is which row of the old one.

use crate::align::{common, interned};
use crate::rows::{Column, cell};
use std::collections::HashMap;

/// Removed and added rows between two unchanged ones are paired by likeness up to this many pairs.
const PAIRING_LIMIT: usize = 2_500;

/// Pairs of rows, and the name of the column that made them.
pub(crate) struct Matching {
    /// Positions on either side, in the order of the new table. Pairs may cross when they come from a key column.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Name of the key column; `None` when by content and place.
    pub(crate) by: Option<String>,
}

/// Matches rows by the first column that names every row on both sides, else by content and place.
pub(crate) fn matched_rows(old: &[Vec<String>], new: &[Vec<String>], columns: &[Column]) -> Matching {
    for column in columns {
        if let Some(matching) = by_key(old, new, *column) {
            return matching;
        }
    }
    Matching { pairs: by_content(old, new, columns), by: None }
}

fn by_key(old: &[Vec<String>], new: &[Vec<String>], column: Column) -> Option<Matching> {
    let (Some(_), Some(_)) = column else { return None };
    let (old_header, new_header) = (old.first()?, new.first()?);
    let name = cell(new_header, column.1).trim();
    if name.is_empty() || cell(old_header, column.0).trim() != name || old.len() < 2 || new.len() < 2 {
        return None;
    }
    if is_amounts(&new[1..], column.1) {
        return None;
    }
    let old_keys = keys(&old[1..], column.0)?;
    let new_keys = keys(&new[1..], column.1)?;
    let mut pairs: Vec<(usize, usize)> =
        new_keys.iter().filter_map(|(key, new)| old_keys.get(key).map(|old| (*old + 1, *new + 1))).collect();
    // A column whose values hardly recur, such as one of amounts, does not say which row is which.
    if pairs.len() * 2 < old_keys.len().min(new_keys.len()) {
        return None;
    }
    pairs.push((0, 0));
    pairs.sort_unstable_by_key(|(_, new)| *new);
    Some(Matching { pairs, by: Some(name.to_owned()) })
}

/// Whether most values are numbers with a fraction: they say how much, not which.
fn is_amounts(rows: &[Vec<String>], column: Option<usize>) -> bool {
    let fraction = |value: &str| {
        let digits = value.trim_start_matches(['-', '+', '¥', '$', '€', '£']);
        let decimals = digits.rsplit_once('.').is_some_and(|(_, after)| !after.is_empty());
        decimals
            && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
            && !digits.is_empty()
    };
    rows.iter().filter(|row| fraction(cell(row, column).trim())).count() * 2 > rows.len()
}

/// Key of every row, `None` unless they are distinct. A few rows without one, such as a total, go by their first cell.
fn keys(rows: &[Vec<String>], column: Option<usize>) -> Option<HashMap<(bool, &str), usize>> {
    let mut keys = HashMap::with_capacity(rows.len());
    let mut without = 0;
    for (at, row) in rows.iter().enumerate() {
        let value = cell(row, column).trim();
        let key = if value.is_empty() {
            without += 1;
            (false, row.iter().map(|cell| cell.trim()).find(|cell| !cell.is_empty()).unwrap_or(""))
        } else {
            (true, value)
        };
        if keys.insert(key, at).is_some() {
            return None;
        }
    }
    (without <= 1.max(rows.len() / 10) && without < rows.len()).then_some(keys)
}

fn by_content(old: &[Vec<String>], new: &[Vec<String>], columns: &[Column]) -> Vec<(usize, usize)> {
    let old_rows: Vec<Vec<&str>> = old
        .iter()
        .map(|row| columns.iter().map(|column| column.1.map_or("", |_| cell(row, column.0))).collect())
        .collect();
    let new_rows: Vec<Vec<&str>> = new
        .iter()
        .map(|row| columns.iter().map(|column| column.0.map_or("", |_| cell(row, column.1))).collect())
        .collect();
    let (old_numbers, new_numbers) = interned(&old_rows, &new_rows);
    let mut pairs = Vec::with_capacity(new.len());
    let (mut old_from, mut new_from) = (0, 0);
    for (old_at, new_at) in common(&old_numbers, &new_numbers).into_iter().chain([(old.len(), new.len())]) {
        pair_like(&old_rows[old_from..old_at], &new_rows[new_from..new_at], (old_from, new_from), &mut pairs);
        if old_at < old.len() && new_at < new.len() {
            pairs.push((old_at, new_at));
        }
        (old_from, new_from) = (old_at + 1, new_at + 1);
    }
    pairs
}

/// Pairs rows that share at least a third of their filled cells, never crossing.
fn pair_like(old: &[Vec<&str>], new: &[Vec<&str>], from: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
    if old.len() == new.len() {
        for (at, (left, right)) in old.iter().zip(new).enumerate() {
            if likeness(left, right) >= 33 {
                pairs.push((from.0 + at, from.1 + at));
            }
        }
        return;
    }
    if old.len().saturating_mul(new.len()) > PAIRING_LIMIT {
        return;
    }
    let mut next = 0;
    for (left, row) in old.iter().enumerate() {
        let best = (next..new.len())
            .map(|right| (likeness(row, &new[right]), right))
            .filter(|(percent, _)| *percent >= 33)
            .max_by_key(|(percent, right)| (*percent, usize::MAX - right));
        if let Some((_, right)) = best {
            pairs.push((from.0 + left, from.1 + right));
            next = right + 1;
        }
    }
}

fn likeness(old: &[&str], new: &[&str]) -> usize {
    let filled = old.iter().zip(new).filter(|(left, right)| !left.is_empty() || !right.is_empty()).count();
    let equal = old.iter().zip(new).filter(|(left, right)| left == right && !left.is_empty()).count();
    (equal * 100).checked_div(filled).unwrap_or(0)
}
