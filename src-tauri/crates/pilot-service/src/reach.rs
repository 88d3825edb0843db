//! What a task in a workspace can touch, worked out from the same guard, registry and policy that hold it.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::ReachView;
use pilot_types::{ProviderChoice, Verdict, WorkspaceId};

/// Files are counted up to here; beyond it "more" is said.
const COUNT_LIMIT: u64 = 100_000;

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
        let Ok(bench) = self.bench(workspace).await else { return Ok(view) };
        let guard = bench.guard.clone();
        (view.files, view.files_more) = blocking(move || Ok(guard.count_files(COUNT_LIMIT)?)).await?;
        for spec in bench.tools.specs() {
            match pilot_policy::decide(&spec.capability) {
                Verdict::Allow { .. } => view.runs_freely.push(spec),
                Verdict::RequireApproval { .. } => view.asks.push(spec),
                Verdict::Deny { .. } => {}
            }
        }
        Ok(view)
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
