//! Calls that stop for a person.

use crate::stage::{Stage, ask, call, failure, read, say, start, write};
use pilot_agent::{Checkpoint, RunOutcome, rebuild};
use pilot_types::{CallId, ErrorCode, Event, Message, PreparedEffect, ToolCall};
use serde_json::json;

fn paused(outcome: RunOutcome) -> Checkpoint {
    match outcome {
        RunOutcome::Paused(checkpoint) => *checkpoint,
        other => panic!("the run should wait for a person, it ended as {other:?}"),
    }
}

#[tokio::test]
async fn a_write_stops_the_run_with_everything_that_is_needed_to_go_on() {
    let calls = vec![read("a", "1.csv"), write("b", "out.md"), read("c", "3.csv"), write("d", "more.md")];
    let stage = Stage::new(vec![ask(calls), say("never reached")]);
    let checkpoint = paused(stage.play().await);
    assert_eq!(checkpoint.call, write("b", "out.md"), "the first call that needs a person");
    assert_eq!(checkpoint.rest, [read("c", "3.csv"), write("d", "more.md")], "the calls after it, in order");
    assert_eq!(
        checkpoint.effect,
        PreparedEffect::WriteFile { path: "out.md".to_owned(), bytes: b"bytes".to_vec(), base: None },
        "the exact bytes"
    );
    assert_eq!((checkpoint.steps, checkpoint.usage.total()), (1, 110), "what was used so far");
    assert_eq!(checkpoint.messages.len(), 4, "system, goal, answer, result of the read");
    assert!(stage.writer.runs.lock().unwrap().is_empty(), "the write has not run");
    let expected: [&[&str]; 2] = [&["answer 1", "started a"], &["result a true"]];
    assert_eq!(stage.appends(), expected, "all that led here is durable before the card");
}

#[tokio::test]
async fn a_paused_run_rebuilds_to_its_checkpoint() {
    let stage =
        Stage::new(vec![ask(vec![read("a", "1.csv")]), ask(vec![write("b", "out.md"), read("c", "3.csv")])]);
    let checkpoint = paused(stage.play().await);
    let mut events = stage.events();
    events.insert(0, Event::Prompted { system: "rules".to_owned() });
    let rebuilt = rebuild(&events, "goal");
    assert_eq!(rebuilt.messages, checkpoint.messages, "the record says the same as the checkpoint");
    let mut pending: Vec<ToolCall> = vec![checkpoint.call];
    pending.extend(checkpoint.rest);
    assert_eq!(rebuilt.pending, pending, "the waiting call and the rest");
    assert_eq!((rebuilt.steps, rebuilt.usage), (checkpoint.steps, checkpoint.usage), "figures are kept");
}

#[tokio::test]
async fn after_a_decision_the_rest_runs_and_the_next_write_asks_again() {
    let mut resumed = start();
    resumed.messages.push(Message::Assistant {
        text: String::new(),
        calls: vec![write("b", "out.md"), read("c", "3.csv"), write("d", "more.md")],
    });
    resumed.messages.push(Message::Tool {
        call_id: CallId::from_text("b"),
        tool: "write_file".to_owned(),
        ok: false,
        code: Some(ErrorCode::ApprovalRejected),
        content: "the person said no".to_owned(),
    });
    resumed.pending = vec![read("c", "3.csv"), write("d", "more.md")];
    resumed.steps = 1;
    let stage = Stage::new(Vec::new());
    let checkpoint = paused(stage.play_from(resumed).await);
    assert_eq!(checkpoint.call, write("d", "more.md"), "every write asks for itself");
    assert_eq!(stage.results(), [(true, None)], "the read in between ran");
    assert!(stage.model.seen.lock().unwrap().is_empty(), "pending calls come before the next model call");
}

#[tokio::test]
async fn a_write_sent_again_and_again_ends_the_task_also_across_cards() {
    let mut resumed = start();
    for id in ["a", "b", "c"] {
        resumed.messages.push(Message::Assistant { text: String::new(), calls: vec![write(id, "out.md")] });
        resumed.messages.push(Message::Tool {
            call_id: CallId::from_text(id),
            tool: "write_file".to_owned(),
            ok: false,
            code: Some(ErrorCode::ApprovalRejected),
            content: "the person said no".to_owned(),
        });
    }
    let stage = Stage::new(vec![say("never reached")]);
    let outcome = stage.play_from(resumed).await;
    assert_eq!(failure(&outcome).0, ErrorCode::RepeatedCall, "the third rejected copy is the last");
    assert!(stage.model.seen.lock().unwrap().is_empty(), "the model is not asked any more");
}

#[tokio::test]
async fn a_folder_that_is_gone_interrupts_and_leaves_the_call_pending() {
    let table = [
        call("a", "read_file", json!({ "path": "x", "do": "lose" })),
        call("a", "write_file", json!({ "path": "x", "do": "lose" })),
        call("a", "gone", json!({ "path": "x" })),
    ];
    for asked in table {
        let shown = format!("{} {}", asked.tool, asked.arguments);
        let stage = Stage::new(vec![ask(vec![asked.clone()]), say("never reached")]);
        let outcome = stage.play().await;
        assert!(
            matches!(&outcome, RunOutcome::Interrupted { code: ErrorCode::WorkspaceGone, .. }),
            "{shown}: the person can bring the folder back, got {outcome:?}"
        );
        assert_eq!(
            rebuild(&stage.events(), "goal").pending,
            [asked],
            "{shown}: a resumed task makes the call again"
        );
    }
}
