//! From chunks, or one whole completion, to an answer.

use super::chunk::{CallPiece, Choice, Chunk, Content, Usage};
use super::names::ToolNames;
use super::sse::LineTooLong;
use super::{AnswerLimits, arguments, status};
use crate::{fenced_call, tokens};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError};
use pilot_types::{CallId, CallProblem, ErrorCode, TokenUsage, ToolCall, ToolSpec};
use serde_json::{Map, Value};

/// Put after words that the model's own limit cut off.
const CUT_OFF: &str = "\n\n[…]";

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// By itself.
    Whole,
    /// At a limit or by a filter: what was last said is not complete.
    Cut,
}

#[derive(Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    too_large: bool,
}

/// An answer that is being put together.
pub(super) struct Assembly<'a> {
    limits: &'a AnswerLimits,
    text: String,
    calls: Vec<PartialCall>,
    /// Calls beyond the limit are dropped, pieces and all.
    dropping: bool,
    finish: Option<Finish>,
    done: bool,
    usage: Option<Usage>,
    kept_bytes: usize,
    events: u64,
}

impl From<LineTooLong> for ModelError {
    fn from(_: LineTooLong) -> Self {
        bad("a line of the answer is longer than the limit")
    }
}

fn bad(words: impl Into<String>) -> ModelError {
    ModelError::new(ErrorCode::ProviderBadResponse, words)
}

impl<'a> Assembly<'a> {
    pub(super) fn new(limits: &'a AnswerLimits) -> Self {
        Self {
            limits,
            text: String::new(),
            calls: Vec::new(),
            dropping: false,
            finish: None,
            done: false,
            usage: None,
            kept_bytes: 0,
            events: 0,
        }
    }

    /// True once the model has said why it stopped: nothing but the usage can follow.
    pub(super) fn has_finish(&self) -> bool {
        self.finish.is_some() || self.done
    }

    /// True once the server has said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the data of one event, or a whole completion.
    ///
    /// # Errors
    /// Something that is no completion, an error of the server, or a limit.
    pub(super) fn take(&mut self, data: &[u8], deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(data)
            .map_err(|error| bad(format!("the answer is not a chat completion ({error})")))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(status::error_in_answer(&error));
        }
        self.events += 1;
        if chunk.usage.is_some() {
            self.usage = chunk.usage;
        }
        for choice in chunk.choices.unwrap_or_default() {
            // Only one answer was asked for.
            if choice.index.unwrap_or(0) == 0 {
                self.take_choice(choice, deltas)?;
            }
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: Choice, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        for piece in [choice.delta, choice.message].into_iter().flatten() {
            if let Some(content) = piece.content {
                self.take_content(content, deltas)?;
            }
            if let Some(refusal) = piece.refusal {
                self.take_text(&refusal, deltas)?;
            }
            for call in piece.tool_calls.unwrap_or_default() {
                self.take_call(call)?;
            }
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(match reason.as_str() {
                "length" | "content_filter" | "max_tokens" => Finish::Cut,
                _ => Finish::Whole,
            });
        }
        Ok(())
    }

    fn take_content(&mut self, content: Content, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        match content {
            Content::Text(text) => self.take_text(&text, deltas),
            Content::Parts(parts) => parts
                .into_iter()
                .filter_map(|part| part.text)
                .try_for_each(|text| self.take_text(&text, deltas)),
        }
    }

    fn take_text(&mut self, text: &str, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.keep(text.len())?;
        self.text.push_str(text);
        deltas.text(text);
        Ok(())
    }

    fn take_call(&mut self, piece: CallPiece) -> Result<(), ModelError> {
        let (name, arguments) =
            piece.function.map_or((None, None), |function| (function.name, function.arguments));
        let arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        let (id, name) = (piece.id.unwrap_or_default(), name.unwrap_or_default());
        let Some(place) = self.place_of(piece.index, &id, &name) else { return Ok(()) };
        self.keep(id.len() + name.len())?;
        let fits = self
            .calls
            .get(place)
            .is_some_and(|call| call.arguments.len() + arguments.len() <= self.limits.arguments);
        if fits {
            self.keep(arguments.len())?;
        }
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        if call.id.is_empty() {
            call.id = id;
        }
        // A name comes once; a few servers repeat it with each piece.
        if call.name.is_empty() {
            call.name = name;
        }
        if fits && !call.too_large {
            call.arguments.push_str(&arguments);
        } else if !arguments.is_empty() {
            call.too_large = true;
            call.arguments = String::new();
        }
        Ok(())
    }

