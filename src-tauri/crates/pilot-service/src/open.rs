//! Opening the service on a data folder.

use crate::automations::WebhookState;
use crate::bus::{Bus, Notice};
use crate::error::ServiceError;
use crate::keys::Keys;
use crate::mcp::McpOptions;
use crate::provider_setup::Probing;
use pilot_agent::Clock;
use pilot_guard::{UndoLimits, UndoStore};
use pilot_store::{DataDir, ProcessLock, Role, Store, Tx, events};
use pilot_tools::{Extraction, WorkerCommand, WorkerLimits};
use pilot_types::{ErrorCode, Event, EventRecord, ProcessId, Source, TaskId, WorkspaceId};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

/// How many tasks may run at a time over all workspaces.
pub(crate) const MAX_RUNNING: u32 = 4;

/// How to open.
pub struct OpenOptions {
    /// Data folder; made if it is not there.
    pub data_dir: PathBuf,
    /// The person's home folder, which can never be a workspace.
    pub home: Option<PathBuf>,
    /// True for the window and `pilot serve`: takes over tasks whose process is gone.
    pub takes_over: bool,
    /// Program that reads documents in a limited child process; normally this very program.
    pub worker: WorkerCommand,
    /// Folder of more skills (`POCKETPILOT_SKILLS_DIR`).
    pub skills_dir: Option<PathBuf>,
    /// True when the person's language is Chinese: prompt language and encoding guesses.
    pub chinese: bool,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys; normally the system's keyring.
    pub keys: Keys,
    /// Environment of the `env` provider: base URL, model, key.
    pub environment: EnvironmentProvider,
    /// Where servers on this computer are looked for, and how long one is tried.
    pub probing: Probing,
    /// Outside programs.
    pub mcp: McpOptions,
    /// Keep everything in memory, for the evals.
    pub in_memory: bool,
    /// Name and capability of tools that do nothing but say that they were run, for the safety check. Empty otherwise.
    pub traps: Vec<(String, String)>,
}

/// The provider that the environment describes.
#[derive(Clone, Default)]
pub struct EnvironmentProvider {
    /// `POCKETPILOT_BASE_URL`.
    pub base_url: Option<String>,
    /// `POCKETPILOT_MODEL`.
    pub model: Option<String>,
    /// `POCKETPILOT_API_KEY`.
    pub key: Option<secrecy::SecretString>,
}

impl EnvironmentProvider {
    /// Reads the three variables.
    #[must_use]
    pub fn from_process() -> Self {
        let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            base_url: var("POCKETPILOT_BASE_URL"),
            model: var("POCKETPILOT_MODEL"),
            key: var("POCKETPILOT_API_KEY").map(secrecy::SecretString::from),
        }
    }
}

impl OpenOptions {
    /// Options for a process of this product on `data_dir`: own program as worker, system clock, system keyring.
    ///
    /// # Errors
    /// When the path of the running program cannot be found.
    pub fn new(data_dir: impl Into<PathBuf>) -> Result<Self, ServiceError> {
        Ok(Self {
            data_dir: data_dir.into(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            takes_over: false,
            worker: WorkerCommand::this_program().map_err(|error| {
                ServiceError::new(ErrorCode::Internal, format!("own program not found: {error}"))
            })?,
            skills_dir: std::env::var_os("POCKETPILOT_SKILLS_DIR").map(PathBuf::from),
            chinese: false,
            clock: Arc::new(pilot_agent::SystemClock::default()),
            keys: Keys::system(),
            environment: EnvironmentProvider::from_process(),
            probing: Probing::default(),
            mcp: McpOptions::from_process()?,
            in_memory: false,
            traps: Vec::new(),
        })
    }
}

/// For each workspace: when its files were counted, how many there are, and whether there are more.
pub(crate) type Counted = HashMap<WorkspaceId, (Duration, (u64, bool))>;

pub(crate) struct Inner {
    pub(crate) data: DataDir,
    pub(crate) store: Store,
    pub(crate) bus: Bus,
    pub(crate) undo: Arc<UndoStore>,
    pub(crate) extraction: Arc<Extraction>,
    pub(crate) keys: Keys,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) environment: EnvironmentProvider,
    pub(crate) probing: Probing,
    pub(crate) mcp: McpOptions,
    pub(crate) traps: Vec<(String, String)>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) skills_dir: Option<PathBuf>,
    pub(crate) chinese: std::sync::atomic::AtomicBool,
    pub(crate) process: ProcessId,
    /// Held for the life of the process; other processes see by it that this one lives, and whether it is the owner.
    pub(crate) lock: Mutex<ProcessLock>,
    /// Stops of the tasks that run in this process.
    pub(crate) running: Mutex<HashMap<TaskId, CancellationToken>>,
    /// Files of each workspace.
    pub(crate) counted: Mutex<Counted>,
    /// What is known of the disk right now.
    pub(crate) disk: crate::disk::Disk,
    /// Files that the person is about to add.
    pub(crate) uploads: crate::uploads::Uploads,
    /// Wakes the runner.
    pub(crate) work: Notify,
    /// Wakes whoever runs schedules and webhook.
    pub(crate) automations: Notify,
    /// What the webhook of this process does.
    pub(crate) webhook: tokio::sync::watch::Sender<WebhookState>,
    /// Wakes who lets go of what is old.
    pub(crate) aged: Notify,
    /// Secret of this process; a nonce made with it proves that a card was shown by it.
    pub(crate) nonce_key: String,
    /// One decision at a time in this process; the database decides between processes.
    pub(crate) deciding: tokio::sync::Mutex<()>,
}

/// The service. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Service {
    pub(crate) inner: Arc<Inner>,
}

