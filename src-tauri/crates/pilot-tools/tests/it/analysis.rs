//! `analyze_table` with the real worker.

use crate::support::{Folder, code};
use pilot_types::ErrorCode;
use serde_json::{Value, json};

const A: &str = "供应商,发票号码,金额,日期\n甲公司,0001,100.10,2026-01-05\n乙公司,0002,200.20,2026-02-05\n";
const B: &str =
    "Supplier,Invoice No,Amount,Date\nBeta Ltd,B-1,50.00,2026-02-07\nBeta Ltd,B-2,oops,2026-02-08\n";

async fn analyze(folder: &Folder, arguments: Value) -> Value {
    let shown = arguments.to_string();
    folder.run("analyze_table", arguments).await.unwrap_or_else(|error| panic!("{shown}: {error}"))
}

fn total_of(answer: &Value) -> Vec<String> {
    answer["totals"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(k, v)| format!("{k} {}", v.as_str().unwrap_or("?")))
        .collect()
}

#[tokio::test]
async fn a_folder_is_summed_exactly_and_reports_are_not_counted() {
    let folder = Folder::with_documents(&[
        ("台账/a.csv", A.as_bytes()),
        ("report.md", "| 供应商 | 金额 |\n| 甲公司 | 300.30 |\n".as_bytes()),
        ("memory/MEMORY.md", b"x"),
        ("photo.jpg", b"\xff\xd8\xff"),
    ]);
    for arguments in
        [json!({"path": "."}), json!({}), json!({"path": "台账"}), json!({"paths": ["台账/a.csv"]})]
    {
        let answer = analyze(&folder, arguments.clone()).await;
        assert_eq!(total_of(&answer), ["CNY 300.30"], "{arguments}: {answer}");
        assert_eq!(answer["rows"], 2, "{arguments}");
    }
    let answer = analyze(&folder, json!({"path": "."})).await;
    let notes = answer["notes"].to_string();
    assert!(
        notes.contains("photo.jpg") && notes.contains("report.md"),
        "what was left aside is named: {notes}"
    );
    assert!(!notes.contains("MEMORY"), "memory is no document of the person: {notes}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named() {
    let folder = Folder::with_documents(&[("b.csv", B.as_bytes())]);
    let answer = analyze(&folder, json!({"path": "b.csv"})).await;
    assert_eq!(answer["rows"], 1, "{answer}");
    assert_eq!(answer["unread_rows"][0]["source"], json!({"file": "b.csv", "row": 3}), "{answer}");
}

#[tokio::test]
async fn the_same_file_named_twice_is_read_once() {
    let folder = Folder::with_documents(&[("a.csv", A.as_bytes())]);
    let answer = analyze(&folder, json!({"paths": ["a.csv", "./a.csv", "."]})).await;
    assert_eq!((total_of(&answer), &answer["files"]), (vec!["CNY 300.30".to_owned()], &json!(1)), "{answer}");
}

#[tokio::test]
async fn a_multiplier_and_columns_are_taken() {
    let csv =
        "谁,甲数,乙数,日期\n甲,1.00,10.00,2026-01-01\n甲,1.00,10.00,2026-01-02\n甲,1.00,25.00,2026-01-03\n";
    let folder = Folder::with_documents(&[("a.csv", csv.as_bytes())]);
    let columns = json!({"supplier": "谁", "amount": "乙数", "date": "日期"});
    let answer =
        analyze(&folder, json!({"path": "a.csv", "columns": columns, "outlier_multiplier": 2})).await;
    assert_eq!(total_of(&answer), ["CNY 45.00"], "the named column is summed: {answer}");
    assert_eq!(answer["outliers"].as_array().map(Vec::len), Some(1), "25 is more than 2 × 10: {answer}");
    let answer = analyze(&folder, json!({"path": "a.csv", "columns": columns})).await;
    assert_eq!(answer["outliers"], json!([]), "and not more than 3 × 10: {answer}");
}

#[tokio::test]
async fn a_large_analysis_is_cut_and_says_so() {
    let mut csv = String::from("Supplier,Amount,Date\n");
    for n in 0..3_000 {
        csv.push_str(&format!("Supplier number {n} Limited,1.00,2026-01-01\n"));
    }
    let folder = Folder::with_documents(&[("a.csv", csv.as_bytes())]);
    let answer = analyze(&folder, json!({"path": "a.csv"})).await;
    assert!(answer.to_string().len() <= 60 * 1024, "{} bytes", answer.to_string().len());
    assert_eq!(answer["rows"], 3_000, "totals are over everything");
    assert_eq!(answer["cut"]["by_supplier"]["of"], 3_000, "a cut list says how long it is");
}

#[tokio::test]
async fn what_cannot_be_analysed_is_said() {
    let folder = Folder::with_documents(&[("notes.md", b"x"), ("a.csv", A.as_bytes())]);
    std::fs::create_dir(folder.path("empty")).expect("a folder");
    for (arguments, expected) in [
        (json!({"path": "empty"}), ErrorCode::NotFound),
        (json!({"path": "missing.csv"}), ErrorCode::NotFound),
        (json!({"path": "a.csv", "paths": ["a.csv"]}), ErrorCode::InvalidArguments),
        (json!({"path": "a.csv", "outlier_multiplier": 0}), ErrorCode::InvalidArguments),
        (json!({"path": "a.csv", "columns": {"vendor": "x"}}), ErrorCode::InvalidArguments),
        (json!({"path": "../a.csv"}), ErrorCode::PathParent),
    ] {
        assert_eq!(code(folder.run("analyze_table", arguments.clone()).await), expected, "{arguments}");
    }
}

#[tokio::test]
async fn the_demo_folder_gives_its_truth() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .canonicalize()
        .expect("the checkout");
    let truth = std::fs::read(root.join("evals/demo-truth.json")).expect("the truth of the demo folder");
    let truth: Value = serde_json::from_slice(&truth).expect("JSON");
    let folder = Folder::with_documents(&[]);
    copy(&root.join("demo-workspace"), &folder.path(""));
    let answer = analyze(&folder, json!({"path": "."})).await;
    assert_eq!(answer["totals"], truth["totals"], "{answer}");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            std::fs::write(target, std::fs::read(entry.path()).expect("a file")).expect("a file");
        }
    }
}
