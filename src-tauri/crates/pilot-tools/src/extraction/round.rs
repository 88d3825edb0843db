//! One analysis over all its restarts.

use super::{AnalyzeProgress, Extraction, ExtractionError, Lost, MAX_BUSY, blame, too_large};
use crate::worker_process::{Death, WorkerProcess};
use pilot_documents::worker::Request;
use pilot_documents::{Analysis, AnalyzeOptions, ExtractOptions};
use pilot_guard::{GuardError, GuardedFile, WorkspaceGuard};
use pilot_types::ErrorCode;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// What is known of the files while workers come and go.
pub(super) struct Round<'a> {
    extraction: &'a Extraction,
    guard: &'a WorkspaceGuard,
    options: &'a AnalyzeOptions,
    cancel: &'a CancellationToken,
    deadline: Instant,
    /// Files that are left out, by their place in the list.
    unread: BTreeMap<usize, (ErrorCode, String)>,
    /// Files that a worker has survived.
    proven: BTreeSet<usize>,
    /// The worker in which doubtful files are tried.
    probe: Option<WorkerProcess>,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        extraction: &'a Extraction,
        guard: &'a WorkspaceGuard,
        options: &'a AnalyzeOptions,
        cancel: &'a CancellationToken,
        deadline: Instant,
    ) -> Self {
        let (unread, proven) = (BTreeMap::new(), BTreeSet::new());
        Self { extraction, guard, options, cancel, deadline, unread, proven, probe: None }
    }

    /// True when no further file is begun.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Reads all files that are not left out. `None` when the worker died of one, which is left out from now on.
    pub(super) async fn read(
        &mut self,
        paths: &[String],
        is_careful: bool,
        progress: &(dyn Fn(AnalyzeProgress<'_>) + Send + Sync),
    ) -> Result<Option<Analysis>, ExtractionError> {
        // Always a new one: what it read before must not count against this analysis.
        let worker = self.extraction.start()?;
        let begin = Request::AnalyzeBegin { options: self.options.clone() };
        let (IgnoredAny, mut worker) = self.whole(worker, &begin).await?;
        for (index, path) in paths.iter().enumerate() {
            if !self.unread.contains_key(&index)
                && let Some(opened) = self.open(index, path).await?
                && self.is_harmless(index, path, is_careful).await?
            {
                let add = Request::AnalyzeAdd { name: path.clone(), len: opened.1 };
                let limit = self.extraction.limits.document;
                let asked = self.extraction.ask(worker, &add, Some(opened), limit, self.cancel).await;
                match asked.outcome {
                    Ok((IgnoredAny, same)) => worker = same,
                    // It was read before without harm: all files together are too much, and no single one.
                    Err(Lost::Died(Death::OutOfMemory)) if self.proven.contains(&index) => {
                        return Err(ExtractionError::Limit);
                    }
                    Err(lost) => return self.leave_out(index, &lost).map(|()| None),
                }
                self.proven.insert(index);
            }
            progress(AnalyzeProgress { done: index + 1, total: paths.len(), path });
        }
        self.finish(worker, paths).await.map(Some)
    }

    /// Tells the worker what it did not get, and takes the answer.
    async fn finish(
        &mut self,
        mut worker: WorkerProcess,
        paths: &[String],
    ) -> Result<Analysis, ExtractionError> {
        for (index, (code, reason)) in &self.unread {
            let name = paths.get(*index).cloned().unwrap_or_default();
            let request = Request::AnalyzeUnread { name, code: *code, reason: reason.clone() };
            (IgnoredAny, worker) = self.whole(worker, &request).await?;
        }
        let (analysis, _) = self.whole(worker, &Request::AnalyzeFinish).await?;
        Ok(analysis)
    }

    /// A question that concerns no single file.
    async fn whole<T: DeserializeOwned>(
        &self,
        worker: WorkerProcess,
        request: &Request,
    ) -> Result<(T, WorkerProcess), ExtractionError> {
        let limit = self.extraction.limits.document;
        let asked = self.extraction.ask(worker, request, None, limit, self.cancel).await;
        asked.outcome.map_err(|lost| match lost {
            Lost::Cancelled => ExtractionError::Cancelled,
            Lost::TimedOut | Lost::Died(Death::OutOfTime) => ExtractionError::TimedOut,
            Lost::Died(Death::OutOfMemory) | Lost::ReplyTooLarge => ExtractionError::Limit,
            Lost::Died(Death::Crashed) | Lost::Source(_) => ExtractionError::Stopped,
        })
    }

    fn leave_out(&mut self, index: usize, lost: &Lost) -> Result<(), ExtractionError> {
        let why = blame(lost).ok_or(ExtractionError::Cancelled)?;
        self.unread.insert(index, why);
        Ok(())
    }

    /// Opens a file, unless time is up. What the guard refuses is left out and said.
    async fn open(
        &mut self,
        index: usize,
        path: &str,
    ) -> Result<Option<(GuardedFile, u64)>, ExtractionError> {
        if self.cancel.is_cancelled() {
            return Err(ExtractionError::Cancelled);
        }
        let (guard, to_open) = (self.guard.clone(), path.to_owned());
        let opening = tokio::task::spawn_blocking(move || guard.open_file(&to_open));
        let file: Result<GuardedFile, GuardError> = opening.await.map_err(|_| ExtractionError::Stopped)?;
        let most = self.extraction.limits.document_bytes;
        let why = match file {
            _ if self.is_late() => {
                (ErrorCode::DocumentTimeout, "not read: the analysis as a whole took too long".to_owned())
            }
            Ok(file) if file.len() > most => (ErrorCode::DocumentLimit, too_large(file.len(), most)),
            Ok(file) => {
                let length = file.len();
                return Ok(Some((file, length)));
            }
            Err(error) => (error.code(), error.to_string()),
        };
        self.unread.insert(index, why);
        Ok(None)
    }

    /// Once workers have died of several files, each new file is first read in a worker that holds nothing yet: a
    /// folder full of hostile files must not cost a new reading of all others for each of them.
    async fn is_harmless(
        &mut self,
        index: usize,
        path: &str,
        is_careful: bool,
    ) -> Result<bool, ExtractionError> {
        if !is_careful || self.proven.contains(&index) {
            return Ok(true);
        }
        let Some(opened) = self.open(index, path).await? else { return Ok(false) };
        let worker = match self.probe.take() {
            Some(worker) => worker,
            None => self.extraction.start()?,
        };
        let options = ExtractOptions { chinese: self.options.chinese, ..ExtractOptions::default() };
        let request = Request::Extract { name: path.to_owned(), len: opened.1, options };
        let limit = self.extraction.limits.document;
        let asked = self.extraction.ask(worker, &request, Some(opened), limit, self.cancel).await;
        match asked.outcome {
            Ok((IgnoredAny, worker)) => {
                self.probe = Some(worker).filter(|worker| worker.busy() <= MAX_BUSY);
                self.proven.insert(index);
                Ok(true)
            }
            Err(lost) => self.leave_out(index, &lost).map(|()| false),
        }
    }
}
