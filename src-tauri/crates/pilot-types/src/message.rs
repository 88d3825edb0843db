//! What is said between the loop and a model.

use crate::{CallId, ErrorCode, ToolCall};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One message of a conversation, in no provider's format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Instructions of this program.
    System {
        /// The text.
        text: String,
    },
    /// What the person asked.
    User {
        /// The text.
        text: String,
    },
    /// What the model answered.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// The calls it asked for, in order.
        calls: Vec<ToolCall>,
    },
    /// What a call gave.
    Tool {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        tool: String,
        /// Whether it worked.
        ok: bool,
        /// Why not.
        code: Option<ErrorCode>,
        /// The content as the model gets it.
        content: String,
    },
}

/// Tokens of one or several model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TokenUsage {
    /// Tokens sent to the model.
    #[ts(type = "number")]
    pub input: u64,
    /// Tokens that the model made.
    #[ts(type = "number")]
    pub output: u64,
    /// True when the provider gave no figure and this one was estimated.
    pub estimated: bool,
}

impl TokenUsage {
    /// Adds another usage; an estimate in either makes the sum one.
    pub fn add(&mut self, other: TokenUsage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.estimated |= other.estimated;
    }

    /// Input and output together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}
