//! Listing, walking, counting.

use crate::support::{Bench, RESOLVERS};
use pilot_guard::{EntryKind, ListOptions};
use pilot_testkit::escapes::{Mounts, Setup, Stage};
use pilot_types::ErrorCode;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn options(depth: u32, limit: usize, offset: usize) -> ListOptions {
    ListOptions { depth, limit, offset }
}

fn folder() -> Stage {
    let mut stage = Stage::new();
    let ws = stage.workspace();
    for folder in ["b", "a", "a/deep", "memory", "skills", ".git"] {
        fs::create_dir(ws.join(folder)).expect("a folder");
    }
    for file in [
        "z.md",
        "c.csv",
        "a/2.md",
        "a/1.md",
        "a/deep/x.md",
        "memory/MEMORY.md",
        "skills/s.md",
        ".git/config",
        ".env",
    ] {
        fs::write(ws.join(file), "inside").expect("a file");
    }
    symlink(".", ws.join("self")).expect("a link");
    symlink("c.csv", ws.join("in.csv")).expect("a link");
    symlink(stage.outside(), ws.join("out")).expect("a link");
    fs::hard_link(stage.outside().join("secret.md"), ws.join("hard.md")).expect("a hard link");
    fs::write(ws.join(OsStr::from_bytes(b"\xff.md")), "x").expect("a name that is not text");
    fs::write(ws.join("new\nline.md"), "x").expect("a name that forges a line");
    stage.apply(&Setup::Fifo { at: "pipe".to_owned() }, Mounts::Skip);
    stage
}

#[test]
fn folders_come_first_and_refused_entries_say_why() {
    let stage = folder();
    for resolver in RESOLVERS {
        let bench = Bench::on(&stage, resolver);
        let listing = bench.guard.list(".", &options(1, 100, 0)).expect("a listing");
        let found: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        let refused = EntryKind::Refused;
        let expected = [
            (".git", EntryKind::Folder),
            ("a", EntryKind::Folder),
            ("b", EntryKind::Folder),
            ("memory", EntryKind::Folder),
            ("skills", EntryKind::Folder),
            (".env", EntryKind::File),
            ("c.csv", EntryKind::File),
            ("hard.md", refused(ErrorCode::PathHardlink)),
            ("in.csv", EntryKind::File),
            ("new\nline.md", refused(ErrorCode::PathInvalid)),
            ("out", refused(ErrorCode::PathEscape)),
            ("pipe", refused(ErrorCode::PathSpecial)),
            ("self", EntryKind::Folder),
            ("z.md", EntryKind::File),
            ("\u{fffd}.md", refused(ErrorCode::PathInvalid)),
        ];
        assert_eq!(found, expected, "{resolver:?}");
        assert_eq!((listing.total, listing.cut), (15, false), "all of them");
        let size = |name| listing.entries.iter().find(|entry| entry.name == name).map(|entry| entry.size);
        assert_eq!(size("z.md"), Some(Some(6)), "a file has its size");
        assert_eq!(size("in.csv"), Some(Some(6)), "a link inside that of what it leads to");
        assert_eq!(size("hard.md"), Some(None), "nothing is said about what is refused");
    }
}

#[test]
fn pages_together_are_the_whole_at_any_depth() {
    let stage = folder();
    let many = stage.workspace().join("b");
    for number in 0..500 {
        fs::write(many.join(format!("{:03}.md", (number * 7919) % 500)), "").expect("a file");
    }
    let bench = Bench::on(&stage, RESOLVERS[0]);
    for depth in [1, 2, 3] {
        let whole = bench.guard.list("", &options(depth, 10_000, 0)).expect("a listing");
        assert!(!whole.cut && whole.total == whole.entries.len(), "the whole is not cut");
        for limit in [1, 7, 100] {
            let mut pages = Vec::new();
            loop {
                let page = bench.guard.list("", &options(depth, limit, pages.len())).expect("a page");
                assert_eq!(page.total, whole.total, "every page knows the total");
                assert!(page.entries.len() <= limit, "no page is longer than asked");
                pages.extend(page.entries);
                assert_eq!(page.cut, pages.len() < whole.total, "a page says whether more follows");
                if !page.cut {
                    break;
                }
            }
            assert_eq!(pages, whole.entries, "depth {depth}, pages of {limit}");
        }
    }
    let deep = bench.guard.list(".", &options(3, 100, 0)).expect("a listing");
    let paths: Vec<&str> = deep.entries.iter().map(|entry| entry.path.as_str()).take(7).collect();
    let expected = [".git", ".git/config", "a", "a/deep", "a/deep/x.md", "a/1.md", "a/2.md"];
    assert_eq!(paths, expected, "the entries of a folder follow it");
    let beyond = bench.guard.list(".", &options(1, 10, 9_999)).expect("a page");
    assert_eq!((beyond.entries.len(), beyond.cut), (0, false), "beyond the end there is nothing");
    let none = bench.guard.list(".", &options(1, 0, 0)).expect("a page");
    assert_eq!((none.entries.len(), none.cut), (0, true), "a page of nothing says that there is more");
}

#[test]
fn a_walk_finds_readable_files_and_says_when_it_left_some_out() {
    let stage = folder();
    for resolver in RESOLVERS {
        let guard = Bench::on(&stage, resolver).guard;
        let all = ["a/1.md", "a/2.md", "a/deep/x.md", "c.csv", "z.md"].map(str::to_owned).to_vec();
        assert_eq!(
            guard.walk(".", 4, 100).expect("a walk"),
            (all.clone(), false),
            "{resolver:?}: sorted, plain files"
        );
        let (some, more) = guard.walk(".", 2, 100).expect("a walk");
        assert_eq!((some.len(), more), (4, true), "a folder that is too deep is said");
        let (some, more) = guard.walk(".", 4, 3).expect("a walk");
        assert_eq!((some.len(), more), (3, true), "a limit is said");
        assert_eq!(guard.walk(".", 4, 5).expect("a walk"), (all, false), "exactly the limit is not more");
        assert_eq!(
            guard.walk("memory", 1, 9).expect("a walk").0,
            ["memory/MEMORY.md"],
            "memory/ when asked for"
        );
        assert_eq!(
            guard.walk("z.md", 1, 9).expect_err("a file").code(),
            ErrorCode::NotAFolder,
            "a file is no folder"
        );
        assert_eq!(
            guard.walk("out", 1, 9).expect_err("out").code(),
            ErrorCode::PathEscape,
            "nor is what leads out"
        );
        // Two odd names and the hard link are files too.
        assert_eq!(
            guard.count_files(1_000).expect("a count"),
            (12, false),
            "{resolver:?}: every ordinary file"
        );
        assert_eq!(guard.count_files(5).expect("a count"), (5, true), "counting stops at the limit");
    }
}
