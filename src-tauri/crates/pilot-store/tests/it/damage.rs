//! A damaged, newer or foreign database is refused with words; it is never replaced and a copy is kept.

use crate::support::{Place, at, noted, place, seed};
use pilot_store::{DataDir, Store, StoreError, backup, events, tasks};
use pilot_types::{ErrorCode, Source};
use std::path::PathBuf;

fn log_of(data: &DataDir) -> PathBuf {
    data.root().join("pocketpilot.sqlite-wal")
}

/// A closed database with a few hundred entries.
async fn filled() -> Place {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    let list: Vec<_> = (0..300).map(|index| noted(&format!("entry {index} {}", "x".repeat(200)))).collect();
    events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &list).await.unwrap();
    tx.commit().await.unwrap();
    store.close().await.unwrap();
    place
}

/// What a power cut leaves: the database with its log, and nobody at home.
async fn cut_off() -> Place {
    let living = place();
    let store = Store::open(&living.data).await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &[noted("kept")]).await.unwrap();
    tx.commit().await.unwrap();
    let dead = place();
    std::fs::copy(living.data.database(), dead.data.database()).unwrap();
    std::fs::copy(log_of(&living.data), log_of(&dead.data)).unwrap();
    dead
}

async fn refused(data: &DataDir, why: &str) -> StoreError {
    match Store::open(data).await {
        Ok(_) => panic!("{why}: the database must be refused"),
        Err(error) => error,
    }
}

async fn refused_as_damaged(place: &Place, why: &str) {
    let before = std::fs::read(place.data.database()).unwrap();
    for round in 1..=2 {
        let error = refused(&place.data, why).await;
        assert_eq!(error.code(), ErrorCode::DatabaseCorrupt, "{why}: {error}");
        let StoreError::Corrupt { kept: Some(kept), .. } = error else {
            panic!("{why}: a copy must be kept: {error}")
        };
        assert_eq!(std::fs::read(&kept).unwrap(), before, "{why}: the copy is the file as it was");
        assert_eq!(
            std::fs::read(place.data.database()).unwrap(),
            before,
            "{why}: the file itself was not touched"
        );
        let copies = backup::list(&place.data).unwrap();
        assert!(copies.len() == 1 && copies[0].damaged, "{why}, round {round}: one copy, marked: {copies:?}");
    }
}

#[tokio::test]
async fn damage_is_refused_and_kept() {
    type Damage = fn(&mut Vec<u8>);
    let ways: [(&str, Damage); 5] = [
        ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("cut to nothing", Vec::clear),
        ("cut within the first page", |bytes| bytes.truncate(700)),
        ("overwritten at the front", |bytes| bytes[..64].fill(0)),
        ("not a database", |bytes| *bytes = b"hello, I am a text file\n".repeat(400)),
    ];
    for (why, damage) in ways {
        let place = filled().await;
        let mut bytes = std::fs::read(place.data.database()).unwrap();
        damage(&mut bytes);
        std::fs::write(place.data.database(), &bytes).unwrap();
        refused_as_damaged(&place, why).await;
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_structure_is_found_after_an_unclean_end() {
    let whole = filled().await;
    let clean = std::fs::read(whole.data.database()).unwrap();
    let pages = clean.len() / 4096;
    let mut found = 0;
    for page in 1..pages {
        let place = place();
        let mut bytes = clean.clone();
        // The type of the page: the first byte of its header.
        bytes[page * 4096] ^= 0x10;
        std::fs::write(place.data.database(), &bytes).unwrap();
        // A log of an earlier life: its frames do not match and count for nothing, but the end was not clean.
        std::fs::write(log_of(&place.data), [0_u8; 64]).unwrap();
        match Store::open(&place.data).await {
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::DatabaseCorrupt, "page {page}: {error}");
                found += 1;
            }
            // Overflow and free pages have no header; what stands there is found by the chain.
            Ok(store) => {
                let check = events::verify(&mut store.read().await.unwrap()).await.unwrap();
                assert_eq!(check.entries, 300, "page {page}: nothing may be lost in silence: {check:?}");
            }
        }
    }
    assert!(found * 10 >= (pages - 1) * 9, "nearly every page has a header: {found} of {pages}");
}

