//! Wire types of the window and of `--json`: what goes out (`*View`) and what comes in (`*Request`). Exported to
//! TypeScript; a test fails when the exported files are stale. They live at the edge only: no room below knows them.

mod approval;
mod automation;
mod keep;
mod mcp;
mod people;
mod provider;
mod safety;

pub use approval::{ApprovalRowView, ApprovalState, ApprovalView, ApproveRequest};
pub use automation::{
    AutomationsView, ChannelRequest, ChannelView, NewChannelView, RuleProblemView, SchedulePreviewRequest,
    SchedulePreviewView, ScheduleRequest, ScheduleRunView, ScheduleView, SlotView, WebhookStateView,
    WebhookView,
};
pub use people::{
    Author, EditView, InjectionView, MemoryPageView, MemoryRequest, MemoryView, OriginView, SkillOrigin,
    SkillRequest, SkillTextView, SkillView, UploadChoice, UploadFileView, UploadPlanView, UploadRequest,
    UploadResultView, VersionTextView, VersionView, WatchState,
};
pub use provider::{
    LocalServerView, PresetView, ProviderKind, ProviderRequest, ProviderTestView, ProviderView, UsageDayView,
};

pub use keep::{BackupView, DataUsageView, DeletionView, SessionDetailView, SessionListRequest, SessionView};
pub use mcp::{
    CapabilityFound, ConfinementState, ConfinementView, McpCheckView, McpRule, McpServerRequest,
    McpServerView, McpSource, McpToolView, McpView,
};
pub use safety::SafetyCaseView;

use pilot_types::{Channel, Digest, ErrorCode, EventRecord, TaskStatus, TokenUsage, ToolSpec};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An error as the window gets it. The window translates `code`; `message` is for the log and for support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ErrorView {
    /// Code.
    pub code: ErrorCode,
    /// English words without a path outside the workspace.
    pub message: String,
    /// What it is about (a file name, a provider), never translated.
    pub subject: Option<String>,
}

/// A workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WorkspaceView {
    /// Id.
    pub id: String,
    /// Name shown.
    pub name: String,
    /// Folder, as the person would recognise it.
    pub root: String,
    /// False when the folder is not there now, or another one stands in its place.
    pub present: bool,
    /// True when another folder stands in its place.
    pub replaced: bool,
    /// Provider of new tasks.
    pub provider: String,
    /// Outside tools allowed here.
    pub allowed_mcp_servers: Vec<String>,
}

/// State of the keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyringState {
    /// Works.
    Ready,
    /// None on this computer.
    Missing,
    /// Locked.
    Locked,
    /// Does not answer.
    Hanging,
}

/// Language of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum LanguageSetting {
    /// As the system.
    #[default]
    #[serde(rename = "system")]
    System,
    /// English.
    #[serde(rename = "en")]
    En,
    /// 简体中文.
    #[serde(rename = "zh-CN")]
    ZhCn,
}

/// Theme of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ThemeSetting {
    /// As the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Settings of the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct SettingsView {
    /// Language.
    pub language: LanguageSetting,
    /// Theme.
    pub theme: ThemeSetting,
    /// Notify when a task waits.
    pub notifications: bool,
    /// Show the task's title in notifications.
    pub notification_titles: bool,
    /// Single-key shortcuts.
    pub single_keys: bool,
    /// Days for which replaced bytes are kept.
    pub undo_days: u32,
    /// Bytes of replaced files kept at most.
    #[ts(type = "number")]
    pub undo_bytes: u64,
    /// Days after which a task that has ended is deleted; `None` keeps all.
    pub task_days: Option<u32>,
    /// Days after which a log is deleted; `None` keeps what there is, seven files at most.
    pub log_days: Option<u32>,
    /// Tokens a task may use; `None` for no cap.
    #[ts(type = "number | null")]
    pub tokens_per_task: Option<u64>,
    /// Tokens a day may use; `None` for no cap.
    #[ts(type = "number | null")]
    pub tokens_per_day: Option<u64>,
    /// True while no schedule starts and the webhook takes nothing.
    pub automations_paused: bool,
    /// Port of the webhook on 127.0.0.1.
    pub webhook_port: u16,
}

/// State of the whole application, fetched at start and after `Changed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AppView {
    /// Version of the program.
    pub version: String,
    /// Settings.
    pub settings: SettingsView,
    /// Language of the system: `zh-CN` or `en`.
    pub system_language: LanguageSetting,
    /// Workspaces, newest use first. Empty: show the first-run page.
    pub workspaces: Vec<WorkspaceView>,
    /// Providers, `offline` first.
    pub providers: Vec<ProviderView>,
    /// Keyring.
    pub keyring: KeyringState,
    /// Cards that wait.
    pub waiting: u32,
    /// Tasks at work.
    pub running: u32,
    /// Entries of the log.
    #[ts(type = "number")]
    pub log_entries: i64,
    /// Data folder.
    pub data_dir: String,
    /// False when the system has no tray: closing the window then asks.
    pub tray: bool,
    /// Where the log chain breaks, if it does.
    #[ts(type = "number | null")]
    pub log_broken_at: Option<i64>,
}

/// A task in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TaskView {
    /// Id.
    pub id: String,
    /// Workspace.
    pub workspace: String,
    /// The conversation that it is a turn of.
    pub session: String,
    /// Where it came from.
    pub channel: Channel,
    /// What the person wants.
    pub goal: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Why it failed or was interrupted.
    pub code: Option<ErrorCode>,
    /// Provider.
    pub provider: String,
    /// Model calls so far.
    pub steps: u32,
    /// Bound of model calls.
    pub max_steps: u32,
    /// Milliseconds of running so far.
    #[ts(type = "number")]
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// When it last changed (RFC 3339).
    pub updated_at: String,
    /// The card that waits, if one.
    pub waiting_approval: Option<String>,
    /// The last words of the model, for a list; may be empty.
    pub answer: String,
}

