//! From the record back to the conversation.

use crate::RunStart;
use pilot_types::{Event, Message};

/// Rebuilds where a task stands from its stored events, in order, and its goal. A task that was paused, crashed or
/// interrupted goes on from exactly this; for a task without events it is the start.
///
/// The first [`Event::Prompted`] opens the conversation, the goal follows as the person's message. A result counts for
/// the call of the last answer that it names and only once. A call that a person edited stays in the model's answer as
/// the model wrote it. A call that had begun and has no result is pending again: only calls without side effects begin
/// inside the loop.
#[must_use]
pub fn rebuild(events: &[Event], goal: &str) -> RunStart {
    let mut start = RunStart::default();
    start.messages.push(Message::User { text: goal.to_owned() });
    let mut prompted = false;
    for event in events {
        match event {
            Event::Prompted { system } if !prompted => {
                prompted = true;
                start.messages.insert(0, Message::System { text: system.clone() });
            }
            Event::ModelAnswer { step, text, calls, usage, elapsed_millis } => {
                start.steps = *step;
                start.elapsed_millis = *elapsed_millis;
                start.usage.add(*usage);
                start.pending.clone_from(calls);
                start.messages.push(Message::Assistant { text: text.clone(), calls: calls.clone() });
            }
            Event::ToolResult { call_id, tool, ok, code, content, millis } => {
                let Some(place) = start.pending.iter().position(|call| call.id == *call_id) else { continue };
                start.pending.remove(place);
                start.elapsed_millis = start.elapsed_millis.saturating_add(*millis);
                start.messages.push(Message::Tool {
                    call_id: call_id.clone(),
                    tool: tool.clone(),
                    ok: *ok,
                    code: *code,
                    content: content.clone(),
                });
            }
            Event::Prompted { .. }
            | Event::TaskCreated { .. }
            | Event::StatusChanged { .. }
            | Event::ToolStarted { .. }
            | Event::PolicyDenied { .. }
            | Event::ApprovalRequested { .. }
            | Event::ApprovalReplaced { .. }
            | Event::ApprovalDecided { .. }
            | Event::ExecutionFinished { .. }
            | Event::ArtifactWritten { .. }
            | Event::Undone { .. }
            | Event::OperatorActed { .. }
            | Event::Noted { .. } => {}
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{ApprovalId, CallId, ErrorCode, TokenUsage, ToolCall};
    use serde_json::json;

    fn call(id: &str, path: &str) -> ToolCall {
        ToolCall {
            id: CallId::from_text(id),
            tool: "write_file".to_owned(),
            arguments: json!({ "path": path }),
            problem: None,
        }
    }

    fn answer(step: u32, calls: Vec<ToolCall>, elapsed_millis: u64) -> Event {
        Event::ModelAnswer {
            step,
            text: format!("words {step}"),
            calls,
            usage: TokenUsage { input: 10, output: 2, estimated: step == 2 },
            elapsed_millis,
        }
    }

    fn result(id: &str, ok: bool, millis: u64) -> Event {
        Event::ToolResult {
            call_id: CallId::from_text(id),
            tool: "write_file".to_owned(),
            ok,
            code: (!ok).then_some(ErrorCode::ApprovalRejected),
            content: format!("result {id}"),
            millis,
        }
    }

    #[test]
    fn a_task_without_events_begins_with_its_goal() {
        let start = rebuild(&[], "sum up");
        assert_eq!(
            start.messages,
            [Message::User { text: "sum up".to_owned() }],
            "the goal is the person's message"
        );
        assert!(start.pending.is_empty() && start.steps == 0, "nothing has happened yet");
    }

    #[test]
    fn what_was_settled_is_in_the_conversation_and_the_rest_is_pending() {
        let edited = call("b", "other.md");
        let events = [
            Event::Prompted { system: "first".to_owned() },
            answer(1, vec![call("a", "1.md"), call("b", "2.md"), call("c", "3.md")], 100),
            result("a", true, 7),
            Event::ApprovalDecided {
                approval: ApprovalId::from_text("card"),
                decision: "approve_edited".to_owned(),
                note: None,
                edited: Some(edited),
                by: "cli".to_owned(),
                seen: None,
            },
            result("b", false, 5),
            result("b", true, 5),
            result("stranger", true, 5),
            Event::Prompted { system: "second".to_owned() },
        ];
        let start = rebuild(&events, "goal");
        assert_eq!(start.pending, [call("c", "3.md")], "only the call without a result is pending");
        assert_eq!(start.elapsed_millis, 112, "time of the answer and of the results after it");
        assert_eq!(start.steps, 1, "one model call was made");
        let roles: Vec<String> = start
            .messages
            .iter()
            .map(|message| match message {
                Message::System { text } => format!("system {text}"),
                Message::User { text } => format!("user {text}"),
                Message::Assistant { calls, .. } => format!("assistant {}", calls[1].arguments["path"]),
                Message::Tool { call_id, ok, .. } => format!("tool {call_id} {ok}"),
            })
            .collect();
        assert_eq!(
            roles,
            ["system first", "user goal", "assistant \"2.md\"", "tool a true", "tool b false"],
            "the first prompt, the call as the model wrote it, each result once"
        );
    }

    #[test]
    fn usage_adds_up_and_an_estimate_stays_marked() {
        let events = [answer(1, Vec::new(), 5), answer(2, vec![call("a", "x")], 9)];
        let start = rebuild(&events, "goal");
        assert_eq!(
            start.usage,
            TokenUsage { input: 20, output: 4, estimated: true },
            "the sum of both model calls"
        );
        assert_eq!((start.steps, start.elapsed_millis), (2, 9), "figures of the last answer");
    }
}
