//! OpenAI-compatible chat completions: OpenAI, DeepSeek, Qwen, Moonshot, Ollama, LM Studio, llama.cpp, vLLM and others.

mod address;
mod answer;
mod arguments;
mod chunk;
mod config;
mod names;
mod request;
mod sse;
mod status;
mod transport;

pub use address::{check_base_url, host, is_local};
pub use config::{AnswerLimits, OpenAiConfig, Patience};

use async_trait::async_trait;
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_types::ErrorCode;
use request::{EncodedRequest, Encoding};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use status::{Again, Failure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A model behind an OpenAI-compatible server.
///
/// It may be shared, but serves one task best: the encoding of the last conversation is kept for the next call.
pub struct OpenAiProvider {
    model: String,
    base: Url,
    client: Client,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    limits: AnswerLimits,
    patience: Patience,
    encoding: Mutex<Encoding>,
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

impl OpenAiProvider {
    /// A provider; nothing is sent yet.
    ///
    /// # Errors
    /// [`ErrorCode::SettingsInvalid`] for an address, key or header that cannot be used.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let base = address::parse(&config.base_url)?;
        let headers = config.http_headers()?;
        let patience = config.patience();
        let client = transport::client(&base, &patience)?;
        let mut secrets: Vec<SecretString> = config.headers.into_iter().map(|(_, value)| value).collect();
        secrets.extend(config.key);
        Ok(Self {
            model: config.model,
            base,
            client,
            headers,
            secrets,
            limits: config.limits,
            patience,
            encoding: Mutex::default(),
        })
    }

    /// The models that the server offers, by name: what a settings page shows, and the cheapest way to see that address
    /// and key are right.
    ///
    /// # Errors
    /// As for a model call, without retries.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let ask = self.client.get(address::endpoint(&self.base, "models")).headers(self.headers.clone());
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

    fn encode(&self, request: ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        self.encoding.lock().unwrap_or_else(PoisonError::into_inner).encode(&self.model, request).map_err(
            |error| ModelError::new(ErrorCode::Internal, format!("the request cannot be encoded: {error}")),
        )
    }

    /// Attempts until one succeeds, none makes sense any more or the patience is used up.
    async fn ask(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
    ) -> Result<ModelAnswer, ModelError> {
        let encoded = self.encode(request)?;
        let http = self
            .client
            .post(address::endpoint(&self.base, "chat/completions"))
            .headers(self.headers.clone())
            .body(encoded.body)
            .build()
            .map_err(|error| transport::failed(&error).error)?;
        let begun = Instant::now();
        let mut attempt = 0_u32;
        loop {
            // A body of bytes can always be sent again.
            let Some(again) = http.try_clone() else {
                return Err(ModelError::new(ErrorCode::Internal, "the request cannot be sent again"));
            };
            let watched = Watched { deltas, begun: AtomicBool::new(false) };
            let exchange =
                transport::Exchange { client: &self.client, limits: &self.limits, patience: &self.patience };
            let answer =
                exchange.run(again, &encoded.names, request.tools, encoded.input_tokens, &watched).await;
            let failure = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) if watched.begun.load(Ordering::Relaxed) => return Err(failure.error),
                Err(failure) => failure,
            };
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

    /// Takes out what a server repeated of a key or header.
    fn without_secrets(&self, error: ModelError) -> ModelError {
        let ModelError { code, mut detail } = error;
        for secret in &self.secrets {
            let secret = secret.expose_secret().trim();
            if secret.len() >= 4 && detail.contains(secret) {
                detail = detail.replace(secret, "…");
            }
        }
        ModelError::new(code, detail)
    }
}

#[async_trait]
impl ModelProvider for OpenAiProvider {
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
