//! `extract_document` with the real worker.

use crate::support::{Folder, code};
use pilot_types::ErrorCode;
use serde_json::json;

#[tokio::test]
async fn a_table_keeps_its_row_numbers_and_text_its_encoding() {
    let gb: &[u8] = b"\xb9\xa9\xd3\xa6\xc9\xcc,\xbd\xf0\xb6\xee\n\xbc\xd7,1.50\n"; // 供应商,金额 / 甲,1.50
    let folder = Folder::with_documents(&[("gb.csv", gb)]);
    let answer = folder.run("extract_document", json!({"path": "gb.csv"})).await.expect("a document");
    assert_eq!((&answer["kind"], &answer["status"]), (&json!("csv"), &json!("complete")), "{answer}");
    let text = answer["parts"].to_string();
    assert!(text.contains("供应商") && text.contains("1.50"), "the cells are there: {answer}");
    assert!(answer["next_offset"].is_null() && answer["left"] == 0, "nothing is left: {answer}");
}

#[tokio::test]
async fn a_workbook_that_we_wrote_reads_back() {
    let folder = Folder::with_documents(&[]);
    let sheets =
        json!([{"name": "汇总", "rows": [["供应商", "金额"], ["甲公司", 1234.5], ["=1+1", "00123"]]}]);
    folder.write("write_file", json!({"path": "r.xlsx", "sheets": sheets})).await.expect("written");
    let answer = folder.run("extract_document", json!({"path": "r.xlsx"})).await.expect("a document");
    assert_eq!(answer["kind"], "xlsx", "{answer}");
    assert_eq!(answer["parts"][0]["sheet"], "汇总", "{answer}");
    let cells = answer["parts"][0]["tables"].to_string();
    for cell in ["甲公司", "1234.5", "=1+1", "00123"] {
        assert!(cells.contains(cell), "{cell} must come back as it was given: {answer}");
    }
}

#[tokio::test]
async fn a_long_document_is_read_on_with_the_offset() {
    let mut csv = String::from("n,text\n");
    for n in 0..5_000 {
        csv.push_str(&format!("{n},\"row number {n} with some text, and a comma\"\n"));
    }
    let folder = Folder::with_documents(&[("long.csv", csv.as_bytes())]);
    let (mut offset, mut seen, mut calls) = (0, Vec::new(), 0);
    loop {
        let arguments = json!({"path": "long.csv", "offset": offset});
        let answer = folder.run("extract_document", arguments).await.expect("a window");
        assert!(answer.to_string().len() <= 100 * 1024, "{} bytes", answer.to_string().len());
        let parts = answer["parts"].as_array().cloned().unwrap_or_default();
        for row in parts.iter().flat_map(|p| p["tables"].as_array().into_iter().flatten()) {
            seen.extend(
                row["rows"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|r| r[0].as_str()?.parse::<u32>().ok()),
            );
        }
        calls += 1;
        match answer["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
        assert!(calls < 50, "each call must get further");
    }
    let expected: Vec<u32> = (0..5_000).collect();
    assert!(calls > 1, "it is too long for one answer");
    assert_eq!(seen, expected, "every row once");
}

#[tokio::test]
async fn documents_that_cannot_be_read_are_failures_with_their_code() {
    let folder = Folder::with_documents(&[
        ("broken.pdf", b"%PDF-1.4 and nothing"),
        ("broken.xlsx", b"PK\x03\x04 cut off"),
        ("picture.png", b"\x89PNG\r\n\x1a\n0000"),
        ("noise.bin", &[7, 1, 0, 255, 254, 3, 9, 200]),
    ]);
    for path in ["broken.pdf", "broken.xlsx", "picture.png", "noise.bin"] {
        let error = folder.run("extract_document", json!({ "path": path })).await.expect_err(path);
        assert!(error.code.as_str().starts_with("document_"), "{path}: {error}");
        assert!(!error.message.is_empty(), "{path}: and in words");
    }
    for (arguments, expected) in [
        (json!({"path": "missing.pdf"}), ErrorCode::NotFound),
        (json!({"path": "."}), ErrorCode::NotAFile),
        (json!({"path": "broken.pdf", "pages": "3-1"}), ErrorCode::InvalidArguments),
        (json!({"path": "broken.pdf", "page": 1}), ErrorCode::InvalidArguments),
    ] {
        assert_eq!(code(folder.run("extract_document", arguments.clone()).await), expected, "{arguments}");
    }
}
