//! The commands around a run: look, decide, keep in order.

use crate::arguments::{
    Approvals, ApproveMode, Artifacts, Audit, ExportFormat, Memory, Providers, Skills, Tasks, Workspaces,
};
use crate::output::Output;
use crate::{Exit, card, is_refusal, run};
use pilot_documents::{AnalyzeOptions, Document, DocumentKind, DocumentStatus};
use pilot_service::{Approve, AuditFormat, CheckState, Decider, KeyPlace, Service, ServiceError};
use pilot_types::{ApprovalId, ArtifactId, ErrorCode, TaskId, WorkspaceId};
use rust_decimal::Decimal;
use std::io::Read as _;
use std::path::Path;

async fn workspace_at(service: &Service, folder: &Path) -> Result<WorkspaceId, ServiceError> {
    Ok(WorkspaceId::from_text(service.add_workspace(folder, None).await?.id))
}

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

pub(crate) async fn extract(
    service: &Service,
    files: &[String],
    folder: &Path,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let workspace = workspace_at(service, folder).await?;
    let mut exit = Exit::Done;
    for path in files {
        let document = match service.extract(&workspace, path).await {
            Ok(document) => document,
            Err(error) => {
                output.say(&format!(
                    "{}: {}",
                    pilot_review::shown_text(path),
                    crate::words::of(error.code(), output.chinese)
                ));
                exit = if is_refusal(error.code()) { Exit::Refused } else { later(exit, Exit::Failed) };
                refused(error.code())
            }
        };
        print_document(path, &document, output);
    }
    Ok(exit)
}

fn later(exit: Exit, new: Exit) -> Exit {
    if exit == Exit::Done { new } else { exit }
}

fn refused(code: ErrorCode) -> Document {
    Document {
        kind: DocumentKind::Unknown,
        status: DocumentStatus::Refused,
        code: Some(code),
        notes: Vec::new(),
        text: String::new(),
        parts: Vec::new(),
        invoice: None,
    }
}

fn print_document(path: &str, document: &Document, output: &Output) {
    if !output.json {
        output.line(&format!("== {} ==", pilot_review::shown_text(path)));
        for note in &document.notes {
            output.line(&format!("  ! {note}"));
        }
        output.line(&pilot_review::shown_text(&document.text));
        return;
    }
    let Ok(mut value) = serde_json::to_value(document) else { return };
    if let Some(object) = value.as_object_mut() {
        object.insert("type".to_owned(), "document".into());
        object.insert("path".to_owned(), path.into());
    }
    output.object(&value);
}

pub(crate) async fn analyze(
    service: &Service,
    paths: &[String],
    folder: &Path,
    multiplier: Option<Decimal>,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let workspace = workspace_at(service, folder).await?;
    let mut options = AnalyzeOptions::default();
    if let Some(multiplier) = multiplier {
        if multiplier <= Decimal::ZERO {
            return Err(ServiceError::new(ErrorCode::Usage, "--outlier-multiplier is greater than 0"));
        }
        options.outlier_multiplier = multiplier;
    }
    let analysis = service.analyze(&workspace, paths, options).await?;
    if output.json {
        if let Ok(mut value) = serde_json::to_value(&analysis) {
            if let Some(object) = value.as_object_mut() {
                object.insert("type".to_owned(), "analysis".into());
            }
            output.object(&value);
        }
        return Ok(Exit::Done);
    }
    output.line(&format!("{} {}", analysis.rows, output.pick("rows", "行")));
    for (currency, total) in &analysis.totals {
        output.line(&format!("{currency:>4} {total}"));
    }
    for group in &analysis.by_supplier {
        let totals: Vec<String> =
            group.totals.iter().map(|(currency, total)| format!("{total} {currency}")).collect();
        output.line(&format!(
            "  {}  {} × {}",
            totals.join(" + "),
            group.count,
            pilot_review::shown_text(&group.key)
        ));
    }
    for outlier in &analysis.outliers {
        output.line(&format!(
            "  ▲ {} {}  {} × median  {}",
            outlier.amount, outlier.currency, outlier.times_median, outlier.source.file
        ));
    }
    for unread in &analysis.unread_rows {
        output.line(&format!(
            "  ! {} {}: {}",
            pilot_review::shown_text(&unread.source.file),
            unread.source.row,
            unread.reason
        ));
    }
    Ok(Exit::Done)
}

