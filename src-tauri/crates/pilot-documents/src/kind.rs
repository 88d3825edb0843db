//! What kind of file it is: by content first, by the ending of the name where the content leaves it open.

use crate::model::DocumentKind;
use std::io::Cursor;

/// The lower-case ending of a name, without the dot.
#[must_use]
pub(crate) fn ending(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default()
}

/// True when the ending promises a kind that is read here; bytes that are nothing of the sort are then damaged, not foreign.
#[must_use]
pub(crate) fn names_a_document(name: &str) -> bool {
    matches!(
        ending(name).as_str(),
        "pdf" | "docx" | "docm" | "xlsx" | "xlsm" | "xltx" | "xls" | "xlsb" | "ods"
    )
}

/// What the bytes are. A zip or an OLE file is opened far enough to tell a workbook from a letter.
#[must_use]
pub(crate) fn of(name: &str, bytes: &[u8]) -> DocumentKind {
    let head = &bytes[..bytes.len().min(1024)];
    if is_pdf(head) {
        return DocumentKind::Pdf;
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return of_zip(bytes);
    }
    if head.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        return of_ole(name, bytes);
    }
    if is_picture(head) {
        return DocumentKind::Image;
    }
    of_text(name, head)
}

fn is_pdf(head: &[u8]) -> bool {
    head.windows(5).any(|window| window == b"%PDF-")
}

fn is_picture(head: &[u8]) -> bool {
    const STARTS: [&[u8]; 8] =
        [b"\x89PNG\r\n", b"\xFF\xD8\xFF", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"\0\0\x01\0", b"BM"];
    let riff = head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP");
    let heif = head.get(4..8) == Some(b"ftyp");
    // "BM" alone is two letters; a bitmap has its size in the next four bytes and zeros after them.
    STARTS[..7].iter().any(|start| head.starts_with(start))
        || (head.starts_with(STARTS[7]) && head.get(6..10) == Some(&[0, 0, 0, 0]))
        || riff
        || heif
}

fn of_zip(bytes: &[u8]) -> DocumentKind {
    let Ok(archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return by_zip_text(bytes) };
    let mut kind = DocumentKind::Unknown;
    for name in archive.file_names().flatten() {
        let name = name.replace('\\', "/").to_ascii_lowercase();
        let name = name.trim_start_matches('/');
        let found = match name {
            "ofd.xml" => DocumentKind::Ofd,
            "xl/workbook.bin" => DocumentKind::Xlsb,
            _ if name.starts_with("xl/") && name.ends_with(".xml") => DocumentKind::Xlsx,
            _ if name.starts_with("word/") && name.ends_with(".xml") => DocumentKind::Docx,
            "content.xml" => DocumentKind::Ods,
            _ => continue,
        };
        // A workbook may carry pictures of another kind, but only one kind has its main part.
        match (kind, found) {
            (DocumentKind::Unknown, _) | (DocumentKind::Xlsx, DocumentKind::Xlsb) => kind = found,
            _ => {}
        }
    }
    if kind == DocumentKind::Ods && !is_sheet_package(bytes) { DocumentKind::Unknown } else { kind }
}

/// OpenDocument says what it is in its first entry, stored without compression.
fn is_sheet_package(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(256)];
    let says = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    says(b"opendocument.spreadsheet") || !says(b"opendocument.")
}

/// A zip that cannot be opened is still known by the names in its local headers, so that the refusal can say more.
fn by_zip_text(bytes: &[u8]) -> DocumentKind {
    let head = &bytes[..bytes.len().min(64 << 10)];
    let says = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    if says(b"xl/") {
        DocumentKind::Xlsx
    } else if says(b"word/") {
        DocumentKind::Docx
    } else if says(b"OFD.xml") {
        DocumentKind::Ofd
    } else {
        DocumentKind::Unknown
    }
}

