//! Services and servers that many people use: what has to be typed is typed for them. A suggested model is only a
//! beginning; the list that the server itself gives is what a person chooses from.

use crate::http::WireFormat;

/// A service or server with its usual address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Short name that stays.
    pub id: &'static str,
    /// Name as its maker writes it.
    pub name: &'static str,
    /// What it speaks.
    pub format: WireFormat,
    /// Usual address.
    pub base_url: &'static str,
    /// True when it answers nobody without a key.
    pub needs_key: bool,
    /// Model to begin with; empty where the server knows best.
    pub model: &'static str,
}

/// All presets: services first, then servers on this computer.
pub const PRESETS: &[Preset] = &[
    service("openai", "OpenAI", WireFormat::OpenAi, "https://api.openai.com/v1", "gpt-5.4-mini"),
    service(
        "anthropic",
        "Anthropic",
        WireFormat::Anthropic,
        "https://api.anthropic.com/v1",
        "claude-sonnet-5-5",
    ),
    service("deepseek", "DeepSeek", WireFormat::OpenAi, "https://api.deepseek.com", "deepseek-flash"),
    service(
        "qwen",
        "Qwen (DashScope)",
        WireFormat::OpenAi,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen-plus",
    ),
    service("moonshot", "Moonshot (Kimi)", WireFormat::OpenAi, "https://api.moonshot.cn/v1", "kimi-k2.6"),
    here(OLLAMA, "Ollama", "http://127.0.0.1:11434/v1"),
    here(LM_STUDIO, "LM Studio", "http://127.0.0.1:1234/v1"),
    here(LLAMA_CPP, "llama.cpp", "http://127.0.0.1:8080/v1"),
    here("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
];

/// Servers on this computer that are looked for.
pub(crate) const OLLAMA: &str = "ollama";
pub(crate) const LM_STUDIO: &str = "lm-studio";
pub(crate) const LLAMA_CPP: &str = "llama-cpp";

/// The preset of that id.
#[must_use]
pub fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}

const fn service(
    id: &'static str,
    name: &'static str,
    format: WireFormat,
    base_url: &'static str,
    model: &'static str,
) -> Preset {
    Preset { id, name, format, base_url, needs_key: true, model }
}

const fn here(id: &'static str, name: &'static str, base_url: &'static str) -> Preset {
    Preset { id, name, format: WireFormat::OpenAi, base_url, needs_key: false, model: "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{check_base_url, is_local};
    use std::collections::HashSet;

    #[test]
    fn every_preset_can_be_used_as_it_stands() {
        let ids: HashSet<&str> = PRESETS.iter().map(|preset| preset.id).collect();
        assert_eq!(ids.len(), PRESETS.len(), "an id names one preset");
        for entry in PRESETS {
            assert!(check_base_url(entry.base_url).is_ok(), "{}: its address passes the check", entry.id);
            assert_eq!(
                entry.needs_key,
                !is_local(entry.base_url),
                "{}: a key is for what is elsewhere",
                entry.id
            );
            assert_eq!(
                entry.needs_key,
                !entry.model.is_empty(),
                "{}: a service has a model to begin with",
                entry.id
            );
            assert_eq!(preset(entry.id), Some(entry), "{}: it is found by its id", entry.id);
        }
        assert_eq!(preset("nobody"), None, "an unknown id has none");
    }
}
