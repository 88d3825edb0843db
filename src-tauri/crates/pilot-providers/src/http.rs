//! A model behind HTTP, whatever its wire format: addresses, keys, bounds, waits and retries are one for all.

mod address;
mod arguments;
mod config;
pub(crate) mod draft;
pub(crate) mod encoding;
pub(crate) mod format;
pub(crate) mod names;
mod sse;
pub(crate) mod status;
pub(crate) mod transport;

pub use address::{check_base_url, host, is_local};
pub use config::{AnswerLimits, HttpConfig, Patience};
pub use format::WireFormat;

use async_trait::async_trait;
use draft::Asked;
use encoding::{EncodedRequest, Encoding, Terms};
use format::Endpoint;
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_types::ErrorCode;
use reqwest::header::HeaderMap;
use reqwest::{Client, Request, Url};
use secrecy::{ExposeSecret, SecretString};
use status::{Again, Failure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the terms of a request are changed because a server refuses them.
const TERMS_CHANGES: u32 = 2;

/// Characters of a key that give something away.
const SHORTEST_SECRET: usize = 4;

/// A model behind a server that speaks one of the [`WireFormat`]s.
///
/// It may be shared, but serves one task best: the encoding of the last conversation is kept for the next call.
pub struct HttpProvider {
    format: WireFormat,
    model: String,
    base: Url,
    client: Client,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    limits: AnswerLimits,
    patience: Patience,
    kept: Mutex<Kept>,
}

/// What one call leaves for the next.
struct Kept {
    encoding: Encoding,
    terms: Terms,
}

/// Passes text on and remembers that there was some: what a person has seen begin is not begun again.
struct Watched<'a> {
    deltas: &'a dyn DeltaSink,
    begun: AtomicBool,
}

impl DeltaSink for Watched<'_> {
    fn text(&self, piece: &str) {
        self.begun.store(true, Ordering::Relaxed);
        self.deltas.text(piece);
    }
}

impl HttpProvider {
    /// A provider; nothing is sent yet.
    ///
    /// # Errors
    /// [`ErrorCode::SettingsInvalid`] for an address, key or header that cannot be used.
    pub fn new(config: HttpConfig) -> Result<Self, ModelError> {
        let base = address::parse(&config.base_url)?;
        let headers = config.http_headers()?;
        let patience = config.patience();
        let client = transport::client(&base, &patience)?;
        let mut secrets: Vec<SecretString> = config.headers.into_iter().map(|(_, value)| value).collect();
        secrets.extend(config.key);
        let terms = Terms { max_output: config.max_output, no_thinking: false };
        Ok(Self {
            format: config.format,
            model: config.model,
            base,
            client,
            headers,
            secrets,
            limits: config.limits,
            patience,
            kept: Mutex::new(Kept { encoding: Encoding::default(), terms }),
        })
    }

