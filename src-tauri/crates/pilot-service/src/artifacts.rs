//! What tasks wrote: opened, saved elsewhere, taken back.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{ArtifactView, UndoPreview, UndoState, time};
use pilot_guard::{Access, FileWrite, UndoStore, WorkspaceGuard};
use pilot_store::{ArtifactRow, artifacts};
use pilot_types::{ArtifactId, Digest, ErrorCode, Event, Source, WorkspaceId};
use std::path::PathBuf;
use std::sync::Arc;

impl Service {
    /// Artifacts, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn artifacts(
        &self,
        workspace: Option<&WorkspaceId>,
    ) -> Result<Vec<ArtifactView>, ServiceError> {
        let rows = artifacts::list(&mut *self.inner.store.read().await?, workspace, 1_000).await?;
        self.artifact_views(rows).await
    }

    /// One artifact.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn artifact(&self, id: &ArtifactId) -> Result<ArtifactView, ServiceError> {
        let row = self.artifact_row(id).await?;
        self.artifact_views(vec![row]).await?.pop().ok_or_else(|| {
            ServiceError::new(ErrorCode::ArtifactNotFound, "no such artifact").about(id.to_string())
        })
    }

    async fn artifact_row(&self, id: &ArtifactId) -> Result<ArtifactRow, ServiceError> {
        artifacts::get(&mut *self.inner.store.read().await?, id).await?.ok_or_else(|| {
            ServiceError::new(ErrorCode::ArtifactNotFound, "no such artifact").about(id.to_string())
        })
    }

    pub(crate) async fn artifact_views(
        &self,
        rows: Vec<ArtifactRow>,
    ) -> Result<Vec<ArtifactView>, ServiceError> {
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            let undo = self.undo_state(&row).await?;
            views.push(ArtifactView {
                id: row.id.to_string(),
                task: row.task.to_string(),
                workspace: row.workspace.to_string(),
                path: row.path,
                size: row.size,
                digest: row.digest,
                at: time(row.at),
                undo,
                replaced: !row.created,
            });
        }
        Ok(views)
    }

    async fn undo_state(&self, row: &ArtifactRow) -> Result<UndoState, ServiceError> {
        if row.undone_at.is_some() {
            return Ok(UndoState::Undone);
        }
        let Ok(guard) = self.guard(&row.workspace).await else { return Ok(UndoState::Changed) };
        let (row, undo) = (row.clone(), self.inner.undo.clone());
        blocking(move || Ok(state_on_disk(&guard, &undo, &row))).await
    }

    /// Bytes of an artifact, read through the guard, as they are now.
    ///
    /// # Errors
    /// It is not there now, or may not be opened.
    pub async fn artifact_bytes(&self, id: &ArtifactId) -> Result<(ArtifactView, Vec<u8>), ServiceError> {
        let view = self.artifact(id).await?;
        let guard = self.guard(&WorkspaceId::from_text(view.workspace.clone())).await?;
        let path = view.path.clone();
        let bytes = blocking(move || Ok(guard.open_file(&path)?.read_all(256 << 20)?)).await?;
        Ok((view, bytes))
    }

    /// Where an artifact lies, for the system's own programs, after the guard has opened it once.
    ///
    /// # Errors
    /// It is not there now, or may not be opened.
    pub async fn artifact_place(&self, id: &ArtifactId) -> Result<PathBuf, ServiceError> {
        let view = self.artifact(id).await?;
        let guard = self.guard(&WorkspaceId::from_text(view.workspace.clone())).await?;
        let path = view.path.clone();
        blocking(move || {
            guard.open_file(&path)?;
            Ok(guard.root().join(path))
        })
        .await
    }

    /// Copies an artifact to a place that the person chose outside the workspace. Never over an existing file unless
    /// the person's own dialog asked for that (`replace`).
    ///
    /// # Errors
    /// The place exists, or cannot be written.
    pub async fn save_artifact(
        &self,
        id: &ArtifactId,
        to: PathBuf,
        replace: bool,
    ) -> Result<(), ServiceError> {
        let (view, bytes) = self.artifact_bytes(id).await?;
        let shown = to.display().to_string();
        blocking(move || Ok(pilot_guard::save_outside(&to, &bytes, replace)?))
            .await
            .map_err(|error| error.about(shown))?;
        self.record_operator(
            "artifact_saved",
            Some(&WorkspaceId::from_text(view.workspace)),
            Some(&view.path),
        )
        .await
    }

    /// What an undo would do.
    ///
    /// # Errors
    /// The file changed since, or nothing is kept to go back to.
    pub async fn undo_preview(&self, id: &ArtifactId) -> Result<UndoPreview, ServiceError> {
        let row = self.artifact_row(id).await?;
        let artifact = self.artifact(id).await?;
        refuse_unless_possible(&artifact)?;
        let Some(previous) = row.previous.clone() else {
            return Ok(UndoPreview { artifact, removes: true, difference: None });
        };
        let now = if row.digest == gone() { None } else { Some(self.artifact_bytes(id).await?.1) };
        let before = self.kept(previous).await?;
        let difference = pilot_review::difference(now.as_deref(), &before, &row.path);
        Ok(UndoPreview { artifact, removes: false, difference: Some(difference) })
    }

    pub(crate) async fn kept(&self, digest: Digest) -> Result<Vec<u8>, ServiceError> {
        let undo = self.inner.undo.clone();
        blocking(move || {
            undo.get(&digest)?.ok_or_else(|| {
                ServiceError::new(ErrorCode::UndoMissing, "the replaced bytes are no longer kept")
            })
        })
        .await
    }

    /// Takes a write back: the person's own act. Puts the replaced bytes back, or removes a file that the task made.
    ///
    /// # Errors
    /// The file changed since, it was undone already, or nothing is kept: nothing changes.
    pub async fn undo(&self, id: &ArtifactId) -> Result<ArtifactView, ServiceError> {
        let _one_at_a_time = self.inner.deciding.lock().await;
        let row = self.artifact_row(id).await?;
        refuse_unless_possible(&self.artifact(id).await?)?;
        let guard = self.guard(&row.workspace).await?;
        let (store, for_disk, id_for_temp) = (self.inner.undo.clone(), row.clone(), id.clone());
        blocking(move || take_back(&guard, &store, &for_disk, &id_for_temp)).await?;
        let mut tx = self.begin().await?;
        artifacts::mark_undone(&mut tx, id, self.now()).await?;
        let event =
            Event::Undone { artifact: id.clone(), path: row.path.clone(), removed: row.previous.is_none() };
        let records = self.append(&mut tx, Some(&row.task), Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        self.artifact(id).await
    }
}

