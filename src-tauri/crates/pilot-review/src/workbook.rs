//! What a workbook holds besides the values of its cells, counted in its zip entries. Bounded: a hostile file costs
//! time and memory up to fixed limits, never more, and a damaged one counts as unreadable.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::io::{BufReader, Cursor, Read};
use zip::ZipArchive;

/// Entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Inflated bytes that are read of one entry.
const MAX_ENTRY: u64 = 64 << 20;
/// Inflated bytes that are read in all.
const MAX_TOTAL: u64 = 192 << 20;

/// Counts of what a rewrite from plain values would not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Workbook {
    /// Sheets by name, and whether each is hidden.
    pub(crate) sheets: Vec<(String, bool)>,
    /// Cells with a formula.
    pub(crate) formulas: u32,
    /// Cells by fill, by font effect and by border; conditional formats count among the fills.
    pub(crate) styles: [HashMap<String, u32>; 3],
    /// Comments and notes.
    pub(crate) comments: u32,
    /// Charts and pictures.
    pub(crate) drawings: u32,
    /// Macro projects.
    pub(crate) macros: u32,
    /// Pivot tables, drop-down lists, merged cells, protection.
    pub(crate) others: u32,
}

/// Counts what is in a workbook; `None` when the bytes are no readable workbook.
pub(crate) fn workbook(bytes: &[u8]) -> Option<Workbook> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    if archive.len() > MAX_ENTRIES {
        return None;
    }
    let mut left = MAX_TOTAL;
    let mut found = Workbook::default();
    let formats = with_entry(&mut archive, "xl/styles.xml", &mut left, formats).unwrap_or_default();
    found.sheets = with_entry(&mut archive, "xl/workbook.xml", &mut left, sheets)?;
    for index in 0..archive.len() {
        let Ok(entry) = archive.by_index(index) else { continue };
        let Ok(name) = entry.name().map(|name| name.to_ascii_lowercase()) else { continue };
        let is_xml = name.ends_with(".xml");
        if name.starts_with("xl/worksheets/") && is_xml {
            found.sheet(limited(entry, &mut left), &formats);
        } else if (name.starts_with("xl/comments") || name.starts_with("xl/threadedcomments/")) && is_xml {
            let mut comments = 0;
            elements(limited(entry, &mut left), |element| {
                let local = element.local_name();
                comments += u32::from(matches!(local.as_ref(), "comment" | "threadedComment"));
            });
            found.comments += comments;
        } else if (name.starts_with("xl/charts/chart") && is_xml) || name.starts_with("xl/media/") {
            found.drawings += 1;
        } else if name.ends_with("vbaproject.bin") {
            found.macros += 1;
        } else if name.starts_with("xl/pivottables/") && is_xml {
            found.others += 1;
        }
    }
    Some(found)
}

impl Workbook {
    fn sheet(&mut self, reader: impl Read, formats: &[Format]) {
        elements(reader, |element| match element.local_name().as_ref() {
            "c" => {
                let format = attribute(element, "s")
                    .and_then(|index| index.parse::<usize>().ok())
                    .and_then(|at| formats.get(at));
                for (counts, part) in
                    self.styles.iter_mut().zip(format.map(|format| &format.0).into_iter().flatten())
                {
                    if !part.is_empty() {
                        *counts.entry(part.clone()).or_default() += 1;
                    }
                }
            }
            "f" => self.formulas += 1,
            "conditionalFormatting" => *self.styles[0].entry("conditional".to_owned()).or_default() += 1,
            "dataValidation" | "mergeCell" | "sheetProtection" => self.others += 1,
            _ => {}
        });
    }
}

/// Fill, font effect and border of a cell format; empty where it is the ordinary one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Format([String; 3]);

fn with_entry<T>(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    left: &mut u64,
    read: impl FnOnce(&mut dyn Read) -> T,
) -> Option<T> {
    let entry = archive.by_name(name).ok()?;
    Some(read(&mut limited(entry, left)))
}

/// An entry that ends at the limits, whatever its header says.
fn limited<R: Read>(entry: R, left: &mut u64) -> Counted<'_, R> {
    Counted { entry, of_entry: MAX_ENTRY, left }
}

struct Counted<'a, R> {
    entry: R,
    of_entry: u64,
    left: &'a mut u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let room = usize::try_from(self.of_entry.min(*self.left)).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.entry.read(&mut buffer[..room])?;
        self.of_entry -= count as u64;
        *self.left -= count as u64;
        Ok(count)
    }
}

