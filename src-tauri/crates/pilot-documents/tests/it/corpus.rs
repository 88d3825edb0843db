//! A sample of documents that nobody here made, where they are at hand.

use pilot_documents::{Document, DocumentStatus, ExtractOptions, extract};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

fn folder() -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").exists())?;
    let found = checkout.parent()?.join("shared").join("corpus");
    found.join("EXPECTED.jsonl").exists().then_some(found)
}

fn fold(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace() && *c != '|').flat_map(char::to_lowercase).collect()
}

/// Classes with the keys that must be found at least, in a hundred, and how many files are tried.
const FLOORS: [(&str, u32, usize); 9] = [
    ("invoices/pdf", 92, 20),
    ("pdf/pdf", 50, 34),
    ("csv/csv", 100, 60),
    ("csv/txt", 100, 20),
    ("spreadsheets/xlsx", 90, 40),
    ("spreadsheets/xls", 60, 40),
    ("spreadsheets/xlsb", 85, 30),
    ("spreadsheets/ods", 80, 17),
    ("docx/docx", 0, 30),
];

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its fixtures")]
fn a_sample_of_each_class() {
    let Some(folder) = folder() else {
        println!("skipped: no corpus beside the checkout");
        return;
    };
    let mut classes: BTreeMap<String, (u32, u32, usize)> = BTreeMap::new();
    let expected = std::fs::read_to_string(folder.join("EXPECTED.jsonl")).unwrap();
    for line in expected.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let path = row["path"].as_str().unwrap();
        let class = format!(
            "{}/{}",
            path.split('/').next().unwrap(),
            path.rsplit('.').next().unwrap().to_lowercase()
        );
        let Some((_, _, most)) = FLOORS.iter().find(|(name, _, _)| *name == class) else { continue };
        let entry = classes.entry(class).or_default();
        if entry.2 >= *most {
            continue;
        }
        entry.2 += 1;
        let document = extract(path, &std::fs::read(folder.join(path)).unwrap(), &ExtractOptions::default());
        honest(path, &document);
        let invoice = serde_json::to_string(&document.invoice).unwrap();
        let text = fold(&format!("{} {invoice}", document.text));
        for key in row["keys"].as_array().unwrap() {
            let found = key[1]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|word| word.as_str())
                .any(|word| !fold(word).is_empty() && text.contains(&fold(word)));
            entry.0 += u32::from(found);
            entry.1 += 1;
        }
    }
    for (class, floor, _) in FLOORS {
        let (found, all, files) = classes.get(class).copied().unwrap_or_default();
        println!("{class}: {found} of {all} keys in {files} files");
        assert!(
            found * 100 >= floor * all,
            "{class}: {found} of {all} keys, at least {floor} % are promised"
        );
    }
}

/// Nothing is silently empty, nothing refused without words.
fn honest(path: &str, document: &Document) {
    let empty = document.text.trim().is_empty();
    assert!(
        !(document.status == DocumentStatus::Complete && empty && document.notes.is_empty()),
        "{path}: empty and silent"
    );
    assert!(
        document.status == DocumentStatus::Complete
            || (document.code.is_some() && !document.notes.is_empty()),
        "{path}: {:?} without words",
        document.status
    );
}
