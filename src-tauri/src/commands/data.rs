//! What the application keeps: how much, letting go of it, backups, the file for support.

use super::{Answer, told};
use crate::language::{self, Words};
use crate::state::Shell;
use pilot_service::ServiceError;
use pilot_service::view::{BackupView, DataUsageView};
use pilot_types::ErrorCode;
use serde::Deserialize;
use std::path::PathBuf;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::{DialogExt as _, FilePath};

#[derive(Deserialize)]
pub(crate) struct Backup {
    undo: bool,
}

#[tauri::command]
pub(crate) async fn data_usage(shell: State<'_, Shell>) -> Answer<DataUsageView> {
    shell.service.data_usage().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn undo_clear(shell: State<'_, Shell>) -> Answer<DataUsageView> {
    shell.service.clear_undo().await.map_err(told)?;
    shell.service.data_usage().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn logs_clear(shell: State<'_, Shell>) -> Answer<DataUsageView> {
    shell.service.clear_logs().await.map_err(told)?;
    shell.service.data_usage().await.map_err(told)
}

/// Saves a backup where the person says; `None` when the dialog was left. The dialog itself asks before it lets a person
/// choose a file that is there.
#[tauri::command]
pub(crate) async fn backup_save(
    app: AppHandle,
    shell: State<'_, Shell>,
    request: Backup,
) -> Answer<Option<BackupView>> {
    let Some(to) = save_place(&app, &shell, Words::SaveBackup, "PocketPilot.zip").await? else {
        return Ok(None);
    };
    shell.service.back_up(&to, request.undo, true).await.map(Some).map_err(told)
}

/// Looks at a backup that the person picks; `None` when the dialog was left.
#[tauri::command]
pub(crate) async fn backup_choose(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupView>> {
    let settings = shell.service.settings().await.map_err(told)?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog()
        .file()
        .set_title(language::chosen(&settings).say(Words::ChooseBackup))
        .add_filter("zip", &["zip"])
        .pick_file(move |file| {
            // The window may be gone by now; then nobody waits.
            let _ = sender.send(file);
        });
    let Some(from) = receiver.await.ok().flatten() else { return Ok(None) };
    shell.service.look_at_backup(&path_of(from)?).await.map(Some).map_err(told)
}

/// Decides to put back the backup that was looked at, and ends the program: the next start opens it.
#[tauri::command]
pub(crate) async fn backup_restore(app: AppHandle, shell: State<'_, Shell>) -> Answer<()> {
    shell.service.confirm_restore().await.map_err(told)?;
    app.exit(0);
    Ok(())
}

#[tauri::command]
pub(crate) async fn backup_cancel(shell: State<'_, Shell>) -> Answer<()> {
    shell.service.cancel_restore().map_err(told)
}

/// Saves the file for support; false when the dialog was left.
#[tauri::command]
pub(crate) async fn support_save(app: AppHandle, shell: State<'_, Shell>) -> Answer<bool> {
    let name = "pocketpilot-support.json";
    let Some(to) = save_place(&app, &shell, Words::SaveSupport, name).await? else { return Ok(false) };
    shell.service.write_support_file(to, true).await.map_err(told)?;
    Ok(true)
}

async fn save_place(app: &AppHandle, shell: &Shell, title: Words, name: &str) -> Answer<Option<PathBuf>> {
    let settings = shell.service.settings().await.map_err(told)?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog().file().set_title(language::chosen(&settings).say(title)).set_file_name(name).save_file(
        move |place| {
            // The window may be gone by now; then nobody waits.
            let _ = sender.send(place);
        },
    );
    receiver.await.ok().flatten().map(path_of).transpose()
}

fn path_of(file: FilePath) -> Answer<PathBuf> {
    file.into_path().map_err(|error| told(ServiceError::new(ErrorCode::NotAFile, error.to_string())))
}
