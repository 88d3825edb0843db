//! What tasks wrote. Opening and saving pass the guard again.

use super::{Answer, told};
use crate::language::{self, Words};
use crate::state::Shell;
use pilot_service::ServiceError;
use pilot_service::view::{ArtifactView, UndoPreview};
use pilot_types::{ArtifactId, ErrorCode, WorkspaceId};
use serde::Deserialize;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_opener::OpenerExt as _;

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct InWorkspace {
    workspace: Option<String>,
}

#[tauri::command]
pub(crate) async fn artifact_list(
    shell: State<'_, Shell>,
    request: InWorkspace,
) -> Answer<Vec<ArtifactView>> {
    let workspace = request.workspace.map(WorkspaceId::from_text);
    shell.service.artifacts(workspace.as_ref()).await.map_err(told)
}

/// Opens it with the system's own program.
#[tauri::command]
pub(crate) async fn artifact_open(app: AppHandle, shell: State<'_, Shell>, request: ById) -> Answer<()> {
    let place = shell.service.artifact_place(&ArtifactId::from_text(request.id)).await.map_err(told)?;
    app.opener().open_path(place.to_string_lossy(), None::<&str>).map_err(not_opened)
}

/// Shows it in the system's own file manager.
#[tauri::command]
pub(crate) async fn artifact_show(app: AppHandle, shell: State<'_, Shell>, request: ById) -> Answer<()> {
    let place = shell.service.artifact_place(&ArtifactId::from_text(request.id)).await.map_err(told)?;
    app.opener().reveal_item_in_dir(place).map_err(not_opened)
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
fn not_opened(error: tauri_plugin_opener::Error) -> pilot_service::view::ErrorView {
    told(ServiceError::new(ErrorCode::ToolFailed, format!("no program opened it: {error}")))
}

/// Copies it to a place of the person's choice; false when the dialog was left. The dialog itself asks before it lets a
/// person choose a file that is there.
#[tauri::command]
pub(crate) async fn artifact_save_as(app: AppHandle, shell: State<'_, Shell>, request: ById) -> Answer<bool> {
    let id = ArtifactId::from_text(request.id);
    let view = shell.service.artifact(&id).await.map_err(told)?;
    let settings = shell.service.settings().await.map_err(told)?;
    let name = view.path.rsplit('/').next().unwrap_or_default().to_owned();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog()
        .file()
        .set_title(language::chosen(&settings).say(Words::SaveAs))
        .set_file_name(name)
        .save_file(move |place| {
            // The window may be gone by now; then nobody waits.
            let _ = sender.send(place);
        });
    let Some(place) = receiver.await.ok().flatten() else { return Ok(false) };
    let place =
        place.into_path().map_err(|error| told(ServiceError::new(ErrorCode::NotAFile, error.to_string())))?;
    shell.service.save_artifact(&id, place, true).await.map_err(told)?;
    Ok(true)
}

#[tauri::command]
pub(crate) async fn artifact_undo_preview(shell: State<'_, Shell>, request: ById) -> Answer<UndoPreview> {
    shell.service.undo_preview(&ArtifactId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn artifact_undo(shell: State<'_, Shell>, request: ById) -> Answer<ArtifactView> {
    shell.service.undo(&ArtifactId::from_text(request.id)).await.map_err(told)
}
