//! Outside tools through the service: allowed, asked, approved, changed behind the card, and what they do to memory.

use crate::support::{Bench, call, options, say, yes};
use pilot_service::view::{ApprovalState, ConfinementState, McpRule, McpServerRequest, McpSource, UndoState};
use pilot_service::{Approve, Confinement, Decider, Service};
use pilot_types::{ApprovalId, ArtifactId, ErrorCode, Event, TaskStatus};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn stand_in() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples/outside_server");
    assert!(built.exists(), "build the examples too: cargo nextest run --workspace");
    built
}

fn declaration(behaviour: &str) -> Value {
    let path = json!({"type": "string", "path": true, "required": true});
    let text = json!({"type": "string"});
    json!({"command": stand_in(), "args": [behaviour], "tools": {
        "read": {"capability": "file:read", "input_fields": {"path": path}},
        "write": {"capability": "file:write", "input_fields": {"path": path, "content": text}},
        "write_anything": {"capability": "file:write", "input_fields": {"target": text, "content": text}},
        "remove_anything": {"capability": "file:delete", "input_fields": {"target": text}},
        "admin": {"capability": "x:admin"}, "mystery": {}
    }})
}

async fn declare(bench: &Bench, behaviour: &str) {
    let request = McpServerRequest { name: "s".to_owned(), declaration: declaration(behaviour) };
    bench.service.save_mcp_server(request).await.unwrap();
}

/// A bench with the stand-in declared and allowed.
async fn allowed(behaviour: &str) -> Bench {
    let bench = Bench::new().await;
    declare(&bench, behaviour).await;
    bench.service.allow_mcp(&bench.workspace, "s", true).await.unwrap();
    bench.write("a.md", "inside\n");
    bench
}

fn results(events: &[Event]) -> Vec<(bool, Option<ErrorCode>, String)> {
    let result = |event: &Event| match event {
        Event::ToolResult { ok, code, content, .. } => Some((*ok, *code, content.clone())),
        _ => None,
    };
    events.iter().filter_map(result).collect()
}

#[tokio::test]
async fn a_server_is_reached_only_where_it_is_declared_and_allowed() {
    let bench = allowed("good").await;
    let steps = || vec![call("mcp_s_read", json!({"path": "a.md"})), say("done")];
    let task = bench.start(steps()).await;
    bench.service.run_to_stop(&task).await.unwrap();
    let found = results(&bench.events(&task).await);
    assert!(found[0].0 && found[0].2.contains("inside"), "declared and allowed: its read runs: {found:?}");

    bench.service.allow_mcp(&bench.workspace, "s", false).await.unwrap();
    let task = bench.start(steps()).await;
    bench.service.run_to_stop(&task).await.unwrap();
    let found = results(&bench.events(&task).await);
    assert_eq!(found[0].1, Some(ErrorCode::UnknownTool), "declared, not allowed: the tool is not there");

    bench.service.allow_mcp(&bench.workspace, "s", true).await.unwrap();
    bench.service.remove_mcp_server("s").await.unwrap();
    let task = bench.start(steps()).await;
    bench.service.run_to_stop(&task).await.unwrap();
    let found = results(&bench.events(&task).await);
    assert_eq!(found[0].1, Some(ErrorCode::UnknownTool), "allowed, not declared: neither");
}

#[tokio::test]
async fn a_write_waits_shows_what_runs_and_happens_once() {
    let bench = allowed("good").await;
    let before = bench.manifest();
    let arguments = json!({"path": "b.txt", "content": "new"});
    let (task, card) = bench.to_card(vec![call("mcp_s_write", arguments), say("done")]).await;
    assert_eq!(bench.manifest(), before, "nothing runs before the yes");
    let view = bench.service.approval(&card).await.unwrap();
    assert_eq!((view.path.as_deref(), view.undoable), (None, false), "an outside effect cannot be undone");
    assert_eq!(view.card.weight, pilot_review::Weight::Heavy, "and is looked at twice");
    let shown = serde_json::to_string(&view.card).unwrap();
    assert!(
        shown.contains("b.txt") && shown.contains("outside_server"),
        "the card shows arguments and program"
    );
    assert!(shown.contains(Confinement::of_this_computer().as_str()), "and what holds the program");
    let view = bench.service.approve(yes(&card)).await.unwrap();
    assert_eq!(view.state, ApprovalState::Done, "approved, it runs");
    assert_eq!(bench.read("b.txt").as_deref(), Some("new"), "exactly that call");
    assert_eq!(
        bench.service.run_to_stop(&task).await.unwrap().status,
        TaskStatus::Completed,
        "the task goes on"
    );
    let again = bench.service.approve(yes(&card)).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::ApprovalDecided, "and never twice");
}

