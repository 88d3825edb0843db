//! Conversations.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::view::{SessionDetailView, SessionListRequest, SessionView};
use pilot_types::SessionId;
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct Rename {
    id: String,
    title: String,
}

#[derive(Deserialize)]
pub(crate) struct Archive {
    id: String,
    archived: bool,
}

#[tauri::command]
pub(crate) async fn session_list(
    shell: State<'_, Shell>,
    request: SessionListRequest,
) -> Answer<Vec<SessionView>> {
    shell.service.sessions(request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn session_get(shell: State<'_, Shell>, request: ById) -> Answer<SessionDetailView> {
    shell.service.session(&SessionId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn session_rename(shell: State<'_, Shell>, request: Rename) -> Answer<SessionView> {
    shell.service.rename_session(&SessionId::from_text(request.id), &request.title).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn session_archive(shell: State<'_, Shell>, request: Archive) -> Answer<SessionView> {
    shell.service.archive_session(&SessionId::from_text(request.id), request.archived).await.map_err(told)
}
