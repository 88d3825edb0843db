//! Glyphs with their places, gathered to lines of cells.

use super::runs::{self, Glyph, Run};
use crate::fold::is_cjk;
use crate::layout::{Cell, Line};
use pdf_oxide::PdfDocument;
use pdf_oxide::layout::TextChar;

/// Most glyphs of one page; a page of dense print has ten thousand.
const GLYPHS: usize = 400_000;

/// Lines of a page (from 1), from top to bottom, cells from left to right. Text that runs in another direction comes
/// after the text of the page's main direction.
pub(super) fn lines(document: &PdfDocument, number: u32) -> Result<Vec<Line>, String> {
    let index = number as usize - 1;
    let chars = document.extract_chars(index).map_err(|error| error.to_string())?;
    let page = document.get_page_media_box(index).unwrap_or((0.0, 0.0, 100_000.0, 100_000.0));
    let fonts = runs::fonts_without_widths(&chars);
    let mut turned: [Vec<Glyph>; 4] = Default::default();
    for found in chars.iter().take(GLYPHS) {
        if let Some((quarter, mut glyph)) = glyph(found, page) {
            glyph.guess = fonts.contains(found.font_name.as_str());
            turned[quarter].push(glyph);
        }
    }
    turned[0].extend(super::forms::glyphs(document, index));
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by_key(|quarter| std::cmp::Reverse(turned[*quarter].len()));
    let mut out: Vec<Line> = Vec::new();
    for quarter in order {
        let below = out.iter().map(|line| line.y + line.height).fold(0.0f32, f32::max);
        for mut line in gather(std::mem::take(&mut turned[quarter]), number) {
            // The other directions are put below, so that they are no neighbours of the page's own lines.
            if !out.is_empty() && below > 0.0 {
                line.y += below + 100.0;
            }
            out.push(line);
        }
    }
    out.sort_by(|a, b| a.y.total_cmp(&b.y));
    Ok(out)
}

/// Turns a glyph upright. Glyphs above or below the page are not on it; to the side a font without widths may lead
/// the engine astray, and half a page is allowed for that.
fn glyph(found: &TextChar, page: (f32, f32, f32, f32)) -> Option<(usize, Glyph)> {
    let (x, y) = (found.bbox.x, found.origin_y);
    let finite =
        x.is_finite() && y.is_finite() && found.font_size.is_finite() && found.bbox.width.is_finite();
    let (left, right) = (page.0.min(page.2), page.0.max(page.2));
    let (bottom, top) = (page.1.min(page.3), page.1.max(page.3));
    let aside = (right - left) * 0.5;
    if !finite || x < left - aside || x > right + aside || y < bottom - 2.0 || y > top + 2.0 {
        return None;
    }
    let size = found.font_size.abs().clamp(1.0, 300.0);
    let measured = found.bbox.width.abs().max(found.advance_width.abs());
    // The engine gives the width along the page's own axis; of a turned glyph that is next to nothing.
    let width = match (measured > size * 0.05, is_cjk(found.char)) {
        (true, _) => measured,
        (false, true) => size,
        (false, false) => size * 0.6,
    };
    let quarter = ((found.rotation_degrees / 90.0).round() as i32).rem_euclid(4) as usize;
    let (x0, y) = match quarter {
        0 => (x, -y),
        1 => (y, x),
        2 => (-x, y),
        _ => (-y, -x),
    };
    let c = if found.char == '\u{a0}' { ' ' } else { found.char };
    // Vertical tabs and other controls come from broken tables; line ends inside a page mean nothing.
    if c.is_control() && !c.is_whitespace() && c != '\u{fffd}' && (c as u32) < 0x80 {
        return None;
    }
    let advance = if quarter == 0 && found.rendered_advance > 0.0 { found.rendered_advance } else { width };
    Some((quarter, Glyph { c, x0, x1: x0 + width, next: x0 + advance, y, size, guess: false }))
}

fn gather(mut glyphs: Vec<Glyph>, page: u32) -> Vec<Line> {
    glyphs.sort_by(|a, b| a.y.total_cmp(&b.y));
    let top = glyphs.first().map_or(0.0, |glyph| glyph.y);
    let mut rows: Vec<(f32, Vec<Glyph>)> = Vec::new();
    for glyph in glyphs {
        if glyph.c.is_whitespace() && rows.is_empty() {
            continue;
        }
        let tolerance = (glyph.size * 0.4).clamp(1.0, 4.0);
        match rows.last_mut() {
            Some((y, row)) if glyph.y - *y <= tolerance => row.push(glyph),
            _ => rows.push((glyph.y, vec![glyph])),
        }
    }
    rows.into_iter()
        .filter_map(|(y, row)| {
            let height = row.iter().map(|glyph| glyph.size).fold(0.0f32, f32::max);
            let cells = cells(&runs::of(row));
            (!cells.is_empty()).then_some(Line { page, y: y - top, height, cells })
        })
        .collect()
}

