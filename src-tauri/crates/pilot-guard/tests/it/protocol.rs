//! The write protocol: old or new, never half, nothing left behind, nothing lost.

use crate::support::{Bench, RESOLVERS, StopOnDrop};
use pilot_guard::{Access, FileCopy, FileWrite, Resolver, temp_name};
use pilot_testkit::escapes::{Stage, tree};
use pilot_types::{Digest, ErrorCode};
use rustix::fs::{CWD, RenameFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn a_new_file_is_made_with_its_folders_and_nothing_else() {
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let bench = Bench::on(&stage, resolver);
        let written = bench.write("发票/2025/汇总.md", b"total", None).expect("a new file");
        assert_eq!(written.digest, Digest::of(b"total"), "the digest is that of the bytes");
        assert_eq!(
            (written.size, written.created, written.kept),
            (5, true, None),
            "a creation replaces nothing"
        );
        let expected = [("发票", "folder"), ("发票/2025", "folder"), ("发票/2025/汇总.md", "file total")];
        let expected = expected.map(|(path, what)| (path.to_owned(), what.to_owned())).into();
        assert_eq!(tree(&stage.workspace()), expected, "{resolver:?}: exactly the file and its folders");
        let mode =
            fs::metadata(stage.workspace().join("发票/2025/汇总.md")).expect("the file").permissions().mode();
        assert_eq!(mode & 0o133, 0, "neither executable nor writable by others");
    }
}

#[test]
fn what_a_write_replaces_is_kept_and_its_permissions_stay() {
    for resolver in RESOLVERS {
        for mode in [0o600, 0o644, 0o755] {
            let stage = Stage::new();
            let bench = Bench::on(&stage, resolver);
            let place = stage.workspace().join("report.md");
            fs::write(&place, "old").expect("the old file");
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).expect("its mode");
            let mut held = fs::File::open(&place).expect("somebody reads the old file");
            let old = Digest::of(b"old");
            let written = bench.write("report.md", b"new", Some(&old)).expect("a replacement");
            assert_eq!(written.kept, Some(old.clone()), "the replaced bytes are named");
            assert!(!written.created, "something stood there");
            assert_eq!(
                bench.undo.get(&old).expect("readable"),
                Some(b"old".to_vec()),
                "the replaced bytes are kept"
            );
            let now = fs::metadata(&place).expect("the new file").permissions().mode() & 0o777;
            assert_eq!(now, mode, "a replaced file keeps its permissions");
            let mut seen = String::new();
            held.read_to_string(&mut seen).expect("readable");
            assert_eq!(seen, "old", "an inode that exists is never written to");
            let only = [("report.md".to_owned(), "file new".to_owned())].into();
            assert_eq!(tree(&stage.workspace()), only, "{resolver:?}: no temporary file is left");
        }
    }
}

#[test]
fn a_target_that_is_not_what_was_shown_is_never_replaced() {
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let bench = Bench::on(&stage, resolver);
        fs::write(stage.workspace().join("report.md"), "theirs").expect("the file");
        let before = tree(&stage.workspace());
        let shown = Digest::of(b"what the card showed");
        let cases = [
            ("report.md", Some(&shown), "it has other bytes"),
            ("report.md", None, "nothing was there"),
            ("gone.md", Some(&shown), "it was deleted"),
            ("new/folder/gone.md", Some(&shown), "it was deleted with its folder"),
        ];
        for (path, base, why) in cases {
            let refused = bench.write(path, b"ours", base).expect_err(why);
            assert_eq!(refused.code(), ErrorCode::TargetChanged, "{path}: {why}");
            assert_eq!(
                tree(&stage.workspace()),
                before,
                "{resolver:?} {path}: nothing may change or be left"
            );
        }
    }
}

