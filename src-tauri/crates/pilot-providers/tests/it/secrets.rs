//! A key goes to its provider and nowhere else.

use crate::stage::{Heard, ask_with, config, goal, good, tools};
use pilot_agent::{ModelProvider, ModelRequest};
use pilot_providers::OpenAiProvider;
use pilot_providers::openai::OpenAiConfig;
use pilot_testkit::{ModelServer, Reply};
use pilot_types::ErrorCode;
use secrecy::SecretString;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-canary-4d1f9a";

fn with_key(config: &mut OpenAiConfig) {
    config.key = Some(SecretString::from(KEY));
    config.headers.push(("X-Team".to_owned(), SecretString::from("team-canary-77")));
}

#[tokio::test]
async fn the_key_is_sent_as_a_bearer_and_not_in_the_body() {
    let asked = ask_with(vec![good()], with_key).await;
    asked.answer.unwrap();
    let requests = asked.server.requests();
    assert_eq!(requests[0].path, "/v1/chat/completions", "the usual endpoint");
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-canary-4d1f9a"), "in its header");
    assert_eq!(requests[0].header("x-team"), Some("team-canary-77"), "with the further headers");
    assert!(!String::from_utf8_lossy(&requests[0].body).contains("canary"), "and nowhere else");
}

#[tokio::test]
async fn no_redirect_is_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = ModelServer::start(vec![good()]).await;
        let to = format!("{}/chat/completions", elsewhere.base_url());
        let asked =
            ask_with(vec![Reply::new(status, "text/plain", "").header("Location", &to), good()], with_key)
                .await;
        let failed = asked.answer.unwrap_err();
        assert_eq!(failed.code, ErrorCode::ProviderRedirect, "status {status}");
        assert!(elsewhere.requests().is_empty(), "status {status}: nothing went there");
        assert_eq!(asked.server.requests().len(), 1, "status {status}: and no second try");
        let same = ask_with(
            vec![Reply::new(status, "text/plain", "").header("Location", "/v2/chat/completions"), good()],
            with_key,
        )
        .await;
        assert_eq!(
            same.answer.unwrap_err().code,
            ErrorCode::ProviderRedirect,
            "status {status}: not even on the same host"
        );
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_get_it_into_words() {
    let bodies = [
        Reply::json(
            401,
            &json!({ "error": { "message": format!("Incorrect key {KEY} of team-canary-77") } }),
        ),
        Reply::new(500, "text/plain", format!("headers: authorization: Bearer {KEY}")),
        Reply::json(200, &json!({ "error": { "message": format!("bad {KEY}") } })),
    ];
    for reply in bodies {
        let asked = ask_with(vec![reply; 3], with_key).await;
        let failed = asked.answer.unwrap_err();
        assert!(!failed.detail.contains("canary"), "words for the log: {}", failed.detail);
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_does_not_see_what_goes_to_this_computer() {
    // The variable would be read when the client is made; a loopback address must not care. No other test reads it:
    // each test of nextest is a process of its own, so it is only asserted that our client asks for none.
    let server = ModelServer::start(vec![good()]).await;
    let provider = OpenAiProvider::new(config(&server)).unwrap();
    let (messages, tools) = (goal(), tools());
    let request = ModelRequest { messages: &messages, tools: &tools };
    provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap();
    assert_eq!(
        server.requests()[0].path,
        "/v1/chat/completions",
        "a proxy would have been sent the whole address"
    );
}

#[tokio::test]
async fn the_list_of_models_is_read() {
    let server = ModelServer::start(vec![
        Reply::json(200, &json!({ "object": "list", "data": [{ "id": "small" }, { "id": "large" }] })),
        Reply::json(401, &json!({ "error": { "message": format!("bad {KEY}") } })),
        Reply::new(200, "text/html", "<html>"),
    ])
    .await;
    let mut config = config(&server);
    with_key(&mut config);
    let provider = OpenAiProvider::new(config).unwrap();
    assert_eq!(provider.models().await.unwrap(), ["small", "large"], "by name");
    let failed = provider.models().await.unwrap_err();
    assert_eq!(failed.code, ErrorCode::ProviderUnauthorized, "a wrong key is told");
    assert!(!failed.detail.contains("canary"), "without the key: {}", failed.detail);
    assert_eq!(provider.models().await.unwrap_err().code, ErrorCode::ProviderBadResponse, "what is no list");
    assert_eq!(server.requests()[0].path, "/v1/models", "below the same base");
}

#[tokio::test]
async fn a_growing_conversation_is_sent_whole_each_time() {
    let server = ModelServer::start(vec![good(), good(), good()]).await;
    let provider = OpenAiProvider::new(config(&server)).unwrap();
    let (mut messages, tools) = (goal(), tools());
    for _ in 0..3 {
        let request = ModelRequest { messages: &messages, tools: &tools };
        let answer = provider.answer(request, &Heard::default(), &CancellationToken::new()).await.unwrap();
        messages.push(pilot_types::Message::Assistant { text: answer.text, calls: answer.calls });
        messages.push(pilot_types::Message::User { text: "go on".to_owned() });
    }
    let sent: Vec<usize> = server
        .requests()
        .iter()
        .map(|request| request.json()["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(sent, [2, 4, 6], "nothing is dropped and nothing sent twice");
}
