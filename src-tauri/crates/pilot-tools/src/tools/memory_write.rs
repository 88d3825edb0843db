//! `memory_write`: the only tool with an effect below `memory/`.

use super::{arguments, perform_write, reading, refused, writer};
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_guard::{Access, UndoStore, WorkspaceGuard};
use pilot_types::{Digest, ErrorCode, PathAccess, PreparedEffect, ToolCall, ToolSpec};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Largest page, in bytes.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// The tool.
pub(crate) struct MemoryWrite {
    guard: WorkspaceGuard,
    undo: Arc<UndoStore>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    mode: Mode,
    content: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Replace,
    Append,
}

impl MemoryWrite {
    pub(crate) fn new(guard: WorkspaceGuard, undo: Arc<UndoStore>) -> Self {
        let spec = writer(
            "memory_write",
            "Proposes a change of memory: memory/MEMORY.md or a diary page memory/YYYY-MM-DD.md. A person sees the \
             exact text and decides. Use it only when the person asked to remember something.",
            "memory:write",
            PathAccess::Memory,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Markdown file below memory/, such as memory/MEMORY.md."},
                    "mode": {"enum": ["replace", "append"], "description": "replace: the page becomes the content; append: the content is added as new lines."},
                    "content": {"type": "string", "description": "Markdown text; together with what stays at most 1 MiB."}
                },
                "required": ["path", "mode", "content"],
                "additionalProperties": false
            }),
        );
        Self { guard, undo, spec }
    }
}

#[async_trait]
impl Tool for MemoryWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, call: &ToolCall, context: &ToolContext) -> Result<PreparedEffect, ToolError> {
        let Arguments { path, mode, content } = arguments(call)?;
        let guard = self.guard.clone();
        reading(context, move || {
            let path =
                guard.check(&path, Access::Memory).map_err(|error| refused(&error))?.as_str().to_owned();
            let (bytes, base) = match mode {
                Mode::Replace => {
                    (content.into_bytes(), guard.digest(&path).map_err(|error| refused(&error))?)
                }
                Mode::Append => {
                    let present = present_bytes(&guard, &path)?;
                    let base = present.as_deref().map(Digest::of);
                    (append(present.unwrap_or_default(), &content)?, base)
                }
            };
            if bytes.len() > MAX_PAGE_BYTES {
                return Err(too_large());
            }
            Ok(PreparedEffect::WriteFile { path, bytes, base })
        })
        .await
    }

    async fn run(&self, call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        perform_write(&self.guard, &self.undo, Access::Memory, &call).await
    }
}

fn present_bytes(guard: &WorkspaceGuard, path: &str) -> Result<Option<Vec<u8>>, ToolError> {
    match guard.open_file(path) {
        Ok(mut file) => file.read_all(MAX_PAGE_BYTES as u64).map(Some).map_err(|error| refused(&error)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(refused(&error)),
    }
}

/// Adds lines at the end. Never glues the first new line to the last old one.
fn append(mut present: Vec<u8>, content: &str) -> Result<Vec<u8>, ToolError> {
    let Ok(text) = std::str::from_utf8(&present) else {
        return Err(ToolError::new(ErrorCode::ToolFailed, "the page is not UTF-8; it can only be replaced"));
    };
    if !text.is_empty() && !text.ends_with('\n') {
        let line_end: &[u8] = if text.contains("\r\n") { b"\r\n" } else { b"\n" };
        present.extend_from_slice(line_end);
    }
    present.extend_from_slice(content.as_bytes());
    Ok(present)
}

fn too_large() -> ToolError {
    ToolError::new(ErrorCode::TooLarge, "a memory page can have at most 1 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appending_never_glues_lines() {
        for (present, content, expected) in [
            ("", "a\n", "a\n"),
            ("a", "b", "a\nb"),
            ("a\n", "b\n", "a\nb\n"),
            ("a\r\nb", "c", "a\r\nb\r\nc"),
            ("a\n\n", "b", "a\n\nb"),
        ] {
            let bytes = append(present.as_bytes().to_vec(), content).expect("UTF-8 can be appended to");
            assert_eq!(String::from_utf8_lossy(&bytes), expected, "{present:?} + {content:?}");
        }
        assert!(append(vec![0xff, 0xfe], "x").is_err(), "text is not glued to bytes of another encoding");
    }
}
