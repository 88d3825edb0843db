//! Conversations, deletion, backups: what a person keeps, and lets go of.

use super::TaskView;
use pilot_types::{Channel, TaskStatus};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionView {
    /// Id.
    pub id: String,
    /// Workspace.
    pub workspace: String,
    /// Title: the first goal, or what the person called it.
    pub title: String,
    /// True when the person put it away.
    pub archived: bool,
    /// When its first turn was made (RFC 3339).
    pub created_at: String,
    /// When its newest turn was made (RFC 3339).
    pub used_at: String,
    /// Turns.
    pub turns: u32,
    /// Turns that wait for the person.
    pub waiting: u32,
    /// The newest turn.
    pub last_task: String,
    /// Where the newest turn stands.
    pub status: TaskStatus,
    /// Where the newest turn came from.
    pub channel: Channel,
}

/// A conversation with its turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionDetailView {
    /// The conversation.
    pub session: SessionView,
    /// Its tasks, oldest first.
    pub turns: Vec<TaskView>,
}

/// Which conversations are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionListRequest {
    /// Of one workspace; of all when `None`.
    pub workspace: Option<String>,
    /// Those that were put away, instead of the others.
    pub archived: bool,
    /// A text that stands in the title or in a goal.
    pub search: Option<String>,
}

/// What deleting a task would take along, shown before it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DeletionView {
    /// The task.
    pub task: String,
    /// What the person wanted.
    pub goal: String,
    /// Entries of the record that lose their content.
    #[ts(type = "number")]
    pub entries: u64,
    /// Cards that go.
    #[ts(type = "number")]
    pub cards: u64,
    /// Replaced versions of files that go; those writes can then no longer be taken back.
    #[ts(type = "number")]
    pub kept_versions: u64,
    /// Files in the folder that the task wrote; they stay.
    pub files: Vec<String>,
}

/// What the application keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DataUsageView {
    /// Bytes of the database.
    #[ts(type = "number")]
    pub database_bytes: u64,
    /// Replaced versions.
    #[ts(type = "number")]
    pub undo_entries: u64,
    /// Bytes of them.
    #[ts(type = "number")]
    pub undo_bytes: u64,
    /// Log files.
    #[ts(type = "number")]
    pub logs: u64,
    /// Bytes of them.
    #[ts(type = "number")]
    pub log_bytes: u64,
}

/// What is in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BackupView {
    /// Version of the program that made it.
    pub version: String,
    /// Schema of its database.
    #[ts(type = "number")]
    pub schema: i64,
    /// When it was made (RFC 3339).
    pub made_at: String,
    /// Tasks.
    #[ts(type = "number")]
    pub tasks: u64,
    /// Replaced versions of files; 0 when they were left out.
    #[ts(type = "number")]
    pub undo_entries: u64,
    /// Bytes of its database.
    #[ts(type = "number")]
    pub database_bytes: u64,
}
