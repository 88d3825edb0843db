//! One request, from the door to the task.

use super::answer::{Refusal, accepted};
use super::rate::Bucket;
use super::{WebhookLimits, door, token};
use crate::TEXT_LIMIT;
use crate::port::{CallIntake, ChannelEntry, IntakeError, RefusedCalls};
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::middleware::Next;
use pilot_types::{Channel, ChannelId, ErrorCode, TaskId, TaskIntake};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Bytes of a body at most: 4,000 characters, each written as two `\uXXXX`, and the rest of the object.
pub(super) const BODY_LIMIT: usize = 64 * 1024;

/// What all requests share.
pub(super) struct Desk {
    pub(super) intake: Arc<dyn CallIntake>,
    pub(super) port: u16,
    pub(super) limits: WebhookLimits,
    /// Good requests of each channel. Only a token that fits makes an entry.
    good: Mutex<HashMap<ChannelId, Bucket>>,
    /// Refused requests of all; apart, so that they use up nobody's good ones.
    refused: Mutex<Bucket>,
    /// Refused requests that were not told yet. Only channels that exist make an entry.
    untold: Mutex<HashMap<ChannelId, (u64, ErrorCode)>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookBody {
    text: String,
    #[serde(default)]
    follow_up_of: Option<String>,
}

impl Desk {
    pub(super) fn new(intake: Arc<dyn CallIntake>, port: u16, limits: WebhookLimits) -> Self {
        let refused = Mutex::new(Bucket::full(limits.refused_per_minute, Instant::now()));
        Self { intake, port, limits, good: Mutex::default(), refused, untold: Mutex::default() }
    }

    /// Tells the person's side what was refused since the last time.
    pub(super) async fn tell_refused(&self) {
        let untold = std::mem::take(&mut *locked(&self.untold));
        if untold.is_empty() {
            return;
        }
        let calls: Vec<RefusedCalls> = untold
            .into_iter()
            .map(|(channel, (times, code))| RefusedCalls { channel, times, code })
            .collect();
        if let Err(error) = self.intake.refused(&calls).await {
            tracing::warn!(%error, "refused requests could not be noted; trying again");
            for call in calls {
                self.count(&call.channel, call.times, call.code);
            }
        }
    }

    fn count(&self, channel: &ChannelId, times: u64, code: ErrorCode) {
        let mut untold = locked(&self.untold);
        let entry = untold.entry(channel.clone()).or_insert((0, code));
        entry.0 += times;
        entry.1 = code;
    }

    /// Answers a refused request. Beyond the limit of refused ones nothing is looked up or noted any more.
    async fn refuse(&self, channel: Option<&ChannelId>, refusal: Refusal) -> Response<Body> {
        if let Err(wait) = locked(&self.refused).take(Instant::now()) {
            let words = "too many refused requests";
            let limited = Refusal::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, words);
            return limited.retry_after(wait).response();
        }
        tracing::info!(code = %refusal.code, "a webhook request was refused");
        if let Some(channel) = channel
            && let Ok(Some(_)) = self.intake.channel(channel).await
        {
            self.count(channel, 1, refusal.code);
        }
        refusal.response()
    }

    fn take_good(&self, channel: &ChannelId) -> Result<(), Refusal> {
        let now = Instant::now();
        let mut good = locked(&self.good);
        let bucket =
            good.entry(channel.clone()).or_insert_with(|| Bucket::full(self.limits.good_per_minute, now));
        bucket.take(now).map_err(|wait| {
            let words = "too many requests to this channel";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, words).retry_after(wait)
        })
    }

    /// The channel, when the request carries its token.
    async fn channel_of(&self, id: &ChannelId, parts: &Parts) -> Result<ChannelEntry, Refusal> {
        let found = self.intake.channel(id).await.map_err(of_intake)?;
        let given = door::token(&parts.headers);
        let fits = token::fits(given.unwrap_or_default(), found.as_ref().map(|entry| &entry.token));
        match found {
            Some(entry) if fits && given.is_some() => Ok(entry),
            Some(_) | None => Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                ErrorCode::TokenRefused,
                "the token is missing, wrong or revoked",
            )),
        }
    }

    async fn take(&self, id: &ChannelId, request: Request) -> Result<TaskId, Refusal> {
        let (parts, body) = request.into_parts();
        // The token first: a stranger's body is not even read.
        let channel = self.channel_of(id, &parts).await?;
        if !door::is_json(&parts.headers) {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorCode::RequestInvalid,
                "the content type must be application/json",
            ));
        }
        let wanted = read_body(body).await?;
        let characters = wanted.text.chars().count();
        if wanted.text.trim().is_empty() || characters > TEXT_LIMIT {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                ErrorCode::TextLength,
                format!(
                    "text has {characters} characters; it must have 1 to {TEXT_LIMIT} that are not all blank"
                ),
            ));
        }
        self.take_good(id)?;
        let intake = TaskIntake {
            goal: wanted.text,
            workspace: channel.workspace,
            channel: Channel::Webhook,
            session: None,
            follow_up_of: wanted.follow_up_of.map(TaskId::from_text),
            provider: None,
            limits: None,
        };
        self.intake.submit(id, intake).await.map_err(of_intake)
    }
}

fn of_intake(error: IntakeError) -> Refusal {
    if error.code.class() == pilot_types::ErrorClass::Fault {
        tracing::error!(%error, "a webhook request could not be taken in");
    }
    Refusal::of_intake(error.code, &error.detail)
}

async fn read_body(body: Body) -> Result<WebhookBody, Refusal> {
    let bytes = axum::body::to_bytes(body, BODY_LIMIT).await.map_err(|_| {
        Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::TooLarge,
            format!("the body has more than {BODY_LIMIT} bytes or broke off"),
        )
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        // Where, not what: the message of the parser may quote the body.
        Refusal::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::RequestInvalid,
            format!(
                "the body is not {{\"text\": …, \"follow_up_of\": optional}} (line {}, column {})",
                error.line(),
                error.column()
            ),
        )
    })
}

/// The handler of a channel's address.
pub(super) async fn webhook(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    request: Request,
) -> Response<Body> {
    let id = ChannelId::from_text(id);
    match tokio::time::timeout(desk.limits.request, desk.take(&id, request)).await {
        Ok(Ok(task)) => accepted(&task),
        Ok(Err(refusal)) => desk.refuse(Some(&id), refusal).await,
        Err(_) => {
            let words = "the request took too long";
            let refusal = Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::RequestInvalid, words);
            desk.refuse(Some(&id), refusal).await
        }
    }
}

/// Every request passes here first, whatever its address or method.
pub(super) async fn keep_door(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    match door::check(&parts, desk.port) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) => {
            let named =
                parts.uri.path().strip_prefix("/api/channels/").and_then(|rest| rest.split('/').next());
            desk.refuse(named.map(ChannelId::from_text).as_ref(), refusal).await
        }
    }
}

pub(super) async fn no_such_address(State(desk): State<Arc<Desk>>) -> Response<Body> {
    let words = "the address is /api/channels/ID/webhook";
    desk.refuse(None, Refusal::new(StatusCode::NOT_FOUND, ErrorCode::RequestInvalid, words)).await
}

pub(super) async fn not_post(State(desk): State<Arc<Desk>>) -> Response<Body> {
    let words = "only POST is taken";
    desk.refuse(None, Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::RequestInvalid, words)).await
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
