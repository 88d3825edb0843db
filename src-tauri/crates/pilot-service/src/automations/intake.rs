//! The two ports of pilot-triggers: slots and requests become tasks here, by the same way as all others, and each in
//! one transaction with the note that says so.

use super::WAITING_LIMIT;
use crate::error::ServiceError;
use crate::open::Service;
use crate::tasks::NewTask;
use async_trait::async_trait;
use pilot_store::{RunRow, Tx, channels, schedules};
use pilot_triggers::{
    CallIntake, ChannelEntry, IntakeError, Look, Missed, RefusedCalls, ScheduleEntry, Slot, SlotIntake,
};
use pilot_types::{
    ChannelId, ErrorClass, ErrorCode, Event, EventRecord, ScheduleId, SlotState, Source, TaskId, TaskIntake,
    faults,
};

impl From<ServiceError> for IntakeError {
    fn from(error: ServiceError) -> Self {
        Self { code: error.code(), detail: error.detail().to_owned() }
    }
}

#[async_trait]
impl SlotIntake for Service {
    async fn schedules(&self) -> Result<Vec<ScheduleEntry>, IntakeError> {
        if self.settings().await?.automations_paused {
            return Ok(Vec::new());
        }
        let mut reader = self.inner.store.read().await.map_err(ServiceError::from)?;
        let rows = schedules::list(&mut reader).await.map_err(ServiceError::from)?;
        let active = rows.into_iter().filter(|row| !row.paused);
        Ok(active
            .map(|row| ScheduleEntry {
                id: row.id,
                workspace: row.workspace,
                rule: row.rule,
                zone: row.zone,
                goal: row.goal,
                provider: row.provider,
                looked_at: row.looked_at,
            })
            .collect())
    }

    async fn look(&self, look: Look) -> Result<(), IntakeError> {
        Ok(self.take_look(look).await?)
    }
}

#[async_trait]
impl CallIntake for Service {
    async fn channel(&self, id: &ChannelId) -> Result<Option<ChannelEntry>, IntakeError> {
        let mut reader = self.inner.store.read().await.map_err(ServiceError::from)?;
        let row = channels::open(&mut reader, id).await.map_err(ServiceError::from)?;
        Ok(row.map(|row| ChannelEntry { workspace: row.workspace, token: row.token }))
    }

    async fn submit(&self, channel: &ChannelId, intake: TaskIntake) -> Result<TaskId, IntakeError> {
        Ok(self.take_call(channel, intake).await?)
    }

    async fn refused(&self, calls: &[RefusedCalls]) -> Result<(), IntakeError> {
        let mut tx = self.begin().await?;
        for call in calls {
            channels::refuse(&mut tx, &call.channel, call.times, call.code, self.now())
                .await
                .map_err(ServiceError::from)?;
        }
        self.commit(tx, Vec::new()).await?;
        self.inner.bus.changed();
        Ok(())
    }
}

/// What becomes of a due slot.
enum Became {
    Task(Box<NewTask>),
    Note(SlotState, ErrorCode),
}

impl Service {
    async fn take_look(&self, look: Look) -> Result<(), ServiceError> {
        let prepared = match &look.due {
            None => None,
            Some(slot) => Some(self.prepare_slot(slot).await?),
        };
        faults::point("slot_before");
        let mut tx = self.begin().await?;
        if !schedules::advance(&mut tx, &look.schedule, look.since, look.until).await? {
            // Somebody else looked, or the person changed it: their word counts.
            return Ok(());
        }
        let mut records = Vec::new();
        if let Some(missed) = &look.missed {
            records.extend(self.note_missed(&mut tx, &look.schedule, missed).await?);
        }
        let mut made = false;
        if let (Some(slot), Some(prepared)) = (&look.due, prepared) {
            let decided = schedules::is_decided(&mut tx, &look.schedule, slot.at).await?;
            if !decided {
                made = self.decide_slot(&mut tx, &look.schedule, slot, prepared, &mut records).await?;
            }
        }
        faults::point("slot_before_commit");
        self.commit(tx, records).await?;
        faults::point("slot_after_commit");
        if made {
            self.inner.work.notify_one();
        }
        self.inner.bus.changed();
        Ok(())
    }

