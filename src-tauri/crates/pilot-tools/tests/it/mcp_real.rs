//! Real servers from the package registry, installed by `scripts/deps.sh test` into `tests/mcp`.

use crate::mcp_support::{setup, tools_on, whole};
use crate::support::{Tools, code};
use pilot_agent::ToolContext;
use pilot_tools::mcp::{Confinement, ServerDeclaration, greet, read_server};
use pilot_types::{ErrorCode, PreparedEffect};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A runtime such as Node takes its time on a busy machine; nothing here is about time.
const CALL: Duration = Duration::from_secs(60);

fn package(name: &str) -> Option<PathBuf> {
    let packages =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/mcp/node_modules/@modelcontextprotocol");
    let script = packages.join(name).join("dist/index.js");
    if !script.exists() {
        println!("skipped: the real servers are not installed; run make deps-test");
    }
    script.canonicalize().ok()
}

/// `server-filesystem` as a person would declare it: the folder that it serves is its current one.
fn filesystem(script: &Path, served: &str) -> ServerDeclaration {
    let path = json!({"type": "string", "path": true, "required": true});
    let text = json!({"type": "string", "required": true});
    let value = json!({
        "command": "node", "args": [script, served],
        "tools": {
            "read_text_file": {"annotations": {"readOnlyHint": true}, "input_fields": {"path": path}},
            "list_directory": {"capability": "file:list", "input_fields": {"path": path}},
            "write_file": {"capability": "file:write", "input_fields": {"path": path, "content": text}},
            "create_directory": {"capability": "file:create", "input_fields": {"path": path}},
            "move_file": {"capability": "file:update", "input_fields": {"source": path, "destination": path}},
            // A declaration with a mistake in it: here the path is not said to be one.
            "read_multiple_files": {"capability": "file:read", "input_fields": {
                "paths": {"type": "array", "items": {"type": "string"}, "required": true}}}
        }
    });
    read_server("files", &value).unwrap()
}

struct Bench {
    dir: TempDir,
    tools: Tools,
}

impl Bench {
    fn new(confinement: Confinement, server: ServerDeclaration) -> Self {
        let dir = TempDir::new().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("ws/发票")).unwrap();
        std::fs::write(base.join("ws/发票/a.md"), "inside\n").unwrap();
        std::fs::write(base.join("secret.md"), "CANARY\n").unwrap();
        let tools = tools_on(&base.join("ws"), &base.join("undo"), setup(confinement, CALL), server);
        Self { dir, tools }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(relative)
    }
}

fn content(value: &Value) -> &str {
    value["content"].as_str().unwrap()
}

#[tokio::test]
async fn the_filesystem_server_reads_freely_and_asks_before_it_writes() {
    let Some(script) = package("server-filesystem") else { return };
    let Some(whole) = whole() else { return };
    let bench = Bench::new(whole, filesystem(&script, "."));
    let tools = &bench.tools;
    let read = tools.run("mcp_s_read_text_file", json!({"path": "发票/a.md"})).await.unwrap();
    assert_eq!(content(&read), "inside\n", "its read runs");
    let listed = tools.run("mcp_s_list_directory", json!({"path": "."})).await.unwrap();
    assert!(content(&listed).contains("[DIR] 发票"), "so does its listing: {listed}");

    let arguments = json!({"path": "report.md", "content": "# Report\n"});
    let effect = tools.prepare("mcp_s_write_file", arguments.clone()).await.unwrap();
    assert!(matches!(effect, PreparedEffect::Outside { .. }), "its write asks: {effect:?}");
    assert!(!bench.path("ws/report.md").exists(), "and nothing is written before");
    tools.perform("mcp_s_write_file", arguments, effect).await.unwrap();
    assert_eq!(std::fs::read_to_string(bench.path("ws/report.md")).unwrap(), "# Report\n", "then it is");
    tools.write("mcp_s_create_directory", json!({"path": "out"})).await.unwrap();
    tools
        .write("mcp_s_move_file", json!({"source": "report.md", "destination": "out/report.md"}))
        .await
        .unwrap();
    assert!(bench.path("ws/out/report.md").exists(), "folders and moves work within the workspace");
}

