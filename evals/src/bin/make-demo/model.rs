//! The data of the demo folder and the answers that follow from it. Nothing here parses anything: the truth is
//! computed from the same figures that the files are made of, never from the files.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Money in hundredths, so that sums are exact.
pub(crate) type Cents = i64;

/// `123456` as `1234.56`.
pub(crate) fn plain(amount: Cents) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", amount.abs() / 100, amount.abs() % 100)
}

/// `123456` as `1,234.56`.
pub(crate) fn grouped(amount: Cents) -> String {
    let text = plain(amount);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "00"));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out}.{fraction}")
}

/// A company. All are invented; the tax ids carry a right check digit and a region that does not exist.
#[derive(Clone, Copy)]
pub(crate) struct Party {
    pub(crate) name: &'static str,
    pub(crate) tax_id: &'static str,
    pub(crate) address: [&'static str; 2],
}

const fn chinese(name: &'static str, tax_id: &'static str) -> Party {
    Party { name, tax_id, address: ["", ""] }
}

pub(crate) const BUYER: Party = chinese("晨星样例商贸有限公司", "91990101000000019M");
pub(crate) const BUYER_ENGLISH: Party = Party {
    name: "Chenxing Sample Trading Co., Ltd.",
    tax_id: "91990101000000019M",
    address: ["8 Invented Road", "Sample District 990101"],
};
pub(crate) const QINGHE: Party = chinese("青禾样例办公用品有限公司", "91990102MA0AB0014N");
pub(crate) const YUNSHAN: Party = chinese("云杉样例信息技术有限公司", "91990103MA0CD0025X");
pub(crate) const HAICHAO: Party = chinese("海潮样例物流有限公司", "91990104MA0EF00365");
pub(crate) const XIAOMAN: Party = chinese("小满样例餐饮店", "92990105MA0GH00479");
pub(crate) const SONGGUO: Party = chinese("松果样例家具有限公司", "");
pub(crate) const CEDARMOOR: Party = Party {
    name: "Cedarmoor Example Hosting Inc.",
    tax_id: "",
    address: ["120 Placeholder Avenue", "Exampleton 00000"],
};
pub(crate) const LARKFEN: Party =
    Party { name: "Larkfen Sample Studio Ltd", tax_id: "", address: ["3 Invented Mews", "Sampleford"] };
pub(crate) const QUILLBANK: Party = Party {
    name: "Quillbank Example Print Co.",
    tax_id: "",
    address: ["41 Specimen Street", "Exampleton 00000"],
};
pub(crate) const PEBBLEWICK: Party =
    Party { name: "Pebblewick Sample Software LLC", tax_id: "", address: ["", ""] };

/// One invoice or credit note, as printed: all amounts positive.
#[derive(Clone, Copy)]
pub(crate) struct Invoice {
    pub(crate) number: &'static str,
    pub(crate) date: &'static str,
    pub(crate) seller: Party,
    pub(crate) currency: &'static str,
    pub(crate) net: Cents,
    pub(crate) tax: Cents,
    pub(crate) gross: Cents,
    /// Number of the invoice that this one credits.
    pub(crate) credits: Option<&'static str>,
}

impl Invoice {
    pub(crate) const fn cny(
        number: &'static str,
        date: &'static str,
        seller: Party,
        net: Cents,
        tax: Cents,
    ) -> Self {
        Self { number, date, seller, currency: "CNY", net, tax, gross: net + tax, credits: None }
    }

    pub(crate) const fn usd(
        number: &'static str,
        date: &'static str,
        seller: Party,
        net: Cents,
        tax: Cents,
    ) -> Self {
        Self { number, date, seller, currency: "USD", net, tax, gross: net + tax, credits: None }
    }

    pub(crate) const fn printed_gross(mut self, gross: Cents) -> Self {
        self.gross = gross;
        self
    }

    pub(crate) const fn credit_for(mut self, number: &'static str) -> Self {
        self.credits = Some(number);
        self
    }

    fn signed(&self) -> Cents {
        if self.credits.is_some() { -self.gross } else { self.gross }
    }
}

/// Where an invoice stands in the folder.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) file: &'static str,
    pub(crate) sheet: Option<&'static str>,
    /// Row from 1; 0 for a whole document.
    pub(crate) row: u32,
}

impl Place {
    pub(crate) fn document(file: &'static str) -> Self {
        Self { file, sheet: None, row: 0 }
    }

    fn json(&self) -> Value {
        let mut map = Map::new();
        map.insert("file".into(), json!(self.file));
        if let Some(sheet) = self.sheet {
            map.insert("sheet".into(), json!(sheet));
        }
        map.insert("row".into(), json!(self.row));
        Value::Object(map)
    }
}

/// Everything that is known about the folder while it is made.
#[derive(Default)]
pub(crate) struct Ledger {
    found: Vec<(Place, Invoice)>,
    unread: Vec<(Place, &'static str)>,
    not_counted: Vec<(&'static str, &'static str)>,
}

impl Ledger {
    /// Notes that an invoice stands there.
    pub(crate) fn invoice(&mut self, place: Place, invoice: Invoice) {
        self.found.push((place, invoice));
    }

    /// Notes a file or row whose amount nobody can read.
    pub(crate) fn unread(&mut self, place: Place, why: &'static str) {
        self.unread.push((place, why));
    }

    /// Notes a file that holds money but is no invoice.
    pub(crate) fn not_counted(&mut self, file: &'static str, why: &'static str) {
        self.not_counted.push((file, why));
    }

