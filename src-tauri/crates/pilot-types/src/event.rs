//! The record: every step of every task, and every act of the person, as one closed list.

use crate::{
    ApprovalId, ArtifactId, CallId, Channel, Digest, ErrorCode, ExecutionOutcome, OperationId, TaskId,
    TaskStatus, TokenUsage, ToolCall, WorkspaceId,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The task itself.
    Agent,
    /// The person, on their own folder or on a card.
    Operator,
    /// This program: recovery, limits.
    System,
}

/// Something that happened. Stored before it is told to anybody. Streaming text is no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A task was made.
    TaskCreated {
        /// Workspace.
        workspace: WorkspaceId,
        /// Where it came from.
        channel: Channel,
        /// What the person wants.
        goal: String,
        /// Provider label.
        provider: String,
    },
    /// A task changed its state.
    StatusChanged {
        /// New state.
        status: TaskStatus,
        /// Why, when it failed or was interrupted.
        code: Option<ErrorCode>,
        /// In words for the log: what was left undone.
        detail: Option<String>,
    },
    /// The instructions and untrusted context that opened the conversation with the model.
    Prompted {
        /// The system text that the model gets.
        system: String,
    },
    /// The model answered.
    ModelAnswer {
        /// Which model call of the task this was, from 1.
        step: u32,
        /// Its words.
        text: String,
        /// The calls it asked for.
        calls: Vec<ToolCall>,
        /// Tokens of this call.
        usage: TokenUsage,
        /// Milliseconds of running of the whole task so far.
        #[ts(type = "number")]
        elapsed_millis: u64,
    },
    /// A call that policy allowed has begun.
    ToolStarted {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        tool: String,
        /// Declared capability.
        capability: String,
        /// Why policy let it run.
        reason: String,
    },
    /// A call gave a result.
    ToolResult {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        tool: String,
        /// Whether it worked.
        ok: bool,
        /// Why not.
        code: Option<ErrorCode>,
        /// The content as the model got it.
        content: String,
        /// Milliseconds that the tool took.
        #[ts(type = "number")]
        millis: u64,
    },
    /// Policy or guard stopped a call. A failed `ToolResult` follows.
    PolicyDenied {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        tool: String,
        /// Code.
        code: ErrorCode,
        /// Why, in words; never a path outside the workspace.
        reason: String,
    },
    /// A call stopped the task at a card.
    ApprovalRequested {
        /// The card.
        approval: ApprovalId,
        /// Which call.
        call_id: CallId,
        /// Which tool.
        tool: String,
        /// Target path, when it is a file.
        path: Option<String>,
        /// Digest of the call.
        digest: Digest,
        /// Digest of the exact bytes, when it is a file.
        content: Option<Digest>,
    },
    /// The target changed: this card replaces another.
    ApprovalReplaced {
        /// The card that is void.
        old: ApprovalId,
        /// The card that stands in its place.
        new: ApprovalId,
    },
    /// A person decided.
    ApprovalDecided {
        /// The card.
        approval: ApprovalId,
        /// `approve`, `approve_edited` or `reject`.
        decision: String,
        /// The person's note.
        note: Option<String>,
        /// The call as the person edited it; the original stands in the model's answer.
        edited: Option<ToolCall>,
        /// `window`, `tray` or `cli`.
        by: String,
        /// Changes that were on screen before a yes of the window, such as `1-4, 7`. A terminal shows the whole card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        seen: Option<String>,
    },
    /// An approved call ended.
    ExecutionFinished {
        /// The card.
        approval: ApprovalId,
        /// The one execution.
        operation: OperationId,
        /// How it ended.
        outcome: ExecutionOutcome,
        /// Why not.
        code: Option<ErrorCode>,
        /// Digest before; `None` when nothing was there.
        before: Option<Digest>,
        /// Digest after.
        after: Option<Digest>,
    },
    /// A file was written and read back.
    ArtifactWritten {
        /// The artifact.
        artifact: ArtifactId,
        /// Relative path.
        path: String,
        /// Bytes.
        #[ts(type = "number")]
        size: u64,
        /// Digest.
        digest: Digest,
    },
    /// The person took a write back.
    Undone {
        /// The artifact.
        artifact: ArtifactId,
        /// Relative path.
        path: String,
        /// True when the undo removed a file that the task had made.
        removed: bool,
    },
    /// The person acted on their own folder.
    OperatorActed {
        /// `workspace_added`, `workspace_removed`, `memory_edited`, `memory_restored`, `skill_created`, `skill_edited`,
        /// `skill_removed`, `file_uploaded`, `edit_undone`, `artifact_saved`, `consent_given` …
        action: String,
        /// Workspace, if one.
        workspace: Option<WorkspaceId>,
        /// Relative path or name, if one.
        subject: Option<String>,
    },
    /// Something worth knowing that changed no state.
    Noted {
        /// Code.
        code: Option<ErrorCode>,
        /// In words for the log.
        detail: String,
    },
}

/// An event as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct EventRecord {
    /// Place in the one chain over all tasks, from 1.
    #[ts(type = "number")]
    pub position: i64,
    /// Place within the task, from 1 without gaps; 0 for events without a task.
    #[ts(type = "number")]
    pub seq: i64,
    /// When.
    #[ts(type = "string")]
    pub at: DateTime<Utc>,
    /// Which task, if one.
    pub task: Option<TaskId>,
    /// Who.
    pub source: Source,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}
