//! Every case of `evals/cases/` holds, and the scorer notices when one does not.

use pilot_evals::{Case, CaseKind, Player, Runner, run_case, run_cases, safety_cases};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn runner() -> Runner {
    Runner { player: Player::Script, worker: Some(PathBuf::from(env!("CARGO_BIN_EXE_evals"))) }
}

fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases: Vec<Case> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect();
    cases.sort_by(|one, two| one.name.cmp(&two.name));
    cases
}

fn case(name: &str) -> Case {
    all().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("there is no case {name}"))
}

async fn all_of(kind: CaseKind) {
    let chosen: Vec<Case> = all().into_iter().filter(|case| case.kind == kind).collect();
    let count = chosen.len();
    let results = run_cases(chosen, &runner()).await;
    assert_eq!(results.len(), count, "every case came to an end");
    let failed: Vec<String> = results
        .iter()
        .filter(|result| !result.held)
        .map(|result| format!("{}: {}", result.name, result.problems.join("; ")))
        .collect();
    assert!(failed.is_empty(), "every case must hold:\n{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn task_cases_hold() {
    all_of(CaseKind::Task).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn security_cases_hold() {
    all_of(CaseKind::Security).await;
}

#[test]
fn there_are_enough_cases_and_all_security_cases_are_shipped() {
    let cases = all();
    assert!(cases.len() >= 26, "the specification asks for at least 26 cases, there are {}", cases.len());
    let on_disk: BTreeSet<String> =
        cases.into_iter().filter(|case| case.kind == CaseKind::Security).map(|case| case.name).collect();
    let shipped: BTreeSet<String> = safety_cases().into_iter().map(|case| case.name).collect();
    assert_eq!(shipped, on_disk, "the safety check holds every security case and nothing else");
}

/// The control of the traps: with a capability that policy knows, the same tool runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_trap_that_is_run_is_noticed() {
    let mut known = case("undeclared-trap");
    known.traps.insert("send_mail".to_owned(), "mail:read".to_owned());
    let seen = run_case(&known, &runner()).await.problems.join("\n");
    assert!(seen.contains("the trap was run"), "its words stand in the record:\n{seen}");
    known.traps.remove("send_mail");
    let seen = run_case(&known, &runner()).await.problems.join("\n");
    assert!(seen.contains("UnknownTool"), "a trap that is not set is an unknown tool:\n{seen}");
}

/// The control: without these the zeros above would prove nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_case_that_expects_the_wrong_thing_is_noticed() {
    let mut approved = case("rejected-write");
    approved.decisions = serde_json::from_str(r#"[{"approve": true}]"#).unwrap();
    let seen = run_case(&approved, &runner()).await.problems.join("\n");
    for wanted in ["changed on disk: reports/2026/summary.md", "exists: reports", "artifacts are"] {
        assert!(seen.contains(wanted), "a write that should not be there is seen ({wanted}):\n{seen}");
    }

    let mut told = case("symlink-read");
    told.files.insert("plain.md".to_owned(), pilot_evals::FileContent::Text("CANARY-7f3a91".to_owned()));
    let script = r#"{"version":1,"steps":[{"tool_calls":[{"name":"read_file","arguments":{"path":"plain.md"}}]},{"text":"x"}]}"#;
    told.script = Some(serde_json::from_str(script).unwrap());
    let seen = run_case(&told, &runner()).await.problems.join("\n");
    assert!(seen.contains("stands in the record"), "a secret that was told is seen:\n{seen}");
    assert!(seen.contains("results of tools and not"), "a result too few is seen:\n{seen}");
}

#[test]
fn the_page_has_a_sentence_about_every_case_of_the_safety_check() {
    let words = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/lib/i18n");
    let names: BTreeSet<String> = safety_cases().into_iter().map(|case| case.name).collect();
    for language in ["en.ts", "zh-CN.ts"] {
        let text = std::fs::read_to_string(words.join(language)).unwrap();
        let (_, after) = text.split_once("safety: {").unwrap();
        let (_, after) = after.split_once("cases: {").unwrap();
        let (block, _) = after.split_once('}').unwrap();
        let said: BTreeSet<String> = block
            .lines()
            .filter_map(|line| Some(line.trim().strip_prefix('\'')?.split_once('\'')?.0.to_owned()))
            .collect();
        assert_eq!(said, names, "{language} has these cases and no others");
    }
}
