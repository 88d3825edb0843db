//! Memory and skills: the person's own path, without a card, on record as theirs.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::view::{
    EditView, InjectionView, MemoryRequest, MemoryView, SkillOrigin, SkillRequest, SkillTextView, SkillView,
    VersionTextView, VersionView,
};
use pilot_types::{Digest, OperationId, WorkspaceId};
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct Page {
    workspace: String,
    path: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Draft {
    workspace: String,
    path: String,
    text: String,
}

#[derive(Deserialize)]
pub(crate) struct Version {
    workspace: String,
    path: String,
    digest: Digest,
}

#[derive(Deserialize)]
pub(crate) struct Restoration {
    workspace: String,
    path: String,
    digest: Digest,
    now: Option<Digest>,
}

#[derive(Deserialize)]
pub(crate) struct InWorkspace {
    workspace: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct OneSkill {
    workspace: Option<String>,
    source: SkillOrigin,
    folder: String,
}

#[derive(Deserialize)]
pub(crate) struct SkillRemoval {
    workspace: String,
    folder: String,
    base: Digest,
}

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[tauri::command]
pub(crate) async fn memory_get(shell: State<'_, Shell>, request: Page) -> Answer<MemoryView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.memory(&workspace, request.path.as_deref()).await.map_err(told)
}

/// What a task would be given if the page were this text; writes nothing.
#[tauri::command]
pub(crate) async fn memory_preview(shell: State<'_, Shell>, request: Draft) -> Answer<InjectionView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.preview_memory(&workspace, &request.path, request.text).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn memory_save(shell: State<'_, Shell>, request: MemoryRequest) -> Answer<MemoryView> {
    shell.service.save_memory(request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn memory_history(shell: State<'_, Shell>, request: Page) -> Answer<Vec<VersionView>> {
    let path = request.path.unwrap_or_else(|| "memory/MEMORY.md".to_owned());
    shell.service.memory_history(&WorkspaceId::from_text(request.workspace), &path).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn memory_version(shell: State<'_, Shell>, request: Version) -> Answer<VersionTextView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.memory_version(&workspace, &request.path, &request.digest).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn memory_restore(shell: State<'_, Shell>, request: Restoration) -> Answer<MemoryView> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.restore_memory(&workspace, &request.path, &request.digest, request.now).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn skill_list(shell: State<'_, Shell>, request: InWorkspace) -> Answer<Vec<SkillView>> {
    let workspace = request.workspace.map(WorkspaceId::from_text);
    shell.service.skills(workspace.as_ref()).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn skill_get(shell: State<'_, Shell>, request: OneSkill) -> Answer<SkillTextView> {
    let workspace = request.workspace.map(WorkspaceId::from_text);
    shell.service.skill_text(workspace.as_ref(), request.source, &request.folder).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn skill_save(shell: State<'_, Shell>, request: SkillRequest) -> Answer<SkillTextView> {
    shell.service.save_skill(request).await.map_err(told)
}

/// Answers with the id of the edit, by which it can be taken back.
#[tauri::command]
pub(crate) async fn skill_remove(shell: State<'_, Shell>, request: SkillRemoval) -> Answer<String> {
    let workspace = WorkspaceId::from_text(request.workspace);
    shell.service.remove_skill(&workspace, &request.folder, Some(request.base)).await.map_err(told)
}

/// Takes a write of the person back.
#[tauri::command]
pub(crate) async fn edit_undo(shell: State<'_, Shell>, request: ById) -> Answer<EditView> {
    shell.service.undo_edit(&OperationId::from_text(request.id)).await.map_err(told)
}
