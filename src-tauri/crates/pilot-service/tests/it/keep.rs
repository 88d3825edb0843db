//! Deleting by hand and by age, backups, the file for support.

use crate::support::{Bench, call, options, say, write_step, yes};
use chrono::{TimeDelta, Utc};
use pilot_service::view::SettingsView;
use pilot_service::{Service, restore};
use pilot_types::{ErrorCode, TaskId, TaskStatus};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const CANARY: &str = "CANARY-41c07e";

/// Every file below a folder that holds the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A task that wrote over a file, with the canary in all its words.
async fn written(bench: &Bench) -> TaskId {
    bench.write("a.md", "before\n");
    let steps = vec![write_step("a.md", &format!("{CANARY}\n")), say(CANARY)];
    let (task, card) = bench.to_card(steps).await;
    bench.service.approve(yes(&card)).await.unwrap();
    bench.service.run_to_stop(&task).await.unwrap();
    task
}

#[tokio::test]
async fn a_deleted_task_is_gone_from_every_file_and_the_chain_holds() {
    let bench = Bench::new().await;
    let task = written(&bench).await;
    assert!(!files_with(bench.data(), CANARY).is_empty(), "the control: the words are there before");
    let said = bench.service.deletion(&task).await.unwrap();
    assert!(
        said.entries > 5 && said.cards == 1 && said.kept_versions == 1,
        "what goes is said before: {said:?}"
    );
    assert_eq!(said.files, ["a.md"], "and which files stay");
    bench.service.delete_task(&task).await.unwrap();
    assert_eq!(
        files_with(bench.data(), CANARY),
        Vec::<String>::new(),
        "no file of the data folder holds them now"
    );
    assert_eq!(bench.service.data_usage().await.unwrap().undo_entries, 0, "the replaced version went along");
    assert_eq!(bench.read("a.md").as_deref(), Some("CANARY-41c07e\n"), "the file in the folder stays");
    let audit = bench.service.verify_audit().await.unwrap();
    assert!(audit.intact, "the chain still holds: {audit:?}");
    let gone = bench.service.delete_task(&task).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::TaskNotFound, "it cannot be deleted twice");
    assert!(
        bench.service.sessions(Default::default()).await.unwrap().is_empty(),
        "an empty conversation goes too"
    );
}

#[tokio::test]
async fn deleting_a_task_leaves_what_the_person_can_still_take_back() {
    let bench = Bench::new().await;
    for text in ["before\n", "after\n"] {
        bench.service.edit_memory(&bench.workspace, None, text.to_owned()).await.unwrap();
    }
    let kept = bench.service.data_usage().await.unwrap().undo_entries;
    let task = written(&bench).await;
    let usage = bench.service.data_usage().await.unwrap();
    assert_eq!(usage.undo_entries, kept, "the task replaced the same content as the person did");
    bench.service.delete_task(&task).await.unwrap();
    let usage = bench.service.data_usage().await.unwrap();
    assert_eq!(usage.undo_entries, kept, "the person's own edit can still be taken back with it");
}

#[tokio::test]
async fn a_task_that_waits_cannot_be_deleted() {
    let bench = Bench::new().await;
    let (task, card) = bench.to_card(vec![write_step("a.md", "x\n"), say("done")]).await;
    assert_eq!(bench.service.deletion(&task).await.unwrap_err().code(), ErrorCode::TaskState, "said before");
    assert_eq!(
        bench.service.delete_task(&task).await.unwrap_err().code(),
        ErrorCode::TaskState,
        "and refused"
    );
    bench.service.approve(yes(&card)).await.expect("its card is still there");
}

