//! Amounts as they are printed. Exact decimals only; a float never becomes money except by its shortest text.

mod currency;
mod words;

pub(crate) use currency::{code as currency_code, in_text as currency_in_text, of_number_format};
pub(crate) use words::parse as words;

use crate::fold::nfkc;
use rust_decimal::Decimal;
use std::str::FromStr;

/// Which sign separates the fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// 1,234.56
    Point,
    /// 1.234,56
    Comma,
}

/// An amount read from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) value: Decimal,
    /// ISO 4217, when a sign or code stood beside the digits.
    pub(crate) currency: Option<&'static str>,
    /// One separator with exactly three digits after it and nothing that decides: 1.234 or 1,234.
    pub(crate) ambiguous: bool,
}

/// Votes of a document or column on its decimal mark.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Votes {
    point: u32,
    comma: u32,
    pub(crate) open: u32,
}

impl Votes {
    /// Counts what one text proves.
    pub(crate) fn add(&mut self, text: &str) {
        match evidence(text) {
            Evidence::Point => self.point += 1,
            Evidence::Comma => self.comma += 1,
            Evidence::Open => self.open += 1,
            Evidence::None => {}
        }
    }

    /// What the majority says; `None` when nothing was proved.
    pub(crate) fn mark(self) -> Option<Mark> {
        match self.point.cmp(&self.comma) {
            std::cmp::Ordering::Greater => Some(Mark::Point),
            std::cmp::Ordering::Less => Some(Mark::Comma),
            std::cmp::Ordering::Equal => None,
        }
    }
}

enum Evidence {
    Point,
    Comma,
    Open,
    None,
}

fn evidence(text: &str) -> Evidence {
    if !text.bytes().any(|byte| byte == b'.' || byte == b',') && text.is_ascii() {
        return Evidence::None;
    }
    let Some(parts) = parts(text) else { return Evidence::None };
    match shape(&parts.digits) {
        Shape::Decimal('.') => Evidence::Point,
        Shape::Decimal(_) => Evidence::Comma,
        Shape::Thousands('.') => Evidence::Comma,
        Shape::Thousands(_) => Evidence::Point,
        Shape::Open(_) => Evidence::Open,
        Shape::Plain | Shape::Bad => Evidence::None,
    }
}

/// Reads an amount; `None` when the text is anything else. `mark` settles 1.234 against 1,234.
#[must_use]
pub(crate) fn parse(text: &str, mark: Option<Mark>) -> Option<Amount> {
    if let Some(value) = plain(text) {
        return Some(Amount { value, currency: None, ambiguous: false });
    }
    let parts = parts(text)?;
    let (point, ambiguous) = match shape(&parts.digits) {
        Shape::Plain => (None, false),
        Shape::Decimal(sign) => (Some(sign), false),
        Shape::Thousands(_) => (None, false),
        Shape::Open(sign) => match (mark, sign) {
            (Some(Mark::Point), '.') | (Some(Mark::Comma), ',') => (Some(sign), false),
            (Some(Mark::Point | Mark::Comma), _) => (None, false),
            // Without any evidence a comma groups thousands and a point is a decimal point: so it is in Chinese and
            // English, and `ambiguous` says that it was not proved.
            (None, '.') => (Some('.'), true),
            (None, _) => (None, true),
        },
        Shape::Bad => return None,
    };
    let mut clean = String::with_capacity(parts.digits.len());
    for c in parts.digits.chars() {
        if c.is_ascii_digit() {
            clean.push(c);
        } else if Some(c) == point {
            clean.push('.');
        }
    }
    let value = decimal(&clean)?.checked_mul(parts.scale)?;
    let value = if parts.negative { -value } else { value };
    Some(Amount { value, currency: parts.currency, ambiguous })
}

