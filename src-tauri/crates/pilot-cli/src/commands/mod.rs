//! The commands around a run: look, decide, keep in order, prove.

mod documents;
mod keep;
mod models;
mod outside;
mod people;
mod prove;
mod safekeeping;
mod sessions;
mod triggers;
mod work;

pub(crate) use documents::{analyze, extract};
pub(crate) use keep::{artifacts, workspaces};
pub(crate) use models::{providers, usage};
pub(crate) use outside::mcp;
pub(crate) use people::{memory, skills};
pub(crate) use prove::{audit, doctor, evals};
pub(crate) use safekeeping::{back_up, restore, support_file};
pub(crate) use sessions::sessions;
pub(crate) use triggers::{channels, preview, schedules};
pub(crate) use work::{approvals, reach, tasks};

use pilot_service::{Service, ServiceError};
use pilot_types::{ErrorCode, WorkspaceId};
use std::io::Read as _;
use std::path::Path;

async fn workspace_at(service: &Service, folder: &Path) -> Result<WorkspaceId, ServiceError> {
    Ok(WorkspaceId::from_text(service.add_workspace(folder, None).await?.id))
}

async fn optional_workspace(
    service: &Service,
    folder: Option<&Path>,
) -> Result<Option<WorkspaceId>, ServiceError> {
    match folder {
        Some(folder) => Ok(Some(workspace_at(service, folder).await?)),
        None => Ok(None),
    }
}

fn read_stdin() -> Result<String, ServiceError> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(2 << 20)
        .read_to_string(&mut text)
        .map_err(|error| ServiceError::new(ErrorCode::Usage, format!("standard input: {error}")))?;
    Ok(text)
}
