//! Liveness: true while a process holds its lock, and false the moment it is killed.

use crate::support::{at, noted, place, seed};
use pilot_store::{DataDir, ProcessLock, Role, Store, events, process_alive};
use pilot_types::{ProcessId, Source, TaskId};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const FOLDER: &str = "PILOT_STORE_TEST_FOLDER";

/// Runs one of the ignored tests below in a process of its own, on the given data folder.
fn start(test: &str, data: &DataDir) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FOLDER, data.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The harness may print before on the same line.
    (child, lines.filter_map(|line| line.split_once("told:").map(|(_, told)| told.to_owned())))
}

fn told_folder() -> Option<DataDir> {
    std::env::var_os(FOLDER).map(|folder| DataDir::open(folder).unwrap())
}

#[test]
#[ignore = "the child of another test"]
fn child_holds_its_lock() {
    let Some(data) = told_folder() else { return };
    let lock = ProcessLock::acquire(&data).unwrap();
    println!("told:{} {:?}", lock.id(), lock.role());
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[tokio::test]
#[ignore = "the child of another test"]
async fn child_commits_until_it_is_killed() {
    let Some(data) = told_folder() else { return };
    let store = Store::open(&data).await.unwrap();
    let task = TaskId::from_text("t");
    for index in 0..1_000_000 {
        let mut tx = store.begin().await.unwrap();
        let list = [noted(&format!("{index}")), noted("its twin")];
        let told = events::append(&mut tx, Some(&task), Source::Agent, at(index), &list).await.unwrap();
        tx.commit().await.unwrap();
        println!("told:{}", told[1].position);
    }
}

#[test]
fn the_first_is_the_owner_and_the_next_takes_its_place() {
    let place = place();
    let first = ProcessLock::acquire(&place.data).unwrap();
    let mut second = ProcessLock::acquire(&place.data).unwrap();
    assert_eq!((first.role(), second.role()), (Role::Owner, Role::Guest), "one owner at a time");
    assert!(!second.try_become_owner(), "the place is taken");
    for lock in [&first, &second] {
        assert!(process_alive(&place.data, lock.id()), "{} holds its lock", lock.id());
    }
    let gone = first.id().clone();
    drop(first);
    assert!(!process_alive(&place.data, &gone), "it has gone");
    assert!(second.try_become_owner(), "the place is free");
    assert_eq!(second.role(), Role::Owner, "and taken");
    assert!(second.try_become_owner(), "the owner stays the owner");
    assert_eq!(ProcessLock::acquire(&place.data).unwrap().role(), Role::Guest, "still one at a time");
}

#[test]
fn an_id_that_is_no_name_is_nobody() {
    let place = place();
    let _lock = ProcessLock::acquire(&place.data).unwrap();
    for id in ["", "../owner", "a/b", "no-such-process", "a.b"] {
        assert!(!process_alive(&place.data, &ProcessId::from_text(id)), "{id:?} is nobody");
    }
}

#[test]
fn a_killed_process_is_dead_at_once() {
    let place = place();
    let (mut child, mut lines) = start("process::child_holds_its_lock", &place.data);
    let told = lines.next().expect("the child tells its id");
    let (id, role) = told.split_once(' ').unwrap();
    let id = ProcessId::from_text(id);
    assert_eq!(role, "Owner", "the child was first");
    let mut guest = ProcessLock::acquire(&place.data).unwrap();
    assert_eq!(guest.role(), Role::Guest, "another process owns the folder");
    assert!(process_alive(&place.data, &id), "the child lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!process_alive(&place.data, &id), "the system gave its lock back");
    assert!(place.data.locks().join(format!("{id}.lock")).exists(), "its file is still there");
    assert!(guest.try_become_owner(), "and so is its place");
    drop(guest);
    let next = ProcessLock::acquire(&place.data).unwrap();
    assert_eq!(next.role(), Role::Owner, "the next one owns the folder");
    assert!(
        !place.data.locks().join(format!("{id}.lock")).exists(),
        "and has cleared away what the dead left"
    );
    assert!(process_alive(&place.data, next.id()), "but not its own");
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    seed(&store).await;
    store.close().await.unwrap();
    let mut last = 0;
    for (round, wanted) in [3, 40, 11, 90].into_iter().enumerate() {
        let (mut child, lines) = start("process::child_commits_until_it_is_killed", &place.data);
        for told in lines.take(wanted) {
            last = told.parse::<i64>().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&place.data).await.unwrap();
        let mut reader = store.read().await.unwrap();
        let found = events::last_position(&mut reader).await.unwrap();
        assert!(found >= last && last > 0, "round {round}: {last} was acknowledged, {found} is there");
        assert_eq!(found % 2, 0, "round {round}: both entries of a transaction or none");
        let check = events::verify(&mut reader).await.unwrap();
        assert_eq!((check.entries, check.broken_at), (found, None), "round {round}: one unbroken chain");
        drop(reader);
        store.close().await.unwrap();
    }
}
