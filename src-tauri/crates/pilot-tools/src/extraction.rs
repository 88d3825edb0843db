//! Documents to workers and answers back: limits of time, restarts, and who is to blame when a worker dies.

mod round;

use crate::worker_process::{Death, ExchangeFault, WorkerCommand, WorkerProcess};
use pilot_documents::worker::{Reply, Request};
use pilot_documents::{Analysis, AnalyzeOptions, Document, DocumentKind, DocumentStatus, ExtractOptions};
use pilot_guard::{GuardedFile, WorkspaceGuard};
use pilot_types::ErrorCode;
use round::Round;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// Restarts within one analysis after which every further file is tried in another worker first.
const TRUSTING_RESTARTS: usize = 2;
/// How long a worker may have worked in all and still get another document.
const MAX_BUSY: Duration = Duration::from_secs(60);
/// Restarts after which an analysis is given up.
const MAX_RESTARTS: usize = 16;

/// Bounds of document work. Tests inject short ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Wall clock for one document.
    pub document: Duration,
    /// Wall clock for a whole analysis, beside `analysis_file` for each file.
    pub analysis: Duration,
    /// Wall clock that each file adds to an analysis.
    pub analysis_file: Duration,
    /// How long a worker without work is kept.
    pub idle: Duration,
    /// Workers at the same time.
    pub workers: usize,
    /// Largest document that is handed over, in bytes.
    pub document_bytes: u64,
    /// Largest reply that is taken, in bytes.
    pub reply_bytes: usize,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            document: Duration::from_secs(20),
            analysis: Duration::from_secs(60),
            analysis_file: Duration::from_millis(100),
            idle: Duration::from_secs(10),
            workers: 2,
            document_bytes: 512 << 20,
            reply_bytes: 128 << 20,
        }
    }
}

/// Why there is no answer at all. What a document itself causes is said in the [`Document`] or in the unread rows.
#[derive(Debug, thiserror::Error)]
pub enum ExtractionError {
    /// The task was stopped.
    #[error("the task was stopped")]
    Cancelled,
    /// No worker could be started.
    #[error("the document reader cannot be started: {0}")]
    NotStarted(std::io::Error),
    /// A whole analysis took too long.
    #[error("the analysis took too long; analyse fewer files at once")]
    TimedOut,
    /// The worker failed without a document that is to blame.
    #[error("the document reader stopped")]
    Stopped,
    /// The worker needed more memory than it may have, for all files together.
    #[error("the files together are beyond the limits of the document reader; analyse fewer at once")]
    Limit,
}

impl ExtractionError {
    /// Code for the person and the model.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Cancelled => ErrorCode::Cancelled,
            Self::NotStarted(_) => ErrorCode::Internal,
            Self::TimedOut => ErrorCode::DocumentTimeout,
            Self::Stopped => ErrorCode::DocumentCrashed,
            Self::Limit => ErrorCode::DocumentLimit,
        }
    }
}

/// How far an analysis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalyzeProgress<'a> {
    /// Files read or given up.
    pub done: usize,
    /// Files in all.
    pub total: usize,
    /// The file that was read last.
    pub path: &'a str,
}

/// Reads documents in workers, for tools, previews and the command line alike. Keeps a worker for the next document;
/// one that crashed or ran out of time is replaced. Dropping it ends all workers.
#[derive(Debug)]
pub struct Extraction {
    command: WorkerCommand,
    limits: WorkerLimits,
    permits: Semaphore,
    idle: Arc<Mutex<Vec<IdleWorker>>>,
}

#[derive(Debug)]
struct IdleWorker {
    worker: WorkerProcess,
    since: Instant,
}

/// Why a question to a worker has no reply. The worker is gone in every case.
#[derive(Debug)]
enum Lost {
    Cancelled,
    TimedOut,
    Died(Death),
    ReplyTooLarge,
    Source(std::io::Error),
}

/// A question that was asked: the worker comes back when it can go on.
struct Asked<T> {
    outcome: Result<(T, WorkerProcess), Lost>,
    file: Option<GuardedFile>,
}

impl Extraction {
    /// Workers are started when the first document comes.
    #[must_use]
    pub fn new(command: WorkerCommand, limits: WorkerLimits) -> Self {
        let permits = Semaphore::new(limits.workers.max(1));
        Self { command, limits, permits, idle: Arc::new(Mutex::new(Vec::new())) }
    }

    /// Reads one document. `name` is used for its ending and in what is said, never opened. A document that cannot be
    /// read, or that kills its reader, is a refused [`Document`] with its code.
    ///
    /// # Errors
    /// When the task was stopped, or no worker can be started.
    pub async fn extract(
        &self,
        file: GuardedFile,
        name: &str,
        options: &ExtractOptions,
        cancel: &CancellationToken,
    ) -> Result<Document, ExtractionError> {
        let length = file.len();
        if length > self.limits.document_bytes {
            return Ok(refused_document(
                ErrorCode::DocumentLimit,
                too_large(length, self.limits.document_bytes),
            ));
        }
        let _permit = self.permit(cancel).await?;
        let request = Request::Extract { name: name.to_owned(), len: length, options: options.clone() };
        let mut worker = self.take()?;
        let mut file = Some(file);
        loop {
            let was_fresh = worker.is_fresh();
            let body = file.take().map(|file| (file, length));
            let asked = self.ask(worker, &request, body, self.limits.document, cancel).await;
            file = asked.file;
            match asked.outcome {
                Ok((document, worker)) => {
                    self.put_back(worker);
                    return Ok(document);
                }
                // A worker that had read others may have died of them: once more, alone.
                Err(Lost::Died(_)) if !was_fresh && file.is_some() => worker = self.start()?,
                Err(lost) => {
                    let (code, words) = blame(&lost).ok_or(ExtractionError::Cancelled)?;
                    return Ok(refused_document(code, words));
                }
            }
        }
    }

