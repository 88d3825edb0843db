//! Text and its encoding. The guess is named and never silent.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

/// A text with what is known about its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// Name of the encoding, such as `UTF-8`, `UTF-16LE`, `GB18030`.
    pub encoding: String,
    /// False when the encoding is a guess.
    pub certain: bool,
    /// True when the bytes began with a byte order mark.
    pub bom: bool,
    /// `LF`, `CRLF`, `CR`, `mixed` or `none`.
    pub line_end: String,
    /// Characters that could not be decoded and stand as U+FFFD.
    pub lost: usize,
}

/// Which encoding, decided before decoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guess {
    pub(crate) encoding: &'static Encoding,
    pub(crate) certain: bool,
    /// Bytes of the mark to skip.
    pub(crate) bom: usize,
}

/// Bytes that the detector looks at; more do not make it surer.
const SAMPLE: usize = 1 << 20;

/// Decodes text: byte order mark, then strict UTF-8, then UTF-16 without a mark, then a detector (with a hint where
/// Chinese is expected), and GB18030 for all of its family.
#[must_use]
pub fn decode(bytes: &[u8], chinese: bool) -> Decoded {
    let guess = guess(bytes, chinese);
    let body = &bytes[guess.bom..];
    let (text, _) = guess.encoding.decode_without_bom_handling(body);
    let text = text.into_owned();
    let lost = if text.contains('\u{fffd}') { text.chars().filter(|c| *c == '\u{fffd}').count() } else { 0 };
    Decoded {
        line_end: line_end(&text).to_owned(),
        encoding: guess.encoding.name().to_owned(),
        certain: guess.certain,
        bom: guess.bom > 0,
        text,
        lost,
    }
}

/// Decides the encoding of bytes, which may be the beginning of a longer text.
pub(crate) fn guess(bytes: &[u8], chinese: bool) -> Guess {
    if let Some((encoding, bom)) = Encoding::for_bom(bytes) {
        return Guess { encoding, certain: true, bom };
    }
    if is_utf8(bytes) {
        return Guess { encoding: UTF_8, certain: true, bom: 0 };
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if let Some(encoding) = wide(sample) {
        return Guess { encoding, certain: false, bom: 0 };
    }
    Guess { encoding: narrow(sample, chinese), certain: false, bom: 0 }
}

/// Strict UTF-8, where a character cut off at the very end is not held against it.
fn is_utf8(bytes: &[u8]) -> bool {
    if bytes.iter().take(SAMPLE).filter(|byte| **byte == 0).count() * 8 > bytes.len().min(SAMPLE) {
        return false;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => {
            error.error_len().is_none() && error.valid_up_to() + 4 > bytes.len() && error.valid_up_to() > 0
        }
    }
}

/// UTF-16 without a mark: zeros sit in every second byte of Latin text; Chinese text has digits, blanks and line ends.
fn wide(sample: &[u8]) -> Option<&'static Encoding> {
    let pairs = sample.len() / 2;
    if pairs < 2 {
        return None;
    }
    let (mut first, mut second) = (0usize, 0usize);
    for pair in sample.chunks_exact(2) {
        first += usize::from(pair[0] == 0);
        second += usize::from(pair[1] == 0);
    }
    let (zeros, encoding) = if second > first { (second, UTF_16LE) } else { (first, UTF_16BE) };
    let clear = zeros * 10 >= pairs && first.min(second) * 20 <= zeros;
    let (text, _) = encoding.decode_without_bom_handling(&sample[..pairs * 2]);
    let bad = text.chars().filter(|c| *c == '\u{fffd}' || (c.is_control() && !c.is_whitespace())).count();
    (clear && bad * 50 <= pairs).then_some(encoding)
}

/// Words that stand in Chinese business tables; seeing one settles a short text that statistics cannot.
const CHINESE_WORDS: [&str; 30] = [
    "金额",
    "数量",
    "单价",
    "日期",
    "供应商",
    "公司",
    "发票",
    "合计",
    "税额",
    "价税",
    "名称",
    "编号",
    "备注",
    "单位",
    "项目",
    "总计",
    "币种",
    "开票",
    "销售",
    "客户",
    "人民币",
    "我们",
    "中国",
    "的",
    "年",
    "月",
    "号码",
    "订单",
    "付款",
    "姓名",
];

