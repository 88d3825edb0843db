//! Word documents: text and tables in reading order. Deleted text is no text, inserted text is; text boxes and content
//! controls are text; the copy of a text box that is kept for old programs is not read twice.

use crate::error::DocumentError;
use crate::layout::{self, Line};
use crate::model::Table;
use crate::zip_gate::{self, Archive};
use crate::{limits, xml};
use quick_xml::events::{BytesStart, Event};

/// What a letter holds.
#[derive(Debug, Default)]
pub(crate) struct Letter {
    pub(crate) text: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) lines: Vec<Line>,
    pub(crate) notes: Vec<String>,
    pub(crate) cut: bool,
}

/// Reads a DOCX or DOCM.
pub(crate) fn read(bytes: &[u8]) -> Result<Letter, DocumentError> {
    if bytes.starts_with(&[0xD0, 0xCF]) {
        return Err(DocumentError::Encrypted("the document needs a password".to_owned()));
    }
    let mut archive = zip_gate::check(bytes)?;
    let main = main_part(&mut archive)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut letter = Letter::default();
    let mut seen = Vec::new();
    for (start, around) in
        [("header", true), ("", false), ("footnotes", true), ("endnotes", true), ("footer", true)]
    {
        let parts = if around { side_parts(&archive, &folder, start) } else { vec![main.clone()] };
        for part in parts {
            let Some(bytes) = zip_gate::entry(&mut archive, &part)? else { continue };
            let content = crate::text::decode(&bytes, false).text;
            let mut body =
                Body { text_limit: limits::TEXT_BYTES.saturating_sub(letter.text.len()), ..Body::default() };
            match body.run(&content) {
                Ok(()) => {}
                // A damaged footer costs a note, a damaged body costs the document.
                Err(error) if around => letter.notes.push(format!("{part}: {error}")),
                Err(error) => return Err(error),
            }
            take(&mut letter, body, around, &mut seen);
        }
    }
    Ok(letter)
}

fn take(letter: &mut Letter, body: Body, around: bool, seen: &mut Vec<String>) {
    let text = body.blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n");
    // Most documents repeat one header in three parts: first page, even pages, other pages.
    if around && (text.trim().is_empty() || seen.contains(&text)) {
        return;
    }
    if body.hidden > 0 {
        letter.notes.push(format!("{} pieces of hidden text are among the text", body.hidden));
    }
    if body.deleted > 0 {
        letter.notes.push(format!("{} tracked deletions are left out", body.deleted));
    }
    letter.cut |= body.cut;
    if !letter.text.is_empty() {
        letter.text.push('\n');
    }
    letter.text.push_str(&text);
    for block in body.blocks {
        let first = letter.lines.len();
        match block {
            Block::Paragraph(text) => {
                for (offset, line) in text.lines().enumerate() {
                    let line = Line::of_text(1, first + offset, line);
                    if !line.cells.is_empty() {
                        letter.lines.push(line);
                    }
                }
            }
            Block::Table(rows) => {
                letter.lines.extend(layout::of_rows(1, &rows, first));
                letter.tables.push(Table { first_row: 1, rows });
            }
        }
    }
    if around {
        seen.push(text);
    }
}

/// The main part by the package's own relation, since not every program calls it `word/document.xml`.
fn main_part(archive: &mut Archive<'_>) -> Result<String, DocumentError> {
    let relations = zip_gate::entry(archive, "_rels/.rels")?.unwrap_or_default();
    let text = crate::text::decode(&relations, false).text;
    let mut walk = xml::Walk::new(&text);
    while let Ok(Some(step)) = walk.next() {
        if let Event::Start(tag) | Event::Empty(tag) = &step
            && xml::local(tag) == "Relationship"
            && xml::attribute(tag, "Type").is_some_and(|kind| kind.ends_with("/officeDocument"))
            && let Some(target) = xml::attribute(tag, "Target")
        {
            let target = target.trim_start_matches('/').to_owned();
            if zip_gate::entry(archive, &target)?.is_some() {
                return Ok(target);
            }
        }
    }
    let found = (0..archive.len()).filter_map(|index| zip_gate::name_at(archive, index)).find(|name| {
        let lower = name.to_ascii_lowercase();
        lower.starts_with("word/document") && lower.ends_with(".xml")
    });
    found.ok_or_else(|| DocumentError::Broken("the document has no main part".to_owned()))
}