#[tokio::test]
async fn a_changed_command_line_voids_the_card() {
    let bench = allowed("good").await;
    let arguments = json!({"path": "b.txt", "content": "new"});
    let (_, card) = bench.to_card(vec![call("mcp_s_write", arguments), say("done")]).await;
    assert!(!bench.service.approval(&card).await.unwrap().stale, "the control: nothing changed yet");
    let mut changed = declaration("good");
    changed["args"] = json!(["good", "--as-root"]);
    let request = McpServerRequest { name: "s".to_owned(), declaration: changed };
    bench.service.save_mcp_server(request).await.unwrap();
    assert!(bench.service.approval(&card).await.unwrap().stale, "the card says that it is void");
    // Neither as it stands nor with an edit.
    let edited = Approve {
        id: card.clone(),
        shown: None,
        arguments: Some(json!({"path": "c.txt", "content": "x"})),
        by: Decider::Cli,
    };
    let error = bench.service.approve(edited).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::McpServerChanged, "what was approved is not what would run");
    assert_eq!((bench.read("b.txt"), bench.read("c.txt")), (None, None), "nothing was started");
    let new = ApprovalId::from_text(error.subject().unwrap());
    let view = bench.service.approval(&new).await.unwrap();
    let shown = serde_json::to_string(&view.card).unwrap();
    assert!(shown.contains("--as-root"), "the new card shows the new command line");
    let old = bench.service.approval(&card).await.unwrap();
    assert_eq!(old.state, ApprovalState::Replaced, "the old one is void");
    assert_eq!(old.code, Some(ErrorCode::McpServerChanged), "with its reason");
    bench.service.approve(yes(&new)).await.unwrap();
    assert_eq!(bench.read("b.txt").as_deref(), Some("new"), "the new card can be approved");
}

#[tokio::test]
async fn a_server_that_is_gone_cannot_be_approved_any_more() {
    let bench = allowed("good").await;
    let (_, card) = bench.to_card(vec![call("mcp_s_write", json!({"path": "b.txt"})), say("done")]).await;
    bench.service.allow_mcp(&bench.workspace, "s", false).await.unwrap();
    let error = bench.service.approve(yes(&card)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownTool, "the workspace no longer allows it");
    assert_eq!(bench.read("b.txt"), None, "nothing was started");
    bench.service.reject(&card, None, Decider::Cli).await.unwrap();
}

#[tokio::test]
async fn an_edit_of_an_outside_call_passes_the_guard() {
    let bench = allowed("good").await;
    let (_, card) =
        bench.to_card(vec![call("mcp_s_write", json!({"path": "b.txt", "content": "x"})), say("done")]).await;
    for (path, code) in [
        ("../out.txt", ErrorCode::PathParent),
        ("/tmp/out.txt", ErrorCode::PathAbsolute),
        ("memory/MEMORY.md", ErrorCode::PathProtected),
    ] {
        let arguments = Some(json!({"path": path, "content": "x"}));
        let approve = Approve { id: card.clone(), shown: None, arguments, by: Decider::Cli };
        assert_eq!(bench.service.approve(approve).await.unwrap_err().code(), code, "an edit to {path}");
    }
    let arguments = Some(json!({"path": "mine.txt", "content": "y"}));
    let approve = Approve { id: card.clone(), shown: None, arguments, by: Decider::Cli };
    bench.service.approve(approve).await.unwrap();
    assert_eq!(bench.read("mine.txt").as_deref(), Some("y"), "the edited call ran");
    assert_eq!(bench.read("b.txt"), None, "and only it");
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_unknown_and_never_repeated() {
    let bench = allowed("dies-mid-answer").await;
    let (task, card) = bench.to_card(vec![call("mcp_s_write", json!({"path": "b.txt"})), say("done")]).await;
    let view = bench.service.approve(yes(&card)).await.unwrap();
    assert_eq!(view.state, ApprovalState::Unknown, "whether it happened cannot be known");
    let task = bench.service.task(&task).await.unwrap();
    assert_eq!(
        (task.status, task.code),
        (TaskStatus::Interrupted, Some(ErrorCode::OutcomeUnknown)),
        "it is said"
    );
    let again = bench.service.approve(yes(&card)).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::ApprovalDecided, "it is never run again");
}

