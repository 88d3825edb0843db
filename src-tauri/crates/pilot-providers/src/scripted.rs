//! A model that plays a script: for evals, tests and demonstrations.

use crate::tokens;
use async_trait::async_trait;
use pilot_agent::{DeltaSink, ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_types::{CallId, ErrorCode, Message, Script, ScriptExpect, ScriptStep, TokenUsage, ToolCall};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The version of the script format that this program plays.
const VERSION: u32 = 1;

/// Characters of one delta, so that streaming is exercised.
const PIECE_CHARS: usize = 16;

/// Reads a script.
///
/// # Errors
/// [`ErrorCode::ScriptInvalid`] when the text is not a script of version 1.
pub fn parse_script(text: &str) -> Result<Script, ModelError> {
    let script: Script = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        ModelError::new(ErrorCode::ScriptInvalid, format!("the script cannot be read: {error}"))
    })?;
    if script.version != VERSION {
        let words =
            format!("the script has version {}, this program plays version {VERSION}", script.version);
        return Err(ModelError::new(ErrorCode::ScriptInvalid, words));
    }
    Ok(script)
}

/// Plays a script. It keeps no place of its own: the k-th model call of a task plays the k-th step, and k is read off
/// the conversation, so that a resumed task goes on in any process.
#[derive(Clone, Debug)]
pub struct ScriptedProvider {
    script: Script,
}

impl ScriptedProvider {
    /// A provider that plays this script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    fn step(&self, messages: &[Message]) -> Result<(usize, &ScriptStep), ModelError> {
        let played = messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let step = self.script.steps.get(played).ok_or_else(|| {
            let words = format!(
                "the script has {} steps, this is model call {}",
                self.script.steps.len(),
                played + 1
            );
            ModelError::new(ErrorCode::ScriptExhausted, words)
        })?;
        if let Some(expect) = &step.expect {
            check(expect, messages).map_err(|words| {
                ModelError::new(ErrorCode::ScriptMismatch, format!("step {}: {words}", played + 1))
            })?;
        }
        Ok((played + 1, step))
    }
}

fn check(expect: &ScriptExpect, messages: &[Message]) -> Result<(), String> {
    let last = messages.iter().rev().find_map(|message| match message {
        Message::Tool { content, .. } => Some(content.as_str()),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    });
    for wanted in &expect.last_result_contains {
        match last {
            Some(content) if content.contains(wanted.as_str()) => {}
            Some(content) => {
                let begin: String = content.chars().take(200).collect();
                return Err(format!("the last result should contain {wanted:?}, it begins {begin:?}"));
            }
            None => return Err(format!("the last result should contain {wanted:?}, there is none")),
        }
    }
    Ok(())
}

/// Sends text in pieces, none of which cuts a character.
pub(crate) fn stream(text: &str, deltas: &dyn DeltaSink) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(PIECE_CHARS).map_or(rest.len(), |(end, _)| end);
        let (piece, tail) = rest.split_at(end);
        deltas.text(piece);
        rest = tail;
    }
}

