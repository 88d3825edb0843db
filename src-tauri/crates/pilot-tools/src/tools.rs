//! The tools, one file each, and what they share.

mod analyze_table;
mod expand_skill;
mod extract_document;
mod list_files;
mod memory_write;
mod read_file;
mod trap;
mod write_file;

pub(crate) use analyze_table::AnalyzeTable;
pub use analyze_table::{FileSelection, select_files};
pub(crate) use expand_skill::ExpandSkill;
pub(crate) use extract_document::ExtractDocument;
pub(crate) use list_files::ListFiles;
pub(crate) use memory_write::MemoryWrite;
pub(crate) use read_file::ReadFile;
pub use trap::{TRAP_SPRUNG, TrapTool};
pub(crate) use write_file::WriteFile;

use pilot_agent::{AuthorizedCall, ToolContext, ToolError};
use pilot_guard::{Access, FileWrite, GuardError, UndoStore, WorkspaceGuard};
use pilot_types::{
    Capability, ErrorCode, OperationId, PathAccess, PathField, PreparedEffect, Risk, ToolCall, ToolSpec,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Name of the temporary file of one execution, in the folder of its target. Recovery looks for exactly this name.
#[must_use]
pub fn temp_name(operation: &OperationId) -> String {
    pilot_guard::temp_name(operation.as_str())
}

fn reader(
    name: &str,
    description: &str,
    capability: &str,
    path_fields: &[&str],
    parameters: Value,
) -> ToolSpec {
    spec(name, description, capability, Risk::Low, path_fields, PathAccess::Read, parameters)
}

fn writer(
    name: &str,
    description: &str,
    capability: &str,
    access: PathAccess,
    parameters: Value,
) -> ToolSpec {
    spec(name, description, capability, Risk::High, &["path"], access, parameters)
}

fn spec(
    name: &str,
    description: &str,
    capability: &str,
    risk: Risk,
    path_fields: &[&str],
    access: PathAccess,
    parameters: Value,
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        capability: Capability::declared(capability),
        risk,
        parameters,
        path_fields: path_fields
            .iter()
            .map(|field| PathField { name: (*field).to_owned(), access })
            .collect(),
    }
}

/// Arguments as a type. The loop has checked the schema; this is the second look that needs no trust in it.
fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    serde_json::from_value(call.arguments.clone())
        .map_err(|error| ToolError::new(ErrorCode::InvalidArguments, error.to_string()))
}

pub(crate) fn refused(error: &GuardError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

pub(crate) fn to_text(value: &impl Serialize) -> Result<String, ToolError> {
    serde_json::to_string(value).map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))
}

/// Runs reading work where blocking is allowed; stops waiting for it when the task is stopped.
pub(crate) async fn reading<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(ToolError::new(ErrorCode::Cancelled, "the task was stopped")),
        joined = tokio::task::spawn_blocking(work) => joined.unwrap_or_else(|_| Err(stopped_short())),
    }
}

fn stopped_short() -> ToolError {
    ToolError::new(ErrorCode::Internal, "the tool stopped unexpectedly")
}

#[derive(Serialize)]
struct WriteAnswer<'a> {
    path: &'a str,
    size: u64,
    digest: &'a str,
    created: bool,
}

/// Carries out a prepared write, to the byte. Never abandoned half-way: a stop takes effect after it.
async fn perform_write(
    guard: &WorkspaceGuard,
    undo: &Arc<UndoStore>,
    access: Access,
    call: &AuthorizedCall,
) -> Result<String, ToolError> {
    let (Some(effect), Some(operation)) = (call.effect(), call.operation()) else {
        return Err(ToolError::new(ErrorCode::PolicyDenied, "a write needs an approval"));
    };
    let PreparedEffect::WriteFile { path, bytes, base } = effect.clone() else {
        return Err(ToolError::new(ErrorCode::Internal, "the approved effect is not a write"));
    };
    let (guard, undo, temp_name) = (guard.clone(), Arc::clone(undo), temp_name(operation));
    let work = move || {
        let write =
            FileWrite { path: &path, access, bytes: &bytes, base: base.as_ref(), temp_name: &temp_name };
        let written = guard.create_or_replace(&write, &undo).map_err(|error| refused(&error))?;
        to_text(&WriteAnswer {
            path: &path,
            size: written.size,
            digest: written.digest.as_str(),
            created: written.created,
        })
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(stopped_short()))
}

/// The longest prefix of a text that has at most `limit` bytes and ends at a character.
pub(crate) fn keep_start(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// `YYYY-MM-DDTHH:MM:SSZ` of a file's time.
fn shown_time(time: chrono::DateTime<chrono::Utc>) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}
