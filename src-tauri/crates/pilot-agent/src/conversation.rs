//! What the loop keeps of a conversation besides the messages: which call ids are taken, and whether the model goes
//! round in circles.

use pilot_types::{CallId, Message, ToolCall};
use std::collections::{HashMap, HashSet};

/// Longest call id kept as the model wrote it; a longer one is replaced.
const LONGEST_ID: usize = 128;

/// The same call with the same result this many times in a row ends the task.
pub(crate) const TIMES_TOO_OFTEN: u32 = 3;

/// The call ids of a task.
pub(crate) struct CallIds {
    taken: HashSet<CallId>,
}

impl CallIds {
    /// The ids that stand in a conversation.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut taken = HashSet::new();
        for message in messages {
            match message {
                Message::Assistant { calls, .. } => taken.extend(calls.iter().map(|call| call.id.clone())),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
            }
        }
        Self { taken }
    }

    /// Makes the ids of an answer unique within the task. A result is matched to its call by id alone, so a model that
    /// repeats an id must not be able to have one call answered by the result of another.
    pub(crate) fn settle(&mut self, step: u32, calls: &mut [ToolCall]) {
        for (index, call) in calls.iter_mut().enumerate() {
            let id = call.id.as_str();
            let usable = !id.is_empty() && id.len() <= LONGEST_ID && !id.chars().any(char::is_control);
            if usable && self.taken.insert(call.id.clone()) {
                continue;
            }
            let mut fresh = CallId::from_text(format!("call_{step}_{}", index + 1));
            let mut again = 1_u32;
            while !self.taken.insert(fresh.clone()) {
                again += 1;
                fresh = CallId::from_text(format!("call_{step}_{}_{again}", index + 1));
            }
            call.id = fresh;
        }
    }
}

/// How often the last call of a conversation was made in a row with the same arguments and the same result.
///
/// Reads the conversation from its end and only as far as the calls are the same. Equality of two `Value`s is equality
/// of their canonical text: an object does not know the order of its keys.
pub(crate) fn times_in_a_row(messages: &[Message]) -> u32 {
    let mut results: HashMap<&CallId, (bool, &str)> = HashMap::new();
    let mut first: Option<(&ToolCall, (bool, &str))> = None;
    let mut times = 0;
    for message in messages.iter().rev() {
        match message {
            Message::Tool { call_id, ok, content, .. } => {
                results.insert(call_id, (*ok, content));
            }
            Message::Assistant { calls, .. } => {
                for call in calls.iter().rev() {
                    let Some(result) = results.remove(&call.id) else { continue };
                    let (same_call, same_result) = *first.get_or_insert((call, result));
                    if same_call.tool != call.tool
                        || same_call.arguments != call.arguments
                        || same_result != result
                    {
                        return times;
                    }
                    times += 1;
                    if times >= TIMES_TOO_OFTEN {
                        return times;
                    }
                }
            }
            Message::System { .. } | Message::User { .. } => return times,
        }
    }
    times
}

/// The calls of the last answer.
pub(crate) fn last_calls(messages: &[Message]) -> &[ToolCall] {
    messages
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls.as_slice()),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
        })
        .unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn call(id: &str, arguments: Value) -> ToolCall {
        ToolCall { id: CallId::from_text(id), tool: "read_file".to_owned(), arguments, problem: None }
    }

    fn asked(calls: Vec<ToolCall>) -> Message {
        Message::Assistant { text: String::new(), calls }
    }

    fn result(id: &str, content: &str) -> Message {
        Message::Tool {
            call_id: CallId::from_text(id),
            tool: "read_file".to_owned(),
            ok: true,
            code: None,
            content: content.to_owned(),
        }
    }

    #[test]
    fn ids_become_unique_within_the_task() {
        let mut ids = CallIds::of(&[asked(vec![call("a", json!({}))])]);
        let mut calls: Vec<ToolCall> = ["a", "b", "b", "", "call_2_4", "x\n", &"y".repeat(300)]
            .iter()
            .map(|id| call(id, json!({})))
            .collect();
        ids.settle(2, &mut calls);
        let settled: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(
            settled,
            ["call_2_1", "b", "call_2_3", "call_2_4", "call_2_5", "call_2_6", "call_2_7"],
            "taken, repeated, empty, unprintable and huge ids are replaced; a model's own fresh id is kept"
        );
        let mut again = vec![call("b", json!({}))];
        ids.settle(3, &mut again);
        assert_eq!(again[0].id.as_str(), "call_3_1", "an id stays taken for the rest of the task");
    }

    #[test]
    fn only_the_same_call_with_the_same_result_counts() {
        let one = json!({ "path": "a", "offset": 1 });
        let turned: Value = serde_json::from_str(r#"{"offset":1,"path":"a"}"#).unwrap();
        let mut messages = vec![
            Message::User { text: "goal".to_owned() },
            asked(vec![call("1", one.clone()), call("2", turned)]),
            result("1", "same"),
            result("2", "same"),
        ];
        assert_eq!(times_in_a_row(&messages), 2, "the order of keys is no difference");
        messages.extend([asked(vec![call("3", one.clone())]), result("3", "same")]);
        assert_eq!(times_in_a_row(&messages), 3, "the third in a row over two answers");
        messages.extend([asked(vec![call("4", one.clone())]), result("4", "other")]);
        assert_eq!(times_in_a_row(&messages), 1, "another result is progress");
        messages.extend([asked(vec![call("5", json!({ "path": "b" }))]), result("5", "other")]);
        assert_eq!(times_in_a_row(&messages), 1, "another argument is another call");
        messages.push(asked(vec![call("6", json!({ "path": "b" }))]));
        assert_eq!(times_in_a_row(&messages), 1, "a call without a result does not count yet");
        assert_eq!(times_in_a_row(&[]), 0, "nothing was called");
    }
}
