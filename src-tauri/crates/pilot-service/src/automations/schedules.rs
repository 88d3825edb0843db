//! What a person does with schedules.

use super::WAITING_LIMIT;
use crate::error::ServiceError;
use crate::open::Service;
use crate::view::{
    RuleProblemView, SchedulePreviewView, ScheduleRequest, ScheduleRunView, ScheduleView, SlotView, TaskView,
};
use chrono::{DateTime, SecondsFormat, Utc};
use pilot_store::{RunRow, ScheduleRow, Tx, schedules, tasks, workspaces};
use pilot_triggers::{Rule, RuleError, Zone};
use pilot_types::{
    Channel, ErrorCode, Event, EventRecord, ProviderChoice, ScheduleId, SlotState, Source, TaskId,
    TaskIntake, WorkspaceId,
};

/// Times that are shown ahead.
const AHEAD: usize = 5;
/// Runs and notes that are shown.
const BEHIND: u32 = 5;
/// Characters of a goal at most; that of a task is no shorter.
const GOAL_LIMIT: usize = 4_000;

impl From<RuleError> for ServiceError {
    fn from(error: RuleError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// When a rule comes round after a moment, at most a thousand times.
///
/// # Errors
/// What is wrong with rule or zone, by field.
pub fn upcoming(
    rule: &str,
    zone: Option<&str>,
    from: DateTime<Utc>,
    count: usize,
) -> Result<Vec<SlotView>, ServiceError> {
    Ok(slots(&Rule::parse(rule)?, Zone::parse(zone)?, from, count))
}

impl Service {
    /// All schedules, oldest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn schedules(&self) -> Result<Vec<ScheduleView>, ServiceError> {
        let rows = schedules::list(&mut *self.inner.store.read().await?).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            views.push(self.schedule_view(row).await?);
        }
        Ok(views)
    }

