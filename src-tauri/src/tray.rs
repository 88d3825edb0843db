//! The tray icon: how many cards wait, and the way to the first of them. It never decides anything.

use crate::bridge;
use crate::language::{Language, Words};
use crate::window;
use std::sync::Mutex;
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Manager as _, Wry};

const PLAIN: &[u8] = include_bytes!("../../icons/tray-plain.png");
const WAITING: &[u8] = include_bytes!("../../icons/tray-waiting.png");
const RUNNING: &[u8] = include_bytes!("../../icons/tray-running.png");

/// The parts of the tray that change.
pub(crate) struct Tray {
    icon: TrayIcon<Wry>,
    waiting: MenuItem<Wry>,
    running: MenuItem<Wry>,
    open: MenuItem<Wry>,
    pause: MenuItem<Wry>,
    quit: MenuItem<Wry>,
    shown: Mutex<Option<Numbers>>,
}

/// What the tray shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Cards that wait.
    pub(crate) waiting: usize,
    /// Tasks at work.
    pub(crate) running: usize,
    /// All automations are paused.
    pub(crate) paused: bool,
    /// In which language.
    pub(crate) language: Language,
}

/// Makes the tray icon.
pub(crate) fn make(app: &AppHandle, language: Language) -> tauri::Result<()> {
    let waiting = MenuItem::with_id(app, "waiting", language.say(Words::NothingWaits), false, None::<&str>)?;
    let running = MenuItem::with_id(app, "running", language.running(0), false, None::<&str>)?;
    let open = MenuItem::with_id(app, "open", language.say(Words::Open), true, None::<&str>)?;
    let pause = MenuItem::with_id(app, "pause", language.say(Words::PauseAutomations), true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", language.say(Words::Quit), true, None::<&str>)?;
    let line = PredefinedMenuItem::separator(app)?;
    let menu = Menu::with_items(app, &[&waiting, &running, &line, &open, &pause, &quit])?;
    let icon = TrayIconBuilder::with_id("main")
        .icon(Image::from_bytes(PLAIN)?)
        .tooltip("PocketPilot")
        .menu(&menu)
        .show_menu_on_left_click(true)
        .on_menu_event(|app, event| match event.id().as_ref() {
            "waiting" => bridge::open_first_card(app),
            "open" => window::show(app),
            "pause" => bridge::turn_automations(app),
            "quit" => app.exit(0),
            _ => {}
        })
        .build(app)?;
    app.manage(Tray { icon, waiting, running, open, pause, quit, shown: Mutex::new(None) });
    Ok(())
}

/// Shows new numbers.
pub(crate) fn update(app: &AppHandle, now: Numbers) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    {
        let mut shown = tray.shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *shown == Some(now) {
            return;
        }
        *shown = Some(now);
    }
    if let Err(error) = redraw(&tray, now) {
        tracing::warn!(%error, "the tray could not be redrawn");
    }
    #[cfg(feature = "e2e")]
    crate::seams::log("tray", &format!("{} waiting, {} running", now.waiting, now.running));
}

fn redraw(tray: &Tray, now: Numbers) -> tauri::Result<()> {
    let Numbers { waiting, running, paused, language } = now;
    // The shape differs, not the colour only.
    let icon = match (waiting, running) {
        (0, 0) => PLAIN,
        (0, _) => RUNNING,
        (_, _) => WAITING,
    };
    tray.icon.set_icon(Some(Image::from_bytes(icon)?))?;
    if waiting == 0 {
        tray.waiting.set_text(language.say(Words::NothingWaits))?;
    } else {
        tray.waiting.set_text(language.waiting(waiting))?;
    }
    tray.waiting.set_enabled(waiting > 0)?;
    tray.running.set_text(language.running(running))?;
    tray.open.set_text(language.say(Words::Open))?;
    tray.pause.set_text(language.say(if paused {
        Words::ResumeAutomations
    } else {
        Words::PauseAutomations
    }))?;
    tray.quit.set_text(language.say(Words::Quit))
}

/// True when somebody shows tray icons. Making one succeeds also where nobody does, and closing the window to a tray
/// that is not there would lose it.
#[cfg(target_os = "linux")]
pub(crate) async fn is_shown() -> bool {
    let ask = async {
        let bus = zbus::Connection::session().await.ok()?;
        let proxy = zbus::fdo::DBusProxy::new(&bus).await.ok()?;
        proxy.name_has_owner("org.kde.StatusNotifierWatcher".try_into().ok()?).await.ok()
    };
    tokio::time::timeout(std::time::Duration::from_secs(1), ask).await.ok().flatten().unwrap_or(false)
}

/// True when somebody shows tray icons.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn is_shown() -> bool {
    true
}
