//! The providers against a server that plays recorded and invented traffic, faults included.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what went wrong by stopping, and what it skipped by printing"
)]

mod faults;
mod local;
mod offline;
mod recorded;
mod retries;
mod secrets;
mod stage;
