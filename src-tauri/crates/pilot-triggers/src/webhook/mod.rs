//! The local webhook: `POST /api/channels/{id}/webhook` on loopback.

mod answer;
mod call;
mod door;
mod rate;
mod token;

pub use token::Token;

use crate::port::CallIntake;
use axum::Router;
use axum::routing::post;
use call::Desk;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pilot_types::ErrorCode;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Header lines of a request at most, and bytes of its head.
const HEAD_LINES: usize = 64;
const HEAD_BYTES: usize = 16 * 1024;

/// Limits of the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookLimits {
    /// Requests of one channel that make a task, a minute.
    pub good_per_minute: u32,
    /// Requests of all that are refused with their reason, a minute; those beyond are only told to wait.
    pub refused_per_minute: u32,
    /// Connections at a time; more wait to be accepted.
    pub connections: usize,
    /// Time for the head of a request.
    pub head: Duration,
    /// Time for a whole request.
    pub request: Duration,
    /// Time for a connection.
    pub connection: Duration,
    /// How often refused requests are told.
    pub tell: Duration,
}

impl Default for WebhookLimits {
    fn default() -> Self {
        Self {
            good_per_minute: 120,
            refused_per_minute: 60,
            connections: 128,
            head: Duration::from_secs(5),
            request: Duration::from_secs(10),
            connection: Duration::from_secs(60),
            tell: Duration::from_secs(15),
        }
    }
}

/// The port cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("port {port} on 127.0.0.1 cannot be used: {source}")]
pub struct BindError {
    /// The port.
    pub port: u16,
    /// The system's answer.
    pub source: std::io::Error,
}

impl BindError {
    /// The code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self.source.kind() {
            std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            // `ErrorKind` is open; whatever else it is, somebody or something keeps the port from us.
            _ => ErrorCode::PortTaken,
        }
    }
}

/// Listens until it is dropped or shut down.
pub struct Webhook {
    port: u16,
    token: CancellationToken,
    tracker: TaskTracker,
    desk: Arc<Desk>,
}

impl Webhook {
    /// Starts to listen on 127.0.0.1. Port 0 takes one that is free.
    ///
    /// # Errors
    /// [`BindError`].
    pub async fn start(
        intake: Arc<dyn CallIntake>,
        port: u16,
        limits: WebhookLimits,
        stop: &CancellationToken,
    ) -> Result<Self, BindError> {
        let told = |source| BindError { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(told)?;
        let port = listener.local_addr().map_err(told)?.port();
        let desk = Arc::new(Desk::new(intake, port, limits));
        let (token, tracker) = (stop.child_token(), TaskTracker::new());
        let router = Router::new()
            .route("/api/channels/{id}/webhook", post(call::webhook))
            .fallback(call::no_such_address)
            .method_not_allowed_fallback(call::not_post)
            .layer(axum::middleware::from_fn_with_state(Arc::clone(&desk), call::keep_door))
            .with_state(Arc::clone(&desk));
        tracker.spawn(accept(listener, router, limits, token.clone(), tracker.clone()));
        tracker.spawn(tell_refused(Arc::clone(&desk), token.clone()));
        Ok(Self { port, token, tracker, desk })
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops listening, lets requests that are under way come to their end for at most this long, and tells what was
    /// refused.
    pub async fn shutdown(self, limit: Duration) {
        self.token.cancel();
        self.tracker.close();
        let _ = tokio::time::timeout(limit, self.tracker.wait()).await;
        self.desk.tell_refused().await;
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

async fn tell_refused(desk: Arc<Desk>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(desk.limits.tell) => desk.tell_refused().await,
        }
    }
}

async fn accept(
    listener: TcpListener,
    router: Router,
    limits: WebhookLimits,
    stop: CancellationToken,
    tracker: TaskTracker,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = next => accepted,
        };
        match accepted {
            Some((place, Ok((stream, _)))) => {
                let (router, stop) = (router.clone(), stop.clone());
                tracker.spawn(async move {
                    serve(stream, router, limits, stop).await;
                    drop(place);
                });
            }
            Some((_, Err(error))) => {
                // Out of descriptors, mostly: come back when some were given back.
                tracing::warn!(%error, "a connection to the webhook could not be accepted");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            None => return,
        }
    }
}

async fn serve(stream: TcpStream, router: Router, limits: WebhookLimits, stop: CancellationToken) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(HEAD_LINES)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    let whole = async {
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.as_mut().await
            }
        }
    };
    // A client that breaks off, talks nonsense or takes too long is no event of ours.
    if let Ok(Err(error)) = tokio::time::timeout(limits.connection, whole).await {
        tracing::debug!(%error, "a connection to the webhook ended early");
    }
}
