//! `read_file`: text as it stands, with its encoding named.

use super::{arguments, keep_start, reader, reading, refused, to_text};
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_documents::text;
use pilot_guard::WorkspaceGuard;
use pilot_types::{ErrorCode, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most text of one answer, in bytes of UTF-8.
pub(crate) const WINDOW_BYTES: usize = 100 * 1024;
/// Largest file that is decoded.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
const KINDS: &[&str] = &["txt", "csv", "json", "md"];

/// The tool.
pub(crate) struct ReadFile {
    guard: WorkspaceGuard,
    spec: ToolSpec,
    chinese: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default)]
    offset: u64,
}

#[derive(Serialize)]
struct Answer<'a> {
    path: &'a str,
    encoding: &'a str,
    size: u64,
    offset: usize,
    cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    text: &'a str,
}

impl ReadFile {
    pub(crate) fn new(guard: WorkspaceGuard, chinese: bool) -> Self {
        Self::named("read_file", guard, chinese)
    }

    /// The same under another name.
    pub(crate) fn named(name: &str, guard: WorkspaceGuard, chinese: bool) -> Self {
        let spec = reader(
            name,
            "Reads a txt, csv, json or md file as text and names its encoding. At most 100 KB a call; when `cut` is \
             true, call again with `next_offset`. For sums over tables use analyze_table; for PDF, Word, Excel and \
             OFD use extract_document.",
            "file:read",
            &["path"],
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "File relative to the workspace."},
                    "offset": {"type": "integer", "minimum": 0, "description": "Where to begin, in bytes of the text as UTF-8; 0 when left out."}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        );
        Self { guard, spec, chinese }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError> {
        let Arguments { path, offset } = arguments(call.call())?;
        if !ending_of(&path).is_some_and(|ending| KINDS.contains(&ending.as_str())) {
            return Err(ToolError::new(
                ErrorCode::DocumentUnsupported,
                "read_file reads txt, csv, json and md; use extract_document for other documents",
            ));
        }
        let (guard, chinese) = (self.guard.clone(), self.chinese);
        reading(context, move || read(&guard, &path, offset, chinese)).await
    }
}

fn read(guard: &WorkspaceGuard, path: &str, offset: u64, chinese: bool) -> Result<String, ToolError> {
    let mut file = guard.open_file(path).map_err(|error| refused(&error))?;
    let size = file.len();
    if size > MAX_FILE_BYTES {
        return Err(ToolError::new(
            ErrorCode::TooLarge,
            format!("{size} bytes is more than the 64 MiB that can be read"),
        ));
    }
    let bytes = file.read_all(MAX_FILE_BYTES).map_err(|error| refused(&error))?;
    let decoded = text::decode(&bytes, chinese);
    if decoded.text.contains('\0') {
        return Err(ToolError::new(ErrorCode::DocumentUnsupported, "the file holds binary data, not text"));
    }
    let whole = decoded.text.as_str();
    let mut start = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
    while !whole.is_char_boundary(start) {
        start -= 1;
    }
    let window = keep_start(&whole[start..], WINDOW_BYTES);
    let next = start + window.len();
    let cut = next < whole.len();
    to_text(&Answer {
        path,
        encoding: &decoded.encoding,
        size,
        offset: start,
        cut,
        next_offset: cut.then_some(next),
        text: window,
    })
}

/// The ending of a file name, lower case, without the dot.
pub(super) fn ending_of(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase())
}
