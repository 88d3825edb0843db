//! Makes every character of a text visible: what cannot be seen, or changes the direction of what can, becomes a box
//! with its code point.

use crate::card::{Span, SpanMark};
use pilot_types::is_invisible;
use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// What opens a box where text is all there is.
const BOX_OPEN: char = '‹';

/// Splits a text into pieces to draw. Line feed and tab stay as they are, because the caller has split lines and draws
/// tabs; every other invisible, direction-changing, unassigned or private character becomes its own
/// [`SpanMark::Hidden`] piece with a text such as `U+202E`. Blanks that only look like a plain one (no-break space and
/// its kin) are boxed too; the ideographic space is not.
#[must_use]
pub fn shown(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    push_shown(text, SpanMark::Plain, &mut spans);
    spans
}

/// The same as [`shown`] in one string, boxes written as `‹U+202E›`, for the terminal, lists and notifications. The
/// opening mark `‹` itself is written so too, so that no text can forge a box: equal results mean equal texts. Line feed
/// and tab stay; see [`shown_line`] where a line feed could forge another line.
#[must_use]
pub fn shown_text(text: &str) -> String {
    escape(text, is_hidden)
}

/// [`shown_text`] for a place that has one line only (a title, a path, a row of a list): line feed and tab are boxed too.
#[must_use]
pub fn shown_line(text: &str) -> String {
    escape(text, |character, following, before| {
        matches!(character, '\n' | '\t') || is_hidden(character, following, before)
    })
}

/// How many characters of a text [`shown`] boxes.
#[must_use]
pub fn hidden_count(text: &str) -> u32 {
    if is_plain_ascii(text) {
        return 0;
    }
    let count = walk(text)
        .filter(|(_, character, following, before)| is_hidden(*character, *following, *before))
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many boxed characters are worth a warning: all but blanks that merely differ from the plain one.
pub(crate) fn deceptive_count(text: &str) -> u32 {
    if is_plain_ascii(text) {
        return 0;
    }
    let count = walk(text)
        .filter(|(_, character, following, before)| {
            is_hidden(*character, *following, *before)
                && character.general_category() != GeneralCategory::SpaceSeparator
        })
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Which character of a text, from 0, is the first that is boxed.
pub(crate) fn first_hidden(text: &str) -> Option<usize> {
    walk(text).position(|(_, character, following, before)| is_hidden(character, following, before))
}

/// A text without its hidden characters: what a reader takes it for.
pub(crate) fn without_hidden(text: &str) -> String {
    if is_plain_ascii(text) {
        return text.to_owned();
    }
    walk(text)
        .filter(|(_, character, following, before)| {
            !is_hidden(*character, *following, *before)
                || character.general_category() == GeneralCategory::SpaceSeparator
        })
        .map(|(_, character, _, _)| character)
        .collect()
}

/// Adds the pieces of `text`, its visible ones marked `mark`, joining with the last piece where the mark is the same.
pub(crate) fn push_shown(text: &str, mark: SpanMark, spans: &mut Vec<Span>) {
    if text.is_empty() {
        return;
    }
    if is_plain_ascii(text) {
        push_piece(text, mark, spans);
        return;
    }
    let mut plain_from = 0;
    for (at, character, following, before) in walk(text) {
        if is_hidden(character, following, before) {
            push_piece(&text[plain_from..at], mark, spans);
            spans.push(Span { text: code_point(character), mark: SpanMark::Hidden });
            plain_from = at + character.len_utf8();
        }
    }
    push_piece(&text[plain_from..], mark, spans);
}

fn push_piece(text: &str, mark: SpanMark, spans: &mut Vec<Span>) {
    if text.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.mark == mark && mark != SpanMark::Hidden => last.text.push_str(text),
        _ => spans.push(Span { text: text.to_owned(), mark }),
    }
}

fn escape(text: &str, hidden: impl Fn(char, Option<char>, Option<char>) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (_, character, following, before) in walk(text) {
        if character == BOX_OPEN || hidden(character, following, before) {
            out.push(BOX_OPEN);
            out.push_str(&code_point(character));
            out.push('›');
        } else {
            out.push(character);
        }
    }
    out
}

/// Position, character, the one after it, the one before it.
fn walk(text: &str) -> impl Iterator<Item = (usize, char, Option<char>, Option<char>)> + '_ {
    let mut before = None;
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (at, character) = characters.next()?;
        let item = (at, character, characters.peek().map(|(_, next)| *next), before);
        before = Some(character);
        Some(item)
    })
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// The common list, less what an honest text needs.
fn is_hidden(character: char, following: Option<char>, before: Option<char>) -> bool {
    match character {
        // The caller draws lines and tabs. Chinese text is full of the ideographic space, which is as wide as a letter.
        '\n' | '\t' | '\u{3000}' => false,
        // Presentation selectors belong after an emoji; anywhere else they only carry hidden data.
        '\u{FE0E}' | '\u{FE0F}' => !selector_in_place(before, following),
        _ => is_invisible(character),
    }
}