#[tokio::test]
async fn age_deletes_what_the_settings_say_and_by_default_nothing() {
    let bench = Bench::new().await;
    let done = written(&bench).await;
    let (waiting, _) = bench.to_card(vec![write_step("b.md", "x\n"), say("done")]).await;
    let later = Utc::now() + TimeDelta::days(40);
    assert_eq!(bench.service.apply_retention(later).await.unwrap(), 0, "by default all is kept");
    let settings = SettingsView { task_days: Some(30), log_days: Some(30), ..SettingsView::default() };
    bench.service.save_settings(&settings).await.unwrap();
    assert_eq!(bench.service.apply_retention(Utc::now()).await.unwrap(), 0, "young tasks stay");
    let logs = bench.service.log_dir();
    std::fs::write(logs.join("pocketpilot.1.log"), "old").unwrap();
    std::fs::write(logs.join("pocketpilot.2.log"), "in use").unwrap();
    assert_eq!(bench.service.apply_retention(later).await.unwrap(), 1, "the one that ended goes");
    assert_eq!(std::fs::read_dir(&logs).unwrap().count(), 1, "and the old log, but not the one in use");
    assert_eq!(bench.service.task(&done).await.unwrap_err().code(), ErrorCode::TaskNotFound, "it is gone");
    assert_eq!(
        bench.service.task(&waiting).await.unwrap().status,
        TaskStatus::WaitingApproval,
        "one that waits stays, however old"
    );
    assert!(bench.service.verify_audit().await.unwrap().intact, "the chain still holds");
    bench.service.clear_logs().await.unwrap();
    assert_eq!(bench.service.data_usage().await.unwrap().log_bytes, 0, "by hand the newest is emptied too");
    let wrong = SettingsView { task_days: Some(0), ..SettingsView::default() };
    assert_eq!(
        bench.service.save_settings(&wrong).await.unwrap_err().code(),
        ErrorCode::SettingsInvalid,
        "0 days cannot be"
    );
}

#[tokio::test]
async fn other_limits_of_the_undo_store_hold_at_once() {
    let bench = Bench::new().await;
    bench.write("big.md", &"0123456789abcdef".repeat(100_000));
    let small = SettingsView { undo_bytes: 1 << 20, ..SettingsView::default() };
    bench.service.save_settings(&small).await.unwrap();
    let (first, card) = bench.to_card(vec![write_step("big.md", "x\n"), say("done")]).await;
    let refused = bench.service.approve(yes(&card)).await;
    let view = bench.service.approval(&card).await.unwrap();
    assert_eq!(
        view.code,
        Some(ErrorCode::TooLarge),
        "what could not be kept is not replaced, by the limit of a moment ago: {refused:?}"
    );
    bench.service.run_to_stop(&first).await.unwrap();
    let task = written(&bench).await;
    let artifact = bench.service.task_detail(&task).await.unwrap().artifacts.remove(0);
    bench.service.clear_undo().await.unwrap();
    let gone = bench.service.undo(&pilot_types::ArtifactId::from_text(artifact.id)).await.unwrap_err();
    assert_eq!(
        gone.code(),
        ErrorCode::UndoMissing,
        "what was cleared cannot be taken back, and that is said"
    );
}

#[tokio::test]
async fn a_backup_is_put_back_whole_and_what_was_there_is_kept() {
    let bench = Bench::new().await;
    let task = written(&bench).await;
    let place = TempDir::new().unwrap();
    let zip = place.path().join("all.zip");
    let made = bench.service.back_up(&zip, true, false).await.unwrap();
    assert_eq!((made.tasks, made.undo_entries), (1, 1), "it says what is in it");
    let taken = bench.service.back_up(&zip, true, false).await.unwrap_err();
    assert_eq!(taken.code(), ErrorCode::AlreadyExists, "never over a file that is there");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "and nothing half is left beside it");
    let open = restore(bench.data(), &zip).await.unwrap_err();
    assert_eq!(open.code(), ErrorCode::DatabaseLocked, "not under a living process");

    bench.service.delete_task(&task).await.unwrap();
    let data = bench.data().to_path_buf();
    let Bench { service, root, _data, _root, .. } = bench;
    service.close().await;
    let (_, kept) = restore(&data, &zip).await.unwrap();
    assert!(kept.is_some_and(|kept| kept.exists()), "the data that was there is kept aside");
    let service = Service::open(options(&data)).await.unwrap();
    let detail = service.task_detail(&task).await.expect("the task is back");
    service.undo(&pilot_types::ArtifactId::from_text(detail.artifacts[0].id.clone())).await.unwrap();
    assert_eq!(
        std::fs::read_to_string(root.join("a.md")).unwrap(),
        "before\n",
        "with the version that it replaced"
    );
    assert!(service.verify_audit().await.unwrap().intact, "and the record is whole");
}

