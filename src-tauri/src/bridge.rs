//! From the service to the person: events to the window, numbers to the tray, cards to the notification server.

use crate::language::{self, Language, Words};
use crate::notify::{Clicked, Notifier};
use crate::state::Shell;
use crate::{tray, window};
use pilot_service::view::WindowEvent;
use pilot_service::{DiskChange, Notice, Service, UploadProgress};
use pilot_types::{ApprovalId, Event, EventRecord, TaskId, TaskStatus};
use std::time::Duration;
use tauri::{AppHandle, Emitter as _, Manager as _};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

/// The one channel to the window.
pub(crate) const CHANNEL: &str = "pilot";

/// Streaming text is gathered for this long before it is sent, so that a fast model does not flood the window.
const GATHER: Duration = Duration::from_millis(16);

/// Tells the window something.
pub(crate) fn emit(app: &AppHandle, event: WindowEvent) {
    if let Err(error) = app.emit(CHANNEL, event) {
        tracing::warn!(%error, "the window could not be told");
    }
}

/// Shows the window with a card. It decides nothing.
pub(crate) fn open_card(app: &AppHandle, approval: &str) {
    window::show(app);
    emit(app, WindowEvent::OpenCard { approval: approval.to_owned() });
    #[cfg(feature = "e2e")]
    crate::seams::log("open_card", approval);
}

/// Shows the window with the card that has waited longest.
pub(crate) fn open_first_card(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let rows = app.state::<Shell>().service.approvals(false).await.unwrap_or_default();
        match rows.first() {
            Some(row) => open_card(&app, &row.id),
            None => window::show(&app),
        }
    });
}

/// Pauses all automations, or lets them go on.
pub(crate) fn turn_automations(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let service = &app.state::<Shell>().service;
        let paused = service.settings().await.is_ok_and(|settings| settings.automations_paused);
        if let Err(error) = service.pause_automations(!paused).await {
            tracing::error!(%error, "the automations could not be paused");
        }
    });
}

/// Runs until the token fires.
pub(crate) async fn run(app: AppHandle, service: Service, stop: CancellationToken) {
    let mut notices = service.subscribe();
    let (clicks, mut clicked) = mpsc::unbounded_channel();
    let mut bridge = Bridge {
        app: app.clone(),
        service,
        notifier: Notifier::new(clicks),
        language: Language::En,
        deltas: Vec::new(),
    };
    bridge.refresh().await;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(Clicked(subject)) = clicked.recv() => bridge.clicked(&subject).await,
            notice = next(&mut notices, !bridge.deltas.is_empty()) => match notice {
                Some(Ok(notice)) => bridge.told(notice).await,
                Some(Err(RecvError::Lagged(_))) => {
                    // What was missed stands in the database: the window fetches it.
                    emit(&app, WindowEvent::Changed);
                    bridge.refresh().await;
                }
                Some(Err(RecvError::Closed)) => return,
                None => bridge.flush(),
            },
        }
    }
}

fn disk_event(workspace: String, change: DiskChange) -> WindowEvent {
    match change {
        DiskChange::Paths(paths) => {
            WindowEvent::FilesChanged { workspace, paths: paths.into_iter().collect(), everything: false }
        }
        DiskChange::Everything => {
            WindowEvent::FilesChanged { workspace, paths: Vec::new(), everything: true }
        }
        DiskChange::State(state) => WindowEvent::FolderWatched { workspace, state },
    }
}

/// The next notice; `None` when text has been gathered long enough.
async fn next(
    notices: &mut broadcast::Receiver<Notice>,
    gathering: bool,
) -> Option<Result<Notice, RecvError>> {
    if gathering {
        tokio::time::timeout(GATHER, notices.recv()).await.ok()
    } else {
        Some(notices.recv().await)
    }
}

struct Bridge {
    app: AppHandle,
    service: Service,
    notifier: Notifier,
    language: Language,
    deltas: Vec<(TaskId, String)>,
}

