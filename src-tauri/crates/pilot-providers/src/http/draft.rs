//! An answer that is being put together, in no wire format: words, calls in pieces, and the bounds of both.

use super::arguments;
use super::config::AnswerLimits;
use super::names::ToolNames;
use super::sse::LineTooLong;
use super::status::Failure;
use crate::{fenced_call, tokens};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError};
use pilot_types::{CallId, CallProblem, ErrorCode, TokenUsage, ToolCall, ToolSpec};
use serde_json::{Map, Value};

/// Put after words that the model's own limit cut off.
const CUT_OFF: &str = "\n\n[…]";

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// By itself.
    Whole,
    /// At a limit or by a filter: what was last said is not complete.
    Cut,
}

/// What one wire format makes of the data of an answer.
pub(crate) trait Reading: Send {
    /// Takes the data of one event, or a whole answer.
    ///
    /// # Errors
    /// Something that is no answer, an error of the server, or a limit.
    fn take(&mut self, data: &[u8], deltas: &dyn DeltaSink) -> Result<(), Failure>;

    /// True once the model has said why it stopped: nothing but the usage can follow.
    fn has_finish(&self) -> bool;

    /// True once the server has said that nothing follows.
    fn is_done(&self) -> bool;

    /// Ends the answer.
    ///
    /// # Errors
    /// [`ErrorCode::ProviderStreamBroken`] when words break off, [`ErrorCode::ProviderBadResponse`] when there was
    /// nothing that could be understood.
    fn end(self: Box<Self>, asked: &Asked<'_>, deltas: &dyn DeltaSink) -> Result<ModelAnswer, ModelError>;
}

/// What the answer is an answer to.
pub(crate) struct Asked<'a> {
    pub(crate) names: &'a ToolNames,
    pub(crate) tools: &'a [ToolSpec],
    /// Stands in when the server gives no usage.
    pub(crate) input_tokens: u64,
}

#[derive(Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
    too_large: bool,
}

/// The words and calls of an answer so far.
pub(crate) struct Draft<'a> {
    limits: &'a AnswerLimits,
    text: String,
    calls: Vec<PartialCall>,
    finish: Option<Finish>,
    kept_bytes: usize,
    /// Pieces of an answer that were understood.
    pub(crate) events: u64,
}

/// An answer that could not be understood.
pub(crate) fn bad(words: impl Into<String>) -> ModelError {
    ModelError::new(ErrorCode::ProviderBadResponse, words)
}

impl From<LineTooLong> for Failure {
    fn from(_: LineTooLong) -> Self {
        bad("a line of the answer is longer than the limit").into()
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(limits: &'a AnswerLimits) -> Self {
        Self { limits, text: String::new(), calls: Vec::new(), finish: None, kept_bytes: 0, events: 0 }
    }

    pub(crate) fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    pub(crate) fn set_finish(&mut self, finish: Finish) {
        self.finish = Some(finish);
    }

    /// Adds words.
    pub(crate) fn text(&mut self, text: &str, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.keep(text.len())?;
        self.text.push_str(text);
        deltas.text(text);
        Ok(())
    }

    /// How many calls there are.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The id of a call, empty while it has none.
    pub(crate) fn id_of(&self, place: usize) -> &str {
        self.calls.get(place).map_or("", |call| &call.id)
    }

    /// Begins another call and gives its place; `None` when there are too many.
    pub(crate) fn begin_call(&mut self) -> Option<usize> {
        if self.calls.len() >= self.limits.calls {
            return None;
        }
        self.calls.push(PartialCall::default());
        Some(self.calls.len() - 1)
    }

    /// Names a call. What it is called already stays.
    pub(crate) fn name_call(&mut self, place: usize, id: &str, name: &str) -> Result<(), ModelError> {
        self.keep(id.len() + name.len())?;
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // A name comes once; a few servers repeat it with each piece.
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        Ok(())
    }

    /// Adds a piece of a call's arguments.
    pub(crate) fn arguments(&mut self, place: usize, piece: &str) -> Result<(), ModelError> {
        let Some(call) = self.calls.get(place) else { return Ok(()) };
        let fits = call.arguments.len() + piece.len() <= self.limits.arguments;
        if fits {
            self.keep(piece.len())?;
        }
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        if fits && !call.too_large {
            call.arguments.push_str(piece);
        } else if !piece.is_empty() {
            call.too_large = true;
            call.arguments = String::new();
        }
        Ok(())
    }

    fn keep(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.kept_bytes += bytes;
        if self.kept_bytes > self.limits.answer {
            return Err(bad(format!("the answer is longer than {} bytes", self.limits.answer)));
        }
        Ok(())
    }

    /// Ends the answer. `ended` says that nothing is missing; `usage` is what the server counted, input and output.
    pub(crate) fn end(
        self,
        ended: bool,
        usage: Option<(u64, u64)>,
        asked: &Asked<'_>,
        deltas: &dyn DeltaSink,
    ) -> Result<ModelAnswer, ModelError> {
        if !ended && self.calls.is_empty() {
            return Err(if self.events == 0 {
                bad("the answer holds no answer of a model")
            } else {
                ModelError::new(ErrorCode::ProviderStreamBroken, "the answer broke off")
            });
        }
        let usage = match usage {
            Some((input, output)) => TokenUsage { input, output, estimated: false },
            None => {
                TokenUsage { input: asked.input_tokens, output: self.estimated_output(), estimated: true }
            }
        };
        let cut = !ended || self.finish == Some(Finish::Cut);
        let mut text = self.text;
        let depth = self.limits.depth;
        let mut calls: Vec<ToolCall> =
            self.calls.into_iter().map(|call| whole_call(call, cut, depth, asked.names)).collect();
        if calls.is_empty() && cut {
            deltas.text(CUT_OFF);
            text.push_str(CUT_OFF);
        } else if calls.is_empty()
            && let Some(call) = fenced_call::read(&text, asked.tools)
        {
            text.clear();
            calls.push(call);
        }
        Ok(ModelAnswer { text, calls, usage })
    }

    fn estimated_output(&self) -> u64 {
        let calls =
            self.calls.iter().map(|call| tokens::estimated(&call.arguments) + tokens::estimated(&call.name));
        tokens::estimated(&self.text) + calls.sum::<u64>()
    }
}

fn whole_call(call: PartialCall, cut: bool, depth: usize, names: &ToolNames) -> ToolCall {
    let PartialCall { id, name, arguments: text, too_large } = call;
    let read = if too_large { None } else { arguments::read(&text, depth) };
    let (arguments, problem) = match (read, cut) {
        // A call in an answer that was cut off is not whole, however whole it looks.
        (_, true) => (Map::new(), Some(CallProblem::Truncated)),
        (None, false) => (Map::new(), Some(CallProblem::Malformed)),
        (Some(arguments), false) => (arguments, None),
    };
    ToolCall {
        id: CallId::from_text(id),
        tool: names.meant(&name),
        arguments: Value::Object(arguments),
        problem,
    }
}
