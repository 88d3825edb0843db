//! Finding, trying and choosing a model before a task uses it. Nothing of a workspace is sent by any of this.

use crate::error::ServiceError;
use crate::open::Service;
use crate::providers::{Endpoint, host_of, is_local};
use crate::view::{LocalServerView, PresetView, ProviderKind, ProviderTestView};
use pilot_agent::{DeltaSink, ModelAnswer, ModelProvider, ModelRequest};
use pilot_providers::http::Patience;
use pilot_providers::local::{self, LocalPlace};
use pilot_providers::preset::{self, PRESETS};
use pilot_providers::{HttpProvider, WireFormat};
use pilot_store::usage;
use pilot_types::{Capability, ErrorCode, Message, ProviderChoice, Risk, ToolSpec};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The tool that a model is asked to call when it is tried. It does not exist, and no call of it is ever run.
const TOOL: &str = "ready";

/// How long servers are given while nothing but a look at them is taken.
#[derive(Clone, Debug)]
pub struct Probing {
    /// Where a server on this computer may be.
    pub places: Vec<LocalPlace>,
    /// For each of them.
    pub find: Duration,
    /// For a list of models.
    pub list: Duration,
    /// For a try; a server on this computer may first have to load its model.
    pub test: Duration,
}

impl Default for Probing {
    fn default() -> Self {
        Self {
            places: local::usual_places(),
            find: Duration::from_secs(1),
            list: Duration::from_secs(10),
            test: Duration::from_secs(60),
        }
    }
}

/// A provider as it stands in a form, saved or not.
#[derive(Clone, Debug)]
pub struct ProviderDraft {
    /// The saved provider whose key is used when none is given.
    pub name: Option<String>,
    /// What it speaks.
    pub kind: ProviderKind,
    /// Address.
    pub base_url: String,
    /// Model; not needed for the list of models.
    pub model: String,
    /// A key that was typed in.
    pub key: Option<SecretString>,
}

/// Streamed words of a try are shown to nobody.
struct Unheard;

impl DeltaSink for Unheard {
    fn text(&self, _piece: &str) {}
}

/// Services and servers with their usual addresses.
#[must_use]
pub fn presets() -> Vec<PresetView> {
    let view = |preset: &preset::Preset| PresetView {
        id: preset.id.to_owned(),
        name: preset.name.to_owned(),
        kind: kind_of(preset.format),
        base_url: preset.base_url.to_owned(),
        needs_key: preset.needs_key,
        local: is_local(preset.base_url),
        model: preset.model.to_owned(),
    };
    PRESETS.iter().map(view).collect()
}

