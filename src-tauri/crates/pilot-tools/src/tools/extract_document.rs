//! `extract_document`: text, tables and invoice fields of one document.

use super::{arguments, reader, reading, refused, to_text};
use crate::document_window;
use crate::extraction::{Extraction, ExtractionError};
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_documents::{DocumentStatus, ExtractOptions};
use pilot_guard::WorkspaceGuard;
use pilot_types::{ErrorCode, ToolSpec};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Most of one answer, in bytes of JSON.
const ANSWER_BYTES: usize = 100 * 1024;

/// The tool.
pub(crate) struct ExtractDocument {
    guard: WorkspaceGuard,
    extraction: Arc<Extraction>,
    spec: ToolSpec,
    chinese: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default)]
    pages: Option<String>,
    #[serde(default)]
    sheet: Option<String>,
    #[serde(default)]
    offset: u64,
}

impl ExtractDocument {
    pub(crate) fn new(guard: WorkspaceGuard, extraction: Arc<Extraction>, chinese: bool) -> Self {
        let spec = reader(
            "extract_document",
            "Reads a PDF, Word, Excel, ODS, OFD or invoice XML document: parts with page or sheet, text, tables with \
             row numbers, and the fields of a recognised invoice. Says when pages are only pictures. At most 100 KB a \
             call; `left` says how much remains, call again with `next_offset`.",
            "file:read",
            &["path"],
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Document relative to the workspace."},
                    "pages": {"type": "string", "pattern": "^[0-9]{1,6}(-[0-9]{1,6})?$", "description": "One page or a range, such as 2 or 1-3; all when left out."},
                    "sheet": {"type": "string", "maxLength": 255, "description": "One sheet of a workbook by name; all when left out."},
                    "offset": {"type": "integer", "minimum": 0, "description": "next_offset of the call before; 0 when left out."}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        );
        Self { guard, extraction, spec, chinese }
    }
}

#[async_trait]
impl Tool for ExtractDocument {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError> {
        let Arguments { path, pages, sheet, offset } = arguments(call.call())?;
        let options = ExtractOptions {
            pages: pages.as_deref().map(page_range).transpose()?,
            sheet,
            chinese: self.chinese,
        };
        let (guard, to_open) = (self.guard.clone(), path.clone());
        let file =
            reading(context, move || guard.open_file(&to_open).map_err(|error| refused(&error))).await?;
        let document =
            self.extraction.extract(file, &path, &options, &context.cancel).await.map_err(|e| failed(&e))?;
        if document.status == DocumentStatus::Refused {
            let code = document.code.unwrap_or(ErrorCode::DocumentBroken);
            let said = document.notes.join("; ");
            return Err(ToolError::new(
                code,
                if said.is_empty() { "the document cannot be read".into() } else { said },
            ));
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        to_text(&document_window::cut(&path, document, offset, ANSWER_BYTES))
    }
}

/// Words for the model about an extraction that could not be done at all.
pub(super) fn failed(error: &ExtractionError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

fn page_range(text: &str) -> Result<(u32, u32), ToolError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
        (Ok(first), Ok(last)) if first >= 1 && first <= last => Ok((first, last)),
        _ => Err(ToolError::new(
            ErrorCode::InvalidArguments,
            "pages must be a page or a range from 1, such as 1-3",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_a_number_or_a_range_from_one() {
        assert_eq!(page_range("2"), Ok((2, 2)), "one page");
        assert_eq!(page_range("1-3"), Ok((1, 3)), "a range");
        for bad in ["0", "3-1", "a", "", "1-", "99999999999"] {
            assert_eq!(page_range(bad).map_err(|e| e.code), Err(ErrorCode::InvalidArguments), "{bad:?}");
        }
    }
}
