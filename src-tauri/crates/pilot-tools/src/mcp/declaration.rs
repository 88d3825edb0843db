//! What a person declares about a server, and what is wrong with it in plain words.

use pilot_types::{PathAccess, PathField};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The server that is built in: no process, the guard's own reading and writing.
pub const BUILT_IN_SERVER: &str = "workspace-fs";
/// Longest name of a server.
const MAX_NAME: usize = 32;
/// Longest name of a tool as a model knows it; providers refuse longer ones.
const MAX_TOOL_NAME: usize = 64;
/// Most tools of one server.
const MAX_TOOLS: usize = 64;
/// Most arguments of a command line, and the longest.
const MAX_ARGS: (usize, usize) = (64, 4096);
/// Kinds of JSON Schema.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object"];
/// Longest description of a tool, in characters.
const MAX_DESCRIPTION: usize = 2_000;

/// A server as declared. The form is that of the settings and of `POCKETPILOT_MCP_SERVERS`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerDeclaration {
    /// Program: an absolute path, or a name that is looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Names of environment variables that may pass; no other does.
    #[serde(default)]
    pub env: Vec<String>,
    /// Tools by the server's own names.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolDeclaration>,
}

/// A tool as declared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDeclaration {
    /// What it does, such as `file:read`. Without it, annotations and then the name are looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// For the model.
    #[serde(default)]
    pub description: String,
    /// Arguments: a JSON Schema for each, with `"path": true` for a workspace path and `"required": true`.
    #[serde(default)]
    pub input_fields: BTreeMap<String, Value>,
    /// What the server's author says about it.
    #[serde(default)]
    pub annotations: Annotations,
}

/// What a server's author says about a tool. Only one of them is of use here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Annotations {
    /// True for a tool that changes nothing.
    #[serde(rename = "readOnlyHint", default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The others, kept as they are.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// What is wrong with a declaration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DeclarationError {
    /// Place, such as `files.tools.read`.
    pub place: String,
    /// In plain words.
    pub words: String,
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.words)
        } else {
            write!(f, "{}: {}", self.place, self.words)
        }
    }
}

fn wrong(place: impl Into<String>, words: impl Into<String>) -> DeclarationError {
    DeclarationError { place: place.into(), words: words.into() }
}

/// Name by which a model calls a tool: `mcp_{server}_{tool}`. What providers do not take in a name becomes `_`.
#[must_use]
pub fn tool_name(server: &str, tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    format!("mcp_{server}_{}", tool.chars().map(plain).collect::<String>())
}

/// Reads a whole object of servers. One that is wrong costs only itself.
#[must_use]
pub fn read_servers(text: &str) -> (BTreeMap<String, ServerDeclaration>, Vec<DeclarationError>) {
    let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
    let object: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return (servers, vec![wrong("", "this must be a JSON object of servers by name")]),
        Err(error) => return (servers, vec![wrong("", format!("this is not JSON: {error}"))]),
    };
    for (name, value) in object {
        match read_server(&name, &value) {
            Ok(server) => {
                servers.insert(name, server);
            }
            Err(problem) => problems.push(problem),
        }
    }
    (servers, problems)
}

/// Reads one server and checks everything that can be known without starting it.
///
/// # Errors
/// What is wrong, and where.
pub fn read_server(name: &str, value: &Value) -> Result<ServerDeclaration, DeclarationError> {
    if !is_plain(name) || name.len() > MAX_NAME {
        let words = format!("a name has 1 to {MAX_NAME} letters, digits, '-' and '_'");
        return Err(wrong(name.chars().take(80).collect::<String>(), words));
    }
    if value.get("command").is_none() {
        return Err(wrong(name, "\"command\" is missing: the program that is to be started"));
    }
    let server: ServerDeclaration = serde_json::from_value(value.clone())
        .map_err(|error| wrong(name, format!("this does not have the form of a server: {error}")))?;
    check_command(name, &server)?;
    check_tools(name, &server)?;
    Ok(server)
}

