//! The workspace as the person looks at it, and files that the person adds.

use super::{Answer, told};
use crate::bridge;
use crate::language::{self, Words};
use crate::state::Shell;
use pilot_service::view::{FolderView, PreviewView, WindowEvent};
use pilot_types::WorkspaceId;
use serde::Deserialize;
use std::path::PathBuf;
use tauri::{AppHandle, Manager as _, State};
use tauri_plugin_dialog::DialogExt as _;

#[derive(Deserialize)]
pub(crate) struct Folder {
    workspace: String,
    path: String,
    offset: usize,
    limit: usize,
}

#[derive(Deserialize)]
pub(crate) struct File {
    workspace: String,
    path: String,
    sheet: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Into {
    workspace: String,
}

#[tauri::command]
pub(crate) async fn files_list(shell: State<'_, Shell>, request: Folder) -> Answer<FolderView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.folder(&workspace, &request.path, request.offset, request.limit).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn file_preview(shell: State<'_, Shell>, request: File) -> Answer<PreviewView> {
    shell
        .service
        .preview(&WorkspaceId::from_text(request.workspace), &request.path, request.sheet)
        .await
        .map_err(told)
}

/// Picks files in the system's own dialog and copies them in.
#[tauri::command]
pub(crate) async fn files_add(app: AppHandle, shell: State<'_, Shell>, request: Into) -> Answer<Vec<String>> {
    let settings = shell.service.settings().await.map_err(told)?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog().file().set_title(language::chosen(&settings).say(Words::AddFiles)).pick_files(
        move |files| {
            // The window may be gone by now; then nobody waits.
            let _ = sender.send(files);
        },
    );
    let picked: Vec<PathBuf> = receiver
        .await
        .ok()
        .flatten()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|file| file.into_path().ok())
        .collect();
    copy_in(&app, request.workspace, picked).await
}

/// Files dropped on the window go to the workspace that it shows.
pub(crate) fn dropped(app: &AppHandle, paths: Vec<PathBuf>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Some(workspace) = app.state::<Shell>().on_screen().workspace else { return };
        if let Err(error) = copy_in(&app, workspace, paths).await {
            tracing::warn!(code = %error.code, "dropped files were not copied");
        }
    });
}

async fn copy_in(app: &AppHandle, workspace: String, picked: Vec<PathBuf>) -> Answer<Vec<String>> {
    if picked.is_empty() {
        return Ok(Vec::new());
    }
    let service = app.state::<Shell>().service.clone();
    let result = service.add_files(&WorkspaceId::from_text(workspace.clone()), picked).await.map_err(told)?;
    let added = result.added.clone();
    bridge::emit(
        app,
        WindowEvent::FilesDropped {
            workspace,
            added: result.added,
            collisions: result.collisions,
            refused: result.refused,
        },
    );
    Ok(added)
}