    /// Analyses files of a workspace, one after the other, in one worker. A file that cannot be opened, or that kills
    /// the worker, becomes an unread row; the others are read again and counted.
    ///
    /// # Errors
    /// When the task was stopped, no worker can be started, or the analysis as a whole is beyond its limits.
    pub async fn analyze(
        &self,
        guard: &WorkspaceGuard,
        paths: &[String],
        options: &AnalyzeOptions,
        cancel: &CancellationToken,
        progress: &(dyn Fn(AnalyzeProgress<'_>) + Send + Sync),
    ) -> Result<Analysis, ExtractionError> {
        let _permit = self.permit(cancel).await?;
        let files = u32::try_from(paths.len()).unwrap_or(u32::MAX);
        let time = self.limits.analysis.saturating_add(self.limits.analysis_file.saturating_mul(files));
        let mut round = Round::new(self, guard, options, cancel, Instant::now() + time);
        let mut restarts = 0;
        loop {
            match round.read(paths, restarts >= TRUSTING_RESTARTS, progress).await? {
                Some(analysis) => return Ok(analysis),
                None if round.is_late() => return Err(ExtractionError::TimedOut),
                None if restarts >= MAX_RESTARTS => return Err(ExtractionError::Stopped),
                None => restarts += 1,
            }
        }
    }

    async fn permit(&self, cancel: &CancellationToken) -> Result<SemaphorePermit<'_>, ExtractionError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ExtractionError::Cancelled),
            permit = self.permits.acquire() => permit.map_err(|_| ExtractionError::Stopped),
        }
    }

    fn start(&self) -> Result<WorkerProcess, ExtractionError> {
        WorkerProcess::start(&self.command).map_err(ExtractionError::NotStarted)
    }

    /// A worker that waits, or a new one.
    fn take(&self) -> Result<WorkerProcess, ExtractionError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(IdleWorker { mut worker, .. }) = idle
            && worker.is_alive()
        {
            return Ok(worker);
        }
        self.start()
    }

    /// Keeps a worker for the next document, for a while; one that worked long is ended, since its limits of memory and
    /// processor time are over its whole life.
    fn put_back(&self, worker: WorkerProcess) {
        if worker.busy() > MAX_BUSY {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(IdleWorker { worker, since: Instant::now() });
        let (pool, limit) = (Arc::downgrade(&self.idle), self.limits.idle);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            end_idle(&pool, limit);
        });
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        mut worker: WorkerProcess,
        request: &Request,
        file: Option<(GuardedFile, u64)>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Asked<T> {
        let Ok(header) = serde_json::to_vec(request) else {
            return Asked { outcome: Err(Lost::Died(Death::Crashed)), file: None };
        };
        let exchange = worker.exchange(&header, file, self.limits.reply_bytes);
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Lost::Cancelled),
            answered = tokio::time::timeout(limit, exchange) => answered.map_err(|_| Lost::TimedOut),
        };
        let (outcome, file) = match answered {
            Ok((Ok(bytes), file)) => match serde_json::from_slice::<Reply<T>>(&bytes) {
                Ok(reply) => return Asked { outcome: Ok((reply.ok, worker)), file },
                Err(_) => (None, file),
            },
            Ok((Err(ExchangeFault::Gone), file)) => (None, file),
            Ok((Err(ExchangeFault::ReplyTooLarge), file)) => (Some(Lost::ReplyTooLarge), file),
            Ok((Err(ExchangeFault::Source(error)), file)) => (Some(Lost::Source(error)), file),
            Err(lost) => (Some(lost), None),
        };
        let death = worker.end().await;
        Asked { outcome: Err(outcome.unwrap_or(Lost::Died(death))), file }
    }
}

fn end_idle(pool: &Weak<Mutex<Vec<IdleWorker>>>, limit: Duration) {
    if let Some(pool) = pool.upgrade() {
        pool.lock().unwrap_or_else(PoisonError::into_inner).retain(|idle| idle.since.elapsed() < limit);
    }
}

/// Code and words for a document of which a worker was lost; `None` when the person stopped the task.
fn blame(lost: &Lost) -> Option<(ErrorCode, String)> {
    let (code, words) = match lost {
        Lost::Cancelled => return None,
        Lost::TimedOut | Lost::Died(Death::OutOfTime) => {
            (ErrorCode::DocumentTimeout, "reading the document took too long".to_owned())
        }
        Lost::Died(Death::OutOfMemory) => (
            ErrorCode::DocumentLimit,
            "reading the document would need more memory than a reader may have".to_owned(),
        ),
        Lost::ReplyTooLarge => {
            (ErrorCode::DocumentLimit, "the document holds more than can be taken".to_owned())
        }
        Lost::Died(Death::Crashed) => {
            (ErrorCode::DocumentCrashed, "the reader stopped; the document is the likely cause".to_owned())
        }
        Lost::Source(error) => (ErrorCode::IoFailed, format!("the file could not be read: {error}")),
    };
    Some((code, words))
}

fn too_large(length: u64, most: u64) -> String {
    format!("{length} bytes is more than the {most} that are read")
}

fn refused_document(code: ErrorCode, words: String) -> Document {
    Document {
        kind: DocumentKind::Unknown,
        status: DocumentStatus::Refused,
        code: Some(code),
        notes: vec![words],
        text: String::new(),
        parts: Vec::new(),
        invoice: None,
    }
}
