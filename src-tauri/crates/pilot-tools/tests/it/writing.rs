//! `write_file`: what is prepared is what is written.

use crate::support::{Folder, code, written};
use pilot_types::{Digest, ErrorCode, PreparedEffect};
use serde_json::json;

#[tokio::test]
async fn markdown_is_written_to_the_byte_and_can_be_taken_back() {
    let folder = Folder::new(&[("r.md", b"old")]);
    let arguments = json!({"path": "./r.md", "content": "# 汇总\r\nno line end"});
    let effect = folder.prepare("write_file", arguments.clone()).await.expect("a write");
    let expected = PreparedEffect::WriteFile {
        path: "r.md".into(),
        bytes: "# 汇总\r\nno line end".as_bytes().to_vec(),
        base: Some(Digest::of(b"old")),
    };
    assert_eq!(effect, expected, "path in one spelling, bytes as given, base as it stands");
    assert_eq!(folder.read("r.md"), b"old", "preparing has no effect");
    let answer = folder.perform("write_file", arguments, effect).await.expect("written");
    assert_eq!(folder.read("r.md"), "# 汇总\r\nno line end".as_bytes(), "the bytes that were prepared");
    assert_eq!(
        (&answer["created"], &answer["path"]),
        (&json!(false), &json!("r.md")),
        "and it says what it did"
    );
    assert_eq!(answer["digest"], Digest::of("# 汇总\r\nno line end".as_bytes()).as_str(), "with the digest");
    assert_eq!(
        folder.undo.get(&Digest::of(b"old")).expect("kept"),
        Some(b"old".to_vec()),
        "old bytes are kept"
    );
}

#[tokio::test]
async fn a_new_file_may_need_new_folders_and_leaves_nothing_else() {
    let folder = Folder::new(&[]);
    let answer =
        folder.write("write_file", json!({"path": "out/2026/r.md", "content": "x"})).await.expect("written");
    assert_eq!((&answer["created"], &answer["size"]), (&json!(true), &json!(1)), "made, one byte");
    let names: Vec<String> = folder.manifest().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["out", "out/2026", "out/2026/r.md"], "no temporary file stays");
}

#[tokio::test]
async fn a_target_that_changed_is_not_overwritten() {
    let folder = Folder::new(&[("r.md", b"old")]);
    let arguments = json!({"path": "r.md", "content": "new"});
    let effect = folder.prepare("write_file", arguments.clone()).await.expect("a write");
    folder.put("r.md", b"somebody else");
    assert_eq!(
        code(folder.perform("write_file", arguments, effect).await),
        ErrorCode::TargetChanged,
        "it is told"
    );
    assert_eq!(folder.read("r.md"), b"somebody else", "and left alone");
    let arguments = json!({"path": "n.md", "content": "new"});
    let effect = folder.prepare("write_file", arguments.clone()).await.expect("a write");
    folder.put("n.md", b"appeared");
    assert_eq!(
        code(folder.perform("write_file", arguments, effect).await),
        ErrorCode::TargetChanged,
        "also when new"
    );
}

#[tokio::test]
async fn preparing_twice_gives_equal_bytes() {
    let folder = Folder::new(&[]);
    for arguments in [
        json!({"path": "a.md", "content": "x"}),
        json!({"path": "a.csv", "content": "a,b\n1,=2\n"}),
        json!({"path": "a.xlsx", "sheets": [{"name": "S", "rows": [["Supplier", "Amount"], ["甲", 12.5]]}]}),
    ] {
        let first = folder.prepare("write_file", arguments.clone()).await.expect("a write");
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let second = folder.prepare("write_file", arguments.clone()).await.expect("a write");
        assert_eq!(
            first, second,
            "what is approved must be what is written, also a second later: {arguments}"
        );
    }
}

