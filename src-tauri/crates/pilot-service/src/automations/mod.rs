//! Schedules and the webhook, put together with the rest: who runs them, and when.
//!
//! The owner of the data folder runs both, a guest neither. A guest that stays takes the owner's place when it becomes
//! free, and goes on where the other one stopped: what was decided stands in the database.

mod channels;
mod intake;
mod schedules;

pub use schedules::upcoming;

use crate::error::ServiceError;
use crate::open::Service;
use pilot_store::{channels as rows, settings};
use pilot_triggers::{LOOK_EVERY, Now, Scheduler, Webhook, WebhookLimits};
use pilot_types::{ErrorCode, ProcessId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks of one schedule or channel that may wait at a time.
pub(crate) const WAITING_LIMIT: u32 = 20;
/// Where it stands which port is listened on, for other processes of this data folder.
const LISTENING: &str = "webhook";
/// How often a guest looks whether the owner's place is free.
const PROMOTION: Duration = Duration::from_secs(2);
/// How long requests may take to come to their end.
const GOODBYE: Duration = Duration::from_secs(2);

/// How automations run.
#[derive(Clone, Debug)]
pub struct AutomationOptions {
    /// Listen also while there is no channel. The window listens once there is one.
    pub always_listen: bool,
    /// Port; `None` takes that of the settings, 0 takes a free one.
    pub port: Option<u16>,
    /// How often schedules are looked at.
    pub look_every: Duration,
    /// Limits of the webhook.
    pub limits: WebhookLimits,
}

impl Default for AutomationOptions {
    fn default() -> Self {
        Self { always_listen: false, port: None, look_every: LOOK_EVERY, limits: WebhookLimits::default() }
    }
}

/// What the webhook of this process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookState {
    /// Nothing: there is no channel, or it was not started.
    Off,
    /// Another process is the owner.
    Guest,
    /// It listens.
    Listening {
        /// Where.
        port: u16,
    },
    /// The port is taken by another program; tried again from time to time.
    Failed {
        /// Which.
        port: u16,
        /// Why.
        code: ErrorCode,
    },
}

/// Which port is listened on, and by whom. It counts only while that process lives.
#[derive(Serialize, Deserialize)]
struct ListeningRow {
    port: u16,
    process: ProcessId,
}

/// What was started; dropping it stops it.
pub struct Automations {
    token: CancellationToken,
    tracker: TaskTracker,
    state: watch::Receiver<WebhookState>,
}

impl Automations {
    /// Waits until it is known whether this process listens, at most this long.
    pub async fn settled(&mut self, limit: Duration) -> WebhookState {
        let known = self.state.wait_for(|state| *state != WebhookState::Off);
        match tokio::time::timeout(limit, known).await {
            Ok(Ok(state)) => *state,
            Ok(Err(_)) | Err(_) => WebhookState::Off,
        }
    }

    /// Waits for the webhook to become something else, and says what.
    pub async fn changed(&mut self) -> WebhookState {
        match self.state.changed().await {
            Ok(()) => *self.state.borrow_and_update(),
            // Nobody will ever say anything again; the caller waits for something else meanwhile.
            Err(_) => std::future::pending().await,
        }
    }

    /// Stops both: a look that is under way is finished, requests come to their end.
    pub async fn shutdown(self) {
        self.token.cancel();
        self.tracker.close();
        let _ = tokio::time::timeout(2 * GOODBYE, self.tracker.wait()).await;
    }
}

impl Drop for Automations {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl Service {
    /// Starts schedules and webhook in this process; they do something while it is the owner. Tasks run where
    /// [`Service::start_background`] was called too.
    #[must_use]
    pub fn start_automations(&self, options: AutomationOptions) -> Automations {
        let (token, tracker) = (CancellationToken::new(), TaskTracker::new());
        let state = self.inner.webhook.subscribe();
        let (service, stop) = (self.clone(), token.clone());
        tracker.spawn(async move { service.run_automations(options, stop).await });
        Automations { token, tracker, state }
    }

