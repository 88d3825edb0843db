//! `analyze_table`: exact totals over tables and invoice documents. Arithmetic lives here, never in a model.

use super::extract_document::failed;
use super::read_file::ending_of;
use super::{arguments, reader, reading, refused, to_text};
use crate::analysis_window;
use crate::extraction::Extraction;
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_documents::{AnalyzeOptions, ColumnChoice};
use pilot_guard::WorkspaceGuard;
use pilot_types::{ErrorCode, ToolSpec};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Most of one answer, in bytes of JSON.
const ANSWER_BYTES: usize = 60 * 1024;
/// How deep a folder is looked through.
const DEPTH: u32 = 4;
/// Most files of one analysis.
const MAX_FILES: usize = 2_000;
/// Names of files that were left aside, in one remark.
const NAMED_FILES: usize = 10;
/// Endings of documents that are counted when they are found in a folder. A file that is named is always tried.
const COUNTED: &[&str] =
    &["csv", "tsv", "xlsx", "xlsm", "xltx", "xls", "et", "xlsb", "ods", "pdf", "docx", "ofd", "xml"];

/// The tool.
pub(crate) struct AnalyzeTable {
    guard: WorkspaceGuard,
    extraction: Arc<Extraction>,
    spec: ToolSpec,
    chinese: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    paths: Option<Vec<String>>,
    #[serde(default)]
    outlier_multiplier: Option<serde_json::Number>,
    #[serde(default)]
    columns: ColumnChoice,
}

/// The files of one analysis, and remarks on what was left aside.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileSelection {
    /// Paths in the order in which they are read.
    pub paths: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl AnalyzeTable {
    pub(crate) fn new(guard: WorkspaceGuard, extraction: Arc<Extraction>, chinese: bool) -> Self {
        let spec = reader(
            "analyze_table",
            "Exact totals over one or several tables (csv, xlsx, xls, ods) and invoice documents (PDF, OFD, XML, docx), \
             or over a whole folder: by supplier, month and currency; median and outliers; duplicates, counted once; \
             conflicts; rows that could not be read. Every row names file, sheet or page, and row. Use it for every \
             figure; do not calculate yourself.",
            "file:read",
            &["path", "paths"],
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "A file or a folder relative to the workspace; . for the whole workspace. Folders are read 4 levels deep, at most 2,000 files."},
                    "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_FILES, "description": "Several files or folders, instead of path."},
                    "outlier_multiplier": {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "description": "An amount above median × this is an outlier of its currency; 3 when left out."},
                    "columns": {
                        "type": "object",
                        "description": "Headers to take instead of the ones that are found.",
                        "properties": {
                            "supplier": {"type": "string", "maxLength": 1000, "description": "Header of the supplier column."},
                            "amount": {"type": "string", "maxLength": 1000, "description": "Header of the amount column."},
                            "date": {"type": "string", "maxLength": 1000, "description": "Header of the date column."}
                        },
                        "additionalProperties": false
                    }
                },
                "additionalProperties": false
            }),
        );
        Self { guard, extraction, spec, chinese }
    }
}

#[async_trait]
impl Tool for AnalyzeTable {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: AuthorizedCall, context: &ToolContext) -> Result<String, ToolError> {
        let Arguments { path, paths, outlier_multiplier, columns } = arguments(call.call())?;
        let asked = match (path, paths) {
            (Some(_), Some(_)) => return Err(invalid("give either path or paths, not both")),
            (None, Some(paths)) => paths,
            (path, None) => vec![path.unwrap_or_else(|| ".".to_owned())],
        };
        let mut options = AnalyzeOptions { columns, chinese: self.chinese, ..AnalyzeOptions::default() };
        if let Some(number) = outlier_multiplier {
            options.outlier_multiplier = multiplier(&number)?;
        }
        let guard = self.guard.clone();
        let selection =
            reading(context, move || select_files(&guard, &asked).map_err(|error| refused(&error))).await?;
        if selection.paths.is_empty() {
            let mut said = "there is no table or invoice document".to_owned();
            selection.notes.iter().for_each(|note| said.push_str(&format!("; {note}")));
            return Err(ToolError::new(ErrorCode::NotFound, said));
        }
        let analysis = self
            .extraction
            .analyze(&self.guard, &selection.paths, &options, &context.cancel, &|_| {})
            .await
            .map_err(|error| failed(&error))?;
        let mut analysis = analysis;
        analysis.notes.extend(selection.notes);
        let value = analysis_window::cut(&analysis, ANSWER_BYTES)
            .map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
        to_text(&value)
    }
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

