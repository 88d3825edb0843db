//! The body of a request. What was encoded for the last request of a task is kept: a conversation only grows.

use super::names::ToolNames;
use crate::tokens;
use bytes::{BufMut, Bytes, BytesMut};
use pilot_agent::ModelRequest;
use pilot_types::{Message, ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Tokens that a message costs besides its text.
const MESSAGE_TOKENS: u64 = 4;

/// A request ready to be sent.
pub(super) struct EncodedRequest {
    pub(super) body: Bytes,
    pub(super) names: Arc<ToolNames>,
    /// About how many tokens went in, should the provider not say.
    pub(super) input_tokens: u64,
}

/// What closes a body.
const CLOSE: &[u8] = b"]}";

/// The encoding of a conversation so far. The body of the last request is opened again and grows in place, without a
/// copy once that request is done with it.
///
/// The messages are kept beside it and compared whole before it is used again. A provider may be shared, and a count alone
/// would then put one task's words into the request of another; comparing costs a pass over memory, encoding would cost far more.
#[derive(Default)]
pub(super) struct Encoding {
    tools: Vec<ToolSpec>,
    names: Arc<ToolNames>,
    messages: Vec<Message>,
    body: Bytes,
    tokens: u64,
}

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<SentTool<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct SentTool<'a> {
    r#type: &'static str,
    function: SentFunction<'a>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: String,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum SentMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<SentCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct SentCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: SentArguments,
}

#[derive(Serialize)]
struct SentArguments {
    name: String,
    arguments: String,
}

impl Encoding {
    /// Encodes a request, using again what is already encoded.
    pub(super) fn encode(
        &mut self,
        model: &str,
        request: ModelRequest<'_>,
    ) -> Result<EncodedRequest, serde_json::Error> {
        let known = self.messages.len();
        let grows = !self.body.is_empty()
            && self.tools == request.tools
            && request.messages.get(..known).is_some_and(|begin| begin == self.messages.as_slice());
        let mut open = if grows { self.reopened() } else { self.begin(model, request.tools)? };
        let known = self.messages.len();
        for message in request.messages.iter().skip(known) {
            if let Err(error) = self.push(&mut open, message) {
                // Half a message must not be the beginning of the next request.
                *self = Self::default();
                return Err(error);
            }
        }
        open.extend_from_slice(CLOSE);
        self.body = open.freeze();
        Ok(EncodedRequest {
            body: self.body.clone(),
            names: Arc::clone(&self.names),
            input_tokens: self.tokens,
        })
    }

    /// The last body without what closes it; copied only while somebody still holds it.
    fn reopened(&mut self) -> BytesMut {
        let last = std::mem::take(&mut self.body);
        let mut open = last.try_into_mut().unwrap_or_else(|held| BytesMut::from(&held[..]));
        open.truncate(open.len().saturating_sub(CLOSE.len()));
        open
    }

    fn begin(&mut self, model: &str, tools: &[ToolSpec]) -> Result<BytesMut, serde_json::Error> {
        let names = ToolNames::of(tools);
        let sent = tools.iter().map(|tool| SentTool {
            r#type: "function",
            function: SentFunction {
                name: names.sent(&tool.name),
                description: &tool.description,
                parameters: &tool.parameters,
            },
        });
        let head = Head {
            model,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            tools: sent.collect(),
        };
        let mut body = serde_json::to_vec(&head)?;
        let tokens = tokens::estimated(&String::from_utf8_lossy(&body));
        // The object is left open: messages follow.
        body.pop();
        body.extend_from_slice(b",\"messages\":[");
        *self = Self { tools: tools.to_vec(), names: Arc::new(names), tokens, ..Self::default() };
        Ok(BytesMut::from(Bytes::from(body)))
    }

    fn push(&mut self, open: &mut BytesMut, message: &Message) -> Result<(), serde_json::Error> {
        if !self.messages.is_empty() {
            open.put_u8(b',');
        }
        let (sent, text) = match message {
            Message::System { text } => (SentMessage::System { content: text }, text),
            Message::User { text } => (SentMessage::User { content: text }, text),
            Message::Assistant { text, calls } => {
                let sent =
                    calls.iter().map(|call| sent_call(&self.names, call)).collect::<Result<Vec<_>, _>>()?;
                let arguments = sent.iter().map(|call| tokens::estimated(&call.function.arguments));
                self.tokens += arguments.sum::<u64>();
                let content = (!text.is_empty() || calls.is_empty()).then_some(text.as_str());
                (SentMessage::Assistant { content, tool_calls: sent }, text)
            }
            Message::Tool { call_id, content, .. } => {
                (SentMessage::Tool { tool_call_id: call_id.as_str(), content }, content)
            }
        };
        serde_json::to_writer(open.writer(), &sent)?;
        self.tokens += tokens::estimated(text) + MESSAGE_TOKENS;
        self.messages.push(message.clone());
        Ok(())
    }
}

