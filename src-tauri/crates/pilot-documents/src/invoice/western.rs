//! Invoices in English, German, French, Spanish and Italian.

use super::grid::{Grid, Hit, trim_lead};
use super::labels::{DATE, DUE, GROSS, NET, NOT_TOTAL, NUMBER, PAYABLE, TAX, TITLES, list};
use super::{amounts, parties};
use crate::date::{self, Order};
use crate::model::InvoiceFields;
use crate::money::{self, Amount, Mark};
use rust_decimal::Decimal;

/// Reads the fields.
pub(super) fn read(grid: &Grid<'_>) -> InvoiceFields {
    let mark = amounts::mark(grid);
    let currency = currency(grid, mark);
    let order = order(grid, currency.as_deref());
    let (seller, buyer) = parties::find(grid);
    let mut fields = InvoiceFields {
        number: number(grid),
        date: date(grid, order),
        due_date: list(DUE).find_map(|label| labelled_date(grid, label, order)),
        seller,
        buyer,
        seller_tax_id: tax_id(grid),
        refers_to: reference(grid),
        currency,
        ..InvoiceFields::default()
    };
    totals(grid, mark, &mut fields);
    fields
}

/// A number: the first word with a digit, after the words that lead to it.
fn number_in(text: &str) -> Option<String> {
    for word in without_brackets(trim_lead(text)).split_whitespace().take(7) {
        let word = word
            .trim_matches(|c: char| matches!(c, ':' | ',' | ';' | '#' | '(' | ')' | '.' | '"' | '°' | 'º'));
        let shape =
            word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | '_' | '\\' | '#'));
        if word.bytes().any(|byte| byte.is_ascii_digit()) && shape && word.chars().count() <= 40 {
            // A date or an amount ends the search: the number is not here.
            let other = date::parse(word, None).is_some_and(|_| word.contains(['.', '/', '-']))
                || (word.contains(',') && money::parse(word, None).is_some());
            return (!other).then(|| word.to_owned());
        }
    }
    None
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0u32;
    text.chars()
        .filter(|c| {
            depth += u32::from(*c == '(');
            let inside = depth > 0;
            depth = depth.saturating_sub(u32::from(*c == ')'));
            !inside
        })
        .collect()
}

/// `Mietrechnung Nr. 93`: the title itself leads to the number.
fn compound_number(grid: &Grid<'_>) -> Option<String> {
    (0..grid.lines.len().min(30)).flat_map(|line| grid.cells(line)).find_map(|text| {
        let (first, rest) = text.split_once(' ')?;
        let first = first.to_lowercase();
        (first.ends_with("rechnung") && first.len() > 8).then(|| number_in(rest)).flatten()
    })
}

fn number(grid: &Grid<'_>) -> Option<String> {
    labelled_number(grid).or_else(|| compound_number(grid)).or_else(|| title_number(grid))
}

/// `Rechnung 4711 vom`: the first title of the paper that has its number behind it.
fn title_number(grid: &Grid<'_>) -> Option<String> {
    let mut hits: Vec<Hit> = list(TITLES).flat_map(|label| grid.find(label)).collect();
    hits.sort_by_key(|hit| (hit.line, hit.cell));
    hits.into_iter().find_map(|hit| {
        let before = hit.before.to_lowercase();
        let linked = ["liée", "d'origine", "originale", "date", "datum", "gemäß"]
            .iter()
            .any(|word| hit.rest.to_lowercase().starts_with(word));
        let title = (before.trim().is_empty() || before.ends_with("ihre ")) && !linked;
        title.then(|| number_in(&hit.rest).or_else(|| right_number(grid, &hit))).flatten()
    })
}