/// The multiplier as an exact decimal: the digits that were written, not the nearest binary number.
fn multiplier(number: &serde_json::Number) -> Result<Decimal, ToolError> {
    let text = number.to_string();
    let value = text.parse::<Decimal>().or_else(|_| Decimal::from_scientific(&text));
    value
        .ok()
        .filter(|value| value.is_sign_positive() && !value.is_zero())
        .ok_or_else(|| invalid("outlier_multiplier must be a number above 0"))
}

/// Works out which files an analysis reads: files as they are named, folders by their documents. Blocks.
///
/// # Errors
/// What the guard says about a path that was named.
pub fn select_files(
    guard: &WorkspaceGuard,
    asked: &[String],
) -> Result<FileSelection, pilot_guard::GuardError> {
    let mut selection = FileSelection::default();
    let (mut aside, mut is_cut) = (Vec::new(), false);
    for path in asked {
        match guard.open_file(path) {
            // In one spelling, so that a file that is named twice is read once.
            Ok(file) => selection.paths.push(file.path().as_str().to_owned()),
            Err(error) if error.code() == ErrorCode::NotAFile => {
                let (found, cut) = guard.walk(path, DEPTH, MAX_FILES)?;
                is_cut |= cut;
                for file in found {
                    if is_counted(&file) { selection.paths.push(file) } else { aside.push(file) }
                }
            }
            Err(error) => return Err(error),
        }
    }
    let mut seen = std::collections::HashSet::new();
    selection.paths.retain(|path| seen.insert(path.clone()));
    if selection.paths.len() > MAX_FILES {
        selection.paths.truncate(MAX_FILES);
        is_cut = true;
    }
    if is_cut {
        selection.notes.push(format!(
            "not everything was looked at: at most {MAX_FILES} files, {DEPTH} levels deep; analyse the other folders one by one"
        ));
    }
    selection.notes.extend(remark_on(&aside));
    Ok(selection)
}

/// True for a document that is counted when it is found in a folder. Markdown never is: reports must not be counted
/// again. Neither are the lock files that office programs leave beside an open document.
fn is_counted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_lock = name.starts_with("~$") || name.starts_with(".~");
    !is_lock && ending_of(path).is_some_and(|ending| COUNTED.contains(&ending.as_str()))
}

fn remark_on(aside: &[String]) -> Option<String> {
    if aside.is_empty() {
        return None;
    }
    let named = aside.iter().take(NAMED_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if aside.len() > NAMED_FILES { ", …" } else { "" };
    Some(format!("{} files of other kinds were left aside: {named}{more}", aside.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplier_keeps_its_digits() {
        for (json, expected) in [("1.1", "1.1"), ("3", "3"), ("2.50", "2.5"), ("1e2", "100")] {
            let number: serde_json::Number = serde_json::from_str(json).expect("a number");
            let expected: Decimal = expected.parse().expect("a decimal");
            assert_eq!(multiplier(&number), Ok(expected), "{json}");
        }
        for bad in ["0", "-1", "1e300"] {
            let number: serde_json::Number = serde_json::from_str(bad).expect("a number");
            assert!(multiplier(&number).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_documents_are_counted_in_a_folder() {
        for (path, counted) in [
            ("a.csv", true),
            ("sub/b.PDF", true),
            ("发票.ofd", true),
            ("report.md", false),
            ("a.csv.md", false),
            ("~$b.xlsx", false),
            (".~lock.b.xlsx#", false),
            ("photo.jpg", false),
            ("csv", false),
        ] {
            assert_eq!(is_counted(path), counted, "{path}");
        }
    }
}
