//! Files that the person adds: looked at first, copied once the person has said what becomes of taken names. The window
//! never names a path outside the workspace; the shell gives what its own dialog or a drop named, and the window holds only
//! the plan's id.

use crate::bus::Notice;
use crate::edits::{NewContent, PersonWrite, access_of};
use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{UploadChoice, UploadFileView, UploadPlanView, UploadRequest, UploadResultView};
use pilot_guard::{ListOptions, MAX_TARGET, OutsideFile, WorkspaceGuard};
use pilot_types::{Digest, ErrorCode, OperationId, WorkspaceId};
use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Plans that are kept; an older one is forgotten, and nothing of it was copied.
const MAX_PLANS: usize = 8;
/// Files of one plan.
const MAX_FILES: usize = 5_000;
/// How far `NAME (2)`, `NAME (3)` … is tried.
const MAX_NAMES: u32 = 1_000;
/// Progress is told this often at most.
const TELL: Duration = Duration::from_millis(100);

/// A file that the person named, and the name that it is to have.
#[derive(Clone, Debug)]
pub struct UploadSource {
    /// Where it lies.
    pub place: PathBuf,
    /// Its name in the workspace; one name and no path.
    pub name: String,
}

impl UploadSource {
    /// A file under its own name.
    #[must_use]
    pub fn of(place: PathBuf) -> Self {
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { place, name }
    }
}

/// How far copying is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadProgress {
    /// Plan.
    pub id: String,
    /// Name of the file at work.
    pub name: String,
    /// Bytes done of all files.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Plans of this process, the oldest first.
#[derive(Default)]
pub(crate) struct Uploads {
    plans: Mutex<VecDeque<Plan>>,
}

#[derive(Clone)]
struct Plan {
    id: String,
    workspace: WorkspaceId,
    files: Vec<PlannedFile>,
    stop: CancellationToken,
}

#[derive(Clone)]
struct PlannedFile {
    place: PathBuf,
    name: String,
    size: u64,
    /// Where it goes when its name is free.
    path: String,
    /// Where it goes when both are kept.
    beside: Option<String>,
    taken: Taken,
    refused: Option<ErrorCode>,
}

#[derive(Clone, PartialEq, Eq)]
enum Taken {
    No,
    /// By a file of the workspace with this digest.
    ByFile(Digest),
    /// By another file of the plan.
    ByPlan,
}

impl Uploads {
    fn keep(&self, plan: Plan) {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push_back(plan);
        while plans.len() > MAX_PLANS {
            plans.pop_front();
        }
    }

    fn find(&self, id: &str) -> Option<Plan> {
        let plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.iter().find(|plan| plan.id == id).cloned()
    }

    /// Takes a plan out: it is carried out once.
    fn begin(&self, id: &str) -> Option<Plan> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = plans.iter_mut().find(|plan| plan.id == id)?;
        let files = std::mem::take(&mut plan.files);
        (!files.is_empty()).then(|| Plan { files, ..plan.clone() })
    }
}

impl Service {
    /// Looks at files that the person picked or dropped, and copies nothing yet.
    ///
    /// # Errors
    /// The workspace or the folder in it is not there.
    pub async fn plan_upload(
        &self,
        workspace: &WorkspaceId,
        folder: &str,
        sources: Vec<UploadSource>,
    ) -> Result<UploadPlanView, ServiceError> {
        let guard = self.guard(workspace).await?;
        let asked = folder.to_owned();
        let (folder, files) = blocking(move || {
            let options = ListOptions { depth: 1, limit: 0, offset: 0 };
            guard.list(&asked, &options)?;
            let folder = asked.trim_matches('/').to_owned();
            let mut names = HashSet::new();
            let files: Vec<PlannedFile> = sources
                .into_iter()
                .take(MAX_FILES)
                .map(|source| look(&guard, &folder, source, &mut names))
                .collect();
            Ok((folder, files))
        })
        .await?;
        let plan = Plan {
            id: OperationId::new().to_string(),
            workspace: workspace.clone(),
            files,
            stop: CancellationToken::new(),
        };
        let view = UploadPlanView {
            id: plan.id.clone(),
            workspace: workspace.to_string(),
            folder,
            files: plan.files.iter().map(view_of).collect(),
        };
        self.inner.uploads.keep(plan);
        Ok(view)
    }

