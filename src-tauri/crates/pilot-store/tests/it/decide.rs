//! One approval is at most one execution, whoever resolves it and however many at once.

use crate::support::{approval, at, noted, place, resolve, seed};
use pilot_store::{ApprovalRow, Store, approvals, events, executions};
use pilot_types::{ApprovalStatus, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Barrier;

const RESOLVERS: usize = 8;
/// Database handles that they share in pairs: rivals in one process and in several.
const HANDLES: usize = 4;
const APPROVALS: usize = 1_000;
const CONTROL: usize = 40;

async fn cards(store: &Store, prefix: &str, count: usize) -> Arc<Vec<ApprovalRow>> {
    let task = crate::support::task("t", "w", 1);
    let rows: Vec<_> = (0..count).map(|index| approval(&format!("{prefix}{index:05}"), &task)).collect();
    let mut tx = store.begin().await.unwrap();
    for row in &rows {
        approvals::insert(&mut tx, row, b"exact bytes").await.unwrap();
    }
    tx.commit().await.unwrap();
    Arc::new(rows)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_resolvers_run_a_thousand_approvals_a_thousand_times() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    seed(&store).await;
    let rows = cards(&store, "a", APPROVALS).await;
    let effects = Arc::new(AtomicUsize::new(0));
    let mut handles = Vec::new();
    for _ in 0..HANDLES {
        handles.push(Store::open(&place.data).await.unwrap());
    }
    let mut resolvers = Vec::new();
    for resolver in 0..RESOLVERS {
        let (rows, effects) = (Arc::clone(&rows), Arc::clone(&effects));
        let own = handles[resolver % HANDLES].clone();
        resolvers.push(tokio::spawn(async move {
            for row in rows.iter() {
                if resolve(&own, row).await.unwrap() {
                    effects.fetch_add(1, Ordering::SeqCst);
                }
            }
        }));
    }
    for resolver in resolvers {
        resolver.await.unwrap();
    }
    assert_eq!(effects.load(Ordering::SeqCst), APPROVALS, "each approval has exactly one execution");
    let mut reader = store.read().await.unwrap();
    assert_eq!(
        executions::open_ones(&mut reader).await.unwrap().len(),
        APPROVALS,
        "and each is written down"
    );
    drop(reader);

    // The same race without the conditional update: the zero above counts only because this is not zero.
    let rows = cards(&store, "c", CONTROL).await;
    let effects = Arc::new(AtomicUsize::new(0));
    let barrier = Arc::new(Barrier::new(RESOLVERS));
    let mut resolvers = Vec::new();
    for resolver in 0..RESOLVERS {
        let (rows, effects, barrier) = (Arc::clone(&rows), Arc::clone(&effects), Arc::clone(&barrier));
        let own = handles[resolver % HANDLES].clone();
        resolvers.push(tokio::spawn(async move {
            for row in rows.iter() {
                let found = approvals::get(&mut own.read().await.unwrap(), &row.id).await.unwrap().unwrap();
                barrier.wait().await;
                if found.status == ApprovalStatus::Pending {
                    let mut tx = own.begin().await.unwrap();
                    let update = "UPDATE approvals SET status = 'executing' WHERE id = ?1";
                    sqlx::query(update).bind(row.id.as_str()).execute(&mut *tx).await.unwrap();
                    tx.commit().await.unwrap();
                    effects.fetch_add(1, Ordering::SeqCst);
                }
            }
        }));
    }
    for resolver in resolvers {
        resolver.await.unwrap();
    }
    let ran = effects.load(Ordering::SeqCst);
    assert!(ran > CONTROL, "look first, then write: {ran} executions of {CONTROL} approvals");
}

#[tokio::test]
async fn a_decision_that_is_not_committed_was_not_made() {
    let store = Store::open_in_memory().await.unwrap();
    seed(&store).await;
    let rows = cards(&store, "a", 1).await;
    let (from, to) = (ApprovalStatus::Pending, ApprovalStatus::Executing);
    let mut tx = store.begin().await.unwrap();
    assert!(
        approvals::transition(&mut tx, &rows[0].id, from, to, at(20), Some("cli"), None, None).await.unwrap()
    );
    events::append(&mut tx, Some(&rows[0].task), Source::Operator, at(20), &[noted("decided")])
        .await
        .unwrap();
    drop(tx);
    let mut reader = store.read().await.unwrap();
    let found = approvals::get(&mut reader, &rows[0].id).await.unwrap().unwrap();
    assert_eq!(found, rows[0], "the card waits as before");
    assert_eq!(events::last_position(&mut reader).await.unwrap(), 0, "and nothing was recorded");
}