/// `Decimal` from digits and one point; refuses what would lose digits.
fn decimal(text: &str) -> Option<Decimal> {
    let text = text.strip_prefix('.').map_or_else(|| text.to_owned(), |tail| format!("0.{tail}"));
    if text.is_empty() || text.bytes().filter(u8::is_ascii_digit).count() > 28 {
        return None;
    }
    Decimal::from_str_exact(text.trim_end_matches('.')).ok()
}

/// The commonest form, without allocation: `-1234.56`.
fn plain(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let body = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if body.is_empty() || body.len() > 20 || !body[0].is_ascii_digit() {
        return None;
    }
    let point = body.iter().position(|byte| *byte == b'.');
    let fraction = point.map_or(0, |at| body.len() - at - 1);
    let digits = body.iter().enumerate().all(|(at, byte)| byte.is_ascii_digit() || Some(at) == point);
    // Three digits after a single point may be thousands: the long way decides.
    (digits && fraction != 3 && (point.is_none() || fraction > 0))
        .then(|| Decimal::from_str(text).ok())
        .flatten()
}

/// Exact decimal of a float by its shortest text that reads back the same; `None` for what no amount can be.
#[must_use]
pub(crate) fn from_float(value: f64) -> Option<Decimal> {
    if !value.is_finite() || value.abs() >= 1e27 {
        return None;
    }
    let text = format!("{value}");
    let significant = text.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    let places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    // Excel shows 15 digits: 0.1 + 0.2 comes as 0.30000000000000004 and is 0.3 to everyone who sees it. Amounts with
    // few places keep all their digits.
    if significant > 15 && places > 6 {
        return Decimal::from_scientific(&format!("{value:.14e}")).ok().map(|value| value.normalize());
    }
    Decimal::from_str(&text).ok()
}

struct Parts {
    negative: bool,
    currency: Option<&'static str>,
    digits: String,
    scale: Decimal,
}

