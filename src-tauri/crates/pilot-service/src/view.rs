//! Wire types of the window and of `--json`: what goes out (`*View`) and what comes in (`*Request`). Exported to
//! TypeScript; a test fails when the exported files are stale. They live at the edge only: no room below knows them.

use pilot_review::Card;
use pilot_types::{Channel, Digest, ErrorCode, EventRecord, TaskStatus, TokenUsage, ToolCall, ToolSpec};
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
    /// False when the folder is not there now.
    pub present: bool,
    /// Provider of new tasks.
    pub provider: String,
    /// Outside tools allowed here.
    pub allowed_mcp_servers: Vec<String>,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderView {
    /// `offline`, or the name in the settings.
    pub name: String,
    /// Base URL; `None` for the built-in helper.
    pub base_url: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// True when it runs on this computer.
    pub local: bool,
    /// True when a key is in the keyring or in memory.
    pub has_key: bool,
    /// True when the key is kept for this run only, because there is no keyring.
    pub key_for_this_run: bool,
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
    /// Tokens a task may use; `None` for no cap.
    #[ts(type = "number | null")]
    pub tokens_per_task: Option<u64>,
    /// Tokens a day may use; `None` for no cap.
    #[ts(type = "number | null")]
    pub tokens_per_day: Option<u64>,
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

/// State of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Waits.
    Pending,
    /// Is being written.
    Executing,
    /// Written and checked.
    Done,
    /// Failed; nothing changed.
    Failed,
    /// Rejected; nothing changed.
    Rejected,
    /// The file changed; see `replaced_by`.
    Replaced,
    /// The task was stopped.
    Void,
    /// Cannot be known.
    Unknown,
}

/// A card in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApprovalRowView {
    /// Id.
    pub id: String,
    /// Task.
    pub task: String,
    /// Goal of the task.
    pub goal: String,
    /// Where the task came from.
    pub channel: Channel,
    /// State.
    pub state: ApprovalState,
    /// Tool.
    pub tool: String,
    /// Target path.
    pub path: Option<String>,
    /// True when the target exists.
    pub overwrites: bool,
    /// Flags on it.
    pub flags: u32,
    /// When it was asked (RFC 3339).
    pub asked_at: String,
    /// When it was decided (RFC 3339).
    pub decided_at: Option<String>,
    /// Workspace.
    pub workspace: String,
}

/// A whole card. Everything here is made in Rust from the exact bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ApprovalView {
    /// Id.
    pub id: String,
    /// Goes up with each edit that was previewed or each replacement; an old one is refused.
    pub rev: u32,
    /// Must be sent back with a decision; made anew for each view.
    pub nonce: String,
    /// State.
    pub state: ApprovalState,
    /// Task.
    pub task: String,
    /// Goal of the task.
    pub goal: String,
    /// Where the task came from.
    pub channel: Channel,
    /// Step of the task.
    pub step: u32,
    /// When it was asked (RFC 3339).
    pub asked_at: String,
    /// Workspace.
    pub workspace: WorkspaceView,
    /// Tool and its declared capability.
    pub tool: String,
    /// Capability.
    pub capability: String,
    /// Target path; `None` for an outside program.
    pub path: Option<String>,
    /// `path` with every invisible character as `U+XXXX`.
    pub path_shown: Option<String>,
    /// What the model wrote along with the call. Not checked.
    pub said: String,
    /// The card.
    pub card: Card,
    /// The call as it stands (with the person's edit, if any).
    pub call: ToolCall,
    /// The call as the model made it.
    pub original: ToolCall,
    /// JSON Schema of the arguments.
    #[ts(type = "unknown")]
    pub schema: serde_json::Value,
    /// Digest of call and bytes: what an approval is tied to.
    pub fingerprint: Digest,
    /// What the task can touch.
    pub reach: ReachView,
    /// True when the write can be taken back.
    pub undoable: bool,
    /// Card that stands in the place of this one.
    pub replaced_by: Option<String>,
    /// Card that this one replaces.
    pub replaces: Option<String>,
    /// True when the target is no longer what the card shows.
    pub stale: bool,
    /// The person's note, when rejected.
    pub note: Option<String>,
    /// Artifact, when written.
    pub artifact: Option<ArtifactView>,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// Cards that wait, oldest first, for "2 of 3".
    pub waiting: Vec<String>,
}

/// A decision from the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ApproveRequest {
    /// Card.
    pub id: String,
    /// Revision that was shown.
    pub rev: u32,
    /// Nonce that was shown.
    pub nonce: String,
    /// Arguments as edited; `None` for the card as it stands.
    #[ts(type = "unknown")]
    pub arguments: Option<serde_json::Value>,
    /// Changes that were on screen.
    pub seen: Vec<u32>,
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

/// Adds a provider or changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderRequest {
    /// Name.
    pub name: String,
    /// Base URL of an OpenAI-compatible server, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Model.
    pub model: String,
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
    /// Files were dropped on the window (names only) or are being dragged over it.
    FilesDropped {
        /// Workspace.
        workspace: String,
        /// Copied files.
        added: Vec<String>,
        /// Names that are there already; nothing was copied for them.
        collisions: Vec<String>,
        /// Names that were refused, with the code.
        refused: Vec<(String, ErrorCode)>,
    },
}

/// A time as every view carries it.
#[must_use]
pub fn time(at: chrono::DateTime<chrono::Utc>) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
