//! Ports: what the loop needs of the world.

use crate::AuthorizedCall;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use pilot_types::{ErrorCode, Event, Message, PreparedEffect, TokenUsage, ToolCall, ToolSpec, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The conversation. It only ever grows within one run, so a provider may keep what it already encoded.
    pub messages: &'a [Message],
    /// The tools that it may ask for.
    pub tools: &'a [ToolSpec],
}

/// What a model answered, whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    /// Words.
    pub text: String,
    /// Calls, in order. A call that must not run carries its [`CallProblem`](pilot_types::CallProblem).
    pub calls: Vec<ToolCall>,
    /// Tokens.
    pub usage: TokenUsage,
}

/// Why a model could not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct ModelError {
    /// Code for the person.
    pub code: ErrorCode,
    /// Words for the log; never a key, never a body of a request.
    pub detail: String,
}

impl ModelError {
    /// An error with a code and words for the log.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// Where streaming text goes. Nothing of it is stored.
pub trait DeltaSink: Send + Sync {
    /// The next piece of text.
    fn text(&self, piece: &str);
}

/// A model.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// One model call. Streams text to `deltas`; answers only when the answer is whole. Must return promptly with
    /// [`ErrorCode::Cancelled`] once `cancel` fires. Retries, if any, are the provider's own and bounded.
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError>;
}

/// Why a tool could not do a call. Goes back to the model as a failed result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// Code.
    pub code: ErrorCode,
    /// Words for the model; never a path outside the workspace.
    pub message: String,
}

impl ToolError {
    /// An error with words for the model.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What a tool may know of the run it works for.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Fires when the task is stopped; a tool that takes longer than a moment looks at it.
    pub cancel: CancellationToken,
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it says about itself.
    fn spec(&self) -> &ToolSpec;

    /// Works out, without any effect, exactly what the call would do. Called before a card is shown; an error goes to
    /// the model and no card appears. Tools without side effects keep the default, which refuses.
    async fn prepare(&self, call: &ToolCall, context: &ToolContext) -> Result<PreparedEffect, ToolError> {
        let _ = (call, context);
        Err(ToolError::new(ErrorCode::ToolFailed, "this tool has no effect to approve"))
    }

    /// Runs the call. A tool with side effects performs exactly `call.effect()` and nothing else.
    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError>;
}

/// The tools of one run.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl ToolRegistry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool; a second tool of the same name is refused.
    ///
    /// # Errors
    /// The name, when it is taken.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), String> {
        let name = tool.spec().name.clone();
        if self.tools.contains_key(&name) {
            return Err(name);
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// A tool by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All specifications, by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }
}

/// Decides whether a call may run: guard on every path argument first, then policy.
#[async_trait]
pub trait Gate: Send + Sync {
    /// The verdict on one call.
    async fn decide(&self, spec: &ToolSpec, call: &ToolCall) -> Verdict;
}

/// The record could not be kept. The loop stops at once: what is not recorded did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct SinkError {
    /// Code.
    pub code: ErrorCode,
    /// Words for the log.
    pub detail: String,
}

/// Where events go. Returns only when they are durable.
#[async_trait]
pub trait EventSink: DeltaSink {
    /// Appends events in order, in one durable step.
    async fn append(&self, events: Vec<Event>) -> Result<(), SinkError>;

    /// True when the person asked to stop the task (also from another process). Looked at before each model call
    /// and each tool call.
    async fn cancel_requested(&self) -> Result<bool, SinkError>;
}

/// Time.
pub trait Clock: Send + Sync {
    /// Now, for records.
    fn now(&self) -> DateTime<Utc>;

    /// Time since some fixed moment, for durations; never goes back.
    fn monotonic(&self) -> Duration;
}

/// The computer's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: std::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}
