//! Where the model is, and how much of what is put up with.

use super::address;
use super::format::WireFormat;
use pilot_agent::ModelError;
use pilot_types::ErrorCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Enough for a long report and the thoughts before it.
const MAX_OUTPUT: u32 = 32_000;

/// Where a model is and how it is asked.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// What the server speaks.
    pub format: WireFormat,
    /// Address before `/chat/completions` or `/v1/messages`: https, or http on this computer.
    pub base_url: String,
    /// Model name as the server knows it.
    pub model: String,
    /// Key, sent as `Authorization: Bearer` or `x-api-key`.
    pub key: Option<SecretString>,
    /// Further headers. Their values may be secrets too.
    pub headers: Vec<(String, SecretString)>,
    /// Tokens of one answer at most, for a format that wants to be told. A model that can do less says so, and is asked for less.
    pub max_output: u32,
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

impl HttpConfig {
    /// The usual configuration of a model at an address.
    #[must_use]
    pub fn new(
        format: WireFormat,
        base_url: impl Into<String>,
        model: impl Into<String>,
        key: Option<SecretString>,
    ) -> Self {
        Self {
            format,
            base_url: base_url.into(),
            model: model.into(),
            key,
            headers: Vec::new(),
            max_output: MAX_OUTPUT,
            limits: AnswerLimits::default(),
            patience: None,
        }
    }

    pub(crate) fn patience(&self) -> Patience {
        self.patience.clone().unwrap_or_else(|| Patience::for_address(&self.base_url))
    }

    /// The headers of every request. Those that may hold a secret are marked so that no log shows them.
    pub(crate) fn http_headers(&self) -> Result<HeaderMap, ModelError> {
        let invalid = |words: &str| ModelError::new(ErrorCode::SettingsInvalid, words.to_owned());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        let key = self.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty());
        if let Some((name, value)) = self.format.fixed_header() {
            headers.insert(name, value);
        }
        if let Some(key) = key {
            let (name, text) = self.format.key_header(key);
            let mut value = HeaderValue::from_str(&text)
                .map_err(|_| invalid("the key holds characters that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
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

    const FORMATS: [(WireFormat, &str, &str); 2] =
        [(WireFormat::OpenAi, "authorization", "Bearer sk-1"), (WireFormat::Anthropic, "x-api-key", "sk-1")];

    fn with_key(format: WireFormat, key: &str) -> HttpConfig {
        HttpConfig::new(format, "https://a.example", "m", Some(SecretString::from(key)))
    }

    #[test]
    fn no_secret_can_be_printed() {
        for (format, _, _) in FORMATS {
            let mut config = with_key(format, "sk-canary-key");
            config.headers.push(("X-Org".to_owned(), SecretString::from("canary-header")));
            let shown = format!("{config:?} {:?}", config.http_headers().unwrap());
            assert!(!shown.contains("canary"), "{format:?}: neither key nor header value appears: {shown}");
        }
    }

    #[test]
    fn a_key_is_sent_whole_or_not_at_all() {
        for (format, name, value) in FORMATS {
            let sent = with_key(format, " sk-1\n").http_headers().unwrap();
            assert_eq!(sent[name], value, "{format:?}: blanks around a pasted key are dropped");
            let none = with_key(format, "  ").http_headers().unwrap();
            assert!(none.get(name).is_none(), "{format:?}: an empty key is no key");
            let error = with_key(format, "sk\r\nX-Evil: 1").http_headers().unwrap_err();
            assert_eq!(error.code, ErrorCode::SettingsInvalid, "{format:?}: a key cannot smuggle a header");
            assert!(!error.detail.contains("sk"), "{format:?}: and does not come back in words");
        }
    }

    #[test]
    fn each_format_names_its_version_and_no_other_key_header() {
        let sent = with_key(WireFormat::Anthropic, "sk-1").http_headers().unwrap();
        assert_eq!(sent["anthropic-version"], "2023-06-01", "the version that is spoken here");
        assert!(sent.get("authorization").is_none(), "the key goes once");
        let sent = with_key(WireFormat::OpenAi, "sk-1").http_headers().unwrap();
        assert!(
            sent.get("x-api-key").is_none() && sent.get("anthropic-version").is_none(),
            "nothing of the other"
        );
    }
}
