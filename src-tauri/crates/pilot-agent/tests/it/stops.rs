//! A person who stops a task is obeyed at every await.

use crate::stage::{Stage, Turn, ask, call, read, say, write};
use pilot_agent::RunOutcome;
use pilot_types::ErrorCode;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn a_task_stopped_before_it_began_asks_nobody() {
    let stage = Stage::new(vec![say("never reached")]);
    stage.cancel.cancel();
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Cancelled), "ended as {outcome:?}");
    assert!(stage.model.seen.lock().unwrap().is_empty(), "no model call was made");
}

#[tokio::test]
async fn a_stop_from_another_process_is_seen_before_the_next_call() {
    let stage = Stage::new(vec![ask(vec![read("a", "1"), write("b", "out.md")])]);
    stage.sink.told_to_stop.store(true, Ordering::SeqCst);
    let mut resumed = crate::stage::start();
    resumed.pending = vec![read("a", "1"), write("b", "out.md")];
    let outcome = stage.play_from(resumed).await;
    assert!(matches!(outcome, RunOutcome::Cancelled), "ended as {outcome:?}");
    assert!(stage.reader.runs.lock().unwrap().is_empty(), "no pending call ran");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_model_call_at_once() {
    let stage = Stage::new(vec![Turn::Hang]);
    let cancel = stage.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        cancel.cancel();
    });
    let before = tokio::time::Instant::now();
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Cancelled), "ended as {outcome:?}");
    assert!(before.elapsed() < Duration::from_millis(50), "it took {:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stop_from_another_process_ends_a_model_call_soon() {
    let stage = Stage::new(vec![Turn::Hang]);
    let told = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        stage.sink.told_to_stop.store(true, Ordering::SeqCst);
    };
    let before = tokio::time::Instant::now();
    let (outcome, ()) = tokio::join!(stage.play(), told);
    assert!(matches!(outcome, RunOutcome::Cancelled), "ended as {outcome:?}");
    assert!(before.elapsed() <= Duration::from_millis(260), "it took {:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_tool_leaves_a_result_and_no_work_behind() {
    let stage = Stage::new(vec![ask(vec![
        call("a", "read_file", json!({ "path": "x", "do": "hang" })),
        read("b", "2"),
    ])]);
    let cancel = stage.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        cancel.cancel();
    });
    let outcome = stage.play().await;
    assert!(matches!(outcome, RunOutcome::Cancelled), "ended as {outcome:?}");
    assert_eq!(stage.results(), [(false, Some(ErrorCode::Cancelled))], "what began has an end in the record");
    tokio::task::yield_now().await;
    assert!(stage.reader.stopped.load(Ordering::SeqCst), "work in another thread hears of it");
}
