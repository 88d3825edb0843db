//! What a refusal says, and what it does not.

use crate::support::{Bench, RESOLVERS};
use pilot_guard::Access;
use pilot_testkit::escapes::{Mounts, Setup, Stage};
use pilot_types::ErrorCode;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn every_reason_has_its_code_and_no_message_names_a_path_outside() {
    let mut stage = Stage::new();
    let ws = stage.workspace();
    fs::create_dir(ws.join("sub")).expect("a folder");
    fs::write(ws.join("report.md"), "inside").expect("a file");
    symlink(stage.outside(), ws.join("link")).expect("a link");
    symlink(stage.outside().join("nothing.md"), ws.join("dangling.md")).expect("a link");
    symlink("report.md", ws.join("in.md")).expect("a link");
    symlink("loop.md", ws.join("loop.md")).expect("a link");
    fs::hard_link(stage.outside().join("secret.md"), ws.join("hard.md")).expect("a hard link");
    stage.apply(&Setup::Fifo { at: "pipe.md".to_owned() }, Mounts::Skip);
    stage.apply(&Setup::Socket { at: "sock.md".to_owned() }, Mounts::Skip);
    let base = stage.base().to_string_lossy().into_owned();
    let inside = format!("{base}/ws/report.md");
    let url = format!("file://{base}/out/secret.md");
    let read = [
        (inside.as_str(), ErrorCode::PathAbsolute),
        (url.as_str(), ErrorCode::PathAbsolute),
        ("/etc/passwd", ErrorCode::PathAbsolute),
        ("../out/secret.md", ErrorCode::PathParent),
        ("", ErrorCode::PathInvalid),
        ("a\0b", ErrorCode::PathInvalid),
        ("link/secret.md", ErrorCode::PathEscape),
        ("dangling.md", ErrorCode::PathEscape),
        ("loop.md", ErrorCode::PathSymlink),
        ("hard.md", ErrorCode::PathHardlink),
        ("pipe.md", ErrorCode::PathSpecial),
        ("sock.md", ErrorCode::PathSpecial),
        ("nothing.md", ErrorCode::NotFound),
        ("nothing/x.md", ErrorCode::NotFound),
        ("sub", ErrorCode::NotAFile),
        (".", ErrorCode::NotAFile),
        ("report.md/x.md", ErrorCode::NotAFolder),
        ("report.md/", ErrorCode::NotAFolder),
    ];
    let write = [
        (inside.as_str(), ErrorCode::PathAbsolute),
        ("link/new.md", ErrorCode::PathSymlink),
        ("link/a/b/new.md", ErrorCode::PathSymlink),
        ("dangling.md", ErrorCode::PathSymlink),
        ("in.md", ErrorCode::PathSymlink),
        ("hard.md", ErrorCode::PathHardlink),
        ("pipe.md", ErrorCode::PathSpecial),
        ("sub.md/../x.md", ErrorCode::PathParent),
        ("report.md/x.md", ErrorCode::NotAFolder),
        ("report.md/", ErrorCode::NotAFile),
        ("memory/x.md", ErrorCode::PathProtected),
        ("run.sh", ErrorCode::PathExtension),
        ("CON.md", ErrorCode::PathName),
    ];
    for resolver in RESOLVERS {
        let bench = Bench::on(&stage, resolver);
        for (path, code) in read {
            let error = bench.read(path).expect_err(path);
            assert_eq!(error.code(), code, "{resolver:?} reading {path:?}: {error}");
            assert!(!error.to_string().contains(&base), "{resolver:?} {path:?}: {error}");
            assert!(!format!("{error:?}").contains(&base), "nor does the log form: {error:?}");
        }
        for (path, code) in write {
            for error in [
                bench.guard.check(path, Access::Write).expect_err(path),
                bench.write(path, b"x", None).expect_err(path),
            ] {
                assert_eq!(error.code(), code, "{resolver:?} writing {path:?}: {error}");
                assert!(!error.to_string().contains(&base), "{resolver:?} {path:?}: {error}");
            }
        }
        assert_eq!(
            bench.read("in.md").expect("a link that stays inside"),
            "inside",
            "{resolver:?}: may be read"
        );
    }
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
    let mut stage = Stage::new();
    stage.apply(&Setup::Sparse { at: "huge.md".to_owned(), size: 1 << 40 }, Mounts::Skip);
    fs::write(stage.workspace().join("ten.md"), "0123456789").expect("a file");
    let bench = Bench::on(&stage, RESOLVERS[0]);
    assert_eq!(bench.read("huge.md").expect_err("1 TiB").code(), ErrorCode::TooLarge, "nothing is allocated");
    assert_eq!(bench.guard.digest("huge.md").expect_err("1 TiB").code(), ErrorCode::TooLarge, "nor hashed");
    let mut ten = bench.guard.open_file("ten.md").expect("a file");
    assert_eq!(ten.read_all(10).expect("fits"), b"0123456789", "the limit itself fits");
    assert_eq!(ten.read_all(9).expect_err("too large").code(), ErrorCode::TooLarge, "one more does not");
    assert_eq!((ten.len(), ten.path().as_str()), (10, "ten.md"), "what was opened is known");
}

#[test]
fn a_handle_reads_what_was_opened_whatever_happens_to_the_name() {
    let stage = Stage::new();
    let place = stage.workspace().join("report.md");
    fs::write(&place, "inside").expect("a file");
    let bench = Bench::on(&stage, RESOLVERS[0]);
    let mut file = bench.guard.open_file("report.md").expect("opened");
    fs::remove_file(&place).expect("removed");
    symlink(stage.outside().join("secret.md"), &place).expect("swapped for a link");
    assert_eq!(
        file.read_all(100).expect("readable"),
        b"inside",
        "the handle is the permission, not the name"
    );
}
