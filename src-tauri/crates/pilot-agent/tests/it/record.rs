//! What is recorded, and in how many durable steps.

use crate::stage::{Stage, ask, call, read, say};
use pilot_agent::RunOutcome;
use pilot_types::{ErrorCode, Event};
use serde_json::json;

#[tokio::test]
async fn an_answer_without_calls_ends_the_task_in_one_append() {
    let stage = Stage::new(vec![say("all done")]);
    let outcome = stage.play().await;
    assert!(matches!(&outcome, RunOutcome::Completed { text } if text == "all done"), "ended as {outcome:?}");
    assert_eq!(stage.appends(), [["answer 1"]], "one durable step");
    assert_eq!(*stage.sink.deltas.lock().unwrap(), "all done", "text streams to the sink");
}

#[tokio::test]
async fn a_read_step_costs_exactly_two_appends() {
    let stage = Stage::new(vec![ask(vec![read("a", "1.csv")]), ask(vec![read("b", "2.csv")]), say("done")]);
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "ended as {outcome:?}");
    let expected: [&[&str]; 5] = [
        &["answer 1", "started a"],
        &["result a true"],
        &["answer 2", "started b"],
        &["result b true"],
        &["answer 3"],
    ];
    assert_eq!(stage.appends(), expected, "answer with the start, then the result");
}

#[tokio::test]
async fn calls_of_one_answer_run_in_order_and_share_appends() {
    let calls = vec![read("a", "1"), call("b", "shell", json!({ "path": "x" })), read("c", "3")];
    let stage = Stage::new(vec![ask(calls), say("done")]);
    stage.play().await;
    let expected: [&[&str]; 4] = [
        &["answer 1", "started a"],
        &["result a true", "denied b", "result b false", "started c"],
        &["result c true"],
        &["answer 2"],
    ];
    assert_eq!(stage.appends(), expected, "a result travels with the start of the next call");
    assert!(stage.denied.runs.lock().unwrap().is_empty(), "a denied call never runs");
}

#[tokio::test]
async fn nothing_runs_when_its_start_cannot_be_recorded() {
    let stage = Stage::new(vec![ask(vec![read("a", "1")]), say("done")]);
    *stage.sink.works_for.lock().unwrap() = Some(0);
    let outcome = stage.play().await;
    assert!(
        matches!(&outcome, RunOutcome::Interrupted { code: ErrorCode::DiskFull, .. }),
        "a record that cannot be kept interrupts, got {outcome:?}"
    );
    assert!(stage.reader.runs.lock().unwrap().is_empty(), "the tool did not run");
}

#[tokio::test]
async fn the_model_is_not_asked_on_top_of_a_result_that_is_not_recorded() {
    let stage = Stage::new(vec![ask(vec![read("a", "1")]), say("done")]);
    *stage.sink.works_for.lock().unwrap() = Some(1);
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Interrupted { .. }), "ended as {outcome:?}");
    assert_eq!(stage.model.seen.lock().unwrap().len(), 1, "only the first model call was made");
}

#[tokio::test]
async fn last_words_that_cannot_be_recorded_are_no_end() {
    let stage = Stage::new(vec![say("done")]);
    *stage.sink.works_for.lock().unwrap() = Some(0);
    let outcome = stage.play().await;
    assert!(
        matches!(outcome, RunOutcome::Interrupted { .. }),
        "what is not recorded did not happen: {outcome:?}"
    );
}

#[tokio::test]
async fn a_thousand_steps_stay_two_appends_each() {
    let mut turns: Vec<_> =
        (0..1_000).map(|n| ask(vec![read(&format!("id{n}"), &format!("{n}.csv"))])).collect();
    turns.push(say("done"));
    let mut stage = Stage::new(turns);
    stage.limits.max_steps = 2_000;
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Completed { .. }), "ended as {outcome:?}");
    assert_eq!(
        stage.sink.batches.lock().unwrap().len(),
        2_001,
        "two appends a step and one for the last words"
    );
}

#[tokio::test]
async fn figures_of_the_run_stand_in_each_answer() {
    let stage = Stage::new(vec![ask(vec![read("a", "1")]), say("done")]);
    let mut start = crate::stage::start();
    (start.steps, start.elapsed_millis) = (4, 9_000);
    stage.play_from(start).await;
    let answers: Vec<(u32, u64)> = stage
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::ModelAnswer { step, elapsed_millis, .. } => Some((step, elapsed_millis)),
            _ => None,
        })
        .collect();
    assert_eq!(answers.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [5, 6], "steps go on counting");
    assert!(
        answers.iter().all(|(_, elapsed)| *elapsed >= 9_000),
        "running time goes on counting: {answers:?}"
    );
}