/// A task with its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskDetailView {
    /// The task.
    pub task: TaskView,
    /// All its events.
    pub events: Vec<EventRecord>,
    /// What it wrote.
    pub artifacts: Vec<ArtifactView>,
    /// What it can touch.
    pub reach: ReachView,
    /// Text streamed since the last event; empty when nothing streams.
    pub streaming: String,
}

/// What a task in a workspace can touch, worked out from guard and policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ReachView {
    /// Folder.
    pub root: String,
    /// Files in it, counted up to 100,000.
    #[ts(type = "number")]
    pub files: u64,
    /// True when there are more.
    pub files_more: bool,
    /// Tools that run without asking.
    pub runs_freely: Vec<ToolSpec>,
    /// Tools that ask each time.
    pub asks: Vec<ToolSpec>,
    /// Host to which content goes; `None` when nothing leaves this computer.
    pub sends_to: Option<String>,
}

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EntryView {
    /// Name.
    pub name: String,
    /// Name with every invisible character as `U+XXXX`.
    pub name_shown: String,
    /// Relative path.
    pub path: String,
    /// True for a folder.
    pub folder: bool,
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Last change (RFC 3339).
    pub modified: Option<String>,
    /// Why it cannot be opened, if so (a link, a second name, a FIFO).
    pub refused: Option<ErrorCode>,
    /// True when a card waits for this path.
    pub waiting: bool,
    /// True when a task wrote it.
    pub artifact: bool,
}

/// A page of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FolderView {
    /// Relative path; empty for the root.
    pub path: String,
    /// Entries, folders first, then by name.
    pub entries: Vec<EntryView>,
    /// Entries of the folder in all.
    #[ts(type = "number")]
    pub total: u64,
    /// Where this page begins.
    #[ts(type = "number")]
    pub offset: u64,
}

/// A preview of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PreviewView {
    /// Relative path.
    pub path: String,
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Kind, status, notes, parts and invoice fields. Text is cut at 100 KB and the notes say so.
    pub document: pilot_documents::Document,
}

/// A file that a task wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArtifactView {
    /// Id.
    pub id: String,
    /// Task.
    pub task: String,
    /// Workspace.
    pub workspace: String,
    /// Relative path.
    pub path: String,
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// SHA-256.
    pub digest: Digest,
    /// When (RFC 3339).
    pub at: String,
    /// Whether the write can be taken back.
    pub undo: UndoState,
    /// True when it replaced a file.
    pub replaced: bool,
}

/// Whether a write can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// Can be.
    Possible,
    /// Was.
    Undone,
    /// The file changed since.
    Changed,
    /// The kept bytes are gone.
    Expired,
}

/// What an undo would do, shown before it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoPreview {
    /// The artifact.
    pub artifact: ArtifactView,
    /// True when the file would be removed.
    pub removes: bool,
    /// What comes back, against what is there; `None` when the file would be removed.
    pub difference: Option<pilot_review::Difference>,
}

/// Makes a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TaskRequest {
    /// Workspace.
    pub workspace: String,
    /// What the person wants.
    pub goal: String,
    /// Provider; `None` for the workspace's.
    pub provider: Option<String>,
    /// Conversation that it joins; `None` for that of the task it follows, or one of its own.
    pub session: Option<String>,
    /// Task that it follows.
    pub follow_up_of: Option<String>,
}

/// Result of looking through the log chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditView {
    /// Entries.
    #[ts(type = "number")]
    pub entries: i64,
    /// True when each entry fits the one before.
    pub intact: bool,
    /// First entry that does not fit.
    #[ts(type = "number | null")]
    pub broken_at: Option<i64>,
}

/// What the core tells the window. One channel; content is fetched by command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WindowEvent {
    /// A stored event.
    Recorded {
        /// The event.
        record: EventRecord,
    },
    /// The next piece of streaming text.
    Delta {
        /// Task.
        task: String,
        /// Text.
        text: String,
    },
    /// Settings, workspaces, keyring or files changed: fetch again.
    Changed,
    /// Show this card (notification or tray was clicked). Never decides anything.
    OpenCard {
        /// Card.
        approval: String,
    },
    /// Files are dragged over the window (`Some`: how many), or no longer.
    FilesDragged {
        /// How many.
        files: Option<u32>,
    },
    /// Files were dropped on the window. Nothing was copied: the plan says what would be.
    FilesDropped {
        /// The plan.
        plan: UploadPlanView,
    },
    /// Files are being copied in.
    UploadProgress {
        /// Plan.
        id: String,
        /// File at work.
        name: String,
        /// Bytes done.
        #[ts(type = "number")]
        done: u64,
        /// Bytes in all.
        #[ts(type = "number")]
        total: u64,
    },
    /// The disk changed in a workspace.
    FilesChanged {
        /// Workspace.
        workspace: String,
        /// Paths that changed, or something below them.
        paths: Vec<String>,
        /// True when it is not known where: look at everything.
        everything: bool,
    },
    /// A workspace's folder is watched differently from now on, or is not there.
    FolderWatched {
        /// Workspace.
        workspace: String,
        /// How.
        state: WatchState,
    },
    /// A waiting card shows what is no longer there, or does so no longer.
    CardStale {
        /// Card.
        approval: String,
        /// Its task.
        task: String,
        /// True when it shows what is no longer there.
        stale: bool,
    },
}

/// A time as every view carries it.
#[must_use]
pub fn time(at: chrono::DateTime<chrono::Utc>) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