fn selector_in_place(before: Option<char>, following: Option<char>) -> bool {
    match before {
        Some('0'..='9' | '#' | '*') => following == Some('\u{20E3}'),
        Some(base) => !base.is_ascii() && base.is_emoji_char(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_one_piece() {
        let spans = shown("合计 1,234.00 é\t|\u{3000}中");
        assert_eq!(spans.len(), 1, "visible text, tab and the ideographic space need no box");
        assert_eq!(hidden_count("合计\u{3000}x"), 0, "nothing is hidden there");
    }

    #[test]
    fn a_direction_change_is_boxed_where_it_stands() {
        let spans = shown("a\u{202E}b");
        let expected = [("a", SpanMark::Plain), ("U+202E", SpanMark::Hidden), ("b", SpanMark::Plain)];
        let seen: Vec<(&str, SpanMark)> = spans.iter().map(|span| (span.text.as_str(), span.mark)).collect();
        assert_eq!(seen, expected, "the box stands exactly where the character is");
        assert_eq!(shown_text("a\u{202E}b"), "a‹U+202E›b", "terminal form");
        assert_eq!(shown_line("a\nb\tc"), "a‹U+000A›b‹U+0009›c", "one-line places show line feeds");
    }

    #[test]
    fn a_text_cannot_forge_a_box() {
        assert_eq!(shown_text("a‹U+202E›b"), "a‹U+2039›U+202E›b", "a literal mark is written as what it is");
        assert_ne!(shown_text("a‹U+202E›b"), shown_text("a\u{202E}b"), "and differs from a real box");
        assert_eq!(shown_line("‹\n"), "‹U+2039›‹U+000A›", "on one line too");
        assert_eq!(shown_text("a›b «c»"), "a›b «c»", "other quotation marks forge nothing");
        assert_eq!(hidden_count("‹quoted›"), 0, "it is no hidden character, and raises no warning");
    }

    #[test]
    fn selectors_are_plain_only_after_an_emoji() {
        assert_eq!(
            hidden_count("❤\u{FE0F} 1\u{FE0F}\u{20E3}"),
            0,
            "an emoji and a keycap use their selector rightly"
        );
        assert_eq!(hidden_count("a\u{FE0F}"), 1, "after a letter it only carries data");
        assert_eq!(hidden_count("1\u{FE0F}2"), 1, "a digit without a keycap needs none");
        assert_eq!(hidden_count("漢\u{E0101}"), 1, "the supplementary selectors can carry any byte");
    }

    #[test]
    fn odd_blanks_are_boxed_but_raise_no_warning() {
        assert_eq!(hidden_count("1\u{A0}234"), 1, "a no-break space is not a plain space");
        assert_eq!(deceptive_count("1\u{A0}234\u{202F}5"), 0, "number grouping is no attack");
        assert_eq!(deceptive_count("1\u{200B}2"), 1, "a zero-width space is");
        assert_eq!(without_hidden("IG\u{200B}NORE\u{A0}x"), "IGNORE\u{A0}x", "what a reader sees");
    }
}
