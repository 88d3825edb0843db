//! Labels and their values on a page.

use crate::fold;
use crate::layout::{Cell, Line};

/// A page's cells in comparable form.
pub(super) struct Grid<'a> {
    pub(super) lines: &'a [Line],
    /// Tidy text of each cell, line by line.
    tidy: Vec<Vec<String>>,
    /// The same in lower case.
    lower: Vec<Vec<String>>,
}

/// A label that was found, with what stands behind it in its cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) line: usize,
    pub(super) cell: usize,
    /// What stands before the label in its cell.
    pub(super) before: String,
    /// What stands after it in its cell.
    pub(super) rest: String,
}

impl<'a> Grid<'a> {
    pub(super) fn new(lines: &'a [Line]) -> Self {
        let tidy: Vec<Vec<String>> =
            lines.iter().map(|line| line.cells.iter().map(|cell| fold::tidy(&cell.text)).collect()).collect();
        let lower = tidy.iter().map(|row| row.iter().map(|text| text.to_lowercase()).collect()).collect();
        Self { lines, tidy, lower }
    }

    pub(super) fn text(&self, line: usize, cell: usize) -> &str {
        self.tidy.get(line).and_then(|row| row.get(cell)).map_or("", String::as_str)
    }

    pub(super) fn cells(&self, line: usize) -> &[String] {
        self.tidy.get(line).map_or(&[], Vec::as_slice)
    }

    pub(super) fn place(&self, line: usize, cell: usize) -> Option<&Cell> {
        self.lines.get(line)?.cells.get(cell)
    }

    /// All texts, for votes and searches over the whole paper.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.tidy.iter().flatten().map(String::as_str)
    }

    /// Every place where a label stands: at a cell's beginning or after a character that is no letter. In Chinese, where
    /// words are not apart, it may stand anywhere in the cell.
    pub(super) fn find(&self, label: &str) -> Vec<Hit> {
        let chinese = label.chars().any(fold::is_cjk);
        let mut hits = Vec::new();
        for (line, row) in self.lower.iter().enumerate() {
            for (cell, text) in row.iter().enumerate() {
                let Some((start, end)) = place(text, label, chinese) else { continue };
                let tidy = self.text(line, cell);
                // Lower case may change the length of a text; then the lower form serves.
                let source =
                    if tidy.len() == text.len() && tidy.is_char_boundary(start) && tidy.is_char_boundary(end)
                    {
                        tidy
                    } else {
                        text
                    };
                hits.push(Hit {
                    line,
                    cell,
                    before: source[..start].to_owned(),
                    rest: trim_lead(&source[end..]).to_owned(),
                });
            }
        }
        hits
    }

    /// The value of a label: behind it, else the next cell to the right, else the nearest cell below it.
    pub(super) fn value(&self, hit: &Hit) -> Option<String> {
        if !hit.rest.is_empty() {
            return Some(hit.rest.clone());
        }
        self.right(hit).or_else(|| self.below(hit.line, hit.cell))
    }

    /// The next cell to the right, unless it is a label itself.
    pub(super) fn right(&self, hit: &Hit) -> Option<String> {
        let text = self.cells(hit.line).get(hit.cell + 1)?;
        let text = trim_lead(text);
        (!text.is_empty() && !text.ends_with(':')).then(|| text.to_owned())
    }

    /// The nearest cell below, within three lines, that shares the column.
    pub(super) fn below(&self, line: usize, cell: usize) -> Option<String> {
        let place = self.place(line, cell)?;
        for next in line + 1..(line + 4).min(self.lines.len()) {
            if self.lines[next].page != self.lines[line].page {
                return None;
            }
            let row = &self.lines[next].cells;
            // A value that stands alone in the next line belongs to the label that ended this one.
            let alone =
                (next == line + 1 && row.len() == 1 && cell + 1 == self.lines[line].cells.len()).then_some(0);
            let found = row.iter().position(|other| other.overlaps(place)).or(alone);
            if let Some(found) = found {
                let text = trim_lead(self.text(next, found));
                return (!text.is_empty() && !text.ends_with(':')).then(|| text.to_owned());
            }
        }
        None
    }

    /// Texts of the column under a label of a table's head, as far down as it goes.
    pub(super) fn column(&self, hit: &Hit) -> Vec<String> {
        let Some(place) = self.place(hit.line, hit.cell) else { return Vec::new() };
        let mut out = Vec::new();
        for next in hit.line + 1..self.lines.len() {
            let row = &self.lines[next];
            if row.page != self.lines[hit.line].page || row.cells.len() < 2 {
                break;
            }
            let Some(found) = row.cells.iter().position(|other| other.overlaps(place)) else { break };
            out.push(self.text(next, found).to_owned());
        }
        out
    }

    /// Texts of the cells behind a label, in its line: the rest of its own cell and those to the right.
    pub(super) fn behind(&self, hit: &Hit) -> Vec<String> {
        let mut out = Vec::new();
        if !hit.rest.is_empty() {
            out.push(hit.rest.clone());
        }
        out.extend(self.cells(hit.line).iter().skip(hit.cell + 1).cloned());
        out
    }
}

/// What leads from a label to its value.
pub(super) fn trim_lead(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '：' | '.' | ')' | '）' | '='))
}

fn place(text: &str, label: &str, chinese: bool) -> Option<(usize, usize)> {
    text.match_indices(label).find_map(|(start, found)| {
        let end = start + found.len();
        if chinese {
            return Some((start, end));
        }
        let before = text[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let after = text[end..].chars().next().is_none_or(|c| !c.is_alphabetic());
        (before && after).then_some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_beside_or_below() {
        let lines: Vec<Line> = ["Invoice No: INV-7\tDate:\t2026-03-05", "Customer\tTerms", "Acme\t30 days"]
            .iter()
            .enumerate()
            .map(|(number, text)| Line::of_text(1, number, text))
            .collect();
        let grid = Grid::new(&lines);
        let value = |label: &str| grid.find(label).first().and_then(|hit| grid.value(hit));
        assert_eq!(value("invoice no").as_deref(), Some("INV-7"), "behind");
        assert_eq!(value("date").as_deref(), Some("2026-03-05"), "beside");
        assert_eq!(
            value("customer").as_deref(),
            Some("Terms"),
            "beside wins over below, callers that want below ask for it"
        );
        assert_eq!(grid.below(1, 0).as_deref(), Some("Acme"), "below");
        assert!(grid.find("voice").is_empty(), "a part of a word is no label");
    }
}
