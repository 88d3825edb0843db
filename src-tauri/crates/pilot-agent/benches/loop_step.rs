//! What the loop itself costs: a task of N reading steps against a model, a tool and a record that cost nothing.
//! The figure of interest is the time a step, and that it is the same for 100 and for 1,000 steps.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use async_trait::async_trait;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pilot_agent::{
    AuthorizedCall, DeltaSink, EventSink, Gate, ModelAnswer, ModelError, ModelProvider, ModelRequest,
    RunOutcome, RunPorts, RunStart, SinkError, SystemClock, Tool, ToolContext, ToolError, ToolRegistry,
    run_task,
};
use pilot_types::{
    CallId, Capability, Event, Message, Risk, TaskId, TaskLimits, TokenUsage, ToolCall, ToolSpec, Verdict,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

struct Reads {
    steps: u32,
    played: AtomicU32,
}

#[async_trait]
impl ModelProvider for Reads {
    async fn answer(
        &self,
        _request: ModelRequest<'_>,
        _deltas: &dyn DeltaSink,
        _cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        let step = self.played.fetch_add(1, Ordering::Relaxed);
        let calls = if step == self.steps {
            Vec::new()
        } else {
            vec![ToolCall {
                id: CallId::from_text(format!("c{step}")),
                tool: "read_file".to_owned(),
                arguments: json!({ "path": format!("{step}.txt") }),
                problem: None,
            }]
        };
        Ok(ModelAnswer { text: String::new(), calls, usage: TokenUsage::default() })
    }
}

struct Nowhere;

impl DeltaSink for Nowhere {
    fn text(&self, _piece: &str) {}
}

#[async_trait]
impl EventSink for Nowhere {
    async fn append(&self, _events: Vec<Event>) -> Result<(), SinkError> {
        Ok(())
    }

    async fn cancel_requested(&self) -> Result<bool, SinkError> {
        Ok(false)
    }
}

struct Open;

#[async_trait]
impl Gate for Open {
    async fn decide(&self, _spec: &ToolSpec, _call: &ToolCall) -> Verdict {
        Verdict::Allow { reason: String::new() }
    }
}

struct Sixhundred(ToolSpec);

#[async_trait]
impl Tool for Sixhundred {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        Ok(format!("{}{}", call.call().id, "x".repeat(600)))
    }
}

fn loop_step(criterion: &mut Criterion) {
    let spec = ToolSpec {
        name: "read_file".to_owned(),
        description: String::new(),
        capability: Capability::declared("file:read"),
        risk: Risk::Low,
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        path_fields: Vec::new(),
    };
    let mut tools = ToolRegistry::new();
    tools.register(Arc::new(Sixhundred(spec))).unwrap();
    let task = TaskId::from_text("bench");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("loop_step");
    for steps in [100_u32, 1_000] {
        group.throughput(Throughput::Elements(u64::from(steps)));
        group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
            bencher.iter(|| {
                let provider = Reads { steps, played: AtomicU32::new(0) };
                let ports = RunPorts {
                    task: &task,
                    provider: &provider,
                    tools: &tools,
                    gate: &Open,
                    sink: &Nowhere,
                    clock: &SystemClock::default(),
                    limits: TaskLimits { max_steps: steps + 1, ..TaskLimits::default() },
                    cancel: CancellationToken::new(),
                };
                let start = RunStart {
                    messages: vec![Message::User { text: "goal".to_owned() }],
                    ..RunStart::default()
                };
                let outcome = runtime.block_on(run_task(start, &ports));
                assert!(matches!(outcome, RunOutcome::Completed { .. }), "ended as {outcome:?}");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, loop_step);
criterion_main!(benches);