#[test]
fn a_refusal_after_folders_were_made_takes_them_away_again() {
    let stage = Stage::new();
    let bench = Bench::on(&stage, Resolver::Auto);
    let temp = temp_name("x");
    let long = format!("a/b/c/{}.md", "n".repeat(253));
    for path in ["a/b/c/run.sh", "a/b/c/.md", "a/b/c/CON.md", "a/b/..c/x.md", "a/../x.md", long.as_str()] {
        let write = FileWrite { path, access: Access::Write, bytes: b"x", base: None, temp_name: &temp };
        assert!(bench.guard.create_or_replace(&write, &bench.undo).is_err(), "{path} is refused");
        assert_eq!(
            tree(&stage.workspace()),
            [].into(),
            "{path}: the whole path is looked at before the first folder"
        );
    }
    let write = FileWrite {
        path: "a/x.md",
        access: Access::Write,
        bytes: b"x",
        base: None,
        temp_name: "../evil.tmp",
    };
    let refused = bench.guard.create_or_replace(&write, &bench.undo).expect_err("a foreign temporary name");
    assert_eq!(refused.code(), ErrorCode::PathInvalid, "only names that we make");
    assert_eq!(tree(&stage.workspace()), [].into(), "and nothing is left");
}

#[test]
fn a_leftover_of_the_same_operation_is_replaced_and_can_be_swept() {
    let stage = Stage::new();
    let bench = Bench::on(&stage, Resolver::Auto);
    let temp = temp_name("operation-1");
    fs::create_dir(stage.workspace().join("sub")).expect("a folder");
    let leftover = stage.workspace().join("sub").join(&temp);
    fs::write(&leftover, "half").expect("a leftover");
    assert!(bench.guard.sweep_temp("sub/report.md", &temp).expect("swept"), "there was one");
    assert!(!bench.guard.sweep_temp("sub/report.md", &temp).expect("swept"), "there is none now");
    assert!(!bench.guard.sweep_temp("gone/report.md", &temp).expect("swept"), "nor in a folder that is gone");
    assert!(
        bench.guard.sweep_temp("sub/report.md", "report.md").is_err(),
        "a file of the person is never swept"
    );
    fs::write(&leftover, "half").expect("a leftover");
    let write = FileWrite {
        path: "sub/report.md",
        access: Access::Write,
        bytes: b"whole",
        base: None,
        temp_name: &temp,
    };
    bench.guard.create_or_replace(&write, &bench.undo).expect("the operation is done again");
    let files: Vec<String> = tree(&stage.workspace()).into_values().filter(|what| what != "folder").collect();
    assert_eq!(files, ["file whole"], "one file, whole");
}

#[test]
fn undoing_a_creation_removes_exactly_that_file() {
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let bench = Bench::on(&stage, resolver);
        let made = bench.write("sub/report.md", b"made", None).expect("a creation").digest;
        let other = Digest::of(b"other");
        let refused =
            bench.guard.remove("sub/report.md", Access::Write, &other, &bench.undo).expect_err("changed");
        assert_eq!(refused.code(), ErrorCode::TargetChanged, "only what was made is removed");
        assert!(stage.workspace().join("sub/report.md").exists(), "a refused undo changes nothing");
        bench.guard.remove("sub/report.md", Access::Write, &made, &bench.undo).expect("an undo");
        assert_eq!(
            tree(&stage.workspace()),
            [("sub".to_owned(), "folder".to_owned())].into(),
            "the file is gone"
        );
        assert!(bench.undo.contains(&made), "an undo can itself be gone back on");
        let again = bench.guard.remove("sub/report.md", Access::Write, &made, &bench.undo).expect_err("gone");
        assert_eq!(again.code(), ErrorCode::TargetChanged, "it can be undone once");
    }
}

#[test]
fn memory_is_changed_by_its_own_access_and_by_the_person_only() {
    let stage = Stage::new();
    let bench = Bench::on(&stage, Resolver::Auto);
    bench.put(Access::Memory, "memory/MEMORY.md", b"a fact").expect("memory_write makes its folder");
    bench.put(Access::Operator, "memory/MEMORY.md", b"another fact").expect("the person edits it");
    let refused = bench.put(Access::Write, "memory/MEMORY.md", b"a lie").expect_err("write_file");
    assert_eq!(refused.code(), ErrorCode::PathProtected, "write_file never reaches memory/");
    let refused = bench.put(Access::Memory, "report.md", b"x").expect_err("outside memory/");
    assert_eq!(refused.code(), ErrorCode::PathProtected, "memory_write reaches nothing else");
    assert_eq!(bench.read("memory/MEMORY.md").expect("readable"), "another fact", "and anybody may read it");
}

