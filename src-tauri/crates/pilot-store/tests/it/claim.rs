//! Who may run: one in a workspace, a few over all, first in first out.

use crate::support::{place, task, workspace};
use pilot_store::{Store, tasks, workspaces};
use pilot_types::{ProcessId, Task, TaskId, TaskStatus, WorkspaceId};
use std::collections::BTreeMap;

fn process(name: &str) -> ProcessId {
    ProcessId::from_text(name)
}

async fn store_with(list: &[Task]) -> Store {
    let store = Store::open_in_memory().await.unwrap();
    fill(&store, list).await;
    store
}

async fn fill(store: &Store, list: &[Task]) {
    let mut tx = store.begin().await.unwrap();
    for name in ["w1", "w2", "w3", "w4", "w5", "w6"] {
        workspaces::insert(&mut tx, &workspace(name)).await.unwrap();
    }
    for task in list {
        tasks::insert(&mut tx, task).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn claim(store: &Store, id: &str) -> bool {
    let mut tx = store.begin().await.unwrap();
    let claimed = tasks::claim(&mut tx, &TaskId::from_text(id), &process("p1"), 4).await.unwrap();
    tx.commit().await.unwrap();
    claimed
}

async fn settle(store: &Store, id: &str, to: TaskStatus) {
    let mut tx = store.begin().await.unwrap();
    let moved =
        tasks::set_status(&mut tx, &TaskId::from_text(id), &[TaskStatus::Running], to, None).await.unwrap();
    assert!(moved, "{id} was running");
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn one_runs_in_a_workspace_in_the_order_they_came() {
    let store =
        store_with(&[task("b", "w1", 2), task("a", "w1", 1), task("c", "w1", 2), task("d", "w2", 9)]).await;
    assert!(!claim(&store, "b").await, "an older one waits before it");
    assert!(claim(&store, "a").await, "the oldest goes first");
    assert!(!claim(&store, "a").await, "a running one is not claimed again");
    assert!(!claim(&store, "b").await, "the workspace is busy");
    assert!(claim(&store, "d").await, "another workspace is free");
    settle(&store, "a", TaskStatus::WaitingApproval).await;
    assert!(!claim(&store, "c").await, "at the same time the smaller id goes first");
    assert!(claim(&store, "b").await, "a waiting task holds no place");
    assert!(!claim(&store, "a").await, "a waiting task is not claimed");
    assert!(!claim(&store, "nobody").await, "what is not there is not claimed");
    let mut reader = store.read().await.unwrap();
    assert!(tasks::workspace_busy(&mut reader, &WorkspaceId::from_text("w1")).await.unwrap(), "b runs there");
    assert!(
        !tasks::workspace_busy(&mut reader, &WorkspaceId::from_text("w3")).await.unwrap(),
        "nothing runs there"
    );
    let mine: Vec<TaskId> = tasks::running_of(&mut reader, &process("p1"))
        .await
        .unwrap()
        .into_iter()
        .map(|task| task.id)
        .collect();
    assert_eq!(mine, [TaskId::from_text("b"), TaskId::from_text("d")], "what this process runs");
}

#[tokio::test]
async fn four_run_over_all() {
    let list: Vec<Task> =
        (1..=6).map(|index| task(&format!("t{index}"), &format!("w{index}"), index)).collect();
    let store = store_with(&list).await;
    for id in ["t1", "t2", "t3", "t4"] {
        assert!(claim(&store, id).await, "{id} has a place");
    }
    assert!(!claim(&store, "t5").await, "the fifth waits");
    settle(&store, "t2", TaskStatus::Completed).await;
    assert!(claim(&store, "t5").await, "a place is free again");
    assert!(!claim(&store, "t6").await, "and taken");
}

#[tokio::test]
async fn next_is_the_oldest_of_this_process_that_could_run() {
    let store = store_with(&[
        Task { process: Some(process("p2")), ..task("a", "w1", 1) },
        task("b", "w1", 2),
        task("c", "w2", 3),
        task("d", "w3", 4),
        Task { process: None, ..task("e", "w4", 0) },
    ])
    .await;
    let mut tx = store.begin().await.unwrap();
    let next = tasks::next_queued(&mut tx, &process("p1")).await.unwrap();
    assert_eq!(
        next,
        Some(TaskId::from_text("c")),
        "b stands behind another process's task, c is first in its own"
    );
    assert!(
        tasks::claim(&mut tx, &TaskId::from_text("c"), &process("p1"), 4).await.unwrap(),
        "and it can be claimed"
    );
    let next = tasks::next_queued(&mut tx, &process("p1")).await.unwrap();
    assert_eq!(next, Some(TaskId::from_text("d")), "then the next");
    let next = tasks::next_queued(&mut tx, &process("p2")).await.unwrap();
    assert_eq!(next, Some(TaskId::from_text("a")), "each process has its own");
    assert!(tasks::assign(&mut tx, &TaskId::from_text("a"), &process("p1")).await.unwrap(), "taken over");
    let next = tasks::next_queued(&mut tx, &process("p1")).await.unwrap();
    assert_eq!(next, Some(TaskId::from_text("a")), "what was taken over comes in its old turn");
    assert_eq!(
        tasks::next_queued(&mut tx, &process("p3")).await.unwrap(),
        None,
        "a process without tasks has none"
    );
}

/// Four handles claim what they can at once; after each step the rules hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rules_hold_whoever_asks() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let list: Vec<Task> = (0..60)
        .map(|index| task(&format!("t{index:02}"), &format!("w{}", index % 6 + 1), index.into()))
        .collect();
    fill(&store, &list).await;
    let mut runners = Vec::new();
    for runner in 0..4 {
        let own = Store::open(&place.data).await.unwrap();
        let ids: Vec<TaskId> = list.iter().map(|task| task.id.clone()).collect();
        runners.push(tokio::spawn(async move { run_all(&own, &process(&format!("r{runner}")), &ids).await }));
    }
    let mut ran: Vec<TaskId> = Vec::new();
    for runner in runners {
        ran.extend(runner.await.unwrap());
    }
    ran.sort();
    let all: Vec<TaskId> = list.iter().map(|task| task.id.clone()).collect();
    assert_eq!(ran, all, "every task ran once");
}

async fn run_all(store: &Store, process: &ProcessId, ids: &[TaskId]) -> Vec<TaskId> {
    let mut ran = Vec::new();
    loop {
        let mut left = false;
        for id in ids {
            let mut tx = store.begin().await.unwrap();
            let claimed = tasks::claim(&mut tx, id, process, 3).await.unwrap();
            check_rules(&tasks::by_status(&mut tx, &[TaskStatus::Running]).await.unwrap());
            left |= tasks::count_by_status(&mut tx, TaskStatus::Queued).await.unwrap() > 0;
            tx.commit().await.unwrap();
            if claimed {
                tokio::task::yield_now().await;
                let mut tx = store.begin().await.unwrap();
                let from = [TaskStatus::Running];
                assert!(
                    tasks::set_status(&mut tx, id, &from, TaskStatus::Completed, None).await.unwrap(),
                    "{id} ran"
                );
                tx.commit().await.unwrap();
                ran.push(id.clone());
            }
        }
        if !left {
            return ran;
        }
    }
}

fn check_rules(running: &[Task]) {
    assert!(running.len() <= 3, "never more than the places there are: {}", running.len());
    let mut by_workspace: BTreeMap<&WorkspaceId, u32> = BTreeMap::new();
    for task in running {
        *by_workspace.entry(&task.workspace).or_default() += 1;
    }
    assert!(by_workspace.values().all(|count| *count == 1), "never two in a workspace: {by_workspace:?}");
}
