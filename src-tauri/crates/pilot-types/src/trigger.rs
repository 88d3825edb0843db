//! What becomes of a slot of a schedule.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// It made a task.
    Started,
    /// The person started the schedule by hand.
    ByHand,
    /// The previous run was not finished.
    Skipped,
    /// Nobody looked when it passed; it is not caught up.
    Missed,
    /// A task could not be made.
    Refused,
}
