//! The fake model server does what it is told, misbehaviour included.

use pilot_testkit::{ModelServer, Piece, Reply, recordings, shared_folder};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn ask(server: &ModelServer, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server.address()).await?;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nX-Test: yes\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if stream.read_buf(&mut answer).await? == 0 || answer.ends_with(b"0\r\n\r\n") {
            return Ok(String::from_utf8_lossy(&answer).into_owned());
        }
    }
}

#[tokio::test]
async fn replies_are_played_in_order_and_requests_are_kept() {
    let server =
        ModelServer::start(vec![Reply::json(200, &json!({ "k": 1 })), Reply::json(429, &json!({ "k": 2 }))])
            .await;
    assert!(ask(&server, "{\"a\":1}").await.unwrap().contains("{\"k\":1}"), "the first reply");
    let second = ask(&server, "{\"a\":2}").await.unwrap();
    assert!(second.starts_with("HTTP/1.1 429") && second.contains("{\"k\":2}"), "the second reply: {second}");
    assert!(ask(&server, "{}").await.unwrap().contains("no further reply"), "a request too many is told so");
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "every request is kept");
    assert_eq!(requests[1].json(), json!({ "a": 2 }), "with its body");
    assert_eq!(requests[1].header("x-test"), Some("yes"), "and its headers");
}

#[tokio::test]
async fn faults_reach_the_other_side() {
    let server = ModelServer::start(vec![
        Reply::hang_up(),
        Reply::new(200, "text/plain", "begun")
            .then(Piece::Wait(Duration::from_millis(5)))
            .then(Piece::Vanish),
        Reply::new(200, "text/plain", "begun").then(Piece::Reset),
        Reply::new(200, "text/plain", "").then(Piece::Flood(b'x', 200_000)),
    ])
    .await;
    assert_eq!(ask(&server, "{}").await.unwrap(), "", "hung up before a word");
    let cut = ask(&server, "{}").await.unwrap();
    assert!(cut.contains("begun") && !cut.ends_with("0\r\n\r\n"), "the end of the body is missing: {cut}");
    let reset = ask(&server, "{}").await;
    assert!(reset.is_err() || !reset.unwrap().ends_with("0\r\n\r\n"), "a reset is no clean end");
    assert!(ask(&server, "{}").await.unwrap().len() > 200_000, "a flood arrives whole");
}

#[test]
fn recordings_are_read_where_they_are() {
    if shared_folder().is_none() {
        println!("skipped: no shared folder beside the checkout");
        return;
    }
    let exchanges = recordings("qwen15-stop-stream-task0.jsonl");
    assert!(exchanges.len() >= 3, "a whole task is recorded, found {}", exchanges.len());
    assert!(exchanges.iter().all(|exchange| exchange.reply.status == 200), "every answer was fine");
    assert!(recordings("no-such.jsonl").is_empty(), "a missing recording is empty");
}
