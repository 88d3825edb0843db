//! From chunks, or one whole completion, to an answer.

use super::chunk::{CallPiece, Choice, Chunk, Content, Usage};
use crate::http::AnswerLimits;
use crate::http::draft::{Asked, Draft, Finish, Reading, bad};
use crate::http::status::{self, Failure};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError};
use serde_json::Value;

/// A chat completion that is being put together.
pub(crate) struct Assembly<'a> {
    draft: Draft<'a>,
    /// The server's own number of each call, by its place.
    indices: Vec<Option<u64>>,
    /// Calls beyond the limit are dropped, pieces and all.
    dropping: bool,
    done: bool,
    usage: Option<Usage>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(limits: &'a AnswerLimits) -> Self {
        Self { draft: Draft::new(limits), indices: Vec::new(), dropping: false, done: false, usage: None }
    }

    fn take_choice(&mut self, choice: Choice, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        for piece in [choice.delta, choice.message].into_iter().flatten() {
            if let Some(content) = piece.content {
                self.take_content(content, deltas)?;
            }
            if let Some(refusal) = piece.refusal {
                self.draft.text(&refusal, deltas)?;
            }
            for call in piece.tool_calls.unwrap_or_default() {
                self.take_call(call)?;
            }
        }
        if let Some(reason) = choice.finish_reason {
            self.draft.set_finish(match reason.as_str() {
                "length" | "content_filter" | "max_tokens" => Finish::Cut,
                _ => Finish::Whole,
            });
        }
        Ok(())
    }

    fn take_content(&mut self, content: Content, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        match content {
            Content::Text(text) => self.draft.text(&text, deltas),
            Content::Parts(parts) => parts
                .into_iter()
                .filter_map(|part| part.text)
                .try_for_each(|text| self.draft.text(&text, deltas)),
        }
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
        self.draft.name_call(place, &id, &name)?;
        self.draft.arguments(place, &arguments)
    }

    /// Which call a piece belongs to, beginning a new one if it must; `None` when there are too many.
    fn place_of(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let found = match index {
            Some(_) => self.indices.iter().rposition(|known| *known == index),
            None if id.is_empty() && name.is_empty() => self.draft.calls().checked_sub(1),
            None => {
                (0..self.draft.calls()).rev().find(|place| !id.is_empty() && self.draft.id_of(*place) == id)
            }
        };
        // Some servers count every call as 0; another id with a name is another call.
        let begins_another = |place: usize| {
            let known = self.draft.id_of(place);
            !id.is_empty() && !known.is_empty() && known != id && !name.is_empty()
        };
        if let Some(place) = found.filter(|place| !begins_another(*place)) {
            // Pieces after a dropped call that name no call of their own belong to the dropped one.
            return (index.is_some() || !self.dropping).then_some(place);
        }
        let Some(place) = self.draft.begin_call() else {
            self.dropping = true;
            return None;
        };
        self.indices.push(index);
        Some(place)
    }
}

impl Reading for Assembly<'_> {
    fn take(&mut self, data: &[u8], deltas: &dyn DeltaSink) -> Result<(), Failure> {
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(data)
            .map_err(|error| bad(format!("the answer is not a chat completion ({error})")))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(status::error_in_answer(&error));
        }
        self.draft.events += 1;
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

    fn has_finish(&self) -> bool {
        self.draft.has_finish() || self.done
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn end(self: Box<Self>, asked: &Asked<'_>, deltas: &dyn DeltaSink) -> Result<ModelAnswer, ModelError> {
        let ended = self.has_finish();
        let usage = self.usage.and_then(|usage| Some((usage.prompt_tokens?, usage.completion_tokens?)));
        self.draft.end(ended, usage, asked, deltas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::names::ToolNames;
    use pilot_types::{CallProblem, ErrorCode, TokenUsage};
    use serde_json::json;

    struct Deaf;

    impl DeltaSink for Deaf {
        fn text(&self, _piece: &str) {}
    }

    fn small() -> AnswerLimits {
        AnswerLimits { answer: 400, arguments: 100, calls: 3, depth: 4, ..AnswerLimits::default() }
    }

    fn assemble(limits: &AnswerLimits, chunks: &[Value]) -> Result<ModelAnswer, ModelError> {
        let mut assembly = Box::new(Assembly::new(limits));
        for chunk in chunks {
            let data = chunk.as_str().map_or_else(|| chunk.to_string(), str::to_owned);
            assembly.take(data.as_bytes(), &Deaf).map_err(|failure| failure.error)?;
        }
        assembly.end(&Asked { names: &ToolNames::default(), tools: &[], input_tokens: 7 }, &Deaf)
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
