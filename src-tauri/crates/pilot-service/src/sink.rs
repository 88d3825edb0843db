//! The record as the loop sees it.

use crate::error::ServiceError;
use crate::open::Service;
use async_trait::async_trait;
use pilot_agent::{DeltaSink, EventSink, SinkError};
use pilot_store::{tasks, usage};
use pilot_types::{Event, Source, Task, TaskId, TokenUsage};
use std::sync::{Mutex, PoisonError};

/// Appends a task's events durably and keeps its progress in step with them.
pub(crate) struct TaskSink {
    service: Service,
    task: TaskId,
    provider: String,
    /// Tokens of the task's whole life.
    spent: Mutex<TokenUsage>,
}

impl TaskSink {
    pub(crate) fn new(service: Service, task: &Task) -> Self {
        Self {
            service,
            task: task.id.clone(),
            provider: task.provider.label().to_owned(),
            spent: Mutex::new(task.usage),
        }
    }
}

impl DeltaSink for TaskSink {
    fn text(&self, piece: &str) {
        self.service.inner.bus.delta(&self.task, piece);
    }
}

#[async_trait]
impl EventSink for TaskSink {
    async fn append(&self, events: Vec<Event>) -> Result<(), SinkError> {
        let failed = |error: pilot_store::StoreError| SinkError::from(ServiceError::from(error));
        let mut tx = self.service.begin().await?;
        for event in &events {
            if let Event::ModelAnswer { step, usage: call, elapsed_millis, .. } = event {
                let total = {
                    let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
                    spent.add(*call);
                    *spent
                };
                tasks::progress(&mut tx, &self.task, *step, *elapsed_millis, total).await.map_err(failed)?;
                if call.total() > 0 {
                    usage::add(&mut tx, self.service.now().date_naive(), &self.provider, *call)
                        .await
                        .map_err(failed)?;
                }
            }
        }
        let records = self.service.append(&mut tx, Some(&self.task), Source::Agent, &events).await?;
        self.service.commit(tx, records).await?;
        Ok(())
    }

    async fn cancel_requested(&self) -> Result<bool, SinkError> {
        Ok(self.service.cancel_requested(&self.task).await?)
    }
}
