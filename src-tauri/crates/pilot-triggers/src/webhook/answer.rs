//! What a request gets back.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Response, StatusCode};
use pilot_types::{ErrorClass, ErrorCode, TaskId};
use std::time::Duration;

/// Why a request makes no task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) code: ErrorCode,
    words: String,
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: ErrorCode, words: impl Into<String>) -> Self {
        Self { status, code, words: words.into(), retry_after: None }
    }

    /// Says when it is worth trying again.
    pub(super) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// A task that could not be made, by its code. Words of a fault stay in the log.
    pub(super) fn of_intake(code: ErrorCode, detail: &str) -> Self {
        match code {
            ErrorCode::QueueFull | ErrorCode::AutomationsPaused | ErrorCode::DatabaseLocked => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).retry_after(Duration::from_secs(60))
            }
            ErrorCode::TokenRefused => Self::new(StatusCode::UNAUTHORIZED, code, detail),
            ErrorCode::TaskNotFound => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail),
            other => match other.class() {
                ErrorClass::Model | ErrorClass::Precondition => Self::new(StatusCode::CONFLICT, code, detail),
                ErrorClass::Fault => {
                    Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, "a fault of the program; see its log")
                }
            },
        }
    }

    pub(super) fn response(&self) -> Response<Body> {
        let body = serde_json::json!({ "code": self.code, "message": self.words });
        let mut response = json(self.status, &body);
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The task is durable.
pub(super) fn accepted(task: &TaskId) -> Response<Body> {
    json(StatusCode::ACCEPTED, &serde_json::json!({ "task": task }))
}

fn json(status: StatusCode, body: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
