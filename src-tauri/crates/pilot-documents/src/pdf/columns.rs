//! Reading order of pages printed in two columns of prose. Tables and forms are read line by line.

use crate::layout::{Line, needs_blank};

/// The page as text.
pub(super) fn text(lines: &[Line]) -> String {
    match gutter(lines) {
        None => crate::layout::text(lines),
        Some(range) => in_columns(&lines[range.0..range.1], range.2, &lines[..range.0], &lines[range.1..]),
    }
}

/// First line, line after the last, and the place of the gap, when a long run of lines has exactly two cells of prose.
fn gutter(lines: &[Line]) -> Option<(usize, usize, f32)> {
    let prose = |line: &Line| {
        let long = |text: &str| {
            text.chars().count() >= 20
                && text.contains(' ')
                && text.chars().filter(char::is_ascii_digit).count() * 4 < text.len()
        };
        line.cells.len() == 2 && line.cells.iter().all(|cell| long(&cell.text))
    };
    let first = lines.iter().position(prose)?;
    let last = lines.iter().rposition(prose)? + 1;
    let both: Vec<&Line> = lines[first..last].iter().filter(|line| prose(line)).collect();
    if both.len() < 12 || both.len() * 2 < last - first {
        return None;
    }
    let left = both.iter().map(|line| line.cells[0].x1).fold(f32::MIN, f32::max);
    let right = both.iter().map(|line| line.cells[1].x0).fold(f32::MAX, f32::min);
    (left < right).then_some((first, last, f32::midpoint(left, right)))
}

fn in_columns(body: &[Line], gap: f32, head: &[Line], tail: &[Line]) -> String {
    let mut out = crate::layout::text(head);
    for right in [false, true] {
        for line in body {
            let mut piece = String::new();
            for cell in line.cells.iter().filter(|cell| (cell.x0 > gap) == right) {
                if needs_blank(&piece, &cell.text) {
                    piece.push('\t');
                }
                piece.push_str(&cell.text);
            }
            if !piece.is_empty() {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&piece);
            }
        }
    }
    if !tail.is_empty() {
        out.push('\n');
        out.push_str(&crate::layout::text(tail));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Cell;

    #[test]
    fn two_columns_of_prose_are_read_one_after_the_other() {
        let lines: Vec<Line> = (0..14)
            .map(|number| Line {
                page: 1,
                y: number as f32 * 12.0,
                height: 10.0,
                cells: vec![
                    Cell {
                        text: format!("left column of words {}", (b'a' + number) as char),
                        x0: 10.0,
                        x1: 250.0,
                    },
                    Cell {
                        text: format!("right column of words {}", (b'a' + number) as char),
                        x0: 300.0,
                        x1: 540.0,
                    },
                ],
            })
            .collect();
        let found = text(&lines);
        assert!(
            found.find("left column of words n") < found.find("right column of words a"),
            "the left column comes first"
        );
        let table: Vec<Line> = lines
            .iter()
            .map(|line| Line {
                cells: vec![line.cells[0].clone(), Cell { text: "1,00".into(), ..line.cells[1].clone() }],
                ..line.clone()
            })
            .collect();
        assert!(text(&table).starts_with("left column of words a\t1,00"), "a table is read by lines");
    }
}
