//! What this room needs of the world: somebody who keeps schedules and channels, and who makes tasks.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use pilot_types::{
    ChannelId, Digest, ErrorCode, ProviderChoice, ScheduleId, TaskId, TaskIntake, WorkspaceId,
};

/// Why something was not taken in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct IntakeError {
    /// Code.
    pub code: ErrorCode,
    /// Words for the log; never a token, never a body.
    pub detail: String,
}

/// A schedule that is not paused, as it stands now.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleEntry {
    /// Id.
    pub id: ScheduleId,
    /// Workspace of its tasks.
    pub workspace: WorkspaceId,
    /// Its rule.
    pub rule: String,
    /// IANA time zone; `None` for UTC.
    pub zone: Option<String>,
    /// Goal of its tasks.
    pub goal: String,
    /// Model; `None` takes the workspace's choice.
    pub provider: Option<ProviderChoice>,
    /// Everything up to here was decided.
    pub looked_at: DateTime<Utc>,
}

/// Slots that passed while nobody looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The first of them.
    pub first: DateTime<Utc>,
    /// The last of them that was counted.
    pub last: DateTime<Utc>,
    /// How many were counted.
    pub count: u32,
    /// True when there were more.
    pub more: bool,
}

/// A slot that is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its moment.
    pub at: DateTime<Utc>,
    /// The task that it asks for.
    pub intake: TaskIntake,
}

/// What was seen at one look at one schedule. It is taken in whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Schedule.
    pub schedule: ScheduleId,
    /// `looked_at` as it was when this was worked out. Where it is another one by now, nothing is taken in.
    pub since: DateTime<Utc>,
    /// The new `looked_at`.
    pub until: DateTime<Utc>,
    /// What was missed.
    pub missed: Option<Missed>,
    /// What is due.
    pub due: Option<Slot>,
}

/// Keeps schedules and makes their tasks.
#[async_trait]
pub trait SlotIntake: Send + Sync + 'static {
    /// Schedules that are neither paused nor removed; none while all automations are paused.
    ///
    /// # Errors
    /// They cannot be read now.
    async fn schedules(&self) -> Result<Vec<ScheduleEntry>, IntakeError>;

    /// Takes in what was seen: note, slot and task in one step, each slot at most once for ever. A task that cannot be
    /// made is a note, not an error.
    ///
    /// # Errors
    /// Nothing was taken in; the next look sees the same again.
    async fn look(&self, look: Look) -> Result<(), IntakeError>;
}

/// A channel whose token works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelEntry {
    /// Workspace of its tasks.
    pub workspace: WorkspaceId,
    /// SHA-256 of its token.
    pub token: Digest,
}

/// Requests to one channel that were refused since they were last told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCalls {
    /// Channel.
    pub channel: ChannelId,
    /// How many.
    pub times: u64,
    /// Why the last of them was.
    pub code: ErrorCode,
}

/// Keeps channels and makes their tasks.
#[async_trait]
pub trait CallIntake: Send + Sync + 'static {
    /// A channel whose token works; `None` when there is none of that id or it was revoked.
    ///
    /// # Errors
    /// It cannot be read now.
    async fn channel(&self, id: &ChannelId) -> Result<Option<ChannelEntry>, IntakeError>;

    /// Makes the task of a request; durable when this returns.
    ///
    /// # Errors
    /// Why no task was made.
    async fn submit(&self, channel: &ChannelId, intake: TaskIntake) -> Result<TaskId, IntakeError>;

    /// Notes refused requests, so that the person sees them.
    ///
    /// # Errors
    /// They cannot be noted now; they are told again.
    async fn refused(&self, calls: &[RefusedCalls]) -> Result<(), IntakeError>;
}
