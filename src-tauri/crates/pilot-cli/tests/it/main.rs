//! The `pilot` command as a person or a script uses it: real processes on real folders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests stop where something is wrong, say their figures, and look at the real disk"
)]

mod contract;
mod crash;
mod demo;
mod hostile;
mod keyring;
mod mcp;
mod providers;
mod schedules;
mod serve;
mod support;
