//! A key goes to its provider and nowhere else.

use crate::stage::{FORMATS, Heard, ask_with, config, error_event, goal, good, tools};
use pilot_agent::{ModelProvider, ModelRequest};
use pilot_providers::{HttpConfig, HttpProvider, WireFormat};
use pilot_testkit::{ModelServer, Reply};
use pilot_types::ErrorCode;
use secrecy::SecretString;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-canary-4d1f9a";

fn with_key(config: &mut HttpConfig) {
    config.key = Some(SecretString::from(KEY));
    config.headers.push(("X-Team".to_owned(), SecretString::from("team-canary-77")));
}

#[tokio::test]
async fn the_key_is_sent_in_its_header_and_not_in_the_body() {
    for (format, path, header, value, other) in [
        (WireFormat::OpenAi, "/v1/chat/completions", "authorization", "Bearer sk-canary-4d1f9a", "x-api-key"),
        (WireFormat::Anthropic, "/v1/messages", "x-api-key", KEY, "authorization"),
    ] {
        let asked = ask_with(format, vec![good(format)], with_key).await;
        asked.answer.unwrap();
        let requests = asked.server.requests();
        assert_eq!(requests[0].path, path, "{format:?}: the usual endpoint");
        assert_eq!(requests[0].header(header), Some(value), "{format:?}: in its header");
        assert_eq!(requests[0].header(other), None, "{format:?}: and in no other");
        assert_eq!(
            requests[0].header("x-team"),
            Some("team-canary-77"),
            "{format:?}: with the further headers"
        );
        let body = String::from_utf8_lossy(&requests[0].body).into_owned();
        assert!(!body.contains("canary") && !requests[0].path.contains("canary"), "{format:?}: nowhere else");
    }
    let asked = ask_with(WireFormat::Anthropic, vec![good(WireFormat::Anthropic)], with_key).await;
    let version = asked.server.requests()[0].header("anthropic-version").map(str::to_owned);
    assert_eq!(version.as_deref(), Some("2023-06-01"), "the version that is spoken");
}

#[tokio::test]
async fn no_redirect_is_followed() {
    for format in FORMATS {
        for status in [301, 302, 303, 307, 308] {
            let elsewhere = ModelServer::start(vec![good(format)]).await;
            let to = format!("{}/messages", elsewhere.base_url());
            let redirect = Reply::new(status, "text/plain", "").header("Location", &to);
            let asked = ask_with(format, vec![redirect, good(format)], with_key).await;
            let failed = asked.answer.unwrap_err();
            assert_eq!(failed.code, ErrorCode::ProviderRedirect, "{format:?}, status {status}");
            assert!(elsewhere.requests().is_empty(), "{format:?}, status {status}: nothing went there");
            assert_eq!(asked.server.requests().len(), 1, "{format:?}, status {status}: and no second try");
            let same = Reply::new(status, "text/plain", "").header("Location", "/v2/messages");
            let asked = ask_with(format, vec![same, good(format)], with_key).await;
            assert_eq!(
                asked.answer.unwrap_err().code,
                ErrorCode::ProviderRedirect,
                "{format:?}, status {status}: not even on the same host"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_get_it_into_words() {
    for format in FORMATS {
        let mut bodies = vec![
            Reply::json(
                401,
                &json!({ "error": { "message": format!("Incorrect key {KEY} of team-canary-77") } }),
            ),
            Reply::new(500, "text/plain", format!("headers: authorization: Bearer {KEY} x-api-key: {KEY}")),
            Reply::json(200, &error_event(format, &json!({ "message": format!("bad {KEY}") }))),
        ];
        // Wherever the words are shortened, no beginning of the key is left at their end.
        for before in 280..300 {
            bodies.push(Reply::new(400, "text/plain", format!("{}{KEY}", "x".repeat(before))));
        }
        for reply in bodies {
            let asked = ask_with(format, vec![reply; 3], with_key).await;
            let failed = asked.answer.unwrap_err();
            assert!(
                !failed.detail.contains("canary") && !failed.detail.contains("sk-c"),
                "{format:?}: words for the log: {}",
                failed.detail
            );
        }
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_does_not_see_what_goes_to_this_computer() {
    // The variable would be read when the client is made; a loopback address must not care. No other test reads it:
    // each test of nextest is a process of its own, so it is only asserted that our client asks for none.
    for format in FORMATS {
        let server = ModelServer::start(vec![good(format)]).await;
        let provider = HttpProvider::new(config(format, &server)).unwrap();
        let (messages, tools) = (goal(), tools());
        let request = ModelRequest { messages: &messages, tools: &tools };
        provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap();
        let path = server.requests()[0].path.clone();
        assert!(
            path.starts_with("/v1/"),
            "{format:?}: a proxy would have been sent the whole address: {path}"
        );
    }
}

#[tokio::test]
async fn the_list_of_models_is_read() {
    for (format, path) in
        [(WireFormat::OpenAi, "/v1/models"), (WireFormat::Anthropic, "/v1/models?limit=1000")]
    {
        let server = ModelServer::start(vec![
            Reply::json(
                200,
                &json!({ "object": "list", "data": [{ "id": "small" }, { "id": "large" }, { "id": 7 },
                    { "id": "hidden\u{202e}name" }, { "id": "x".repeat(201) }, { "id": "" }] }),
            ),
            Reply::json(401, &json!({ "error": { "message": format!("bad {KEY}") } })),
            Reply::new(200, "text/html", "<html>"),
            Reply::json(200, &json!({ "status": "ok" })),
        ])
        .await;
        let mut config = config(format, &server);
        with_key(&mut config);
        let provider = HttpProvider::new(config).unwrap();
        assert_eq!(
            provider.models().await.unwrap(),
            ["small", "large"],
            "{format:?}: names that can be shown"
        );
        let failed = provider.models().await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::ProviderUnauthorized, "{format:?}: a wrong key is told");
        assert!(!failed.detail.contains("canary"), "{format:?}: without the key: {}", failed.detail);
        for what in ["a page", "another service"] {
            let code = provider.models().await.unwrap_err().code;
            assert_eq!(code, ErrorCode::ProviderBadResponse, "{format:?}: {what} is no list");
        }
        assert_eq!(server.requests()[0].path, path, "{format:?}: below the same base");
    }
}

#[tokio::test]
async fn a_growing_conversation_is_sent_whole_each_time() {
    for (format, expected) in [(WireFormat::OpenAi, [2, 4, 6]), (WireFormat::Anthropic, [1, 3, 5])] {
        let server = ModelServer::start(vec![good(format), good(format), good(format)]).await;
        let provider = HttpProvider::new(config(format, &server)).unwrap();
        let (mut messages, tools) = (goal(), tools());
        for _ in 0..3 {
            let request = ModelRequest { messages: &messages, tools: &tools };
            let answer =
                provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap();
            messages.push(pilot_types::Message::Assistant { text: answer.text, calls: answer.calls });
            messages.push(pilot_types::Message::User { text: "go on".to_owned() });
        }
        let sent: Vec<usize> = server
            .requests()
            .iter()
            .map(|request| request.json()["messages"].as_array().unwrap().len())
            .collect();
        assert_eq!(sent, expected, "{format:?}: nothing is dropped and nothing sent twice");
    }
}
