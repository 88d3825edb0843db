//! Cards, as the window gets them, and decisions, as it sends them.

use super::{ArtifactView, ReachView, WorkspaceView};
use pilot_review::Card;
use pilot_types::{Channel, Digest, ErrorCode, ToolCall};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
    /// True when the target is known to be no longer what the card shows.
    #[serde(default)]
    pub stale: bool,
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
