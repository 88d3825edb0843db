//! `pilot run`: a task from goal to its next stop.

use crate::arguments::{ApproveMode, Run};
use crate::card;
use crate::output::Output;
use crate::{Exit, words};
use pilot_service::{Approve, Decider, Notice, Service, ServiceError};
use pilot_types::{
    ApprovalId, Channel, ErrorCode, Event, EventRecord, ProviderChoice, SessionId, TaskId, TaskIntake,
    TaskLimits, TaskStatus, WorkspaceId,
};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use tokio::sync::broadcast::error::RecvError;

/// What is wrong with the call itself, before anything is opened.
pub(crate) fn check(wanted: &Run) -> Result<(), ServiceError> {
    let scripted = wanted.provider.as_deref().is_some_and(|name| name.starts_with("scripted:"));
    if wanted.approve == Some(ApproveMode::AllShown) && !scripted {
        return Err(ServiceError::new(
            ErrorCode::Usage,
            "--approve all-shown is for scripted providers only: nobody would be asked",
        ));
    }
    if wanted.max_steps == Some(0) {
        return Err(ServiceError::new(ErrorCode::Usage, "--max-steps is at least 1"));
    }
    Ok(())
}

/// Makes the task and follows it.
pub(crate) async fn run(service: &Service, wanted: &Run, output: &Output) -> Result<Exit, ServiceError> {
    let workspace = service.add_workspace(&wanted.workspace, None).await?;
    let workspace = WorkspaceId::from_text(workspace.id);
    let provider = provider_of(service, wanted.provider.as_deref()).await?;
    let limits = match wanted.max_steps {
        None => None,
        Some(max_steps) => {
            let max_tokens = service.settings().await?.tokens_per_task;
            // Steps asked for by hand bring their time along: the default is made for the default number of steps.
            let defaults = TaskLimits::default();
            let factor = u64::from(max_steps.div_ceil(defaults.max_steps)).max(1);
            Some(TaskLimits { max_steps, max_millis: defaults.max_millis.saturating_mul(factor), max_tokens })
        }
    };
    let intake = TaskIntake {
        goal: wanted.goal.clone(),
        workspace: workspace.clone(),
        channel: Channel::Cli,
        session: wanted.session.clone().map(SessionId::from_text),
        follow_up_of: wanted.follow_up.clone().map(TaskId::from_text),
        provider,
        limits,
    };
    let task = match service.create_task(intake.clone()).await {
        Err(error) if error.code() == ErrorCode::ConsentRequired => {
            ask_consent(service, &workspace, &intake, &error, output).await?;
            service.create_task(intake).await?
        }
        other => other?,
    };
    let mode = wanted.approve.unwrap_or(if std::io::stdin().is_terminal() && !output.json {
        ApproveMode::Ask
    } else {
        ApproveMode::Never
    });
    follow(service, &TaskId::from_text(task.id), mode, output).await
}

pub(crate) async fn provider_of(
    service: &Service,
    name: Option<&str>,
) -> Result<Option<ProviderChoice>, ServiceError> {
    let Some(name) = name else { return Ok(None) };
    let Some(file) = name.strip_prefix("scripted:") else {
        return service.provider_named(name).await.map(Some);
    };
    let text = read_script(file)
        .map_err(|error| ServiceError::new(ErrorCode::ScriptInvalid, error.to_string()).about(file))?;
    let script = pilot_service::parse_script(&text).map_err(|error| error.about(file))?;
    Ok(Some(ProviderChoice::Scripted { label: name.to_owned(), script }))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a script is the caller's own file, named on the command line; no workspace file"
)]
fn read_script(file: &str) -> std::io::Result<String> {
    std::fs::read_to_string(file)
}

async fn ask_consent(
    service: &Service,
    workspace: &WorkspaceId,
    intake: &TaskIntake,
    error: &ServiceError,
    output: &Output,
) -> Result<(), ServiceError> {
    let (host, label) =
        (error.subject().unwrap_or_default(), intake.provider.as_ref().map_or("", |choice| choice.label()));
    if output.json || !std::io::stdin().is_terminal() {
        return Err(error.clone());
    }
    output.say(&format!(
        "{} {host}",
        output.pick(
            "To work on this goal, names and contents of files in this folder are sent to",
            "要完成这个目标，会把这个文件夹里的文件名和内容发送到"
        )
    ));
    if ask(
        output,
        output.pick(
            "Send them? This is asked once for this folder and provider. [y/N] ",
            "要发送吗？每个文件夹和服务只问一次。[y/N] ",
        ),
    ) != "y"
    {
        return Err(error.clone());
    }
    service.give_consent(workspace, label).await
}