    /// The models that the server offers, by name: what a settings page shows, and the cheapest way to see that address
    /// and key are right.
    ///
    /// # Errors
    /// As for a model call, without retries.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let ask =
            self.client.get(self.format.endpoint(&self.base, Endpoint::Models)).headers(self.headers.clone());
        let read = async {
            let request = ask.build().map_err(|error| transport::failed(&error))?;
            let response = transport::send(&self.client, request, self.patience.first_byte).await?;
            transport::model_names(response).await
        };
        match tokio::time::timeout(self.patience.first_byte, read).await {
            Ok(Ok(names)) => Ok(names),
            Ok(Err(failure)) => Err(self.without_secrets(failure.error)),
            Err(_) => Err(ModelError::new(ErrorCode::ProviderTimeout, "the provider did not answer in time")),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request of a call, under the terms that hold now.
    fn encode(&self, request: ModelRequest<'_>) -> Result<(EncodedRequest, Request, Terms), ModelError> {
        let (encoded, terms) = {
            let Kept { encoding, terms } = &mut *self.kept();
            let encoded = encoding.encode(self.format, &self.model, *terms, request).map_err(|error| {
                ModelError::new(ErrorCode::Internal, format!("the request cannot be encoded: {error}"))
            })?;
            (encoded, *terms)
        };
        let http = self
            .client
            .post(self.format.endpoint(&self.base, Endpoint::Answer))
            .headers(self.headers.clone())
            .body(encoded.body.clone())
            .build()
            .map_err(|error| transport::failed(&error).error)?;
        Ok((encoded, http, terms))
    }

    /// Attempts until one succeeds, none makes sense any more or the patience is used up.
    async fn ask(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
    ) -> Result<ModelAnswer, ModelError> {
        let (mut encoded, mut http, mut terms) = self.encode(request)?;
        let begun = Instant::now();
        let (mut attempt, mut changes) = (0_u32, 0_u32);
        loop {
            // A body of bytes can always be sent again.
            let Some(again) = http.try_clone() else {
                return Err(ModelError::new(ErrorCode::Internal, "the request cannot be sent again"));
            };
            let watched = Watched { deltas, begun: AtomicBool::new(false) };
            let asked =
                Asked { names: &encoded.names, tools: request.tools, input_tokens: encoded.input_tokens };
            let failure = match self.exchange().run(again, &asked, &watched).await {
                Ok(answer) => return Ok(answer),
                Err(failure) if watched.begun.load(Ordering::Relaxed) => return Err(failure.error),
                Err(failure) => failure,
            };
            if changes < TERMS_CHANGES
                && let Some(better) = self.format.better_terms(&failure, terms)
            {
                tracing::info!(?better, "the server refuses the terms; it is asked under others");
                changes += 1;
                self.kept().terms = better;
                drop(http);
                (encoded, http, terms) = self.encode(request)?;
                continue;
            }
            attempt += 1;
            match self.pause(&failure, attempt, begun.elapsed()) {
                Ok(pause) => {
                    tracing::info!(code = %failure.error.code, attempt, ?pause, "the model is asked again");
                    tokio::time::sleep(pause).await;
                }
                Err(words) => {
                    let ModelError { code, detail } = failure.error;
                    return Err(ModelError::new(code, format!("{detail}{words}")));
                }
            }
        }
    }

    fn exchange(&self) -> transport::Exchange<'_> {
        transport::Exchange {
            format: self.format,
            client: &self.client,
            limits: &self.limits,
            patience: &self.patience,
        }
    }

    /// How long to wait before the next attempt. The error is what to add to the words when there is none.
    fn pause(&self, failure: &Failure, attempt: u32, waited: Duration) -> Result<Duration, String> {
        let patience = &self.patience;
        match failure.again {
            Again::Never => Err(String::new()),
            Again::Loading if waited < patience.loading => Ok(patience.loading_pause),
            Again::Loading => Err(format!(" (still after {} s)", waited.as_secs())),
            _ if attempt >= patience.attempts => Err(format!(" (after {attempt} attempts)")),
            Again::After(time) if time > patience.longest_wait => {
                Err(format!(" (it asks to wait {} s; go on later)", time.as_secs()))
            }
            Again::After(time) => Ok(time),
            Again::Soon => {
                let doubled = patience.pause.saturating_mul(1 << (attempt - 1).min(10));
                Ok(doubled.min(patience.longest_wait).mul_f64(rand::random_range(0.5..1.0)))
            }
        }
    }

    /// Takes out what a server repeated of a key or header, also where shortened words break off within it.
    fn without_secrets(&self, error: ModelError) -> ModelError {
        let ModelError { code, mut detail } = error;
        for secret in &self.secrets {
            let secret = secret.expose_secret().trim();
            for length in (SHORTEST_SECRET..=secret.len()).rev() {
                let Some(part) = secret.get(..length) else { continue };
                let found = if length == secret.len() { part.to_owned() } else { format!("{part}…") };
                if detail.contains(&found) {
                    detail = detail.replace(&found, "…");
                }
            }
        }
        ModelError::new(code, detail)
    }
}

#[async_trait]
impl ModelProvider for HttpProvider {
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        // Dropping the attempt closes its connection.
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::new(ErrorCode::Cancelled, "stopped")),
            answer = self.ask(request, deltas) => answer.map_err(|error| self.without_secrets(error)),
        }
    }
}
