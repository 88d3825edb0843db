//! What the present file holds and the new bytes do not.

use crate::card::{Loss, LossKind};
use crate::content::Content;
use crate::workbook::{Workbook, workbook};

/// Losses of replacing `before` by `after`. `is_workbook` says that both are meant to be an xlsx.
pub(crate) fn losses(before: &[u8], after: &[u8], is_workbook: bool) -> Vec<Loss> {
    let counts = if is_workbook { workbook_losses(before, after) } else { text_losses(before, after) };
    counts.into_iter().filter(|(_, count)| *count > 0).map(|(kind, count)| Loss { kind, count }).collect()
}

fn text_losses(before: &[u8], after: &[u8]) -> Vec<(LossKind, u32)> {
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let (old, new) = (Content::of(before), Content::written(after));
    if !old.is_text {
        return vec![(LossKind::Unreadable, 1)];
    }
    // Plain letters are the same bytes in all of these, so nothing visible changes.
    let same_bytes = before.is_ascii() && new.encoding == "UTF-8";
    let encoding = old.encoding != new.encoding && !same_bytes;
    let (old_end, new_end) = (old.line_end(), new.line_end());
    let line_ends = old_end != new_end && old_end != "none" && new_end != "none";
    vec![(LossKind::Encoding, u32::from(encoding)), (LossKind::LineEnds, u32::from(line_ends))]
}

fn workbook_losses(before: &[u8], after: &[u8]) -> Vec<(LossKind, u32)> {
    let Some(old) = workbook(before) else { return vec![(LossKind::Unreadable, 1)] };
    let new = workbook(after).unwrap_or_default();
    let visible = |name: &str| new.sheets.iter().find(|(other, _)| other == name).map(|(_, hidden)| !hidden);
    let count = |lost: usize| u32::try_from(lost).unwrap_or(u32::MAX);
    let hidden = old.sheets.iter().filter(|(name, hidden)| *hidden && visible(name) != Some(false)).count();
    let gone = old.sheets.iter().filter(|(name, _)| visible(name).is_none()).count();
    vec![
        (LossKind::Macros, old.macros.saturating_sub(new.macros)),
        (LossKind::Sheets, count(gone)),
        (LossKind::HiddenSheets, count(hidden)),
        (LossKind::Formulas, old.formulas.saturating_sub(new.formulas)),
        (LossKind::Comments, old.comments.saturating_sub(new.comments)),
        (LossKind::Drawings, old.drawings.saturating_sub(new.drawings)),
        (LossKind::CellStyles, lost_styles(&old, &new)),
        (LossKind::OtherFeatures, old.others.saturating_sub(new.others)),
    ]
}

/// Cells that lose their fill, their font effect or their border, whichever are most.
fn lost_styles(old: &Workbook, new: &Workbook) -> u32 {
    let lost = old.styles.iter().zip(&new.styles).map(|(before, after)| {
        before
            .iter()
            .map(|(part, count)| count.saturating_sub(after.get(part).copied().unwrap_or(0)))
            .sum::<u32>()
    });
    lost.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_xlsxwriter::{Chart, ChartType, Color, Format, FormatBorder, Note, Workbook as Writer};

    fn kinds(losses: &[Loss]) -> Vec<(LossKind, u32)> {
        losses.iter().map(|loss| (loss.kind, loss.count)).collect()
    }

    fn rich() -> Vec<u8> {
        let mut book = Writer::new();
        let yellow = Format::new().set_background_color(Color::Yellow);
        let red = Format::new().set_font_color(Color::Red).set_bold();
        let boxed = Format::new().set_border(FormatBorder::Thin);
        let sheet = book.add_worksheet().set_name("2026-09").unwrap();
        sheet.write_string_with_format(0, 0, "金额", &red).unwrap();
        sheet.write_number_with_format(1, 0, 12.5, &yellow).unwrap();
        sheet.write_number_with_format(2, 0, 13.5, &yellow).unwrap();
        sheet.write_number_with_format(3, 0, 14.5, &boxed).unwrap();
        sheet.write_formula(4, 0, "=SUM(A2:A4)").unwrap();
        sheet.write_formula(5, 0, "=A5*2").unwrap();
        sheet.insert_note(1, 0, &Note::new("why")).unwrap();
        sheet.merge_range(7, 0, 7, 2, "merged", &Format::new()).unwrap();
        let mut chart = Chart::new(ChartType::Column);
        chart.add_series().set_values("'2026-09'!$A$2:$A$4");
        sheet.insert_chart(0, 4, &chart).unwrap();
        book.add_worksheet().set_name("内部").unwrap().set_hidden(true);
        book.save_to_buffer().unwrap()
    }

    fn plain() -> Vec<u8> {
        let mut book = Writer::new();
        let sheet = book.add_worksheet().set_name("2026-09").unwrap();
        sheet.write_string(0, 0, "金额").unwrap();
        book.save_to_buffer().unwrap()
    }

    #[test]
    fn a_plain_rewrite_loses_what_the_workbook_had() {
        let expected = [
            (LossKind::Sheets, 1),
            (LossKind::HiddenSheets, 1),
            (LossKind::Formulas, 2),
            (LossKind::Comments, 1),
            (LossKind::Drawings, 1),
            (LossKind::CellStyles, 2),
            (LossKind::OtherFeatures, 1),
        ];
        assert_eq!(kinds(&losses(&rich(), &plain(), true)), expected, "each loss with its count");
    }

    #[test]
    fn nothing_is_lost_where_nothing_was() {
        assert_eq!(losses(&plain(), &rich(), true), [], "more is no loss");
        assert_eq!(losses(&rich(), &rich(), true), [], "the same bytes lose nothing");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert_eq!(
            kinds(&losses(b"no workbook", &plain(), true)),
            [(LossKind::Unreadable, 1)],
            "not a zip at all"
        );
        let mut cut = rich();
        cut.truncate(cut.len() / 2);
        assert_eq!(kinds(&losses(&cut, &plain(), true)), [(LossKind::Unreadable, 1)], "a damaged one");
        assert_eq!(
            kinds(&losses(b"\x00\x01\xFF\xFE", b"text", false)),
            [(LossKind::Unreadable, 1)],
            "bytes under a text"
        );
    }

    #[test]
    fn encoding_and_line_ends_are_losses_of_a_text() {
        let gb = encoding_rs::GB18030.encode("金额\r\n1\r\n").0.into_owned();
        let expected = [(LossKind::Encoding, 1), (LossKind::LineEnds, 1)];
        assert_eq!(
            kinds(&losses(&gb, "金额\n2\n".as_bytes(), false)),
            expected,
            "GB18030 with CRLF to UTF-8 with LF"
        );
        assert_eq!(losses(b"a\n", "\u{FEFF}a\n".as_bytes(), false).len(), 1, "a byte order mark is a change");
        assert_eq!(losses(b"a\n", "金\n".as_bytes(), false), [], "UTF-8 stays UTF-8");
        assert_eq!(losses(b"a", b"a\r\n", false), [], "a file without any line end has none to lose");
    }
}
