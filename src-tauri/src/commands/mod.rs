//! What the window may call: one line of work each. The list stands in `build.rs` and in `capabilities/main.json`; a test
//! compares the three.

pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod automations;
pub(crate) mod data;
pub(crate) mod files;
pub(crate) mod mcp;
pub(crate) mod people;
pub(crate) mod providers;
pub(crate) mod safety;
pub(crate) mod sessions;
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
        providers::provider_presets,
        providers::provider_detect,
        providers::provider_models,
        providers::provider_test,
        providers::usage_list,
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
        safety::safety_cases,
        safety::safety_run,
        data::data_usage,
        data::undo_clear,
        data::logs_clear,
        data::backup_save,
        data::backup_choose,
        data::backup_restore,
        data::backup_cancel,
        data::support_save,
        settings::view_state,
        settings::window_ready,
        workspaces::workspace_choose,
        workspaces::workspace_add,
        workspaces::demo_open,
        workspaces::workspace_move,
        workspaces::workspace_remove,
        workspaces::workspace_set_provider,
        workspaces::consent_give,
        workspaces::reach,
        tasks::task_create,
        tasks::task_list,
        tasks::task_get,
        tasks::task_cancel,
        tasks::task_resume,
        tasks::task_again,
        tasks::task_deletion,
        tasks::task_delete,
        sessions::session_list,
        sessions::session_get,
        sessions::session_rename,
        sessions::session_archive,
        approvals::approval_list,
        approvals::approval_get,
        approvals::approval_preview_edit,
        approvals::approval_approve,
        approvals::approval_reject,
        automations::automation_state,
        automations::automations_pause,
        automations::schedule_preview,
        automations::schedule_save,
        automations::schedule_pause,
        automations::schedule_run,
        automations::schedule_remove,
        automations::channel_add,
        automations::channel_revoke,
        automations::channel_test,
        files::files_list,
        files::file_preview,
        files::files_add,
        files::upload_run,
        files::upload_cancel,
        people::memory_get,
        people::memory_preview,
        people::memory_save,
        people::memory_history,
        people::memory_version,
        people::memory_restore,
        people::skill_list,
        people::skill_get,
        people::skill_save,
        people::skill_remove,
        people::edit_undo,
        artifacts::artifact_list,
        artifacts::artifact_open,
        artifacts::artifact_show,
        artifacts::artifact_save_as,
        artifacts::artifact_undo_preview,
        artifacts::artifact_undo,
    ]
}
