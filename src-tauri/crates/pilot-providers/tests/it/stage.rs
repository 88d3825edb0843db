//! A provider in front of a fake server, with waits short enough for a test.

use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_providers::openai::{AnswerLimits, OpenAiConfig, OpenAiProvider, Patience};
use pilot_testkit::{ModelServer, Reply};
use pilot_types::{Capability, Message, Risk, ToolSpec};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

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

pub(crate) fn config(server: &ModelServer) -> OpenAiConfig {
    OpenAiConfig { patience: Some(quick()), ..OpenAiConfig::new(server.base_url(), "sample", None) }
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
pub(crate) async fn ask(replies: Vec<Reply>) -> Asked {
    ask_with(replies, |_| {}).await
}

pub(crate) async fn ask_with(replies: Vec<Reply>, change: impl FnOnce(&mut OpenAiConfig)) -> Asked {
    let server = ModelServer::start(replies).await;
    let mut config = config(&server);
    change(&mut config);
    let provider = OpenAiProvider::new(config).unwrap();
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

pub(crate) fn words(text: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": { "content": text } }] })
}

pub(crate) fn call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] } }] })
}

pub(crate) fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// A short good answer.
pub(crate) fn good() -> Reply {
    Reply::sse(&[words("ready"), finish("stop")])
}
