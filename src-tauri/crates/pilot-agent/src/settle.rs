//! One call from the model's answer to its result, or to a person.

use crate::conversation::{TIMES_TOO_OFTEN, last_calls, times_in_a_row};
use crate::run::Run;
use crate::wait::{Waited, bounded};
use crate::{AuthorizedCall, Checkpoint, RunOutcome, Tool, ToolContext, ToolError};
use pilot_types::{CallProblem, ErrorCode, Event, Message, ToolCall, ToolResult, ToolSpec, Verdict, faults};
use std::sync::Arc;
use std::time::Duration;

/// Longest time that one call may take. A tool with a shorter bound of its own keeps it.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(120);

/// Calls of one answer that are looked at; the rest get a failed result.
pub const CALLS_PER_ANSWER: usize = 64;

/// Tools named to a model that asked for one that does not exist.
const NAMED_TOOLS: usize = 40;

impl Run<'_> {
    /// Brings one call to its result. The error is how the run ends, be it for a person or for good.
    pub(crate) async fn settle(&mut self, call: ToolCall) -> Result<(), RunOutcome> {
        if let Some(failed) = self.unfit(&call) {
            return self.finish(call, failed, Duration::ZERO);
        }
        let Some(tool) = self.ports.tools.get(&call.tool).map(Arc::clone) else {
            let failed = self.unknown(&call.tool);
            return self.finish(call, failed, Duration::ZERO);
        };
        if let Err(words) = self.schemas.check(tool.spec(), &call.arguments) {
            return self.finish(call, ToolResult::failed(ErrorCode::InvalidArguments, words), Duration::ZERO);
        }
        self.stop_if_told().await?;
        if self.time_left().is_zero() {
            self.pending.push_front(call);
            return Err(self.out_of_time());
        }
        let verdict = self.verdict(tool.spec(), &call).await?;
        match &verdict {
            Verdict::Allow { reason } => self.run_tool(tool, call, &verdict, reason).await,
            Verdict::RequireApproval { .. } => self.pause(tool, call).await,
            Verdict::Deny { code, reason } => {
                if let Some(stopped) = workspace_lost(*code, reason) {
                    return Err(stopped);
                }
                self.record(Event::PolicyDenied {
                    call_id: call.id.clone(),
                    tool: call.tool.clone(),
                    code: *code,
                    reason: reason.clone(),
                });
                self.finish(call, ToolResult::failed(*code, format!("refused: {reason}")), Duration::ZERO)
            }
        }
    }

    /// Why a call can never run, whatever tool it names.
    fn unfit(&self, call: &ToolCall) -> Option<ToolResult> {
        match call.problem {
            Some(CallProblem::Truncated) => {
                let words = "this call was cut off before it was complete and was not run; send it again, shorter or in parts";
                return Some(ToolResult::failed(ErrorCode::TruncatedCall, words));
            }
            Some(CallProblem::Malformed) => {
                let words =
                    "the arguments of this call are not a JSON object within the limits; it was not run";
                return Some(ToolResult::failed(ErrorCode::InvalidArguments, words));
            }
            None => {}
        }
        let answer = last_calls(&self.messages);
        let place = (answer.len() > CALLS_PER_ANSWER)
            .then(|| answer.iter().position(|other| other.id == call.id))
            .flatten()?;
        (place >= CALLS_PER_ANSWER).then(|| {
            let words = format!(
                "only the first {CALLS_PER_ANSWER} calls of one answer are run; this was call {}",
                place + 1
            );
            ToolResult::failed(ErrorCode::ToolFailed, words)
        })
    }

    fn unknown(&self, name: &str) -> ToolResult {
        let specs = self.ports.tools.specs();
        let known: Vec<&str> = specs.iter().take(NAMED_TOOLS).map(|spec| spec.name.as_str()).collect();
        let asked: String = name.chars().take(80).collect();
        ToolResult::failed(
            ErrorCode::UnknownTool,
            format!("there is no tool {asked:?}; the tools are: {}", known.join(", ")),
        )
    }

    async fn verdict(&self, spec: &ToolSpec, call: &ToolCall) -> Result<Verdict, RunOutcome> {
        let limit = TOOL_TIMEOUT.min(self.time_left());
        match bounded(self.ports.gate.decide(spec, call), limit, &self.ports.cancel, self.ports.sink).await {
            Waited::Done(verdict) => Ok(verdict),
            Waited::Cancelled => Err(RunOutcome::Cancelled),
            // A gate that cannot decide has not allowed.
            Waited::Panicked | Waited::OutOfTime => Ok(Verdict::Deny {
                code: ErrorCode::Internal,
                reason: "whether this call may run could not be decided".to_owned(),
            }),
        }
    }

    async fn run_tool(
        &mut self,
        tool: Arc<dyn Tool>,
        call: ToolCall,
        verdict: &Verdict,
        reason: &str,
    ) -> Result<(), RunOutcome> {
        let Some(authorized) = AuthorizedCall::allowed(call.clone(), verdict) else {
            return self.finish(call, ToolResult::failed(ErrorCode::PolicyDenied, "refused"), Duration::ZERO);
        };
        self.record(Event::ToolStarted {
            call_id: call.id.clone(),
            tool: call.tool.clone(),
            capability: tool.spec().capability.as_str().to_owned(),
            reason: reason.to_owned(),
        });
        self.flush().await?;
        let started = self.ports.clock.monotonic();
        let context = ToolContext { cancel: self.ports.cancel.child_token() };
        let limit = TOOL_TIMEOUT.min(self.time_left());
        let waited =
            bounded(tool.run(authorized, &context), limit, &self.ports.cancel, self.ports.sink).await;
        let millis = self.ports.clock.monotonic().saturating_sub(started);
        faults::point("loop_tool_ran");
        match waited {
            Waited::Done(Ok(content)) => self.finish(call, ToolResult::ok(content), millis),
            Waited::Done(Err(error)) => match workspace_lost(error.code, &error.message) {
                Some(stopped) => Err(stopped),
                None => self.finish(call, failed(error), millis),
            },
            Waited::Panicked => self.finish(call, crashed(), millis),
            Waited::Cancelled => {
                // Work that a tool handed to another thread must not go on behind a stopped task.
                context.cancel.cancel();
                let _ = self.finish(
                    call,
                    ToolResult::failed(ErrorCode::Cancelled, "the task was stopped"),
                    millis,
                );
                Err(RunOutcome::Cancelled)
            }
            Waited::OutOfTime => {
                context.cancel.cancel();
                let words = format!("{} did not finish within {} s", call.tool, limit.as_secs());
                self.finish(call, ToolResult::failed(ErrorCode::ToolTimeout, words), millis)
            }
        }
    }

    /// Works out what the call would do and stops for a person. A call that cannot be done raises no card.
    async fn pause(&mut self, tool: Arc<dyn Tool>, call: ToolCall) -> Result<(), RunOutcome> {
        let started = self.ports.clock.monotonic();
        let context = ToolContext { cancel: self.ports.cancel.child_token() };
        let limit = TOOL_TIMEOUT.min(self.time_left());
        let waited = bounded(tool.prepare(&call, &context), limit, &self.ports.cancel, self.ports.sink).await;
        let millis = self.ports.clock.monotonic().saturating_sub(started);
        let effect = match waited {
            Waited::Done(Ok(effect)) => effect,
            Waited::Done(Err(error)) => {
                return match workspace_lost(error.code, &error.message) {
                    Some(stopped) => Err(stopped),
                    None => self.finish(call, failed(error), millis),
                };
            }
            Waited::Panicked => return self.finish(call, crashed(), millis),
            Waited::Cancelled => {
                context.cancel.cancel();
                return Err(RunOutcome::Cancelled);
            }
            Waited::OutOfTime => {
                context.cancel.cancel();
                let words = format!("{} could not be prepared within {} s", call.tool, limit.as_secs());
                return self.finish(call, ToolResult::failed(ErrorCode::ToolTimeout, words), millis);
            }
        };
        self.flush().await?;
        faults::point("loop_before_checkpoint");
        Err(RunOutcome::Paused(Box::new(Checkpoint {
            call,
            effect,
            rest: std::mem::take(&mut self.pending).into(),
            messages: std::mem::take(&mut self.messages),
            steps: self.steps,
            elapsed_millis: self.elapsed_millis(),
            usage: self.usage,
        })))
    }

    /// Puts a result into conversation and record.
    fn finish(&mut self, call: ToolCall, result: ToolResult, took: Duration) -> Result<(), RunOutcome> {
        let ToolResult { ok, code, content } = result;
        self.record(Event::ToolResult {
            call_id: call.id.clone(),
            tool: call.tool.clone(),
            ok,
            code,
            content: content.clone(),
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        self.messages.push(Message::Tool { call_id: call.id, tool: call.tool, ok, code, content });
        self.stop_in_circles()
    }

    /// Ends a task whose model asks for the same thing again and again.
    pub(crate) fn stop_in_circles(&self) -> Result<(), RunOutcome> {
        if times_in_a_row(&self.messages) < TIMES_TOO_OFTEN {
            return Ok(());
        }
        let tool = match self.messages.last() {
            Some(Message::Tool { tool, .. }) => tool.as_str(),
            Some(Message::System { .. } | Message::User { .. } | Message::Assistant { .. }) | None => {
                "a tool"
            }
        };
        let detail = format!(
            "the model called {tool} {TIMES_TOO_OFTEN} times in a row with the same arguments and got the same result; \
             it was stopped before going on in circles"
        );
        Err(RunOutcome::Failed { code: ErrorCode::RepeatedCall, detail })
    }
}

fn failed(error: ToolError) -> ToolResult {
    ToolResult::failed(error.code, error.message)
}

fn crashed() -> ToolResult {
    ToolResult::failed(
        ErrorCode::ToolFailed,
        "the tool stopped with a fault of this program; try another way",
    )
}

/// A folder that is gone or is another one cannot be helped by the model: the call stays pending and the task waits
/// for the person.
fn workspace_lost(code: ErrorCode, words: &str) -> Option<RunOutcome> {
    matches!(code, ErrorCode::WorkspaceGone | ErrorCode::WorkspaceReplaced)
        .then(|| RunOutcome::Interrupted { code, detail: words.to_owned() })
}
