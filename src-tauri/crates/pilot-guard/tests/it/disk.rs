//! Disks that are full, read-only, or not ours.

use crate::support::{Bench, RESOLVERS, as_plain_user, in_mount_namespace, system};
use pilot_guard::{Access, UndoLimits, UndoStore, WorkspaceGuard};
use pilot_testkit::escapes::{Stage, tree};
use pilot_types::{Digest, ErrorCode};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("a temporary path is text")
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    if !in_mount_namespace("disk::a_full_disk_leaves_the_old_file_and_nothing_else") {
        return;
    }
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let ws = stage.workspace();
        system("mount", &["-t", "tmpfs", "-o", "size=256k,nr_inodes=16", "tmpfs", text(&ws)]);
        let bench = Bench::on(&stage, resolver);
        fs::write(ws.join("report.md"), "old").expect("the old file");
        let before = tree(&ws);
        let (big, base) = (vec![b'x'; 1 << 20], Digest::of(b"old"));
        for size in [256 * 1024, 300_000, 1 << 20] {
            let refused = bench.write("report.md", &big[..size], Some(&base)).expect_err("no space");
            assert_eq!(refused.code(), ErrorCode::DiskFull, "{resolver:?}: {size} bytes do not fit");
            let refused = bench.write("a/b/new.md", &big[..size], None).expect_err("no space");
            assert_eq!(refused.code(), ErrorCode::DiskFull, "{resolver:?}: {size} bytes do not fit");
            assert_eq!(tree(&ws), before, "{resolver:?}: the old file stands, nothing is left");
        }
        // Every folder takes an inode: the way breaks off in the middle.
        let deep = format!("{}x.md", "d/".repeat(20));
        let refused = bench.write(&deep, b"x", None).expect_err("no inode");
        assert_eq!(refused.code(), ErrorCode::DiskFull, "{resolver:?}: no inode is left");
        assert_eq!(tree(&ws), before, "{resolver:?}: folders made on the way are gone again");
        bench.write("report.md", b"new", Some(&base)).expect("what fits is written");
        system("umount", &["-l", text(&ws)]);
    }
}

#[test]
fn a_full_undo_disk_stops_the_write_before_the_target_changes() {
    if !in_mount_namespace("disk::a_full_undo_disk_stops_the_write_before_the_target_changes") {
        return;
    }
    let stage = Stage::new();
    system("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs", text(&stage.data())]);
    let bench = Bench::on(&stage, RESOLVERS[0]);
    // Text that does not get smaller.
    let old: String = (0..400_000_u64)
        .map(|n| char::from(b'!' + (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 13) as u8 % 90))
        .collect();
    fs::write(stage.workspace().join("report.md"), &old).expect("the old file");
    let before = tree(&stage.workspace());
    let refused =
        bench.write("report.md", b"new", Some(&Digest::of(old.as_bytes()))).expect_err("cannot be kept");
    assert_eq!(refused.code(), ErrorCode::DiskFull, "bytes that cannot be kept are not replaced");
    assert_eq!(tree(&stage.workspace()), before, "the old file stands, nothing is left");
    assert_eq!(bench.undo.usage().expect("usage").entries, 0, "and nothing half is kept");
    system("umount", &["-l", text(&stage.data())]);
}

#[test]
fn a_read_only_disk_is_named_as_such() {
    if !in_mount_namespace("disk::a_read_only_disk_is_named_as_such") {
        return;
    }
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let ws = stage.workspace();
        fs::write(ws.join("report.md"), "old").expect("the old file");
        system("mount", &["--bind", text(&ws), text(&ws)]);
        system("mount", &["-o", "remount,ro,bind", text(&ws)]);
        let bench = Bench::on(&stage, resolver);
        assert_eq!(bench.read("report.md").expect("readable"), "old", "reading goes on");
        for (path, base) in [("report.md", Some(Digest::of(b"old"))), ("new.md", None), ("a/new.md", None)] {
            let refused = bench.write(path, b"new", base.as_ref()).expect_err("read-only");
            assert_eq!(refused.code(), ErrorCode::ReadOnly, "{resolver:?} {path}");
        }
        let refused = bench.guard.remove("report.md", Access::Write, &Digest::of(b"old"), &bench.undo);
        assert_eq!(
            refused.expect_err("read-only").code(),
            ErrorCode::ReadOnly,
            "{resolver:?}: nor is it removed"
        );
        system("umount", &["-l", text(&ws)]);
    }
}

