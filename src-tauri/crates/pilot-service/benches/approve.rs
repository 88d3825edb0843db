//! From a person's yes to a file that is durable and recorded, beside what the disk charges for it: a commit, an atomic
//! replacement and another commit, by the same store and on the same disk. `cargo bench -p pilot-service`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot be set up has nothing to measure")]
#![allow(
    clippy::disallowed_methods,
    reason = "the bench makes its own folder, and the floor writes by itself"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use pilot_service::{Approve, Decider, Keys, Notice, OpenOptions, Service};
use pilot_store::{DataDir, Store, settings};
use pilot_types::{
    ApprovalId, Channel, Event, ProviderChoice, Script, ScriptStep, ScriptedCall, TaskId, TaskIntake,
    TaskStatus, WorkspaceId,
};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A report of a usual size, 4 KiB.
fn report(round: u64) -> String {
    format!("# Report {round}\n\n{}", "| Acme Ltd | 1,200.00 | CNY |\n".repeat(135))
}

async fn card(service: &Service, workspace: &WorkspaceId, round: u64) -> (TaskId, ApprovalId) {
    let arguments = serde_json::json!({ "path": "report.md", "content": report(round) });
    let call = ScriptedCall { name: "write_file".to_owned(), arguments };
    let asks = ScriptStep { tool_calls: vec![call], ..ScriptStep::default() };
    let ends = ScriptStep { text: "Done.".to_owned(), ..ScriptStep::default() };
    let script = Script { version: 1, steps: vec![asks, ends] };
    let intake = TaskIntake {
        goal: "write the report".to_owned(),
        workspace: workspace.clone(),
        channel: Channel::Cli,
        session: None,
        follow_up_of: None,
        provider: Some(ProviderChoice::Scripted { label: "bench".to_owned(), script }),
        limits: None,
    };
    let task = TaskId::from_text(service.create_task(intake).await.unwrap().id);
    let stop = service.run_to_stop(&task).await.unwrap();
    assert_eq!(stop.status, TaskStatus::WaitingApproval, "the script asks to write");
    let card = ApprovalId::from_text(service.task(&task).await.unwrap().waiting_approval.unwrap());
    (task, card)
}

/// Each yes replaces the report of the one before.
fn approve(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (data, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut options = OpenOptions::new(data.path()).unwrap();
    options.home = None;
    options.skills_dir = None;
    options.keys = Keys::memory_only();
    let service = runtime.block_on(Service::open(options)).unwrap();
    let workspace = runtime.block_on(service.add_workspace(root.path(), None)).unwrap();
    let workspace = WorkspaceId::from_text(workspace.id);
    let mut round = 0;
    let mut group = c.benchmark_group("approve");
    group.bench_function("yes_to_durable", |b| {
        b.iter_custom(|times| {
            let mut spent = Duration::ZERO;
            for _ in 0..times {
                round += 1;
                let (task, id) = runtime.block_on(card(&service, &workspace, round));
                let yes = Approve { id, shown: None, arguments: None, by: Decider::Cli };
                let mut notices = service.subscribe();
                let started = Instant::now();
                let approving = runtime.spawn({
                    let service = service.clone();
                    async move { service.approve(yes).await }
                });
                // Told only after the commit: from here on it survives a power cut. Drawing the decided card follows.
                runtime.block_on(async { while !is_done(&notices.recv().await.unwrap()) {} });
                spent += started.elapsed();
                runtime.block_on(approving).unwrap().unwrap();
                // One task at a time works in a folder: this one comes to its end before the next begins.
                runtime.block_on(service.run_to_stop(&task)).unwrap();
            }
            spent
        });
    });
    let stands = fs::read_to_string(root.path().join("report.md")).unwrap();
    assert_eq!(stands, report(round), "the last yes was really carried out");

    let floor = TempDir::new().unwrap();
    let store = runtime.block_on(Store::open(&DataDir::open(floor.path().join("data")).unwrap())).unwrap();
    let mut round = 0;
    group.bench_function("floor/commit_replace_commit", |b| {
        b.iter(|| {
            round += 1;
            runtime.block_on(commit(&store, round));
            replace(floor.path(), report(round).as_bytes());
            runtime.block_on(commit(&store, round));
        });
    });
    group.finish();
}

fn is_done(notice: &Notice) -> bool {
    matches!(notice, Notice::Recorded(record) if matches!(record.event, Event::ExecutionFinished { .. }))
}

async fn commit(store: &Store, round: u64) {
    let mut tx = store.begin().await.unwrap();
    settings::set(&mut tx, "round", &report(round)).await.unwrap();
    tx.commit().await.unwrap();
}

/// A file put in the place of another so that either is whole after a power cut.
fn replace(folder: &Path, bytes: &[u8]) {
    let temp = folder.join(".temp");
    let mut file = File::create_new(&temp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    fs::rename(&temp, folder.join("report.md")).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
}

criterion_group!(benches, approve);
criterion_main!(benches);
