//! A page that is only a picture: a till receipt drawn with a small built-in font, slightly turned, with specks, as a
//! flat-bed scanner would give it. There is no text layer, so nobody can read it without optical recognition.

use crate::pdf;

const COLUMNS: u32 = 620;
const ROWS: u32 = 877;
const PAPER: u8 = 244;
const INK: u8 = 52;

/// Five columns of seven rows, the lowest bit on top, for the glyphs that the receipt needs.
const GLYPHS: [(char, [u8; 5]); 40] = [
    ('0', [0x3E, 0x51, 0x49, 0x45, 0x3E]),
    ('1', [0x00, 0x42, 0x7F, 0x40, 0x00]),
    ('2', [0x42, 0x61, 0x51, 0x49, 0x46]),
    ('3', [0x21, 0x41, 0x45, 0x4B, 0x31]),
    ('4', [0x18, 0x14, 0x12, 0x7F, 0x10]),
    ('5', [0x27, 0x45, 0x45, 0x45, 0x39]),
    ('6', [0x3C, 0x4A, 0x49, 0x49, 0x30]),
    ('7', [0x01, 0x71, 0x09, 0x05, 0x03]),
    ('8', [0x36, 0x49, 0x49, 0x49, 0x36]),
    ('9', [0x06, 0x49, 0x49, 0x29, 0x1E]),
    ('A', [0x7E, 0x11, 0x11, 0x11, 0x7E]),
    ('B', [0x7F, 0x49, 0x49, 0x49, 0x36]),
    ('C', [0x3E, 0x41, 0x41, 0x41, 0x22]),
    ('D', [0x7F, 0x41, 0x41, 0x22, 0x1C]),
    ('E', [0x7F, 0x49, 0x49, 0x49, 0x41]),
    ('F', [0x7F, 0x09, 0x09, 0x09, 0x01]),
    ('G', [0x3E, 0x41, 0x49, 0x49, 0x7A]),
    ('H', [0x7F, 0x08, 0x08, 0x08, 0x7F]),
    ('I', [0x00, 0x41, 0x7F, 0x41, 0x00]),
    ('J', [0x20, 0x40, 0x41, 0x3F, 0x01]),
    ('K', [0x7F, 0x08, 0x14, 0x22, 0x41]),
    ('L', [0x7F, 0x40, 0x40, 0x40, 0x40]),
    ('M', [0x7F, 0x02, 0x0C, 0x02, 0x7F]),
    ('N', [0x7F, 0x04, 0x08, 0x10, 0x7F]),
    ('O', [0x3E, 0x41, 0x41, 0x41, 0x3E]),
    ('P', [0x7F, 0x09, 0x09, 0x09, 0x06]),
    ('Q', [0x3E, 0x41, 0x51, 0x21, 0x5E]),
    ('R', [0x7F, 0x09, 0x19, 0x29, 0x46]),
    ('S', [0x46, 0x49, 0x49, 0x49, 0x31]),
    ('T', [0x01, 0x01, 0x7F, 0x01, 0x01]),
    ('U', [0x3F, 0x40, 0x40, 0x40, 0x3F]),
    ('V', [0x1F, 0x20, 0x40, 0x20, 0x1F]),
    ('W', [0x3F, 0x40, 0x38, 0x40, 0x3F]),
    ('X', [0x63, 0x14, 0x08, 0x14, 0x63]),
    ('Y', [0x07, 0x08, 0x70, 0x08, 0x07]),
    ('Z', [0x61, 0x51, 0x49, 0x45, 0x43]),
    ('.', [0x00, 0x60, 0x60, 0x00, 0x00]),
    ('-', [0x08, 0x08, 0x08, 0x08, 0x08]),
    (':', [0x00, 0x36, 0x36, 0x00, 0x00]),
    ('/', [0x20, 0x10, 0x08, 0x04, 0x02]),
];

/// Text, size in pixels a dot, column, row.
const LINES: [(&str, i64, i64, i64); 14] = [
    ("QUILLBANK EXAMPLE PRINT CO.", 3, 66, 70),
    ("41 SPECIMEN STREET", 2, 200, 108),
    ("RECEIPT", 5, 205, 160),
    ("NO. BW-R0803", 2, 70, 240),
    ("2026-08-03 16:42", 2, 360, 240),
    ("POSTER A2       6 X 18.50", 2, 70, 310),
    ("111.00", 2, 470, 310),
    ("LAMINATION      6 X  4.00", 2, 70, 345),
    ("24.00", 2, 482, 345),
    ("TAX 8.00", 2, 70, 400),
    ("10.80", 2, 482, 400),
    ("TOTAL USD", 3, 70, 450),
    ("145.80", 3, 434, 450),
    ("PAID BY CARD - THANK YOU", 2, 160, 560),
];

/// The scanned page.
pub(crate) fn draw() -> Result<Vec<u8>, lopdf::Error> {
    pdf::picture("Scan", "2026-08-04", (105.0, 148.5), pixels(), COLUMNS, ROWS)
}

fn pixels() -> Vec<u8> {
    let mut out = Vec::with_capacity((COLUMNS * ROWS) as usize);
    let mut seed: u32 = 0x5EED;
    for row in 0..i64::from(ROWS) {
        for column in 0..i64::from(COLUMNS) {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // The paper lies turned by about half a degree.
            let (x, y) = (column + row / 110 - 4, row - column / 110 + 3);
            let shade = if ruled(x, y) || inked(x, y) { INK } else { PAPER };
            let speck = seed >> 24 == 0 && seed & 0x3000 == 0;
            out.push(if speck { shade.saturating_sub(60) } else { shade });
        }
    }
    out
}

fn ruled(x: i64, y: i64) -> bool {
    (60..560).contains(&x) && [270, 271, 384, 385, 500, 501].contains(&y) && x % 6 < 4
}

fn inked(x: i64, y: i64) -> bool {
    LINES.iter().any(|(text, dot, left, top)| {
        let (across, down) = (x - left, y - top);
        if across < 0 || down < 0 || down >= 7 * dot {
            return false;
        }
        let (cell, column) = (across / (6 * dot), across % (6 * dot) / dot);
        let glyph = usize::try_from(cell).ok().and_then(|cell| text.chars().nth(cell));
        let rows =
            glyph.and_then(|glyph| GLYPHS.iter().find(|(name, _)| *name == glyph)).map(|(_, rows)| rows);
        let bits = rows
            .and_then(|rows| usize::try_from(column).ok().and_then(|column| rows.get(column)))
            .copied()
            .unwrap_or(0);
        bits >> (down / dot) & 1 == 1
    })
}
