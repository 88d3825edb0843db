//! The record rebuilds the conversation, whatever the model did.

use crate::stage::{Stage, Turn, ask, call, say, usage};
use pilot_agent::{ModelAnswer, RunOutcome, rebuild};
use pilot_types::{CallProblem, Event, Message, ToolCall};
use proptest::prelude::*;
use serde_json::json;

fn any_call() -> impl Strategy<Value = ToolCall> {
    let tool = prop_oneof![Just("read_file"), Just("shell"), Just("nothing"), Just("gone")];
    let action = prop_oneof![Just("count"), Just("fail"), Just("plain"), Just("lose")];
    let problem = prop_oneof![4 => Just(None), 1 => Just(Some(CallProblem::Truncated)), 1 => Just(Some(CallProblem::Malformed))];
    ("[ab]{0,1}", tool, action, problem).prop_map(|(id, tool, action, problem)| ToolCall {
        problem,
        ..call(&id, tool, json!({ "path": "x", "do": action }))
    })
}

fn any_turns() -> impl Strategy<Value = Vec<Vec<ToolCall>>> {
    prop::collection::vec(prop::collection::vec(any_call(), 1..4), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_rebuilt_task_stands_where_the_run_stood(answers in any_turns()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut turns: Vec<Turn> = answers.iter().cloned().map(ask).collect();
            turns.push(say("done"));
            let stage = Stage::new(turns);
            let outcome = stage.play().await;
            let mut events = vec![Event::Prompted { system: "rules".to_owned() }];
            events.extend(stage.events());
            // Each model call saw the conversation that the record had just before its answer.
            let places: Vec<usize> =
                events.iter().enumerate().filter(|(_, event)| matches!(event, Event::ModelAnswer { .. })).map(|(place, _)| place).collect();
            let seen = stage.model.seen.lock().unwrap();
            for (place, messages) in places.iter().zip(seen.iter()) {
                let rebuilt = rebuild(&events[..*place], "goal");
                prop_assert_eq!(&rebuilt.messages, messages, "the conversation at event {}", place);
                prop_assert!(rebuilt.pending.is_empty(), "the model is asked only when every call has its result");
            }
            let whole = rebuild(&events, "goal");
            let answered = u32::try_from(places.len()).unwrap();
            prop_assert_eq!(whole.steps, answered, "each answer is a step");
            prop_assert_eq!(whole.usage.total(), usage().total() * u64::from(answered), "tokens add up");
            let ended = matches!(outcome, RunOutcome::Completed { .. });
            let last_is_answer = matches!(whole.messages.last(), Some(Message::Assistant { calls, .. }) if calls.is_empty());
            prop_assert_eq!(ended, last_is_answer, "a completed run ends with words: {:?}", outcome);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_run_cut_at_any_event_ends_as_the_uncut_one() {
    let turns = || {
        vec![
            Turn::Answer(ModelAnswer {
                text: "looking".to_owned(),
                calls: vec![
                    call("a", "read_file", json!({ "path": "1" })),
                    call("b", "read_file", json!({ "path": "2" })),
                ],
                usage: usage(),
            }),
            ask(vec![call("c", "read_file", json!({ "path": "3" }))]),
            say("done"),
        ]
    };
    let whole = Stage::new(turns());
    whole.play().await;
    let mut events = vec![Event::Prompted { system: "rules".to_owned() }];
    events.extend(whole.events());
    let expected = rebuild(&events, "goal").messages;
    for cut in 1..=events.len() {
        let start = rebuild(&events[..cut], "goal");
        let left = turns().split_off(usize::try_from(start.steps).unwrap());
        if left.is_empty() {
            continue;
        }
        let resumed = Stage::new(left);
        let outcome = resumed.play_from(start).await;
        assert!(matches!(outcome, RunOutcome::Completed { .. }), "cut after {cut} events: {outcome:?}");
        let mut all = events[..cut].to_vec();
        all.extend(resumed.events());
        assert_eq!(
            rebuild(&all, "goal").messages,
            expected,
            "cut after {cut} events: the conversation is the same"
        );
    }
}
