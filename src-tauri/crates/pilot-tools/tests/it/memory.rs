//! `memory_write`, and what of memory gets into a prompt.

use crate::support::{Folder, code, written};
use pilot_tools::{MAX_MEMORY_BYTES, memory_block};
use pilot_types::ErrorCode;
use serde_json::json;

#[tokio::test]
async fn replace_and_append_do_what_they_say() {
    let folder = Folder::new(&[("memory/MEMORY.md", b"first\nsecond")]);
    let append = json!({"path": "memory/MEMORY.md", "mode": "append", "content": "third\n"});
    let (path, bytes) = written(folder.prepare("memory_write", append.clone()).await.expect("a write"));
    assert_eq!(
        (path.as_str(), bytes.as_slice()),
        ("memory/MEMORY.md", &b"first\nsecond\nthird\n"[..]),
        "whole lines"
    );
    folder.write("memory_write", append).await.expect("written");
    assert_eq!(folder.read("memory/MEMORY.md"), b"first\nsecond\nthird\n", "as prepared");
    let replace = json!({"path": "memory/MEMORY.md", "mode": "replace", "content": "only"});
    folder.write("memory_write", replace).await.expect("written");
    assert_eq!(folder.read("memory/MEMORY.md"), b"only", "replaced");
    let fresh = json!({"path": "memory/2026-03-01.md", "mode": "append", "content": "new page"});
    let answer = folder.write("memory_write", fresh).await.expect("written");
    assert_eq!(answer["created"], true, "appending to nothing makes the page");
}

#[tokio::test]
async fn memory_is_written_below_memory_only() {
    let folder = Folder::new(&[("memory/MEMORY.md", b"mem"), ("a.md", b"x")]);
    let before = folder.manifest();
    for path in [
        "a.md",
        "MEMORY.md",
        "Memory/a.md",
        "memory",
        "memory/",
        "memory/a.txt",
        "memory/.a.md",
        "memory/../a.md",
        "ｍｅｍｏｒｙ/a.md",
        "memory\u{200b}/a.md",
        "mem\u{ad}ory/a.md",
        "mеmory/a.md",
        "memory2/a.md",
        "skills/a.md",
    ] {
        let arguments = json!({"path": path, "mode": "replace", "content": "x"});
        assert!(folder.prepare("memory_write", arguments).await.is_err(), "{path:?} is not memory");
    }
    assert_eq!(folder.manifest(), before, "nothing was touched");
}

#[tokio::test]
async fn a_page_has_at_most_one_mebibyte_and_is_text() {
    let folder =
        Folder::new(&[("memory/MEMORY.md", &vec![b'x'; 1024 * 1024]), ("memory/bad.md", b"\xff\xfe\x00")]);
    let append = json!({"path": "memory/MEMORY.md", "mode": "append", "content": "y"});
    assert_eq!(
        code(folder.prepare("memory_write", append).await),
        ErrorCode::TooLarge,
        "together, not each alone"
    );
    let replace = json!({"path": "memory/MEMORY.md", "mode": "replace", "content": "y"});
    assert!(folder.prepare("memory_write", replace).await.is_ok(), "replacing makes it small again");
    let append = json!({"path": "memory/bad.md", "mode": "append", "content": "y"});
    assert_eq!(
        code(folder.prepare("memory_write", append).await),
        ErrorCode::ToolFailed,
        "no mixed encodings"
    );
}

#[tokio::test]
async fn a_prompt_gets_the_main_page_and_then_the_newest_day() {
    let folder = Folder::new(&[
        ("memory/MEMORY.md", "主页".as_bytes()),
        ("memory/2025-12-31.md", b"old day"),
        ("memory/2026-03-01.md", b"new day"),
        ("memory/2026-13-01.md", b"no day"),
        ("memory/zz.md", b"other"),
    ]);
    let block = memory_block(&folder.guard, true).expect("readable").expect("memory");
    let (main, day) = (block.find("主页").expect("main"), block.find("new day").expect("day"));
    assert!(main < day, "the newest stands last, so that a cut keeps it");
    assert!(
        !block.contains("old day") && !block.contains("no day") && !block.contains("other"),
        "one day only"
    );
    let empty = Folder::new(&[]);
    assert_eq!(memory_block(&empty.guard, true).expect("readable"), None, "no memory, no block");
}

#[tokio::test]
async fn a_huge_page_costs_only_its_end() {
    let folder = Folder::new(&[]);
    std::fs::create_dir(folder.path("memory")).expect("a folder");
    let page = std::fs::File::create(folder.path("memory/MEMORY.md")).expect("a file");
    page.set_len(4 << 30).expect("4 GiB without blocks");
    let began = std::time::Instant::now();
    let block = memory_block(&folder.guard, false).expect("readable").expect("memory");
    assert!(block.len() < MAX_MEMORY_BYTES + 512, "{} bytes", block.len());
    assert!(began.elapsed().as_secs() < 2, "only its end is read");
}

#[tokio::test]
async fn a_page_that_is_a_link_is_an_error_and_not_silence() {
    let folder = Folder::new(&[]);
    std::fs::create_dir(folder.path("memory")).expect("a folder");
    std::os::unix::fs::symlink("/etc/hostname", folder.path("memory/MEMORY.md")).expect("a link");
    let refused = memory_block(&folder.guard, false).map_err(|error| error.code());
    assert_eq!(refused, Err(ErrorCode::PathEscape), "a link out of the folder is refused with its code");
}