    /// One schedule.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn schedule(&self, id: &ScheduleId) -> Result<ScheduleView, ServiceError> {
        let row = self.schedule_row(id).await?;
        self.schedule_view(row).await
    }

    /// When a rule would come round next, or what is wrong with it: for a person who is still typing.
    #[must_use]
    pub fn preview_schedule(&self, rule: &str, zone: Option<&str>) -> SchedulePreviewView {
        let read = Rule::parse(rule).and_then(|rule| Ok((rule, Zone::parse(zone)?)));
        match read {
            Ok((rule, zone)) => {
                SchedulePreviewView { next: slots(&rule, zone, self.now(), AHEAD), problem: None }
            }
            Err(error) => {
                let place = error.place();
                let problem = RuleProblemView {
                    code: error.code(),
                    field: place.map(|(field, _)| field.number()),
                    text: place.map(|(_, text)| text.to_owned()),
                    message: error.to_string(),
                };
                SchedulePreviewView { next: Vec::new(), problem: Some(problem) }
            }
        }
    }

    /// Makes a schedule, or changes one. Slots count from now on. The provider is one by name.
    ///
    /// # Errors
    /// A rule, zone, workspace, provider or goal that cannot be; there is none of that id.
    pub async fn save_schedule(&self, wanted: ScheduleRequest) -> Result<ScheduleView, ServiceError> {
        let provider = match wanted.provider.as_deref() {
            None => None,
            // A script has no name that could be looked up: it stays as it was given.
            Some(name) => match self.kept_choice(wanted.id.as_deref(), name).await? {
                Some(kept) => Some(kept),
                None => Some(self.provider_named(name).await?),
            },
        };
        self.save_schedule_with(wanted, provider).await
    }

    /// The same, with a provider that may be a script.
    ///
    /// # Errors
    /// As [`Service::save_schedule`].
    pub async fn save_schedule_with(
        &self,
        wanted: ScheduleRequest,
        provider: Option<ProviderChoice>,
    ) -> Result<ScheduleView, ServiceError> {
        Rule::parse(&wanted.rule)?;
        let zone = wanted.zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty());
        let zone = match zone {
            None => None,
            Some(name) => Some(Zone::parse(Some(name))?.name().to_owned()),
        };
        let goal = wanted.goal.trim().to_owned();
        if goal.is_empty() || goal.chars().count() > GOAL_LIMIT {
            let words = format!("the goal of a schedule has 1 to {GOAL_LIMIT} characters");
            return Err(ServiceError::new(ErrorCode::TextLength, words));
        }
        let workspace = WorkspaceId::from_text(wanted.workspace);
        let place = self.workspace_row(&workspace).await?;
        if place.removed_at.is_some() {
            let words = "this workspace was removed";
            return Err(ServiceError::new(ErrorCode::WorkspaceNotFound, words).about(place.name));
        }
        let now = self.now();
        let existing = match &wanted.id {
            None => None,
            Some(id) => Some(self.schedule_row(&ScheduleId::from_text(id)).await?),
        };
        let changes = existing.is_some();
        let row = ScheduleRow {
            id: existing.as_ref().map_or_else(ScheduleId::new, |row| row.id.clone()),
            workspace,
            rule: wanted.rule.split_whitespace().collect::<Vec<_>>().join(" "),
            zone,
            goal,
            provider,
            paused: existing.as_ref().is_some_and(|row| row.paused),
            looked_at: now,
            created_at: existing.map_or(now, |row| row.created_at),
            updated_at: now,
            removed_at: None,
        };
        let mut tx = self.begin().await?;
        if !changes {
            schedules::insert(&mut tx, &row).await?;
        } else if !schedules::update(&mut tx, &row).await? {
            return Err(no_such(&row.id));
        }
        let action = if changes { "schedule_changed" } else { "schedule_added" };
        self.schedule_acted(tx, &row, action).await?;
        self.schedule_view(row).await
    }

    async fn kept_choice(
        &self,
        id: Option<&str>,
        name: &str,
    ) -> Result<Option<ProviderChoice>, ServiceError> {
        let Some(id) = id else { return Ok(None) };
        let row = self.schedule_row(&ScheduleId::from_text(id)).await?;
        Ok(row
            .provider
            .filter(|choice| matches!(choice, ProviderChoice::Scripted { .. }) && choice.label() == name))
    }

    /// Pauses a schedule, or lets it go on. Slots that pass during a pause are left out without a note.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn pause_schedule(&self, id: &ScheduleId, paused: bool) -> Result<ScheduleView, ServiceError> {
        let mut row = self.schedule_row(id).await?;
        if row.paused != paused {
            row.paused = paused;
            row.looked_at = self.now();
            row.updated_at = row.looked_at;
            let mut tx = self.begin().await?;
            if !schedules::update(&mut tx, &row).await? {
                return Err(no_such(id));
            }
            let action = if paused { "schedule_paused" } else { "schedule_resumed" };
            self.schedule_acted(tx, &row, action).await?;
        }
        self.schedule_view(row).await
    }

    /// Removes a schedule. Its tasks stay.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn remove_schedule(&self, id: &ScheduleId) -> Result<(), ServiceError> {
        let row = self.schedule_row(id).await?;
        let mut tx = self.begin().await?;
        if !schedules::remove(&mut tx, id, self.now()).await? {
            return Err(no_such(id));
        }
        self.schedule_acted(tx, &row, "schedule_removed").await
    }

    /// Starts a schedule's task now, because the person says so. It is the same task as at its time: it stops at its
    /// cards. It runs in this process.
    ///
    /// # Errors
    /// There is none of that id, its workspace or provider is missing, or too many of its tasks wait.
    pub async fn run_schedule(&self, id: &ScheduleId) -> Result<TaskView, ServiceError> {
        let row = self.schedule_row(id).await?;
        let new = self
            .prepare_task(TaskIntake {
                goal: row.goal.clone(),
                workspace: row.workspace.clone(),
                channel: Channel::Schedule,
                session: None,
                follow_up_of: None,
                provider: row.provider.clone(),
                limits: None,
            })
            .await?;
        let mut tx = self.begin().await?;
        if schedules::waiting(&mut tx, id).await? >= WAITING_LIMIT {
            let words = format!("{WAITING_LIMIT} tasks of this schedule wait already");
            return Err(ServiceError::new(ErrorCode::QueueFull, words));
        }
        let mut records = self.store_task(&mut tx, &new).await?;
        let run = RunRow {
            schedule: row.id.clone(),
            slot: None,
            state: SlotState::ByHand,
            task: Some(new.task.id.clone()),
            code: None,
            since: None,
            upto: None,
            slots: 1,
            more: false,
            at: self.now(),
        };
        schedules::note(&mut tx, &run).await?;
        records.extend(self.append_schedule_act(&mut tx, &row, "schedule_run_by_hand").await?);
        self.commit(tx, records).await?;
        self.inner.work.notify_one();
        self.inner.bus.changed();
        self.task(&new.task.id).await
    }

    async fn schedule_row(&self, id: &ScheduleId) -> Result<ScheduleRow, ServiceError> {
        let row = schedules::get(&mut *self.inner.store.read().await?, id).await?;
        row.filter(|row| row.removed_at.is_none()).ok_or_else(|| no_such(id))
    }

    async fn append_schedule_act(
        &self,
        tx: &mut Tx,
        row: &ScheduleRow,
        action: &str,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        let event = Event::OperatorActed {
            action: action.to_owned(),
            workspace: Some(row.workspace.clone()),
            subject: Some(format!("{} {}", row.rule, row.id)),
        };
        self.append(tx, None, Source::Operator, &[event]).await
    }

    async fn schedule_acted(&self, mut tx: Tx, row: &ScheduleRow, action: &str) -> Result<(), ServiceError> {
        let records = self.append_schedule_act(&mut tx, row, action).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        Ok(())
    }

    async fn schedule_view(&self, row: ScheduleRow) -> Result<ScheduleView, ServiceError> {
        let next = match (Rule::parse(&row.rule), Zone::parse(row.zone.as_deref())) {
            (Ok(rule), Ok(zone)) if !row.paused => slots(&rule, zone, self.now(), AHEAD),
            // A damaged row is logged at each look and shown without times.
            (Ok(_) | Err(_), Ok(_) | Err(_)) => Vec::new(),
        };
        let mut reader = self.inner.store.read().await?;
        let runs = schedules::runs(&mut reader, &row.id, BEHIND).await?;
        let workspace = workspaces::get(&mut reader, &row.workspace).await?;
        let mut views = Vec::with_capacity(runs.len());
        for run in runs {
            let status = match &run.task {
                None => None,
                Some(task) => tasks::get(&mut reader, task).await?.map(|task| task.status),
            };
            views.push(run_view(run, status));
        }
        drop(reader);
        Ok(ScheduleView {
            problem: self.automation_problem(&row.workspace).await?,
            id: row.id.to_string(),
            workspace: row.workspace.to_string(),
            workspace_name: workspace.map(|workspace| workspace.name).unwrap_or_default(),
            rule: row.rule,
            zone: row.zone,
            goal: row.goal,
            provider: row.provider.map(|choice| choice.label().to_owned()),
            paused: row.paused,
            next,
            runs: views,
        })
    }

    /// Why a task could not be made in a workspace now: it was removed, its folder is gone or another one.
    pub(crate) async fn automation_problem(
        &self,
        id: &WorkspaceId,
    ) -> Result<Option<ErrorCode>, ServiceError> {
        let row = self.workspace_row(id).await?;
        if row.removed_at.is_some() {
            return Ok(Some(ErrorCode::WorkspaceNotFound));
        }
        Ok(self.guard(id).await.err().map(|error| error.code()))
    }
}

fn slots(rule: &Rule, zone: Zone, from: DateTime<Utc>, count: usize) -> Vec<SlotView> {
    rule.upcoming(from, zone, count)
        .into_iter()
        .map(|at| SlotView {
            utc: at.to_rfc3339_opts(SecondsFormat::Secs, true),
            local: zone.local(at).to_rfc3339_opts(SecondsFormat::Secs, true),
        })
        .collect()
}

fn run_view(run: RunRow, status: Option<pilot_types::TaskStatus>) -> ScheduleRunView {
    ScheduleRunView {
        state: run.state,
        slot: crate::view::time(run.slot.or(run.since).unwrap_or(run.at)),
        upto: run.upto.map(crate::view::time),
        slots: run.slots,
        more: run.more,
        task: run.task.as_ref().map(TaskId::to_string),
        status,
        code: run.code,
    }
}

fn no_such(id: &ScheduleId) -> ServiceError {
    ServiceError::new(ErrorCode::ScheduleNotFound, "no such schedule").about(id.to_string())
}
