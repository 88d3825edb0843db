//! Bad input at the doors of the command: one clear code each, nothing lost.

use crate::support::Desk;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn result_of(desk: &Desk, name: &str, arguments: Value) -> (Value, Duration) {
    let provider = desk.script(&json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": name, "arguments": arguments }] }, { "text": "end" }
    ] }));
    let begun = Instant::now();
    let run = desk.json(&["run", "x", "--workspace", desk.root(), "--provider", &provider]);
    assert_eq!(run.code, Some(0), "a failed call goes back to the model and the task goes on: {}", run.err);
    let row =
        run.rows().into_iter().find(|row| row["type"] == "tool_result").expect("every call has a result");
    (row, begun.elapsed())
}

#[test]
fn every_bad_file_has_its_own_code_at_once() {
    let desk = Desk::new();
    desk.write("broken.xlsx", b"PK\x03\x04 this is no zip");
    desk.write("broken.pdf", b"%PDF-1.7\nnothing\n%%EOF");
    desk.write("picture.png", b"\x89PNG\r\n\x1a\n");
    let sparse = std::fs::File::create(desk.root.path().join("huge.csv")).unwrap();
    sparse.set_len(4 << 30).unwrap();
    let fifo = desk.root.path().join("fifo.csv");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success(), "mkfifo is there");
    let cases = [
        ("read_file", json!({ "path": "missing.csv" }), "not_found"),
        ("read_file", json!({ "path": "fifo.csv" }), "path_special"),
        ("read_file", json!({ "path": "../x" }), "path_parent"),
        ("read_file", json!({ "path": 7 }), "invalid_arguments"),
        ("read_file", json!([]), "invalid_arguments"),
        ("extract_document", json!({ "path": "broken.xlsx" }), "document_broken"),
        ("extract_document", json!({ "path": "broken.pdf" }), "document_broken"),
        ("no_such_tool", json!({}), "unknown_tool"),
    ];
    for (tool, arguments, code) in cases {
        let (row, took) = result_of(&desk, tool, arguments.clone());
        assert_eq!(
            (row["ok"].clone(), row["code"].clone()),
            (json!(false), json!(code)),
            "{tool} {arguments}: {row}"
        );
        assert!(took < Duration::from_secs(15), "{tool} {arguments} must not hang: {took:?}");
    }
    let (row, took) = result_of(&desk, "analyze_table", json!({ "path": "huge.csv" }));
    assert!(
        took < Duration::from_secs(90),
        "a 4 GB sparse file is refused or read within its limits: {took:?}"
    );
    let content = row["content"].as_str().unwrap_or_default();
    assert!(
        row["ok"] == json!(false) || content.contains("unread_rows"),
        "and its fate is said, never silently nothing: {row}"
    );
}

#[test]
fn a_read_only_folder_interrupts_the_task_and_loses_nothing() {
    let desk = Desk::new();
    desk.write("locked/a.md", b"old\n");
    let folder = desk.root.path().join("locked");
    // Root ignores permission bits, so the immutable flag is the only thing that keeps everybody out.
    let locked = std::process::Command::new("chattr")
        .arg("+i")
        .arg(&folder)
        .status()
        .is_ok_and(|status| status.success());
    if !locked {
        println!("skipped: this file system has no immutable flag");
        return;
    }
    let provider = desk.script(&json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "write_file", "arguments": { "path": "locked/b.md", "content": "x\n" } }] }, { "text": "end" }
    ] }));
    let run = desk.json(&["run", "x", "--workspace", desk.root(), "--provider", &provider]);
    let card = run.last()["approval"].as_str().unwrap().to_owned();
    let failed = desk.json(&["approvals", "approve", &card]);
    let _ = std::process::Command::new("chattr").arg("-i").arg(&folder).status();
    assert_eq!(
        (failed.code, failed.last()["code"].clone()),
        (Some(1), json!("permission_denied")),
        "a clear code: {failed:?}"
    );
    assert_eq!(desk.manifest().len(), 1, "and nothing was left behind");
    let task = desk.json(&["tasks", "list"]).last();
    assert_eq!(task["status"], "interrupted", "the task can be resumed");
    let resumed = desk.json(&["tasks", "resume", task["id"].as_str().unwrap()]);
    assert_eq!(resumed.code, Some(3), "and asks again with a new card: {}", resumed.err);
    let card = desk.json(&["approvals", "list"]).last()["id"].as_str().unwrap().to_owned();
    assert_eq!(desk.json(&["approvals", "approve", &card]).code, Some(0), "which works now");
    assert_eq!(desk.read("locked/b.md").as_deref(), Some("x\n"), "with the same bytes");
}

#[test]
fn a_full_disk_changes_nothing_and_the_task_can_go_on() {
    let desk = Desk::new();
    let mount = desk.root.path().join("small");
    std::fs::create_dir(&mount).unwrap();
    let small = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&mount)
        .output()
        .is_ok_and(|output| output.status.success());
    if !small {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let folder = mount.join("work");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "old\n").unwrap();
    let provider = desk.script(&json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "write_file", "arguments": { "path": "a.md", "content": "n".repeat(200_000) } }] }, { "text": "end" }
    ] }));
    let run = desk.json(&["run", "x", "--workspace", folder.to_str().unwrap(), "--provider", &provider]);
    let card = run.last()["approval"].as_str().unwrap().to_owned();
    let failed = desk.json(&["approvals", "approve", &card]);
    let left = std::fs::read_to_string(folder.join("a.md")).unwrap();
    let names = std::fs::read_dir(&folder).unwrap().count();
    let _ = std::process::Command::new("umount").arg(&mount).status();
    assert_eq!(
        (failed.code, failed.last()["code"].clone()),
        (Some(1), json!("disk_full")),
        "a clear code: {failed:?}"
    );
    assert_eq!(left, "old\n", "the target is unchanged");
    assert_eq!(names, 1, "no temporary file is left");
    assert_eq!(
        desk.json(&["tasks", "list"]).last()["status"],
        "interrupted",
        "the task can be resumed when there is room"
    );
}
