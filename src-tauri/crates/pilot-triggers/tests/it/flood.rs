//! Ten thousand requests of every kind (a tenth in the normal run): what is accepted is what is made, and memory stays.

use crate::support::{Stage, read};
use futures_util::StreamExt as _;
use pilot_triggers::WebhookLimits;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn requests() -> usize {
    if std::env::var_os("POCKETPILOT_SOAK").is_some() { 10_000 } else { 1_000 }
}

/// Resident bytes of this process.
#[expect(clippy::disallowed_methods, reason = "the test looks at its own process")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) * 1024
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Good,
    WrongToken,
    WebPage,
    NotJson,
    Huge,
    SlowHead,
    SlowBody,
    BreaksOff,
    Nonsense,
}

const KINDS: [Kind; 9] = [
    Kind::Good,
    Kind::WrongToken,
    Kind::WebPage,
    Kind::NotJson,
    Kind::Huge,
    Kind::SlowHead,
    Kind::SlowBody,
    Kind::BreaksOff,
    Kind::Nonsense,
];

/// Sends one of a kind; gives the status, 0 for none.
async fn one(stage: &Stage, kind: Kind) -> std::io::Result<u16> {
    let body = match kind {
        Kind::NotJson => "hello".to_owned(),
        Kind::Huge => format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20)),
        _ => r#"{"text":"hello"}"#.to_owned(),
    };
    let mut head = stage.head(body.len());
    match kind {
        Kind::WrongToken => head[3] = "X-PocketPilot-Token: wrong".to_owned(),
        Kind::WebPage => head.push("Origin: http://evil.example".to_owned()),
        _ => {}
    }
    let head = format!("{}\r\n\r\n", head.join("\r\n"));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, stage.port)).await?;
    match kind {
        Kind::SlowHead => {
            // Never comes to its end; the server gives up first.
            for byte in head.as_bytes().iter().take(10_000) {
                if stream.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                if *byte == b'\r' {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        }
        Kind::SlowBody => {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(b"{").await?;
            tokio::time::sleep(Duration::from_millis(900)).await;
        }
        Kind::BreaksOff => {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body.as_bytes()[..4]).await?;
            return Ok(0);
        }
        Kind::Nonsense => {
            let _ = stream.write_all(&[0xff; 40_000]).await;
        }
        _ => {
            stream.write_all(head.as_bytes()).await?;
            let _ = stream.write_all(body.as_bytes()).await;
        }
    }
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
    Ok(read(&answer).status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_accepted_is_what_is_made() {
    let limits = WebhookLimits {
        good_per_minute: 1_000_000,
        refused_per_minute: 1_000_000,
        head: Duration::from_millis(500),
        request: Duration::from_millis(500),
        connection: Duration::from_secs(3),
        ..WebhookLimits::default()
    };
    let stage = Stage::new(limits).await;
    let total = requests();
    // Each kind once, so that what is allocated once does not count.
    for kind in KINDS {
        let _ = one(&stage, kind).await;
    }
    let warm = stage.desk.made();
    let (before, begun) = (resident(), Instant::now());
    let (accepted, strangers, peak) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    futures_util::stream::iter(0..total)
        .for_each_concurrent(96, |number| {
            let (stage, accepted, strangers, peak) = (&stage, &accepted, &strangers, &peak);
            async move {
                // Slow ones are one in fifty, or the run would be nothing else.
                let kind = match number % 50 {
                    0 => Kind::SlowHead,
                    1 => Kind::SlowBody,
                    other => [
                        Kind::Good,
                        Kind::WrongToken,
                        Kind::WebPage,
                        Kind::NotJson,
                        Kind::Huge,
                        Kind::BreaksOff,
                        Kind::Nonsense,
                    ][other % 7],
                };
                let status = one(stage, kind).await.unwrap_or(0);
                if status == 202 {
                    accepted.fetch_add(1, Ordering::Relaxed);
                    if kind != Kind::Good {
                        strangers.fetch_add(1, Ordering::Relaxed);
                    }
                } else {
                    assert_ne!(kind, Kind::Good, "a good request is accepted, it got {status}");
                }
                if number % 50 == 0 {
                    peak.fetch_max(resident(), Ordering::Relaxed);
                }
            }
        })
        .await;
    let (accepted, made) = (accepted.into_inner(), stage.desk.made() - warm);
    let grown = peak.into_inner().max(resident()).saturating_sub(before);
    println!(
        "{total} requests of {} kinds in {:?}: {accepted} accepted, {made} made, {} of strangers, memory +{} KiB at most",
        KINDS.len(),
        begun.elapsed(),
        strangers.load(Ordering::Relaxed),
        grown / 1024
    );
    assert_eq!(accepted, made, "accepted is made, and nothing else is");
    assert!(accepted >= total / 8, "good ones were among them: {accepted}");
    assert_eq!(strangers.into_inner(), 0, "nobody else was accepted");
    assert!(grown < 64 << 20, "memory stays bounded, it grew by {grown} bytes");
}
