//! `list_files` and `read_file`.

use crate::support::{Folder, code};
use pilot_types::ErrorCode;
use serde_json::json;
use std::time::Instant;

#[tokio::test]
async fn a_listing_is_two_levels_deep_and_says_when_it_is_cut() {
    let folder = Folder::new(&[("a/b/c/deep.md", b"x"), ("a/b/x.md", b"xy"), ("top.csv", b"a,b\n")]);
    let answer = folder.run("list_files", json!({})).await.expect("a listing");
    let paths: Vec<&str> =
        answer["entries"].as_array().into_iter().flatten().filter_map(|e| e["path"].as_str()).collect();
    assert_eq!(paths, ["a", "a/b", "top.csv"], "two levels, folders first");
    assert_eq!(answer["entries"][2]["size"], 4, "files have their size");
    assert_eq!(answer["entries"][0]["kind"], "folder", "folders are named so");
    assert!(answer["entries"][2]["modified"].as_str().is_some_and(|t| t.ends_with('Z')), "times are UTC");
    assert_eq!(answer["cut"], false, "everything is shown");
    for n in 0..150 {
        folder.put(&format!("many/{n:03}.md"), b"x");
    }
    let answer = folder.run("list_files", json!({"path": "many"})).await.expect("a listing");
    assert_eq!(answer["entries"].as_array().map(Vec::len), Some(100), "at most 100");
    assert_eq!(
        (&answer["cut"], &answer["total"]),
        (&json!(true), &json!(150)),
        "and it says that there is more"
    );
}

#[tokio::test]
async fn what_cannot_be_opened_is_listed_with_its_reason() {
    let folder = Folder::new(&[("a.md", b"x")]);
    std::os::unix::fs::symlink("/etc", folder.path("out")).expect("a link");
    let answer = folder.run("list_files", json!({})).await.expect("a listing");
    let out = answer["entries"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|entry| entry["path"] == "out")
        .expect("listed");
    assert_eq!(out["kind"], "refused", "a link that leads out is no file");
    assert!(out["code"].as_str().is_some(), "with its code");
    assert!(!answer.to_string().contains("/etc"), "where it leads is not said");
    assert_eq!(
        code(folder.run("list_files", json!({"path": "out"})).await),
        ErrorCode::PathEscape,
        "nor listed"
    );
    assert_eq!(
        code(folder.run("list_files", json!({"path": "../"})).await),
        ErrorCode::PathParent,
        "nor its parent"
    );
    assert_eq!(
        code(folder.run("list_files", json!({"path": "a.md"})).await),
        ErrorCode::NotAFolder,
        "a file is none"
    );
}

#[tokio::test]
async fn a_text_comes_in_windows_that_fit_together() {
    let text = "金额 1,585.00 元\n".repeat(20_000);
    let folder = Folder::new(&[("long.txt", text.as_bytes())]);
    let (mut whole, mut offset, mut calls) = (String::new(), 0_u64, 0);
    loop {
        let answer =
            folder.run("read_file", json!({"path": "long.txt", "offset": offset})).await.expect("a window");
        let window = answer["text"].as_str().expect("text");
        assert!(
            window.len() <= 102_400 && window.len() > 102_396 || answer["cut"] == false,
            "{}",
            window.len()
        );
        whole.push_str(window);
        calls += 1;
        match answer["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(whole, text, "nothing is lost or doubled at the seams");
    assert!(calls > 3, "it took several calls");
    let middle = folder.run("read_file", json!({"path": "long.txt", "offset": 1})).await.expect("a window");
    assert_eq!(middle["offset"], 0, "an offset inside a character begins at the character");
    let behind =
        folder.run("read_file", json!({"path": "long.txt", "offset": u64::MAX})).await.expect("a window");
    assert_eq!((&behind["text"], &behind["cut"]), (&json!(""), &json!(false)), "behind the end is nothing");
}

#[tokio::test]
async fn the_encoding_is_found_and_named() {
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("甲,1\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let gb: &[u8] = b"\xb9\xa9\xd3\xa6\xc9\xcc,\xbd\xf0\xb6\xee\n"; // 供应商,金额
    let folder =
        Folder::new(&[("bom.csv", b"\xEF\xBB\xBFa,b\n"), ("u16.txt", &utf16), ("gb.csv", gb), ("e.md", b"")]);
    for (path, encoding, text) in [
        ("bom.csv", "UTF-8", "a,b\n"),
        ("u16.txt", "UTF-16LE", "甲,1\n"),
        ("gb.csv", "gb18030", "供应商,金额\n"),
        ("e.md", "UTF-8", ""),
    ] {
        let answer = folder.run("read_file", json!({ "path": path })).await.expect("text");
        assert_eq!(answer["text"], text, "{path}");
        assert_eq!(answer["encoding"], encoding, "{path}");
        assert_eq!(answer["cut"], false, "{path}");
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_quickly_with_its_code() {
    let folder = Folder::new(&[("a.pdf", b"%PDF-1.4"), ("bin.txt", b"a\0b\0\0\xff\x01"), ("dir/x.md", b"x")]);
    let sparse = std::fs::File::create(folder.path("sparse.csv")).expect("a file");
    sparse.set_len(4 << 30).expect("4 GiB without blocks");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .expect("a FIFO");
    std::fs::hard_link(folder.path("dir/x.md"), folder.path("second.md")).expect("a second name");
    let began = Instant::now();
    for (path, expected) in [
        ("a.pdf", ErrorCode::DocumentUnsupported),
        ("bin.txt", ErrorCode::DocumentUnsupported),
        ("sparse.csv", ErrorCode::TooLarge),
        ("pipe.md", ErrorCode::PathSpecial),
        ("second.md", ErrorCode::PathHardlink),
        ("missing.md", ErrorCode::NotFound),
        ("/etc/hosts.txt", ErrorCode::PathAbsolute),
        ("../x.md", ErrorCode::PathParent),
    ] {
        assert_eq!(code(folder.run("read_file", json!({ "path": path })).await), expected, "{path}");
    }
    assert!(began.elapsed().as_secs() < 5, "none of them may hang");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused() {
    let folder = Folder::new(&[("a.md", b"x")]);
    for arguments in
        [json!({}), json!({"path": null}), json!({"path": ["a.md"]}), json!({"path": "a.md", "x": 1})]
    {
        assert_eq!(
            code(folder.run("read_file", arguments.clone()).await),
            ErrorCode::InvalidArguments,
            "{arguments}"
        );
    }
}
