//! The wire form of an answer: one event of a stream, or a whole message. Fields that are not used are not named; a field
//! of another type than it should have makes the whole event unreadable. Kinds of event that are not known are left out,
//! as the format asks of its readers.

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(crate) struct Event {
    pub(crate) r#type: String,
    #[serde(default)]
    pub(crate) index: Option<u64>,
    /// Of `message_start`.
    #[serde(default)]
    pub(crate) message: Option<Opening>,
    /// Of `content_block_start`.
    #[serde(default)]
    pub(crate) content_block: Option<Block>,
    /// Of `content_block_delta` and `message_delta`.
    #[serde(default)]
    pub(crate) delta: Option<Delta>,
    /// Of `message_delta`, and of a whole message.
    #[serde(default)]
    pub(crate) usage: Option<Usage>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
    /// Of a whole message.
    #[serde(default)]
    pub(crate) content: Option<Vec<Block>>,
    /// Of a whole message.
    #[serde(default)]
    pub(crate) stop_reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Opening {
    #[serde(default)]
    pub(crate) usage: Option<Usage>,
}

#[derive(Deserialize)]
pub(crate) struct Block {
    pub(crate) r#type: String,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Empty in a stream, where the arguments follow in pieces; a few servers send them at once.
    #[serde(default)]
    pub(crate) input: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
pub(crate) struct Delta {
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) partial_json: Option<String>,
    #[serde(default)]
    pub(crate) stop_reason: Option<String>,
}

/// Tokens. What came out of the cache, and what was put there, is not among `input_tokens`.
#[derive(Clone, Copy, Default, Deserialize)]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) input_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) output_tokens: Option<u64>,
}
