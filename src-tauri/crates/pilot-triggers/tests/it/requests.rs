//! What a request must look like, and what its sender is told.

use crate::support::{Stage, send};
use pilot_triggers::{IntakeError, TEXT_LIMIT, WebhookLimits, post_local};
use pilot_types::{Channel, ErrorCode};
use std::time::Duration;

#[tokio::test]
async fn a_good_request_is_a_task_of_its_channel() {
    let stage = Stage::new(WebhookLimits::default()).await;
    let answer = stage.send(&[], r#"{"text":"  汇总发票  ","follow_up_of":"T1"}"#).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let made = stage.desk.made.lock().unwrap();
    let (task, channel, intake) = &made[0];
    assert_eq!(answer.body["task"], task.as_str(), "the sender gets the id of the task");
    assert_eq!(*channel, stage.channel, "it belongs to the channel of the address");
    assert_eq!(intake.channel, Channel::Webhook, "and says where it came from");
    assert_eq!(intake.goal, "  汇总发票  ", "the text is passed on as it is");
    assert_eq!(intake.follow_up_of.as_ref().map(|id| id.as_str()), Some("T1"), "with what it follows");
    assert!(
        intake.provider.is_none() && intake.limits.is_none(),
        "a request chooses neither model nor limits"
    );
}

#[tokio::test]
async fn a_text_has_one_to_four_thousand_characters() {
    let stage = Stage::new(WebhookLimits { refused_per_minute: 1_000, ..WebhookLimits::default() }).await;
    for text in ["x".to_owned(), "x".repeat(TEXT_LIMIT), "发".repeat(TEXT_LIMIT), "😀".repeat(TEXT_LIMIT)]
    {
        assert_eq!(stage.text(&text).await.status, 202, "{} characters are taken", text.chars().count());
    }
    // Escaped to the longest form that JSON has, it still fits.
    let escaped = format!(r#"{{"text":"{}"}}"#, r"\ud83d\ude00".repeat(TEXT_LIMIT));
    assert_eq!(stage.send(&[], &escaped).await.status, 202, "however it is written");
    for text in [String::new(), "  \n\t ".to_owned(), "x".repeat(TEXT_LIMIT + 1), "发".repeat(TEXT_LIMIT + 1)]
    {
        let answer = stage.text(&text).await;
        assert_eq!((answer.status, answer.code()), (422, Some(ErrorCode::TextLength)), "{answer:?}");
        let words = answer.body["message"].as_str().unwrap();
        assert!(words.contains("4000"), "the limit is said: {words}");
    }
    assert_eq!(stage.desk.made(), 5, "five good ones");
}

#[tokio::test]
async fn what_is_not_the_object_is_refused_without_being_repeated() {
    let request = Duration::from_millis(500);
    let limits = WebhookLimits { refused_per_minute: 1_000, request, ..WebhookLimits::default() };
    let stage = Stage::new(limits).await;
    for body in [
        "",
        "hello canary",
        "[]",
        "null",
        r#""canary""#,
        r#"{"text":1}"#,
        r#"{"text":null}"#,
        r#"{"goal":"canary"}"#,
        r#"{"text":"canary","text":"canary"}"#,
        r#"{"text":"canary","provider":"env"}"#,
        r#"{"text":"canary","workspace":"/"}"#,
        r#"{"text":"canary","approve":true}"#,
        r#"{"text":"canary","follow_up_of":7}"#,
        r#"{"text":"canary"} {"text":"canary"}"#,
        r#"{"text":"canary"#,
    ] {
        let answer = stage.send(&[], body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, Some(ErrorCode::RequestInvalid)),
            "{body:?}: {answer:?}"
        );
        assert!(!answer.body.to_string().contains("canary"), "nothing of the body comes back: {answer:?}");
    }
    let nested = format!("{{\"text\":{}", "[".repeat(30_000));
    assert_eq!(stage.send(&[], &nested).await.status, 400, "depth is bounded");
    let huge = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    assert!(matches!(stage.send(&[], &huge).await.status, 413 | 0), "size is bounded");
    let length = "Content-Length: 99999999999";
    assert!(
        matches!(stage.send(&[length], r#"{"text":"x"}"#).await.status, 413 | 408 | 0),
        "also one that is only said"
    );
    for path in [
        "/",
        "/api/channels",
        "/api/channels//webhook",
        "/api/channels/a/b/webhook",
        "/webhook",
        "/../etc/passwd",
    ] {
        let answer = stage.send(&[&format!("POST {path} HTTP/1.1")], r#"{"text":"x"}"#).await;
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
    }
    assert_eq!(stage.desk.made(), 0, "no task");
}

#[tokio::test]
async fn what_the_other_side_refuses_is_told_by_its_code() {
    let stage = Stage::new(WebhookLimits { refused_per_minute: 1_000, ..WebhookLimits::default() }).await;
    for (code, status) in [
        (ErrorCode::QueueFull, 503),
        (ErrorCode::AutomationsPaused, 503),
        (ErrorCode::TaskNotFound, 422),
        (ErrorCode::WorkspaceGone, 409),
        (ErrorCode::ConsentRequired, 409),
        (ErrorCode::Internal, 500),
    ] {
        *stage.desk.refuse.lock().unwrap() = Some(IntakeError { code, detail: "secret detail".to_owned() });
        let answer = stage.text("hello").await;
        assert_eq!((answer.status, answer.code()), (status, Some(code)), "{answer:?}");
        let told = answer.body["message"].as_str().unwrap().contains("secret");
        assert_eq!(told, status != 500, "words of a fault stay in the log");
        assert_eq!(answer.head.contains("retry-after"), status == 503, "when to come back is said");
    }
}

#[tokio::test]
async fn sixty_good_requests_a_minute_are_let_through_whatever_else_comes() {
    let limits = WebhookLimits { good_per_minute: 60, refused_per_minute: 5, ..WebhookLimits::default() };
    let stage = Stage::new(limits).await;
    let mut told = 0;
    for _ in 0..50 {
        let answer = stage.send(&["X-PocketPilot-Token: wrong"], r#"{"text":"x"}"#).await;
        assert!(matches!(answer.status, 401 | 429), "refused, one way or the other");
        told += u32::from(answer.status == 401);
    }
    assert!((5..=10).contains(&told), "beyond the limit no reason is given any more: {told}");
    for number in 0..60 {
        assert_eq!(
            stage.text("hello").await.status,
            202,
            "good request {number} is let through all the same"
        );
    }
    let (other, token) = crate::support::add_channel(&stage.desk);
    let mut limited = 0;
    for _ in 0..20 {
        limited += u32::from(stage.text("hello").await.status == 429);
    }
    assert!(limited >= 15, "beyond the limit a channel must wait: {limited}");
    assert_eq!(
        post_local(stage.port, &other, token.reveal(), "hello").await.map(|_| ()),
        Ok(()),
        "another channel is not held up"
    );
}

#[tokio::test]
async fn refused_requests_of_a_channel_are_told_once() {
    let stage =
        Stage::new(WebhookLimits { tell: Duration::from_millis(50), ..WebhookLimits::default() }).await;
    for _ in 0..3 {
        stage.send(&["X-PocketPilot-Token: wrong"], r#"{"text":"x"}"#).await;
    }
    let nobody = format!("POST /api/channels/{}/webhook HTTP/1.1", pilot_types::ChannelId::new());
    stage.send(&[&nobody], r#"{"text":"x"}"#).await;
    stage.send(&["Origin: http://evil.example"], r#"{"text":"x"}"#).await;
    let (desk, channel) = (stage.desk.clone(), stage.channel.clone());
    stage.webhook.shutdown(Duration::from_secs(1)).await;
    let told = desk.told.lock().unwrap();
    assert_eq!(told.iter().map(|calls| calls.times).sum::<u64>(), 4, "each is counted once: {told:?}");
    assert!(
        told.iter().all(|calls| calls.channel == channel),
        "a channel that is not there has no row: {told:?}"
    );
    assert_eq!(told.last().unwrap().code, ErrorCode::CallerRefused, "with the last reason");
}

#[tokio::test]
async fn the_probe_goes_through_the_same_door() {
    let stage = Stage::new(WebhookLimits::default()).await;
    let task = post_local(stage.port, &stage.channel, stage.token.reveal(), "test").await.unwrap();
    assert_eq!(stage.desk.made.lock().unwrap()[0].0, task, "it gives the task that was made");
    let refused = post_local(stage.port, &stage.channel, "wrong", "test").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::TokenRefused, "or why there is none");
    for token in ["", "a\r\nX: y", "a b"] {
        let refused = post_local(stage.port, &stage.channel, token, "test").await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::TokenRefused, "{token:?} is never sent");
    }
    let port = stage.port;
    stage.webhook.shutdown(Duration::from_secs(1)).await;
    let off = post_local(port, &stage.channel, stage.token.reveal(), "test").await.unwrap_err();
    assert_eq!(off.code, ErrorCode::WebhookOff, "nobody is there any more: {off}");
    assert_eq!(stage.desk.made(), 1, "one task in all");
}

#[tokio::test]
async fn a_taken_port_is_said_with_its_number() {
    let stage = Stage::new(WebhookLimits::default()).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let error =
        pilot_triggers::Webhook::start(stage.desk.clone(), stage.port, WebhookLimits::default(), &stop)
            .await
            .err()
            .unwrap();
    assert_eq!(error.code(), ErrorCode::PortTaken, "{error}");
    assert!(error.to_string().contains(&stage.port.to_string()), "the number is said: {error}");
}

#[tokio::test]
async fn several_requests_on_one_connection_are_each_checked() {
    let stage = Stage::new(WebhookLimits::default()).await;
    let body = r#"{"text":"one"}"#;
    let mut good = stage.head(body.len());
    good.pop();
    let bad: Vec<String> = good
        .iter()
        .map(|line| if line.starts_with("Host") { "Host: evil.example".to_owned() } else { line.clone() })
        .chain(["Connection: close".to_owned()])
        .collect();
    let both = format!("{}\r\n\r\n{body}{}\r\n\r\n{body}", good.join("\r\n"), bad.join("\r\n"));
    send(stage.port, &both).await;
    assert_eq!(stage.desk.made(), 1, "the second is as much a stranger as if it came alone");
}
