//! The one window: made here, guarded against navigation, hidden instead of closed.

use crate::language::{self, Words};
use crate::state::Shell;
use tauri::{
    AppHandle, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent, Wry,
};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons};

const LABEL: &str = "main";

/// A content policy does not stop navigation (meta refresh, a form, a link, `location`): this does. Only the
/// program's own pages may be shown.
pub(crate) fn may_navigate(url: &Url) -> bool {
    let own = matches!(
        (url.scheme(), url.host_str()),
        ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))
    );
    own || url.as_str() == "about:blank"
}

/// Holds every window to [`may_navigate`].
pub(crate) fn navigation_guard() -> tauri::plugin::TauriPlugin<Wry> {
    tauri::plugin::Builder::new("navigation-guard").on_navigation(|_, url| may_navigate(url)).build()
}

/// Makes the window.
pub(crate) fn make(app: &AppHandle, hidden: bool) -> tauri::Result<WebviewWindow> {
    WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App("index.html".into()))
        .title("PocketPilot")
        .inner_size(1280.0, 800.0)
        .min_inner_size(900.0, 600.0)
        .visible(!hidden)
        .on_navigation(may_navigate)
        .build()
}

/// Brings the window to the front, making it again if it is gone.
pub(crate) fn show(app: &AppHandle) {
    let window = match app.get_webview_window(LABEL) {
        Some(window) => Ok(window),
        None => make(app, false),
    };
    match window {
        Ok(window) => {
            let shown = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
            if let Err(error) = shown {
                tracing::warn!(%error, "the window could not be brought to the front");
            }
        }
        Err(error) => tracing::error!(%error, "the window could not be made"),
    }
}

/// True when the person looks at the window right now.
pub(crate) fn is_focused(app: &AppHandle) -> bool {
    app.get_webview_window(LABEL).is_some_and(|window| {
        window.is_focused().unwrap_or(false)
            && window.is_visible().unwrap_or(false)
            && !window.is_minimized().unwrap_or(false)
    })
}

/// True when the window is on screen, focused or not.
pub(crate) fn is_visible(app: &AppHandle) -> bool {
    app.get_webview_window(LABEL).is_some_and(|window| window.is_visible().unwrap_or(false))
}

/// Closing hides: tasks go on. Where there is no tray the window could not be found again, so the person is asked.
pub(crate) fn on_event(app: &AppHandle, event: &WindowEvent) {
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            if app.state::<Shell>().tray {
                hide(app);
            } else {
                ask_to_quit(app);
            }
        }
        WindowEvent::DragDrop(tauri::DragDropEvent::Enter { paths, .. }) => {
            crate::commands::files::dragged(app, Some(paths.len()))
        }
        WindowEvent::DragDrop(tauri::DragDropEvent::Leave) => crate::commands::files::dragged(app, None),
        WindowEvent::DragDrop(tauri::DragDropEvent::Drop { paths, .. }) => {
            crate::commands::files::dropped(app, paths.clone())
        }
        _ => {}
    }
}

fn hide(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.hide()
    {
        tracing::warn!(%error, "the window could not be hidden");
    }
    #[cfg(feature = "e2e")]
    crate::seams::log("hidden", "");
}

fn ask_to_quit(app: &AppHandle) {
    let asked = app.clone();
    tauri::async_runtime::spawn(async move {
        let settings = asked.state::<Shell>().service.settings().await.unwrap_or_default();
        let language = language::chosen(&settings);
        let quitting = asked.clone();
        asked
            .dialog()
            .message(language.say(Words::NoTrayText))
            .title(language.say(Words::NoTrayTitle))
            .buttons(MessageDialogButtons::OkCancelCustom(
                language.say(Words::Quit).to_owned(),
                language.say(Words::KeepOpen).to_owned(),
            ))
            .show(move |quit| {
                if quit {
                    quitting.exit(0);
                }
            });
    });
}
