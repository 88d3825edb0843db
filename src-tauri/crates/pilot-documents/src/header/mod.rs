//! What a column means by its header, in Chinese, English, German and French.

mod words;

use crate::fold;
use crate::money;
use rust_decimal::Decimal;
use words::{TOTALS, WORDS, list};

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Role {
    Supplier,
    Buyer,
    /// With tax.
    Gross,
    /// An amount that does not say whether tax is in it.
    Amount,
    /// Without tax.
    Net,
    Tax,
    Rate,
    Date,
    DueDate,
    Number,
    Code,
    Currency,
    /// Void, red, credit, positive or not.
    Status,
    Debit,
    Credit,
    Balance,
    Quantity,
    UnitPrice,
    Item,
    TaxId,
    /// Known and of no use here: row numbers, notes, accounts.
    Other,
}

/// A header understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) role: Role,
    /// Smaller is better: 0 for a word that is exactly this meaning, more for a part of a longer header.
    pub(crate) rank: u32,
    /// A currency that the header names.
    pub(crate) currency: Option<&'static str>,
    /// Factor of a unit such as 万元; one without a unit.
    pub(crate) scale: Decimal,
}

/// Splits off what stands in brackets: a unit or a condition.
fn brackets(text: &str) -> (String, String) {
    let (mut outside, mut inside) = (String::new(), String::new());
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '【' | '〔' => depth += 1,
            ')' | ']' | '】' | '〕' => depth = (depth - 1).max(0),
            _ if depth > 0 => inside.push(c),
            _ => outside.push(c),
        }
    }
    (outside, inside)
}

/// Lower case, letters and digits, words apart by one blank (none between Chinese characters).
fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, '#' | '%') {
            out.extend(c.to_lowercase());
        } else if c != '\u{ad}' && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    fold::tidy(&out)
}

/// Understands a header; `None` for a word without meaning here.
#[must_use]
pub(crate) fn understand(header: &str) -> Option<Column> {
    if header.len() > 200 || header.trim().is_empty() {
        return None;
    }
    let tidy = fold::tidy(header);
    let (outside, inside) = brackets(&tidy);
    let name = normal(&outside);
    let note = normal(&inside);
    let (currency, scale) = unit(&tidy, &inside);
    let bare = strip_unit(&name);
    let (mut role, rank) = whole(&name).or_else(|| whole(&bare)).or_else(|| part(&name))?;
    // 金额(不含税) and Amount (incl. tax) say in brackets what they are.
    if matches!(role, Role::Amount | Role::Gross | Role::Net) {
        let without = ["不含税", "未税", "无税", "excl", "net", "ht", "netto", "ohne"];
        let with = ["含税", "incl", "gross", "ttc", "brutto", "inkl"];
        if without.iter().any(|word| has_word(&note, word)) {
            role = Role::Net;
        } else if with.iter().any(|word| has_word(&note, word)) {
            role = Role::Gross;
        }
    }
    Some(Column { role, rank, currency, scale })
}

fn has_word(text: &str, word: &str) -> bool {
    if word.is_ascii() { text.split(' ').any(|other| other.starts_with(word)) } else { text.contains(word) }
}

/// Currency and factor: `金额(万元)`, `Amount (USD)`, `Amount EUR`, `金额/元`.
fn unit(tidy: &str, inside: &str) -> (Option<&'static str>, Decimal) {
    let scale = scale(inside).or_else(|| scale_of_end(tidy)).unwrap_or(1);
    let currency = money::currency_in_text(inside).or_else(|| {
        // 元 inside a longer word such as 单元 is no unit; after a separator or as a code it is.
        let tail = tidy.rsplit(['/', ' ', ':', '_', '-']).next().unwrap_or_default();
        money::currency_code(tail).or_else(|| {
            tidy.split(|c: char| !c.is_ascii_alphabetic()).find_map(|word| {
                (word.len() == 3 && word.chars().all(|c| c.is_ascii_uppercase()))
                    .then(|| money::currency_code(word))
                    .flatten()
            })
        })
    });
    (currency, Decimal::from(scale))
}

