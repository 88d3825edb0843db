//! A line as plain characters: full-width forms, foreign digits and odd blanks folded, invisible characters left out.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A line to scan. Positions in `plain` are those of `places`.
pub(crate) struct Glyphs {
    /// Folded characters. A no-break or thin space is U+00A0, the ideographic one a plain blank.
    pub(crate) plain: Vec<char>,
    /// Where each begins in the line, in bytes; one more for the end.
    places: Vec<usize>,
}

impl Glyphs {
    pub(crate) fn of(line: &str) -> Self {
        let mut plain = Vec::with_capacity(line.len());
        let mut places = Vec::with_capacity(line.len() + 1);
        for (at, character) in line.char_indices() {
            if let Some(folded) = fold(character) {
                plain.push(folded);
                places.push(at);
            }
        }
        places.push(line.len());
        Self { plain, places }
    }

    /// The part of the line that a range of characters was made from.
    pub(crate) fn original<'a>(&self, line: &'a str, from: usize, to: usize) -> &'a str {
        let start = self.places.get(from).copied().unwrap_or(line.len());
        let last = to.checked_sub(1).and_then(|last| self.places.get(last)).copied().unwrap_or(start);
        let end = line[last..].chars().next().map_or(last, |character| last + character.len_utf8());
        line.get(start..end).unwrap_or("")
    }

    pub(crate) fn at(&self, index: usize) -> Option<char> {
        self.plain.get(index).copied()
    }
}

/// The plain form of a character; `None` for one that cannot be seen.
pub(crate) fn fold(character: char) -> Option<char> {
    match character {
        '\t' => return Some(' '),
        ' '..='~' => return Some(character),
        '\u{FF01}'..='\u{FF5E}' => return char::from_u32(u32::from(character) - 0xFEE0),
        '￥' => return Some('¥'),
        '\u{2212}' | '\u{FE63}' | '\u{2010}' | '\u{2011}' | '\u{2012}' => return Some('-'),
        '\u{2019}' => return Some('\''),
        '\u{3000}' => return Some(' '),
        _ => {}
    }
    match character.general_category() {
        GeneralCategory::SpaceSeparator => Some('\u{A0}'),
        GeneralCategory::DecimalNumber => Some(ascii_digit(character)),
        GeneralCategory::Control
        | GeneralCategory::Format
        | GeneralCategory::Surrogate
        | GeneralCategory::PrivateUse
        | GeneralCategory::Unassigned
        | GeneralCategory::NonspacingMark
        | GeneralCategory::EnclosingMark => None,
        GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => Some(' '),
        GeneralCategory::UppercaseLetter
        | GeneralCategory::LowercaseLetter
        | GeneralCategory::TitlecaseLetter
        | GeneralCategory::ModifierLetter
        | GeneralCategory::OtherLetter
        | GeneralCategory::SpacingMark
        | GeneralCategory::LetterNumber
        | GeneralCategory::OtherNumber
        | GeneralCategory::ConnectorPunctuation
        | GeneralCategory::DashPunctuation
        | GeneralCategory::OpenPunctuation
        | GeneralCategory::ClosePunctuation
        | GeneralCategory::InitialPunctuation
        | GeneralCategory::FinalPunctuation
        | GeneralCategory::OtherPunctuation
        | GeneralCategory::MathSymbol
        | GeneralCategory::CurrencySymbol
        | GeneralCategory::ModifierSymbol
        | GeneralCategory::OtherSymbol => Some(character),
    }
}

/// Decimal digits stand in runs of ten, zero first; the mathematical ones in five such runs one after the other.
fn ascii_digit(character: char) -> char {
    let code = u32::from(character);
    let is_digit = |code: u32| {
        char::from_u32(code).is_some_and(|other| other.general_category() == GeneralCategory::DecimalNumber)
    };
    let before = (1..=50).take_while(|back| code >= *back && is_digit(code - back)).count();
    char::from_digit(u32::try_from(before % 10).unwrap_or(0), 10).unwrap_or('0')
}

/// Letters and digits that make up words and identifiers; Chinese, Japanese and Korean characters stand for themselves.
pub(crate) fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || (!character.is_ascii() && character.is_alphabetic() && !is_cjk(character))
}

/// A Chinese, Japanese or Korean character.
pub(crate) fn is_cjk(character: char) -> bool {
    matches!(character, '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        Glyphs::of(text).plain.into_iter().collect()
    }

    #[test]
    fn forms_are_folded() {
        assert_eq!(folded("１２，３４５．６０％"), "12,345.60%", "full-width");
        assert_eq!(folded("٣४๕𝟗𝟘"), "34590", "digits of other scripts");
        assert_eq!(folded("17\u{200B}1,\u{202E}717"), "171,717", "nothing invisible splits a number");
        assert_eq!(folded("−5\u{202F}000"), "-5\u{A0}000", "minus and thin space");
    }

    #[test]
    fn the_original_text_comes_back() {
        let line = "共１２\u{200B}３元";
        let glyphs = Glyphs::of(line);
        assert_eq!(glyphs.original(line, 1, 4), "１２\u{200B}３", "as written, with what is hidden in it");
        assert_eq!(glyphs.original(line, 4, 5), "元", "the last one");
        assert_eq!(glyphs.original(line, 5, 5), "", "nothing behind the end");
    }
}
