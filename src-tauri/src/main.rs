//! PocketPilot's window: a thin shell over `pilot-service`. It draws, asks, notifies and passes on; it decides nothing.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod app;
mod bridge;
mod commands;
mod language;
mod notify;
#[cfg(feature = "e2e")]
mod seams;
mod state;
mod tray;
mod window;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The reader of documents and the supervisor of outside tools are this same program; it must not do anything else first.
    if let Some(code) = pilot_service::serve_as_child() {
        return ExitCode::from(code);
    }
    // Whoever can automate the window can click Approve. A build for people refuses to be automated.
    if !cfg!(feature = "e2e") && std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some() {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"PocketPilot does not start under web automation: it could click Approve.\n",
        );
        return ExitCode::from(2);
    }
    app::run()
}
