//! The parts of a request's body: its head, and one message after another.

use crate::http::encoding::{Head, MESSAGE_TOKENS, Place};
use crate::http::format::Thinking;
use crate::http::names::ToolNames;
use crate::tokens;
use bytes::{BufMut, BytesMut};
use pilot_types::{Message, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// What closes a body.
pub(crate) const CLOSE: &[u8] = b"]}";

#[derive(Serialize)]
struct SentHead<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
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

/// Everything before the messages, as a closed object.
pub(crate) fn head(head: &Head<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let tools = head.tools.iter().map(|tool| SentTool {
        r#type: "function",
        function: SentFunction {
            name: head.names.sent(&tool.name),
            description: &tool.description,
            parameters: &tool.parameters,
        },
    });
    serde_json::to_vec(&SentHead {
        model: head.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        thinking: head.terms.no_thinking.then_some(Thinking::Disabled),
        tools: tools.collect(),
    })
}

/// Adds a message and says about how many tokens it costs.
pub(crate) fn message(
    open: &mut BytesMut,
    place: &mut Place,
    message: &Message,
    names: &ToolNames,
) -> Result<u64, serde_json::Error> {
    if place.begun {
        open.put_u8(b',');
    }
    place.begun = true;
    let mut cost = MESSAGE_TOKENS;
    let (sent, text) = match message {
        Message::System { text } => (SentMessage::System { content: text }, text),
        Message::User { text } => (SentMessage::User { content: text }, text),
        Message::Assistant { text, calls } => {
            let sent = calls.iter().map(|call| sent_call(names, call)).collect::<Result<Vec<_>, _>>()?;
            cost += sent.iter().map(|call| tokens::estimated(&call.function.arguments)).sum::<u64>();
            let content = (!text.is_empty() || calls.is_empty()).then_some(text.as_str());
            (SentMessage::Assistant { content, tool_calls: sent }, text)
        }
        Message::Tool { call_id, content, .. } => {
            (SentMessage::Tool { tool_call_id: call_id.as_str(), content }, content)
        }
    };
    serde_json::to_writer(open.writer(), &sent)?;
    Ok(cost + tokens::estimated(text))
}

fn sent_call<'a>(names: &ToolNames, call: &'a ToolCall) -> Result<SentCall<'a>, serde_json::Error> {
    let function =
        SentArguments { name: names.sent(&call.tool), arguments: serde_json::to_string(&call.arguments)? };
    Ok(SentCall { id: call.id.as_str(), r#type: "function", function })
}
