//! Steps, time and tokens, over the whole life of a task.

use crate::stage::{Stage, Turn, ask, call, failure, read, say, start};
use pilot_agent::RunOutcome;
use pilot_types::ErrorCode;
use serde_json::json;

#[tokio::test]
async fn steps_are_counted_over_the_life_of_the_task() {
    let mut stage =
        Stage::new(vec![ask(vec![read("a", "1")]), ask(vec![read("b", "2")]), say("never reached")]);
    stage.limits.max_steps = 10;
    let mut resumed = start();
    resumed.steps = 8;
    let outcome = stage.play_from(resumed).await;
    let (code, words) = failure(&outcome);
    assert_eq!(code, ErrorCode::StepLimit, "the tenth step is the last: {words}");
    assert!(words.contains("10") && words.contains("read_file"), "words say what was left: {words}");
    assert_eq!(stage.results().len(), 2, "calls of the last answer still ran");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_ends_with_the_tasks_time() {
    let mut stage = Stage::new(vec![ask(vec![read("a", "1")]), Turn::Hang]);
    stage.limits.max_millis = 5_000;
    let mut resumed = start();
    resumed.elapsed_millis = 3_000;
    let before = tokio::time::Instant::now();
    let outcome = stage.play_from(resumed).await;
    let (code, words) = failure(&outcome);
    assert_eq!(code, ErrorCode::TimeLimit, "{words}");
    assert!(words.contains("read_file"), "words say how far it came: {words}");
    let waited = before.elapsed().as_millis();
    assert!(
        (2_000..2_100).contains(&waited),
        "only the time that was left is waited for, it was {waited} ms"
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_outlast_the_tasks_time() {
    let mut stage = Stage::new(vec![
        ask(vec![call("a", "read_file", json!({ "path": "x", "do": "hang" }))]),
        say("never reached"),
    ]);
    stage.limits.max_millis = 1_000;
    let outcome = stage.play().await;
    assert_eq!(failure(&outcome).0, ErrorCode::TimeLimit, "the task's time is over");
    assert_eq!(stage.results(), [(false, Some(ErrorCode::ToolTimeout))], "the call has a result");
}

#[tokio::test]
async fn a_task_without_time_left_does_nothing() {
    let stage = Stage::new(vec![say("never reached")]);
    let mut resumed = start();
    resumed.elapsed_millis = 600_000;
    resumed.pending = vec![read("a", "1")];
    let outcome = stage.play_from(resumed).await;
    let (code, words) = failure(&outcome);
    assert_eq!(code, ErrorCode::TimeLimit, "{words}");
    assert!(words.contains("not done any more: read_file"), "the pending call is named: {words}");
    assert!(stage.reader.runs.lock().unwrap().is_empty(), "the pending call did not run");
}

#[tokio::test]
async fn a_cap_on_tokens_stops_the_task_with_words() {
    let mut stage =
        Stage::new(vec![ask(vec![read("a", "1")]), ask(vec![read("b", "2")]), say("never reached")]);
    stage.limits.max_tokens = Some(220);
    let outcome = stage.play().await;
    let (code, words) = failure(&outcome);
    assert_eq!(code, ErrorCode::TokenLimit, "{words}");
    assert!(words.contains("220"), "words name the figures: {words}");
    assert_eq!(stage.model.seen.lock().unwrap().len(), 2, "no model call beyond the cap");
}

#[tokio::test]
async fn a_provider_in_trouble_interrupts_and_a_provider_that_is_wrong_fails() {
    let later = [
        ErrorCode::ProviderMissing,
        ErrorCode::ProviderKeyMissing,
        ErrorCode::ProviderUnauthorized,
        ErrorCode::ProviderForbidden,
        ErrorCode::ProviderNotFound,
        ErrorCode::ProviderRateLimited,
        ErrorCode::ProviderUnavailable,
        ErrorCode::ProviderTimeout,
        ErrorCode::ProviderStreamBroken,
        ErrorCode::ProviderRedirect,
        ErrorCode::ConsentRequired,
        ErrorCode::TokenLimit,
    ];
    for code in later {
        let outcome = Stage::new(vec![Turn::Fail(code)]).play().await;
        assert!(
            matches!(&outcome, RunOutcome::Interrupted { code: found, .. } if *found == code),
            "{code}: {outcome:?}"
        );
    }
    let never = [
        ErrorCode::ScriptExhausted,
        ErrorCode::ScriptMismatch,
        ErrorCode::ScriptInvalid,
        ErrorCode::ProviderBadResponse,
        ErrorCode::ProviderRejected,
        ErrorCode::Internal,
    ];
    for code in never {
        let outcome = Stage::new(vec![Turn::Fail(code)]).play().await;
        assert_eq!(failure(&outcome).0, code, "{code} ends the task");
    }
}
