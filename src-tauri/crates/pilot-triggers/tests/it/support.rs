//! A webhook with a memory for a service, and a client that sends exactly the bytes it is told.

use async_trait::async_trait;
use pilot_triggers::{CallIntake, ChannelEntry, IntakeError, RefusedCalls, Token, Webhook, WebhookLimits};
use pilot_types::{ChannelId, ErrorCode, TaskId, TaskIntake, WorkspaceId};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// Takes in what the webhook lets through.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) channels: Mutex<HashMap<ChannelId, ChannelEntry>>,
    pub(crate) made: Mutex<Vec<(TaskId, ChannelId, TaskIntake)>>,
    pub(crate) told: Mutex<Vec<RefusedCalls>>,
    /// What `submit` answers instead of making a task.
    pub(crate) refuse: Mutex<Option<IntakeError>>,
}

#[async_trait]
impl CallIntake for Desk {
    async fn channel(&self, id: &ChannelId) -> Result<Option<ChannelEntry>, IntakeError> {
        Ok(self.channels.lock().unwrap().get(id).cloned())
    }

    async fn submit(&self, channel: &ChannelId, intake: TaskIntake) -> Result<TaskId, IntakeError> {
        if let Some(error) = self.refuse.lock().unwrap().clone() {
            return Err(error);
        }
        let task = TaskId::new();
        self.made.lock().unwrap().push((task.clone(), channel.clone(), intake));
        Ok(task)
    }

    async fn refused(&self, calls: &[RefusedCalls]) -> Result<(), IntakeError> {
        self.told.lock().unwrap().extend_from_slice(calls);
        Ok(())
    }
}

impl Desk {
    pub(crate) fn made(&self) -> usize {
        self.made.lock().unwrap().len()
    }
}

/// A webhook that listens, with one channel.
pub(crate) struct Stage {
    pub(crate) desk: Arc<Desk>,
    pub(crate) webhook: Webhook,
    pub(crate) port: u16,
    pub(crate) channel: ChannelId,
    pub(crate) token: Token,
}

impl Stage {
    pub(crate) async fn new(limits: WebhookLimits) -> Self {
        let desk = Arc::new(Desk::default());
        let stop = CancellationToken::new();
        let webhook = Webhook::start(desk.clone(), 0, limits, &stop).await.unwrap();
        let (channel, token) = add_channel(&desk);
        Self { port: webhook.port(), desk, webhook, channel, token }
    }

    /// Head lines of a request that is all right, without the empty line at the end.
    pub(crate) fn head(&self, length: usize) -> Vec<String> {
        vec![
            format!("POST /api/channels/{}/webhook HTTP/1.1", self.channel),
            format!("Host: 127.0.0.1:{}", self.port),
            "Content-Type: application/json".to_owned(),
            format!("X-PocketPilot-Token: {}", self.token.reveal()),
            format!("Content-Length: {length}"),
            "Connection: close".to_owned(),
        ]
    }

    /// A request that is all right but for the lines that are replaced (by the name before the colon) or added.
    pub(crate) async fn send(&self, changes: &[&str], body: &str) -> Answer {
        let mut head = self.head(body.len());
        for change in changes {
            let name = change.split([':', ' ']).next().unwrap_or_default().to_ascii_lowercase();
            let line = head.iter_mut().find(|line| line.to_ascii_lowercase().starts_with(&name));
            match line {
                Some(line) => *line = (*change).to_owned(),
                None => head.push((*change).to_owned()),
            }
        }
        // A bare name takes the header away.
        head.retain(|line| line.contains(' '));
        send(self.port, &format!("{}\r\n\r\n{body}", head.join("\r\n"))).await
    }

    pub(crate) async fn text(&self, text: &str) -> Answer {
        self.send(&[], &serde_json::json!({ "text": text }).to_string()).await
    }
}

pub(crate) fn add_channel(desk: &Desk) -> (ChannelId, Token) {
    let (channel, token) = (ChannelId::new(), Token::make());
    let entry = ChannelEntry { workspace: WorkspaceId::new(), token: token.digest() };
    desk.channels.lock().unwrap().insert(channel.clone(), entry);
    (channel, token)
}

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// 0 when the connection was closed without an answer.
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

impl Answer {
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        self.body["code"].as_str().and_then(ErrorCode::from_text)
    }
}

/// Sends bytes and reads to the end.
pub(crate) async fn send(port: u16, bytes: &str) -> Answer {
    let exchange = async {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        // A server may refuse before it has read everything, and close.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        Ok::<_, std::io::Error>(answer)
    };
    let answer =
        tokio::time::timeout(Duration::from_secs(20), exchange).await.expect("an answer in time").unwrap();
    read(&answer)
}

pub(crate) fn read(answer: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Answer::default() };
    Answer {
        status: head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0),
        head: head.to_owned(),
        body: serde_json::from_str(body).unwrap_or_default(),
    }
}
