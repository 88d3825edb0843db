//! `expand_skill`: the manual of one skill.

use super::{arguments, reader, to_text};
use crate::skills::SkillSet;
use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_types::{ErrorCode, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// The tool.
pub(crate) struct ExpandSkill {
    skills: Arc<SkillSet>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    source: &'static str,
    text: &'a str,
}

impl ExpandSkill {
    pub(crate) fn new(skills: Arc<SkillSet>) -> Self {
        let spec = reader(
            "expand_skill",
            "Reads the manual of one skill. Its name stands in the list of skills.",
            "skill:read",
            &[],
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Exact name of the skill."}
                },
                "required": ["name"],
                "additionalProperties": false
            }),
        );
        Self { skills, spec }
    }
}

#[async_trait]
impl Tool for ExpandSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        let Arguments { name } = arguments(call.call())?;
        let Some(skill) = self.skills.get(&name) else {
            return Err(ToolError::new(
                ErrorCode::SkillNotFound,
                "no skill of that name; see the list of skills",
            ));
        };
        to_text(&Answer { name: &skill.name, source: skill.source.as_str(), text: &skill.body })
    }
}
