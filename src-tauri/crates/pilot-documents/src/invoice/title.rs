//! What a paper calls itself. A quote must never enter a sum of invoices.

use crate::fold;
use crate::layout::Line;

/// Kind of paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Invoice,
    CreditNote,
    Quote,
    Proforma,
    Receipt,
    /// Statement of account.
    Statement,
    /// Order, delivery note, reminder, list of rides.
    Other,
}

impl Kind {
    /// The word in `InvoiceFields::kind`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Invoice => "invoice",
            Self::CreditNote => "credit_note",
            Self::Quote => "quote",
            Self::Proforma => "proforma",
            Self::Receipt => "receipt",
            Self::Statement => "statement",
            Self::Other => "other",
        }
    }
}

/// Chinese titles. The first that a short line contains decides; longer and rarer words stand first.
const CHINESE: [(&str, Kind); 27] = [
    ("形式发票", Kind::Proforma),
    ("航空运输电子客票行程单", Kind::Invoice),
    ("红字增值税", Kind::CreditNote),
    ("红字发票", Kind::CreditNote),
    ("负数发票", Kind::CreditNote),
    ("贷项通知", Kind::CreditNote),
    ("电子发票", Kind::Invoice),
    ("增值税专用发票", Kind::Invoice),
    ("普通发票", Kind::Invoice),
    ("统一发票", Kind::Invoice),
    ("专用发票", Kind::Invoice),
    ("报价单", Kind::Quote),
    ("报价函", Kind::Quote),
    ("报价书", Kind::Quote),
    ("询价单", Kind::Quote),
    ("对账单", Kind::Statement),
    ("对帐单", Kind::Statement),
    ("结算单", Kind::Statement),
    ("行程单", Kind::Other),
    ("行程报销单", Kind::Other),
    ("送货单", Kind::Other),
    ("采购订单", Kind::Other),
    ("采购合同", Kind::Other),
    ("出库单", Kind::Other),
    ("收据", Kind::Receipt),
    ("水单", Kind::Receipt),
    ("发票", Kind::Invoice),
];

/// Titles in Latin letters, by how the line begins.
const LATIN: [(&str, Kind); 62] = [
    ("proforma", Kind::Proforma),
    ("pro forma", Kind::Proforma),
    ("pro-forma", Kind::Proforma),
    ("facture proforma", Kind::Proforma),
    ("credit note", Kind::CreditNote),
    ("credit memo", Kind::CreditNote),
    ("tax credit note", Kind::CreditNote),
    ("gutschrift", Kind::CreditNote),
    ("rechnungskorrektur", Kind::CreditNote),
    ("stornorechnung", Kind::CreditNote),
    ("korrekturrechnung", Kind::CreditNote),
    ("avoir", Kind::CreditNote),
    ("facture d'avoir", Kind::CreditNote),
    ("note de crédit", Kind::CreditNote),
    ("nota de crédito", Kind::CreditNote),
    ("factura rectificativa", Kind::CreditNote),
    ("nota di credito", Kind::CreditNote),
    ("quotation", Kind::Quote),
    ("quote", Kind::Quote),
    ("sales quote", Kind::Quote),
    ("price quote", Kind::Quote),
    ("offer", Kind::Quote),
    ("angebot", Kind::Quote),
    ("kostenvoranschlag", Kind::Quote),
    ("devis", Kind::Quote),
    ("presupuesto", Kind::Quote),
    ("preventivo", Kind::Quote),
    ("estimate", Kind::Quote),
    ("statement", Kind::Statement),
    ("account statement", Kind::Statement),
    ("bank statement", Kind::Statement),
    ("kontoauszug", Kind::Statement),
    ("relevé", Kind::Statement),
    ("receipt", Kind::Receipt),
    ("payment receipt", Kind::Receipt),
    ("quittung", Kind::Receipt),
    ("reçu", Kind::Receipt),
    ("purchase order", Kind::Other),
    ("order confirmation", Kind::Other),
    ("bestellung", Kind::Other),
    ("auftragsbestätigung", Kind::Other),
    ("bon de commande", Kind::Other),
    ("delivery note", Kind::Other),
    ("packing list", Kind::Other),
    ("lieferschein", Kind::Other),
    ("bon de livraison", Kind::Other),
    ("mahnung", Kind::Other),
    ("zahlungserinnerung", Kind::Other),
    ("reminder", Kind::Other),
    ("payment reminder", Kind::Other),
    ("invoice", Kind::Invoice),
    ("tax invoice", Kind::Invoice),
    ("vat invoice", Kind::Invoice),
    ("commercial invoice", Kind::Invoice),
    ("sales invoice", Kind::Invoice),
    ("rechnung", Kind::Invoice),
    ("handelsrechnung", Kind::Invoice),
    ("ihre rechnung", Kind::Invoice),
    ("facture", Kind::Invoice),
    ("factura", Kind::Invoice),
    ("fattura", Kind::Invoice),
    ("bill", Kind::Invoice),
];

