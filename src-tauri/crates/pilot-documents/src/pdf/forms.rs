//! What was filled into a form, and text notes on a page: they stand on paper but not in the page's own program.

use super::runs::Glyph;
use crate::fold::is_cjk;
use pdf_oxide::PdfDocument;
use pdf_oxide::annotation_types::{AnnotationSubtype, WidgetFieldType};

/// Most values of one page.
const VALUES: usize = 5_000;
/// Longest value.
const LENGTH: usize = 10_000;

/// Glyphs of filled fields and text notes, at the places where a viewer shows them.
pub(super) fn glyphs(document: &PdfDocument, index: usize) -> Vec<Glyph> {
    let Ok(annotations) = document.get_annotations(index) else { return Vec::new() };
    let mut out = Vec::new();
    for annotation in annotations.into_iter().take(VALUES) {
        let text = match annotation.subtype_enum {
            AnnotationSubtype::Widget => match annotation.field_type {
                Some(WidgetFieldType::Text | WidgetFieldType::Choice { .. }) | None => annotation.field_value,
                Some(_) => None,
            },
            AnnotationSubtype::FreeText => annotation.contents,
            _ => None,
        };
        let (Some(text), Some(rect)) = (text, annotation.rect) else { continue };
        // Bits 2 and 6 of the flags keep an annotation off the screen.
        if annotation.flags.is_hidden() || text.trim().is_empty() {
            continue;
        }
        place(crate::fold::cut(&text, LENGTH), rect, &mut out);
    }
    out
}

/// Lays a value out in its field, line by line from the top.
fn place(text: &str, rect: [f64; 4], out: &mut Vec<Glyph>) {
    let [left, low, right, high] = rect.map(|value| value as f32);
    let (left, top, height) = (left.min(right), low.max(high), (high - low).abs());
    let lines: Vec<&str> = text.lines().collect();
    let count = lines.len().max(1) as f32;
    let size = (height / count * 0.75).clamp(4.0, 12.0);
    for (number, line) in lines.iter().enumerate() {
        let middle = top - height / count * (number as f32 + 0.5);
        let y = -(middle - size * 0.3);
        let mut x = left + 1.0;
        for c in line.chars() {
            let width = if is_cjk(c) { size } else { size * 0.5 };
            out.push(Glyph { c, x0: x, x1: x + width, next: x + width, y, size, guess: false });
            x += width;
        }
    }
}
