//! A folder is watched: what changes is said soon, by relative paths, and a folder that goes is said once.

use pilot_guard::{DiskNotice, FolderWatch, WatchMode, WatchOptions, WorkspaceGuard};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What the product promises is a second; a busy machine gets more before the test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

struct Watched {
    _dir: tempfile::TempDir,
    root: PathBuf,
    notices: Receiver<DiskNotice>,
    watch: Option<FolderWatch>,
}

fn quick() -> WatchOptions {
    WatchOptions { look: Duration::from_millis(200), ..WatchOptions::default() }
}

impl Watched {
    fn new(options: WatchOptions) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real path").join("ws");
        fs::create_dir_all(root.join("sub/deep")).expect("folders");
        fs::write(root.join("a.md"), "one").expect("a file");
        let (sender, notices) = channel();
        let identity = WorkspaceGuard::open(&root).expect("there").identity();
        let watch = FolderWatch::start(&root, identity, options, move |notice| {
            let _ = sender.send(notice);
        })
        .expect("a thread");
        let watched = Self { _dir: dir, root, notices, watch: Some(watch) };
        let mode = if options.never_told { WatchMode::Looked } else { WatchMode::Told };
        assert_eq!(watched.next(), DiskNotice::Watching(mode), "it says when it has begun");
        watched
    }

    fn next(&self) -> DiskNotice {
        self.notices.recv_timeout(PATIENCE).expect("a notice")
    }

    /// Waits until a path was said.
    fn path(&self, wanted: &str) -> Duration {
        let begun = Instant::now();
        loop {
            match self.next() {
                DiskNotice::Paths(paths) if paths.contains(wanted) => return begun.elapsed(),
                DiskNotice::Paths(_) => {}
                other => panic!("waiting for {wanted}: {other:?}"),
            }
        }
    }

    fn silent_for(&self, time: Duration) {
        match self.notices.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => {}
            other => panic!("nothing was to be said: {other:?}"),
        }
    }
}

#[test]
fn changes_are_said_by_relative_path() {
    let watched = Watched::new(quick());
    let at = |path: &str| watched.root.join(path);
    fs::write(at("a.md"), "two").expect("changed");
    let soon = watched.path("a.md");
    assert!(soon < Duration::from_secs(1), "within a second: {soon:?}");
    fs::write(at("sub/deep/new.csv"), "x").expect("made");
    watched.path("sub/deep/new.csv");
    fs::create_dir(at("later")).expect("made");
    watched.path("later");
    fs::write(at("later/b.md"), "x").expect("made");
    watched.path("later/b.md");
    // As editors save: a new file is renamed over the old one.
    fs::write(at(".a.md.swp"), "three").expect("made");
    fs::rename(at(".a.md.swp"), at("a.md")).expect("renamed");
    watched.path("a.md");
    fs::remove_dir_all(at("later")).expect("removed");
    watched.path("later");
}

#[test]
fn reading_and_our_own_temporary_files_say_nothing() {
    let watched = Watched::new(quick());
    let _ = fs::read(watched.root.join("a.md")).expect("read");
    let _ = fs::read_dir(&watched.root).expect("listed").count();
    fs::write(watched.root.join(pilot_guard::temp_name("x")), "temporary").expect("made");
    watched.silent_for(Duration::from_millis(800));
}