/// Calls `each` for every element that begins, until the end or the first error.
fn elements(reader: impl Read, mut each: impl FnMut(&BytesStart<'_>)) {
    events(reader, |event| match event {
        Event::Start(element) | Event::Empty(element) => each(element),
        _ => {}
    });
}

fn events(reader: impl Read, mut each: impl FnMut(&Event<'_>)) {
    let mut reader = Reader::from_reader(BufReader::new(reader));
    reader.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) | Err(_) => return,
            Ok(event) => each(&event),
        }
        buffer.clear();
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value = quick_xml::escape::unescape(&found.value).map(std::borrow::Cow::into_owned);
    Some(value.unwrap_or_else(|_| found.value.clone().into_owned()))
}

fn sheets(reader: &mut dyn Read) -> Vec<(String, bool)> {
    let mut sheets = Vec::new();
    elements(reader, |element| {
        if element.local_name().as_ref() == "sheet" {
            let hidden = attribute(element, "state").is_some_and(|state| state != "visible");
            sheets.push((attribute(element, "name").unwrap_or_default(), hidden));
        }
    });
    sheets
}

/// The cell formats of a style sheet, by the index that cells name.
fn formats(reader: &mut dyn Read) -> Vec<Format> {
    let (mut fonts, mut fills, mut borders): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
    let mut formats = Vec::new();
    let mut section = String::new();
    events(reader, |event| {
        let element = match event {
            Event::Start(element) | Event::Empty(element) => element,
            Event::End(end) => {
                if matches!(end.local_name().as_ref(), "fonts" | "fills" | "borders" | "cellXfs") {
                    section.clear();
                }
                return;
            }
            _ => return,
        };
        let local = element.local_name();
        match (section.as_str(), local.as_ref()) {
            (_, "fonts" | "fills" | "borders" | "cellXfs" | "dxfs" | "cellStyleXfs") => {
                section = local.as_ref().to_owned()
            }
            ("fonts", "font") => fonts.push(String::new()),
            ("fonts", part) => extend(&mut fonts, font_effect(part, element)),
            ("fills", "fill") => fills.push(String::new()),
            ("fills", part) => extend(&mut fills, fill_part(part, element)),
            ("borders", "border") => borders.push(String::new()),
            ("borders", _) => {
                let drawn = attribute(element, "style").is_some_and(|style| style != "none");
                extend(&mut borders, drawn.then(|| "b".to_owned()));
            }
            ("cellXfs", "xf") => {
                let part = |parts: &[String], name: &str| {
                    let index =
                        attribute(element, name).and_then(|index| index.parse::<usize>().ok()).unwrap_or(0);
                    parts.get(index).cloned().unwrap_or_default()
                };
                formats.push(Format([
                    part(&fills, "fillId"),
                    part(&fonts, "fontId"),
                    part(&borders, "borderId"),
                ]));
            }
            _ => {}
        }
    });
    for format in &mut formats {
        // A fill of no pattern is written with its colours all the same.
        for part in &mut format.0 {
            if part.starts_with("none") {
                part.clear();
            }
        }
    }
    formats
}

fn extend(parts: &mut [String], more: Option<String>) {
    if let (Some(last), Some(more)) = (parts.last_mut(), more) {
        last.push_str(&more);
        last.push(';');
    }
}

fn font_effect(part: &str, element: &BytesStart<'_>) -> Option<String> {
    match part {
        "b" | "i" | "u" | "strike" => {
            let off = attribute(element, "val")
                .is_some_and(|value| matches!(value.as_str(), "0" | "false" | "none"));
            (!off).then(|| part.to_owned())
        }
        "color" => colour(element),
        _ => None,
    }
}

fn fill_part(part: &str, element: &BytesStart<'_>) -> Option<String> {
    match part {
        "patternFill" => match attribute(element, "patternType").as_deref() {
            None | Some("none" | "gray125") => Some("none".to_owned()),
            Some(pattern) => Some(pattern.to_owned()),
        },
        "gradientFill" => Some(part.to_owned()),
        "fgColor" => colour(element),
        _ => None,
    }
}

/// A colour, unless it is that of ordinary text.
fn colour(element: &BytesStart<'_>) -> Option<String> {
    let value = |name: &str| attribute(element, name);
    let tint = value("tint").unwrap_or_default();
    match (value("rgb"), value("theme"), value("indexed")) {
        (Some(rgb), _, _) => {
            let rgb = rgb.to_ascii_uppercase();
            (rgb != "FF000000").then_some(rgb)
        }
        (None, Some(theme), _) => (theme != "1").then(|| format!("theme{theme}{tint}")),
        (None, None, Some(index)) => {
            (!matches!(index.as_str(), "8" | "64")).then(|| format!("indexed{index}"))
        }
        (None, None, None) => None,
    }
}
