//! Capabilities and verdicts.

use crate::ErrorCode;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a tool declares that it does, such as `file:read` or `memory:write`. Kept as it was declared: nothing is
/// trimmed, so a stray blank makes it unknown and therefore denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub struct Capability(String);

/// What the text after the last colon of a capability means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityClass {
    /// Reads content.
    Read,
    /// Reads names.
    List,
    /// Writes content.
    Write,
    /// Makes something new.
    Create,
    /// Changes something.
    Update,
    /// Removes something.
    Delete,
    /// Runs a program.
    Execute,
    /// Reaches out of this computer.
    Network,
}

impl Capability {
    /// Takes a capability as declared.
    #[must_use]
    pub fn declared(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The declared text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The class named by the text after the last colon, lower-cased; without a colon by the whole text.
    /// `None` for anything that is not declared in [`CapabilityClass`].
    #[must_use]
    pub fn class(&self) -> Option<CapabilityClass> {
        let suffix = self.0.rsplit(':').next().unwrap_or("").to_lowercase();
        match suffix.as_str() {
            "read" => Some(CapabilityClass::Read),
            "list" => Some(CapabilityClass::List),
            "write" => Some(CapabilityClass::Write),
            "create" => Some(CapabilityClass::Create),
            "update" => Some(CapabilityClass::Update),
            "delete" => Some(CapabilityClass::Delete),
            "execute" => Some(CapabilityClass::Execute),
            "network" => Some(CapabilityClass::Network),
            _ => None,
        }
    }
}

/// What policy says about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Runs without asking.
    Allow {
        /// Why, in words for the log.
        reason: String,
    },
    /// Stops the task until a person decides on this one call.
    RequireApproval {
        /// Why, in words for the log.
        reason: String,
    },
    /// Never runs.
    Deny {
        /// The code that the model and the person are told.
        code: ErrorCode,
        /// Why, in words for the log.
        reason: String,
    },
}
