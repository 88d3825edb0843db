//! Words, formats and exit codes that scripts rely on.

use crate::support::{Desk, manifest};
use serde_json::{Value, json};

fn write_script(path: &str) -> Value {
    json!({ "version": 1, "steps": [
        { "text": "I will write", "tool_calls": [{ "name": "write_file", "arguments": { "path": path, "content": "x\n" } }] },
        { "text": "done" }
    ] })
}

fn stopped(desk: &Desk, script: &Value) -> (String, String) {
    let provider = desk.script(script);
    let run = desk.json(&["run", "write", "--workspace", desk.root(), "--provider", &provider]);
    assert_eq!(
        run.code,
        Some(3),
        "elsewhere than on a terminal the default is to stop at the card: {}",
        run.err
    );
    let last = run.last();
    (last["task"].as_str().unwrap().to_owned(), last["approval"].as_str().unwrap().to_owned())
}

#[test]
fn a_run_prints_its_events_and_ends_with_the_result() {
    let desk = Desk::new();
    desk.write("a.csv", b"x\n1\n");
    let provider = desk.script(&json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "read_file", "arguments": { "path": "a.csv" } }], },
        { "text": "read", "expect": { "last_result_contains": ["UTF-8"] } }
    ] }));
    let run = desk.json(&["run", "read", "--workspace", desk.root(), "--provider", &provider]);
    assert_eq!(run.code, Some(0), "reading is done without asking: {}", run.err);
    let rows = run.rows();
    let (events, result) = rows.split_at(rows.len() - 1);
    let numbers: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(
        numbers,
        (1..=numbers.len() as i64).collect::<Vec<_>>(),
        "each event once, in order, without gaps"
    );
    for event in events {
        for key in ["seq", "at", "task", "type"] {
            assert!(event.get(key).is_some(), "an event has {key}: {event}");
        }
    }
    for key in ["type", "status", "task", "artifacts", "usage"] {
        assert!(result[0].get(key).is_some(), "the result has {key}: {}", result[0]);
    }
    let tool = events.iter().find(|event| event["type"] == "tool_result").unwrap();
    assert_eq!(tool["ok"], true, "a tool result says whether it worked");
    assert!(
        tool["content"].as_str().unwrap().contains("x\\n1"),
        "and carries the content as the model got it"
    );
}

#[test]
fn all_shown_is_for_scripts_only() {
    let desk = Desk::new();
    let refused = desk.json(&["run", "x", "--workspace", desk.root(), "--approve", "all-shown"]);
    assert_eq!(refused.code, Some(2), "nobody would be asked");
    let provider = desk.script(&write_script("a.md"));
    let run = desk.json(&[
        "run",
        "x",
        "--workspace",
        desk.root(),
        "--provider",
        &provider,
        "--approve",
        "all-shown",
    ]);
    assert_eq!(run.code, Some(0), "a script may: {}", run.err);
    assert!(run.err.contains("a.md"), "each card is printed before it is approved");
    assert_eq!(desk.read("a.md").as_deref(), Some("x\n"), "and the file is there");
}

#[test]
fn decided_stale_and_unknown_cards_end_with_1_and_change_nothing() {
    let desk = Desk::new();
    let (_, card) = stopped(&desk, &write_script("a.md"));
    let unknown = desk.json(&["approvals", "approve", "no-such-card"]);
    assert_eq!(
        (unknown.code, unknown.last()["code"].clone()),
        (Some(1), json!("approval_not_found")),
        "an unknown card has its code"
    );
    desk.write("a.md", b"somebody else\n");
    let stale = desk.json(&["approvals", "approve", &card]);
    assert_eq!(
        (stale.code, stale.last()["code"].clone()),
        (Some(1), json!("approval_stale")),
        "so has a stale one"
    );
    assert_eq!(desk.read("a.md").as_deref(), Some("somebody else\n"), "nothing is written");
    let new = stale.last()["subject"].as_str().unwrap().to_owned();
    assert_eq!(
        desk.json(&["approvals", "list"]).rows()[0]["id"],
        json!(new),
        "the new card waits in its place"
    );
    assert_eq!(
        desk.json(&["approvals", "reject", &new, "--note", "keep it"]).code,
        Some(0),
        "and can be decided"
    );
    let decided = desk.json(&["approvals", "approve", &new]);
    assert_eq!((decided.code, decided.last()["code"].clone()), (Some(1), json!("approval_decided")), "once");
    assert_eq!(desk.json(&["approvals", "list"]).rows().len(), 0, "the list shows what waits");
    assert_eq!(desk.json(&["approvals", "list", "--all"]).rows().len(), 2, "--all the rest too");
}

