//! Another try where it can help, none where it cannot, and a stop that is obeyed at once.

use crate::stage::{Heard, ask, ask_with, call, config, finish, goal, good, tools, words};
use pilot_agent::{ModelProvider, ModelRequest};
use pilot_providers::OpenAiProvider;
use pilot_providers::openai::OpenAiConfig;
use pilot_testkit::{ModelServer, Piece, Reply};
use pilot_types::ErrorCode;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn error(status: u16) -> Reply {
    Reply::json(status, &json!({ "error": { "message": "why", "code": status } }))
}

#[tokio::test]
async fn trouble_that_passes_is_waited_out() {
    for trouble in [error(429), error(500), error(502), error(503), error(529), error(408), Reply::hang_up()]
    {
        let shown = trouble.status;
        let asked = ask(vec![trouble.clone(), trouble, good()]).await;
        assert_eq!(asked.answer.unwrap().text, "ready", "status {shown}: the third attempt worked");
        let requests = asked.server.requests();
        assert_eq!(requests.len(), 3, "status {shown}: three attempts");
        assert!(
            requests.iter().all(|request| request.body == requests[0].body),
            "status {shown}: the same request each time"
        );
    }
}

#[tokio::test]
async fn attempts_are_bounded() {
    for (status, code) in [(429, ErrorCode::ProviderRateLimited), (500, ErrorCode::ProviderUnavailable)] {
        let asked = ask(vec![error(status); 10]).await;
        let failed = asked.answer.unwrap_err();
        assert_eq!(failed.code, code, "status {status}");
        assert!(failed.detail.contains("3 attempts"), "words say how often it was tried: {}", failed.detail);
        assert_eq!(asked.server.requests().len(), 3, "status {status}: no more than that");
    }
}

#[tokio::test]
async fn what_cannot_pass_is_tried_once() {
    let table = [
        (400, ErrorCode::ProviderRejected),
        (401, ErrorCode::ProviderUnauthorized),
        (403, ErrorCode::ProviderForbidden),
        (404, ErrorCode::ProviderNotFound),
        (422, ErrorCode::ProviderRejected),
    ];
    for (status, code) in table {
        let asked = ask(vec![error(status), good()]).await;
        assert_eq!(asked.answer.unwrap_err().code, code, "status {status}");
        assert_eq!(asked.server.requests().len(), 1, "status {status}: once");
    }
}

#[tokio::test]
async fn a_servers_wish_to_wait_is_obeyed_or_given_back() {
    let asked = ask(vec![error(429).header("Retry-After", "0.2"), good()]).await;
    assert_eq!(asked.answer.unwrap().text, "ready", "it worked after the wait");
    assert!(asked.took >= Duration::from_millis(200), "the whole wait was kept, it took {:?}", asked.took);
    let asked = ask(vec![error(429).header("Retry-After", "3600"), good()]).await;
    let failed = asked.answer.unwrap_err();
    assert_eq!(failed.code, ErrorCode::ProviderRateLimited, "an hour is not waited for");
    assert!(failed.detail.contains("3600"), "words say how long: {}", failed.detail);
    assert!(asked.took < Duration::from_secs(1), "and it is said at once, it took {:?}", asked.took);
    let asked = ask(vec![error(429).header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), good()]).await;
    assert_eq!(asked.answer.unwrap().text, "ready", "a date that has passed is no wait");
}

#[tokio::test]
async fn a_model_that_is_being_loaded_is_asked_until_it_is_there() {
    let loading = || {
        Reply::json(
            503,
            &json!({ "error": { "message": "Loading model", "type": "unavailable_error", "code": 503 } }),
        )
    };
    let mut replies = vec![loading(); 8];
    replies.push(good());
    let asked = ask(replies).await;
    assert_eq!(asked.answer.unwrap().text, "ready", "more questions than attempts are allowed for this");
    let asked = ask_with(vec![loading(); 200], |config| {
        if let Some(patience) = config.patience.as_mut() {
            patience.loading = Duration::from_millis(100);
        }
    })
    .await;
    assert_eq!(asked.answer.unwrap_err().code, ErrorCode::ProviderUnavailable, "but not for ever");
    assert!(asked.took < Duration::from_secs(2), "it took {:?}", asked.took);
}

#[tokio::test]
async fn a_stream_that_breaks_before_any_word_is_begun_again() {
    let broken = [
        Reply::sse_cut(&[]).then(Piece::Vanish),
        Reply::sse_cut(&[
            json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": null } }] }),
        ])
        .then(Piece::Reset),
        Reply::sse_cut(&[call(0, "a", "write_file", "{\"path\":\"half")]).then(Piece::Vanish),
        Reply::new(200, "text/event-stream", ""),
    ];
    for reply in broken {
        let shown = format!("{:?}", reply.pieces);
        let asked = ask(vec![reply, good()]).await;
        assert_eq!(asked.answer.unwrap().text, "ready", "{shown}");
        assert_eq!(asked.heard, "ready", "{shown}: nothing was shown twice");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_words_is_not_begun_again() {
    for end in [Piece::Vanish, Piece::Reset] {
        let asked = ask(vec![Reply::sse_cut(&[words("half a sen")]).then(end), good()]).await;
        assert_eq!(
            asked.answer.unwrap_err().code,
            ErrorCode::ProviderStreamBroken,
            "the person has seen words"
        );
        assert_eq!(asked.server.requests().len(), 1, "one attempt");
    }
}

#[tokio::test]
async fn an_answer_that_is_complete_needs_no_proper_end() {
    for end in [Piece::Vanish, Piece::Reset, Piece::Silence] {
        let shown = format!("{end:?}");
        let asked = ask(vec![Reply::sse_cut(&[words("ready"), finish("stop")]).then(end)]).await;
        assert_eq!(asked.answer.unwrap().text, "ready", "{shown} after the model has finished");
        assert!(
            asked.took < Duration::from_millis(350),
            "{shown}: the rest is not waited for, it took {:?}",
            asked.took
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let server = ModelServer::start(Vec::new()).await;
    let config = config(&server);
    drop(server);
    tokio::task::yield_now().await;
    let provider = OpenAiProvider::new(config).unwrap();
    let messages = goal();
    let request = ModelRequest { messages: &messages, tools: &[] };
    let failed = provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(failed.code, ErrorCode::ProviderUnavailable, "{}", failed.detail);
    assert!(failed.detail.to_lowercase().contains("refused"), "the cause is named: {}", failed.detail);
}

#[tokio::test]
async fn a_stop_ends_an_exchange_or_a_wait_at_once() {
    let slow = [
        Reply::sse_cut(&[words("a")]).then(Piece::Silence),
        good().after(Duration::from_secs(30)),
        error(429).header("Retry-After", "1.9"),
    ];
    for reply in slow {
        let shown = reply.status;
        let server = ModelServer::start(vec![reply, good()]).await;
        let mut config: OpenAiConfig = config(&server);
        if let Some(patience) = config.patience.as_mut() {
            (patience.first_byte, patience.idle) = (Duration::from_secs(30), Duration::from_secs(30));
        }
        let provider = OpenAiProvider::new(config).unwrap();
        let (messages, tools, heard, cancel) = (goal(), tools(), Heard::default(), CancellationToken::new());
        let stop = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(80)).await;
            stop.cancel();
        });
        let before = Instant::now();
        let request = ModelRequest { messages: &messages, tools: &tools };
        let failed = provider.answer(request, &heard, &cancel).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Cancelled, "status {shown}");
        assert!(
            before.elapsed() < Duration::from_millis(600),
            "status {shown}: it took {:?}",
            before.elapsed()
        );
    }
}
