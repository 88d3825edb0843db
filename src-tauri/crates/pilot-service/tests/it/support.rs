//! A service on a folder of its own.

use pilot_service::{
    Approve, Confinement, Decider, EnvironmentProvider, Keys, McpLimits, McpOptions, OpenOptions, Probing,
    Service,
};
use pilot_tools::WorkerCommand;
use pilot_types::{
    ApprovalId, Channel, Event, ProviderChoice, Script, ScriptStep, ScriptedCall, TaskId, TaskIntake,
    TaskStatus, WorkspaceId,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A service, its data folder and one workspace.
pub(crate) struct Bench {
    pub(crate) service: Service,
    pub(crate) workspace: WorkspaceId,
    pub(crate) root: PathBuf,
    pub(crate) _data: TempDir,
    pub(crate) _root: TempDir,
}

/// Options for a service on a folder, with keys in memory.
pub(crate) fn options(data: &std::path::Path) -> OpenOptions {
    OpenOptions {
        data_dir: data.to_path_buf(),
        home: None,
        takes_over: false,
        worker: WorkerCommand { program: "/nonexistent/reader".into(), args: Vec::new() },
        skills_dir: None,
        chinese: false,
        clock: Arc::new(pilot_agent::SystemClock::default()),
        keys: Keys::memory_only(),
        environment: EnvironmentProvider::default(),
        probing: Probing::default(),
        mcp: outside_programs(),
        in_memory: false,
        traps: Vec::new(),
    }
}

/// Outside programs below the stand-in of pilot-tools, which cargo builds along with the tests.
fn outside_programs() -> McpOptions {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(std::path::Path::parent).unwrap();
    McpOptions {
        supervisor: WorkerCommand {
            program: target.join("examples/outside_server"),
            args: vec![pilot_tools::mcp::SUPERVISOR_ARGUMENT.to_owned()],
        },
        servers: None,
        limits: McpLimits {
            call: Duration::from_secs(20),
            grace: Duration::from_millis(100),
            ..McpLimits::default()
        },
        confinement: Confinement::of_this_computer(),
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With other options than usual.
    pub(crate) async fn with(change: impl FnOnce(&mut OpenOptions)) -> Self {
        let (data, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let mut options = options(data.path());
        change(&mut options);
        let service = Service::open(options).await.unwrap();
        let view = service.add_workspace(root.path(), None).await.unwrap();
        Self {
            workspace: WorkspaceId::from_text(view.id),
            root: PathBuf::from(view.root),
            service,
            _data: data,
            _root: root,
        }
    }

    pub(crate) fn data(&self) -> &std::path::Path {
        self._data.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.root.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// Every file below the root with its content, for "nothing else changed".
    pub(crate) fn manifest(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.root, &self.root, &mut found);
        found.sort();
        found
    }

    pub(crate) async fn start(&self, steps: Vec<ScriptStep>) -> TaskId {
        let intake = TaskIntake {
            goal: "write the report".to_owned(),
            workspace: self.workspace.clone(),
            channel: Channel::Chat,
            session: None,
            follow_up_of: None,
            provider: Some(ProviderChoice::Scripted {
                label: "test".to_owned(),
                script: Script { version: 1, steps },
            }),
            limits: None,
        };
        TaskId::from_text(self.service.create_task(intake).await.unwrap().id)
    }

    /// Starts a task and runs it to its card.
    pub(crate) async fn to_card(&self, steps: Vec<ScriptStep>) -> (TaskId, ApprovalId) {
        let task = self.start(steps).await;
        let stop = self.service.run_to_stop(&task).await.unwrap();
        assert_eq!(
            stop.status,
            TaskStatus::WaitingApproval,
            "the script asks to write, so the task stops at a card: {stop:?}"
        );
        let card =
            self.service.task(&task).await.unwrap().waiting_approval.expect("a waiting task names its card");
        (task, ApprovalId::from_text(card))
    }

    pub(crate) async fn events(&self, task: &TaskId) -> Vec<Event> {
        self.service.task_events(task, 0).await.unwrap().into_iter().map(|record| record.event).collect()
    }
}

/// The whole record, one JSON object a line.
pub(crate) async fn audit(service: &Service) -> String {
    let mut text = String::new();
    let write = |line: &str| {
        text.push_str(line);
        Ok(())
    };
    service.export_audit(pilot_service::AuditFormat::Jsonl, write).await.unwrap();
    text
}

fn collect(root: &std::path::Path, folder: &std::path::Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

pub(crate) fn say(text: &str) -> ScriptStep {
    ScriptStep { text: text.to_owned(), ..ScriptStep::default() }
}

pub(crate) fn call(name: &str, arguments: Value) -> ScriptStep {
    ScriptStep {
        tool_calls: vec![ScriptedCall { name: name.to_owned(), arguments }],
        ..ScriptStep::default()
    }
}

pub(crate) fn write_step(path: &str, content: &str) -> ScriptStep {
    call("write_file", json!({ "path": path, "content": content }))
}

pub(crate) fn yes(card: &ApprovalId) -> Approve {
    Approve { id: card.clone(), shown: None, arguments: None, by: Decider::Cli }
}
