//! Tasks: turns, stops, interruptions, and what is on record of them.

use crate::support::{Bench, call, options, say, write_step};
use pilot_service::Service;
use pilot_service::view::{ApprovalState, SettingsView};
use pilot_types::{Channel, ErrorCode, Event, ProviderChoice, Script, TaskIntake, TaskLimits, TaskStatus};
use serde_json::json;

#[tokio::test]
async fn every_step_is_on_record_without_gaps_and_the_chain_holds() {
    let bench = Bench::new().await;
    bench.write("a.csv", "x\n1\n");
    let task = bench
        .start(vec![
            call("list_files", json!({})),
            call("read_file", json!({ "path": "a.csv" })),
            say("done"),
        ])
        .await;
    assert_eq!(
        bench.service.run_to_stop(&task).await.unwrap().status,
        TaskStatus::Completed,
        "reading asks nobody"
    );
    let records = bench.service.task_events(&task, 0).await.unwrap();
    let numbers: Vec<i64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>(), "numbers within a task have no gaps");
    assert!(matches!(records[0].event, Event::TaskCreated { .. }), "the record begins with the task");
    let audit = bench.service.verify_audit().await.unwrap();
    assert!(
        audit.intact && audit.entries >= numbers.len() as i64,
        "the chain over everything holds: {audit:?}"
    );
}

#[tokio::test]
async fn a_denied_path_never_reaches_a_tool() {
    let bench = Bench::new().await;
    let task = bench.start(vec![call("read_file", json!({ "path": "../secret.txt" })), say("cannot")]).await;
    bench.service.run_to_stop(&task).await.unwrap();
    let events = bench.events(&task).await;
    assert!(
        events.iter().any(|event| matches!(event, Event::PolicyDenied { code: ErrorCode::PathParent, .. })),
        "the guard's refusal is an event of its own"
    );
    assert!(
        !events.iter().any(|event| matches!(event, Event::ToolStarted { .. })),
        "the tool was never started"
    );
}

#[tokio::test]
async fn stopping_a_waiting_task_voids_its_card() {
    let bench = Bench::new().await;
    let (task, card) = bench.to_card(vec![write_step("a.md", "x\n"), say("done")]).await;
    bench.service.cancel_task(&task).await.unwrap();
    assert_eq!(bench.service.task(&task).await.unwrap().status, TaskStatus::Cancelled, "it stops at once");
    assert_eq!(
        bench.service.approval(&card).await.unwrap().state,
        ApprovalState::Void,
        "its card can no longer be approved"
    );
    assert_eq!(bench.manifest(), vec![], "nothing was written");
    let again = bench.service.cancel_task(&task).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::TaskState, "a task that ended cannot be stopped again");
}

#[tokio::test]
async fn a_task_that_runs_out_of_steps_says_so() {
    let bench = Bench::new().await;
    bench.write("a.md", "x\n");
    let steps = (0..5).map(|n| call("read_file", json!({ "path": "a.md", "offset": n }))).collect();
    let intake = TaskIntake {
        goal: "read".to_owned(),
        workspace: bench.workspace.clone(),
        channel: Channel::Cli,
        session: None,
        follow_up_of: None,
        provider: Some(ProviderChoice::Scripted {
            label: "t".to_owned(),
            script: Script { version: 1, steps },
        }),
        limits: Some(TaskLimits { max_steps: 3, ..TaskLimits::default() }),
    };
    let task = pilot_types::TaskId::from_text(bench.service.create_task(intake).await.unwrap().id);
    let stop = bench.service.run_to_stop(&task).await.unwrap();
    assert_eq!(
        (stop.status, stop.code),
        (TaskStatus::Failed, Some(ErrorCode::StepLimit)),
        "failed, with its code"
    );
    let said = bench.events(&task).await.into_iter().any(|event| match event {
        Event::StatusChanged { status: TaskStatus::Failed, detail: Some(detail), .. } => !detail.is_empty(),
        _ => false,
    });
    assert!(said, "and says what was left undone");
}