#[async_trait]
impl ModelProvider for ScriptedProvider {
    async fn answer(
        &self,
        request: ModelRequest<'_>,
        deltas: &dyn DeltaSink,
        cancel: &CancellationToken,
    ) -> Result<ModelAnswer, ModelError> {
        if cancel.is_cancelled() {
            return Err(ModelError::new(ErrorCode::Cancelled, "stopped"));
        }
        let (number, step) = self.step(request.messages)?;
        stream(&step.text, deltas);
        let calls: Vec<ToolCall> = step
            .tool_calls
            .iter()
            .enumerate()
            .map(|(index, call)| ToolCall {
                id: CallId::from_text(format!("script_{number}_{}", index + 1)),
                tool: call.name.clone(),
                arguments: if call.arguments.is_null() {
                    Value::Object(serde_json::Map::new())
                } else {
                    call.arguments.clone()
                },
                problem: None,
            })
            .collect();
        let output = tokens::estimated(&step.text)
            + calls.iter().map(|call| tokens::estimated(&call.arguments.to_string())).sum::<u64>();
        Ok(ModelAnswer {
            text: step.text.clone(),
            calls,
            usage: TokenUsage { input: 0, output, estimated: true },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl DeltaSink for Heard {
        fn text(&self, piece: &str) {
            self.0.lock().unwrap().push(piece.to_owned());
        }
    }

    fn provider() -> ScriptedProvider {
        let script = json!({
            "version": 1,
            "steps": [
                { "text": "先看看这个文件夹里有什么文件，然后再决定。", "tool_calls": [{ "name": "list_files" }, { "name": "read_file", "arguments": { "path": "a" } }] },
                { "text": "done", "expect": { "last_result_contains": ["42", "rows"] } }
            ]
        });
        ScriptedProvider::new(parse_script(&script.to_string()).unwrap())
    }

    fn result(content: &str) -> Message {
        Message::Tool {
            call_id: CallId::from_text("x"),
            tool: "t".to_owned(),
            ok: true,
            code: None,
            content: content.to_owned(),
        }
    }

    async fn play(messages: &[Message]) -> (Result<ModelAnswer, ModelError>, Vec<String>) {
        let heard = Heard::default();
        let request = ModelRequest { messages, tools: &[] };
        let answer = provider().answer(request, &heard, &CancellationToken::new()).await;
        (answer, heard.0.into_inner().unwrap())
    }

    #[tokio::test]
    async fn the_place_is_read_off_the_conversation() {
        let mut messages = vec![Message::User { text: "goal".to_owned() }];
        let (answer, heard) = play(&messages).await;
        let first = answer.unwrap();
        assert_eq!(first.calls[0].arguments, json!({}), "arguments left out are an empty object");
        assert_eq!(first.calls[1].id.as_str(), "script_1_2", "ids are the same in every process");
        assert!(heard.len() > 1, "text comes in pieces");
        assert_eq!(heard.concat(), first.text, "which add up to the text");
        messages.push(Message::Assistant { text: first.text, calls: first.calls });
        messages.push(result("42 rows"));
        assert_eq!(play(&messages).await.0.unwrap().text, "done", "the second call plays the second step");
        messages.push(Message::Assistant { text: "done".to_owned(), calls: Vec::new() });
        assert_eq!(
            play(&messages).await.0.unwrap_err().code,
            ErrorCode::ScriptExhausted,
            "beyond the last step"
        );
    }

    #[tokio::test]
    async fn a_missed_expectation_is_an_error_with_both_sides() {
        let assistant = Message::Assistant { text: String::new(), calls: Vec::new() };
        let error = play(&[assistant.clone(), result("42"), result("41 rows")]).await.0.unwrap_err();
        assert_eq!(error.code, ErrorCode::ScriptMismatch, "only the last result counts");
        assert!(
            error.detail.contains("42") && error.detail.contains("41 rows"),
            "both are named: {}",
            error.detail
        );
        let error = play(&[assistant]).await.0.unwrap_err();
        assert_eq!(error.code, ErrorCode::ScriptMismatch, "no result is a miss");
    }

    #[tokio::test]
    async fn a_stopped_task_is_not_answered() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let request = ModelRequest { messages: &[], tools: &[] };
        let error = provider().answer(request, &Heard::default(), &cancel).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Cancelled, "a stop comes first");
    }

    #[test]
    fn what_is_no_script_is_refused() {
        let table = [
            "",
            "[]",
            "{}",
            r#"{"version":2,"steps":[]}"#,
            r#"{"version":1,"steps":[],"more":1}"#,
            r#"{"version":1,"steps":[{"tool_calls":[{"nam":"x"}]}]}"#,
        ];
        for text in table {
            assert_eq!(parse_script(text).unwrap_err().code, ErrorCode::ScriptInvalid, "{text:?}");
        }
        assert!(
            parse_script("\u{feff}{\"version\":1,\"steps\":[]}").is_ok(),
            "a byte order mark is no fault"
        );
    }
}