#[tokio::test]
async fn a_csv_holds_data_and_no_formula() {
    let folder = Folder::new(&[]);
    let payloads = [
        "=1+1",
        "+1+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "＝1+1",
        "＋1",
        "－1+2",
        "＠x",
        "=HYPERLINK(\"http://x\",\"y\")",
    ];
    let rows: String = payloads.iter().map(|p| format!("\"{}\",ok\n", p.replace('"', "\"\""))).collect();
    let content = format!("name,v\n{rows}-12.50,1\n");
    let effect =
        folder.prepare("write_file", json!({"path": "a.csv", "content": content})).await.expect("a write");
    let (_, bytes) = written(effect);
    assert!(bytes.starts_with(b"\xEF\xBB\xBF"), "Excel needs the mark to see UTF-8");
    let text = String::from_utf8(bytes).expect("UTF-8");
    for payload in payloads {
        let quoted = payload.replace('"', "\"\"");
        assert!(text.contains(&format!("'{quoted}")), "{payload:?} must be text: {text}");
    }
    assert!(text.contains("\n-12.50,"), "a real negative number stays a number: {text}");
    assert_eq!(
        written(
            folder.prepare("write_file", json!({"path": "a.csv", "content": text})).await.expect("a write")
        )
        .1,
        text.as_bytes(),
        "writing what was read changes nothing more"
    );
}

#[tokio::test]
async fn names_and_kinds_that_may_not_be_written_are_refused_and_nothing_is_made() {
    let folder = Folder::new(&[("memory/MEMORY.md", b"mem"), ("real.md", b"x")]);
    std::os::unix::fs::symlink("real.md", folder.path("link.md")).expect("a link");
    std::os::unix::fs::symlink("memory", folder.path("notes")).expect("a link");
    let before = folder.manifest();
    for path in [
        "memory/MEMORY.md",
        "./memory//new.md",
        "MEMORY/x.md",
        "mEmOrY/new.md",
        "memory\u{200b}/x.md",
        "ｍｅｍｏｒｙ/x.md",
        "memory./x.md",
        "memory /x.md",
        "MEMORY~1/x.md",
        "notes/x.md",
        "mеmory/x.md",
        "skills/a/SKILL.md",
        ".hidden.md",
        "a.txt",
        "a.html",
        "link.md",
        "../x.md",
        "/tmp/x.md",
        "con.md",
        "x.md ",
        "a\u{202e}b.md",
        "",
        ".",
        "memory/../x.md",
    ] {
        let result = folder.prepare("write_file", json!({"path": path, "content": "x"})).await;
        assert!(result.is_err(), "{path:?} must not be writable");
    }
    assert_eq!(folder.manifest(), before, "a refused write leaves nothing behind");
}

#[tokio::test]
async fn contents_that_do_not_fit_the_kind_are_refused() {
    let folder = Folder::new(&[]);
    let sheets = json!([{"name": "S", "rows": [["x"]]}]);
    for arguments in [
        json!({"path": "a.md"}),
        json!({"path": "a.xlsx", "content": "x"}),
        json!({"path": "a.csv", "sheets": sheets}),
        json!({"path": "a.md", "content": "x", "sheets": sheets}),
        json!({"path": "a.xlsx", "sheets": []}),
        json!({"path": "a.xlsx", "sheets": [{"name": "S", "rows": [], "formula": 1}]}),
        json!({"path": "a.md", "content": 5}),
    ] {
        let result = folder.prepare("write_file", arguments.clone()).await;
        assert_eq!(code(result), ErrorCode::InvalidArguments, "{arguments}");
    }
    let large = json!({"path": "a.md", "content": "x".repeat(5 * 1024 * 1024 + 1)});
    assert_eq!(code(folder.prepare("write_file", large).await), ErrorCode::TooLarge, "5 MiB is the limit");
    let just = json!({"path": "a.md", "content": "x".repeat(5 * 1024 * 1024)});
    assert!(folder.prepare("write_file", just).await.is_ok(), "and may be used up");
}

#[tokio::test]
async fn a_write_without_an_approval_does_nothing() {
    let folder = Folder::new(&[]);
    for tool in ["write_file", "memory_write"] {
        let arguments = json!({"path": "memory/a.md", "mode": "replace", "content": "x"});
        assert_eq!(
            code(folder.run(tool, arguments).await),
            ErrorCode::PolicyDenied,
            "{tool} must not run by itself"
        );
    }
    assert!(folder.manifest().is_empty(), "nothing was made");
}
