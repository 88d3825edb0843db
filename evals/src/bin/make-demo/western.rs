//! English invoices and credit notes as PDF, in the looks of three different suppliers.

use crate::model::{BUYER_ENGLISH, Invoice, grouped};
use crate::pdf::{self, Font, Page};

/// A line: description, quantity, unit price, amount (both in cents).
pub(crate) type Line = (&'static str, &'static str, i64, i64);

/// What stands on the paper besides its figures.
pub(crate) struct Sheet {
    pub(crate) lines: &'static [Line],
    pub(crate) tax_label: &'static str,
    pub(crate) due: &'static str,
    pub(crate) note: &'static str,
    /// Colour of the letterhead.
    pub(crate) colour: (f64, f64, f64),
}

const LEFT: f64 = 20.0;
const RIGHT: f64 = 190.0;

/// Draws it on A4.
pub(crate) fn draw(invoice: &Invoice, sheet: &Sheet) -> Result<Vec<u8>, lopdf::Error> {
    let mut page = Page::new(210.0, 297.0);
    letterhead(&mut page, invoice, sheet);
    addresses(&mut page, invoice, sheet);
    let below = table(&mut page, sheet);
    totals(&mut page, invoice, sheet, below + 6.0);
    footer(&mut page, invoice, sheet);
    let kind = if invoice.credits.is_some() { "Credit note" } else { "Invoice" };
    pdf::document(&format!("{kind} {}", invoice.number), invoice.date, page)
}

fn tint(page: &mut Page, sheet: &Sheet) {
    page.colour(sheet.colour.0, sheet.colour.1, sheet.colour.2);
}

fn ink(page: &mut Page) {
    page.colour(0.13, 0.15, 0.18);
}

fn letterhead(page: &mut Page, invoice: &Invoice, sheet: &Sheet) {
    tint(page, sheet);
    page.fill(0.0, 0.0, 210.0, 4.0);
    page.text(Font::HelveticaBold, 15.0, LEFT, 24.0, invoice.seller.name);
    let title = if invoice.credits.is_some() { "CREDIT NOTE" } else { "INVOICE" };
    page.right(Font::HelveticaBold, 20.0, RIGHT, 40.0, title);
    ink(page);
    for (at, line) in invoice.seller.address.iter().enumerate() {
        page.text(Font::Helvetica, 9.0, LEFT, 30.0 + at as f64 * 4.5, line);
    }
}

fn addresses(page: &mut Page, invoice: &Invoice, sheet: &Sheet) {
    page.text(Font::HelveticaBold, 9.0, LEFT, 56.0, "Bill to");
    page.text(Font::Helvetica, 10.0, LEFT, 62.0, BUYER_ENGLISH.name);
    for (at, line) in BUYER_ENGLISH.address.iter().enumerate() {
        page.text(Font::Helvetica, 10.0, LEFT, 67.0 + at as f64 * 5.0, line);
    }
    let credit = invoice.credits.is_some();
    let mut facts = vec![
        (if credit { "Credit note no." } else { "Invoice no." }, invoice.number),
        (if credit { "Date" } else { "Invoice date" }, invoice.date),
    ];
    match invoice.credits {
        Some(number) => facts.push(("Refers to invoice", number)),
        None => facts.push(("Due date", sheet.due)),
    }
    facts.push(("Currency", invoice.currency));
    for (at, (label, value)) in facts.iter().enumerate() {
        let y = 56.0 + at as f64 * 5.5;
        page.text(Font::Helvetica, 9.5, 120.0, y, label);
        page.right(Font::Helvetica, 9.5, RIGHT, y, value);
    }
}

fn table(page: &mut Page, sheet: &Sheet) -> f64 {
    tint(page, sheet);
    page.line(1.0, (LEFT, 92.0), (RIGHT, 92.0));
    ink(page);
    page.text(Font::HelveticaBold, 9.0, LEFT, 90.0, "Description");
    page.right(Font::HelveticaBold, 9.0, 128.0, 90.0, "Qty");
    page.right(Font::HelveticaBold, 9.0, 158.0, 90.0, "Unit price");
    page.right(Font::HelveticaBold, 9.0, RIGHT, 90.0, "Amount");
    let mut y = 98.5;
    for (item, quantity, price, amount) in sheet.lines {
        page.text(Font::Helvetica, 9.5, LEFT, y, item);
        page.right(Font::Helvetica, 9.5, 128.0, y, quantity);
        page.right(Font::Helvetica, 9.5, 158.0, y, &grouped(*price));
        page.right(Font::Helvetica, 9.5, RIGHT, y, &grouped(*amount));
        y += 7.0;
    }
    page.line(0.4, (LEFT, y - 2.5), (RIGHT, y - 2.5));
    y
}

fn totals(page: &mut Page, invoice: &Invoice, sheet: &Sheet, top: f64) {
    let total = if invoice.credits.is_some() { "Total credit" } else { "Total" };
    let rows = [
        ("Subtotal", invoice.net, false),
        (sheet.tax_label, invoice.tax, false),
        (total, invoice.gross, true),
    ];
    for (at, (label, amount, strong)) in rows.into_iter().enumerate() {
        let font = if strong { Font::HelveticaBold } else { Font::Helvetica };
        let y = top + at as f64 * 7.0;
        page.text(font, 10.0, 130.0, y, label);
        page.right(font, 10.0, RIGHT, y, &format!("{} {}", invoice.currency, grouped(amount)));
    }
    tint(page, sheet);
    page.line(1.0, (130.0, top + 16.5), (RIGHT, top + 16.5));
    ink(page);
}

fn footer(page: &mut Page, invoice: &Invoice, sheet: &Sheet) {
    page.text(Font::Helvetica, 9.0, LEFT, 240.0, sheet.note);
    page.colour(0.45, 0.47, 0.5);
    page.line(0.3, (LEFT, 276.0), (RIGHT, 276.0));
    let line = format!("{} is an invented company. This paper is sample data.", invoice.seller.name);
    page.text(Font::Helvetica, 8.0, LEFT, 281.0, &line);
}
