//! What a run is given and how it ends, and the bounded loop itself.

use crate::conversation::{CallIds, last_calls};
use crate::schema::ArgumentSchemas;
use crate::wait::{Waited, bounded};
use crate::{
    Clock, EventSink, Gate, ModelAnswer, ModelError, ModelProvider, ModelRequest, SinkError, ToolRegistry,
};
use pilot_types::{
    ErrorCode, Event, Message, PreparedEffect, TaskId, TaskLimits, TokenUsage, ToolCall, ToolSpec, faults,
};
use std::collections::VecDeque;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Where a run begins: at the start, after an approved call, or after a crash.
#[derive(Clone, Debug, Default)]
pub struct RunStart {
    /// The conversation so far, rebuilt from the record.
    pub messages: Vec<Message>,
    /// Calls of the last answer that have no result yet, in order.
    pub pending: Vec<ToolCall>,
    /// Model calls so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
}

/// Why and where a run stopped for a person. Committed together with the approval before anyone is told.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The call that waits.
    pub call: ToolCall,
    /// Exactly what it would do.
    pub effect: PreparedEffect,
    /// Calls of the same answer that come after it.
    pub rest: Vec<ToolCall>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Model calls so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Tokens so far.
    pub usage: TokenUsage,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum RunOutcome {
    /// The model had nothing more to do; its last words.
    Completed {
        /// The last words.
        text: String,
    },
    /// A call waits for a person.
    Paused(Box<Checkpoint>),
    /// The task cannot go on.
    Failed {
        /// Code.
        code: ErrorCode,
        /// Words: what happened and what was left undone.
        detail: String,
    },
    /// The person stopped it.
    Cancelled,
    /// The provider is out of reach or the record cannot be kept; the task can be resumed.
    Interrupted {
        /// Code.
        code: ErrorCode,
        /// Words for the log.
        detail: String,
    },
}

/// What a run is given.
pub struct RunPorts<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// The model.
    pub provider: &'a dyn ModelProvider,
    /// The tools.
    pub tools: &'a ToolRegistry,
    /// The gate.
    pub gate: &'a dyn Gate,
    /// The record.
    pub sink: &'a dyn EventSink,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Bounds over the task's life.
    pub limits: TaskLimits,
    /// Fires to stop at the next await.
    pub cancel: CancellationToken,
}

/// Runs a task from where it stands to its next stop.
///
/// Pending calls come first, then model calls until the model asks for nothing more, a call needs a person, a bound is
/// reached or the task is stopped. Events go to the sink in one batch a durable point: the answer together with the
/// start of its first call, a result together with the start of the next. A step that makes one call is therefore two
/// appends. What was recorded is durable before anything that follows from it happens.
///
/// Dropping the future stops the run at once; the record then says how far it came.
pub async fn run_task(start: RunStart, ports: &RunPorts<'_>) -> RunOutcome {
    let mut run = Run::new(start, ports);
    let outcome = run.drive().await;
    match run.flush().await {
        Ok(()) => outcome,
        Err(stopped) => stopped,
    }
}

/// One run under way. Methods that can end it answer with the outcome as their error.
pub(crate) struct Run<'a> {
    pub(crate) ports: &'a RunPorts<'a>,
    pub(crate) schemas: ArgumentSchemas,
    pub(crate) messages: Vec<Message>,
    pub(crate) pending: VecDeque<ToolCall>,
    pub(crate) steps: u32,
    pub(crate) usage: TokenUsage,
    specs: Vec<ToolSpec>,
    ids: CallIds,
    elapsed_before: Duration,
    began: Duration,
    batch: Vec<Event>,
}

impl<'a> Run<'a> {
    fn new(start: RunStart, ports: &'a RunPorts<'a>) -> Self {
        Self {
            ports,
            schemas: ArgumentSchemas::default(),
            specs: ports.tools.specs(),
            ids: CallIds::of(&start.messages),
            messages: start.messages,
            pending: start.pending.into(),
            steps: start.steps,
            usage: start.usage,
            elapsed_before: Duration::from_millis(start.elapsed_millis),
            began: ports.clock.monotonic(),
            batch: Vec::new(),
        }
    }

    async fn drive(&mut self) -> RunOutcome {
        // A card may have been decided three times over before this run began.
        if let Err(stopped) = self.stop_in_circles() {
            return stopped;
        }
        loop {
            while let Some(call) = self.pending.pop_front() {
                if let Err(stopped) = self.settle(call).await {
                    return stopped;
                }
            }
            match self.ask_model().await {
                Ok(None) => {}
                Ok(Some(text)) => return RunOutcome::Completed { text },
                Err(stopped) => return stopped,
            }
        }
    }

    /// One model call. `Some` are the last words: the answer asked for nothing.
    async fn ask_model(&mut self) -> Result<Option<String>, RunOutcome> {
        self.stop_if_told().await?;
        self.stop_at_bounds()?;
        self.flush().await?;
        faults::point("loop_before_model");
        let request = ModelRequest { messages: &self.messages, tools: &self.specs };
        let answer = self.ports.provider.answer(request, self.ports.sink, &self.ports.cancel);
        match bounded(answer, self.time_left(), &self.ports.cancel, self.ports.sink).await {
            Waited::Done(Ok(answer)) => Ok(self.take_answer(answer)),
            Waited::Done(Err(error)) => Err(self.provider_failed(error)),
            Waited::Panicked => Err(RunOutcome::Failed {
                code: ErrorCode::Internal,
                detail: "the provider stopped with a fault of this program".to_owned(),
            }),
            Waited::Cancelled => Err(RunOutcome::Cancelled),
            Waited::OutOfTime => Err(self.out_of_time()),
        }
    }

