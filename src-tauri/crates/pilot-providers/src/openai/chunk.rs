//! The wire form of an answer: one chunk of a stream, or a whole completion. Fields that are not used are not named; a
//! field of another type than it should have makes the whole chunk unreadable.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: Option<u64>,
    /// A piece, in a stream.
    #[serde(default)]
    pub(super) delta: Option<Piece>,
    /// The whole, otherwise.
    #[serde(default)]
    pub(super) message: Option<Piece>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Piece {
    #[serde(default)]
    pub(super) content: Option<Content>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
pub(super) struct ContentPart {
    #[serde(default)]
    pub(super) text: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CallPiece {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
pub(super) struct FunctionPiece {
    #[serde(default)]
    pub(super) name: Option<String>,
    /// Text in pieces; a few servers send the object itself.
    #[serde(default)]
    pub(super) arguments: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct Usage {
    #[serde(default)]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(default)]
    pub(super) completion_tokens: Option<u64>,
}
