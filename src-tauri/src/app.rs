//! Puts the parts together, in order, and takes them apart again.

use crate::state::Shell;
use crate::{bridge, commands, language, tray, window};
use pilot_service::{AutomationOptions, Automations, Background, OpenOptions, Service, ServiceError};
use pilot_types::ErrorCode;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use tauri::{AppHandle, Manager as _, RunEvent, Wry};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What runs beside the window, stopped in reverse order.
struct Beside {
    background: Mutex<Option<(Automations, Background)>>,
    bridge: CancellationToken,
    /// Keeps the log's writer alive.
    _log: Option<tracing_appender::non_blocking::WorkerGuard>,
}

/// Runs the application until it quits.
pub(crate) fn run() -> ExitCode {
    let app = tauri::Builder::default()
        // First, so that a second start reaches the first one before it opens anything.
        .plugin(tauri_plugin_single_instance::init(|app, arguments, _| {
            window::show(app);
            tauri::async_runtime::spawn(open_named(app.clone(), arguments));
        }))
        .plugin(window::navigation_guard())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .plugin(
            tauri_plugin_window_state::Builder::default()
                .with_state_flags(
                    tauri_plugin_window_state::StateFlags::all()
                        & !tauri_plugin_window_state::StateFlags::VISIBLE,
                )
                .build(),
        )
        .invoke_handler(commands::handler())
        .on_window_event(|window, event| window::on_event(window.app_handle(), event))
        .setup(|app| set_up(app.handle()).map_err(Into::into))
        .build(tauri::generate_context!());
    match app {
        Ok(app) => {
            app.run(on_run_event);
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("PocketPilot could not start: {error}\n").as_bytes(),
            );
            ExitCode::FAILURE
        }
    }
}

fn set_up(app: &AppHandle) -> Result<(), ServiceError> {
    let data_dir = pilot_service::default_data_dir()
        .ok_or_else(|| ServiceError::new(ErrorCode::Usage, "no home folder"))?;
    let chinese = language::system() == pilot_service::view::LanguageSetting::ZhCn;
    let (service, tray) = tauri::async_runtime::block_on(async {
        let mut options = OpenOptions::new(data_dir)?;
        options.takes_over = true;
        options.chinese = chinese;
        Ok::<_, ServiceError>((Service::open(options).await?, tray::is_shown().await))
    })?;
    let log = start_log(&service);
    let language = language::chosen(&tauri::async_runtime::block_on(service.settings())?);
    let fault = |error: tauri::Error| ServiceError::new(ErrorCode::Internal, error.to_string());
    app.manage(Shell::new(service.clone(), tray));
    tray::make(app, language).map_err(fault)?;
    // The runner spawns its tasks on the runtime that it is started on.
    let background = tauri::async_runtime::block_on(async {
        (service.start_automations(AutomationOptions::default()), service.start_background())
    });
    let bridge = CancellationToken::new();
    tauri::async_runtime::spawn(bridge::run(app.clone(), service, bridge.clone()));
    app.manage(Beside { background: Mutex::new(Some(background)), bridge, _log: log });
    tauri::async_runtime::block_on(open_named(app.clone(), std::env::args().collect()));
    window::make(app, std::env::args().any(|argument| argument == "--hidden")).map_err(fault)?;
    #[cfg(feature = "e2e")]
    crate::seams::log("ready", if tray { "tray" } else { "no tray" });
    Ok(())
}

/// `--workspace DIR` registers a folder, as if the person had chosen it in the window.
async fn open_named(app: AppHandle, arguments: Vec<String>) {
    let named =
        arguments.iter().position(|argument| argument == "--workspace").and_then(|at| arguments.get(at + 1));
    let Some(folder) = named.map(std::path::PathBuf::from) else { return };
    if let Err(error) = app.state::<Shell>().service.add_workspace(&folder, None).await {
        tracing::warn!(%error, "the named folder was not registered");
    }
}

/// Logs go to files in the data folder, one a day, seven kept; never a key, never content.
fn start_log(service: &Service) -> Option<tracing_appender::non_blocking::WorkerGuard> {
    let appender = tracing_appender::rolling::Builder::new()
        .rotation(tracing_appender::rolling::Rotation::DAILY)
        .filename_prefix("pocketpilot")
        .filename_suffix("log")
        .max_log_files(7)
        .build(service.log_dir())
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("POCKETPILOT_LOG").unwrap_or_else(|_| "info".into());
    tracing_subscriber::registry()
        .with(filter)
        .with(tracing_subscriber::fmt::layer().json().with_writer(writer))
        .try_init()
        .ok()?;
    Some(guard)
}

fn on_run_event(app: &tauri::AppHandle<Wry>, event: RunEvent) {
    match event {
        // Without a window the program stays: tasks go on, the tray leads back.
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        RunEvent::Exit => {
            let Some(beside) = app.try_state::<Beside>() else { return };
            beside.bridge.cancel();
            let background =
                beside.background.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some((automations, background)) = background {
                let service = app.state::<Shell>().service.clone();
                tauri::async_runtime::block_on(async {
                    automations.shutdown().await;
                    background.shutdown(Duration::from_secs(2)).await;
                    service.close().await;
                });
            }
        }
        _ => {}
    }
}
