//! What starts a task while nobody types: schedules and the local webhook.
//!
//! **What this crate must not know:** the store, the service, the loop, tools, approvals, workspace files. It makes
//! [`TaskIntake`](pilot_types::TaskIntake)s and hands them over through two ports, [`SlotIntake`] and [`CallIntake`];
//! what comes of them is the same task as any other, so that there is no way round a card from here.
//!
//! - [`Rule`] reads five fields in their Unix meaning and says when they come round, in any time zone, across hours that
//!   are skipped or repeated;
//! - [`look_once`] decides which slots of a schedule are due and which were missed, whatever the clock did;
//! - [`Webhook`] listens on loopback and takes a request only from a program that knows a channel's token;
//! - [`post_local`] sends one real request to it, for the test button.

mod port;
mod probe;
mod rule;
mod scheduler;
mod slots;
mod webhook;

pub use port::{
    CallIntake, ChannelEntry, IntakeError, Look, Missed, RefusedCalls, ScheduleEntry, Slot, SlotIntake,
};
pub use probe::{ProbeError, post_local};
pub use rule::{Field, Rule, RuleError, Zone};
pub use scheduler::{LOOK_EVERY, Now, Scheduler, look_once};
pub use slots::{GRACE, Looked, slots_between};
pub use webhook::{BindError, Token, Webhook, WebhookLimits};

/// Characters of a webhook text at most.
pub const TEXT_LIMIT: usize = 4_000;