#[tokio::test]
async fn what_is_no_whole_backup_changes_nothing() {
    let bench = Bench::new().await;
    let task = written(&bench).await;
    let place = TempDir::new().unwrap();
    let zip = place.path().join("all.zip");
    bench.service.back_up(&zip, false, false).await.unwrap();
    let whole = std::fs::read(&zip).unwrap();
    let mut cases: Vec<(String, Vec<u8>)> =
        vec![("no zip".to_owned(), b"hello".to_vec()), ("empty".to_owned(), Vec::new())];
    for part in 1..8 {
        cases.push((format!("cut at {part}/8"), whole[..whole.len() * part / 8].to_vec()));
    }
    for part in 1..32 {
        let mut flipped = whole.clone();
        let at = whole.len() * part / 32;
        flipped[at] ^= 0x10;
        cases.push((format!("a bit flipped at {at}"), flipped));
    }
    let wrong = place.path().join("wrong.zip");
    let (mut refused, mut harmless) = (0, 0);
    for (what, bytes) in cases {
        std::fs::write(&wrong, bytes).unwrap();
        match bench.service.look_at_backup(&wrong).await {
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::BackupInvalid, "{what}: {error}");
                refused += 1;
            }
            // A bit of a time or of an attribute says nothing about the content.
            Ok(_) => harmless += 1,
        }
    }
    assert!(refused > 30 && harmless < 8, "damage is seen: {refused} refused, {harmless} without effect");
    bench.service.cancel_restore().unwrap();
    let nothing = bench.service.confirm_restore().await.unwrap_err();
    assert_eq!(nothing.code(), ErrorCode::BackupInvalid, "nothing that was refused can be put back");
    assert!(bench.service.task(&task).await.is_ok(), "and the data is as it was");
}

#[tokio::test]
async fn the_window_puts_a_backup_back_at_the_next_start() {
    let bench = Bench::new().await;
    let task = written(&bench).await;
    let place = TempDir::new().unwrap();
    let zip = place.path().join("all.zip");
    bench.service.back_up(&zip, false, false).await.unwrap();
    bench.service.delete_task(&task).await.unwrap();
    bench.service.look_at_backup(&zip).await.unwrap();
    let data = bench.data().to_path_buf();
    let guest = Service::open(options(&data)).await.unwrap();
    let refused = bench.service.confirm_restore().await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DatabaseLocked, "not while another process is open");
    guest.close().await;
    bench.service.confirm_restore().await.unwrap();
    assert_eq!(
        bench.service.task(&task).await.unwrap_err().code(),
        ErrorCode::TaskNotFound,
        "nothing happens yet"
    );
    let Bench { service, _data, .. } = bench;
    service.close().await;
    let service = Service::open(options(&data)).await.unwrap();
    assert!(service.task(&task).await.is_ok(), "the next start opens the backup");
    assert!(service.verify_audit().await.unwrap().intact, "with a whole record");
}

