//! The safety check in the window.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How one case of the safety check came out. The window has a sentence about each by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SafetyCaseView {
    /// The case.
    pub name: String,
    /// True when everything held.
    pub held: bool,
    /// What did not, for a report to the makers.
    pub problems: Vec<String>,
    /// Milliseconds.
    #[ts(type = "number")]
    pub millis: u64,
}
