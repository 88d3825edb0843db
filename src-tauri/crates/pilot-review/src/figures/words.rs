//! Words around numbers: scales, units, counting words, periods, file names, Chinese numerals.

use super::dates::is_year;
use rust_decimal::Decimal;

const ENDINGS: &[&str] = &[
    "md", "csv", "tsv", "xlsx", "xlsm", "xls", "xlsb", "ods", "pdf", "docx", "doc", "ofd", "xml", "json",
    "txt", "png", "jpg", "jpeg", "html", "htm", "zip", "eml", "pptx", "log", "toml", "yaml", "yml",
];

const UNITS: &[&str] = &[
    "kb", "mb", "gb", "tb", "b", "kib", "mib", "gib", "kg", "g", "mg", "t", "km", "m", "cm", "mm", "l", "ml",
    "h", "hr", "hrs", "min", "s", "ms", "d", "day", "days", "w", "y", "yr", "x", "th", "st", "nd", "rd", "k",
    "kwh", "kw", "mwh", "pcs", "pc", "pt", "px", "pp", "bp", "bps", "am", "pm", "bn", "mn", "mio",
];

/// The scale that stands right behind a number, with the number of its characters.
pub(crate) fn scale(text: &[char]) -> Option<(Decimal, usize)> {
    const SCALES: &[(&str, i64)] = &[
        ("万亿", 1_000_000_000_000),
        ("千万", 10_000_000),
        ("百万", 1_000_000),
        ("十万", 100_000),
        ("亿", 100_000_000),
        ("万", 10_000),
        ("千", 1_000),
        ("thousand", 1_000),
        ("million", 1_000_000),
        ("billion", 1_000_000_000),
    ];
    SCALES.iter().find_map(|(word, scale)| {
        let length = word.chars().count();
        let is_here = text.len() >= length && word.chars().eq(text[..length].iter().copied());
        is_here.then(|| (Decimal::from(*scale), length))
    })
}

/// The scale that a letter on a number may mean: `12k`, `1.2M`.
pub(crate) fn letter_scale(word: &str) -> Option<Decimal> {
    match word {
        "k" | "K" => Some(Decimal::from(1_000)),
        "M" | "mn" | "mio" | "m" => Some(Decimal::from(1_000_000)),
        "B" | "bn" => Some(Decimal::from(1_000_000_000)),
        _ => None,
    }
}

/// `个百分点`, a difference of percentages.
pub(crate) fn percent_word(text: &[char]) -> bool {
    text.starts_with(&['个', '百', '分', '点'])
}

/// Whether what follows counts something, so that a number before it is no year.
pub(crate) fn counts_follow(text: &[char], end: usize) -> bool {
    const COUNTERS: &[char] = &[
        '张', '份', '笔', '个', '家', '行', '条', '件', '次', '人', '天', '页', '项', '种', '块', '台', '套',
        '单', '户', '倍',
    ];
    const NOUNS: &[&str] = &[
        "invoices",
        "rows",
        "files",
        "items",
        "records",
        "units",
        "entries",
        "orders",
        "pages",
        "payments",
        "transactions",
        "suppliers",
        "lines",
        "people",
        "employees",
        "customers",
        "pieces",
        "hours",
        "days",
        "times",
    ];
    let from = end + usize::from(text.get(end) == Some(&' '));
    let word: String =
        text[from.min(text.len())..].iter().take_while(|character| character.is_ascii_alphabetic()).collect();
    text.get(from).is_some_and(|next| COUNTERS.contains(next))
        || NOUNS.contains(&word.to_ascii_lowercase().as_str())
}

/// A name with a known ending.
pub(crate) fn is_file_name(token: &str) -> bool {
    token.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    })
}

/// `Q3`, `2026-Q3`, `H1/2026`, `FY26`, `W12`, `3Q26`.
pub(crate) fn is_period(token: &str) -> bool {
    let mut named = false;
    let mut all = true;
    for segment in token.split(['-', '/', '_', '.']) {
        let is_four = segment.len() == 4 && segment.parse().is_ok_and(is_year);
        let is_named = period_segment(&segment.to_ascii_uppercase());
        named |= is_named;
        all &= is_four || is_named;
    }
    named && all
}

fn period_segment(segment: &str) -> bool {
    let digits = |text: &str, from: u32, to: u32| {
        text.len() <= 4 && text.parse::<u32>().is_ok_and(|value| (from..=to).contains(&value))
    };
    if let Some((year, rest)) = segment.split_at_checked(4)
        && year.parse().is_ok_and(is_year)
    {
        return matches!(rest, "Q1" | "Q2" | "Q3" | "Q4" | "H1" | "H2");
    }
    let short_year = |rest: &str| rest.is_empty() || digits(rest, 10, 59) || rest.parse().is_ok_and(is_year);
    match segment.as_bytes() {
        [b'Q', b'1'..=b'4', ..] | [b'H', b'1' | b'2', ..] => short_year(&segment[2..]),
        [b'1'..=b'4', b'Q', ..] | [b'1' | b'2', b'H', ..] => short_year(&segment[2..]),
        [b'F' | b'C', b'Y', ..] => !segment[2..].is_empty() && short_year(&segment[2..]),
        [b'W', b'0'..=b'9', ..] => digits(&segment[1..], 1, 53),
        _ => false,
    }
}

