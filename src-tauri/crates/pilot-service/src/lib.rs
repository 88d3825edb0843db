//! Composes the rooms below into what a person uses: tasks, approvals, workspaces, files, artifacts, settings, keys,
//! the record and its check. The window, the command line and the evals call this crate and nothing below it.
//!
//! **What this crate must not know:** windows, terminals, notifications, the wire. It opens no workspace file itself
//! (that is the guard's), speaks SQL only through the store's repositories, and reads a capability only through policy.
//!
//! Everything that is decided about an approval is decided in [`Service::approve`] and [`Service::reject`], by one
//! conditional update.

mod again;
mod approval;
mod artifacts;
mod audit;
mod automations;
mod background;
mod backup;
mod bus;
mod disk;
mod doctor;
mod edits;
mod error;
mod evidence;
mod files;
mod gate;
mod history;
mod keys;
mod mcp;
mod memory;
mod moved;
mod open;
mod provider_setup;
mod providers;
mod reach;
mod recovery;
mod retention;
mod run;
mod sessions;
mod settings;
mod sink;
mod skills;
mod support;
mod tasks;
mod uploads;
mod usage;
pub mod view;
mod workspaces;

pub use approval::{Approve, Decider, Shown};
pub use audit::AuditFormat;
pub use automations::{AutomationOptions, Automations, WebhookState, upcoming};
pub use background::Background;
pub use backup::restore;
pub use bus::Notice;
pub use disk::DiskChange;
pub use doctor::{Check, CheckState};
pub use error::ServiceError;
pub use keys::{KeyError, KeyPlace, Keys};
pub use mcp::McpOptions;
pub use open::{EnvironmentProvider, OpenOptions, Service, default_data_dir};
pub use pilot_agent::Clock;
pub use pilot_providers::local::LocalPlace;
pub use pilot_review::shown_text;
pub use pilot_tools::mcp::{Confinement, McpLimits};
pub use pilot_triggers::WebhookLimits;
pub use provider_setup::{Probing, ProviderDraft, presets};
pub use providers::parse_script;
pub use run::Stop;
pub use uploads::{UploadProgress, UploadSource};

/// Does the work of a child of this program, when it was started as one: reads documents, or supervises an outside tool.
/// The programs call this first in `main`, and end with the code when there is one.
#[must_use]
pub fn serve_as_child() -> Option<u8> {
    pilot_tools::mcp::supervise_if_asked().or_else(|| pilot_documents::worker::run_if_asked().then_some(0))
}