/// A line typed by a person, in lower case; empty when there is none.
fn ask(output: &Output, question: &str) -> String {
    let _ = write!(std::io::stderr().lock(), "{question}");
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).is_err() {
        output.say("");
    }
    line.trim().to_owned()
}

/// Runs a task to its next stop, and over the cards that are decided here.
pub(crate) async fn follow(
    service: &Service,
    id: &TaskId,
    mode: ApproveMode,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let mut printed = 0;
    loop {
        printed = run_and_print(service, id, printed, output).await?;
        let view = service.task(id).await?;
        let Some(card) = view.waiting_approval.map(ApprovalId::from_text) else {
            printed = print_rest(service, id, printed, output).await?;
            return finish(service, id, printed, output).await;
        };
        match mode {
            ApproveMode::Never => {
                output.say(&format!(
                    "{} {card}",
                    output.pick(
                        "Waiting for you. Nothing was written. Look: pilot approvals show",
                        "等待审批，什么都没有写。查看：pilot approvals show"
                    )
                ));
                return finish(service, id, printed, output).await;
            }
            ApproveMode::AllShown => {
                show(service, &card, output).await?;
                decide_shown(service, &card, output).await?;
            }
            ApproveMode::Ask => {
                show(service, &card, output).await?;
                if !ask_card(service, &card, output).await? {
                    return finish(service, id, printed, output).await;
                }
            }
        }
    }
}

async fn show(service: &Service, card: &ApprovalId, output: &Output) -> Result<(), ServiceError> {
    let view = service.approval(card).await?;
    let text = card::draw(&view, output);
    if output.json {
        output.say(&text)
    } else {
        output.line(&text)
    }
    Ok(())
}

async fn decide_shown(service: &Service, card: &ApprovalId, output: &Output) -> Result<(), ServiceError> {
    let approve = Approve { id: card.clone(), shown: None, arguments: None, by: Decider::Cli };
    match service.approve(approve).await {
        Ok(_) => Ok(()),
        // The next round shows the new card, or how the task went on.
        Err(error) if error.code() == ErrorCode::ApprovalStale => {
            output.failed(&error);
            Ok(())
        }
        Err(error) => {
            output.failed(&error);
            Ok(())
        }
    }
}

/// One card, asked until it is decided; false when the person leaves it waiting.
async fn ask_card(service: &Service, card: &ApprovalId, output: &Output) -> Result<bool, ServiceError> {
    let question = output.pick(
        "Approve this one call? y = approve once, n = reject, e = edit arguments, q = leave it waiting: ",
        "批准这一次调用吗？y = 批准一次，n = 拒绝，e = 改参数，q = 先放着：",
    );
    let mut arguments = None;
    loop {
        match ask(output, question).as_str() {
            "y" => {
                let approve =
                    Approve { id: card.clone(), shown: None, arguments: arguments.take(), by: Decider::Cli };
                match service.approve(approve).await {
                    Ok(_) => output.say(output.pick("Done.", "已完成。")),
                    Err(error) => output.failed(&error),
                }
                return Ok(true);
            }
            "n" => {
                let note = ask(
                    output,
                    output.pick("A word to the model (may be empty): ", "给模型的一句话（可以留空）："),
                );
                service.reject(card, Some(note), Decider::Cli).await?;
                output.say(output.pick("Rejected. Nothing was written.", "已拒绝，什么都没有写。"));
                return Ok(true);
            }
            "e" => {
                let typed =
                    ask(output, output.pick("The arguments as one line of JSON: ", "一行 JSON 参数："));
                match preview(service, card, &typed).await {
                    Ok((value, view)) => {
                        output.line(&card::draw(&view, output));
                        arguments = Some(value);
                    }
                    Err(error) => output.failed(&error),
                }
            }
            "q" | "" => return Ok(false),
            _ => {}
        }
    }
}

async fn preview(
    service: &Service,
    card: &ApprovalId,
    typed: &str,
) -> Result<(serde_json::Value, pilot_service::view::ApprovalView), ServiceError> {
    let value: serde_json::Value = serde_json::from_str(typed)
        .map_err(|error| ServiceError::new(ErrorCode::InvalidArguments, format!("not JSON: {error}")))?;
    let rev = service.approval(card).await?.rev;
    let view = service.preview_edit(card, rev, value.clone()).await?;
    Ok((value, view))
}