#[tokio::test]
async fn a_failure_is_told_to_the_model_in_the_servers_words() {
    let bench = allowed("fails").await;
    let (task, card) = bench.to_card(vec![call("mcp_s_write", json!({"path": "b.txt"})), say("sorry")]).await;
    let error = bench.service.approve(yes(&card)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ToolFailed, "the server says that it failed");
    assert_eq!(
        bench.service.run_to_stop(&task).await.unwrap().status,
        TaskStatus::Completed,
        "the task goes on"
    );
    let found = results(&bench.events(&task).await);
    assert!(found[0].2.contains("no such thing"), "the model gets its words: {found:?}");
}

#[tokio::test]
async fn memory_changed_by_an_approved_program_is_noticed_and_undone() {
    let bench = allowed("good").await;
    bench.write("memory/MEMORY.md", "the person's fact\n");
    bench.write("memory/2026-01-02.md", "a day\n");
    let target = |path: &str| bench.root.join(path).display().to_string();
    let steps = vec![
        call("mcp_s_write_anything", json!({"target": target("memory/MEMORY.md"), "content": "poison"})),
        call("mcp_s_write_anything", json!({"target": target("memory/2026-01-03.md"), "content": "poison"})),
        call("mcp_s_remove_anything", json!({"target": target("memory/2026-01-02.md")})),
        say("done"),
    ];
    let (task, mut card) = bench.to_card(steps).await;
    for _ in 0..3 {
        bench.service.approve(yes(&card)).await.unwrap();
        bench.service.run_to_stop(&task).await.unwrap();
        match bench.service.task(&task).await.unwrap().waiting_approval {
            Some(next) => card = ApprovalId::from_text(next),
            None => break,
        }
    }
    let found = results(&bench.events(&task).await);
    let said =
        |index: usize, page: &str| found[index].2.contains("memory_changed") && found[index].2.contains(page);
    assert!(
        said(0, "MEMORY.md") && said(1, "2026-01-03.md") && said(2, "2026-01-02.md"),
        "it is said: {found:?}"
    );
    let artifacts = bench.service.artifacts(None).await.unwrap();
    assert_eq!(artifacts.len(), 3, "each page is on the list of what was written");
    for artifact in artifacts {
        assert_eq!(artifact.undo, UndoState::Possible, "{} can be taken back", artifact.path);
        let id = ArtifactId::from_text(artifact.id);
        bench.service.undo_preview(&id).await.unwrap();
        assert_eq!(bench.service.undo(&id).await.unwrap().undo, UndoState::Undone, "{}", artifact.path);
    }
    assert_eq!(bench.read("memory/MEMORY.md").as_deref(), Some("the person's fact\n"), "changed and back");
    assert_eq!(bench.read("memory/2026-01-02.md").as_deref(), Some("a day\n"), "removed and back");
    assert_eq!(bench.read("memory/2026-01-03.md"), None, "made and gone");
}

#[tokio::test]
async fn the_settings_say_what_follows_and_lose_nothing() {
    let bench = Bench::new().await;
    declare(&bench, "good").await;
    let view = bench.service.mcp().await.unwrap();
    let names: Vec<(&str, McpSource)> =
        view.servers.iter().map(|server| (server.id.as_str(), server.source)).collect();
    assert_eq!(
        names,
        vec![("workspace-fs", McpSource::BuiltIn), ("s", McpSource::Settings)],
        "built in, then declared"
    );
    let rule = |tool: &str| view.servers[1].tools.iter().find(|row| row.tool == tool).map(|row| row.rule);
    assert_eq!(rule("read"), Some(McpRule::RunsFreely), "reading runs");
    assert_eq!(rule("write"), Some(McpRule::Asks), "writing asks");
    assert_eq!(rule("admin"), Some(McpRule::Refused), "an unknown capability is refused");
    assert_eq!(rule("mystery"), Some(McpRule::Hidden), "what says nothing is not there");
    assert_eq!(
        view.confinement.abi > 0,
        view.confinement.state != ConfinementState::None,
        "state and number agree"
    );

    let bad = McpServerRequest { name: "s".to_owned(), declaration: json!({"args": []}) };
    let error = bench.service.save_mcp_server(bad).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::McpDeclaration, "a missing command is refused with its own code");
    assert!(error.detail().contains("\"command\" is missing"), "in words: {}", error.detail());
    assert_eq!(bench.service.mcp().await.unwrap(), view, "and nothing is lost");
    let missing = bench.service.remove_mcp_server("other").await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::McpServerNotFound, "an unknown name is said");
    assert!(bench.service.demand_confinement(true).await.unwrap().demand_confinement, "the demand is kept");
}