    /// A task that cannot be made is a note. What has nothing to do with the task is an error, and tried again.
    async fn prepare_slot(&self, slot: &Slot) -> Result<Result<Box<NewTask>, ErrorCode>, ServiceError> {
        match self.prepare_task(slot.intake.clone()).await {
            Ok(task) => Ok(Ok(Box::new(task))),
            Err(error)
                if error.code() == ErrorCode::DatabaseLocked || error.code().class() == ErrorClass::Fault =>
            {
                Err(error)
            }
            Err(error) => Ok(Err(error.code())),
        }
    }

    /// True when it became a task.
    async fn decide_slot(
        &self,
        tx: &mut Tx,
        schedule: &ScheduleId,
        slot: &Slot,
        prepared: Result<Box<NewTask>, ErrorCode>,
        records: &mut Vec<EventRecord>,
    ) -> Result<bool, ServiceError> {
        let became = if schedules::unfinished(tx, schedule).await?.is_some() {
            Became::Note(SlotState::Skipped, ErrorCode::SlotSkipped)
        } else if schedules::waiting(tx, schedule).await? >= WAITING_LIMIT {
            Became::Note(SlotState::Refused, ErrorCode::QueueFull)
        } else {
            match prepared {
                Ok(task) => Became::Task(task),
                Err(code) => Became::Note(SlotState::Refused, code),
            }
        };
        let mut run = RunRow {
            schedule: schedule.clone(),
            slot: Some(slot.at),
            state: SlotState::Started,
            task: None,
            code: None,
            since: None,
            upto: None,
            slots: 1,
            more: false,
            at: self.now(),
        };
        match became {
            Became::Task(new) => {
                records.extend(self.store_task(tx, &new).await?);
                run.task = Some(new.task.id);
                schedules::note(tx, &run).await?;
                Ok(true)
            }
            Became::Note(state, code) => {
                (run.state, run.code) = (state, Some(code));
                // A card that waits over the weekend is one entry of the record, not one for each minute of it.
                let before = schedules::runs(tx, schedule, 1).await?.pop();
                if before.is_none_or(|before| (before.state, before.code) != (state, Some(code))) {
                    let words = format!("schedule {schedule}, slot {}", crate::view::time(slot.at));
                    records.extend(self.note_event(tx, code, words).await?);
                }
                schedules::note(tx, &run).await?;
                Ok(false)
            }
        }
    }

    async fn note_missed(
        &self,
        tx: &mut Tx,
        schedule: &ScheduleId,
        missed: &Missed,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        let run = RunRow {
            schedule: schedule.clone(),
            slot: None,
            state: SlotState::Missed,
            task: None,
            code: Some(ErrorCode::SlotMissed),
            since: Some(missed.first),
            upto: Some(missed.last),
            slots: missed.count,
            more: missed.more,
            at: self.now(),
        };
        schedules::note(tx, &run).await?;
        let more = if missed.more { " or more" } else { "" };
        let words = format!(
            "schedule {schedule}, {}{more} slots from {}",
            missed.count,
            crate::view::time(missed.first)
        );
        self.note_event(tx, ErrorCode::SlotMissed, words).await
    }

    async fn note_event(
        &self,
        tx: &mut Tx,
        code: ErrorCode,
        detail: String,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        self.append(tx, None, Source::System, &[Event::Noted { code: Some(code), detail }]).await
    }

    async fn take_call(&self, channel: &ChannelId, intake: TaskIntake) -> Result<TaskId, ServiceError> {
        if self.settings().await?.automations_paused {
            return Err(ServiceError::new(ErrorCode::AutomationsPaused, "all automations are paused"));
        }
        let new = self.prepare_task(intake).await?;
        faults::point("webhook_before");
        let mut tx = self.begin().await?;
        if channels::waiting(&mut tx, channel).await? >= WAITING_LIMIT {
            let words = format!("{WAITING_LIMIT} tasks of this channel wait already");
            return Err(ServiceError::new(ErrorCode::QueueFull, words));
        }
        let records = self.store_task(&mut tx, &new).await?;
        if !channels::accept(&mut tx, channel, &new.task.id, self.now()).await? {
            // Revoked between the check and here: nothing of it happens.
            return Err(ServiceError::new(ErrorCode::TokenRefused, "the token was revoked"));
        }
        faults::point("webhook_before_commit");
        self.commit(tx, records).await?;
        faults::point("webhook_after_commit");
        self.inner.work.notify_one();
        Ok(new.task.id)
    }
}
