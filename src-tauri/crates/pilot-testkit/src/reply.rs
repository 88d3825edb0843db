//! What a model server answers, piece by piece, and how it misbehaves.

use serde_json::Value;
use std::time::Duration;

/// A piece of an answer's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing for a while.
    Wait(Duration),
    /// This many copies of the byte, with no line end between them.
    Flood(u8, u64),
    /// These bytes again and again, until the other side goes.
    Forever(Vec<u8>),
    /// The connection is reset.
    Reset,
    /// The connection ends without the end of the body that was announced.
    Vanish,
    /// Nothing more, for ever; the connection stays.
    Silence,
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP status; 0 closes the connection before anything is said.
    pub status: u16,
    /// Headers besides those of the framing.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub pieces: Vec<Piece>,
    /// Seconds before the first byte of the head.
    pub delay: Duration,
}

impl Reply {
    /// An answer with this status, type and body.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            pieces: vec![Piece::Bytes(body.into())],
            delay: Duration::ZERO,
        }
    }

    /// A JSON answer.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json; charset=utf-8", body.to_string())
    }

    /// A stream of server-sent events, each given as its data, ended by `[DONE]`.
    #[must_use]
    pub fn sse(events: &[Value]) -> Self {
        let mut reply = Self::sse_cut(events);
        reply.pieces.push(Piece::Bytes(b"data: [DONE]\n\n".to_vec()));
        reply
    }

    /// A stream of server-sent events that ends without `[DONE]`.
    #[must_use]
    pub fn sse_cut(events: &[Value]) -> Self {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Self::new(200, "text/event-stream", body)
    }

    /// Closes the connection before anything is said.
    #[must_use]
    pub fn hang_up() -> Self {
        Self { status: 0, headers: Vec::new(), pieces: Vec::new(), delay: Duration::ZERO }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a piece at the end of the body.
    #[must_use]
    pub fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    /// Waits before the head.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Cuts the bytes at arbitrary places, the same for the same seed. A cut may fall inside a character or a line end.
    #[must_use]
    pub fn split(mut self, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut cut = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Bytes(bytes) => {
                    let mut rest = bytes.as_slice();
                    while !rest.is_empty() {
                        let length = 1 + usize::try_from(next() % 97).unwrap_or(0);
                        let (head, tail) = rest.split_at(length.min(rest.len()));
                        cut.push(Piece::Bytes(head.to_vec()));
                        rest = tail;
                    }
                }
                Piece::Wait(_)
                | Piece::Flood(..)
                | Piece::Forever(_)
                | Piece::Reset
                | Piece::Vanish
                | Piece::Silence => cut.push(piece),
            }
        }
        self.pieces = cut;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_split_answer_is_the_same_answer() {
        let whole = Reply::sse(&[json!({ "text": "发票汇总" })]);
        let bytes = |reply: &Reply| -> Vec<u8> {
            reply
                .pieces
                .iter()
                .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes.clone() } else { Vec::new() })
                .collect()
        };
        for seed in 0..20 {
            let split = whole.clone().split(seed);
            assert_eq!(bytes(&split), bytes(&whole), "seed {seed} loses nothing");
            assert_eq!(split, whole.clone().split(seed), "seed {seed} cuts the same twice");
        }
    }
}
