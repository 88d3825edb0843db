//! Memory as the person keeps it.

use crate::support::{Bench, audit, call, say, yes};
use pilot_service::Service;
use pilot_service::view::{Author, MemoryRequest};
use pilot_types::{Digest, ErrorCode, Event, Source};
use serde_json::json;

const PAGE: &str = "memory/MEMORY.md";

fn remember(content: &str) -> pilot_types::ScriptStep {
    call("memory_write", json!({ "path": PAGE, "mode": "append", "content": content }))
}

async fn save(
    bench: &Bench,
    path: &str,
    text: &str,
    base: Option<Digest>,
) -> Result<Option<Digest>, ErrorCode> {
    let request = MemoryRequest {
        workspace: bench.workspace.to_string(),
        path: path.to_owned(),
        text: text.to_owned(),
        base,
    };
    bench.service.save_memory(request).await.map(|view| view.digest).map_err(|error| error.code())
}

async fn operator_acts(service: &Service) -> Vec<(Source, String, Option<String>)> {
    audit(service)
        .await
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|value| value["type"] == "operator_acted")
        .map(|value| {
            let source = serde_json::from_value(value["source"].clone()).unwrap();
            (
                source,
                value["action"].as_str().unwrap().to_owned(),
                value["subject"].as_str().map(str::to_owned),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_page_is_saved_over_what_was_seen_and_nothing_else() {
    let bench = Bench::new().await;
    let first = save(&bench, PAGE, "one\n", None).await.unwrap();
    assert_eq!(bench.read(PAGE).as_deref(), Some("one\n"), "a new page is made");
    bench.write(PAGE, "an editor was here\n");
    let refused = save(&bench, PAGE, "two\n", first.clone()).await.unwrap_err();
    assert_eq!(refused, ErrorCode::EditConflict, "an edit over a changed file is refused");
    assert_eq!(bench.read(PAGE).as_deref(), Some("an editor was here\n"), "and nothing is lost");
    assert_eq!(
        save(&bench, PAGE, "two\n", None).await.unwrap_err(),
        ErrorCode::EditConflict,
        "nor is a page made over one that is there"
    );
    let now = bench.service.memory(&bench.workspace, None).await.unwrap().digest;
    save(&bench, PAGE, "two\n", now.clone()).await.unwrap();
    assert_eq!(bench.read(PAGE).as_deref(), Some("two\n"), "with what stands there it is");
    let again = bench.service.memory(&bench.workspace, None).await.unwrap().digest;
    let acts = operator_acts(&bench.service).await.len();
    save(&bench, PAGE, "two\n", again).await.unwrap();
    assert_eq!(operator_acts(&bench.service).await.len(), acts, "saving what stands there writes nothing");
    let large = "x".repeat((1 << 20) + 1);
    assert_eq!(save(&bench, PAGE, &large, None).await.unwrap_err(), ErrorCode::TooLarge, "1 MiB a page");
    for path in ["../x.md", "/tmp/x.md", "report.md", "memory/../x.md", "memory/x.txt", "skills/a/SKILL.md"] {
        assert!(save(&bench, path, "x", None).await.is_err(), "{path} is no page of memory");
    }
    let edits: Vec<_> = operator_acts(&bench.service).await;
    let edits: Vec<_> = edits.iter().filter(|(_, action, _)| action == "memory_edited").collect();
    assert_eq!(edits.len(), 2, "each edit is on record once: {edits:?}");
    assert!(
        edits
            .iter()
            .all(|(source, _, subject)| *source == Source::Operator && subject.as_deref() == Some(PAGE)),
        "as the person's, with its page: {edits:?}"
    );
}

#[tokio::test]
async fn what_a_task_is_given_is_shown_exactly_and_what_is_cut_too() {
    let bench = Bench::new().await;
    bench.write(PAGE, &format!("FIRST LINE\n{}\nLAST LINE\n", "x".repeat(9_000)));
    bench.write("memory/2026-03-01.md", "a day\n");
    let view = bench.service.memory(&bench.workspace, None).await.unwrap();
    let injection = view.injection.unwrap();
    assert!(injection.bytes > injection.limit && injection.limit == 8_192, "more than fits");
    assert!(injection.cut.contains("FIRST LINE"), "what is cut is shown: it is the beginning");
    assert!(!injection.block.contains("FIRST LINE"), "and not carried");
    assert!(injection.block.contains("LAST LINE") && injection.block.contains("a day"), "the newest stays");
    assert_eq!(injection.pages, [PAGE, "memory/2026-03-01.md"], "in this order");
    let task = bench.start(vec![say("done")]).await;
    bench.service.run_to_stop(&task).await.unwrap();
    let prompts: Vec<String> = bench
        .events(&task)
        .await
        .into_iter()
        .filter_map(|event| match event {
            Event::Prompted { system } => Some(system),
            _ => None,
        })
        .collect();
    assert!(prompts[0].ends_with(&injection.block), "the very text that a task gets");

    let draft = bench.service.preview_memory(&bench.workspace, PAGE, "short\n".to_owned()).await.unwrap();
    assert!(draft.cut.is_empty() && draft.block.contains("short"), "a draft is measured before it is saved");
    assert!(bench.read(PAGE).unwrap().starts_with("FIRST LINE"), "and written by nobody");
    let newer = bench
        .service
        .preview_memory(&bench.workspace, "memory/2026-03-02.md", "tomorrow\n".to_owned())
        .await
        .unwrap();
    assert_eq!(newer.pages.last().map(String::as_str), Some("memory/2026-03-02.md"), "a newer day counts");
}

#[tokio::test]
async fn a_page_remembers_who_wrote_it_and_can_go_back() {
    let bench = Bench::new().await;
    bench.write(PAGE, "from before\n");
    let (task, card) = bench.to_card(vec![remember("from a task\n"), say("done")]).await;
    let waiting = bench.service.memory(&bench.workspace, None).await.unwrap().waiting;
    assert_eq!(waiting, [card.to_string()], "the page says which card waits for it");
    bench.service.approve(yes(&card)).await.unwrap();
    bench.service.run_to_stop(&task).await.unwrap();
    let view = bench.service.memory(&bench.workspace, None).await.unwrap();
    save(&bench, PAGE, "from before\nfrom a task\nfrom me\n", view.digest).await.unwrap();
    bench.write(PAGE, "from before\nfrom a task\nfrom me\nfrom an editor\n");

    let view = bench.service.memory(&bench.workspace, None).await.unwrap();
    let origins: Vec<(u32, u32, Author)> =
        view.origins.iter().map(|span| (span.from, span.to, span.author)).collect();
    assert_eq!(
        origins,
        [(1, 1, Author::Outside), (2, 2, Author::Task), (3, 3, Author::Person), (4, 4, Author::Outside)],
        "each line says where it comes from"
    );
    assert_eq!(view.origins[1].task.as_deref(), Some(task.as_str()), "with the task");
    assert_eq!(view.origins[1].approval.as_deref(), Some(card.as_str()), "and the card");

    let history = bench.service.memory_history(&bench.workspace, PAGE).await.unwrap();
    let authors: Vec<Author> = history.iter().map(|version| version.author).collect();
    assert_eq!(
        authors,
        [Author::Outside, Author::Person, Author::Task, Author::Outside],
        "the newest first: an editor, the person, the task, and what was there before"
    );
    assert!(history[0].current && !history[1].current, "the first is what stands there");
    assert!(history.iter().all(|version| version.available), "all of them are kept: {history:?}");
    let first = history[3].digest.clone().unwrap();
    let text = bench.service.memory_version(&bench.workspace, PAGE, &first).await.unwrap();
    assert_eq!(text.text, "from before\n", "each can be looked at");

    let stale = Some(Digest::of(b"something else"));
    let refused = bench.service.restore_memory(&bench.workspace, PAGE, &first, stale).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::EditConflict, "going back is over what was seen as well");
    bench.service.restore_memory(&bench.workspace, PAGE, &first, text.now).await.unwrap();
    assert_eq!(bench.read(PAGE).as_deref(), Some("from before\n"), "and gone back to");
    let history = bench.service.memory_history(&bench.workspace, PAGE).await.unwrap();
    assert_eq!(
        (history[0].action.as_str(), history[0].current),
        ("memory_restored", true),
        "which is a change like any other"
    );
    let editor =
        history.iter().find(|version| version.author == Author::Outside && version.available).unwrap();
    let text = bench
        .service
        .memory_version(&bench.workspace, PAGE, editor.digest.as_ref().unwrap())
        .await
        .unwrap()
        .text;
    assert!(text.contains("from an editor"), "what the editor wrote is not lost: {text}");

    let other = Digest::of(b"from a task\n");
    let none = bench.service.memory_version(&bench.workspace, PAGE, &other).await.unwrap_err();
    assert_eq!(none.code(), ErrorCode::EditNotFound, "only versions of this page are given out");
}

#[tokio::test]
async fn memory_that_cannot_be_read_is_said() {
    let bench = Bench::new().await;
    std::fs::create_dir(bench.root.join("memory")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", bench.root.join("memory/2026-01-01.md")).unwrap();
    bench.write(PAGE, "mine\n");
    let view = bench.service.memory(&bench.workspace, None).await.unwrap();
    assert_eq!(view.problem, Some(ErrorCode::PathEscape), "a task would stop for the same reason");
    assert_eq!(view.text, "mine\n", "the page itself can be read");
    let link = view.pages.iter().find(|page| page.diary).unwrap();
    assert_eq!(link.refused, Some(ErrorCode::PathEscape), "and the list says which page it is");
}
