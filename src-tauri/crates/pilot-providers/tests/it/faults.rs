//! A server that misbehaves costs bounded time and memory and one clear error, in whichever format it speaks.

use crate::stage::{
    FORMATS, Why, ask, ask_with, call, end_call, error_event, finish, more_arguments, open_call,
    small_limits, sse, sse_cut, words,
};
use pilot_providers::WireFormat;
use pilot_testkit::{Piece, Reply};
use pilot_types::{CallProblem, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;

fn stream(body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(200, "text/event-stream", body)
}

fn data(event: &Value) -> Vec<u8> {
    format!("data: {event}\n\n").into_bytes()
}

#[tokio::test]
async fn garbage_is_named_as_such() {
    let table: Vec<(&str, Reply)> = vec![
        ("html", Reply::new(200, "text/html", "<html><body>Welcome</body></html>")),
        ("broken event", stream("data: {\"choices\": [}\n\ndata: [DONE]\n\n")),
        ("wrong types", stream("data: {\"choices\": {\"a\": 1}, \"type\": [1]}\n\n")),
        (
            "wrong types within",
            stream(
                "data: {\"choices\":[{\"delta\":{\"content\":7}}],\"type\":\"content_block_delta\",\"delta\":{\"text\":7}}\n\n",
            ),
        ),
        ("a number", stream("data: 7\n\n")),
        (
            "bytes that are no text",
            stream(
                b"data: {\"type\":\"x\",\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n".to_vec(),
            ),
        ),
        ("json that is no answer", Reply::json(200, &json!([1, 2, 3]))),
        ("json of something else", Reply::json(200, &json!({ "object": "list" }))),
        ("half a json", Reply::new(200, "application/json", "{\"choices\": [")),
        ("deep nesting", stream(format!("data: {}1{}\n\n", "[".repeat(5_000), "]".repeat(5_000)))),
        ("only comments", stream(": nothing\n\n: nothing\n\n")),
    ];
    for format in FORMATS {
        for (what, reply) in &table {
            let asked = ask(format, vec![reply.clone(); 4]).await;
            let failed = asked.answer.unwrap_err();
            assert!(
                matches!(failed.code, ErrorCode::ProviderBadResponse | ErrorCode::ProviderStreamBroken),
                "{format:?}, {what}: {} {}",
                failed.code,
                failed.detail
            );
            assert!(asked.took < Duration::from_secs(1), "{format:?}, {what}: it took {:?}", asked.took);
            assert!(failed.detail.len() < 700, "{format:?}, {what}: {} bytes of words", failed.detail.len());
        }
    }
}

#[tokio::test]
async fn the_answer_of_the_other_format_is_not_understood() {
    for (format, other) in
        [(WireFormat::OpenAi, WireFormat::Anthropic), (WireFormat::Anthropic, WireFormat::OpenAi)]
    {
        let reply = sse(
            other,
            &[call(other, 0, "a", "write_file", "{\"path\":\"a.md\"}"), finish(other, Why::Calls)],
        );
        let failed = ask(format, vec![reply; 4]).await.answer;
        let code = failed.map_err(|error| error.code);
        assert!(
            matches!(code, Err(ErrorCode::ProviderBadResponse | ErrorCode::ProviderStreamBroken)),
            "{format:?}: a wrong kind in the settings runs nothing: {code:?}"
        );
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_the_servers_error() {
    let table = [
        (json!({ "code": 502, "message": "upstream" }), ErrorCode::ProviderUnavailable),
        (json!({ "code": 401, "message": "no" }), ErrorCode::ProviderUnauthorized),
        (json!({ "message": "out of memory", "type": "server_error" }), ErrorCode::ProviderUnavailable),
        (json!({ "message": "Overloaded", "type": "overloaded_error" }), ErrorCode::ProviderUnavailable),
        (json!({ "message": "slow down", "type": "rate_limit_error" }), ErrorCode::ProviderRateLimited),
        (json!("plain words"), ErrorCode::ProviderUnavailable),
    ];
    for format in FORMATS {
        for (error, code) in &table {
            let event = error_event(format, error);
            let asked = ask(format, vec![sse_cut(&[words(format, "a"), vec![event.clone()]])]).await;
            assert_eq!(asked.answer.unwrap_err().code, *code, "{format:?}: {error}");
            assert_eq!(
                asked.server.requests().len(),
                1,
                "{format:?}: {error}: words were seen, so only once"
            );
            let asked = ask(format, vec![Reply::json(200, &event); 3]).await;
            assert_eq!(asked.answer.unwrap_err().code, *code, "{format:?}: {error} without a stream");
        }
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_early() {
    for format in FORMATS {
        let asked = ask(format, vec![stream("data: ").then(Piece::Flood(b'x', 1 << 30))]).await;
        let code = asked.answer.unwrap_err().code;
        assert_eq!(code, ErrorCode::ProviderBadResponse, "{format:?}: a line of a gigabyte");
        assert!(asked.took < Duration::from_secs(5), "{format:?}: it took {:?}", asked.took);
        let whole = Reply::new(200, "application/json", "{\"x\":\"").then(Piece::Flood(b'x', 1 << 30));
        let asked = ask(format, vec![whole]).await;
        let code = asked.answer.unwrap_err().code;
        assert_eq!(code, ErrorCode::ProviderBadResponse, "{format:?}: a JSON value of a gigabyte");
        assert!(asked.took < Duration::from_secs(10), "{format:?}: it took {:?}", asked.took);
    }
}

#[tokio::test]
async fn a_stream_without_end_is_given_up() {
    for format in FORMATS {
        let word = data(&words(format, "again and again ")[0]);
        let ping = data(&json!({ "type": "ping", "choices": [] }));
        let silent = b": still here\n\n".repeat(40);
        for (what, piece) in [("words", word), ("pings", ping), ("comments", silent)] {
            let endless = vec![stream("").then(Piece::Forever(piece))];
            let asked = ask_with(format, endless, |config| config.limits = small_limits()).await;
            let code = asked.answer.unwrap_err().code;
            assert_eq!(code, ErrorCode::ProviderBadResponse, "{format:?}, {what}");
            assert!(asked.took < Duration::from_secs(3), "{format:?}, {what}: it took {:?}", asked.took);
            assert!(
                asked.heard.len() <= 50_000,
                "{format:?}, {what}: {} bytes were shown",
                asked.heard.len()
            );
        }
    }
}

#[tokio::test]
async fn silence_is_given_up() {
    for format in FORMATS {
        let table = [
            ("before the head", sse(format, &[]).after(Duration::from_secs(60))),
            ("before the first byte", stream("").then(Piece::Silence)),
            ("in the middle", sse_cut(&[words(format, "a")]).then(Piece::Silence)),
        ];
        for (what, reply) in table {
            let asked = ask(format, vec![reply]).await;
            assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderTimeout, "{format:?}, {what}");
            assert!(asked.took < Duration::from_secs(2), "{format:?}, {what}: it took {:?}", asked.took);
        }
    }
}

#[tokio::test]
async fn a_byte_now_and_then_is_silence_when_the_wait_is_shorter() {
    for format in FORMATS {
        let mut reply = stream("");
        for byte in data(&words(format, "a")[0]) {
            reply = reply.then(Piece::Wait(Duration::from_millis(600))).then(Piece::Bytes(vec![byte]));
        }
        let asked = ask(format, vec![reply]).await;
        assert_eq!(
            asked.answer.unwrap_err().code,
            ErrorCode::ProviderTimeout,
            "{format:?}: a byte each 600 ms"
        );
        assert!(asked.took < Duration::from_secs(2), "{format:?}: it took {:?}", asked.took);
    }
}

#[tokio::test]
async fn a_slow_stream_is_not_a_silent_one() {
    for format in FORMATS {
        let mut reply = stream("");
        for word in ["one ", "two ", "three ", "four"] {
            reply = reply
                .then(Piece::Wait(Duration::from_millis(150)))
                .then(Piece::Bytes(data(&words(format, word)[0])));
        }
        let asked = ask(format, vec![reply.then(Piece::Bytes(data(&finish(format, Why::Said)[0])))]).await;
        assert_eq!(
            asked.answer.unwrap().text,
            "one two three four",
            "{format:?}: longer in all than one silence may last"
        );
    }
}

#[tokio::test]
async fn a_flood_of_calls_and_of_arguments_is_bounded() {
    for format in FORMATS {
        let mut parts: Vec<Vec<Value>> =
            (0..1_000).map(|n| call(format, n, "same", "read_file", "{\"path\":\"a\"}")).collect();
        parts.push(finish(format, Why::Calls));
        let answer = ask(format, vec![sse(format, &parts)]).await.answer.unwrap();
        assert_eq!(answer.calls.len(), 128, "{format:?}: calls beyond the limit are dropped");
        assert!(
            answer.calls.iter().all(|call| call.arguments == json!({ "path": "a" })),
            "{format:?}: and those within it are whole, though all have one id"
        );
        let big = format!("{{\"content\":\"{}\"}}", "x".repeat(10 << 20));
        let half = big.len() / 2;
        let parts = [
            open_call(format, 0, "a", "write_file", &big[..half]),
            more_arguments(format, 0, &big[half..]),
            end_call(format, 0),
            finish(format, Why::Calls),
        ];
        let answer = ask(format, vec![sse(format, &parts)]).await.answer.unwrap();
        let problem = answer.calls[0].problem;
        assert_eq!(
            problem,
            Some(CallProblem::Malformed),
            "{format:?}: ten megabytes of arguments are not run"
        );
        assert_eq!(answer.calls[0].arguments, json!({}), "{format:?}: and not kept");
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
        let parts = [call(format, 0, "a", "write_file", &deep), finish(format, Why::Calls)];
        let answer = ask(format, vec![sse(format, &parts)]).await.answer.unwrap();
        let problem = answer.calls[0].problem;
        assert_eq!(problem, Some(CallProblem::Malformed), "{format:?}: nesting beyond the limit is not run");
    }
}

#[tokio::test]
async fn a_file_as_large_as_can_be_written_comes_through() {
    let content = "行\n".repeat(5 * 1024 * 1024 / 4);
    let arguments = json!({ "path": "a.md", "content": content }).to_string();
    for format in FORMATS {
        let parts = [call(format, 0, "a", "write_file", &arguments), finish(format, Why::Calls)];
        let answer = ask(format, vec![sse(format, &parts)]).await.answer.unwrap();
        assert_eq!(answer.calls[0].problem, None, "{format:?}: five megabytes in one event");
        let came = answer.calls[0].arguments["content"].as_str().unwrap().len();
        assert_eq!(came, content.len(), "{format:?}: every byte");
    }
}

#[tokio::test]
async fn a_call_in_an_answer_that_is_not_whole_is_cut() {
    for format in FORMATS {
        let whole = call(format, 0, "a", "write_file", "{\"path\":\"a.md\"}");
        for (what, reply) in [
            ("a stream without an end", sse_cut(std::slice::from_ref(&whole))),
            ("the model's own limit", sse(format, &[whole.clone(), finish(format, Why::Length)])),
        ] {
            let answer = ask(format, vec![reply]).await.answer.unwrap();
            let problem = answer.calls[0].problem;
            assert_eq!(
                problem,
                Some(CallProblem::Truncated),
                "{format:?}, {what}: whole or not, it is never run"
            );
            assert_eq!(answer.calls[0].arguments, json!({}), "{format:?}, {what}: nothing of it is kept");
        }
        let control = sse(format, &[whole, finish(format, Why::Calls)]);
        let answer = ask(format, vec![control]).await.answer.unwrap();
        assert_eq!(answer.calls[0].problem, None, "{format:?}: the same call in a whole answer is good");
    }
}
