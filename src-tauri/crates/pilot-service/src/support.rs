//! A file for support: what is needed to understand a fault, and nothing that a person wrote or named.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use pilot_store::facts;
use serde_json::json;
use std::io::Read as _;
use std::path::PathBuf;

impl Service {
    /// Writes the file: versions, schema, counts, states, codes, facts about the system, state of the keyring. No goals,
    /// paths, names, text of documents or keys; words that are not from a closed list of this program are left out.
    ///
    /// # Errors
    /// A file of that name is there (unless the person's own dialog asked: `replace`), or it cannot be written.
    pub async fn write_support_file(&self, to: PathBuf, replace: bool) -> Result<(), ServiceError> {
        let text = self.support_text().await?;
        let shown = to.display().to_string();
        blocking(move || Ok(pilot_guard::save_outside(&to, text.as_bytes(), replace)?)).await.map_err(
            |error| {
                if error.code() == pilot_types::ErrorCode::TargetChanged {
                    ServiceError::new(
                        pilot_types::ErrorCode::AlreadyExists,
                        "a file of that name is there already",
                    )
                } else {
                    error
                }
                .about(shown)
            },
        )
    }

    async fn support_text(&self) -> Result<String, ServiceError> {
        let database = facts::read(&mut *self.inner.store.read().await?).await?;
        // Only name and state of a check: its words may name a folder.
        let checks: Vec<serde_json::Value> = self
            .doctor()
            .await?
            .iter()
            .map(|check| json!({ "check": check.id, "state": check.state }))
            .collect();
        let keyring = match self.inner.keys.probe().await {
            Ok(()) => "ready",
            Err(error) => error.code().as_str(),
        };
        let settings = self.settings().await?;
        let providers = self.named_providers().await?;
        let local = providers.iter().filter(|one| pilot_providers::http::is_local(&one.base_url)).count();
        let usage = self.data_usage().await?;
        let audit = self.verify_audit().await?;
        let kernel = blocking(|| Ok(kernel_release())).await?;
        let bundle = json!({
            "type": "support",
            "form": 1,
            "made_at": crate::view::time(self.now()),
            "program": { "version": env!("CARGO_PKG_VERSION"), "owner": self.is_owner(), "debug": cfg!(debug_assertions) },
            "system": {
                "os": std::env::consts::OS, "architecture": std::env::consts::ARCH, "kernel": kernel,
                "processors": std::thread::available_parallelism().map_or(0, usize::from),
                "wayland": std::env::var_os("WAYLAND_DISPLAY").is_some(), "x11": std::env::var_os("DISPLAY").is_some(),
                "session_bus": std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some(),
            },
            "database": database,
            "record": { "entries": audit.entries, "intact": audit.intact, "broken_at": audit.broken_at },
            "keyring": keyring,
            "providers": { "named": providers.len(), "on_this_computer": local },
            "kept": usage,
            "settings": settings,
            "checks": checks,
        });
        serde_json::to_string_pretty(&bundle)
            .map(|text| text + "\n")
            .map_err(|error| ServiceError::new(pilot_types::ErrorCode::Internal, error.to_string()))
    }
}

/// Such as `6.1.0-18-amd64`: digits, letters, dots and dashes of the first line, since a kernel may be called anything.
fn kernel_release() -> Option<String> {
    let file =
        pilot_guard::OutsideFile::open(std::path::Path::new("/proc/sys/kernel/osrelease"), 4_096).ok()?;
    let mut text = String::new();
    file.take(4_096).read_to_string(&mut text).ok()?;
    let number = text.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    (!number.is_empty()).then(|| number.to_owned())
}
