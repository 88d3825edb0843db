//! Runs: glyphs that one piece of the page's program drew one after the other. The engine gives glyphs by place; where
//! each one says its successor begins tells which belong together, even where two texts lie over each other because the
//! widths of a font that is not embedded are unknown.

use crate::fold::is_cjk;
use pdf_oxide::layout::TextChar;
use std::collections::{HashMap, HashSet};

/// One glyph in a frame where text runs to the right and lines go down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub(super) c: char,
    pub(super) x0: f32,
    pub(super) x1: f32,
    /// Where the next glyph of the same run begins.
    pub(super) next: f32,
    pub(super) y: f32,
    pub(super) size: f32,
    /// The font's widths cannot be true; usual ones are put in their place.
    pub(super) guess: bool,
}

/// A piece of text that was drawn at once.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) x0: f32,
    pub(super) x1: f32,
    pub(super) size: f32,
    pub(super) blank_before: bool,
    pub(super) blank_after: bool,
}

/// Names of fonts whose widths cannot be true. Figures of one font are all equally wide, so that columns stand; where
/// they are not, the widths belong to other characters, as happens with Chinese fonts that are not embedded.
pub(super) fn fonts_without_widths(chars: &[TextChar]) -> HashSet<&str> {
    let mut seen: HashMap<&str, (f32, f32, bool)> = HashMap::new();
    for found in chars {
        if found.font_size.abs() < 0.5 || found.rotation_degrees.abs() > 1.0 {
            continue;
        }
        let entry = seen.entry(found.font_name.as_str()).or_insert((f32::MAX, 0.0, false));
        if found.char.is_ascii_digit() {
            let width = found.advance_width / found.font_size.abs();
            entry.0 = entry.0.min(width);
            entry.1 = entry.1.max(width);
        }
        entry.2 |= is_cjk(found.char);
    }
    const SIGNS: [&str; 12] =
        ["GB", "Song", "Hei", "Kai", "Fang", "Ming", "Sun", "Gothic", "Mincho", "Myung", "CNS", "YaHei"];
    seen.into_iter()
        .filter(|(name, (low, high, chinese))| {
            let uneven = high - low > 0.04 || (*high > 0.85 && low < high) || *low > 0.85 && *high > 0.0;
            uneven && *low < f32::MAX && (*chinese || SIGNS.iter().any(|sign| name.contains(sign)))
        })
        .map(|(name, _)| name)
        .collect()
}

/// Most texts that may lie over each other.
const LAYERS: usize = 64;

/// Usual width of a character: half for Latin, full for Chinese.
fn usual(c: char, size: f32) -> f32 {
    if is_cjk(c) { size } else { size * 0.5 }
}

/// Gathers a row of glyphs to runs, from left to right.
pub(super) fn of(mut row: Vec<Glyph>) -> Vec<Run> {
    row.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let mut chains: Vec<Vec<Glyph>> = Vec::new();
    // Chains whose end may still be continued; with sorted glyphs only those that end at or after this glyph.
    let mut open: Vec<usize> = Vec::new();
    for glyph in row {
        let fits = |chain: &usize| {
            chains[*chain].last().is_some_and(|last| {
                (last.next - glyph.x0).abs() <= 0.06
                    && (last.y - glyph.y).abs() < 0.05
                    && (last.size - glyph.size).abs() < 0.01
            })
        };
        match open.iter().copied().find(|chain| fits(chain)) {
            Some(chain) => chains[chain].push(glyph),
            None => {
                chains.push(vec![glyph]);
                open.push(chains.len() - 1);
            }
        }
        open.retain(|chain| chains[*chain].last().is_some_and(|last| last.next > glyph.x0 - 0.1));
        // Texts in so many layers are drawn to keep a reader busy.
        if open.len() > LAYERS {
            open.drain(..open.len() - LAYERS);
        }
    }
    let mut runs: Vec<Run> = chains.iter().flat_map(|chain| split(chain)).collect();
    runs.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    carry_blanks(runs)
}

/// Cuts a chain at blanks. Widths of a font without true ones are laid out anew from the chain's beginning.
fn split(chain: &[Glyph]) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    let mut at = chain.first().map_or(0.0, |glyph| glyph.x0);
    let mut blank = false;
    for glyph in chain {
        let (x0, x1) = if glyph.guess { (at, at + usual(glyph.c, glyph.size)) } else { (glyph.x0, glyph.x1) };
        at = x1;
        if glyph.c.is_whitespace() {
            blank = true;
            if let Some(last) = out.last_mut() {
                last.blank_after = true;
            }
            continue;
        }
        match out.last_mut() {
            Some(last) if !blank => {
                last.text.push(glyph.c);
                last.x1 = last.x1.max(x1);
            }
            _ => out.push(Run {
                text: glyph.c.to_string(),
                x0,
                x1,
                size: glyph.size,
                blank_before: blank,
                blank_after: false,
            }),
        }
        blank = false;
    }
    if out.is_empty() && blank {
        // A chain of blanks only: kept as a mark between its neighbours.
        out.push(Run {
            text: String::new(),
            x0: chain[0].x0,
            x1: at,
            size: chain[0].size,
            blank_before: true,
            blank_after: true,
        });
    }
    out
}

/// Blanks that were drawn by themselves belong to the runs on their sides.
fn carry_blanks(runs: Vec<Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    let mut blank = false;
    for mut run in runs {
        if run.text.is_empty() {
            blank = true;
            if let Some(last) = out.last_mut() {
                last.blank_after = true;
            }
            continue;
        }
        run.blank_before |= blank;
        blank = false;
        out.push(run);
    }
    out
}
