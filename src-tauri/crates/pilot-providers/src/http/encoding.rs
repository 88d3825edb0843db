//! The body of a request. What was encoded for the last request of a task is kept: a conversation only grows.

use super::format::WireFormat;
use super::names::ToolNames;
use crate::tokens;
use bytes::{Bytes, BytesMut};
use pilot_agent::ModelRequest;
use pilot_types::{Message, ToolSpec};
use std::sync::Arc;

/// Tokens that a message costs besides its text.
pub(crate) const MESSAGE_TOKENS: u64 = 4;

/// A request ready to be sent.
pub(crate) struct EncodedRequest {
    pub(crate) body: Bytes,
    pub(crate) names: Arc<ToolNames>,
    /// About how many tokens went in, should the provider not say.
    pub(crate) input_tokens: u64,
}

/// What a request asks for besides the conversation. Servers differ in what they take; what one refuses is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Tokens of the answer at most, for formats that want to be told.
    pub(crate) max_output: u32,
    /// Ask for an answer without a chain of thought.
    pub(crate) no_thinking: bool,
}

/// What stands at the head of a body, before the messages.
pub(crate) struct Head<'a> {
    pub(crate) model: &'a str,
    pub(crate) terms: Terms,
    pub(crate) names: &'a ToolNames,
    pub(crate) tools: &'a [ToolSpec],
    /// The instructions, if the conversation begins with some.
    pub(crate) system: Option<&'a str>,
}

/// Where in the list of messages the next one goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Something stands before it.
    pub(crate) begun: bool,
    /// A message that holds results of calls is still open for more of them.
    pub(crate) in_results: bool,
}

/// The encoding of a conversation so far. The body of the last request is opened again and grows in place, without a
/// copy once that request is done with it.
///
/// The messages are kept beside it and compared whole before it is used again. A provider may be shared, and a count alone
/// would then put one task's words into the request of another; comparing costs a pass over memory, encoding would cost far more.
#[derive(Default)]
pub(crate) struct Encoding {
    terms: Option<Terms>,
    tools: Vec<ToolSpec>,
    names: Arc<ToolNames>,
    messages: Vec<Message>,
    body: Bytes,
    place: Place,
    tokens: u64,
}

impl Encoding {
    /// Encodes a request, using again what is already encoded. One encoding serves one format and one model.
    pub(crate) fn encode(
        &mut self,
        format: WireFormat,
        model: &str,
        terms: Terms,
        request: ModelRequest<'_>,
    ) -> Result<EncodedRequest, serde_json::Error> {
        let known = self.messages.len();
        let grows = !self.body.is_empty()
            && self.terms == Some(terms)
            && self.tools == request.tools
            && request.messages.get(..known).is_some_and(|begin| begin == self.messages.as_slice());
        let mut open = if grows { self.reopened(format) } else { self.begin(format, model, terms, request)? };
        let known = self.messages.len();
        for message in request.messages.iter().skip(known) {
            match format.message(&mut open, &mut self.place, message, &self.names) {
                Ok(tokens) => self.tokens += tokens,
                Err(error) => {
                    // Half a message must not be the beginning of the next request.
                    *self = Self::default();
                    return Err(error);
                }
            }
            self.messages.push(message.clone());
        }
        open.extend_from_slice(format.close(self.place));
        self.body = open.freeze();
        Ok(EncodedRequest {
            body: self.body.clone(),
            names: Arc::clone(&self.names),
            input_tokens: self.tokens,
        })
    }

    /// The last body without what closes it; copied only while somebody still holds it.
    fn reopened(&mut self, format: WireFormat) -> BytesMut {
        let last = std::mem::take(&mut self.body);
        let mut open = last.try_into_mut().unwrap_or_else(|held| BytesMut::from(&held[..]));
        open.truncate(open.len().saturating_sub(format.close(self.place).len()));
        open
    }

