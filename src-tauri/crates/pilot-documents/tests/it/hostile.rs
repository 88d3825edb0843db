//! Files that mean harm: each costs one clear code, and none of them time, memory or the program.

use crate::fixtures::{Face, ole, pdf, raw_xlsx, zip};
use pilot_documents::{DocumentStatus, ExtractOptions, extract};
use pilot_types::ErrorCode;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn code(name: &str, bytes: &[u8]) -> Option<ErrorCode> {
    let start = Instant::now();
    let document = extract(name, bytes, &ExtractOptions::default());
    assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
    if document.status == DocumentStatus::Refused {
        assert!(!document.notes.is_empty(), "{name}: a refusal has words");
        assert!(document.code.is_some(), "{name}: and a code");
    }
    document.code
}

#[test]
fn broken_containers() {
    let good = zip(&[("word/document.xml", b"<w:document/>")]);
    assert_eq!(
        code("a.docx", &good[..good.len() - 10]),
        Some(ErrorCode::DocumentBroken),
        "a zip without its end"
    );
    assert_eq!(
        code("a.xlsx", b"PK\x03\x04 and nothing xl/ else"),
        Some(ErrorCode::DocumentBroken),
        "a zip in name only"
    );
    assert_eq!(
        code("a.docx", &zip(&[("word/other.xml", b"x")])),
        Some(ErrorCode::DocumentBroken),
        "no main part"
    );
    assert_eq!(
        code("a.zip", &zip(&[("a.txt", b"x")])),
        Some(ErrorCode::DocumentUnsupported),
        "a zip of anything"
    );
    assert_eq!(
        code("a.xls", &ole("/Workbook", b"\x09\x08")),
        Some(ErrorCode::DocumentBroken),
        "a workbook of two bytes"
    );
    assert_eq!(code("a.bin", &[0, 1, 2, 3, 4, 5, 6, 7]), Some(ErrorCode::DocumentUnsupported), "bytes");
    assert_eq!(code("a.png", b"\x89PNG\r\n\x1a\n"), Some(ErrorCode::DocumentScanned), "a picture");
    assert_eq!(
        code("a.ofd", &zip(&[("OFD.xml", b"<OFD/>")])),
        Some(ErrorCode::DocumentUnsupported),
        "OFD is not read yet, and that is said"
    );
}

#[test]
fn zip_bombs() {
    let mut liar = raw_xlsx("", "");
    // The directory says that a part inflates to 3 GiB.
    let at = liar.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    liar[at + 24..at + 28].copy_from_slice(&(3u32 << 30).to_le_bytes());
    assert_eq!(code("a.xlsx", &liar), Some(ErrorCode::DocumentLimit), "a part beyond the limit");
    let many: Vec<(String, &[u8])> =
        (0..20_001).map(|number| (format!("xl/{number}.xml"), b"".as_slice())).collect();
    let parts: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert_eq!(code("a.xlsx", &zip(&parts)), Some(ErrorCode::DocumentLimit), "twenty thousand parts");
}

