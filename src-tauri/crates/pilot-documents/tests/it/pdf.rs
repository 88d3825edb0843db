use crate::fixtures::{FAPIAO, Face, Fapiao, fapiao, form, locked_pdf, pdf, scan};
use pilot_documents::{DocumentKind, DocumentStatus, ExtractOptions, PartKind, extract};
use pilot_types::ErrorCode;

fn read(bytes: &[u8]) -> pilot_documents::Document {
    extract("a.pdf", bytes, &ExtractOptions::default())
}

#[test]
fn a_chinese_invoice_in_a_font_that_is_not_embedded() {
    let document = read(&fapiao(&FAPIAO));
    assert_eq!(
        (document.kind, document.status),
        (DocumentKind::Pdf, DocumentStatus::Complete),
        "{:?}",
        document.notes
    );
    let invoice = document.invoice.expect("the fields are found");
    assert_eq!(invoice.kind, "invoice", "by its title");
    assert_eq!(
        invoice.number.as_deref(),
        Some("26990000000000000101"),
        "all twenty digits, though the account is longer"
    );
    assert_eq!(invoice.date.as_deref(), Some("2026-03-05"), "the date of issue");
    assert_eq!(invoice.seller.as_deref(), Some("青禾样例办公用品有限公司"), "on the right");
    assert_eq!(invoice.buyer.as_deref(), Some("晨星样例商贸有限公司"), "on the left");
    assert_eq!(invoice.buyer_tax_id.as_deref(), Some("91990101000000019M"), "the buyer's id");
    assert_eq!(invoice.seller_tax_id.as_deref(), Some("91990102MA0AB0014N"), "the seller's id");
    let amounts = [invoice.net, invoice.tax, invoice.gross]
        .map(|amount| amount.map(|amount| amount.to_string()).unwrap_or_default());
    assert_eq!(amounts, ["1769.91", "230.09", "2000.00"], "net, tax, gross");
    assert_eq!(invoice.currency.as_deref(), Some("CNY"), "yuan");
    assert!(invoice.conflicts.is_empty(), "words, figures and sum agree: {:?}", invoice.conflicts);
}

#[test]
fn figures_that_disagree_are_told() {
    let wrong =
        Fapiao { net: "500.00", tax: "30.00", gross: "535.00", words: "伍佰叁拾陆圆整", ..FAPIAO };
    let invoice = read(&fapiao(&wrong)).invoice.expect("still an invoice");
    assert_eq!(
        invoice.gross.map(|gross| gross.to_string()).as_deref(),
        Some("535.00"),
        "what is printed is kept"
    );
    assert!(
        invoice.conflicts.iter().any(|text| text.contains("530.00") && text.contains("535.00")),
        "the sum: {:?}",
        invoice.conflicts
    );
    assert!(
        invoice.conflicts.iter().any(|text| text.contains("536.00")),
        "and the words: {:?}",
        invoice.conflicts
    );
}

#[test]
fn columns_are_rebuilt_by_place() {
    // Drawn in an order that has nothing to do with reading.
    let document = read(&pdf(
        Face::Latin,
        &[vec![
            (300.0, 700.0, 10.0, "Amount"),
            (50.0, 760.0, 16.0, "INVOICE"),
            (50.0, 700.0, 10.0, "Item"),
            (200.0, 700.0, 10.0, "Qty"),
            (300.0, 680.0, 10.0, "1,200.00"),
            (50.0, 680.0, 10.0, "Paper"),
            (200.0, 680.0, 10.0, "2"),
            (50.0, 660.0, 10.0, "Ink"),
            (300.0, 660.0, 10.0, "9.00"),
            (200.0, 660.0, 10.0, "10"),
        ]],
    ));
    assert_eq!(
        document.text, "INVOICE\nItem\tQty\tAmount\nPaper\t2\t1,200.00\nInk\t10\t9.00",
        "top to bottom, left to right"
    );
    let table = &document.parts[0].tables[0];
    assert_eq!(
        table.rows.last().map(|row| row.join("|")).as_deref(),
        Some("Ink|10|9.00"),
        "the table has its columns: {table:?}"
    );
}

