//! From a provider's name to a model that can be asked.

use crate::error::ServiceError;
use crate::open::Service;
use async_trait::async_trait;
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_providers::openai::{self, OpenAiConfig, OpenAiProvider};
use pilot_providers::{OfflineProvider, ScriptedProvider};
use pilot_store::{consents, usage};
use pilot_types::{ErrorCode, ProviderChoice, WorkspaceId};
use tokio_util::sync::CancellationToken;

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
            ProviderChoice::Env | ProviderChoice::Named { .. } => self.endpoint(choice).await?.0,
        };
        Ok((!openai::is_local(&base_url)).then(|| openai::host(&base_url)))
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

    /// Base URL and model.
    async fn endpoint(&self, choice: &ProviderChoice) -> Result<(String, String), ServiceError> {
        let missing =
            |what: &str| ServiceError::new(ErrorCode::ProviderMissing, what.to_owned()).about(choice.label());
        match choice {
            ProviderChoice::Env => {
                let environment = &self.inner.environment;
                match (&environment.base_url, &environment.model) {
                    (Some(base_url), Some(model)) => Ok((base_url.clone(), model.clone())),
                    (None, _) => Err(missing("POCKETPILOT_BASE_URL is not set")),
                    (Some(_), None) => Err(missing("POCKETPILOT_MODEL is not set")),
                }
            }
            ProviderChoice::Named { name } => self
                .named_providers()
                .await?
                .into_iter()
                .find(|provider| provider.name == *name)
                .map(|provider| (provider.base_url, provider.model))
                .ok_or_else(|| missing("the provider of this task is no longer set up")),
            ProviderChoice::Offline | ProviderChoice::Scripted { .. } => {
                Err(missing("this provider has no address"))
            }
        }
    }

    /// The model of a task.
    pub(crate) async fn model(
        &self,
        choice: &ProviderChoice,
    ) -> Result<Box<dyn ModelProvider>, ServiceError> {
        let inner: Box<dyn ModelProvider> = match choice {
            ProviderChoice::Offline => return Ok(Box::new(OfflineProvider::new())),
            ProviderChoice::Scripted { script, .. } => {
                return Ok(Box::new(ScriptedProvider::new(script.clone())));
            }
            ProviderChoice::Env => {
                let (base_url, model) = self.endpoint(choice).await?;
                Box::new(OpenAiProvider::new(OpenAiConfig::new(
                    base_url,
                    model,
                    self.inner.environment.key.clone(),
                ))?)
            }
            ProviderChoice::Named { name } => {
                let (base_url, model) = self.endpoint(choice).await?;
                let key = match self.inner.keys.get(name).await {
                    Ok(key) => key,
                    // A server on this computer usually needs no key; elsewhere its own answer says so if one is missing.
                    Err(_) if openai::is_local(&base_url) => None,
                    Err(error) => {
                        return Err(ServiceError::new(error.code(), error.to_string()).about(name.clone()));
                    }
                };
                if key.is_none() && !openai::is_local(&base_url) {
                    return Err(ServiceError::new(
                        ErrorCode::ProviderKeyMissing,
                        "no key is kept for this provider",
                    )
                    .about(name.clone()));
                }
                Box::new(OpenAiProvider::new(OpenAiConfig::new(base_url, model, key))?)
            }
        };
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
