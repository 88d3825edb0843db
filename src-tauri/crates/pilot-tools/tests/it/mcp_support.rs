//! Outside servers for tests: the stand-in of `examples/outside_server.rs`, and what a declaration of it looks like.

use crate::support::Tools;
use pilot_tools::mcp::{
    Confinement, McpDeps, McpLimits, McpSetup, SUPERVISOR_ARGUMENT, ServerDeclaration, read_server,
};
use pilot_tools::{Extraction, WorkerCommand, WorkerLimits};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A workspace with one server, and a secret beside it.
pub(crate) struct Outside {
    pub(crate) dir: TempDir,
    pub(crate) tools: Tools,
}

/// The stand-in's program.
pub(crate) fn stand_in() -> PathBuf {
    let tests = std::env::current_exe().expect("the test program");
    let built = tests.parent().and_then(Path::parent).expect("target folder").join("examples/outside_server");
    assert!(built.exists(), "build the examples too: cargo test -p pilot-tools, without choosing targets");
    built
}

pub(crate) fn setup(confinement: Confinement, call: Duration) -> McpSetup {
    McpSetup {
        supervisor: WorkerCommand { program: stand_in(), args: vec![SUPERVISOR_ARGUMENT.to_owned()] },
        limits: McpLimits { call, grace: Duration::from_millis(100), ..McpLimits::default() },
        confinement,
        demand: false,
        off_limits: Vec::new(),
    }
}

/// The stand-in with tools of every kind.
pub(crate) fn declaration(behaviour: &str) -> ServerDeclaration {
    let path = json!({"type": "string", "path": true, "required": true});
    let text = json!({"type": "string"});
    let value = json!({
        "command": stand_in(), "args": [behaviour], "env": ["CARGO_PKG_NAME"],
        "tools": {
            "echo": {"capability": "x:read", "input_fields": {"text": text}},
            "read": {"capability": "file:read", "input_fields": {"path": path}},
            "read_paths": {"capability": "file:read", "input_fields": {
                "paths": {"type": "array", "items": {"type": "string"}, "path": true, "required": true}}},
            "write": {"capability": "file:write", "input_fields": {"path": path, "content": text}},
            "read_anything": {"capability": "file:read", "input_fields": {"target": text}},
            "list_anything": {"capability": "file:list", "input_fields": {"target": text}},
            "write_anything": {"capability": "file:write", "input_fields": {"target": text, "content": text}},
            "remove_anything": {"capability": "file:delete", "input_fields": {"target": text}},
            "connect": {"capability": "net:execute", "input_fields": {"address": text}},
            "environment": {"capability": "x:read"},
            "run_anything": {"capability": "x:execute", "input_fields": {"target": text}},
            "get_hinted": {}, "mystery": {}, "hinted": {"annotations": {"readOnlyHint": true}}
        }
    });
    let mut declared = read_server("s", &value).expect("a good declaration");
    // The same program call with TCP allowed.
    let mut network = declared.tools["connect"].clone();
    network.capability = Some("net:network".to_owned());
    declared.tools.insert("connect_allowed".to_owned(), network);
    declared
}

impl Outside {
    pub(crate) fn new(setup: McpSetup, server: ServerDeclaration) -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let base = dir.path().canonicalize().expect("its real path");
        for (path, text) in [("ws/a.md", "inside\n"), ("secret.md", "CANARY\n")] {
            std::fs::create_dir_all(base.join(path).parent().expect("a parent")).expect("folders");
            std::fs::write(base.join(path), text).expect("a file");
        }
        let tools = tools_on(&base.join("ws"), &base.join("undo"), setup, server);
        Self { dir, tools }
    }

    pub(crate) fn good(confinement: Confinement) -> Self {
        Self::new(setup(confinement, Duration::from_secs(20)), declaration("good"))
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("its real path")
    }

    /// Runs a reading tool, or approves and runs any other, and gives the content of its answer.
    pub(crate) async fn ask(&self, tool: &str, arguments: Value) -> Result<String, pilot_agent::ToolError> {
        let name = format!("mcp_s_{tool}");
        let reads = ["read", "list"].map(|suffix| format!(":{suffix}"));
        let capability = self.tools.registry.get(&name).expect("a tool").spec().capability.clone();
        let value = if reads.iter().any(|suffix| capability.as_str().ends_with(suffix)) {
            self.tools.run(&name, arguments).await?
        } else {
            self.tools.write(&name, arguments).await?
        };
        Ok(value["content"].as_str().expect("an answer has content").to_owned())
    }
}

pub(crate) fn tools_on(root: &Path, undo: &Path, setup: McpSetup, server: ServerDeclaration) -> Tools {
    let none = WorkerCommand { program: "/nonexistent/worker".into(), args: vec![] };
    let servers = BTreeMap::from([("s".to_owned(), server)]);
    let mcp = McpDeps { setup: Arc::new(setup), servers, built_in: true };
    Tools::with_mcp(root, undo, Extraction::new(none, WorkerLimits::default()), mcp)
}

/// Landlock as this computer has it; a test that needs it says that it was skipped where there is none.
pub(crate) fn whole() -> Option<Confinement> {
    let found = Confinement::of_this_computer();
    if !found.is_whole() {
        println!("skipped: this kernel cannot confine a program whole ({found:?})");
    }
    Some(found).filter(|found| found.is_whole())
}

/// Processes whose command line names the stand-in below this folder's mark.
pub(crate) fn alive(needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(needle);
        if has(&line) || has(&environ) {
            found.push(format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}
