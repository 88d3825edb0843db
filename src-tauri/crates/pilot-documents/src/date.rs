//! Dates as they are printed, in five languages and without guessing silently.

use crate::fold::nfkc;
use chrono::NaiveDate;

/// Which of two small numbers is the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// 31/12/2026
    DayFirst,
    /// 12/31/2026
    MonthFirst,
}

/// A date with what is not sure about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) date: NaiveDate,
    /// 03/04/2026 with nothing that decides.
    pub(crate) ambiguous: bool,
    /// What this date by itself proves about the order.
    pub(crate) proves: Option<Order>,
}

#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    Number(&'a str, usize),
    Word(&'a str, usize),
    Mark(char, usize),
}

impl Token<'_> {
    fn start(&self) -> usize {
        match self {
            Token::Number(_, at) | Token::Word(_, at) | Token::Mark(_, at) => *at,
        }
    }
}

/// Reads a text that is a date and nothing else; a time of day after it is allowed.
#[must_use]
pub(crate) fn parse(text: &str, order: Option<Order>) -> Option<Found> {
    if let Some(date) = iso(text) {
        return Some(Found { date, ambiguous: false, proves: None });
    }
    if text.len() > 64 {
        return None;
    }
    let text = plain(text);
    let tokens = tokens(&text);
    let start = tokens.iter().position(|token| !matches!(token, Token::Mark(' ', _)))?;
    let (found, next) = match_at(&tokens, start, order)?;
    only_time(&tokens[next..]).then_some(found)
}

/// The first date inside a text, with the byte range in the text's compatibility form.
#[must_use]
pub(crate) fn find(text: &str, order: Option<Order>) -> Option<Found> {
    let text = plain(crate::fold::cut(text, 2_000));
    let tokens = tokens(&text);
    (0..tokens.len()).find_map(|at| {
        let glued = at > 0 && matches!((&tokens[at - 1], &tokens[at]), (Token::Word(word, _), Token::Number(..)) if word.is_ascii());
        // 2026-03-05 has a date only at its first number, and never within a longer run such as 12.34.56.78.
        let inside = at > 1 && matches!((&tokens[at - 2], &tokens[at - 1]), (Token::Number(..), Token::Mark('.' | '/' | '-', _)));
        if glued || inside { None } else { match_at(&tokens, at, order).map(|(found, _)| found) }
    })
}

/// `2026-03-05`, also with a time: the form of nearly every export, read without allocation.
fn iso(text: &str) -> Option<NaiveDate> {
    let bytes = text.trim().as_bytes();
    if bytes.len() < 10 || !(bytes[4] == b'-' || bytes[4] == b'/') || bytes[7] != bytes[4] {
        return None;
    }
    if bytes.len() > 10 && !matches!(bytes[10], b'T' | b' ') {
        return None;
    }
    let digits = |range: std::ops::Range<usize>| {
        bytes[range]
            .iter()
            .try_fold(0u32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
    };
    let rest_is_time = bytes[10..]
        .iter()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b' ' | b':' | b'.' | b'Z' | b'+' | b'-'));
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    rest_is_time.then(|| checked(year, month, day)).flatten()
}

/// Compatibility form with Chinese numerals of dates made digits: 二〇二四年三月十六日.
fn plain(text: &str) -> String {
    let text = nfkc(text);
    if !text.contains('年') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut run = String::new();
    for c in text.chars() {
        if "〇零一二三四五六七八九十".contains(c) {
            run.push(c);
            continue;
        }
        if !run.is_empty() {
            let digits = if matches!(c, '年' | '月' | '日') { numeral(&run) } else { None };
            out.push_str(&digits.unwrap_or_else(|| run.clone()));
            run.clear();
        }
        out.push(c);
    }
    out.push_str(&run);
    out
}

