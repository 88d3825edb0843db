//! The parts of a request's body: its head, and one message after another. The results of the calls of one answer go
//! together into one message, which therefore stays open until another message comes.

use crate::http::encoding::{Head, MESSAGE_TOKENS, Place};
use crate::http::format::Thinking;
use crate::http::names::ToolNames;
use crate::tokens;
use bytes::{BufMut, BytesMut};
use pilot_types::{Message, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value};

/// Stands for an answer of nothing: the format takes neither an empty text nor an empty list.
const NOTHING: &str = "…";

const RESULTS_OPEN: &[u8] = b"{\"role\":\"user\",\"content\":[";
const RESULTS_CLOSE: &[u8] = b"]}";

#[derive(Serialize)]
struct SentHead<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[SystemBlock<'a>; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<SentTool<'a>>,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    /// Tools and instructions are the same in every step of a task.
    cache_control: CacheControl,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
struct SentTool<'a> {
    name: String,
    description: &'a str,
    input_schema: Value,
}

#[derive(Serialize)]
struct SentMessage<T> {
    role: &'static str,
    content: T,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SentBlock<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// Everything before the messages, as a closed object.
pub(crate) fn head(head: &Head<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let tools = head.tools.iter().map(|tool| SentTool {
        name: head.names.sent(&tool.name),
        description: &tool.description,
        input_schema: schema(&tool.parameters),
    });
    let block = |text| [SystemBlock { r#type: "text", text, cache_control: CacheControl::Ephemeral }];
    serde_json::to_vec(&SentHead {
        model: head.model,
        max_tokens: head.terms.max_output,
        stream: true,
        thinking: head.terms.no_thinking.then_some(Thinking::Disabled),
        system: head.system.filter(|text| !text.trim().is_empty()).map(block),
        tools: tools.collect(),
    })
}

/// The format wants every schema to be that of an object.
fn schema(parameters: &Value) -> Value {
    let mut schema = parameters.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| Value::from("object"));
    Value::Object(schema)
}

/// What closes a body.
pub(crate) fn close(place: Place) -> &'static [u8] {
    if place.in_results { b"]}]}" } else { b"]}" }
}

/// Adds a message and says about how many tokens it costs.
pub(crate) fn message(
    open: &mut BytesMut,
    place: &mut Place,
    message: &Message,
    names: &ToolNames,
) -> Result<u64, serde_json::Error> {
    match message {
        // Instructions at the beginning stand in the head, and are counted there.
        Message::System { .. } if !place.begun => Ok(0),
        Message::System { text } | Message::User { text } => {
            next_message(open, place);
            serde_json::to_writer(open.writer(), &SentMessage { role: "user", content: text.as_str() })?;
            Ok(MESSAGE_TOKENS + tokens::estimated(text))
        }
        Message::Assistant { text, calls } => {
            next_message(open, place);
            let mut content = Vec::with_capacity(calls.len() + 1);
            if !text.trim().is_empty() {
                content.push(SentBlock::Text { text });
            } else if calls.is_empty() {
                content.push(SentBlock::Text { text: NOTHING });
            }
            content.extend(calls.iter().map(|call| sent_call(names, call)));
            let before = open.len();
            serde_json::to_writer(open.writer(), &SentMessage { role: "assistant", content })?;
            Ok(MESSAGE_TOKENS + tokens::estimated(&String::from_utf8_lossy(&open[before..])))
        }
        Message::Tool { call_id, ok, content, .. } => {
            if place.in_results {
                open.put_u8(b',');
            } else {
                next_message(open, place);
                open.extend_from_slice(RESULTS_OPEN);
                place.in_results = true;
            }
            let block = SentBlock::ToolResult { tool_use_id: call_id.as_str(), content, is_error: !ok };
            serde_json::to_writer(open.writer(), &block)?;
            Ok(MESSAGE_TOKENS + tokens::estimated(content))
        }
    }
}

/// Ends a message of results, if one is open, and makes room for another.
fn next_message(open: &mut BytesMut, place: &mut Place) {
    if place.in_results {
        open.extend_from_slice(RESULTS_CLOSE);
        place.in_results = false;
    }
    if place.begun {
        open.put_u8(b',');
    }
    place.begun = true;
}

fn sent_call<'a>(names: &ToolNames, call: &'a ToolCall) -> SentBlock<'a> {
    let input = if call.arguments.is_object() { call.arguments.clone() } else { Value::Object(Map::new()) };
    SentBlock::ToolUse { id: call.id.as_str(), name: names.sent(&call.tool), input }
}
