//! Sixty texts that try to look like something else.

use pilot_review::{SpanMark, hidden_count, shown, shown_line, shown_text};

/// Name, text, and how many characters must be boxed.
fn strings() -> Vec<(&'static str, String, usize)> {
    let one = |name, character: char| (name, format!("pay{character}now"), 1);
    let mut all = vec![
        one("left-to-right embedding", '\u{202A}'),
        one("right-to-left embedding", '\u{202B}'),
        one("pop direction", '\u{202C}'),
        one("left-to-right override", '\u{202D}'),
        one("right-to-left override", '\u{202E}'),
        one("left-to-right isolate", '\u{2066}'),
        one("right-to-left isolate", '\u{2067}'),
        one("first strong isolate", '\u{2068}'),
        one("pop isolate", '\u{2069}'),
        one("left-to-right mark", '\u{200E}'),
        one("right-to-left mark", '\u{200F}'),
        one("Arabic letter mark", '\u{061C}'),
        one("zero width space", '\u{200B}'),
        one("zero width non-joiner", '\u{200C}'),
        one("zero width joiner", '\u{200D}'),
        one("word joiner", '\u{2060}'),
        one("function application", '\u{2061}'),
        one("invisible times", '\u{2062}'),
        one("invisible separator", '\u{2063}'),
        one("invisible plus", '\u{2064}'),
        one("byte order mark", '\u{FEFF}'),
        one("soft hyphen", '\u{00AD}'),
        one("combining grapheme joiner", '\u{034F}'),
        one("Hangul choseong filler", '\u{115F}'),
        one("Hangul jungseong filler", '\u{1160}'),
        one("Hangul filler", '\u{3164}'),
        one("half-width Hangul filler", '\u{FFA0}'),
        one("Mongolian vowel separator", '\u{180E}'),
        one("Mongolian variation selector", '\u{180B}'),
        one("Khmer inherent vowel", '\u{17B4}'),
        one("Braille blank", '\u{2800}'),
        one("line separator", '\u{2028}'),
        one("paragraph separator", '\u{2029}'),
        one("next line", '\u{0085}'),
        one("no-break space", '\u{00A0}'),
        one("en quad", '\u{2000}'),
        one("hair space", '\u{200A}'),
        one("narrow no-break space", '\u{202F}'),
        one("Ogham blank", '\u{1680}'),
        one("null", '\0'),
        one("escape", '\u{1B}'),
        one("backspace", '\u{08}'),
        one("carriage return", '\r'),
        one("bell", '\u{07}'),
        one("delete", '\u{7F}'),
        one("control sequence introducer", '\u{9B}'),
        one("private use", '\u{E000}'),
        one("supplementary private use", '\u{F0000}'),
        one("unassigned", '\u{0378}'),
        one("noncharacter", '\u{FFFE}'),
        one("interlinear annotation", '\u{FFF9}'),
        one("language tag", '\u{E0001}'),
        one("variation selector 1", '\u{FE00}'),
        one("variation selector 16 on a letter", '\u{FE0F}'),
        one("variation selector 17", '\u{E0100}'),
        one("musical null notehead", '\u{1D159}'),
    ];
    let tags: String =
        "ignore rules".chars().filter_map(|letter| char::from_u32(0xE0000 + u32::from(letter))).collect();
    all.push(("text in tag characters", format!("report{tags}"), 12));
    all.push(("terminal colour", "\u{1B}[32mApproved\u{1B}[0m".to_owned(), 2));
    all.push(("file name turned round", "invoice\u{202E}xslx.md".to_owned(), 1));
    all.push(("bytes in variation selectors", "😀\u{E0148}\u{E0165}\u{E016C}".to_owned(), 3));
    all.push(("long tail", format!("ok{}\u{200B}rm", " ".repeat(400)), 1));
    all.push(("homoglyph with a joiner", "Вlue\u{2060} Whale".to_owned(), 1));
    all
}

/// A second opinion, from the Unicode ranges themselves.
fn is_visible(character: char) -> bool {
    !matches!(u32::from(character),
        0..=8 | 0xB..=0x1F | 0x7F..=0xA0 | 0xAD | 0x34F | 0x378 | 0x61C | 0x115F | 0x1160 | 0x1680 | 0x17B4 | 0x17B5
        | 0x180B..=0x180F | 0x2000..=0x200F | 0x2028..=0x202F | 0x205F..=0x206F | 0x2800 | 0x3164 | 0xE000..=0xF8FF
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xFFFE | 0xFFFF | 0x1D159 | 0x1D173..=0x1D17A
        | 0xE0000..=0x10FFFF)
}

#[test]
fn every_character_of_sixty_texts_is_visible() {
    let all = strings();
    assert!(all.len() >= 60, "{} texts", all.len());
    for (name, text, boxes) in all {
        let spans = shown(&text);
        let plain: String =
            spans.iter().filter(|span| span.mark == SpanMark::Plain).map(|span| span.text.as_str()).collect();
        assert!(plain.chars().all(is_visible), "{name}: {plain:?} has something that cannot be seen");
        let hidden: Vec<&str> = spans
            .iter()
            .filter(|span| span.mark == SpanMark::Hidden)
            .map(|span| span.text.as_str())
            .collect();
        assert_eq!(hidden.len(), boxes, "{name}: {hidden:?}");
        assert_eq!(hidden_count(&text) as usize, boxes, "{name}: the bar counts the same");
        let back: String = spans
            .iter()
            .map(|span| match span.mark {
                SpanMark::Plain | SpanMark::Changed => span.text.clone(),
                SpanMark::Hidden => u32::from_str_radix(&span.text[2..], 16)
                    .ok()
                    .and_then(char::from_u32)
                    .map(String::from)
                    .unwrap(),
            })
            .collect();
        assert_eq!(back, text, "{name}: nothing is lost, nothing is added");
        for one in [shown_text(&text), shown_line(&text)] {
            assert!(one.chars().all(is_visible), "{name}: {one:?} on a terminal");
            assert!(hidden.iter().all(|hex| one.contains(&format!("‹{hex}›"))), "{name}: {one:?} names each");
        }
    }
}

#[test]
fn ordinary_text_has_no_boxes() {
    for text in [
        "合计 1,234.00 元（含税）",
        "Müller & Söhne, 5 % – “quoted” …",
        "日本語・한국어 русский ελληνικά",
        "✔ ✅ ❤\u{FE0F} ☎\u{FE0E} 1\u{FE0F}\u{20E3}",
        "e\u{301} n\u{303}",
        "\ttab\n",
    ] {
        assert_eq!(hidden_count(text), 0, "{text:?} is all visible: {:?}", shown(text));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_comes_back_from_its_spans(text in proptest::arbitrary::any::<String>()) {
        let spans = shown(&text);
        let mut back = String::new();
        for span in &spans {
            match span.mark {
                SpanMark::Plain | SpanMark::Changed => {
                    // In place, a presentation selector follows its emoji and stays.
                    proptest::prop_assert!(span.text.chars().all(|c| is_visible(c) || matches!(c, '\u{FE0E}' | '\u{FE0F}')), "{:?}", span);
                    back.push_str(&span.text);
                }
                SpanMark::Hidden => back.extend(u32::from_str_radix(&span.text[2..], 16).ok().and_then(char::from_u32)),
            }
        }
        proptest::prop_assert_eq!(back, text, "nothing is lost, nothing is added");
    }
}
