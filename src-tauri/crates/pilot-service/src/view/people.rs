//! What the person keeps in the folder: memory, skills, added files.

use super::UndoState;
use pilot_types::{Digest, ErrorCode};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A page of memory, with what the next task is given of all memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemoryView {
    /// Relative path.
    pub path: String,
    /// The page as it stands; empty when there is none.
    pub text: String,
    /// Digest of what stands there, to be sent back with an edit; `None` when nothing does.
    pub digest: Option<Digest>,
    /// False when the page is not UTF-8; it becomes so when it is saved.
    pub utf8: bool,
    /// All pages.
    pub pages: Vec<MemoryPageView>,
    /// What the next task is given; `None` when that cannot be told, see `problem`.
    pub injection: Option<InjectionView>,
    /// Why memory cannot be read; a task in this folder stops for the same reason.
    pub problem: Option<ErrorCode>,
    /// Where the lines come from, as far as it is known: spans of lines in order, without gaps.
    pub origins: Vec<OriginView>,
    /// Cards that wait for this page.
    pub waiting: Vec<String>,
}

/// A page in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemoryPageView {
    /// Relative path.
    pub path: String,
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Last change (RFC 3339).
    pub modified: Option<String>,
    /// True for a page of a day.
    pub diary: bool,
    /// True when the next task is given it.
    pub injected: bool,
    /// Why it cannot be opened, if so.
    pub refused: Option<ErrorCode>,
}

/// What of memory a task is given: made by the very function that writes prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct InjectionView {
    /// The part of the prompt, exactly; empty when there is no memory.
    pub block: String,
    /// What is left out: the beginning.
    pub cut: String,
    /// Bytes of memory in all.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Bytes that are carried at most.
    #[ts(type = "number")]
    pub limit: u64,
    /// Pages that are carried, the newest last.
    pub pages: Vec<String>,
}

/// Who wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A task, by a card that a person approved.
    Task,
    /// The person, in the app.
    Person,
    /// Another program, or before the record began.
    Outside,
}

/// Where neighbouring lines come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OriginView {
    /// First line, from 1.
    pub from: u32,
    /// Last line.
    pub to: u32,
    /// Who wrote them.
    pub author: Author,
    /// When (RFC 3339), if it is known.
    pub at: Option<String>,
    /// The task, if one.
    pub task: Option<String>,
    /// The card, if one.
    pub approval: Option<String>,
    /// Goal of the task; empty when there is none.
    pub goal: String,
}

/// A state that a page was in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VersionView {
    /// Digest of the page then; `None` when it was removed.
    pub digest: Option<Digest>,
    /// Who made it so.
    pub author: Author,
    /// What was done, as the record calls it.
    pub action: String,
    /// When (RFC 3339), if it is known.
    pub at: Option<String>,
    /// The task, if one.
    pub task: Option<String>,
    /// The card, if one.
    pub approval: Option<String>,
    /// Goal of the task; empty when there is none.
    pub goal: String,
    /// True when its bytes are still kept.
    pub available: bool,
    /// True when this is what stands there now.
    pub current: bool,
}

/// The text of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct VersionTextView {
    /// Its text.
    pub text: String,
    /// What restoring it would change.
    pub difference: pilot_review::Difference,
    /// Digest of what stands there now, to be sent back with a restoration.
    pub now: Option<Digest>,
}

/// An edited page of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemoryRequest {
    /// Workspace.
    pub workspace: String,
    /// Relative path.
    pub path: String,
    /// The whole page.
    pub text: String,
    /// Digest of what the person began from; `None` for a new page.
    pub base: Option<Digest>,
}

/// Where a skill comes from; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SkillOrigin {
    /// Part of the program.
    BuiltIn,
    /// The folder that `POCKETPILOT_SKILLS_DIR` names.
    Environment,
    /// `skills/` of the workspace.
    Workspace,
}

/// A skill in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkillView {
    /// Source and folder: unique in the list.
    pub id: String,
    /// Name by which it is asked for; for a file that cannot be read, its folder's.
    pub name: String,
    /// What it is for; empty for a file that cannot be read.
    pub description: String,
    /// Where it comes from.
    pub source: SkillOrigin,
    /// Name of its folder.
    pub folder: String,
    /// Path below its source; `None` for a built-in one.
    pub path: Option<String>,
    /// The source whose skill of the same name is used instead.
    pub shadowed_by: Option<SkillOrigin>,
    /// The sources whose skills of the same name this one hides.
    pub hides: Vec<SkillOrigin>,
    /// Why it cannot be used.
    pub code: Option<ErrorCode>,
    /// The same in words, with the detail.
    pub problem: Option<String>,
    /// True when the person can edit it here.
    pub editable: bool,
}

/// A skill with its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkillTextView {
    /// The skill.
    pub skill: SkillView,
    /// `SKILL.md` as it stands.
    pub text: String,
    /// Digest of it, to be sent back with an edit.
    pub digest: Digest,
}

/// A new or edited skill of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkillRequest {
    /// Workspace.
    pub workspace: String,
    /// Its folder; `None` for a new skill, which gets a folder of its name.
    pub folder: Option<String>,
    /// The whole `SKILL.md`.
    pub text: String,
    /// Digest of what the person began from; `None` for a new skill.
    pub base: Option<Digest>,
}

/// A write of the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EditView {
    /// Id.
    pub id: String,
    /// Workspace.
    pub workspace: String,
    /// Relative path.
    pub path: String,
    /// What was done, as the record calls it.
    pub action: String,
    /// When (RFC 3339).
    pub at: String,
    /// Bytes written.
    #[ts(type = "number")]
    pub size: u64,
    /// True when it replaced or removed something.
    pub replaced: bool,
    /// True when it removed the file.
    pub removed: bool,
    /// Whether it can be taken back.
    pub undo: UndoState,
}

/// Files that the person wants to add, looked at and not copied yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UploadPlanView {
    /// Id.
    pub id: String,
    /// Workspace.
    pub workspace: String,
    /// Folder in it; empty for the root.
    pub folder: String,
    /// The files, in the order given.
    pub files: Vec<UploadFileView>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UploadFileView {
    /// Name.
    pub name: String,
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// True when a file of that name is there, or another of these has it: the person is asked.
    pub collides: bool,
    /// True when what is there can be replaced.
    pub replaceable: bool,
    /// Name under which both can be kept.
    pub kept_as: Option<String>,
    /// Why it is not accepted.
    pub refused: Option<ErrorCode>,
}

/// What to do with a file whose name is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UploadChoice {
    /// Do not copy it.
    #[default]
    Skip,
    /// Copy it under another name.
    KeepBoth,
    /// Put it in the place of the one that is there, which is kept for undo.
    Replace,
}

/// Copies what was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UploadRequest {
    /// Plan.
    pub id: String,
    /// One for each file of the plan, in its order; only those of files whose name is taken are looked at.
    pub choices: Vec<UploadChoice>,
}

/// What became of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UploadResultView {
    /// Copied.
    pub added: Vec<EditView>,
    /// Names that were not copied since the person said so, or stopped before their turn.
    pub skipped: Vec<String>,
    /// Names that were refused, with the code.
    pub refused: Vec<(String, ErrorCode)>,
    /// True when the person stopped it.
    pub cancelled: bool,
}

/// How a workspace's folder is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WatchState {
    /// The system tells of changes.
    Told,
    /// The system cannot; the folder is looked at every few seconds.
    Looked,
    /// The folder is not there.
    Gone,
}
