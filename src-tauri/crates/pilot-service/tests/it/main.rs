//! The service as the window and the command line use it, on real folders and a real database.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests stop where something is wrong, say their figures, and look at the real disk"
)]

mod approvals;
mod automations;
mod bindings;
mod disk;
mod keep;
mod mcp;
mod memory;
mod person_doors;
mod providers;
mod resolvers;
mod sessions;
mod skills;
mod support;
mod tasks;
mod undo;
mod uploads;
