//! An OpenAI-compatible server on loopback that plays prepared answers and keeps what it was asked.
#![expect(clippy::expect_used, reason = "test support: a server that cannot be started is a failed test")]

use crate::reply::{Piece, Reply};
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// `POST`, `GET` …
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Played {
    replies: VecDeque<Reply>,
    requests: Vec<RecordedRequest>,
}

/// The server; stopped when dropped.
pub struct ModelServer {
    address: SocketAddr,
    played: Arc<Mutex<Played>>,
    accepting: JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ModelServer {
    /// Starts on a free port. The k-th request gets the k-th reply; one beyond the last gets a 500 that says so.
    pub async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on loopback");
        let address = listener.local_addr().expect("its address");
        let played = Arc::new(Mutex::new(Played { replies: replies.into(), requests: Vec::new() }));
        let shared = Arc::clone(&played);
        let accepting = tokio::spawn(async move {
            // Connections end with the server: the set aborts what it holds when it is dropped.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, played, accepting }
    }

    /// `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a reply after those that are left.
    pub fn push(&self, reply: Reply) {
        lock(&self.played).replies.push_back(reply);
    }

    /// What came so far.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.played).requests.clone()
    }
}

fn lock(played: &Mutex<Played>) -> MutexGuard<'_, Played> {
    played.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, played: Arc<Mutex<Played>>) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = next_request(&mut stream, &mut buffer).await {
        let reply = {
            let mut played = lock(&played);
            played.requests.push(request);
            played.replies.pop_front()
        };
        let reply = reply.unwrap_or_else(|| Reply::new(500, "text/plain", "no further reply is prepared"));
        if !matches!(answer(&mut stream, reply).await, Ok(true)) {
            return;
        }
    }
}

/// Reads one request; `None` at the end of the connection.
async fn next_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<RecordedRequest>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let end = head_end + 4 + length;
    while buffer.len() < end {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[head_end + 4..end].to_vec();
    buffer.drain(..end);
    Ok(Some(RecordedRequest {
        method: first.next().unwrap_or_default(),
        path: first.next().unwrap_or_default(),
        headers,
        body,
    }))
}

/// Plays an answer; true when the connection can take another request.
async fn answer(stream: &mut TcpStream, reply: Reply) -> io::Result<bool> {
    tokio::time::sleep(reply.delay).await;
    if reply.status == 0 {
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {} Played\r\nTransfer-Encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    for piece in reply.pieces {
        match piece {
            Piece::Bytes(bytes) => chunk(stream, &bytes).await?,
            Piece::Wait(time) => tokio::time::sleep(time).await,
            Piece::Flood(byte, total) => {
                let block = vec![byte; 1 << 16];
                let mut left = total;
                while left > 0 {
                    let now = left.min(1 << 16);
                    chunk(stream, &block[..usize::try_from(now).unwrap_or(block.len())]).await?;
                    left -= now;
                }
            }
            Piece::Forever(bytes) => loop {
                chunk(stream, &bytes).await?;
            },
            Piece::Reset => {
                stream.set_zero_linger()?;
                return Ok(false);
            }
            Piece::Vanish => return Ok(false),
            Piece::Silence => std::future::pending().await,
        }
    }
    stream.write_all(b"0\r\n\r\n").await?;
    Ok(true)
}

async fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    stream.write_all(&framed).await?;
    stream.flush().await
}
