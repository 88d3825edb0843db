//! Cards. Every decision goes through the service's one conditional update.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::Decider;
use pilot_service::view::{ApprovalRowView, ApprovalView, ApproveRequest};
use pilot_types::ApprovalId;
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct Which {
    all: bool,
}

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct Edit {
    id: String,
    rev: u32,
    arguments: serde_json::Value,
}

#[derive(Deserialize)]
pub(crate) struct Reject {
    id: String,
    note: Option<String>,
}

#[tauri::command]
pub(crate) async fn approval_list(shell: State<'_, Shell>, request: Which) -> Answer<Vec<ApprovalRowView>> {
    shell.service.approvals(request.all).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn approval_get(shell: State<'_, Shell>, request: ById) -> Answer<ApprovalView> {
    shell.service.approval(&ApprovalId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn approval_preview_edit(shell: State<'_, Shell>, request: Edit) -> Answer<ApprovalView> {
    shell
        .service
        .preview_edit(&ApprovalId::from_text(request.id), request.rev, request.arguments)
        .await
        .map_err(told)
}

#[tauri::command]
pub(crate) async fn approval_approve(
    shell: State<'_, Shell>,
    request: ApproveRequest,
) -> Answer<ApprovalView> {
    shell.service.approve(request.into()).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn approval_reject(shell: State<'_, Shell>, request: Reject) -> Answer<ApprovalView> {
    shell
        .service
        .reject(&ApprovalId::from_text(request.id), request.note, Decider::Window)
        .await
        .map_err(told)
}
