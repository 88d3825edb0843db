//! Tasks: made, looked at, stopped, resumed. Every channel makes them here.

use crate::error::ServiceError;
use crate::open::Service;
use crate::sessions::Turn;
use crate::view::{ArtifactView, TaskDetailView, TaskView};
use pilot_store::{answers, approvals, artifacts, events, tasks, workspaces};
use pilot_types::{
    ApprovalStatus, Channel, ErrorCode, Event, EventRecord, ProviderChoice, SessionId, Source, Task, TaskId,
    TaskIntake, TaskLimits, TaskStatus, TokenUsage, WorkspaceId,
};

/// Characters of a goal at most.
const GOAL_LIMIT: usize = 20_000;

/// A task that may be stored: everything that can be refused was looked at.
pub(crate) struct NewTask {
    pub(crate) task: Task,
    turn: Turn,
}

impl Service {
    /// Makes a task; durable when this returns. It begins when its turn comes.
    ///
    /// # Errors
    /// No such workspace, its folder is gone, the provider is not set up, or the person was not asked yet whether
    /// content may go to it ([`ErrorCode::ConsentRequired`], about the host).
    pub async fn create_task(&self, intake: TaskIntake) -> Result<TaskView, ServiceError> {
        let new = self.prepare_task(intake).await?;
        pilot_types::faults::point("task_create_before");
        let mut tx = self.begin().await?;
        let records = self.store_task(&mut tx, &new).await?;
        self.commit(tx, records).await?;
        pilot_types::faults::point("task_create_after");
        self.inner.work.notify_one();
        self.task(&new.task.id).await
    }

    /// Everything about a new task that can be refused, before anything is stored. All channels come through here.
    pub(crate) async fn prepare_task(&self, intake: TaskIntake) -> Result<NewTask, ServiceError> {
        let goal = intake.goal.trim().to_owned();
        if goal.is_empty() || goal.chars().count() > GOAL_LIMIT {
            return Err(ServiceError::new(
                ErrorCode::Usage,
                format!("a goal has 1 to {GOAL_LIMIT} characters"),
            ));
        }
        let workspace = self.workspace_row(&intake.workspace).await?;
        if workspace.removed_at.is_some() {
            return Err(ServiceError::new(ErrorCode::WorkspaceNotFound, "this workspace was removed")
                .about(workspace.name));
        }
        self.guard(&intake.workspace).await?;
        let turn = self.turn_of(&intake).await?;
        let provider = match intake.provider {
            Some(choice) => choice,
            None => self.provider_named(&workspace.provider).await?,
        };
        self.check_consent(&intake.workspace, &provider).await?;
        let settings = self.settings().await?;
        let limits = intake
            .limits
            .unwrap_or(TaskLimits { max_tokens: settings.tokens_per_task, ..TaskLimits::default() });
        // What begins by itself is a conversation of its own, and so is what joins none.
        let task =
            self.new_task(&intake.workspace, turn.session.clone(), intake.channel, goal, provider, limits);
        Ok(NewTask { task, turn })
    }

    /// Stores a prepared task within a transaction that the caller commits; the caller wakes the runner afterwards.
    pub(crate) async fn store_task(
        &self,
        tx: &mut pilot_store::Tx,
        NewTask { task, turn }: &NewTask,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        let created = Event::TaskCreated {
            workspace: task.workspace.clone(),
            channel: task.channel,
            goal: task.goal.clone(),
            provider: task.provider.label().to_owned(),
        };
        self.insert_turn(tx, task, turn).await?;
        workspaces::touch(tx, &task.workspace, self.now()).await?;
        self.append(tx, Some(&task.id), Source::Agent, &[created]).await
    }

    fn new_task(
        &self,
        workspace: &WorkspaceId,
        session: Option<SessionId>,
        channel: Channel,
        goal: String,
        provider: ProviderChoice,
        limits: TaskLimits,
    ) -> Task {
        let now = self.now();
        let id = TaskId::new();
        Task {
            session: Some(session.unwrap_or_else(|| SessionId::from_text(id.as_str()))),
            id,
            workspace: workspace.clone(),
            channel,
            goal,
            status: TaskStatus::Queued,
            code: None,
            provider,
            limits,
            steps: 0,
            elapsed_millis: 0,
            usage: TokenUsage::default(),
            process: Some(self.inner.process.clone()),
            cancel_requested: false,
            created_at: now,
            updated_at: now,
        }
    }

    pub(crate) async fn task_row(&self, id: &TaskId) -> Result<Task, ServiceError> {
        tasks::get(&mut *self.inner.store.read().await?, id)
            .await?
            .ok_or_else(|| ServiceError::new(ErrorCode::TaskNotFound, "no such task").about(id.to_string()))
    }

