//! Tools against a real folder, and document workers against hostile stand-ins.
#![expect(clippy::disallowed_methods, reason = "tests make the folders that the guard then opens")]
#![expect(clippy::expect_used, clippy::panic, reason = "what a test needs and does not get is its failure")]

mod analysis;
mod documents;
mod doors;
mod memory;
mod reading;
mod skills;
mod support;
mod worker;
mod writing;
