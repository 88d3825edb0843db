//! A slot is decided once, and a token opens its channel until it is revoked, whoever else tries at the same moment.

use crate::support::{at, place, task, workspace};
use pilot_store::{ChannelRow, RunRow, ScheduleRow, Store, channels, schedules, tasks, workspaces};
use pilot_types::{ChannelId, Digest, ErrorCode, ScheduleId, SlotState, TaskStatus, WorkspaceId};

fn schedule(id: &str) -> ScheduleRow {
    ScheduleRow {
        id: ScheduleId::from_text(id),
        workspace: WorkspaceId::from_text("w"),
        rule: "0 9 * * 1-5".to_owned(),
        zone: Some("Asia/Shanghai".to_owned()),
        goal: "汇总发票".to_owned(),
        provider: None,
        paused: false,
        looked_at: at(0),
        created_at: at(0),
        updated_at: at(0),
        removed_at: None,
    }
}

fn run(slot: Option<i64>, state: SlotState) -> RunRow {
    RunRow {
        schedule: ScheduleId::from_text("s"),
        slot: slot.map(at),
        state,
        task: None,
        code: None,
        since: None,
        upto: None,
        slots: 1,
        more: false,
        at: at(1),
    }
}

async fn filled(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    workspaces::insert(&mut tx, &workspace("w")).await.unwrap();
    schedules::insert(&mut tx, &schedule("s")).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_that_look_one_decides_a_slot() {
    let place = place();
    let first = Store::open(&place.data).await.unwrap();
    filled(&first).await;
    // Stores of their own, as of several processes.
    let mut looks = Vec::new();
    for number in 0..8 {
        let store = Store::open(&place.data).await.unwrap();
        looks.push(tokio::spawn(async move {
            let mut tx = store.begin().await.unwrap();
            let id = ScheduleId::from_text("s");
            let advanced = schedules::advance(&mut tx, &id, at(0), at(60)).await.unwrap();
            let noted = schedules::note(&mut tx, &run(Some(30), SlotState::Started)).await.unwrap();
            let manual = schedules::note(&mut tx, &run(None, SlotState::ByHand)).await.unwrap();
            tx.commit().await.unwrap();
            (number, advanced, noted, manual)
        }));
    }
    let mut all = Vec::new();
    for look in looks {
        all.push(look.await.unwrap());
    }
    assert_eq!(all.iter().filter(|look| look.1).count(), 1, "one look moves on: {all:?}");
    assert_eq!(all.iter().filter(|look| look.2).count(), 1, "one slot is one row: {all:?}");
    assert_eq!(
        all.iter().filter(|look| look.3).count(),
        8,
        "the control: runs by hand are not slots: {all:?}"
    );
    let mut reader = first.read().await.unwrap();
    let id = ScheduleId::from_text("s");
    assert!(schedules::is_decided(&mut reader, &id, at(30)).await.unwrap(), "the slot is decided");
    assert!(!schedules::is_decided(&mut reader, &id, at(31)).await.unwrap(), "another one is not");
    assert_eq!(schedules::runs(&mut reader, &id, 100).await.unwrap().len(), 9, "nothing else was noted");
}

#[tokio::test]
async fn a_schedule_reads_back_and_a_pause_stops_looks() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    filled(&store).await;
    let mut tx = store.begin().await.unwrap();
    let mut row = schedule("s");
    assert_eq!(schedules::get(&mut tx, &row.id).await.unwrap(), Some(row.clone()), "as it was stored");
    row.paused = true;
    row.rule = "@daily".to_owned();
    assert!(schedules::update(&mut tx, &row).await.unwrap(), "changed");
    assert!(
        !schedules::advance(&mut tx, &row.id, at(0), at(60)).await.unwrap(),
        "a paused one is not looked at"
    );
    schedules::look_from_now(&mut tx, at(99)).await.unwrap();
    assert_eq!(schedules::list(&mut tx).await.unwrap(), [row.clone()], "nor moved");
    assert!(schedules::remove(&mut tx, &row.id, at(5)).await.unwrap(), "removed");
    assert!(!schedules::remove(&mut tx, &row.id, at(6)).await.unwrap(), "once");
    assert!(!schedules::update(&mut tx, &row).await.unwrap(), "and cannot be changed any more");
    assert!(schedules::list(&mut tx).await.unwrap().is_empty(), "it is off the list");
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn what_waits_is_counted_and_what_is_interrupted_is_not() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    filled(&store).await;
    let mut tx = store.begin().await.unwrap();
    let id = ScheduleId::from_text("s");
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let row = task(name, "w", number as i64);
        tasks::insert(&mut tx, &row).await.unwrap();
        let mut by_hand = run(None, SlotState::ByHand);
        by_hand.task = Some(row.id.clone());
        schedules::note(&mut tx, &by_hand).await.unwrap();
    }
    assert_eq!(schedules::waiting(&mut tx, &id).await.unwrap(), 3, "three wait their turn");
    let a = task("a", "w", 0).id;
    tasks::set_status(&mut tx, &a, &[TaskStatus::Queued], TaskStatus::Running, None).await.unwrap();
    assert_eq!(schedules::waiting(&mut tx, &id).await.unwrap(), 2, "one that runs does not wait");
    assert_eq!(schedules::unfinished(&mut tx, &id).await.unwrap(), Some(a.clone()), "but is not finished");
    tasks::set_status(&mut tx, &a, &[TaskStatus::Running], TaskStatus::Interrupted, None).await.unwrap();
    let next = schedules::unfinished(&mut tx, &id).await.unwrap();
    assert_eq!(next, Some(task("b", "w", 1).id), "an interrupted one counts as finished");
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_revoked_channel_accepts_nothing_and_counts_stay() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    filled(&store).await;
    let row = ChannelRow {
        id: ChannelId::from_text("c"),
        workspace: WorkspaceId::from_text("w"),
        name: "扫描".to_owned(),
        token: Digest::of(b"token"),
        created_at: at(0),
        revoked_at: None,
        accepted: 0,
        accepted_at: None,
        refused: 0,
        refused_at: None,
        refused_code: None,
    };
    let mut tx = store.begin().await.unwrap();
    channels::insert(&mut tx, &row).await.unwrap();
    let (first, second) = (task("a", "w", 0), task("b", "w", 1));
    tasks::insert(&mut tx, &first).await.unwrap();
    tasks::insert(&mut tx, &second).await.unwrap();
    assert!(channels::accept(&mut tx, &row.id, &first.id, at(1)).await.unwrap(), "an open one accepts");
    channels::refuse(&mut tx, &row.id, 3, ErrorCode::TokenRefused, at(2)).await.unwrap();
    let now = channels::open(&mut tx, &row.id).await.unwrap().unwrap();
    assert_eq!((now.accepted, now.refused), (1, 3), "both are counted");
    assert_eq!(now.refused_code, Some(ErrorCode::TokenRefused), "with the last reason");
    assert_eq!(channels::waiting(&mut tx, &row.id).await.unwrap(), 1, "its task waits");
    assert_eq!(channels::last_task(&mut tx, &row.id).await.unwrap(), Some(first.id), "and is its newest");
    assert!(channels::revoke(&mut tx, &row.id, at(3)).await.unwrap(), "revoked");
    assert!(!channels::revoke(&mut tx, &row.id, at(4)).await.unwrap(), "once");
    assert!(
        !channels::accept(&mut tx, &row.id, &second.id, at(5)).await.unwrap(),
        "a revoked one accepts nothing"
    );
    assert!(channels::open(&mut tx, &row.id).await.unwrap().is_none(), "and is found no more");
    assert!(channels::list(&mut tx).await.unwrap().is_empty(), "nor listed");
    tx.commit().await.unwrap();
}