    /// One task.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn task(&self, id: &TaskId) -> Result<TaskView, ServiceError> {
        let task = self.task_row(id).await?;
        self.view_task(task).await
    }

    /// Tasks, newest first, of one workspace or all.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn tasks(&self, workspace: Option<&WorkspaceId>) -> Result<Vec<TaskView>, ServiceError> {
        let rows = tasks::list(&mut *self.inner.store.read().await?, workspace, 1_000).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            views.push(self.view_task(row).await?);
        }
        Ok(views)
    }

    pub(crate) async fn view_task(&self, task: Task) -> Result<TaskView, ServiceError> {
        let mut reader = self.inner.store.read().await?;
        let pending = approvals::pending_of_task(&mut reader, &task.id).await?;
        let answer = answers::last_words(&mut reader, &task.id).await?.unwrap_or_default();
        Ok(TaskView {
            id: task.id.to_string(),
            workspace: task.workspace.to_string(),
            session: task.session.map_or_else(|| task.id.to_string(), |session| session.to_string()),
            channel: task.channel,
            goal: task.goal,
            status: task.status,
            code: task.code,
            provider: task.provider.label().to_owned(),
            steps: task.steps,
            max_steps: task.limits.max_steps,
            elapsed_millis: task.elapsed_millis,
            usage: task.usage,
            created_at: crate::view::time(task.created_at),
            updated_at: crate::view::time(task.updated_at),
            waiting_approval: pending.map(|row| row.id.to_string()),
            answer,
        })
    }

    /// A task with its record, its artifacts and its reach.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn task_detail(&self, id: &TaskId) -> Result<TaskDetailView, ServiceError> {
        let row = self.task_row(id).await?;
        let reach = self.reach(&row.workspace, &row.provider).await?;
        Ok(TaskDetailView {
            events: self.task_events(id, 0).await?,
            artifacts: self.task_artifacts(id).await?,
            reach,
            streaming: self.inner.bus.streaming(id),
            task: self.view_task(row).await?,
        })
    }

    /// Events of a task after a place in it.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn task_events(&self, id: &TaskId, after_seq: i64) -> Result<Vec<EventRecord>, ServiceError> {
        Ok(events::of_task(&mut *self.inner.store.read().await?, id, after_seq).await?)
    }

    async fn task_artifacts(&self, id: &TaskId) -> Result<Vec<ArtifactView>, ServiceError> {
        let rows = artifacts::of_task(&mut *self.inner.store.read().await?, id).await?;
        self.artifact_views(rows).await
    }

    /// Stops a task. One that runs stops at its next await, in whichever process; one that waits for a person stops
    /// now and its card is void. What was written stays.
    ///
    /// # Errors
    /// There is none of that id, it has already ended, or an approved call is being executed right now.
    pub async fn cancel_task(&self, id: &TaskId) -> Result<(), ServiceError> {
        let task = self.task_row(id).await?;
        if task.status.is_final() {
            return Err(
                ServiceError::new(ErrorCode::TaskState, "the task has already ended").about(id.to_string())
            );
        }
        let mut tx = self.begin().await?;
        tasks::request_cancel(&mut tx, id).await?;
        let from = [TaskStatus::Queued, TaskStatus::WaitingApproval, TaskStatus::Interrupted];
        let mut records = Vec::new();
        if tasks::set_status(&mut tx, id, &from, TaskStatus::Cancelled, Some(ErrorCode::Cancelled)).await? {
            if let Some(card) = approvals::pending_of_task(&mut tx, id).await? {
                let by = ApprovalStatus::Void;
                approvals::transition(
                    &mut tx,
                    &card.id,
                    ApprovalStatus::Pending,
                    by,
                    self.now(),
                    None,
                    None,
                    Some(ErrorCode::Cancelled),
                )
                .await?;
            }
            let event = Event::StatusChanged {
                status: TaskStatus::Cancelled,
                code: Some(ErrorCode::Cancelled),
                detail: None,
            };
            records = self.append(&mut tx, Some(id), Source::Operator, &[event]).await?;
        }
        self.commit(tx, records).await?;
        if let Some(token) = self.running().get(id) {
            token.cancel();
        }
        Ok(())
    }

    /// Puts an interrupted task back into the queue; it goes on from its last durable step, in this process.
    ///
    /// # Errors
    /// There is none of that id, it is not interrupted, or its content would now go to a host that the person was not asked
    /// about ([`ErrorCode::ConsentRequired`]).
    pub async fn resume_task(&self, id: &TaskId) -> Result<TaskView, ServiceError> {
        let task = self.task_row(id).await?;
        self.check_consent(&task.workspace, &task.provider).await?;
        let mut tx = self.begin().await?;
        if !tasks::set_status(&mut tx, id, &[TaskStatus::Interrupted], TaskStatus::Queued, None).await? {
            return Err(ServiceError::new(ErrorCode::TaskState, "only an interrupted task can be resumed")
                .about(id.to_string()));
        }
        tasks::assign(&mut tx, id, &self.inner.process).await?;
        let event = Event::StatusChanged {
            status: TaskStatus::Queued,
            code: None,
            detail: Some("resumed".to_owned()),
        };
        let records = self.append(&mut tx, Some(id), Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.work.notify_one();
        self.task(id).await
    }
}

impl Service {
    /// How many tasks are at work, in all processes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn running_count(&self) -> Result<usize, ServiceError> {
        let count = tasks::count_by_status(&mut *self.inner.store.read().await?, TaskStatus::Running).await?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// True when somebody, in whichever process, asked to stop the task.
    pub(crate) async fn cancel_requested(&self, id: &TaskId) -> Result<bool, ServiceError> {
        Ok(tasks::cancel_requested(&mut *self.inner.store.read().await?, id).await?)
    }
}
