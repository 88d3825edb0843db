//! The application as a whole: state, settings, providers, the record.

use super::{Answer, told};
use crate::language;
use crate::state::{OnScreen, Shell};
use pilot_service::view::{AppView, AuditView, ProviderRequest, SettingsView};
use secrecy::SecretString;
use serde::Deserialize;
use tauri::State;

async fn app_view(shell: &Shell) -> Answer<AppView> {
    shell.service.app_view(language::system(), shell.tray).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn app_state(shell: State<'_, Shell>) -> Answer<AppView> {
    app_view(&shell).await
}

#[tauri::command]
pub(crate) async fn settings_save(shell: State<'_, Shell>, request: SettingsView) -> Answer<AppView> {
    shell.service.save_settings(&request).await.map_err(told)?;
    app_view(&shell).await
}

#[tauri::command]
pub(crate) async fn provider_save(shell: State<'_, Shell>, request: ProviderRequest) -> Answer<AppView> {
    shell.service.save_provider(request).await.map_err(told)?;
    app_view(&shell).await
}

#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[tauri::command]
pub(crate) async fn provider_remove(shell: State<'_, Shell>, request: Named) -> Answer<AppView> {
    shell.service.remove_provider(&request.name).await.map_err(told)?;
    app_view(&shell).await
}

/// A key on its way to the keyring. It has no `Debug` and no `Serialize`.
#[derive(Deserialize)]
pub(crate) struct NewKey {
    name: String,
    key: String,
}

#[tauri::command]
pub(crate) async fn provider_key_save(shell: State<'_, Shell>, request: NewKey) -> Answer<AppView> {
    // Where the key could only be kept for this run, the view says so.
    let _ = shell.service.save_key(&request.name, SecretString::from(request.key)).await;
    app_view(&shell).await
}

#[tauri::command]
pub(crate) async fn provider_key_remove(shell: State<'_, Shell>, request: Named) -> Answer<AppView> {
    shell.service.remove_key(&request.name).await.map_err(told)?;
    app_view(&shell).await
}

#[tauri::command]
pub(crate) async fn audit_verify(shell: State<'_, Shell>) -> Answer<AuditView> {
    shell.service.verify_audit().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn view_state(shell: State<'_, Shell>, request: OnScreen) -> Answer<()> {
    shell.service.look_at(request.workspace.clone().map(pilot_types::WorkspaceId::from_text));
    shell.set_on_screen(request);
    Ok(())
}

#[tauri::command]
pub(crate) async fn window_ready() -> Answer<()> {
    tracing::info!("the window is painted");
    #[cfg(feature = "e2e")]
    crate::seams::log("painted", "");
    Ok(())
}
