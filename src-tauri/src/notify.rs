//! Notifications of the system. A click opens the card; nothing in a notification ever approves.

/// What was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clicked(pub(crate) String);

#[cfg(target_os = "linux")]
pub(crate) use linux::Notifier;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Notifier;

#[cfg(target_os = "linux")]
mod linux {
    //! One long-lived connection for all cards: a server sends clicks only to the connection that asked last.

    use super::Clicked;
    use futures_util::StreamExt as _;
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;
    use tokio::sync::mpsc;
    use zbus::zvariant::Value;

    /// A server that does not answer within this time is treated as missing.
    const LIMIT: Duration = Duration::from_secs(3);

    #[zbus::proxy(
        interface = "org.freedesktop.Notifications",
        default_service = "org.freedesktop.Notifications",
        default_path = "/org/freedesktop/Notifications"
    )]
    trait Notifications {
        #[expect(
            clippy::too_many_arguments,
            reason = "the interface is fixed by the desktop notification specification"
        )]
        fn notify(
            &self,
            app_name: &str,
            replaces_id: u32,
            app_icon: &str,
            summary: &str,
            body: &str,
            actions: &[&str],
            hints: HashMap<&str, Value<'_>>,
            expire_timeout: i32,
        ) -> zbus::Result<u32>;
        fn close_notification(&self, id: u32) -> zbus::Result<()>;
        #[zbus(signal)]
        fn action_invoked(&self, id: u32, action_key: String) -> zbus::Result<()>;
        #[zbus(signal)]
        fn notification_closed(&self, id: u32, reason: u32) -> zbus::Result<()>;
    }

    /// What is on screen: subject (a card or a task) by the server's id.
    type Shown = Arc<Mutex<HashMap<u32, String>>>;

    /// Sends notifications and hears clicks.
    pub(crate) struct Notifier {
        proxy: Option<NotificationsProxy<'static>>,
        shown: Shown,
        clicks: mpsc::UnboundedSender<Clicked>,
    }

    impl Notifier {
        pub(crate) fn new(clicks: mpsc::UnboundedSender<Clicked>) -> Self {
            Self { proxy: None, shown: Shown::default(), clicks }
        }

        async fn proxy(&mut self) -> zbus::Result<NotificationsProxy<'static>> {
            if let Some(proxy) = &self.proxy {
                return Ok(proxy.clone());
            }
            let bus = zbus::Connection::session().await?;
            let proxy = NotificationsProxy::new(&bus).await?;
            let invoked = proxy.receive_action_invoked().await?;
            let closed = proxy.receive_notification_closed().await?;
            tokio::spawn(listen(proxy.clone(), invoked, closed, self.shown.clone(), self.clicks.clone()));
            self.proxy = Some(proxy.clone());
            Ok(proxy)
        }

        /// Shows one notification for a subject, in place of the one it has.
        pub(crate) async fn show(&mut self, subject: &str, title: &str, body: &str, view: &str) {
            let replaces = self.id_of(subject).unwrap_or(0);
            let shown = tokio::time::timeout(LIMIT, async {
                let proxy = self.proxy().await?;
                let hints = HashMap::from([
                    ("desktop-entry", Value::from("PocketPilot")),
                    ("category", Value::from("im.received")),
                ]);
                proxy
                    .notify(
                        "PocketPilot",
                        replaces,
                        "pocketpilot",
                        title,
                        body,
                        &["default", view, "view", view],
                        hints,
                        0,
                    )
                    .await
            })
            .await;
            match shown {
                Ok(Ok(id)) => {
                    let mut map = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
                    map.retain(|_, known| known != subject);
                    map.insert(id, subject.to_owned());
                }
                Ok(Err(error)) => {
                    // The server may have been restarted; the next card connects again.
                    self.proxy = None;
                    tracing::info!(%error, "no notification could be shown");
                }
                Err(_) => {
                    self.proxy = None;
                    tracing::info!("the notification server does not answer");
                }
            }
        }

        /// Takes a subject's notification away.
        pub(crate) async fn withdraw(&mut self, subject: &str) {
            let (Some(id), Some(proxy)) = (self.id_of(subject), self.proxy.clone()) else { return };
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            let _ = tokio::time::timeout(LIMIT, proxy.close_notification(id)).await;
        }

        fn id_of(&self, subject: &str) -> Option<u32> {
            self.shown
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .find(|(_, known)| *known == subject)
                .map(|(id, _)| *id)
        }
    }

    async fn listen(
        proxy: NotificationsProxy<'static>,
        mut invoked: ActionInvokedStream,
        mut closed: NotificationClosedStream,
        shown: Shown,
        clicks: mpsc::UnboundedSender<Clicked>,
    ) {
        loop {
            tokio::select! {
                Some(signal) = invoked.next() => {
                    let Ok(arguments) = signal.args() else { continue };
                    let subject = shown.lock().unwrap_or_else(PoisonError::into_inner).remove(&arguments.id);
                    if let Some(subject) = subject {
                        if clicks.send(Clicked(subject)).is_err() {
                            return;
                        }
                        // Some servers leave a clicked notification on screen.
                        let _ = proxy.close_notification(arguments.id).await;
                    }
                }
                Some(signal) = closed.next() => {
                    if let Ok(arguments) = signal.args() {
                        shown.lock().unwrap_or_else(PoisonError::into_inner).remove(&arguments.id);
                    }
                }
                else => return,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    //! Shown, but a click cannot be heard everywhere; the tray and the inbox lead to the card.

    use super::Clicked;
    use tokio::sync::mpsc;

    /// Sends notifications.
    pub(crate) struct Notifier;

    impl Notifier {
        pub(crate) fn new(_clicks: mpsc::UnboundedSender<Clicked>) -> Self {
            Self
        }

        /// Shows one notification.
        pub(crate) async fn show(&mut self, _subject: &str, title: &str, body: &str, _view: &str) {
            let (title, body) = (title.to_owned(), body.to_owned());
            let shown = tokio::task::spawn_blocking(move || {
                notify_rust::Notification::new()
                    .appname("PocketPilot")
                    .summary(&title)
                    .body(&body)
                    .show()
                    .map(|_| ())
            })
            .await;
            if let Ok(Err(error)) = shown {
                tracing::info!(%error, "no notification could be shown");
            }
        }

        /// Cannot be taken away here.
        pub(crate) async fn withdraw(&mut self, _subject: &str) {}
    }
}