#[tokio::test]
async fn the_support_file_holds_no_content() {
    let (data, parent) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let root = parent.path().join(format!("{CANARY}-folder"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join(format!("{CANARY}.csv")), format!("{CANARY}\n")).unwrap();
    let service = Service::open(options(data.path())).await.unwrap();
    service.add_workspace(&root, None).await.unwrap();
    let provider = pilot_service::view::ProviderRequest {
        name: format!("{CANARY}-name"),
        kind: pilot_service::view::ProviderKind::OpenAiCompatible,
        base_url: format!("https://{}.invalid/v1", CANARY.to_lowercase()),
        model: format!("{CANARY}-model"),
    };
    service.save_provider(provider).await.unwrap();
    service.save_key(&format!("{CANARY}-name"), format!("{CANARY}-key").into()).await;
    let workspace = pilot_types::WorkspaceId::from_text(service.workspaces().await.unwrap()[0].id.clone());
    let script = pilot_types::Script {
        version: 1,
        steps: vec![
            call("read_file", json!({ "path": format!("{CANARY}.csv") })),
            call(&format!("{CANARY}_tool"), json!({ "path": CANARY })),
            write_step(&format!("{CANARY}.md"), CANARY),
            say(CANARY),
        ],
    };
    let intake = pilot_types::TaskIntake {
        goal: format!("{CANARY} goal"),
        workspace,
        channel: pilot_types::Channel::Chat,
        session: None,
        follow_up_of: None,
        provider: Some(pilot_types::ProviderChoice::Scripted { label: CANARY.to_owned(), script }),
        limits: None,
    };
    let task = TaskId::from_text(service.create_task(intake).await.unwrap().id);
    service.run_to_stop(&task).await.unwrap();
    std::fs::remove_dir_all(&root).unwrap();
    assert!(!files_with(data.path(), CANARY).is_empty(), "the control: the data folder is full of it");

    let file = parent.path().join("support.json");
    service.write_support_file(file.clone(), false).await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let lower = text.to_lowercase();
    for secret in
        [CANARY.to_lowercase(), parent.path().display().to_string(), data.path().display().to_string()]
    {
        assert!(
            !lower.contains(&secret.to_lowercase()),
            "no goal, name, path, word or key: {secret}\n{text}"
        );
    }
    let bundle: serde_json::Value = serde_json::from_str(&text).unwrap();
    let counts = bundle["database"]["counts"].to_string();
    for wanted in ["tasks.waiting_approval", "approvals.pending", "events.tool_result", "unknown_tool"] {
        assert!(counts.contains(wanted), "but it says {wanted}: {counts}");
    }
    let again = service.write_support_file(file, false).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::AlreadyExists, "never over a file that is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_old_goes_by_itself_once_the_settings_say_so() {
    let (data, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let clock = Arc::new(pilot_testkit::FixedClock::at_text("2026-03-01T08:00:00Z"));
    let mut with_clock = options(data.path());
    with_clock.clock = clock.clone();
    let service = Service::open(with_clock).await.unwrap();
    let workspace = service.add_workspace(root.path(), None).await.unwrap();
    let intake = pilot_types::TaskIntake {
        goal: "look".to_owned(),
        workspace: pilot_types::WorkspaceId::from_text(workspace.id),
        channel: pilot_types::Channel::Cli,
        session: None,
        follow_up_of: None,
        provider: Some(pilot_types::ProviderChoice::Scripted {
            label: "t".to_owned(),
            script: pilot_types::Script { version: 1, steps: vec![say("done")] },
        }),
        limits: None,
    };
    let task = TaskId::from_text(service.create_task(intake).await.unwrap().id);
    service.run_to_stop(&task).await.unwrap();
    clock.advance(Duration::from_secs(40 * 24 * 60 * 60));
    let background = service.start_background();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(service.task(&task).await.is_ok(), "the control: by default it stays, however old");
    let settings = SettingsView { task_days: Some(30), ..SettingsView::default() };
    service.save_settings(&settings).await.unwrap();
    let mut gone = false;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        gone = service.task(&task).await.is_err();
        if gone {
            break;
        }
    }
    assert!(gone, "the setting holds at once, not at the next start");
    background.shutdown(Duration::from_secs(2)).await;
    assert!(service.verify_audit().await.unwrap().intact, "and the chain holds");
}
