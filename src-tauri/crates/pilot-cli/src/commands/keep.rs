//! What a person keeps in order: folders, artifacts.

use crate::Exit;
use crate::arguments::{Artifacts, Workspaces};
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
                let gone = match (view.present, view.replaced) {
                    (true, _) => "",
                    (false, true) => output.pick("  (another folder stands there)", "（原处是另一个文件夹）"),
                    (false, false) => output.pick("  (not there now)", "（现在不在）"),
                };
                output.row(&view, &format!("{}  {}{gone}", view.id, view.root));
            }
        }
        Workspaces::Move { id, folder } => {
            let view = service.move_workspace(&WorkspaceId::from_text(id), folder).await?;
            output.row(&view, &format!("{}  {}", view.id, view.root));
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
