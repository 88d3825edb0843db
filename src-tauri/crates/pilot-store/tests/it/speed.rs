//! What a durable entry costs beside a bare commit. Figures are printed; the bounds are wide, for a busy machine.

use crate::support::{at, noted, place, seed};
use pilot_store::{Store, events};
use pilot_types::Source;
use std::time::{Duration, Instant};

const ROUNDS: usize = 150;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test]
async fn an_entry_costs_little_more_than_a_bare_commit() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    sqlx::query("CREATE TABLE bare (body TEXT)").execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let text = "x".repeat(600);
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let mut tx = store.begin().await.unwrap();
        sqlx::query("INSERT INTO bare VALUES (?1)").bind(&text).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        bare.push(begun.elapsed());
        let begun = Instant::now();
        let mut tx = store.begin().await.unwrap();
        let when = at(i64::try_from(round).unwrap());
        events::append(&mut tx, Some(&task.id), Source::Agent, when, &[noted(&text)]).await.unwrap();
        tx.commit().await.unwrap();
        whole.push(begun.elapsed());
    }
    let (bare, whole, work) = (median(bare), median(whole), without_the_disk(&text).await);
    let ratio = whole.as_secs_f64() / bare.as_secs_f64();
    println!(
        "bare commit {bare:?}, entry {whole:?}, ratio {ratio:.2}; without waiting for the disk {work:?}"
    );
    assert!(whole < bare * 4, "an entry must stay near the bare commit: {whole:?} against {bare:?}");
}

/// The same entry where nothing is synced: what is added to the disk's own time.
async fn without_the_disk(text: &str) -> Duration {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let mut tx = store.begin().await.unwrap();
        events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &[noted(text)]).await.unwrap();
        tx.commit().await.unwrap();
        times.push(begun.elapsed());
    }
    median(times)
}

#[tokio::test]
async fn a_clean_start_is_quick() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let task = seed(&store).await;
    for round in 0..20 {
        let mut tx = store.begin().await.unwrap();
        let list: Vec<_> = (0..250).map(|_| noted(&"x".repeat(400))).collect();
        events::append(&mut tx, Some(&task.id), Source::Agent, at(round), &list).await.unwrap();
        tx.commit().await.unwrap();
    }
    store.close().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..9 {
        let begun = Instant::now();
        let store = Store::open(&place.data).await.unwrap();
        events::last_position(&mut store.read().await.unwrap()).await.unwrap();
        times.push(begun.elapsed());
        store.close().await.unwrap();
    }
    let begun = Instant::now();
    let fresh = Store::open_in_memory().await.unwrap();
    let memory = begun.elapsed();
    let begun = Instant::now();
    let check =
        events::verify(&mut Store::open(&place.data).await.unwrap().read().await.unwrap()).await.unwrap();
    let verified = begun.elapsed();
    println!(
        "open and read {:?}, in memory {memory:?}, {} entries verified in {verified:?}",
        median(times.clone()),
        check.entries
    );
    drop(fresh);
    assert!(median(times) < Duration::from_millis(200), "a start must not be felt");
}
