//! Settings of the application and its providers.

use crate::error::ServiceError;
use crate::open::Service;
use crate::providers::{host_of, is_local};
use crate::view::{
    AppView, KeyringState, LanguageSetting, ProviderRequest, ProviderView, SettingsView, ThemeSetting,
};
use crate::{KeyError, KeyPlace};
use pilot_store::{approvals, events, settings, tasks};
use pilot_types::{ErrorCode, TaskStatus};
use secrecy::SecretString;

const APP: &str = "app";
const PROVIDERS: &str = "providers";

impl Default for SettingsView {
    fn default() -> Self {
        Self {
            language: LanguageSetting::System,
            theme: ThemeSetting::System,
            notifications: true,
            notification_titles: true,
            single_keys: true,
            undo_days: 90,
            undo_bytes: 1 << 30,
            task_days: None,
            log_days: None,
            tokens_per_task: None,
            tokens_per_day: None,
            automations_paused: false,
            webhook_port: 8765,
        }
    }
}

impl Service {
    /// The settings.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn settings(&self) -> Result<SettingsView, ServiceError> {
        stored(&mut *self.inner.store.read().await?).await
    }

    /// Saves the settings whole.
    ///
    /// # Errors
    /// A value that cannot be; the database cannot be written.
    pub async fn save_settings(&self, wanted: &SettingsView) -> Result<(), ServiceError> {
        if !(1..=3650).contains(&wanted.undo_days) || wanted.undo_bytes < 1 << 20 {
            return Err(ServiceError::new(
                ErrorCode::SettingsInvalid,
                "undo is kept for 1 to 3,650 days and at least 1 MiB",
            ));
        }
        if [wanted.task_days, wanted.log_days].into_iter().flatten().any(|days| !(1..=3650).contains(&days)) {
            return Err(ServiceError::new(
                ErrorCode::SettingsInvalid,
                "tasks and logs are kept for 1 to 3,650 days",
            ));
        }
        if wanted.tokens_per_task == Some(0) || wanted.tokens_per_day == Some(0) {
            return Err(ServiceError::new(
                ErrorCode::SettingsInvalid,
                "a token cap of 0 would stop every task",
            ));
        }
        if wanted.webhook_port == 0 {
            return Err(ServiceError::new(
                ErrorCode::SettingsInvalid,
                "the port of the webhook is 1 to 65535",
            ));
        }
        let mut tx = self.begin().await?;
        if stored(&mut tx).await?.automations_paused && !wanted.automations_paused {
            // What passed during the pause was left out on purpose, so it is not noted as missed.
            pilot_store::schedules::look_from_now(&mut tx, self.now()).await?;
        }
        settings::set(&mut tx, APP, wanted).await?;
        let records = self
            .append(&mut tx, None, pilot_types::Source::Operator, &[acted("settings_saved", None)])
            .await?;
        self.commit(tx, records).await?;
        self.inner.automations.notify_one();
        self.use_limits(wanted);
        self.inner.bus.changed();
        Ok(())
    }

    /// Providers that the person set up, without the built-in ones.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn named_providers(&self) -> Result<Vec<ProviderRequest>, ServiceError> {
        Ok(settings::get(&mut *self.inner.store.read().await?, PROVIDERS).await?.unwrap_or_default())
    }

    /// Adds a provider or changes the one of the same name. With another host its key is forgotten.
    ///
    /// # Errors
    /// A name that is taken by a built-in one, a URL that is neither https nor this computer.
    pub async fn save_provider(&self, wanted: ProviderRequest) -> Result<(), ServiceError> {
        let name = wanted.name.trim().to_owned();
        let taken = matches!(name.as_str(), "" | "offline" | "env") || name.starts_with("scripted");
        if taken || name.chars().count() > 64 || wanted.model.trim().is_empty() {
            return Err(ServiceError::new(
                ErrorCode::SettingsInvalid,
                "a provider needs a name of its own and a model",
            )
            .about(name));
        }
        pilot_providers::http::check_base_url(&wanted.base_url).map_err(|error| {
            ServiceError::new(ErrorCode::SettingsInvalid, error.detail).about(wanted.base_url.clone())
        })?;
        let mut list = self.named_providers().await?;
        let place = |base_url: &str| (host_of(base_url), base_url.trim().starts_with("https"));
        let moved =
            list.iter().any(|known| known.name == name && place(&known.base_url) != place(&wanted.base_url));
        if moved {
            // A key belongs to the address that it was given for. First the key, so that no crash leaves it with another.
            match self.inner.keys.remove(&name).await {
                // Where there is no keyring, no key is kept in one.
                Ok(()) | Err(KeyError::Missing(_)) => {}
                Err(error) => return Err(ServiceError::new(error.code(), error.to_string()).about(name)),
            }
        }
        list.retain(|provider| provider.name != name);
        list.push(ProviderRequest { name: name.clone(), ..wanted });
        self.store_providers(&list, "provider_saved", &name).await
    }

    /// Removes a provider and its key. Tasks that were started with it can no longer go on.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn remove_provider(&self, name: &str) -> Result<(), ServiceError> {
        let mut list = self.named_providers().await?;
        list.retain(|provider| provider.name != name);
        self.store_providers(&list, "provider_removed", name).await?;
        // Without a keyring there is no key left to remove.
        let _ = self.inner.keys.remove(name).await;
        Ok(())
    }

    async fn store_providers(
        &self,
        list: &[ProviderRequest],
        action: &str,
        name: &str,
    ) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        settings::set(&mut tx, PROVIDERS, &list).await?;
        let records =
            self.append(&mut tx, None, pilot_types::Source::Operator, &[acted(action, Some(name))]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Keeps a provider's key: in the keyring, or for this run when there is none.
    pub async fn save_key(&self, name: &str, key: SecretString) -> (KeyPlace, Option<KeyError>) {
        let result = self.inner.keys.put(name, key).await;
        self.inner.bus.changed();
        result
    }

    /// Forgets a provider's key.
    ///
    /// # Errors
    /// The keyring cannot be asked.
    pub async fn remove_key(&self, name: &str) -> Result<(), ServiceError> {
        let result = self.inner.keys.remove(name).await;
        self.inner.bus.changed();
        result.map_err(|error| ServiceError::new(error.code(), error.to_string()))
    }

    /// State of the whole application.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn app_view(
        &self,
        system_language: LanguageSetting,
        tray: bool,
    ) -> Result<AppView, ServiceError> {
        let keyring = match self.inner.keys.probe().await {
            Ok(()) => KeyringState::Ready,
            Err(KeyError::Missing(_)) => KeyringState::Missing,
            Err(KeyError::Locked(_)) => KeyringState::Locked,
            Err(KeyError::Hanging) => KeyringState::Hanging,
        };
        let providers = self.provider_views(keyring).await?;
        let workspaces = self.workspaces().await?;
        let settings = self.settings().await?;
        let mut reader = self.inner.store.read().await?;
        let waiting = approvals::count_pending(&mut reader).await?;
        let running = tasks::count_by_status(&mut reader, TaskStatus::Running).await?;
        let log_entries = events::last_position(&mut reader).await?;
        Ok(AppView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            system_language,
            workspaces,
            providers,
            keyring,
            waiting,
            running,
            log_entries,
            data_dir: self.data_dir().display().to_string(),
            tray,
            log_broken_at: None,
        })
    }

    async fn provider_views(&self, keyring: KeyringState) -> Result<Vec<ProviderView>, ServiceError> {
        let mut views = vec![ProviderView {
            name: "offline".to_owned(),
            kind: None,
            base_url: None,
            model: None,
            local: true,
            has_key: false,
            key_for_this_run: false,
        }];
        for provider in self.named_providers().await? {
            let key_for_this_run = self.inner.keys.for_this_run(&provider.name);
            // A keyring that cannot be asked is said once in `AppView::keyring`, not once per provider.
            let in_keyring = keyring == KeyringState::Ready
                && matches!(self.inner.keys.get(&provider.name).await, Ok(Some(_)));
            views.push(ProviderView {
                local: is_local(&provider.base_url),
                kind: Some(provider.kind),
                base_url: Some(provider.base_url),
                model: Some(provider.model),
                has_key: key_for_this_run || in_keyring,
                key_for_this_run,
                name: provider.name,
            });
        }
        Ok(views)
    }
}

/// The settings as stored, or the defaults.
pub(crate) async fn stored(conn: &mut pilot_store::SqliteConnection) -> Result<SettingsView, ServiceError> {
    Ok(settings::get(conn, APP).await?.unwrap_or_default())
}

fn acted(action: &str, subject: Option<&str>) -> pilot_types::Event {
    pilot_types::Event::OperatorActed {
        action: action.to_owned(),
        workspace: None,
        subject: subject.map(str::to_owned),
    }
}
