//! Outside servers as the settings show them.

use pilot_tools::mcp::{Confinement, Found};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Everything about outside servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct McpView {
    /// Servers by name, the built-in one first.
    pub servers: Vec<McpServerView>,
    /// What is wrong with declarations that were left out, in words.
    pub problems: Vec<String>,
    /// What this computer can hold an outside program to.
    pub confinement: ConfinementView,
    /// True when nothing may run that cannot be confined whole.
    pub demand_confinement: bool,
}

/// What this computer can hold an outside program to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConfinementView {
    /// How far.
    pub state: ConfinementState,
    /// Landlock ABI of the kernel; 0 without.
    pub abi: u32,
}

/// How far an outside program is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConfinementState {
    /// Files and TCP.
    Whole,
    /// Files, but not the network.
    FilesOnly,
    /// Not at all.
    None,
}

impl From<Confinement> for ConfinementView {
    fn from(confinement: Confinement) -> Self {
        match confinement {
            Confinement::Whole { abi } => Self { state: ConfinementState::Whole, abi },
            Confinement::FilesOnly { abi } => Self { state: ConfinementState::FilesOnly, abi },
            Confinement::None => Self { state: ConfinementState::None, abi: 0 },
        }
    }
}

/// Where a server was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum McpSource {
    /// Built in; no process.
    BuiltIn,
    /// In the settings.
    Settings,
    /// In `POCKETPILOT_MCP_SERVERS`; it is changed there only.
    Environment,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct McpServerView {
    /// Its name, which is also its id.
    pub id: String,
    /// Where it was declared.
    pub source: McpSource,
    /// Program; empty for the built-in one.
    pub command: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Names of variables that may pass.
    pub env: Vec<String>,
    /// Tools.
    pub tools: Vec<McpToolView>,
    /// Ids of the workspaces that allow it.
    pub workspaces: Vec<String>,
    /// The declaration as it stands.
    #[ts(type = "unknown")]
    pub declaration: serde_json::Value,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct McpToolView {
    /// The server's name for it.
    pub tool: String,
    /// The model's name for it.
    pub name: String,
    /// Capability, declared or inferred.
    pub capability: Option<String>,
    /// How it was found.
    pub found: CapabilityFound,
    /// What follows from it.
    pub rule: McpRule,
    /// Arguments that are workspace paths.
    pub paths: Vec<String>,
}

/// How a capability was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityFound {
    /// P0: declared.
    Declared,
    /// P1: by the annotation `readOnlyHint`.
    Annotation,
    /// P2: by the tool's name.
    Name,
    /// P3: not at all.
    Nothing,
}

impl From<Found> for CapabilityFound {
    fn from(found: Found) -> Self {
        match found {
            Found::Declared => Self::Declared,
            Found::Annotation => Self::Annotation,
            Found::Name => Self::Name,
            Found::Nothing => Self::Nothing,
        }
    }
}

/// What a capability means for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum McpRule {
    /// Runs without asking.
    RunsFreely,
    /// Stops for a person each time.
    Asks,
    /// Never runs: policy does not know the capability.
    Refused,
    /// No model sees it: nothing says what it does.
    Hidden,
}

/// Declares a server or changes one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct McpServerRequest {
    /// Name.
    pub name: String,
    /// Declaration, in the form of the settings.
    #[ts(type = "unknown")]
    pub declaration: serde_json::Value,
}

/// How a server introduced itself when it was tried. Its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct McpCheckView {
    /// Our name for it, which is also its id.
    pub id: String,
    /// Its own name.
    pub server: String,
    /// Its version.
    pub version: String,
    /// Version of the protocol.
    pub protocol: String,
    /// What it was held to.
    pub confinement: ConfinementView,
    /// How long starting and shaking hands took.
    #[ts(type = "number")]
    pub millis: u64,
}
