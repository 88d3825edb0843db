//! Outside tools on the command line, with the command itself as the supervisor of the server.

use crate::support::Desk;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn stand_in() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples/outside_server");
    assert!(built.exists(), "build the examples too: cargo nextest run --workspace");
    built
}

fn servers() -> String {
    let path = json!({"type": "string", "path": true, "required": true});
    json!({
        "files": {"command": stand_in(), "args": ["good"], "tools": {
            "read": {"capability": "file:read", "input_fields": {"path": path}},
            "write": {"capability": "file:write", "input_fields": {"path": path, "content": {"type": "string"}}}
        }},
        "silent": {"command": stand_in(), "args": ["exits-at-once"], "tools": {}},
        "gone": {"command": "/nonexistent/program", "tools": {}},
        "bad": {"args": []}
    })
    .to_string()
}

#[test]
fn the_list_names_servers_and_what_is_wrong_with_others() {
    let desk = Desk::new();
    let said = desk.run_with(&["--json", "mcp", "list"], &[("POCKETPILOT_MCP_SERVERS", &servers())]);
    assert_eq!(said.code, Some(0), "a list is a list: {said:?}");
    let rows = said.rows();
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, ["workspace-fs", "files", "gone", "silent"], "one object a row with its id");
    let tools = rows[1]["tools"].as_array().unwrap();
    assert_eq!(tools[0]["rule"], json!("runs_freely"), "reading runs: {tools:?}");
    assert_eq!(tools[1]["rule"], json!("asks"), "writing asks");
    assert!(said.err.contains("bad: \"command\" is missing"), "what is wrong is said apart: {}", said.err);
}

#[test]
fn a_check_says_who_answers_or_what_is_wrong() {
    let desk = Desk::new();
    let servers = servers();
    let check = |name: &str| {
        desk.run_with(&["--json", "mcp", "check", name], &[("POCKETPILOT_MCP_SERVERS", &servers)])
    };
    let good = check("files");
    assert_eq!(good.code, Some(0), "it answers: {good:?}");
    assert_eq!(good.last()["server"], json!("outside-server"), "with its name");
    assert_eq!(good.last()["version"], json!("1.2.3"), "and its version");
    for (name, code) in
        [("silent", "mcp_handshake"), ("gone", "mcp_not_started"), ("bad", "mcp_server_not_found")]
    {
        let said = check(name);
        assert_eq!(said.code, Some(1), "{name} fails: {said:?}");
        assert_eq!(said.last()["code"], json!(code), "{name} with its own code");
    }
}

#[test]
fn a_run_reads_with_the_tool_and_stops_before_it_writes() {
    let desk = Desk::new();
    desk.write("a.md", b"inside\n");
    let servers = servers();
    let env = [("POCKETPILOT_MCP_SERVERS", servers.as_str())];
    let added = desk.run(&["workspaces", "add", desk.root(), "--allow-mcp", "files"]);
    assert_eq!(added.code, Some(0), "the workspace allows it: {added:?}");
    let script = desk.script(&json!({"version": 1, "steps": [
        {"tool_calls": [{"name": "mcp_files_read", "arguments": {"path": "a.md"}}]},
        {"expect": {"last_result_contains": ["inside"]},
         "tool_calls": [{"name": "mcp_files_write", "arguments": {"path": "b.txt", "content": "new"}}]},
        {"text": "done"}
    ]}));
    let run = desk.run_with(
        &["--json", "run", "copy", "--workspace", desk.root(), "--provider", &script, "--approve", "never"],
        &env,
    );
    assert_eq!(run.code, Some(3), "its write stops at a card: {run:?}");
    assert_eq!(desk.read("b.txt"), None, "with the disk untouched");
    let waiting: Value = desk.json(&["approvals", "list"]).last();
    let id = waiting["id"].as_str().unwrap();
    let shown = desk.run_with(&["approvals", "show", id], &env);
    assert!(
        shown.out.contains("outside_server") && shown.out.contains("b.txt"),
        "the card shows all: {}",
        shown.out
    );
    let done = desk.run_with(&["--json", "approvals", "approve", id], &env);
    assert_eq!(done.code, Some(0), "approved in another process, it runs: {done:?}");
    assert_eq!(desk.read("b.txt").as_deref(), Some("new"), "exactly that call");
}

/// kill -9 before and after an approved outside call: whether it took effect cannot be known, so it is called unknown and
/// is never run again.
#[cfg(feature = "faults")]
#[test]
fn a_call_cut_off_by_a_crash_is_unknown_and_never_run_again() {
    for (point, ran) in [("approve_decided", false), ("approve_executed", true)] {
        let desk = Desk::new();
        let servers = servers();
        let env = [("POCKETPILOT_MCP_SERVERS", servers.as_str())];
        desk.run(&["workspaces", "add", desk.root(), "--allow-mcp", "files"]);
        let script = desk.script(&json!({"version": 1, "steps": [
            {"tool_calls": [{"name": "mcp_files_write", "arguments": {"path": "b.txt", "content": "new"}}]},
            {"text": "done"}
        ]}));
        let run = desk.run_with(
            &["--json", "run", "w", "--workspace", desk.root(), "--provider", &script, "--approve", "never"],
            &env,
        );
        let card = run.last()["approval"].as_str().unwrap().to_owned();
        let crash = [env[0], ("POCKETPILOT_CRASH_AT", point)];
        let killed = desk.run_with(&["--json", "approvals", "approve", &card], &crash);
        assert_eq!(killed.code, None, "{point}: the process died: {killed:?}");
        assert_eq!(desk.read("b.txt").is_some(), ran, "{point}: the control: it had run, or not");
        let _ = std::fs::remove_file(desk.root.path().join("b.txt"));
        // Any command of the next owner recovers first.
        let shown = desk.run_with(&["--json", "approvals", "show", &card], &env).last();
        assert_eq!(shown["state"], json!("unknown"), "{point}: it cannot be known");
        let again = desk.run_with(&["--json", "approvals", "approve", &card], &env);
        assert_eq!(again.last()["code"], json!("approval_decided"), "{point}: and is decided");
        let task = shown["task"].as_str().unwrap();
        desk.run_with(&["--json", "tasks", "resume", task], &env);
        assert_eq!(desk.read("b.txt"), None, "{point}: it is not run again, also when the task goes on");
    }
}

/// Processes whose current folder is this one.
fn at_work_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
        .count()
}

/// Waits until `met`, ten seconds at most.
fn wait_for(met: impl Fn() -> bool) -> bool {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::time::Instant::now() < until {
        if met() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    met()
}

#[test]
fn a_server_does_not_outlive_a_command_that_was_killed() {
    let desk = Desk::new();
    let servers =
        json!({"daemon": {"command": stand_in(), "args": ["ignores-term"], "tools": {}}}).to_string();
    let folder = desk.data.path().canonicalize().unwrap().join("mcp-check");
    let mut check = desk
        .command()
        .args(["mcp", "check", "daemon"])
        .env("POCKETPILOT_MCP_SERVERS", &servers)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The supervisor, the shell that ignores the signal, and the sleeper below it.
    assert!(wait_for(|| at_work_in(&folder) >= 2), "the control: the server is at work");
    check.kill().unwrap();
    check.wait().unwrap();
    assert!(wait_for(|| at_work_in(&folder) == 0), "kill -9 of the command leaves no process behind");
}
