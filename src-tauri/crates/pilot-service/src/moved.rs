//! A workspace whose folder moved, was unplugged, or was replaced by another.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::WorkspaceView;
use pilot_guard::{RootIdentity, WorkspaceGuard};
use pilot_store::{Tx, approvals, tasks, workspaces};
use pilot_types::{ApprovalStatus, ErrorCode, Event, EventRecord, Source, TaskStatus, WorkspaceId};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a task that runs looks whether its folder is still there.
const LOOK_AT_ROOT: Duration = Duration::from_secs(1);

/// How a workspace's folder is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// There, and the one that was registered.
    Present,
    /// Not there.
    Gone,
    /// Another folder stands in its place.
    Replaced,
}

/// Looks at a folder; opens it, so call it where blocking is allowed.
pub(crate) fn look_at(root: &str, identity: RootIdentity) -> Root {
    match WorkspaceGuard::open(Path::new(root)) {
        Ok(guard) if guard.identity() == identity => Root::Present,
        Ok(_) => Root::Replaced,
        Err(_) => Root::Gone,
    }
}

impl Service {
    /// Points a workspace to the place where its folder is now. The same rules hold as for a new one. Cards that were made
    /// for another folder are void; their tasks are interrupted, and ask again when they go on.
    ///
    /// # Errors
    /// A task is at work in it, the folder cannot be a workspace, or belongs to another one.
    pub async fn move_workspace(&self, id: &WorkspaceId, to: &Path) -> Result<WorkspaceView, ServiceError> {
        let _one_at_a_time = self.inner.deciding.lock().await;
        let row = self.workspace_row(id).await?;
        if row.removed_at.is_some() {
            return Err(
                ServiceError::new(ErrorCode::WorkspaceNotFound, "it was taken off the list").about(row.name)
            );
        }
        let (root, identity) = self.registered(to).await?;
        let mut tx = self.begin().await?;
        if tasks::workspace_busy(&mut tx, id).await? {
            let words = "a task is at work in this workspace; stop it first";
            return Err(ServiceError::new(ErrorCode::TaskState, words).about(row.name));
        }
        let text = root.to_string_lossy().into_owned();
        if let Some(other) = workspaces::by_root(&mut tx, &text).await?
            && other.id != row.id
        {
            return Err(ServiceError::new(ErrorCode::AlreadyExists, "this folder is another workspace")
                .about(other.name));
        }
        let mut moved = row.clone();
        if folder_name(&row.root).as_deref() == Some(row.name.as_str()) {
            moved.name = folder_name(&text).unwrap_or(row.name);
        }
        (moved.root, moved.dev, moved.ino, moved.used_at) = (text, identity.dev, identity.ino, self.now());
        let mut records = self.void_cards_of_other_root(&mut tx, id, identity).await?;
        workspaces::update(&mut tx, &moved).await?;
        let event = Event::OperatorActed {
            action: "workspace_moved".to_owned(),
            workspace: Some(id.clone()),
            subject: Some(moved.name.clone()),
        };
        records.extend(self.append(&mut tx, None, Source::Operator, &[event]).await?);
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        self.workspace(id).await
    }

    /// A folder that the person named, held to the rules of registering, with its identity.
    pub(crate) async fn registered(&self, folder: &Path) -> Result<(PathBuf, RootIdentity), ServiceError> {
        let (folder, home, data) =
            (folder.to_path_buf(), self.inner.home.clone(), self.data_dir().to_path_buf());
        let shown = folder.display().to_string();
        blocking(move || {
            let root = pilot_guard::register_root(&folder, home.as_deref(), &data)
                .map_err(|error| ServiceError::from(error).about(shown))?;
            let identity = WorkspaceGuard::open(&root)?.identity();
            Ok((root, identity))
        })
        .await
    }

    /// Voids the waiting cards of a workspace that were made for another folder than `now`, and interrupts their tasks: the
    /// call has no result, so that the task asks for it anew, from what stands in the folder then.
    pub(crate) async fn void_cards_of_other_root(
        &self,
        tx: &mut Tx,
        workspace: &WorkspaceId,
        now: RootIdentity,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        let code = Some(ErrorCode::WorkspaceReplaced);
        let mut records = Vec::new();
        for card in approvals::list(&mut *tx, true, u32::MAX).await? {
            if card.workspace != *workspace
                || (RootIdentity { dev: card.root_dev, ino: card.root_ino }) == now
            {
                continue;
            }
            let (from, to) = (ApprovalStatus::Pending, ApprovalStatus::Void);
            if !approvals::transition(&mut *tx, &card.id, from, to, self.now(), None, None, code).await? {
                continue;
            }
            let status = TaskStatus::Interrupted;
            if tasks::set_status(&mut *tx, &card.task, &[TaskStatus::WaitingApproval], status, code).await? {
                let detail =
                    Some("its card was made for another folder; resume it to be asked again".to_owned());
                let event = Event::StatusChanged { status, code, detail };
                records.extend(self.append(&mut *tx, Some(&card.task), Source::System, &[event]).await?);
            }
        }
        Ok(records)
    }

    /// Answers only when the folder of a workspace is no longer there, or another stands in its place; with the reason.
    pub(crate) async fn root_lost(&self, workspace: &WorkspaceId) -> ServiceError {
        loop {
            tokio::time::sleep(LOOK_AT_ROOT).await;
            if let Err(error) = self.guard(workspace).await
                && matches!(error.code(), ErrorCode::WorkspaceGone | ErrorCode::WorkspaceReplaced)
            {
                return error;
            }
        }
    }
}

fn folder_name(root: &str) -> Option<String> {
    Path::new(root).file_name().map(|name| name.to_string_lossy().into_owned())
}
