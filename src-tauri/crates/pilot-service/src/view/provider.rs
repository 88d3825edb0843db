//! Models: how they are set up, tried and counted, as the window and the command line get it.

use pilot_types::{ErrorCode, TokenUsage};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a provider's server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum ProviderKind {
    /// OpenAI-compatible chat completions.
    #[default]
    #[serde(rename = "openai_compatible")]
    OpenAiCompatible,
    /// Anthropic's messages.
    #[serde(rename = "anthropic")]
    Anthropic,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderView {
    /// `offline`, or the name in the settings.
    pub name: String,
    /// What it speaks; `None` for the built-in helper.
    pub kind: Option<ProviderKind>,
    /// Base URL; `None` for the built-in helper.
    pub base_url: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// True when it runs on this computer.
    pub local: bool,
    /// True when a key is in the keyring or in memory.
    pub has_key: bool,
    /// True when the key is kept for this run only, because there is no keyring.
    pub key_for_this_run: bool,
}

/// Adds a provider or changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderRequest {
    /// Name.
    pub name: String,
    /// What it speaks. Settings of an earlier version do not say; there was one kind.
    #[serde(default)]
    pub kind: ProviderKind,
    /// Base URL, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Model.
    pub model: String,
}

/// A service or server with its usual address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PresetView {
    /// Short name that stays.
    pub id: String,
    /// Name as its maker writes it.
    pub name: String,
    /// What it speaks.
    pub kind: ProviderKind,
    /// Usual address.
    pub base_url: String,
    /// True when it answers nobody without a key.
    pub needs_key: bool,
    /// True when it runs on this computer.
    pub local: bool,
    /// Model to begin with; empty where the server knows best.
    pub model: String,
}

/// A server of models that was found on this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LocalServerView {
    /// Id of its preset.
    pub preset: String,
    /// Name as its maker writes it.
    pub name: String,
    /// Address.
    pub base_url: String,
    /// Its models; empty while it loads one, or when it has none yet.
    pub models: Vec<String>,
    /// It is there, and its model is not yet.
    pub loading: bool,
    /// Name of the provider that is set up for it already.
    pub provider: Option<String>,
}

/// How a try of a provider came out. Nothing of a workspace was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderTestView {
    /// True when it answered.
    pub ok: bool,
    /// Why not.
    pub code: Option<ErrorCode>,
    /// English words for the log; never a key.
    pub message: String,
    /// What it is about: the host, or the model. Never translated.
    pub subject: String,
    /// True when the model called the tool that it was asked to call. Tasks cannot work without.
    pub called_tool: bool,
    /// The models that the server offers, when it says.
    pub models: Vec<String>,
    /// How long it took.
    #[ts(type = "number")]
    pub millis: u64,
}

/// Tokens of one provider on one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UsageDayView {
    /// The day in UTC, such as `2026-09-17`.
    pub day: String,
    /// Provider.
    pub provider: String,
    /// Tokens; an estimate is marked.
    pub usage: TokenUsage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_version_that_knew_one_kind_are_read() {
        let old = r#"[{"name":"far","base_url":"https://models.example.com/v1","model":"m"}]"#;
        let read: Vec<ProviderRequest> = serde_json::from_str(old).unwrap();
        assert_eq!(read[0].kind, ProviderKind::OpenAiCompatible, "they all spoke that");
        let new =
            serde_json::to_string(&ProviderRequest { kind: ProviderKind::Anthropic, ..read[0].clone() })
                .unwrap();
        assert!(new.contains(r#""kind":"anthropic""#), "the kind is kept from now on: {new}");
        let back: ProviderRequest = serde_json::from_str(&new).unwrap();
        assert_eq!(back.kind, ProviderKind::Anthropic, "and reads back");
    }
}