fn check_command(name: &str, server: &ServerDeclaration) -> Result<(), DeclarationError> {
    let place = |field: &str| format!("{name}.{field}");
    let command = server.command.as_str();
    if command.trim().is_empty() || command.contains('\0') {
        return Err(wrong(place("command"), "this names no program"));
    }
    if command.contains('/') && !command.starts_with('/') {
        let words = "a program is named by its absolute path, or by a bare name that is looked up in PATH";
        return Err(wrong(place("command"), words));
    }
    if server.args.len() > MAX_ARGS.0
        || server.args.iter().any(|arg| arg.len() > MAX_ARGS.1 || arg.contains('\0'))
    {
        let words = format!("at most {} arguments of {} bytes, without NUL", MAX_ARGS.0, MAX_ARGS.1);
        return Err(wrong(place("args"), words));
    }
    for variable in &server.env {
        if !is_plain(variable) || variable.contains('-') || variable.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(wrong(place("env"), format!("{variable:?} is not the name of a variable")));
        }
        if variable.starts_with("POCKETPILOT_") || variable.starts_with("LD_") {
            let words = format!("{variable} is never handed to another program");
            return Err(wrong(place("env"), words));
        }
    }
    Ok(())
}

fn check_tools(name: &str, server: &ServerDeclaration) -> Result<(), DeclarationError> {
    if server.tools.len() > MAX_TOOLS {
        return Err(wrong(format!("{name}.tools"), format!("at most {MAX_TOOLS} tools of one server")));
    }
    let mut names = BTreeSet::new();
    for (tool, declared) in &server.tools {
        let place = format!("{name}.tools.{tool}");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if tool.is_empty() || !tool.chars().all(plain) {
            return Err(wrong(place, "a tool's name has letters, digits, '-', '_', '.' and '/'"));
        }
        let called = tool_name(name, tool);
        if called.len() > MAX_TOOL_NAME {
            return Err(wrong(place, format!("{called} is longer than {MAX_TOOL_NAME} characters")));
        }
        if !names.insert(called.clone()) {
            return Err(wrong(place, format!("two tools would be called {called}")));
        }
        if declared.description.chars().count() > MAX_DESCRIPTION {
            return Err(wrong(place, format!("a description has at most {MAX_DESCRIPTION} characters")));
        }
        for (field, schema) in &declared.input_fields {
            check_field(&format!("{place}.input_fields.{field}"), schema)?;
        }
    }
    Ok(())
}

fn check_field(place: &str, schema: &Value) -> Result<(), DeclarationError> {
    let Some(object) = schema.as_object() else {
        return Err(wrong(place, "a field is described by an object, such as {\"type\": \"string\"}"));
    };
    for flag in ["path", "required"] {
        if object.get(flag).is_some_and(|value| !value.is_boolean()) {
            return Err(wrong(place, format!("\"{flag}\" is true or false")));
        }
    }
    let kind = object.get("type").and_then(Value::as_str).filter(|kind| TYPES.contains(kind));
    if kind.is_none() {
        return Err(wrong(
            place,
            "\"type\" is missing or unknown: string, number, integer, boolean, array or object",
        ));
    }
    if is_path(schema) {
        let items = object.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
        if kind != Some("string") && !(kind == Some("array") && items == Some("string")) {
            return Err(wrong(place, "a path is a string, or an array whose items are strings"));
        }
    }
    if object.iter().any(|(key, value)| {
        !matches!(key.as_str(), "path" | "enum" | "default" | "examples") && holds_path(value)
    }) {
        // The guard looks at the top level only; a path that it does not see would not be held.
        return Err(wrong(place, "\"path\": true stands at the top level of a field, not inside it"));
    }
    Ok(())
}

fn holds_path(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.get("path") == Some(&Value::Bool(true)) || object.values().any(holds_path)
        }
        Value::Array(items) => items.iter().any(holds_path),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn is_path(schema: &Value) -> bool {
    schema.get("path") == Some(&Value::Bool(true))
}