/// Factor that a unit names: 万元 is ten thousand.
pub(crate) fn scale(unit: &str) -> Option<i64> {
    let unit = fold::tidy(unit);
    for (word, factor) in [
        ("百万元", 1_000_000),
        ("亿元", 100_000_000),
        ("万元", 10_000),
        ("千元", 1_000),
        ("万美元", 10_000),
        ("亿美元", 100_000_000),
    ] {
        if unit.contains(word) {
            return Some(factor);
        }
    }
    let lower = unit.to_lowercase();
    if ["'000", "000s", "k eur", "k usd", "keur", "teur", "in thousands", "thousands"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return Some(1_000);
    }
    if ["in millions", "millions", "mio"].iter().any(|word| lower.contains(word)) {
        return Some(1_000_000);
    }
    None
}

fn scale_of_end(tidy: &str) -> Option<i64> {
    let tail = tidy.rsplit(['/', ' ', ':', '-', '_']).next().unwrap_or_default();
    (tail.len() < tidy.len()).then(|| scale(tail)).flatten()
}

/// The header without a unit at its end: `amount eur`, `金额 元`.
fn strip_unit(name: &str) -> String {
    let mut words: Vec<&str> = name.split(' ').collect();
    while words.len() > 1
        && words.last().is_some_and(|word| money::currency_code(word).is_some() || *word == "in")
    {
        words.pop();
    }
    let joined = words.join(" ");
    ["万元", "元", "rmb", "¥"]
        .iter()
        .find_map(|unit| joined.strip_suffix(unit))
        .map_or(joined.clone(), |head| head.trim().to_owned())
}

fn whole(name: &str) -> Option<(Role, u32)> {
    if name.is_empty() {
        return None;
    }
    WORDS.iter().find_map(|(role, words)| {
        let place = list(words).position(|word| word == name)?;
        Some((*role, u32::try_from(place).unwrap_or(u32::MAX)))
    })
}

/// The longest word that the header contains. Latin words must stand apart; Chinese ones need two characters.
fn part(name: &str) -> Option<(Role, u32)> {
    let mut best: Option<(usize, Role, u32)> = None;
    for (role, words) in WORDS {
        for (place, word) in list(words).enumerate() {
            let fits = if word.is_ascii() || !word.chars().any(fold::is_cjk) {
                word.len() >= 3 && contains_words(name, word)
            } else {
                word.chars().count() >= 2 && name.contains(word)
            };
            let length = word.chars().count();
            if fits && best.is_none_or(|(found, _, _)| length > found) {
                best = Some((length, *role, 1_000 + u32::try_from(place).unwrap_or(0)));
            }
        }
    }
    best.map(|(_, role, rank)| (role, rank))
}

fn contains_words(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let before = name[..at].chars().next_back().is_none_or(|c| c == ' ' || fold::is_cjk(c));
        let after = name[at + word.len()..].chars().next().is_none_or(|c| c == ' ' || fold::is_cjk(c));
        before && after
    })
}

/// What a cell says that may begin a row of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// Of all rows above.
    Grand,
    /// Of some of them.
    Part,
}

/// Is this the label of a row of totals, such as `合计：` or `Total (EUR)`?
#[must_use]
pub(crate) fn total_label(text: &str) -> Option<Total> {
    // Most cells end here: no total is longer, none begins with a digit, and each holds one of a few syllables.
    if text.len() > 60
        || text.bytes().next().is_none_or(|byte| byte.is_ascii_digit())
        || !may_be_total(text.as_bytes())
    {
        return None;
    }
    let (outside, _) = brackets(&fold::tidy(text));
    let name = normal(&outside);
    let known = |name: &str| list(TOTALS).any(|word| word == name);
    let bare = strip_unit(&name);
    let by_group = name
        .split(' ')
        .next_back()
        .filter(|last| ["total", "subtotal", "合计", "小计", "summe"].contains(last))
        .is_some()
        && name.contains(' ');
    let by_group_zh = name.ends_with("合计")
        || name.ends_with("小计")
        || name.starts_with("合计") && name.chars().count() <= 6;
    if !(known(&name)
        || known(&bare)
        || by_group
        || by_group_zh
        || name.starts_with("total for ")
        || name.starts_with("total of "))
    {
        return None;
    }
    let part =
        ["小", "本页", "本月", "sub", "zwischen", "übertrag", "sous"].iter().any(|word| name.contains(word));
    let grand = known(&name) || known(&bare);
    Some(if part || !grand { Total::Part } else { Total::Grand })
}

