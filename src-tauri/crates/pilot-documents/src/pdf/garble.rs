//! Is a text layer readable text? Garbage must never reach an analysis.

use crate::fold;

/// Why the text is not readable; `None` when it is.
pub(super) fn verdict(text: &str, chinese_fonts: bool) -> Option<String> {
    let mut letters = 0u32;
    let mut bad = 0u32;
    let mut chinese = false;
    for c in text.chars() {
        if c.is_whitespace() {
            continue;
        }
        letters += 1;
        let code = c as u32;
        let private = (0xE000..=0xF8FF).contains(&code) || (0xF0000..=0x10FFFD).contains(&code);
        bad += u32::from(c == '\u{fffd}' || private || c.is_control() || (0x80..=0x9F).contains(&code));
        chinese |= fold::is_cjk(c);
    }
    let cid = text.matches("(cid:").count() as u32 * 5;
    if (bad + cid) * 5 > letters && letters > 0 {
        return Some("the text layer is not readable text (damaged or missing character tables)".to_owned());
    }
    // A page set in Chinese fonts that gives only digits and signs has lost its characters.
    if chinese_fonts && !chinese && letters >= 8 && !text.chars().any(|c| c.is_ascii_alphabetic()) {
        return Some("the page is set in Chinese fonts, but only digits and signs can be read".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_told_from_text() {
        assert_eq!(verdict("Rechnung 471102 über 197,65 €", false), None, "German text is text");
        assert_eq!(verdict("电子发票 价税合计 ¥2000.00", true), None, "Chinese text is text");
        assert!(
            verdict("\u{fffd}\u{fffd}\u{fffd} 100.00 \u{fffd}", false).is_some(),
            "replacement characters are not"
        );
        assert!(verdict("\u{e012}\u{e013}\u{e014}", false).is_some(), "nor is the private area");
        assert!(
            verdict("¥2,000.00 13% 2026 01", true).is_some(),
            "digits alone on a Chinese page are a loss"
        );
        assert_eq!(verdict("¥2,000.00 13% 2026 01", false), None, "elsewhere they may be all there is");
        assert!(verdict("(cid:12)(cid:33)(cid:7)", false).is_some(), "glyph numbers are no text");
    }
}
