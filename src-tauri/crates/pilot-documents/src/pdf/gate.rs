//! The gate: passwords, bombs, broken structure and page facts by `lopdf`, before the text engine sees the bytes.

use crate::error::DocumentError;
use crate::limits;
use lopdf::{DecompressError, Dictionary, LoadOptions, Object};
use pdf_oxide::PdfDocument;

/// A PDF that passed.
pub(super) struct Opened {
    pub(super) document: PdfDocument,
    /// Pages by the text engine.
    pub(super) pages: u32,
    pub(super) notes: Vec<String>,
    structure: Option<lopdf::Document>,
}

/// Opens a PDF, decrypting it with the empty password where that is enough.
pub(super) fn open(bytes: &[u8]) -> Result<Opened, DocumentError> {
    nesting(bytes)?;
    let structure = structure(bytes)?;
    let mut notes = Vec::new();
    if let Some(structure) = &structure
        && structure.objects.len() > limits::PDF_OBJECTS
    {
        return Err(DocumentError::Limit(format!("the PDF holds {} objects", structure.objects.len())));
    }
    let document = text_engine(bytes, structure.as_ref())?;
    let pages = document
        .page_count()
        .map_err(|error| DocumentError::Broken(format!("the pages cannot be found: {error}")))?;
    let expected = structure.as_ref().map_or(0, |structure| structure.get_pages().len());
    if pages == 0 {
        return Err(DocumentError::Broken("the PDF has no page that can be found".to_owned()));
    }
    if expected > pages {
        notes.push(format!("{expected} pages are listed, {pages} can be read"));
    }
    if pages > limits::PAGES {
        notes.push(format!("the document has {pages} pages"));
    }
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    Ok(Opened { document, pages, notes, structure })
}

/// Structure for facts and decryption; `None` when only this reader cannot make sense of the file.
fn structure(bytes: &[u8]) -> Result<Option<lopdf::Document>, DocumentError> {
    let options =
        LoadOptions { max_decompressed_size: Some(limits::PDF_STREAM_BYTES), ..LoadOptions::default() };
    match lopdf::Document::load_mem_with_options(bytes, options) {
        Ok(document) if document.is_encrypted() => Err(encrypted()),
        Ok(document) => Ok(Some(document)),
        Err(lopdf::Error::InvalidPassword) => Err(encrypted()),
        Err(lopdf::Error::Decompress(DecompressError::MemoryLimitExceeded { .. })) => {
            Err(DocumentError::Limit("a stream of the PDF inflates beyond the limit".to_owned()))
        }
        Err(_) => Ok(None),
    }
}

fn encrypted() -> DocumentError {
    DocumentError::Encrypted("the PDF needs a password".to_owned())
}

fn text_engine(bytes: &[u8], structure: Option<&lopdf::Document>) -> Result<PdfDocument, DocumentError> {
    let broken = |error: pdf_oxide::Error| DocumentError::Broken(format!("the PDF cannot be read: {error}"));
    let document = PdfDocument::from_bytes(bytes.to_vec()).map_err(broken)?;
    if !document.is_encrypted() || document.authenticate(b"").unwrap_or(false) {
        return Ok(document);
    }
    // The other reader may know the cipher. What it decrypted is written out and read again.
    let Some(structure) =
        structure.filter(|structure| !structure.objects.is_empty() && !structure.get_pages().is_empty())
    else {
        return Err(encrypted());
    };
    let mut plain = structure.clone();
    plain.trailer.remove(b"Encrypt");
    let mut out = Vec::with_capacity(bytes.len());
    plain
        .save_to(&mut out)
        .map_err(|error| DocumentError::Broken(format!("the PDF cannot be read: {error}")))?;
    let document = PdfDocument::from_bytes(out).map_err(broken)?;
    if document.is_encrypted() { Err(encrypted()) } else { Ok(document) }
}