impl ToolDeclaration {
    /// JSON Schema of the arguments. Nothing that was not declared can be passed.
    pub(crate) fn parameters(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, schema) in &self.input_fields {
            let mut schema = schema.clone();
            if let Some(object) = schema.as_object_mut() {
                object.remove("path");
                if object.remove("required") == Some(Value::Bool(true)) {
                    required.push(name.clone());
                }
            }
            properties.insert(name.clone(), schema);
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// Names of the arguments that are workspace paths.
    #[must_use]
    pub fn path_names(&self) -> Vec<String> {
        self.input_fields.iter().filter(|(_, schema)| is_path(schema)).map(|(name, _)| name.clone()).collect()
    }

    /// The arguments that are workspace paths.
    pub(crate) fn path_fields(&self, access: PathAccess) -> Vec<PathField> {
        self.path_names().into_iter().map(|name| PathField { name, access }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, value: Value) -> String {
        read_server(name, &value).map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
    }

    #[test]
    fn the_form_of_the_specification_is_read() {
        let text = r#"{"files":{"command":"node","args":["/opt/fs/index.js","."],"env":["LANG"],
            "tools":{"read_file":{"capability":"file:read","description":"Reads.",
                "input_fields":{"path":{"type":"string","path":true,"required":true},"head":{"type":"integer"}},
                "annotations":{"readOnlyHint":true,"title":"Read"}}}}}"#;
        let (servers, problems) = read_servers(text);
        assert_eq!(problems, vec![], "a good declaration has no problem");
        let tool = &servers["files"].tools["read_file"];
        assert_eq!(tool.annotations.read_only_hint, Some(true), "the hint is kept");
        let schema = tool.parameters();
        assert_eq!(schema["required"], json!(["path"]), "what is required is said in JSON Schema's own way");
        assert_eq!(
            schema["properties"]["path"],
            json!({"type": "string"}),
            "our own marks are not part of it"
        );
        assert_eq!(schema["additionalProperties"], json!(false), "nothing undeclared can be passed");
        let fields = tool.path_fields(PathAccess::Read);
        assert_eq!(fields.len(), 1, "one field is a path");
        assert_eq!(fields[0].name, "path", "and it is that one");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let good = json!({"command": "node"});
        assert_eq!(problem("files", good.clone()), "nothing", "the control");
        let cases = [
            ("files", json!({"args": []}), "\"command\" is missing"),
            ("files", json!({"command": " "}), "names no program"),
            ("files", json!({"command": "./server"}), "absolute path"),
            ("files", json!({"command": "node", "cwd": "/"}), "unknown field `cwd`"),
            ("files", json!({"command": "node", "args": ["a\u{0}b"]}), "without NUL"),
            ("files", json!({"command": "node", "env": ["A=B"]}), "not the name of a variable"),
            ("files", json!({"command": "node", "env": ["POCKETPILOT_API_KEY"]}), "never handed"),
            ("files", json!({"command": "node", "env": ["LD_PRELOAD"]}), "never handed"),
            ("a b", good.clone(), "letters, digits"),
            ("", good, "letters, digits"),
            ("f", json!({"command": "n", "tools": {"a b": {}}}), "a tool's name"),
            ("f", json!({"command": "n", "tools": {"a.b": {}, "a/b": {}}}), "two tools"),
            ("f", json!({"command": "n", "tools": {"x".repeat(70): {}}}), "longer than 64"),
            ("f", json!({"command": "n", "tools": {"t": {"input_fields": {"p": "string"}}}}), "by an object"),
            (
                "f",
                json!({"command": "n", "tools": {"t": {"input_fields": {"p": {"path": true}}}}}),
                "\"type\" is missing or unknown",
            ),
            (
                "f",
                json!({"command": "n", "tools": {"t": {"input_fields": {"p": {"type": "object", "path": true}}}}}),
                "a path is a string",
            ),
            (
                "f",
                json!({"command": "n", "tools": {"t": {"input_fields": {"p": {"type": "object", "properties": {"q": {"type": "string", "path": true}}}}}}}),
                "top level",
            ),
            (
                "f",
                json!({"command": "n", "tools": {"t": {"input_fields": {"p": {"type": "string", "path": "yes"}}}}}),
                "true or false",
            ),
        ];
        for (name, value, words) in cases {
            let said = problem(name, value.clone());
            assert!(said.contains(words), "{value} must be refused with {words:?}, and was with {said:?}");
        }
    }

    #[test]
    fn one_bad_server_costs_only_itself() {
        let (servers, problems) = read_servers(r#"{"good":{"command":"node"},"bad":{"args":[]}}"#);
        assert_eq!(servers.len(), 1, "the good one is there");
        assert_eq!(problems.len(), 1, "the bad one is said");
        assert_eq!(problems[0].place, "bad", "by its name");
        for text in ["", "[]", "{", "null", "\"x\""] {
            let (servers, problems) = read_servers(text);
            assert!(servers.is_empty() && problems.len() == 1, "{text:?} declares nothing and is said");
        }
    }

    #[test]
    fn a_model_name_keeps_to_what_providers_take() {
        assert_eq!(tool_name("workspace-fs", "read_text"), "mcp_workspace-fs_read_text", "as specified");
        assert_eq!(tool_name("a", "x.y/z"), "mcp_a_x_y_z", "other characters become an underscore");
    }
}
