//! Outside tools against a real process: what is asked, what is refused before it starts, what the kernel stops.

use crate::mcp_support::{Outside, declaration, setup, stand_in, tools_on, whole};
use crate::support::{code, written};
use pilot_testkit::escapes::{self, Answer, Door, DoorKind, Mounts, Report, Setup};
use pilot_tools::mcp::{Confinement, read_server};
use pilot_types::{ErrorCode, PreparedEffect, Risk};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_call_is_one_process_and_its_answer_is_bounded() {
    let outside = Outside::good(Confinement::of_this_computer());
    let said = outside.ask("echo", json!({"text": "hello"})).await.unwrap();
    assert_eq!(said, r#"{"text":"hello"}"#, "the arguments arrive and the answer comes back");
    assert_eq!(
        outside.ask("read", json!({"path": "./a.md"})).await.unwrap(),
        "inside\n",
        "paths are from the workspace"
    );
    let long = "x".repeat(200 * 1024);
    let value = outside.tools.run("mcp_s_echo", json!({ "text": long })).await.unwrap();
    assert_eq!(value["cut"], json!(true), "a long answer says that it is cut");
    assert_eq!(value["content"].as_str().unwrap().len(), 100 * 1024, "and is cut at 100 KB");
}

#[tokio::test]
async fn what_a_tool_may_do_is_declared_or_inferred_and_never_more_than_the_kernel_holds() {
    let specs = |confinement| {
        let outside = Outside::good(confinement);
        outside.tools.registry.specs()
    };
    let of = |specs: &[pilot_types::ToolSpec], name: &str| {
        specs
            .iter()
            .find(|spec| spec.name == format!("mcp_s_{name}"))
            .map(|spec| spec.capability.as_str().to_owned())
    };
    let held = specs(Confinement::Whole { abi: 7 });
    assert_eq!(of(&held, "read").as_deref(), Some("file:read"), "P0");
    assert_eq!(of(&held, "hinted").as_deref(), Some("mcp:read"), "P1");
    assert_eq!(of(&held, "get_hinted").as_deref(), Some("mcp:read"), "P2");
    assert_eq!(of(&held, "mystery"), None, "P3: no model sees it");
    let free = specs(Confinement::None);
    assert_eq!(of(&free, "hinted").as_deref(), Some("mcp:execute"), "without walls a hint means nothing");
    assert_eq!(of(&free, "get_hinted").as_deref(), Some("mcp:execute"), "nor does a name");
    assert_eq!(of(&free, "read").as_deref(), Some("file:read"), "what the person declared stays");
    for spec in held {
        let risk = if spec.capability.as_str().ends_with("read") || spec.capability.as_str().ends_with("list")
        {
            Risk::Low
        } else {
            Risk::High
        };
        if spec.name.starts_with("mcp_s_") {
            assert_eq!(spec.risk, risk, "{}: whatever is not reading is looked at twice", spec.name);
        }
    }
}

#[tokio::test]
async fn a_path_is_refused_before_anything_starts() {
    // A program that does not exist: if it were started, the code would be another.
    let mut server = declaration("good");
    server.command = "/nonexistent/program".to_owned();
    let outside = Outside::new(setup(Confinement::None, Duration::from_secs(5)), server);
    let control = code(outside.tools.run("mcp_s_read", json!({"path": "a.md"})).await);
    assert_eq!(control, ErrorCode::McpNotStarted, "the control: a good path gets as far as the program");
    for (path, expected) in [
        ("../secret.md", ErrorCode::PathParent),
        ("/etc/passwd", ErrorCode::PathAbsolute),
        ("file:///etc/passwd", ErrorCode::PathAbsolute),
        ("a\u{0}b", ErrorCode::PathInvalid),
        ("missing.md", ErrorCode::NotFound),
    ] {
        assert_eq!(
            code(outside.tools.run("mcp_s_read", json!({ "path": path })).await),
            expected,
            "read {path:?}"
        );
        let listed = outside.tools.run("mcp_s_read_paths", json!({"paths": ["a.md", path]})).await;
        assert_eq!(code(listed), expected, "in a list too: {path:?}");
    }
    for (path, expected) in [
        ("../new.txt", ErrorCode::PathParent),
        ("/tmp/new.txt", ErrorCode::PathAbsolute),
        ("memory/MEMORY.md", ErrorCode::PathProtected),
        ("MEMORY/x.txt", ErrorCode::PathProtected),
        ("memory", ErrorCode::PathProtected),
        ("skills/x/SKILL.md", ErrorCode::PathProtected),
        (".git/config", ErrorCode::PathProtected),
    ] {
        let arguments = json!({"path": path, "content": "x"});
        assert_eq!(code(outside.tools.prepare("mcp_s_write", arguments).await), expected, "write {path:?}");
    }
}

#[tokio::test]
async fn a_write_is_prepared_whole_and_runs_only_as_it_was_shown() {
    let outside = Outside::good(Confinement::of_this_computer());
    let arguments = json!({"path": "b.txt", "content": "new"});
    let effect = outside.tools.prepare("mcp_s_write", arguments.clone()).await.unwrap();
    let PreparedEffect::Outside { description } = effect.clone() else {
        panic!("an outside effect: {effect:?}")
    };
    let shown: Value = serde_json::from_str(&description).unwrap();
    assert_eq!(shown["arguments"], arguments, "the card shows the arguments whole");
    assert_eq!(shown["program"], json!(stand_in()), "the program");
    assert_eq!(shown["args"], json!(["good"]), "its command line");
    assert_eq!(shown["confinement"], json!(Confinement::of_this_computer().as_str()), "and what holds it");
    let online = outside.tools.prepare("mcp_s_connect_allowed", json!({"address": "x"})).await.unwrap();
    let PreparedEffect::Outside { description } = online else { panic!("an outside effect: {online:?}") };
    assert!(
        !description.contains("files_and_network"),
        "a tool with the network is not said to be kept from it"
    );
    assert!(!outside.base().join("ws/b.txt").exists(), "preparing starts nothing");
    outside.tools.perform("mcp_s_write", arguments.clone(), effect.clone()).await.unwrap();
    assert_eq!(std::fs::read_to_string(outside.base().join("ws/b.txt")).unwrap(), "new", "then it is done");

    // The same approval, but the server is declared otherwise by now.
    let mut server = declaration("good");
    server.args.push("--more".to_owned());
    let base = outside.base();
    let other = tools_on(
        &base.join("ws"),
        &base.join("undo"),
        setup(Confinement::of_this_computer(), Duration::from_secs(20)),
        server,
    );
    std::fs::remove_file(base.join("ws/b.txt")).unwrap();
    let refused = code(other.perform("mcp_s_write", arguments, effect).await);
    assert_eq!(refused, ErrorCode::McpServerChanged, "another command line is another program");
    assert!(!base.join("ws/b.txt").exists(), "and was not started");
}

#[tokio::test]
async fn the_kernel_stops_what_the_guard_does_not_see() {
    let Some(whole) = whole() else { return };
    let (held, free) = (Outside::good(whole), Outside::good(Confinement::None));
    for (outside, stopped) in [(&held, true), (&free, false)] {
        let base = outside.base();
        let secret = base.join("secret.md").display().to_string();
        let inside = base.join("ws/b.txt").display().to_string();
        let refused = |said: &str| said.starts_with("refused:");
        let said = outside.ask("read_anything", json!({ "target": secret })).await.unwrap();
        assert_eq!(refused(&said), stopped, "reading outside: {said}");
        let said = outside.ask("read_anything", json!({"target": "/proc/1/cmdline"})).await.unwrap();
        assert_eq!(refused(&said), stopped, "other processes: {said}");
        let said = outside.ask("list_anything", json!({"target": base})).await.unwrap();
        assert_eq!(refused(&said), stopped, "listing outside: {said}");
        let said = outside.ask("write_anything", json!({"target": secret, "content": "x"})).await.unwrap();
        assert_eq!(refused(&said), stopped, "writing outside: {said}");
        let said = outside.ask("write_anything", json!({"target": inside, "content": "x"})).await.unwrap();
        assert!(!refused(&said), "an approved writer writes the workspace: {said}");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = port.local_addr().unwrap().to_string();
        let said = outside.ask("connect", json!({ "address": address })).await.unwrap();
        assert_eq!(refused(&said), stopped, "TCP without the capability: {said}");
        let said = outside.ask("connect_allowed", json!({ "address": address })).await.unwrap();
        assert_eq!(said, "connected", "TCP with the capability `network`");
        std::fs::write(base.join("ws/tool.sh"), "#!/bin/sh\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(base.join("ws/tool.sh"), mode).unwrap();
        let program = base.join("ws/tool.sh").display().to_string();
        let said = outside.ask("run_anything", json!({ "target": program })).await.unwrap();
        assert_eq!(refused(&said), stopped, "running a program of the workspace: {said}");
    }
    let inside = held.base().join("ws/a.md").display().to_string();
    let said = held.ask("read_anything", json!({ "target": inside })).await.unwrap();
    assert_eq!(said, "inside\n", "the control: the workspace itself can be read");
}

#[tokio::test]
async fn a_reader_cannot_write_even_the_workspace() {
    let Some(whole) = whole() else { return };
    for (confinement, stopped) in [(whole, true), (Confinement::None, false)] {
        let mut server = declaration("good");
        // Declared as reading, and it writes.
        server.tools.get_mut("write_anything").unwrap().capability = Some("file:read".to_owned());
        let outside = Outside::new(setup(confinement, Duration::from_secs(20)), server);
        let target = outside.base().join("ws/new.txt").display().to_string();
        let said = outside.ask("write_anything", json!({"target": target, "content": "x"})).await.unwrap();
        assert_eq!(said.starts_with("refused:"), stopped, "{confinement:?}: {said}");
    }
}

#[tokio::test]
async fn a_server_gets_a_short_environment() {
    let outside = Outside::good(Confinement::of_this_computer());
    let said = outside.ask("environment", json!({})).await.unwrap();
    let names: Vec<&str> =
        said.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name)).collect();
    let known = [
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "HOME",
        "PYTHONSAFEPATH",
        "PYTHONDONTWRITEBYTECODE",
        "POCKETPILOT_CALL",
        "CARGO_PKG_NAME",
    ];
    assert!(names.iter().all(|name| known.contains(name)), "nothing else passes: {names:?}");
    assert!(names.contains(&"CARGO_PKG_NAME"), "what was declared passes");
    assert!(std::env::vars().count() > known.len(), "the control: this process has more");
}