/// Stands for the digest of a file that is not there: an outside program removed it.
pub(crate) fn gone() -> Digest {
    Digest::of(b"pocketpilot: nothing stands here")
}

fn access_of(path: &str) -> Access {
    if path.starts_with("memory/") { Access::Memory } else { Access::Write }
}

fn take_back(
    guard: &WorkspaceGuard,
    store: &UndoStore,
    row: &ArtifactRow,
    id: &ArtifactId,
) -> Result<(), ServiceError> {
    let changed = |error: pilot_guard::GuardError| match error.code() {
        ErrorCode::TargetChanged | ErrorCode::NotFound => {
            ServiceError::new(ErrorCode::UndoChanged, "the file changed since; nothing was undone")
                .about(row.path.clone())
        }
        _ => ServiceError::from(error),
    };
    match &row.previous {
        None => guard.remove(&row.path, access_of(&row.path), &row.digest, store).map_err(changed),
        Some(previous) => {
            let bytes = store.get(previous)?.ok_or_else(|| {
                ServiceError::new(ErrorCode::UndoMissing, "the replaced bytes are no longer kept")
                    .about(row.path.clone())
            })?;
            let temp_name = format!(".pocketpilot-undo-{id}.tmp");
            let write = FileWrite {
                path: &row.path,
                access: access_of(&row.path),
                bytes: &bytes,
                base: Some(&row.digest).filter(|digest| **digest != gone()),
                temp_name: &temp_name,
            };
            guard.create_or_replace(&write, store).map(|_| ()).map_err(changed)
        }
    }
}

fn state_on_disk(guard: &WorkspaceGuard, undo: &Arc<UndoStore>, row: &ArtifactRow) -> UndoState {
    match guard.digest(&row.path) {
        Ok(Some(now)) if now == row.digest => {}
        Ok(None) if row.digest == gone() => {}
        Ok(_) | Err(_) => return UndoState::Changed,
    }
    match &row.previous {
        None => UndoState::Possible,
        Some(previous) if undo.contains(previous) => UndoState::Possible,
        Some(_) => UndoState::Expired,
    }
}

fn refuse_unless_possible(artifact: &ArtifactView) -> Result<(), ServiceError> {
    let refuse = |code: ErrorCode, words: &str| {
        Err(ServiceError::new(code, words.to_owned()).about(artifact.path.clone()))
    };
    match artifact.undo {
        UndoState::Possible => Ok(()),
        UndoState::Undone => refuse(ErrorCode::UndoMissing, "this was undone already"),
        UndoState::Changed => refuse(ErrorCode::UndoChanged, "the file changed since; nothing was undone"),
        UndoState::Expired => refuse(ErrorCode::UndoMissing, "the replaced bytes are no longer kept"),
    }
}