    async fn run_automations(&self, options: AutomationOptions, stop: CancellationToken) {
        let mut scheduler = None;
        let mut webhook = None;
        loop {
            let owner = match self.become_owner().await {
                Ok(owner) => owner,
                Err(error) => {
                    tracing::error!(%error, "what the last owner left could not be settled");
                    self.is_owner()
                }
            };
            if owner {
                scheduler.get_or_insert_with(|| {
                    Scheduler::start(Arc::new(self.clone()), self.time(), options.look_every, &stop)
                });
                if let Err(error) = self.keep_webhook(&mut webhook, &options, &stop).await {
                    tracing::warn!(%error, "whether the webhook should listen is not known; asking again");
                }
            } else {
                self.webhook_is(WebhookState::Guest);
            }
            let again = if owner { LOOK_EVERY } else { PROMOTION };
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.inner.automations.notified(), if owner => {}
                () = tokio::time::sleep(again) => {}
            }
        }
        if let Some(webhook) = webhook {
            self.stop_webhook(webhook).await;
        }
        if let Some(scheduler) = scheduler {
            Scheduler::shutdown(scheduler).await;
        }
    }

    /// The service's clock, as the scheduler asks for it.
    fn time(&self) -> Now {
        let clock = Arc::clone(&self.inner.clock);
        Arc::new(move || clock.now())
    }

    /// Starts, stops or moves the webhook so that it is as the person wants it.
    async fn keep_webhook(
        &self,
        webhook: &mut Option<Webhook>,
        options: &AutomationOptions,
        stop: &CancellationToken,
    ) -> Result<(), ServiceError> {
        let wanted = match options.port {
            Some(port) => port,
            None => self.settings().await?.webhook_port,
        };
        let needed =
            options.always_listen || !rows::list(&mut *self.inner.store.read().await?).await?.is_empty();
        if let Some(running) = webhook.take() {
            if needed && (wanted == 0 || running.port() == wanted) {
                *webhook = Some(running);
                return Ok(());
            }
            self.stop_webhook(running).await;
        }
        if !needed {
            self.webhook_is(WebhookState::Off);
            return Ok(());
        }
        match Webhook::start(Arc::new(self.clone()), wanted, options.limits, stop).await {
            Ok(started) => {
                let port = started.port();
                *webhook = Some(started);
                self.note_listening(Some(port)).await?;
                self.webhook_is(WebhookState::Listening { port });
                tracing::info!(port, "the webhook listens");
            }
            Err(error) => {
                let state = WebhookState::Failed { port: error.port, code: error.code() };
                if self.webhook_state() != state {
                    tracing::error!(%error, "the webhook cannot listen; trying again");
                }
                self.webhook_is(state);
            }
        }
        Ok(())
    }

    async fn stop_webhook(&self, webhook: Webhook) {
        webhook.shutdown(GOODBYE).await;
        if let Err(error) = self.note_listening(None).await {
            // A process that is gone counts for nothing, so nobody is misled for long.
            tracing::debug!(%error, "that the webhook stopped was not noted");
        }
        self.webhook_is(WebhookState::Off);
    }

    /// What the webhook of this process does. Copied out, so that nothing is locked while somebody waits.
    pub(crate) fn webhook_state(&self) -> WebhookState {
        *self.inner.webhook.borrow()
    }

    fn webhook_is(&self, state: WebhookState) {
        let changed = self.inner.webhook.send_if_modified(|now| {
            let differs = *now != state;
            *now = state;
            differs
        });
        if changed {
            self.inner.bus.changed();
        }
    }

    /// Says in the database on which port this process listens.
    async fn note_listening(&self, port: Option<u16>) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        match port {
            Some(port) => {
                let row = ListeningRow { port, process: self.inner.process.clone() };
                settings::set(&mut tx, LISTENING, &row).await?;
            }
            None => {
                settings::remove(&mut tx, LISTENING).await?;
            }
        }
        self.commit(tx, Vec::new()).await
    }

    /// The port on which a living process of this data folder listens.
    pub(crate) async fn listening_port(&self) -> Result<Option<u16>, ServiceError> {
        if let WebhookState::Listening { port } = self.webhook_state() {
            return Ok(Some(port));
        }
        let row: Option<ListeningRow> =
            settings::get(&mut *self.inner.store.read().await?, LISTENING).await?;
        Ok(row.filter(|row| self.lives_elsewhere(&row.process)).map(|row| row.port))
    }

    fn lives_elsewhere(&self, process: &ProcessId) -> bool {
        *process != self.inner.process && pilot_store::process_alive(&self.inner.data, process)
    }
}
