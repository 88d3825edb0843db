//! `pilot serve`: schedules and webhook without a window.

use crate::Exit;
use crate::output::Output;
use pilot_service::{AutomationOptions, Clock, Notice, Service, ServiceError, WebhookState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// How long running tasks may take to reach their next durable step.
const GOODBYE: Duration = Duration::from_secs(5);
/// How long it may take to know whether this process listens.
const SETTLED: Duration = Duration::from_secs(15);

/// Runs until it is told to stop. Cards wait as always: nobody is asked here.
pub(crate) async fn serve(
    service: &Service,
    port: Option<u16>,
    output: &Output,
) -> Result<Exit, ServiceError> {
    // Before anything is started, so that no signal is lost.
    let mut asked = StopSignals::listen()?;
    let mut notices = service.subscribe();
    let background = service.start_background();
    let options = AutomationOptions {
        always_listen: true,
        port,
        look_every: look_every(),
        ..AutomationOptions::default()
    };
    let mut automations = service.start_automations(options);
    let mut state = automations.settled(SETTLED).await;
    if let WebhookState::Failed { port, code } = state {
        automations.shutdown().await;
        background.shutdown(GOODBYE).await;
        return Err(ServiceError::new(code, format!("port {port} on 127.0.0.1 cannot be used"))
            .about(port.to_string()));
    }
    say_state(state, output);
    loop {
        tokio::select! {
            () = asked.next() => break,
            now = automations.changed() => if now != state {
                state = now;
                say_state(state, output);
            },
            notice = notices.recv() => match notice {
                Ok(Notice::Waiting(card)) => output.row(
                    &serde_json::json!({ "type": "waiting", "approval": card }),
                    &format!("{} {card}", output.pick("Waiting for you: pilot approvals show", "等待审批：pilot approvals show")),
                ),
                Ok(
                    Notice::Recorded(_)
                    | Notice::Delta { .. }
                    | Notice::Changed
                    | Notice::Disk { .. }
                    | Notice::Stale { .. }
                    | Notice::Upload(_),
                )
                | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            },
        }
    }
    output.say(output.pick("Stopping…", "正在停止……"));
    automations.shutdown().await;
    background.shutdown(GOODBYE).await;
    Ok(Exit::Done)
}

fn say_state(state: WebhookState, output: &Output) {
    let (value, words) = match state {
        WebhookState::Listening { port } => (
            serde_json::json!({ "type": "serving", "owner": true, "port": port }),
            format!(
                "{} http://127.0.0.1:{port}",
                output.pick("Schedules run. Webhook:", "定时在运行。Webhook：")
            ),
        ),
        WebhookState::Guest | WebhookState::Off => (
            serde_json::json!({ "type": "serving", "owner": false, "port": null }),
            output
                .pick(
                    "Another process runs schedules and webhook. This one takes over when that one ends.",
                    "另一个进程在运行定时和 Webhook。它结束后由这里接手。",
                )
                .to_owned(),
        ),
        WebhookState::Failed { port, code } => (
            serde_json::json!({ "type": "serving", "owner": true, "port": null, "code": code }),
            format!("{} ({port})", crate::words::of(code, output.chinese)),
        ),
    };
    output.row(&value, &words);
}

/// Ctrl-C, and the signal by which a service is stopped.
struct StopSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    #[cfg(unix)]
    fn listen() -> Result<Self, ServiceError> {
        use tokio::signal::unix::{SignalKind, signal};
        let fault = |error: std::io::Error| {
            ServiceError::new(pilot_types::ErrorCode::Internal, format!("signals cannot be heard: {error}"))
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(fault)?,
            terminate: signal(SignalKind::terminate()).map_err(fault)?,
        })
    }

    #[cfg(not(unix))]
    fn listen() -> Result<Self, ServiceError> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// How often schedules are looked at.
#[cfg(not(feature = "faults"))]
fn look_every() -> Duration {
    AutomationOptions::default().look_every
}

/// Nothing in a build without the `faults` feature.
#[cfg(not(feature = "faults"))]
pub(crate) fn fast_clock() -> Option<Arc<dyn Clock>> {
    None
}

#[cfg(feature = "faults")]
pub(crate) use fast::{fast_clock, look_every};

/// Time that runs faster, so that tests of real processes see many slots in a few seconds. `POCKETPILOT_FAST_CLOCK` is
/// how many times faster; all processes count from the same moment. Never in a release.
#[cfg(feature = "faults")]
mod fast {
    use super::{Arc, AutomationOptions, Clock, Duration};
    use chrono::{DateTime, Utc};

    #[derive(Debug)]
    struct FastClock {
        factor: u32,
        start: std::time::Instant,
    }

    impl Clock for FastClock {
        fn now(&self) -> DateTime<Utc> {
            let now = Utc::now();
            // Only the time since midnight runs faster, so that dates stay in this century.
            let today = chrono::Duration::milliseconds(now.timestamp_millis() % 86_400_000);
            now - today + today * i32::try_from(self.factor).unwrap_or(1)
        }

        fn monotonic(&self) -> Duration {
            self.start.elapsed()
        }
    }

    fn factor() -> Option<u32> {
        std::env::var("POCKETPILOT_FAST_CLOCK")
            .ok()?
            .parse()
            .ok()
            .filter(|factor| (1..=1_000).contains(factor))
    }

    pub(crate) fn fast_clock() -> Option<Arc<dyn Clock>> {
        let factor = factor()?;
        Some(Arc::new(FastClock { factor, start: std::time::Instant::now() }))
    }

    pub(crate) fn look_every() -> Duration {
        let every = AutomationOptions::default().look_every;
        factor().map_or(every, |factor| every / factor)
    }
}
