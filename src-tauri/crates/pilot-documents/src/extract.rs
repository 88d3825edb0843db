//! One document in, one [`Document`] out, whatever the bytes are.

use crate::error::DocumentError;
use crate::layout::{self, Line};
use crate::model::{Document, DocumentKind, DocumentStatus, ExtractOptions, Part, PartKind};
use crate::sheet::Workbook;
use crate::{csv_table, docx, invoice, kind, limits, pdf, sheet, text};
use pilot_types::ErrorCode;
use std::io::Cursor;

/// Stack of the thread that runs a parser: nested structures of a hostile file recurse deep before they are noticed.
pub(crate) const STACK: usize = 64 << 20;

/// Reads a document. The name serves for its ending only. Whatever the bytes are, the answer is a [`Document`] that says
/// what is missing: a refusal has its code, a partial reading its notes. A panic of a parser is caught here; an abort is
/// not, which is why the application runs this in a child process (see [`crate::worker`]).
#[must_use]
pub fn extract(name: &str, bytes: &[u8], options: &ExtractOptions) -> Document {
    let kind = kind::of(name, bytes);
    if bytes.len() as u64 > limits::DOCUMENT_BYTES && !matches!(kind, DocumentKind::Csv | DocumentKind::Text)
    {
        return refused(
            kind,
            &DocumentError::Limit(format!(
                "the file has {} bytes; {} are read at most",
                bytes.len(),
                limits::DOCUMENT_BYTES
            )),
        );
    }
    match isolated(|| read(kind, name, bytes, options)) {
        Ok(read) => read.document,
        Err(error) => refused(kind, &error),
    }
}

/// A document together with what the analysis needs of it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) document: Document,
    /// Lines with places, in which the invoice fields were found.
    pub(crate) lines: Vec<Line>,
    pub(crate) workbook: Option<Workbook>,
}

/// Runs a parser on a thread with a large stack and turns its panic into an error.
pub(crate) fn isolated<T: Send>(
    work: impl FnOnce() -> Result<T, DocumentError> + Send,
) -> Result<T, DocumentError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("document".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        match thread {
            Ok(handle) => handle.join().unwrap_or_else(|_| {
                Err(DocumentError::Crashed("the reader stopped inside this document".to_owned()))
            }),
            Err(error) => Err(DocumentError::Crashed(format!("no thread for the reader: {error}"))),
        }
    })
}

/// A document of which nothing was read.
pub(crate) fn refused(kind: DocumentKind, error: &DocumentError) -> Document {
    Document {
        kind,
        status: DocumentStatus::Refused,
        code: Some(error.code()),
        notes: vec![error.to_string()],
        text: String::new(),
        parts: Vec::new(),
        invoice: None,
    }
}

/// Reads a document of a known kind.
pub(crate) fn read(
    kind: DocumentKind,
    name: &str,
    bytes: &[u8],
    options: &ExtractOptions,
) -> Result<Reading, DocumentError> {
    if bytes.is_empty() {
        let mut document = blank(kind);
        document.notes.push("the file is empty".to_owned());
        return Ok(Reading { document, lines: Vec::new(), workbook: None });
    }
    match kind {
        DocumentKind::Pdf => {
            let pages = pdf::read(bytes, options)?;
            let mut document = pages.document;
            document.invoice = invoice::find(&pages.lines);
            Ok(Reading { document, lines: pages.lines, workbook: None })
        }
        DocumentKind::Docx => letter(docx::read(bytes)?),
        DocumentKind::Doc => old_letter(bytes),
        DocumentKind::Xlsx | DocumentKind::Xlsb | DocumentKind::Xls | DocumentKind::Ods => {
            let book = sheet::open(kind, bytes, options.sheet.as_deref())?;
            let mut document = sheet::document(kind, &book);
            let lines = sheet_lines(&book);
            document.invoice = invoice::find(&lines);
            Ok(Reading { document, lines, workbook: Some(book) })
        }
        DocumentKind::Csv => Ok(plain(kind, name, bytes, options.chinese)),
        DocumentKind::Text | DocumentKind::InvoiceXml => Ok(plain(kind, name, bytes, options.chinese)),
        DocumentKind::Ofd => {
            Err(DocumentError::Unsupported("OFD is recognised but not read by this version".to_owned()))
        }
        DocumentKind::Image => {
            Err(DocumentError::Scanned("a picture; there is no text layer to read".to_owned()))
        }
        DocumentKind::Unknown if kind::names_a_document(name) => {
            Err(DocumentError::Broken(format!("the content is not what .{} promises", kind::ending(name))))
        }
        DocumentKind::Unknown => Err(DocumentError::Unsupported(format!(
            "{} is not a kind of file that can be read",
            described(name, bytes)
        ))),
    }
}

fn described(name: &str, bytes: &[u8]) -> String {
    match kind::ending(name).as_str() {
        "" => format!("a file that begins with {:02x?}", &bytes[..bytes.len().min(4)]),
        end => format!(".{end}"),
    }
}

