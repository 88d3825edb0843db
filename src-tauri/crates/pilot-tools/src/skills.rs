//! Skills: manuals that a model can ask for by name. Loaded from this program, then from a folder that the environment
//! names, then from the workspace; a later source wins on the same name and the list says so.

use crate::front_matter;
use pilot_guard::{GuardError, ListOptions, WorkspaceGuard};
use pilot_types::{Digest, ErrorCode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest `SKILL.md`, in bytes.
pub const MAX_SKILL_BYTES: u64 = 64 * 1024;
/// Largest catalogue in a system prompt, in bytes.
pub const MAX_CATALOGUE_BYTES: usize = 4_096;
/// Most skills of one folder.
const MAX_SKILLS: usize = 256;
/// Longest name, in characters.
const MAX_NAME_CHARS: usize = 64;
/// Longest description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1_024;

/// Where a workspace keeps its skills.
const WORKSPACE_FOLDER: &str = "skills";
/// The file that makes a folder a skill.
const MANUAL: &str = "SKILL.md";

const BUILT_IN: &[&str] = &[include_str!("../../../../skills/invoice-summary/SKILL.md")];

/// Where a skill came from; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// Part of this program.
    BuiltIn,
    /// The folder that `POCKETPILOT_SKILLS_DIR` names.
    Environment,
    /// `skills/` of the workspace.
    Workspace,
}

impl SkillSource {
    /// The source as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Environment => "environment",
            Self::Workspace => "workspace",
        }
    }
}

/// Why a skill cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillProblem {
    /// More than [`MAX_SKILL_BYTES`].
    #[error("the file is larger than 64 KB")]
    TooLarge,
    /// Not text.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// No header between two lines of `---`.
    #[error("the file does not begin with a header between two lines of ---")]
    NoFrontMatter,
    /// A key that must be there.
    #[error("the header has no `{0}`")]
    MissingKey(&'static str),
    /// A key that stands twice.
    #[error("the header has `{0}` twice")]
    RepeatedKey(&'static str),
    /// A value that is no plain text.
    #[error("the value of `{0}` cannot be read")]
    BadValue(&'static str),
    /// A name that cannot be called.
    #[error("the name must be 1 to 64 letters, digits, - or _")]
    BadName,
    /// A description that says nothing or too much.
    #[error("the description must have 1 to 1,024 characters")]
    BadDescription,
    /// Another skill of the same source has the name.
    #[error("`{path}` has the same name and is used instead")]
    Duplicate {
        /// Path of the one that is used.
        path: String,
    },
    /// The guard refused the file.
    #[error("{shown}")]
    Unreadable {
        /// The guard's code.
        code: ErrorCode,
        /// The guard's words.
        shown: String,
    },
}

impl SkillProblem {
    /// Code for the person.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge => ErrorCode::TooLarge,
            Self::NotText => ErrorCode::DocumentUnsupported,
            Self::NoFrontMatter => ErrorCode::SkillNoHeader,
            Self::MissingKey(_)
            | Self::RepeatedKey(_)
            | Self::BadValue(_)
            | Self::BadName
            | Self::BadDescription => ErrorCode::SkillHeaderBroken,
            Self::Duplicate { .. } => ErrorCode::SkillDuplicate,
            Self::Unreadable { code, .. } => *code,
        }
    }
}

/// A skill that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name by which it is asked for.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// The manual itself, without its header.
    pub body: String,
    /// Where it came from.
    pub source: SkillSource,
}

impl Skill {
    /// Reads the text of a `SKILL.md`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, source: SkillSource) -> Result<Self, SkillProblem> {
        if text.len() as u64 > MAX_SKILL_BYTES {
            return Err(SkillProblem::TooLarge);
        }
        let header = front_matter::parse(text)?;
        let length = header.name.chars().count();
        let fits = header.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !(1..=MAX_NAME_CHARS).contains(&length) || !fits {
            return Err(SkillProblem::BadName);
        }
        let description: String = header.description.chars().filter(|c| is_visible(*c)).collect();
        if !(1..=MAX_DESCRIPTION_CHARS).contains(&description.trim().chars().count()) {
            return Err(SkillProblem::BadDescription);
        }
        Ok(Self {
            name: header.name,
            description: description.trim().to_owned(),
            body: header.body.trim_start_matches(['\r', '\n']).to_owned(),
            source,
        })
    }
}

