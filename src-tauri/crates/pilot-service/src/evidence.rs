//! What a task's tools found out, for the number check.

use pilot_types::{CallId, Event, EventRecord, ToolCall};
use std::collections::{HashMap, HashSet};

/// One tool result with the call that gave it.
pub(crate) struct Evidence {
    pub(crate) tool: String,
    pub(crate) arguments: serde_json::Value,
    pub(crate) content: String,
}

/// Results of the calls that policy let run by itself, in order: those are the ones that read. What a write or a skill's
/// manual says proves nothing about figures.
pub(crate) fn of_events(events: &[EventRecord]) -> Vec<Evidence> {
    let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
    let mut reads: HashSet<&CallId> = HashSet::new();
    let mut found = Vec::new();
    for record in events {
        match &record.event {
            Event::ModelAnswer { calls: asked, .. } => {
                calls.extend(asked.iter().map(|call| (&call.id, call)))
            }
            Event::ToolStarted { call_id, capability, .. } if !capability.starts_with("skill:") => {
                reads.insert(call_id);
            }
            Event::ToolResult { call_id, tool, ok: true, content, .. } => {
                if let (true, Some(call)) = (reads.contains(call_id), calls.get(call_id)) {
                    found.push(Evidence {
                        tool: tool.clone(),
                        arguments: call.arguments.clone(),
                        content: content.clone(),
                    });
                }
            }
            // Nothing else, and nothing that is added later, proves a figure.
            _ => {}
        }
    }
    found
}
