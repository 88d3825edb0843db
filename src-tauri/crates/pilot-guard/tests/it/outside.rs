//! Files that a person named by hand.

use crate::support::system;
use pilot_guard::{GuardError, OutsideFile, make_folder, save_outside};
use pilot_types::ErrorCode;
use std::fs;
use std::io::Read as _;
use std::path::Path;

fn read_outside(path: &Path, limit: u64) -> Result<Vec<u8>, GuardError> {
    let mut bytes = Vec::new();
    OutsideFile::open(path, limit)?.read_to_end(&mut bytes).expect("a file that is open is read");
    Ok(bytes)
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("there")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_copy_never_replaces_unless_the_person_said_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().join("report.md");
    save_outside(&place, b"first", false).expect("the place is free");
    let taken = save_outside(&place, b"second", false).expect_err("the place is taken");
    assert_eq!(taken.code(), ErrorCode::TargetChanged, "and that is said");
    assert_eq!(fs::read(&place).expect("there"), b"first", "what was there stays");
    save_outside(&place, b"third", true).expect("the dialog asked");
    assert_eq!(fs::read(&place).expect("there"), b"third", "then it is replaced, whole");
    assert_eq!(names(dir.path()), ["report.md"], "and no temporary file is left");
    let nowhere =
        save_outside(&dir.path().join("no/such/report.md"), b"x", false).expect_err("no such folder");
    assert_eq!(nowhere.code(), ErrorCode::NotFound, "a place that cannot be is said");
    assert!(
        !nowhere.to_string().contains(&dir.path().display().to_string()),
        "a message holds a name, not a path: {nowhere}"
    );
}

#[test]
fn a_picked_file_is_read_within_its_limit_and_nothing_else_is_opened() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("a.csv");
    fs::write(&file, b"0123456789").expect("written");
    assert_eq!(read_outside(&file, 10).expect("within"), b"0123456789", "exactly the limit is within it");
    assert_eq!(read_outside(&file, 9).expect_err("beyond").code(), ErrorCode::TooLarge, "more is refused");
    assert_eq!(
        read_outside(dir.path(), 10).expect_err("a folder").code(),
        ErrorCode::NotAFile,
        "a folder is no file"
    );
    let fifo = dir.path().join("fifo");
    system("mkfifo", &[fifo.to_str().expect("text")]);
    assert_eq!(
        read_outside(&fifo, 10).expect_err("a FIFO").code(),
        ErrorCode::PathSpecial,
        "a FIFO would wait for ever"
    );
    let gone = read_outside(&dir.path().join("gone"), 10).expect_err("nothing there");
    assert_eq!(gone.code(), ErrorCode::NotFound, "a file that went away is said");
}

#[test]
fn a_folder_is_made_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().join("demo");
    assert!(make_folder(&place).expect("made"), "new");
    assert!(!make_folder(&place).expect("there"), "taken as it stands the second time");
    let file = dir.path().join("file");
    fs::write(&file, b"").expect("written");
    assert!(make_folder(&file).is_err(), "a file of that name is no folder");
}
