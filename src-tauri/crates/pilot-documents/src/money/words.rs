//! Amounts in Chinese capital numerals: 壹仟圆壹角.

use crate::fold::nfkc;
use chinese_number::{ChineseCountMethod, ChineseToNumber};
use rust_decimal::Decimal;

/// Reads 大写: 圆 / 元 / 圓, 角, 分, 整 / 正, 零 before 角 and 分, 人民币 before it, （负数）. `None` when the text is
/// anything else.
#[must_use]
pub(crate) fn parse(text: &str) -> Option<Decimal> {
    if text.len() > 240 {
        return None;
    }
    let text: String = nfkc(text)
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '⊗' | '¤' | ':' | '⨂'))
        .map(simple)
        .collect();
    let mut rest = text.as_str();
    let mut negative = false;
    loop {
        let before = rest.len();
        for prefix in ["人民币", "(负数)", "负"] {
            if let Some(tail) = rest.strip_prefix(prefix) {
                negative |= prefix != "人民币";
                rest = tail;
            }
        }
        if rest.len() == before {
            break;
        }
    }
    rest = rest.trim_end_matches(['整', '正']);
    let (yuan, small) = match rest.split_once('元') {
        Some((yuan, small)) => (integer(yuan)?, small),
        None => (0, rest),
    };
    let small = small.trim_end_matches(['整', '正']);
    let (jiao, small) = unit(small, '角')?;
    let (fen, small) = unit(small, '分')?;
    if !small.is_empty() || (yuan == 0 && jiao == 0 && fen == 0 && !rest.contains('零')) {
        return None;
    }
    let cents = i64::try_from(yuan).ok()?.checked_mul(100)?.checked_add(jiao * 10 + fen)?;
    Some(Decimal::new(if negative { -cents } else { cents }, 2))
}

fn simple(c: char) -> char {
    match c {
        '圆' | '圓' | '園' => '元',
        '貳' | '弍' | '贰' => '贰',
        '參' | '叁' | '叄' => '叁',
        '陸' => '陆',
        '萬' => '万',
        '億' => '亿',
        '負' => '负',
        '〇' => '零',
        other => other,
    }
}

fn integer(text: &str) -> Option<u64> {
    // 壹拾万零贰佰 and 壹佰零 both occur; a trailing zero is silent.
    let text = text.trim_end_matches('零');
    if text.is_empty() {
        return Some(0);
    }
    if !is_well_formed(text) {
        return None;
    }
    let value: Result<u64, _> = text.to_number(ChineseCountMethod::TenThousand);
    value.ok()
}

/// The reader behind asserts what it expects, so the shape is checked first: within each group of four the units fall,
/// each unit but a leading 拾 has a digit, and 万 and 亿 fall too.
fn is_well_formed(text: &str) -> bool {
    let place = |c: char| {
        "拾佰仟".chars().position(|unit| unit == c).or_else(|| "十百千".chars().position(|unit| unit == c))
    };
    let digit = |c: char| "壹贰叁肆伍陆柒捌玖一二两三四五六七八九".contains(c);
    let mut group_unit = 3usize;
    let mut last_group = 3usize;
    let mut pending = false;
    let mut any = false;
    for c in text.chars() {
        if digit(c) {
            if pending {
                return false;
            }
            pending = true;
            any = true;
        } else if let Some(unit) = place(c) {
            let leading_ten = unit == 0 && !any;
            if unit >= group_unit || !(pending || leading_ten) {
                return false;
            }
            group_unit = unit;
            pending = false;
            any = true;
        } else if let Some(group) = "万亿".chars().position(|unit| unit == c) {
            if group + 1 >= last_group + usize::from(last_group == 3) || !any {
                return false;
            }
            last_group = group + 1;
            group_unit = 3;
            pending = false;
            any = false;
        } else if c == '零' {
            if pending {
                return false;
            }
        } else {
            return false;
        }
    }
    true
}

/// A single digit before its unit, with a silent zero in front: 零壹角.
fn unit(text: &str, name: char) -> Option<(i64, &str)> {
    let Some((head, tail)) = text.split_once(name) else { return Some((0, text)) };
    let digit = head.trim_start_matches('零');
    let value = match digit {
        "" => 0,
        "壹" | "一" => 1,
        "贰" | "二" | "两" => 2,
        "叁" | "三" => 3,
        "肆" | "四" => 4,
        "伍" | "五" => 5,
        "陆" | "六" => 6,
        "柒" | "七" => 7,
        "捌" | "八" => 8,
        "玖" | "九" => 9,
        _ => return None,
    };
    Some((value, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_way_to_write_it() {
        for (text, expected) in [
            ("壹仟圆壹角", "1000.10"),
            ("壹仟元零壹角整", "1000.10"),
            ("人民币壹佰圆零伍分", "100.05"),
            ("壹拾万零贰佰圆叁角", "100200.30"),
            ("壹佰贰拾叁万肆仟伍佰陆拾柒圆捌角玖分", "1234567.89"),
            ("（负数）伍佰圆整", "-500.00"),
            ("壹仟零壹拾圆整", "1010.00"),
            ("贰仟圆整", "2000.00"),
            ("⊗ 伍佰叁拾伍圆整", "535.00"),
            ("貳萬圓整", "20000.00"),
            ("零元整", "0.00"),
            ("柒角", "0.70"),
        ] {
            assert_eq!(parse(text).map(|value| value.to_string()).as_deref(), Some(expected), "of {text}");
        }
        for text in ["", "圆", "青禾公司", "壹佰", "1000", "合计"] {
            assert_eq!(parse(text), None, "{text:?} is no amount in words");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[零壹贰叁肆伍陆柒捌玖拾佰仟万亿圆元角分整正负（）a ]{0,30}") {
            let _ = parse(&text);
        }
    }
}
