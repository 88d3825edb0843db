//! The part of a process that stays: runs queued tasks, and notices what other processes did.

use crate::open::Service;
use crate::run::LOOK;
use pilot_guard::WatchOptions;
use pilot_store::{events, tasks};
use pilot_types::{ApprovalId, Event, EventRecord, TaskId};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the queue is looked at although nothing was said.
const UNASKED: Duration = Duration::from_secs(5);

/// What was started; dropping it stops it.
pub struct Background {
    token: CancellationToken,
    tracker: TaskTracker,
}

impl Background {
    /// Stops it and waits for the running tasks to reach their next durable step, at most this long. Tasks that need
    /// longer are found as interrupted at the next start.
    pub async fn shutdown(self, limit: Duration) {
        self.token.cancel();
        self.tracker.close();
        let _ = tokio::time::timeout(limit, self.tracker.wait()).await;
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl Service {
    /// Starts the runner and the watchers of this process: of other processes, and of the disk.
    #[must_use]
    pub fn start_background(&self) -> Background {
        let token = CancellationToken::new();
        let tracker = TaskTracker::new();
        let (service, stop, running) = (self.clone(), token.clone(), tracker.clone());
        tracker.spawn(async move { service.run_queue(stop, running).await });
        let (service, stop) = (self.clone(), token.clone());
        tracker.spawn(async move { service.watch_others(stop).await });
        let (service, stop) = (self.clone(), token.clone());
        tracker.spawn(async move { service.watch_disk(stop, WatchOptions::default()).await });
        let (service, stop) = (self.clone(), token.clone());
        tracker.spawn(async move { service.watch_age(stop).await });
        Background { token, tracker }
    }

    async fn run_queue(&self, stop: CancellationToken, running: TaskTracker) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                // Woken by new work, and by every change that another process made.
                () = self.inner.work.notified() => {}
                () = tokio::time::sleep(UNASKED) => {}
            }
            loop {
                match self.claim_next().await {
                    Ok(Some(id)) => {
                        let service = self.clone();
                        running.spawn(async move {
                            if let Err(error) = service.run_claimed(&id).await {
                                tracing::error!(task = %id, %error, "a task could not be settled");
                            }
                        });
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(%error, "the queue could not be read; trying again");
                        break;
                    }
                }
            }
        }
    }

    async fn claim_next(&self) -> Result<Option<TaskId>, crate::ServiceError> {
        let mut reader = self.inner.store.read().await?;
        let queued = tasks::next_queued(&mut reader, &self.inner.process).await?;
        drop(reader);
        match queued {
            Some(id) if self.claim(&id).await? => Ok(Some(id)),
            Some(_) | None => Ok(None),
        }
    }

    /// Processes meet only in the database: looks at its version and tells what others committed.
    async fn watch_others(&self, stop: CancellationToken) {
        let mut last = None;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            match self.look_at_others(last).await {
                Ok(version) => last = Some(version),
                Err(error) => tracing::warn!(%error, "the database could not be looked at; trying again"),
            }
        }
    }

    async fn look_at_others(&self, last: Option<i64>) -> Result<i64, crate::ServiceError> {
        let version = self.inner.store.data_version().await?;
        if last == Some(version) {
            return Ok(version);
        }
        // A place may have become free, a schedule or channel changed.
        self.inner.work.notify_one();
        self.inner.automations.notify_one();
        loop {
            let mut reader = self.inner.store.read().await?;
            let found = events::after(&mut reader, self.inner.bus.upto(), 500).await?;
            drop(reader);
            let (count, waiting) = (found.len(), waiting_in(&found));
            self.inner.bus.found(found);
            for approval in waiting {
                self.inner.bus.waiting(&approval);
            }
            if count < 500 {
                return Ok(version);
            }
        }
    }
}

fn waiting_in(records: &[EventRecord]) -> Vec<ApprovalId> {
    records
        .iter()
        .filter_map(|record| match &record.event {
            Event::ApprovalRequested { approval, .. } => Some(approval.clone()),
            _ => None,
        })
        .collect()
}
