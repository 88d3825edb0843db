//! Taking a write back.

use crate::support::{Bench, say, write_step, yes};
use pilot_service::view::UndoState;
use pilot_types::{ArtifactId, ErrorCode, Event};

async fn written(bench: &Bench, path: &str, content: &str) -> (pilot_types::TaskId, ArtifactId) {
    let (task, card) = bench.to_card(vec![write_step(path, content), say("done")]).await;
    let view = bench.service.approve(yes(&card)).await.unwrap();
    bench.service.run_to_stop(&task).await.unwrap();
    (task, ArtifactId::from_text(view.artifact.expect("a write leaves an artifact").id))
}

#[tokio::test]
async fn undo_brings_the_replaced_bytes_back() {
    let bench = Bench::new().await;
    bench.write("report.md", "old\n");
    let (task, artifact) = written(&bench, "report.md", "new\n").await;
    let preview = bench.service.undo_preview(&artifact).await.unwrap();
    assert!(!preview.removes && preview.difference.is_some(), "the person sees what comes back");
    assert_eq!(bench.service.undo(&artifact).await.unwrap().undo, UndoState::Undone, "it is undone");
    assert_eq!(bench.read("report.md").as_deref(), Some("old\n"), "byte for byte");
    assert!(
        bench.events(&task).await.iter().any(|event| matches!(event, Event::Undone { removed: false, .. })),
        "and on record"
    );
    assert_eq!(bench.service.undo(&artifact).await.unwrap_err().code(), ErrorCode::UndoMissing, "once only");
}

#[tokio::test]
async fn undo_of_a_creation_removes_the_file() {
    let bench = Bench::new().await;
    let (_, artifact) = written(&bench, "report.md", "new\n").await;
    assert!(
        bench.service.undo_preview(&artifact).await.unwrap().removes,
        "the person is told that the file goes"
    );
    bench.service.undo(&artifact).await.unwrap();
    assert_eq!(bench.manifest(), vec![], "nothing is left of it");
}

#[tokio::test]
async fn undo_refuses_when_the_file_changed_since() {
    let bench = Bench::new().await;
    let (_, artifact) = written(&bench, "report.md", "new\n").await;
    bench.write("report.md", "the person went on\n");
    assert_eq!(
        bench.service.artifact(&artifact).await.unwrap().undo,
        UndoState::Changed,
        "the list says so already"
    );
    assert_eq!(
        bench.service.undo(&artifact).await.unwrap_err().code(),
        ErrorCode::UndoChanged,
        "and undo refuses"
    );
    assert_eq!(
        bench.read("report.md").as_deref(),
        Some("the person went on\n"),
        "the person's work is not destroyed"
    );
}