/// Splits a printed amount into sign, currency, digits with separators, and unit.
fn parts(text: &str) -> Option<Parts> {
    if text.len() > 80 {
        return None;
    }
    let text = nfkc(text);
    let mut rest = text.trim();
    let mut negative = false;
    let mut currency = None;
    if let Some(inner) = rest.strip_prefix('(').and_then(|tail| tail.strip_suffix(')')) {
        negative = true;
        rest = inner.trim();
    }
    loop {
        let before = rest.len();
        rest = rest.trim();
        if let Some(tail) = strip_minus(rest) {
            negative = !negative;
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix('+') {
            rest = tail;
        } else if let Some((code, tail)) = currency::prefix(rest) {
            currency = currency.or(Some(code));
            rest = tail;
        }
        if rest.len() == before {
            break;
        }
    }
    let mut scale = Decimal::ONE;
    loop {
        let before = rest.len();
        rest = rest.trim_end();
        if let Some((code, head)) = currency::suffix(rest) {
            currency = currency.or(Some(code));
            rest = head;
        } else if let Some((factor, head)) = unit_suffix(rest) {
            scale = scale.checked_mul(factor)?;
            rest = head;
        } else if let Some(head) = strip_minus_end(rest) {
            negative = true;
            rest = head;
        } else if let Some(head) =
            rest.strip_suffix(",-").or_else(|| rest.strip_suffix(".-")).or_else(|| rest.strip_suffix(",--"))
        {
            // 1.234,- is how some write no cents.
            rest = head;
        }
        if rest.len() == before {
            break;
        }
    }
    let digits = digits_only(rest)?;
    Some(Parts { negative, currency, digits, scale })
}

fn strip_minus(text: &str) -> Option<&str> {
    ["-", "\u{2212}", "\u{2013}", "(负数)", "负"].iter().find_map(|sign| text.strip_prefix(sign))
}

fn strip_minus_end(text: &str) -> Option<&str> {
    let head = text.strip_suffix(['-', '\u{2212}']).or_else(|| {
        let head = text.strip_suffix("CR").or_else(|| text.strip_suffix("Cr"))?;
        Some(head.trim_end())
    })?;
    head.ends_with(|c: char| c.is_ascii_digit()).then_some(head)
}

fn unit_suffix(text: &str) -> Option<(Decimal, &str)> {
    const UNITS: [(&str, i64); 10] = [
        ("百万", 1_000_000),
        ("亿", 100_000_000),
        ("万", 10_000),
        ("千", 1_000),
        ("Mio.", 1_000_000),
        ("Mio", 1_000_000),
        ("整", 1),
        ("正", 1),
        ("k", 1_000),
        ("K", 1_000),
    ];
    UNITS.iter().find_map(|(unit, factor)| {
        let head = text.strip_suffix(unit)?;
        // 100元整 has its currency before 整.
        let fits = |c: char| c.is_ascii_digit() || (*factor == 1 && matches!(c, '元' | '圆'));
        head.trim_end().ends_with(fits).then(|| (Decimal::from(*factor), head))
    })
}

/// Keeps digits, points and commas; blanks and apostrophes between digits go; anything else is no amount.
fn digits_only(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        match c {
            '0'..='9' | '.' | ',' => out.push(*c),
            ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '\u{2019}' | '`' => {
                // A grouping blank stands between a digit and exactly three digits; 12 05 is two numbers.
                let three = chars[at + 1..].iter().take_while(|c| c.is_ascii_digit()).count() == 3;
                let digit = at > 0 && chars[at - 1].is_ascii_digit();
                if !(three && digit) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    out.contains(|c: char| c.is_ascii_digit()).then_some(out)
}

enum Shape {
    Plain,
    /// The sign that separates the fraction; the other one, if any, groups.
    Decimal(char),
    /// The sign that groups.
    Thousands(char),
    /// One sign, three digits after it.
    Open(char),
    Bad,
}

fn shape(digits: &str) -> Shape {
    let points = digits.matches('.').count();
    let commas = digits.matches(',').count();
    match (points, commas) {
        (0, 0) => Shape::Plain,
        (0, _) => one_sign(digits, ',', commas),
        (_, 0) => one_sign(digits, '.', points),
        _ => {
            let last = if digits.rfind('.') > digits.rfind(',') { '.' } else { ',' };
            let group = if last == '.' { ',' } else { '.' };
            let whole = digits.split(last).next().unwrap_or_default();
            if digits.matches(last).count() == 1 && grouped(whole, group) {
                Shape::Decimal(last)
            } else {
                Shape::Bad
            }
        }
    }
}

fn one_sign(digits: &str, sign: char, count: usize) -> Shape {
    if count > 1 {
        return if grouped(digits, sign) { Shape::Thousands(sign) } else { Shape::Bad };
    }
    let (whole, fraction) = digits.split_once(sign).unwrap_or((digits, ""));
    // 0.123 has no thousands, and 1234.567 neither.
    let groups = fraction.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    if groups { Shape::Open(sign) } else { Shape::Decimal(sign) }
}

/// Groups of three, or the Indian two-two-three.
fn grouped(digits: &str, sign: char) -> bool {
    let groups: Vec<&str> = digits.split(sign).collect();
    let Some((last, rest)) = groups.split_last() else { return false };
    let Some((first, middle)) = rest.split_first() else { return true };
    let size = |expected: usize| middle.iter().all(|group| group.len() == expected);
    last.len() == 3 && (1..=3).contains(&first.len()) && (size(3) || (size(2) && first.len() <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Option<String> {
        parse(text, None).map(|amount| amount.value.normalize().to_string())
    }

    #[test]
    fn printed_forms() {
        for (text, expected) in [
            ("1234.56", "1234.56"),
            ("1,234.56", "1234.56"),
            ("1.234,56", "1234.56"),
            ("1 234,56 €", "1234.56"),
            ("1'234.50", "1234.5"),
            ("12,34,567.00", "1234567"),
            ("1.234.567", "1234567"),
            ("３，２８０．５０", "3280.5"),
            ("￥ 1,769.91", "1769.91"),
            ("-26.55", "-26.55"),
            ("26,55-", "-26.55"),
            ("(1,200.00)", "-1200"),
            ("−8.79", "-8.79"),
            ("€ -12,00", "-12"),
            ("1.2万", "12000"),
            ("3,5 Mio. EUR", "3500000"),
            ("12,-", "12"),
            ("0,0345", "0.0345"),
            ("100元整", "100"),
            ("USD 13.50", "13.5"),
            ("RMB1,000", "1000"),
            (".5", "0.5"),
            ("0.125", "0.125"),
        ] {
            assert_eq!(value(text).unwrap_or_default(), expected, "of {text:?}");
        }
        for text in
            ["", "-", "abc", "12%", "12/03", "1,2,3", "2024-03-16", "1.2.3", "A100", "12 05", "INV-1", "1..2"]
        {
            assert_eq!(value(text), None, "{text:?} is no amount");
        }
    }

    #[test]
    fn three_digits_need_a_vote() {
        let open = parse("1.234", None).unwrap();
        assert!(open.ambiguous, "nothing decides 1.234");
        assert_eq!(
            parse("1.234", Some(Mark::Comma)).unwrap().value,
            Decimal::from(1234),
            "a German document"
        );
        assert_eq!(
            parse("1,234", Some(Mark::Point)).unwrap().value,
            Decimal::from(1234),
            "an English document"
        );
        let mut votes = Votes::default();
        for text in ["1.234", "12,50", "7"] {
            votes.add(text);
        }
        assert_eq!(votes.mark(), Some(Mark::Comma), "12,50 settles the column");
    }

    #[test]
    fn signs_and_codes_name_the_currency() {
        for (text, code) in [
            ("¥100", "CNY"),
            ("$5", "USD"),
            ("HK$5", "HKD"),
            ("5 EUR", "EUR"),
            ("£1", "GBP"),
            ("100美元", "USD"),
        ] {
            assert_eq!(parse(text, None).and_then(|amount| amount.currency), Some(code), "of {text:?}");
        }
    }

    #[test]
    fn floats_by_their_shortest_text() {
        for (float, expected) in [
            (0.1 + 0.2, "0.3"),
            (99_999_999_999_999.98, "99999999999999.98"),
            (1234.5, "1234.5"),
            (1e20, "100000000000000000000"),
            (8.2e-7, "0.00000082"),
        ] {
            assert_eq!(from_float(float).unwrap().normalize().to_string(), expected, "of {float}");
        }
        assert_eq!(from_float(f64::NAN), None, "no amount");
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}", point: bool) {
            let mark = if point { Mark::Point } else { Mark::Comma };
            let _ = (parse(&text, None), parse(&text, Some(mark)), currency_code(&text));
        }

        #[test]
        fn what_is_printed_reads_back(cents in -10_000_000_000i64..10_000_000_000, comma: bool) {
            let amount = Decimal::new(cents, 2);
            let plain = format!("{:.2}", amount.abs());
            let (whole, fraction) = plain.split_once('.').unwrap();
            let mut grouped = String::new();
            for (at, digit) in whole.chars().enumerate() {
                if at > 0 && (whole.len() - at) % 3 == 0 {
                    grouped.push(if comma { '.' } else { ',' });
                }
                grouped.push(digit);
            }
            let text = format!("{}{grouped}{}{fraction}", if cents < 0 { "-" } else { "" }, if comma { ',' } else { '.' });
            prop_assert_eq!(parse(&text, None).map(|found| found.value), Some(amount), "of {}", text);
        }

        #[test]
        fn floats_of_cents_are_exact(cents in -100_000_000_000i64..100_000_000_000) {
            let float = cents as f64 / 100.0;
            prop_assert_eq!(from_float(float), Some(Decimal::new(cents, 2)), "of {}", float);
        }
    }
}
