//! The server that is built in: no process, no protocol, the guard's own reading and the write protocol.

use super::declaration::{BUILT_IN_SERVER, tool_name};
use crate::registry::ToolDeps;
use crate::tools::{ReadFile, WriteFile};
use pilot_agent::Tool;
use std::sync::Arc;

/// `read_text` runs; `write_text` asks, and leaves a card, a difference, an artifact and an undo like every write.
pub(super) fn tools(deps: &ToolDeps) -> [Arc<dyn Tool>; 2] {
    let ToolDeps { guard, undo, chinese, .. } = deps;
    [
        Arc::new(ReadFile::named(&tool_name(BUILT_IN_SERVER, "read_text"), guard.clone(), *chinese)),
        Arc::new(WriteFile::text_only(
            &tool_name(BUILT_IN_SERVER, "write_text"),
            guard.clone(),
            Arc::clone(undo),
        )),
    ]
}
