//! One number as written: digits, separators, decimals, and the readings that it may have.

use super::currency::Currency;
use rust_decimal::Decimal;

/// A value that a written number may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The value.
    pub(crate) value: Decimal,
    /// One step of the last digit that is shown.
    pub(crate) unit: Decimal,
}

/// Beyond this no amount is meant, and sums of many would overflow.
pub(crate) const LARGEST: Decimal = Decimal::from_parts(1_661_992_960, 1_808_227_885, 5, false, 0);

/// A number of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// What it may stand for, the likeliest first. Never empty.
    pub(crate) readings: Vec<Reading>,
    /// Digits from the first that is not zero, as shown.
    pub(crate) digits: u32,
    /// Digits behind the decimal point, as shown.
    pub(crate) decimals: u32,
    /// Whether a per cent sign follows.
    pub(crate) percent: bool,
    /// Currency written with it.
    pub(crate) currency: Option<Currency>,
    /// A bare whole number of four digits that may be a year.
    pub(crate) year_like: bool,
}

impl Number {
    /// The likeliest value.
    pub(crate) fn value(&self) -> Decimal {
        self.readings.first().map_or(Decimal::ZERO, |reading| reading.value)
    }

    /// Whether a value that was worked out may be accepted for it: small whole numbers come out by accident.
    pub(crate) fn is_telling(&self) -> bool {
        self.digits >= 3 || self.decimals > 0
    }
}

/// Digits with their separators, before it is decided what they mean.
pub(crate) struct Digits {
    /// Position behind the last digit that belongs to the number.
    pub(crate) end: usize,
    whole: String,
    fraction: String,
    /// The other meaning of a single separator before three digits.
    other: Option<(String, String)>,
    /// Whether separators or decimals were written.
    pub(crate) is_bare: bool,
}

impl Digits {
    /// Reads the digits that begin at `from`. `None` for a run like `2.1.3` that is no number.
    pub(crate) fn at(text: &[char], from: usize) -> Option<Self> {
        let mut groups: Vec<(char, String, usize)> = Vec::new();
        let (first, mut at) = run(text, from);
        if first.is_empty() {
            return None;
        }
        let first_end = at;
        while let Some(separator) =
            text.get(at).copied().filter(|sign| matches!(sign, ',' | '.' | '\'' | '\u{A0}'))
        {
            let (digits, end) = run(text, at + 1);
            if digits.is_empty() {
                break;
            }
            groups.push((separator, digits, end));
            at = end;
        }
        if let Some(spaced) = blank_groups(text, &first, first_end, &groups) {
            return Some(spaced);
        }
        if groups.len() > 1
            && groups.iter().all(|(separator, _, _)| *separator == '.')
            && !grouped(&first, &groups)
        {
            return None;
        }
        // What does not fit together ends the number before it.
        loop {
            if let Some((whole, fraction, other)) = interpreted(&first, &groups) {
                let end = groups.last().map_or(first_end, |(_, _, end)| *end);
                return Some(Self { end, whole, fraction, other, is_bare: groups.is_empty() });
            }
            groups.pop();
        }
    }

    /// The digits alone.
    pub(crate) fn run(&self) -> &str {
        &self.whole
    }

    /// Digits behind the decimal point.
    pub(crate) fn decimals(&self) -> u32 {
        u32::try_from(self.fraction.len()).unwrap_or(u32::MAX)
    }

    /// Digits from the first that is not zero.
    pub(crate) fn significant(&self) -> u32 {
        let all = format!("{}{}", self.whole, self.fraction);
        u32::try_from(all.trim_start_matches('0').len()).unwrap_or(u32::MAX)
    }

    /// The readings, scaled by `scale` (such as 10,000 for 万). Empty when the number is too long to be held exactly.
    pub(crate) fn readings(&self, negative: bool, scale: Decimal) -> Vec<Reading> {
        let mut readings = Vec::new();
        let parts = [
            Some((&self.whole, &self.fraction)),
            self.other.as_ref().map(|(whole, fraction)| (whole, fraction)),
        ];
        for (whole, fraction) in parts.into_iter().flatten() {
            let Ok(value) = format!("{whole}.{fraction}0").parse::<Decimal>() else { continue };
            let decimals = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
            let (Some(value), Some(unit)) = (
                value.checked_mul(scale),
                Decimal::try_new(1, decimals).ok().and_then(|unit| unit.checked_mul(scale)),
            ) else {
                continue;
            };
            if value > LARGEST {
                continue;
            }
            readings.push(Reading { value: if negative { -value } else { value }, unit });
        }
        readings
    }
}

fn run(text: &[char], from: usize) -> (String, usize) {
    let digits: String =
        text[from.min(text.len())..].iter().take_while(|character| character.is_ascii_digit()).collect();
    let end = from + digits.len();
    (digits, end)
}

