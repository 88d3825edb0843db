//! kill -9 at every step of creation, pause, decision, execution and rejection: nothing lost, nothing twice, no half
//! file, no temporary file, the card there again.
#![cfg(feature = "faults")]

use crate::support::{Desk, copy_tree};
use serde_json::{Value, json};

/// Repeats of each point: a tenth of those of `make soak`.
fn repeats() -> usize {
    if std::env::var_os("POCKETPILOT_SOAK").is_some() { 20 } else { 2 }
}

/// Points between the person's yes and the durable end, in order.
const APPROVE: &[&str] = &[
    "approve_before",
    "approve_before_commit",
    "approve_decided",
    "write_temp",
    "write_temp_synced",
    "write_kept",
    "write_renamed",
    "write_dir_synced",
    "approve_executed",
    "approve_before_done",
    "approve_done",
];

const REJECT: &[&str] = &["reject_before", "reject_before_commit", "reject_decided"];

const CREATE: &[&str] =
    &["task_create_before", "task_create_session", "task_create_after", "pause_before", "pause_after"];

const DELETE: &[&str] = &["delete_before_forget", "delete_before_commit", "delete_done"];

const RESTORE: &[&str] =
    &["restore_confirmed", "restore_contents", "restore_kept", "restore_log_gone", "restore_placed"];

const OLD: &str = "the old report\n";
const NEW: &str = "the new report\n";

fn script() -> Value {
    json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "write_file", "arguments": { "path": "deep/report.md", "content": NEW } }] },
        { "text": "done" }
    ] })
}

/// A desk whose one card waits to replace a file.
fn waiting() -> (Desk, String) {
    let desk = Desk::new();
    desk.write("deep/report.md", OLD.as_bytes());
    let provider = desk.script(&script());
    let run = desk.json(&[
        "run",
        "write",
        "--workspace",
        desk.root(),
        "--provider",
        &provider,
        "--approve",
        "never",
    ]);
    assert_eq!(run.code, Some(3), "the script stops at its card: {}", run.err);
    let id = run.last()["approval"].as_str().unwrap().to_owned();
    (desk, id)
}

/// The same state again, without paying for it again.
fn again(from: &Desk) -> Desk {
    let desk = Desk::new();
    copy_tree(from.data.path(), desk.data.path());
    // The workspace is known by its inode, so it has to stay the one it was: only the data folder is a copy.
    desk
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

fn no_leftovers(desk: &Desk, point: &str) {
    for (name, _) in desk.manifest() {
        assert!(
            !name.contains(".tmp") && !name.contains(".pocketpilot"),
            "a temporary file is left after {point}: {name}"
        );
    }
}

#[test]
fn killed_between_yes_and_done() {
    let (pristine, card) = waiting();
    let mut runs = 0;
    for point in APPROVE {
        for _ in 0..repeats() {
            pristine.write("deep/report.md", OLD.as_bytes());
            let data = again(&pristine);
            let desk = Desk { data: data.data, root: tempfile::TempDir::new().unwrap() };
            killed_once(&desk, &pristine, &card, point);
            runs += 1;
        }
    }
    println!(
        "{runs} kills at {} points between yes and done: 0 lost, 0 twice, 0 half files, 0 temporary files",
        APPROVE.len()
    );
}

fn killed_once(desk: &Desk, pristine: &Desk, card: &str, point: &str) {
    let killed = desk.run_with(&["--json", "approvals", "approve", card], &[("POCKETPILOT_CRASH_AT", point)]);
    assert_eq!(killed.code, None, "the process is killed at {point}: {killed:?}");
    let text = pristine.read("deep/report.md").expect("the file never disappears");
    assert!(text == OLD || text == NEW, "old or new, never half, right after {point}: {text:?}");

    // The next command takes the owner's lock and settles what was left.
    let rows = desk.json(&["approvals", "list"]).rows();
    no_leftovers(pristine, point);
    if rows.is_empty() {
        assert_eq!(
            pristine.read("deep/report.md").as_deref(),
            Some(NEW),
            "a yes that was durable is carried out after {point}"
        );
    } else {
        assert_eq!(rows.len(), 1, "the card is there again, once, after {point}");
        assert_eq!(rows[0]["id"], card, "and it is the same card");
        assert_eq!(
            pristine.read("deep/report.md").as_deref(),
            Some(OLD),
            "a yes that was not durable has changed nothing"
        );
        let approved = desk.json(&["approvals", "approve", card]);
        assert_eq!(approved.code, Some(0), "it can be approved after {point}: {}", approved.err);
    }
    let replay = desk.json(&["approvals", "approve", card]);
    assert_eq!(replay.code, Some(1), "it cannot be approved once more after {point}");
    assert_eq!(replay.last()["code"], "approval_decided", "with its own code");
    let task = desk.json(&["tasks", "list"]).last()["id"].as_str().unwrap().to_owned();
    let events = desk.json(&["tasks", "events", &task]).rows();
    assert_eq!(count(&events, "execution_finished"), 1, "one execution on record after {point}");
    assert_eq!(count(&events, "artifact_written"), 1, "one artifact on record after {point}");
    assert_eq!(
        pristine.read("deep/report.md").as_deref(),
        Some(NEW),
        "the shown bytes stand there in the end after {point}"
    );
    assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "the record holds after {point}");
    no_leftovers(pristine, point);
    let status = desk.json(&["tasks", "show", &task]).last()["status"].clone();
    if status == "interrupted" {
        assert_eq!(
            desk.json(&["tasks", "resume", &task]).code,
            Some(0),
            "the task goes on to its end after {point}"
        );
    } else {
        assert_eq!(status, "completed", "the task went on to its end after {point}");
    }
}