#[test]
fn a_replaced_root_is_noticed_before_anything_is_written() {
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let bench = Bench::on(&stage, resolver);
        let (ws, aside) = (stage.workspace(), stage.base().join("aside"));
        assert!(bench.guard.still_there().is_ok(), "the folder is where it was");
        fs::rename(&ws, &aside).expect("the folder is moved");
        let gone = bench.put(Access::Write, "report.md", b"x").expect_err("gone");
        assert_eq!(gone.code(), ErrorCode::WorkspaceGone, "a folder that was unplugged or moved");
        let gone = bench.write("report.md", b"x", None).expect_err("gone");
        assert_eq!(gone.code(), ErrorCode::WorkspaceGone, "also without a check before");
        fs::create_dir(&ws).expect("another folder");
        let replaced = bench.write("report.md", b"x", None).expect_err("replaced");
        assert_eq!(replaced.code(), ErrorCode::WorkspaceReplaced, "also without a check before");
        let replaced = bench.put(Access::Write, "report.md", b"x").expect_err("replaced");
        assert_eq!(replaced.code(), ErrorCode::WorkspaceReplaced, "another folder of the same name");
        assert_eq!((tree(&ws), tree(&aside)), ([].into(), [].into()), "neither folder was touched");
        let anew = Bench::on(&stage, resolver);
        assert_ne!(anew.guard.identity(), bench.guard.identity(), "a resumed task can tell them apart");
    }
}

#[test]
fn of_many_that_create_one_file_exactly_one_does() {
    for round in 0..20 {
        let stage = Stage::new();
        let bench = Bench::on(&stage, RESOLVERS[round % 2]);
        let done = contend(8, |index| {
            let (path, temp) = ("new/report.md", temp_name(&format!("w{index}")));
            let bytes = format!("by {index}");
            let write = FileWrite {
                path,
                access: Access::Write,
                bytes: bytes.as_bytes(),
                base: None,
                temp_name: &temp,
            };
            bench.guard.create_or_replace(&write, &bench.undo).map(|_| ()).map_err(|error| error.code())
        });
        assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1, "one creation: {done:?}");
        let lost = done.iter().flat_map(|result| result.err()).all(|code| code == ErrorCode::TargetChanged);
        assert!(lost, "the others are told that the target changed: {done:?}");
        assert_eq!(tree(&stage.workspace()).len(), 2, "the folder and the file, no temporary file");
    }
}

#[test]
fn of_many_that_replace_one_file_exactly_one_does() {
    for round in 0..20 {
        let stage = Stage::new();
        let bench = Bench::on(&stage, RESOLVERS[round % 2]);
        fs::write(stage.workspace().join("report.md"), "base").expect("the file");
        let base = Digest::of(b"base");
        let done = contend(8, |index| {
            let temp = temp_name(&format!("w{index}"));
            let bytes = format!("by {index}");
            let write = FileWrite {
                path: "report.md",
                access: Access::Write,
                bytes: bytes.as_bytes(),
                base: Some(&base),
                temp_name: &temp,
            };
            bench.guard.create_or_replace(&write, &bench.undo).map(|_| ()).map_err(|error| error.code())
        });
        let won = done.iter().position(Result::is_ok);
        assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1, "one replacement: {done:?}");
        let expected = format!("file by {}", won.expect("one won"));
        let only = [("report.md".to_owned(), expected)].into();
        assert_eq!(tree(&stage.workspace()), only, "the winner's bytes stand, no temporary file is left");
    }
}

