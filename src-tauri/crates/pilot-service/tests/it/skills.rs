//! Skills as the person keeps them.

use crate::support::{Bench, options};
use pilot_service::Service;
use pilot_service::view::{SkillOrigin, SkillRequest, UndoState};
use pilot_types::{Digest, ErrorCode, OperationId};

fn manual(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\n---\n{body}\n")
}

fn request(bench: &Bench, folder: Option<&str>, text: &str, base: Option<Digest>) -> SkillRequest {
    SkillRequest {
        workspace: bench.workspace.to_string(),
        folder: folder.map(str::to_owned),
        text: text.to_owned(),
        base,
    }
}

async fn refusal(bench: &Bench, folder: Option<&str>, text: &str, base: Option<Digest>) -> ErrorCode {
    let before = bench.manifest();
    let error = bench.service.save_skill(request(bench, folder, text, base)).await.unwrap_err();
    assert_eq!(bench.manifest(), before, "a refused skill changes nothing: {error}");
    error.code()
}

#[tokio::test]
async fn a_skill_is_made_changed_and_removed_and_each_can_be_taken_back() {
    let bench = Bench::new().await;
    let made =
        bench.service.save_skill(request(&bench, None, &manual("greet", "Say hello."), None)).await.unwrap();
    assert_eq!(made.skill.path.as_deref(), Some("skills/greet/SKILL.md"), "in a folder of its name");
    assert!(made.skill.editable, "one's own skill can be edited");
    assert_eq!(
        bench.service.skill(Some(&bench.workspace), "greet").await.unwrap(),
        "Say hello.\n",
        "it is used"
    );
    let taken = refusal(&bench, None, &manual("greet", "Again."), None).await;
    assert_eq!(taken, ErrorCode::AlreadyExists, "a second one of that name is not made over it");

    let edited = bench
        .service
        .save_skill(request(
            &bench,
            Some("greet"),
            &manual("greet", "Say good day."),
            Some(made.digest.clone()),
        ))
        .await
        .unwrap();
    let late = refusal(&bench, Some("greet"), &manual("greet", "Too late."), Some(made.digest)).await;
    assert_eq!(late, ErrorCode::EditConflict, "an edit over a changed file is refused");

    let id = bench.service.remove_skill(&bench.workspace, "greet", Some(edited.digest)).await.unwrap();
    assert_eq!(bench.read("skills/greet/SKILL.md"), None, "removed");
    let back = bench.service.undo_edit(&OperationId::from_text(id.clone())).await.unwrap();
    assert_eq!(back.undo, UndoState::Undone, "the removal is taken back");
    assert_eq!(bench.read("skills/greet/SKILL.md"), Some(manual("greet", "Say good day.")), "word for word");
    let twice = bench.service.undo_edit(&OperationId::from_text(id)).await.unwrap_err();
    assert_eq!(twice.code(), ErrorCode::UndoMissing, "once only");
}

#[tokio::test]
async fn what_is_wrong_with_a_skill_is_said_each_by_its_own_code() {
    let bench = Bench::new().await;
    for (text, code) in [
        ("no header".to_owned(), ErrorCode::SkillNoHeader),
        ("---\nname: a\n---\n".to_owned(), ErrorCode::SkillHeaderBroken),
        (manual("../out", "x"), ErrorCode::SkillHeaderBroken),
        (manual("CON", "x"), ErrorCode::PathName),
        (format!("{}{}", manual("big", "x"), "y".repeat(70_000)), ErrorCode::TooLarge),
    ] {
        assert_eq!(refusal(&bench, None, &text, None).await, code, "{}", &text[..40.min(text.len())]);
    }
    bench.write("skills/a/SKILL.md", &manual("same", "first"));
    bench.write("skills/b/SKILL.md", &manual("same", "second"));
    bench.write("skills/c/SKILL.md", "no header");
    let list = bench.service.skills(Some(&bench.workspace)).await.unwrap();
    let code = |folder: &str| list.iter().find(|skill| skill.folder == folder).unwrap().code;
    assert_eq!(code("a"), None, "the first of two of one name is used");
    assert_eq!(code("b"), Some(ErrorCode::SkillDuplicate), "the second says so");
    assert_eq!(
        code("c"),
        Some(ErrorCode::SkillNoHeader),
        "a file without a header is listed with its problem"
    );
    let broken = bench.service.skill_text(Some(&bench.workspace), SkillOrigin::Workspace, "c").await.unwrap();
    assert_eq!(broken.text, "no header", "and can be opened, to be mended");
    let name = refusal(&bench, Some("c"), &manual("same", "third"), Some(broken.digest.clone())).await;
    assert_eq!(name, ErrorCode::SkillDuplicate, "not under a name that is taken");
    bench
        .service
        .save_skill(request(&bench, Some("c"), &manual("c", "mended"), Some(broken.digest)))
        .await
        .unwrap();
    assert_eq!(
        bench.service.skill(Some(&bench.workspace), "c").await.unwrap(),
        "mended\n",
        "under a free one it is"
    );
}

