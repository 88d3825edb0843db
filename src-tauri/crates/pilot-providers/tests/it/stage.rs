//! A provider in front of a fake server, with waits short enough for a test; and the words of both wire formats, so that one
//! table of faults serves both.

use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_providers::http::{AnswerLimits, HttpConfig, HttpProvider, Patience};
use pilot_providers::{WireFormat, WireFormat::Anthropic, WireFormat::OpenAi};
use pilot_testkit::{ModelServer, Reply};
use pilot_types::{Capability, Message, Risk, ToolSpec};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Both formats: every fault is played in each.
pub(crate) const FORMATS: [WireFormat; 2] = [OpenAi, Anthropic];

/// Waits that no test has to sit out.
pub(crate) fn quick() -> Patience {
    Patience {
        connect: Duration::from_secs(2),
        first_byte: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        tail: Duration::from_millis(100),
        loading: Duration::from_millis(300),
        loading_pause: Duration::from_millis(10),
        attempts: 3,
        pause: Duration::from_millis(10),
        longest_wait: Duration::from_secs(2),
    }
}

pub(crate) fn config(format: WireFormat, server: &ModelServer) -> HttpConfig {
    HttpConfig { patience: Some(quick()), ..HttpConfig::new(format, server.base_url(), "sample", None) }
}

/// Words that were streamed.
#[derive(Default)]
pub(crate) struct Heard(pub(crate) Mutex<String>);

impl DeltaSink for Heard {
    fn text(&self, piece: &str) {
        self.0.lock().unwrap().push_str(piece);
    }
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    ["list_files", "read_file", "analyze_table", "write_file"]
        .map(|name| ToolSpec {
            name: name.to_owned(),
            description: format!("{name} of the stage"),
            capability: Capability::declared("file:read"),
            risk: Risk::Low,
            parameters: json!({ "type": "object" }),
            path_fields: Vec::new(),
        })
        .to_vec()
}

pub(crate) fn goal() -> Vec<Message> {
    vec![Message::System { text: "rules".to_owned() }, Message::User { text: "汇总".to_owned() }]
}

/// What came of one model call.
pub(crate) struct Asked {
    pub(crate) answer: Result<ModelAnswer, ModelError>,
    pub(crate) heard: String,
    pub(crate) took: Duration,
    pub(crate) server: ModelServer,
}

/// One model call against these replies.
pub(crate) async fn ask(format: WireFormat, replies: Vec<Reply>) -> Asked {
    ask_with(format, replies, |_| {}).await
}

pub(crate) async fn ask_with(
    format: WireFormat,
    replies: Vec<Reply>,
    change: impl FnOnce(&mut HttpConfig),
) -> Asked {
    let server = ModelServer::start(replies).await;
    let mut config = config(format, &server);
    change(&mut config);
    let provider = HttpProvider::new(config).unwrap();
    let heard = Heard::default();
    let (messages, tools) = (goal(), tools());
    let before = Instant::now();
    let request = ModelRequest { messages: &messages, tools: &tools };
    let answer = provider.answer(request, &heard, &CancellationToken::new()).await;
    Asked { answer, heard: heard.0.into_inner().unwrap(), took: before.elapsed(), server }
}

/// Limits so small that a test can reach them.
pub(crate) fn small_limits() -> AnswerLimits {
    AnswerLimits { line: 20_000, wire: 300_000, answer: 50_000, arguments: 10_000, calls: 128, depth: 64 }
}

/// Events of a stream.
pub(crate) type Events = Vec<Value>;

pub(crate) fn words(format: WireFormat, text: &str) -> Events {
    vec![match format {
        OpenAi => json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }),
        Anthropic => {
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
        }
    }]
}

/// The beginning of a call, with the first piece of its arguments.
pub(crate) fn open_call(format: WireFormat, index: u64, id: &str, name: &str, piece: &str) -> Events {
    match format {
        OpenAi => {
            let function = json!({ "name": name, "arguments": piece });
            let call = json!({ "index": index, "id": id, "type": "function", "function": function });
            vec![json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] })]
        }
        Anthropic => {
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            let mut events =
                vec![json!({ "type": "content_block_start", "index": index, "content_block": block })];
            events.extend(more_arguments(format, index, piece));
            events
        }
    }
}

pub(crate) fn more_arguments(format: WireFormat, index: u64, piece: &str) -> Events {
    vec![match format {
        OpenAi => {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] })
        }
        Anthropic => json!({ "type": "content_block_delta", "index": index,
            "delta": { "type": "input_json_delta", "partial_json": piece } }),
    }]
}

/// The end of a call, in the format that says so.
pub(crate) fn end_call(format: WireFormat, index: u64) -> Events {
    match format {
        OpenAi => Vec::new(),
        Anthropic => vec![json!({ "type": "content_block_stop", "index": index })],
    }
}

/// A whole call.
pub(crate) fn call(format: WireFormat, index: u64, id: &str, name: &str, arguments: &str) -> Events {
    [open_call(format, index, id, name, arguments), end_call(format, index)].concat()
}

/// Why a model stops.
#[derive(Clone, Copy)]
pub(crate) enum Why {
    Said,
    Calls,
    Length,
}

pub(crate) fn finish(format: WireFormat, why: Why) -> Events {
    let reason = match (format, why) {
        (OpenAi, Why::Said) => "stop",
        (OpenAi, Why::Calls) => "tool_calls",
        (OpenAi, Why::Length) => "length",
        (Anthropic, Why::Said) => "end_turn",
        (Anthropic, Why::Calls) => "tool_use",
        (Anthropic, Why::Length) => "max_tokens",
    };
    vec![match format {
        OpenAi => json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }),
        Anthropic => {
            json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 5 } })
        }
    }]
}

/// An error inside a stream, or as a whole answer.
pub(crate) fn error_event(format: WireFormat, error: &Value) -> Value {
    match format {
        OpenAi => json!({ "error": error }),
        Anthropic => json!({ "type": "error", "error": error }),
    }
}

/// A stream with its proper end.
pub(crate) fn sse(format: WireFormat, parts: &[Events]) -> Reply {
    match format {
        OpenAi => Reply::sse(&parts.concat()),
        Anthropic => Reply::sse_cut(&[parts.concat(), vec![json!({ "type": "message_stop" })]].concat()),
    }
}

/// A stream without it.
pub(crate) fn sse_cut(parts: &[Events]) -> Reply {
    Reply::sse_cut(&parts.concat())
}

/// A short good answer.
pub(crate) fn good(format: WireFormat) -> Reply {
    sse(format, &[words(format, "ready"), finish(format, Why::Said)])
}
