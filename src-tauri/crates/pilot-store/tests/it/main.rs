//! Integration tests of the store: on real files, with several handles, and with processes that are killed.
#![expect(clippy::disallowed_methods, reason = "tests damage files and start processes on purpose")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of tests are tests"
)]

mod chain;
mod claim;
mod damage;
mod decide;
mod folder;
mod process;
mod rows;
mod speed;
mod support;
mod transaction;
mod triggers;
