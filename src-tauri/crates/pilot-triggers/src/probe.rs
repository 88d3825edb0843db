//! One real request to the local webhook, as a program would send it. The test button uses it: what it shows went
//! through every check.

use pilot_types::{ChannelId, ErrorCode, TaskId};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Time for the whole request.
const LIMIT: Duration = Duration::from_secs(10);
/// Bytes of an answer at most.
const ANSWER_LIMIT: u64 = 64 * 1024;

/// Why a test request made no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct ProbeError {
    /// Code: the webhook's own, where it answered.
    pub code: ErrorCode,
    /// Words for the log; never the token.
    pub detail: String,
}

impl ProbeError {
    fn off(detail: impl Into<String>) -> Self {
        Self { code: ErrorCode::WebhookOff, detail: detail.into() }
    }
}

/// Sends a text to a channel and gives the task that it made.
///
/// # Errors
/// Nobody listens there, or the webhook refused.
pub async fn post_local(
    port: u16,
    channel: &ChannelId,
    token: &str,
    text: &str,
) -> Result<TaskId, ProbeError> {
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !plain(token) || !channel.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(ProbeError { code: ErrorCode::TokenRefused, detail: "not a token".to_owned() });
    }
    let body = serde_json::json!({ "text": text }).to_string();
    let head = format!(
        "POST /api/channels/{channel}/webhook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         X-PocketPilot-Token: {token}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let exchange = async {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_LIMIT).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    match tokio::time::timeout(LIMIT, exchange).await {
        Ok(Ok(answer)) => read(&answer),
        Ok(Err(error)) => Err(ProbeError::off(format!("nobody answers on port {port}: {error}"))),
        Err(_) => Err(ProbeError::off(format!("no answer on port {port} in time"))),
    }
}

fn read(answer: &[u8]) -> Result<TaskId, ProbeError> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) =
        text.split_once("\r\n\r\n").ok_or_else(|| ProbeError::off("what answered is not the webhook"))?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    if status == "202"
        && let Some(task) = body["task"].as_str()
    {
        return Ok(TaskId::from_text(task));
    }
    let code = body["code"].as_str().and_then(ErrorCode::from_text).unwrap_or(ErrorCode::WebhookOff);
    Err(ProbeError { code, detail: format!("answered {status}") })
}
