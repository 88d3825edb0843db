//! Follows the disk: which files changed, whether a waiting card still shows what is there, whether a folder is gone.
//! Watched are the workspace that the window shows and those in which a card waits; nothing is written here.

use crate::bus::Notice;
use crate::error::blocking;
use crate::open::Service;
use crate::view::WatchState;
use pilot_guard::{DiskNotice, FolderWatch, RootIdentity, WatchMode, WatchOptions};
use pilot_store::{ApprovalRow, approvals};
use pilot_types::{ApprovalId, Event, WorkspaceId};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// What the disk did in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskChange {
    /// These paths changed, or something below them.
    Paths(BTreeSet<String>),
    /// Something changed, it is not known where.
    Everything,
    /// It is watched differently from now on, or not there.
    State(WatchState),
}

/// What is known of the disk. Nothing of it is stored: it is true now or not at all.
#[derive(Default)]
pub(crate) struct Disk {
    shown: Mutex<Option<WorkspaceId>>,
    wake: Notify,
    stale: Mutex<HashSet<ApprovalId>>,
    states: Mutex<HashMap<WorkspaceId, WatchState>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// True when a waiting card is known to show what is no longer there.
    pub(crate) fn is_stale(&self, card: &ApprovalId) -> bool {
        locked(&self.stale).contains(card)
    }
}

/// The watches of this process, and where they tell.
struct Watches {
    running: HashMap<WorkspaceId, (PathBuf, RootIdentity, FolderWatch)>,
    options: WatchOptions,
    tell: mpsc::Sender<(WorkspaceId, DiskNotice)>,
}

impl Service {
    /// Says which workspace a person looks at; its folder is watched as long as it is.
    pub fn look_at(&self, workspace: Option<WorkspaceId>) {
        let mut shown = locked(&self.inner.disk.shown);
        if *shown != workspace {
            *shown = workspace;
            self.inner.disk.wake.notify_one();
        }
    }

    /// How a folder is watched now; `None` when it is not.
    #[must_use]
    pub fn watch_state(&self, workspace: &WorkspaceId) -> Option<WatchState> {
        locked(&self.inner.disk.states).get(workspace).copied()
    }

