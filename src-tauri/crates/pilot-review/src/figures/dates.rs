//! Dates, times and periods: they are no figures and are left out of the number check.

use super::glyphs::is_word;

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const FULL_MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "sept",
];

/// Where a date, time or period that begins at `from` ends; `None` when there is none.
pub(crate) fn date_end(text: &[char], from: usize) -> Option<usize> {
    let end = chinese_date(text, from)
        .or_else(|| numeric_date(text, from))
        .or_else(|| compact_date(text, from))
        .or_else(|| day_before_month(text, from))
        .or_else(|| fiscal(text, from))
        .or_else(|| time(text, from))?;
    Some(trailing_time(text, end).unwrap_or(end))
}

/// Where a date that begins with the name of a month ends: `Sep 17, 2026`, `September 2026`.
pub(crate) fn month_first(text: &[char], from: usize) -> Option<usize> {
    let mut at = month_name(text, from)?;
    let named = at;
    at += usize::from(text.get(at) == Some(&'.'));
    at = blanks(text, at);
    if let Some((_, end)) = year(text, at) {
        return Some(end);
    }
    let (day, mut end) = number(text, at, 2)?;
    if !(1..=31).contains(&day) || named == at {
        return None;
    }
    end = ordinal(text, end);
    let comma = end + usize::from(text.get(end) == Some(&','));
    let after = blanks(text, comma);
    match year(text, after) {
        Some((_, end)) => Some(end),
        None if ends_number(text, end) => Some(end),
        None => None,
    }
}

/// A four-digit year between 1990 and 2059.
pub(crate) fn is_year(value: u32) -> bool {
    (1990..=2059).contains(&value)
}

fn chinese_date(text: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    let mut found = None;
    if let Some((_, end)) = year(text, at)
        && text.get(blanks(text, end)) == Some(&'年')
    {
        at = blanks(text, end) + 1;
        found = Some(at);
        at = blanks(text, at);
    }
    if let Some((month, end)) = number(text, at, 2)
        && (1..=12).contains(&month)
        && matches!(text.get(blanks(text, end)), Some('月'))
    {
        at = blanks(text, end) + 1;
        found = Some(at);
        at = blanks(text, at);
        if let Some((day, end)) = number(text, at, 2)
            && (1..=31).contains(&day)
            && matches!(text.get(blanks(text, end)), Some('日' | '号'))
        {
            found = Some(blanks(text, end) + 1);
        }
    }
    found
}

fn numeric_date(text: &[char], from: usize) -> Option<usize> {
    if let Some((_, end)) = year(text, from) {
        let separator = *text.get(end).filter(|sign| matches!(sign, '-' | '/' | '.'))?;
        let (month, after) = number(text, end + 1, 2)?;
        if !(1..=12).contains(&month) {
            return None;
        }
        if text.get(after) == Some(&separator) {
            let (day, last) = number(text, after + 1, 2)?;
            return ((1..=31).contains(&day) && ends_token(text, last)).then_some(last);
        }
        // A year and a month; with a point it would be a decimal number.
        return (separator != '.' && after - end == 3 && ends_token(text, after)).then_some(after);
    }
    let (first, end) = number(text, from, 2)?;
    let separator = *text.get(end).filter(|sign| matches!(sign, '-' | '/' | '.'))?;
    let (second, after) = number(text, end + 1, 2)?;
    if text.get(after) != Some(&separator) {
        return None;
    }
    let (_, last) = year(text, after + 1)?;
    let possible = (1..=12).contains(&first.min(second)) && (1..=31).contains(&first.max(second));
    (possible && ends_token(text, last)).then_some(last)
}

/// `20260917`, with nothing before or behind it.
fn compact_date(text: &[char], from: usize) -> Option<usize> {
    let (value, end) = number(text, from, 8)?;
    let valid = is_year(value / 10_000)
        && (1..=12).contains(&(value / 100 % 100))
        && (1..=31).contains(&(value % 100));
    (end - from == 8 && valid && ends_token(text, end)).then_some(end)
}

fn day_before_month(text: &[char], from: usize) -> Option<usize> {
    let (day, end) = number(text, from, 2)?;
    let end = ordinal(text, end);
    let gap = match text.get(end) {
        Some(' ' | '\u{A0}' | '-') => end + 1,
        Some('.') => blanks(text, end + 1),
        _ => return None,
    };
    let named = month_name(text, gap).filter(|_| (1..=31).contains(&day))?;
    let after = named + usize::from(matches!(text.get(named), Some('.' | ',' | '-')));
    Some(year(text, blanks(text, after)).map_or(named, |(_, end)| end))
}

/// `2026/27`: a year and the next.
fn fiscal(text: &[char], from: usize) -> Option<usize> {
    let (first, end) = year(text, from)?;
    if !matches!(text.get(end), Some('/' | '-')) {
        return None;
    }
    let (second, last) = number(text, end + 1, 4)?;
    let follows = second == first + 1 || (last - end == 3 && second == (first + 1) % 100);
    (follows && ends_token(text, last)).then_some(last)
}

