//! Tells windows and terminals what is already in the record, in its order, and what streams past it.

use crate::disk::DiskChange;
use crate::uploads::UploadProgress;
use pilot_types::{ApprovalId, EventRecord, TaskId, WorkspaceId};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// What the service tells. Only ids and small pieces; content is fetched.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A stored event, by this process or another one.
    Recorded(Box<EventRecord>),
    /// The next piece of streaming text. Not stored.
    Delta {
        /// Task.
        task: TaskId,
        /// Text.
        text: String,
    },
    /// A card began to wait.
    Waiting(ApprovalId),
    /// Settings, workspaces, keyring or files changed.
    Changed,
    /// The disk changed in a workspace that is watched.
    Disk {
        /// Workspace.
        workspace: WorkspaceId,
        /// What.
        change: DiskChange,
    },
    /// A waiting card shows what is no longer there, or does so no longer.
    Stale {
        /// Card.
        approval: ApprovalId,
        /// Its task.
        task: TaskId,
        /// True when it shows what is no longer there.
        stale: bool,
    },
    /// Files are being copied in.
    Upload(Arc<UploadProgress>),
}

#[derive(Default)]
struct Seen {
    /// Everything up to here was told.
    upto: i64,
    /// Own events beyond `upto` that were told when they were committed.
    own: BTreeSet<i64>,
}

/// The bus of one process.
pub(crate) struct Bus {
    sender: broadcast::Sender<Notice>,
    seen: Mutex<Seen>,
    streaming: Mutex<HashMap<TaskId, String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bus {
    pub(crate) fn new(last_position: i64) -> Self {
        let (sender, _) = broadcast::channel(8192);
        Self {
            sender,
            seen: Mutex::new(Seen { upto: last_position, own: BTreeSet::new() }),
            streaming: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Notice> {
        self.sender.subscribe()
    }

    /// Events that this process just committed.
    pub(crate) fn committed(&self, records: Vec<EventRecord>) {
        if records.is_empty() {
            return;
        }
        {
            let mut seen = locked(&self.seen);
            for record in &records {
                if record.position == seen.upto + 1 {
                    seen.upto = record.position;
                } else {
                    seen.own.insert(record.position);
                }
            }
        }
        for record in records {
            self.tell(record);
        }
    }

    /// Where to look for events of other processes.
    pub(crate) fn upto(&self) -> i64 {
        locked(&self.seen).upto
    }

    /// Events found in the database after [`Bus::upto`]; those of this process are not told twice.
    pub(crate) fn found(&self, records: Vec<EventRecord>) {
        for record in records {
            let new = {
                let mut seen = locked(&self.seen);
                if record.position <= seen.upto {
                    false
                } else {
                    seen.upto = record.position;
                    !seen.own.remove(&record.position)
                }
            };
            if new {
                self.tell(record);
            }
        }
    }

    fn tell(&self, record: EventRecord) {
        if let Some(task) = &record.task {
            locked(&self.streaming).remove(task);
        }
        // No receiver is not an error: the record is in the database, whoever comes later reads it there.
        let _ = self.sender.send(Notice::Recorded(Box::new(record)));
    }

    pub(crate) fn delta(&self, task: &TaskId, text: &str) {
        locked(&self.streaming).entry(task.clone()).or_default().push_str(text);
        let _ = self.sender.send(Notice::Delta { task: task.clone(), text: text.to_owned() });
    }

    /// Text streamed since the last event of a task.
    pub(crate) fn streaming(&self, task: &TaskId) -> String {
        locked(&self.streaming).get(task).cloned().unwrap_or_default()
    }

    pub(crate) fn waiting(&self, approval: &ApprovalId) {
        let _ = self.sender.send(Notice::Waiting(approval.clone()));
    }

    pub(crate) fn changed(&self) {
        self.tell_all(Notice::Changed);
    }

    /// Something that is true now and stands in no record.
    pub(crate) fn tell_all(&self, notice: Notice) {
        let _ = self.sender.send(notice);
    }
}
