//! The wire formats, and where they differ.

use super::config::AnswerLimits;
use super::draft::Reading;
use super::encoding::{Head, Place, Terms};
use super::names::ToolNames;
use super::status::Failure;
use crate::{anthropic, openai};
use bytes::BytesMut;
use pilot_types::{ErrorCode, Message};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde::Serialize;

/// The version of Anthropic's format that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Models that one question for the list may bring.
const MODELS_AT_ONCE: &str = "1000";

/// The fewest tokens of an answer that a server's wish is followed down to.
const FEWEST_OUTPUT: u32 = 256;

/// How a model's server wants to be spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireFormat {
    /// OpenAI-compatible chat completions.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// What is asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Answer,
    Models,
}

/// An answer without a chain of thought, in the words that both formats share.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Thinking {
    Disabled,
}

impl WireFormat {
    /// Where to ask. The base may be given with or without what both of its endpoints have in common.
    pub(crate) fn endpoint(self, base: &Url, endpoint: Endpoint) -> Url {
        let mut url = base.clone();
        let stem = base.path().trim_end_matches('/');
        let path = match self {
            WireFormat::OpenAi => {
                let stem = stem.trim_end_matches("/chat/completions");
                match endpoint {
                    Endpoint::Answer => format!("{stem}/chat/completions"),
                    Endpoint::Models => format!("{stem}/models"),
                }
            }
            WireFormat::Anthropic => {
                let stem = stem.trim_end_matches("/messages").trim_end_matches("/v1");
                match endpoint {
                    Endpoint::Answer => format!("{stem}/v1/messages"),
                    Endpoint::Models => format!("{stem}/v1/models"),
                }
            }
        };
        url.set_path(&path);
        if self == WireFormat::Anthropic && endpoint == Endpoint::Models {
            url.query_pairs_mut().append_pair("limit", MODELS_AT_ONCE);
        }
        url
    }

    /// The header that carries the key, and its text.
    pub(crate) fn key_header(self, key: &str) -> (HeaderName, String) {
        match self {
            WireFormat::OpenAi => (AUTHORIZATION, format!("Bearer {key}")),
            WireFormat::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        }
    }

    /// Headers of every request that hold no secret.
    pub(crate) fn fixed_header(self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            WireFormat::OpenAi => None,
            WireFormat::Anthropic => Some((
                HeaderName::from_static("anthropic-version"),
                HeaderValue::from_static(ANTHROPIC_VERSION),
            )),
        }
    }

    /// Everything before the messages, as a closed object.
    pub(crate) fn head(self, head: &Head<'_>) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            WireFormat::OpenAi => openai::request::head(head),
            WireFormat::Anthropic => anthropic::request::head(head),
        }
    }

    /// Adds a message and says about how many tokens it costs.
    pub(crate) fn message(
        self,
        open: &mut BytesMut,
        place: &mut Place,
        message: &Message,
        names: &ToolNames,
    ) -> Result<u64, serde_json::Error> {
        match self {
            WireFormat::OpenAi => openai::request::message(open, place, message, names),
            WireFormat::Anthropic => anthropic::request::message(open, place, message, names),
        }
    }

    /// What closes a body.
    pub(crate) fn close(self, place: Place) -> &'static [u8] {
        match self {
            WireFormat::OpenAi => openai::request::CLOSE,
            WireFormat::Anthropic => anthropic::request::close(place),
        }
    }

    /// A reader of one answer.
    pub(crate) fn reading(self, limits: &AnswerLimits) -> Box<dyn Reading + '_> {
        match self {
            WireFormat::OpenAi => Box::new(openai::Assembly::new(limits)),
            WireFormat::Anthropic => Box::new(anthropic::Assembly::new(limits)),
        }
    }

    /// Other terms under which a server might take what it just refused; `None` when there are none.
    pub(crate) fn better_terms(self, failure: &Failure, terms: Terms) -> Option<Terms> {
        let error = &failure.error;
        if error.code != ErrorCode::ProviderRejected {
            return None;
        }
        // Some models want their chain of thought back with each call. It is not kept, so it is not asked for.
        let wants_thoughts = error.detail.contains("reasoning_content")
            || (error.detail.contains("thinking") && error.detail.contains("passed back"));
        if wants_thoughts && !terms.no_thinking {
            return Some(Terms { no_thinking: true, ..terms });
        }
        match self {
            WireFormat::OpenAi => None,
            WireFormat::Anthropic => largest_output(&error.detail)
                .filter(|most| (FEWEST_OUTPUT..terms.max_output).contains(most))
                .map(|max_output| Terms { max_output, ..terms }),
        }
    }
}