#[tokio::test]
async fn links_below_skills_lead_nowhere() {
    let bench = Bench::new().await;
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().canonicalize().unwrap();
    std::fs::write(target.join("SKILL.md"), manual("greet", "outside")).unwrap();
    std::fs::create_dir_all(bench.root.join("skills/linked")).unwrap();
    std::os::unix::fs::symlink(&target, bench.root.join("skills/greet")).unwrap();
    std::os::unix::fs::symlink(target.join("SKILL.md"), bench.root.join("skills/linked/SKILL.md")).unwrap();
    for folder in ["greet", "linked"] {
        let base = Some(Digest::of(manual("greet", "outside").as_bytes()));
        for base in [None, base] {
            let request = request(&bench, Some(folder), &manual(folder, "mine"), base.clone());
            assert!(bench.service.save_skill(request).await.is_err(), "{folder} is a link, {base:?}");
            let removed = bench.service.remove_skill(&bench.workspace, folder, base).await;
            assert!(removed.is_err(), "{folder} is a link and not removed");
        }
    }
    let there = std::fs::read_to_string(target.join("SKILL.md")).unwrap();
    assert_eq!(there, manual("greet", "outside"), "nothing outside was changed");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1, "and nothing made");
    let list = bench.service.skills(Some(&bench.workspace)).await.unwrap();
    assert!(
        list.iter().filter(|skill| skill.editable).all(|skill| skill.code == Some(ErrorCode::PathEscape)),
        "each is listed with its reason: {list:?}"
    );
}

#[tokio::test]
async fn a_later_source_hides_an_earlier_one_and_both_say_so() {
    let (data, more) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let more = more.path().canonicalize().unwrap();
    std::fs::create_dir(more.join("greet")).unwrap();
    std::fs::write(more.join("greet/SKILL.md"), manual("greet", "environment")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let mut opened = options(data.path());
    opened.skills_dir = Some(more);
    let service = Service::open(opened).await.unwrap();
    let workspace =
        pilot_types::WorkspaceId::from_text(service.add_workspace(root.path(), None).await.unwrap().id);
    for name in ["greet", "invoice-summary"] {
        let request = SkillRequest {
            workspace: workspace.to_string(),
            folder: None,
            text: manual(name, "mine"),
            base: None,
        };
        service.save_skill(request).await.unwrap();
    }
    let list = service.skills(Some(&workspace)).await.unwrap();
    let find =
        |id: &str| list.iter().find(|skill| skill.id == id).unwrap_or_else(|| panic!("{id}: {list:?}"));
    assert_eq!(
        find("built_in/invoice-summary").shadowed_by,
        Some(SkillOrigin::Workspace),
        "the built-in one is hidden"
    );
    assert_eq!(find("workspace/invoice-summary").hides, [SkillOrigin::BuiltIn], "by the folder's");
    assert_eq!(
        find("environment/greet").shadowed_by,
        Some(SkillOrigin::Workspace),
        "so is the environment's"
    );
    assert_eq!(find("workspace/greet").hides, [SkillOrigin::Environment], "by its namesake");
    assert!(!find("built_in/invoice-summary").editable, "what is part of the program is not edited");
    let hidden = service.skill_text(Some(&workspace), SkillOrigin::Environment, "greet").await.unwrap();
    assert!(hidden.text.contains("environment"), "a hidden one can be read");
    for folder in ["../greet", "greet/../greet", "", "."] {
        let error = service.skill_text(Some(&workspace), SkillOrigin::Workspace, folder).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SkillNotFound, "{folder:?} is the name of no skill");
        let error = service.remove_skill(&workspace, folder, Some(Digest::of(b"x"))).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::PathInvalid, "{folder:?} is not even one name");
    }
}
