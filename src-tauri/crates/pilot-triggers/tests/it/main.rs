//! Rules against another implementation, looks under every clock, and the webhook over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests stop where something is wrong, and say their figures"
)]

mod doors;
mod errors;
mod flood;
mod looks;
mod requests;
mod rules;
mod support;
mod zones;
