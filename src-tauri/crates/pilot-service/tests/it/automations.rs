//! Schedules and the webhook on a real database, under a clock that the test moves.

use crate::support::{options, say, write_step};
use chrono::{DateTime, Duration, Utc};
use pilot_service::view::{ChannelRequest, ScheduleRequest, ScheduleView, WebhookStateView};
use pilot_service::{AutomationOptions, Service};
use pilot_store::{DataDir, Store};
use pilot_testkit::FixedClock;
use pilot_triggers::look_once;
use pilot_types::{
    ChannelId, ErrorCode, ProviderChoice, ScheduleId, Script, ScriptStep, SlotState, TaskId, TaskStatus,
    WorkspaceId,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

struct Desk {
    service: Service,
    clock: Arc<FixedClock>,
    workspace: String,
    data: TempDir,
    root: TempDir,
}

fn script(steps: Vec<ScriptStep>) -> ProviderChoice {
    ProviderChoice::Scripted { label: "test".to_owned(), script: Script { version: 1, steps } }
}

fn writes() -> ProviderChoice {
    script(vec![write_step("report.md", "# report\n"), say("done")])
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

impl Desk {
    async fn new() -> Self {
        let (data, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let clock = Arc::new(FixedClock::at_text("2026-11-30T12:00:30Z"));
        let mut wanted = options(data.path());
        wanted.clock = clock.clone();
        let service = Service::open(wanted).await.unwrap();
        let workspace = service.add_workspace(root.path(), None).await.unwrap().id;
        Self { service, clock, workspace, data, root }
    }

    fn request(&self, rule: &str) -> ScheduleRequest {
        ScheduleRequest {
            workspace: self.workspace.clone(),
            rule: rule.to_owned(),
            goal: "write the report".to_owned(),
            ..ScheduleRequest::default()
        }
    }

    async fn schedule(&self, rule: &str) -> ScheduleId {
        let view = self.service.save_schedule_with(self.request(rule), Some(writes())).await.unwrap();
        ScheduleId::from_text(view.id)
    }

    async fn look_at(&self, now: &str) {
        self.clock.jump_to(utc(now));
        look_once(&self.service, utc(now)).await.unwrap();
    }

    async fn view(&self, id: &ScheduleId) -> ScheduleView {
        self.service.schedule(id).await.unwrap()
    }

    async fn tasks(&self) -> Vec<TaskId> {
        self.service.tasks(None).await.unwrap().into_iter().map(|task| TaskId::from_text(task.id)).collect()
    }
}

#[tokio::test]
async fn a_slot_makes_one_task_that_stops_at_its_card() {
    let desk = Desk::new().await;
    let id = desk.schedule("*/5 * * * *").await;
    assert_eq!(desk.view(&id).await.next[0].utc, "2026-11-30T12:05:00Z", "the next time is shown");
    desk.look_at("2026-11-30T12:04:59Z").await;
    assert_eq!(desk.tasks().await.len(), 0, "nothing before its time");
    for _ in 0..3 {
        desk.look_at("2026-11-30T12:05:07Z").await;
    }
    let tasks = desk.tasks().await;
    assert_eq!(tasks.len(), 1, "one task however often it is looked at");
    let stop = desk.service.run_to_stop(&tasks[0]).await.unwrap();
    assert_eq!(stop.status, TaskStatus::WaitingApproval, "its write asks like any other");
    assert_eq!(std::fs::read_dir(desk.root.path()).unwrap().count(), 0, "the disk is unchanged");

    let store = Store::open(&DataDir::open(desk.data.path()).unwrap()).await.unwrap();
    let row = pilot_store::tasks::get(&mut store.read().await.unwrap(), &tasks[0]).await.unwrap().unwrap();
    assert_eq!(
        row.session.map(|session| session.to_string()),
        Some(tasks[0].to_string()),
        "a task that nobody typed is a conversation of its own"
    );

    // While it waits, later slots are skipped and say so.
    for minute in [10, 15, 20] {
        desk.look_at(&format!("2026-11-30T12:{minute}:03Z")).await;
    }
    assert_eq!(desk.tasks().await.len(), 1, "no second task while the first is not finished");
    let runs = desk.view(&id).await.runs;
    assert_eq!(runs.len(), 4, "each slot is shown: {runs:?}");
    assert_eq!(
        (runs[0].state, runs[0].code),
        (SlotState::Skipped, Some(ErrorCode::SlotSkipped)),
        "with its reason"
    );
    assert_eq!(
        (runs[3].state, runs[3].status),
        (SlotState::Started, Some(TaskStatus::WaitingApproval)),
        "and its task"
    );

    desk.service.cancel_task(&tasks[0]).await.unwrap();
    desk.look_at("2026-11-30T12:25:03Z").await;
    assert_eq!(desk.tasks().await.len(), 2, "once it ended, the next slot starts");
    assert!(desk.service.verify_audit().await.unwrap().intact, "the chain holds");
}

#[tokio::test]
async fn an_interrupted_run_counts_as_finished() {
    let desk = Desk::new().await;
    let id = desk.schedule("*/5 * * * *").await;
    desk.look_at("2026-11-30T12:05:01Z").await;
    let task = desk.tasks().await.remove(0);
    let store = Store::open(&DataDir::open(desk.data.path()).unwrap()).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    let from = [TaskStatus::Queued];
    assert!(
        pilot_store::tasks::set_status(&mut tx, &task, &from, TaskStatus::Interrupted, None).await.unwrap(),
        "set"
    );
    tx.commit().await.unwrap();
    desk.look_at("2026-11-30T12:10:01Z").await;
    assert_eq!(
        desk.view(&id).await.runs[0].state,
        SlotState::Started,
        "it may never go on, so it holds nothing up"
    );
}

#[tokio::test]
async fn what_passed_while_nobody_looked_is_told_and_not_caught_up() {
    let desk = Desk::new().await;
    let id = desk.schedule("0 * * * *").await;
    desk.look_at("2026-11-30T20:30:00Z").await;
    assert_eq!(desk.tasks().await.len(), 0, "eight hours are not caught up");
    let runs = desk.view(&id).await.runs;
    assert_eq!((runs[0].state, runs[0].slots), (SlotState::Missed, 8), "but told: {runs:?}");
    assert_eq!(runs[0].slot, "2026-11-30T13:00:00.000Z", "from the first");
    assert_eq!(runs[0].upto.as_deref(), Some("2026-11-30T20:00:00.000Z"), "to the last");
    // What passes during a pause is left out on purpose, so it is no note.
    desk.service.pause_schedule(&id, true).await.unwrap();
    assert!(desk.view(&id).await.next.is_empty(), "a paused schedule has no next time");
    desk.look_at("2026-12-01T03:30:00Z").await;
    desk.service.pause_schedule(&id, false).await.unwrap();
    desk.look_at("2026-12-01T03:31:00Z").await;
    desk.service.pause_automations(true).await.unwrap();
    desk.look_at("2026-12-01T08:30:00Z").await;
    desk.service.pause_automations(false).await.unwrap();
    desk.look_at("2026-12-01T08:31:00Z").await;
    assert_eq!(desk.view(&id).await.runs.len(), 1, "no further note");
    desk.look_at("2026-12-01T09:00:02Z").await;
    assert_eq!(desk.tasks().await.len(), 1, "and afterwards it goes on");
}

/// The one promise that the database keeps: whatever the clock does, a slot is decided once.
#[tokio::test]
async fn a_slot_is_decided_once_whatever_the_clock_does() {
    let desk = Desk::new().await;
    let id = desk.schedule("*/10 * * * *").await;
    let mut now = utc("2028-02-28T20:00:00Z");
    let mut seed = 20_261_130u64;
    let mut random = |below: u64| {
        // A small generator with a printed seed: the same run every time.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let rounds = if std::env::var_os("POCKETPILOT_SOAK").is_some() { 3_000 } else { 300 };
    for _ in 0..rounds {
        now += match random(20) {
            0 => Duration::hours(1),
            1 | 2 => -Duration::hours(1),
            3 => Duration::days(365),
            4 => -Duration::days(365),
            5 => Duration::hours(8),
            6 => -Duration::seconds(90),
            _ => Duration::seconds(15 + i64::try_from(random(240)).unwrap()),
        };
        desk.look_at(&now.to_rfc3339()).await;
        for task in desk.service.tasks(None).await.unwrap() {
            if !task.status.is_final() {
                desk.service.cancel_task(&TaskId::from_text(task.id)).await.unwrap();
            }
        }
    }
    let store = Store::open(&DataDir::open(desk.data.path()).unwrap()).await.unwrap();
    let runs = pilot_store::schedules::runs(&mut store.read().await.unwrap(), &id, 100_000).await.unwrap();
    let started: Vec<_> = runs.iter().filter(|run| run.state == SlotState::Started).collect();
    let slots: BTreeSet<_> = started.iter().map(|run| run.slot).collect();
    let tasks: BTreeSet<_> = started.iter().filter_map(|run| run.task.clone()).collect();
    println!("{rounds} looks under a jumping clock: {} slots started, {} tasks", started.len(), tasks.len());
    assert!(started.len() > 20, "the run started something: {}", started.len());
    assert_eq!(slots.len(), started.len(), "no slot twice");
    assert_eq!(tasks.len(), started.len(), "each with a task of its own");
    assert_eq!(desk.tasks().await.len(), started.len(), "and no task without a slot");
}

#[tokio::test]
async fn a_removed_workspace_is_a_visible_note_and_nothing_is_lost() {
    let desk = Desk::new().await;
    let id = desk.schedule("*/5 * * * *").await;
    desk.service.remove_workspace(&WorkspaceId::from_text(&desk.workspace)).await.unwrap();
    for minute in ["05", "10", "15"] {
        desk.look_at(&format!("2026-11-30T12:{minute}:02Z")).await;
    }
    let view = desk.view(&id).await;
    assert_eq!(view.problem, Some(ErrorCode::WorkspaceNotFound), "the schedule says what is wrong");
    assert_eq!(view.runs.len(), 3, "and so does each slot");
    assert!(
        view.runs
            .iter()
            .all(|run| (run.state, run.code) == (SlotState::Refused, Some(ErrorCode::WorkspaceNotFound))),
        "with its code: {:?}",
        view.runs
    );
    assert_eq!(desk.tasks().await.len(), 0, "no task");
    let run = desk.service.run_schedule(&id).await.unwrap_err();
    assert_eq!(run.code(), ErrorCode::WorkspaceNotFound, "by hand neither");
    let refused = desk.service.save_schedule(desk.request("@daily")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::WorkspaceNotFound, "nor is a new one made there");
    // The person can point it to a workspace that is there; then it goes on.
    let other = TempDir::new().unwrap();
    let workspace = desk.service.add_workspace(other.path(), None).await.unwrap().id;
    let request = ScheduleRequest {
        id: Some(id.to_string()),
        workspace,
        provider: Some("test".to_owned()),
        ..desk.request("*/5 * * * *")
    };
    desk.service.save_schedule(request).await.unwrap();
    desk.look_at("2026-11-30T12:20:02Z").await;
    assert_eq!(desk.tasks().await.len(), 1, "the next slot starts there");
}

#[tokio::test]
async fn a_rule_that_cannot_be_is_refused_and_leaves_nothing() {
    let desk = Desk::new().await;
    for (rule, zone, code) in [
        ("0 0 31 2 *", None, ErrorCode::ScheduleNever),
        ("0 0 9 * * 1", None, ErrorCode::ScheduleFields),
        ("0 25 * * *", None, ErrorCode::ScheduleValue),
        ("@daily", Some("Mars/Base"), ErrorCode::ScheduleZone),
    ] {
        let request = ScheduleRequest { zone: zone.map(str::to_owned), ..desk.request(rule) };
        let error = desk.service.save_schedule(request).await.unwrap_err();
        assert_eq!(error.code(), code, "{rule} {zone:?}: {error}");
        let preview = desk.service.preview_schedule(rule, zone);
        let problem = preview.problem.unwrap();
        assert_eq!((problem.code, preview.next.len()), (code, 0), "the preview says the same");
        assert_eq!(problem.field, (code == ErrorCode::ScheduleValue).then_some(2), "and names the field");
    }
    assert!(desk.service.schedules().await.unwrap().is_empty(), "nothing was kept");
    let unknown = ScheduleId::new();
    for error in [
        desk.service.run_schedule(&unknown).await.err().unwrap(),
        desk.service.pause_schedule(&unknown, true).await.err().unwrap(),
        desk.service.remove_schedule(&unknown).await.err().unwrap(),
    ] {
        assert_eq!(error.code(), ErrorCode::ScheduleNotFound, "an unknown id is said");
    }
}

#[tokio::test]
async fn at_most_twenty_tasks_of_one_schedule_wait() {
    let desk = Desk::new().await;
    let id = desk.schedule("0 0 1 1 *").await;
    for number in 0..20 {
        assert!(desk.service.run_schedule(&id).await.is_ok(), "run {number} by hand");
    }
    let error = desk.service.run_schedule(&id).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::QueueFull, "the twenty-first waits for a decision");
    desk.service.cancel_task(&desk.tasks().await[0]).await.unwrap();
    assert!(desk.service.run_schedule(&id).await.is_ok(), "after which there is a place again");
    desk.service.remove_schedule(&id).await.unwrap();
    assert_eq!(desk.tasks().await.len(), 21, "removing a schedule leaves its tasks");
}

/// Every file below a folder that holds a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_webhook_listens_once_there_is_a_channel_and_keeps_no_token() {
    let desk = Desk::new().await;
    let options = AutomationOptions { port: Some(0), ..AutomationOptions::default() };
    let automations = desk.service.start_automations(options);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(
        desk.service.automations().await.unwrap().webhook.state,
        WebhookStateView::Off,
        "without a channel nobody listens"
    );
    let request = ChannelRequest { workspace: desk.workspace.clone(), name: "scans".to_owned() };
    let made = desk.service.add_channel(request.clone()).await.unwrap();
    let channel = ChannelId::from_text(&made.channel.id);
    let mut listening = false;
    for _ in 0..100 {
        listening = desk.service.automations().await.unwrap().webhook.state == WebhookStateView::Listening;
        if listening {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(listening, "with the first channel it listens");

    let task = desk.service.test_channel(&channel, &made.token, "sum up the new scans").await.unwrap();
    let view = desk.service.task(&task).await.unwrap();
    assert_eq!(view.goal, "sum up the new scans", "the text is the goal");
    let store = Store::open(&DataDir::open(desk.data.path()).unwrap()).await.unwrap();
    let row = pilot_store::tasks::get(&mut store.read().await.unwrap(), &task).await.unwrap().unwrap();
    assert_eq!(
        row.session.map(|session| session.to_string()),
        Some(task.to_string()),
        "a conversation of its own"
    );

    let other = desk.service.add_channel(request).await.unwrap();
    let error = desk.service.test_channel(&channel, &other.token, "x").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TokenRefused, "the token of another channel opens nothing");
    desk.service.pause_automations(true).await.unwrap();
    let error = desk.service.test_channel(&channel, &made.token, "x").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::AutomationsPaused, "a pause holds for the webhook too");
    desk.service.pause_automations(false).await.unwrap();
    for number in 1..20 {
        assert!(
            desk.service.test_channel(&channel, &made.token, "x").await.is_ok(),
            "request {number} waits its turn"
        );
    }
    let error = desk.service.test_channel(&channel, &made.token, "x").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::QueueFull, "twenty wait; the next is refused");
    desk.service.revoke_channel(&channel).await.unwrap();
    let error = desk.service.test_channel(&channel, &made.token, "x").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TokenRefused, "revoked is revoked");
    automations.shutdown().await;

    assert_eq!(desk.tasks().await.len(), 20, "accepted requests are tasks, refused ones are none");
    let row = desk.service.channels().await.unwrap().remove(0);
    assert_eq!(row.id, other.channel.id, "only the other channel is left");
    for token in [&made.token, &other.token] {
        assert_eq!(files_with(desk.data.path(), token), Vec::<String>::new(), "the token is in no file");
        let bare = token.trim_start_matches("ppt_");
        assert_eq!(files_with(desk.data.path(), bare), Vec::<String>::new(), "nor a part of it");
    }
    let kept = files_with(desk.data.path(), &other.channel.id);
    assert!(!kept.is_empty(), "the control: what is kept is found by the same search");
}
