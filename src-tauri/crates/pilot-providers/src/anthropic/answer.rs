//! From events, or one whole message, to an answer.

use super::event::{Block, Delta, Event, Usage};
use crate::http::AnswerLimits;
use crate::http::draft::{Asked, Draft, Finish, Reading, bad};
use crate::http::status::{self, Failure};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError};
use serde_json::{Map, Value};

/// A call whose arguments are coming in.
struct OpenCall {
    /// The server's number of the block.
    index: u64,
    place: usize,
    /// Arguments that came with the head of the block; they count when no piece follows.
    whole: Option<String>,
}

/// A message that is being put together.
pub(crate) struct Assembly<'a> {
    draft: Draft<'a>,
    open: Vec<OpenCall>,
    done: bool,
    usage: Usage,
    /// The server has counted the answer: what it says at the beginning is not yet the figure.
    counted: bool,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(limits: &'a AnswerLimits) -> Self {
        Self {
            draft: Draft::new(limits),
            open: Vec::new(),
            done: false,
            usage: Usage::default(),
            counted: false,
        }
    }

    fn begin_block(&mut self, index: u64, block: Block, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        match block.r#type.as_str() {
            "text" => self.draft.text(&block.text.unwrap_or_default(), deltas),
            "tool_use" => {
                // Another block of the same number is another block.
                self.end_block(index)?;
                let Some(place) = self.draft.begin_call() else { return Ok(()) };
                let (id, name) = (block.id.unwrap_or_default(), block.name.unwrap_or_default());
                self.draft.name_call(place, &id, &name)?;
                self.open.push(OpenCall { index, place, whole: block.input.and_then(whole_text) });
                Ok(())
            }
            // Thinking, and whatever else a model does for itself.
            _ => Ok(()),
        }
    }

    fn add_to_block(&mut self, index: u64, delta: &Delta, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        if let Some(text) = &delta.text {
            self.draft.text(text, deltas)?;
        }
        let Some(piece) = &delta.partial_json else { return Ok(()) };
        // Pieces of a call beyond the limit belong to no open one.
        let Some(call) = self.open.iter_mut().find(|call| call.index == index) else { return Ok(()) };
        if !piece.is_empty() {
            call.whole = None;
        }
        self.draft.arguments(call.place, piece)
    }

    fn end_block(&mut self, index: u64) -> Result<(), ModelError> {
        let Some(at) = self.open.iter().position(|call| call.index == index) else { return Ok(()) };
        let OpenCall { place, whole, .. } = self.open.swap_remove(at);
        whole.map_or(Ok(()), |arguments| self.draft.arguments(place, &arguments))
    }

    fn set_finish(&mut self, reason: &str) {
        self.draft.set_finish(match reason {
            "end_turn" | "stop_sequence" | "tool_use" => Finish::Whole,
            // `max_tokens`, `model_context_window_exceeded`, `refusal`, `pause_turn`, and what comes to be one day: what was
            // last said may be half of what was meant.
            _ => Finish::Cut,
        });
    }

    /// Takes the figures that are there; later ones are the sums so far.
    fn count(&mut self, usage: Usage) {
        let known = &mut self.usage;
        known.input_tokens = usage.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens =
            usage.cache_creation_input_tokens.or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = usage.cache_read_input_tokens.or(known.cache_read_input_tokens);
        known.output_tokens = usage.output_tokens.or(known.output_tokens);
    }

    fn take_event(&mut self, event: Event, deltas: &dyn DeltaSink) -> Result<(), Failure> {
        let index = event.index.unwrap_or(0);
        match event.r#type.as_str() {
            "message_start" => {
                if let Some(usage) = event.message.and_then(|message| message.usage) {
                    self.count(usage);
                }
            }
            "content_block_start" => {
                let block = event.content_block.ok_or_else(|| bad("a block without content"))?;
                self.begin_block(index, block, deltas)?;
            }
            "content_block_delta" => {
                let delta = event.delta.ok_or_else(|| bad("a piece without content"))?;
                self.add_to_block(index, &delta, deltas)?;
            }
            "content_block_stop" => self.end_block(index)?,
            "message_delta" => {
                if let Some(usage) = event.usage {
                    self.count(usage);
                    self.counted = usage.output_tokens.is_some();
                }
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.set_finish(&reason);
                }
            }
            "message_stop" => self.done = true,
            "message" => self.take_whole(event, deltas)?,
            "error" => return Err(status::error_in_answer(&event.error.unwrap_or(Value::Null))),
            // `ping`, and kinds that this version does not know.
            _ => return Ok(()),
        }
        self.draft.events += 1;
        Ok(())
    }

    fn take_whole(&mut self, message: Event, deltas: &dyn DeltaSink) -> Result<(), ModelError> {
        for block in message.content.ok_or_else(|| bad("a message without content"))? {
            self.begin_block(0, block, deltas)?;
            self.end_block(0)?;
        }
        if let Some(usage) = message.usage {
            self.count(usage);
            self.counted = usage.output_tokens.is_some();
        }
        if let Some(reason) = message.stop_reason {
            self.set_finish(&reason);
        }
        Ok(())
    }
}

