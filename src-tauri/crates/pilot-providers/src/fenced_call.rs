//! A call that a small model wrote as text instead of making it.

use pilot_types::{CallId, ToolCall, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    name: String,
    #[serde(alias = "parameters")]
    arguments: Map<String, Value>,
}

/// Reads an answer as a call when it is nothing but one: a JSON object with `name` and `arguments`, bare, in one fence
/// or between `tool_call` tags, that names a known tool. It passes schema, policy and approval like any other call.
pub(crate) fn read(text: &str, tools: &[ToolSpec]) -> Option<ToolCall> {
    let inner = unwrapped(text.trim())?;
    let WrittenCall { name, arguments } = serde_json::from_str(inner).ok()?;
    tools.iter().any(|tool| tool.name == name).then(|| ToolCall {
        // The loop gives an id that is unique within the task.
        id: CallId::from_text(""),
        tool: name,
        arguments: Value::Object(arguments),
        problem: None,
    })
}

fn unwrapped(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("```") {
        let inner = rest.strip_suffix("```")?;
        let (label, body) = inner.split_once('\n')?;
        let known = matches!(label.trim(), "" | "json" | "JSON" | "tool_call");
        return (known && !body.contains("```")).then(|| body.trim());
    }
    if let Some(rest) = text.strip_prefix("<tool_call>") {
        return rest.strip_suffix("</tool_call>").map(str::trim);
    }
    text.starts_with('{').then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{Capability, Risk};
    use serde_json::json;

    #[test]
    fn only_a_lone_call_of_a_known_tool_counts() {
        let tools = [ToolSpec {
            name: "list_files".to_owned(),
            description: String::new(),
            capability: Capability::declared("file:read"),
            risk: Risk::Low,
            parameters: json!({}),
            path_fields: Vec::new(),
        }];
        let call = r#"{"name": "list_files", "arguments": {"path": "."}}"#;
        let counted = [
            call.to_owned(),
            format!("```json\n{call}\n```"),
            format!("```\n{call}\n```\n"),
            format!("<tool_call>\n{call}\n</tool_call>"),
            r#"{"name": "list_files", "parameters": {"path": "."}}"#.to_owned(),
        ];
        for text in counted {
            let read = read(&text, &tools).unwrap_or_else(|| panic!("a lone call must be read: {text}"));
            assert_eq!(read.arguments, json!({ "path": "." }), "{text}");
        }
        let not_counted = [
            format!("I will call:\n```json\n{call}\n```"),
            format!("```json\n{call}\n```\nand then stop"),
            format!("```json\n{call}\n```\n```json\n{call}\n```"),
            format!("```python\n{call}\n```"),
            format!("[{call}]"),
            call.replace("list_files", "rm"),
            r#"{"name": "list_files", "arguments": "x"}"#.to_owned(),
            r#"{"name": "list_files"}"#.to_owned(),
            r#"{"name": "list_files", "arguments": {}, "note": "x"}"#.to_owned(),
            r#"{"name": "list_files", "arguments": {"path""#.to_owned(),
            String::new(),
        ];
        for text in not_counted {
            assert_eq!(read(&text, &tools), None, "this is text: {text}");
        }
    }
}
