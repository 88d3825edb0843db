//! The one error of the service.

use crate::view::ErrorView;
use pilot_agent::{ModelError, SinkError, ToolError};
use pilot_guard::GuardError;
use pilot_store::StoreError;
use pilot_types::ErrorCode;

/// Something that could not be done. The code decides what a person is told; the words are for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct ServiceError {
    code: ErrorCode,
    detail: String,
    subject: Option<String>,
}

impl ServiceError {
    /// An error with a code and words for the log.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), subject: None }
    }

    /// Says what it is about: a file name, a provider, an id. Shown as it is, never translated.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Words for the log.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// As the window gets it.
    #[must_use]
    pub fn view(&self) -> ErrorView {
        ErrorView { code: self.code, message: self.detail.clone(), subject: self.subject.clone() }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<GuardError> for ServiceError {
    fn from(error: GuardError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<ModelError> for ServiceError {
    fn from(error: ModelError) -> Self {
        Self::new(error.code, error.detail)
    }
}

impl From<ToolError> for ServiceError {
    fn from(error: ToolError) -> Self {
        Self::new(error.code, error.message)
    }
}

impl From<SinkError> for ServiceError {
    fn from(error: SinkError) -> Self {
        Self::new(error.code, error.detail)
    }
}

impl From<ServiceError> for SinkError {
    fn from(error: ServiceError) -> Self {
        Self { code: error.code, detail: error.detail }
    }
}

/// Runs blocking work off the runtime.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, ServiceError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, ServiceError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ServiceError::new(ErrorCode::Internal, format!("a worker thread ended: {error}"))),
    }
}