    /// Which call a piece belongs to, beginning a new one if it must; `None` when there are too many.
    fn place_of(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let begins_another =
            |call: &PartialCall| !id.is_empty() && !call.id.is_empty() && call.id != id && !name.is_empty();
        let found = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id),
        };
        // Some servers count every call as 0; another id with a name is another call.
        if let Some(place) =
            found.filter(|place| self.calls.get(*place).is_some_and(|call| !begins_another(call)))
        {
            // Pieces after a dropped call that name no call of their own belong to the dropped one.
            return (index.is_some() || !self.dropping).then_some(place);
        }
        if self.calls.len() >= self.limits.calls {
            self.dropping = true;
            return None;
        }
        self.calls.push(PartialCall { index, ..PartialCall::default() });
        Some(self.calls.len() - 1)
    }

    fn keep(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.kept_bytes += bytes;
        if self.kept_bytes > self.limits.answer {
            return Err(bad(format!("the answer is longer than {} bytes", self.limits.answer)));
        }
        Ok(())
    }

    /// Ends the answer. `input_tokens` stands in when the server gave no usage.
    ///
    /// # Errors
    /// [`ErrorCode::ProviderStreamBroken`] when words break off, [`ErrorCode::ProviderBadResponse`] when there was
    /// nothing that could be understood.
    pub(super) fn end(
        self,
        names: &ToolNames,
        tools: &[ToolSpec],
        input_tokens: u64,
        deltas: &dyn DeltaSink,
    ) -> Result<ModelAnswer, ModelError> {
        let ended = self.has_finish();
        if !ended && self.calls.is_empty() {
            return Err(if self.events == 0 {
                bad("the answer holds no chat completion")
            } else {
                ModelError::new(ErrorCode::ProviderStreamBroken, "the answer broke off")
            });
        }
        let usage = self.usage(input_tokens);
        let cut = !ended || self.finish == Some(Finish::Cut);
        let mut text = self.text;
        let depth = self.limits.depth;
        let mut calls: Vec<ToolCall> =
            self.calls.into_iter().map(|call| whole_call(call, cut, depth, names)).collect();
        if calls.is_empty() && cut {
            deltas.text(CUT_OFF);
            text.push_str(CUT_OFF);
        } else if calls.is_empty()
            && let Some(call) = fenced_call::read(&text, tools)
        {
            text.clear();
            calls.push(call);
        }
        Ok(ModelAnswer { text, calls, usage })
    }

    fn usage(&self, input_tokens: u64) -> TokenUsage {
        match self.usage {
            Some(Usage { prompt_tokens: Some(input), completion_tokens: Some(output) }) => {
                TokenUsage { input, output, estimated: false }
            }
            Some(_) | None => {
                let calls = self
                    .calls
                    .iter()
                    .map(|call| tokens::estimated(&call.arguments) + tokens::estimated(&call.name));
                let output = tokens::estimated(&self.text) + calls.sum::<u64>();
                TokenUsage { input: input_tokens, output, estimated: true }
            }
        }
    }
}