#[tokio::test]
async fn paths_that_lead_out_stop_before_the_server_starts() {
    let Some(script) = package("server-filesystem") else { return };
    let mut server = filesystem(&script, ".");
    // It serves the folder above too, so only the guard stands in the way; and it would leave a trace of its start.
    server.args[1] = "..".to_owned();
    let bench = Bench::new(Confinement::None, server);
    let secret = bench.path("secret.md").display().to_string();
    for (path, expected) in
        [("../secret.md", ErrorCode::PathParent), (secret.as_str(), ErrorCode::PathAbsolute)]
    {
        let listed = bench.tools.run("mcp_s_list_directory", json!({ "path": path })).await;
        assert_eq!(code(listed), expected, "reading {path}");
        let arguments = json!({"path": path, "content": "x"});
        assert_eq!(
            code(bench.tools.prepare("mcp_s_write_file", arguments).await),
            expected,
            "writing {path}"
        );
    }
    // The control: through a field that is not declared as a path, the same server does read the file.
    let control = bench.tools.run("mcp_s_read_multiple_files", json!({"paths": [secret]})).await.unwrap();
    assert!(content(&control).contains("CANARY"), "without the guard's look it is read: {control}");
}

#[tokio::test]
async fn a_server_started_with_a_wrong_root_is_stopped_by_the_kernel() {
    let Some(script) = package("server-filesystem") else { return };
    let Some(whole) = whole() else { return };
    for (confinement, stopped) in [(whole, true), (Confinement::None, false)] {
        let bench = Bench::new(confinement, filesystem(&script, "."));
        let base = bench.path(".").canonicalize().unwrap();
        // Started by hand for the whole folder above the workspace.
        let server = filesystem(&script, &base.display().to_string());
        let tools = tools_on(&base.join("ws"), &base.join("undo"), setup(confinement, CALL), server);
        let secret = base.join("secret.md").display().to_string();
        let result = tools.run("mcp_s_read_multiple_files", json!({"paths": [secret]})).await;
        let leaked = result.as_ref().is_ok_and(|value| content(value).contains("CANARY"));
        assert_eq!(!leaked, stopped, "{confinement:?}: {result:?}");
    }
}

#[tokio::test]
async fn the_everything_server_is_understood() {
    let Some(script) = package("server-everything") else { return };
    let value = json!({"command": "node", "args": [script, "stdio"], "tools": {
        "echo": {"capability": "x:read", "input_fields": {"message": {"type": "string", "required": true}}},
        "get-sum": {"capability": "x:read", "input_fields": {"a": {"type": "number"}, "b": {"type": "number"}}},
        "get-tiny-image": {"capability": "x:read"},
        "get-env": {"capability": "x:read"}
    }});
    let server = read_server("everything", &value).unwrap();
    let bench = Bench::new(Confinement::of_this_computer(), server.clone());
    let echoed = bench.tools.run("mcp_s_echo", json!({"message": "你好"})).await.unwrap();
    assert!(content(&echoed).contains("你好"), "text comes back: {echoed}");
    let sum = bench.tools.run("mcp_s_get-sum", json!({"a": 2, "b": 3})).await.unwrap();
    assert!(content(&sum).contains('5'), "numbers arrive as numbers: {sum}");
    let image = bench.tools.run("mcp_s_get-tiny-image", json!({})).await.unwrap();
    assert!(content(&image).contains("[image/png, about"), "a picture is named, not passed on: {image}");
    let env = bench.tools.run("mcp_s_get-env", json!({})).await.unwrap();
    assert!(!content(&env).contains("CARGO"), "it sees none of our variables: {env}");

    let context = ToolContext { cancel: CancellationToken::new() };
    let setup = setup(Confinement::of_this_computer(), CALL);
    let greeting = greet(&setup, &server, &bench.path("ws"), &context).await.unwrap();
    assert!(!greeting.name.is_empty() && !greeting.version.is_empty(), "it says who it is: {greeting:?}");
}
