//! Words that mix scripts, or are written in look-alikes of Latin letters.

use unicode_script::{Script, UnicodeScript};

/// Letters that stand beside Latin ones in units and formulas and look like none of them.
const GREEK_SIGNS: &str = "μΩΔπλσθφβψξδΣΓΦΨΛΘΞΠ";

/// Cyrillic and Greek letters that look like Latin ones.
const LOOK_ALIKES: &str = "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυικρχϲϳ";

/// Words of a text that a reader may take for others: letters of several scripts in one word, or all of them look-alikes
/// while nothing else in the text is written in their script.
pub(crate) fn mixed_words(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let is_foreign = |character: char| {
        matches!(character.script(), Script::Cyrillic | Script::Greek) && !LOOK_ALIKES.contains(character)
    };
    let has_foreign_text =
        text.chars().any(|character| is_foreign(character) && !GREEK_SIGNS.contains(character));
    words(text)
        .filter(|word| is_mixed(word) || (!has_foreign_text && is_disguised(word)))
        .map(str::to_owned)
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let belongs = |character: char| {
        character.is_alphabetic()
            && !matches!(
                character.script(),
                Script::Han | Script::Hiragana | Script::Katakana | Script::Bopomofo
            )
    };
    // Characters that cannot be seen do not end a word for a reader.
    text.split(move |character: char| !belongs(character) && crate::figures::fold(character).is_some())
        .filter(|word| !word.is_ascii())
}

fn is_mixed(word: &str) -> bool {
    let mut scripts: Vec<Script> = word
        .chars()
        .filter(|character| !GREEK_SIGNS.contains(*character))
        .map(|character| character.script())
        .filter(|script| !matches!(script, Script::Common | Script::Inherited | Script::Unknown))
        .collect();
    scripts.sort_by_key(|script| script.short_name());
    scripts.dedup();
    scripts.len() > 1
}

fn is_disguised(word: &str) -> bool {
    let letters = word.chars().filter(|character| character.is_alphabetic());
    word.chars().count() >= 3 && letters.clone().all(|character| LOOK_ALIKES.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_two_scripts_are_found() {
        assert_eq!(mixed_words("pay to Вlue Whale"), ["Вlue"], "a Cyrillic letter at the start");
        assert_eq!(mixed_words("раураl"), ["раураl"], "only the last letter is Latin");
        assert_eq!(mixed_words("see рау in here"), ["рау"], "all look-alikes in a Latin text");
        assert_eq!(mixed_words("pa\u{200B}уpal").len(), 1, "an invisible character does not part the word");
        assert_eq!(mixed_words("tοtal"), ["tοtal"], "a Greek omicron");
    }

    #[test]
    fn honest_text_is_left_alone() {
        for text in [
            "Müller 中文abc 12",
            "Москва и Счёт",
            "5 μm, 3 kΩ, Δt",
            "Ελλάδα και",
            "ｆｕｌｌ width",
            "日本語テキスト",
            "Ёлка рау",
        ] {
            assert!(mixed_words(text).is_empty(), "{text}: {:?}", mixed_words(text));
        }
    }
}