/// Reads the larger of two numbers out of `max_tokens: 32000 > 8192, which is the maximum …`: what a model can do.
fn largest_output(words: &str) -> Option<u32> {
    let (_, after) = words.split_once("max_tokens: ")?;
    let (_, most) = after.split_once("> ")?;
    most.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::status::Again;

    #[test]
    fn endpoints_hang_below_the_base() {
        let at = |format: WireFormat, base: &str, endpoint| {
            format.endpoint(&Url::parse(base).unwrap(), endpoint).to_string()
        };
        let table = [
            (WireFormat::OpenAi, "https://a.example/v1", "https://a.example/v1/chat/completions"),
            (WireFormat::OpenAi, "https://a.example/v1/", "https://a.example/v1/chat/completions"),
            (WireFormat::OpenAi, "https://a.example", "https://a.example/chat/completions"),
            (
                WireFormat::OpenAi,
                "https://a.example/v1/chat/completions",
                "https://a.example/v1/chat/completions",
            ),
            (WireFormat::OpenAi, "https://a.example/v1?x=1", "https://a.example/v1/chat/completions?x=1"),
            (WireFormat::Anthropic, "https://a.example", "https://a.example/v1/messages"),
            (WireFormat::Anthropic, "https://a.example/v1", "https://a.example/v1/messages"),
            (WireFormat::Anthropic, "https://a.example/v1/messages", "https://a.example/v1/messages"),
            (
                WireFormat::Anthropic,
                "https://a.example/anthropic/",
                "https://a.example/anthropic/v1/messages",
            ),
        ];
        for (format, base, expected) in table {
            assert_eq!(at(format, base, Endpoint::Answer), expected, "{format:?} {base}");
        }
        assert_eq!(
            at(WireFormat::OpenAi, "https://a.example/v1/chat/completions", Endpoint::Models),
            "https://a.example/v1/models",
            "the list of models stands beside the answers"
        );
        assert_eq!(
            at(WireFormat::Anthropic, "https://a.example", Endpoint::Models),
            "https://a.example/v1/models?limit=1000",
            "the whole list at once"
        );
    }

    #[test]
    fn what_a_server_refuses_is_taken_back_once() {
        let refused = |words: &str| Failure::new(Again::Never, ErrorCode::ProviderRejected, words.to_owned());
        let terms = Terms { max_output: 32_000, no_thinking: false };
        let too_long = refused(
            "the provider answered 400: max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
        );
        assert_eq!(
            WireFormat::Anthropic.better_terms(&too_long, terms),
            Some(Terms { max_output: 8_192, no_thinking: false }),
            "the model's own limit"
        );
        assert_eq!(WireFormat::OpenAi.better_terms(&too_long, terms), None, "that format names no limit");
        for words in ["max_tokens: 32000 > 1", "max_tokens: 8192 > 64000", "max_tokens: x > y", "max_tokens"]
        {
            assert_eq!(WireFormat::Anthropic.better_terms(&refused(words), terms), None, "{words}");
        }
        let thoughts =
            refused("The `reasoning_content` in the thinking mode must be passed back to the API.");
        for format in [WireFormat::OpenAi, WireFormat::Anthropic] {
            let changed = format.better_terms(&thoughts, terms);
            assert_eq!(
                changed,
                Some(Terms { no_thinking: true, ..terms }),
                "{format:?}: no chain of thought"
            );
            assert_eq!(
                format.better_terms(&thoughts, Terms { no_thinking: true, ..terms }),
                None,
                "{format:?}: but not again and again"
            );
        }
        let other = Failure::new(Again::Never, ErrorCode::ProviderForbidden, "reasoning_content");
        assert_eq!(WireFormat::OpenAi.better_terms(&other, terms), None, "only a refused request");
    }
}
