//! The workspace as the person looks at it, and files that the person adds.

use super::{Answer, told};
use crate::bridge;
use crate::language::{self, Words};
use crate::state::Shell;
use pilot_service::UploadSource;
use pilot_service::view::{
    FolderView, PreviewView, UploadPlanView, UploadRequest, UploadResultView, WindowEvent,
};
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
    folder: String,
}

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
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

/// Picks files in the system's own dialog and looks at them; `None` when the dialog was left. Nothing is copied yet.
#[tauri::command]
pub(crate) async fn files_add(
    app: AppHandle,
    shell: State<'_, Shell>,
    request: Into,
) -> Answer<Option<UploadPlanView>> {
    let settings = shell.service.settings().await.map_err(told)?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog().file().set_title(language::chosen(&settings).say(Words::AddFiles)).pick_files(
        move |files| {
            // The window may be gone by now; then nobody waits.
            let _ = sender.send(files);
        },
    );
    let picked: Vec<UploadSource> = receiver
        .await
        .ok()
        .flatten()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|file| file.into_path().ok().map(UploadSource::of))
        .collect();
    if picked.is_empty() {
        return Ok(None);
    }
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.plan_upload(&workspace, &request.folder, picked).await.map(Some).map_err(told)
}

/// Copies what was looked at, as the person has said.
#[tauri::command]
pub(crate) async fn upload_run(shell: State<'_, Shell>, request: UploadRequest) -> Answer<UploadResultView> {
    shell.service.run_upload(&request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn upload_cancel(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.cancel_upload(&request.id).map_err(told)
}

/// Files dropped on the window are looked at for the workspace and folder that it shows; the window asks and begins.
pub(crate) fn dropped(app: &AppHandle, paths: Vec<PathBuf>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        bridge::emit(&app, WindowEvent::FilesDragged { files: None });
        let shown = app.state::<Shell>().on_screen();
        let Some(workspace) = shown.workspace else { return };
        let service = app.state::<Shell>().service.clone();
        let sources = paths.into_iter().map(UploadSource::of).collect();
        let folder = shown.folder.unwrap_or_default();
        match service.plan_upload(&WorkspaceId::from_text(workspace), &folder, sources).await {
            Ok(plan) => bridge::emit(&app, WindowEvent::FilesDropped { plan }),
            Err(error) => tracing::warn!(code = %error.code(), "dropped files were not looked at"),
        }
    });
}

/// Files are over the window, or no longer.
pub(crate) fn dragged(app: &AppHandle, files: Option<usize>) {
    let files = files.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    bridge::emit(app, WindowEvent::FilesDragged { files });
}