pub(crate) async fn workspaces(
    service: &Service,
    action: &Workspaces,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Workspaces::Add { folder, allow_mcp } => {
            let allowed = (!allow_mcp.is_empty()).then(|| allow_mcp.clone());
            let view = service.add_workspace(folder, allowed).await?;
            output.row(&view, &format!("{}  {}", view.id, view.root));
        }
        Workspaces::List => {
            for view in service.workspaces().await? {
                let gone =
                    if view.present { "" } else { output.pick("  (not there now)", "（现在不在）") };
                output.row(&view, &format!("{}  {}{gone}", view.id, view.root));
            }
        }
        Workspaces::Remove { id } => {
            service.remove_workspace(&WorkspaceId::from_text(id)).await?;
            output.say(output.pick(
                "Taken off the list. The folder and its files stay.",
                "已从列表移除。文件夹和文件保留。",
            ));
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn artifacts(
    service: &Service,
    action: &Artifacts,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Artifacts::List => {
            for view in service.artifacts(None).await? {
                output.row(
                    &view,
                    &format!("{}  {}  {} B", view.id, pilot_review::shown_text(&view.path), view.size),
                );
            }
        }
        Artifacts::Save { id, to } => {
            service.save_artifact(&ArtifactId::from_text(id), to.clone(), false).await?;
            output.say(&format!("✓ {}", to.display()));
        }
        Artifacts::Undo { id } => {
            let view = service.undo(&ArtifactId::from_text(id)).await?;
            output.row(&view, output.pick("Undone.", "已撤销。"));
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn providers(
    service: &Service,
    action: &Providers,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Providers::List => {
            for view in service.app_view(pilot_service::view::LanguageSetting::System, false).await?.providers
            {
                let row = serde_json::json!({ "id": view.name, "name": view.name, "base_url": view.base_url, "model": view.model,
                    "local": view.local, "has_key": view.has_key });
                output.row(
                    &row,
                    &format!(
                        "{}  {}  {}",
                        view.name,
                        view.base_url.unwrap_or_default(),
                        view.model.unwrap_or_default()
                    ),
                );
            }
        }
        Providers::Add { name, base_url, model } => {
            let request = pilot_service::view::ProviderRequest {
                name: name.clone(),
                base_url: base_url.clone(),
                model: model.clone(),
            };
            service.save_provider(request).await?;
        }
        Providers::Key { name } => {
            let key = read_stdin()?.trim().to_owned();
            if key.is_empty() {
                return Err(ServiceError::new(ErrorCode::Usage, "no key on standard input"));
            }
            let (place, error) = service.save_key(name, key.into()).await;
            if place == KeyPlace::ThisRun {
                let words = error.map_or_else(String::new, |error| error.to_string());
                return Err(ServiceError::new(
                    ErrorCode::KeyringMissing,
                    format!("the key was not kept: {words}"),
                )
                .about(name.clone()));
            }
        }
        Providers::Remove { name } => service.remove_provider(name).await?,
        Providers::Allow { name, workspace } => {
            let workspace = workspace_at(service, workspace).await?;
            service.give_consent(&workspace, name).await?;
        }
    }
    Ok(Exit::Done)
}

fn read_stdin() -> Result<String, ServiceError> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(2 << 20)
        .read_to_string(&mut text)
        .map_err(|error| ServiceError::new(ErrorCode::Usage, format!("standard input: {error}")))?;
    Ok(text)
}

pub(crate) async fn memory(
    service: &Service,
    action: &Memory,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Memory::Show { workspace } => {
            let page = service.memory(&workspace_at(service, workspace).await?).await?;
            let row = serde_json::json!({ "type": "memory", "path": page.path, "text": page.text, "injected_bytes": page.injected_bytes });
            output.row(&row, &pilot_review::shown_text(&page.text));
        }
        Memory::Edit { workspace } => {
            service.edit_memory(&workspace_at(service, workspace).await?, read_stdin()?).await?
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn skills(
    service: &Service,
    action: &Skills,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Skills::List { workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            for skill in service.skills(workspace.as_ref()).await? {
                output.row(
                    &skill,
                    &format!(
                        "{}  [{}]  {}",
                        skill.name,
                        skill.source.as_str(),
                        pilot_review::shown_text(&skill.description)
                    ),
                );
            }
        }
        Skills::Show { name, workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            let body = service.skill(workspace.as_ref(), name).await?;
            output.row(
                &serde_json::json!({ "type": "skill", "name": name, "text": body }),
                &pilot_review::shown_text(&body),
            );
        }
    }
    Ok(Exit::Done)
}

async fn optional_workspace(
    service: &Service,
    folder: Option<&Path>,
) -> Result<Option<WorkspaceId>, ServiceError> {
    match folder {
        Some(folder) => Ok(Some(workspace_at(service, folder).await?)),
        None => Ok(None),
    }
}

pub(crate) async fn audit(service: &Service, action: &Audit, output: &Output) -> Result<Exit, ServiceError> {
    match action {
        Audit::Verify => {
            let view = service.verify_audit().await?;
            let words = match view.broken_at {
                None => format!(
                    "{} {}",
                    output.pick("The log chain is intact. Entries:", "记录链完整。条数："),
                    view.entries
                ),
                Some(at) => format!("{} {at}", output.pick("The log chain breaks at entry", "记录链断在第")),
            };
            output.row(&serde_json::json!({ "type": "audit", "entries": view.entries, "intact": view.intact, "broken_at": view.broken_at }), &words);
            Ok(if view.intact { Exit::Done } else { Exit::Failed })
        }
        Audit::Export { format } => {
            let format = match format {
                ExportFormat::Jsonl => AuditFormat::Jsonl,
                ExportFormat::Md => AuditFormat::Markdown,
            };
            service
                .export_audit(format, |line| {
                    output.line(line.trim_end_matches('\n'));
                    Ok(())
                })
                .await?;
            Ok(Exit::Done)
        }
    }
}

pub(crate) async fn doctor(service: &Service, output: &Output) -> Result<Exit, ServiceError> {
    let mut exit = Exit::Done;
    for check in service.doctor().await? {
        let mark = match check.state {
            CheckState::Ok => "✓",
            CheckState::Limited => "!",
            CheckState::Broken => {
                exit = Exit::Failed;
                "✗"
            }
        };
        output.row(&check, &format!("{mark} {}: {}", check.id, check.words));
    }
    Ok(exit)
}

pub(crate) async fn evals(case: Option<&str>, output: &Output) -> Result<Exit, ServiceError> {
    let mut exit = Exit::Done;
    let results = pilot_evals::safety_check(case).await;
    if results.is_empty() {
        return Err(ServiceError::new(ErrorCode::Usage, "no case of that name"));
    }
    for result in results {
        if !result.held {
            exit = Exit::Failed;
        }
        let mark = if result.held { "✓" } else { "✗" };
        output.row(&result, &format!("{mark} {}  {}", result.name, result.problems.join("; ")));
    }
    Ok(exit)
}
