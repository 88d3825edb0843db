//! `write_file`: a whole md, csv or xlsx file, worked out to the last byte before anybody is asked.

use super::{arguments, perform_write, reading, refused, writer};
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_documents::{limits, read_table, write};
use pilot_guard::{Access, UndoStore, WorkspaceGuard};
use pilot_types::{ErrorCode, PathAccess, PreparedEffect, ToolCall, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Largest file, in bytes.
const MAX_FILE_BYTES: usize = 5 * 1024 * 1024;

/// The tool.
pub(crate) struct WriteFile {
    guard: WorkspaceGuard,
    undo: Arc<UndoStore>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    sheets: Option<Vec<write::SheetSpec>>,
    #[serde(default)]
    chart: Option<write::ChartSpec>,
}

impl WriteFile {
    pub(crate) fn new(guard: WorkspaceGuard, undo: Arc<UndoStore>) -> Self {
        let spec = writer(
            "write_file",
            "Proposes a whole file: md or csv from content, xlsx from sheets. A person sees the exact content and \
             decides; nothing is written before. Cells are data: text that looks like a formula stays text.",
            "file:write",
            PathAccess::Write,
            parameters(),
        );
        Self { guard, undo, spec }
    }

    /// The same for text alone, under another name.
    pub(crate) fn text_only(name: &str, guard: WorkspaceGuard, undo: Arc<UndoStore>) -> Self {
        let spec = writer(
            name,
            "Proposes a whole md or csv file. A person sees the exact content and decides; nothing is written before.",
            "file:write",
            PathAccess::Write,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "New or existing .md or .csv file relative to the workspace."},
                    "content": {"type": "string", "description": "Whole text of the file."}
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        );
        Self { guard, undo, spec }
    }
}

fn parameters() -> Value {
    let cell = json!({"type": ["string", "number", "null"]});
    let column = json!({
        "type": "object",
        "properties": {
            "header": {"type": "string"},
            "format": {"type": "string", "description": "text, number, integer, amount, percent, date, or a number format such as #,##0.00."}
        },
        "required": ["header"],
        "additionalProperties": false
    });
    let sheet = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 31},
            "columns": {"type": "array", "items": column, "description": "Headers with number formats; without them the first row is the header."},
            "rows": {"type": "array", "items": {"type": "array", "items": cell}, "description": "Rows of cells: text, numbers or null. Invoice numbers and other identifiers as text."}
        },
        "required": ["name", "rows"],
        "additionalProperties": false
    });
    let chart = json!({
        "type": "object",
        "description": "A chart beside the table of one sheet.",
        "properties": {
            "kind": {"enum": ["bar", "line"]},
            "sheet": {"type": "string", "description": "Name of the sheet."},
            "categories": {"type": "string", "description": "Header or letter of the column with the names."},
            "values": {"type": "string", "description": "Header or letter of the column with the numbers."},
            "title": {"type": "string"}
        },
        "required": ["kind", "sheet", "categories", "values"],
        "additionalProperties": false
    });
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "New or existing .md, .csv or .xlsx file relative to the workspace."},
            "content": {"type": "string", "description": "Whole text of a md or csv file."},
            "sheets": {"type": "array", "minItems": 1, "maxItems": 60, "items": sheet, "description": "Sheets of a xlsx file, instead of content."},
            "chart": chart
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, call: &ToolCall, context: &ToolContext) -> Result<PreparedEffect, ToolError> {
        let arguments: Arguments = arguments(call)?;
        let guard = self.guard.clone();
        reading(context, move || {
            let path = guard.check(&arguments.path, Access::Write).map_err(|error| refused(&error))?;
            let bytes = final_bytes(path.extension().as_deref(), arguments)?;
            if bytes.len() > MAX_FILE_BYTES {
                let words = format!("{} bytes is more than the 5 MiB that can be written", bytes.len());
                return Err(ToolError::new(ErrorCode::TooLarge, words));
            }
            let path = path.as_str().to_owned();
            let base = guard.digest(&path).map_err(|error| refused(&error))?;
            Ok(PreparedEffect::WriteFile { path, bytes, base })
        })
        .await
    }

    async fn run(&self, call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        perform_write(&self.guard, &self.undo, Access::Write, &call).await
    }
}

/// The bytes of the file. The same arguments always give the same bytes.
fn final_bytes(extension: Option<&str>, arguments: Arguments) -> Result<Vec<u8>, ToolError> {
    let Arguments { content, sheets, chart, .. } = arguments;
    match (extension, content, sheets, chart) {
        (Some("md"), Some(content), None, None) => Ok(content.into_bytes()),
        (Some("csv"), Some(content), None, None) => csv(&content),
        (Some("xlsx"), None, Some(sheets), chart) => {
            write::xlsx(&sheets, chart.as_ref()).map_err(|error| bad(&error))
        }
        (Some("md" | "csv"), ..) => {
            Err(invalid("a md or csv file takes content, and neither sheets nor chart"))
        }
        (Some("xlsx"), ..) => Err(invalid("a xlsx file takes sheets and no content")),
        (Some(_) | None, ..) => {
            Err(ToolError::new(ErrorCode::PathExtension, "only md, csv and xlsx can be written"))
        }
    }
}

/// The same rows as data: no cell is a formula, UTF-8 with the mark that spreadsheet programs need.
fn csv(content: &str) -> Result<Vec<u8>, ToolError> {
    // The writer keeps as many rows as a table has; more would be lost without a word.
    if read_table("rows.csv", content.as_bytes()) == Err(ErrorCode::DocumentLimit) {
        let words = format!("a csv can have at most {} rows", limits::CSV_TABLE_ROWS);
        return Err(ToolError::new(ErrorCode::TooLarge, words));
    }
    Ok(write::csv_from_text(content))
}

fn bad(error: &pilot_documents::DocumentError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
