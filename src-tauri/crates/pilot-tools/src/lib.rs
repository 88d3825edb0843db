//! Tool bodies, memory, skills, the document worker's parent side, and the registry.
//!
//! * [`build_tool_registry`] is the only place where tools are made.
//! * [`Extraction`] hands documents to workers: children of this program.
//! * [`mcp`] makes tools of outside programs, each call of which is a process below a child of this program.
//! * [`SkillSet`], [`memory_block`] and [`system_prompt`] make what a model is told before its first answer.
//!
//! **What this crate must not know:** the database, the policy engine, the service, tasks and approvals, the window. It
//! opens no file by itself: every handle comes from `pilot-guard`. A tool that writes does exactly what was prepared and
//! approved, and nothing in here decides whether it may.

mod analysis_window;
mod document_window;
mod extraction;
mod front_matter;
pub mod mcp;
mod memory;
mod prompt;
mod registry;
mod skills;
mod tools;
mod worker_process;

pub use extraction::{AnalyzeProgress, Extraction, ExtractionError, WorkerLimits};
pub use memory::{MAX_MEMORY_BYTES, MemoryInjection, is_diary_path, memory_block, memory_injection};
pub use prompt::{PromptParts, system_prompt};
pub use registry::{ToolDeps, build_tool_registry};
pub use skills::{
    MAX_CATALOGUE_BYTES, MAX_SKILL_BYTES, Skill, SkillProblem, SkillRow, SkillSet, SkillSource, SkillText,
};
pub use tools::{FileSelection, TRAP_SPRUNG, TrapTool, select_files, temp_name};
pub use worker_process::WorkerCommand;