/// Joins runs to cells; a gap that is wider than any blank between words begins a new one.
fn cells(runs: &[Run]) -> Vec<Cell> {
    let mut out: Vec<Cell> = Vec::new();
    let mut last: Option<&Run> = None;
    for run in runs {
        let Some(before) = last else {
            out.push(Cell { text: run.text.clone(), x0: run.x0, x1: run.x1 });
            last = Some(run);
            continue;
        };
        // Bold by printing twice: the same letters, a hair beside themselves.
        if run.text == before.text && (run.x0 - before.x0).abs() < before.size * 0.15 {
            continue;
        }
        let gap = run.x0 - before.x1;
        let size = run.size.min(before.size);
        // Pieces that lie over each other are not one text, whatever the widths of a font say.
        let over = gap < -size * 0.9 && before.text.chars().count() > 1;
        if gap > size * 1.3 || over {
            out.push(Cell { text: run.text.clone(), x0: run.x0, x1: run.x1 });
        } else if let Some(cell) = out.last_mut() {
            let ends = (before.text.chars().next_back(), run.text.chars().next());
            let both_cjk = matches!(ends, (Some(left), Some(right)) if is_cjk(left) && is_cjk(right));
            let blank = before.blank_after || run.blank_before;
            // A printed blank between Chinese characters is spacing unless it is as wide as a character.
            let apart =
                if both_cjk { gap > size * 0.8 } else { (blank && gap > -size * 0.3) || gap > size * 0.2 };
            if apart {
                cell.text.push(' ');
            }
            cell.text.push_str(&run.text);
            cell.x1 = cell.x1.max(run.x1);
        }
        last = Some(run);
    }
    for cell in &mut out {
        cell.text = logical(std::mem::take(&mut cell.text));
    }
    out
}

/// Puts text that is read from right to left into the order in which it is spoken. Glyphs were sorted by place.
fn logical(text: String) -> String {
    let rtl = |c: char| matches!(c as u32, 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF);
    if !text.chars().any(rtl) {
        return text;
    }
    let mut words: Vec<String> = text
        .split(' ')
        .map(|word| if word.chars().any(rtl) { word.chars().rev().collect() } else { word.to_owned() })
        .collect();
    let mostly =
        text.chars().filter(|c| rtl(*c)).count() * 2 > text.chars().filter(|c| c.is_alphabetic()).count();
    if mostly {
        words.reverse();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str, x: f32, y: f32, advance: f32) -> Vec<Glyph> {
        text.chars()
            .enumerate()
            .map(|(at, c)| {
                let x0 = x + at as f32 * advance;
                Glyph { c, x0, x1: x0 + 0.9 * advance, next: x0 + advance, y, size: 10.0, guess: false }
            })
            .collect()
    }

    #[test]
    fn gaps_make_words_and_cells() {
        let mut glyphs = row("Total", 10.0, 100.0, 5.0);
        glyphs.extend(row("due", 38.0, 100.5, 5.0));
        glyphs.extend(row("1,209.00", 160.0, 99.0, 5.0));
        glyphs.extend(row("next", 10.0, 112.0, 5.0));
        let lines = gather(glyphs, 1);
        let text: Vec<String> = lines.iter().map(Line::text).collect();
        assert_eq!(text, ["Total due\t1,209.00", "next"], "small gaps are blanks, wide ones make cells");
    }

    #[test]
    fn chinese_has_no_blanks_and_bold_is_no_double() {
        let mut glyphs = row("购买方", 10.0, 10.0, 11.0);
        glyphs.extend(row("名称", 43.0, 10.0, 11.0));
        let copy: Vec<Glyph> = glyphs
            .iter()
            .map(|glyph| Glyph { x0: glyph.x0 + 0.3, x1: glyph.x1 + 0.3, next: glyph.next + 0.3, ..*glyph })
            .collect();
        glyphs.extend(copy);
        assert_eq!(gather(glyphs, 1)[0].text(), "购买方名称", "printed twice is read once");
    }

    #[test]
    fn texts_that_lie_over_each_other_are_not_mixed() {
        let mut glyphs = row("17735.85", 10.0, 10.0, 9.0);
        glyphs.extend(row("1064.15", 50.3, 10.0, 9.0));
        assert_eq!(
            gather(glyphs, 1)[0].text(),
            "17735.85\t1064.15",
            "no figure takes digits of its neighbour"
        );
    }

    #[test]
    fn right_to_left_comes_out_as_spoken() {
        assert_eq!(logical("םולש".to_owned()), "שלום", "glyphs by place, letters by order");
    }
}
