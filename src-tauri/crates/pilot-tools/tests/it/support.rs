//! A folder with everything that tools need.

use pilot_agent::{ApprovalGrant, AuthorizedCall, ToolContext, ToolError, ToolRegistry};
use pilot_guard::{UndoLimits, UndoStore, WorkspaceGuard};
use pilot_tools::mcp::McpDeps;
use pilot_tools::{Extraction, SkillSet, ToolDeps, WorkerCommand, WorkerLimits, build_tool_registry};
use pilot_types::{CallId, ErrorCode, OperationId, PreparedEffect, TaskId, ToolCall, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Tools on a folder.
pub(crate) struct Tools {
    pub(crate) guard: WorkspaceGuard,
    pub(crate) undo: Arc<UndoStore>,
    pub(crate) registry: ToolRegistry,
    pub(crate) context: ToolContext,
}

/// A workspace of one test.
pub(crate) struct Folder {
    dir: TempDir,
    _undo_dir: TempDir,
    tools: Tools,
}

impl std::ops::Deref for Folder {
    type Target = Tools;

    fn deref(&self) -> &Tools {
        &self.tools
    }
}

impl Folder {
    /// Without a document worker.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let none = WorkerCommand { program: "/nonexistent/worker".into(), args: vec![] };
        Self::with_worker(files, none, WorkerLimits::default())
    }

    /// With the real document worker.
    pub(crate) fn with_documents(files: &[(&str, &[u8])]) -> Self {
        Self::with_worker(files, document_worker(), WorkerLimits::default())
    }

    pub(crate) fn with_worker(files: &[(&str, &[u8])], command: WorkerCommand, limits: WorkerLimits) -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let root = dir.path().canonicalize().expect("its real path");
        for (path, bytes) in files {
            put(&root, path, bytes);
        }
        let undo_dir = TempDir::new().expect("a temporary folder");
        let tools = Tools::on(&root, &undo_dir.path().join("undo"), Extraction::new(command, limits));
        Self { dir, _undo_dir: undo_dir, tools }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub(crate) fn put(&self, relative: &str, bytes: &[u8]) {
        put(self.dir.path(), relative, bytes);
    }

    pub(crate) fn read(&self, relative: &str) -> Vec<u8> {
        std::fs::read(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// All files and folders below the root with their sizes, sorted.
    pub(crate) fn manifest(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        let mut todo = vec![self.dir.path().to_owned()];
        while let Some(folder) = todo.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                let facts = entry.path().symlink_metadata().expect("facts");
                if facts.is_dir() {
                    todo.push(entry.path());
                }
                let name = entry.path().strip_prefix(self.dir.path()).expect("inside").display().to_string();
                found.push((name, if facts.is_file() { facts.len() } else { 0 }));
            }
        }
        found.sort();
        found
    }
}

impl Tools {
    pub(crate) fn on(root: &Path, undo_dir: &Path, extraction: Extraction) -> Self {
        let limit = std::time::Duration::from_secs(5);
        let setup = Arc::new(crate::mcp_support::setup(pilot_tools::mcp::Confinement::None, limit));
        let mcp = McpDeps { setup, servers: BTreeMap::new(), built_in: false };
        Self::with_mcp(root, undo_dir, extraction, mcp)
    }

    pub(crate) fn with_mcp(root: &Path, undo_dir: &Path, extraction: Extraction, mcp: McpDeps) -> Self {
        let guard = WorkspaceGuard::open(root).expect("a workspace");
        let undo = Arc::new(UndoStore::open(undo_dir, UndoLimits::default()).expect("a store"));
        let deps = ToolDeps {
            guard: guard.clone(),
            undo: Arc::clone(&undo),
            extraction: Arc::new(extraction),
            skills: Arc::new(SkillSet::load(None, Some(&guard))),
            mcp,
            chinese: false,
        };
        let context = ToolContext { cancel: CancellationToken::new() };
        Self { guard, undo, registry: build_tool_registry(&deps), context }
    }

    /// Runs a reading tool as the loop would after policy allowed it.
    pub(crate) async fn run(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let verdict = Verdict::Allow { reason: "a test".into() };
        let call = AuthorizedCall::allowed(call(tool, arguments), &verdict).expect("an allowed call");
        self.tool(tool).run(call, &self.context).await.map(|text| parse(&text))
    }

    pub(crate) async fn prepare(&self, tool: &str, arguments: Value) -> Result<PreparedEffect, ToolError> {
        self.tool(tool).prepare(&call(tool, arguments), &self.context).await
    }

    /// Prepares a write and carries it out as if a person had said yes.
    pub(crate) async fn write(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let effect = self.prepare(tool, arguments.clone()).await?;
        self.perform(tool, arguments, effect).await
    }

    pub(crate) async fn perform(
        &self,
        tool: &str,
        arguments: Value,
        effect: PreparedEffect,
    ) -> Result<Value, ToolError> {
        let (task, call) = (TaskId::new(), call(tool, arguments));
        let grant =
            ApprovalGrant::after_decision(task.clone(), call.id.clone(), call.digest(), OperationId::new());
        let granted = AuthorizedCall::granted(&task, call, effect, grant).expect("a grant for this call");
        self.tool(tool).run(granted, &self.context).await.map(|text| parse(&text))
    }

    fn tool(&self, name: &str) -> &Arc<dyn pilot_agent::Tool> {
        self.registry.get(name).unwrap_or_else(|| panic!("no tool {name}"))
    }
}

fn put(root: &Path, relative: &str, bytes: &[u8]) {
    let path = root.join(relative);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    std::fs::write(path, bytes).expect("a file");
}

pub(crate) fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId::from_text("c1"), tool: tool.to_owned(), arguments, problem: None }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("a result must be JSON: {error}: {text}"))
}

/// Path and bytes of a prepared write.
pub(crate) fn written(effect: PreparedEffect) -> (String, Vec<u8>) {
    match effect {
        PreparedEffect::WriteFile { path, bytes, .. } => (path, bytes),
        PreparedEffect::Outside { description } => panic!("not a write: {description}"),
    }
}

/// The code of a failure.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, ToolError>) -> ErrorCode {
    match result {
        Ok(value) => panic!("this must fail, and gave {value:?}"),
        Err(error) => error.code,
    }
}

/// The document worker of the tests: the example of this package, which cargo builds along with the tests.
pub(crate) fn document_worker() -> WorkerCommand {
    let tests = std::env::current_exe().expect("the test program");
    let built =
        tests.parent().and_then(Path::parent).expect("target folder").join("examples/document_worker");
    assert!(built.exists(), "build the examples too: cargo test -p pilot-tools, without choosing targets");
    WorkerCommand { program: built, args: vec![pilot_documents::worker::ARGUMENT.to_owned()] }
}

/// The same worker behind a stand-in that crashes, hangs or runs out of memory by the name of the document.
pub(crate) fn hostile_worker() -> WorkerCommand {
    WorkerCommand { args: vec!["hostile".to_owned()], ..document_worker() }
}
