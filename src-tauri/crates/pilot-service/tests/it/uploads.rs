//! Files that the person adds.

use crate::support::{Bench, audit};
use pilot_service::view::{UploadChoice, UploadPlanView, UploadRequest, UploadResultView};
use pilot_service::{Notice, UploadSource};
use pilot_types::{ErrorCode, OperationId};
use std::path::PathBuf;
use tempfile::TempDir;

struct Pile {
    dir: TempDir,
}

impl Pile {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn file(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let place = self.dir.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, bytes).unwrap();
        place
    }
}

async fn plan(bench: &Bench, folder: &str, places: Vec<PathBuf>) -> UploadPlanView {
    let sources = places.into_iter().map(UploadSource::of).collect();
    bench.service.plan_upload(&bench.workspace, folder, sources).await.unwrap()
}

async fn run(bench: &Bench, plan: &UploadPlanView, choices: Vec<UploadChoice>) -> UploadResultView {
    bench.service.run_upload(&UploadRequest { id: plan.id.clone(), choices }).await.unwrap()
}

#[tokio::test]
async fn a_plan_copies_nothing_and_free_names_are_not_asked_about() {
    let (bench, pile) = (Bench::new().await, Pile::new());
    bench.write("in/there.md", "x");
    let plan = plan(&bench, "in", vec![pile.file("a.pdf", b"%PDF"), pile.file("发票 7.csv", b"1,2\n")]).await;
    assert_eq!(bench.manifest().len(), 1, "looking copies nothing");
    assert!(plan.files.iter().all(|file| !file.collides && file.refused.is_none()), "both names are free");
    let result = run(&bench, &plan, Vec::new()).await;
    assert_eq!(result.added.len(), 2, "both are copied: {result:?}");
    assert_eq!(bench.read("in/发票 7.csv").as_deref(), Some("1,2\n"), "into the folder that was named");
    assert!(pile.dir.path().join("a.pdf").exists(), "the originals stay");
    let again =
        bench.service.run_upload(&UploadRequest { id: plan.id, choices: Vec::new() }).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::EditNotFound, "a plan is carried out once");
    let log = audit(&bench.service).await;
    let uploads: Vec<&str> = log.lines().filter(|line| line.contains("file_uploaded")).collect();
    assert_eq!(uploads.len(), 2, "each is on record");
    assert!(uploads.iter().all(|line| line.contains("\"operator\"")), "as the person's: {uploads:?}");
}

#[tokio::test]
async fn a_taken_name_is_asked_about_and_never_replaced_in_silence() {
    let (bench, pile) = (Bench::new().await, Pile::new());
    for name in ["skip.md", "both.md", "replace.md"] {
        bench.write(name, "old");
    }
    bench.write("both (2).md", "taken too");
    let places: Vec<PathBuf> =
        ["skip.md", "both.md", "replace.md"].iter().map(|name| pile.file(name, b"new")).collect();
    let silent = plan(&bench, "", places.clone()).await;
    assert!(silent.files.iter().all(|file| file.collides && file.replaceable), "each is asked about");
    assert_eq!(
        silent.files[1].kept_as.as_deref(),
        Some("both (3).md"),
        "with a name under which both are kept"
    );
    let before = bench.manifest();
    let result = run(&bench, &silent, Vec::new()).await;
    assert_eq!(result.skipped.len(), 3, "no answer is a no");
    assert_eq!(bench.manifest(), before, "and changes nothing");

    let asked = plan(&bench, "", places).await;
    let result =
        run(&bench, &asked, vec![UploadChoice::Skip, UploadChoice::KeepBoth, UploadChoice::Replace]).await;
    assert_eq!((result.added.len(), result.skipped.len()), (2, 1), "as the person said: {result:?}");
    assert_eq!(bench.read("skip.md").as_deref(), Some("old"), "skipped");
    assert_eq!(bench.read("both.md").as_deref(), Some("old"), "kept");
    assert_eq!(bench.read("both (3).md").as_deref(), Some("new"), "beside it");
    assert_eq!(bench.read("replace.md").as_deref(), Some("new"), "replaced");
    let replaced = result.added.iter().find(|edit| edit.path == "replace.md").unwrap();
    bench.service.undo_edit(&OperationId::from_text(replaced.id.clone())).await.unwrap();
    assert_eq!(bench.read("replace.md").as_deref(), Some("old"), "and taken back");
    let made = result.added.iter().find(|edit| edit.path == "both (3).md").unwrap();
    bench.write("both (3).md", "the person went on");
    let changed = bench.service.undo_edit(&OperationId::from_text(made.id.clone())).await.unwrap_err();
    assert_eq!(changed.code(), ErrorCode::UndoChanged, "not over what was done since");
}