#[tokio::test]
async fn where_confinement_is_demanded_and_cannot_be_had_nothing_starts() {
    let mut setup = setup(Confinement::None, Duration::from_secs(5));
    setup.demand = true;
    let outside = Outside::new(setup, declaration("good"));
    assert_eq!(
        code(outside.tools.run("mcp_s_echo", json!({})).await),
        ErrorCode::McpUnconfined,
        "reading too is refused with its own code"
    );
    let refused = outside.tools.prepare("mcp_s_write", json!({"path": "b.txt", "content": "x"})).await;
    assert_eq!(code(refused), ErrorCode::McpUnconfined, "and no card appears");
}

#[tokio::test]
async fn the_built_in_server_needs_no_process() {
    let outside = Outside::good(Confinement::None);
    let read = outside.tools.run("mcp_workspace-fs_read_text", json!({"path": "a.md"})).await.unwrap();
    assert_eq!(read["text"], json!("inside\n"), "it reads through the guard");
    let effect = outside
        .tools
        .prepare("mcp_workspace-fs_write_text", json!({"path": "b.md", "content": "x"}))
        .await
        .unwrap();
    assert_eq!(written(effect), ("b.md".to_owned(), b"x".to_vec()), "its write is an ordinary write");
    for (path, expected) in [
        ("../x.md", ErrorCode::PathParent),
        ("memory/MEMORY.md", ErrorCode::PathProtected),
        ("x.sh", ErrorCode::PathExtension),
    ] {
        let arguments = json!({"path": path, "content": "x"});
        let refused = outside.tools.prepare("mcp_workspace-fs_write_text", arguments).await;
        assert_eq!(code(refused), expected, "{path}");
    }
}

