//! Long numbers that say who gets the money: accounts, cards, IBANs.

use std::collections::BTreeSet;

/// Digits from which on a number is taken for an account.
const ACCOUNT_DIGITS: usize = 12;

/// Account numbers of a text, blanks and hyphens left out.
pub(crate) fn accounts(text: &str) -> BTreeSet<String> {
    let plain: Vec<char> = text
        .chars()
        .filter_map(crate::figures::fold)
        .map(|character| if character == '\u{A0}' { ' ' } else { character })
        .collect();
    let mut found = BTreeSet::new();
    let mut at = 0;
    while at < plain.len() {
        if !plain[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let (number, end) = group_run(&plain, at);
        let digits = number.chars().filter(char::is_ascii_digit).count();
        let is_iban = is_iban(&number);
        let digit_at = |at: Option<usize>| at.and_then(|at| plain.get(at)).is_some_and(char::is_ascii_digit);
        let is_decimal = (plain.get(end) == Some(&'.') && digit_at(Some(end + 1)))
            || (at > 1 && plain[at - 1] == '.' && digit_at(at.checked_sub(2)));
        if is_iban || (digits >= ACCOUNT_DIGITS && digits == number.len() && !is_decimal) {
            found.insert(number);
        }
        at = end.max(at + 1);
    }
    found
}

/// Letters and digits that belong together: one run, or groups of four with single blanks or hyphens between.
fn group_run(text: &[char], from: usize) -> (String, usize) {
    let run = |at: usize| {
        text[at.min(text.len())..].iter().take_while(|character| character.is_ascii_alphanumeric()).count()
    };
    let first = run(from);
    let mut number: String = text[from..from + first].iter().collect();
    let mut end = from + first;
    let mut last = first;
    if !number.contains(|character: char| character.is_ascii_digit()) {
        return (number, end);
    }
    loop {
        let joins = matches!(text.get(end), Some(' ' | '-')) && (3..=8).contains(&last);
        let next = if joins { run(end + 1) } else { 0 };
        let part = &text[(end + 1).min(text.len())..(end + 1 + next).min(text.len())];
        let digits = part.iter().filter(|character| character.is_ascii_digit()).count();
        // Words and small numbers behind an account are not part of it.
        if next == 0
            || next > 8
            || digits == 0
            || (next != digits && number.len() < 4)
            || last < 4 && number.len() > 4
        {
            return (number, end);
        }
        number.extend(part);
        end += 1 + next;
        last = next;
    }
}

fn is_iban(number: &str) -> bool {
    let bytes = number.as_bytes();
    (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4..].iter().filter(|byte| byte.is_ascii_digit()).count() * 2 >= bytes.len() - 4
        && bytes[4..].iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// The first account on either side, where both have some that the other lacks.
pub(crate) fn account_change(
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
) -> Option<(String, String, usize)> {
    let gone = old.difference(new).next()?;
    let came: Vec<&String> = new.difference(old).collect();
    came.first().map(|first| (gone.clone(), (*first).clone(), came.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        accounts(text).into_iter().collect()
    }

    #[test]
    fn accounts_are_found_in_any_grouping() {
        for text in [
            "DE89 3704 0044 0532 0130 00",
            "DE89370400440532013000",
            "DE89-3704-0044-0532-0130-00",
            "ＤＥ８９ 3704 0044 0532 0130 00",
        ] {
            assert_eq!(found(text), ["DE89370400440532013000"], "{text}");
        }
        assert_eq!(
            found("账号：6222 0200 1234 5678 901，30 天"),
            ["6222020012345678901"],
            "a card number in a sentence"
        );
        assert_eq!(found("6222020012345678901"), ["6222020012345678901"], "without blanks");
        assert_eq!(found("| LT12 1000 0111 0100 1000 | 14 days |"), ["LT121000011101001000"], "in a table");
    }

    #[test]
    fn other_numbers_are_none() {
        for text in [
            "123,456,789,012.00",
            "2026-09-17",
            "1234567890",
            "138 0013 8000",
            "BW-0917 and 24,600.00",
            "123456789012.50",
        ] {
            assert!(found(text).is_empty(), "{text} is no account: {:?}", found(text));
        }
    }

    #[test]
    fn a_change_needs_both_sides() {
        let (one, two) = (accounts("DE89 3704 0044 0532 0130 00"), accounts("LT12 1000 0111 0100 1000"));
        assert!(account_change(&one, &two).is_some(), "one took the place of another");
        assert!(account_change(&one, &one).is_none(), "the same");
        assert!(account_change(&BTreeSet::new(), &two).is_none(), "a new one replaces none");
    }
}
