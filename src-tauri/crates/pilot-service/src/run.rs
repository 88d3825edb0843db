//! Running one task until it stops.

use crate::error::ServiceError;
use crate::evidence;
use crate::gate::WorkspaceGate;
use crate::open::{MAX_RUNNING, Service};
use crate::sink::TaskSink;
use pilot_agent::{
    Checkpoint, EventSink as _, ModelProvider, RunOutcome, RunPorts, ToolRegistry, rebuild, run_task,
};
use pilot_guard::WorkspaceGuard;
use pilot_store::{ApprovalRow, EffectKind, approvals, tasks};
use pilot_tools::{
    PromptParts, SkillSet, ToolDeps, TrapTool, build_tool_registry, memory_block, system_prompt,
};
use pilot_types::{
    ApprovalId, ApprovalStatus, Capability, Digest, ErrorCode, Event, PreparedEffect, Risk, Source, Task,
    TaskId, TaskStatus, WorkspaceId,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a process looks whether another one asked it to stop, or whether its turn has come.
pub(crate) const LOOK: Duration = Duration::from_millis(200);

/// Where a task stands when it stops running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Its state.
    pub status: TaskStatus,
    /// Why, when it failed or was interrupted.
    pub code: Option<ErrorCode>,
}

/// What a task works with; made anew each time it goes on.
pub(crate) struct Bench {
    pub(crate) guard: WorkspaceGuard,
    pub(crate) tools: ToolRegistry,
    pub(crate) gate: WorkspaceGate,
    pub(crate) skills: Arc<SkillSet>,
}

