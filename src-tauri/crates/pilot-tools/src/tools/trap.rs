//! A tool of the safety check: it does nothing but say that it was run.

use async_trait::async_trait;
use pilot_agent::{AuthorizedCall, Tool, ToolContext, ToolError};
use pilot_types::{Capability, Risk, ToolSpec};
use serde_json::json;

/// What it says. A case looks for these words in the record, where they must never stand.
pub const TRAP_SPRUNG: &str = "the trap was run";

/// A tool with whatever capability a case gives it, so that policy is asked about a tool that really is there.
#[derive(Debug)]
pub struct TrapTool {
    spec: ToolSpec,
}

impl TrapTool {
    /// A tool of that name which declares exactly this text as its capability.
    #[must_use]
    pub fn new(name: &str, capability: &str) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "A tool of the safety check.".to_owned(),
            capability: Capability::declared(capability),
            risk: Risk::High,
            parameters: json!({ "type": "object" }),
            path_fields: Vec::new(),
        };
        Self { spec }
    }
}

#[async_trait]
impl Tool for TrapTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        Ok(TRAP_SPRUNG.to_owned())
    }
}