#[tokio::test]
async fn a_check_shakes_hands_and_says_what_is_wrong() {
    let bench = Bench::new().await;
    declare(&bench, "good").await;
    let view = bench.service.check_mcp_server("s").await.unwrap();
    assert_eq!(
        (view.server.as_str(), view.version.as_str()),
        ("outside-server", "1.2.3"),
        "it says who it is"
    );
    let missing = bench.service.check_mcp_server("other").await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::McpServerNotFound, "an unknown name is said");
    declare(&bench, "exits-at-once").await;
    let error = bench.service.check_mcp_server("s").await.unwrap_err();
    assert_eq!(
        error.code(),
        ErrorCode::McpHandshake,
        "so is a program that is no server: {}",
        error.detail()
    );
    let mut gone = declaration("good");
    gone["command"] = json!("no-such-program");
    let request = McpServerRequest { name: "s".to_owned(), declaration: gone };
    bench.service.save_mcp_server(request).await.unwrap();
    let error = bench.service.check_mcp_server("s").await.unwrap_err();
    assert_eq!(
        error.code(),
        ErrorCode::McpNotStarted,
        "so is a command that is not there: {}",
        error.detail()
    );
}

#[tokio::test]
async fn the_environment_declares_too_and_one_mistake_costs_one_server() {
    let bench = Bench::new().await;
    let data = tempfile::tempdir().unwrap();
    let mut options = options(data.path());
    options.mcp.servers = Some(json!({"env": declaration("good"), "bad": {"args": []}}).to_string());
    let service = Service::open(options).await.unwrap();
    let view = service.mcp().await.unwrap();
    let named = view.servers.iter().find(|server| server.id == "env").map(|server| server.source);
    assert_eq!(named, Some(McpSource::Environment), "the good one is there");
    assert_eq!(view.problems.len(), 1, "the bad one is said: {:?}", view.problems);
    assert!(view.problems[0].contains("bad") && view.problems[0].contains("command"), "{:?}", view.problems);
    let doctor = service.doctor().await.unwrap();
    let words =
        |id: &str| doctor.iter().find(|check| check.id == id).map(|check| check.words.clone()).unwrap();
    assert!(words("mcp").contains("command"), "the doctor says it too");
    assert!(
        words("confinement").contains("Landlock"),
        "and what holds outside tools: {}",
        words("confinement")
    );
    drop(bench);
}

#[tokio::test]
async fn the_built_in_server_writes_like_every_other_tool() {
    let bench = Bench::new().await;
    bench.service.allow_mcp(&bench.workspace, "workspace-fs", true).await.unwrap();
    let arguments = json!({"path": "report.md", "content": "# Report\n"});
    let (task, card) = bench.to_card(vec![call("mcp_workspace-fs_write_text", arguments), say("done")]).await;
    let view = bench.service.approval(&card).await.unwrap();
    assert_eq!(
        (view.path.as_deref(), view.undoable),
        (Some("report.md"), true),
        "a card with a target and an undo"
    );
    bench.service.approve(yes(&card)).await.unwrap();
    bench.service.run_to_stop(&task).await.unwrap();
    assert_eq!(bench.read("report.md").as_deref(), Some("# Report\n"), "exactly the shown bytes");
    let artifacts = bench.service.artifacts(None).await.unwrap();
    assert_eq!(artifacts.len(), 1, "and an artifact");
    bench.service.undo(&ArtifactId::from_text(artifacts[0].id.clone())).await.unwrap();
    assert_eq!(bench.read("report.md"), None, "which can be taken back");
}

#[tokio::test]
async fn every_row_of_hostile_arguments_stops_at_the_guard_also_as_a_fresh_call() {
    let bench = allowed("good").await;
    let steps = vec![
        call("mcp_s_read", json!({"path": "../x"})),
        call("mcp_s_write", json!({"path": "/etc/x", "content": "x"})),
        call("mcp_s_read", json!({"path": ["a.md"]})),
        call("mcp_s_read", json!({"path": "a.md", "extra": true})),
        say("done"),
    ];
    let task = bench.start(steps).await;
    let stop = bench.service.run_to_stop(&task).await.unwrap();
    assert_eq!(stop.status, TaskStatus::Completed, "no card appears for what cannot be done");
    let codes: Vec<Option<ErrorCode>> =
        results(&bench.events(&task).await).into_iter().map(|(_, code, _)| code).collect();
    let expected = [
        ErrorCode::PathParent,
        ErrorCode::PathAbsolute,
        ErrorCode::InvalidArguments,
        ErrorCode::InvalidArguments,
    ];
    assert_eq!(codes, expected.map(Some).to_vec(), "each with its own code");
}