    /// Copies what was planned. Each file is whole or not there; one that fails does not stop the others.
    ///
    /// # Errors
    /// There is no such plan, or it was carried out already.
    pub async fn run_upload(&self, request: &UploadRequest) -> Result<UploadResultView, ServiceError> {
        let plan = self.inner.uploads.begin(&request.id).ok_or_else(|| {
            ServiceError::new(ErrorCode::EditNotFound, "no such upload, or it was carried out already")
        })?;
        let total: u64 = plan.files.iter().map(|file| file.size * 2).sum();
        let mut result = UploadResultView::default();
        let mut done = 0;
        for (index, file) in plan.files.iter().enumerate() {
            let choice = request.choices.get(index).copied().unwrap_or_default();
            let target = match (file.refused, target_of(file, choice)) {
                (Some(code), _) => {
                    result.refused.push((file.name.clone(), code));
                    continue;
                }
                (None, Some(target)) if !plan.stop.is_cancelled() => target,
                (None, _) => {
                    result.skipped.push(file.name.clone());
                    continue;
                }
            };
            let meter = Meter {
                service: self.clone(),
                progress: UploadProgress { id: plan.id.clone(), name: file.name.clone(), done, total },
                told: None,
            };
            match self.copy_one(&plan, file, target, meter).await {
                Ok(Some(row)) => result.added.push(self.edit_view(row).await?),
                // The very same bytes stand there already.
                Ok(None) => result.skipped.push(file.name.clone()),
                Err(_) if plan.stop.is_cancelled() => result.skipped.push(file.name.clone()),
                Err(error) => result.refused.push((file.name.clone(), error.code())),
            }
            done += file.size * 2;
        }
        result.cancelled = plan.stop.is_cancelled();
        self.inner.bus.changed();
        Ok(result)
    }

    /// Stops copying. The file at work is taken away again; those that were copied stay.
    ///
    /// # Errors
    /// There is no such plan.
    pub fn cancel_upload(&self, id: &str) -> Result<(), ServiceError> {
        let plan = self
            .inner
            .uploads
            .find(id)
            .ok_or_else(|| ServiceError::new(ErrorCode::EditNotFound, "no such upload"))?;
        plan.stop.cancel();
        Ok(())
    }

