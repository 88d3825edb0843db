//! Wire types of schedules and the webhook.

use pilot_types::{ErrorCode, SlotState, TaskStatus};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Everything of the place "Automations".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AutomationsView {
    /// Schedules, oldest first.
    pub schedules: Vec<ScheduleView>,
    /// Channels whose token works, oldest first.
    pub channels: Vec<ChannelView>,
    /// The webhook.
    pub webhook: WebhookView,
    /// True while all automations are paused.
    pub paused: bool,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScheduleView {
    /// Id.
    pub id: String,
    /// Workspace of its tasks.
    pub workspace: String,
    /// Its name.
    pub workspace_name: String,
    /// The rule as written.
    pub rule: String,
    /// IANA time zone; `None` for UTC.
    pub zone: Option<String>,
    /// Goal of its tasks.
    pub goal: String,
    /// Provider; `None` for the workspace's.
    pub provider: Option<String>,
    /// True while the person paused it.
    pub paused: bool,
    /// The next times; none while it is paused.
    pub next: Vec<SlotView>,
    /// What became of the last slots, newest first.
    pub runs: Vec<ScheduleRunView>,
    /// Why its next task could not be made, as far as can be seen now.
    pub problem: Option<ErrorCode>,
}

/// A time at which a rule comes round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SlotView {
    /// In UTC (RFC 3339).
    pub utc: String,
    /// As the wall of the schedule's time zone shows it (RFC 3339 with its offset).
    pub local: String,
}

/// What became of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScheduleRunView {
    /// What became of it.
    pub state: SlotState,
    /// Its moment, or the first of those missed; for a run by hand the moment of that (RFC 3339).
    pub slot: String,
    /// The last of the missed slots (RFC 3339).
    pub upto: Option<String>,
    /// How many slots this is about.
    pub slots: u32,
    /// True when there were more than were counted.
    pub more: bool,
    /// Its task.
    pub task: Option<String>,
    /// Where the task stands.
    pub status: Option<TaskStatus>,
    /// Why there is none.
    pub code: Option<ErrorCode>,
}

/// Makes a schedule, or changes the one of that id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScheduleRequest {
    /// The schedule to change; `None` makes one.
    pub id: Option<String>,
    /// Workspace.
    pub workspace: String,
    /// Rule.
    pub rule: String,
    /// IANA time zone; `None` for UTC.
    pub zone: Option<String>,
    /// Goal.
    pub goal: String,
    /// Provider; `None` for the workspace's.
    pub provider: Option<String>,
}

/// Asks when a rule would come round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SchedulePreviewRequest {
    /// Rule.
    pub rule: String,
    /// IANA time zone; `None` for UTC.
    pub zone: Option<String>,
}

/// When a rule would come round, or what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SchedulePreviewView {
    /// The next five times.
    pub next: Vec<SlotView>,
    /// What is wrong.
    pub problem: Option<RuleProblemView>,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleProblemView {
    /// Code.
    pub code: ErrorCode,
    /// The field, from 1, where it is one.
    pub field: Option<u8>,
    /// What was written there.
    pub text: Option<String>,
    /// In English, for the log.
    pub message: String,
}

/// A channel of the webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChannelView {
    /// Id; part of its address.
    pub id: String,
    /// Workspace of its tasks.
    pub workspace: String,
    /// Its name.
    pub workspace_name: String,
    /// What the person calls it.
    pub name: String,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// Requests that made a task.
    #[ts(type = "number")]
    pub accepted: u64,
    /// When the last of them came (RFC 3339).
    pub accepted_at: Option<String>,
    /// Its newest task.
    pub last_task: Option<String>,
    /// Requests that were refused.
    #[ts(type = "number")]
    pub refused: u64,
    /// When the last of them was counted (RFC 3339).
    pub refused_at: Option<String>,
    /// Why it was refused.
    pub refused_code: Option<ErrorCode>,
    /// Why a task could not be made there now, as far as can be seen.
    pub problem: Option<ErrorCode>,
}

/// Makes a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChannelRequest {
    /// Workspace of its tasks.
    pub workspace: String,
    /// What the person calls it.
    pub name: String,
}

/// A channel with its token, which is shown this once. Without `Debug`, so that it gets into no log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NewChannelView {
    /// The channel.
    pub channel: ChannelView,
    /// Its token.
    pub token: String,
}

/// The webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WebhookView {
    /// What it does.
    pub state: WebhookStateView,
    /// The port that it uses or would use.
    pub port: u16,
}

/// What the webhook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStateView {
    /// Nobody listens: there is no channel.
    Off,
    /// It listens, in this process or in another one.
    Listening,
    /// The port is taken by another program.
    PortTaken,
}