impl Service {
    /// Waits for the task's turn, runs it in this process, and returns at its next stop: a card, an end, or an
    /// interruption.
    ///
    /// # Errors
    /// There is none of that id, it is not queued, or the database fails.
    pub async fn run_to_stop(&self, id: &TaskId) -> Result<Stop, ServiceError> {
        loop {
            if self.claim(id).await? {
                return self.run_claimed(id).await;
            }
            let task = self.task_row(id).await?;
            if task.status != TaskStatus::Queued {
                return Ok(Stop { status: task.status, code: task.code });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Takes a place for a queued task of this process, if it is its turn.
    pub(crate) async fn claim(&self, id: &TaskId) -> Result<bool, ServiceError> {
        let mut tx = self.begin().await?;
        if !tasks::claim(&mut tx, id, &self.inner.process, MAX_RUNNING).await? {
            return Ok(false);
        }
        let event = Event::StatusChanged { status: TaskStatus::Running, code: None, detail: None };
        let records = self.append(&mut tx, Some(id), Source::Agent, &[event]).await?;
        self.commit(tx, records).await?;
        Ok(true)
    }

    /// Runs a task that this process has claimed. The loop itself looks whether another process asked to stop it.
    pub(crate) async fn run_claimed(&self, id: &TaskId) -> Result<Stop, ServiceError> {
        let cancel = CancellationToken::new();
        self.running().insert(id.clone(), cancel.clone());
        let played = self.play(id, &cancel).await;
        self.running().remove(id);
        match played {
            Ok((outcome, bench)) => self.settle_run(id, outcome, &bench).await,
            Err(error) => {
                let detail = Some(error.detail().to_owned());
                self.end_run(id, TaskStatus::Interrupted, Some(error.code()), detail).await
            }
        }
    }

    async fn play(
        &self,
        id: &TaskId,
        cancel: &CancellationToken,
    ) -> Result<(RunOutcome, Bench), ServiceError> {
        let task = self.task_row(id).await?;
        let bench = self.bench(&task.workspace).await?;
        self.check_consent(&task.workspace, &task.provider).await?;
        let provider = self.model(&task.provider).await?;
        let sink = TaskSink::new(self.clone(), &task);
        self.prompt_once(&task, &bench, &sink).await?;
        let events: Vec<Event> =
            self.task_events(id, 0).await?.into_iter().map(|record| record.event).collect();
        let mut start = rebuild(&events, &self.opening_of(&task).await?);
        start.elapsed_millis = start.elapsed_millis.max(task.elapsed_millis);
        let provider: &dyn ModelProvider = &*provider;
        let ports = RunPorts {
            task: id,
            provider,
            tools: &bench.tools,
            gate: &bench.gate,
            sink: &sink,
            clock: &*self.inner.clock,
            limits: task.limits,
            cancel: cancel.clone(),
        };
        tokio::select! {
            outcome = run_task(start, &ports) => Ok((outcome, bench)),
            // Dropping the run stops it at once; the record says how far it came.
            error = self.root_lost(&task.workspace) => Err(error),
        }
    }

    /// Opens the conversation with the instructions, once in a task's life: what the model was told is on record, and
    /// a memory that changes later does not change it.
    async fn prompt_once(&self, task: &Task, bench: &Bench, sink: &TaskSink) -> Result<(), ServiceError> {
        let mut reader = self.inner.store.read().await?;
        let prompted = pilot_store::answers::is_prompted(&mut reader, &task.id).await?;
        drop(reader);
        if prompted {
            return Ok(());
        }
        let (guard, skills, chinese, today) =
            (bench.guard.clone(), bench.skills.clone(), self.chinese(), self.now().date_naive());
        let system = crate::error::blocking(move || {
            // A memory that cannot be read is said, never silently left out.
            let memory = memory_block(&guard, chinese)?;
            Ok(system_prompt(PromptParts {
                skills: &skills,
                memory: memory.as_deref(),
                today: Some(today),
                chinese,
            }))
        })
        .await?;
        sink.append(vec![Event::Prompted { system }]).await?;
        Ok(())
    }

    pub(crate) async fn bench(&self, workspace: &WorkspaceId) -> Result<Bench, ServiceError> {
        let guard = self.guard(workspace).await?;
        let (for_skills, skills_dir) = (guard.clone(), self.inner.skills_dir.clone());
        let skills = crate::error::blocking(move || {
            Ok(Arc::new(SkillSet::load(skills_dir.as_deref(), Some(&for_skills))))
        })
        .await?;
        let allowed = self.workspace_row(workspace).await?.allowed_mcp;
        let tools = self.tools(&guard, skills.clone(), &allowed).await?;
        Ok(Bench { tools, gate: WorkspaceGate { guard: guard.clone() }, guard, skills })
    }

    /// The tools of one run, with the outside tools that the workspace allows. Makes them only; nothing is started.
    pub(crate) async fn tools(
        &self,
        guard: &WorkspaceGuard,
        skills: Arc<SkillSet>,
        allowed_mcp: &[String],
    ) -> Result<ToolRegistry, ServiceError> {
        let mut registry = build_tool_registry(&ToolDeps {
            guard: guard.clone(),
            undo: self.inner.undo.clone(),
            extraction: self.inner.extraction.clone(),
            skills,
            mcp: self.mcp_deps(allowed_mcp).await?,
            chinese: self.chinese(),
        });
        for (name, capability) in &self.inner.traps {
            if let Err(name) = registry.register(Arc::new(TrapTool::new(name, capability))) {
                tracing::error!(tool = name, "a trap has the name of a tool; it is left out");
            }
        }
        Ok(registry)
    }

    async fn settle_run(
        &self,
        id: &TaskId,
        outcome: RunOutcome,
        bench: &Bench,
    ) -> Result<Stop, ServiceError> {
        match outcome {
            RunOutcome::Completed { .. } => self.end_run(id, TaskStatus::Completed, None, None).await,
            RunOutcome::Paused(checkpoint) => self.pause(id, *checkpoint, bench).await,
            RunOutcome::Failed { code, detail } => {
                self.end_run(id, TaskStatus::Failed, Some(code), Some(detail)).await
            }
            RunOutcome::Cancelled => {
                self.end_run(id, TaskStatus::Cancelled, Some(ErrorCode::Cancelled), None).await
            }
            RunOutcome::Interrupted { code, detail } => {
                self.end_run(id, TaskStatus::Interrupted, Some(code), Some(detail)).await
            }
        }
    }

    async fn end_run(
        &self,
        id: &TaskId,
        status: TaskStatus,
        code: Option<ErrorCode>,
        detail: Option<String>,
    ) -> Result<Stop, ServiceError> {
        let mut tx = self.begin().await?;
        let event = Event::StatusChanged { status, code, detail };
        let mut records = Vec::new();
        if tasks::set_status(&mut tx, id, &[TaskStatus::Running], status, code).await? {
            records = self.append(&mut tx, Some(id), Source::Agent, &[event]).await?;
        }
        self.commit(tx, records).await?;
        self.inner.work.notify_one();
        Ok(Stop { status, code })
    }

    /// Commits checkpoint, card and exact bytes in one transaction, and only then tells anybody.
    async fn pause(&self, id: &TaskId, checkpoint: Checkpoint, bench: &Bench) -> Result<Stop, ServiceError> {
        let task = self.task_row(id).await?;
        let (row, bytes) = self.card_row(&task, bench, &checkpoint).await?;
        let requested = requested_event(&row);
        let waiting = Event::StatusChanged { status: TaskStatus::WaitingApproval, code: None, detail: None };
        pilot_types::faults::point("pause_before");
        let mut tx = self.begin().await?;
        tasks::progress(&mut tx, id, checkpoint.steps, checkpoint.elapsed_millis, checkpoint.usage).await?;
        if !tasks::set_status(&mut tx, id, &[TaskStatus::Running], TaskStatus::WaitingApproval, None).await? {
            return Err(ServiceError::new(ErrorCode::TaskState, "the task is no longer running")
                .about(id.to_string()));
        }
        approvals::insert(&mut tx, &row, &bytes).await?;
        let records = self.append(&mut tx, Some(id), Source::Agent, &[requested, waiting]).await?;
        self.commit(tx, records).await?;
        pilot_types::faults::point("pause_after");
        self.inner.bus.waiting(&row.id);
        self.inner.work.notify_one();
        Ok(Stop { status: TaskStatus::WaitingApproval, code: None })
    }

    async fn card_row(
        &self,
        task: &Task,
        bench: &Bench,
        checkpoint: &Checkpoint,
    ) -> Result<(ApprovalRow, Vec<u8>), ServiceError> {
        let spec = bench.tools.get(&checkpoint.call.tool).map(|tool| tool.spec().clone());
        let (path, base, bytes, effect_kind) = effect_parts(&checkpoint.effect);
        let identity = bench.guard.identity();
        let mut row = ApprovalRow {
            id: ApprovalId::new(),
            task: task.id.clone(),
            workspace: task.workspace.clone(),
            call_id: checkpoint.call.id.clone(),
            tool: checkpoint.call.tool.clone(),
            capability: spec
                .as_ref()
                .map_or_else(|| Capability::declared(""), |spec| spec.capability.clone()),
            risk: spec.as_ref().map_or(Risk::High, |spec| spec.risk),
            schema: spec.map_or(serde_json::Value::Null, |spec| spec.parameters),
            digest: checkpoint.call.digest(),
            content_digest: Some(Digest::of(&bytes)),
            call: checkpoint.call.clone(),
            original: checkpoint.call.clone(),
            path,
            base,
            effect_kind,
            root_dev: identity.dev,
            root_ino: identity.ino,
            policy_version: pilot_policy::POLICY_VERSION,
            provider: task.provider.label().to_owned(),
            said: last_words(checkpoint),
            rest: checkpoint.rest.clone(),
            steps: checkpoint.steps,
            elapsed_millis: checkpoint.elapsed_millis,
            rev: 1,
            status: ApprovalStatus::Pending,
            flags: 0,
            asked_at: self.now(),
            decided_at: None,
            decided_by: None,
            note: None,
            code: None,
            edited: false,
            replaces: None,
            replaced_by: None,
        };
        row.flags = self.count_flags(&row, &bytes, &bench.guard).await?;
        Ok((row, bytes))
    }

    pub(crate) async fn count_flags(
        &self,
        row: &ApprovalRow,
        bytes: &[u8],
        guard: &WorkspaceGuard,
    ) -> Result<u32, ServiceError> {
        let events = self.task_events(&row.task, 0).await?;
        let evidence = evidence::of_events(&events);
        let card = self.draw_card(row, bytes, guard, &evidence).await?;
        Ok(u32::try_from(card.flags.len()).unwrap_or(u32::MAX))
    }
}

pub(crate) fn requested_event(row: &ApprovalRow) -> Event {
    Event::ApprovalRequested {
        approval: row.id.clone(),
        call_id: row.call_id.clone(),
        tool: row.tool.clone(),
        path: row.path.clone(),
        digest: row.digest.clone(),
        content: row.content_digest.clone(),
    }
}

/// Path, base, exact bytes and kind of an effect.
pub(crate) fn effect_parts(effect: &PreparedEffect) -> (Option<String>, Option<Digest>, Vec<u8>, EffectKind) {
    match effect {
        PreparedEffect::WriteFile { path, bytes, base } => {
            (Some(path.clone()), base.clone(), bytes.clone(), EffectKind::WriteFile)
        }
        PreparedEffect::Outside { description } => {
            (None, None, description.clone().into_bytes(), EffectKind::Outside)
        }
    }
}

fn last_words(checkpoint: &Checkpoint) -> String {
    checkpoint
        .messages
        .iter()
        .rev()
        .find_map(|message| match message {
            pilot_types::Message::Assistant { text, .. } => Some(text.clone()),
            pilot_types::Message::System { .. }
            | pilot_types::Message::User { .. }
            | pilot_types::Message::Tool { .. } => None,
        })
        .unwrap_or_default()
}
