//! What a page of memory was: from the record of tasks and of the person, and from the bytes that were kept. What another
//! program wrote in between is a version too, as far as it was ever replaced in here.

use crate::error::{ServiceError, blocking};
use crate::memory::{MAX_PAGE_BYTES, ReadPage, read_page};
use crate::open::Service;
use crate::view::{Author, MemoryView, OriginView, VersionTextView, VersionView, time};
use chrono::{DateTime, Utc};
use pilot_guard::Access;
use pilot_review::{Difference, LineKind};
use pilot_store::{ArtifactRow, EditRow, approvals, artifacts, edits, tasks};
use pilot_types::{ApprovalId, Digest, ErrorCode, TaskId, WorkspaceId};

/// Versions of a page that are looked through.
const MAX_VERSIONS: u32 = 200;
/// Versions that are compared line by line to find where a line comes from.
const COMPARED_VERSIONS: usize = 40;
/// Largest page for which that is done, in bytes.
const COMPARED_BYTES: usize = 256 * 1024;

/// A state that a page was in, before its words are looked up.
#[derive(Clone, Debug)]
struct Version {
    digest: Option<Digest>,
    before: Option<Digest>,
    author: Author,
    action: String,
    at: Option<DateTime<Utc>>,
    task: Option<TaskId>,
    approval: Option<ApprovalId>,
}

impl Version {
    fn outside(digest: Digest, at: Option<DateTime<Utc>>) -> Self {
        Self {
            digest: Some(digest),
            before: None,
            author: Author::Outside,
            action: "outside".to_owned(),
            at,
            task: None,
            approval: None,
        }
    }

    fn of_edit(row: EditRow) -> Self {
        Self {
            digest: row.after,
            before: row.before,
            author: Author::Person,
            action: row.action,
            at: row.done_at,
            task: None,
            approval: None,
        }
    }

    /// The write of a task, and its undoing by the person if there was one.
    fn of_artifact(row: ArtifactRow) -> impl Iterator<Item = Self> {
        let undone = row.undone_at.map(|at| Self {
            digest: row.previous.clone(),
            before: Some(row.digest.clone()),
            author: Author::Person,
            action: "undone".to_owned(),
            at: Some(at),
            task: Some(row.task.clone()),
            approval: None,
        });
        let written = Self {
            digest: Some(row.digest),
            before: row.previous,
            author: Author::Task,
            action: "memory_write".to_owned(),
            at: Some(row.at),
            task: Some(row.task),
            approval: Some(row.approval),
        };
        std::iter::once(written).chain(undone)
    }
}

