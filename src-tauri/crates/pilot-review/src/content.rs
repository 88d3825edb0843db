//! Bytes as text: encoding, line ends, lines, and a hexadecimal form of what is no text.

use crate::card::FileFacts;
use encoding_rs::{Encoding, GB18030, UTF_16BE, UTF_16LE};
use pilot_types::Digest;
use std::borrow::Cow;

/// Bytes of hexadecimal that are shown of content that is no text.
const HEX_HEAD: usize = 1024;

/// Content of a file, as far as it is text.
pub(crate) struct Content<'a> {
    /// The text without its byte order mark; the hexadecimal form when the bytes are no text.
    pub(crate) text: Cow<'a, str>,
    /// `UTF-8`, `UTF-8 BOM`, `UTF-16LE` …, `XLSX`, `binary`.
    pub(crate) encoding: Cow<'static, str>,
    /// Whether `text` is the text of the file.
    pub(crate) is_text: bool,
}

/// A line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line<'a> {
    /// The text; a carriage return before the line feed is kept only where line ends are mixed.
    pub(crate) text: &'a str,
    /// False for a last line without a line end.
    pub(crate) ended: bool,
}

impl<'a> Content<'a> {
    /// Reads bytes. Unicode is recognised exactly, other encodings are a guess that is named.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let text = |text, encoding| Self { text, encoding: Cow::Borrowed(encoding), is_text: true };
        if let Some(rest) = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF])
            && let Ok(valid) = std::str::from_utf8(rest)
        {
            return text(Cow::Borrowed(valid), "UTF-8 BOM");
        }
        for (mark, encoding, name) in
            [(&[0xFF, 0xFE], UTF_16LE, "UTF-16LE"), (&[0xFE, 0xFF], UTF_16BE, "UTF-16BE")]
        {
            if let Some(rest) = bytes.strip_prefix(mark)
                && let Some(valid) = strict(encoding, rest)
            {
                return text(valid, name);
            }
        }
        if let Some((encoding, name)) = unmarked_utf16(bytes)
            && let Some(valid) = strict(encoding, bytes)
            && !valid.contains(|character: char| character < '\t' || character == '\u{FFFE}')
        {
            return text(valid, name);
        }
        if let Ok(valid) = std::str::from_utf8(bytes) {
            return text(Cow::Borrowed(valid), "UTF-8");
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return Self { text: Cow::Owned(hexadecimal(bytes)), encoding: "ZIP".into(), is_text: false };
        }
        if !has_binary_controls(bytes) {
            let decoded = pilot_documents::text::decode(bytes, has_double_bytes(bytes));
            if decoded.lost == 0 {
                let is_chinese = decoded.encoding.eq_ignore_ascii_case("GB18030");
                let encoding = if is_chinese { "GB18030".into() } else { decoded.encoding.into() };
                return Self { text: decoded.text.into(), encoding, is_text: true };
            }
            if let Some(valid) = strict(GB18030, bytes) {
                return text(valid, "GB18030");
            }
        }
        Self { text: Cow::Owned(hexadecimal(bytes)), encoding: "binary".into(), is_text: false }
    }

    /// Reads bytes that this program would write: what is valid UTF-8 is nothing else, so that a text full of null
    /// characters is not shown as if it were another encoding.
    pub(crate) fn written(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(valid) if !valid.starts_with('\u{FEFF}') => {
                Self { text: Cow::Borrowed(valid), encoding: "UTF-8".into(), is_text: true }
            }
            Ok(_) | Err(_) => Self::of(bytes),
        }
    }

    /// `LF`, `CRLF`, `mixed` or `none`.
    pub(crate) fn line_end(&self) -> &'static str {
        if !self.is_text {
            return "none";
        }
        let feeds = self.text.matches('\n').count();
        let pairs = self.text.matches("\r\n").count();
        match (feeds, pairs) {
            (0, _) => "none",
            (_, 0) => "LF",
            (feeds, pairs) if feeds == pairs => "CRLF",
            _ => "mixed",
        }
    }

    /// Lines. Where all line ends are the same they are no part of a line; where they are mixed, a carriage return
    /// stays and is shown.
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let crlf = self.line_end() == "CRLF";
        let mut lines = Vec::new();
        let mut rest: &str = &self.text;
        while !rest.is_empty() {
            let (text, ended, after) = match rest.find('\n') {
                Some(at) => (&rest[..at], true, &rest[at + 1..]),
                None => (rest, false, ""),
            };
            let text = if crlf && ended { text.strip_suffix('\r').unwrap_or(text) } else { text };
            lines.push(Line { text, ended });
            rest = after;
        }
        lines
    }
}

