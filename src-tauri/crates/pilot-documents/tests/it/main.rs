//! What the crate promises of whole files. All fixtures are made here, of invented companies.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "fixtures that cannot be made fail the test"
)]

mod analyze;
mod corpus;
mod fixtures;
mod hostile;
mod office;
mod pdf;
mod worker;
mod write_back;
