//! Workspaces: folders that the person chose.

use crate::error::{ServiceError, blocking};
use crate::moved::{Root, look_at};
use crate::open::Service;
use crate::view::WorkspaceView;
use pilot_guard::{RootIdentity, WorkspaceGuard};
use pilot_store::{WorkspaceRow, tasks, workspaces};
use pilot_types::{ErrorCode, Event, Source, WorkspaceId};
use std::path::{Path, PathBuf};

impl Service {
    /// Registers a folder, or updates it when it is registered already.
    ///
    /// # Errors
    /// The folder is not there, is too wide, or holds the application's own data.
    pub async fn add_workspace(
        &self,
        folder: &Path,
        allowed_mcp: Option<Vec<String>>,
    ) -> Result<WorkspaceView, ServiceError> {
        let (root, identity) = self.registered(folder).await?;
        let mut tx = self.begin().await?;
        let now = self.now();
        let existing = workspaces::by_root(&mut tx, &root.to_string_lossy()).await?;
        let mut row = existing.clone().unwrap_or_else(|| new_row(&root, now));
        row.dev = identity.dev;
        row.ino = identity.ino;
        row.used_at = now;
        row.removed_at = None;
        if let Some(allowed) = allowed_mcp {
            row.allowed_mcp = allowed;
        }
        let records = match existing {
            Some(_) => {
                // The person named the folder as it is now; what was shown of another one is no longer asked.
                let records = self.void_cards_of_other_root(&mut tx, &row.id, identity).await?;
                workspaces::update(&mut tx, &row).await?;
                records
            }
            None => {
                workspaces::insert(&mut tx, &row).await?;
                self.append(&mut tx, None, Source::Operator, &[acted("workspace_added", &row)]).await?
            }
        };
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        Ok(view_of(&row, Root::Present))
    }

    /// All workspaces, the last used first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceView>, ServiceError> {
        let rows = workspaces::list(&mut *self.inner.store.read().await?).await?;
        blocking(move || Ok(rows.iter().map(|row| view_of(row, look(row))).collect())).await
    }

    /// One workspace.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceView, ServiceError> {
        let row = self.workspace_row(id).await?;
        blocking(move || Ok(view_of(&row, look(&row)))).await
    }

    /// Takes a workspace off the list. The folder and its files stay as they are.
    ///
    /// # Errors
    /// There is none of that id, or a task is at work in it.
    pub async fn remove_workspace(&self, id: &WorkspaceId) -> Result<(), ServiceError> {
        let row = self.workspace_row(id).await?;
        let mut tx = self.begin().await?;
        if tasks::workspace_busy(&mut tx, id).await? {
            return Err(ServiceError::new(
                ErrorCode::TaskState,
                "a task is at work in this workspace; stop it first",
            )
            .about(row.name));
        }
        workspaces::remove(&mut tx, id, self.now()).await?;
        let records =
            self.append(&mut tx, None, Source::Operator, &[acted("workspace_removed", &row)]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Chooses the provider of new tasks in a workspace.
    ///
    /// # Errors
    /// No such workspace or provider.
    pub async fn set_workspace_provider(
        &self,
        id: &WorkspaceId,
        provider: &str,
    ) -> Result<WorkspaceView, ServiceError> {
        self.provider_named(provider).await?;
        let mut row = self.workspace_row(id).await?;
        provider.clone_into(&mut row.provider);
        let mut tx = self.begin().await?;
        workspaces::update(&mut tx, &row).await?;
        let records =
            self.append(&mut tx, None, Source::Operator, &[acted("workspace_provider_chosen", &row)]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        self.workspace(id).await
    }

    pub(crate) async fn workspace_row(&self, id: &WorkspaceId) -> Result<WorkspaceRow, ServiceError> {
        workspaces::get(&mut *self.inner.store.read().await?, id).await?.ok_or_else(|| {
            ServiceError::new(ErrorCode::WorkspaceNotFound, "no such workspace").about(id.to_string())
        })
    }

    /// A new guard on a workspace, sure to be the folder that was registered.
    pub(crate) async fn guard(&self, id: &WorkspaceId) -> Result<WorkspaceGuard, ServiceError> {
        let row = self.workspace_row(id).await?;
        blocking(move || {
            let name = row.name.clone();
            let guard = WorkspaceGuard::open(Path::new(&row.root)).map_err(|error| {
                ServiceError::new(ErrorCode::WorkspaceGone, format!("the folder is not there now: {error}"))
                    .about(name.clone())
            })?;
            if guard.identity() != (RootIdentity { dev: row.dev, ino: row.ino }) {
                return Err(ServiceError::new(
                    ErrorCode::WorkspaceReplaced,
                    "another folder stands where the workspace was",
                )
                .about(name));
            }
            Ok(guard)
        })
        .await
    }
}

fn new_row(root: &Path, now: chrono::DateTime<chrono::Utc>) -> WorkspaceRow {
    let name = root
        .file_name()
        .map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned());
    WorkspaceRow {
        id: WorkspaceId::new(),
        name,
        root: PathBuf::from(root).to_string_lossy().into_owned(),
        dev: 0,
        ino: 0,
        provider: "offline".to_owned(),
        allowed_mcp: Vec::new(),
        created_at: now,
        used_at: now,
        removed_at: None,
    }
}

fn look(row: &WorkspaceRow) -> Root {
    look_at(&row.root, RootIdentity { dev: row.dev, ino: row.ino })
}

fn view_of(row: &WorkspaceRow, root: Root) -> WorkspaceView {
    WorkspaceView {
        id: row.id.to_string(),
        name: row.name.clone(),
        root: row.root.clone(),
        present: root == Root::Present,
        replaced: root == Root::Replaced,
        provider: row.provider.clone(),
        allowed_mcp_servers: row.allowed_mcp.clone(),
    }
}

fn acted(action: &str, row: &WorkspaceRow) -> Event {
    Event::OperatorActed {
        action: action.to_owned(),
        workspace: Some(row.id.clone()),
        subject: Some(row.name.clone()),
    }
}

impl Service {
    /// Makes the demo folder in the person's home and registers it. A folder of that name is taken as it stands: what a
    /// person did in it stays.
    ///
    /// # Errors
    /// There is no home folder, or it cannot be written.
    pub async fn open_demo(
        &self,
        name: &str,
        files: &'static [(&'static str, &'static [u8])],
    ) -> Result<WorkspaceView, ServiceError> {
        let home = self
            .inner
            .home
            .clone()
            .ok_or_else(|| ServiceError::new(ErrorCode::WorkspaceNotFolder, "there is no home folder"))?;
        let (folder, undo) = (home.join(name), self.inner.undo.clone());
        let made = folder.clone();
        blocking(move || {
            if pilot_guard::make_folder(&made)? {
                let guard = WorkspaceGuard::open(&made)?;
                for (path, bytes) in files {
                    let temp_name = format!(".pocketpilot-{}.tmp", pilot_types::OperationId::new());
                    let write = pilot_guard::FileWrite {
                        path,
                        access: pilot_guard::Access::Operator,
                        bytes,
                        base: None,
                        temp_name: &temp_name,
                    };
                    guard.create_or_replace(&write, &undo)?;
                }
            }
            Ok(())
        })
        .await?;
        self.add_workspace(&folder, None).await
    }
}
