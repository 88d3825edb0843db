//! Servers on this computer: found where they are, told when they load, never waited for.

use pilot_providers::local::{LocalPlace, LocalServer, find};
use pilot_testkit::{ModelServer, Piece, Reply};
use serde_json::json;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(300);

fn place(preset: &'static str, server: &ModelServer) -> LocalPlace {
    LocalPlace { preset, base_url: server.base_url() }
}

fn models(names: &[&str]) -> Reply {
    let data: Vec<_> = names.iter().map(|name| json!({ "id": name })).collect();
    Reply::json(200, &json!({ "object": "list", "data": data }))
}

#[tokio::test]
async fn servers_that_answer_are_found_with_their_models() {
    let (one, empty) = (
        ModelServer::start(vec![models(&["qwen", "llama"])]).await,
        ModelServer::start(vec![models(&[])]).await,
    );
    let places = [place("ollama", &one), place("lm-studio", &empty)];
    let found = find(&places, LIMIT).await;
    let expected = [
        LocalServer {
            place: places[0].clone(),
            models: vec!["qwen".to_owned(), "llama".to_owned()],
            loading: false,
        },
        LocalServer { place: places[1].clone(), models: Vec::new(), loading: false },
    ];
    assert_eq!(found, expected, "in the order of the places, also one without a model");
    let request = &one.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/models"), "one question");
    assert!(request.body.is_empty() && request.header("authorization").is_none(), "and nothing else is sent");
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_said_to_load() {
    let loading =
        json!({ "error": { "message": "Loading model", "type": "unavailable_error", "code": 503 } });
    let server = ModelServer::start(vec![Reply::json(503, &loading)]).await;
    let found = find(&[place("llama-cpp", &server)], LIMIT).await;
    assert!(found[0].loading && found[0].models.is_empty(), "it is there, its model is not: {found:?}");
    assert_eq!(server.requests().len(), 1, "it is not asked again and again");
}

#[tokio::test]
async fn strangers_and_silence_are_nobody() {
    let gone = ModelServer::start(Vec::new()).await;
    let nobody = place("ollama", &gone);
    drop(gone);
    let page = ModelServer::start(vec![Reply::new(200, "text/html", "<html>another service</html>")]).await;
    let other = ModelServer::start(vec![Reply::json(200, &json!({ "status": "ok" }))]).await;
    let closed = ModelServer::start(vec![Reply::json(401, &json!({ "error": "who are you" }))]).await;
    let moved =
        ModelServer::start(vec![Reply::new(302, "text/plain", "").header("Location", &page.base_url())])
            .await;
    let silent = ModelServer::start(vec![Reply::json(200, &json!({})).after(Duration::from_secs(60))]).await;
    let slow = ModelServer::start(vec![Reply::new(200, "application/json", "{").then(Piece::Silence)]).await;
    let mut places = vec![nobody];
    places.extend([&page, &other, &closed, &moved, &silent, &slow].map(|server| place("ollama", server)));
    let before = Instant::now();
    assert_eq!(find(&places, LIMIT).await, [], "none of them is a server of models");
    assert!(before.elapsed() < Duration::from_millis(900), "all at once, it took {:?}", before.elapsed());
    assert_eq!(page.requests().len(), 1, "a redirect is not followed");
}

#[tokio::test]
async fn nothing_outside_this_computer_is_asked() {
    let server = ModelServer::start(vec![models(&["x"])]).await;
    let places = [
        LocalPlace { preset: "ollama", base_url: "https://models.example.com/v1".to_owned() },
        LocalPlace { preset: "ollama", base_url: "http://192.0.2.7:11434/v1".to_owned() },
        place("ollama", &server),
    ];
    let before = Instant::now();
    assert_eq!(find(&places, LIMIT).await.len(), 1, "only the one on loopback");
    assert!(before.elapsed() < LIMIT, "no name was looked up and no connection tried");
}
