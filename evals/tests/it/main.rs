//! Tests of the package as a whole: all cases, and the demo folder from its bytes to the report about it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests of folders and of this package's own programs; what is missing is a failed test"
)]

mod cases;
mod demo;