fn narrow(sample: &[u8], chinese: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    let hint: Option<&[u8]> = if chinese { Some(b"cn") } else { None };
    let found = detector.guess(hint, Utf8Detection::Deny);
    let found = if found == GBK { GB18030 } else { found };
    if found == GB18030 {
        return GB18030;
    }
    // A detector without a hint takes a few GB bytes for Korean or Japanese. A whole word of the trade decides then,
    // but never against a text that is long enough for statistics.
    let doubtful = [EUC_KR, EUC_JP, SHIFT_JIS, BIG5, WINDOWS_1252].contains(&found);
    let high = sample.iter().filter(|byte| **byte >= 0x80).count();
    if doubtful && (chinese || high < 400) && speaks_chinese(sample) { GB18030 } else { found }
}

fn speaks_chinese(sample: &[u8]) -> bool {
    let (text, bad) = GB18030.decode_without_bom_handling(sample);
    // The sample may end within a character.
    let lost = text.chars().filter(|c| *c == '\u{fffd}').count();
    (!bad || lost <= 1)
        && CHINESE_WORDS.iter().filter(|word| word.chars().count() > 1).any(|word| text.contains(word))
}

/// How the lines end.
#[must_use]
pub fn line_end(text: &str) -> &'static str {
    let bytes = text.as_bytes();
    let (mut lf, mut crlf, mut cr) = (false, false, false);
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' if index > 0 && bytes[index - 1] == b'\r' => crlf = true,
            b'\n' => lf = true,
            b'\r' if bytes.get(index + 1) != Some(&b'\n') => cr = true,
            _ => {}
        }
    }
    match (lf, crlf, cr) {
        (false, false, false) => "none",
        (true, false, false) => "LF",
        (false, true, false) => "CRLF",
        (false, false, true) => "CR",
        _ => "mixed",
    }
}

/// The note that names an encoding that was not plain UTF-8.
pub(crate) fn note(decoded: &Decoded) -> Option<String> {
    let mut text = match (decoded.certain, decoded.encoding.as_str()) {
        (true, "UTF-8") => return None,
        (true, name) => format!("encoding: {name}"),
        (false, name) => format!("encoding: {name} (a guess; the file does not say)"),
    };
    if decoded.lost > 0 {
        text.push_str(&format!("; {} characters could not be decoded", decoded.lost));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gbk(text: &str) -> Vec<u8> {
        GB18030.encode(text).0.into_owned()
    }

    #[test]
    fn marks_and_utf8_are_certain() {
        let decoded = decode(b"\xEF\xBB\xBFa,b\r\n", false);
        assert_eq!(
            (decoded.text.as_str(), decoded.bom, decoded.certain),
            ("a,b\r\n", true, true),
            "BOM is not text"
        );
        assert_eq!(decoded.line_end, "CRLF", "line ends are told");
        assert!(decode("金额".as_bytes(), false).certain, "strict UTF-8 needs no guess");
        let wide: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("金额,1\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(decode(&wide, false).text, "金额,1\n", "UTF-16 with a mark");
    }

    #[test]
    fn guesses_are_named() {
        for (text, hint) in [
            ("金额", true),
            ("数量,单价\n1,2\n", false),
            ("供应商,开票日期,金额\n青禾,2026-01-02,3\n", false),
        ] {
            let decoded = decode(&gbk(text), hint);
            assert_eq!(
                (decoded.text.as_str(), decoded.encoding.as_str()),
                (text, "gb18030"),
                "short Chinese bytes"
            );
            assert!(!decoded.certain && note(&decoded).is_some(), "a guess is said");
        }
        let plain: Vec<u8> = "Name;Betrag\nMüller;1,50\n".chars().map(|c| c as u8).collect();
        assert_eq!(decode(&plain, false).text, "Name;Betrag\nMüller;1,50\n", "Latin text with umlauts");
    }

    #[test]
    fn utf16_without_a_mark_is_found() {
        let text = "supplier,amount\nAcme,12.50\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&le, false).text, text, "little endian");
        assert_eq!(decode(&be, false).text, text, "big endian");
    }

    #[test]
    fn line_ends_are_counted_apart() {
        for (text, expected) in
            [("a", "none"), ("a\nb", "LF"), ("a\r\nb", "CRLF"), ("a\rb", "CR"), ("a\r\nb\n", "mixed")]
        {
            assert_eq!(line_end(text), expected, "of {text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..400), chinese: bool) {
            let decoded = decode(&bytes, chinese);
            prop_assert!(!decoded.encoding.is_empty(), "there is always an encoding");
        }

        #[test]
        fn utf8_comes_back_unchanged(text in "[a-zé金额\\n,]{0,80}") {
            prop_assert_eq!(decode(text.as_bytes(), false).text, text, "valid UTF-8 is never touched");
        }
    }
}