impl Service {
    /// The states that a page of memory was in, the newest first.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn memory_history(
        &self,
        workspace: &WorkspaceId,
        path: &str,
    ) -> Result<Vec<VersionView>, ServiceError> {
        let (path, page) = self.memory_page(workspace, path).await?;
        let versions = self.versions(workspace, &path, page.digest.as_ref()).await?;
        let mut views = Vec::with_capacity(versions.len());
        let mut current_found = false;
        for version in versions.into_iter().rev() {
            let current = !current_found && version.digest == page.digest && page.digest.is_some();
            current_found |= current;
            let available = match &version.digest {
                None => false,
                Some(digest) => {
                    Some(digest) == page.digest.as_ref()
                        || version.approval.is_some()
                        || self.inner.undo.contains(digest)
                }
            };
            views.push(VersionView {
                goal: self.goal_of(version.task.as_ref()).await?,
                digest: version.digest,
                author: version.author,
                action: version.action,
                at: version.at.map(time),
                task: version.task.map(|id| id.to_string()),
                approval: version.approval.map(|id| id.to_string()),
                available,
                current,
            });
        }
        Ok(views)
    }

    /// The text of one of these states, and what going back to it would change.
    ///
    /// # Errors
    /// It is none of this page's, or its bytes are gone.
    pub async fn memory_version(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        digest: &Digest,
    ) -> Result<VersionTextView, ServiceError> {
        let (path, page) = self.memory_page(workspace, path).await?;
        let versions = self.versions(workspace, &path, page.digest.as_ref()).await?;
        let bytes = self.version_bytes(&versions, digest, &page).await?;
        Ok(VersionTextView {
            text: pilot_documents::text::decode(&bytes, self.chinese()).text,
            difference: pilot_review::difference(page.bytes.as_deref(), &bytes, &path),
            now: page.digest,
        })
    }

    /// Goes back to one of these states: an edit of the person like any other, so that this too can be taken back.
    ///
    /// # Errors
    /// As [`Service::memory_version`]; `EditConflict` when the page changed since it was shown.
    pub async fn restore_memory(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        digest: &Digest,
        now: Option<Digest>,
    ) -> Result<MemoryView, ServiceError> {
        let (path, page) = self.memory_page(workspace, path).await?;
        let versions = self.versions(workspace, &path, page.digest.as_ref()).await?;
        let bytes = self.version_bytes(&versions, digest, &page).await?;
        self.write_memory(workspace, path.clone(), bytes, now, "memory_restored").await?;
        self.memory(workspace, Some(&path)).await
    }

    async fn memory_page(
        &self,
        workspace: &WorkspaceId,
        path: &str,
    ) -> Result<(String, ReadPage), ServiceError> {
        let (guard, path) = (self.guard(workspace).await?, path.to_owned());
        blocking(move || {
            let path = guard.check(&path, Access::Memory)?.as_str().to_owned();
            let page = read_page(&guard, &path)?;
            Ok((path, page))
        })
        .await
    }

    /// The states, the oldest first, with what other programs wrote in between.
    async fn versions(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        now: Option<&Digest>,
    ) -> Result<Vec<Version>, ServiceError> {
        let mut reader = self.inner.store.read().await?;
        let written = artifacts::of_path(&mut reader, workspace, path, MAX_VERSIONS).await?;
        let edited = edits::of_path(&mut reader, workspace, path, MAX_VERSIONS).await?;
        drop(reader);
        let mut known: Vec<Version> = written.into_iter().flat_map(Version::of_artifact).collect();
        known.extend(edited.into_iter().map(Version::of_edit));
        known.sort_by_key(|version| version.at);
        let mut all: Vec<Version> = Vec::with_capacity(known.len() + 1);
        for version in known {
            let last = all.last().and_then(|last| last.digest.clone());
            if let Some(before) = version.before.clone().filter(|before| Some(before) != last.as_ref()) {
                all.push(Version::outside(before, None));
            }
            all.push(version);
        }
        if let Some(now) = now.filter(|now| all.last().and_then(|last| last.digest.as_ref()) != Some(now)) {
            all.push(Version::outside(now.clone(), None));
        }
        Ok(all)
    }

    async fn version_bytes(
        &self,
        versions: &[Version],
        digest: &Digest,
        page: &ReadPage,
    ) -> Result<Vec<u8>, ServiceError> {
        let of_page: Vec<&Version> =
            versions.iter().filter(|version| version.digest.as_ref() == Some(digest)).collect();
        if of_page.is_empty() {
            return Err(ServiceError::new(ErrorCode::EditNotFound, "no such version of this page"));
        }
        if page.digest.as_ref() == Some(digest) {
            return Ok(page.bytes.clone().unwrap_or_default());
        }
        if self.inner.undo.contains(digest) {
            return self.kept(digest.clone()).await;
        }
        for approval in of_page.iter().filter_map(|version| version.approval.as_ref()) {
            let stored = approvals::bytes(&mut *self.inner.store.read().await?, approval).await;
            if let Ok(bytes) = stored
                && Digest::of(&bytes) == *digest
            {
                return Ok(bytes);
            }
        }
        Err(ServiceError::new(ErrorCode::UndoMissing, "the bytes of this version are no longer kept"))
    }

    async fn goal_of(&self, task: Option<&TaskId>) -> Result<String, ServiceError> {
        let Some(id) = task else { return Ok(String::new()) };
        let row = tasks::get(&mut *self.inner.store.read().await?, id).await?;
        Ok(row.map(|task| task.goal).unwrap_or_default())
    }

    /// Where each line of a page comes from, as far as the kept versions tell.
    pub(crate) async fn origins(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        page: &ReadPage,
    ) -> Result<Vec<OriginView>, ServiceError> {
        let Some(bytes) = page.bytes.as_ref().filter(|bytes| bytes.len() <= COMPARED_BYTES) else {
            return Ok(Vec::new());
        };
        let versions = self.versions(workspace, path, page.digest.as_ref()).await?;
        let begin = versions.len().saturating_sub(COMPARED_VERSIONS);
        let mut known: Vec<(usize, Vec<u8>)> = Vec::new();
        for (index, version) in versions.iter().enumerate().skip(begin) {
            let Some(digest) = &version.digest else {
                known.push((index, Vec::new()));
                continue;
            };
            match self.version_bytes(&versions, digest, page).await {
                Ok(bytes) if bytes.len() <= MAX_PAGE_BYTES => known.push((index, bytes)),
                Ok(_) | Err(_) => {}
            }
        }
        let (path, current) = (path.to_owned(), bytes.clone());
        let authors = blocking(move || Ok(authors_of_lines(&known, &current, &path))).await?;
        let mut spans: Vec<OriginView> = Vec::new();
        let mut last = None;
        for (line, author) in (1_u32..).zip(authors) {
            match spans.last_mut() {
                Some(span) if last == Some(author) => span.to = line,
                Some(_) | None => {
                    let version = author.and_then(|index| versions.get(index));
                    spans.push(OriginView {
                        from: line,
                        to: line,
                        author: version.map_or(Author::Outside, |version| version.author),
                        at: version.and_then(|version| version.at).map(time),
                        task: version.and_then(|version| version.task.as_ref()).map(ToString::to_string),
                        approval: version
                            .and_then(|version| version.approval.as_ref())
                            .map(ToString::to_string),
                        goal: self.goal_of(version.and_then(|version| version.task.as_ref())).await?,
                    });
                }
            }
            last = Some(author);
        }
        Ok(spans)
    }
}

