//! Outside tools.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::view::{McpCheckView, McpServerRequest, McpView, WorkspaceView};
use pilot_types::WorkspaceId;
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

#[derive(Deserialize)]
pub(crate) struct Demand {
    demand: bool,
}

#[derive(Deserialize)]
pub(crate) struct Allow {
    workspace: String,
    name: String,
    allowed: bool,
}

#[tauri::command]
pub(crate) async fn mcp_state(shell: State<'_, Shell>) -> Answer<McpView> {
    shell.service.mcp().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn mcp_server_save(shell: State<'_, Shell>, request: McpServerRequest) -> Answer<McpView> {
    shell.service.save_mcp_server(request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn mcp_server_remove(shell: State<'_, Shell>, request: Named) -> Answer<McpView> {
    shell.service.remove_mcp_server(&request.name).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn mcp_server_check(shell: State<'_, Shell>, request: Named) -> Answer<McpCheckView> {
    shell.service.check_mcp_server(&request.name).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn mcp_demand(shell: State<'_, Shell>, request: Demand) -> Answer<McpView> {
    shell.service.demand_confinement(request.demand).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn mcp_allow(shell: State<'_, Shell>, request: Allow) -> Answer<WorkspaceView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.allow_mcp(&workspace, &request.name, request.allowed).await.map_err(told)
}
