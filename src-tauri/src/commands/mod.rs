//! What the window may call: one line of work each. The list stands in `build.rs` and in `capabilities/main.json`; a test
//! compares the three.

pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod files;
pub(crate) mod mcp;
pub(crate) mod settings;
pub(crate) mod tasks;
pub(crate) mod workspaces;

use pilot_service::ServiceError;
use pilot_service::view::ErrorView;
use tauri::Wry;
use tauri::ipc::Invoke;

/// What a command answers.
pub(crate) type Answer<T> = Result<T, ErrorView>;

/// An error as the window gets it; faults are also logged.
#[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
pub(crate) fn told(error: ServiceError) -> ErrorView {
    if error.code().class() == pilot_types::ErrorClass::Fault {
        tracing::error!(%error, "a command failed");
    }
    error.view()
}

/// All handlers.
pub(crate) fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        settings::app_state,
        settings::settings_save,
        settings::provider_save,
        settings::provider_remove,
        settings::provider_key_save,
        settings::provider_key_remove,
        mcp::mcp_state,
        mcp::mcp_server_save,
        mcp::mcp_server_remove,
        mcp::mcp_server_check,
        mcp::mcp_demand,
        mcp::mcp_allow,
        settings::audit_verify,
        settings::view_state,
        settings::window_ready,
        workspaces::workspace_choose,
        workspaces::workspace_add,
        workspaces::demo_open,
        workspaces::workspace_remove,
        workspaces::workspace_set_provider,
        workspaces::consent_give,
        workspaces::reach,
        tasks::task_create,
        tasks::task_list,
        tasks::task_get,
        tasks::task_cancel,
        tasks::task_resume,
        approvals::approval_list,
        approvals::approval_get,
        approvals::approval_preview_edit,
        approvals::approval_approve,
        approvals::approval_reject,
        files::files_list,
        files::file_preview,
        files::files_add,
        artifacts::artifact_list,
        artifacts::artifact_open,
        artifacts::artifact_show,
        artifacts::artifact_save_as,
        artifacts::artifact_undo_preview,
        artifacts::artifact_undo,
    ]
}