fn numeral(run: &str) -> Option<String> {
    let digit =
        |c: char| "〇一二三四五六七八九".chars().position(|other| other == c || (c == '零' && other == '〇'));
    let Some((tens, ones)) = run.split_once('十') else {
        return run.chars().map(|c| digit(c).map(|value| value.to_string())).collect();
    };
    let tens = if tens.is_empty() { 1 } else { digit(tens.chars().next()?)? };
    let ones = if ones.is_empty() { 0 } else { digit(ones.chars().next()?)? };
    Some((tens * 10 + ones).to_string())
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let run = |test: fn(char) -> bool, chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>| {
            let mut end = at + c.len_utf8();
            while let Some((next, c)) = chars.peek().copied() {
                if !test(c) {
                    break;
                }
                end = next + c.len_utf8();
                chars.next();
            }
            end
        };
        if c.is_ascii_digit() {
            let end = run(|c| c.is_ascii_digit(), &mut chars);
            out.push(Token::Number(&text[at..end], at));
        } else if matches!(c, '年' | '月' | '日' | '号') {
            out.push(Token::Mark(c, at));
        } else if c.is_alphabetic() && !crate::fold::is_cjk(c) {
            let end = run(|c| c.is_alphabetic() && !crate::fold::is_cjk(c), &mut chars);
            out.push(Token::Word(&text[at..end], at));
        } else if c.is_whitespace() {
            if !matches!(out.last(), Some(Token::Mark(' ', _))) {
                out.push(Token::Mark(' ', at));
            }
        } else {
            out.push(Token::Mark(c, at));
        }
    }
    out
}

type Match = (Found, usize);

