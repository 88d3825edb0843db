//! Tests of the whole house, and of the test support itself.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what went wrong by stopping, and what it skipped by printing"
)]

mod architecture;
mod model_server;
mod window;