impl Reading for Assembly<'_> {
    fn take(&mut self, data: &[u8], deltas: &dyn DeltaSink) -> Result<(), Failure> {
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        let event: Event = serde_json::from_slice(data)
            .map_err(|error| bad(format!("the answer is not a message ({error})")))?;
        self.take_event(event, deltas)
    }

    fn has_finish(&self) -> bool {
        self.draft.has_finish() || self.done
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn end(self: Box<Self>, asked: &Asked<'_>, deltas: &dyn DeltaSink) -> Result<ModelAnswer, ModelError> {
        // A block that was never closed is a call that may not be whole.
        let ended = self.has_finish() && self.open.is_empty();
        let Usage { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } =
            self.usage;
        let cached =
            cache_creation_input_tokens.unwrap_or(0).saturating_add(cache_read_input_tokens.unwrap_or(0));
        let usage = match (input_tokens, output_tokens) {
            (Some(input), Some(output)) if self.counted => Some((input.saturating_add(cached), output)),
            (Some(_) | None, Some(_) | None) => None,
        };
        self.draft.end(ended, usage, asked, deltas)
    }
}

fn whole_text(input: Map<String, Value>) -> Option<String> {
    (!input.is_empty()).then(|| Value::Object(input).to_string())
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

    fn assemble(events: &[Value]) -> Result<ModelAnswer, ModelError> {
        let limits = small();
        let mut assembly = Box::new(Assembly::new(&limits));
        for event in events {
            let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
            assembly.take(data.as_bytes(), &Deaf).map_err(|failure| failure.error)?;
        }
        assembly.end(&Asked { names: &ToolNames::default(), tools: &[], input_tokens: 7 }, &Deaf)
    }

    fn start() -> Value {
        json!({ "type": "message_start", "message": { "id": "m", "role": "assistant", "content": [],
            "usage": { "input_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1 } } })
    }

    fn words(text: &str) -> Value {
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
    }

    fn begin(index: u64, id: &str, name: &str, input: Value) -> Value {
        json!({ "type": "content_block_start", "index": index,
            "content_block": { "type": "tool_use", "id": id, "name": name, "input": input } })
    }

    fn piece(index: u64, json: &str) -> Value {
        json!({ "type": "content_block_delta", "index": index,
            "delta": { "type": "input_json_delta", "partial_json": json } })
    }

    fn stop(index: u64) -> Value {
        json!({ "type": "content_block_stop", "index": index })
    }

    fn finish(reason: &str) -> Value {
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 9 } })
    }

    fn end() -> Value {
        json!({ "type": "message_stop" })
    }

    fn shown(answer: &ModelAnswer) -> Vec<(String, String, Option<CallProblem>)> {
        answer
            .calls
            .iter()
            .map(|call| (call.tool.clone(), call.arguments.to_string(), call.problem))
            .collect()
    }

    #[test]
    fn words_and_calls_are_put_together_in_their_order() {
        let answer = assemble(&[
            start(),
            json!({ "type": "ping" }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "x" } }),
            stop(0),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
            words("发票"),
            words("汇总"),
            stop(1),
            begin(2, "toolu_1", "read", json!({})),
            piece(2, ""),
            piece(2, "{\"p\""),
            piece(2, ":1}"),
            stop(2),
            begin(3, "toolu_2", "list", json!({})),
            stop(3),
            json!({ "type": "something_new", "index": 4 }),
            finish("tool_use"),
            end(),
        ])
        .unwrap();
        assert_eq!(answer.text, "发票汇总", "thinking is not among the words");
        assert_eq!(
            shown(&answer),
            [("read".to_owned(), "{\"p\":1}".to_owned(), None), ("list".to_owned(), "{}".to_owned(), None)],
            "pieces joined, and a call without arguments"
        );
        assert_eq!(answer.calls[0].id.as_str(), "toolu_1", "the server's id");
        assert_eq!(
            answer.usage,
            TokenUsage { input: 125, output: 9, estimated: false },
            "cached tokens are tokens that went in; the last count of the answer counts"
        );
    }

    #[test]
    fn an_answer_in_one_piece_is_read_too() {
        let answer = assemble(&[json!({ "type": "message", "role": "assistant",
            "content": [{ "type": "text", "text": "ready" }, { "type": "tool_use", "id": "a", "name": "read", "input": { "p": 1 } },
                { "type": "tool_use", "id": "b", "name": "list", "input": {} }],
            "stop_reason": "tool_use", "usage": { "input_tokens": 3, "output_tokens": 4 } })])
        .unwrap();
        assert_eq!(answer.text, "ready", "its words");
        assert_eq!(answer.calls.len(), 2, "its calls");
        assert_eq!(shown(&answer)[0], ("read".to_owned(), "{\"p\":1}".to_owned(), None), "with arguments");
        assert_eq!(answer.usage, TokenUsage { input: 3, output: 4, estimated: false }, "and its usage");
    }

    #[test]
    fn arguments_at_once_count_unless_pieces_follow() {
        let at_once = assemble(&[begin(0, "a", "read", json!({ "p": 1 })), stop(0), finish("tool_use")]);
        assert_eq!(shown(&at_once.unwrap())[0].1, "{\"p\":1}", "a server that sends no pieces");
        let both = assemble(&[
            begin(0, "a", "read", json!({ "p": 1 })),
            piece(0, "{\"p\":1}"),
            stop(0),
            finish("tool_use"),
        ]);
        assert_eq!(shown(&both.unwrap())[0].1, "{\"p\":1}", "one that sends both does not send them twice");
    }

    #[test]
    fn a_call_that_is_not_whole_is_marked_and_emptied() {
        let table = [
            ("max_tokens", "{\"p\":\"half", CallProblem::Truncated),
            ("max_tokens", "{\"p\":1}", CallProblem::Truncated),
            ("model_context_window_exceeded", "{\"p\":1}", CallProblem::Truncated),
            ("refusal", "{\"p\":1}", CallProblem::Truncated),
            ("pause_turn", "{\"p\":1}", CallProblem::Truncated),
            ("a_reason_of_tomorrow", "{\"p\":1}", CallProblem::Truncated),
            ("tool_use", "{\"p\":\"half", CallProblem::Malformed),
            ("tool_use", "[1]", CallProblem::Malformed),
            ("tool_use", "{\"p\":[[[[1]]]]}", CallProblem::Malformed),
        ];
        for (reason, arguments, problem) in table {
            let answer = assemble(&[
                begin(0, "a", "read", json!({})),
                piece(0, arguments),
                stop(0),
                finish(reason),
                end(),
            ])
            .unwrap();
            assert_eq!(
                shown(&answer),
                [("read".to_owned(), "{}".to_owned(), Some(problem))],
                "{reason} {arguments}"
            );
        }
        for events in [
            vec![begin(0, "a", "read", json!({})), piece(0, "{\"p\":1}"), stop(0)],
            vec![begin(0, "a", "read", json!({})), piece(0, "{\"p\":1}"), finish("tool_use"), end()],
        ] {
            let answer = assemble(&events).unwrap();
            assert_eq!(
                answer.calls[0].problem,
                Some(CallProblem::Truncated),
                "a stream or a block that does not end is cut: {events:?}"
            );
        }
        let huge = "x".repeat(60);
        let answer = assemble(&[
            begin(0, "a", "read", json!({})),
            piece(0, &huge),
            piece(0, &huge),
            stop(0),
            finish("tool_use"),
        ])
        .unwrap();
        assert_eq!(answer.calls[0].problem, Some(CallProblem::Malformed), "arguments beyond the limit");
    }

    #[test]
    fn calls_are_told_apart_and_bounded() {
        let mut events = Vec::new();
        for n in 0..10 {
            // Every block has the same number and the same id.
            events.extend([
                begin(0, "same", "read", json!({})),
                piece(0, &format!("{{\"p\":{n}}}")),
                stop(0),
            ]);
        }
        events.push(finish("tool_use"));
        let answer = assemble(&events).unwrap();
        let arguments: Vec<String> = shown(&answer).into_iter().map(|call| call.1).collect();
        assert_eq!(
            arguments,
            ["{\"p\":0}", "{\"p\":1}", "{\"p\":2}"],
            "as many as the limit, none with the pieces of another"
        );
    }

    #[test]
    fn an_estimate_is_marked() {
        let answer = assemble(&[words("发票"), json!({ "type": "message_stop" })]).unwrap();
        assert_eq!(answer.usage, TokenUsage { input: 7, output: 2, estimated: true }, "no figure at all");
        let answer = assemble(&[start(), words("发票"), end()]).unwrap();
        assert!(answer.usage.estimated, "the count at the beginning is not the count of the answer");
    }

    #[test]
    fn words_that_were_cut_off_say_so() {
        let answer = assemble(&[words("发票"), finish("max_tokens"), end()]).unwrap();
        assert_eq!(answer.text, "发票\n\n[…]", "marked as not complete");
    }

    #[test]
    fn what_is_no_answer_is_an_error_with_its_code() {
        let error = |kind: &str| json!({ "type": "error", "error": { "type": kind, "message": "why" } });
        let table = [
            (vec![], ErrorCode::ProviderBadResponse),
            (vec![json!("{garbage")], ErrorCode::ProviderBadResponse),
            (vec![json!([1, 2])], ErrorCode::ProviderBadResponse),
            (vec![json!({ "object": "list" })], ErrorCode::ProviderBadResponse),
            (vec![json!({ "type": 7 })], ErrorCode::ProviderBadResponse),
            (vec![json!({ "type": "content_block_start", "index": 0 })], ErrorCode::ProviderBadResponse),
            (vec![json!({ "type": "ping" })], ErrorCode::ProviderBadResponse),
            (
                vec![json!({ "type": "content_block_delta", "delta": { "text": 7 } })],
                ErrorCode::ProviderBadResponse,
            ),
            (vec![begin(0, "a", "read", json!([1]))], ErrorCode::ProviderBadResponse),
            (vec![words(&"x".repeat(500))], ErrorCode::ProviderBadResponse),
            (vec![words("half a sen")], ErrorCode::ProviderStreamBroken),
            (vec![error("overloaded_error")], ErrorCode::ProviderUnavailable),
            (vec![error("rate_limit_error")], ErrorCode::ProviderRateLimited),
            (vec![error("authentication_error")], ErrorCode::ProviderUnauthorized),
            (vec![error("invalid_request_error")], ErrorCode::ProviderRejected),
        ];
        for (events, code) in table {
            assert_eq!(assemble(&events).unwrap_err().code, code, "{events:?}");
        }
    }
}