impl Bridge {
    async fn told(&mut self, notice: Notice) {
        match notice {
            Notice::Delta { task, text } => match self.deltas.iter_mut().find(|(known, _)| *known == task) {
                // A steady stream must not starve the window.
                Some((_, gathered)) if gathered.len() > 4_096 => {
                    gathered.push_str(&text);
                    self.flush();
                }
                Some((_, gathered)) => gathered.push_str(&text),
                None => self.deltas.push((task, text)),
            },
            Notice::Recorded(record) => {
                self.flush();
                self.recorded(&record).await;
                emit(&self.app, WindowEvent::Recorded { record: *record });
            }
            Notice::Waiting(approval) => self.waiting(&approval).await,
            Notice::Disk { workspace, change } => emit(&self.app, disk_event(workspace.to_string(), change)),
            Notice::Stale { approval, task, stale } => emit(
                &self.app,
                WindowEvent::CardStale { approval: approval.to_string(), task: task.to_string(), stale },
            ),
            Notice::Upload(progress) => {
                let UploadProgress { id, name, done, total } = (*progress).clone();
                emit(&self.app, WindowEvent::UploadProgress { id, name, done, total });
            }
            Notice::Changed => {
                self.flush();
                self.refresh().await;
                emit(&self.app, WindowEvent::Changed);
            }
        }
    }

    fn flush(&mut self) {
        for (task, text) in self.deltas.drain(..) {
            emit(&self.app, WindowEvent::Delta { task: task.to_string(), text });
        }
    }

    async fn recorded(&mut self, record: &EventRecord) {
        match &record.event {
            Event::StatusChanged { status, .. } => {
                if let Some(task) = &record.task {
                    self.ended(task, *status).await;
                }
                self.refresh().await;
            }
            Event::ApprovalDecided { approval, .. } | Event::ApprovalReplaced { old: approval, .. } => {
                self.notifier.withdraw(approval.as_str()).await;
                self.refresh().await;
            }
            Event::TaskCreated { .. } | Event::ApprovalRequested { .. } => self.refresh().await,
            Event::Prompted { .. }
            | Event::ModelAnswer { .. }
            | Event::ToolStarted { .. }
            | Event::ToolResult { .. }
            | Event::PolicyDenied { .. }
            | Event::ExecutionFinished { .. }
            | Event::ArtifactWritten { .. }
            | Event::Undone { .. }
            | Event::OperatorActed { .. }
            | Event::Noted { .. } => {}
        }
    }

    /// A card waits: says so, unless that very card is on screen in the focused window.
    async fn waiting(&mut self, approval: &ApprovalId) {
        let settings = self.service.settings().await.unwrap_or_default();
        let on_screen = self.app.state::<Shell>().on_screen().approval.as_deref() == Some(approval.as_str());
        if !settings.notifications || (on_screen && window::is_focused(&self.app)) {
            return;
        }
        let Ok(view) = self.service.approval(approval).await else { return };
        let body =
            if settings.notification_titles { pilot_service::shown_text(&view.goal) } else { String::new() };
        // A card that takes the place of another takes the place of its notification too.
        if let Some(replaced) = &view.replaces {
            self.notifier.withdraw(replaced).await;
        }
        self.notifier
            .show(approval.as_str(), self.language.card_title(), &body, self.language.say(Words::View))
            .await;
        #[cfg(feature = "e2e")]
        crate::seams::log("notified", approval.as_str());
    }

    /// A task ended: says so when nobody looks.
    async fn ended(&mut self, task: &TaskId, status: TaskStatus) {
        let title = match status {
            TaskStatus::Completed => Words::TaskDone,
            TaskStatus::Failed => Words::TaskFailed,
            TaskStatus::Interrupted => Words::TaskInterrupted,
            TaskStatus::Queued
            | TaskStatus::Running
            | TaskStatus::WaitingApproval
            | TaskStatus::Cancelled => return,
        };
        let settings = self.service.settings().await.unwrap_or_default();
        if !settings.notifications || window::is_visible(&self.app) {
            return;
        }
        let body = match self.service.task(task).await {
            Ok(view) if settings.notification_titles => pilot_service::shown_text(&view.goal),
            Ok(_) | Err(_) => String::new(),
        };
        self.notifier
            .show(task.as_str(), self.language.say(title), &body, self.language.say(Words::View))
            .await;
    }

    async fn clicked(&mut self, subject: &str) {
        let is_card = self.service.approval(&ApprovalId::from_text(subject)).await.is_ok();
        if is_card { open_card(&self.app, subject) } else { window::show(&self.app) }
    }

    async fn refresh(&mut self) {
        let settings = self.service.settings().await.unwrap_or_default();
        self.language = language::chosen(&settings);
        self.service.set_chinese(self.language == Language::Zh);
        let waiting = self.service.waiting_count().await.unwrap_or(0);
        let running = self.service.running_count().await.unwrap_or(0);
        let paused = settings.automations_paused;
        tray::update(&self.app, tray::Numbers { waiting, running, paused, language: self.language });
    }
}
