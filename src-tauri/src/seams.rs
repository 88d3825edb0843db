//! Seams for the window tests; only in builds with the `e2e` feature.

use std::io::Write as _;

/// Appends one line to the file named by `PP_TEST_LOG`: `{"event":…,"detail":…}`. One write per line, so that a reader
/// never sees half of one.
#[expect(
    clippy::disallowed_methods,
    reason = "the tests' own log, named by the tests; never a workspace file"
)]
pub(crate) fn log(event: &str, detail: &str) {
    let Some(path) = std::env::var_os("PP_TEST_LOG") else { return };
    let line = format!("{}\n", serde_json::json!({ "event": event, "detail": detail }));
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}
