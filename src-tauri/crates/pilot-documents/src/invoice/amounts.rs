//! Amounts inside running text.

use super::grid::Grid;
use crate::money::{self, Amount, Mark, Votes};
use rust_decimal::Decimal;

/// The decimal mark that the whole paper uses.
pub(super) fn mark(grid: &Grid<'_>) -> Option<Mark> {
    let mut votes = Votes::default();
    for text in grid.texts() {
        for word in text.split_whitespace() {
            if word.bytes().any(|byte| byte.is_ascii_digit()) {
                votes.add(word.trim_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '(' | ')')));
            }
        }
    }
    votes.mark()
}

/// True when a text looks like money rather than a count: it has a fraction, groups or a currency.
fn moneylike(text: &str, amount: &Amount) -> bool {
    amount.currency.is_some() || text.contains(['.', ',']) || text.contains('\'')
}

/// All amounts of a text, from left to right. Percentages and bare counts are left out.
pub(super) fn all(text: &str, mark: Option<Mark>) -> Vec<Amount> {
    if let Some(amount) = money::parse(text, mark) {
        return if moneylike(text, &amount) { vec![amount] } else { Vec::new() };
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((amount, used)) = longest(&words[at..], mark) else {
            at += 1;
            continue;
        };
        at += used;
        if words.get(at).is_none_or(|word| !word.starts_with('%')) {
            out.push(amount);
        }
    }
    out
}

/// The longest run of words that is one amount: `EUR 1 234,56`, `529,87 €`, `¥ 2000.00`.
fn longest(words: &[&str], mark: Option<Mark>) -> Option<(Amount, usize)> {
    (1..=words.len().min(4)).rev().find_map(|count| {
        let piece = words[..count].join(" ");
        let piece = piece.trim_matches(|c: char| matches!(c, ':' | ';' | '|' | '=' | '*' | '&'));
        let starts = piece
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '(' | '.' | '\u{2212}'))
            || money::parse(words[0], mark).is_none();
        let amount = money::parse(piece, mark).filter(|amount| starts && moneylike(piece, amount))?;
        Some((amount, count))
    })
}

/// The last amount of several texts, and whether a currency stood with it.
pub(super) fn last(texts: &[String], mark: Option<Mark>) -> Option<Amount> {
    texts.iter().rev().find_map(|text| all(text, mark).into_iter().next_back())
}

/// Finds gross, net and tax among candidates such that net and tax make the gross; the first of each otherwise.
pub(super) fn settle(
    gross: &[Decimal],
    net: &[Decimal],
    tax: &[Decimal],
) -> (Option<Decimal>, Option<Decimal>, Option<Decimal>) {
    for total in gross {
        for base in net {
            // No country takes more than a third; a sum that only happens to fit is none.
            let plausible = |tax: Decimal| tax.abs().saturating_mul(Decimal::from(3)) <= base.abs();
            if let Some(found) =
                tax.iter().find(|tax| base.saturating_add(**tax) == *total && plausible(**tax))
            {
                return (Some(*total), Some(*base), Some(*found));
            }
            // Each rate may have a line of its own, and no line the sum.
            let sum = tax.iter().fold(Decimal::ZERO, |sum, tax| sum.saturating_add(*tax));
            if tax.len() > 1 && base.saturating_add(sum) == *total && plausible(sum) {
                return (Some(*total), Some(*base), Some(sum));
            }
        }
    }
    (gross.first().copied(), net.first().copied(), tax.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        all(text, Some(Mark::Comma)).iter().map(|amount| amount.value.to_string()).collect()
    }

    #[test]
    fn amounts_in_lines() {
        for (text, expected) in [
            ("Gesamtbetrag EUR 1.190,00", &["1190.00"] as &[&str]),
            ("19 % MwSt. 190,00 €", &["190.00"]),
            ("543,00 € 29,87 €", &["543.00", "29.87"]),
            ("1 234,56 €", &["1234.56"]),
            ("zahlbar netto 14 Tage", &[]),
            ("7 7,91", &["7.91"]),
            ("¥2000.00", &["2000.00"]),
        ] {
            assert_eq!(values(text), expected, "in {text:?}");
        }
    }

    #[test]
    fn candidates_are_settled_by_arithmetic() {
        let d = |cents: i64| Decimal::new(cents, 2);
        let (gross, net, tax) = settle(&[d(99900), d(11900)], &[d(10000)], &[d(700), d(1900)]);
        assert_eq!(
            (gross, net, tax),
            (Some(d(11900)), Some(d(10000)), Some(d(1900))),
            "what adds up is right"
        );
        assert_eq!(
            settle(&[d(5)], &[d(1)], &[d(1)]),
            (Some(d(5)), Some(d(1)), Some(d(1))),
            "else the first of each, to be checked"
        );
    }
}
