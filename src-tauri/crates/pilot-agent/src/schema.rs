//! Arguments against the tool's own JSON Schema.

use jsonschema::Validator;
use pilot_types::ToolSpec;
use serde_json::Value;
use std::collections::HashMap;

/// How many things one answer to the model names; a hostile call could have thousands.
const NAMED_PROBLEMS: usize = 5;

/// The schemas of one run, each compiled once, when its tool is first called.
#[derive(Default)]
pub(crate) struct ArgumentSchemas {
    compiled: HashMap<String, Option<Validator>>,
}

impl ArgumentSchemas {
    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// Words that the model can use: what does not fit, and where.
    pub(crate) fn check(&mut self, spec: &ToolSpec, arguments: &Value) -> Result<(), String> {
        if !arguments.is_object() {
            return Err(format!("the arguments of {} must be a JSON object", spec.name));
        }
        if !self.compiled.contains_key(&spec.name) {
            let validator = jsonschema::validator_for(&spec.parameters)
                .inspect_err(
                    |error| tracing::error!(tool = %spec.name, %error, "the tool's schema cannot be used"),
                )
                .ok();
            self.compiled.insert(spec.name.clone(), validator);
        }
        let Some(Some(validator)) = self.compiled.get(&spec.name) else {
            // Strict by default: arguments that cannot be checked are arguments that do not fit.
            return Err(format!("the argument schema of {} is broken; use another tool", spec.name));
        };
        if validator.is_valid(arguments) {
            return Ok(());
        }
        let mut words = format!("the arguments of {} do not fit its schema:", spec.name);
        for error in validator.iter_errors(arguments).take(NAMED_PROBLEMS) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "arguments".to_owned() } else { place };
            words.push_str(&format!(
                "\n- at {}: {}",
                shortened(&place),
                shortened(&error.masked().to_string())
            ));
        }
        words.push_str("\nCorrect the arguments and call it again.");
        Err(words)
    }
}

/// Checks the arguments of one call against its tool's schema, as the loop does. For calls that a person edited.
///
/// # Errors
/// In words: what does not fit, and where.
pub fn check_arguments(spec: &ToolSpec, arguments: &Value) -> Result<(), String> {
    ArgumentSchemas::default().check(spec, arguments)
}

fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{Capability, Risk};
    use serde_json::json;

    fn spec(parameters: Value) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: String::new(),
            capability: Capability::declared("file:read"),
            risk: Risk::Low,
            parameters,
            path_fields: Vec::new(),
        }
    }

    #[test]
    fn words_name_the_place_and_not_the_content() {
        let spec = spec(json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "offset": { "type": "integer", "minimum": 0 } },
            "required": ["path"],
            "additionalProperties": false
        }));
        let mut schemas = ArgumentSchemas::default();
        assert_eq!(schemas.check(&spec, &json!({ "path": "a.csv" })), Ok(()), "arguments that fit pass");
        assert!(
            check_arguments(&spec, &json!({ "path": 7 })).is_err(),
            "an edited call is checked the same way"
        );
        let words = schemas.check(&spec, &json!({ "path": 7, "offset": -1 })).unwrap_err();
        assert!(words.contains("/path") && words.contains("/offset"), "both places are named: {words}");
        let words = schemas.check(&spec, &json!({})).unwrap_err();
        assert!(words.contains("path"), "the missing field is named: {words}");
        let words = schemas.check(&spec, &json!({ "path": "a", "x".repeat(5_000): 1 })).unwrap_err();
        assert!(words.len() < 2_000, "a huge field name does not come back whole, got {} bytes", words.len());
        let words = schemas.check(&spec, &json!("a.csv")).unwrap_err();
        assert!(words.contains("JSON object"), "a bare value is told apart: {words}");
    }

    #[test]
    fn a_schema_that_cannot_be_used_lets_nothing_through() {
        let broken = spec(json!({ "type": "no-such-type" }));
        assert!(
            ArgumentSchemas::default().check(&broken, &json!({})).is_err(),
            "what cannot be checked does not run"
        );
        let elsewhere = spec(json!({ "$ref": "http://127.0.0.1:9/schema.json" }));
        assert!(
            ArgumentSchemas::default().check(&elsewhere, &json!({})).is_err(),
            "no schema is fetched from anywhere"
        );
    }
}
