//! Tables as they are read back from the bytes of a csv or workbook.

use crate::content::Content;
use crate::grid::Grid;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest present workbook that is read for comparison; what is written is never larger.
const MAX_WORKBOOK: usize = 64 << 20;

/// What kind of difference a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines.
    Text,
    /// Rows of the one table of a csv.
    Csv,
    /// Cells of the sheets of a workbook.
    Workbook,
}

/// The form that a path's ending names.
pub(crate) fn form(path: &str) -> Form {
    let ending = path
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv") => Form::Csv,
        Some("xlsx") => Form::Workbook,
        Some(_) | None => Form::Text,
    }
}

/// Sheets of a workbook or the table of a csv; `None` when the bytes cannot be read as such.
pub(crate) fn grids(name: &str, bytes: &[u8]) -> Option<Vec<Grid>> {
    if bytes.len() > MAX_WORKBOOK {
        return None;
    }
    // A reader that gives up on a present file must not take the card with it.
    let read = catch_unwind(AssertUnwindSafe(|| pilot_documents::read_table(name, bytes)));
    let tables = read.ok()?.ok()?;
    Some(Grid::of_tables(&tables))
}

/// Encoding and delimiter of a csv, such as `UTF-8 BOM, comma`.
pub(crate) fn csv_format(content: &Content<'_>) -> String {
    let mut counts = [(',', "comma", 0u32), (';', "semicolon", 0), ('\t', "tab", 0), ('|', "pipe", 0)];
    let mut quoted = false;
    for character in content.text.chars().take(64 << 10) {
        match character {
            '"' => quoted = !quoted,
            '\n' if !quoted && counts.iter().any(|(_, _, count)| *count > 0) => break,
            other if !quoted => {
                if let Some(entry) = counts.iter_mut().find(|(sign, _, _)| *sign == other) {
                    entry.2 += 1;
                }
            }
            _ => {}
        }
    }
    let [first, rest @ ..] = counts;
    let (_, name, _) = rest.into_iter().fold(first, |best, next| if next.2 > best.2 { next } else { best });
    format!("{}, {name}", content.encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_go_by_the_ending() {
        for (path, expected) in [
            ("a.md", Form::Text),
            ("b/a.CSV", Form::Csv),
            ("a.xlsx", Form::Workbook),
            ("csv", Form::Text),
            ("a.csv/b", Form::Text),
        ] {
            assert_eq!(form(path), expected, "{path}");
        }
    }

    #[test]
    fn delimiters_are_named() {
        assert_eq!(
            csv_format(&Content::of("\u{FEFF}a,b\n1,2;3;4\n".as_bytes())),
            "UTF-8 BOM, comma",
            "the first line decides"
        );
        assert_eq!(
            csv_format(&Content::of(b"\"a,b\";c\n")),
            "UTF-8, semicolon",
            "quoted commas do not count"
        );
        assert_eq!(csv_format(&Content::of(b"")), "UTF-8, comma", "what the writer would use");
    }
}
