//! Schedules and channels of the webhook.

use super::workspace_at;
use crate::arguments::{ApproveMode, Channels, Schedules};
use crate::output::Output;
use crate::{Exit, run};
use pilot_service::view::{ChannelRequest, ScheduleRequest, ScheduleView, SlotView};
use pilot_service::{Service, ServiceError};
use pilot_types::{ChannelId, ErrorCode, ScheduleId, TaskId};

pub(crate) async fn schedules(
    service: &Service,
    action: &Schedules,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Schedules::Add { rule, goal, workspace, zone, provider } => {
            // Said before the folder is registered: a rule that cannot be leaves nothing behind.
            pilot_service::upcoming(rule, zone.as_deref(), chrono::Utc::now(), 1)?;
            let provider = run::provider_of(service, provider.as_deref()).await?;
            let request = ScheduleRequest {
                id: None,
                workspace: workspace_at(service, workspace).await?.to_string(),
                rule: rule.clone(),
                zone: zone.clone(),
                goal: goal.clone(),
                provider: None,
            };
            let view = service.save_schedule_with(request, provider).await?;
            output.row(&view, &schedule_words(&view, output));
        }
        Schedules::List => {
            for view in service.schedules().await? {
                output.row(&view, &schedule_words(&view, output));
            }
        }
        Schedules::Edit { id, rule, goal, zone } => {
            let now = service.schedule(&ScheduleId::from_text(id)).await?;
            let request = ScheduleRequest {
                id: Some(now.id),
                workspace: now.workspace,
                rule: rule.clone().unwrap_or(now.rule),
                zone: zone.clone().or(now.zone),
                goal: goal.clone().unwrap_or(now.goal),
                provider: now.provider,
            };
            let view = service.save_schedule(request).await?;
            output.row(&view, &schedule_words(&view, output));
        }
        Schedules::Pause { id } => {
            let view = service.pause_schedule(&ScheduleId::from_text(id), true).await?;
            output.row(&view, output.pick("Paused.", "已暂停。"));
        }
        Schedules::Resume { id } => {
            let view = service.pause_schedule(&ScheduleId::from_text(id), false).await?;
            output.row(&view, &schedule_words(&view, output));
        }
        Schedules::Remove { id } => {
            service.remove_schedule(&ScheduleId::from_text(id)).await?;
            output.say(output.pick("Removed. Its tasks stay.", "已移除。它的任务保留。"));
        }
        Schedules::Run { id } => {
            let task = service.run_schedule(&ScheduleId::from_text(id)).await?;
            return run::follow(service, &TaskId::from_text(task.id), ApproveMode::Never, output).await;
        }
        Schedules::Preview { rule, from, count, zone } => {
            return preview(rule, from.as_deref(), *count, zone.as_deref(), output);
        }
    }
    Ok(Exit::Done)
}

/// Needs no data folder: a rule says by itself when it comes round.
pub(crate) fn preview(
    rule: &str,
    from: Option<&str>,
    count: usize,
    zone: Option<&str>,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let from = match from {
        None => chrono::Utc::now(),
        Some(text) => chrono::DateTime::parse_from_rfc3339(text)
            .map_err(|error| ServiceError::new(ErrorCode::Usage, format!("--from is not RFC 3339: {error}")))?
            .to_utc(),
    };
    let next = pilot_service::upcoming(rule, zone, from, count)?;
    let times: Vec<&str> = next.iter().map(|slot| slot.utc.as_str()).collect();
    output.row(
        &serde_json::json!({ "next": times }),
        &next.iter().map(slot_words).collect::<Vec<_>>().join("\n"),
    );
    Ok(Exit::Done)
}

/// A time in UTC, in the rule's own zone, and as this computer's clock shows it.
fn slot_words(slot: &SlotView) -> String {
    let here = chrono::DateTime::parse_from_rfc3339(&slot.utc)
        .map(|at| at.with_timezone(&chrono::Local).to_rfc3339_opts(chrono::SecondsFormat::Secs, false))
        .unwrap_or_default();
    let mut words = slot.utc.clone();
    for other in [slot.local.as_str(), here.as_str()] {
        if !words.contains(other) {
            words = format!("{words}  {other}");
        }
    }
    words
}

fn schedule_words(view: &ScheduleView, output: &Output) -> String {
    let next = match view.next.first() {
        _ if view.paused => output.pick("paused", "已暂停").to_owned(),
        Some(slot) => format!("{} {}", output.pick("next", "下次"), slot_words(slot)),
        None => String::new(),
    };
    let zone = view.zone.as_deref().unwrap_or("UTC");
    let mut words =
        format!("{}  {}  [{zone}]  {next}  {}", view.id, view.rule, pilot_review::shown_text(&view.goal));
    if let Some(run) = view.runs.first() {
        let what = run.code.map_or_else(
            || run.task.clone().unwrap_or_default(),
            |code| crate::words::of(code, output.chinese).to_owned(),
        );
        words = format!("{words}\n    {}  {what}", run.slot);
    }
    if let Some(problem) = view.problem {
        words = format!("{words}\n    ! {}", crate::words::of(problem, output.chinese));
    }
    words
}

pub(crate) async fn channels(
    service: &Service,
    action: &Channels,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Channels::Add { workspace, name } => {
            let workspace = workspace_at(service, workspace).await?.to_string();
            let made = service.add_channel(ChannelRequest { workspace, name: name.clone() }).await?;
            let port = service.settings().await?.webhook_port;
            let id = &made.channel.id;
            let example = format!(
                "curl -X POST http://127.0.0.1:{port}/api/channels/{id}/webhook -H \"X-PocketPilot-Token: $TOKEN\" \
                 -H 'Content-Type: application/json' -d '{{\"text\":\"…\"}}'"
            );
            output.row(
                &serde_json::json!({ "id": id, "token": made.token }),
                &format!(
                    "{id}\n{}: {}\n{}\n  {example}",
                    output.pick("Token, shown this once", "令牌，只显示这一次"),
                    made.token,
                    output.pick(
                        "Call it like this, while PocketPilot or pilot serve runs",
                        "在 PocketPilot 或 pilot serve 运行时这样调用"
                    ),
                ),
            );
        }
        Channels::List => {
            for view in service.channels().await? {
                let words = format!(
                    "{}  {}  {}  ✓ {}  ✗ {}",
                    view.id,
                    pilot_review::shown_text(&view.name),
                    pilot_review::shown_text(&view.workspace_name),
                    view.accepted,
                    view.refused
                );
                output.row(&view, &words);
            }
        }
        Channels::Remove { id } => {
            service.revoke_channel(&ChannelId::from_text(id)).await?;
            output.say(output.pick("Revoked. Its token is worthless now.", "已吊销。令牌从现在起无效。"));
        }
    }
    Ok(Exit::Done)
}