#[test]
fn one_text_in_twelve_thousand_cells() {
    let text = "A".repeat(100_000);
    let cells: String =
        (1..=12_000).map(|row| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>"#)).collect();
    let bytes = raw_xlsx(&cells, &format!("<si><t>{text}</t></si>"));
    assert!(bytes.len() < 100_000, "a small file of {} bytes", bytes.len());
    assert_eq!(code("a.xlsx", &bytes), Some(ErrorCode::DocumentLimit), "that would give a gigabyte");
}

#[test]
fn entities() {
    let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><w:document xmlns:w="w"><w:t>&b;</w:t></w:document>"#;
    assert_eq!(
        code("a.docx", &zip(&[("word/document.xml", bomb.as_bytes())])),
        Some(ErrorCode::DocumentLimit),
        "a document defines no entities"
    );
    let deep = format!("<w:document xmlns:w=\"w\">{}", "<w:p>".repeat(100_000));
    assert_eq!(
        code("a.docx", &zip(&[("word/document.xml", deep.as_bytes())])),
        Some(ErrorCode::DocumentLimit),
        "a hundred thousand levels"
    );
}

#[test]
fn sheets_that_reach_to_the_edge() {
    let record =
        |kind: u16, data: &[u8]| [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat();
    let cell = |row: u16, column: u16| {
        record(
            0x0203,
            &[&row.to_le_bytes()[..], &column.to_le_bytes(), &[0, 0], &1.0f64.to_le_bytes()].concat(),
        )
    };
    let stream = [
        record(0x0809, &[0, 6, 5, 0, 0, 0, 0, 0]),
        record(0x0809, &[0, 6, 16, 0, 0, 0, 0, 0]),
        cell(0, 0),
        cell(65_535, 255),
        record(0x000A, &[]),
    ]
    .concat();
    assert_eq!(
        code("a.xls", &ole("/Workbook", &stream)),
        Some(ErrorCode::DocumentLimit),
        "two cells, sixteen million between them"
    );
    let locked = [record(0x0809, &[0, 6, 5, 0, 0, 0, 0, 0]), record(0x002F, &[1, 0, 1, 0, 1, 0])].concat();
    assert_eq!(
        code("a.xls", &ole("/Workbook", &locked)),
        Some(ErrorCode::DocumentEncrypted),
        "an old password"
    );
}

#[test]
fn pdfs_that_are_none() {
    assert_eq!(
        code("a.pdf", b"%PDF-1.7\nnothing else"),
        Some(ErrorCode::DocumentBroken),
        "a head without a body"
    );
    let deep = [
        b"%PDF-1.4\n1 0 obj\n".as_slice(),
        &b"[".repeat(200_000),
        b"\nendobj\ntrailer <</Root 1 0 R>>\n%%EOF",
    ]
    .concat();
    assert_eq!(code("a.pdf", &deep), Some(ErrorCode::DocumentLimit), "brackets without end");
    let good = pdf(Face::Latin, &[vec![(50.0, 700.0, 12.0, "hello")]]);
    for cut in [good.len() / 4, good.len() / 2, good.len() - 20] {
        let document = extract("a.pdf", &good[..cut], &ExtractOptions::default());
        let told = document.status != DocumentStatus::Complete
            || document.text == "hello"
            || !document.notes.is_empty();
        assert!(told, "cut at {cut}: {document:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn flipped_bytes_never_end_the_program(at in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12), which in 0usize..4) {
        let (name, mut bytes) = match which {
            0 => ("a.pdf", pdf(Face::Latin, &[vec![(50.0, 700.0, 12.0, "hello"), (50.0, 600.0, 12.0, "12.50")]])),
            1 => ("a.xlsx", raw_xlsx(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#, "<si><t>x</t></si>")),
            2 => ("a.docx", zip(&[("word/document.xml", b"<w:document><w:p><w:r><w:t>x</w:t></w:r></w:p></w:document>")])),
            _ => ("a.xls", ole("/Workbook", &[9, 8, 8, 0, 0, 6, 5, 0, 0, 0, 0, 0, 10, 0, 0, 0])),
        };
        for (index, value) in at {
            let place = index.index(bytes.len());
            bytes[place] = value;
        }
        let document = extract(name, &bytes, &ExtractOptions::default());
        prop_assert!(document.status != DocumentStatus::Refused || document.code.is_some(), "a refusal has a code");
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..600), name in "[a-z]{1,4}\\.(pdf|csv|xlsx|xls|docx|ods|txt|xml)") {
        let document = extract(&name, &bytes, &ExtractOptions::default());
        prop_assert!(document.status != DocumentStatus::Refused || document.code.is_some(), "a refusal has a code");
    }
}

#[test]
fn counts_that_readers_would_believe() {
    let strings = r#"<sst uniqueCount="4000000000" xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>x</t></si></sst>"#;
    let book = raw_xlsx(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#, "");
    let at = |name: &str| book.windows(name.len()).any(|window| window == name.as_bytes());
    assert!(at("xl/sharedStrings.xml"), "the fixture has the part that is replaced");
    let bytes = crate::fixtures::zip(&[
        ("xl/workbook.xml", b"<workbook/>"),
        ("xl/sharedStrings.xml", strings.as_bytes()),
    ]);
    assert_eq!(
        code("a.xlsx", &bytes),
        Some(ErrorCode::DocumentLimit),
        "four thousand million strings in a hundred bytes"
    );
    let sheet =
        r#"<row r="1"><c r="A1"><f t="shared" si="4000000000" ref="A1:A2">B1</f></c><c r="B1" s="0"/></row>"#;
    let document = extract("a.xlsx", &raw_xlsx(sheet, ""), &ExtractOptions::default());
    assert_eq!(document.status, DocumentStatus::Refused, "an index that would cost gigabytes: {document:?}");
}
