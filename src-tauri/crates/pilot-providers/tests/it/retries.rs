//! Another try where it can help, none where it cannot, and a stop that is obeyed at once.

use crate::stage::{
    FORMATS, Heard, Why, ask, ask_with, config, finish, goal, good, open_call, sse_cut, tools, words,
};
use pilot_agent::{ModelProvider, ModelRequest};
use pilot_providers::{HttpProvider, WireFormat};
use pilot_testkit::{ModelServer, Piece, Reply};
use pilot_types::ErrorCode;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn error(status: u16) -> Reply {
    Reply::json(status, &json!({ "type": "error", "error": { "message": "why", "code": status } }))
}

#[tokio::test]
async fn trouble_that_passes_is_waited_out() {
    for format in FORMATS {
        for trouble in
            [error(429), error(500), error(502), error(503), error(529), error(408), Reply::hang_up()]
        {
            let shown = trouble.status;
            let asked = ask(format, vec![trouble.clone(), trouble, good(format)]).await;
            let text = asked.answer.unwrap().text;
            assert_eq!(text, "ready", "{format:?}, status {shown}: the third attempt worked");
            let requests = asked.server.requests();
            assert_eq!(requests.len(), 3, "{format:?}, status {shown}: three attempts");
            assert!(
                requests.iter().all(|request| request.body == requests[0].body),
                "{format:?}, status {shown}: the same request each time"
            );
        }
    }
}

#[tokio::test]
async fn an_overload_said_inside_an_answer_passes_too() {
    let overloaded =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let asked =
        ask(WireFormat::Anthropic, vec![sse_cut(&[vec![overloaded]]), good(WireFormat::Anthropic)]).await;
    assert_eq!(asked.answer.unwrap().text, "ready", "the second attempt worked");
    assert_eq!(asked.heard, "ready", "nothing was shown twice");
}

#[tokio::test]
async fn attempts_are_bounded() {
    for format in FORMATS {
        for (status, code) in [
            (429, ErrorCode::ProviderRateLimited),
            (500, ErrorCode::ProviderUnavailable),
            (529, ErrorCode::ProviderUnavailable),
        ] {
            let asked = ask(format, vec![error(status); 10]).await;
            let failed = asked.answer.unwrap_err();
            assert_eq!(failed.code, code, "{format:?}, status {status}");
            assert!(
                failed.detail.contains("3 attempts"),
                "{format:?}: words say how often it was tried: {}",
                failed.detail
            );
            assert_eq!(asked.server.requests().len(), 3, "{format:?}, status {status}: no more than that");
        }
    }
}

#[tokio::test]
async fn what_cannot_pass_is_tried_once() {
    let table = [
        (400, ErrorCode::ProviderRejected),
        (401, ErrorCode::ProviderUnauthorized),
        (402, ErrorCode::ProviderForbidden),
        (403, ErrorCode::ProviderForbidden),
        (404, ErrorCode::ProviderNotFound),
        (413, ErrorCode::ProviderRejected),
        (422, ErrorCode::ProviderRejected),
    ];
    for format in FORMATS {
        for (status, code) in table {
            let asked = ask(format, vec![error(status), good(format)]).await;
            assert_eq!(asked.answer.unwrap_err().code, code, "{format:?}, status {status}");
            assert_eq!(asked.server.requests().len(), 1, "{format:?}, status {status}: once");
        }
    }
}

#[tokio::test]
async fn a_servers_wish_to_wait_is_obeyed_or_given_back() {
    for format in FORMATS {
        for status in [429, 529] {
            let asked = ask(format, vec![error(status).header("Retry-After", "0.2"), good(format)]).await;
            assert_eq!(asked.answer.unwrap().text, "ready", "{format:?}: it worked after the wait");
            assert!(
                asked.took >= Duration::from_millis(200),
                "{format:?}: the whole wait was kept, it took {:?}",
                asked.took
            );
        }
        let asked = ask(format, vec![error(429).header("Retry-After", "3600"), good(format)]).await;
        let failed = asked.answer.unwrap_err();
        assert_eq!(failed.code, ErrorCode::ProviderRateLimited, "{format:?}: an hour is not waited for");
        assert!(failed.detail.contains("3600"), "{format:?}: words say how long: {}", failed.detail);
        assert!(asked.took < Duration::from_secs(1), "{format:?}: said at once, it took {:?}", asked.took);
        let past = error(429).header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT");
        let asked = ask(format, vec![past, good(format)]).await;
        assert_eq!(asked.answer.unwrap().text, "ready", "{format:?}: a date that has passed is no wait");
    }
}

#[tokio::test]
async fn a_model_that_is_being_loaded_is_asked_until_it_is_there() {
    let loading = || {
        Reply::json(
            503,
            &json!({ "error": { "message": "Loading model", "type": "unavailable_error", "code": 503 } }),
        )
    };
    for format in FORMATS {
        let mut replies = vec![loading(); 8];
        replies.push(good(format));
        let asked = ask(format, replies).await;
        let text = asked.answer.unwrap().text;
        assert_eq!(text, "ready", "{format:?}: more questions than attempts are allowed for this");
        let asked = ask_with(format, vec![loading(); 200], |config| {
            if let Some(patience) = config.patience.as_mut() {
                patience.loading = Duration::from_millis(100);
            }
        })
        .await;
        let code = asked.answer.unwrap_err().code;
        assert_eq!(code, ErrorCode::ProviderLoading, "{format:?}: but not for ever, and it is said why");
        assert!(asked.took < Duration::from_secs(2), "{format:?}: it took {:?}", asked.took);
    }
}

