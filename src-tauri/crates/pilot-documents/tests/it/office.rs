use crate::fixtures::{ole, raw_xlsx, zip};
use docx_rs::{Docx, Footer, Header, Paragraph, Run, Table, TableCell, TableRow};
use pilot_documents::{DocumentKind, DocumentStatus, ExtractOptions, extract};
use pilot_types::ErrorCode;
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use std::io::Cursor;

fn text(run: &str) -> Paragraph {
    Paragraph::new().add_run(Run::new().add_text(run))
}

fn cell(run: &str) -> TableCell {
    TableCell::new().add_paragraph(text(run))
}

#[test]
fn a_letter_with_header_table_and_spans() {
    let table = Table::new(vec![
        TableRow::new(vec![cell("品名"), cell("数量"), cell("金额")]),
        TableRow::new(vec![cell("桌子"), cell("2"), cell("3729.00")]),
        TableRow::new(vec![cell("合计").grid_span(2), cell("3729.00")]),
    ]);
    let mut out = Cursor::new(Vec::new());
    Docx::new()
        .header(Header::new().add_paragraph(text("松果样例家具有限公司")))
        .footer(Footer::new().add_paragraph(text("第 1 页")))
        .add_paragraph(text("报价单"))
        .add_table(table)
        .build()
        .pack(&mut out)
        .unwrap();
    let document = extract("a.docx", out.get_ref(), &ExtractOptions::default());
    assert_eq!(
        (document.kind, document.status),
        (DocumentKind::Docx, DocumentStatus::Complete),
        "{:?}",
        document.notes
    );
    assert_eq!(
        document.text,
        "松果样例家具有限公司\n报价单\n品名\t数量\t金额\n桌子\t2\t3729.00\n合计\t\t3729.00\n第 1 页",
        "header, body, footer"
    );
    assert_eq!(
        document.parts[0].tables[0].rows[2],
        ["合计", "", "3729.00"],
        "the amount stays under its header"
    );
    assert_eq!(
        document.invoice.map(|invoice| invoice.kind).as_deref(),
        Some("quote"),
        "a quote by its title"
    );
}

#[test]
fn units_that_are_not_twentieths_are_no_obstacle() {
    let body = r#"<w:document xmlns:w="w"><w:body><w:tbl><w:tblPr><w:tblW w:w="144pt"/></w:tblPr><w:tr><w:tc><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"#;
    let document =
        extract("a.docx", &zip(&[("word/document.xml", body.as_bytes())]), &ExtractOptions::default());
    assert_eq!(
        (document.status, document.text.as_str()),
        (DocumentStatus::Complete, "inside"),
        "strict files are read: {:?}",
        document.notes
    );
}

#[test]
fn cells_with_their_types_and_hidden_sheets() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("进项").unwrap();
    let money = Format::new().set_num_format("\"¥\"#,##0.00");
    let day = Format::new().set_num_format("yyyy-mm-dd");
    sheet.write_string(0, 0, "供应商").unwrap();
    sheet.write_string(1, 0, "00012345").unwrap();
    sheet.write_number_with_format(1, 1, 1769.91, &money).unwrap();
    sheet.write_datetime_with_format(1, 2, ExcelDateTime::from_ymd(2024, 3, 16).unwrap(), &day).unwrap();
    sheet.write_boolean(1, 3, true).unwrap();
    sheet.merge_range(3, 0, 3, 2, "合并", &Format::new()).unwrap();
    let hidden = book.add_worksheet();
    hidden.set_name("旧").unwrap().set_hidden(true);
    hidden.write_string(0, 0, "old").unwrap();
    let bytes = book.save_to_buffer().unwrap();
    let document = extract("a.xlsx", &bytes, &ExtractOptions::default());
    assert_eq!(document.status, DocumentStatus::Complete, "{:?}", document.notes);
    assert_eq!(
        document.parts[0].tables[0].rows[1],
        ["00012345", "1769.91", "2024-03-16", "TRUE"],
        "zeros, cents and days"
    );
    assert_eq!(document.parts[0].tables[0].rows.len(), 4, "the empty row keeps its place");
    assert!(document.parts[1].hidden, "the hidden sheet is marked");
    for word in ["hidden", "CNY", "merged"] {
        assert!(
            document.notes.iter().any(|note| note.contains(word)),
            "{word} is said: {:?}",
            document.notes
        );
    }
    let options = ExtractOptions { sheet: Some("旧".into()), ..ExtractOptions::default() };
    assert_eq!(extract("a.xlsx", &bytes, &options).parts.len(), 1, "one sheet on demand");
    let options = ExtractOptions { sheet: Some("none".into()), ..ExtractOptions::default() };
    assert_eq!(
        extract("a.xlsx", &bytes, &options).code,
        Some(ErrorCode::InvalidArguments),
        "a sheet that is not there"
    );
}

