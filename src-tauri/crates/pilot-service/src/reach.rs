//! What a task in a workspace can touch, worked out from the same guard, registry and policy that hold it.

use crate::error::{ServiceError, blocking};
use crate::open::{Counted, Service};
use crate::view::ReachView;
use pilot_guard::WorkspaceGuard;
use pilot_tools::SkillSet;
use pilot_types::{ProviderChoice, Verdict, WorkspaceId};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// Files are counted up to here; beyond it "more" is said.
const COUNT_LIMIT: u64 = 100_000;

/// A count is taken for true for this long.
const COUNT_HOLDS: Duration = Duration::from_secs(2);

impl Service {
    /// The reach of a task with this provider.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn reach(
        &self,
        workspace: &WorkspaceId,
        provider: &ProviderChoice,
    ) -> Result<ReachView, ServiceError> {
        let row = self.workspace_row(workspace).await?;
        // A provider that is no longer set up sends nothing anywhere.
        let sends_to = self.leaves_to(provider).await.unwrap_or(None);
        let mut view = ReachView {
            root: row.root,
            files: 0,
            files_more: false,
            runs_freely: Vec::new(),
            asks: Vec::new(),
            sends_to,
        };
        // A folder that is gone can be touched by nobody.
        let Ok(guard) = self.guard(workspace).await else { return Ok(view) };
        (view.files, view.files_more) = self.count_files(workspace, &guard).await?;
        // What a tool may do does not depend on which skills a folder holds.
        let tools = self.tools(&guard, Arc::new(SkillSet::built_in()), &row.allowed_mcp).await?;
        for spec in tools.specs() {
            match pilot_policy::decide(&spec.capability) {
                Verdict::Allow { .. } => view.runs_freely.push(spec),
                Verdict::RequireApproval { .. } => view.asks.push(spec),
                Verdict::Deny { .. } => {}
            }
        }
        Ok(view)
    }

    /// Counts the files, once for all who ask at about the same time: a window asks at every event of a task.
    async fn count_files(
        &self,
        workspace: &WorkspaceId,
        guard: &WorkspaceGuard,
    ) -> Result<(u64, bool), ServiceError> {
        let now = self.inner.clock.monotonic();
        if let Some((at, count)) = self.counted().get(workspace)
            && now.saturating_sub(*at) < COUNT_HOLDS
        {
            return Ok(*count);
        }
        let guard = guard.clone();
        let count = blocking(move || Ok(guard.count_files(COUNT_LIMIT)?)).await?;
        self.counted().insert(workspace.clone(), (now, count));
        Ok(count)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.inner.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reach of a task in a workspace with a provider by name, or the workspace's own.
    ///
    /// # Errors
    /// No such workspace or provider.
    pub async fn reach_named(
        &self,
        workspace: &WorkspaceId,
        provider: Option<&str>,
    ) -> Result<ReachView, ServiceError> {
        let row = self.workspace_row(workspace).await?;
        let choice = self.provider_named(provider.unwrap_or(&row.provider)).await?;
        self.reach(workspace, &choice).await
    }
}