#[tokio::test]
async fn terms_that_a_server_refuses_are_changed() {
    let refused = |words: &str| {
        Reply::json(
            400,
            &json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } }),
        )
    };
    let too_many = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens";
    let asked = ask(WireFormat::Anthropic, vec![refused(too_many), good(WireFormat::Anthropic)]).await;
    assert_eq!(asked.answer.unwrap().text, "ready", "the model's own limit is taken");
    let sent: Vec<Value> =
        asked.server.requests().iter().map(|request| request.json()["max_tokens"].clone()).collect();
    assert_eq!(sent, [json!(32_000), json!(8_192)], "first what is usual, then what it can do");
    let thoughts = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    for format in FORMATS {
        let asked = ask(format, vec![refused(thoughts), good(format)]).await;
        assert_eq!(asked.answer.unwrap().text, "ready", "{format:?}: it answers without thinking");
        let sent: Vec<Value> =
            asked.server.requests().iter().map(|request| request.json()["thinking"].clone()).collect();
        assert_eq!(
            sent,
            [Value::Null, json!({ "type": "disabled" })],
            "{format:?}: asked for only when needed"
        );
        let asked = ask(format, vec![refused(thoughts); 9]).await;
        assert_eq!(
            asked.answer.unwrap_err().code,
            ErrorCode::ProviderRejected,
            "{format:?}: and not for ever"
        );
        assert_eq!(asked.server.requests().len(), 2, "{format:?}: once more is all");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_before_any_word_is_begun_again() {
    for format in FORMATS {
        let opening = json!({ "type": "message_start", "message": { "role": "assistant" },
            "choices": [{ "index": 0, "delta": { "role": "assistant", "content": null } }] });
        let broken = [
            sse_cut(&[]).then(Piece::Vanish),
            sse_cut(&[vec![opening]]).then(Piece::Reset),
            sse_cut(&[open_call(format, 0, "a", "write_file", "{\"path\":\"half")]).then(Piece::Vanish),
            Reply::new(200, "text/event-stream", ""),
        ];
        for reply in broken {
            let shown = format!("{format:?}, {:?}", reply.pieces);
            let asked = ask(format, vec![reply, good(format)]).await;
            assert_eq!(asked.answer.unwrap().text, "ready", "{shown}");
            assert_eq!(asked.heard, "ready", "{shown}: nothing was shown twice");
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_words_is_not_begun_again() {
    for format in FORMATS {
        for end in [Piece::Vanish, Piece::Reset] {
            let broken = sse_cut(&[words(format, "half a sen")]).then(end);
            let asked = ask(format, vec![broken, good(format)]).await;
            let code = asked.answer.unwrap_err().code;
            assert_eq!(code, ErrorCode::ProviderStreamBroken, "{format:?}: the person has seen words");
            assert_eq!(asked.server.requests().len(), 1, "{format:?}: one attempt");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_complete_needs_no_proper_end() {
    for format in FORMATS {
        for end in [Piece::Vanish, Piece::Reset, Piece::Silence] {
            let shown = format!("{format:?}, {end:?}");
            let complete = sse_cut(&[words(format, "ready"), finish(format, Why::Said)]).then(end);
            let asked = ask(format, vec![complete]).await;
            assert_eq!(asked.answer.unwrap().text, "ready", "{shown} after the model has finished");
            assert!(
                asked.took < Duration::from_millis(350),
                "{shown}: the rest is not waited for, it took {:?}",
                asked.took
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    for format in FORMATS {
        let server = ModelServer::start(Vec::new()).await;
        let config = config(format, &server);
        drop(server);
        tokio::task::yield_now().await;
        let provider = HttpProvider::new(config).unwrap();
        let messages = goal();
        let request = ModelRequest { messages: &messages, tools: &[] };
        let failed =
            provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::ProviderUnavailable, "{format:?}: {}", failed.detail);
        let words = failed.detail.to_lowercase();
        assert!(words.contains("refused"), "{format:?}: the cause is named: {words}");
    }
}

#[tokio::test]
async fn a_stop_ends_an_exchange_or_a_wait_at_once() {
    for format in FORMATS {
        let slow = [
            sse_cut(&[words(format, "a")]).then(Piece::Silence),
            good(format).after(Duration::from_secs(30)),
            error(429).header("Retry-After", "1.9"),
        ];
        for reply in slow {
            let shown = format!("{format:?}, status {}", reply.status);
            let server = ModelServer::start(vec![reply, good(format)]).await;
            let mut config = config(format, &server);
            if let Some(patience) = config.patience.as_mut() {
                (patience.first_byte, patience.idle) = (Duration::from_secs(30), Duration::from_secs(30));
            }
            let provider = HttpProvider::new(config).unwrap();
            let (messages, tools, heard, cancel) =
                (goal(), tools(), Heard::default(), CancellationToken::new());
            let stop = cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(80)).await;
                stop.cancel();
            });
            let before = Instant::now();
            let request = ModelRequest { messages: &messages, tools: &tools };
            let failed = provider.answer(request, &heard, &cancel).await.unwrap_err();
            assert_eq!(failed.code, ErrorCode::Cancelled, "{shown}");
            assert!(before.elapsed() < Duration::from_millis(600), "{shown}: it took {:?}", before.elapsed());
        }
    }
}