fn whole_call(call: PartialCall, cut: bool, depth: usize, names: &ToolNames) -> ToolCall {
    let PartialCall { id, name, arguments: text, too_large, .. } = call;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Deaf;

    impl DeltaSink for Deaf {
        fn text(&self, _piece: &str) {}
    }

    fn small() -> AnswerLimits {
        AnswerLimits { answer: 400, arguments: 100, calls: 3, depth: 4, ..AnswerLimits::default() }
    }

    fn assemble(limits: &AnswerLimits, chunks: &[Value]) -> Result<ModelAnswer, ModelError> {
        let mut assembly = Assembly::new(limits);
        for chunk in chunks {
            match chunk {
                Value::String(done) => assembly.take(done.as_bytes(), &Deaf)?,
                other => assembly.take(other.to_string().as_bytes(), &Deaf)?,
            }
        }
        assembly.end(&ToolNames::default(), &[], 7, &Deaf)
    }

    fn delta(delta: Value) -> Value {
        json!({ "choices": [{ "index": 0, "delta": delta }] })
    }

    fn call(index: Value, id: &str, name: &str, arguments: &str) -> Value {
        delta(
            json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] }),
        )
    }

    fn finish(reason: &str) -> Value {
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
    }

    fn shown(answer: &ModelAnswer) -> Vec<(String, String, Option<CallProblem>)> {
        answer
            .calls
            .iter()
            .map(|call| (call.tool.clone(), call.arguments.to_string(), call.problem))
            .collect()
    }

    #[test]
    fn calls_are_told_apart_however_a_server_counts_them() {
        let split = [
            call(json!(0), "a", "read", "{\"p\":"),
            call(json!(1), "b", "list", ""),
            delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "1}" } }] })),
            delta(json!({ "tool_calls": [{ "index": 1, "function": { "arguments": "{}" } }] })),
            finish("tool_calls"),
        ];
        let all_zero = [
            call(json!(0), "a", "read", "{\"p\":1}"),
            call(json!(0), "b", "list", "{}"),
            finish("tool_calls"),
        ];
        let no_index = [
            call(Value::Null, "a", "read", "{\"p\""),
            delta(json!({ "tool_calls": [{ "function": { "arguments": ":1}" } }] })),
            call(Value::Null, "b", "list", "{}"),
            finish("stop"),
        ];
        let repeated = [
            call(json!(0), "a", "read", "{\"p\""),
            call(json!(0), "a", "read", ":1}"),
            call(json!(1), "b", "list", "{}"),
            finish("stop"),
        ];
        let as_object = [
            delta(
                json!({ "tool_calls": [{ "id": "a", "function": { "name": "read", "arguments": { "p": 1 } } }, { "id": "b", "function": { "name": "list" } }] }),
            ),
            finish("tool_calls"),
        ];
        for (what, chunks) in [
            ("split", &split[..]),
            ("all zero", &all_zero),
            ("no index", &no_index),
            ("repeated", &repeated),
            ("as object", &as_object),
        ] {
            let answer = assemble(&small(), chunks).unwrap();
            let expected = [
                ("read".to_owned(), "{\"p\":1}".to_owned(), None),
                ("list".to_owned(), "{}".to_owned(), None),
            ];
            assert_eq!(shown(&answer), expected, "{what}");
        }
    }

    #[test]
    fn a_call_that_is_not_whole_is_marked_and_emptied() {
        let table = [
            ("length", "{\"p\":\"half", Some(CallProblem::Truncated)),
            ("length", "{\"p\":1}", Some(CallProblem::Truncated)),
            ("content_filter", "{\"p\":1}", Some(CallProblem::Truncated)),
            ("tool_calls", "{\"p\":\"half", Some(CallProblem::Malformed)),
            ("tool_calls", "[1]", Some(CallProblem::Malformed)),
            ("tool_calls", "null", Some(CallProblem::Malformed)),
            ("tool_calls", "{\"p\":[[[[1]]]]}", Some(CallProblem::Malformed)),
            ("tool_calls", "{\"p\":1} {\"q\":2}", Some(CallProblem::Malformed)),
        ];
        for (reason, arguments, problem) in table {
            let answer =
                assemble(&small(), &[call(json!(0), "a", "read", arguments), finish(reason)]).unwrap();
            assert_eq!(
                shown(&answer),
                [("read".to_owned(), "{}".to_owned(), problem)],
                "{reason} {arguments}"
            );
        }
        let answer = assemble(&small(), &[call(json!(0), "a", "read", "{\"p\":1}")]).unwrap();
        assert_eq!(
            answer.calls[0].problem,
            Some(CallProblem::Truncated),
            "a stream that ends without an end is cut"
        );
        let huge = "x".repeat(60);
        let chunks = [
            call(json!(0), "a", "read", &huge),
            call(json!(0), "a", "read", &huge),
            call(json!(0), "a", "read", "{}"),
            finish("stop"),
        ];
        let answer = assemble(&small(), &chunks).unwrap();
        assert_eq!(answer.calls[0].problem, Some(CallProblem::Malformed), "arguments beyond the limit");
    }

    #[test]
    fn odd_but_harmless_arguments_are_read() {
        for (arguments, expected) in
            [("", "{}"), ("  ", "{}"), ("\"{\\\"p\\\":1}\"", "{\"p\":1}"), (" {\"p\":1}\n", "{\"p\":1}")]
        {
            let answer =
                assemble(&small(), &[call(json!(0), "a", "read", arguments), finish("stop")]).unwrap();
            assert_eq!(shown(&answer), [("read".to_owned(), expected.to_owned(), None)], "{arguments:?}");
        }
    }

    #[test]
    fn more_calls_than_the_limit_are_dropped() {
        let mut chunks: Vec<Value> =
            (0..10).map(|n| call(json!(n), &format!("id{n}"), "read", "{}")).collect();
        chunks.push(finish("tool_calls"));
        assert_eq!(assemble(&small(), &chunks).unwrap().calls.len(), 3, "counted");
        let mut chunks: Vec<Value> = Vec::new();
        for n in 0..10 {
            chunks.push(call(Value::Null, &format!("id{n}"), "read", "{\"p\""));
            chunks.push(delta(json!({ "tool_calls": [{ "function": { "arguments": ":1}" } }] })));
        }
        chunks.push(finish("tool_calls"));
        let answer = assemble(&small(), &chunks).unwrap();
        assert!(
            answer.calls.iter().all(|call| call.problem.is_none()),
            "pieces of dropped calls go nowhere: {answer:?}"
        );
        assert_eq!(answer.calls.len(), 3, "not counted");
    }

    #[test]
    fn words_are_put_together() {
        let chunks = [
            delta(json!({ "role": "assistant", "content": null })),
            delta(json!({ "content": "发票" })),
            delta(json!({ "content": [{ "type": "text", "text": "汇总" }] })),
            delta(json!({ "reasoning_content": "not shown" })),
            json!({ "choices": [{ "index": 1, "delta": { "content": "another choice" } }] }),
            finish("stop"),
            json!({ "choices": [], "usage": { "prompt_tokens": 35, "completion_tokens": 17 } }),
            json!("[DONE]"),
        ];
        let answer = assemble(&small(), &chunks).unwrap();
        assert_eq!(answer.text, "发票汇总", "pieces of the one answer");
        assert_eq!(
            answer.usage,
            TokenUsage { input: 35, output: 17, estimated: false },
            "the server's own figure"
        );
        let answer = assemble(&small(), &[delta(json!({ "content": "发票" })), finish("length")]).unwrap();
        assert_eq!(answer.text, "发票\n\n[…]", "words that were cut off say so");
        assert_eq!(
            answer.usage,
            TokenUsage { input: 7, output: 2, estimated: true },
            "an estimate is marked"
        );
    }

    #[test]
    fn what_is_no_answer_is_an_error_with_its_code() {
        let table = [
            (vec![], ErrorCode::ProviderBadResponse),
            (vec![json!("{garbage")], ErrorCode::ProviderBadResponse),
            (vec![json!([1, 2])], ErrorCode::ProviderBadResponse),
            (vec![json!({ "choices": "text" })], ErrorCode::ProviderBadResponse),
            (vec![delta(json!({ "content": 7 }))], ErrorCode::ProviderBadResponse),
            (vec![delta(json!({ "tool_calls": [{ "id": 7 }] }))], ErrorCode::ProviderBadResponse),
            (vec![delta(json!({ "content": "x".repeat(500) }))], ErrorCode::ProviderBadResponse),
            (vec![delta(json!({ "content": "half a sen" }))], ErrorCode::ProviderStreamBroken),
            (
                vec![json!({ "error": { "code": 429, "message": "slow down" } })],
                ErrorCode::ProviderRateLimited,
            ),
        ];
        for (chunks, code) in table {
            assert_eq!(assemble(&small(), &chunks).unwrap_err().code, code, "{chunks:?}");
        }
    }
}