fn match_at(tokens: &[Token<'_>], at: usize, order: Option<Order>) -> Option<Match> {
    match tokens.get(at)? {
        Token::Number(digits, _) => chinese(tokens, at)
            .or_else(|| numbers(tokens, at, order))
            .or_else(|| day_and_name(tokens, at))
            .or_else(|| compact(digits, at)),
        Token::Word(word, _) => name_and_day(tokens, at, month(word)?),
        Token::Mark(..) => None,
    }
}

fn number(tokens: &[Token<'_>], at: usize) -> Option<(u32, usize)> {
    match tokens.get(at)? {
        Token::Number(digits, _) if digits.len() <= 4 => Some((digits.parse().ok()?, digits.len())),
        _ => None,
    }
}

fn mark(tokens: &[Token<'_>], at: usize) -> Option<char> {
    match tokens.get(at)? {
        Token::Mark(c, _) => Some(*c),
        _ => None,
    }
}

fn skip_blank(tokens: &[Token<'_>], at: usize) -> usize {
    if mark(tokens, at) == Some(' ') { at + 1 } else { at }
}

fn sure(date: NaiveDate, next: usize) -> Match {
    (Found { date, ambiguous: false, proves: None }, next)
}

/// 2024年3月16日, with or without blanks.
fn chinese(tokens: &[Token<'_>], at: usize) -> Option<Match> {
    let (year, digits) = number(tokens, at)?;
    let mut next = skip_blank(tokens, at + 1);
    if mark(tokens, next) != Some('年') || !(digits == 4 || digits == 2) {
        return None;
    }
    next = skip_blank(tokens, next + 1);
    let (month, _) = number(tokens, next)?;
    next = skip_blank(tokens, next + 1);
    if mark(tokens, next) != Some('月') {
        return None;
    }
    next = skip_blank(tokens, next + 1);
    let (day, _) = number(tokens, next)?;
    let end = skip_blank(tokens, next + 1);
    let next = if matches!(mark(tokens, end), Some('日' | '号')) { end + 1 } else { next + 1 };
    let year = if digits == 2 { 2000 + year } else { year };
    Some(sure(checked(year, month, day)?, next))
}

/// Three numbers with the same separator.
fn numbers(tokens: &[Token<'_>], at: usize, order: Option<Order>) -> Option<Match> {
    let (a, a_len) = number(tokens, at)?;
    let separator = mark(tokens, at + 1).filter(|c| matches!(c, '-' | '/' | '.'))?;
    // 05. 06. 2018 is printed with blanks.
    let second = skip_blank(tokens, at + 2);
    let (b, b_len) = number(tokens, second)?;
    if mark(tokens, second + 1) != Some(separator) || b_len > 2 {
        return None;
    }
    let third = skip_blank(tokens, second + 2);
    let (c, c_len) = number(tokens, third)?;
    let next = third + 1;
    // A fourth part makes it a version or an account, not a date.
    if matches!(mark(tokens, next), Some('-' | '/' | '.')) && number(tokens, next + 1).is_some() {
        return None;
    }
    if a_len == 4 && c_len <= 2 {
        return Some(sure(checked(a, b, c)?, next));
    }
    if a_len > 2 {
        return None;
    }
    let year = match c_len {
        4 => c,
        2 if separator == '-' && a_len == 2 && a > 12 && c <= 31 && order.is_none() => {
            // 24-3-16 is how Chinese tables shorten; a first number above 12 is then the year.
            return Some(sure(checked(2000 + a, b, c)?, next));
        }
        2 => 2000 + c,
        _ => return None,
    };
    let (found, proves, ambiguous) = small(a, b, year, separator, order)?;
    Some((Found { date: found, ambiguous, proves }, next))
}

fn small(
    a: u32,
    b: u32,
    year: u32,
    separator: char,
    order: Option<Order>,
) -> Option<(NaiveDate, Option<Order>, bool)> {
    if separator == '.' {
        // Points are never written month first.
        return Some((checked(year, b, a)?, Some(Order::DayFirst), false));
    }
    if a > 12 {
        return Some((checked(year, b, a)?, Some(Order::DayFirst), false));
    }
    if b > 12 {
        return Some((checked(year, a, b)?, Some(Order::MonthFirst), false));
    }
    match order {
        Some(Order::DayFirst) => Some((checked(year, b, a)?, None, false)),
        Some(Order::MonthFirst) => Some((checked(year, a, b)?, None, false)),
        None => Some((checked(year, b, a)?, None, a != b)),
    }
}

/// 16 March 2024, 16. März 2024, 16-Mar-24.
fn day_and_name(tokens: &[Token<'_>], at: usize) -> Option<Match> {
    let (day, digits) = number(tokens, at)?;
    if digits > 2 {
        return None;
    }
    let mut next = at + 1;
    if let Some(Token::Word("st" | "nd" | "rd" | "th" | "er" | "de", _)) = tokens.get(next) {
        next += 1;
    }
    next = skip_separator(tokens, next);
    if let Some(Token::Word("of" | "de", _)) = tokens.get(next) {
        next = skip_blank(tokens, next + 1);
    }
    let Some(Token::Word(word, _)) = tokens.get(next) else { return None };
    let month = month(word)?;
    next = skip_separator(tokens, next + 1);
    if let Some(Token::Word("de" | "del", _)) = tokens.get(next) {
        next = skip_blank(tokens, next + 1);
    }
    let (year, digits) = number(tokens, next)?;
    let year = match digits {
        4 => year,
        2 => 2000 + year,
        _ => return None,
    };
    Some(sure(checked(year, month, day)?, next + 1))
}

/// March 16, 2024.
fn name_and_day(tokens: &[Token<'_>], at: usize, month: u32) -> Option<Match> {
    let next = skip_separator(tokens, at + 1);
    let (day, digits) = number(tokens, next)?;
    if digits > 2 {
        return None;
    }
    let mut next = next + 1;
    if let Some(Token::Word("st" | "nd" | "rd" | "th", _)) = tokens.get(next) {
        next += 1;
    }
    next = skip_separator(tokens, next);
    let (year, digits) = number(tokens, next)?;
    (digits == 4).then(|| checked(year, month, day)).flatten().map(|date| sure(date, next + 1))
}

fn skip_separator(tokens: &[Token<'_>], at: usize) -> usize {
    let mut next = at;
    while next < at + 3 && matches!(mark(tokens, next), Some(' ' | '.' | '-' | ',' | '/')) {
        next += 1;
    }
    next
}

/// 20240316.
fn compact(digits: &str, at: usize) -> Option<Match> {
    if digits.len() != 8 {
        return None;
    }
    let part = |range: std::ops::Range<usize>| digits.get(range)?.parse::<u32>().ok();
    Some(sure(checked(part(0..4)?, part(4..6)?, part(6..8)?)?, at + 1))
}

fn checked(year: u32, month: u32, day: u32) -> Option<NaiveDate> {
    if !(1900..=2199).contains(&year) {
        return None;
    }
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

/// Months by the beginning of their name, in English, German, French, Spanish and Italian.
fn month(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    if lower.chars().count() < 3 || lower.chars().count() > 10 {
        return None;
    }
    const STARTS: [&[&str]; 12] = [
        &["jan", "jän", "ene", "gen"],
        &["feb", "fév", "fev"],
        &["mar", "mär", "mrz", "maer"],
        &["apr", "avr", "abr"],
        &["may", "mai", "mag"],
        &["jun", "juin", "giu"],
        &["jul", "juil", "lug"],
        &["aug", "aoû", "aou", "ago"],
        &["sep", "set"],
        &["oct", "okt", "ott"],
        &["nov"],
        &["dec", "dez", "déc", "dic"],
    ];
    // The whole word must be a month: "Market" begins like March.
    const FULL: &str = "january february march april may june july august september october \
         november december januar februar märz mai juni juli oktober dezember \
         janvier février mars avril juin juillet août septembre octobre novembre \
         décembre enero febrero marzo abril mayo junio julio agosto septiembre \
         octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio \
         settembre ottobre novembre dicembre jänner fevrier aout decembre maerz \
         sept juil";
    let short = lower.chars().count() == 3;
    if !short && !FULL.split_whitespace().any(|name| name == lower) {
        return None;
    }
    let found = STARTS.iter().position(|starts| starts.iter().any(|start| lower.starts_with(start)))?;
    // juin and juillet begin alike.
    let index = if lower.starts_with("juil") || lower.starts_with("jul") { 6 } else { found };
    u32::try_from(index + 1).ok()
}

fn only_time(tokens: &[Token<'_>]) -> bool {
    tokens.iter().all(|token| match token {
        Token::Number(digits, _) => digits.len() <= 9,
        Token::Word(word, _) => matches!(*word, "T" | "Z" | "am" | "pm" | "AM" | "PM" | "Uhr" | "h" | "UTC"),
        Token::Mark(c, _) => matches!(c, ' ' | ':' | '.' | '+' | ','),
    }) && tokens.first().is_none_or(|token| !matches!(token, Token::Number(..)) && token.start() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, order: Option<Order>) -> String {
        parse(text, order).map(|found| found.date.to_string()).unwrap_or_default()
    }

    #[test]
    fn printed_forms_of_one_day() {
        for text in [
            "2024-03-16",
            "2024/3/16",
            "2024.03.16",
            "20240316",
            "2024年3月16日",
            "2024年03月16日",
            "2024 年 03 月 16 日",
            "16.03.2024",
            "16.3.24",
            "16/03/2024",
            "16-03-2024",
            "03/16/2024",
            "16 March 2024",
            "March 16, 2024",
            "16. März 2024",
            "16 mars 2024",
            "16-Mar-24",
            "16 Mar. 2024",
            "2024-03-16T08:00:00Z",
            "2024-03-16 21:38:43",
            "二〇二四年三月十六日",
            "24-3-16",
            "16 de marzo de 2024",
            "２０２４年３月１６日",
            "16th March 2024",
            "2024/03/16 10:30",
        ] {
            assert_eq!(shown(text, None), "2024-03-16", "of {text:?}");
        }
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "2024年3月",
            "12.34",
            "1.2.3.4",
            "INV-2024-03-16",
            "99/99/2024",
            "2024-13-01",
            "1234567890",
            "26990000",
            "12:30",
            "Market 12 2024",
            "2023-02-29",
        ] {
            assert_eq!(shown(text, None), "", "{text:?} is no date");
        }
    }

    #[test]
    fn order_is_proved_or_said_to_be_open() {
        let open = parse("03/04/2026", None).unwrap();
        assert!(open.ambiguous, "nothing decides 03/04");
        assert_eq!(shown("03/04/2026", Some(Order::MonthFirst)), "2026-03-04", "an American document");
        assert_eq!(shown("03/04/2026", Some(Order::DayFirst)), "2026-04-03", "a European one");
        assert_eq!(parse("12/25/2026", None).unwrap().proves, Some(Order::MonthFirst), "25 is no month");
        assert_eq!(shown("2026-04-03", Some(Order::MonthFirst)), "2026-04-03", "ISO is never swapped");
    }

    #[test]
    fn dates_inside_text() {
        for (text, expected) in [
            ("Rechnungsdatum: 05.06.2018 Seite 1", "2018-06-05"),
            ("开票日期：2026年03月05日", "2026-03-05"),
            ("Leverkusen, den 1. Oktober 2018", "2018-10-01"),
            ("Kunde 12.345.678", ""),
            ("FA-2017-0010", ""),
        ] {
            assert_eq!(
                find(text, None).map(|found| found.date.to_string()).unwrap_or_default(),
                expected,
                "in {text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,50}") {
            let _ = (parse(&text, None), find(&text, Some(Order::MonthFirst)));
        }

        #[test]
        fn every_day_reads_back(days in 0i64..100_000) {
            let date = NaiveDate::from_ymd_opt(1920, 1, 1).unwrap() + chrono::Duration::days(days);
            for form in ["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%Y年%-m月%-d日", "%d %B %Y", "%B %-d, %Y"] {
                let text = date.format(form).to_string();
                prop_assert_eq!(parse(&text, None).map(|found| found.date), Some(date), "of {}", text);
            }
        }
    }
}
