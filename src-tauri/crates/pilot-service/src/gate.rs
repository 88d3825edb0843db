//! Guard first, policy second: the only two voices in a verdict.

use async_trait::async_trait;
use pilot_agent::Gate;
use pilot_guard::{Access, WorkspaceGuard};
use pilot_types::{ErrorCode, PathAccess, ToolCall, ToolSpec, Verdict};
use serde_json::Value;

/// The gate of one run; made anew whenever a task goes on.
pub(crate) struct WorkspaceGate {
    pub(crate) guard: WorkspaceGuard,
}

#[async_trait]
impl Gate for WorkspaceGate {
    async fn decide(&self, spec: &ToolSpec, call: &ToolCall) -> Verdict {
        let guard = self.guard.clone();
        let wanted: Vec<(String, PathAccess)> = spec
            .path_fields
            .iter()
            .flat_map(|field| {
                paths_in(call.arguments.get(&field.name)).into_iter().map(|path| (path, field.access))
            })
            .collect();
        let checked = tokio::task::spawn_blocking(move || first_refusal(&guard, &wanted)).await;
        match checked {
            Ok(None) => pilot_policy::decide(&spec.capability),
            Ok(Some(verdict)) => verdict,
            Err(error) => {
                Verdict::Deny { code: ErrorCode::Internal, reason: format!("the guard ended: {error}") }
            }
        }
    }
}

fn paths_in(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(path)) => vec![path.clone()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

fn first_refusal(guard: &WorkspaceGuard, wanted: &[(String, PathAccess)]) -> Option<Verdict> {
    wanted.iter().find_map(|(path, access)| {
        // The root itself may be listed and analysed.
        if *access == PathAccess::Read && matches!(path.as_str(), "" | "." | "./") {
            return None;
        }
        let error = guard.check(path, Access::from(*access)).err()?;
        is_refusal(error.code()).then(|| Verdict::Deny { code: error.code(), reason: error.to_string() })
    })
}

/// True when the path is refused whatever stands on disk in good faith. What is merely absent, too large or of the
/// wrong kind is the tool's to report, as an ordinary failed result.
fn is_refusal(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::NotFound
            | ErrorCode::NotAFile
            | ErrorCode::NotAFolder
            | ErrorCode::TooLarge
            | ErrorCode::PermissionDenied
            | ErrorCode::IoFailed
    )
}
