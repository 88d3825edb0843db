//! Tasks.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::view::{DeletionView, TaskDetailView, TaskRequest, TaskView};
use pilot_types::{Channel, SessionId, TaskId, TaskIntake, WorkspaceId};
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct InWorkspace {
    workspace: Option<String>,
}

#[tauri::command]
pub(crate) async fn task_create(shell: State<'_, Shell>, request: TaskRequest) -> Answer<TaskView> {
    let provider = match request.provider.as_deref() {
        Some(name) => Some(shell.service.provider_named(name).await.map_err(told)?),
        None => None,
    };
    let intake = TaskIntake {
        goal: request.goal,
        workspace: WorkspaceId::from_text(request.workspace),
        channel: Channel::Chat,
        session: request.session.map(SessionId::from_text),
        follow_up_of: request.follow_up_of.map(TaskId::from_text),
        provider,
        limits: None,
    };
    shell.service.create_task(intake).await.map_err(told)
}

#[derive(Deserialize)]
pub(crate) struct Again {
    id: String,
    files: Vec<String>,
}

#[tauri::command]
pub(crate) async fn task_again(shell: State<'_, Shell>, request: Again) -> Answer<TaskView> {
    let id = TaskId::from_text(request.id);
    shell.service.run_again(&id, request.files, Channel::Chat).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_deletion(shell: State<'_, Shell>, request: ById) -> Answer<DeletionView> {
    shell.service.deletion(&TaskId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_delete(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.delete_task(&TaskId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_list(shell: State<'_, Shell>, request: InWorkspace) -> Answer<Vec<TaskView>> {
    let workspace = request.workspace.map(WorkspaceId::from_text);
    shell.service.tasks(workspace.as_ref()).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_get(shell: State<'_, Shell>, request: ById) -> Answer<TaskDetailView> {
    shell.service.task_detail(&TaskId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_cancel(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.cancel_task(&TaskId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn task_resume(shell: State<'_, Shell>, request: ById) -> Answer<TaskView> {
    shell.service.resume_task(&TaskId::from_text(request.id)).await.map_err(told)
}