fn sent_call<'a>(names: &ToolNames, call: &'a ToolCall) -> Result<SentCall<'a>, serde_json::Error> {
    let function =
        SentArguments { name: names.sent(&call.tool), arguments: serde_json::to_string(&call.arguments)? };
    Ok(SentCall { id: call.id.as_str(), r#type: "function", function })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{CallId, Capability, ErrorCode, Risk};
    use serde_json::json;

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

    fn conversation() -> Vec<Message> {
        let call = ToolCall {
            id: CallId::from_text("a"),
            tool: "mcp.x.read".to_owned(),
            arguments: json!({ "path": "发票.csv" }),
            problem: None,
        };
        vec![
            Message::System { text: "rules \"quoted\"".to_owned() },
            Message::User { text: "汇总\n发票".to_owned() },
            Message::Assistant { text: String::new(), calls: vec![call] },
            Message::Tool {
                call_id: CallId::from_text("a"),
                tool: "mcp.x.read".to_owned(),
                ok: false,
                code: Some(ErrorCode::NotFound),
                content: "nothing there".to_owned(),
            },
            Message::Assistant { text: "done".to_owned(), calls: Vec::new() },
        ]
    }

    fn encoded(encoding: &mut Encoding, messages: &[Message], tools: &[ToolSpec]) -> Value {
        let request = encoding.encode("m", ModelRequest { messages, tools }).unwrap();
        serde_json::from_slice(&request.body).unwrap()
    }

    #[test]
    fn the_body_is_a_chat_completion_request() {
        let body = encoded(&mut Encoding::default(), &conversation(), &[tool("mcp.x.read")]);
        let expected = json!({
            "model": "m",
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": [{ "type": "function", "function": { "name": "mcp_x_read", "description": "reads", "parameters": { "type": "object" } } }],
            "messages": [
                { "role": "system", "content": "rules \"quoted\"" },
                { "role": "user", "content": "汇总\n发票" },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "mcp_x_read", "arguments": "{\"path\":\"发票.csv\"}" } }
                ] },
                { "role": "tool", "tool_call_id": "a", "content": "nothing there" },
                { "role": "assistant", "content": "done" }
            ]
        });
        assert_eq!(body, expected, "names are bent, arguments are text, a failed result is sent as it is");
        let bare = encoded(&mut Encoding::default(), &conversation()[..2], &[]);
        assert_eq!(bare.get("tools"), None, "an empty list of tools is left out");
    }

    #[test]
    fn a_growing_conversation_encodes_to_the_same_as_a_fresh_one() {
        let (messages, tools) = (conversation(), [tool("read_file")]);
        let mut kept = Encoding::default();
        for count in 1..=messages.len() {
            let fresh = encoded(&mut Encoding::default(), &messages[..count], &tools);
            assert_eq!(encoded(&mut kept, &messages[..count], &tools), fresh, "with {count} messages");
        }
        assert_eq!(kept.messages.len(), messages.len(), "everything is kept");
    }

    #[test]
    fn a_body_that_is_still_held_is_not_changed() {
        let (messages, mut encoding) = (conversation(), Encoding::default());
        let tools = [tool("read_file")];
        let held =
            encoding.encode("m", ModelRequest { messages: &messages[..2], tools: &tools }).unwrap().body;
        let before = held.to_vec();
        encoded(&mut encoding, &messages, &tools);
        assert_eq!(held, before, "a request under way keeps its words");
        let fresh = encoded(&mut Encoding::default(), &messages, &tools);
        assert_eq!(encoded(&mut encoding, &messages, &tools), fresh, "and the next one has all of them");
    }

    #[test]
    fn another_conversation_never_gets_the_words_of_this_one() {
        let tools = [tool("read_file")];
        let mut shared = Encoding::default();
        encoded(&mut shared, &conversation(), &tools);
        let mut other = conversation();
        other[3] = Message::User { text: "another task".to_owned() };
        other.push(Message::User { text: "more".to_owned() });
        let fresh = encoded(&mut Encoding::default(), &other, &tools);
        assert_eq!(encoded(&mut shared, &other, &tools), fresh, "longer, but different in the middle");
        let shorter = encoded(&mut Encoding::default(), &other[..2], &tools);
        assert_eq!(encoded(&mut shared, &other[..2], &tools), shorter, "shorter");
        let tools = [tool("write_file")];
        let fresh = encoded(&mut Encoding::default(), &other, &tools);
        assert_eq!(encoded(&mut shared, &other, &tools), fresh, "other tools");
    }
}
