//! A page to draw on, in millimetres from the top left corner, and the two fonts that real invoices use most:
//! Helvetica, and STSong-Light by `UniGB-UCS2-H`, both unembedded.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use std::fmt::Write as _;

const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Widths of Helvetica from the blank to the tilde, in thousandths of the size.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Widths of Helvetica-Bold, likewise.
const HELVETICA_BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278,
    556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584,
    556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556,
    333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];

/// Widths of the Latin glyphs of STSong-Light, which are the CIDs 1 to 95 of Adobe-GB1.
const SONG_LATIN: [u16; 95] = [
    207, 270, 342, 467, 462, 797, 710, 239, 374, 374, 423, 605, 238, 375, 238, 334, 462, 462, 462, 462, 462,
    462, 462, 462, 462, 462, 238, 238, 605, 605, 605, 344, 748, 684, 560, 695, 739, 563, 511, 729, 793, 318,
    312, 666, 526, 896, 758, 772, 544, 772, 628, 465, 607, 753, 711, 972, 647, 620, 607, 374, 333, 374, 606,
    500, 239, 417, 503, 427, 529, 415, 264, 444, 518, 241, 230, 495, 228, 793, 527, 524, 524, 504, 338, 336,
    277, 517, 450, 652, 466, 452, 407, 370, 258, 370, 605,
];

/// A font of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Font {
    Helvetica,
    HelveticaBold,
    Song,
}

impl Font {
    fn name(self) -> &'static str {
        match self {
            Font::Helvetica => "F1",
            Font::HelveticaBold => "F2",
            Font::Song => "F3",
        }
    }

    fn width(self, glyph: char) -> u16 {
        let table = match self {
            Font::Helvetica => &HELVETICA,
            Font::HelveticaBold => &HELVETICA_BOLD,
            Font::Song => &SONG_LATIN,
        };
        let at = (glyph as usize).checked_sub(32);
        at.and_then(|at| table.get(at)).copied().unwrap_or(1000)
    }

    fn millimetres(self, size: f64, text: &str) -> f64 {
        let units: u32 = text.chars().map(|glyph| u32::from(self.width(glyph))).sum();
        f64::from(units) / 1000.0 * size / POINTS_PER_MM
    }

    /// The text as a PDF string.
    fn string(self, text: &str) -> String {
        let mut out = String::new();
        match self {
            Font::Helvetica | Font::HelveticaBold => {
                out.push('(');
                for glyph in text.chars() {
                    if matches!(glyph, '(' | ')' | '\\') {
                        out.push('\\');
                    }
                    out.push(if glyph.is_ascii() { glyph } else { '?' });
                }
                out.push(')');
            }
            Font::Song => {
                out.push('<');
                for unit in text.encode_utf16() {
                    let _ = write!(out, "{unit:04X}");
                }
                out.push('>');
            }
        }
        out
    }
}

/// One page under construction.
pub(crate) struct Page {
    width: f64,
    height: f64,
    content: String,
}

impl Page {
    /// An empty page, in millimetres.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, content: String::new() }
    }

    /// The colour of all that follows, 0 to 1.
    pub(crate) fn colour(&mut self, red: f64, green: f64, blue: f64) {
        let _ = writeln!(self.content, "{red} {green} {blue} rg {red} {green} {blue} RG");
    }

    /// Text that begins at `x`; `y` is its base line.
    pub(crate) fn text(&mut self, font: Font, size: f64, x: f64, y: f64, text: &str) {
        let (px, py) = (x * POINTS_PER_MM, (self.height - y) * POINTS_PER_MM);
        let _ = writeln!(
            self.content,
            "BT /{} {size} Tf {px:.2} {py:.2} Td {} Tj ET",
            font.name(),
            font.string(text)
        );
    }

    /// Text that ends at `x`.
    pub(crate) fn right(&mut self, font: Font, size: f64, x: f64, y: f64, text: &str) {
        self.text(font, size, x - font.millimetres(size, text), y, text);
    }

    /// Text with its middle at `x`.
    pub(crate) fn centre(&mut self, font: Font, size: f64, x: f64, y: f64, text: &str) {
        self.text(font, size, x - font.millimetres(size, text) / 2.0, y, text);
    }

    /// Glyphs one below the other, each an object of its own, as the tax platform draws them.
    pub(crate) fn vertical(&mut self, size: f64, x: f64, y: f64, step: f64, text: &str) {
        let mut at = y;
        for glyph in text.chars() {
            self.text(Font::Song, size, x, at, &glyph.to_string());
            at += step;
        }
    }

    /// A line of `weight` points.
    pub(crate) fn line(&mut self, weight: f64, from: (f64, f64), to: (f64, f64)) {
        let point =
            |(x, y): (f64, f64)| format!("{:.2} {:.2}", x * POINTS_PER_MM, (self.height - y) * POINTS_PER_MM);
        let (from, to) = (point(from), point(to));
        let _ = writeln!(self.content, "{weight} w {from} m {to} l S");
    }

    /// An outlined box from its top left corner.
    pub(crate) fn outline(&mut self, weight: f64, x: f64, y: f64, width: f64, height: f64) {
        self.line(weight, (x, y), (x + width, y));
        self.line(weight, (x, y + height), (x + width, y + height));
        self.line(weight, (x, y), (x, y + height));
        self.line(weight, (x + width, y), (x + width, y + height));
    }

    /// A filled box from its top left corner.
    pub(crate) fn fill(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let left = x * POINTS_PER_MM;
        let bottom = (self.height - y - height) * POINTS_PER_MM;
        let _ = writeln!(
            self.content,
            "{left:.2} {bottom:.2} {:.2} {:.2} re f",
            width * POINTS_PER_MM,
            height * POINTS_PER_MM
        );
    }
}