    /// Puts an answer into conversation and record; its calls become pending.
    fn take_answer(&mut self, answer: ModelAnswer) -> Option<String> {
        faults::point("loop_answered");
        let ModelAnswer { text, mut calls, usage } = answer;
        self.steps = self.steps.saturating_add(1);
        self.usage.add(usage);
        self.ids.settle(self.steps, &mut calls);
        self.batch.push(Event::ModelAnswer {
            step: self.steps,
            text: text.clone(),
            calls: calls.clone(),
            usage,
            elapsed_millis: self.elapsed_millis(),
        });
        let last_words = calls.is_empty().then(|| text.clone());
        self.pending.extend(calls.iter().cloned());
        self.messages.push(Message::Assistant { text, calls });
        last_words
    }

    fn provider_failed(&self, error: ModelError) -> RunOutcome {
        let ModelError { code, detail } = error;
        if code == ErrorCode::Cancelled {
            RunOutcome::Cancelled
        } else if goes_on_later(code) {
            RunOutcome::Interrupted { code, detail }
        } else {
            RunOutcome::Failed { code, detail }
        }
    }

    /// Ends the run when the person, here or in another process, asked for it.
    pub(crate) async fn stop_if_told(&self) -> Result<(), RunOutcome> {
        if self.ports.cancel.is_cancelled() {
            return Err(RunOutcome::Cancelled);
        }
        match self.ports.sink.cancel_requested().await {
            Ok(false) => Ok(()),
            Ok(true) => Err(RunOutcome::Cancelled),
            Err(error) => Err(record_broken(error)),
        }
    }

    fn stop_at_bounds(&self) -> Result<(), RunOutcome> {
        let limits = &self.ports.limits;
        if self.steps >= limits.max_steps {
            let detail = format!("all {} steps are used up; {}", limits.max_steps, self.left_undone());
            return Err(RunOutcome::Failed { code: ErrorCode::StepLimit, detail });
        }
        if self.time_left().is_zero() {
            return Err(self.out_of_time());
        }
        match limits.max_tokens {
            Some(cap) if self.usage.total() >= cap => {
                let used = self.usage.total();
                let detail = format!("{used} tokens are used up, the cap is {cap}; {}", self.left_undone());
                Err(RunOutcome::Failed { code: ErrorCode::TokenLimit, detail })
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn out_of_time(&self) -> RunOutcome {
        let detail = format!(
            "{} s of running are used up; {}",
            self.ports.limits.max_millis / 1_000,
            self.left_undone()
        );
        RunOutcome::Failed { code: ErrorCode::TimeLimit, detail }
    }

    /// What a task that ran into a bound did not get to, in words.
    fn left_undone(&self) -> String {
        let named = |calls: &mut dyn Iterator<Item = &ToolCall>| {
            let names: Vec<&str> = calls.take(5).map(|call| call.tool.as_str()).collect();
            names.join(", ")
        };
        if !self.pending.is_empty() {
            return format!("not done any more: {}", named(&mut self.pending.iter()));
        }
        let last = last_calls(&self.messages);
        if last.is_empty() {
            "no answer was given".to_owned()
        } else {
            format!(
                "the last thing done was {}; the model has given no final answer",
                named(&mut last.iter())
            )
        }
    }

    pub(crate) fn elapsed_millis(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.elapsed_before.saturating_add(self.ports.clock.monotonic().saturating_sub(self.began))
    }

    pub(crate) fn time_left(&self) -> Duration {
        Duration::from_millis(self.ports.limits.max_millis).saturating_sub(self.elapsed())
    }

    /// Adds to what the next durable point records.
    pub(crate) fn record(&mut self, event: Event) {
        self.batch.push(event);
    }

    /// Makes everything recorded so far durable.
    pub(crate) async fn flush(&mut self) -> Result<(), RunOutcome> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.ports.sink.append(std::mem::take(&mut self.batch)).await.map_err(record_broken)
    }
}

fn record_broken(error: SinkError) -> RunOutcome {
    RunOutcome::Interrupted { code: error.code, detail: error.detail }
}

/// True when a task that met this error can go on later from where it stands: the provider is out of reach, refuses the
/// key, needs the person's consent or has used up its day. Anything else ends the task.
fn goes_on_later(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProviderMissing
            | ErrorCode::ProviderKeyMissing
            | ErrorCode::ProviderUnauthorized
            | ErrorCode::ProviderForbidden
            | ErrorCode::ProviderNotFound
            | ErrorCode::ProviderRateLimited
            | ErrorCode::ProviderUnavailable
            | ErrorCode::ProviderTimeout
            | ErrorCode::ProviderStreamBroken
            | ErrorCode::ProviderRedirect
            | ErrorCode::ConsentRequired
            | ErrorCode::TokenLimit
            | ErrorCode::KeyringMissing
            | ErrorCode::KeyringLocked
            | ErrorCode::KeyringTimeout
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::IoFailed
    )
}
