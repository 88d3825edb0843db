//! Schedules and the webhook.

use super::{Answer, told};
use crate::state::Shell;
use pilot_service::view::{
    AutomationsView, ChannelRequest, NewChannelView, SchedulePreviewRequest, SchedulePreviewView,
    ScheduleRequest, ScheduleView, TaskView,
};
use pilot_types::{ChannelId, ScheduleId};
use serde::Deserialize;
use tauri::State;

#[derive(Deserialize)]
pub(crate) struct ById {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct Pause {
    id: String,
    paused: bool,
}

#[derive(Deserialize)]
pub(crate) struct PauseAll {
    paused: bool,
}

/// A test of a channel with the token that was just shown. It has no `Debug` and no `Serialize`.
#[derive(Deserialize)]
pub(crate) struct ChannelTest {
    id: String,
    token: String,
    text: String,
}

#[tauri::command]
pub(crate) async fn automation_state(shell: State<'_, Shell>) -> Answer<AutomationsView> {
    shell.service.automations().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn automations_pause(shell: State<'_, Shell>, request: PauseAll) -> Answer<AutomationsView> {
    shell.service.pause_automations(request.paused).await.map_err(told)?;
    shell.service.automations().await.map_err(told)
}

#[tauri::command]
pub(crate) async fn schedule_preview(
    shell: State<'_, Shell>,
    request: SchedulePreviewRequest,
) -> Answer<SchedulePreviewView> {
    Ok(shell.service.preview_schedule(&request.rule, request.zone.as_deref()))
}

#[tauri::command]
pub(crate) async fn schedule_save(shell: State<'_, Shell>, request: ScheduleRequest) -> Answer<ScheduleView> {
    shell.service.save_schedule(request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn schedule_pause(shell: State<'_, Shell>, request: Pause) -> Answer<ScheduleView> {
    shell.service.pause_schedule(&ScheduleId::from_text(request.id), request.paused).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn schedule_run(shell: State<'_, Shell>, request: ById) -> Answer<TaskView> {
    shell.service.run_schedule(&ScheduleId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn schedule_remove(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.remove_schedule(&ScheduleId::from_text(request.id)).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn channel_add(shell: State<'_, Shell>, request: ChannelRequest) -> Answer<NewChannelView> {
    shell.service.add_channel(request).await.map_err(told)
}

#[tauri::command]
pub(crate) async fn channel_revoke(shell: State<'_, Shell>, request: ById) -> Answer<()> {
    shell.service.revoke_channel(&ChannelId::from_text(request.id)).await.map_err(told)
}

/// Gives the task that the test made.
#[tauri::command]
pub(crate) async fn channel_test(shell: State<'_, Shell>, request: ChannelTest) -> Answer<String> {
    let id = ChannelId::from_text(request.id);
    shell
        .service
        .test_channel(&id, &request.token, &request.text)
        .await
        .map(|task| task.to_string())
        .map_err(told)
}