impl Service {
    /// Opens the data folder, takes the owner's lock if it is free, and then settles what dead processes left.
    ///
    /// # Errors
    /// The database is locked, damaged or newer; the folder cannot be made.
    pub async fn open(options: OpenOptions) -> Result<Self, ServiceError> {
        let data = DataDir::open(&options.data_dir)?;
        let restored = crate::backup::restore_confirmed(&data).await?;
        let lock = ProcessLock::acquire(&data)?;
        let store =
            if options.in_memory { Store::open_in_memory().await? } else { Store::open(&data).await? };
        let last = events::last_position(&mut *store.read().await?).await?;
        let undo = UndoStore::open(&data.undo(), undo_limits(&store).await?)?;
        let extraction = Extraction::new(options.worker, WorkerLimits::default());
        let service = Self {
            inner: Arc::new(Inner {
                bus: Bus::new(last),
                undo: Arc::new(undo),
                extraction: Arc::new(extraction),
                keys: options.keys,
                clock: options.clock,
                environment: options.environment,
                probing: options.probing,
                mcp: options.mcp,
                traps: options.traps,
                home: options.home,
                skills_dir: options.skills_dir,
                chinese: options.chinese.into(),
                process: lock.id().clone(),
                lock: Mutex::new(lock),
                running: Mutex::new(HashMap::new()),
                counted: Mutex::new(HashMap::new()),
                disk: crate::disk::Disk::default(),
                uploads: crate::uploads::Uploads::default(),
                work: Notify::new(),
                automations: Notify::new(),
                webhook: tokio::sync::watch::Sender::new(WebhookState::Off),
                aged: Notify::new(),
                nonce_key: ProcessId::new().to_string(),
                deciding: tokio::sync::Mutex::new(()),
                store,
                data,
            }),
        };
        if restored {
            service.record_operator("data_restored", None, None).await?;
        }
        if service.is_owner() {
            service.recover(options.takes_over).await?;
            pilot_store::archive::forget_staged(&service.inner.data);
            service.prune_undo();
        }
        Ok(service)
    }

    /// Everything that is told from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Notice> {
        self.inner.bus.subscribe()
    }

    /// True when this process owns the data folder.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        self.lock().role() == Role::Owner
    }

    /// Takes the owner's place when it is free, and then settles what dead processes left. True when this process is
    /// the owner afterwards.
    pub(crate) async fn become_owner(&self) -> Result<bool, ServiceError> {
        let (was, is) = {
            let mut lock = self.lock();
            (lock.role() == Role::Owner, lock.try_become_owner())
        };
        if is && !was {
            tracing::info!("this process is now the owner of the data folder");
            self.recover(true).await?;
        }
        Ok(is)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProcessLock> {
        self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The data folder.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.inner.data.root()
    }

    /// Where logs go.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.inner.data.logs()
    }

    /// Says which language the person uses, for prompts and encoding guesses.
    pub fn set_chinese(&self, chinese: bool) {
        self.inner.chinese.store(chinese, std::sync::atomic::Ordering::Relaxed);
    }

    pub(crate) fn chinese(&self) -> bool {
        self.inner.chinese.load(std::sync::atomic::Ordering::Relaxed)
    }

    pub(crate) fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.inner.clock.now()
    }

    pub(crate) fn running(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, CancellationToken>> {
        self.inner.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn begin(&self) -> Result<Tx, ServiceError> {
        Ok(self.inner.store.begin().await?)
    }

    /// Appends events within a transaction that the caller commits.
    pub(crate) async fn append(
        &self,
        tx: &mut Tx,
        task: Option<&TaskId>,
        source: Source,
        list: &[Event],
    ) -> Result<Vec<EventRecord>, ServiceError> {
        Ok(events::append(&mut *tx, task, source, self.now(), list).await?)
    }

    /// Commits, and only then tells.
    pub(crate) async fn commit(&self, tx: Tx, records: Vec<EventRecord>) -> Result<(), ServiceError> {
        tx.commit().await?;
        self.inner.bus.committed(records);
        Ok(())
    }

    /// Records one act of the person that belongs to no task.
    pub(crate) async fn record_operator(
        &self,
        action: &str,
        workspace: Option<&WorkspaceId>,
        subject: Option<&str>,
    ) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        let event = Event::OperatorActed {
            action: action.to_owned(),
            workspace: workspace.cloned(),
            subject: subject.map(str::to_owned),
        };
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await
    }

    /// Closes the database cleanly. Running tasks should have been stopped or will be found as interrupted.
    pub async fn close(self) {
        if let Err(error) = self.inner.store.clone().close().await {
            tracing::warn!(%error, "the database was not closed cleanly");
        }
    }
}

/// What the person's settings say about replaced bytes.
async fn undo_limits(store: &Store) -> Result<UndoLimits, ServiceError> {
    let settings = crate::settings::stored(&mut *store.read().await?).await?;
    Ok(UndoLimits { days: settings.undo_days, bytes: settings.undo_bytes })
}

/// Where data lies when nothing else is said: `POCKETPILOT_DATA_DIR`, else the system's place for application data.
#[must_use]
pub fn default_data_dir() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = var("POCKETPILOT_DATA_DIR") {
        return Some(named);
    }
    if cfg!(target_os = "windows") {
        return var("LOCALAPPDATA").map(|folder| folder.join("PocketPilot"));
    }
    if cfg!(target_os = "macos") {
        return var("HOME").map(|home| home.join("Library/Application Support/PocketPilot"));
    }
    var("XDG_DATA_HOME")
        .or_else(|| var("HOME").map(|home| home.join(".local/share")))
        .map(|folder| folder.join("pocketpilot"))
}
