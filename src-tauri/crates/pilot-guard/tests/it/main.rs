//! Tests of the guard against a real disk.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the tests build hostile folders and print figures; a setup that fails is a failed test"
)]

mod control;
mod disk;
mod listing;
mod outside;
mod protocol;
mod race;
mod random;
mod refusal;
mod register;
mod rows;
mod support;
mod undo;
mod watch;
