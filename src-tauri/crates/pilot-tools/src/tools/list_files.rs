//! `list_files`: what is in a folder, two levels deep.

use super::{arguments, reader, reading, refused, shown_time, to_text};
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_guard::{EntryKind, ListOptions, WorkspaceGuard};
use pilot_types::{ErrorCode, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;

const DEPTH: u32 = 2;
const LIMIT: usize = 100;

/// The tool.
pub(crate) struct ListFiles {
    guard: WorkspaceGuard,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default = "whole_workspace")]
    path: String,
}

fn whole_workspace() -> String {
    ".".to_owned()
}

#[derive(Serialize)]
struct Answer {
    path: String,
    entries: Vec<AnswerEntry>,
    total: usize,
    cut: bool,
}

#[derive(Serialize)]
struct AnswerEntry {
    path: String,
    kind: &'static str,
    /// Why it cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

impl ListFiles {
    pub(crate) fn new(guard: WorkspaceGuard) -> Self {
        let spec = reader(
            "list_files",
            "Lists files and folders two levels deep, at most 100 entries, with sizes in bytes and times in UTC. `cut` \
             says that there is more: list a subfolder then.",
            "file:read",
            &["path"],
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Folder relative to the workspace; the whole workspace when left out."}
                },
                "additionalProperties": false
            }),
        );
        Self { guard, spec }
    }
}

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError> {
        let Arguments { path } = arguments(call.call())?;
        let guard = self.guard.clone();
        reading(context, move || {
            let options = ListOptions { depth: DEPTH, limit: LIMIT, offset: 0 };
            let listing = guard.list(&path, &options).map_err(|error| refused(&error))?;
            let entries = listing.entries.into_iter().map(|entry| {
                let (kind, code) = match entry.kind {
                    EntryKind::File => ("file", None),
                    EntryKind::Folder => ("folder", None),
                    EntryKind::Refused(code) => ("refused", Some(code)),
                };
                AnswerEntry {
                    path: entry.path,
                    kind,
                    code,
                    size: entry.size,
                    modified: entry.modified.map(shown_time),
                }
            });
            to_text(&Answer { path, entries: entries.collect(), total: listing.total, cut: listing.cut })
        })
        .await
    }
}
