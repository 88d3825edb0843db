//! Controls: what the guard holds back does come through without it, so that a zero elsewhere means something.

use crate::support::{Bench, RESOLVERS};
use pilot_testkit::escapes::{self, Answer, CANARY, Door, DoorKind, Mounts, Setup, Stage};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// The guard that many programs have: resolve, compare, open.
pub(crate) fn naive(root: &Path, path: &str) -> Option<PathBuf> {
    let joined = root.join(path);
    let real = joined.canonicalize().ok()?;
    real.starts_with(root).then_some(joined)
}

#[test]
fn a_hard_link_gives_the_canary_to_a_prefix_check_and_not_to_the_guard() {
    let stage = Stage::new();
    fs::hard_link(stage.outside().join("secret.md"), stage.workspace().join("h.md")).expect("hard link");
    let path = naive(&stage.workspace(), "h.md").expect("a prefix check lets a hard link through");
    assert_eq!(
        fs::read_to_string(path).expect("readable"),
        CANARY,
        "the control must leak, or this proves nothing"
    );
    for resolver in RESOLVERS {
        let refused = Bench::on(&stage, resolver).read("h.md").expect_err("a hard link is refused");
        assert_eq!(refused.code().as_str(), "path_hardlink", "{resolver:?}: with its own reason");
    }
}

#[test]
fn a_fifo_hangs_a_plain_open_and_not_the_guard() {
    let mut stage = Stage::new();
    stage.apply(&Setup::Fifo { at: "pipe.md".to_owned() }, Mounts::Skip);
    let path = stage.workspace().join("pipe.md");
    let (sent, received) = mpsc::channel();
    let reader = {
        let path = path.clone();
        std::thread::spawn(move || sent.send(fs::read(path).map(|bytes| bytes.len())))
    };
    let waited = received.recv_timeout(Duration::from_millis(300));
    assert!(waited.is_err(), "the control must hang, or this proves nothing");
    for resolver in RESOLVERS {
        let refused = Bench::on(&stage, resolver).read("pipe.md").expect_err("a FIFO is refused");
        assert_eq!(refused.code().as_str(), "path_special", "{resolver:?}: at once, with its own reason");
    }
    fs::write(&path, "let the reader go").expect("the reader is released");
    let _ = reader.join();
}

#[test]
fn the_runner_notices_a_door_without_a_guard() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    let rows: Vec<_> = rows
        .into_iter()
        .filter(|row| ["absolute", "dotdot", "symlink", "hardlink", "memory"].contains(&row.class.as_str()))
        .filter(|row| row.setup.iter().all(|step| !matches!(step, Setup::Race { .. } | Setup::Fifo { .. })))
        .collect();
    let read = Door::new("std read", DoorKind::Read, |stage| {
        let root = stage.workspace();
        Box::new(move |path| match fs::read_to_string(root.join(path)) {
            Ok(text) => Answer::allowed(text),
            Err(error) => Answer::refused(error.to_string()),
        })
    });
    let write = Door::new("std write", DoorKind::Write, |stage| {
        let root = stage.workspace();
        // Kept inside the stage, whatever the row says: this door has no guard.
        let base = stage.base().to_owned();
        Box::new(move |path| {
            let target = root.join(path);
            if !target.starts_with(&base) || path.contains("etc") || path.contains("../../..") {
                return Answer::refused("not tried");
            }
            match fs::write(target, "written") {
                Ok(()) => Answer::allowed("written"),
                Err(error) => Answer::refused(error.to_string()),
            }
        })
    });
    let report = escapes::run(&rows, &[read, write], Mounts::Skip);
    println!("control: {} tried, {} wrong", report.tried, report.wrong.len());
    let any = |what: &str| report.wrong.iter().any(|line| line.contains(what));
    assert!(any("returned the canary"), "an unguarded read must leak in this very runner");
    assert!(
        any("something outside the workspace changed"),
        "an unguarded write must reach out in this very runner"
    );
    assert!(any("memory/ changed"), "an unguarded write must reach memory/ in this very runner");
}