/// Descriptions stand in the system prompt and in lists: what nobody can see has no place there.
fn is_visible(c: char) -> bool {
    !c.is_control() && !pilot_guard::is_hidden(c)
}

/// One line of the list of skills, usable or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillRow {
    /// Name; for a file that cannot be read, the folder's.
    pub name: String,
    /// What it is for; empty for a file that cannot be read.
    pub description: String,
    /// Where it came from.
    pub source: SkillSource,
    /// Path below its source; `None` for a built-in one.
    pub path: Option<String>,
    /// Name of its folder; for a built-in one its own name.
    pub folder: String,
    /// The source whose skill of the same name is used instead.
    pub shadowed_by: Option<SkillSource>,
    /// Why it cannot be used.
    pub code: Option<ErrorCode>,
    /// The same in words.
    pub problem: Option<String>,
}

/// A `SKILL.md` as it stands, header and all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// The text; bytes that are no text are replaced.
    pub text: String,
    /// Digest of the bytes.
    pub digest: Digest,
}

/// The skills of one run.
#[derive(Clone, Debug, Default)]
pub struct SkillSet {
    used: BTreeMap<String, Skill>,
    rows: Vec<SkillRow>,
}

impl SkillSet {
    /// Only what is part of this program.
    #[must_use]
    pub fn built_in() -> Self {
        let mut set = Self::default();
        for text in BUILT_IN {
            set.add(Skill::parse(text, SkillSource::BuiltIn), "", SkillSource::BuiltIn, None);
        }
        set
    }

    /// Loads all sources. `environment` is the folder that `POCKETPILOT_SKILLS_DIR` names. Reads files: call it where
    /// blocking is allowed. A bad file costs its own line in the list and nothing else.
    #[must_use]
    pub fn load(environment: Option<&Path>, workspace: Option<&WorkspaceGuard>) -> Self {
        let mut set = Self::built_in();
        if let Some(folder) = environment {
            match WorkspaceGuard::open(folder) {
                Ok(guard) => set.add_folder(&guard, ".", SkillSource::Environment),
                Err(error) => {
                    set.add_refusal(&error, "POCKETPILOT_SKILLS_DIR", SkillSource::Environment, None)
                }
            }
        }
        if let Some(guard) = workspace {
            set.add_folder(guard, WORKSPACE_FOLDER, SkillSource::Workspace);
        }
        set
    }

    /// The file of a row of the list, also of one that cannot be used. Reads files.
    ///
    /// # Errors
    /// `SkillNotFound` when there is none, else the guard's refusal.
    pub fn text(
        source: SkillSource,
        folder: &str,
        environment: Option<&Path>,
        workspace: Option<&WorkspaceGuard>,
    ) -> Result<SkillText, SkillProblem> {
        let none =
            || SkillProblem::Unreadable { code: ErrorCode::SkillNotFound, shown: "no such skill".to_owned() };
        let (guard, path) = match source {
            SkillSource::BuiltIn => {
                let named = |text: &&&str| Skill::parse(text, source).is_ok_and(|skill| skill.name == folder);
                let text = BUILT_IN.iter().find(named).ok_or_else(none)?;
                return Ok(SkillText { text: (*text).to_owned(), digest: Digest::of(text.as_bytes()) });
            }
            SkillSource::Environment => {
                let guard = environment.ok_or_else(none).map(WorkspaceGuard::open)?.map_err(unreadable)?;
                (guard, Self::path_in(".", folder)?)
            }
            SkillSource::Workspace => {
                (workspace.ok_or_else(none)?.clone(), Self::path_in(WORKSPACE_FOLDER, folder)?)
            }
        };
        let bytes = match guard.open_file(&path) {
            Ok(mut file) => file.read_all(MAX_SKILL_BYTES).map_err(unreadable)?,
            Err(error) if error.code() == ErrorCode::NotFound => return Err(none()),
            Err(error) => return Err(unreadable(error)),
        };
        Ok(SkillText { text: String::from_utf8_lossy(&bytes).into_owned(), digest: Digest::of(&bytes) })
    }

    /// Where the manual of a skill lies that is called `folder` in the workspace.
    ///
    /// # Errors
    /// The name is more than the name of a folder.
    pub fn workspace_path(folder: &str) -> Result<String, SkillProblem> {
        Self::path_in(WORKSPACE_FOLDER, folder)
    }

