//! What a person keeps in order: folders, artifacts, memory, skills.

use super::{optional_workspace, read_stdin, workspace_at};
use crate::Exit;
use crate::arguments::{Artifacts, Memory, Skills, Workspaces};
use crate::output::Output;
use pilot_service::{Service, ServiceError};
use pilot_types::{ArtifactId, WorkspaceId};

pub(crate) async fn workspaces(
    service: &Service,
    action: &Workspaces,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Workspaces::Add { folder, allow_mcp } => {
            let allowed = (!allow_mcp.is_empty()).then(|| allow_mcp.clone());
            let view = service.add_workspace(folder, allowed).await?;
            output.row(&view, &format!("{}  {}", view.id, view.root));
        }
        Workspaces::List => {
            for view in service.workspaces().await? {
                let gone =
                    if view.present { "" } else { output.pick("  (not there now)", "（现在不在）") };
                output.row(&view, &format!("{}  {}{gone}", view.id, view.root));
            }
        }
        Workspaces::Remove { id } => {
            service.remove_workspace(&WorkspaceId::from_text(id)).await?;
            output.say(output.pick(
                "Taken off the list. The folder and its files stay.",
                "已从列表移除。文件夹和文件保留。",
            ));
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn artifacts(
    service: &Service,
    action: &Artifacts,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Artifacts::List => {
            for view in service.artifacts(None).await? {
                output.row(
                    &view,
                    &format!("{}  {}  {} B", view.id, pilot_review::shown_text(&view.path), view.size),
                );
            }
        }
        Artifacts::Save { id, to } => {
            service.save_artifact(&ArtifactId::from_text(id), to.clone(), false).await?;
            output.say(&format!("✓ {}", to.display()));
        }
        Artifacts::Undo { id } => {
            let view = service.undo(&ArtifactId::from_text(id)).await?;
            output.row(&view, output.pick("Undone.", "已撤销。"));
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn memory(
    service: &Service,
    action: &Memory,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Memory::Show { workspace } => {
            let page = service.memory(&workspace_at(service, workspace).await?).await?;
            let row = serde_json::json!({ "type": "memory", "path": page.path, "text": page.text, "injected_bytes": page.injected_bytes });
            output.row(&row, &pilot_review::shown_text(&page.text));
        }
        Memory::Edit { workspace } => {
            service.edit_memory(&workspace_at(service, workspace).await?, read_stdin()?).await?
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn skills(
    service: &Service,
    action: &Skills,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Skills::List { workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            for skill in service.skills(workspace.as_ref()).await? {
                output.row(
                    &skill,
                    &format!(
                        "{}  [{}]  {}",
                        skill.name,
                        skill.source.as_str(),
                        pilot_review::shown_text(&skill.description)
                    ),
                );
            }
        }
        Skills::Show { name, workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            let body = service.skill(workspace.as_ref(), name).await?;
            output.row(
                &serde_json::json!({ "type": "skill", "name": name, "text": body }),
                &pilot_review::shown_text(&body),
            );
        }
    }
    Ok(Exit::Done)
}
