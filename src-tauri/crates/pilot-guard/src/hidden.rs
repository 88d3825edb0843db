//! Characters that a person would not see.

use std::fmt::Write as _;

pub use pilot_types::is_invisible as is_hidden;

/// The text with every hidden character written as `‹U+202E›`. The opening mark `‹` itself is written so too, so that
/// a name cannot forge such a mark: equal results mean equal texts.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '‹' || is_hidden(c) {
            let _ = write!(out, "‹U+{:04X}›", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_of_hidden_characters_is_marked() {
        let families = [
            ('\u{0000}', "NUL"),
            ('\u{001B}', "escape"),
            ('\u{007F}', "delete"),
            ('\u{0085}', "next line"),
            ('\u{00A0}', "no-break space"),
            ('\u{00AD}', "soft hyphen"),
            ('\u{034F}', "grapheme joiner"),
            ('\u{061C}', "Arabic letter mark"),
            ('\u{115F}', "Hangul choseong filler"),
            ('\u{200B}', "zero width space"),
            ('\u{200D}', "zero width joiner"),
            ('\u{202E}', "right-to-left override"),
            ('\u{2028}', "line separator"),
            ('\u{2029}', "paragraph separator"),
            ('\u{2060}', "word joiner"),
            ('\u{2066}', "left-to-right isolate"),
            ('\u{2800}', "braille blank"),
            ('\u{3000}', "ideographic space"),
            ('\u{3164}', "Hangul filler"),
            ('\u{E000}', "private use"),
            ('\u{FE0F}', "variation selector"),
            ('\u{FEFF}', "byte order mark"),
            ('\u{FFA0}', "half-width Hangul filler"),
            ('\u{16FE4}', "Khitan filler"),
            ('\u{FFFE}', "not a character"),
            ('\u{0378}', "unassigned"),
            ('\u{E0041}', "tag"),
            ('\u{E0100}', "variation selector supplement"),
            ('\u{F0000}', "private use plane"),
        ];
        for (c, name) in families {
            assert!(is_hidden(c), "{name} must not pass unseen");
            let mark = format!("a‹U+{:04X}›b", u32::from(c));
            assert_eq!(shown(&format!("a{c}b")), mark, "{name} is shown by its number");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "报告（一）2025年.md",
            "résumé – final.md",
            "Отчёт",
            "ร้าน",
            "レポート・々〆",
            "१२३ की",
            "😀 a_b-c+d",
        ] {
            assert_eq!(shown(text), text, "ordinary text must not be marked");
        }
    }

    #[test]
    fn a_name_cannot_forge_a_mark() {
        assert_ne!(shown("a‹U+202E›b"), shown("a\u{202e}b"), "a literal mark must differ from a real one");
    }
}
