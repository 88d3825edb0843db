//! Folders that tasks may work in.

use super::{Answer, told};
use crate::language::{self, Words};
use crate::state::Shell;
use pilot_service::ServiceError;
use pilot_service::view::{ReachView, WorkspaceView};
use pilot_types::{ErrorCode, WorkspaceId};
use serde::Deserialize;
use std::path::PathBuf;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt as _;

/// Files of the demo folder, put into the program by `build.rs`.
const DEMO_FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/demo_files.rs"));

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct ByPath {
    path: PathBuf,
}

#[derive(Deserialize)]
pub(crate) struct WithProvider {
    id: String,
    provider: String,
}

#[derive(Deserialize)]
pub(crate) struct Consent {
    workspace: String,
    provider: String,
}

#[derive(Deserialize)]
pub(crate) struct ReachOf {
    workspace: String,
    provider: Option<String>,
}

/// The system's own dialog, off the runtime.
#[tauri::command]
pub(crate) async fn workspace_choose(
    app: AppHandle,
    shell: State<'_, Shell>,
) -> Answer<Option<WorkspaceView>> {
    let Some(folder) = pick_folder(&app, &shell).await? else { return Ok(None) };
    shell.service.add_workspace(&folder, None).await.map(Some).map_err(told)
}

/// Points a workspace to the folder that the person picks; `None` when the dialog was left.
#[tauri::command]
pub(crate) async fn workspace_move(
    app: AppHandle,
    shell: State<'_, Shell>,
    request: ById,
) -> Answer<Option<WorkspaceView>> {
    let Some(folder) = pick_folder(&app, &shell).await? else { return Ok(None) };
    shell.service.move_workspace(&WorkspaceId::from_text(request.id), &folder).await.map(Some).map_err(told)
}

async fn pick_folder(app: &AppHandle, shell: &Shell) -> Answer<Option<PathBuf>> {
    let settings = shell.service.settings().await.map_err(told)?;
    let title = language::chosen(&settings).say(Words::ChooseFolder);
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog().file().set_title(title).pick_folder(move |folder| {
        // The window may be gone by now; then nobody waits.
        let _ = sender.send(folder);
    });
    let Some(folder) = receiver.await.ok().flatten() else { return Ok(None) };
    folder
        .into_path()
        .map(Some)
        .map_err(|error| told(ServiceError::new(ErrorCode::WorkspaceNotFolder, error.to_string())))
}

#[tauri::command]
pub(crate) async fn workspace_add(shell: State<'_, Shell>, request: ByPath) -> Answer<WorkspaceView> {
    shell.service.add_workspace(&request.path, None).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn demo_open(shell: State<'_, Shell>) -> Answer<WorkspaceView> {
    let settings = shell.service.settings().await.map_err(told)?;
    let name = match language::chosen(&settings) {
        language::Language::En => "PocketPilot Demo",
        language::Language::Zh => "PocketPilot 演示",
    };
    shell.service.open_demo(name, DEMO_FILES).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn workspace_remove(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.remove_workspace(&WorkspaceId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn workspace_set_provider(
    shell: State<'_, Shell>,
    request: WithProvider,
) -> Answer<WorkspaceView> {
    shell
        .service
        .set_workspace_provider(&WorkspaceId::from_text(request.id), &request.provider)
        .await
        .map_err(told)
}

#[tauri::command]
pub(crate) async fn consent_give(shell: State<'_, Shell>, request: Consent) -> Answer<()> {
    shell
        .service
        .give_consent(&WorkspaceId::from_text(request.workspace), &request.provider)
        .await
        .map_err(told)
}

#[tauri::command]
pub(crate) async fn reach(shell: State<'_, Shell>, request: ReachOf) -> Answer<ReachView> {
    shell
        .service
        .reach_named(&WorkspaceId::from_text(request.workspace), request.provider.as_deref())
        .await
        .map_err(told)
}
