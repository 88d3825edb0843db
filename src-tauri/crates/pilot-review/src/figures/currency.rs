//! Currencies by code, sign and word.

/// A currency as far as it was written: a code, or a sign that several share (`¥`, `$`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Currency(pub(crate) &'static str);

const CODES: &[&str] = &[
    "CNY", "USD", "EUR", "GBP", "JPY", "HKD", "TWD", "KRW", "SGD", "AUD", "CAD", "NZD", "CHF", "SEK", "NOK",
    "DKK", "PLN", "CZK", "HUF", "INR", "THB", "MYR", "IDR", "PHP", "VND", "BRL", "MXN", "ZAR", "TRY", "RUB",
    "AED", "SAR", "ILS", "MOP",
];

/// Chinese and English words, longer ones first where one begins like another.
const WORDS: &[(&str, &str)] = &[
    ("人民币", "CNY"),
    ("美元", "USD"),
    ("美金", "USD"),
    ("欧元", "EUR"),
    ("英镑", "GBP"),
    ("日元", "JPY"),
    ("港元", "HKD"),
    ("港币", "HKD"),
    ("新台币", "TWD"),
    ("韩元", "KRW"),
    ("新加坡元", "SGD"),
    ("澳元", "AUD"),
    ("加元", "CAD"),
    ("瑞士法郎", "CHF"),
    ("元", "CNY"),
    ("圆", "CNY"),
];

const LATIN_WORDS: &[(&str, &str)] = &[
    ("rmb", "CNY"),
    ("cnh", "CNY"),
    ("yuan", "CNY"),
    ("dollar", "$"),
    ("dollars", "$"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("yen", "JPY"),
];

impl Currency {
    /// The currency of a sign.
    pub(crate) fn of_sign(sign: char) -> Option<Self> {
        match sign {
            '¥' => Some(Self("¥")),
            '$' => Some(Self("$")),
            '€' => Some(Self("EUR")),
            '£' => Some(Self("GBP")),
            '₩' => Some(Self("KRW")),
            '₹' => Some(Self("INR")),
            '₽' => Some(Self("RUB")),
            _ => None,
        }
    }

    /// The currency of a Latin word or code, whole.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        if let Some(code) = CODES.iter().find(|code| **code == word) {
            return Some(Self(code));
        }
        let lower = word.to_ascii_lowercase();
        LATIN_WORDS.iter().find(|(name, _)| *name == lower).map(|(_, code)| Self(code))
    }

    /// The currency that a text begins with, in Chinese, and the number of its characters.
    pub(crate) fn at_start(text: &[char]) -> Option<(Self, usize)> {
        WORDS.iter().find_map(|(word, code)| {
            let length = word.chars().count();
            (text.len() >= length && word.chars().eq(text[..length].iter().copied()))
                .then_some((Self(code), length))
        })
    }

    /// The currency that a text names somewhere, such as a column header.
    pub(crate) fn within(text: &str) -> Option<Self> {
        let latin = text.split(|character: char| !character.is_ascii_alphabetic()).find_map(|word| {
            CODES
                .iter()
                .find(|code| **code == word)
                .map(|code| Self(code))
                .or_else(|| (word == "RMB").then_some(Self("CNY")))
        });
        latin
            .or_else(|| {
                text.chars()
                    .find_map(|character| Self::of_sign(if character == '￥' { '¥' } else { character }))
            })
            .or_else(|| WORDS.iter().find(|(word, _)| text.contains(word)).map(|(_, code)| Self(code)))
    }

    /// Whether both may mean the same.
    pub(crate) fn fits(self, other: Self) -> bool {
        const DOLLARS: &[&str] = &["USD", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD", "BRL", "MXN", "MOP"];
        let is_one_of = |sign: Self, code: Self| match sign.0 {
            "¥" => matches!(code.0, "CNY" | "JPY"),
            "$" => DOLLARS.contains(&code.0),
            _ => false,
        };
        self == other || is_one_of(self, other) || is_one_of(other, self)
    }
}

/// Whether two amounts may be in the same currency; one that names none fits all.
pub(crate) fn fits(one: Option<Currency>, other: Option<Currency>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.fits(other),
        (None, _) | (_, None) => true,
    }
}
