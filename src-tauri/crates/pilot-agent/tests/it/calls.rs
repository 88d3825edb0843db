//! Calls that fail, and calls that must never run.

use crate::stage::{Stage, Turn, ask, call, failure, read, say};
use pilot_agent::{CALLS_PER_ANSWER, RunOutcome};
use pilot_types::{CallProblem, ErrorCode, Message};
use serde_json::json;

fn last_result(stage: &Stage) -> String {
    let seen = stage.model.seen.lock().unwrap();
    match seen.last().and_then(|messages| messages.last()) {
        Some(Message::Tool { content, .. }) => content.clone(),
        other => panic!("the model should have been shown a result, it was shown {other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_run_comes_back_as_a_failed_result() {
    let table = [
        (call("a", "rm", json!({})), ErrorCode::UnknownTool, "read_file"),
        (call("a", "read_file", json!({ "path": 1 })), ErrorCode::InvalidArguments, "/path"),
        (call("a", "read_file", json!({})), ErrorCode::InvalidArguments, "path"),
        (call("a", "read_file", json!({ "path": "x", "more": 1 })), ErrorCode::InvalidArguments, "more"),
        (call("a", "read_file", json!(["x"])), ErrorCode::InvalidArguments, "object"),
        (call("a", "read_file", json!({ "path": "x", "do": "fail" })), ErrorCode::NotFound, "nothing there"),
        (call("a", "read_file", json!({ "path": "x", "do": "panic" })), ErrorCode::ToolFailed, "fault"),
        (call("a", "shell", json!({ "path": "x" })), ErrorCode::PolicyDenied, "as prepared"),
        (
            call("a", "write_file", json!({ "path": "x", "do": "refuse" })),
            ErrorCode::PathExtension,
            "only md",
        ),
        (call("a", "write_file", json!({ "path": "x", "do": "panic" })), ErrorCode::ToolFailed, "fault"),
    ];
    for (asked, code, words) in table {
        let shown = format!("{} {}", asked.tool, asked.arguments);
        let stage = Stage::new(vec![ask(vec![asked]), say("done")]);
        let outcome = stage.play().await;
        assert!(
            matches!(outcome, RunOutcome::Completed { .. }),
            "{shown}: the loop goes on, it ended as {outcome:?}"
        );
        assert_eq!(stage.results(), [(false, Some(code))], "{shown}: one failed result with its code");
        assert!(
            last_result(&stage).contains(words),
            "{shown}: the model is told {words:?}, got {:?}",
            last_result(&stage)
        );
    }
}

#[tokio::test]
async fn a_cut_off_or_unreadable_call_never_runs() {
    let table = [
        (CallProblem::Truncated, ErrorCode::TruncatedCall),
        (CallProblem::Malformed, ErrorCode::InvalidArguments),
    ];
    for (problem, code) in table {
        let mut asked = read("a", "complete.csv");
        asked.problem = Some(problem);
        let stage = Stage::new(vec![ask(vec![asked]), say("done")]);
        stage.play().await;
        assert_eq!(stage.results(), [(false, Some(code))], "{problem:?} comes back as failed");
        assert!(
            stage.reader.runs.lock().unwrap().is_empty(),
            "{problem:?}: even arguments that look whole are not run"
        );
    }
}

#[tokio::test]
async fn a_call_with_the_id_of_another_gets_its_own_result() {
    let stage = Stage::new(vec![
        ask(vec![read("same", "1"), read("same", "2"), read("", "3")]),
        ask(vec![read("same", "4")]),
        say("done"),
    ]);
    stage.play().await;
    let seen = stage.model.seen.lock().unwrap();
    let results: Vec<(String, String)> = seen
        .last()
        .unwrap()
        .iter()
        .filter_map(|message| match message {
            Message::Tool { call_id, content, .. } => Some((call_id.to_string(), content.clone())),
            _ => None,
        })
        .collect();
    let expected = [
        ("same", "content of 1"),
        ("call_1_2", "content of 2"),
        ("call_1_3", "content of 3"),
        ("call_2_1", "content of 4"),
    ];
    assert_eq!(
        results,
        expected.map(|(id, text)| (id.to_owned(), text.to_owned())),
        "each call has an id of its own"
    );
}

#[tokio::test]
async fn of_a_thousand_calls_only_the_first_are_run() {
    let calls = (0..1_000).map(|n| read(&format!("id{n}"), &format!("{n}.csv"))).collect();
    let stage = Stage::new(vec![ask(calls), say("done")]);
    let outcome = stage.play().await;
    assert_eq!(
        stage.reader.runs.lock().unwrap().len(),
        CALLS_PER_ANSWER,
        "no more than the bound ran, then {outcome:?}"
    );
    let results = stage.results();
    assert_eq!(results.len(), 1_000, "every call got a result");
    assert!(results[CALLS_PER_ANSWER..].iter().all(|(ok, _)| !ok), "the rest failed");
    assert!(last_result(&stage).contains("first 64"), "with words: {}", last_result(&stage));
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "and the loop went on: {outcome:?}");
}

#[tokio::test]
async fn the_third_identical_call_with_the_same_result_ends_the_task() {
    let again = || ask(vec![read("x", "same.csv")]);
    let stage = Stage::new(vec![again(), again(), again(), say("never reached")]);
    let outcome = stage.play().await;
    let (code, words) = failure(&outcome);
    assert_eq!(code, ErrorCode::RepeatedCall, "the task ends: {words}");
    assert!(words.contains("read_file"), "with words that name the tool: {words}");
    assert_eq!(stage.results().len(), 3, "the third result is recorded before the end");
}

#[tokio::test]
async fn a_call_that_gives_something_new_may_be_repeated() {
    let again = |id: &str| ask(vec![call(id, "read_file", json!({ "path": "x", "do": "count" }))]);
    let stage = Stage::new(vec![again("a"), again("b"), again("c"), again("d"), say("done")]);
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "another result is progress: {outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_given_up_and_told_to_stop() {
    let stage = Stage::new(vec![
        ask(vec![call("a", "read_file", json!({ "path": "x", "do": "hang" }))]),
        say("done"),
    ]);
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "the loop goes on: {outcome:?}");
    assert_eq!(stage.results(), [(false, Some(ErrorCode::ToolTimeout))], "as a failed result");
    tokio::task::yield_now().await;
    assert!(
        stage.reader.stopped.load(std::sync::atomic::Ordering::SeqCst),
        "work in another thread hears of it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_cannot_be_prepared_raises_no_card() {
    let stage = Stage::new(vec![
        ask(vec![call("a", "write_file", json!({ "path": "x", "do": "hang" }))]),
        say("done"),
    ]);
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "no card: {outcome:?}");
    assert_eq!(stage.results(), [(false, Some(ErrorCode::ToolTimeout))], "a failed result instead");
}

#[tokio::test]
async fn a_provider_that_panics_ends_only_the_task() {
    let stage = Stage::new(vec![Turn::Panic]);
    let outcome = stage.play().await;
    assert_eq!(failure(&outcome).0, ErrorCode::Internal, "a fault of ours is named as one");
}
