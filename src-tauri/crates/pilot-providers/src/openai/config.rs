//! Where the model is, and how much of what is put up with.

use super::address;
use pilot_agent::ModelError;
use pilot_types::ErrorCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Where a model is and how it is asked.
#[derive(Clone, Debug)]
pub struct OpenAiConfig {
    /// Address before `/chat/completions`: https, or http on this computer.
    pub base_url: String,
    /// Model name as the server knows it.
    pub model: String,
    /// Key, sent as `Authorization: Bearer`.
    pub key: Option<SecretString>,
    /// Further headers. Their values may be secrets too.
    pub headers: Vec<(String, SecretString)>,
    /// Bounds of one answer.
    pub limits: AnswerLimits,
    /// Waits and retries; `None` takes [`Patience::for_address`].
    pub patience: Option<Patience>,
}

/// Bounds of one answer. Whatever a server sends, no more than this is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Bytes of one line of the stream. A server that does not send calls in pieces puts a whole call into one.
    pub line: usize,
    /// Bytes that cross the wire. A token of text costs about 300 of them.
    pub wire: u64,
    /// Bytes of words and arguments together.
    pub answer: usize,
    /// Bytes of the arguments of one call, as JSON: the largest file that can be written, escaped.
    pub arguments: usize,
    /// Calls; those beyond are dropped.
    pub calls: usize,
    /// Nesting of arguments.
    pub depth: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { line: 12 << 20, wire: 128 << 20, answer: 16 << 20, arguments: 8 << 20, calls: 128, depth: 64 }
    }
}

/// How long is waited, and how often is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte of an answer.
    pub first_byte: Duration,
    /// For the next byte.
    pub idle: Duration,
    /// For what may follow an answer that is already complete: the usage and the end of the stream.
    pub tail: Duration,
    /// For a model that is being loaded.
    pub loading: Duration,
    /// Between two questions to a server that loads its model.
    pub loading_pause: Duration,
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// Before the second attempt; doubled before each further one, less up to a half by chance.
    pub pause: Duration,
    /// The longest wait that a server may ask for.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            tail: Duration::from_secs(5),
            loading: Duration::from_secs(60),
            loading_pause: Duration::from_secs(1),
            attempts: 4,
            pause: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl Patience {
    /// The usual patience for an address. A model on this computer may think for minutes before its first word, since
    /// it may have no graphics card to read a long conversation with.
    #[must_use]
    pub fn for_address(base_url: &str) -> Self {
        let usual = Self::default();
        if address::is_local(base_url) {
            Self { first_byte: Duration::from_secs(300), ..usual }
        } else {
            usual
        }
    }
}

impl OpenAiConfig {
    /// The usual configuration of a model at an address.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, key: Option<SecretString>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key,
            headers: Vec::new(),
            limits: AnswerLimits::default(),
            patience: None,
        }
    }

    pub(super) fn patience(&self) -> Patience {
        self.patience.clone().unwrap_or_else(|| Patience::for_address(&self.base_url))
    }

    /// The headers of every request. Those that may hold a secret are marked so that no log shows them.
    pub(super) fn http_headers(&self) -> Result<HeaderMap, ModelError> {
        let invalid = |words: &str| ModelError::new(ErrorCode::SettingsInvalid, words.to_owned());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        let key = self.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty());
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| invalid("the key holds characters that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| invalid("a header has a name that cannot be sent"))?;
            let mut value = HeaderValue::from_str(value.expose_secret().trim())
                .map_err(|_| invalid("a header holds characters that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_can_be_printed() {
        let mut config =
            OpenAiConfig::new("https://api.example.com/v1", "m", Some(SecretString::from("sk-canary-key")));
        config.headers.push(("X-Org".to_owned(), SecretString::from("canary-header")));
        let shown = format!("{config:?} {:?}", config.http_headers().unwrap());
        assert!(!shown.contains("canary"), "neither key nor header value appears: {shown}");
    }

    #[test]
    fn a_key_is_sent_whole_or_not_at_all() {
        let headers = |key: &str| {
            OpenAiConfig::new("https://a.example", "m", Some(SecretString::from(key))).http_headers()
        };
        let sent = headers(" sk-1\n").unwrap();
        assert_eq!(sent[AUTHORIZATION], "Bearer sk-1", "blanks around a pasted key are dropped");
        assert!(headers("  ").unwrap().get(AUTHORIZATION).is_none(), "an empty key is no key");
        let error = headers("sk\r\nX-Evil: 1").unwrap_err();
        assert_eq!(error.code, ErrorCode::SettingsInvalid, "a key cannot smuggle a header");
        assert!(!error.detail.contains("sk"), "and does not come back in words");
    }
}
