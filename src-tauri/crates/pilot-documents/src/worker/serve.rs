//! The worker's loop.

use super::protocol::{Request, read_request, write_reply};
use crate::error::DocumentError;
use crate::extract::{extract, refused};
use crate::model::{Document, DocumentKind, DocumentStatus, ExtractOptions};
use crate::{Analyzer, kind, limits};
use pilot_types::ErrorCode;
use std::io::{self, BufReader, BufWriter, Read, Write};

/// Answers requests until the input ends.
///
/// # Errors
/// Those of the pipes, and a request that does not fit the protocol. What the documents hold is never an error.
pub fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::new(output);
    let mut analyzer: Option<Analyzer> = None;
    while let Some(request) = read_request(&mut input)? {
        match request {
            Request::Extract { name, len, options } => {
                let document = document(&name, len, &options, &mut input)?;
                write_reply(&mut output, document)?;
            }
            Request::AnalyzeBegin { options } => {
                analyzer = Some(Analyzer::new(options));
                write_reply(&mut output, ())?;
            }
            Request::AnalyzeAdd { name, len } => {
                let mut body = input.by_ref().take(len);
                match &mut analyzer {
                    Some(analyzer) if len <= limits::STREAM_BYTES => analyzer.add_stream(&name, &mut body)?,
                    Some(analyzer) => analyzer.add_unread(
                        &name,
                        ErrorCode::DocumentLimit,
                        &format!("more than {} bytes", limits::STREAM_BYTES),
                    ),
                    None => return Err(unexpected()),
                }
                drain(body)?;
                write_reply(&mut output, ())?;
            }
            Request::AnalyzeUnread { name, code, reason } => {
                analyzer.as_mut().ok_or_else(unexpected)?.add_unread(&name, code, &reason);
                write_reply(&mut output, ())?;
            }
            Request::AnalyzeFinish => {
                let analyzer = analyzer.take().ok_or_else(unexpected)?;
                write_reply(&mut output, analyzer.finish())?;
            }
        }
    }
    Ok(())
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no analysis was begun")
}

fn drain(mut body: impl Read) -> io::Result<()> {
    io::copy(&mut body, &mut io::sink()).map(|_| ())
}

/// Reads one document. Of a text beyond the limit the beginning is given, and that is said.
fn document(name: &str, len: u64, options: &ExtractOptions, input: &mut impl Read) -> io::Result<Document> {
    let mut body = input.by_ref().take(len);
    let mut bytes = Vec::new();
    body.by_ref().take(limits::DOCUMENT_BYTES).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < len.min(limits::DOCUMENT_BYTES) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    drain(body)?;
    let kind = kind::of(name, &bytes);
    if len > limits::DOCUMENT_BYTES && !matches!(kind, DocumentKind::Csv | DocumentKind::Text) {
        let error = DocumentError::Limit(format!(
            "the file has {len} bytes; {} are read at most",
            limits::DOCUMENT_BYTES
        ));
        return Ok(refused(kind, &error));
    }
    let mut document = extract(name, &bytes, options);
    if len > limits::DOCUMENT_BYTES && document.status == DocumentStatus::Complete {
        document.status = DocumentStatus::Partial;
        document.code = Some(ErrorCode::DocumentLimit);
        document
            .notes
            .push(format!("the file has {len} bytes; the first {} were read", limits::DOCUMENT_BYTES));
    }
    Ok(document)
}