#[test]
fn killed_while_rejecting() {
    let (pristine, card) = waiting();
    for point in REJECT {
        for _ in 0..repeats() {
            let data = again(&pristine);
            let desk = Desk { data: data.data, root: tempfile::TempDir::new().unwrap() };
            let killed =
                desk.run_with(&["--json", "approvals", "reject", &card], &[("POCKETPILOT_CRASH_AT", point)]);
            assert_eq!(killed.code, None, "the process is killed at {point}");
            let rows = desk.json(&["approvals", "list"]).rows();
            assert_eq!(
                pristine.read("deep/report.md").as_deref(),
                Some(OLD),
                "a rejection writes nothing, killed or not: {point}"
            );
            if !rows.is_empty() {
                assert_eq!(
                    desk.json(&["approvals", "reject", &card]).code,
                    Some(0),
                    "a card that is there can be decided after {point}"
                );
            }
            let approve = desk.json(&["approvals", "approve", &card]);
            assert_eq!(approve.code, Some(1), "the decision that was made durable holds after {point}");
            assert_eq!(
                pristine.read("deep/report.md").as_deref(),
                Some(OLD),
                "and nothing is written after {point}"
            );
        }
    }
}

#[test]
fn killed_while_a_task_is_made_or_paused() {
    for point in CREATE {
        for _ in 0..repeats() {
            let desk = Desk::new();
            desk.write("deep/report.md", OLD.as_bytes());
            let provider = desk.script(&script());
            let args = [
                "--json",
                "run",
                "write",
                "--workspace",
                desk.root(),
                "--provider",
                &provider,
                "--approve",
                "never",
            ];
            let killed = desk.run_with(&args, &[("POCKETPILOT_CRASH_AT", point)]);
            assert_eq!(killed.code, None, "the process is killed at {point}: {killed:?}");
            assert_eq!(
                desk.read("deep/report.md").as_deref(),
                Some(OLD),
                "nothing is written by dying at {point}"
            );
            let tasks = desk.json(&["tasks", "list"]).rows();
            let sessions = desk.json(&["sessions", "list"]).rows();
            assert_eq!(
                sessions.len(),
                tasks.len(),
                "a task and its conversation are there together or not at all after {point}"
            );
            if matches!(*point, "task_create_before" | "task_create_session") {
                assert!(tasks.is_empty(), "what was never acknowledged need not be there");
                continue;
            }
            assert_eq!(tasks.len(), 1, "the task is there after {point}");
            let id = tasks[0]["id"].as_str().unwrap();
            if tasks[0]["status"] == "interrupted" {
                assert_eq!(
                    desk.json(&["tasks", "resume", id]).code,
                    Some(3),
                    "resumed, it reaches its card after {point}"
                );
            }
            let cards = desk.json(&["approvals", "list"]).rows();
            assert_eq!(cards.len(), 1, "the card is there exactly once after {point}");
            let card = cards[0]["id"].as_str().unwrap();
            assert_eq!(desk.json(&["approvals", "approve", card]).code, Some(0), "and works after {point}");
            assert_eq!(desk.read("deep/report.md").as_deref(), Some(NEW), "to the shown bytes");
        }
    }
}

/// Points between the person's words and the durable end of their own edit, in order.
const EDIT: &[&str] = &[
    "edit_begun",
    "write_temp",
    "write_temp_synced",
    "write_kept",
    "write_renamed",
    "write_dir_synced",
    "edit_written",
    "edit_done",
];

