//! PDF: a gate (`lopdf`) that finds passwords, bombs and broken structure, then the glyphs of each page with their
//! places (`pdf_oxide`), from which lines, columns and tables are built here. Text in the order of the content stream
//! glues cells together; text by place does not.

mod columns;
mod forms;
mod garble;
mod gate;
mod runs;
mod words;

use crate::error::DocumentError;
use crate::layout::{self, Line};
use crate::limits;
use crate::model::{Document, DocumentKind, DocumentStatus, ExtractOptions, Part, PartKind};
use pilot_types::ErrorCode;

/// A PDF as read, with the lines that invoice fields are found in.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) document: Document,
    pub(crate) lines: Vec<Line>,
}

/// What one page gave.
struct Page {
    number: u32,
    lines: Vec<Line>,
    text: String,
    kind: PartKind,
    code: Option<ErrorCode>,
    note: Option<String>,
}

/// Reads a PDF.
pub(crate) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Pages, DocumentError> {
    let opened = gate::open(bytes)?;
    let (first, last) = range(options, opened.pages)?;
    let mut reading = Reading { notes: opened.notes.clone(), ..Reading::default() };
    for number in first..=last {
        let page = page(&opened, number);
        if reading.add(page) {
            break;
        }
    }
    Ok(reading.finish(opened.pages, (first, last)))
}

/// The pages asked for, from 1, within the document and the limit.
fn range(options: &ExtractOptions, pages: u32) -> Result<(u32, u32), DocumentError> {
    let Some((first, last)) = options.pages else { return Ok((1, pages.min(limits::PAGES as u32))) };
    if first == 0 || first > last || first > pages {
        return Err(DocumentError::Arguments(format!(
            "pages {first} to {last} of a document with {pages} pages"
        )));
    }
    Ok((first, last.min(pages).min(first.saturating_add(limits::PAGES as u32 - 1))))
}

fn page(opened: &gate::Opened, number: u32) -> Page {
    let empty = |kind, code, note| Page { number, lines: Vec::new(), text: String::new(), kind, code, note };
    let lines = match words::lines(&opened.document, number) {
        Ok(lines) => lines,
        Err(error) => {
            return empty(
                PartKind::Text,
                Some(ErrorCode::DocumentBroken),
                Some(format!("page {number} cannot be read: {error}")),
            );
        }
    };
    let text = columns::text(&lines);
    if text.trim().is_empty() {
        let pictures = gate::has_pictures(opened, number);
        return if pictures {
            empty(
                PartKind::Scanned,
                Some(ErrorCode::DocumentScanned),
                Some(format!("page {number} is a picture without a text layer")),
            )
        } else {
            empty(PartKind::Text, None, Some(format!("page {number} has no text layer")))
        };
    }
    match garble::verdict(&text, gate::has_chinese_fonts(opened, number)) {
        Some(why) => {
            empty(PartKind::Text, Some(ErrorCode::DocumentGarbled), Some(format!("page {number}: {why}")))
        }
        None => Page { number, lines, text, kind: PartKind::Text, code: None, note: None },
    }
}

#[derive(Default)]
struct Reading {
    notes: Vec<String>,
    parts: Vec<Part>,
    lines: Vec<Line>,
    text: String,
    /// Codes of pages that gave no text although they should, with how many.
    scanned: u32,
    garbled: u32,
    broken: u32,
    readable: u32,
    cut: bool,
}

impl Reading {
    /// Adds a page; true when the limit of text is reached.
    fn add(&mut self, page: Page) -> bool {
        match page.code {
            Some(ErrorCode::DocumentScanned) => self.scanned += 1,
            Some(ErrorCode::DocumentGarbled) => self.garbled += 1,
            Some(_) => self.broken += 1,
            None if page.text.is_empty() => {}
            None => self.readable += 1,
        }
        self.notes.extend(page.note);
        if !self.text.is_empty() && !page.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&page.text);
        self.parts.push(Part {
            kind: page.kind,
            page: Some(page.number),
            sheet: None,
            hidden: false,
            tables: layout::tables(&page.lines),
            text: page.text,
        });
        self.lines.extend(page.lines);
        self.cut = self.text.len() > limits::TEXT_BYTES;
        self.cut
    }

    fn finish(mut self, pages: u32, (first, last): (u32, u32)) -> Pages {
        let read = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        if self.cut || (last < pages && last - first + 1 >= limits::PAGES as u32) {
            self.cut = true;
            self.notes.push(format!("{read} of {pages} pages were read"));
        }
        let code = if self.scanned > 0 {
            Some(ErrorCode::DocumentScanned)
        } else if self.garbled > 0 {
            Some(ErrorCode::DocumentGarbled)
        } else if self.broken > 0 {
            Some(ErrorCode::DocumentBroken)
        } else if self.cut {
            Some(ErrorCode::DocumentLimit)
        } else {
            None
        };
        let status = match (code, self.readable) {
            (Some(_), 0) => DocumentStatus::Refused,
            (Some(_), _) => DocumentStatus::Partial,
            (None, _) => DocumentStatus::Complete,
        };
        let document = Document {
            kind: DocumentKind::Pdf,
            status,
            code,
            notes: self.notes,
            text: self.text,
            parts: self.parts,
            invoice: None,
        };
        Pages { document, lines: self.lines }
    }
}
