//! The record: append-only, numbered without gaps, and one chain that shows every change.

use crate::support::{at, noted, place, seed, task};
use futures_util::TryStreamExt;
use pilot_store::{ChainCheck, Store, StoreError, events, tasks};
use pilot_types::{Digest, Event, EventRecord, Source, TaskId, canonical_json};
use proptest::prelude::*;
use serde_json::json;

async fn three_entries() -> (Store, TaskId) {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &[noted("one"), noted("two")])
        .await
        .unwrap();
    events::append(&mut tx, None, Source::Operator, at(2), &[noted("three")]).await.unwrap();
    tx.commit().await.unwrap();
    (store, task.id)
}

async fn verify(store: &Store) -> ChainCheck {
    events::verify(&mut store.read().await.unwrap()).await.unwrap()
}

#[tokio::test]
async fn entries_read_back_as_they_were_answered() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let exact = at(1) + chrono::TimeDelta::nanoseconds(789);
    let mut tx = store.begin().await.unwrap();
    let told = events::append(&mut tx, Some(&task.id), Source::Agent, exact, &[noted("一"), noted("two")])
        .await
        .unwrap();
    let own = events::append(&mut tx, None, Source::System, at(2), &[noted("three")]).await.unwrap();
    assert_eq!(
        events::append(&mut tx, None, Source::System, at(2), &[]).await.unwrap(),
        [],
        "nothing to append"
    );
    tx.commit().await.unwrap();
    let expected = EventRecord {
        position: 1,
        seq: 1,
        at: at(1),
        task: Some(task.id.clone()),
        source: Source::Agent,
        event: noted("一"),
    };
    assert_eq!(told[0], expected, "position and number from 1, time to the microsecond");
    assert_eq!((own[0].position, own[0].seq), (3, 0), "an entry of no task has no number of its own");
    let mut reader = store.read().await.unwrap();
    assert_eq!(events::of_task(&mut reader, &task.id, 0).await.unwrap(), told, "the task's record");
    assert_eq!(
        events::of_task(&mut reader, &task.id, 1).await.unwrap(),
        told[1..],
        "what came after the first"
    );
    assert_eq!(
        events::after(&mut reader, 1, 10).await.unwrap(),
        [told[1].clone(), own[0].clone()],
        "over all"
    );
    assert_eq!(events::after(&mut reader, 0, 1).await.unwrap(), told[..1], "the limit holds");
    assert_eq!(events::last_position(&mut reader).await.unwrap(), 3, "three entries");
}

#[tokio::test]
async fn the_chain_can_be_followed_from_the_export_alone() {
    let (store, _) = three_entries().await;
    let mut reader = store.read().await.unwrap();
    let entries: Vec<_> = events::export(&mut reader).try_collect().await.unwrap();
    assert_eq!(entries.len(), 3, "everything is exported");
    let mut previous = "0".repeat(64);
    for entry in entries {
        let record = entry.record.unwrap();
        let whole = canonical_json(&json!({
            "seq": record.seq,
            "at": record.at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            "task": record.task,
            "source": record.source,
            "event": serde_json::to_value(&record.event).unwrap(),
        }));
        let expected = Digest::of(format!("{previous}{whole}").as_bytes());
        assert_eq!(entry.hash, expected, "entry {} follows from the one before", entry.position);
        previous = expected.as_str().to_owned();
    }
}

#[tokio::test]
async fn the_record_refuses_to_be_changed() {
    let (store, _) = three_entries().await;
    let mut tx = store.begin().await.unwrap();
    for statement in [
        "DELETE FROM events WHERE position = 3",
        "UPDATE events SET body = '{}' WHERE position = 1",
        "UPDATE events SET hash = hash",
    ] {
        let refused = sqlx::query(statement).execute(&mut *tx).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{statement} must be refused: {refused}");
    }
    tx.commit().await.unwrap();
    assert_eq!(
        verify(&store).await,
        ChainCheck { entries: 3, erased: 0, broken_at: None },
        "nothing changed"
    );
}