#[test]
fn western_invoices_and_credit_notes() {
    let letter = |title: &'static str, number: &'static str, total: &'static str| {
        pdf(
            Face::Latin,
            &[vec![
                (50.0, 800.0, 9.0, "Larkfen Sample Studio Ltd - 1 Example Road - Sampletown"),
                (50.0, 760.0, 16.0, title),
                (50.0, 730.0, 10.0, number),
                (50.0, 715.0, 10.0, "Invoice date: 03.03.2026"),
                (50.0, 690.0, 10.0, "Bill to:"),
                (50.0, 676.0, 10.0, "Morningstar Example Ltd"),
                (50.0, 600.0, 10.0, "Net total"),
                (300.0, 600.0, 10.0, "100.00 \u{a3}"),
                (50.0, 585.0, 10.0, "VAT 19 %"),
                (300.0, 585.0, 10.0, "19.00 \u{a3}"),
                (50.0, 570.0, 10.0, "Grand total"),
                (300.0, 570.0, 10.0, total),
            ]],
        )
    };
    let invoice = read(&letter("Invoice", "Invoice no: LS-77", "119.00 \u{a3}")).invoice.expect("an invoice");
    let found = (
        invoice.number.as_deref(),
        invoice.date.as_deref(),
        invoice.seller.as_deref(),
        invoice.buyer.as_deref(),
        invoice.currency.as_deref(),
    );
    assert_eq!(
        found,
        (
            Some("LS-77"),
            Some("2026-03-03"),
            Some("Larkfen Sample Studio Ltd"),
            Some("Morningstar Example Ltd"),
            Some("GBP")
        ),
        "the fields"
    );
    assert_eq!(invoice.gross.map(|gross| gross.to_string()).as_deref(), Some("119.00"), "the total with tax");
    let credit =
        read(&letter("Credit note", "Credit note no: C-1", "119.00 \u{a3}")).invoice.expect("a credit note");
    assert_eq!(credit.kind, "credit_note", "by its title");
    let quote = read(&letter("Quotation", "Quotation no: Q-1", "119.00 \u{a3}")).invoice.expect("a quote");
    assert_eq!(quote.kind, "quote", "a quote is no invoice");
}

#[test]
fn a_picture_of_a_page_is_said_to_be_one() {
    let document = read(&scan());
    assert_eq!(
        (document.status, document.code),
        (DocumentStatus::Refused, Some(ErrorCode::DocumentScanned)),
        "never an empty success"
    );
    assert_eq!(document.parts[0].kind, PartKind::Scanned, "and the page is marked");
    assert!(document.notes.iter().any(|note| note.contains("page 1")), "in words: {:?}", document.notes);
}

#[test]
fn passwords() {
    let pages = [vec![(50.0, 700.0, 12.0, "Secret agenda")]];
    let locked = read(&locked_pdf(&pages, "open sesame"));
    assert_eq!(
        (locked.status, locked.code),
        (DocumentStatus::Refused, Some(ErrorCode::DocumentEncrypted)),
        "a password that nobody gave"
    );
    let open = read(&locked_pdf(&pages, ""));
    assert_eq!(
        (open.status, open.text.as_str()),
        (DocumentStatus::Complete, "Secret agenda"),
        "an empty one is no obstacle: {:?}",
        open.notes
    );
}

#[test]
fn pages_can_be_chosen() {
    let bytes = pdf(
        Face::Latin,
        &[
            vec![(50.0, 700.0, 12.0, "one")],
            vec![(50.0, 700.0, 12.0, "two")],
            vec![(50.0, 700.0, 12.0, "three")],
        ],
    );
    let options = ExtractOptions { pages: Some((2, 9)), ..ExtractOptions::default() };
    let document = extract("a.pdf", &bytes, &options);
    assert_eq!(
        document.parts.iter().filter_map(|part| part.page).collect::<Vec<_>>(),
        [2, 3],
        "from the second to the end"
    );
    let options = ExtractOptions { pages: Some((7, 9)), ..ExtractOptions::default() };
    assert_eq!(
        extract("a.pdf", &bytes, &options).code,
        Some(ErrorCode::InvalidArguments),
        "pages that are not there"
    );
}

#[test]
fn what_was_filled_into_a_form_is_text() {
    let document = read(&form());
    assert_eq!(
        document.text, "Invoice no:\tFORM-77\npaid",
        "values and notes stand at their place, hidden ones do not"
    );
}