    fn path_in(parent: &str, folder: &str) -> Result<String, SkillProblem> {
        // One name and no path; everything else about it is for the guard to judge.
        if folder.is_empty() || folder == "." || folder.contains(['/', '\\']) {
            return Err(SkillProblem::Unreadable {
                code: ErrorCode::PathInvalid,
                shown: "the name of a skill's folder is one name, not a path".to_owned(),
            });
        }
        Ok(format!("{parent}/{folder}/{MANUAL}"))
    }

    /// A skill by its exact name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.used.get(name)
    }

    /// Everything that was found, in the order of the sources, then by path.
    #[must_use]
    pub fn rows(&self) -> &[SkillRow] {
        &self.rows
    }

    /// Name and description of each skill, one a line, at most [`MAX_CATALOGUE_BYTES`]; says how many do not fit.
    /// Built-in ones come first, so that a folder full of skills cannot push them out.
    #[must_use]
    pub fn catalogue(&self) -> String {
        const ROOM_FOR_REST: usize = 96;
        let mut skills: Vec<&Skill> = self.used.values().collect();
        skills.sort_by_key(|skill| skill.source);
        let (mut text, mut left_out) = (String::new(), 0_usize);
        for skill in skills {
            let origin = match skill.source {
                SkillSource::BuiltIn => "",
                SkillSource::Environment => " (environment)",
                SkillSource::Workspace => " (workspace)",
            };
            let line = format!("- {}{origin}: {}\n", skill.name, skill.description);
            if text.len() + line.len() + ROOM_FOR_REST > MAX_CATALOGUE_BYTES {
                left_out += 1;
            } else {
                text.push_str(&line);
            }
        }
        if left_out > 0 {
            text.push_str(&format!(
                "- … {left_out} more, not listed here for want of room; ask for them by name\n"
            ));
        }
        text
    }

    fn add_folder(&mut self, guard: &WorkspaceGuard, folder: &str, source: SkillSource) {
        let options = ListOptions { depth: 1, limit: MAX_SKILLS, offset: 0 };
        let listing = match guard.list(folder, &options) {
            Ok(listing) => listing,
            Err(error) if error.code() == ErrorCode::NotFound => return,
            Err(error) => return self.add_refusal(&error, folder, source, Some(folder)),
        };
        for entry in listing.entries {
            let path = format!("{}/{MANUAL}", entry.path);
            match guard.open_file(&path) {
                Ok(mut file) => {
                    let read = file.read_all(MAX_SKILL_BYTES).map_err(|error| match error.code() {
                        ErrorCode::TooLarge => SkillProblem::TooLarge,
                        code => SkillProblem::Unreadable { code, shown: error.to_string() },
                    });
                    let skill = read
                        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| SkillProblem::NotText))
                        .and_then(|text| Skill::parse(&text, source));
                    self.add(skill, &entry.name, source, Some(&path));
                }
                // A folder without a manual, or a loose file, is no skill.
                Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::NotAFolder) => {}
                Err(error) => self.add_refusal(&error, &entry.name, source, Some(&path)),
            }
        }
    }

    fn add_refusal(&mut self, error: &GuardError, name: &str, source: SkillSource, path: Option<&str>) {
        let problem = SkillProblem::Unreadable { code: error.code(), shown: error.to_string() };
        self.add(Err(problem), name, source, path);
    }

    fn add(
        &mut self,
        skill: Result<Skill, SkillProblem>,
        folder: &str,
        source: SkillSource,
        path: Option<&str>,
    ) {
        let mut row = SkillRow {
            name: folder.to_owned(),
            description: String::new(),
            source,
            path: path.map(str::to_owned),
            folder: folder.to_owned(),
            shadowed_by: None,
            code: None,
            problem: None,
        };
        match skill {
            Err(problem) => {
                row.code = Some(problem.code());
                row.problem = Some(problem.to_string());
            }
            Ok(skill) => {
                row.name.clone_from(&skill.name);
                row.description.clone_from(&skill.description);
                if source == SkillSource::BuiltIn {
                    row.folder.clone_from(&skill.name);
                }
                // Within one source the first by path is used: which one it is must not depend on what came later.
                let same = |other: &&SkillRow| {
                    other.source == source && other.name == skill.name && other.code.is_none()
                };
                if let Some(first) = self.rows.iter().find(same) {
                    let problem = SkillProblem::Duplicate { path: first.path.clone().unwrap_or_default() };
                    row.code = Some(problem.code());
                    row.problem = Some(problem.to_string());
                    return self.rows.push(row);
                }
                let earlier =
                    self.rows.iter_mut().filter(|other| other.name == skill.name && other.code.is_none());
                for other in earlier {
                    other.shadowed_by = Some(source);
                }
                self.used.insert(skill.name.clone(), skill);
            }
        }
        self.rows.push(row);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
fn unreadable(error: GuardError) -> SkillProblem {
    SkillProblem::Unreadable { code: error.code(), shown: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, description: &str, source: SkillSource) -> Result<Skill, SkillProblem> {
        Skill::parse(&format!("---\nname: {name}\ndescription: {description}\n---\nDo it.\n"), source)
    }

    #[test]
    fn the_built_in_skill_reads_and_is_listed() {
        let set = SkillSet::built_in();
        let skill = set.get("invoice-summary").expect("the built-in skill must load");
        assert_eq!(skill.source, SkillSource::BuiltIn, "it is part of the program");
        assert!(skill.body.starts_with("# Invoice summary"), "the header is not part of the manual");
        assert!(set.catalogue().contains("- invoice-summary: "), "the catalogue names it");
        assert!(set.rows().iter().all(|row| row.code.is_none()), "no built-in skill may be broken");
    }

    #[test]
    fn a_later_source_wins_and_the_list_says_so() {
        let mut set = SkillSet::built_in();
        let mine = skill("invoice-summary", "mine", SkillSource::Workspace);
        set.add(mine, "x", SkillSource::Workspace, Some("skills/x/SKILL.md"));
        assert_eq!(set.get("invoice-summary").map(|s| s.source), Some(SkillSource::Workspace), "later wins");
        assert_eq!(
            set.rows()[0].shadowed_by,
            Some(SkillSource::Workspace),
            "the list names who took its place"
        );
        assert!(set.catalogue().contains("invoice-summary (workspace): mine"), "the prompt says whose it is");
    }

    #[test]
    fn of_two_skills_of_one_name_the_first_is_used_and_the_other_says_so() {
        let mut set = SkillSet::built_in();
        for (folder, text) in [("a", "first"), ("b", "second")] {
            let path = format!("skills/{folder}/SKILL.md");
            set.add(
                skill("greet", text, SkillSource::Workspace),
                folder,
                SkillSource::Workspace,
                Some(&path),
            );
        }
        assert_eq!(set.get("greet").map(|s| s.description.as_str()), Some("first"), "the first by path");
        let second = &set.rows()[2];
        assert_eq!(second.code, Some(ErrorCode::SkillDuplicate), "the other cannot be used");
        assert!(second.problem.as_deref().unwrap().contains("skills/a/SKILL.md"), "and says for which");
        assert_eq!(set.rows()[1].shadowed_by, None, "the one in use is not hidden by it");
    }

    #[test]
    fn a_catalogue_is_cut_at_whole_entries_and_says_so() {
        let mut set = SkillSet::built_in();
        for n in 0..100 {
            let one = skill(&format!("s{n:03}"), &"描述".repeat(100), SkillSource::Workspace);
            set.add(one, "x", SkillSource::Workspace, None);
        }
        let text = set.catalogue();
        assert!(text.len() <= MAX_CATALOGUE_BYTES, "{} bytes is more than a prompt may carry", text.len());
        assert!(text.starts_with("- invoice-summary"), "a folder must not push the built-in skill out");
        let listed = text.lines().filter(|line| line.starts_with("- s")).count();
        assert!(text.contains(&format!("{} more", 100 - listed)), "what is missing is counted: {text}");
        assert!(
            text.lines().all(|line| line.contains("more, ") || line.len() > 100),
            "no entry is cut in itself"
        );
    }

    #[test]
    fn names_and_descriptions_that_nobody_can_see_through_are_refused_or_cleaned() {
        for bad in ["a b", "../x", "a/b", "x\u{202e}y", "\"\"", &"n".repeat(65)] {
            assert_eq!(
                skill(bad, "d", SkillSource::Workspace).map(|s| s.name),
                Err(SkillProblem::BadName),
                "name {bad:?} must not be callable"
            );
        }
        let cleaned =
            skill("a", "one\u{200b}\u{e0041}two", SkillSource::Workspace).expect("a readable skill");
        assert_eq!(cleaned.description, "onetwo", "invisible text must not reach the prompt");
        let large = format!("---\nname: a\ndescription: b\n---\n{}", "x".repeat(70_000));
        assert_eq!(Skill::parse(&large, SkillSource::Workspace), Err(SkillProblem::TooLarge), "64 KB a body");
    }
}
