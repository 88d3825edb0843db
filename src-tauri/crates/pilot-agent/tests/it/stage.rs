//! A stage for the loop: a model that plays prepared answers, tools that do as they are told, a record in memory.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use pilot_agent::{
    AuthorizedCall, Clock, DeltaSink, EventSink, Gate, ModelAnswer, ModelError, ModelProvider, ModelRequest,
    RunOutcome, RunPorts, RunStart, SinkError, Tool, ToolContext, ToolError, ToolRegistry, run_task,
};
use pilot_types::{
    CallId, Capability, ErrorCode, Event, Message, PreparedEffect, Risk, TaskId, TaskLimits, TokenUsage,
    ToolCall, ToolSpec, Verdict,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One turn of the prepared model.
pub(crate) enum Turn {
    Answer(ModelAnswer),
    Fail(ErrorCode),
    /// Does not answer; the run must end it.
    Hang,
    Panic,
}

/// A model that plays its turns and remembers what it was asked.
pub(crate) struct PreparedModel {
    turns: Mutex<VecDeque<Turn>>,
    pub(crate) seen: Mutex<Vec<Vec<Message>>>,
}

#[async_trait]
impl ModelProvider for PreparedModel {
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        self.seen.lock().unwrap().push(request.messages.to_vec());
        let turn = self.turns.lock().unwrap().pop_front();
        match turn {
            Some(Turn::Answer(answer)) => {
                deltas.text(&answer.text);
                Ok(answer)
            }
            Some(Turn::Fail(code)) => Err(ModelError::new(code, "as prepared")),
            Some(Turn::Hang) => {
                cancel.cancelled().await;
                std::future::pending().await
            }
            Some(Turn::Panic) => panic!("as prepared"),
            None => Err(ModelError::new(ErrorCode::ScriptExhausted, "no further turn is prepared")),
        }
    }
}

/// A record in memory; each append is one batch.
#[derive(Default)]
pub(crate) struct MemorySink {
    pub(crate) batches: Mutex<Vec<Vec<Event>>>,
    pub(crate) deltas: Mutex<String>,
    pub(crate) told_to_stop: AtomicBool,
    /// Appends that still work; `None` for all.
    pub(crate) works_for: Mutex<Option<usize>>,
}

impl DeltaSink for MemorySink {
    fn text(&self, piece: &str) {
        self.deltas.lock().unwrap().push_str(piece);
    }
}

#[async_trait]
impl EventSink for MemorySink {
    async fn append(&self, events: Vec<Event>) -> Result<(), SinkError> {
        if let Some(left) = self.works_for.lock().unwrap().as_mut() {
            if *left == 0 {
                return Err(SinkError { code: ErrorCode::DiskFull, detail: "as prepared".to_owned() });
            }
            *left -= 1;
        }
        self.batches.lock().unwrap().push(events);
        Ok(())
    }

    async fn cancel_requested(&self) -> Result<bool, SinkError> {
        Ok(self.told_to_stop.load(Ordering::SeqCst))
    }
}

/// Time as the runtime has it, so that paused time counts as running.
pub(crate) struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Decides by the capability alone; `denied:*` is denied, `gone:*` stands for a folder that is not there.
pub(crate) struct SuffixGate;

#[async_trait]
impl Gate for SuffixGate {
    async fn decide(&self, spec: &ToolSpec, _call: &ToolCall) -> Verdict {
        let reason = "as prepared".to_owned();
        match spec.capability.as_str() {
            "file:read" => Verdict::Allow { reason },
            "file:write" => Verdict::RequireApproval { reason },
            "gone:read" => Verdict::Deny { code: ErrorCode::WorkspaceGone, reason },
            _ => Verdict::Deny { code: ErrorCode::PolicyDenied, reason },
        }
    }
}

/// A tool that does what its `do` argument says and counts how often it ran.
pub(crate) struct PreparedTool {
    spec: ToolSpec,
    pub(crate) runs: Mutex<Vec<Value>>,
    pub(crate) stopped: Arc<AtomicBool>,
}

impl PreparedTool {
    fn new(name: &str, capability: &str) -> Arc<Self> {
        Arc::new(Self {
            spec: ToolSpec {
                name: name.to_owned(),
                description: format!("{name} of the stage"),
                capability: Capability::declared(capability),
                risk: Risk::Low,
                parameters: json!({
                    "type": "object",
                    "properties": { "path": { "type": "string" }, "do": { "type": "string" } },
                    "required": ["path"],
                    "additionalProperties": false
                }),
                path_fields: Vec::new(),
            },
            runs: Mutex::new(Vec::new()),
            stopped: Arc::default(),
        })
    }
}