#[test]
fn links_are_not_gone_down_and_no_name_from_outside_is_said() {
    let watched = Watched::new(quick());
    let outside = watched.root.parent().expect("a parent").join("outside");
    fs::create_dir(&outside).expect("made");
    std::os::unix::fs::symlink(&outside, watched.root.join("out")).expect("a link");
    watched.path("out");
    fs::write(outside.join("secret-name.md"), "x").expect("made");
    watched.silent_for(Duration::from_millis(800));
    // A folder that is swapped for a link while its watch is being set up.
    for n in 0..40 {
        let place = watched.root.join(format!("swap{n}"));
        fs::create_dir(&place).expect("made");
        fs::remove_dir(&place).expect("removed");
        std::os::unix::fs::symlink(&outside, &place).expect("a link");
        fs::write(outside.join(format!("secret-{n}.md")), "x").expect("made");
    }
    fs::write(watched.root.join("end.md"), "x").expect("made");
    loop {
        match watched.next() {
            DiskNotice::Paths(paths) => {
                let from_outside: Vec<&String> =
                    paths.iter().filter(|path| path.contains("secret")).collect();
                assert!(from_outside.is_empty(), "names from outside: {from_outside:?}");
                if paths.contains("end.md") {
                    break;
                }
            }
            DiskNotice::Everything => break,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn very_much_at_a_time_is_everything() {
    let watched = Watched::new(quick());
    for n in 0..2_000 {
        fs::write(watched.root.join(format!("sub/{n}.csv")), "x").expect("made");
    }
    assert!(
        (0..100).any(|_| watched.next() == DiskNotice::Everything),
        "two thousand names are not named one by one"
    );
}

#[test]
fn a_folder_that_goes_is_said_once_and_found_again() {
    for never_told in [false, true] {
        let watched = Watched::new(WatchOptions { never_told, ..quick() });
        let moved = watched.root.with_file_name("moved");
        fs::rename(&watched.root, &moved).expect("moved away");
        let gone = (0..10).map(|_| watched.next()).find(|notice| *notice == DiskNotice::Gone);
        assert!(gone.is_some(), "it is said");
        watched.silent_for(Duration::from_millis(700));
        // Another folder of the same name is not the workspace.
        fs::create_dir(&watched.root).expect("made");
        watched.silent_for(Duration::from_millis(700));
        fs::remove_dir(&watched.root).expect("removed");
        fs::rename(&moved, &watched.root).expect("moved back");
        let mode = if never_told { WatchMode::Looked } else { WatchMode::Told };
        assert_eq!(watched.next(), DiskNotice::Watching(mode), "it is watched again");
        fs::write(watched.root.join("b.md"), "x").expect("made");
        if never_told {
            assert_eq!(watched.next(), DiskNotice::Everything, "and changes are seen");
        } else {
            watched.path("b.md");
        }
    }
}

#[test]
fn a_folder_that_is_deleted_costs_nothing_and_ends_nothing() {
    let watched = Watched::new(quick());
    let before = cpu();
    fs::remove_dir_all(&watched.root).expect("deleted");
    let mut notices = 0;
    while watched.next() != DiskNotice::Gone {
        notices += 1;
        assert!(notices < 20, "what went is said in a few notices");
    }
    std::thread::sleep(Duration::from_secs(2));
    let used = cpu() - before;
    assert!(used < Duration::from_millis(500), "no busy loop: {used:?} of processor time in two seconds");
    fs::create_dir(&watched.root).expect("another one");
    watched.silent_for(Duration::from_millis(700));
}

/// Processor time of this process so far.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[test]
fn where_the_system_does_not_tell_the_folder_is_looked_at() {
    let watched = Watched::new(WatchOptions { never_told: true, ..quick() });
    watched.silent_for(Duration::from_millis(700));
    fs::write(watched.root.join("sub/deep/new.csv"), "x").expect("made");
    assert_eq!(watched.next(), DiskNotice::Everything, "a change is seen");
    watched.silent_for(Duration::from_millis(700));
    fs::remove_file(watched.root.join("a.md")).expect("removed");
    assert_eq!(watched.next(), DiskNotice::Everything, "so is a removal");
}

#[test]
fn a_dropped_watch_says_nothing_more() {
    let mut watched = Watched::new(quick());
    drop(watched.watch.take());
    fs::write(watched.root.join("a.md"), "two").expect("changed");
    match watched.notices.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Disconnected) => {}
        other => panic!("the thread ends: {other:?}"),
    }
}

/// In a name space of its own where one folder can be watched at most.
#[test]
fn at_the_limit_of_the_system_the_folder_is_looked_at() {
    let limit = Path::new("/proc/sys/user/max_inotify_watches");
    if std::env::var_os("PILOT_WATCH_LIMIT").is_none() {
        let name = "watch::at_the_limit_of_the_system_the_folder_is_looked_at";
        let inside = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user"])
            .arg(std::env::current_exe().expect("own program"))
            .args(["--exact", name, "--nocapture"])
            .env("PILOT_WATCH_LIMIT", "1")
            .output();
        let Ok(output) = inside else { return println!("skipped: no unshare here") };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        print!("{said}");
        let refused = String::from_utf8_lossy(&output.stderr);
        if refused.contains("unshare failed") || refused.contains("Operation not permitted") {
            return println!("skipped: no user name space here: {refused}");
        }
        assert!(output.status.success(), "inside: {said}{refused}");
        return;
    }
    if fs::write(limit, "2").is_err() {
        return println!("skipped: the limit cannot be set here");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().canonicalize().expect("real path");
    for n in 0..10 {
        fs::create_dir(root.join(format!("sub{n}"))).expect("a folder");
    }
    let (sender, notices) = channel();
    let identity = WorkspaceGuard::open(&root).expect("there").identity();
    let _watch = FolderWatch::start(&root, identity, quick(), move |notice| {
        let _ = sender.send(notice);
    })
    .expect("a thread");
    let next = || notices.recv_timeout(PATIENCE).expect("a notice");
    assert_eq!(next(), DiskNotice::Watching(WatchMode::Looked), "eleven folders are more than two");
    fs::write(root.join("sub7/x.md"), "x").expect("made");
    assert_eq!(next(), DiskNotice::Everything, "changes are seen all the same");
    println!("the limit was reached and the folder was looked at");
}

/// Figures for docs/figures.md: a folder of 100,000 files in the soak run, a tenth otherwise.
#[test]
fn a_big_folder_does_not_hang() {
    let files = if std::env::var_os("POCKETPILOT_SOAK").is_some() { 100_000 } else { 10_000 };
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().canonicalize().expect("real path");
    for n in 0..files {
        if n % 1_000 == 0 {
            fs::create_dir(root.join(format!("{}", n / 1_000))).expect("a folder");
        }
        fs::write(root.join(format!("{}/{n}.csv", n / 1_000)), "x").expect("a file");
    }
    for never_told in [false, true] {
        let (sender, notices) = channel();
        let identity = WorkspaceGuard::open(&root).expect("there").identity();
        let begun = Instant::now();
        let options = WatchOptions { never_told, ..WatchOptions::default() };
        let _watch = FolderWatch::start(&root, identity, options, move |notice| {
            let _ = sender.send(notice);
        })
        .expect("a thread");
        assert!(begun.elapsed() < Duration::from_millis(100), "starting waits for nothing");
        assert!(matches!(notices.recv_timeout(PATIENCE), Ok(DiskNotice::Watching(_))), "it begins in time");
        let ready = begun.elapsed();
        let changed = Instant::now();
        fs::write(root.join("3/new.md"), "x").expect("made");
        notices.recv_timeout(PATIENCE).expect("a change is said");
        println!(
            "{files} files, {}: ready after {} ms, a change after {} ms",
            if never_told { "looked at" } else { "told" },
            ready.as_millis(),
            changed.elapsed().as_millis()
        );
    }
}
