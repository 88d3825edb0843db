//! One exchange over HTTP: bytes out, bytes in, each wait and each size bounded.

use super::config::{AnswerLimits, Patience};
use super::draft::{Asked, Reading, bad};
use super::format::WireFormat;
use super::sse::EventReader;
use super::status::{self, Again, Failure};
use pilot_agent::{DeltaSink, ModelAnswer, ModelError};
use pilot_types::ErrorCode;
use reqwest::{Client, Request, Response, Url, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

/// Bytes of an error's body that are read.
const ERROR_BODY: usize = 64 << 10;
/// Longest wait for an error's body.
const ERROR_WAIT: Duration = Duration::from_secs(10);
/// Bytes of a list of models.
const MODELS_BODY: usize = 4 << 20;
/// Models of a list, and characters of a name: more is nothing that a person could choose from.
const MODELS: usize = 2_000;
const MODEL_NAME: usize = 200;
/// Wait for the end of a stream after its last event, so that the connection can be used for the next step.
const END_WAIT: Duration = Duration::from_millis(20);

/// A client that goes to this address only: no redirect is followed, and a server on this computer is reached without
/// proxy and, over http, without loading certificates.
pub(crate) fn client(base: &Url, patience: &Patience) -> Result<Client, ModelError> {
    let local = super::address::is_loopback(base);
    // Servers on this computer close idle connections after a few seconds; one that is just closing would cost a retry.
    let idle = if local { Duration::from_secs(4) } else { Duration::from_secs(50) };
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(patience.connect)
        .pool_idle_timeout(idle)
        .user_agent(concat!("PocketPilot/", env!("CARGO_PKG_VERSION")));
    if local {
        builder = builder.no_proxy();
    }
    if base.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    builder
        .build()
        .map_err(|error| ModelError::new(ErrorCode::Internal, format!("no HTTP client: {}", words(&error))))
}

/// Sends a request and looks at the status of the answer.
pub(crate) async fn send(
    client: &Client,
    request: Request,
    first_byte: Duration,
) -> Result<Response, Failure> {
    let response = match timeout(first_byte, client.execute(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(failed(&error)),
        Err(_) => return Err(too_late(first_byte)),
    };
    let code = response.status();
    if code.is_success() {
        return Ok(response);
    }
    let headers = response.headers().clone();
    let body =
        timeout(ERROR_WAIT.min(first_byte), bounded_body(response, ERROR_BODY)).await.unwrap_or_default();
    Err(status::failure(code.as_u16(), &headers, &body))
}

/// What went wrong before there was an answer.
pub(crate) fn failed(error: &reqwest::Error) -> Failure {
    if error.is_builder() {
        return Failure::new(Again::Never, ErrorCode::SettingsInvalid, words(error));
    }
    Failure::new(
        Again::Soon,
        ErrorCode::ProviderUnavailable,
        format!("the provider cannot be reached: {}", words(error)),
    )
}

fn too_late(limit: Duration) -> Failure {
    Failure::new(
        Again::Never,
        ErrorCode::ProviderTimeout,
        format!("the provider said nothing for {} s", limit.as_secs()),
    )
}

/// An error with its causes, without the address: a query may hold a key.
fn words(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&error.to_string());
        cause = error.source();
    }
    if text.is_empty() { "no connection".to_owned() } else { text.chars().take(300).collect() }
}

/// As much of a body as fits; what comes after is left.
async fn bounded_body(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if body.len() >= limit {
            break;
        }
    }
    body
}

/// The names in the answer of `/models`.
pub(crate) async fn model_names(response: Response) -> Result<Vec<String>, Failure> {
    let body = bounded_body(response, MODELS_BODY).await;
    let list: Value = serde_json::from_slice(&body).map_err(|_| {
        Failure::new(Again::Never, ErrorCode::ProviderBadResponse, "the list of models cannot be read")
    })?;
    let entries =
        list.get("data").or_else(|| list.get("models")).and_then(Value::as_array).ok_or_else(|| {
            Failure::new(Again::Never, ErrorCode::ProviderBadResponse, "the answer is no list of models")
        })?;
    let name = |entry: &Value| {
        ["id", "name"].iter().find_map(|key| entry.get(*key).and_then(Value::as_str)).map(str::to_owned)
    };
    let usable = |name: &String| {
        !name.is_empty() && name.chars().count() <= MODEL_NAME && !name.chars().any(pilot_types::is_invisible)
    };
    Ok(entries.iter().filter_map(name).filter(usable).take(MODELS).collect())
}

