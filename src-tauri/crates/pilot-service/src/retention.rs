//! Deleting, by hand and by age: tasks, replaced bytes, logs. What is deleted is said before; the record keeps its shape.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{DataUsageView, DeletionView, SettingsView};
use chrono::{DateTime, TimeDelta, Utc};
use pilot_guard::UndoLimits;
use pilot_store::{artifacts, facts, retention};
use pilot_types::{ErrorCode, Event, Source, TaskId, faults};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often age is looked at while a process stays open.
const EVERY: Duration = Duration::from_secs(6 * 60 * 60);
/// Tasks deleted by age in one round at most; the rest follows in the next.
const ROUND: u32 = 500;

impl Service {
    /// What deleting a task would take along, and what it would leave.
    ///
    /// # Errors
    /// There is none of that id, or it has not ended.
    pub async fn deletion(&self, id: &TaskId) -> Result<DeletionView, ServiceError> {
        let task = self.task_row(id).await?;
        let mut reader = self.inner.store.read().await?;
        let erasure = retention::erasure(&mut reader, id).await?.ok_or_else(|| not_ended(id))?;
        let written = artifacts::of_task(&mut reader, id).await?;
        let mut files: Vec<String> = written.into_iter().map(|artifact| artifact.path).collect();
        files.dedup();
        Ok(DeletionView {
            task: id.to_string(),
            goal: task.goal,
            entries: erasure.entries,
            cards: erasure.cards,
            kept_versions: erasure.kept.len() as u64,
            files,
        })
    }

    /// Deletes a task that has ended: its words, its cards with their bytes, and the replaced versions that only it could
    /// be taken back with. Files in the folder stay. The record keeps the place and the hash of each entry.
    ///
    /// # Errors
    /// There is none of that id, or it has not ended.
    pub async fn delete_task(&self, id: &TaskId) -> Result<(), ServiceError> {
        self.task_row(id).await?;
        self.erase(id, Source::Operator).await?;
        self.scrub().await;
        self.inner.bus.changed();
        Ok(())
    }

    /// What is deleted is deleted; that its remains are still in the file is no reason to say that it is not.
    async fn scrub(&self) {
        match retention::scrub(&self.inner.store).await {
            Ok(true) => {}
            Ok(false) => tracing::info!("remains of what was deleted are overwritten later"),
            Err(error) => tracing::warn!(%error, "remains of what was deleted could not be overwritten"),
        }
    }

    async fn erase(&self, id: &TaskId, source: Source) -> Result<(), ServiceError> {
        let _one_at_a_time = self.inner.deciding.lock().await;
        let mut tx = self.begin().await?;
        let erasure = retention::erasure(&mut tx, id).await?.ok_or_else(|| not_ended(id))?;
        retention::erase_task(&mut tx, id).await?.ok_or_else(|| not_ended(id))?;
        let event = Event::OperatorActed {
            action: "task_deleted".to_owned(),
            workspace: None,
            subject: Some(id.to_string()),
        };
        let records = self.append(&mut tx, None, source, &[event]).await?;
        faults::point("delete_before_forget");
        // Before the commit: a kill in between leaves a task that can be deleted once more, and no bytes that nobody knows.
        let undo = self.inner.undo.clone();
        blocking(move || {
            for digest in &erasure.kept {
                undo.forget(digest)?;
            }
            Ok(())
        })
        .await?;
        faults::point("delete_before_commit");
        self.commit(tx, records).await?;
        faults::point("delete_done");
        Ok(())
    }

    /// What the application keeps.
    ///
    /// # Errors
    /// The database or the data folder cannot be read.
    pub async fn data_usage(&self) -> Result<DataUsageView, ServiceError> {
        let database = facts::read(&mut *self.inner.store.read().await?).await?;
        let (undo, data) = (self.inner.undo.clone(), self.inner.data.clone());
        blocking(move || {
            let (undo, logs) = (undo.usage()?, data.log_files()?);
            Ok(DataUsageView {
                database_bytes: database.bytes.unsigned_abs(),
                undo_entries: undo.entries,
                undo_bytes: undo.bytes,
                logs: logs.len() as u64,
                log_bytes: logs.iter().map(|log| log.size).sum(),
            })
        })
        .await
    }

    /// Deletes every replaced version that is kept. No write that was made until now can be taken back any more.
    ///
    /// # Errors
    /// The undo store cannot be written.
    pub async fn clear_undo(&self) -> Result<(), ServiceError> {
        let undo = self.inner.undo.clone();
        blocking(move || Ok(undo.clear()?)).await?;
        self.record_operator("undo_cleared", None, None).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Deletes the logs. The newest is emptied and goes on.
    ///
    /// # Errors
    /// The data folder cannot be written.
    pub async fn clear_logs(&self) -> Result<(), ServiceError> {
        let data = self.inner.data.clone();
        blocking(move || Ok(data.remove_logs(None)?)).await?;
        self.record_operator("logs_cleared", None, None).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Takes new limits into use at once, and lets go of what is beyond them.
    pub(crate) fn use_limits(&self, settings: &SettingsView) {
        self.inner.undo.set_limits(UndoLimits { days: settings.undo_days, bytes: settings.undo_bytes });
        self.prune_undo();
        self.inner.aged.notify_one();
    }

    /// Lets go of replaced bytes that are older or more than the settings keep. Nobody waits for it, and a failure costs
    /// nothing but space.
    pub(crate) fn prune_undo(&self) {
        let (undo, now) = (self.inner.undo.clone(), self.now());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = undo.prune(now) {
                tracing::warn!(%error, "old replaced bytes were not removed");
            }
        });
    }

    /// Deletes the tasks and logs that are older than the settings keep; answers how many tasks. By default both stay.
    ///
    /// # Errors
    /// The settings or the database cannot be read or written.
    pub async fn apply_retention(&self, now: DateTime<Utc>) -> Result<u64, ServiceError> {
        let settings = self.settings().await?;
        let before = |days: u32| now.checked_sub_signed(TimeDelta::days(i64::from(days)));
        if let Some(before) = settings.log_days.and_then(before) {
            let data = self.inner.data.clone();
            blocking(move || Ok(data.remove_logs(Some(before))?)).await?;
        }
        let Some(before) = settings.task_days.and_then(before) else { return Ok(0) };
        let old = retention::ended_before(&mut *self.inner.store.read().await?, before, ROUND).await?;
        let mut deleted = 0;
        for id in &old {
            match self.erase(id, Source::System).await {
                Ok(()) => deleted += 1,
                // Another process was faster.
                Err(error) if error.code() == ErrorCode::TaskState => {}
                Err(error) => return Err(error),
            }
        }
        if deleted > 0 {
            self.scrub().await;
            self.inner.bus.changed();
        }
        Ok(deleted)
    }

    /// Lets go of what is old: at once, whenever the settings change, and from time to time; until it is told to stop.
    pub(crate) async fn watch_age(&self, stop: CancellationToken) {
        loop {
            if self.is_owner() {
                self.prune_undo();
                if let Err(error) = self.apply_retention(self.now()).await {
                    tracing::warn!(%error, "something old was not removed; trying again later");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.inner.aged.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }
}

fn not_ended(id: &TaskId) -> ServiceError {
    ServiceError::new(ErrorCode::TaskState, "only a task that has ended can be deleted; stop it first")
        .about(id.to_string())
}
