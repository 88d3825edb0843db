//! Frames between parent and worker. All lengths are 32-bit little-endian.
//!
//! A request is `[length][JSON]`, and where the JSON has a `len`, that many bytes follow. A reply is
//! `[length][{"ok": …}]`.

use crate::model::{AnalyzeOptions, ExtractOptions};
use pilot_types::ErrorCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Longest header.
pub const HEADER_BYTES: u32 = 256 << 10;
/// Longest reply that a parent needs to take.
pub const REPLY_BYTES: u32 = 512 << 20;

/// What the parent asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Read one document; its bytes follow. Answered by a `Document`.
    Extract {
        /// Name, for its ending.
        name: String,
        /// Bytes that follow.
        len: u64,
        /// Options.
        #[serde(default)]
        options: ExtractOptions,
    },
    /// Begin an analysis. Answered by `null`.
    AnalyzeBegin {
        /// Options.
        #[serde(default)]
        options: AnalyzeOptions,
    },
    /// Add a file to the analysis; its bytes follow. Answered by `null`.
    AnalyzeAdd {
        /// Name, for its ending and for provenance.
        name: String,
        /// Bytes that follow.
        len: u64,
    },
    /// Note a file that could not be opened. Answered by `null`.
    AnalyzeUnread {
        /// Name.
        name: String,
        /// Code.
        code: ErrorCode,
        /// In words.
        reason: String,
    },
    /// End the analysis. Answered by an `Analysis`.
    AnalyzeFinish,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply<T> {
    /// What was asked for.
    pub ok: T,
}

/// Writes the header of a request. The bytes that its `len` promises must follow.
///
/// # Errors
/// Those of the pipe, and a header beyond [`HEADER_BYTES`].
pub fn write_request_header(mut output: impl Write, request: &Request) -> io::Result<()> {
    let header = serde_json::to_vec(request).map_err(io::Error::other)?;
    let length = u32::try_from(header.len()).ok().filter(|length| *length <= HEADER_BYTES);
    let length = length
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the request's header is too long"))?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&header)
}

/// Writes a request with its bytes, and sends it off.
///
/// # Errors
/// Those of the pipe.
pub fn write_request(mut output: impl Write, request: &Request, body: &[u8]) -> io::Result<()> {
    write_request_header(&mut output, request)?;
    output.write_all(body)?;
    output.flush()
}

/// Reads a reply of a known kind.
///
/// # Errors
/// Those of the pipe, a reply beyond the limit, and one that is not of this kind. All of them mean that the worker is of
/// no further use.
pub fn read_reply<T: DeserializeOwned>(mut input: impl Read) -> io::Result<T> {
    let mut length = [0u8; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > REPLY_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the reply is too long"));
    }
    let mut text = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut text)?;
    if text.len() != length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let reply: Reply<T> =
        serde_json::from_slice(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(reply.ok)
}

/// Reads the header of the next request; `None` at the end of the stream.
pub(super) fn read_request(mut input: impl Read) -> io::Result<Option<Request>> {
    let mut length = [0u8; 4];
    let mut filled = 0;
    while filled < 4 {
        match input.read(&mut length[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    let length = u32::from_le_bytes(length);
    if length > HEADER_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the request's header is too long"));
    }
    let mut header = vec![0u8; length as usize];
    input.read_exact(&mut header)?;
    serde_json::from_slice(&header)
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

pub(super) fn write_reply<T: Serialize>(mut output: impl Write, ok: T) -> io::Result<()> {
    let text = serde_json::to_vec(&Reply { ok }).map_err(io::Error::other)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&text)?;
    output.flush()
}
