//! What a model call itself costs: encoding the conversation, one exchange with a server on loopback that answers at once,
//! and reading its stream. The figure of interest is a call at the end of a long task beside one at its beginning.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pilot_agent::{DeltaSink, ModelProvider, ModelRequest};
use pilot_providers::{HttpConfig, HttpProvider, WireFormat};
use pilot_types::{CallId, Capability, Message, Risk, ToolCall, ToolSpec};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const EVENTS: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"1.txt\\\"}\"}}]},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":20}}\n\n",
    "data: [DONE]\n\n"
);

struct Deaf;

impl DeltaSink for Deaf {
    fn text(&self, _piece: &str) {}
}

/// Answers every request on one connection with the same stream; keeps nothing.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{EVENTS}\r\n0\r\n\r\n",
        EVENTS.len()
    );
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        let mut head = Vec::new();
        let (length, had) = loop {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            head.extend_from_slice(&buffer[..count]);
            if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                let text = String::from_utf8_lossy(&head[..end]).to_lowercase();
                let length = text
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
                break (length.unwrap_or(0), head.len() - end - 4);
            }
        };
        let mut left = length - had;
        while left > 0 {
            left -= stream.read(&mut buffer)?;
        }
        stream.write_all(reply.as_bytes())?;
    }
}

fn conversation(steps: usize) -> Vec<Message> {
    let mut messages = vec![
        Message::System { text: "rules ".repeat(500) },
        Message::User { text: "read everything".to_owned() },
    ];
    for step in 0..steps {
        let id = CallId::from_text(format!("c{step}"));
        let arguments = json!({ "path": format!("{step}.txt") });
        let call = ToolCall { id: id.clone(), tool: "read_file".to_owned(), arguments, problem: None };
        messages.push(Message::Assistant { text: String::new(), calls: vec![call] });
        let content = format!("{step} {}", "line of an invoice\n".repeat(30));
        messages.push(Message::Tool {
            call_id: id,
            tool: "read_file".to_owned(),
            ok: true,
            code: None,
            content,
        });
    }
    messages
}

fn model_call(criterion: &mut Criterion) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let tools = [ToolSpec {
        name: "read_file".to_owned(),
        description: "reads".to_owned(),
        capability: Capability::declared("file:read"),
        risk: Risk::Low,
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        path_fields: Vec::new(),
    }];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("model_call");
    for steps in [1_usize, 100, 300, 1_000] {
        let provider =
            HttpProvider::new(HttpConfig::new(WireFormat::OpenAi, format!("http://{address}/v1"), "m", None))
                .unwrap();
        let messages = conversation(steps);
        group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
            bencher.iter(|| {
                let request = ModelRequest { messages: &messages, tools: &tools };
                runtime.block_on(provider.answer(request, &Deaf, &CancellationToken::new())).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, model_call);
criterion_main!(benches);
