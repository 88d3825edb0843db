//! From a provider's name to a model that can be asked.

use crate::error::ServiceError;
use crate::open::Service;
use crate::provider_setup::format_of;
use crate::view::ProviderKind;
use async_trait::async_trait;
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_providers::http::{self, Patience};
use pilot_providers::{HttpConfig, HttpProvider, OfflineProvider, ScriptedProvider};
use pilot_store::{consents, usage};
use pilot_types::{ErrorCode, ProviderChoice, WorkspaceId};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

/// Where a model is.
pub(crate) struct Endpoint {
    pub(crate) kind: ProviderKind,
    pub(crate) base_url: String,
    pub(crate) model: String,
}

impl Endpoint {
    pub(crate) fn config(&self, key: Option<SecretString>, patience: Option<Patience>) -> HttpConfig {
        HttpConfig { patience, ..HttpConfig::new(format_of(self.kind), &self.base_url, &self.model, key) }
    }
}

pub(crate) fn is_local(base_url: &str) -> bool {
    http::is_local(base_url)
}

pub(crate) fn host_of(base_url: &str) -> String {
    http::host(base_url)
}

impl Service {
    /// Reads a provider's name as a person writes it: `offline`, `env`, or a name from the settings. A script is
    /// never named: its steps are given.
    ///
    /// # Errors
    /// Nothing of that name is set up here.
    pub async fn provider_named(&self, name: &str) -> Result<ProviderChoice, ServiceError> {
        match name {
            "offline" => Ok(ProviderChoice::Offline),
            "env" => Ok(ProviderChoice::Env),
            _ if self.named_providers().await?.iter().any(|provider| provider.name == name) => {
                Ok(ProviderChoice::Named { name: name.to_owned() })
            }
            _ => Err(ServiceError::new(ErrorCode::ProviderMissing, "no provider of that name is set up")
                .about(name)),
        }
    }

    /// Host to which content would go; `None` when nothing leaves this computer.
    ///
    /// # Errors
    /// The provider is not set up here.
    pub async fn leaves_to(&self, choice: &ProviderChoice) -> Result<Option<String>, ServiceError> {
        let base_url = match choice {
            ProviderChoice::Offline | ProviderChoice::Scripted { .. } => return Ok(None),
            ProviderChoice::Env | ProviderChoice::Named { .. } => self.endpoint(choice).await?.base_url,
        };
        Ok((!is_local(&base_url)).then(|| host_of(&base_url)))
    }

    /// Refuses to go on while content of the workspace would go to a host that the person was not asked about. Looked at
    /// when a task is made and each time it goes on: the address of its provider may have been changed in between.
    pub(crate) async fn check_consent(
        &self,
        workspace: &WorkspaceId,
        choice: &ProviderChoice,
    ) -> Result<(), ServiceError> {
        let Some(host) = self.leaves_to(choice).await? else { return Ok(()) };
        if self.consented(workspace, choice, &host).await? {
            return Ok(());
        }
        let words = "content of this folder would leave this computer";
        Err(ServiceError::new(ErrorCode::ConsentRequired, words).about(host))
    }

    /// True when the person already said that content of this workspace may go to this provider's host.
    pub(crate) async fn consented(
        &self,
        workspace: &WorkspaceId,
        choice: &ProviderChoice,
        host: &str,
    ) -> Result<bool, ServiceError> {
        Ok(consents::has(&mut *self.inner.store.read().await?, workspace, choice.label(), host).await?)
    }

    /// The person says that content of this workspace may go to this provider.
    ///
    /// # Errors
    /// The provider is not set up; the database cannot be written.
    pub async fn give_consent(&self, workspace: &WorkspaceId, provider: &str) -> Result<(), ServiceError> {
        let choice = self.provider_named(provider).await?;
        let Some(host) = self.leaves_to(&choice).await? else { return Ok(()) };
        let mut tx = self.begin().await?;
        consents::give(&mut tx, workspace, choice.label(), &host, self.now()).await?;
        let event = pilot_types::Event::OperatorActed {
            action: "consent_given".to_owned(),
            workspace: Some(workspace.clone()),
            subject: Some(format!("{} → {host}", choice.label())),
        };
        let records = self.append(&mut tx, None, pilot_types::Source::Operator, &[event]).await?;
        self.commit(tx, records).await
    }

