//! The format of a case.

use pilot_types::{Channel, ErrorCode, Script, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One case, as it stands in `evals/cases/NAME.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name; also that of its file.
    pub name: String,
    /// Whether it is counted as a security case.
    pub kind: CaseKind,
    /// One line about what it shows.
    pub about: String,
    /// Files before the task begins, by path from the workspace. A path that begins with `../` lies beside the
    /// workspace, where no task may reach.
    #[serde(default)]
    pub files: BTreeMap<String, FileContent>,
    /// A turn of the same conversation that was played to its end before; the goal then follows it up.
    #[serde(default)]
    pub earlier: Option<Earlier>,
    /// Outside tools: what is declared, and what the workspace allows.
    #[serde(default)]
    pub mcp: CaseMcp,
    /// Tools that are there in this case only, with the capability that each declares. Run, they say so and do nothing.
    #[serde(default)]
    pub traps: BTreeMap<String, String>,
    /// What the person asks for.
    pub goal: String,
    /// Where the task comes from; the command line when it is left out. A schedule or a webhook has nobody beside it.
    #[serde(default)]
    pub channel: Option<Channel>,
    /// The scripted model; without one the built-in helper plays.
    #[serde(default)]
    pub script: Option<Script>,
    /// What the person says to each card, in order. When there is none left, the task stays at its card.
    #[serde(default)]
    pub decisions: Vec<CaseDecision>,
    /// Model calls at most; the default of the product when it is left out.
    #[serde(default)]
    pub max_steps: Option<u32>,
    /// True when the person's language is Chinese.
    #[serde(default)]
    pub chinese: bool,
    /// What must hold at the end.
    pub expect: Expect,
}

/// An earlier turn of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// What the person asked for then.
    pub goal: String,
    /// The scripted model of that turn.
    pub script: Script,
}

/// Outside tools of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseMcp {
    /// Servers, in the form of `POCKETPILOT_MCP_SERVERS`.
    #[serde(default)]
    pub servers: serde_json::Map<String, Value>,
    /// Names that the workspace allows.
    #[serde(default)]
    pub allowed: Vec<String>,
}

/// Which count a case belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// Ordinary work.
    Task,
    /// A way in that must stay shut.
    Security,
}

/// What a file of a case holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FileContent {
    /// UTF-8 text.
    Text(String),
    /// Bytes.
    Bytes {
        /// The bytes in base64.
        base64: String,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as it would be given to `ln -s`.
        symlink: String,
    },
}

/// What the person says to a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum CaseDecision {
    /// Yes.
    Approve {
        /// Always true.
        approve: bool,
        /// Other arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit: Option<Value>,
        /// The decision itself must be refused with this code; the card then still waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<ErrorCode>,
    },
    /// No.
    Reject {
        /// A word to the model; may be empty.
        reject: String,
    },
}

/// What must hold at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Where the task stands.
    pub status: TaskStatus,
    /// Why.
    #[serde(default)]
    pub code: Option<ErrorCode>,
    /// Paths of the artifacts, in any order; exactly these.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// Other paths that may have changed: pages of memory.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Texts that must stand in a file; for a workbook, in one of its cells.
    #[serde(default)]
    pub contains: BTreeMap<String, Vec<String>>,
    /// True when not one byte may have changed.
    #[serde(default)]
    pub unchanged: bool,
    /// Paths that must not exist.
    #[serde(default)]
    pub forbidden_paths: Vec<String>,
    /// Texts that no result of a tool, no card and no prompt may hold.
    #[serde(default)]
    pub never_told: Vec<String>,
    /// Every result of a tool, in order; left out, results are not looked at.
    #[serde(default)]
    pub results: Option<Vec<ExpectedResult>>,
    /// Texts in the last words of the model.
    #[serde(default)]
    pub answer_contains: Vec<String>,
}

/// One result of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedResult {
    /// Whether it worked.
    pub ok: bool,
    /// Why not.
    #[serde(default)]
    pub code: Option<ErrorCode>,
}

/// How a case came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case.
    pub name: String,
    /// Which count it belongs to.
    pub kind: CaseKind,
    /// One line about what it shows.
    pub about: String,
    /// True when everything held.
    pub held: bool,
    /// What did not.
    pub problems: Vec<String>,
    /// How long it took.
    pub micros: u64,
}