fn blank(kind: DocumentKind) -> Document {
    Document {
        kind,
        status: DocumentStatus::Complete,
        code: None,
        notes: Vec::new(),
        text: String::new(),
        parts: Vec::new(),
        invoice: None,
    }
}

fn part(kind: PartKind, text: String) -> Part {
    Part { kind, page: None, sheet: None, hidden: false, text, tables: Vec::new() }
}

fn letter(letter: docx::Letter) -> Result<Reading, DocumentError> {
    let mut document = blank(DocumentKind::Docx);
    document.invoice = invoice::find(&letter.lines);
    document.notes = letter.notes;
    if letter.text.trim().is_empty() {
        document.notes.push("the document has no text".to_owned());
    }
    if letter.cut {
        document.status = DocumentStatus::Partial;
        document.code = Some(ErrorCode::DocumentBroken);
        document.notes.push("the document ends in the middle or is longer than is read".to_owned());
    }
    document.text.clone_from(&letter.text);
    document.parts.push(Part { tables: letter.tables, ..part(PartKind::Text, letter.text) });
    Ok(Reading { document, lines: letter.lines, workbook: None })
}

/// The old binary Word format: text only.
fn old_letter(bytes: &[u8]) -> Result<Reading, DocumentError> {
    let opened =
        office_oxide::Document::from_reader(Cursor::new(bytes.to_vec()), office_oxide::DocumentFormat::Doc);
    let opened = opened.map_err(|error| {
        let text = error.to_string();
        let password = text.to_ascii_lowercase();
        if password.contains("encrypt") || password.contains("password") {
            DocumentError::Encrypted("the document needs a password".to_owned())
        } else {
            DocumentError::Broken(format!("the document cannot be read: {text}"))
        }
    })?;
    let text = opened.plain_text();
    let text = crate::fold::cut(&text, limits::TEXT_BYTES).to_owned();
    let lines: Vec<Line> = numbered_lines(&text);
    let mut document = blank(DocumentKind::Doc);
    document.invoice = invoice::find(&lines);
    document.text.clone_from(&text);
    document.parts.push(part(PartKind::Text, text));
    Ok(Reading { document, lines, workbook: None })
}

fn numbered_lines(text: &str) -> Vec<Line> {
    text.lines()
        .enumerate()
        .map(|(number, line)| Line::of_text(1, number, line))
        .filter(|line| !line.cells.is_empty())
        .collect()
}

fn sheet_lines(book: &Workbook) -> Vec<Line> {
    /// An invoice form has a few hundred cells; a ledger needs no second look for labels.
    const FORM_ROWS: usize = 300;
    let mut lines = Vec::new();
    for (page, sheet) in (1u32..).zip(book.sheets.iter().filter(|sheet| !sheet.hidden)) {
        for block in &sheet.blocks {
            if block.rows.len() > FORM_ROWS || lines.len() > FORM_ROWS {
                return Vec::new();
            }
            let rows: Vec<Vec<String>> =
                block.rows.iter().map(|row| row.iter().map(sheet::Value::shown).collect()).collect();
            lines.extend(layout::of_rows(page, &rows, block.first_row as usize));
        }
    }
    lines
}

/// Text of any kind; a CSV also as a table.
fn plain(kind: DocumentKind, name: &str, bytes: &[u8], chinese: bool) -> Reading {
    let decoded = text::decode(bytes, chinese);
    let mut document = blank(kind);
    document.notes.extend(text::note(&decoded));
    let mut content = decoded.text;
    if content.len() > limits::TEXT_BYTES {
        document.notes.push(format!(
            "{} bytes of text; the first {} are given",
            content.len(),
            limits::TEXT_BYTES
        ));
        content = crate::fold::cut(&content, limits::TEXT_BYTES).to_owned();
        document.status = DocumentStatus::Partial;
        document.code = Some(ErrorCode::DocumentLimit);
    }
    if kind == DocumentKind::InvoiceXml {
        document
            .notes
            .push("an invoice as XML; its text is given, its fields are not interpreted".to_owned());
    }
    let mut lines = Vec::new();
    let mut found = part(PartKind::Text, content.clone());
    if kind == DocumentKind::Csv {
        let (table, more) = csv_table::table(&content);
        if more {
            document.notes.push(format!(
                "the table shows the first {} rows; the text has all of them",
                table.rows.len()
            ));
        }
        found.kind = PartKind::Sheet;
        found.tables.push(table);
    } else if !matches!(kind::ending(name).as_str(), "json" | "jsonl" | "xml" | "html" | "htm")
        && content.len() < 256 << 10
    {
        lines = numbered_lines(&content);
        document.invoice = invoice::find(&lines);
    }
    document.text = content;
    document.parts.push(found);
    Reading { document, lines, workbook: None }
}