/// Every row through outside tools: a reader and a writer with a real process, and the built-in server.
#[test]
fn every_row_holds_on_every_outside_tool() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    let door = |name: &'static str, kind: DoorKind, arguments: fn(&str) -> Value| {
        Door::new(name, kind, move |stage| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let setup = setup(Confinement::of_this_computer(), Duration::from_secs(20));
            let tools = tools_on(&stage.workspace(), &stage.data().join("undo"), setup, declaration("good"));
            Box::new(move |path| {
                let arguments = arguments(path);
                let writes = name.contains("write");
                let result = runtime.block_on(async {
                    if writes { tools.write(name, arguments).await } else { tools.run(name, arguments).await }
                });
                match result {
                    Ok(value) => Answer::allowed(value.to_string()),
                    Err(error) => Answer::refused(format!("{} [{}]", error.message, error.code)),
                }
            })
        })
    };
    let path = |path: &str| json!({ "path": path });
    let both = |path: &str| json!({"path": path, "content": "written"});
    let doors = [
        door("mcp_s_read", DoorKind::Other, path),
        door("mcp_s_read_paths", DoorKind::Other, |path| json!({"paths": [path]})),
        door("mcp_workspace-fs_read_text", DoorKind::Read, path),
        door("mcp_workspace-fs_write_text", DoorKind::Write, both),
    ];
    let Report { tried, skipped, mut wrong } = escapes::run(&rows, &doors, Mounts::Skip);
    // Left out for the writer: somebody who swaps a folder for a link to memory/ while an approved program writes. Landlock
    // cannot take one folder out of a writable one; what happened is noticed after the call and can be undone.
    let into_memory = |step: &Setup| matches!(step, Setup::Race { swap, .. } if swap.iter().any(|name| name.contains("memory")));
    let mut without = rows.clone();
    without.retain(|row| !row.setup.iter().any(into_memory));
    assert_eq!(rows.len() - without.len(), 1, "one row alone is left out");
    let writer = escapes::run(&without, &[door("mcp_s_write", DoorKind::Stricter, both)], Mounts::Skip);
    wrong.extend(writer.wrong);
    let tried = tried + writer.tried;
    println!("{} rows, {tried} tried, {} skipped, {} wrong", rows.len(), skipped.len(), wrong.len());
    assert_eq!(wrong, Vec::<String>::new(), "every verdict and invariant holds");
    assert!(tried > 0, "the rows must have been tried");
}

#[test]
fn a_declaration_cannot_be_made_by_the_workspace() {
    let outside = Outside::good(Confinement::None);
    let inside = outside.base().join("ws/server.py");
    std::fs::write(&inside, "print()\n").unwrap();
    let value = json!({"command": "python3", "args": [inside], "tools": {"t": {"capability": "x:read"}}});
    let base = outside.base();
    let server = read_server("s", &value).unwrap();
    let tools = tools_on(
        &base.join("ws"),
        &base.join("undo"),
        setup(Confinement::None, Duration::from_secs(5)),
        server,
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(tools.run("mcp_s_t", json!({}))).unwrap_err();
    assert_eq!(error.code, ErrorCode::McpNotStarted, "a program of the workspace is never started");
    assert!(error.message.contains("in the workspace"), "and it is said why: {}", error.message);
}
