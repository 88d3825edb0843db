//! Waiting for the world without ever waiting for ever.

use crate::EventSink;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How often a wait asks the record whether the person, perhaps in another process, wants the task to stop.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How a wait ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Waited<T> {
    /// With a value.
    Done(T),
    /// The other side panicked.
    Panicked,
    /// The person stopped the task.
    Cancelled,
    /// The limit was reached.
    OutOfTime,
}

/// Waits for `work` until it is done, `limit` has passed or the task is stopped. What is not done is dropped.
pub(crate) async fn bounded<T>(
    work: impl Future<Output = T>,
    limit: Duration,
    cancel: &CancellationToken,
    sink: &dyn EventSink,
) -> Waited<T> {
    let mut work = pin!(caught(work));
    let deadline = Instant::now() + limit;
    loop {
        let next_look = Instant::now() + LOOK_EVERY;
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Waited::Cancelled,
            done = &mut work => return done.map_or(Waited::Panicked, Waited::Done),
            () = sleep_until(deadline.min(next_look)) => {}
        }
        if Instant::now() >= deadline {
            return Waited::OutOfTime;
        }
        match sink.cancel_requested().await {
            Ok(true) => return Waited::Cancelled,
            Ok(false) => {}
            // The next append meets the same fault and stops the run; a look between two appends is no reason to.
            Err(error) => tracing::warn!(code = %error.code, "could not look whether the task is to stop"),
        }
    }
}

/// A panic of a tool or a provider must cost one clear error, never the process's task.
async fn caught<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(None),
    })
    .await
}
