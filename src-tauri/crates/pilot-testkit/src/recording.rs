//! Recorded wire traffic of real model servers, where it lies beside the checkout.
#![expect(clippy::disallowed_methods, reason = "test support: it reads test data beside the checkout")]

use crate::reply::{Piece, Reply};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder `shared` beside the checkout. `None` where there is none; such a test says that it was skipped.
#[must_use]
pub fn shared_folder() -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared"))
        .find(|folder| folder.join("llm").is_dir())
}

/// One recorded exchange.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The request's body.
    pub request: Value,
    /// The answer.
    pub reply: Reply,
}

/// The exchanges of a recording, in order; empty when the recording is not there or is none. Silences are left out.
#[must_use]
pub fn recordings(name: &str) -> Vec<Recording> {
    let Some(folder) = shared_folder() else { return Vec::new() };
    let Ok(text) = std::fs::read_to_string(folder.join("llm/recordings").join(name)) else {
        return Vec::new();
    };
    exchanges(&text)
}

/// The exchanges of a text in the form of the recordings: one JSON object a line, `{"request", "response": {"status",
/// "headers", "sse": [[seconds, line] …] | "body"}}`. Lines that are none are left out.
#[must_use]
pub fn exchanges(text: &str) -> Vec<Recording> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter_map(exchange).collect()
}

fn exchange(line: Value) -> Option<Recording> {
    let response = line.get("response")?;
    let status = u16::try_from(response.get("status")?.as_u64()?).ok()?;
    let content_type =
        response.pointer("/headers/Content-Type").and_then(Value::as_str).unwrap_or("text/event-stream");
    let mut reply = Reply::new(status, content_type, Vec::new());
    reply.pieces =
        match (response.get("sse").and_then(Value::as_array), response.get("body").and_then(Value::as_str)) {
            (Some(lines), _) => {
                let text = |entry: &Value| {
                    entry.get(1).and_then(Value::as_str).unwrap_or_default().as_bytes().to_vec()
                };
                lines.iter().map(|entry| Piece::Bytes(text(entry))).collect()
            }
            (None, Some(body)) => vec![Piece::Bytes(body.as_bytes().to_vec())],
            (None, None) => Vec::new(),
        };
    Some(Recording { request: line.get("request")?.clone(), reply })
}
