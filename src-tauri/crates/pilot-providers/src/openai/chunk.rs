//! The wire form of an answer: one chunk of a stream, or a whole completion. Fields that are not used are not named; a
//! field of another type than it should have makes the whole chunk unreadable.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(crate) struct Chunk {
    #[serde(default)]
    pub(crate) choices: Option<Vec<Choice>>,
    #[serde(default)]
    pub(crate) usage: Option<Usage>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    pub(crate) index: Option<u64>,
    /// A piece, in a stream.
    #[serde(default)]
    pub(crate) delta: Option<Piece>,
    /// The whole, otherwise.
    #[serde(default)]
    pub(crate) message: Option<Piece>,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Piece {
    #[serde(default)]
    pub(crate) content: Option<Content>,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    #[serde(default)]
    pub(crate) tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
pub(crate) struct ContentPart {
    #[serde(default)]
    pub(crate) text: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct CallPiece {
    #[serde(default)]
    pub(crate) index: Option<u64>,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
pub(crate) struct FunctionPiece {
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Text in pieces; a few servers send the object itself.
    #[serde(default)]
    pub(crate) arguments: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) prompt_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) completion_tokens: Option<u64>,
}