fn side_parts(archive: &Archive<'_>, folder: &str, start: &str) -> Vec<String> {
    let prefix = format!("{folder}/{start}").to_ascii_lowercase();
    let mut parts: Vec<String> = (0..archive.len())
        .filter_map(|index| zip_gate::name_at(archive, index))
        .filter(|name| {
            let lower = name.to_ascii_lowercase();
            lower.starts_with(&prefix) && lower.ends_with(".xml") && !lower[prefix.len()..].contains('/')
        })
        .collect();
    parts.sort();
    parts
}

#[derive(Debug)]
enum Block {
    Paragraph(String),
    Table(Vec<Vec<String>>),
}

impl Block {
    fn text(&self) -> String {
        match self {
            Self::Paragraph(text) => text.clone(),
            Self::Table(rows) => {
                rows.iter().map(|row| row.join("\t").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

#[derive(Debug, Default)]
struct TableFrame {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: Vec<String>,
    span: usize,
    in_cell: bool,
}

/// Where the walk stands.
#[derive(Debug, Default)]
struct Body {
    blocks: Vec<Block>,
    tables: Vec<TableFrame>,
    paragraphs: Vec<String>,
    /// Depth inside what is not text: deletions, the old copy of a text box, paragraph properties.
    skip: u32,
    in_text: bool,
    properties: u32,
    letters: usize,
    cells: usize,
    text_limit: usize,
    hidden: u32,
    deleted: u32,
    cut: bool,
}

impl Body {
    fn run(&mut self, content: &str) -> Result<(), DocumentError> {
        let mut walk = xml::Walk::new(content);
        while let Some(step) = walk.next()? {
            match &step {
                Event::Start(tag) => self.open(tag),
                Event::Empty(tag) => {
                    self.open(tag);
                    self.close(xml::local(tag));
                }
                Event::End(tag) => self.close(xml::local_end(tag)),
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if self.in_text && self.skip == 0 => {
                    if let Some(paragraph) = self.paragraphs.last_mut() {
                        let before = paragraph.len();
                        xml::push_text(&step, paragraph);
                        self.letters += paragraph.len() - before;
                    }
                }
                _ => {}
            }
            if self.letters > self.text_limit || self.cells > limits::CELLS {
                self.cut = true;
                break;
            }
        }
        // A truncated document still gives what was complete.
        self.cut |= !self.paragraphs.is_empty() || !self.tables.is_empty();
        while let Some(text) = self.paragraphs.pop() {
            self.emit(text);
        }
        while let Some(table) = self.tables.pop() {
            self.end_table(table);
        }
        Ok(())
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = xml::local(tag);
        if matches!(name, "del" | "moveFrom" | "Fallback") {
            self.skip += 1;
            self.deleted += u32::from(name == "del" && self.properties == 0);
        }
        if self.skip > 0 {
            return;
        }
        match name {
            "pPr" | "rPr" | "sectPr" | "tblPr" | "trPr" => self.properties += 1,
            "vanish" if xml::attribute(tag, "val").is_none_or(|value| value != "false" && value != "0") => {
                self.hidden += 1
            }
            "p" => self.paragraphs.push(String::new()),
            "t" => self.in_text = true,
            "tab" | "ptab" if self.properties == 0 => self.push('\t'),
            "br" | "cr" if self.properties == 0 => self.push('\n'),
            "noBreakHyphen" => self.push('-'),
            "sym" => self.symbol(tag),
            "tbl" => self.tables.push(TableFrame::default()),
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    table.row.clear();
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    table.cell.clear();
                    table.span = 1;
                    table.in_cell = true;
                }
            }
            "gridSpan" => {
                if let Some(table) = self.tables.last_mut() {
                    let span = xml::attribute(tag, "val").and_then(|text| text.parse().ok());
                    table.span = span.unwrap_or(1usize).clamp(1, 256);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, c: char) {
        if let (Some(paragraph), 0) = (self.paragraphs.last_mut(), self.skip) {
            paragraph.push(c);
            self.letters += 1;
        }
    }

    /// A character of a symbol font; those of the private area have no meaning as text.
    fn symbol(&mut self, tag: &BytesStart<'_>) {
        let code = xml::attribute(tag, "char").and_then(|hex| u32::from_str_radix(&hex, 16).ok());
        if let Some(c) = code.filter(|code| !(0xE000..=0xF8FF).contains(code)).and_then(char::from_u32) {
            self.push(c);
        }
    }

    fn close(&mut self, name: &str) {
        if matches!(name, "del" | "moveFrom" | "Fallback") {
            self.skip = self.skip.saturating_sub(1);
            return;
        }
        if self.skip > 0 {
            return;
        }
        match name {
            "pPr" | "rPr" | "sectPr" | "tblPr" | "trPr" => {
                self.properties = self.properties.saturating_sub(1)
            }
            "t" => self.in_text = false,
            "p" => {
                if let Some(text) = self.paragraphs.pop() {
                    self.emit(text);
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    let text = table.cell.join("\n").trim().to_owned();
                    table.row.push(text);
                    // A cell over several columns keeps the others empty, so that amounts stay under their header.
                    table.row.extend(std::iter::repeat_n(String::new(), table.span.saturating_sub(1)));
                    self.cells += table.span;
                    table.cell.clear();
                    table.in_cell = false;
                }
            }
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    let row = std::mem::take(&mut table.row);
                    table.rows.push(row);
                }
            }
            "tbl" => {
                if let Some(table) = self.tables.pop() {
                    self.end_table(table);
                }
            }
            _ => {}
        }
    }

    fn emit(&mut self, text: String) {
        match self.tables.last_mut() {
            Some(table) if table.in_cell => table.cell.push(text),
            Some(_) | None => self.blocks.push(Block::Paragraph(text)),
        }
    }

    fn end_table(&mut self, table: TableFrame) {
        let mut rows = table.rows;
        if !table.row.is_empty() {
            rows.push(table.row);
        }
        match self.tables.last_mut() {
            // A table inside a cell is that cell's text.
            Some(outer) if outer.in_cell => {
                let text: Vec<String> = rows.iter().map(|row| row.join("\t")).collect();
                outer.cell.push(text.join("\n"));
            }
            Some(_) | None => self.blocks.push(Block::Table(rows)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(xml: &str) -> Body {
        let mut body = Body { text_limit: 100_000, ..Body::default() };
        body.run(&format!("<w:document xmlns:w=\"w\"><w:body>{xml}</w:body></w:document>")).unwrap();
        body
    }

    fn text(body: &Body) -> String {
        body.blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn tracked_changes_text_boxes_and_fields() {
        let found = body(
            "<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t xml:space=\"preserve\"> b</w:t></w:r>\
             <w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>\
             <mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></mc:Choice>\
             <mc:Fallback><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent>\
             <w:sdt><w:sdtContent><w:r><w:t>&amp;sdt</w:t></w:r></w:sdtContent></w:sdt></w:p>",
        );
        assert_eq!(text(&found).trim(), "box\na\t bnew&sdt", "deleted text and the second copy are left out");
        assert_eq!(found.deleted, 1, "the deletion is counted");
    }

    #[test]
    fn spans_keep_amounts_under_their_header() {
        let found = body(
            "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Item</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Qty</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Amount</w:t></w:r></w:p></w:tc></w:tr>\
             <w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr><w:p><w:r><w:t>合计</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>6585.00</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        );
        let Block::Table(rows) = &found.blocks[0] else { panic!("a table") };
        assert_eq!(rows[1], ["合计", "", "6585.00"], "the amount does not slide to the left");
    }

    #[test]
    fn a_cut_off_document_gives_what_was_complete() {
        let mut found = Body { text_limit: 1_000, ..Body::default() };
        found.run("<w:p><w:r><w:t>one</w:t></w:r></w:p><w:p><w:r><w:t>two").unwrap();
        assert_eq!(text(&found), "one\ntwo", "nothing that was there is lost");
    }
}