/// Facts of a file's bytes.
pub(crate) fn facts(bytes: &[u8], content: &Content<'_>, is_workbook: bool) -> FileFacts {
    let encoding = if is_workbook && !content.is_text { "XLSX".into() } else { content.encoding.clone() };
    FileFacts {
        size: bytes.len() as u64,
        lines: content.is_text.then(|| content.lines().len() as u64),
        encoding: encoding.into_owned(),
        line_end: content.line_end().to_owned(),
        digest: Digest::of(bytes),
    }
}

fn strict<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes)
}

/// UTF-16 without a mark: even length, and nearly every other byte is zero on one side only.
fn unmarked_utf16(bytes: &[u8]) -> Option<(&'static Encoding, &'static str)> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let head = &bytes[..bytes.len().min(4096)];
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
    if odd * 10 >= pairs * 3 && even == 0 {
        return Some((UTF_16LE, "UTF-16LE"));
    }
    if even * 10 >= pairs * 3 && odd == 0 {
        return Some((UTF_16BE, "UTF-16BE"));
    }
    None
}

/// Whether most bytes above ASCII stand in runs of four and more, as in Chinese text; accents stand alone.
fn has_double_bytes(bytes: &[u8]) -> bool {
    let (mut high, mut in_runs) = (0, 0);
    for run in bytes.chunk_by(|one, other| (*one >= 0x80) == (*other >= 0x80)) {
        if run.first().is_some_and(|byte| *byte >= 0x80) {
            high += run.len();
            in_runs += if run.len() >= 4 { run.len() } else { 0 };
        }
    }
    in_runs * 2 > high
}

fn has_binary_controls(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
}

/// The head as hexadecimal, then size and digest, so that two contents never look the same.
fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for (index, chunk) in bytes.iter().take(HEX_HEAD).collect::<Vec<_>>().chunks(16).enumerate() {
        let _ = write!(out, "{:08x} ", index * 16);
        for byte in chunk {
            let _ = write!(out, " {byte:02x}");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "… {} bytes, SHA-256 {}", bytes.len(), Digest::of(bytes));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_named() {
        let gb = encoding_rs::GB18030.encode("供应商,金额\n蓝鲸物流,1.00\n").0.into_owned();
        let mut utf16 = vec![0xFF, 0xFE];
        utf16.extend("金额 1\n".encode_utf16().flat_map(u16::to_le_bytes));
        let bare: Vec<u8> = "amount,1\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let cases: [(&[u8], &str, &str); 9] = [
            (b"", "UTF-8", ""),
            (b"a\n", "UTF-8", "a\n"),
            (b"\xEF\xBB\xBFa", "UTF-8 BOM", "a"),
            (&gb, "GB18030", "供应商,金额\n蓝鲸物流,1.00\n"),
            (&utf16, "UTF-16LE", "金额 1\n"),
            (&bare, "UTF-16BE", "amount,1\n"),
            (b"a\0b", "UTF-8", "a\0b"),
            (b"caf\xE9 M\xFCller\n", "windows-1252", "café Müller\n"),
            (b"\xFF\xFE\x00", "binary", "00000000  ff fe 00\n"),
        ];
        for (bytes, encoding, text) in cases {
            let content = Content::of(bytes);
            assert_eq!(content.encoding, encoding, "encoding of {bytes:?}");
            assert!(content.text.starts_with(text), "text of {bytes:?} is {:?}", content.text);
        }
    }

    #[test]
    fn line_ends_are_named_and_a_missing_last_one_is_kept() {
        for (text, name) in
            [("a", "none"), ("a\nb\n", "LF"), ("a\r\nb\r\n", "CRLF"), ("a\r\nb\n", "mixed"), ("a\rb", "none")]
        {
            assert_eq!(Content::of(text.as_bytes()).line_end(), name, "line end of {text:?}");
        }
        let content = Content::of(b"a\r\nb");
        assert_eq!(
            content.lines(),
            [Line { text: "a", ended: true }, Line { text: "b", ended: false }],
            "the same line end everywhere is no part of a line"
        );
        assert_eq!(Content::of(b"a\r\nb\n").lines()[0].text, "a\r", "where they are mixed it is shown");
    }

    #[test]
    fn written_bytes_are_utf8_whatever_they_look_like() {
        let bytes = b"p\0a\0y\0 \0";
        assert_eq!(
            Content::of(bytes).encoding,
            "UTF-16LE",
            "a file that is there may be UTF-16 without a mark"
        );
        let written = Content::written(bytes);
        assert_eq!(
            (written.encoding.as_ref(), written.text.len()),
            ("UTF-8", 8),
            "what is written shows its nulls"
        );
        assert_eq!(Content::written("\u{FEFF}a".as_bytes()).encoding, "UTF-8 BOM", "the mark is named");
    }

    #[test]
    fn two_binary_contents_never_look_the_same() {
        let mut one = vec![0u8, 255, 254, 200];
        one.resize(5000, 7);
        let mut two = one.clone();
        two[4000] = 8;
        assert_ne!(
            Content::of(&one).text,
            Content::of(&two).text,
            "the digest tells them apart behind the head"
        );
    }
}