/// A look at the bytes that costs less than making the text comparable.
fn may_be_total(bytes: &[u8]) -> bool {
    const ASCII: [&[u8; 3]; 7] = [b"tot", b"sum", b"ges", b"ber", b"all", b"zwi", b"sou"];
    // 计, 總, 和 and 总 in UTF-8, and full-width letters, which begin with EF BC or EF BD.
    const WIDE: [&[u8; 3]; 4] = [b"\xE8\xAE\xA1", b"\xE5\x92\x8C", b"\xE6\x80\xBB", b"\xE6\xB1\x87"];
    bytes.windows(3).any(|window| {
        let lower =
            [window[0].to_ascii_lowercase(), window[1].to_ascii_lowercase(), window[2].to_ascii_lowercase()];
        ASCII.iter().any(|word| lower == **word)
            || WIDE.iter().any(|word| window == *word)
            || (window[0] == 0xEF && window[1] >= 0xBC)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(header: &str) -> Option<Role> {
        understand(header).map(|column| column.role)
    }

    #[test]
    fn headers_of_real_exports() {
        for (header, expected) in [
            ("销方名称", Role::Supplier),
            ("购买方名称", Role::Buyer),
            ("供应商", Role::Supplier),
            ("供应商编码", Role::Other),
            ("数电发票号码", Role::Number),
            ("发票代码", Role::Code),
            ("开票日期", Role::Date),
            ("金 额", Role::Amount),
            ("金额（不含税）", Role::Net),
            ("金额(含税)", Role::Gross),
            ("价税合计（元）", Role::Gross),
            ("税额", Role::Tax),
            ("税率/征收率", Role::Rate),
            ("含税单价", Role::UnitPrice),
            ("到期日", Role::DueDate),
            ("Amount (USD)", Role::Amount),
            ("Amount EUR", Role::Amount),
            ("Invoice No.", Role::Number),
            ("Invoice Date", Role::Date),
            ("Vendor Name", Role::Supplier),
            ("Total incl. VAT", Role::Gross),
            ("Net Amount", Role::Net),
            ("VAT", Role::Tax),
            ("Rechnungsbetrag", Role::Gross),
            ("Lieferant", Role::Supplier),
            ("Montant TTC", Role::Gross),
            ("Fournisseur", Role::Supplier),
            ("Buchungstag", Role::Date),
            ("借方发生额", Role::Debit),
            ("余额", Role::Balance),
            ("Unit Price", Role::UnitPrice),
            ("Tax rate", Role::Rate),
            ("含税金额", Role::Gross),
            ("发票金额", Role::Gross),
            ("对方户名", Role::Supplier),
            ("Due Date", Role::DueDate),
            ("序号", Role::Other),
        ] {
            assert_eq!(role(header), Some(expected), "of {header:?}");
        }
        for header in ["", "Acme GmbH", "青禾样例", "2026-03-05", "12.50"] {
            assert_eq!(role(header), None, "{header:?} is no header");
        }
    }

    #[test]
    fn units_and_currencies_of_headers() {
        let column = understand("金额（万元）").unwrap();
        assert_eq!(
            (column.scale, column.currency),
            (Decimal::from(10_000), Some("CNY")),
            "ten thousand yuan"
        );
        assert_eq!(understand("Amount (USD)").unwrap().currency, Some("USD"), "a code in brackets");
        assert_eq!(understand("Betrag EUR").unwrap().currency, Some("EUR"), "a code at the end");
        assert_eq!(understand("金额/元").unwrap().currency, Some("CNY"), "a unit after a stroke");
        assert_eq!(understand("Amount").unwrap().currency, None, "none is none");
    }

    #[test]
    fn rows_of_totals() {
        for (text, expected) in [
            ("合计", Some(Total::Grand)),
            ("合 计：", Some(Total::Grand)),
            ("小计", Some(Total::Part)),
            ("Total", Some(Total::Grand)),
            ("TOTAL (EUR)", Some(Total::Grand)),
            ("Subtotal", Some(Total::Part)),
            ("Zwischensumme", Some(Total::Part)),
            ("Acme total", Some(Total::Part)),
            ("青禾 小计", Some(Total::Part)),
            ("Total Energies SE", None),
            ("青禾样例公司", None),
            ("Acme", None),
            ("", None),
        ] {
            assert_eq!(total_label(text), expected, "of {text:?}");
        }
    }
}
