//! Transactions: given back when dropped, in mid-air too, and never stuck.

use crate::support::{at, noted, place, seed};
use futures_util::FutureExt;
use pilot_store::{Store, StoreError, events, settings};
use pilot_types::{ErrorCode, Source};
use std::time::Duration;

#[tokio::test]
async fn dropped_is_rolled_back_for_everybody_at_once() {
    let place = place();
    let (one, two) = (Store::open(&place.data).await.unwrap(), Store::open(&place.data).await.unwrap());
    for round in 0..50 {
        let mut tx = one.begin().await.unwrap();
        settings::set(&mut tx, "lost", &round).await.unwrap();
        drop(tx);
        // Another process must get the lock without this one doing anything more.
        let mut tx = two.begin().await.unwrap();
        assert_eq!(
            settings::get::<u32>(&mut tx, "lost").await.unwrap(),
            None,
            "round {round} was not committed"
        );
        settings::set(&mut tx, "kept", &round).await.unwrap();
        tx.commit().await.unwrap();
    }
    let mut tx = one.begin().await.unwrap();
    settings::set(&mut tx, "kept", &0).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(
        settings::get(&mut one.read().await.unwrap(), "kept").await.unwrap(),
        Some(49),
        "rolled back by hand"
    );
}

/// Dropped after each possible number of steps, with time for the connection's own thread to do what it was told.
#[tokio::test]
async fn a_caller_that_gives_up_in_mid_air_leaves_nothing_locked() {
    let place = place();
    let (one, two) = (Store::open(&place.data).await.unwrap(), Store::open(&place.data).await.unwrap());
    shorten_waiting(&two).await;
    let mut finished = 0;
    for steps in 0..24 {
        let mut work = Box::pin(async {
            let mut tx = one.begin().await.unwrap();
            settings::set(&mut tx, "maybe", &steps).await.unwrap();
            tx.commit().await.unwrap();
        });
        for _ in 0..steps {
            if (&mut work).now_or_never().is_some() {
                finished += 1;
                break;
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        drop(work);
        let mut tx = two.begin().await.unwrap();
        settings::set(&mut tx, "kept", &steps).await.unwrap();
        tx.commit().await.unwrap();
        let mut begun = Box::pin(one.read());
        let _ = (&mut begun).now_or_never();
    }
    assert!((1..23).contains(&finished), "some were cut off and some came through: {finished}");
    for _ in 0..8 {
        drop(one.read().await.unwrap());
    }
}

/// So that a test of a lock does not wait for five seconds; long enough for a rollback on a machine with much to do.
async fn shorten_waiting(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    sqlx::query("PRAGMA busy_timeout = 2000").execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_reader_sees_the_last_commit_while_somebody_writes() {
    for store in [Store::open_in_memory().await.unwrap(), Store::open(&place().data).await.unwrap()] {
        let mut tx = store.begin().await.unwrap();
        settings::set(&mut tx, "x", &1).await.unwrap();
        let mut reader = store.read().await.unwrap();
        assert_eq!(settings::get::<u32>(&mut reader, "x").await.unwrap(), None, "not committed yet");
        tx.commit().await.unwrap();
        assert_eq!(
            settings::get(&mut reader, "x").await.unwrap(),
            Some(1),
            "the same reader sees the commit"
        );
        let refused = settings::set(&mut reader, "x", &2).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::ReadOnly, "a reader cannot write: {refused}");
    }
}

#[tokio::test]
async fn a_locked_database_is_said_in_words() {
    let place = place();
    let (one, two) = (Store::open(&place.data).await.unwrap(), Store::open(&place.data).await.unwrap());
    let mut tx = two.begin().await.unwrap();
    let waits: i64 = sqlx::query_scalar("PRAGMA busy_timeout").fetch_one(&mut *tx).await.unwrap();
    assert_eq!(waits, 5_000, "five seconds are waited");
    tx.commit().await.unwrap();
    shorten_waiting(&two).await;
    let held = one.begin().await.unwrap();
    let refused = two.begin().await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DatabaseLocked, "somebody else writes: {refused}");
    held.commit().await.unwrap();
    two.begin().await.unwrap().commit().await.unwrap();
}

/// SQLite rolls back by itself when the disk is full; the next transaction must find a working connection.
#[tokio::test]
async fn a_full_disk_costs_one_transaction() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = store.begin().await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {}", pages + 2)))
        .execute(&mut *tx)
        .await
        .unwrap();
    let long = noted(&"x".repeat(100_000));
    let refused = events::append(&mut tx, Some(&task.id), Source::Agent, at(1), std::slice::from_ref(&long))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DiskFull, "no space left: {refused}");
    drop(tx);
    let mut tx = store.begin().await.unwrap();
    sqlx::query("PRAGMA max_page_count = 1000000").execute(&mut *tx).await.unwrap();
    events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &[long]).await.unwrap();
    tx.commit().await.unwrap();
    let check = events::verify(&mut store.read().await.unwrap()).await.unwrap();
    assert_eq!((check.entries, check.broken_at), (1, None), "the second try is the only entry");
}

#[tokio::test]
async fn the_promises_of_the_file_are_switched_on() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    for (pragma, expected) in [("PRAGMA synchronous", 2_i64), ("PRAGMA foreign_keys", 1)] {
        let found: i64 = sqlx::query_scalar(pragma).fetch_one(&mut *tx).await.unwrap();
        assert_eq!(found, expected, "{pragma}");
    }
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *tx).await.unwrap();
    assert_eq!(mode, "wal", "readers go on while somebody writes");
}

#[tokio::test]
async fn closing_folds_the_log_and_ends_all_clones() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    seed(&store).await;
    let clone = store.clone();
    drop(store.read().await.unwrap());
    store.data_version().await.unwrap();
    store.close().await.unwrap();
    assert!(matches!(clone.begin().await, Err(StoreError::Closed)), "a clone is closed too");
    assert!(matches!(clone.read().await, Err(StoreError::Closed)), "for reading too");
    let log = place.data.root().join("pocketpilot.sqlite-wal");
    assert!(!log.exists(), "the log is folded into the file, so that the next start need not check");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn more_readers_than_places_take_turns() {
    let store = Store::open_in_memory().await.unwrap();
    let mut work = Vec::new();
    for _ in 0..200 {
        let store = store.clone();
        work.push(tokio::spawn(async move {
            let mut reader = store.read().await.unwrap();
            tokio::task::yield_now().await;
            settings::get::<u32>(&mut reader, "x").await.unwrap()
        }));
    }
    for one in work {
        assert_eq!(one.await.unwrap(), None, "everybody has a turn");
    }
}
