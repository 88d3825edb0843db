//! Builds the list of commands that the window may call, and puts the demo folder into the program.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a build script reads its own repository, and stops the build when it cannot go on"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Every command of the window. `capabilities/main.json` allows exactly these; a test compares the two lists with the
/// handlers in `src/commands`.
const COMMANDS: &[&str] = &[
    "app_state",
    "workspace_choose",
    "workspace_add",
    "demo_open",
    "workspace_move",
    "workspace_remove",
    "workspace_set_provider",
    "consent_give",
    "task_create",
    "task_list",
    "task_get",
    "task_cancel",
    "task_resume",
    "task_again",
    "task_deletion",
    "task_delete",
    "session_list",
    "session_get",
    "session_rename",
    "session_archive",
    "reach",
    "approval_list",
    "approval_get",
    "approval_preview_edit",
    "approval_approve",
    "approval_reject",
    "automation_state",
    "automations_pause",
    "schedule_preview",
    "schedule_save",
    "schedule_pause",
    "schedule_run",
    "schedule_remove",
    "channel_add",
    "channel_revoke",
    "channel_test",
    "files_list",
    "file_preview",
    "files_add",
    "upload_run",
    "upload_cancel",
    "memory_get",
    "memory_preview",
    "memory_save",
    "memory_history",
    "memory_version",
    "memory_restore",
    "skill_list",
    "skill_get",
    "skill_save",
    "skill_remove",
    "edit_undo",
    "artifact_list",
    "artifact_open",
    "artifact_show",
    "artifact_save_as",
    "artifact_undo_preview",
    "artifact_undo",
    "settings_save",
    "provider_presets",
    "provider_detect",
    "provider_models",
    "provider_test",
    "provider_save",
    "provider_remove",
    "provider_key_save",
    "provider_key_remove",
    "usage_list",
    "mcp_state",
    "mcp_server_save",
    "mcp_server_remove",
    "mcp_server_check",
    "mcp_demand",
    "mcp_allow",
    "audit_verify",
    "safety_cases",
    "safety_run",
    "data_usage",
    "undo_clear",
    "logs_clear",
    "backup_save",
    "backup_choose",
    "backup_restore",
    "backup_cancel",
    "support_save",
    "view_state",
    "window_ready",
];

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=demo-workspace");
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=icons");
    println!("cargo:rerun-if-changed=tauri.conf.json");
    // The pages are built by `npm run build`; without them the program still compiles, and shows an empty window.
    let pages = Path::new("ui/dist");
    if !pages.exists() {
        std::fs::create_dir_all(pages).expect("ui/dist can be made");
    }
    embed_demo();
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(manifest);
    tauri_build::try_build(attributes).expect("tauri-build");
}

/// Writes `demo_files.rs`: `(relative path, bytes)` of every file of the demo folder, in order.
fn embed_demo() {
    let root =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("demo-workspace");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    for (relative, absolute) in files {
        writeln!(code, "    ({relative:?}, include_bytes!({absolute:?})),").expect("a string takes it");
    }
    code.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("demo_files.rs");
    std::fs::write(out, code).expect("OUT_DIR can be written");
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Ok(relative) = path.strip_prefix(root) {
            files.push((relative.to_string_lossy().replace('\\', "/"), path.to_string_lossy().into_owned()));
        }
    }
}