    fn begin(
        &mut self,
        format: WireFormat,
        model: &str,
        terms: Terms,
        request: ModelRequest<'_>,
    ) -> Result<BytesMut, serde_json::Error> {
        let names = ToolNames::of(request.tools);
        let system = match request.messages.first() {
            Some(Message::System { text }) => Some(text.as_str()),
            Some(Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. }) | None => None,
        };
        let head = Head { model, terms, names: &names, tools: request.tools, system };
        let mut body = format.head(&head)?;
        let tokens = tokens::estimated(&String::from_utf8_lossy(&body));
        // The object is left open: messages follow.
        body.pop();
        body.extend_from_slice(b",\"messages\":[");
        *self = Self {
            terms: Some(terms),
            tools: request.tools.to_vec(),
            names: Arc::new(names),
            tokens,
            ..Self::default()
        };
        Ok(BytesMut::from(Bytes::from(body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{CallId, Capability, ErrorCode, Risk, ToolCall};
    use serde_json::{Value, json};

    const TERMS: Terms = Terms { max_output: 1_000, no_thinking: false };
    const FORMATS: [WireFormat; 2] = [WireFormat::OpenAi, WireFormat::Anthropic];

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: "reads".to_owned(),
            capability: Capability::declared("file:read"),
            risk: Risk::Low,
            parameters: json!({ "type": "object" }),
            path_fields: Vec::new(),
        }
    }

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: CallId::from_text(id),
            tool: "mcp.x.read".to_owned(),
            arguments: json!({ "path": "发票.csv" }),
            problem: None,
        }
    }

    fn result(id: &str, ok: bool, content: &str) -> Message {
        Message::Tool {
            call_id: CallId::from_text(id),
            tool: "mcp.x.read".to_owned(),
            ok,
            code: (!ok).then_some(ErrorCode::NotFound),
            content: content.to_owned(),
        }
    }

    fn conversation() -> Vec<Message> {
        vec![
            Message::System { text: "rules \"quoted\"".to_owned() },
            Message::User { text: "汇总\n发票".to_owned() },
            Message::Assistant { text: String::new(), calls: vec![call("a"), call("b")] },
            result("a", false, "nothing there"),
            result("b", true, "two rows"),
            Message::Assistant { text: "I look again".to_owned(), calls: vec![call("c")] },
            result("c", true, "three rows"),
            Message::User { text: "go on".to_owned() },
            Message::Assistant { text: "done".to_owned(), calls: Vec::new() },
        ]
    }

    fn encoded(
        encoding: &mut Encoding,
        format: WireFormat,
        messages: &[Message],
        tools: &[ToolSpec],
    ) -> Value {
        let request = encoding.encode(format, "m", TERMS, ModelRequest { messages, tools }).unwrap();
        serde_json::from_slice(&request.body).unwrap()
    }

    #[test]
    fn the_body_is_a_chat_completion_request() {
        let tools = [tool("mcp.x.read")];
        let body = encoded(&mut Encoding::default(), WireFormat::OpenAi, &conversation()[..6], &tools);
        let sent = |id: &str| {
            json!({ "id": id, "type": "function",
                "function": { "name": "mcp_x_read", "arguments": "{\"path\":\"发票.csv\"}" } })
        };
        let expected = json!({
            "model": "m",
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": [{ "type": "function",
                "function": { "name": "mcp_x_read", "description": "reads", "parameters": { "type": "object" } } }],
            "messages": [
                { "role": "system", "content": "rules \"quoted\"" },
                { "role": "user", "content": "汇总\n发票" },
                { "role": "assistant", "content": null, "tool_calls": [sent("a"), sent("b")] },
                { "role": "tool", "tool_call_id": "a", "content": "nothing there" },
                { "role": "tool", "tool_call_id": "b", "content": "two rows" },
                { "role": "assistant", "content": "I look again", "tool_calls": [sent("c")] }
            ]
        });
        assert_eq!(body, expected, "names are bent, arguments are text, a failed result is sent as it is");
        let bare = encoded(&mut Encoding::default(), WireFormat::OpenAi, &conversation()[..2], &[]);
        assert_eq!(bare.get("tools"), None, "an empty list of tools is left out");
    }

    #[test]
    fn the_body_is_a_messages_request() {
        let tools = [tool("mcp.x.read")];
        let body = encoded(&mut Encoding::default(), WireFormat::Anthropic, &conversation(), &tools);
        let sent = |id: &str| json!({ "type": "tool_use", "id": id, "name": "mcp_x_read", "input": { "path": "发票.csv" } });
        let expected = json!({
            "model": "m",
            "max_tokens": 1_000,
            "stream": true,
            "system": [{ "type": "text", "text": "rules \"quoted\"", "cache_control": { "type": "ephemeral" } }],
            "tools": [{ "name": "mcp_x_read", "description": "reads", "input_schema": { "type": "object" } }],
            "messages": [
                { "role": "user", "content": "汇总\n发票" },
                { "role": "assistant", "content": [sent("a"), sent("b")] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "a", "content": "nothing there", "is_error": true },
                    { "type": "tool_result", "tool_use_id": "b", "content": "two rows" }
                ] },
                { "role": "assistant", "content": [{ "type": "text", "text": "I look again" }, sent("c")] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "c", "content": "three rows" }
                ] },
                { "role": "user", "content": "go on" },
                { "role": "assistant", "content": [{ "type": "text", "text": "done" }] }
            ]
        });
        assert_eq!(
            body, expected,
            "instructions apart, results of one answer in one message, a failed one marked"
        );
        let bare = encoded(&mut Encoding::default(), WireFormat::Anthropic, &conversation()[1..2], &[]);
        assert_eq!(
            (bare.get("tools"), bare.get("system")),
            (None, None),
            "an empty list of tools and missing instructions are left out"
        );
    }

    #[test]
    fn an_answer_of_nothing_is_never_sent_empty() {
        let silent = [
            Message::User { text: "goal".to_owned() },
            Message::Assistant { text: " \n".to_owned(), calls: Vec::new() },
        ];
        let body = encoded(&mut Encoding::default(), WireFormat::Anthropic, &silent, &[]);
        assert_eq!(
            body["messages"][1]["content"],
            json!([{ "type": "text", "text": "…" }]),
            "the format refuses empty texts and empty lists"
        );
    }

    #[test]
    fn thinking_is_switched_off_where_a_server_wants_it_back() {
        for format in FORMATS {
            let mut encoding = Encoding::default();
            let request = ModelRequest { messages: &conversation()[..2], tools: &[] };
            let terms = Terms { no_thinking: true, ..TERMS };
            let usual = encoding.encode(format, "m", TERMS, request).unwrap();
            let changed = encoding.encode(format, "m", terms, request).unwrap();
            let body = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
            assert_eq!(body(&usual.body).get("thinking"), None, "{format:?}: not named unless needed");
            assert_eq!(
                body(&changed.body)["thinking"],
                json!({ "type": "disabled" }),
                "{format:?}: other terms make another body"
            );
        }
    }

    #[test]
    fn a_growing_conversation_encodes_to_the_same_as_a_fresh_one() {
        let (messages, tools) = (conversation(), [tool("read_file")]);
        for format in FORMATS {
            let mut kept = Encoding::default();
            for count in 1..=messages.len() {
                let fresh = encoded(&mut Encoding::default(), format, &messages[..count], &tools);
                assert_eq!(
                    encoded(&mut kept, format, &messages[..count], &tools),
                    fresh,
                    "{format:?} with {count} messages"
                );
            }
            assert_eq!(kept.messages.len(), messages.len(), "{format:?}: everything is kept");
        }
    }

    #[test]
    fn a_body_that_is_still_held_is_not_changed() {
        let (messages, tools) = (conversation(), [tool("read_file")]);
        for format in FORMATS {
            let mut encoding = Encoding::default();
            let request = ModelRequest { messages: &messages[..4], tools: &tools };
            let held = encoding.encode(format, "m", TERMS, request).unwrap().body;
            let before = held.to_vec();
            encoded(&mut encoding, format, &messages, &tools);
            assert_eq!(held, before, "{format:?}: a request under way keeps its words");
            let fresh = encoded(&mut Encoding::default(), format, &messages, &tools);
            assert_eq!(
                encoded(&mut encoding, format, &messages, &tools),
                fresh,
                "{format:?}: and the next one has all of them"
            );
        }
    }

    #[test]
    fn another_conversation_never_gets_the_words_of_this_one() {
        for format in FORMATS {
            let tools = [tool("read_file")];
            let mut shared = Encoding::default();
            encoded(&mut shared, format, &conversation(), &tools);
            let mut other = conversation();
            other[3] = result("a", true, "another task");
            other.push(Message::User { text: "more".to_owned() });
            let fresh = encoded(&mut Encoding::default(), format, &other, &tools);
            assert_eq!(
                encoded(&mut shared, format, &other, &tools),
                fresh,
                "{format:?}: longer, but different in the middle"
            );
            let shorter = encoded(&mut Encoding::default(), format, &other[..2], &tools);
            assert_eq!(encoded(&mut shared, format, &other[..2], &tools), shorter, "{format:?}: shorter");
            let tools = [tool("write_file")];
            let fresh = encoded(&mut Encoding::default(), format, &other, &tools);
            assert_eq!(encoded(&mut shared, format, &other, &tools), fresh, "{format:?}: other tools");
        }
    }
}