/// For each line of the page the index of the version that brought it; `None` when it was there before all of them.
fn authors_of_lines(known: &[(usize, Vec<u8>)], current: &[u8], path: &str) -> Vec<Option<usize>> {
    let mut authors: Vec<Option<usize>> = Vec::new();
    let mut before: &[u8] = &[];
    let end = (usize::MAX, current.to_vec());
    for (index, bytes) in known.iter().chain(std::iter::once(&end)) {
        let author = (*index != usize::MAX).then_some(*index);
        authors = carried(&authors, before, bytes, path, author);
        before = bytes;
    }
    authors
}

fn carried(
    authors: &[Option<usize>],
    before: &[u8],
    after: &[u8],
    path: &str,
    author: Option<usize>,
) -> Vec<Option<usize>> {
    let Difference::Text { lines } = pilot_review::difference(Some(before), after, path) else {
        return Vec::new();
    };
    lines
        .iter()
        .filter(|line| line.new.is_some())
        .map(|line| match (line.kind, line.old) {
            (LineKind::Same, Some(old)) => {
                usize::try_from(old).ok().and_then(|old| authors.get(old.wrapping_sub(1)).copied()).flatten()
            }
            (LineKind::Same | LineKind::Added | LineKind::Removed | LineKind::Changed, _) => author,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_version_that_brought_it() {
        let known = vec![(0, b"a\nb\n".to_vec()), (1, b"a\nb\nc\n".to_vec()), (2, b"a\nB\nc\n".to_vec())];
        let authors = authors_of_lines(&known, b"x\na\nB\nc\n", "memory/MEMORY.md");
        assert_eq!(authors, [None, Some(0), Some(2), Some(1)], "x was written by nobody that is known");
    }
}
