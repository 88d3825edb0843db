//! Currencies by code, sign or name.

/// Codes that may stand beside an amount.
const CODES: [&str; 44] = [
    "CNY", "USD", "EUR", "GBP", "JPY", "HKD", "TWD", "CHF", "CAD", "AUD", "NZD", "SGD", "KRW", "INR", "SEK",
    "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BGN", "RUB", "TRY", "BRL", "MXN", "ZAR", "THB", "MYR", "IDR",
    "VND", "PHP", "MOP", "AED", "SAR", "ILS", "ARS", "CLP", "COP", "EGP", "KZT", "UAH", "ISK", "PKR",
];

/// Signs and names, longest first where one begins another. A bare `$` is the US dollar, a bare `¥` the yuan.
const SIGNS: [(&str, &str); 38] = [
    ("人民币", "CNY"),
    ("RMB¥", "CNY"),
    ("CN¥", "CNY"),
    ("RMB", "CNY"),
    ("JP¥", "JPY"),
    ("US$", "USD"),
    ("HK$", "HKD"),
    ("NT$", "TWD"),
    ("AU$", "AUD"),
    ("CA$", "CAD"),
    ("SG$", "SGD"),
    ("NZ$", "NZD"),
    ("R$", "BRL"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("S$", "SGD"),
    ("¥", "CNY"),
    ("￥", "CNY"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("$", "USD"),
    ("₩", "KRW"),
    ("₹", "INR"),
    ("₽", "RUB"),
    ("₺", "TRY"),
    ("฿", "THB"),
    ("₫", "VND"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("美元", "USD"),
    ("欧元", "EUR"),
    ("港元", "HKD"),
    ("港币", "HKD"),
    ("英镑", "GBP"),
    ("日元", "JPY"),
    ("円", "JPY"),
    ("元", "CNY"),
    ("圆", "CNY"),
];

/// The currency of a text that is nothing but a currency: a cell of a currency column.
#[must_use]
pub(crate) fn code(text: &str) -> Option<&'static str> {
    // Nearly every cell of such a column is a plain code.
    if let Some(found) = CODES.iter().find(|code| **code == text) {
        return Some(found);
    }
    let text = crate::fold::nfkc(text);
    let text = text.trim().trim_matches(['(', ')', '[', ']']);
    let upper = text.to_uppercase();
    if let Some(found) = CODES.iter().find(|code| **code == upper) {
        return Some(found);
    }
    let named = match upper.as_str() {
        "EURO" | "EUROS" => Some("EUR"),
        "YUAN" | "CNH" => Some("CNY"),
        "DOLLAR" | "DOLLARS" => Some("USD"),
        "新台币" | "台币" => Some("TWD"),
        "澳元" => Some("AUD"),
        "加元" => Some("CAD"),
        "瑞士法郎" => Some("CHF"),
        "新加坡元" => Some("SGD"),
        "韩元" => Some("KRW"),
        "澳门元" => Some("MOP"),
        _ => None,
    };
    named.or_else(|| SIGNS.iter().find(|(sign, _)| *sign == text || upper == *sign).map(|(_, code)| *code))
}

/// A currency at the beginning of an amount.
pub(super) fn prefix(text: &str) -> Option<(&'static str, &str)> {
    if let Some((code, tail)) = leading_code(text) {
        return Some((code, tail));
    }
    // 元 and 圆 come after the digits only.
    SIGNS[..36].iter().find_map(|(sign, code)| text.strip_prefix(sign).map(|tail| (*code, tail)))
}

fn leading_code(text: &str) -> Option<(&'static str, &str)> {
    let head = text.get(..3)?;
    let tail = &text[3..];
    let found = CODES.iter().find(|code| code.eq_ignore_ascii_case(head))?;
    (!tail.starts_with(|c: char| c.is_ascii_alphabetic()))
        .then_some((*found, tail.trim_start_matches([':', '.'])))
}

/// A currency at the end of an amount.
pub(super) fn suffix(text: &str) -> Option<(&'static str, &str)> {
    if text.len() > 3
        && let Some(tail) = text.get(text.len() - 3..)
        && let Some(found) = CODES.iter().find(|code| code.eq_ignore_ascii_case(tail))
    {
        return Some((found, &text[..text.len() - 3]));
    }
    SIGNS.iter().find_map(|(sign, code)| {
        text.strip_suffix(sign).filter(|head| !head.is_empty()).map(|head| (*code, head))
    })
}

/// The first currency that is named anywhere in a text, such as a header or a title. Codes must stand as words.
#[must_use]
pub(crate) fn in_text(text: &str) -> Option<&'static str> {
    let text = crate::fold::nfkc(text);
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).find_map(|word| {
        (word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
            .then(|| CODES.iter().find(|code| **code == word))
            .flatten()
    });
    word.copied().or_else(|| {
        SIGNS.iter().find(|(sign, _)| text.contains(sign) && *sign != "圆").map(|(_, code)| *code)
    })
}

/// The currency that a number format shows, such as `"¥"#,##0.00` or `[$€-407]`.
#[must_use]
pub(crate) fn of_number_format(format: &str) -> Option<&'static str> {
    let section = format.split(';').next().unwrap_or(format);
    let bytes = section.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'0' | b'#' | b'?')) {
        return None;
    }
    // [$€-407] and [$USD] name it; [$-804] only names a language.
    for piece in section.split("[$").skip(1) {
        let inner = piece.split(']').next().unwrap_or_default();
        let (sign, locale) = inner.split_once('-').unwrap_or((inner, ""));
        if let Some(found) = code(sign).or_else(|| in_text(sign)) {
            let japan = found == "CNY" && locale.trim_start_matches('0').eq_ignore_ascii_case("411");
            return Some(if japan { "JPY" } else { found });
        }
    }
    let mut plain = String::with_capacity(section.len());
    let mut rest = section;
    while let Some(start) = rest.find("[$") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].split_once(']').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    let plain = plain.replace(['"', '\\', '_', '*'], "");
    in_text(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_formats_show_their_currency() {
        for (format, expected) in [
            ("\"¥\"#,##0.00", Some("CNY")),
            ("[$€-407] #,##0.00", Some("EUR")),
            ("_(\"$\"* #,##0.00_)", Some("USD")),
            ("[$-804]yyyy\"年\"m\"月\"", None),
            ("[$￥-411]#,##0", Some("JPY")),
            ("#,##0.00 [$USD]", Some("USD")),
            ("#,##0.00", None),
            ("General", None),
            ("\\$#,##0.00_);[Red]\\(\\$#,##0.00\\)", Some("USD")),
        ] {
            assert_eq!(of_number_format(format), expected, "of {format:?}");
        }
    }

    #[test]
    fn cells_and_headers() {
        assert_eq!(code(" cny "), Some("CNY"), "case and blanks do not matter");
        assert_eq!(code("人民币"), Some("CNY"), "names count");
        assert_eq!(code("Acme"), None, "a word is no currency");
        assert_eq!(in_text("Amount (USD)"), Some("USD"), "a code in a header");
        assert_eq!(in_text("金额(元)"), Some("CNY"), "元 in a header");
        assert_eq!(in_text("Useful"), None, "letters inside words are no code");
    }
}
