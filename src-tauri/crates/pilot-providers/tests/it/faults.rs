//! A server that misbehaves costs bounded time and memory and one clear error.

use crate::stage::{ask, ask_with, call, finish, small_limits, words};
use pilot_testkit::{Piece, Reply};
use pilot_types::{CallProblem, ErrorCode};
use serde_json::{Value, json};
use std::time::Duration;

fn stream(body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(200, "text/event-stream", body)
}

#[tokio::test]
async fn garbage_is_named_as_such() {
    let table: Vec<(&str, Reply)> = vec![
        ("html", Reply::new(200, "text/html", "<html><body>Welcome</body></html>")),
        ("broken event", stream("data: {\"choices\": [}\n\ndata: [DONE]\n\n")),
        ("wrong types", stream("data: {\"choices\": {\"a\": 1}}\n\n")),
        ("a number", stream("data: 7\n\n")),
        (
            "bytes that are no text",
            stream(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n".to_vec()),
        ),
        ("json that is no completion", Reply::json(200, &json!([1, 2, 3]))),
        ("json without choices", Reply::json(200, &json!({ "object": "list" }))),
        ("half a json", Reply::new(200, "application/json", "{\"choices\": [")),
        ("deep nesting", stream(format!("data: {}1{}\n\n", "[".repeat(5_000), "]".repeat(5_000)))),
        ("only comments", stream(": nothing\n\n: nothing\n\n")),
    ];
    for (what, reply) in table {
        let asked = ask(vec![reply; 4]).await;
        let failed = asked.answer.unwrap_err();
        assert!(
            matches!(failed.code, ErrorCode::ProviderBadResponse | ErrorCode::ProviderStreamBroken),
            "{what}: {} {}",
            failed.code,
            failed.detail
        );
        assert!(asked.took < Duration::from_secs(1), "{what}: it took {:?}", asked.took);
        assert!(failed.detail.len() < 700, "{what}: words stay short, got {} bytes", failed.detail.len());
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_the_servers_error() {
    let table = [
        (json!({ "code": 502, "message": "upstream" }), ErrorCode::ProviderUnavailable),
        (json!({ "code": 401, "message": "no" }), ErrorCode::ProviderUnauthorized),
        (json!({ "message": "out of memory", "type": "server_error" }), ErrorCode::ProviderUnavailable),
        (json!("plain words"), ErrorCode::ProviderUnavailable),
    ];
    for (error, code) in table {
        let asked = ask(vec![Reply::sse(&[words("a"), json!({ "error": error })])]).await;
        assert_eq!(asked.answer.unwrap_err().code, code, "{error}");
        let asked = ask(vec![Reply::json(200, &json!({ "error": error }))]).await;
        assert_eq!(asked.answer.unwrap_err().code, code, "{error} without a stream");
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_early() {
    let asked = ask(vec![stream("data: ").then(Piece::Flood(b'x', 1 << 30))]).await;
    assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderBadResponse, "a line of a gigabyte");
    assert!(
        asked.took < Duration::from_secs(5),
        "only the first megabytes are taken, it took {:?}",
        asked.took
    );
    let asked =
        ask(vec![Reply::new(200, "application/json", "{\"x\":\"").then(Piece::Flood(b'x', 1 << 30))]).await;
    assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderBadResponse, "a JSON value of a gigabyte");
    assert!(asked.took < Duration::from_secs(10), "it took {:?}", asked.took);
}

#[tokio::test]
async fn a_stream_without_end_is_given_up() {
    let word = format!("data: {}\n\n", words("again and again ")).into_bytes();
    let silent = b": still here\n\n".repeat(40);
    for (what, piece) in [("words", word), ("comments", silent)] {
        let asked =
            ask_with(vec![stream("").then(Piece::Forever(piece))], |config| config.limits = small_limits())
                .await;
        assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderBadResponse, "{what}");
        assert!(asked.took < Duration::from_secs(3), "{what}: it took {:?}", asked.took);
        assert!(asked.heard.len() <= 50_000, "{what}: {} bytes were shown", asked.heard.len());
    }
}

#[tokio::test]
async fn silence_is_given_up() {
    let table = [
        ("before the head", Reply::sse(&[]).after(Duration::from_secs(60))),
        ("before the first byte", stream("").then(Piece::Silence)),
        ("in the middle", Reply::sse_cut(&[words("a")]).then(Piece::Silence)),
    ];
    for (what, reply) in table {
        let asked = ask(vec![reply]).await;
        assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderTimeout, "{what}");
        assert!(asked.took < Duration::from_secs(2), "{what}: it took {:?}", asked.took);
    }
}

#[tokio::test]
async fn a_slow_stream_is_not_a_silent_one() {
    let mut reply = stream("");
    for word in ["one ", "two ", "three ", "four"] {
        reply = reply
            .then(Piece::Wait(Duration::from_millis(150)))
            .then(Piece::Bytes(format!("data: {}\n\n", words(word)).into_bytes()));
    }
    let asked =
        ask(vec![reply.then(Piece::Bytes(format!("data: {}\n\n", finish("stop")).into_bytes()))]).await;
    assert_eq!(asked.answer.unwrap().text, "one two three four", "longer in all than one silence may last");
}

#[tokio::test]
async fn a_flood_of_calls_and_of_arguments_is_bounded() {
    let mut events: Vec<Value> =
        (0..1_000).map(|n| call(n, "same", "read_file", "{\"path\":\"a\"}")).collect();
    events.push(finish("tool_calls"));
    let answer = ask(vec![Reply::sse(&events)]).await.answer.unwrap();
    assert_eq!(answer.calls.len(), 128, "calls beyond the limit are dropped");
    let big = format!("{{\"content\":\"{}\"}}", "x".repeat(10 << 20));
    let half = big.len() / 2;
    let events =
        [call(0, "a", "write_file", &big[..half]), call(0, "a", "", &big[half..]), finish("tool_calls")];
    let answer = ask(vec![Reply::sse(&events)]).await.answer.unwrap();
    assert_eq!(
        answer.calls[0].problem,
        Some(CallProblem::Malformed),
        "ten megabytes of arguments are not run"
    );
    assert_eq!(answer.calls[0].arguments, json!({}), "and not kept");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
    let answer = ask(vec![Reply::sse(&[call(0, "a", "write_file", &deep), finish("tool_calls")])])
        .await
        .answer
        .unwrap();
    assert_eq!(answer.calls[0].problem, Some(CallProblem::Malformed), "nesting beyond the limit is not run");
}

#[tokio::test]
async fn a_file_as_large_as_can_be_written_comes_through() {
    let content = "行\n".repeat(5 * 1024 * 1024 / 4);
    let arguments = json!({ "path": "a.md", "content": content }).to_string();
    let whole = Reply::sse(&[call(0, "a", "write_file", &arguments), finish("tool_calls")]);
    let answer = ask(vec![whole]).await.answer.unwrap();
    assert_eq!(answer.calls[0].problem, None, "five megabytes in one event");
    assert_eq!(answer.calls[0].arguments["content"].as_str().unwrap().len(), content.len(), "every byte");
}

#[tokio::test]
async fn a_call_in_a_stream_that_ends_without_an_end_is_cut() {
    let asked = ask(vec![Reply::sse_cut(&[call(0, "a", "write_file", "{\"path\":\"a.md\"}")])]).await;
    assert_eq!(
        asked.answer.unwrap().calls[0].problem,
        Some(CallProblem::Truncated),
        "whole or not, it is never run"
    );
}
