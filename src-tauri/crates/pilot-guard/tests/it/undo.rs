//! The undo store.

use chrono::{TimeDelta, Utc};
use pilot_guard::{UndoLimits, UndoStore, UndoUsage};
use pilot_types::{Digest, ErrorCode};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

/// Bytes that do not get smaller.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    })
    .take(len)
    .collect()
}

#[test]
fn what_is_kept_comes_back_whole_and_is_ours_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().join("app/undo");
    let store = UndoStore::open(&place, UndoLimits::default()).expect("a store");
    let contents = [Vec::new(), b"text".to_vec(), "a".repeat(3_000_000).into_bytes(), noise(1, 300_000)];
    for bytes in &contents {
        let digest = store.keep(bytes).expect("kept");
        assert_eq!(digest, Digest::of(bytes), "named by its digest");
        assert!(store.contains(&digest), "and there");
        assert_eq!(store.get(&digest).expect("readable").as_ref(), Some(bytes), "and whole");
    }
    store.keep(b"text").expect("kept again");
    let usage = store.usage().expect("usage");
    assert_eq!(usage.entries, 4, "the same bytes are kept once");
    assert!(usage.bytes < 320_000, "text is compressed");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&place), 0o700, "nobody else may look into it");
    for entry in fs::read_dir(&place).expect("the store") {
        assert_eq!(mode(&entry.expect("an entry").path()), 0o600, "nor read a file of it");
    }
    let again = UndoStore::open(&place, UndoLimits::default()).expect("opened again");
    assert_eq!(again.usage().expect("usage"), usage, "it is all on the disk");
}

#[test]
fn what_was_never_kept_or_is_damaged_is_never_given_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = UndoStore::open(&dir.path().join("undo"), UndoLimits::default()).expect("a store");
    fs::write(dir.path().join("secret.zst"), "x").expect("a file beside the store");
    for text in ["../secret", "", "ABC", &"a".repeat(64), &"A".repeat(64), "/etc/passwd"] {
        let digest = Digest::from_hex(text);
        assert_eq!(store.get(&digest).expect("no error"), None, "{text:?} is nothing that was kept");
        assert!(!store.contains(&digest), "{text:?} is nothing that was kept");
    }
    let digest = store.keep(&noise(2, 10_000)).expect("kept");
    let file = dir.path().join(format!("undo/{digest}.zst"));
    let mut bytes = fs::read(&file).expect("its file");
    bytes[5_000] ^= 1;
    fs::write(&file, &bytes).expect("damaged");
    assert_eq!(
        store.get(&digest).expect_err("damaged").code(),
        ErrorCode::IoFailed,
        "a flipped bit is noticed"
    );
    fs::write(&file, &bytes[..5_000]).expect("cut");
    assert!(store.get(&digest).is_err(), "a cut file is noticed");
    assert!(store.forget(&digest).expect("forgotten"), "it was there");
    assert!(!store.forget(&digest).expect("forgotten"), "it is not now");
}

#[test]
fn the_limits_of_days_and_bytes_hold() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().join("undo");
    let store = UndoStore::open(&place, UndoLimits { days: 90, bytes: 100_000 }).expect("a store");
    let kept: Vec<Digest> = (0..4).map(|seed| store.keep(&noise(seed + 10, 20_000)).expect("kept")).collect();
    let age = |digest: &Digest, days: u64| {
        let file =
            fs::File::options().write(true).open(place.join(format!("{digest}.zst"))).expect("its file");
        file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).expect("its age");
    };
    age(&kept[0], 91);
    age(&kept[1], 80);
    age(&kept[2], 40);
    let now = Utc::now();
    assert_eq!(store.prune(now).expect("pruned"), 1, "one is older than 90 days");
    assert!(!store.contains(&kept[0]) && store.contains(&kept[1]), "that one and no other");
    assert_eq!(store.prune(now).expect("pruned"), 0, "pruning again removes nothing");
    let more: Vec<Digest> = (0..3).map(|seed| store.keep(&noise(seed + 20, 20_000)).expect("kept")).collect();
    assert!(store.usage().expect("usage").bytes <= 100_000, "the limit of bytes holds without a prune");
    assert!(!store.contains(&kept[1]), "the oldest went");
    assert!(more.iter().all(|digest| store.contains(digest)), "what was just kept never goes");
    let refused = store.keep(&noise(30, 100_001)).expect_err("too large");
    assert_eq!(refused.code(), ErrorCode::TooLarge, "what can never be kept is refused");
    assert_eq!(store.prune(now + TimeDelta::days(91)).expect("pruned"), 4, "in 91 days nothing is left");
    assert_eq!(store.usage().expect("usage"), UndoUsage::default(), "nothing at all");
}

#[test]
fn several_processes_may_keep_and_prune_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().join("undo");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                // Each opens its own store, as another process would.
                let store = UndoStore::open(place, UndoLimits { days: 90, bytes: 1 << 20 }).expect("a store");
                for round in 0..50 {
                    let bytes = noise(round % 10, 5_000);
                    let digest = store.keep(&bytes).expect("kept");
                    assert_eq!(store.get(&digest).expect("readable"), Some(bytes), "what was kept is there");
                    if round % 10 == thread {
                        store.prune(Utc::now()).expect("pruned");
                    }
                }
            });
        }
    });
    let store = UndoStore::open(&place, UndoLimits::default()).expect("a store");
    assert_eq!(store.usage().expect("usage").entries, 10, "ten different contents");
    let left = fs::read_dir(&place).expect("the store").flatten();
    assert!(
        left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("new-")),
        "nothing half"
    );
}
