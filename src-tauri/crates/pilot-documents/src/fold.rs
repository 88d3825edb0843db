//! Forms of a text for comparing: what a person would call the same.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// True for Han, kana, hangul and their punctuation: letters that are not separated by blanks.
#[must_use]
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c as u32, 0x2E80..=0x303E | 0x3041..=0x33FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFFEF | 0x20000..=0x3FFFF)
}

/// True when the text holds Han characters.
#[must_use]
pub(crate) fn has_han(text: &str) -> bool {
    text.chars().any(|c| matches!(c as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0x20000..=0x3FFFF))
}

/// Compatibility form: full-width digits become digits, Kangxi radicals become characters. ASCII costs nothing.
#[must_use]
pub(crate) fn nfkc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// [`nfkc`], with runs of white space made one blank and blanks beside CJK characters dropped: `单 价` is `单价`.
#[must_use]
pub(crate) fn tidy(text: &str) -> String {
    let text = nfkc(text);
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}' {
            blank = !out.is_empty();
            continue;
        }
        if blank {
            let before = out.chars().next_back().is_some_and(is_cjk);
            if !before && !is_cjk(c) {
                out.push(' ');
            }
            blank = false;
        }
        out.push(c);
    }
    out
}

/// Key for names and headers: [`nfkc`], lower case, letters and digits only.
#[must_use]
pub(crate) fn key(text: &str) -> String {
    nfkc(text).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Cuts a text at a byte limit, on a character boundary.
#[must_use]
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_for_comparing() {
        assert_eq!(tidy("单　价 (元)"), "单价(元)", "blanks inside Chinese words and full-width forms go");
        assert_eq!(tidy("  Total   incl. tax "), "Total incl. tax", "one blank between Latin words stays");
        assert_eq!(tidy("⽇期"), "日期", "Kangxi radicals are the characters they look like");
        assert_eq!(
            key("Ａcme （上海） Co., Ltd."),
            "acme上海coltd",
            "punctuation and width do not make another name"
        );
        assert_eq!(cut("金额", 4), "金", "never half a character");
    }
}