#[test]
fn a_mount_inside_is_listed_as_refused_and_never_entered() {
    if !in_mount_namespace("disk::a_mount_inside_is_listed_as_refused_and_never_entered") {
        return;
    }
    use pilot_guard::{EntryKind, ListOptions};
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let mount = stage.workspace().join("mnt");
        fs::create_dir(&mount).expect("the mount point");
        system("mount", &["--bind", text(&stage.outside()), text(&mount)]);
        let bench = Bench::on(&stage, resolver);
        let listing =
            bench.guard.list(".", &ListOptions { depth: 2, limit: 100, offset: 0 }).expect("a listing");
        let kinds: Vec<_> = listing.entries.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
        assert_eq!(
            kinds,
            [("mnt", EntryKind::Refused(ErrorCode::PathMount))],
            "{resolver:?}: named, not entered"
        );
        assert_eq!(
            bench.guard.walk(".", 4, 100).expect("a walk"),
            (vec![], false),
            "{resolver:?}: not walked"
        );
        assert_eq!(bench.guard.count_files(100).expect("a count"), (0, false), "{resolver:?}: not counted");
        let refused = bench.guard.check("mnt/secret.md", Access::Read).expect_err("a mount");
        assert_eq!(refused.code(), ErrorCode::PathMount, "{resolver:?}: with its own reason");
        system("umount", &["-l", text(&mount)]);
    }
}

#[test]
fn permissions_are_obeyed_and_named() {
    if !as_plain_user("disk::permissions_are_obeyed_and_named") {
        return;
    }
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let ws = stage.workspace();
        fs::create_dir(ws.join("closed")).expect("a folder");
        fs::write(ws.join("closed/report.md"), "old").expect("its file");
        fs::write(ws.join("secret.md"), "x").expect("a file");
        fs::set_permissions(ws.join("secret.md"), fs::Permissions::from_mode(0o000)).expect("its mode");
        fs::set_permissions(ws.join("closed"), fs::Permissions::from_mode(0o555)).expect("its mode");
        let bench = Bench::on(&stage, resolver);
        let refused = bench.read("secret.md").expect_err("not readable");
        assert_eq!(refused.code(), ErrorCode::PermissionDenied, "{resolver:?}: a file without permission");
        for (path, base) in
            [("closed/report.md", Some(Digest::of(b"old"))), ("closed/new.md", None), ("closed/a/b.md", None)]
        {
            let refused = bench.write(path, b"new", base.as_ref()).expect_err("not writable");
            assert_eq!(refused.code(), ErrorCode::PermissionDenied, "{resolver:?} {path}");
        }
        fs::set_permissions(ws.join("closed"), fs::Permissions::from_mode(0o000)).expect("its mode");
        let refused = bench.read("closed/report.md").expect_err("not reachable");
        assert_eq!(refused.code(), ErrorCode::PermissionDenied, "{resolver:?}: a folder without permission");
        let (files, more) = bench.guard.walk(".", 4, 100).expect("a walk");
        assert_eq!(
            (files, more),
            (vec!["secret.md".to_owned()], true),
            "{resolver:?}: what is left out is said"
        );
        fs::set_permissions(ws.join("closed"), fs::Permissions::from_mode(0o755)).expect("its mode");
        assert_eq!(
            fs::read(ws.join("closed/report.md")).expect("readable"),
            b"old",
            "and nothing was changed"
        );
    }
}

#[test]
fn a_store_that_cannot_be_made_is_an_error_without_a_path() {
    let stage = Stage::new();
    fs::write(stage.data().join("undo"), "a file").expect("something in the way");
    let error = UndoStore::open(&stage.data().join("undo"), UndoLimits::default()).expect_err("not a folder");
    assert!(!error.to_string().contains(text(stage.base())), "no message names a path: {error}");
    let error = WorkspaceGuard::open(&stage.base().join("nothing")).expect_err("no folder");
    assert_eq!(error.code(), ErrorCode::WorkspaceGone, "a workspace that is not there");
    let error = WorkspaceGuard::open(&stage.data().join("undo")).expect_err("no folder");
    assert_eq!(error.code(), ErrorCode::WorkspaceNotFolder, "a workspace that is a file");
}
