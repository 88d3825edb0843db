//! States of an approval and of its one execution.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where an approval stands. Only `Pending` can be decided; every change is one conditional update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Waits for a person.
    Pending,
    /// Approved; the one execution is under way.
    Executing,
    /// Approved and done.
    Done,
    /// Approved; the execution failed with the disk unchanged.
    Failed,
    /// Rejected.
    Rejected,
    /// The target changed; another card stands in its place.
    Replaced,
    /// The task was stopped.
    Void,
    /// Approved; whether it happened cannot be known. Never run again.
    Unknown,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Yes, to exactly this.
    Approve,
    /// Yes, with other arguments.
    ApproveEdited {
        /// The arguments that the person wrote.
        #[ts(type = "unknown")]
        arguments: serde_json::Value,
    },
    /// No.
    Reject {
        /// A word to the model.
        note: Option<String>,
    },
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionOutcome {
    /// Done.
    Done,
    /// Not done; nothing changed.
    Failed,
    /// Cannot be known.
    Unknown,
}