/// Runs the task in this process and prints its events as they are recorded. Ctrl-C stops the task, not the record.
async fn run_and_print(
    service: &Service,
    id: &TaskId,
    mut printed: i64,
    output: &Output,
) -> Result<i64, ServiceError> {
    let mut notices = service.subscribe();
    let run = service.run_to_stop(id);
    tokio::pin!(run);
    let mut stopping = false;
    loop {
        tokio::select! {
            stop = &mut run => {
                stop?;
                return print_rest(service, id, printed, output).await;
            }
            notice = notices.recv() => match notice {
                Ok(Notice::Recorded(record)) if record.task.as_ref() == Some(id) => {
                    if record.seq == printed + 1 {
                        print_event(&record, output);
                        printed = record.seq;
                    } else if record.seq > printed {
                        printed = print_rest(service, id, printed, output).await?;
                    }
                }
                Ok(Notice::Delta { task, text }) if task == *id => output.piece(&text),
                Ok(
                    Notice::Recorded(_)
                    | Notice::Delta { .. }
                    | Notice::Waiting(_)
                    | Notice::Changed
                    | Notice::Disk { .. }
                    | Notice::Stale { .. }
                    | Notice::Upload(_),
                ) => {}
                Err(RecvError::Lagged(_) | RecvError::Closed) => printed = print_rest(service, id, printed, output).await?,
            },
            _ = tokio::signal::ctrl_c(), if !stopping => {
                stopping = true;
                output.say(output.pick("Stopping the task…", "正在停止任务……"));
                service.cancel_task(id).await?;
            }
        }
    }
}

async fn print_rest(
    service: &Service,
    id: &TaskId,
    mut printed: i64,
    output: &Output,
) -> Result<i64, ServiceError> {
    for record in service.task_events(id, printed).await? {
        print_event(&record, output);
        printed = record.seq;
    }
    Ok(printed)
}

fn print_event(record: &EventRecord, output: &Output) {
    if output.json {
        output.object(record);
        return;
    }
    match &record.event {
        Event::ModelAnswer { text, .. } if !text.is_empty() => output.line(""),
        Event::ToolStarted { tool, reason, .. } => output.say(&format!("· {tool}  ({reason})")),
        Event::ToolResult { tool, ok: false, code, content, .. } => {
            let code = code.map(|code| code.to_string()).unwrap_or_default();
            output.say(&format!("✗ {tool}  {code}: {}", pilot_review::shown_text(&first_line(content))));
        }
        Event::PolicyDenied { tool, code, .. } => {
            output.say(&format!("⛨ {tool}  {}", words::of(*code, output.chinese)))
        }
        Event::ArtifactWritten { path, size, .. } => {
            output.say(&format!("✓ {}  {size} B", pilot_review::shown_text(path)))
        }
        Event::Noted { detail, .. } => output.say(detail),
        Event::ModelAnswer { .. }
        | Event::ToolResult { .. }
        | Event::TaskCreated { .. }
        | Event::StatusChanged { .. }
        | Event::Prompted { .. }
        | Event::ApprovalRequested { .. }
        | Event::ApprovalReplaced { .. }
        | Event::ApprovalDecided { .. }
        | Event::ExecutionFinished { .. }
        | Event::Undone { .. }
        | Event::OperatorActed { .. } => {}
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// The last line of a run, and its exit code by the task's status only.
async fn finish(
    service: &Service,
    id: &TaskId,
    _printed: i64,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let detail = service.task_detail(id).await?;
    let view = &detail.task;
    output.object(&serde_json::json!({
        "type": "result", "status": view.status, "code": view.code, "task": view.id, "approval": view.waiting_approval,
        "artifacts": detail.artifacts, "usage": view.usage,
    }));
    if let Some(code) = view.code {
        output.say(&format!("{}\n  {code}{}", words::of(code, output.chinese), last_detail(&detail.events)));
    }
    Ok(exit_of(view.status))
}

fn last_detail(events: &[EventRecord]) -> String {
    events
        .iter()
        .rev()
        .find_map(|record| match &record.event {
            Event::StatusChanged { detail, .. } => detail.clone().map(|detail| format!(": {detail}")),
            _ => None,
        })
        .unwrap_or_default()
}

/// The exit code of a run.
pub(crate) fn exit_of(status: TaskStatus) -> Exit {
    match status {
        TaskStatus::Completed => Exit::Done,
        TaskStatus::Failed | TaskStatus::Cancelled => Exit::Failed,
        TaskStatus::WaitingApproval => Exit::WaitingApproval,
        TaskStatus::Interrupted | TaskStatus::Queued | TaskStatus::Running => Exit::Interrupted,
    }
}