fn of_ole(name: &str, bytes: &[u8]) -> DocumentKind {
    // Names in an OLE directory are UTF-16; looking for them needs no parser and cannot be led astray by a loop.
    let says = |word: &str| {
        let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(wide.len()).any(|window| window == wide)
    };
    if says("EncryptedPackage") {
        // What is inside cannot be seen without the password; the name is all there is.
        if ending(name).starts_with("doc") { DocumentKind::Docx } else { DocumentKind::Xlsx }
    } else if says("WordDocument") {
        DocumentKind::Doc
    } else if says("Workbook") || says("Book") {
        DocumentKind::Xls
    } else {
        DocumentKind::Unknown
    }
}

/// Roots of invoices as XML, by local name.
const INVOICE_ROOTS: [&str; 9] = [
    "EInvoice",
    "eInvoice",
    "CrossIndustryInvoice",
    "CrossIndustryDocument",
    "Invoice",
    "CreditNote",
    "FatturaElettronica",
    "Facturae",
    "xbrl",
];

fn of_text(name: &str, head: &[u8]) -> DocumentKind {
    let end = ending(name);
    let text = String::from_utf8_lossy(head);
    if let Some(root) = xml_root(&text)
        && INVOICE_ROOTS.contains(&root)
    {
        return DocumentKind::InvoiceXml;
    }
    match end.as_str() {
        "csv" | "tsv" | "tab" => return DocumentKind::Csv,
        "txt" | "md" | "markdown" | "json" | "jsonl" | "xml" | "html" | "htm" | "log" | "yaml" | "yml"
        | "text" | "slk" | "dif" | "fods" => return DocumentKind::Text,
        "ofd" => return DocumentKind::Ofd,
        _ => {}
    }
    // Zero bytes that UTF-16 does not explain mean that it is not text at all.
    let zeros = head.iter().filter(|byte| **byte == 0).count();
    let wide = head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]);
    let controls = head.iter().filter(|byte| matches!(byte, 1..=8 | 14..=26 | 28..=31)).count();
    if (zeros > 0 && !wide && zeros * 3 < head.len()) || controls * 20 > head.len() {
        return DocumentKind::Unknown;
    }
    // An .xls that is really a table as text is common among exports.
    if end.starts_with("xls")
        && !text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
        && text.contains(['\t', ',', ';'])
    {
        DocumentKind::Csv
    } else {
        DocumentKind::Text
    }
}

/// Local name of the root element, when the text begins like XML.
fn xml_root(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        rest = rest.trim_start();
        if let Some(tail) = rest.strip_prefix("<?") {
            rest = tail.split_once("?>")?.1;
        } else if let Some(tail) = rest.strip_prefix("<!--") {
            rest = tail.split_once("-->")?.1;
        } else {
            break;
        }
    }
    let tag = rest.strip_prefix('<')?;
    let end = tag.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
    let name = &tag[..end];
    Some(name.rsplit_once(':').map_or(name, |(_, local)| local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_goes_before_the_name() {
        assert_eq!(of("a.txt", b"%PDF-1.4\n"), DocumentKind::Pdf, "a PDF stays one under another name");
        assert_eq!(of("a.pdf", b"a,b\n1,2\n"), DocumentKind::Text, "a name does not make a PDF");
        assert_eq!(of("a.csv", b"a,b\n1,2\n"), DocumentKind::Csv, "text is told apart by its ending");
        assert_eq!(of("a.xls", b"a\tb\n1\t2\n"), DocumentKind::Csv, "exports call a text table .xls");
        assert_eq!(of("a.bin", &[1, 2, 0, 4, 5, 6, 7, 8]), DocumentKind::Unknown, "bytes are not text");
        assert_eq!(of("a.jpg", b"\xFF\xD8\xFF\xE0"), DocumentKind::Image, "a picture is a picture");
    }

    #[test]
    fn invoices_as_xml_are_known_by_their_root() {
        let ubl =
            b"\xEF\xBB\xBF<?xml version=\"1.0\"?><!-- x --><ns2:Invoice xmlns:ns2=\"u\"><a/></ns2:Invoice>";
        assert_eq!(of("a.xml", ubl), DocumentKind::InvoiceXml, "the prefix does not matter, nor does a BOM");
        assert_eq!(of("a.xml", b"<note>x</note>"), DocumentKind::Text, "other XML is text");
    }
}
