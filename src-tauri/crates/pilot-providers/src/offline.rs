//! The built-in helper: no model, no network. It plays the playbook of a built-in skill through the same loop and the
//! same door as any model, and says plainly what it cannot do.
//!
//! It keeps no place of its own: which step comes next is read off the conversation, so a task goes on in any process.
//! The steps are data, `skills/invoice-summary/playbook.json`; a playbook is compiled in and never read from a folder.

mod analysis;
mod goal;
mod playbook;
mod report;
mod words;

use crate::scripted::stream;
use analysis::Analysis;
use async_trait::async_trait;
use goal::{Goal, Scope};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_types::{CallId, ErrorCode, Message, TokenUsage, ToolCall};
use playbook::{Playbook, Step};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// The built-in helper.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider;

/// What the helper does next.
enum Move {
    /// Words, and the task is over.
    Say(String),
    /// A step of the playbook.
    Play { number: usize, words: String, tool: String, arguments: Map<String, Value> },
}

/// A result of a call, as the conversation has it.
#[derive(Clone, Copy)]
struct CallResult<'a> {
    ok: bool,
    code: Option<ErrorCode>,
    content: &'a str,
}

impl OfflineProvider {
    /// The helper.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl ModelProvider for OfflineProvider {
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        if cancel.is_cancelled() {
            return Err(ModelError::new(ErrorCode::Cancelled, "stopped"));
        }
        let playbook = Playbook::built_in().map_err(|error| {
            ModelError::new(ErrorCode::Internal, format!("the playbook cannot be read: {error}"))
        })?;
        let (text, calls) = match next_move(&playbook, request.messages) {
            Move::Say(words) => (words, Vec::new()),
            Move::Play { number, words, tool, arguments } => {
                let id = CallId::from_text(format!("playbook_{number}"));
                (words, vec![ToolCall { id, tool, arguments: Value::Object(arguments), problem: None }])
            }
        };
        stream(&text, deltas);
        // No model, no tokens: this is a figure, not an estimate.
        Ok(ModelAnswer { text, calls, usage: TokenUsage::default() })
    }
}

fn next_move(playbook: &Playbook, messages: &[Message]) -> Move {
    let text = messages.iter().find_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let goal = Goal::read(text.unwrap_or_default());
    if !playbook.fits(&goal) {
        return Move::Say(words::help(goal.language));
    }
    let played = messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    if let Some(done) = played.checked_sub(1).and_then(|last| playbook.steps.get(last)) {
        let result = last_result(messages, &done.tool);
        if let Some(failed) = result.filter(|result| !result.ok && !done.optional) {
            return Move::Say(after_failure(&goal, done, failed));
        }
    }
    match playbook.steps.get(played) {
        Some(step) => play(playbook, &goal, played, step, messages),
        None => Move::Say(closing_words(playbook, &goal, messages)),
    }
}

/// A step with its blanks filled in, or why it cannot be played.
fn play(playbook: &Playbook, goal: &Goal, number: usize, step: &Step, messages: &[Message]) -> Move {
    let language = goal.language;
    let scope = match goal.scope(last_result(messages, "list_files").map_or("", |result| result.content)) {
        Ok(scope) => scope,
        Err(missing) if number > 0 => return Move::Say(words::no_such_folder(language, &missing)),
        Err(_) => Scope::Everything,
    };
    let needs_report =
        step.arguments.values().any(|value| value.as_str().is_some_and(|text| text == "{report}"));
    let report = if needs_report {
        let Some(analysis) =
            last_result(messages, "analyze_table").and_then(|result| Analysis::read(result.content))
        else {
            return Move::Say(words::unreadable_analysis(language));
        };
        if analysis.rows == 0 {
            return Move::Say(words::nothing_found(language, &scope, &analysis));
        }
        report::compose(language, &scope, &analysis)
    } else {
        String::new()
    };
    let fill = |value: &Value| match value.as_str() {
        Some("{folder}") => Value::String(scope.path().to_owned()),
        Some("{report_path}") => Value::String(playbook.report_path(language).to_owned()),
        Some("{report}") => Value::String(report.clone()),
        Some(_) | None => value.clone(),
    };
    Move::Play {
        number: number + 1,
        words: step.say.get(language).to_owned(),
        tool: step.tool.clone(),
        arguments: step.arguments.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
    }
}

fn after_failure(goal: &Goal, step: &Step, failed: CallResult<'_>) -> String {
    let language = goal.language;
    match step.tool.as_str() {
        "write_file" => words::not_written(language, failed.code, failed.content),
        "analyze_table" if failed.code == Some(ErrorCode::NotFound) => {
            words::no_documents(language, failed.content)
        }
        tool => words::step_failed(language, tool, failed.content),
    }
}

fn closing_words(playbook: &Playbook, goal: &Goal, messages: &[Message]) -> String {
    let language = goal.language;
    let written = last_result(messages, "write_file").map_or("", |result| result.content);
    // An edited card may have written elsewhere; the result says where.
    let path = serde_json::from_str::<Value>(written)
        .ok()
        .and_then(|value| value.get("path").and_then(Value::as_str).map(str::to_owned))
        .unwrap_or_else(|| playbook.report_path(language).to_owned());
    match last_result(messages, "analyze_table").and_then(|result| Analysis::read(result.content)) {
        Some(analysis) => words::written(language, &path, &analysis),
        None => words::unreadable_analysis(language),
    }
}

/// The last result of a tool.
fn last_result<'a>(messages: &'a [Message], wanted: &str) -> Option<CallResult<'a>> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool { tool, ok, code, content, .. } if tool == wanted => {
            Some(CallResult { ok: *ok, code: *code, content })
        }
        Message::Tool { .. } | Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => {
            None
        }
    })
}