/// `v1.2`.
pub(crate) fn is_version(token: &str) -> bool {
    token
        .strip_prefix(['v', 'V'])
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// A number with a unit or currency written onto it, without a leading zero.
pub(crate) fn has_unit(segment: &str) -> bool {
    let digits = segment.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = segment.split_at(digits);
    let zero = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
    let known = UNITS.contains(&unit.to_ascii_lowercase().as_str())
        || super::currency::Currency::of_word(unit).is_some();
    digits > 0 && !zero && known
}

fn numeral_digit(character: char) -> Option<u32> {
    Some(match character {
        '零' | '〇' => 0,
        '一' | '壹' => 1,
        '二' | '贰' | '两' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

fn numeral_power(character: char) -> Option<i64> {
    Some(match character {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1_000,
        '万' | '萬' => 10_000,
        '亿' | '億' => 100_000_000,
        _ => return None,
    })
}

/// Whether a character may begin a number in Chinese words.
pub(crate) fn is_numeral(character: char) -> bool {
    numeral_digit(character).is_some() || matches!(character, '十' | '拾')
}

/// A number in Chinese words, where something shows that it is one: formal characters, a counting word, or 元 behind it.
/// `第三` and idioms are none.
pub(crate) fn numeral(text: &[char], from: usize) -> Option<(Decimal, usize)> {
    if !is_numeral(*text.get(from)?) || (from > 0 && text.get(from - 1) == Some(&'第')) {
        return None;
    }
    let run = text[from..]
        .iter()
        .take(24)
        .take_while(|next| numeral_digit(**next).is_some() || numeral_power(**next).is_some())
        .count();
    let end = from + run;
    let part = &text[from..end];
    let formal =
        part.iter().filter(|character| "壹贰叁肆伍陆柒捌玖拾佰仟".contains(**character)).count() >= 2;
    let has_power = part.iter().any(|character| numeral_power(*character).is_some());
    let counted =
        counts_follow(text, end) && !matches!(text.get(end), Some('行' | '项' | '种' | '次' | '人' | '个'));
    let money = matches!(text.get(end), Some('元' | '圆'));
    if !(formal || ((counted || money) && (has_power && run >= 2))) {
        return None;
    }
    let value = numeral_value(part)?;
    if !money {
        return Some((value, end));
    }
    Some(cents(text, value, end))
}

/// Adds 角 and 分 behind 元.
fn cents(text: &[char], value: Decimal, end: usize) -> (Decimal, usize) {
    let (mut value, mut end, mut at) = (value, end, end + 1);
    for (sign, scale) in [('角', 1), ('分', 2)] {
        at += usize::from(text.get(at) == Some(&'零'));
        if let (Some(digit), true) =
            (text.get(at).copied().and_then(numeral_digit), text.get(at + 1) == Some(&sign))
        {
            value += Decimal::new(i64::from(digit), scale);
            at += 2;
            end = at;
        }
    }
    (value, end)
}

fn numeral_value(part: &[char]) -> Option<Decimal> {
    let (mut total, mut section, mut digit): (i64, i64, Option<i64>) = (0, 0, None);
    for character in part {
        if let Some(value) = numeral_digit(*character) {
            // A row of digits such as 二〇二六 is a year or a number to read out, not a value.
            if digit.is_some_and(|before| before != 0) {
                return None;
            }
            digit = Some(i64::from(value));
        } else {
            let power = numeral_power(*character)?;
            if power >= 10_000 {
                section = section.checked_add(digit.take().unwrap_or(0))?;
                total = if power == 100_000_000 {
                    total.checked_add(section)?.checked_mul(power)?
                } else {
                    total.checked_add(section.checked_mul(power)?)?
                };
                section = 0;
            } else {
                section = section.checked_add(digit.take().unwrap_or(1).checked_mul(power)?)?;
            }
        }
    }
    total.checked_add(section)?.checked_add(digit.unwrap_or(0)).map(Decimal::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(String, usize)> {
        let text: Vec<char> = text.chars().collect();
        numeral(&text, 0).map(|(value, end)| (value.normalize().to_string(), end))
    }

    #[test]
    fn chinese_numerals_are_read_where_they_are_figures() {
        assert_eq!(value("壹拾柒万壹仟柒佰壹拾柒元整"), Some(("171717".to_owned(), 11)), "a formal amount");
        assert_eq!(value("柒仟零玖拾壹元伍角贰分"), Some(("7091.52".to_owned(), 11)), "with cents");
        assert_eq!(value("三十七张发票"), Some(("37".to_owned(), 3)), "counted things");
        assert_eq!(value("一亿两千万元"), Some(("120000000".to_owned(), 5)), "large ones");
        for none in ["一些", "三家", "十分重要", "二〇二六年", "一千零一夜", "千万不要"]
        {
            assert_eq!(value(none), None, "{none} is no figure");
        }
    }

    #[test]
    fn periods_and_file_names_are_known() {
        for period in ["Q3", "2026-Q3", "2026Q3", "H1/2026", "FY2026", "FY26", "3Q26", "W12"] {
            assert!(is_period(period), "{period} is a period");
        }
        for other in ["Q5", "BW-0917", "2026", "HQ1", "W99", "FY"] {
            assert!(!is_period(other), "{other} is none");
        }
        assert!(is_file_name("reports/summary-2026.md"), "a path");
        assert!(!is_file_name("12.50"), "a number");
    }
}