fn fonts() -> Dictionary {
    let latin = |base: &str| {
        dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => base, "Encoding" => "WinAnsiEncoding" }
    };
    let widths: Vec<Object> = SONG_LATIN.iter().map(|width| Object::Integer(i64::from(*width))).collect();
    let descendant = dictionary! {
        "Type" => "Font", "Subtype" => "CIDFontType0", "BaseFont" => "STSong-Light", "DW" => 1000,
        "W" => vec![Object::Integer(1), Object::Array(widths)],
        "CIDSystemInfo" => dictionary! {
            "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("GB1"), "Supplement" => 0,
        },
        "FontDescriptor" => dictionary! {
            "Type" => "FontDescriptor", "FontName" => "STSong-Light", "Flags" => 6, "ItalicAngle" => 0, "StemV" => 93,
            "Ascent" => 752, "Descent" => -271, "CapHeight" => 737,
            "FontBBox" => vec![Object::Integer(-25), Object::Integer(-254), Object::Integer(1000), Object::Integer(880)],
        },
    };
    let song = dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "STSong-Light-UniGB-UCS2-H", "Encoding" => "UniGB-UCS2-H",
        "DescendantFonts" => vec![Object::Dictionary(descendant)],
    };
    dictionary! { "F1" => latin("Helvetica"), "F2" => latin("Helvetica-Bold"), "F3" => song }
}

/// A one-page document of drawn text.
pub(crate) fn document(title: &str, date: &str, page: Page) -> Result<Vec<u8>, lopdf::Error> {
    let resources = dictionary! { "Font" => fonts() };
    let (width, height) = (page.width, page.height);
    assemble(title, date, (width, height), resources, page.content.into_bytes(), Vec::new())
}

/// A one-page document that is nothing but a grey picture of `columns` × `rows` pixels.
pub(crate) fn picture(
    title: &str,
    date: &str,
    size: (f64, f64),
    pixels: Vec<u8>,
    columns: u32,
    rows: u32,
) -> Result<Vec<u8>, lopdf::Error> {
    let mut image = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Image", "Width" => i64::from(columns), "Height" => i64::from(rows),
            "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8,
        },
        pixels,
    );
    image.compress()?;
    let content =
        format!("q {:.2} 0 0 {:.2} 0 0 cm /Im1 Do Q\n", size.0 * POINTS_PER_MM, size.1 * POINTS_PER_MM);
    assemble(title, date, size, Dictionary::new(), content.into_bytes(), vec![("Im1", image)])
}

fn assemble(
    title: &str,
    date: &str,
    size: (f64, f64),
    mut resources: Dictionary,
    content: Vec<u8>,
    images: Vec<(&str, Stream)>,
) -> Result<Vec<u8>, lopdf::Error> {
    let mut document = Document::with_version("1.4");
    let pages = document.new_object_id();
    let mut named = Dictionary::new();
    for (name, image) in images {
        named.set(name, document.add_object(image));
    }
    if !named.is_empty() {
        resources.set("XObject", named);
    }
    let content = document.add_object(Stream::new(Dictionary::new(), content));
    let resources = document.add_object(resources);
    let points =
        |millimetres: f64| Object::Real((millimetres * POINTS_PER_MM * 100.0).round() as f32 / 100.0);
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![Object::Integer(0), Object::Integer(0), points(size.0), points(size.1)],
    });
    document.objects.insert(
        pages,
        dictionary! { "Type" => "Pages", "Count" => 1, "Kids" => vec![Object::Reference(page)] }.into(),
    );
    let root = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    let stamp = format!("D:{}090000Z", date.replace('-', ""));
    let info = document.add_object(dictionary! {
        "Title" => Object::string_literal(title), "Producer" => Object::string_literal("PocketPilot demo folder"),
        "CreationDate" => Object::string_literal(stamp),
    });
    document.trailer.set("Root", root);
    document.trailer.set("Info", info);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes)?;
    Ok(bytes)
}
