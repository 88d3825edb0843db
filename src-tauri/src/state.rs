//! What the window has on screen, as far as the core needs to know it.

use pilot_service::Service;
use std::sync::{Mutex, PoisonError};

/// What is on screen now.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct OnScreen {
    /// Workspace that the window shows; files dropped on it go there.
    pub(crate) workspace: Option<String>,
    /// Folder in it; empty for the root.
    #[serde(default)]
    pub(crate) folder: Option<String>,
    /// Card that is open; no notification is sent for it while the window has the focus.
    pub(crate) approval: Option<String>,
}

/// State of the shell.
pub(crate) struct Shell {
    /// The service.
    pub(crate) service: Service,
    /// True when the system shows tray icons.
    pub(crate) tray: bool,
    on_screen: Mutex<OnScreen>,
}

impl Shell {
    pub(crate) fn new(service: Service, tray: bool) -> Self {
        Self { service, tray, on_screen: Mutex::default() }
    }

    pub(crate) fn on_screen(&self) -> OnScreen {
        self.on_screen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_on_screen(&self, now: OnScreen) {
        *self.on_screen.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}
