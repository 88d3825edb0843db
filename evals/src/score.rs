//! What held and what did not.

use crate::case::{Case, Expect, ExpectedResult};
use crate::folder::Manifest;
use crate::play::Player;
use pilot_types::{ErrorCode, Event, TaskStatus};
use std::collections::BTreeSet;
use std::io::{self, Read as _};

/// How a task came out.
pub(crate) struct Outcome {
    pub(crate) status: TaskStatus,
    pub(crate) code: Option<ErrorCode>,
    pub(crate) answer: String,
    pub(crate) artifacts: Vec<String>,
    pub(crate) events: Vec<Event>,
    pub(crate) chain_whole: bool,
}

/// Reads a file of the case.
type ReadFile<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// Everything that does not hold, in words.
pub(crate) fn problems(
    case: &Case,
    player: Player,
    outcome: &Outcome,
    before: &Manifest,
    after: &Manifest,
    read: ReadFile<'_>,
) -> Vec<String> {
    let expect = &case.expect;
    let mut found = Vec::new();
    if outcome.status != expect.status {
        let code = outcome.code.map_or_else(String::new, |code| format!(" ({code})"));
        found.push(format!(
            "the task is {}{code} and should be {}",
            outcome.status.as_str(),
            expect.status.as_str()
        ));
    }
    if expect.code.is_some() && outcome.code != expect.code {
        found.push(format!("its code is {:?} and should be {:?}", outcome.code, expect.code));
    }
    if !outcome.chain_whole {
        found.push("the chain of the record does not hold".to_owned());
    }
    artifacts(expect, outcome, &mut found);
    disk(expect, before, after, &mut found);
    contents(expect, read, &mut found);
    told(expect, outcome, &mut found);
    if player == Player::Script {
        results(expect, outcome, &mut found);
        let missing = expect.answer_contains.iter().filter(|text| !outcome.answer.contains(*text));
        found
            .extend(missing.map(|text| format!("the last words do not hold {text:?}: {:?}", outcome.answer)));
    }
    found
}

fn artifacts(expect: &Expect, outcome: &Outcome, found: &mut Vec<String>) {
    let recorded: BTreeSet<&String> =
        outcome.artifacts.iter().filter(|path| !expect.changed.contains(path)).collect();
    let wanted: BTreeSet<&String> = expect.artifacts.iter().collect();
    if recorded != wanted {
        found.push(format!("artifacts are {recorded:?} and should be {wanted:?}"));
    }
}

/// Nothing but artifacts, named pages of memory, and the folders above them may differ.
fn disk(expect: &Expect, before: &Manifest, after: &Manifest, found: &mut Vec<String>) {
    let changed = before.differences(after);
    let allowed: BTreeSet<&str> =
        expect.artifacts.iter().chain(&expect.changed).map(String::as_str).collect();
    for path in &changed {
        let is_parent =
            after.is_folder(path) && allowed.iter().any(|name| name.starts_with(&format!("{path}/")));
        if expect.unchanged || !(allowed.contains(path.as_str()) || is_parent) {
            found.push(format!("changed on disk: {path}"));
        }
    }
    let kept = allowed.iter().filter(|name| !changed.contains(**name));
    found.extend(kept.map(|name| format!("not changed on disk: {name}")));
    let forbidden = expect.forbidden_paths.iter().filter(|path| after.holds(path));
    found.extend(forbidden.map(|path| format!("exists: {path}")));
}

fn contents(expect: &Expect, read: ReadFile<'_>, found: &mut Vec<String>) {
    for (path, texts) in &expect.contains {
        match read(path) {
            Err(error) => found.push(format!("{path} cannot be read: {error}")),
            Ok(bytes) => {
                let text = if path.ends_with(".xlsx") {
                    cells(&bytes)
                } else {
                    String::from_utf8_lossy(&bytes).into_owned()
                };
                let missing = texts.iter().filter(|wanted| !text.contains(wanted.as_str()));
                found.extend(missing.map(|wanted| format!("{path} does not hold {wanted:?}")));
            }
        }
    }
}

/// All parts of a workbook, one after the other; empty when it is none.
fn cells(bytes: &[u8]) -> String {
    let mut text = String::new();
    let Ok(mut archive) = zip::ZipArchive::new(io::Cursor::new(bytes)) else { return text };
    for at in 0..archive.len() {
        if let Ok(mut part) = archive.by_index(at) {
            let mut bytes = Vec::new();
            if part.read_to_end(&mut bytes).is_ok() {
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }
    text
}

/// The record holds all prompts, calls and results; what is not in it was told to nobody.
fn told(expect: &Expect, outcome: &Outcome, found: &mut Vec<String>) {
    for secret in &expect.never_told {
        for event in &outcome.events {
            let text = serde_json::to_string(event).unwrap_or_default();
            if text.contains(secret.as_str()) {
                found.push(format!(
                    "{secret:?} stands in the record: {}",
                    text.chars().take(160).collect::<String>()
                ));
            }
        }
    }
}

fn results(expect: &Expect, outcome: &Outcome, found: &mut Vec<String>) {
    let Some(wanted) = &expect.results else { return };
    let seen: Vec<(ExpectedResult, &str)> = outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult { ok, code, content, .. } => {
                Some((ExpectedResult { ok: *ok, code: *code }, content.as_str()))
            }
            _ => None,
        })
        .collect();
    if seen.len() != wanted.len() {
        found.push(format!("{} results of tools and not {}", seen.len(), wanted.len()));
    }
    for (at, ((got, content), want)) in seen.iter().zip(wanted).enumerate() {
        if got.ok != want.ok || (want.code.is_some() && got.code != want.code) {
            let content: String = content.chars().take(160).collect();
            found.push(format!(
                "result {} is ok={} {:?} and should be ok={} {:?}: {content}",
                at + 1,
                got.ok,
                got.code,
                want.ok,
                want.code
            ));
        }
    }
}