impl Service {
    /// Looks for servers of models at their usual addresses on this computer.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn local_servers(&self) -> Result<Vec<LocalServerView>, ServiceError> {
        let known = self.named_providers().await?;
        let probing = &self.inner.probing;
        let found = local::find(&probing.places, probing.find).await;
        let view = |server: local::LocalServer| {
            let base_url = server.place.base_url;
            let same =
                |provider: &&crate::view::ProviderRequest| host_of(&provider.base_url) == host_of(&base_url);
            LocalServerView {
                provider: known.iter().find(same).map(|provider| provider.name.clone()),
                name: preset::preset(server.place.preset).map_or("", |preset| preset.name).to_owned(),
                preset: server.place.preset.to_owned(),
                models: server.models,
                loading: server.loading,
                base_url,
            }
        };
        Ok(found.into_iter().map(view).collect())
    }

    /// A saved provider, as a form would hold it.
    ///
    /// # Errors
    /// [`ErrorCode::ProviderMissing`] when there is none of that name, or when it has no address.
    pub async fn saved_draft(&self, name: &str) -> Result<ProviderDraft, ServiceError> {
        let choice = self.provider_named(name).await?;
        let endpoint = self.endpoint(&choice).await?;
        let key = match choice {
            ProviderChoice::Env => self.inner.environment.key.clone(),
            ProviderChoice::Named { .. } | ProviderChoice::Offline | ProviderChoice::Scripted { .. } => None,
        };
        let Endpoint { kind, base_url, model } = endpoint;
        Ok(ProviderDraft { name: Some(name.to_owned()), kind, base_url, model, key })
    }

    /// The models that a server offers.
    ///
    /// # Errors
    /// As for a model call, without retries.
    pub async fn provider_models(&self, draft: ProviderDraft) -> Result<Vec<String>, ServiceError> {
        let subject = host_of(&draft.base_url);
        let provider = self.tried(&draft, self.inner.probing.list).await?;
        provider.models().await.map_err(|error| ServiceError::from(error).about(subject))
    }

    /// Tries a provider: is it there, does it take the key, does it have the model, does the model call a tool? A question
    /// of one sentence is sent, and nothing else.
    pub async fn test_provider(&self, draft: ProviderDraft) -> ProviderTestView {
        let begun = self.inner.clock.monotonic();
        let mut view = ProviderTestView {
            ok: false,
            code: None,
            message: String::new(),
            subject: draft.model.clone(),
            called_tool: false,
            models: Vec::new(),
            millis: 0,
        };
        match self.try_out(&draft, &mut view.models).await {
            Ok(answer) => {
                view.ok = true;
                view.called_tool =
                    answer.calls.iter().any(|call| call.tool == TOOL && call.problem.is_none());
            }
            Err(error) => {
                if !is_about_model(error.code()) {
                    view.subject = error.subject().map_or_else(|| host_of(&draft.base_url), str::to_owned);
                }
                view.code = Some(error.code());
                error.detail().clone_into(&mut view.message);
            }
        }
        let took = self.inner.clock.monotonic().saturating_sub(begun);
        view.millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        view
    }

    async fn try_out(
        &self,
        draft: &ProviderDraft,
        models: &mut Vec<String>,
    ) -> Result<ModelAnswer, ServiceError> {
        if draft.model.trim().is_empty() {
            return Err(ServiceError::new(ErrorCode::SettingsInvalid, "no model is named"));
        }
        match self.tried(draft, self.inner.probing.list).await?.models().await {
            Ok(list) => *models = list,
            // A server may have no list and be good all the same.
            Err(error) if tells_nothing(error.code) => {}
            Err(error) => return Err(error.into()),
        }
        let provider = self.tried(draft, self.inner.probing.test).await?;
        let (messages, tools) = (question(), [tool()]);
        let request = ModelRequest { messages: &messages, tools: &tools };
        let answer = provider.answer(request, &Unheard, &CancellationToken::new()).await;
        match answer {
            Ok(answer) => {
                self.count_try(draft, &answer).await?;
                Ok(answer)
            }
            // The list knows better than a server that refuses without saying why.
            Err(error)
                if matches!(error.code, ErrorCode::ProviderNotFound | ErrorCode::ProviderRejected)
                    && !models.is_empty()
                    && !models.contains(&draft.model) =>
            {
                Err(ServiceError::new(ErrorCode::ProviderModelMissing, error.detail))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A provider that is asked once, for at most this long.
    async fn tried(&self, draft: &ProviderDraft, limit: Duration) -> Result<HttpProvider, ServiceError> {
        let endpoint = Endpoint {
            kind: draft.kind,
            base_url: draft.base_url.trim().to_owned(),
            model: draft.model.trim().to_owned(),
        };
        let key = match (&draft.key, &draft.name) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(name)) if self.is_address_of(name, &endpoint.base_url).await? => {
                self.key_for(name, &endpoint).await?
            }
            // A key that is kept for one address is not tried at another.
            (None, Some(_) | None) => None,
        };
        let patience = Patience {
            connect: limit.min(Duration::from_secs(10)),
            first_byte: limit,
            idle: limit,
            loading: Duration::ZERO,
            attempts: 1,
            ..Patience::default()
        };
        Ok(HttpProvider::new(endpoint.config(key, Some(patience)))?)
    }

    async fn is_address_of(&self, name: &str, base_url: &str) -> Result<bool, ServiceError> {
        let list = self.named_providers().await?;
        let saved = list.iter().find(|provider| provider.name == name);
        Ok(saved.is_some_and(|provider| host_of(&provider.base_url) == host_of(base_url)))
    }

    /// A try costs tokens like any other call.
    async fn count_try(&self, draft: &ProviderDraft, answer: &ModelAnswer) -> Result<(), ServiceError> {
        let Some(name) = &draft.name else { return Ok(()) };
        let mut tx = self.begin().await?;
        usage::add(&mut tx, self.now().date_naive(), name, answer.usage).await?;
        self.commit(tx, Vec::new()).await
    }
}

pub(crate) fn kind_of(format: WireFormat) -> ProviderKind {
    match format {
        WireFormat::OpenAi => ProviderKind::OpenAiCompatible,
        WireFormat::Anthropic => ProviderKind::Anthropic,
    }
}

pub(crate) fn format_of(kind: ProviderKind) -> WireFormat {
    match kind {
        ProviderKind::OpenAiCompatible => WireFormat::OpenAi,
        ProviderKind::Anthropic => WireFormat::Anthropic,
    }
}

fn is_about_model(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ProviderModelMissing | ErrorCode::ProviderNoTools | ErrorCode::ProviderLoading)
}

/// What a server says that answers questions but does not list its models.
fn tells_nothing(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProviderNotFound
            | ErrorCode::ProviderForbidden
            | ErrorCode::ProviderRejected
            | ErrorCode::ProviderBadResponse
            | ErrorCode::ProviderModelMissing
    )
}

fn question() -> Vec<Message> {
    vec![Message::User { text: format!("This is a test of the connection. Call the tool {TOOL:?} now.") }]
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: "Says that you are ready.".to_owned(),
        capability: Capability::declared("test:read"),
        risk: Risk::Low,
        parameters: json!({ "type": "object", "properties": {} }),
        path_fields: Vec::new(),
    }
}
