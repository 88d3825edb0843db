//! Web pages, rebound names and other strangers: no task, whatever they send.

use crate::support::Stage;
use pilot_triggers::WebhookLimits;
use pilot_types::ErrorCode;

fn limits() -> WebhookLimits {
    WebhookLimits { refused_per_minute: 10_000, ..WebhookLimits::default() }
}

#[tokio::test]
async fn no_header_of_a_web_page_makes_a_task() {
    let stage = Stage::new(limits()).await;
    let port = stage.port;
    let hosts = [
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{port}"),
        "Host: 127.0.0.1".to_owned(),
        "Host: localhost".to_owned(),
        format!("Host: 127.0.0.1:{}", port.wrapping_add(1)),
        format!("Host: 127.0.0.1.:{port}"),
        format!("Host: localhost.:{port}"),
        format!("Host: LOCALHOST:{port}"),
        format!("Host: [::1]:{port}"),
        format!("Host: [::ffff:127.0.0.1]:{port}"),
        format!("Host: 127.1:{port}"),
        format!("Host: 2130706433:{port}"),
        format!("Host: 0.0.0.0:{port}"),
        format!("Host: 127.0.0.1.evil.example:{port}"),
        format!("Host: localhost.evil.example:{port}"),
        format!("Host: user@127.0.0.1:{port}"),
        format!("Host: 127.0.0.1:{port}, evil.example"),
        "Host: *".to_owned(),
    ];
    let mut variants: Vec<Vec<String>> = hosts.into_iter().map(|host| vec![host]).collect();
    for line in [
        "Origin: null".to_owned(),
        "Origin: http://evil.example".to_owned(),
        format!("Origin: http://127.0.0.1:{port}"),
        format!("Origin: http://localhost:{port}"),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
        "Sec-Fetch-Site: same-origin".to_owned(),
        "Sec-Fetch-Site: NONE".to_owned(),
        "Content-Type: text/plain".to_owned(),
        "Content-Type: application/x-www-form-urlencoded".to_owned(),
        "Content-Type: multipart/form-data; boundary=x".to_owned(),
        "Content-Type: application/json; charset=gbk".to_owned(),
        "Content-Type: text/plain, application/json".to_owned(),
        "Content-Type".to_owned(),
        "Host".to_owned(),
    ] {
        variants.push(vec![line]);
    }
    // A second Host, a second site, a name in the request line, other methods, a preflight.
    variants.push(vec![format!("X: 1\r\nHost: evil.example")]);
    variants.push(vec!["Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site".to_owned()]);
    let path = format!("/api/channels/{}/webhook", stage.channel);
    variants.push(vec![format!("POST http://evil.example{path} HTTP/1.1")]);
    variants.push(vec![format!("POST http://127.0.0.1:{port}{path} HTTP/1.1")]);
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] {
        variants.push(vec![format!("POST X\r\nX: {method}")]);
    }
    let mut tried = 0;
    for variant in variants {
        let changes: Vec<&str> = variant.iter().map(String::as_str).collect();
        let answer = match changes[0].strip_prefix("POST X\r\nX: ") {
            None => stage.send(&changes, r#"{"text":"hello"}"#).await,
            Some(method) => {
                let mut head = stage.head(16);
                head[0] = format!("{method} {path} HTTP/1.1");
                crate::support::send(port, &format!("{}\r\n\r\n{{\"text\":\"hello\"}}", head.join("\r\n")))
                    .await
            }
        };
        tried += 1;
        assert!((400..500).contains(&answer.status), "{variant:?} is refused with a reason: {answer:?}");
        assert!(
            !answer.head.to_ascii_lowercase().contains("access-control"),
            "no page is ever told that it may: {answer:?}"
        );
    }
    assert!(tried >= 30, "{tried} variants were tried");
    assert_eq!(stage.desk.made(), 0, "none of {tried} variants makes a task");
    // The control: the same request without any of these is let in, by both names of this computer.
    for host in ["127.0.0.1", "localhost"] {
        let answer = stage
            .send(&[&format!("Host: {host}:{port}"), "Sec-Fetch-Site: none"], r#"{"text":"hello"}"#)
            .await;
        assert_eq!(answer.status, 202, "a program gets in: {answer:?}");
    }
    assert_eq!(stage.desk.made(), 2, "and makes its task");
    println!("{tried} header variants: 0 tasks; the control: 2 of 2");
}

#[tokio::test]
async fn only_the_channels_own_token_opens_it() {
    let stage = Stage::new(limits()).await;
    let (_, other) = crate::support::add_channel(&stage.desk);
    let own = stage.token.reveal().to_owned();
    let body = r#"{"text":"hello"}"#;
    for line in [
        "X-PocketPilot-Token".to_owned(),
        "X-PocketPilot-Token: ".to_owned(),
        "X-PocketPilot-Token: ppt_".to_owned(),
        format!("X-PocketPilot-Token: {}", other.reveal()),
        format!("X-PocketPilot-Token: {}", stage.token.digest()),
        format!("X-PocketPilot-Token: {}", &own[..own.len() - 1]),
        format!("X-PocketPilot-Token: {own}0"),
        format!("X-PocketPilot-Token: {own}\r\nX-PocketPilot-Token: {own}"),
        format!("X-PocketPilot-Token: {own}\r\nAuthorization: Bearer {own}"),
        format!("X-PocketPilot-Token: x\r\nAuthorization: Bearer {own}"),
    ] {
        let answer = stage.send(&[&line], body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (401, Some(ErrorCode::TokenRefused)),
            "{line:?} does not open it"
        );
    }
    for scheme in ["Basic", "Token", ""] {
        let line = format!("Authorization: {scheme} {own}");
        let answer = stage.send(&["X-PocketPilot-Token", &line], body).await;
        assert_eq!(answer.status, 401, "{line:?} is another scheme");
    }
    let nobody = format!("POST /api/channels/{}/webhook HTTP/1.1", pilot_types::ChannelId::new());
    let answer = stage.send(&[&nobody], body).await;
    assert_eq!(
        (answer.status, answer.code()),
        (401, Some(ErrorCode::TokenRefused)),
        "a channel that is not there looks like a wrong token"
    );
    let query = format!("POST /api/channels/{}/webhook?token={own} HTTP/1.1", stage.channel);
    let answer = stage.send(&["X-PocketPilot-Token", &query], body).await;
    assert_eq!(answer.status, 401, "a token in the address counts for nothing");
    assert_eq!(stage.desk.made(), 0, "none of them makes a task");

    let bearer = format!("authorization: bearer {own}");
    let answer = stage.send(&["X-PocketPilot-Token", &bearer], body).await;
    assert_eq!(answer.status, 202, "the general header is as good: {answer:?}");
    stage.desk.channels.lock().unwrap().remove(&stage.channel);
    assert_eq!(stage.text("hello").await.status, 401, "a revoked token is worthless at once");
    assert_eq!(stage.desk.made(), 1, "one task in all");
}