#[async_trait]
impl Tool for PreparedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, call: &ToolCall, _context: &ToolContext) -> Result<PreparedEffect, ToolError> {
        match call.arguments["do"].as_str() {
            Some("refuse") => Err(ToolError::new(ErrorCode::PathExtension, "only md, csv and xlsx")),
            Some("hang") => std::future::pending().await,
            Some("panic") => panic!("as prepared"),
            Some("lose") => Err(ToolError::new(ErrorCode::WorkspaceGone, "the folder is not there now")),
            Some(_) | None => Ok(PreparedEffect::WriteFile {
                path: call.arguments["path"].as_str().unwrap_or_default().to_owned(),
                bytes: b"bytes".to_vec(),
                base: None,
            }),
        }
    }

    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError> {
        let arguments = call.call().arguments.clone();
        self.runs.lock().unwrap().push(arguments.clone());
        match arguments["do"].as_str() {
            Some("fail") => Err(ToolError::new(ErrorCode::NotFound, "nothing there")),
            Some("lose") => Err(ToolError::new(ErrorCode::WorkspaceGone, "the folder is not there now")),
            Some("panic") => panic!("as prepared"),
            Some("hang") => {
                let (cancel, stopped) = (context.cancel.clone(), Arc::clone(&self.stopped));
                tokio::spawn(async move {
                    cancel.cancelled().await;
                    stopped.store(true, Ordering::SeqCst);
                });
                std::future::pending().await
            }
            Some("count") => Ok(format!("run {}", self.runs.lock().unwrap().len())),
            Some(_) | None => Ok(format!("content of {}", arguments["path"].as_str().unwrap_or_default())),
        }
    }
}

/// Everything that one run needs.
pub(crate) struct Stage {
    pub(crate) task: TaskId,
    pub(crate) model: PreparedModel,
    pub(crate) sink: MemorySink,
    pub(crate) clock: RuntimeClock,
    pub(crate) reader: Arc<PreparedTool>,
    pub(crate) writer: Arc<PreparedTool>,
    pub(crate) denied: Arc<PreparedTool>,
    pub(crate) limits: TaskLimits,
    pub(crate) cancel: CancellationToken,
    tools: ToolRegistry,
}

impl Stage {
    pub(crate) fn new(turns: Vec<Turn>) -> Self {
        let reader = PreparedTool::new("read_file", "file:read");
        let writer = PreparedTool::new("write_file", "file:write");
        let denied = PreparedTool::new("shell", "file:admin");
        let mut tools = ToolRegistry::new();
        for tool in [&reader, &writer, &denied, &PreparedTool::new("gone", "gone:read")] {
            tools.register(Arc::clone(tool) as Arc<dyn Tool>).unwrap();
        }
        Self {
            task: TaskId::from_text("task"),
            model: PreparedModel { turns: Mutex::new(turns.into()), seen: Mutex::default() },
            sink: MemorySink::default(),
            clock: RuntimeClock(Instant::now()),
            reader,
            writer,
            denied,
            limits: TaskLimits::default(),
            cancel: CancellationToken::new(),
            tools,
        }
    }

    /// Plays a run that begins with a goal.
    pub(crate) async fn play(&self) -> RunOutcome {
        self.play_from(start()).await
    }

    pub(crate) async fn play_from(&self, start: RunStart) -> RunOutcome {
        let ports = RunPorts {
            task: &self.task,
            provider: &self.model,
            tools: &self.tools,
            gate: &SuffixGate,
            sink: &self.sink,
            clock: &self.clock,
            limits: self.limits,
            cancel: self.cancel.clone(),
        };
        run_task(start, &ports).await
    }

    /// All events in order.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.sink.batches.lock().unwrap().concat()
    }

    /// Names of the events of each append.
    pub(crate) fn appends(&self) -> Vec<Vec<String>> {
        self.sink.batches.lock().unwrap().iter().map(|batch| batch.iter().map(short).collect()).collect()
    }

    /// `ok` and code of each result in order.
    pub(crate) fn results(&self) -> Vec<(bool, Option<ErrorCode>)> {
        let pick = |event: Event| match event {
            Event::ToolResult { ok, code, .. } => Some((ok, code)),
            _ => None,
        };
        self.events().into_iter().filter_map(pick).collect()
    }
}

fn short(event: &Event) -> String {
    match event {
        Event::ModelAnswer { step, .. } => format!("answer {step}"),
        Event::ToolStarted { call_id, .. } => format!("started {call_id}"),
        Event::ToolResult { call_id, ok, .. } => format!("result {call_id} {ok}"),
        Event::PolicyDenied { call_id, .. } => format!("denied {call_id}"),
        other => format!("{other:?}"),
    }
}

/// The start of a task.
pub(crate) fn start() -> RunStart {
    RunStart {
        messages: vec![
            Message::System { text: "rules".to_owned() },
            Message::User { text: "goal".to_owned() },
        ],
        ..RunStart::default()
    }
}

/// An answer with words only.
pub(crate) fn say(text: &str) -> Turn {
    Turn::Answer(ModelAnswer { text: text.to_owned(), calls: Vec::new(), usage: usage() })
}

/// An answer that asks for calls.
pub(crate) fn ask(calls: Vec<ToolCall>) -> Turn {
    Turn::Answer(ModelAnswer { text: String::new(), calls, usage: usage() })
}

pub(crate) fn usage() -> TokenUsage {
    TokenUsage { input: 100, output: 10, estimated: false }
}

pub(crate) fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId::from_text(id), tool: tool.to_owned(), arguments, problem: None }
}

pub(crate) fn read(id: &str, path: &str) -> ToolCall {
    call(id, "read_file", json!({ "path": path }))
}

pub(crate) fn write(id: &str, path: &str) -> ToolCall {
    call(id, "write_file", json!({ "path": path }))
}

/// The code of an outcome that failed.
pub(crate) fn failure(outcome: &RunOutcome) -> (ErrorCode, &str) {
    match outcome {
        RunOutcome::Failed { code, detail } => (*code, detail),
        other => panic!("the run should have failed, it ended as {other:?}"),
    }
}
