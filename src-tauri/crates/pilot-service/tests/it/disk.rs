//! The service follows the disk while it runs in the background.

use crate::support::{Bench, say, write_step, yes};
use pilot_service::view::WatchState;
use pilot_service::{DiskChange, Notice};
use pilot_types::ErrorCode;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

/// A busy machine gets more than the promised second before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

async fn wait<T>(notices: &mut Receiver<Notice>, mut wanted: impl FnMut(Notice) -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = wanted(notices.recv().await.unwrap()) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, found).await.expect("a notice in time")
}

async fn state(notices: &mut Receiver<Notice>, wanted: WatchState) {
    wait(notices, |notice| match notice {
        Notice::Disk { change: DiskChange::State(state), .. } if state == wanted => Some(()),
        _ => None,
    })
    .await;
}

async fn stale(notices: &mut Receiver<Notice>) -> bool {
    wait(notices, |notice| match notice {
        Notice::Stale { stale, .. } => Some(stale),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_whose_target_changes_says_so_at_once_and_writes_nothing() {
    let bench = Bench::new().await;
    bench.write("report.md", "old\n");
    let (_, card) = bench.to_card(vec![write_step("report.md", "new\n"), say("done")]).await;
    let mut notices = bench.service.subscribe();
    let background = bench.service.start_background();
    state(&mut notices, WatchState::Told).await;
    assert!(!bench.service.approvals(false).await.unwrap()[0].stale, "it shows what is there");

    bench.write("other.md", "x");
    bench.write("report.md", "somebody else's\n");
    assert!(stale(&mut notices).await, "the card is told to be stale");
    assert!(bench.service.approvals(false).await.unwrap()[0].stale, "the list says so too");
    assert_eq!(bench.read("report.md").as_deref(), Some("somebody else's\n"), "nothing was written");
    bench.write("report.md", "old\n");
    assert!(!stale(&mut notices).await, "what is put back is what the card shows");
    bench.write("report.md", "once more\n");
    assert!(stale(&mut notices).await, "and again");
    let error = bench.service.approve(yes(&card)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ApprovalStale, "a yes to it makes the new card, and no write");
    let waiting = bench.service.approvals(false).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].stale), (1, false), "the new card shows what is there");
    background.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_before_the_watch_began_is_noticed() {
    let bench = Bench::new().await;
    bench.write("report.md", "old\n");
    let _card = bench.to_card(vec![write_step("report.md", "new\n"), say("done")]).await;
    bench.write("report.md", "while nobody looked\n");
    let mut notices = bench.service.subscribe();
    let background = bench.service.start_background();
    assert!(stale(&mut notices).await, "the first look compares");
    background.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_on_screen_is_watched_as_long_as_it_is() {
    let bench = Bench::new().await;
    let mut notices = bench.service.subscribe();
    let background = bench.service.start_background();
    bench.service.look_at(Some(bench.workspace.clone()));
    state(&mut notices, WatchState::Told).await;
    assert_eq!(bench.service.watch_state(&bench.workspace), Some(WatchState::Told), "it is watched");
    bench.write("memory/MEMORY.md", "from an editor\n");
    let paths = wait(&mut notices, |notice| match notice {
        Notice::Disk { change: DiskChange::Paths(paths), .. } => Some(paths),
        _ => None,
    })
    .await;
    assert!(paths.iter().all(|path| path.starts_with("memory")), "by relative path: {paths:?}");
    bench.service.look_at(None);
    let until = std::time::Instant::now() + PATIENCE;
    while bench.service.watch_state(&bench.workspace).is_some() {
        assert!(std::time::Instant::now() < until, "a folder that nobody looks at is let go");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    background.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_unplugged_is_said_and_its_card_waits() {
    let bench = Bench::new().await;
    let (_, card) = bench.to_card(vec![write_step("report.md", "new\n"), say("done")]).await;
    let mut notices = bench.service.subscribe();
    let background = bench.service.start_background();
    state(&mut notices, WatchState::Told).await;
    let moved = bench.root.with_extension("moved");
    std::fs::rename(&bench.root, &moved).unwrap();
    state(&mut notices, WatchState::Gone).await;
    assert_eq!(bench.service.approvals(false).await.unwrap().len(), 1, "the card still waits");
    std::fs::rename(&moved, &bench.root).unwrap();
    state(&mut notices, WatchState::Told).await;
    bench.service.approve(yes(&card)).await.unwrap();
    assert_eq!(bench.read("report.md").as_deref(), Some("new\n"), "and works when the folder is back");
    background.shutdown(Duration::from_secs(5)).await;
}
