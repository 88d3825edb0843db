//! Tool calls, their specifications and results.

use crate::{CallId, Capability, Digest, ErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// A call that the model asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCall {
    /// The model's id for it; made unique within the task by the loop.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The arguments; `{}` when `problem` says that they could not be read.
    #[ts(type = "unknown")]
    pub arguments: Value,
    /// Set when the call must not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<CallProblem>,
}

impl ToolCall {
    /// Digest of tool and canonical arguments: what an approval is bound to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(&serde_json::json!({ "tool": self.tool, "arguments": self.arguments }))
    }
}

/// Why a call in an answer can never be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallProblem {
    /// The answer was cut off (length limit, broken stream).
    Truncated,
    /// The arguments are not JSON, or beyond the limits.
    Malformed,
}

/// How much a card should be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads only.
    Low,
    /// Anything else.
    High,
}

/// Whether a path argument is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PathAccess {
    /// A file or folder to read or list.
    Read,
    /// A file to write: strict names, md, csv and xlsx only, never below `memory/` or `skills/`.
    Write,
    /// A file below `memory/`, for `memory_write` alone.
    Memory,
    /// A file or folder that an outside program may change: strict names, any ending, never below `memory/` or `skills/`.
    Outside,
}

/// An argument that is a workspace path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathField {
    /// Name of the argument at the top level of the arguments object; its value is a string or a list of strings.
    pub name: String,
    /// What happens to the path.
    pub access: PathAccess,
}

/// What a tool says about itself. Policy reads `capability` and `path_fields`, never the name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolSpec {
    /// Name by which the model calls it.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Declared capability.
    pub capability: Capability,
    /// How much its card should be looked at.
    pub risk: Risk,
    /// JSON Schema of the arguments (an object schema).
    #[ts(type = "unknown")]
    pub parameters: Value,
    /// Which arguments are workspace paths.
    pub path_fields: Vec<PathField>,
}

/// What a call gave, as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolResult {
    /// Whether it worked.
    pub ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[ts(optional)]
    pub code: Option<ErrorCode>,
    /// Text or JSON text for the model.
    pub content: String,
}

impl ToolResult {
    /// A result that worked.
    #[must_use]
    pub fn ok(content: impl Into<String>) -> Self {
        Self { ok: true, code: None, content: content.into() }
    }

    /// A result that failed, with words for the model.
    #[must_use]
    pub fn failed(code: ErrorCode, content: impl Into<String>) -> Self {
        Self { ok: false, code: Some(code), content: content.into() }
    }
}

/// What a call with a side effect would do, worked out to the last byte before anybody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreparedEffect {
    /// Puts exactly these bytes at this path.
    WriteFile {
        /// Normalised path relative to the workspace root.
        path: String,
        /// The final bytes.
        bytes: Vec<u8>,
        /// Digest of the file as it is now; `None` when nothing is there.
        base: Option<Digest>,
    },
    /// Something that only the tool can do (an outside tool). `description` is the exact request.
    Outside {
        /// The exact request, as text.
        description: String,
    },
}