fn contend<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|index| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(index)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// An editor saves all the time while the guard replaces. Whatever the editor saved was seen by the editor when it
/// saved over it, or lies in the undo store: nothing is lost between the check and the rename.
#[test]
fn no_save_of_an_editor_is_lost() {
    let stage = Stage::new();
    let bench = Bench::on(&stage, Resolver::Auto);
    let (target, side) = (stage.workspace().join("report.md"), stage.base().join("side.md"));
    fs::write(&target, "save 0").expect("the file");
    let stop = AtomicBool::new(false);
    let (mut replaced, mut refused) = (0, 0);
    let (saves, seen) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let (mut count, mut seen) = (0, BTreeSet::new());
            while !stop.load(Ordering::Relaxed) {
                count += 1;
                fs::write(&side, format!("save {count}")).expect("the editor's file");
                rustix::fs::renameat_with(CWD, &side, CWD, &target, RenameFlags::EXCHANGE).expect("a save");
                seen.insert(fs::read_to_string(&side).expect("what it saved over"));
                fs::remove_file(&side).expect("removed");
                if count % 2 == 0 {
                    std::thread::sleep(Duration::from_micros(400));
                }
            }
            (count, seen)
        });
        let until = StopOnDrop(&stop);
        for number in 0..400 {
            match bench.put(Access::Write, "report.md", format!("ours {number}").as_bytes()) {
                Ok(_) => replaced += 1,
                // The editor saved over it before it could be read back.
                Err(error) if error.code() == ErrorCode::OutcomeUnknown => replaced += 1,
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::TargetChanged, "the only reason to refuse: {error}");
                    refused += 1;
                }
            }
        }
        drop(until);
        editor.join().expect("no panic")
    });
    let last = fs::read_to_string(&target).expect("the file");
    let lost: Vec<String> = (0..=saves)
        .map(|number| format!("save {number}"))
        .filter(|save| {
            *save != last && !seen.contains(save) && !bench.undo.contains(&Digest::of(save.as_bytes()))
        })
        .collect();
    println!("{saves} saves, {replaced} replaced, {refused} refused, {} lost", lost.len());
    assert_eq!(lost, Vec::<String>::new(), "every save is somewhere");
    assert!(replaced > 0 && refused > 0, "both must have been met: {replaced} replaced, {refused} refused");
    assert_eq!(tree(&stage.workspace()).len(), 1, "and no temporary file is left");
}

/// Gives some bytes and then fails.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("stopped"));
        }
        let count = buffer.len().min(self.0);
        buffer[..count].fill(b'x');
        self.0 -= count;
        Ok(count)
    }
}

#[test]
fn a_copy_from_a_reader_is_whole_or_not_there() {
    for resolver in RESOLVERS {
        let stage = Stage::new();
        let bench = Bench::on(&stage, resolver);
        let large = vec![b'x'; 3 << 20];
        let digest = Digest::of(&large);
        let temp = temp_name("copy");
        let copy =
            |path, base| FileCopy { path, access: Access::Operator, digest: &digest, base, temp_name: &temp };
        let put = |copy: &FileCopy<'_>, reader: &mut dyn Read| {
            bench.guard.copy_in(copy, reader, &bench.undo).map_err(|error| error.code())
        };

        let failed = put(&copy("deep/scan.bin", None), &mut Failing(1 << 20)).unwrap_err();
        assert_eq!(failed, ErrorCode::IoFailed, "a reader that fails is an error");
        let other = put(&copy("deep/scan.bin", None), &mut &b"something else"[..]).unwrap_err();
        assert_eq!(other, ErrorCode::TargetChanged, "bytes that nobody announced are not put in place");
        assert_eq!(
            tree(&stage.workspace()),
            BTreeMap::new(),
            "{resolver:?}: no file, folder or temporary file"
        );

        let written = put(&copy("deep/scan.bin", None), &mut &large[..]).expect("a whole copy");
        assert_eq!(
            (written.digest, written.size),
            (digest.clone(), large.len() as u64),
            "read back from the disk"
        );
        let taken = put(&copy("deep/scan.bin", None), &mut &large[..]).unwrap_err();
        assert_eq!(taken, ErrorCode::TargetChanged, "a name that is taken is not replaced");

        fs::write(stage.workspace().join("old.bin"), "old").expect("the old file");
        let base = Digest::of(b"old");
        let failed = put(&copy("old.bin", Some(&base)), &mut Failing(10)).unwrap_err();
        assert_eq!(failed, ErrorCode::IoFailed, "cut off in the middle");
        assert_eq!(
            fs::read(stage.workspace().join("old.bin")).expect("there"),
            b"old",
            "the old file stands"
        );
        put(&copy("old.bin", Some(&base)), &mut &large[..]).expect("replaced");
        assert_eq!(
            bench.undo.get(&base).expect("readable"),
            Some(b"old".to_vec()),
            "what it replaced is kept"
        );
    }
}