#[tokio::test]
async fn a_name_that_is_taken_between_the_question_and_the_answer_is_not_replaced() {
    let (bench, pile) = (Bench::new().await, Pile::new());
    bench.write("seen.md", "seen");
    let plan = plan(&bench, "", vec![pile.file("free.md", b"new"), pile.file("seen.md", b"new")]).await;
    bench.write("free.md", "came first");
    bench.write("seen.md", "changed since");
    let result = run(&bench, &plan, vec![UploadChoice::Skip, UploadChoice::Replace]).await;
    assert_eq!(result.added, [], "nothing was put over what nobody was asked about");
    assert_eq!(
        result.refused,
        [("free.md".to_owned(), ErrorCode::AlreadyExists), ("seen.md".to_owned(), ErrorCode::AlreadyExists)],
        "and it is said"
    );
    assert_eq!(bench.read("free.md").as_deref(), Some("came first"), "kept");
    assert_eq!(bench.read("seen.md").as_deref(), Some("changed since"), "kept");
}

#[tokio::test]
async fn two_files_of_one_name_and_what_is_no_file_are_asked_about_or_refused() {
    let (bench, pile) = (Bench::new().await, Pile::new());
    std::fs::create_dir(bench.root.join("folder.md")).unwrap();
    let sources = vec![
        pile.file("one/a.md", b"1"),
        pile.file("two/a.md", b"2"),
        pile.file("folder.md", b"3"),
        pile.file(".hidden", b"4"),
        pile.file("CON.md", b"5"),
        pile.dir.path().join("one"),
        pile.dir.path().join("gone.md"),
    ];
    let plan = plan(&bench, "", sources).await;
    let states: Vec<(bool, Option<ErrorCode>)> =
        plan.files.iter().map(|file| (file.collides, file.refused)).collect();
    assert_eq!(
        states,
        [
            (false, None),
            (true, None),
            (false, Some(ErrorCode::NotAFile)),
            (false, Some(ErrorCode::PathProtected)),
            (false, Some(ErrorCode::PathName)),
            (false, Some(ErrorCode::NotAFile)),
            (false, Some(ErrorCode::NotFound)),
        ],
        "each with its reason"
    );
    assert!(!plan.files[1].replaceable, "one of the plan does not replace another");
    let choices = vec![UploadChoice::KeepBoth; 7];
    let result = run(&bench, &plan, choices).await;
    assert_eq!(result.added.len(), 2, "the good ones are copied: {result:?}");
    assert_eq!(result.refused.len(), 5, "the others are named with their reason");
    assert_eq!(bench.read("a (2).md").as_deref(), Some("2"), "both are there");
    let nowhere = bench
        .service
        .plan_upload(&bench.workspace, "../out", vec![UploadSource::of(pile.file("b.md", b"x"))])
        .await
        .unwrap_err();
    assert_eq!(nowhere.code(), ErrorCode::PathParent, "a folder outside is no place to upload to");
}

#[tokio::test]
async fn a_large_file_tells_how_far_it_is_and_can_be_stopped() {
    let (bench, pile) = (Bench::new().await, Pile::new());
    let large = pile.file("large.bin", &vec![7; 48 << 20]);
    let done = plan(&bench, "", vec![large.clone()]).await;
    let mut notices = bench.service.subscribe();
    let result = run(&bench, &done, Vec::new()).await;
    assert_eq!(result.added.len(), 1, "it is copied: {result:?}");
    let mut seen = Vec::new();
    while let Ok(notice) = notices.try_recv() {
        if let Notice::Upload(progress) = notice {
            assert!(progress.done <= progress.total, "never more than all: {progress:?}");
            seen.push(progress.done);
        }
    }
    assert!(!seen.is_empty() && seen.is_sorted(), "it tells how far it is, forwards: {seen:?}");

    bench.service.undo_edit(&OperationId::from_text(result.added[0].id.clone())).await.unwrap();
    let stopped = plan(&bench, "", vec![large, pile.file("next.md", b"x")]).await;
    let mut notices = bench.service.subscribe();
    let (service, id) = (bench.service.clone(), stopped.id.clone());
    let stopping = tokio::spawn(async move {
        while let Ok(notice) = notices.recv().await {
            if matches!(notice, Notice::Upload(_)) {
                return service.cancel_upload(&id).unwrap();
            }
        }
    });
    let result = run(&bench, &stopped, Vec::new()).await;
    stopping.await.unwrap();
    assert!(result.cancelled && result.added.is_empty(), "stopped: {result:?}");
    assert_eq!(result.skipped, ["large.bin", "next.md"], "what was not copied is named");
    assert_eq!(bench.manifest(), [], "and nothing half is left, not even a temporary file");
}