#[test]
fn killed_while_the_person_edits_memory() {
    let mut runs = 0;
    for point in EDIT {
        for _ in 0..repeats() {
            let desk = Desk::new();
            desk.write("memory/MEMORY.md", OLD.as_bytes());
            let edit = ["memory", "edit", "--workspace", desk.root()];
            let killed = desk.feed(&edit, NEW, &[("POCKETPILOT_CRASH_AT", point)]);
            assert_eq!(killed.code, None, "the process is killed at {point}: {killed:?}");
            let text = desk.read("memory/MEMORY.md").expect("the page never disappears");
            assert!(text == OLD || text == NEW, "old or new, never half, right after {point}: {text:?}");

            // The next command takes the owner's lock and settles what was left.
            let events = desk.json(&["audit", "export"]).rows();
            no_leftovers(&desk, point);
            let recorded = events.iter().filter(|event| event["action"] == "memory_edited").count();
            let written = desk.read("memory/MEMORY.md").as_deref() == Some(NEW);
            assert_eq!(
                recorded,
                usize::from(written),
                "on record exactly when it stands there, after {point}"
            );
            let events = desk.json(&["audit", "export"]).rows();
            let again = events.iter().filter(|event| event["action"] == "memory_edited").count();
            assert_eq!(again, recorded, "and not once more at the next start, after {point}");
            runs += 1;
        }
    }
    println!("{runs} kills at {} points of an edit of the person: 0 lost, 0 twice, 0 half files", EDIT.len());
}

#[test]
fn killed_while_a_task_is_deleted() {
    let (pristine, card) = waiting();
    assert_eq!(pristine.json(&["approvals", "approve", &card]).code, Some(0), "the task comes to its end");
    let id = pristine.json(&["tasks", "list"]).last()["id"].as_str().unwrap().to_owned();
    for point in DELETE {
        for _ in 0..repeats() {
            let desk = again(&pristine);
            let killed =
                desk.run_with(&["--json", "tasks", "delete", &id], &[("POCKETPILOT_CRASH_AT", point)]);
            assert_eq!(killed.code, None, "the process is killed at {point}: {killed:?}");
            let tasks = desk.json(&["tasks", "list"]).rows();
            assert_eq!(
                tasks.is_empty(),
                *point == "delete_done",
                "deleted or not, never half, after {point}"
            );
            assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "the record holds after {point}");
            if !tasks.is_empty() {
                assert_eq!(
                    desk.json(&["tasks", "delete", &id]).code,
                    Some(0),
                    "it can be deleted after {point}"
                );
            }
            assert_eq!(desk.json(&["tasks", "show", &id]).last()["code"], "task_not_found", "it is gone");
            assert_eq!(desk.json(&["sessions", "list"]).rows().len(), 0, "with its conversation");
            assert_eq!(pristine.read("deep/report.md").as_deref(), Some(NEW), "the file in the folder stays");
        }
    }
}

#[test]
fn killed_while_a_backup_is_put_back() {
    let (pristine, card) = waiting();
    let zip = pristine.root.path().join("all.zip");
    let zip = zip.to_str().unwrap();
    assert_eq!(pristine.json(&["backup", zip]).code, Some(0), "a backup with a card that waits");
    assert_eq!(pristine.json(&["approvals", "reject", &card]).code, Some(0), "afterwards it is decided");
    for point in RESTORE {
        for _ in 0..repeats() {
            let desk = again(&pristine);
            let killed = desk.run_with(&["--json", "restore", zip], &[("POCKETPILOT_CRASH_AT", point)]);
            assert_eq!(killed.code, None, "the process is killed at {point}: {killed:?}");
            // Once it was decided, the next start carries it out.
            let cards = desk.json(&["approvals", "list"]).rows();
            assert_eq!(cards.len(), 1, "the data of the backup stands there after {point}");
            assert_eq!(cards[0]["id"], card, "with its card");
            assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "and a whole record after {point}");
            for left in ["restore.staged", "restore.confirmed"] {
                assert!(!desk.data.path().join(left).exists(), "nothing is left half after {point}: {left}");
            }
            assert_eq!(desk.json(&["approvals", "reject", &card]).code, Some(0), "it can be worked with");
            assert_eq!(
                desk.json(&["approvals", "list"]).rows().len(),
                0,
                "and is not put back a second time"
            );
        }
    }
    let desk = again(&pristine);
    let killed = desk.run_with(&["--json", "restore", zip], &[("POCKETPILOT_CRASH_AT", "restore_staged")]);
    assert_eq!(killed.code, None, "the process is killed before anything was decided");
    assert_eq!(desk.json(&["approvals", "list"]).rows().len(), 0, "the control: the old data stands there");
    assert!(!desk.data.path().join("restore.staged").exists(), "and what was only looked at is forgotten");
    let desk = again(&pristine);
    let killed = desk.run_with(
        &["--json", "backup", zip.trim_end_matches(".zip")],
        &[("POCKETPILOT_CRASH_AT", "backup_packed")],
    );
    assert_eq!(killed.code, None, "the process is killed before a backup has its name");
    assert!(!std::path::Path::new(zip.trim_end_matches(".zip")).exists(), "and no half backup has it");
}
