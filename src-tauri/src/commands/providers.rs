//! Models before a task uses them: known services, servers on this computer, a try; and what was used.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::ProviderDraft;
use pilot_service::view::{LocalServerView, PresetView, ProviderKind, ProviderTestView, UsageDayView};
use secrecy::SecretString;
use serde::Deserialize;
use tauri::State;

/// A form as it stands. It may hold a key, and has no `Debug` and no `Serialize`.
#[derive(Deserialize)]
pub(crate) struct Draft {
    name: Option<String>,
    kind: ProviderKind,
    base_url: String,
    model: String,
    key: Option<String>,
}

impl From<Draft> for ProviderDraft {
    fn from(form: Draft) -> Self {
        let Draft { name, kind, base_url, model, key } = form;
        Self { name, kind, base_url, model, key: key.map(SecretString::from) }
    }
}

#[derive(Deserialize)]
pub(crate) struct LastDays {
    days: u32,
}

#[tauri::command]
pub(crate) async fn provider_presets() -> Answer<Vec<PresetView>> {
    Ok(pilot_service::presets())
}

#[tauri::command]
pub(crate) async fn provider_detect(shell: State<'_, Shell>) -> Answer<Vec<LocalServerView>> {
    shell.service.local_servers().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn provider_models(shell: State<'_, Shell>, request: Draft) -> Answer<Vec<String>> {
    shell.service.provider_models(request.into()).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn provider_test(shell: State<'_, Shell>, request: Draft) -> Answer<ProviderTestView> {
    Ok(shell.service.test_provider(request.into()).await)
}

#[tauri::command]
pub(crate) async fn usage_list(shell: State<'_, Shell>, request: LastDays) -> Answer<Vec<UsageDayView>> {
    shell.service.usage(request.days).await.map_err(told)
}
