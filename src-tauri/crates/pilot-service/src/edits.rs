//! What the person writes in the app: memory, skills, added files, and the way back from each. No card, since it is the
//! person's own act; the same guard and the same write protocol as everything else, and on record as theirs.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{EditView, UndoState, time};
use pilot_guard::{Access, FileCopy, FileWrite, GuardError, WorkspaceGuard};
use pilot_store::{EditRow, edits};
use pilot_types::{Digest, ErrorCode, Event, OperationId, Source, WorkspaceId, faults};
use std::io::Read;

/// What is to stand at the path afterwards.
pub(crate) enum NewContent {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What a reader gives; it must be what the digest says.
    Reader {
        /// The reader, at its beginning.
        reader: Box<dyn Read + Send>,
        /// Digest of what it gives.
        digest: Digest,
        /// Bytes that it gives.
        size: u64,
    },
    /// Nothing.
    Removed,
}

/// One write of the person.
pub(crate) struct PersonWrite {
    pub(crate) workspace: WorkspaceId,
    pub(crate) path: String,
    /// What the record calls it.
    pub(crate) action: &'static str,
    /// Digest of what the person saw there; `None` when nothing was.
    pub(crate) base: Option<Digest>,
    pub(crate) content: NewContent,
    /// The edit that this one takes back.
    pub(crate) undoes: Option<OperationId>,
}

/// Memory keeps its own rules, whoever writes it; everything else follows those of the person's files.
pub(crate) fn access_of(path: &str) -> Access {
    if path.starts_with("memory/") { Access::Memory } else { Access::Operator }
}

impl Service {
    /// Writes what the person wrote. `None` when that is what stands there already.
    ///
    /// # Errors
    /// The guard's refusal; `EditConflict` when something else stands there than the person saw. Nothing changes then.
    pub(crate) async fn write_as_person(&self, write: PersonWrite) -> Result<Option<EditRow>, ServiceError> {
        let guard = self.guard(&write.workspace).await?;
        let path = {
            let (guard, path) = (guard.clone(), write.path.clone());
            blocking(move || Ok(guard.check(&path, access_of(&path))?.as_str().to_owned())).await?
        };
        let (after, size) = match &write.content {
            NewContent::Bytes(bytes) => (Some(Digest::of(bytes)), bytes.len() as u64),
            NewContent::Reader { digest, size, .. } => (Some(digest.clone()), *size),
            NewContent::Removed => (None, 0),
        };
        if after.is_some() && after == write.base && write.undoes.is_none() {
            return Ok(None);
        }
        let id = OperationId::new();
        let row = EditRow {
            temp_name: pilot_tools::temp_name(&id),
            id,
            workspace: write.workspace,
            path,
            action: write.action.to_owned(),
            before: write.base,
            after,
            size,
            process: self.inner.process.clone(),
            undoes: write.undoes,
            begun_at: self.now(),
            done_at: None,
            undone_at: None,
        };
        let mut tx = self.begin().await?;
        edits::begin(&mut tx, &row).await?;
        self.commit(tx, Vec::new()).await?;
        faults::point("edit_begun");
        self.carry_out(&guard, &row, write.content).await?;
        faults::point("edit_written");
        self.finish_edit(&row).await?;
        faults::point("edit_done");
        Ok(Some(row))
    }

    async fn carry_out(
        &self,
        guard: &WorkspaceGuard,
        row: &EditRow,
        content: NewContent,
    ) -> Result<(), ServiceError> {
        let (guard, undo, wanted) = (guard.clone(), self.inner.undo.clone(), row.clone());
        let done = blocking(move || Ok(put(&guard, &undo, &wanted, content)?)).await;
        match done {
            Ok(()) => Ok(()),
            // The new content stands, only durability is in doubt: the next start settles it.
            Err(error) if error.code() == ErrorCode::OutcomeUnknown => Err(error),
            Err(error) => {
                let mut tx = self.begin().await?;
                edits::drop_open(&mut tx, &row.id).await?;
                self.commit(tx, Vec::new()).await?;
                Err(match error.code() {
                    ErrorCode::TargetChanged => ServiceError::new(
                        ErrorCode::EditConflict,
                        "something else stands there than was seen; nothing was written",
                    )
                    .about(row.path.clone()),
                    _ => error,
                })
            }
        }
    }

