//! What a process that died left behind.

use crate::approval::PendingExecution;
use crate::error::{ServiceError, blocking};
use crate::open::Service;
use pilot_guard::{Access, FileWrite, WorkspaceGuard};
use pilot_store::{ApprovalRow, ExecutionRow, executions, tasks};
use pilot_types::{Digest, ErrorCode, Event, ProcessId, Source, TaskId, TaskStatus, faults};

/// What the disk says about an execution that was cut off.
enum Found {
    /// The result stands there.
    Done,
    /// The target is as it was before.
    NotDone,
    /// Neither.
    Unknown,
}

impl Service {
    /// Settles what dead processes left. Only the owner calls this; rows of living processes are not touched.
    pub(crate) async fn recover(&self, takes_over: bool) -> Result<(), ServiceError> {
        let open = executions::open_ones(&mut *self.inner.store.read().await?).await?;
        for execution in open {
            if self.is_dead(&execution.process) {
                self.settle_execution(&execution, takes_over).await?;
            }
        }
        self.settle_edits().await?;
        self.interrupt_dead(TaskStatus::Running, takes_over).await?;
        self.interrupt_dead(TaskStatus::Queued, takes_over).await
    }

    pub(crate) fn is_dead(&self, process: &ProcessId) -> bool {
        *process != self.inner.process && !pilot_store::process_alive(&self.inner.data, process)
    }

    /// A running task of a dead process is interrupted; a queued one is taken over by a process that runs in the
    /// background, and interrupted otherwise, so that it blocks nobody's turn.
    async fn interrupt_dead(&self, status: TaskStatus, takes_over: bool) -> Result<(), ServiceError> {
        let rows = tasks::by_status(&mut *self.inner.store.read().await?, &[status]).await?;
        for task in rows {
            if task.process.as_ref().is_some_and(|process| !self.is_dead(process)) {
                continue;
            }
            if takes_over && status == TaskStatus::Queued {
                let mut tx = self.begin().await?;
                tasks::assign(&mut tx, &task.id, &self.inner.process).await?;
                self.commit(tx, Vec::new()).await?;
                continue;
            }
            self.interrupt(&task.id, status).await?;
        }
        Ok(())
    }

    async fn interrupt(&self, id: &TaskId, from: TaskStatus) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        let mut records = Vec::new();
        if tasks::set_status(&mut tx, id, &[from], TaskStatus::Interrupted, None).await? {
            let detail = Some("the process that ran it is gone".to_owned());
            let event = Event::StatusChanged { status: TaskStatus::Interrupted, code: None, detail };
            records = self.append(&mut tx, Some(id), Source::System, &[event]).await?;
        }
        self.commit(tx, records).await
    }

    /// Compares the target with the base and the result of the execution.
    async fn settle_execution(&self, execution: &ExecutionRow, takes_over: bool) -> Result<(), ServiceError> {
        let row = self.approval_row(&execution.approval).await?;
        let (Some(path), Some(result)) = (execution.path.clone(), execution.result.clone()) else {
            return self.finish_unknown(&row, &execution.operation).await;
        };
        let guard = match self.guard(&row.workspace).await {
            Ok(guard) => guard,
            // The folder is not there: nothing can be known now, and it may come back. Left for the next start.
            Err(error) if matches!(error.code(), ErrorCode::WorkspaceGone | ErrorCode::WorkspaceReplaced) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let bytes = self.card_bytes(&row.id).await?;
        let size = bytes.len() as u64;
        match self.look(&guard, &path, execution.base.clone(), result, execution.temp_name.clone()).await? {
            Found::Done => {}
            Found::NotDone => self.write_again(&guard, &row, execution, path, bytes).await?,
            Found::Unknown => return self.finish_unknown(&row, &execution.operation).await,
        }
        faults::point("recover_executed");
        let digest = row.content_digest.clone().map_or_else(String::new, |digest| digest.to_string());
        let content = serde_json::json!({ "path": row.path, "size": size, "digest": digest, "created": row.base.is_none() }).to_string();
        self.finish_done(&PendingExecution {
            row: &row,
            operation: &execution.operation,
            size,
            content,
            millis: 0,
            source: Source::System,
            requeue: takes_over,
        })
        .await
    }

    async fn look(
        &self,
        guard: &WorkspaceGuard,
        path: &str,
        base: Option<Digest>,
        result: Digest,
        temp_name: String,
    ) -> Result<Found, ServiceError> {
        let (guard, path) = (guard.clone(), path.to_owned());
        blocking(move || {
            guard.sweep_temp(&path, &temp_name)?;
            let now = match guard.digest(&path) {
                Ok(now) => now,
                Err(_) => return Ok(Found::Unknown),
            };
            Ok(if now.as_ref() == Some(&result) {
                Found::Done
            } else if now == base {
                Found::NotDone
            } else {
                Found::Unknown
            })
        })
        .await
    }

    /// The same bytes once more, under the same operation: nothing of the first try can be seen by anybody.
    async fn write_again(
        &self,
        guard: &WorkspaceGuard,
        row: &ApprovalRow,
        execution: &ExecutionRow,
        path: String,
        bytes: Vec<u8>,
    ) -> Result<(), ServiceError> {
        let (guard, undo, base, temp_name) =
            (guard.clone(), self.inner.undo.clone(), execution.base.clone(), execution.temp_name.clone());
        let access =
            if row.capability.as_str().starts_with("memory:") { Access::Memory } else { Access::Write };
        blocking(move || {
            let write =
                FileWrite { path: &path, access, bytes: &bytes, base: base.as_ref(), temp_name: &temp_name };
            guard.create_or_replace(&write, &undo)?;
            Ok(())
        })
        .await
    }
}
