//! What a person keeps in order: folders, artifacts, providers, memory, skills.

use super::{optional_workspace, read_stdin, workspace_at};
use crate::Exit;
use crate::arguments::{Artifacts, Memory, Providers, Skills, Workspaces};
use crate::output::Output;
use pilot_service::{KeyPlace, Service, ServiceError};
use pilot_types::{ArtifactId, ErrorCode, WorkspaceId};

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

pub(crate) async fn providers(
    service: &Service,
    action: &Providers,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Providers::List => {
            for view in service.app_view(pilot_service::view::LanguageSetting::System, false).await?.providers
            {
                let row = serde_json::json!({ "id": view.name, "name": view.name, "base_url": view.base_url, "model": view.model,
                    "local": view.local, "has_key": view.has_key });
                output.row(
                    &row,
                    &format!(
                        "{}  {}  {}",
                        view.name,
                        view.base_url.unwrap_or_default(),
                        view.model.unwrap_or_default()
                    ),
                );
            }
        }
        Providers::Add { name, base_url, model } => {
            let request = pilot_service::view::ProviderRequest {
                name: name.clone(),
                base_url: base_url.clone(),
                model: model.clone(),
            };
            service.save_provider(request).await?;
        }
        Providers::Key { name } => {
            let key = read_stdin()?.trim().to_owned();
            if key.is_empty() {
                return Err(ServiceError::new(ErrorCode::Usage, "no key on standard input"));
            }
            let (place, error) = service.save_key(name, key.into()).await;
            if place == KeyPlace::ThisRun {
                let words = error.map_or_else(String::new, |error| error.to_string());
                return Err(ServiceError::new(
                    ErrorCode::KeyringMissing,
                    format!("the key was not kept: {words}"),
                )
                .about(name.clone()));
            }
        }
        Providers::Remove { name } => service.remove_provider(name).await?,
        Providers::Allow { name, workspace } => {
            let workspace = workspace_at(service, workspace).await?;
            service.give_consent(&workspace, name).await?;
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
