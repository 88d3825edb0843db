//! Tests of the package as a whole: all cases, and the demo folder from its bytes to the report about it.
#![expect(clippy::disallowed_methods, reason = "tests of folders and of this package's own programs")]

mod cases;
mod demo;