/// Lines from the top that may hold a title.
const TOP: usize = 30;

/// The kind of a paper by its title, or by labels that only one kind has.
#[must_use]
pub(crate) fn of_lines(lines: &[Line]) -> Option<Kind> {
    let first_page = lines.first().map_or(1, |line| line.page);
    let mut best: Option<(u8, Kind)> = None;
    for line in lines.iter().take_while(|line| line.page == first_page).take(TOP) {
        for cell in &line.cells {
            let found = of_cell(&cell.text);
            if let Some((weight, kind)) = found
                && best.is_none_or(|(before, _)| weight > before)
            {
                best = Some((weight, kind));
            }
        }
        // 电 子 发 票 may be printed as cells of their own.
        let squashed = line.squashed();
        if squashed.chars().count() <= 30
            && let Some((weight, kind)) = chinese(&squashed)
            && best.is_none_or(|(before, _)| weight > before)
        {
            best = Some((weight, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

fn of_cell(text: &str) -> Option<(u8, Kind)> {
    if text.len() > 160 {
        return None;
    }
    let tidy = fold::tidy(text);
    chinese(&tidy).or_else(|| latin(&tidy))
}

fn chinese(tidy: &str) -> Option<(u8, Kind)> {
    if !fold::has_han(tidy) || tidy.chars().count() > 40 {
        return None;
    }
    let (word, kind) = CHINESE.iter().find(|(word, _)| tidy.contains(word))?;
    let label = tidy.contains("号码")
        || tidy.contains("代码")
        || tidy.contains("日期")
        || tidy.contains(':')
        || tidy.contains("抬头");
    let weight = match (kind, label) {
        // 发票号码 says that it is an invoice, unless the paper has another title.
        (Kind::Invoice, true) => 2,
        (_, true) => 1,
        (Kind::Proforma | Kind::CreditNote, false) => 9,
        (Kind::Invoice, false) if word.chars().count() > 2 => 8,
        (_, false) => 7,
    };
    Some((weight, *kind))
}

fn latin(tidy: &str) -> Option<(u8, Kind)> {
    let lower = close_up(&tidy.to_lowercase());
    let lower = lower.trim_start_matches(['*', '-', '#', '=', ' ', '_']);
    let found = LATIN.iter().filter(|(word, _)| begins(lower, word)).max_by_key(|(word, _)| word.len());
    let Some((word, kind)) = found else { return compound(lower).or_else(|| elsewhere(lower)) };
    let rest = lower[word.len()..].trim();
    // "Invoice No" and "Invoice date: 3 March" are labels that a statement or a quote may have too.
    let first =
        rest.split(|c: char| c.is_whitespace() || c == ':').find(|word| !word.is_empty()).unwrap_or_default();
    let other = ["date", "total", "amount", "datum", "betrag"].contains(&first);
    let bare = !rest.chars().any(|c| c.is_ascii_digit())
        && ["no", "nr", "number", "num", "#", "id", "n°", "no."].contains(&first.trim_end_matches('.'));
    let label = *kind == Kind::Invoice && (other || bare);
    let pure = is_pure(rest) && !label;
    // Self-billing is called Gutschrift too; the words of the law or its code 389 tell it apart.
    if *word == "gutschrift" && (rest.contains("389") || rest.contains("verfahren")) {
        return Some((8, Kind::Invoice));
    }
    // "Angebot: 4711" and "Bestellung:" refer to another paper; they are no titles.
    if matches!(kind, Kind::Quote | Kind::Statement | Kind::Receipt | Kind::Other) && rest.starts_with(':') {
        return None;
    }
    let weight = match (kind, pure) {
        (Kind::Proforma | Kind::CreditNote, true) => 9,
        (Kind::Invoice, true) => 8,
        (Kind::Quote | Kind::Statement | Kind::Receipt | Kind::Other, true) => 7,
        (Kind::Proforma | Kind::CreditNote, false) => 4,
        (Kind::Invoice, false) => 3,
        (Kind::Quote | Kind::Statement | Kind::Receipt | Kind::Other, false) => {
            if rest.split_whitespace().count() > 6 {
                return None;
            }
            2
        }
    };
    Some((weight, *kind))
}

/// `W A R E N R E C H N U N G` and `Rechnungs-Korrektur` as the words they are.
fn close_up(lower: &str) -> String {
    let words: Vec<&str> = lower.split(' ').collect();
    let spaced = words.len() >= 5 && words.iter().all(|word| word.chars().count() == 1);
    let text = if spaced { words.concat() } else { lower.to_owned() };
    if text.starts_with("rechnungs-") { text.replacen("rechnungs-", "rechnungs", 1) } else { text }
}

/// Mietrechnung, Schlussrechnung, Beitragsrechnung: German makes one word of it.
fn compound(lower: &str) -> Option<(u8, Kind)> {
    let first = lower.split([' ', ':', '(']).next().unwrap_or_default();
    let kind = if first.starts_with("proforma") { Kind::Proforma } else { Kind::Invoice };
    (first.ends_with("rechnung") && first.chars().count() <= 28)
        .then_some((if lower == first { 8 } else { 4 }, kind))
}

fn begins(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphabetic()))
}

/// A title that does not stand first: `Acme Ltd - TAX INVOICE`.
fn elsewhere(lower: &str) -> Option<(u8, Kind)> {
    if lower.chars().count() > 60 {
        return None;
    }
    for (phrase, kind) in [
        ("proforma invoice", Kind::Proforma),
        ("pro forma invoice", Kind::Proforma),
        ("credit note", Kind::CreditNote),
        ("tax invoice", Kind::Invoice),
        ("commercial invoice", Kind::Invoice),
        ("statement of account", Kind::Statement),
    ] {
        if lower.contains(phrase) {
            return Some((if kind == Kind::Invoice { 3 } else { 4 }, kind));
        }
    }
    None
}

/// Nothing follows the title but a number, a date and the words that lead to them.
fn is_pure(rest: &str) -> bool {
    const LEADS: [&str; 40] = [
        "no",
        "nr",
        "n",
        "n°",
        "nº",
        "number",
        "num",
        "id",
        "nummer",
        "vom",
        "dated",
        "of",
        "from",
        "du",
        "de",
        "del",
        "date",
        "den",
        "invoice",
        "rechnung",
        "facture",
        "original",
        "copy",
        "kopie",
        "duplicate",
        "for",
        "account",
        "page",
        "note",
        "customer",
        "eur",
        "usd",
        "gmbh",
        "and",
        "packing",
        "list",
        "sheet",
        "price",
        "bill",
        "tax",
    ];
    rest.split(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | ',' | '(' | ')' | '#' | '/' | '|'))
        .filter(|word| {
            !word.is_empty() && !word.chars().any(|c| c.is_ascii_digit()) && *word != "-" && *word != "–"
        })
        .filter(|word| crate::date::find(&format!("1 {word} 2020"), None).is_none())
        .all(|word| LEADS.contains(&word))
}

/// The kind that a file name promises, for tables that carry no title.
#[must_use]
pub(crate) fn of_name(name: &str) -> Option<Kind> {
    let name = fold::tidy(name).to_lowercase();
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    if ["报价", "quotation", "quote", "angebot", "devis"].iter().any(|word| last.contains(word)) {
        return Some(Kind::Quote);
    }
    if ["形式发票", "proforma", "pro-forma", "pro forma"].iter().any(|word| last.contains(word)) {
        return Some(Kind::Proforma);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(lines: &[&str]) -> Option<Kind> {
        let lines: Vec<Line> =
            lines.iter().enumerate().map(|(number, text)| Line::of_text(1, number, text)).collect();
        of_lines(&lines)
    }

    #[test]
    fn titles() {
        for (lines, expected) in [
            (
                &["电子发票（增值税专用发票）", "发票号码：26990000000000000101"] as &[&str],
                Some(Kind::Invoice),
            ),
            (&["报价单", "报价日期：2026-03-01"], Some(Kind::Quote)),
            (&["Acme Ltd", "PROFORMA INVOICE", "Invoice no: 5"], Some(Kind::Proforma)),
            (&["Rechnung # RE-20140703/502 vom 03.07.2014"], Some(Kind::Invoice)),
            (&["Handelsrechnung (380) Nr. 471102 vom 05.06.2018"], Some(Kind::Invoice)),
            (&["Facture FA-2017-0010"], Some(Kind::Invoice)),
            (&["Avoir AV-2017-0005"], Some(Kind::CreditNote)),
            (&["CREDIT NOTE", "Original invoice no: 77"], Some(Kind::CreditNote)),
            (&["STATEMENT OF ACCOUNT", "Invoice No\tDate\tAmount"], Some(Kind::Statement)),
            (&["QUOTATION", "Please quote the invoice number"], Some(Kind::Quote)),
            (&["INVOICE", "Angebot: 4711"], Some(Kind::Invoice)),
            (&["对账单", "发票号码\t金额"], Some(Kind::Statement)),
            (&["Minutes of the meeting", "We decided to wait."], None),
            (&["形式发票"], Some(Kind::Proforma)),
            (&["Mietrechnung (387) Nr. 93 vom 01.10.2018", "Bestellung:\tB1"], Some(Kind::Invoice)),
            (&["W A R E N R E C H N U N G\tSeite", "Bestellung 7"], Some(Kind::Invoice)),
            (&["RECHNUNGS-KORREKTUR"], Some(Kind::CreditNote)),
            (&["INVOICE\tInvoice #\tINV-2026-014"], Some(Kind::Invoice)),
        ] {
            assert_eq!(kind(lines), expected, "of {lines:?}");
        }
    }
}
