//! What a person does with channels of the webhook.

use crate::WebhookState;
use crate::error::ServiceError;
use crate::open::Service;
use crate::view::{
    AutomationsView, ChannelRequest, ChannelView, NewChannelView, WebhookStateView, WebhookView,
};
use pilot_store::{ChannelRow, channels, workspaces};
use pilot_triggers::Token;
use pilot_types::{ChannelId, ErrorCode, Event, Source, TaskId, WorkspaceId};

/// Characters of a channel's name at most.
const NAME_LIMIT: usize = 80;

impl Service {
    /// Everything of the place "Automations".
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn automations(&self) -> Result<AutomationsView, ServiceError> {
        let settings = self.settings().await?;
        let state = self.webhook_state();
        let webhook = match (state, self.listening_port().await?) {
            (_, Some(port)) => WebhookView { state: WebhookStateView::Listening, port },
            (WebhookState::Failed { port, .. }, None) => {
                WebhookView { state: WebhookStateView::PortTaken, port }
            }
            (WebhookState::Off | WebhookState::Guest | WebhookState::Listening { .. }, None) => {
                WebhookView { state: WebhookStateView::Off, port: settings.webhook_port }
            }
        };
        Ok(AutomationsView {
            schedules: self.schedules().await?,
            channels: self.channels().await?,
            webhook,
            paused: settings.automations_paused,
        })
    }

    /// Pauses all automations, or lets them go on: no schedule starts, the webhook takes nothing.
    ///
    /// # Errors
    /// The settings cannot be written.
    pub async fn pause_automations(&self, paused: bool) -> Result<(), ServiceError> {
        let mut settings = self.settings().await?;
        if settings.automations_paused == paused {
            return Ok(());
        }
        settings.automations_paused = paused;
        self.save_settings(&settings).await
    }

    /// All channels whose token works, oldest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn channels(&self) -> Result<Vec<ChannelView>, ServiceError> {
        let rows = channels::list(&mut *self.inner.store.read().await?).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            views.push(self.channel_view(row).await?);
        }
        Ok(views)
    }

    /// Makes a channel. Its token is in the answer and nowhere else: not in the database, a log or an event.
    ///
    /// # Errors
    /// A name that cannot be; no such workspace.
    pub async fn add_channel(&self, wanted: ChannelRequest) -> Result<NewChannelView, ServiceError> {
        let name = wanted.name.trim().to_owned();
        if name.is_empty() || name.chars().count() > NAME_LIMIT {
            let words = format!("the name of a channel has 1 to {NAME_LIMIT} characters");
            return Err(ServiceError::new(ErrorCode::TextLength, words));
        }
        let workspace = WorkspaceId::from_text(wanted.workspace);
        let place = self.workspace_row(&workspace).await?;
        if place.removed_at.is_some() {
            let words = "this workspace was removed";
            return Err(ServiceError::new(ErrorCode::WorkspaceNotFound, words).about(place.name));
        }
        let token = Token::make();
        let row = ChannelRow {
            id: ChannelId::new(),
            workspace,
            name,
            token: token.digest(),
            created_at: self.now(),
            revoked_at: None,
            accepted: 0,
            accepted_at: None,
            refused: 0,
            refused_at: None,
            refused_code: None,
        };
        let mut tx = self.begin().await?;
        channels::insert(&mut tx, &row).await?;
        let event = channel_act("channel_added", Some(&row.workspace), &row.name);
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.automations.notify_one();
        self.inner.bus.changed();
        Ok(NewChannelView { channel: self.channel_view(row).await?, token: token.reveal().to_owned() })
    }

    /// Makes a channel's token worthless, at once and for good. Its tasks stay.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn revoke_channel(&self, id: &ChannelId) -> Result<(), ServiceError> {
        let no_such =
            || ServiceError::new(ErrorCode::ChannelNotFound, "no such channel").about(id.to_string());
        let mut tx = self.begin().await?;
        let row = channels::open(&mut tx, id).await?.ok_or_else(no_such)?;
        if !channels::revoke(&mut tx, id, self.now()).await? {
            return Err(no_such());
        }
        let event = channel_act("channel_revoked", Some(&row.workspace), &row.name);
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.automations.notify_one();
        self.inner.bus.changed();
        Ok(())
    }

    /// Sends one real request to the webhook, with the token that the person was just shown. It makes an ordinary task.
    ///
    /// # Errors
    /// Nobody listens, or what the webhook answered.
    pub async fn test_channel(
        &self,
        id: &ChannelId,
        token: &str,
        text: &str,
    ) -> Result<TaskId, ServiceError> {
        let port = self
            .listening_port()
            .await?
            .ok_or_else(|| ServiceError::new(ErrorCode::WebhookOff, "nobody listens for this data folder"))?;
        pilot_triggers::post_local(port, id, token, text)
            .await
            .map_err(|error| ServiceError::new(error.code, error.detail))
    }

    async fn channel_view(&self, row: ChannelRow) -> Result<ChannelView, ServiceError> {
        let mut reader = self.inner.store.read().await?;
        let workspace = workspaces::get(&mut reader, &row.workspace).await?;
        let last_task = channels::last_task(&mut reader, &row.id).await?;
        drop(reader);
        Ok(ChannelView {
            problem: self.automation_problem(&row.workspace).await?,
            id: row.id.to_string(),
            workspace: row.workspace.to_string(),
            workspace_name: workspace.map(|workspace| workspace.name).unwrap_or_default(),
            name: row.name,
            created_at: crate::view::time(row.created_at),
            accepted: row.accepted,
            accepted_at: row.accepted_at.map(crate::view::time),
            last_task: last_task.map(|task| task.to_string()),
            refused: row.refused,
            refused_at: row.refused_at.map(crate::view::time),
            refused_code: row.refused_code,
        })
    }
}

fn channel_act(action: &str, workspace: Option<&WorkspaceId>, name: &str) -> Event {
    Event::OperatorActed {
        action: action.to_owned(),
        workspace: workspace.cloned(),
        subject: Some(name.to_owned()),
    }
}