    /// Watches until it is told to stop.
    pub(crate) async fn watch_disk(&self, stop: CancellationToken, options: WatchOptions) {
        let (tell, mut told) = mpsc::channel(16);
        let mut watches = Watches { running: HashMap::new(), options, tell };
        let mut notices = self.subscribe();
        self.arrange(&mut watches).await;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.inner.disk.wake.notified() => self.arrange(&mut watches).await,
                notice = notices.recv() => match notice {
                    Ok(notice) if !concerns(&notice) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => self.arrange(&mut watches).await,
                    Err(RecvError::Closed) => return,
                },
                Some((workspace, notice)) = told.recv() => {
                    if watches.running.contains_key(&workspace) {
                        self.disk_told(&workspace, notice).await;
                    }
                }
            }
        }
    }

    /// Begins the watches that are wanted and ends the others.
    async fn arrange(&self, watches: &mut Watches) {
        let wanted = match self.wanted().await {
            Ok(wanted) => wanted,
            Err(error) => return tracing::warn!(%error, "which folders to watch could not be read"),
        };
        watches.running.retain(|id, (root, identity, _)| {
            let stays = wanted.get(id).is_some_and(|(r, i)| r == root && i == identity);
            if !stays {
                locked(&self.inner.disk.states).remove(id);
            }
            stays
        });
        for (id, (root, identity)) in wanted {
            if watches.running.contains_key(&id) {
                continue;
            }
            let (tell, of) = (watches.tell.clone(), id.clone());
            let started = FolderWatch::start(&root, identity, watches.options, move |notice| {
                // Nobody listens any more when the watches end; then this one is about to.
                let _ = tell.blocking_send((of.clone(), notice));
            });
            match started {
                Ok(watch) => {
                    watches.running.insert(id, (root, identity, watch));
                }
                Err(error) => tracing::warn!(%error, "a folder is not watched"),
            }
        }
    }

    /// The workspace on screen, and those with a waiting card.
    async fn wanted(
        &self,
    ) -> Result<HashMap<WorkspaceId, (PathBuf, RootIdentity)>, crate::error::ServiceError> {
        let waiting = self.waiting_cards().await?;
        let here: HashSet<&ApprovalId> = waiting.iter().map(|row| &row.id).collect();
        locked(&self.inner.disk.stale).retain(|id| here.contains(id));
        let mut ids: HashSet<WorkspaceId> = waiting.into_iter().map(|row| row.workspace).collect();
        ids.extend(locked(&self.inner.disk.shown).clone());
        let mut wanted = HashMap::new();
        for id in ids {
            // One that was removed from the list is simply not watched.
            let Ok(row) = self.workspace_row(&id).await else { continue };
            if row.removed_at.is_none() {
                wanted.insert(id, (PathBuf::from(row.root), RootIdentity { dev: row.dev, ino: row.ino }));
            }
        }
        Ok(wanted)
    }

    async fn waiting_cards(&self) -> Result<Vec<ApprovalRow>, crate::error::ServiceError> {
        Ok(approvals::list(&mut *self.inner.store.read().await?, true, 10_000).await?)
    }

    async fn disk_told(&self, workspace: &WorkspaceId, notice: DiskNotice) {
        let change = match notice {
            DiskNotice::Paths(paths) => DiskChange::Paths(paths),
            DiskNotice::Everything => DiskChange::Everything,
            DiskNotice::Gone => DiskChange::State(WatchState::Gone),
            DiskNotice::Watching(WatchMode::Told) => DiskChange::State(WatchState::Told),
            DiskNotice::Watching(WatchMode::Looked) => DiskChange::State(WatchState::Looked),
        };
        if let DiskChange::State(state) = &change {
            let before = locked(&self.inner.disk.states).insert(workspace.clone(), *state);
            if *state == WatchState::Looked && before != Some(WatchState::Looked) {
                self.note_looking(workspace).await;
            }
        }
        self.inner.bus.tell_all(Notice::Disk { workspace: workspace.clone(), change: change.clone() });
        // A folder that is gone says nothing about its cards; they wait until it is back.
        if change != DiskChange::State(WatchState::Gone) {
            self.compare_cards(workspace, &change).await;
        }
    }

    /// Says in the log, once while it lasts, that the system does not tell.
    async fn note_looking(&self, workspace: &WorkspaceId) {
        let event = Event::Noted {
            code: None,
            detail: format!(
                "changes in workspace {workspace} are looked for every few seconds: the system does not tell of them (its limit of watched folders may be reached)"
            ),
        };
        let noted = async {
            let mut tx = self.begin().await?;
            let records = self.append(&mut tx, None, pilot_types::Source::System, &[event]).await?;
            self.commit(tx, records).await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "how a folder is watched was not noted");
        }
    }

    /// Compares what waiting cards show with what is there, and tells where that changed. Writes nothing: the new card
    /// is made when the person asks for it.
    async fn compare_cards(&self, workspace: &WorkspaceId, change: &DiskChange) {
        let waiting = match self.waiting_cards().await {
            Ok(waiting) => waiting,
            Err(error) => return tracing::warn!(%error, "waiting cards could not be read"),
        };
        let concerned: Vec<ApprovalRow> = waiting
            .into_iter()
            .filter(|row| {
                row.workspace == *workspace && row.path.as_ref().is_some_and(|path| touches(change, path))
            })
            .collect();
        if concerned.is_empty() {
            return;
        }
        let Ok(guard) = self.guard(workspace).await else { return };
        for row in concerned {
            let (guard, path, base) = (guard.clone(), row.path.clone().unwrap_or_default(), row.base.clone());
            let stale = blocking(move || Ok(guard.digest(&path).map_or(true, |now| now != base))).await;
            let stale = stale.unwrap_or(true);
            let changed = {
                let mut known = locked(&self.inner.disk.stale);
                if stale { known.insert(row.id.clone()) } else { known.remove(&row.id) }
            };
            if changed {
                self.inner.bus.tell_all(Notice::Stale { approval: row.id, task: row.task, stale });
            }
        }
    }
}

/// True when a notice may change which folders are watched.
fn concerns(notice: &Notice) -> bool {
    match notice {
        Notice::Waiting(_) | Notice::Changed => true,
        Notice::Recorded(record) => {
            matches!(record.event, Event::ApprovalDecided { .. } | Event::ApprovalReplaced { .. })
        }
        Notice::Delta { .. } | Notice::Disk { .. } | Notice::Stale { .. } | Notice::Upload(_) => false,
    }
}

/// True when a change may be one of this path: of the path itself or of a folder above it.
fn touches(change: &DiskChange, path: &str) -> bool {
    match change {
        DiskChange::Everything | DiskChange::State(_) => true,
        DiskChange::Paths(paths) => paths.iter().any(|changed| {
            path == changed || path.strip_prefix(changed).is_some_and(|rest| rest.starts_with('/'))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_above_a_card_concerns_it_and_a_namesake_does_not() {
        let change = |path: &str| DiskChange::Paths(BTreeSet::from([path.to_owned()]));
        for (changed, concerns) in [
            ("a/b.md", true),
            ("a", true),
            ("a/b.m", false),
            ("a/b.md.bak", false),
            ("aa", false),
            ("b.md", false),
        ] {
            assert_eq!(touches(&change(changed), "a/b.md"), concerns, "{changed}");
        }
        assert!(touches(&DiskChange::Everything, "a/b.md"), "a lost count may be anything");
    }
}