#[tokio::test]
async fn content_for_another_computer_asks_once_per_workspace_and_provider() {
    let bench = Bench::new().await;
    let provider = pilot_service::view::ProviderRequest {
        name: "far".to_owned(),
        base_url: "https://models.invalid/v1".to_owned(),
        model: "m".to_owned(),
    };
    bench.service.save_provider(provider).await.unwrap();
    let intake = TaskIntake {
        goal: "read".to_owned(),
        workspace: bench.workspace.clone(),
        channel: Channel::Chat,
        session: None,
        follow_up_of: None,
        provider: Some(bench.service.provider_named("far").await.unwrap()),
        limits: None,
    };
    let error = bench.service.create_task(intake.clone()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConsentRequired, "nothing leaves before the person was asked");
    assert_eq!(error.subject(), Some("models.invalid"), "and is told where it would go");
    bench.service.give_consent(&bench.workspace, "far").await.unwrap();
    bench.service.create_task(intake).await.expect("asked once, not again");
    let plain = pilot_service::view::ProviderRequest {
        name: "plain".to_owned(),
        base_url: "http://models.invalid/v1".to_owned(),
        model: "m".to_owned(),
    };
    let error = bench.service.save_provider(plain).await.unwrap_err();
    assert_eq!(
        error.code(),
        ErrorCode::SettingsInvalid,
        "content does not travel unencrypted to another computer"
    );
}

#[tokio::test]
async fn settings_that_would_stop_everything_are_refused() {
    let bench = Bench::new().await;
    let wrong = SettingsView { tokens_per_task: Some(0), ..SettingsView::default() };
    assert_eq!(
        bench.service.save_settings(&wrong).await.unwrap_err().code(),
        ErrorCode::SettingsInvalid,
        "a cap of 0 cannot be"
    );
    let right = SettingsView { tokens_per_task: Some(1_000), ..SettingsView::default() };
    bench.service.save_settings(&right).await.unwrap();
    assert_eq!(bench.service.settings().await.unwrap(), right, "settings read back whole");
}

#[tokio::test]
async fn a_workspace_cannot_be_too_wide_or_hold_the_data_folder() {
    let bench = Bench::new().await;
    let root = bench.service.add_workspace(std::path::Path::new("/"), None).await.unwrap_err();
    assert_eq!(root.code(), ErrorCode::WorkspaceTooWide, "the whole disk is no workspace");
    let data = bench.service.add_workspace(bench.data(), None).await.unwrap_err();
    assert_eq!(data.code(), ErrorCode::WorkspaceHoldsData, "the data folder is no workspace");
    let none = bench.service.add_workspace(&bench.root.join("nothing"), None).await.unwrap_err();
    assert_eq!(none.code(), ErrorCode::WorkspaceNotFolder, "a folder that is not there is said");
}

#[tokio::test]
async fn removing_a_workspace_leaves_the_disk_alone() {
    let bench = Bench::new().await;
    bench.write("a.md", "x\n");
    let before = bench.manifest();
    bench.service.remove_workspace(&bench.workspace).await.unwrap();
    assert_eq!(bench.manifest(), before, "files stay");
    assert!(bench.service.workspaces().await.unwrap().is_empty(), "it is off the list");
    bench.service.add_workspace(&bench.root, None).await.unwrap();
    assert_eq!(bench.service.workspaces().await.unwrap().len(), 1, "and can be added again");
}

#[tokio::test]
async fn a_guest_sees_and_stops_the_owners_task() {
    let bench = Bench::new().await;
    let (task, _) = bench.to_card(vec![write_step("a.md", "x\n"), say("done")]).await;
    let guest = Service::open(options(bench.data())).await.unwrap();
    assert!(bench.service.is_owner() && !guest.is_owner(), "one process owns the data folder");
    assert_eq!(
        guest.task(&task).await.unwrap().status,
        TaskStatus::WaitingApproval,
        "recovery touches only dead processes"
    );
    guest.cancel_task(&task).await.unwrap();
    assert_eq!(
        bench.service.task(&task).await.unwrap().status,
        TaskStatus::Cancelled,
        "processes meet in the database"
    );
}