/// `1 234 567,89`: plain blanks group only before a decimal comma or point, or they would join two numbers.
fn blank_groups(
    text: &[char],
    first: &str,
    first_end: usize,
    groups: &[(char, String, usize)],
) -> Option<Digits> {
    if !groups.is_empty() || first.len() > 3 {
        return None;
    }
    let (mut whole, mut at) = (first.to_owned(), first_end);
    while text.get(at) == Some(&' ') {
        let (digits, end) = run(text, at + 1);
        if digits.len() != 3 {
            break;
        }
        whole.push_str(&digits);
        at = end;
    }
    let (fraction, end) = run(text, at + 1);
    let decimal = matches!(text.get(at), Some(',' | '.')) && matches!(fraction.len(), 1 | 2);
    (at > first_end && decimal).then_some(Digits { end, whole, fraction, other: None, is_bare: false })
}

/// Whether groups are those of thousands: three digits each, or two and then three as in India.
fn grouped(first: &str, groups: &[(char, String, usize)]) -> bool {
    let Some((last, middle)) = groups.split_last() else { return true };
    let western = middle.iter().all(|(_, digits, _)| digits.len() == 3) && first.len() <= 3;
    let indian = middle.iter().all(|(_, digits, _)| digits.len() == 2) && first.len() <= 2 && last.0 == ',';
    last.1.len() == 3 && (western || indian) && !(first.starts_with('0') && first.len() > 1)
}

type Meaning = (String, String, Option<(String, String)>);

/// What digits and separators mean: whole part, fraction, and another possible meaning.
fn interpreted(first: &str, groups: &[(char, String, usize)]) -> Option<Meaning> {
    let joined = |groups: &[(char, String, usize)]| -> String {
        first.chars().chain(groups.iter().flat_map(|(_, digits, _)| digits.chars())).collect()
    };
    let Some((last, before)) = groups.split_last() else {
        return Some((first.to_owned(), String::new(), None));
    };
    let same = before.iter().all(|(separator, _, _)| *separator == last.0);
    if same {
        let is_grouped = grouped(first, groups);
        if let ([], ',' | '.') = (before, last.0) {
            let decimal = (first.to_owned(), last.1.clone());
            let thousands = (joined(groups), String::new());
            return Some(match (last.0, is_grouped && first != "0") {
                (',', true) => (thousands.0, thousands.1, Some(decimal)),
                (_, true) => (decimal.0, decimal.1, Some(thousands)),
                (_, false) => (decimal.0, decimal.1, None),
            });
        }
        return is_grouped.then(|| (joined(groups), String::new(), None));
    }
    let one_kind = before.iter().all(|(separator, _, _)| *separator == before[0].0);
    let fits = one_kind && matches!(last.0, ',' | '.') && last.0 != before[0].0 && grouped(first, before);
    fits.then(|| (joined(before), last.1.clone(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Vec<String>)> {
        let text: Vec<char> = text.chars().collect();
        let digits = Digits::at(&text, 0)?;
        let readings = digits.readings(false, Decimal::ONE);
        Some((
            text[digits.end..].iter().collect(),
            readings.iter().map(|reading| reading.value.normalize().to_string()).collect(),
        ))
    }

    #[test]
    fn the_largest_number_is_a_one_with_twenty_zeros() {
        assert_eq!(LARGEST.to_string(), "100000000000000000000", "10 to the power of 20");
    }

    #[test]
    fn separators_are_understood() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("171717", "", &["171717"]),
            ("171,717.00", "", &["171717"]),
            ("1.234.567,89", "", &["1234567.89"]),
            ("12,5", "", &["12.5"]),
            ("1,234", "", &["1234", "1.234"]),
            ("1.234", "", &["1.234", "1234"]),
            ("0.125", "", &["0.125"]),
            ("1'234.50", "", &["1234.5"]),
            ("1\u{A0}234,50", "", &["1234.5"]),
            ("1 234,50 EUR", " EUR", &["1234.5"]),
            ("1 234 rows", " 234 rows", &["1"]),
            ("1,23,456.00", "", &["123456"]),
            ("12,345,67", ",67", &["12345", "12.345"]),
            ("5. Next", ". Next", &["5"]),
            ("24,600.00)", ")", &["24600"]),
        ];
        for (text, rest, values) in cases {
            let (left, readings) = read(text).unwrap_or_else(|| panic!("{text} is a number"));
            assert_eq!(
                (left.as_str(), readings.iter().map(String::as_str).collect::<Vec<_>>()),
                (*rest, values.to_vec()),
                "{text}"
            );
        }
        assert!(read("2.1.3").is_none(), "a section number is no number");
        assert_eq!(
            read(&"9".repeat(60)).map(|(_, readings)| readings.len()),
            Some(0),
            "too long to be held exactly"
        );
    }
}
