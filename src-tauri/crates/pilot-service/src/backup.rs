//! The application's data as one file, and back.

use crate::error::ServiceError;
use crate::open::Service;
use crate::view::{BackupView, time};
use pilot_store::archive::{self, ArchiveFacts, ArchiveOptions};
use pilot_store::{DataDir, tasks};
use pilot_types::{ErrorCode, TaskStatus, faults};
use std::path::{Path, PathBuf};

impl Service {
    /// Writes everything that the application keeps, without keys, into one file. Files of workspaces are not in it; the
    /// versions that writes replaced are, if wished.
    ///
    /// # Errors
    /// A file of that name is there (unless the person's own dialog asked: `replace`), an approved call is being carried
    /// out, or the disk cannot take it.
    pub async fn back_up(&self, to: &Path, undo: bool, replace: bool) -> Result<BackupView, ServiceError> {
        // While the database is copied nothing is carried out here; a call of another process is seen in the copy.
        let _one_at_a_time = self.inner.deciding.lock().await;
        let options = ArchiveOptions {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            made_at: self.now(),
            undo,
            replace,
        };
        let facts = archive::write(&self.inner.store, &self.inner.data, to, &options)
            .await
            .map_err(|error| ServiceError::from(error).about(to.display().to_string()))?;
        self.record_operator("data_backed_up", None, None).await?;
        Ok(view_of(facts))
    }

    /// Unpacks and checks a backup beside the data, and says what is in it. Nothing changes.
    ///
    /// # Errors
    /// It is no whole backup, or one of a newer version.
    pub async fn look_at_backup(&self, from: &Path) -> Result<BackupView, ServiceError> {
        Ok(view_of(staged(&self.inner.data, from).await?))
    }

    /// Decides that the backup that was looked at is put back the next time that the application opens its data. Close the
    /// application after it.
    ///
    /// # Errors
    /// A task is at work, another process has the data open, or nothing was looked at.
    pub async fn confirm_restore(&self) -> Result<(), ServiceError> {
        let running =
            tasks::count_by_status(&mut *self.inner.store.read().await?, TaskStatus::Running).await?;
        if running > 0 {
            return Err(ServiceError::new(ErrorCode::TaskState, "a task is at work; stop it first"));
        }
        if pilot_store::others_alive(&self.inner.data, &self.inner.process) {
            let words = "another window or command of this program is open; close it first";
            return Err(ServiceError::new(ErrorCode::DatabaseLocked, words));
        }
        if archive::confirm(&self.inner.data)? {
            return Ok(());
        }
        Err(ServiceError::new(ErrorCode::BackupInvalid, "no backup was looked at"))
    }

    /// Forgets the backup that was looked at.
    ///
    /// # Errors
    /// The data folder cannot be written.
    pub fn cancel_restore(&self) -> Result<(), ServiceError> {
        Ok(archive::discard(&self.inner.data)?)
    }
}

/// Puts a backup in the place of the data, for the command line: nobody may have the data open. Answers what was in it and
/// where the data that was there is kept.
///
/// # Errors
/// A process has the data open, or the file is no whole backup of this version or an older one: nothing changed.
pub async fn restore(
    data_dir: impl Into<PathBuf>,
    from: &Path,
) -> Result<(BackupView, Option<PathBuf>), ServiceError> {
    let data = DataDir::open(data_dir.into())?;
    if !archive::is_free(&data)? {
        let words = "close every window and command of this program first";
        return Err(ServiceError::new(ErrorCode::DatabaseLocked, words));
    }
    let view = view_of(staged(&data, from).await?);
    faults::point("restore_staged");
    archive::confirm(&data)?;
    match archive::apply(&data).await {
        Ok(kept) => Ok((view, kept.flatten())),
        Err(error) => {
            // Somebody opened the data in between. What was decided now must not happen at some later time.
            archive::discard(&data)?;
            Err(error.into())
        }
    }
}

/// Puts back what was confirmed, before anything is opened. True when the data is another now. Where somebody else has the
/// data open it is forgotten: it must not happen at some later time, over what was done since.
pub(crate) async fn restore_confirmed(data: &DataDir) -> Result<bool, ServiceError> {
    match archive::apply(data).await {
        Ok(applied) => Ok(applied.is_some()),
        Err(pilot_store::StoreError::Locked { detail }) => {
            tracing::warn!(%detail, "a backup was not put back");
            archive::discard(data)?;
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

async fn staged(data: &DataDir, from: &Path) -> Result<ArchiveFacts, ServiceError> {
    archive::stage(data, from)
        .await
        .map_err(|error| ServiceError::from(error).about(from.display().to_string()))
}

fn view_of(facts: ArchiveFacts) -> BackupView {
    BackupView {
        version: facts.version,
        schema: facts.schema,
        made_at: time(facts.made_at),
        tasks: facts.tasks,
        undo_entries: facts.undo_entries,
        database_bytes: facts.database_bytes,
    }
}