fn labelled_number(grid: &Grid<'_>) -> Option<String> {
    for label in list(NUMBER) {
        for hit in grid.find(label) {
            let before = hit.before.to_lowercase();
            if ["original", "korrektur zu", "zu rechnung", "your", "ursprüngliche", "bestell", "related"]
                .iter()
                .any(|word| before.contains(word))
            {
                continue;
            }
            let found = number_in(&hit.rest)
                .or_else(|| right_number(grid, &hit))
                .or_else(|| grid.below(hit.line, hit.cell).and_then(|text| number_in(&text)));
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn right_number(grid: &Grid<'_>, hit: &Hit) -> Option<String> {
    if !hit.rest.is_empty() && hit.rest.split_whitespace().count() > 2 {
        return None;
    }
    grid.right(hit).and_then(|text| number_in(&text))
}

fn labelled_date(grid: &Grid<'_>, label: &str, order: Option<Order>) -> Option<String> {
    grid.find(label).into_iter().find_map(|hit| {
        let before = hit.before.to_lowercase();
        // Leistungsdatum, due date, delivery date are other dates.
        let other = [
            "due",
            "liefer",
            "leistung",
            "delivery",
            "order",
            "bestell",
            "service",
            "livraison",
            "échéance",
            "ship",
            "print",
            "fällig",
        ];
        if matches!(label, "date" | "datum" | "data" | "fecha" | "vom" | "den")
            && other.iter().any(|word| before.contains(word) || hit.rest.to_lowercase().starts_with(word))
        {
            return None;
        }
        // "Bestellung Nr. 5 vom 01.03." dates the order.
        if label == "vom"
            && !["rechnung", "invoice", "gutschrift", "nr"].iter().any(|word| before.contains(word))
        {
            return None;
        }
        let values = [Some(hit.rest.clone()), grid.right(&hit), grid.below(hit.line, hit.cell)];
        values
            .into_iter()
            .flatten()
            .find_map(|value| date::find(crate::fold::cut(&value, 60), order))
            .map(|found| found.date.to_string())
    })
}

fn date(grid: &Grid<'_>, order: Option<Order>) -> Option<String> {
    list(DATE).find_map(|label| labelled_date(grid, label, order)).or_else(|| {
        // A letter may carry its date alone in a line near the top.
        (0..grid.lines.len().min(25))
            .flat_map(|line| grid.cells(line))
            .find_map(|text| date::parse(text, order))
            .map(|found| found.date.to_string())
    })
}

/// Day or month first: by any date of the paper that proves it, else by the currency.
fn order(grid: &Grid<'_>, currency: Option<&str>) -> Option<Order> {
    let proved = grid.texts().find_map(|text| date::find(text, None).and_then(|found| found.proves));
    proved.or(match currency {
        Some("USD") => Some(Order::MonthFirst),
        Some(_) => Some(Order::DayFirst),
        None => None,
    })
}

fn tax_id(grid: &Grid<'_>) -> Option<String> {
    for label in [
        "ust-idnr",
        "ust-id",
        "ust.-id.-nr",
        "ustid",
        "vat no",
        "vat id",
        "vat number",
        "vat reg",
        "n° tva",
        "tva intracommunautaire",
        "tva",
        "nif",
        "partita iva",
        "p.iva",
    ] {
        for hit in grid.find(label) {
            let Some(value) = grid.value(&hit) else { continue };
            let id: String = trim_lead(&value)
                .chars()
                .filter(|c| !c.is_whitespace())
                .take_while(|c| c.is_ascii_alphanumeric())
                .collect();
            let letters = id.bytes().take(2).all(|byte| byte.is_ascii_uppercase());
            let digits = id.bytes().filter(u8::is_ascii_digit).count();
            let client =
                hit.rest.to_lowercase().starts_with("client") || hit.before.to_lowercase().contains("kunde");
            if letters && digits >= 7 && (8..=16).contains(&id.len()) && !client {
                return Some(id);
            }
        }
    }
    None
}

fn reference(grid: &Grid<'_>) -> Option<String> {
    for label in [
        "original invoice no",
        "original invoice number",
        "original invoice",
        "korrektur zu rechnung",
        "zu rechnung",
        "corrects invoice",
        "ursprüngliche rechnung",
        "facture d'origine",
        "facture liée",
        "credit for invoice",
        "reference invoice",
    ] {
        for hit in grid.find(label) {
            if let Some(found) = number_in(&hit.rest).or_else(|| right_number(grid, &hit)) {
                return Some(found);
            }
        }
    }
    None
}

/// Amounts that stand behind the labels of a list, best label first, last place on the paper first.
fn candidates(
    grid: &Grid<'_>,
    labels: &'static str,
    mark: Option<Mark>,
    skip: impl Fn(&str, &Hit) -> bool,
) -> Vec<Amount> {
    let mut out: Vec<Amount> = Vec::new();
    for label in list(labels) {
        for hit in grid.find(label).into_iter().rev() {
            if skip(label, &hit) {
                continue;
            }
            let cells = grid.cells(hit.line).len();
            let found = amounts::last(&behind_label(grid, &hit), mark).or_else(|| {
                let money = |text: String| {
                    money::parse(&text, mark)
                        .filter(|amount| amount.currency.is_some() || text.contains([',', '.']))
                };
                if cells > 2 {
                    // The head of a table of sums: the last row is the sum of the others. A bare word heads the lines.
                    let column: Vec<Amount> = grid.column(&hit).into_iter().map_while(money).collect();
                    return column.last().copied().filter(|_| label.len() > 6);
                }
                // A heading of a block has its amount below it.
                (hit.rest.is_empty() && cells <= hit.cell + 1)
                    .then(|| grid.below(hit.line, hit.cell))
                    .flatten()
                    .and_then(money)
            });
            if let Some(amount) = found
                && !out.iter().any(|other| other.value == amount.value)
            {
                out.push(amount);
            }
        }
    }
    out
}

/// The label's own cell and the cells to the right, up to the next label.
fn behind_label(grid: &Grid<'_>, hit: &Hit) -> Vec<String> {
    let mut out = vec![hit.rest.clone()];
    for text in grid.cells(hit.line).iter().skip(hit.cell + 1) {
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        if letters > 6 && !out.iter().all(String::is_empty) {
            break;
        }
        out.push(text.clone());
    }
    out
}

fn totals(grid: &Grid<'_>, mark: Option<Mark>, fields: &mut InvoiceFields) {
    let words = |hit: &Hit| -> String { format!("{} {}", hit.before, hit.rest).to_lowercase() };
    let has = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphabetic())
            .any(|other| if word.len() > 3 { other.starts_with(word) } else { other == word })
    };
    let gross = candidates(grid, GROSS, mark, |label, hit| {
        let text = words(hit);
        let strong = ["inkl", "incl", "brutto", "ttc", "gross"].iter().any(|word| label.contains(word));
        list(NOT_TOTAL).any(|word| {
            has(&text, word) && !(strong && ["mwst", "ust", "steuer", "tax", "vat", "tva"].contains(&word))
        })
    });
    let net = candidates(grid, NET, mark, |_, hit| {
        let text = words(hit);
        ["zuschl", "abschl", "rabatt", "tage", "days", "payer", "pagare", "jours", "preis", "price"]
            .iter()
            .any(|word| has(&text, word))
    });
    let tax = candidates(grid, TAX, mark, |_, hit| {
        let text = words(hit);
        // The head of a column of rates.
        let rest = hit.rest.trim_end_matches([' ', ']', ')', ':']);
        let rate = rest.trim_start_matches([' ', '-', '.', '[', '(']).starts_with('%')
            || (rest.ends_with('%') && !rest.chars().any(|c| c.is_ascii_digit()));
        rate || ["inkl", "incl", "ohne", "excl", "id", "idnr", "nr", "no", "netto", "included", "invoice"]
            .iter()
            .any(|word| has(&text, word))
    });
    let due = candidates(grid, PAYABLE, mark, |_, _| false);
    let values = |found: &[Amount]| -> Vec<Decimal> { found.iter().map(|amount| amount.value).collect() };
    // What is payable is the total unless something was paid before; arithmetic decides.
    let mut totals = values(&gross);
    totals.extend(values(&due));
    let (total, base, duty) = amounts::settle(&totals, &values(&net), &values(&tax));
    fields.gross = total;
    fields.due = due.first().map(|amount| amount.value);
    // Net and tax that do not make the total may be one rate's share of several; only a sum that holds is taken.
    let holds = matches!((total, base, duty), (Some(total), Some(base), Some(duty)) if base.saturating_add(duty) == total);
    if holds || total.is_none() || (net.len() == 1 && tax.len() == 1) {
        fields.net = base;
        fields.tax = duty;
    } else {
        fields.net = base.filter(|base| total.is_some_and(|total| *base <= total));
    }
    if fields.gross.is_none() && fields.net.is_none() {
        fields.gross = fields.due;
    }
    let sign = gross
        .iter()
        .chain(&due)
        .find(|amount| Some(amount.value) == total)
        .and_then(|amount| amount.currency);
    if let Some(sign) = sign {
        fields.currency = Some(sign.to_owned());
    }
}

fn currency(grid: &Grid<'_>, mark: Option<Mark>) -> Option<String> {
    for label in ["währung", "currency", "devise", "moneda", "valuta"] {
        for hit in grid.find(label) {
            if let Some(found) = grid.value(&hit).and_then(|value| money::currency_in_text(&value)) {
                return Some(found.to_owned());
            }
        }
    }
    let mut counts: std::collections::BTreeMap<&'static str, u32> = std::collections::BTreeMap::new();
    for text in grid.texts() {
        for amount in amounts::all(text, mark) {
            if let Some(code) = amount.currency {
                *counts.entry(code).or_default() += 1;
            }
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(code, _)| code);
    // A sign in a table's head, such as "Total/€", or a code in a sentence.
    most.or_else(|| grid.texts().find_map(money::currency_in_text)).map(str::to_owned)
}