fn time(text: &[char], from: usize) -> Option<usize> {
    let (hour, mut at) = number(text, from, 2)?;
    if hour > 24 || text.get(at) != Some(&':') {
        return None;
    }
    let (minute, end) = number(text, at + 1, 2)?;
    if minute > 59 || end - at != 3 {
        return None;
    }
    at = end;
    if text.get(at) == Some(&':')
        && let Some((second, end)) = number(text, at + 1, 2)
        && second < 61
        && end - at == 3
    {
        at = end;
        if text.get(at) == Some(&'.')
            && let Some((_, end)) = number(text, at + 1, 9)
        {
            at = end;
        }
    }
    if text.get(at) == Some(&'Z') {
        return Some(at + 1);
    }
    if matches!(text.get(at), Some('+' | '-'))
        && let Some((_, end)) = number(text, at + 1, 2)
    {
        let minutes = if text.get(end) == Some(&':') { number(text, end + 1, 2) } else { None };
        return Some(minutes.map_or(end, |(_, last)| last));
    }
    Some(at)
}

/// A time behind a date, with `T` or a blank between.
fn trailing_time(text: &[char], end: usize) -> Option<usize> {
    matches!(text.get(end), Some('T' | ' ')).then(|| time(text, end + 1)).flatten()
}

fn month_name(text: &[char], from: usize) -> Option<usize> {
    if from > 0 && text.get(from - 1).is_some_and(|before| is_word(*before) && !before.is_ascii_digit()) {
        return None;
    }
    // In lower case it is more often the verb: `12 may be too many`.
    text.get(from).filter(|first| first.is_ascii_uppercase())?;
    let word: String = text[from.min(text.len())..]
        .iter()
        .take_while(|character| character.is_ascii_alphabetic())
        .take(10)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    let known = MONTHS.contains(&word.as_str()) || FULL_MONTHS.contains(&word.as_str());
    known.then_some(from + word.len())
}

fn ordinal(text: &[char], end: usize) -> usize {
    let suffix: String = text[end.min(text.len())..].iter().take(2).collect();
    if matches!(suffix.as_str(), "st" | "nd" | "rd" | "th") { end + 2 } else { end }
}

fn year(text: &[char], from: usize) -> Option<(u32, usize)> {
    let (value, end) = number(text, from, 4)?;
    (end - from == 4 && is_year(value)).then_some((value, end))
}

/// A run of one to `most` digits that is not longer.
fn number(text: &[char], from: usize, most: usize) -> Option<(u32, usize)> {
    let digits =
        text.get(from..)?.iter().take(most + 1).take_while(|character| character.is_ascii_digit()).count();
    if digits == 0 || digits > most {
        return None;
    }
    let value =
        text[from..from + digits].iter().fold(0, |value, digit| value * 10 + digit.to_digit(10).unwrap_or(0));
    Some((value, from + digits))
}

fn blanks(text: &[char], from: usize) -> usize {
    from + text[from.min(text.len())..]
        .iter()
        .take(2)
        .take_while(|character| matches!(character, ' ' | '\u{A0}'))
        .count()
}

fn ends_number(text: &[char], end: usize) -> bool {
    let decimal =
        matches!(text.get(end), Some('.' | ',')) && text.get(end + 1).is_some_and(char::is_ascii_digit);
    !decimal && !text.get(end).is_some_and(|next| is_word(*next))
}

/// Whether a date is not the beginning of something longer, such as an invoice number.
fn ends_token(text: &[char], end: usize) -> bool {
    match text.get(end) {
        None => true,
        Some('T') => text.get(end + 1).is_some_and(char::is_ascii_digit),
        Some('-' | '/' | '_' | '.') => !text.get(end + 1).is_some_and(|next| is_word(*next)),
        Some(next) => !is_word(*next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_periods_are_recognised_whole() {
        for date in [
            "2026-09-17",
            "2026/9/7",
            "2026.09.17",
            "2026-09",
            "2026年9月17日",
            "2026 年 9 月",
            "2026年",
            "9月17日",
            "9月",
            "17/09/2026",
            "09.17.2026",
            "20260917",
            "17 Sep 2026",
            "2 Oct",
            "17. September 2026",
            "2026/27",
            "14:02",
            "14:02:33.5",
            "2026-09-17T14:02:33Z",
            "2026-09-17 14:02:33+08:00",
        ] {
            let text: Vec<char> = date.chars().collect();
            assert_eq!(date_end(&text, 0), Some(text.len()), "{date} is left out as a whole");
        }
        for date in ["Sep 17, 2026", "September 2026", "Oct 2", "Sept. 2026"] {
            let text: Vec<char> = date.chars().collect();
            assert_eq!(month_first(&text, 0), Some(text.len()), "{date} is left out as a whole");
        }
    }

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for other in [
            "2026-001",
            "12.5",
            "2026.09",
            "20269917",
            "2026-09-17-04",
            "3个月",
            "13:75",
            "1234",
            "2 may-be2",
            "12,345",
        ] {
            let text: Vec<char> = other.chars().collect();
            assert_ne!(date_end(&text, 0), Some(text.len()), "{other} is no date");
        }
    }
}
