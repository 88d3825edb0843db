//! Tasks, cards, and what a task could touch.

use super::workspace_at;
use crate::arguments::{Approvals, ApproveMode, Tasks};
use crate::output::Output;
use crate::{Exit, card, run};
use pilot_service::{Approve, Decider, Service, ServiceError};
use pilot_types::{ApprovalId, Channel, ErrorCode, TaskId};
use std::path::Path;

pub(crate) async fn tasks(service: &Service, action: &Tasks, output: &Output) -> Result<Exit, ServiceError> {
    match action {
        Tasks::List => {
            for view in service.tasks(None).await? {
                let status = serde_json::to_value(view.status)
                    .ok()
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default();
                output.row(
                    &view,
                    &format!(
                        "{}  {status:17} {}  {}",
                        view.id,
                        view.created_at,
                        pilot_review::shown_text(&view.goal)
                    ),
                );
            }
        }
        Tasks::Show { id } => {
            let detail = service.task_detail(&TaskId::from_text(id)).await?;
            output.row(
                &serde_json::json!({ "type": "task", "id": detail.task.id, "status": detail.task.status, "code": detail.task.code,
                    "task": detail.task, "artifacts": detail.artifacts }),
                &format!("{}\n{}\n{}", detail.task.id, pilot_review::shown_text(&detail.task.goal), pilot_review::shown_text(&detail.task.answer)),
            );
        }
        Tasks::Events { id } => {
            let id = TaskId::from_text(id);
            service.task(&id).await?;
            for record in service.task_events(&id, 0).await? {
                let words = serde_json::to_string(&record.event).unwrap_or_default();
                output.row(
                    &record,
                    &format!(
                        "{:5} {} {}",
                        record.seq,
                        record.at.to_rfc3339(),
                        pilot_review::shown_text(&words)
                    ),
                );
            }
        }
        Tasks::Cancel { id } => {
            service.cancel_task(&TaskId::from_text(id)).await?;
            output.say(output.pick("Stopped. What was written stays.", "已停止。已写的内容保留。"));
        }
        Tasks::Resume { id } => {
            let id = TaskId::from_text(id);
            service.resume_task(&id).await?;
            return run::follow(service, &id, ApproveMode::Never, output).await;
        }
        Tasks::Again { id, files } => {
            let view = service.run_again(&TaskId::from_text(id), files.clone(), Channel::Cli).await?;
            return run::follow(service, &TaskId::from_text(view.id), ApproveMode::Never, output).await;
        }
        Tasks::Delete { id } => {
            let id = TaskId::from_text(id);
            let view = service.deletion(&id).await?;
            service.delete_task(&id).await?;
            let words = output.pick(
                "Deleted: its words, cards and replaced versions. Files in the folder stay.",
                "已删除：它的文字、卡片和被替换的版本。文件夹里的文件保留。",
            );
            output.row(&view, words);
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn approvals(
    service: &Service,
    action: &Approvals,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Approvals::List { all } => {
            for view in service.approvals(*all).await? {
                let target = pilot_review::shown_text(view.path.as_deref().unwrap_or(&view.tool));
                output.row(
                    &view,
                    &format!(
                        "{}  {}  {target}  ({})",
                        view.id,
                        view.asked_at,
                        pilot_review::shown_text(&view.goal)
                    ),
                );
            }
            Ok(Exit::Done)
        }
        Approvals::Show { id } => {
            let view = service.approval(&ApprovalId::from_text(id)).await?;
            output.row(&view, &card::draw(&view, output));
            Ok(Exit::Done)
        }
        Approvals::Approve { id, edit } => {
            let arguments = match edit {
                None => None,
                Some(text) => Some(serde_json::from_str(text).map_err(|error| {
                    ServiceError::new(ErrorCode::InvalidArguments, format!("--edit is not JSON: {error}"))
                })?),
            };
            let approve = Approve { id: ApprovalId::from_text(id), shown: None, arguments, by: Decider::Cli };
            let view = service.approve(approve).await?;
            go_on(service, &view, output).await
        }
        Approvals::Reject { id, note } => {
            let view = service.reject(&ApprovalId::from_text(id), note.clone(), Decider::Cli).await?;
            go_on(service, &view, output).await
        }
    }
}

/// The decision is carried out; the task goes on here to its next stop, and whatever comes of it, the decision stands.
async fn go_on(
    service: &Service,
    view: &pilot_service::view::ApprovalView,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let task = TaskId::from_text(&view.task);
    let stop = service.run_to_stop(&task).await?;
    let after = service.task(&task).await?;
    let words = format!(
        "{}  {}",
        output.pick("Decided and carried out. The task is now:", "已决定并执行。任务现在："),
        stop.status.as_str()
    );
    output.row(
        &serde_json::json!({ "type": "approval", "id": view.id, "state": view.state, "artifact": view.artifact, "note": view.note,
            "task": view.task, "status": stop.status, "code": stop.code, "approval": after.waiting_approval }),
        &words,
    );
    Ok(Exit::Done)
}

pub(crate) async fn reach(service: &Service, folder: &Path, output: &Output) -> Result<Exit, ServiceError> {
    let workspace = workspace_at(service, folder).await?;
    let view = service.reach_named(&workspace, None).await?;
    let names = |specs: &[pilot_types::ToolSpec]| {
        specs
            .iter()
            .map(|spec| format!("{} [{}]", spec.name, spec.capability.as_str()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let words = format!(
        "{}: {} ({}{})\n{}: {}\n{}: {}\n{}: {}",
        output.pick("Folder", "文件夹"),
        view.root,
        view.files,
        if view.files_more { "+" } else { "" },
        output.pick("Runs freely", "直接放行"),
        names(&view.runs_freely),
        output.pick("Asks each time", "每次都问"),
        names(&view.asks),
        output.pick("Sent to", "发送到"),
        view.sends_to.as_deref().unwrap_or(output.pick("nobody; nothing leaves this computer", "不离开本机")),
    );
    output.row(&serde_json::json!({ "type": "reach", "root": view.root, "files": view.files, "files_more": view.files_more,
        "runs_freely": view.runs_freely, "asks": view.asks, "sends_to": view.sends_to }), &words);
    Ok(Exit::Done)
}