    async fn copy_one(
        &self,
        plan: &Plan,
        file: &PlannedFile,
        (path, base): (String, Option<Digest>),
        meter: Meter,
    ) -> Result<Option<pilot_store::EditRow>, ServiceError> {
        let (place, stop) = (file.place.clone(), plan.stop.clone());
        // Read twice: what will stand there is known, and on record, before anything is written.
        let (reader, digest, size) = blocking(move || {
            let mut reader = Measured { file: OutsideFile::open(&place, MAX_TARGET)?, stop, meter };
            let (digest, size) = pilot_guard::measure(&mut reader).map_err(not_read)?;
            reader.file.rewind().map_err(not_read)?;
            Ok((Box::new(reader), digest, size))
        })
        .await?;
        let write = PersonWrite {
            workspace: plan.workspace.clone(),
            path,
            action: "file_uploaded",
            base,
            content: NewContent::Reader { reader, digest, size },
            undoes: None,
        };
        self.write_as_person(write).await.map_err(|error| match error.code() {
            // Somebody took the name since it was looked at.
            ErrorCode::EditConflict => ServiceError::new(ErrorCode::AlreadyExists, error.detail()),
            _ => error,
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
fn not_read(error: std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::IoFailed, format!("the file could not be read: {error}"))
}

fn look(
    guard: &WorkspaceGuard,
    folder: &str,
    source: UploadSource,
    names: &mut HashSet<String>,
) -> PlannedFile {
    let path = join(folder, &source.name);
    let mut file = PlannedFile {
        place: source.place,
        name: source.name,
        size: 0,
        path,
        beside: None,
        taken: Taken::No,
        refused: None,
    };
    file.refused = judge(guard, &mut file, names).err();
    if file.refused.is_none() && file.taken != Taken::No {
        file.beside = free_name(guard, folder, &file.name, names);
    }
    file
}

/// Looks at the source and at the place where it goes.
fn judge(
    guard: &WorkspaceGuard,
    file: &mut PlannedFile,
    names: &mut HashSet<String>,
) -> Result<(), ErrorCode> {
    // One name and no path; everything else about it is for the guard to judge.
    if file.name.is_empty() || file.name.contains(['/', '\\']) {
        return Err(ErrorCode::PathName);
    }
    let path = guard.check(&file.path, access_of(&file.path)).map_err(|error| error.code())?;
    file.path = path.as_str().to_owned();
    file.size = OutsideFile::open(&file.place, MAX_TARGET).map_err(|error| error.code())?.len();
    if let Some(digest) = guard.digest(&file.path).map_err(|error| error.code())? {
        file.taken = Taken::ByFile(digest);
    } else if !names.insert(file.path.clone()) {
        file.taken = Taken::ByPlan;
    }
    Ok(())
}

/// `NAME (2)` or the next that nobody has.
fn free_name(
    guard: &WorkspaceGuard,
    folder: &str,
    name: &str,
    names: &mut HashSet<String>,
) -> Option<String> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        Some(_) | None => (name, String::new()),
    };
    (2..MAX_NAMES).map(|n| join(folder, &format!("{stem} ({n}){extension}"))).find(|path| {
        !names.contains(path)
            && guard.check(path, access_of(path)).is_ok()
            && matches!(guard.digest(path), Ok(None))
            && names.insert(path.clone())
    })
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder == "." { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Path and what must stand there; `None` for a file that is not to be copied.
fn target_of(file: &PlannedFile, choice: UploadChoice) -> Option<(String, Option<Digest>)> {
    match (&file.taken, choice) {
        (Taken::No, _) => Some((file.path.clone(), None)),
        (Taken::ByFile(digest), UploadChoice::Replace) => Some((file.path.clone(), Some(digest.clone()))),
        (Taken::ByFile(_) | Taken::ByPlan, UploadChoice::KeepBoth) => {
            file.beside.clone().map(|path| (path, None))
        }
        (Taken::ByPlan, UploadChoice::Replace) | (Taken::ByFile(_) | Taken::ByPlan, UploadChoice::Skip) => {
            None
        }
    }
}

fn view_of(file: &PlannedFile) -> UploadFileView {
    let name_of = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
    UploadFileView {
        name: file.name.clone(),
        size: file.size,
        collides: file.refused.is_none() && file.taken != Taken::No,
        replaceable: file.refused.is_none() && matches!(file.taken, Taken::ByFile(_)),
        kept_as: file.beside.as_ref().map(name_of),
        refused: file.refused,
    }
}

/// Tells how far it is, not too often.
struct Meter {
    service: Service,
    progress: UploadProgress,
    told: Option<Instant>,
}

impl Meter {
    fn add(&mut self, count: usize) {
        self.progress.done += count as u64;
        if self.told.is_none_or(|told| told.elapsed() >= TELL) {
            self.told = Some(Instant::now());
            self.service.inner.bus.tell_all(Notice::Upload(Arc::new(self.progress.clone())));
        }
    }
}

/// A reader that counts, and fails once it is to stop.
struct Measured {
    file: OutsideFile,
    stop: CancellationToken,
    meter: Meter,
}

impl Read for Measured {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(std::io::Error::other("stopped by the person"));
        }
        let count = self.file.read(buffer)?;
        self.meter.add(count);
        Ok(count)
    }
}
