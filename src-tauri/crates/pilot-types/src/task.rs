//! Tasks: one goal given to one workspace, whoever asked for it.

use crate::{ErrorCode, ProcessId, SessionId, TaskId, TokenUsage, WorkspaceId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Waits for its turn.
    Queued,
    /// At work.
    Running,
    /// Stopped at a card.
    WaitingApproval,
    /// Ended well.
    Completed,
    /// Ended with an error.
    Failed,
    /// Stopped by the person.
    Cancelled,
    /// Its process died or its provider is missing; can be resumed.
    Interrupted,
}

impl TaskStatus {
    /// The status as it stands in JSON and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Queued => "queued",
            TaskStatus::Running => "running",
            TaskStatus::WaitingApproval => "waiting_approval",
            TaskStatus::Completed => "completed",
            TaskStatus::Failed => "failed",
            TaskStatus::Cancelled => "cancelled",
            TaskStatus::Interrupted => "interrupted",
        }
    }

    /// True when nothing more will happen by itself or by resuming.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => true,
            TaskStatus::Queued
            | TaskStatus::Running
            | TaskStatus::WaitingApproval
            | TaskStatus::Interrupted => false,
        }
    }
}

/// Where a task came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The window.
    Chat,
    /// A schedule.
    Schedule,
    /// The local webhook.
    Webhook,
    /// The command line.
    Cli,
}

/// Which model plays a task. Stored with the task, so that whichever process goes on uses the same one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProviderChoice {
    /// The built-in helper.
    Offline,
    /// OpenAI-compatible, from the environment of the process.
    Env,
    /// A provider named in the settings.
    Named {
        /// Its name there.
        name: String,
    },
    /// A script, kept whole, so that the task can go on in any process.
    Scripted {
        /// What the person called it; shown only.
        label: String,
        /// The steps.
        script: Script,
    },
}

impl ProviderChoice {
    /// A short name for lists and logs.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            ProviderChoice::Offline => "offline",
            ProviderChoice::Env => "env",
            ProviderChoice::Named { name } => name,
            ProviderChoice::Scripted { label, .. } => label,
        }
    }
}

/// A scripted model: the k-th model call plays the k-th step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Always 1.
    pub version: u32,
    /// The steps in order.
    pub steps: Vec<ScriptStep>,
}

/// One answer of a scripted model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// Words.
    #[serde(default)]
    pub text: String,
    /// Calls.
    #[serde(default)]
    pub tool_calls: Vec<ScriptedCall>,
    /// What must hold before the step is played; a miss fails the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<ScriptExpect>,
}

/// A call of a scripted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: serde_json::Value,
}

/// What a scripted step expects of the conversation so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptExpect {
    /// All of these stand in the content of the last tool result.
    #[serde(default)]
    pub last_result_contains: Vec<String>,
}

/// Bounds of one task over its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TaskLimits {
    /// Model calls.
    pub max_steps: u32,
    /// Milliseconds of running (not of waiting for a person).
    #[ts(type = "number")]
    pub max_millis: u64,
    /// Tokens, input and output together; `None` for no cap.
    #[ts(type = "number | null")]
    pub max_tokens: Option<u64>,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self { max_steps: 30, max_millis: 600_000, max_tokens: None }
    }
}

/// A request for a task. Chat, schedule, webhook and command line all make this and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskIntake {
    /// What the person wants.
    pub goal: String,
    /// Where.
    pub workspace: WorkspaceId,
    /// Who asked.
    pub channel: Channel,
    /// Conversation it belongs to, if any.
    pub session: Option<SessionId>,
    /// Task whose conversation this continues; its bounded history comes before the goal as untrusted text.
    pub follow_up_of: Option<TaskId>,
    /// Model; `None` takes the workspace's choice.
    pub provider: Option<ProviderChoice>,
    /// Bounds; `None` takes the defaults.
    pub limits: Option<TaskLimits>,
}

/// A task as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its conversation.
    pub session: Option<SessionId>,
    /// Where it came from.
    pub channel: Channel,
    /// What the person wants.
    pub goal: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Why it failed or was interrupted.
    pub code: Option<ErrorCode>,
    /// Model.
    pub provider: ProviderChoice,
    /// Bounds.
    pub limits: TaskLimits,
    /// Model calls so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
    /// Process that runs it or will run it.
    pub process: Option<ProcessId>,
    /// The person asked to stop it.
    pub cancel_requested: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}