#[test]
fn formulas_without_a_result_are_not_zero() {
    let sheet = r#"<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>A1*3</f><v>3</v></c></row>"#;
    let document = extract("a.xlsx", &raw_xlsx(sheet, ""), &ExtractOptions::default());
    assert_eq!(document.parts[0].tables[0].rows[0], ["1", "(not computed)", "3"], "said, not guessed");
    assert!(document.notes.iter().any(|note| note.contains("1 formulas")), "{:?}", document.notes);
}

#[test]
fn a_far_corner_costs_nothing() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write_string(0, 0, "near").unwrap();
    sheet.write_string(1_048_575, 16_383, "far").unwrap();
    let document = extract("a.xlsx", &book.save_to_buffer().unwrap(), &ExtractOptions::default());
    assert_eq!(
        (document.status, document.parts[0].tables.len()),
        (DocumentStatus::Complete, 2),
        "two blocks, not seventeen thousand million cells"
    );
    assert_eq!(document.parts[0].tables[1].first_row, 1_048_576, "with the row number of the file");
}

#[test]
fn passwords_of_office_files() {
    let locked = ole("/EncryptedPackage", b"xxxx");
    for name in ["a.xlsx", "a.docx"] {
        let document = extract(name, &locked, &ExtractOptions::default());
        assert_eq!(
            (document.status, document.code),
            (DocumentStatus::Refused, Some(ErrorCode::DocumentEncrypted)),
            "{name} needs a password"
        );
    }
}

#[test]
fn a_spreadsheet_of_open_document() {
    let content = r#"<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet><table:table table:name="Blatt"><table:table-row><table:table-cell office:value-type="string"><text:p>Betrag</text:p></table:table-cell><table:table-cell office:value-type="currency" office:currency="EUR" office:value="12.50"><text:p>12,50 €</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"#;
    let bytes = zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content.as_bytes()),
    ]);
    let document = extract("a.ods", &bytes, &ExtractOptions::default());
    assert_eq!(
        (document.kind, document.status),
        (DocumentKind::Ods, DocumentStatus::Complete),
        "{:?}",
        document.notes
    );
    assert_eq!(document.text, "Betrag\t12.50", "exact to the last zero");
    assert!(
        document.notes.iter().any(|note| note.contains("EUR")),
        "the currency is said: {:?}",
        document.notes
    );
}

#[test]
fn text_names_its_encoding() {
    let bytes = encoding_rs::GB18030.encode("供应商,金额\n青禾样例,1,200.00\n").0.into_owned();
    let document = extract("a.csv", &bytes, &ExtractOptions::default());
    assert!(
        document.notes.iter().any(|note| note.contains("gb18030") && note.contains("guess")),
        "{:?}",
        document.notes
    );
    assert!(document.text.starts_with("供应商"), "and it is right");
    let document = extract("a.txt", b"", &ExtractOptions::default());
    assert_eq!(
        (document.status, document.notes.len()),
        (DocumentStatus::Complete, 1),
        "an empty file is said to be empty"
    );
}