/// One attempt at an answer.
pub(crate) struct Exchange<'a> {
    pub(crate) format: WireFormat,
    pub(crate) client: &'a Client,
    pub(crate) limits: &'a AnswerLimits,
    pub(crate) patience: &'a Patience,
}

/// What kind of body an answer turned out to have.
enum Form {
    /// Nothing but blanks yet.
    Unknown,
    /// Events.
    Stream(EventReader),
    /// One JSON value, which some servers send although a stream was asked for.
    Whole(Vec<u8>),
}

impl Exchange<'_> {
    pub(crate) async fn run(
        &self,
        request: Request,
        asked: &Asked<'_>,
        deltas: &dyn DeltaSink,
    ) -> Result<ModelAnswer, Failure> {
        let response = send(self.client, request, self.patience.first_byte).await?;
        let mut reading = self.format.reading(self.limits);
        self.read(response, &mut *reading, deltas).await?;
        reading.end(asked, deltas).map_err(|error| {
            let again =
                if error.code == ErrorCode::ProviderStreamBroken { Again::Soon } else { Again::Never };
            Failure { error, again }
        })
    }

    async fn read(
        &self,
        mut response: Response,
        reading: &mut dyn Reading,
        deltas: &dyn DeltaSink,
    ) -> Result<(), Failure> {
        let mut form = Form::Unknown;
        let mut received = 0_u64;
        loop {
            let limit = self.next_wait(received, reading);
            let bytes = match timeout(limit, response.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => break,
                // Nothing that matters is missing any more.
                Ok(Err(_)) | Err(_) if reading.has_finish() => return Ok(()),
                Ok(Err(error)) => return Err(broken(&error, received)),
                Err(_) => return Err(too_late(limit)),
            };
            received += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if received > self.limits.wire {
                let words = format!("the answer did not end within {} bytes", self.limits.wire);
                return Err(Failure::new(Again::Never, ErrorCode::ProviderBadResponse, words));
            }
            self.take(&mut form, &bytes, reading, deltas)?;
            if reading.is_done() {
                let _ = timeout(END_WAIT, response.chunk()).await;
                return Ok(());
            }
        }
        match form {
            Form::Unknown => Err(Failure::new(
                Again::Soon,
                ErrorCode::ProviderStreamBroken,
                "the provider answered with nothing",
            )),
            Form::Stream(mut reader) => reader.finish(|data| reading.take(data, deltas)),
            Form::Whole(body) => reading.take(&body, deltas),
        }
    }

    fn next_wait(&self, received: u64, reading: &dyn Reading) -> Duration {
        if received == 0 {
            self.patience.first_byte
        } else if reading.has_finish() {
            self.patience.tail.min(self.patience.idle)
        } else {
            self.patience.idle
        }
    }

    fn take(
        &self,
        form: &mut Form,
        bytes: &[u8],
        reading: &mut dyn Reading,
        deltas: &dyn DeltaSink,
    ) -> Result<(), Failure> {
        if matches!(form, Form::Unknown) {
            let mark = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
            match bytes.iter().find(|byte| !mark(byte)) {
                None => return Ok(()),
                Some(b'{' | b'[') => *form = Form::Whole(Vec::new()),
                Some(_) => *form = Form::Stream(EventReader::new(self.limits.line)),
            }
        }
        match form {
            Form::Unknown => Ok(()),
            Form::Stream(reader) => reader.feed(bytes, |data| reading.take(data, deltas)),
            Form::Whole(body) => {
                // Escaped text is longer than what it stands for.
                if body.len() + bytes.len() > self.limits.answer.saturating_mul(2) {
                    return Err(bad("the answer is longer than the limit").into());
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

fn broken(error: &reqwest::Error, received: u64) -> Failure {
    let words = format!("the answer broke off after {received} bytes: {}", words(error));
    Failure::new(Again::Soon, ErrorCode::ProviderStreamBroken, words)
}
