//! Memory and skills as the person sees and edits them: the operator path, recorded as such, without a card.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use pilot_guard::{Access, FileWrite};
use pilot_tools::{SkillRow, SkillSet};
use pilot_types::{ErrorCode, OperationId, WorkspaceId};

/// A page of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPage {
    /// Relative path.
    pub path: String,
    /// The page as it stands.
    pub text: String,
    /// What the next task will be given of all memory, in bytes.
    pub injected_bytes: usize,
}

impl Service {
    /// `memory/MEMORY.md`; empty when there is none.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn memory(&self, workspace: &WorkspaceId) -> Result<MemoryPage, ServiceError> {
        let guard = self.guard(workspace).await?;
        let chinese = self.chinese();
        blocking(move || {
            let path = "memory/MEMORY.md".to_owned();
            let text = match guard.open_file(&path) {
                Ok(mut file) => String::from_utf8_lossy(&file.read_all(1 << 20)?).into_owned(),
                Err(error) if error.code() == ErrorCode::NotFound => String::new(),
                Err(error) => return Err(error.into()),
            };
            let injected_bytes = pilot_tools::memory_block(&guard, chinese)?.map_or(0, |block| block.len());
            Ok(MemoryPage { path, text, injected_bytes })
        })
        .await
    }

    /// Replaces `memory/MEMORY.md` with what the person wrote. The page before is kept for undo.
    ///
    /// # Errors
    /// The guard's refusal; too large.
    pub async fn edit_memory(&self, workspace: &WorkspaceId, text: String) -> Result<(), ServiceError> {
        if text.len() > 1 << 20 {
            return Err(ServiceError::new(ErrorCode::TooLarge, "a page of memory has 1 MiB at most"));
        }
        let guard = self.guard(workspace).await?;
        let undo = self.inner.undo.clone();
        blocking(move || {
            let path = "memory/MEMORY.md";
            let base = guard.digest(path)?;
            let temp_name = format!(".pocketpilot-{}.tmp", OperationId::new());
            let write = FileWrite {
                path,
                access: Access::Memory,
                bytes: text.as_bytes(),
                base: base.as_ref(),
                temp_name: &temp_name,
            };
            guard.create_or_replace(&write, &undo)?;
            Ok(())
        })
        .await?;
        self.record_operator("memory_edited", Some(workspace), Some("memory/MEMORY.md")).await?;
        self.inner.bus.changed();
        Ok(())
    }

    /// Skills of a workspace, with where each comes from and what it shadows.
    ///
    /// # Errors
    /// The workspace is not there.
    pub async fn skills(&self, workspace: Option<&WorkspaceId>) -> Result<Vec<SkillRow>, ServiceError> {
        Ok(self.skill_set(workspace).await?.rows().to_vec())
    }

    /// Body of a skill.
    ///
    /// # Errors
    /// There is none of that name.
    pub async fn skill(&self, workspace: Option<&WorkspaceId>, name: &str) -> Result<String, ServiceError> {
        let set = self.skill_set(workspace).await?;
        set.get(name)
            .map(|skill| skill.body.clone())
            .ok_or_else(|| ServiceError::new(ErrorCode::SkillNotFound, "no skill of that name").about(name))
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
