//! Looks at the schedules every 15 seconds.

use crate::port::{IntakeError, Look, ScheduleEntry, Slot, SlotIntake};
use crate::rule::{Rule, Zone};
use crate::slots::{GRACE, slots_between};
use chrono::{DateTime, Utc};
use pilot_types::{Channel, TaskIntake};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the schedules are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Tells what time it is.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// Looks until it is dropped or shut down.
pub struct Scheduler {
    token: CancellationToken,
    tracker: TaskTracker,
}

impl Scheduler {
    /// Starts looking: at once, and then every so often. The interval runs while the computer is awake.
    #[must_use]
    pub fn start(intake: Arc<dyn SlotIntake>, now: Now, every: Duration, stop: &CancellationToken) -> Self {
        let (token, tracker) = (stop.child_token(), TaskTracker::new());
        let stop = token.clone();
        tracker.spawn(async move {
            loop {
                if let Err(error) = look_once(&*intake, now()).await {
                    tracing::warn!(%error, "the schedules could not be looked at; trying again");
                }
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(every) => {}
                }
            }
        });
        tracker.close();
        Self { token, tracker }
    }

    /// Stops, after the look that is under way.
    pub async fn shutdown(self) {
        self.token.cancel();
        self.tracker.wait().await;
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

/// Looks at each schedule once, at this moment. One that cannot be looked at does not keep the others waiting.
///
/// # Errors
/// The schedules cannot be read, or the first of what went wrong with one of them.
pub async fn look_once(intake: &dyn SlotIntake, now: DateTime<Utc>) -> Result<(), IntakeError> {
    let mut result = Ok(());
    for entry in intake.schedules().await? {
        let Some(look) = look_at(entry, now) else { continue };
        let schedule = look.schedule.clone();
        if let Err(error) = intake.look(look).await {
            tracing::warn!(%schedule, %error, "a slot could not be taken in; it is seen again at the next look");
            result = result.and(Err(error));
        }
    }
    result
}

/// What there is to take in; `None` when nothing passed, so that an idle computer writes nothing.
fn look_at(entry: ScheduleEntry, now: DateTime<Utc>) -> Option<Look> {
    let (rule, zone) = match (Rule::parse(&entry.rule), Zone::parse(entry.zone.as_deref())) {
        (Ok(rule), Ok(zone)) => (rule, zone),
        // Both were read when the person saved them, so this is a damaged row.
        (Err(error), _) | (_, Err(error)) => {
            tracing::error!(schedule = %entry.id, %error, "the rule of a schedule cannot be read");
            return None;
        }
    };
    let mut look = Look { schedule: entry.id, since: entry.looked_at, until: now, missed: None, due: None };
    if now < entry.looked_at {
        // A little is the clock being trimmed. More was set by somebody: wait for the time as it is now, not for the
        // time as it was; that no slot is decided twice does not depend on it.
        return (entry.looked_at - now > GRACE).then_some(look);
    }
    let looked = slots_between(&rule, zone, entry.looked_at, now);
    look.missed = looked.missed;
    look.due = looked.due.map(|at| Slot {
        at,
        intake: TaskIntake {
            goal: entry.goal,
            workspace: entry.workspace,
            channel: Channel::Schedule,
            session: None,
            follow_up_of: None,
            provider: entry.provider,
            limits: None,
        },
    });
    (look.due.is_some() || look.missed.is_some()).then_some(look)
}
