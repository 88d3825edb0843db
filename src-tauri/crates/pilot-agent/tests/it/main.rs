//! Whole runs of the loop with ports that are nothing but their traits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by stopping")]

mod approvals;
mod bounds;
mod calls;
mod record;
mod stage;
mod stops;
mod transcript;
