//! Skills of folders, and `expand_skill`.

use crate::support::{Folder, code};
use pilot_guard::WorkspaceGuard;
use pilot_tools::{SkillSet, SkillSource};
use pilot_types::ErrorCode;
use serde_json::json;

fn manual(name: &str, body: &str) -> Vec<u8> {
    format!("---\nname: {name}\ndescription: about {name}\n---\n{body}\n").into_bytes()
}

#[tokio::test]
async fn a_manual_comes_by_name() {
    let folder = Folder::new(&[("skills/greet/SKILL.md", &manual("greet", "Say hello."))]);
    let answer = folder.run("expand_skill", json!({"name": "greet"})).await.expect("a manual");
    assert_eq!(
        answer,
        json!({"name": "greet", "source": "workspace", "text": "Say hello.\n"}),
        "body and origin"
    );
    let built_in = folder.run("expand_skill", json!({"name": "invoice-summary"})).await.expect("built in");
    assert_eq!(built_in["source"], "built_in", "part of the program");
    for name in ["Greet", "greet/../x", "../../etc/passwd", "skills/greet"] {
        assert_eq!(
            code(folder.run("expand_skill", json!({ "name": name })).await),
            ErrorCode::SkillNotFound,
            "{name}"
        );
    }
}

#[tokio::test]
async fn later_sources_win_and_bad_files_cost_one_line() {
    let environment = tempfile::TempDir::new().expect("a folder");
    let root = environment.path().canonicalize().expect("real path");
    for (name, body) in [("greet", "env"), ("invoice-summary", "env invoice")] {
        std::fs::create_dir(root.join(name)).expect("a folder");
        std::fs::write(root.join(name).join("SKILL.md"), manual(name, body)).expect("a file");
    }
    let folder = Folder::new(&[
        ("skills/greet/SKILL.md", &manual("greet", "workspace")),
        ("skills/broken/SKILL.md", b"no header"),
        ("skills/half/SKILL.md", b"---\nname: half\n---\n"),
        ("skills/z-second/SKILL.md", &manual("greet", "too late")),
        ("skills/binary/SKILL.md", b"---\xff\xfe"),
        ("skills/huge/SKILL.md", &vec![b'x'; 65 * 1024]),
        ("skills/notes.md", b"loose file"),
        ("skills/empty/README.md", b"no manual"),
    ]);
    std::fs::create_dir(folder.path("skills/out")).expect("a folder");
    std::os::unix::fs::symlink("/etc/hostname", folder.path("skills/out/SKILL.md")).expect("a link");
    let set = SkillSet::load(Some(&root), Some(&folder.guard));
    assert_eq!(set.get("greet").map(|skill| skill.body.trim()), Some("workspace"), "the workspace wins");
    assert_eq!(
        set.get("invoice-summary").map(|s| s.source),
        Some(SkillSource::Environment),
        "over the built-in"
    );
    let rows = set.rows();
    let find = |name: &str, source| rows.iter().find(|row| row.name == name && row.source == source);
    let shadowed = find("greet", SkillSource::Environment).expect("listed");
    assert_eq!(shadowed.shadowed_by, Some(SkillSource::Workspace), "the list says who took its place");
    for (name, expected) in [
        ("broken", ErrorCode::SkillNoHeader),
        ("half", ErrorCode::SkillHeaderBroken),
        ("second", ErrorCode::SkillDuplicate),
        ("binary", ErrorCode::DocumentUnsupported),
        ("huge", ErrorCode::TooLarge),
        ("out", ErrorCode::PathEscape),
    ] {
        let row = if name == "second" {
            rows.iter().find(|row| row.folder == "z-second")
        } else {
            find(name, SkillSource::Workspace)
        };
        let row = row.unwrap_or_else(|| panic!("{name} must be listed"));
        assert_eq!(row.code, Some(expected), "{name}: {row:?}");
    }
    assert!(
        !rows.iter().any(|row| row.name == "notes.md" || row.name == "empty"),
        "what is no skill is not listed"
    );
    assert!(!serde_json::to_string(rows).expect("JSON").contains("/etc"), "where a link leads is not said");
}

#[test]
fn an_environment_folder_that_is_not_there_is_said() {
    let set = SkillSet::load(Some(std::path::Path::new("/nonexistent/skills")), None::<&WorkspaceGuard>);
    let row = set.rows().last().expect("a row");
    assert_eq!(
        (row.source, row.code),
        (SkillSource::Environment, Some(ErrorCode::WorkspaceGone)),
        "not in silence"
    );
    assert!(set.get("invoice-summary").is_some(), "and the built-in skills work");
}
