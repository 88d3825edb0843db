//! The main job on the demo folder: a folder of invoices in, an approved report out, and taken back.

use crate::support::{Desk, copy_tree, repository};
use serde_json::Value;

fn truth() -> Value {
    serde_json::from_str(&std::fs::read_to_string(repository().join("evals/demo-truth.json")).unwrap())
        .unwrap()
}

/// Digits of an amount as a report prints it.
fn grouped(amount: &str) -> String {
    let (whole, cents) = amount.split_once('.').unwrap_or((amount, "00"));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{sign}{out}.{cents:0<2}")
}

fn demo_in(goal_key: &str) {
    let desk = Desk::new();
    copy_tree(&repository().join("demo-workspace"), desk.root.path());
    let before = desk.manifest();
    let truth = truth();
    let goal = truth["goal"][goal_key].as_str().expect("the truth names the goal in both languages");

    let run = desk.json(&["run", goal, "--workspace", desk.root(), "--approve", "never"]);
    assert_eq!(run.code, Some(3), "without a model or a key the demo goal stops at a card: {}", run.err);
    assert_eq!(desk.manifest(), before, "and nothing in the folder has changed");
    let result = run.last();
    assert_eq!(result["type"], "result", "the last line is the result");
    assert_eq!(result["status"], "waiting_approval", "which says that it waits");

    let cards = desk.json(&["approvals", "list"]).rows();
    assert_eq!(cards.len(), 1, "the demo goal proposes exactly one file");
    let id = cards[0]["id"].as_str().unwrap();
    let card = desk.json(&["approvals", "show", id]).last();
    assert_eq!(
        card["card"]["numbers"]["unsourced"], 0,
        "every figure of the report traces to a tool result: {}",
        card["card"]["numbers"]
    );
    assert_eq!(card["card"]["numbers"]["differs"], 0, "and none differs from what was computed");

    let approved = desk.json(&["approvals", "approve", id]);
    assert_eq!(approved.code, Some(0), "approving carries it out: {}", approved.err);
    let path = cards[0]["path"].as_str().unwrap();
    let report = desk.read(path).expect("the report stands at the path of the card");
    for (currency, total) in truth["totals"].as_object().unwrap() {
        let amount = grouped(total.as_str().unwrap());
        assert!(
            report.contains(&amount),
            "the total of {currency}, {amount}, stands in the report:\n{report}"
        );
    }
    assert_eq!(desk.manifest().len(), before.len() + 1, "one file came and nothing else");

    let artifact = desk.json(&["artifacts", "list"]).last();
    assert_eq!(
        desk.json(&["artifacts", "undo", artifact["id"].as_str().unwrap()]).code,
        Some(0),
        "the write can be taken back"
    );
    assert_eq!(desk.manifest(), before, "and the folder is as it was, byte for byte");
    assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "all of it is on an intact record");
}

#[test]
fn the_demo_goal_in_english() {
    demo_in("en");
}

#[test]
fn the_demo_goal_in_chinese() {
    demo_in("zh");
}

#[test]
fn analysis_of_the_demo_folder_equals_the_truth() {
    let desk = Desk::new();
    copy_tree(&repository().join("demo-workspace"), desk.root.path());
    let analysis = desk.json(&["analyze", ".", "--workspace", desk.root()]).last();
    assert_eq!(analysis["type"], "analysis", "one object of this type");
    assert_eq!(analysis["totals"], truth()["totals"], "totals by currency, as decimal strings");
}
