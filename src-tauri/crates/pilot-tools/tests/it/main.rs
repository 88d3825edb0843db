//! Tools against a real folder, and document workers against hostile stand-ins.
#![expect(clippy::disallowed_methods, reason = "tests make the folders that the guard then opens")]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "what a test needs and does not get is its failure; what is skipped is said"
)]

mod analysis;
mod documents;
mod doors;
mod mcp;
mod mcp_hostile;
mod mcp_real;
mod mcp_support;
mod memory;
mod reading;
mod skills;
mod support;
mod worker;
mod writing;