    /// The answers, as they stand in `evals/demo-truth.json`.
    pub(crate) fn truth(&self, files: usize) -> Value {
        let mut groups: BTreeMap<&str, Vec<&(Place, Invoice)>> = BTreeMap::new();
        for entry in &self.found {
            groups.entry(entry.1.number).or_default().push(entry);
        }
        let once: Vec<&(Place, Invoice)> =
            groups.values().filter_map(|group| group.first().copied()).collect();
        json!({
            "goal": { "zh": GOAL_ZH, "en": GOAL_EN },
            "files": files,
            "rows": once.len(),
            "totals": sums(&once, |_| String::new()).remove("").unwrap_or_default(),
            "by_supplier": sums(&once, |invoice| invoice.seller.name.to_owned()),
            "by_month": sums(&once, |invoice| invoice.date.get(..7).unwrap_or_default().to_owned()),
            "median": medians(&once).into_iter().map(|(currency, half)| (currency, half_cents(half))).collect::<BTreeMap<_, _>>(),
            "duplicates": duplicates(&groups),
            "credit_notes": credit_notes(&once),
            "outliers": outliers(&once),
            "conflicts": conflicts(&once),
            "unread": self.unread.iter().map(|(place, why)| with(place.json(), "why", json!(why))).collect::<Vec<_>>(),
            "not_counted": self.not_counted.iter().map(|(file, why)| json!({ "file": file, "why": why })).collect::<Vec<_>>(),
        })
    }
}

/// The goal of the demo, in both languages.
pub(crate) const GOAL_ZH: &str =
    "汇总这个文件夹里的发票：按供应商和月份合计，标出需要再看一眼的地方，写一份报告。";
pub(crate) const GOAL_EN: &str = "Summarise the invoices in this folder by supplier and month, mark what needs a second look, and write a report.";

fn with(mut value: Value, key: &str, extra: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.insert(key.into(), extra);
    }
    value
}

type Sums = BTreeMap<String, BTreeMap<String, String>>;

fn sums(entries: &[&(Place, Invoice)], key: impl Fn(&Invoice) -> String) -> Sums {
    let mut out: BTreeMap<String, BTreeMap<String, Cents>> = BTreeMap::new();
    for (_, invoice) in entries {
        *out.entry(key(invoice)).or_default().entry(invoice.currency.to_owned()).or_default() +=
            invoice.signed();
    }
    out.into_iter().map(|(key, by)| (key, by.into_iter().map(|(c, sum)| (c, plain(sum))).collect())).collect()
}

/// Twice the median of the invoices of each currency; a credit note is no invoice.
fn medians(entries: &[&(Place, Invoice)]) -> BTreeMap<String, Cents> {
    let mut amounts: BTreeMap<String, Vec<Cents>> = BTreeMap::new();
    for (_, invoice) in entries.iter().filter(|(_, invoice)| invoice.credits.is_none()) {
        amounts.entry(invoice.currency.to_owned()).or_default().push(invoice.gross);
    }
    amounts
        .into_iter()
        .map(|(currency, mut list)| {
            list.sort_unstable();
            let upper = list.get(list.len() / 2).copied().unwrap_or_default();
            let lower = list.get((list.len() - 1) / 2).copied().unwrap_or_default();
            (currency, lower + upper)
        })
        .collect()
}

fn half_cents(twice: Cents) -> String {
    if twice % 2 == 0 { plain(twice / 2) } else { format!("{}5", plain(twice / 2)) }
}

fn outliers(entries: &[&(Place, Invoice)]) -> Vec<Value> {
    let medians = medians(entries);
    let limit = |currency: &str| medians.get(currency).copied().unwrap_or_default() * 3;
    entries
        .iter()
        .filter(|(_, invoice)| invoice.credits.is_none() && invoice.gross * 2 > limit(invoice.currency))
        .map(|(place, invoice)| {
            json!({
                "number": invoice.number, "supplier": invoice.seller.name, "amount": plain(invoice.gross),
                "currency": invoice.currency, "source": place.json(),
            })
        })
        .collect()
}

fn duplicates(groups: &BTreeMap<&str, Vec<&(Place, Invoice)>>) -> Vec<Value> {
    groups
        .iter()
        .filter(|(_, group)| group.len() > 1)
        .map(|(number, group)| {
            let sources: Vec<Value> = group.iter().map(|(place, _)| place.json()).collect();
            let first = group.first().map(|(_, invoice)| (plain(invoice.gross), invoice.currency));
            json!({ "number": number, "amount": first.as_ref().map(|f| &f.0), "currency": first.as_ref().map(|f| f.1), "sources": sources })
        })
        .collect()
}

fn credit_notes(entries: &[&(Place, Invoice)]) -> Vec<Value> {
    entries
        .iter()
        .filter_map(|(place, invoice)| {
            let refers_to = invoice.credits?;
            Some(json!({
                "number": invoice.number, "refers_to": refers_to, "amount": plain(invoice.signed()),
                "currency": invoice.currency, "source": place.json(),
            }))
        })
        .collect()
}

fn conflicts(entries: &[&(Place, Invoice)]) -> Vec<Value> {
    entries
        .iter()
        .filter(|(_, invoice)| invoice.net + invoice.tax != invoice.gross)
        .map(|(place, invoice)| {
            json!({
                "number": invoice.number, "net": plain(invoice.net), "tax": plain(invoice.tax), "gross": plain(invoice.gross),
                "difference": plain(invoice.gross - invoice.net - invoice.tax), "currency": invoice.currency, "source": place.json(),
            })
        })
        .collect()
}