#[tokio::test]
async fn every_change_behind_its_back_is_found() {
    for (statement, broken_at) in [
        ("UPDATE events SET body = replace(body, 'one', 'onf') WHERE position = 1", 1),
        ("UPDATE events SET body = body || ' ' WHERE position = 2", 2),
        ("UPDATE events SET at = at + 1 WHERE position = 2", 2),
        ("UPDATE events SET seq = 9 WHERE position = 2", 2),
        ("UPDATE events SET source = 'operator' WHERE position = 2", 2),
        ("UPDATE events SET task = 'u' WHERE position = 2", 2),
        ("UPDATE events SET task = 'u' WHERE position = 3", 3),
        ("UPDATE events SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE position = 1", 1),
        ("UPDATE events SET body = NULL, hash = 'x' WHERE position = 2", 3),
        ("DELETE FROM events WHERE position = 1", 1),
        ("DELETE FROM events WHERE position = 2", 2),
        ("DELETE FROM events WHERE position = 3", 3),
        ("DELETE FROM events", 1),
        ("UPDATE events SET position = 7 WHERE position = 3", 3),
    ] {
        let (store, _) = three_entries().await;
        let mut tx = store.begin().await.unwrap();
        sqlx::query("UPDATE retention SET allowed = 1").execute(&mut *tx).await.unwrap();
        sqlx::query(statement).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(verify(&store).await.broken_at, Some(broken_at), "{statement} must be found");
    }
}

#[tokio::test]
async fn an_append_that_was_not_committed_leaves_no_gap() {
    let (store, task) = three_entries().await;
    let mut tx = store.begin().await.unwrap();
    events::append(&mut tx, Some(&task), Source::Agent, at(3), &[noted("lost")]).await.unwrap();
    drop(tx);
    let mut tx = store.begin().await.unwrap();
    let next = events::append(&mut tx, Some(&task), Source::Agent, at(3), &[noted("kept")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((next[0].position, next[0].seq), (4, 3), "the place that was given back is used again");
    assert_eq!(verify(&store).await.broken_at, None, "and the chain holds");
}

#[tokio::test]
async fn a_reader_cannot_append() {
    let (store, _) = three_entries().await;
    let mut reader = store.read().await.unwrap();
    let refused = events::append(&mut reader, None, Source::System, at(9), &[noted("x")]).await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "a read connection only reads: {refused}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Four handles append at once, some give up half way; numbers have no gaps and the chain holds.
    #[test]
    fn numbers_have_no_gaps_under_concurrency(
        work in prop::collection::vec(prop::collection::vec((0_usize..4, 1_usize..4, prop::bool::weighted(0.8)), 1..8), 4)
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(concurrent_appends(work));
    }
}

async fn concurrent_appends(work: Vec<Vec<(usize, usize, bool)>>) {
    let place = place();
    let first = Store::open(&place.data).await.unwrap();
    seed(&first).await;
    let mut tx = first.begin().await.unwrap();
    for index in 0..3 {
        tasks::insert(&mut tx, &task(&format!("t{index}"), "w", 2)).await.unwrap();
    }
    tx.commit().await.unwrap();
    let mut committed = 0;
    for batches in &work {
        committed += batches.iter().filter(|(_, _, kept)| *kept).map(|(_, count, _)| count).sum::<usize>();
    }
    let mut handles = Vec::new();
    for batches in work {
        let store = Store::open(&place.data).await.unwrap();
        handles.push(tokio::spawn(async move {
            for (which, count, kept) in batches {
                let list: Vec<Event> = (0..count).map(|index| noted(&format!("{index}"))).collect();
                let task = (which < 3).then(|| TaskId::from_text(format!("t{which}")));
                let mut tx = store.begin().await.unwrap();
                events::append(&mut tx, task.as_ref(), Source::Agent, at(5), &list).await.unwrap();
                if kept {
                    tx.commit().await.unwrap();
                }
            }
        }));
    }
    for handle in handles {
        handle.await.unwrap();
    }
    let mut reader = first.read().await.unwrap();
    let check = events::verify(&mut reader).await.unwrap();
    let expected = ChainCheck { entries: i64::try_from(committed).unwrap(), erased: 0, broken_at: None };
    assert_eq!(check, expected, "everything committed is there once, in one chain");
    for which in 0..3 {
        let record = events::of_task(&mut reader, &TaskId::from_text(format!("t{which}")), 0).await.unwrap();
        let numbers: Vec<i64> = record.iter().map(|entry| entry.seq).collect();
        let without_gaps: Vec<i64> = (1..).take(numbers.len()).collect();
        assert_eq!(numbers, without_gaps, "the numbers of task {which} have no gap");
    }
}