    async fn finish_edit(&self, row: &EditRow) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        edits::finish(&mut tx, row, self.now()).await?;
        let event = Event::OperatorActed {
            action: row.action.clone(),
            workspace: Some(row.workspace.clone()),
            subject: Some(row.path.clone()),
        };
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Settles writes of the person whose process died in the middle: what stands on disk decides.
    pub(crate) async fn settle_edits(&self) -> Result<(), ServiceError> {
        let open = edits::open_ones(&mut *self.inner.store.read().await?).await?;
        for row in open {
            if !self.is_dead(&row.process) {
                continue;
            }
            // A folder that is not there may come back: left for the next start.
            let Ok(guard) = self.guard(&row.workspace).await else { continue };
            let wanted = row.clone();
            let stands = blocking(move || {
                guard.sweep_temp(&wanted.path, &wanted.temp_name)?;
                Ok(guard.digest(&wanted.path)? == wanted.after)
            })
            .await;
            if matches!(stands, Ok(true)) {
                self.finish_edit(&row).await?;
            } else {
                let mut tx = self.begin().await?;
                edits::drop_open(&mut tx, &row.id).await?;
                self.commit(tx, Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// Takes an edit of the person back.
    ///
    /// # Errors
    /// The file changed since, it was taken back already, or nothing is kept: nothing changes.
    pub async fn undo_edit(&self, id: &OperationId) -> Result<EditView, ServiceError> {
        let row = self.edit_row(id).await?;
        if row.done_at.is_none() || row.undone_at.is_some() {
            return Err(ServiceError::new(ErrorCode::UndoMissing, "this was taken back already")
                .about(row.path.clone()));
        }
        let content = match row.before.clone() {
            None => NewContent::Removed,
            Some(before) => NewContent::Bytes(self.kept(before).await?),
        };
        let write = PersonWrite {
            workspace: row.workspace.clone(),
            path: row.path.clone(),
            action: "edit_undone",
            base: row.after.clone(),
            content,
            undoes: Some(row.id.clone()),
        };
        self.write_as_person(write).await.map_err(|error| match error.code() {
            ErrorCode::EditConflict => {
                ServiceError::new(ErrorCode::UndoChanged, "the file changed since; nothing was undone")
                    .about(row.path.clone())
            }
            _ => error,
        })?;
        self.edit(id).await
    }

    /// One edit of the person.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn edit(&self, id: &OperationId) -> Result<EditView, ServiceError> {
        let row = self.edit_row(id).await?;
        self.edit_view(row).await
    }

    async fn edit_row(&self, id: &OperationId) -> Result<EditRow, ServiceError> {
        edits::get(&mut *self.inner.store.read().await?, id)
            .await?
            .ok_or_else(|| ServiceError::new(ErrorCode::EditNotFound, "no such edit").about(id.to_string()))
    }

    pub(crate) async fn edit_view(&self, row: EditRow) -> Result<EditView, ServiceError> {
        let guard = self.guard(&row.workspace).await.ok();
        let undo = self.inner.undo.clone();
        blocking(move || {
            let now = guard.map(|guard| guard.digest(&row.path));
            let state = if row.undone_at.is_some() {
                UndoState::Undone
            } else if !matches!(now, Some(Ok(now)) if now == row.after) {
                UndoState::Changed
            } else if row.before.as_ref().is_none_or(|before| undo.contains(before)) {
                UndoState::Possible
            } else {
                UndoState::Expired
            };
            Ok(EditView {
                id: row.id.to_string(),
                workspace: row.workspace.to_string(),
                path: row.path,
                action: row.action,
                at: time(row.done_at.unwrap_or(row.begun_at)),
                size: row.size,
                replaced: row.before.is_some(),
                removed: row.after.is_none(),
                undo: state,
            })
        })
        .await
    }
}

fn put(
    guard: &WorkspaceGuard,
    undo: &pilot_guard::UndoStore,
    row: &EditRow,
    content: NewContent,
) -> Result<(), GuardError> {
    let (path, access, base, temp_name) =
        (row.path.as_str(), access_of(&row.path), row.before.as_ref(), row.temp_name.as_str());
    match content {
        NewContent::Bytes(bytes) => {
            // A page of memory can be gone back to even when another program replaced it since.
            if access == Access::Memory {
                undo.keep(&bytes)?;
            }
            let write = FileWrite { path, access, bytes: &bytes, base, temp_name };
            guard.create_or_replace(&write, undo).map(|_| ())
        }
        NewContent::Reader { mut reader, digest, .. } => {
            let copy = FileCopy { path, access, digest: &digest, base, temp_name };
            guard.copy_in(&copy, &mut reader, undo).map(|_| ())
        }
        NewContent::Removed => match base {
            Some(base) => guard.remove(path, access, base, undo),
            None => Ok(()),
        },
    }
}
