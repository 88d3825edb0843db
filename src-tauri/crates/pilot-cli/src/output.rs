//! Where words and rows go: JSON lines and answers to standard output, everything else to standard error.

use crate::words;
use pilot_service::ServiceError;
use serde::Serialize;
use std::io::{IsTerminal as _, Write as _};

/// The two streams of one command.
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) chinese: bool,
    pub(crate) colour: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { json, chinese: words::chinese(), colour }
    }

    /// A row: the object itself in JSON mode, the words otherwise.
    pub(crate) fn row(&self, value: &impl Serialize, words: &str) {
        if self.json { self.object(value) } else { self.line(words) }
    }

    /// An object on a line of its own; only in JSON mode.
    pub(crate) fn object(&self, value: &impl Serialize) {
        if self.json
            && let Ok(text) = serde_json::to_string(value)
        {
            self.line(&text);
        }
    }

    /// A line on standard output. A reader that went away is no reason to fail.
    pub(crate) fn line(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}");
    }

    /// A piece of streaming text, only where a person reads.
    pub(crate) fn piece(&self, text: &str) {
        if !self.json {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "{}", pilot_review::shown_text(text));
            let _ = out.flush();
        }
    }

    /// Words for a person, on standard error.
    pub(crate) fn say(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Chooses by language.
    pub(crate) fn pick<'a>(&self, en: &'a str, zh: &'a str) -> &'a str {
        if self.chinese { zh } else { en }
    }

    /// Says what went wrong: words to standard error, and in JSON mode an object to standard output.
    pub(crate) fn failed(&self, error: &ServiceError) {
        let subject = error
            .subject()
            .map(|subject| format!(" ({})", pilot_review::shown_text(subject)))
            .unwrap_or_default();
        self.say(&format!(
            "{}{subject}\n  {}: {}",
            words::of(error.code(), self.chinese),
            error.code(),
            error.detail()
        ));
        let view = error.view();
        self.object(&serde_json::json!({ "type": "error", "code": view.code, "message": view.message, "subject": view.subject }));
    }
}