    /// Where the model of a choice is.
    pub(crate) async fn endpoint(&self, choice: &ProviderChoice) -> Result<Endpoint, ServiceError> {
        let missing =
            |what: &str| ServiceError::new(ErrorCode::ProviderMissing, what.to_owned()).about(choice.label());
        match choice {
            ProviderChoice::Env => {
                let environment = &self.inner.environment;
                match (&environment.base_url, &environment.model) {
                    (Some(base_url), Some(model)) => Ok(Endpoint {
                        kind: ProviderKind::OpenAiCompatible,
                        base_url: base_url.clone(),
                        model: model.clone(),
                    }),
                    (None, _) => Err(missing("POCKETPILOT_BASE_URL is not set")),
                    (Some(_), None) => Err(missing("POCKETPILOT_MODEL is not set")),
                }
            }
            ProviderChoice::Named { name } => self
                .named_providers()
                .await?
                .into_iter()
                .find(|provider| provider.name == *name)
                .map(|provider| Endpoint {
                    kind: provider.kind,
                    base_url: provider.base_url,
                    model: provider.model,
                })
                .ok_or_else(|| missing("the provider of this task is no longer set up")),
            ProviderChoice::Offline | ProviderChoice::Scripted { .. } => {
                Err(missing("this provider has no address"))
            }
        }
    }

    /// The key that is kept for a provider. A server on this computer usually needs none; elsewhere there must be one.
    ///
    /// # Errors
    /// [`ErrorCode::ProviderKeyMissing`], or why the keyring cannot be asked.
    pub(crate) async fn key_for(
        &self,
        name: &str,
        endpoint: &Endpoint,
    ) -> Result<Option<SecretString>, ServiceError> {
        let here = is_local(&endpoint.base_url);
        match self.inner.keys.get(name).await {
            Ok(None) if !here => {
                let words = "no key is kept for this provider";
                Err(ServiceError::new(ErrorCode::ProviderKeyMissing, words).about(name))
            }
            Ok(key) => Ok(key),
            // A server on this computer says itself if one is missing.
            Err(_) if here => Ok(None),
            Err(error) => Err(ServiceError::new(error.code(), error.to_string()).about(name)),
        }
    }

    /// The model of a task.
    pub(crate) async fn model(
        &self,
        choice: &ProviderChoice,
    ) -> Result<Box<dyn ModelProvider>, ServiceError> {
        let (endpoint, key) = match choice {
            ProviderChoice::Offline => return Ok(Box::new(OfflineProvider::new())),
            ProviderChoice::Scripted { script, .. } => {
                return Ok(Box::new(ScriptedProvider::new(script.clone())));
            }
            ProviderChoice::Env => (self.endpoint(choice).await?, self.inner.environment.key.clone()),
            ProviderChoice::Named { name } => {
                let endpoint = self.endpoint(choice).await?;
                let key = self.key_for(name, &endpoint).await?;
                (endpoint, key)
            }
        };
        let inner = Box::new(HttpProvider::new(endpoint.config(key, None))?);
        Ok(Box::new(Metered { inner, service: self.clone() }))
    }
}

/// Looks at the day's cap before each model call.
struct Metered {
    inner: Box<dyn ModelProvider>,
    service: Service,
}

#[async_trait]
impl ModelProvider for Metered {
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        let failed = |error: ServiceError| ModelError::new(error.code(), error.detail().to_owned());
        let settings = self.service.settings().await.map_err(failed)?;
        if let Some(cap) = settings.tokens_per_day {
            let day = self.service.now().date_naive();
            let mut reader = self.service.inner.store.read().await.map_err(|error| failed(error.into()))?;
            let spent = usage::of_day(&mut reader, day).await.map_err(|error| failed(error.into()))?;
            if spent.total() >= cap {
                return Err(ModelError::new(
                    ErrorCode::TokenLimit,
                    format!("the day's cap of {cap} tokens is used up"),
                ));
            }
        }
        self.inner.answer(request, deltas, cancel).await
    }
}

/// Reads a script of the `scripted` provider.
///
/// # Errors
/// It is not a script of version 1.
pub fn parse_script(text: &str) -> Result<pilot_types::Script, ServiceError> {
    Ok(pilot_providers::parse_script(text)?)
}
