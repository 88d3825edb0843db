//! The workspace as the person looks at it.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{EntryView, FolderView, PreviewView};
use pilot_documents::{Analysis, AnalyzeOptions, Document, DocumentStatus, ExtractOptions};
use pilot_guard::{EntryKind, ListOptions};
use pilot_store::{approvals, artifacts};
use pilot_types::WorkspaceId;
use std::collections::HashSet;
use tokio_util::sync::CancellationToken;

/// Bytes of text in a preview at most.
const PREVIEW_BYTES: usize = 100 * 1024;

impl Service {
    /// A page of a folder.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn folder(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        offset: usize,
        limit: usize,
    ) -> Result<FolderView, ServiceError> {
        let guard = self.guard(workspace).await?;
        let folder = path.to_owned();
        let options = ListOptions { depth: 1, limit: limit.clamp(1, 5_000), offset };
        let listing = blocking(move || Ok(guard.list(&folder, &options)?)).await?;
        let mut reader = self.inner.store.read().await?;
        let waiting: HashSet<String> = approvals::list(&mut reader, true, 10_000)
            .await?
            .into_iter()
            .filter(|row| row.workspace == *workspace)
            .filter_map(|row| row.path)
            .collect();
        let written: HashSet<String> = artifacts::list(&mut reader, Some(workspace), 10_000)
            .await?
            .into_iter()
            .map(|row| row.path)
            .collect();
        let entries = listing
            .entries
            .into_iter()
            .map(|entry| EntryView {
                name_shown: pilot_review::shown_text(&entry.name),
                folder: entry.kind == EntryKind::Folder,
                refused: match entry.kind {
                    EntryKind::Refused(code) => Some(code),
                    EntryKind::File | EntryKind::Folder => None,
                },
                waiting: waiting.contains(&entry.path),
                artifact: written.contains(&entry.path),
                modified: entry.modified.map(crate::view::time),
                size: entry.size.unwrap_or(0),
                name: entry.name,
                path: entry.path,
            })
            .collect();
        Ok(FolderView { path: path.to_owned(), entries, total: listing.total as u64, offset: offset as u64 })
    }

    /// A preview of a file, read by the limited child process.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn preview(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        sheet: Option<String>,
    ) -> Result<PreviewView, ServiceError> {
        let guard = self.guard(workspace).await?;
        let wanted = path.to_owned();
        let file = blocking(move || Ok(guard.open_file(&wanted)?)).await?;
        let size = file.len();
        let options = ExtractOptions { sheet, chinese: self.chinese(), ..ExtractOptions::default() };
        let mut document = self
            .inner
            .extraction
            .extract(file, path, &options, &CancellationToken::new())
            .await
            .map_err(not_read)?;
        cut_for_preview(&mut document);
        Ok(PreviewView { path: path.to_owned(), size, document })
    }

    /// Reads one document whole, for the command line.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn extract(&self, workspace: &WorkspaceId, path: &str) -> Result<Document, ServiceError> {
        let guard = self.guard(workspace).await?;
        let wanted = path.to_owned();
        let file = blocking(move || Ok(guard.open_file(&wanted)?)).await?;
        let options = ExtractOptions { chinese: self.chinese(), ..ExtractOptions::default() };
        self.inner.extraction.extract(file, path, &options, &CancellationToken::new()).await.map_err(not_read)
    }

    /// Analyses files and folders of a workspace, for the command line: the same arithmetic as the tool's.
    ///
    /// # Errors
    /// The guard's refusal of a path that was named.
    pub async fn analyze(
        &self,
        workspace: &WorkspaceId,
        paths: &[String],
        options: AnalyzeOptions,
    ) -> Result<Analysis, ServiceError> {
        let guard = self.guard(workspace).await?;
        let options = AnalyzeOptions { chinese: self.chinese(), ..options };
        let (for_selection, asked) = (guard.clone(), paths.to_vec());
        let selection = blocking(move || Ok(pilot_tools::select_files(&for_selection, &asked)?)).await?;
        let mut analysis = self
            .inner
            .extraction
            .analyze(&guard, &selection.paths, &options, &CancellationToken::new(), &|_| {})
            .await
            .map_err(not_read)?;
        analysis.notes.extend(selection.notes);
        Ok(analysis)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
fn not_read(error: pilot_tools::ExtractionError) -> ServiceError {
    ServiceError::new(error.code(), error.to_string())
}

fn cut_for_preview(document: &mut Document) {
    let mut left = PREVIEW_BYTES;
    let mut cut = false;
    for part in &mut document.parts {
        cut |= cut_text(&mut part.text, left);
        left = left.saturating_sub(part.text.len());
    }
    cut |= cut_text(&mut document.text, PREVIEW_BYTES);
    if cut {
        document.notes.push("preview cut at 100 KB".to_owned());
        if document.status == DocumentStatus::Complete {
            document.status = DocumentStatus::Partial;
        }
    }
}

fn cut_text(text: &mut String, limit: usize) -> bool {
    if text.len() <= limit {
        return false;
    }
    let mut at = limit;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    true
}