#[tokio::test]
async fn a_flipped_bit_in_an_entry_is_found_by_the_chain() {
    let place = filled().await;
    let mut bytes = std::fs::read(place.data.database()).unwrap();
    let needle = b"entry 123 x";
    let hit = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[hit + 6] ^= 0x01;
    std::fs::write(place.data.database(), &bytes).unwrap();
    let store = Store::open(&place.data).await.unwrap();
    let check = events::verify(&mut store.read().await.unwrap()).await.unwrap();
    assert_eq!(check.broken_at, Some(124), "the very entry is named");
}

#[tokio::test]
async fn what_was_committed_before_a_power_cut_is_there() {
    let place = cut_off().await;
    let store = Store::open(&place.data).await.unwrap();
    let mut reader = store.read().await.unwrap();
    assert_eq!(events::last_position(&mut reader).await.unwrap(), 1, "the entry stood in the log only");
    assert_eq!(tasks::list(&mut reader, None, 5).await.unwrap().len(), 1, "and so did the task");
}

#[tokio::test]
async fn a_log_without_its_database_is_no_first_start() {
    let place = cut_off().await;
    std::fs::remove_file(place.data.database()).unwrap();
    let error = refused(&place.data, "the database was deleted, its log was not").await;
    assert_eq!(error.code(), ErrorCode::DatabaseCorrupt, "never a silent new one: {error}");
    assert!(!place.data.database().exists(), "no new database was made");
    assert!(log_of(&place.data).exists(), "the log is still there");
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_words() {
    let place = filled().await;
    let store = Store::open(&place.data).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'from the future', TRUE, x'00', 0)",
    )
    .execute(&mut *tx)
    .await
    .unwrap();
    tx.commit().await.unwrap();
    store.close().await.unwrap();
    let before = std::fs::read(place.data.database()).unwrap();
    let error = refused(&place.data, "a newer schema").await;
    assert!(
        matches!(error, StoreError::Newer { found: 9999, known: 1.. }),
        "both versions are named: {error}"
    );
    assert_eq!(error.code(), ErrorCode::DatabaseNewer, "with its own code: {error}");
    assert_eq!(std::fs::read(place.data.database()).unwrap(), before, "and the file was not touched");
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    use sqlx::ConnectOptions;
    let place = place();
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(place.data.database()).create_if_missing(true);
    let mut foreign = options.connect().await.unwrap();
    sqlx::query("CREATE TABLE songs (title TEXT)").execute(&mut foreign).await.unwrap();
    sqlx::Connection::close(foreign).await.unwrap();
    let error = refused(&place.data, "another program's database").await;
    assert_eq!(error.code(), ErrorCode::DatabaseCorrupt, "it is none of ours: {error}");
}

#[tokio::test]
async fn a_backup_is_whole_and_can_be_put_back() {
    let place = filled().await;
    let store = Store::open(&place.data).await.unwrap();
    let copy = backup::make(&store, &place.data).await.unwrap();
    only_for_this_user(&copy);
    let in_use = backup::restore(&place.data, &copy).await.unwrap_err();
    assert_eq!(in_use.code(), ErrorCode::DatabaseLocked, "not under a living process: {in_use}");
    let mut tx = store.begin().await.unwrap();
    events::append(&mut tx, None, Source::System, at(9), &[noted("after the backup")]).await.unwrap();
    tx.commit().await.unwrap();
    store.close().await.unwrap();

    std::fs::write(place.data.database(), b"ruined").unwrap();
    refused(&place.data, "ruined").await;
    backup::restore(&place.data, &copy).await.unwrap();
    only_for_this_user(&place.data.database());
    let store = Store::open(&place.data).await.unwrap();
    let check = events::verify(&mut store.read().await.unwrap()).await.unwrap();
    assert_eq!((check.entries, check.broken_at), (300, None), "as it was when the backup was made");
    store.close().await.unwrap();

    let listed = backup::list(&place.data).unwrap();
    let put_back: Vec<bool> = listed.iter().map(|copy| copy.damaged).collect();
    assert_eq!(
        put_back,
        [false, true, false],
        "the ruined file twice (refused, replaced) and the backup: {listed:?}"
    );

    let mut bytes = std::fs::read(&copy).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&copy, bytes).unwrap();
    let before = std::fs::read(place.data.database()).unwrap();
    let error = backup::restore(&place.data, &copy).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DatabaseCorrupt, "a damaged backup is refused: {error}");
    assert_eq!(std::fs::read(place.data.database()).unwrap(), before, "and changes nothing");
}

#[cfg(unix)]
fn only_for_this_user(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{} holds what the person's files hold", path.display());
}

#[cfg(not(unix))]
fn only_for_this_user(_path: &std::path::Path) {}
