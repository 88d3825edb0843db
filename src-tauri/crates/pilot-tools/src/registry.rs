//! The only place where tools are made.

use crate::extraction::Extraction;
use crate::mcp::{self, McpDeps};
use crate::skills::SkillSet;
use crate::tools::{AnalyzeTable, ExpandSkill, ExtractDocument, ListFiles, MemoryWrite, ReadFile, WriteFile};
use pilot_agent::{Tool, ToolRegistry};
use pilot_guard::{UndoStore, WorkspaceGuard};
use std::sync::Arc;

/// What the tools of one run work with. Made anew for each run and each resumption.
#[derive(Clone)]
pub struct ToolDeps {
    /// The workspace.
    pub guard: WorkspaceGuard,
    /// Where the bytes go that a write replaces.
    pub undo: Arc<UndoStore>,
    /// Document workers.
    pub extraction: Arc<Extraction>,
    /// Skills of the run.
    pub skills: Arc<SkillSet>,
    /// Outside tools that this workspace allows.
    pub mcp: McpDeps,
    /// Prefer Chinese when an encoding must be guessed.
    pub chinese: bool,
}

/// The built-in tools, and the outside tools that the workspace allows.
#[must_use]
pub fn build_tool_registry(deps: &ToolDeps) -> ToolRegistry {
    let ToolDeps { guard, undo, extraction, skills, chinese, mcp: _ } = deps;
    let tools: [Arc<dyn Tool>; 7] = [
        Arc::new(ListFiles::new(guard.clone())),
        Arc::new(ReadFile::new(guard.clone(), *chinese)),
        Arc::new(ExtractDocument::new(guard.clone(), Arc::clone(extraction), *chinese)),
        Arc::new(AnalyzeTable::new(guard.clone(), Arc::clone(extraction), *chinese)),
        Arc::new(WriteFile::new(guard.clone(), Arc::clone(undo))),
        Arc::new(MemoryWrite::new(guard.clone(), Arc::clone(undo))),
        Arc::new(ExpandSkill::new(Arc::clone(skills))),
    ];
    let mut registry = ToolRegistry::new();
    for tool in tools {
        if let Err(name) = registry.register(tool) {
            tracing::error!(tool = name, "two built-in tools of one name; the second is left out");
        }
    }
    mcp::register(&mut registry, deps);
    registry
}
