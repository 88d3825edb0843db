//! The words that every room shares: ids, tasks, calls, capabilities, verdicts, approvals, events, error codes.
//!
//! **What this crate must not know:** files, clocks, databases, networks, models, or which tool exists. It holds
//! plain data with `serde`, the pure functions that give such data an identity (canonical JSON and its digest), and the
//! one list of characters that nobody can see.
//! The one exception is [`faults`], which is empty unless the `faults` feature is on.

mod approval;
mod call;
mod capability;
mod digest;
mod error_code;
mod event;
pub mod faults;
mod ids;
mod invisible;
mod message;
mod task;
mod trigger;

pub use approval::{ApprovalStatus, Decision, ExecutionOutcome};
pub use call::{CallProblem, PathAccess, PathField, PreparedEffect, Risk, ToolCall, ToolResult, ToolSpec};
pub use capability::{Capability, CapabilityClass, Verdict};
pub use digest::{Digest, canonical_json};
pub use error_code::{ErrorClass, ErrorCode};
pub use event::{Event, EventRecord, Source};
pub use ids::{
    ApprovalId, ArtifactId, CallId, ChannelId, OperationId, ProcessId, ScheduleId, SessionId, TaskId,
    WorkspaceId,
};
pub use invisible::is_invisible;
pub use message::{Message, TokenUsage};
pub use task::{
    Channel, ProviderChoice, Script, ScriptExpect, ScriptStep, ScriptedCall, Task, TaskIntake, TaskLimits,
    TaskStatus,
};
pub use trigger::SlotState;
