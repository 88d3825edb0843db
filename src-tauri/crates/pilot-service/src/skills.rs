//! Skills as the person sees and keeps them. Only those of the workspace can be changed here; nothing is installed.

use crate::edits::{NewContent, PersonWrite};
use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{SkillOrigin, SkillRequest, SkillTextView, SkillView};
use pilot_tools::{Skill, SkillProblem, SkillRow, SkillSet, SkillSource};
use pilot_types::{Digest, ErrorCode, WorkspaceId};

impl Service {
    /// Skills of a workspace, with where each comes from, what it hides and what is wrong with it.
    ///
    /// # Errors
    /// The workspace is not there.
    pub async fn skills(&self, workspace: Option<&WorkspaceId>) -> Result<Vec<SkillView>, ServiceError> {
        let set = self.skill_set(workspace).await?;
        Ok(set.rows().iter().map(|row| view_of(row, set.rows())).collect())
    }

    /// Body of the skill that is used under a name.
    ///
    /// # Errors
    /// There is none of that name.
    pub async fn skill(&self, workspace: Option<&WorkspaceId>, name: &str) -> Result<String, ServiceError> {
        let set = self.skill_set(workspace).await?;
        set.get(name)
            .map(|skill| skill.body.clone())
            .ok_or_else(|| ServiceError::new(ErrorCode::SkillNotFound, "no skill of that name").about(name))
    }

    /// One skill of the list with its file, also one that is hidden or cannot be used.
    ///
    /// # Errors
    /// There is none of that source and folder; the guard's refusal.
    pub async fn skill_text(
        &self,
        workspace: Option<&WorkspaceId>,
        source: SkillOrigin,
        folder: &str,
    ) -> Result<SkillTextView, ServiceError> {
        let set = self.skill_set(workspace).await?;
        let source = source_of(source);
        let row = set
            .rows()
            .iter()
            .find(|row| row.source == source && row.folder == folder)
            .ok_or_else(|| ServiceError::new(ErrorCode::SkillNotFound, "no such skill").about(folder))?;
        let skill = view_of(row, set.rows());
        let guard = match workspace {
            Some(id) => Some(self.guard(id).await?),
            None => None,
        };
        let (environment, folder) = (self.inner.skills_dir.clone(), folder.to_owned());
        let read = blocking(move || {
            SkillSet::text(source, &folder, environment.as_deref(), guard.as_ref())
                .map_err(|problem| refused(&problem, &folder))
        })
        .await?;
        Ok(SkillTextView { skill, text: read.text, digest: read.digest })
    }

    /// Writes a skill of the workspace, a new one (without a folder) or one that is there.
    ///
    /// # Errors
    /// What is wrong with the text; the name is taken; `EditConflict` when the file changed since the person began.
    pub async fn save_skill(&self, request: SkillRequest) -> Result<SkillTextView, ServiceError> {
        let workspace = WorkspaceId::from_text(request.workspace);
        let skill =
            Skill::parse(&request.text, SkillSource::Workspace).map_err(|problem| refused(&problem, ""))?;
        let folder = request.folder.unwrap_or_else(|| skill.name.clone());
        let path = SkillSet::workspace_path(&folder).map_err(|problem| refused(&problem, &folder))?;
        let set = self.skill_set(Some(&workspace)).await?;
        let taken = |row: &&SkillRow| {
            row.source == SkillSource::Workspace && row.name == skill.name && row.folder != folder
        };
        if let Some(other) = set.rows().iter().find(taken) {
            return Err(ServiceError::new(ErrorCode::SkillDuplicate, "the name is taken in this folder")
                .about(other.path.clone().unwrap_or_default()));
        }
        let is_new = request.base.is_none();
        let write = PersonWrite {
            workspace: workspace.clone(),
            path,
            action: if is_new { "skill_created" } else { "skill_edited" },
            base: request.base,
            content: NewContent::Bytes(request.text.into_bytes()),
            undoes: None,
        };
        self.write_as_person(write).await.map_err(|error| match error.code() {
            ErrorCode::EditConflict if is_new => {
                ServiceError::new(ErrorCode::AlreadyExists, "a skill of that name is there already")
                    .about(folder.clone())
            }
            _ => error,
        })?;
        self.skill_text(Some(&workspace), SkillOrigin::Workspace, &folder).await
    }

    /// Removes a skill of the workspace: its `SKILL.md`. Other files in its folder stay.
    ///
    /// # Errors
    /// There is none; `EditConflict` when the file is not the one that was shown.
    pub async fn remove_skill(
        &self,
        workspace: &WorkspaceId,
        folder: &str,
        base: Option<Digest>,
    ) -> Result<String, ServiceError> {
        let path = SkillSet::workspace_path(folder).map_err(|problem| refused(&problem, folder))?;
        let base = match base {
            Some(base) => base,
            None => self.skill_text(Some(workspace), SkillOrigin::Workspace, folder).await?.digest,
        };
        let write = PersonWrite {
            workspace: workspace.clone(),
            path,
            action: "skill_removed",
            base: Some(base),
            content: NewContent::Removed,
            undoes: None,
        };
        let row = self.write_as_person(write).await?;
        Ok(row.map(|row| row.id.to_string()).unwrap_or_default())
    }

    async fn skill_set(&self, workspace: Option<&WorkspaceId>) -> Result<SkillSet, ServiceError> {
        let guard = match workspace {
            Some(id) => Some(self.guard(id).await?),
            None => None,
        };
        let folder = self.inner.skills_dir.clone();
        blocking(move || Ok(SkillSet::load(folder.as_deref(), guard.as_ref()))).await
    }
}

fn refused(problem: &SkillProblem, about: &str) -> ServiceError {
    let error = ServiceError::new(problem.code(), problem.to_string());
    if about.is_empty() { error } else { error.about(about) }
}

fn origin_of(source: SkillSource) -> SkillOrigin {
    match source {
        SkillSource::BuiltIn => SkillOrigin::BuiltIn,
        SkillSource::Environment => SkillOrigin::Environment,
        SkillSource::Workspace => SkillOrigin::Workspace,
    }
}

fn source_of(origin: SkillOrigin) -> SkillSource {
    match origin {
        SkillOrigin::BuiltIn => SkillSource::BuiltIn,
        SkillOrigin::Environment => SkillSource::Environment,
        SkillOrigin::Workspace => SkillSource::Workspace,
    }
}

fn view_of(row: &SkillRow, all: &[SkillRow]) -> SkillView {
    let used = row.code.is_none() && row.shadowed_by.is_none();
    let hides = all
        .iter()
        .filter(|other| used && other.name == row.name && other.shadowed_by.is_some())
        .map(|other| origin_of(other.source))
        .collect();
    SkillView {
        id: format!("{}/{}", row.source.as_str(), row.folder),
        name: row.name.clone(),
        description: row.description.clone(),
        source: origin_of(row.source),
        folder: row.folder.clone(),
        path: row.path.clone(),
        shadowed_by: row.shadowed_by.map(origin_of),
        hides,
        code: row.code,
        problem: row.problem.clone(),
        editable: row.source == SkillSource::Workspace,
    }
}
