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
mod bindings;
mod mcp;
mod resolvers;
mod support;
mod tasks;
mod undo;
