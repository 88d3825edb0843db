//! Characters that a person would not see: one list for names that are refused and for texts that are shown.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// True for every character that is invisible, changes the direction or the look of its neighbours, is not assigned,
/// or looks like a plain blank without being one: categories Cc, Cf, Zl, Zp, Cs, Co, Cn, every blank but U+0020,
/// Hangul fillers, variation selectors, tags and the other default-ignorable characters.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Default-ignorable, blank or drawn as nothing, but of a category that says nothing about it.
        '\u{034F}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{17B4}'
        | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FFA0}'
        | '\u{16FE4}'
        | '\u{1D159}'
        | '\u{E0000}'..='\u{E0FFF}' => true,
        _ => match c.general_category() {
            GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned => true,
            GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::DecimalNumber
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
            | GeneralCategory::OtherSymbol => false,
        },
    }
}