#[test]
fn an_edit_that_escapes_is_refused_with_4() {
    let desk = Desk::new();
    let (_, card) = stopped(&desk, &write_script("a.md"));
    for (edit, code) in [
        (r#"{"path":"../a.md","content":"x"}"#, "path_parent"),
        (r#"{"path":"/etc/a.md","content":"x"}"#, "path_absolute"),
        (r#"{"path":"a.md"}"#, "invalid_arguments"),
        ("not json", "invalid_arguments"),
    ] {
        let said = desk.json(&["approvals", "approve", &card, "--edit", edit]);
        assert_eq!(
            (said.code, said.last()["code"].clone()),
            (Some(4), json!(code)),
            "what was given to the command is refused: {edit}"
        );
        assert_eq!(desk.manifest(), vec![], "and nothing is written: {edit}");
    }
    let said = desk.json(&["approvals", "approve", &card, "--edit", r#"{"path":"b.md","content":"mine\n"}"#]);
    assert_eq!(said.code, Some(0), "a good edit is carried out: {}", said.err);
    assert_eq!(desk.read("b.md").as_deref(), Some("mine\n"), "with the person's bytes");
}

#[test]
fn usage_and_refused_folders_have_their_codes() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["nonsense"]).code, Some(2), "an unknown command is a usage error");
    assert_eq!(desk.run(&["--help"]).code, Some(0), "help is an answer");
    for (folder, code) in [("/", "workspace_too_wide"), ("/no/such/folder", "workspace_not_folder")] {
        let said = desk.json(&["run", "x", "--workspace", folder]);
        assert_eq!((said.code, said.last()["code"].clone()), (Some(4), json!(code)), "{folder} is refused");
    }
    let own = desk.data.path().to_str().unwrap().to_owned();
    let said = desk.json(&["workspaces", "add", &own]);
    assert_eq!(
        (said.code, said.last()["code"].clone()),
        (Some(4), json!("workspace_holds_data")),
        "so is the data folder"
    );
    let said = desk.json(&["run", "x", "--workspace", desk.root(), "--provider", "nobody"]);
    assert_eq!(
        (said.code, said.last()["code"].clone()),
        (Some(1), json!("provider_missing")),
        "a provider that is not set up"
    );
    let said = desk.json(&["run", "x", "--workspace", desk.root(), "--provider", "env"]);
    assert_eq!(
        (said.code, said.last()["code"].clone()),
        (Some(1), json!("provider_missing")),
        "an environment without one"
    );
}

#[test]
fn a_provider_that_is_down_leaves_the_task_interrupted_and_the_key_nowhere() {
    const CANARY: &str = "sk-canary-0b9d41";
    let desk = Desk::new();
    let env = [
        ("POCKETPILOT_BASE_URL", "http://127.0.0.1:9/v1"),
        ("POCKETPILOT_MODEL", "m"),
        ("POCKETPILOT_API_KEY", CANARY),
        ("POCKETPILOT_LOG", "trace"),
    ];
    let said = desk.run_with(&["--json", "run", "x", "--workspace", desk.root(), "--provider", "env"], &env);
    assert_eq!(said.code, Some(5), "interrupted, and can be resumed: {}", said.err);
    assert_eq!(said.last()["code"], "provider_unavailable", "with words for it");
    assert!(
        said.err.contains("TRACE"),
        "the log was written at its finest, so the search below is not over nothing"
    );
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    assert!(!holds(said.out.as_bytes()), "no event holds the key");
    assert!(!holds(said.err.as_bytes()), "no log holds it");
    for (name, bytes) in manifest(desk.data.path()) {
        assert!(!holds(&bytes), "{name} in the data folder holds the key");
    }
}

#[test]
fn nothing_in_the_folder_configures_the_command() {
    let desk = Desk::new();
    let settings = "POCKETPILOT_BASE_URL=http://127.0.0.1:9/v1\nPOCKETPILOT_MODEL=m\n";
    desk.write(".env", settings.as_bytes());
    desk.write("pocketpilot.json", br#"{"provider":"env","approve":"all-shown"}"#);
    desk.write(".pocketpilot/settings.json", br#"{"base_url":"http://127.0.0.1:9/v1","model":"m"}"#);
    desk.write("skills/invoice-summary/playbook.json", br#"{"steps":[]}"#);
    desk.write("a.csv", "supplier,amount,currency\nA,10.00,USD\n".as_bytes());
    let run_here = |args: &[&str]| {
        let output = desk.command().current_dir(desk.root.path()).arg("--json").args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, out) = run_here(&["run", "x", "--workspace", ".", "--provider", "env"]);
    assert_eq!(code, Some(1), "a file in the folder sets no provider up: {out}");
    assert!(out.contains("provider_missing"), "and that is said: {out}");
    let (code, out) = run_here(&["run", "Summarise the invoices in this folder", "--workspace", "."]);
    assert_eq!(code, Some(3), "a playbook in the folder is none, and nothing approves itself: {out}");
}

#[test]
fn extract_prints_one_line_a_file_and_never_ends_early() {
    let desk = Desk::new();
    desk.write("a.csv", "供应商,金额\n甲,1.50\n".as_bytes());
    desk.write("broken.xlsx", b"PK\x03\x04 not a zip");
    desk.write("b.txt", b"plain\n");
    let said = desk.json(&["extract", "--workspace", desk.root(), "a.csv", "broken.xlsx", "b.txt"]);
    let rows = said.rows();
    assert_eq!(rows.len(), 3, "one line a file, in the order given");
    let seen: Vec<_> =
        rows.iter().map(|row| (row["type"].clone(), row["path"].clone(), row["status"].clone())).collect();
    assert_eq!(
        seen,
        vec![
            (json!("document"), json!("a.csv"), json!("complete")),
            (json!("document"), json!("broken.xlsx"), json!("refused")),
            (json!("document"), json!("b.txt"), json!("complete")),
        ],
        "a bad file costs its own line: {}",
        said.err
    );
    assert_eq!(rows[1]["code"], "document_broken", "and says why");
    let refused = desk.json(&["extract", "--workspace", desk.root(), "../x.txt", "b.txt"]);
    assert_eq!(refused.code, Some(4), "a path that was refused ends with 4");
    assert_eq!(refused.rows().len(), 2, "after the others were read");
}

#[test]
fn memory_is_the_persons_to_edit() {
    let desk = Desk::new();
    let mut child = desk
        .command()
        .args(["memory", "edit", "--workspace", desk.root()])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), "记住：金额含税\n".as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "the person edits without a card");
    assert_eq!(desk.read("memory/MEMORY.md").as_deref(), Some("记住：金额含税\n"), "as typed");
    let events = desk.run(&["audit", "export"]).rows();
    let logged =
        events.iter().any(|event| event["source"] == "operator" && event["action"] == "memory_edited");
    assert!(logged, "and it is on record as the person's own act");
}

#[test]
fn memory_says_what_a_task_is_given_and_who_changed_it() {
    let desk = Desk::new();
    desk.write("memory/2026-03-01.md", "x".repeat(9_000).as_bytes());
    let edit = ["memory", "edit", "--workspace", desk.root(), "--page", "memory/2026-03-02.md"];
    assert_eq!(desk.feed(&edit, "a day\n", &[]).code, Some(0), "another page can be named");
    let shown = desk.json(&["memory", "show", "--workspace", desk.root(), "--page", "memory/2026-03-02.md"]);
    assert_eq!(shown.last()["text"], "a day\n", "and shown");
    assert_eq!(shown.last()["limit"], 8_192, "with the most that a task is given");
    let refused = ["memory", "edit", "--workspace", desk.root(), "--page", "../out.md"];
    assert_eq!(desk.feed(&refused, "x", &[]).code, Some(4), "a page outside memory/ is refused");
    let history = desk
        .json(&["memory", "history", "--workspace", desk.root(), "--page", "memory/2026-03-02.md"])
        .rows();
    assert_eq!(history.len(), 1, "one change so far");
    assert_eq!(history[0]["author"], "person", "and it was the person's");
    assert!(history[0]["id"].as_str().is_some_and(|id| id.len() == 64), "a row has an id");
}

#[test]
fn skills_of_a_folder_are_made_edited_and_removed() {
    let desk = Desk::new();
    let text = |body: &str| format!("---\nname: greet\ndescription: says hello\n---\n{body}\n");
    let new = ["skills", "new", "--workspace", desk.root()];
    let made = desk.feed(&new, &text("Hello."), &[]);
    assert_eq!((made.code, made.last()["path"].as_str()), (Some(0), Some("skills/greet/SKILL.md")), "made");
    assert_eq!(desk.feed(&new, &text("Again."), &[]).last()["code"], "already_exists", "not made twice");
    assert_eq!(desk.feed(&new, "no header", &[]).last()["code"], "skill_no_header", "and said what is wrong");
    let edit = ["skills", "edit", "greet", "--workspace", desk.root()];
    assert_eq!(desk.feed(&edit, &text("Good day."), &[]).code, Some(0), "edited");
    let shown = desk.json(&["skills", "show", "greet", "--workspace", desk.root()]);
    assert_eq!(shown.last()["text"], "Good day.\n", "and used");
    let list = desk.json(&["skills", "list", "--workspace", desk.root()]).rows();
    let row = list.iter().find(|row| row["name"] == "greet").unwrap();
    assert_eq!(
        (&row["id"], &row["source"]),
        (&json!("workspace/greet"), &json!("workspace")),
        "with its source"
    );
    assert_eq!(
        desk.json(&["skills", "remove", "greet", "--workspace", desk.root()]).code,
        Some(0),
        "removed"
    );
    assert_eq!(desk.read("skills/greet/SKILL.md"), None, "from the folder");
    assert_eq!(
        desk.json(&["skills", "remove", "../x", "--workspace", desk.root()]).code,
        Some(4),
        "a path is no name of a skill"
    );
}

#[test]
fn doctor_names_what_is_missing() {
    let desk = Desk::new();
    let said = desk.json(&["doctor"]);
    assert_eq!(said.code, Some(0), "nothing here is broken: {}", said.out);
    let rows = said.rows();
    let state = |id: &str| {
        rows.iter().find(|row| row["id"] == id).map(|row| row["state"].clone()).unwrap_or_default()
    };
    assert_eq!(state("documents"), "ok", "the reader of documents was started for real");
    assert_eq!(state("keyring"), "limited", "there is no session bus here, and that is said");
}

#[test]
fn a_changed_record_is_found() {
    let desk = Desk::new();
    stopped(&desk, &write_script("a.md"));
    assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "untouched, the chain holds");
    let database =
        std::fs::read_dir(desk.data.path()).unwrap().flatten().map(|entry| entry.path()).find(|path| {
            path.extension().is_some_and(|ending| ending == "db" || ending == "sqlite" || ending == "sqlite3")
        });
    let database = database.expect("the data folder holds a database");
    let mut bytes = std::fs::read(&database).unwrap();
    // Only the record holds this text.
    let wanted = b"You are PocketPilot";
    let at = bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
        .expect("the record is in the main file after a clean close");
    bytes[at] = b'J';
    std::fs::write(&database, bytes).unwrap();
    let said = desk.json(&["audit", "verify"]);
    assert_eq!(said.code, Some(1), "one changed letter breaks the chain: {}", said.out);
    assert!(said.last()["broken_at"].as_i64().unwrap() > 0, "and the place is named");
}

#[test]
fn conversations_are_listed_followed_renamed_and_put_away() {
    let desk = Desk::new();
    let (task, card) = stopped(&desk, &write_script("a.md"));
    let row = desk.json(&["sessions", "list"]).last();
    for key in ["id", "title", "status", "turns", "waiting", "archived", "last_task", "used_at"] {
        assert!(row.get(key).is_some(), "a conversation has {key}: {row}");
    }
    let id = row["id"].as_str().unwrap();
    let provider = desk.script(&json!({ "version": 1, "steps": [{ "text": "second" }] }));
    let run = desk.json(&[
        "run",
        "and now",
        "--workspace",
        desk.root(),
        "--provider",
        &provider,
        "--follow-up",
        &task,
    ]);
    assert_eq!(run.code, Some(0), "a follow-up runs while the first turn waits: {}", run.err);
    let run =
        desk.json(&["run", "and then", "--workspace", desk.root(), "--provider", &provider, "--session", id]);
    assert_eq!(run.code, Some(0), "so does a turn that names the conversation: {}", run.err);
    let shown = desk.json(&["sessions", "show", id]).last();
    let goals: Vec<&str> =
        shown["turns"].as_array().unwrap().iter().map(|turn| turn["goal"].as_str().unwrap()).collect();
    assert_eq!(goals, ["write", "and now", "and then"], "the turns stand in one conversation");
    assert_eq!(shown["id"], id, "and it names itself");
    assert_eq!(desk.json(&["sessions", "rename", id, "March"]).last()["title"], "March", "it is renamed");
    assert_eq!(desk.json(&["sessions", "list", "--search", "and NOW"]).rows().len(), 1, "found by a goal");
    assert_eq!(desk.json(&["sessions", "archive", id]).code, Some(0), "and put away");
    assert_eq!(desk.json(&["sessions", "list"]).rows().len(), 0, "out of sight");
    assert_eq!(desk.json(&["sessions", "list", "--archived"]).rows().len(), 1, "behind its filter");
    assert_eq!(desk.json(&["approvals", "approve", &card]).code, Some(0), "its card still waits, and works");
    let unknown = desk.json(&["run", "x", "--workspace", desk.root(), "--follow-up", "nobody"]);
    assert_eq!(
        (unknown.code, unknown.last()["code"].clone()),
        (Some(1), json!("task_not_found")),
        "an unknown task"
    );
    let unknown = desk.json(&["sessions", "show", "nobody"]);
    assert_eq!(
        (unknown.code, unknown.last()["code"].clone()),
        (Some(1), json!("session_not_found")),
        "and conversation"
    );
}

#[test]
fn a_task_is_run_again_and_deleted() {
    let desk = Desk::new();
    desk.write("a.csv", b"x\n1\n");
    let provider = desk.script(&json!({ "version": 1, "steps": [{ "text": "read" }] }));
    let run = desk.json(&["run", "read", "--workspace", desk.root(), "--provider", &provider]);
    let first = run.last()["task"].as_str().unwrap().to_owned();
    let again = desk.json(&["tasks", "again", &first, "--file", "a.csv"]);
    assert_eq!(again.code, Some(0), "it runs with the provider that it was started with: {}", again.err);
    let second = again.last()["task"].as_str().unwrap().to_owned();
    assert_ne!(first, second, "as a task of its own");
    let goal = desk.json(&["tasks", "show", &second]).last()["task"]["goal"].clone();
    assert!(goal.as_str().unwrap().ends_with("- a.csv"), "with the file in its goal: {goal}");
    let refused = desk.json(&["tasks", "again", &first, "--file", "../a.csv"]);
    assert_eq!(refused.code, Some(4), "a path that the guard refuses was given to the command itself");
    let gone = desk.json(&["tasks", "delete", &first]);
    assert_eq!(gone.code, Some(0), "deleted: {}", gone.err);
    assert!(gone.last()["entries"].as_u64().unwrap() > 2, "what went is said: {}", gone.out);
    assert_eq!(desk.json(&["tasks", "list"]).rows().len(), 1, "the other stays");
    assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "and the chain holds");
    let (waiting, _) = stopped(&desk, &write_script("b.md"));
    let refused = desk.json(&["tasks", "delete", &waiting]);
    assert_eq!(
        (refused.code, refused.last()["code"].clone()),
        (Some(1), json!("task_state")),
        "not one that waits"
    );
}

#[test]
fn data_is_backed_up_restored_and_described() {
    let desk = Desk::new();
    let (task, _) = stopped(&desk, &write_script("a.md"));
    let outside = tempfile::TempDir::new().unwrap();
    let (zip, file) = (outside.path().join("all.zip"), outside.path().join("support.json"));
    let (zip, file) = (zip.to_str().unwrap(), file.to_str().unwrap());
    assert_eq!(desk.json(&["backup", zip]).code, Some(0), "made");
    assert_eq!(
        desk.json(&["backup", zip]).last()["code"],
        "already_exists",
        "never over a file that is there"
    );
    desk.json(&["tasks", "cancel", &task]);
    desk.json(&["tasks", "delete", &task]);
    let restored = desk.json(&["restore", zip]);
    assert_eq!(restored.code, Some(0), "put back: {}", restored.err);
    assert!(
        std::path::Path::new(restored.last()["kept"].as_str().unwrap()).exists(),
        "what was there is kept"
    );
    assert_eq!(desk.json(&["tasks", "show", &task]).last()["status"], "waiting_approval", "as it was");
    let fresh = Desk::new();
    let restored = fresh.json(&["restore", zip]);
    assert_eq!(
        (restored.code, restored.last()["kept"].clone()),
        (Some(0), Value::Null),
        "a new computer has nothing to keep"
    );
    assert_eq!(fresh.json(&["tasks", "list"]).rows().len(), 1, "and has the tasks now");
    std::fs::write(file, "mine").unwrap();
    assert_eq!(desk.json(&["restore", file]).last()["code"], "backup_invalid", "no backup, said so");
    assert_eq!(
        desk.json(&["doctor", "--bundle", file]).last()["code"],
        "already_exists",
        "not over it either"
    );
    std::fs::remove_file(file).unwrap();
    assert_eq!(desk.json(&["doctor", "--bundle", file]).code, Some(0), "the support file is written");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(!text.contains(desk.root()) && !text.contains("a.md"), "without paths: {text}");
}

#[test]
fn a_workspace_is_pointed_to_where_it_moved() {
    let desk = Desk::new();
    let parent = tempfile::TempDir::new().unwrap();
    let (old, new) = (parent.path().join("old"), parent.path().join("new"));
    std::fs::create_dir(&old).unwrap();
    let id =
        desk.json(&["workspaces", "add", old.to_str().unwrap()]).last()["id"].as_str().unwrap().to_owned();
    std::fs::rename(&old, &new).unwrap();
    let row = desk.json(&["workspaces", "list"]).last();
    assert_eq!(
        (row["present"].clone(), row["replaced"].clone()),
        (json!(false), json!(false)),
        "shown as gone"
    );
    let moved = desk.json(&["workspaces", "move", &id, new.to_str().unwrap()]);
    assert_eq!(
        (moved.code, moved.last()["present"].clone()),
        (Some(0), json!(true)),
        "and found again: {}",
        moved.err
    );
    assert_eq!(desk.json(&["workspaces", "move", &id, "/"]).code, Some(4), "the rules of registering hold");
}