/// Refuses brackets nested so deep that a recursive parser would run out of stack. Streams and strings are skipped.
fn nesting(bytes: &[u8]) -> Result<(), DocumentError> {
    let mut depth = 0usize;
    let mut at = 0usize;
    while at < bytes.len() {
        match bytes[at] {
            b'[' => depth += 1,
            b'<' if bytes.get(at + 1) == Some(&b'<') => {
                depth += 1;
                at += 1;
            }
            b']' => depth = depth.saturating_sub(1),
            b'>' if bytes.get(at + 1) == Some(&b'>') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'(' => at = string_end(bytes, at),
            b'%' => at = line_end(bytes, at),
            b'e' if bytes[at..].starts_with(b"endobj") => depth = 0,
            b's' if bytes[at..].starts_with(b"stream")
                && matches!(bytes.get(at + 6), Some(b'\r' | b'\n')) =>
            {
                depth = 0;
                at = find(bytes, at + 6, b"endstream").unwrap_or(bytes.len());
            }
            _ => {}
        }
        if depth > limits::DEPTH {
            return Err(DocumentError::Limit(format!("the PDF nests deeper than {}", limits::DEPTH)));
        }
        at += 1;
    }
    Ok(())
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut open = 0usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'(' => open += 1,
            b')' if open <= 1 => return at,
            b')' => open -= 1,
            _ => {}
        }
        at += 1;
    }
    // An unbalanced bracket is no string; go on behind it.
    start
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..]
        .iter()
        .position(|byte| matches!(byte, b'\r' | b'\n'))
        .map_or(bytes.len(), |offset| start + offset)
}

fn find(bytes: &[u8], start: usize, word: &[u8]) -> Option<usize> {
    let mut at = start;
    while let Some(offset) = bytes.get(at..)?.iter().position(|byte| *byte == word[0]) {
        if bytes[at + offset..].starts_with(word) {
            return Some(at + offset);
        }
        at += offset + 1;
    }
    None
}

/// True when a page draws pictures, directly or in a form.
pub(super) fn has_pictures(opened: &Opened, number: u32) -> bool {
    let Some((structure, resources)) = resources(opened, number) else {
        return opened.document.page_image_handles(number as usize - 1).is_ok_and(|found| !found.is_empty());
    };
    resources.iter().any(|found| draws(structure, found, 0))
        || opened.document.page_image_handles(number as usize - 1).is_ok_and(|found| !found.is_empty())
}

fn draws(structure: &lopdf::Document, resources: &Dictionary, depth: usize) -> bool {
    let Ok(objects) = resources.get(b"XObject").and_then(|object| dictionary(structure, object)) else {
        return false;
    };
    objects.iter().any(|(_, object)| {
        let Ok(stream) = structure.dereference(object).and_then(|(_, object)| object.as_stream()) else {
            return false;
        };
        match stream.dict.get(b"Subtype").and_then(Object::as_name) {
            Ok(b"Image") => true,
            Ok(b"Form") if depth < 8 => stream
                .dict
                .get(b"Resources")
                .and_then(|object| dictionary(structure, object))
                .is_ok_and(|inner| draws(structure, inner, depth + 1)),
            _ => false,
        }
    })
}

/// True when a page names fonts of the Chinese collections.
pub(super) fn has_chinese_fonts(opened: &Opened, number: u32) -> bool {
    const SIGNS: [&[u8]; 6] = [b"GBK", b"GBpc", b"UniGB", b"GB-", b"SimSun", b"STSong"];
    let Some((structure, resources)) = resources(opened, number) else { return false };
    resources.iter().any(|resources| {
        let Ok(fonts) = resources.get(b"Font").and_then(|object| dictionary(structure, object)) else {
            return false;
        };
        fonts.iter().filter_map(|(_, object)| dictionary(structure, object).ok()).any(|font| {
            let name = |key: &[u8]| font.get(key).and_then(Object::as_name).unwrap_or_default();
            SIGNS.iter().any(|sign| name(b"Encoding").starts_with(sign) || contains(name(b"BaseFont"), sign))
        })
    })
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

fn dictionary<'a>(structure: &'a lopdf::Document, object: &'a Object) -> lopdf::Result<&'a Dictionary> {
    structure.dereference(object).and_then(|(_, object)| object.as_dict())
}

fn resources(opened: &Opened, number: u32) -> Option<(&lopdf::Document, Vec<&Dictionary>)> {
    let structure = opened.structure.as_ref()?;
    let page = *structure.get_pages().get(&number)?;
    let (own, inherited) = structure.get_page_resources(page).ok()?;
    let mut found: Vec<&Dictionary> = own.into_iter().collect();
    found.extend(inherited.iter().filter_map(|id| structure.get_dictionary(*id).ok()));
    Some((structure, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_refused_before_any_parser() {
        let deep = [b"%PDF-1.4\n1 0 obj\n".as_slice(), &b"[".repeat(100_000)].concat();
        assert!(matches!(nesting(&deep), Err(DocumentError::Limit(_))), "a hundred thousand brackets");
        let harmless =
            b"%PDF-1.4\n1 0 obj <</A [1 2] /B (text with [[[ \\( brackets)>> endobj\nstream\n[[[[[[endstream";
        assert_eq!(nesting(harmless), Ok(()), "strings and streams are not structure");
    }
}
