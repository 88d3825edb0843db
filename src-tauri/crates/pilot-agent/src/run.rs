//! The bounded loop. (Contract of the types; see `run_task`.)

use crate::{Clock, EventSink, Gate, ModelProvider, ToolRegistry};
use pilot_types::{ErrorCode, Message, PreparedEffect, TaskId, TaskLimits, TokenUsage, ToolCall};
use tokio_util::sync::CancellationToken;

/// Where a run begins: at the start, after an approved call, or after a crash.
#[derive(Clone, Debug, Default)]
pub struct RunStart {
    /// The conversation so far, rebuilt from the record.
    pub messages: Vec<Message>,
    /// Calls of the last answer that have no result yet, in order.
    pub pending: Vec<ToolCall>,
    /// Model calls so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
}

/// Why and where a run stopped for a person. Committed together with the approval before anyone is told.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The call that waits.
    pub call: ToolCall,
    /// Exactly what it would do.
    pub effect: PreparedEffect,
    /// Calls of the same answer that come after it.
    pub rest: Vec<ToolCall>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Model calls so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum RunOutcome {
    /// The model had nothing more to do; its last words.
    Completed {
        /// The last words.
        text: String,
    },
    /// A call waits for a person.
    Paused(Box<Checkpoint>),
    /// The task cannot go on.
    Failed {
        /// Code.
        code: ErrorCode,
        /// Words: what happened and what was left undone.
        detail: String,
    },
    /// The person stopped it.
    Cancelled,
    /// The provider is out of reach or the record cannot be kept; the task can be resumed.
    Interrupted {
        /// Code.
        code: ErrorCode,
        /// Words for the log.
        detail: String,
    },
}

/// What a run is given.
pub struct RunPorts<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// The model.
    pub provider: &'a dyn ModelProvider,
    /// The tools.
    pub tools: &'a ToolRegistry,
    /// The gate.
    pub gate: &'a dyn Gate,
    /// The record.
    pub sink: &'a dyn EventSink,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Bounds over the task's life.
    pub limits: TaskLimits,
    /// Fires to stop at the next await.
    pub cancel: CancellationToken,
}
