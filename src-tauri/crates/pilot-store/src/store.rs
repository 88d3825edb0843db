//! One writer, a few readers, one watcher.

use crate::open::{self, Access, Durability, PATIENCE};
use crate::{DataDir, StoreError};
use futures_util::FutureExt;
use sqlx::{Connection, SqliteConnection};
use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Readers at the same time; more wait.
const READERS: usize = 4;

/// A place for a connection; empty until it is first needed, and again after [`Store::close`].
type Slot = Arc<Mutex<Option<SqliteConnection>>>;
/// A connection that is in use.
type Held = OwnedMappedMutexGuard<Option<SqliteConnection>, SqliteConnection>;

/// The database. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    database: PathBuf,
    durability: Durability,
    closed: AtomicBool,
    writer: Slot,
    readers: Vec<Slot>,
    /// Readers that nobody uses, the one used last on top. Whoever holds a place finds one here.
    idle: std::sync::Mutex<Vec<Slot>>,
    places: Arc<Semaphore>,
    watcher: Slot,
    /// Tells other processes that the database is open here; held, never read.
    _presence: File,
    /// Last, so that the folder goes after everything that lives in it.
    _folder: Option<TemporaryFolder>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("database", &self.inner.database).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the database of a data folder; makes it when there is none. After an unclean end its structure is checked
    /// first; before migrations are applied a backup is made.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Corrupt`] (a copy was kept, nothing was replaced), [`StoreError::Newer`],
    /// or an error of the disk.
    pub async fn open(data: &DataDir) -> Result<Store, StoreError> {
        Self::assemble(data, Durability::Full, None).await
    }

    /// A database that is gone with the last clone: the same code and the same locks on files in memory-backed storage
    /// where the system has it, so that tests and evals see what a person's database would do.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_in_memory() -> Result<Store, StoreError> {
        let folder = TemporaryFolder::new();
        let data = DataDir::open(&folder.path)?;
        Self::assemble(&data, Durability::Volatile, Some(folder)).await
    }

    async fn assemble(
        data: &DataDir,
        durability: Durability,
        folder: Option<TemporaryFolder>,
    ) -> Result<Store, StoreError> {
        let opened = open::open(data, durability).await?;
        let readers: Vec<Slot> = (0..READERS).map(|_| slot(None)).collect();
        let inner = Inner {
            database: data.database(),
            durability,
            closed: AtomicBool::new(false),
            writer: slot(Some(opened.writer)),
            idle: std::sync::Mutex::new(readers.clone()),
            readers,
            places: Arc::new(Semaphore::new(READERS)),
            watcher: slot(None),
            _presence: opened.presence,
            _folder: folder,
        };
        Ok(Store { inner: Arc::new(inner) })
    }

    /// Begins a write transaction (`BEGIN IMMEDIATE`) on the one writer. Others of this process wait in order, other
    /// processes are waited for.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after five seconds.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let connection = self.hold(&self.inner.writer, Access::Write).await?;
        // Before the statement is sent: a caller that gives up while it is on its way must leave nothing locked.
        let mut tx = Tx { connection, open: true, _store: Arc::clone(&self.inner) };
        let begun = match sqlx::query("BEGIN IMMEDIATE").execute(&mut *tx).await {
            // Only after a transaction whose end did not arrive.
            Err(sqlx::Error::Database(error)) if error.message().contains("within a transaction") => {
                sqlx::query("ROLLBACK").execute(&mut *tx).await?;
                sqlx::query("BEGIN IMMEDIATE").execute(&mut *tx).await
            }
            other => other,
        };
        tx.open = begun.is_ok();
        begun?;
        Ok(tx)
    }

    /// A connection that can only read. Each statement sees the newest commit.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when all readers stay in use for five seconds.
    pub async fn read(&self) -> Result<Reader, StoreError> {
        let place = match Arc::clone(&self.inner.places).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => tokio::time::timeout(PATIENCE, Arc::clone(&self.inner.places).acquire_owned())
                .await
                .map_err(|_| StoreError::Locked { detail: "all readers are in use".to_owned() })?
                .map_err(|_| StoreError::Closed)?,
        };
        let slot = self.inner.idle().pop().ok_or(StoreError::Closed)?;
        let borrowed = Borrowed { slot, store: Arc::clone(&self.inner) };
        let guard = Arc::clone(&borrowed.slot).lock_owned().await;
        Ok(Reader { connection: self.fill(guard, Access::Read).await?, _borrowed: borrowed, _place: place })
    }

    /// A number that changes when anybody, in whichever process, has committed. Compare it with the last one; its
    /// value means nothing else.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn data_version(&self) -> Result<i64, StoreError> {
        let mut watcher = self.hold(&self.inner.watcher, Access::Read).await?;
        Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *watcher).await?)
    }

    /// Closes every connection once nobody uses it, so that the log is folded into the file and the next start need
    /// not check. Clones answer with [`StoreError::Closed`] from now on.
    ///
    /// # Errors
    /// When the last write to the file fails; what was committed is safe in the log.
    pub async fn close(self) -> Result<(), StoreError> {
        self.inner.closed.store(true, Ordering::Release);
        // The writer last: the last connection folds the log.
        for slot in self.inner.readers.iter().chain([&self.inner.watcher, &self.inner.writer]) {
            let connection = slot.lock().await.take();
            if let Some(connection) = connection {
                connection.close().await?;
            }
        }
        Ok(())
    }

    /// A connection beside the others, for work that needs one of its own.
    pub(crate) async fn extra_connection(&self) -> Result<SqliteConnection, StoreError> {
        open::connect(&self.inner.database, Access::Write, self.inner.durability).await
    }

    async fn hold(&self, slot: &Slot, access: Access) -> Result<Held, StoreError> {
        let guard = match Arc::clone(slot).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => tokio::time::timeout(2 * PATIENCE, Arc::clone(slot).lock_owned())
                .await
                .map_err(|_| StoreError::Locked { detail: "this process is still writing".to_owned() })?,
        };
        self.fill(guard, access).await
    }

    async fn fill(
        &self,
        mut guard: OwnedMutexGuard<Option<SqliteConnection>>,
        access: Access,
    ) -> Result<Held, StoreError> {
        if self.inner.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        if guard.is_none() {
            *guard = Some(open::connect(&self.inner.database, access, self.inner.durability).await?);
        }
        OwnedMutexGuard::try_map(guard, Option::as_mut).map_err(|_| StoreError::Closed)
    }
}

impl Inner {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn slot(connection: Option<SqliteConnection>) -> Slot {
    Arc::new(Mutex::new(connection))
}

/// A write transaction. Dropped without [`Tx::commit`] it is rolled back.
pub struct Tx {
    connection: Held,
    open: bool,
    /// Keeps the locks and the folder for as long as it is at work.
    _store: Arc<Inner>,
}

impl Tx {
    /// Makes everything in it durable. When this returns `Ok`, it survives kill -9 and a power cut.
    ///
    /// # Errors
    /// When it could not be made durable; then nothing of it happened.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        sqlx::query("COMMIT").execute(&mut *self.connection).await?;
        self.open = false;
        Ok(())
    }

    /// Takes everything back, and returns once that is done.
    ///
    /// # Errors
    /// When the connection is broken; the transaction is gone all the same.
    pub async fn rollback(mut self) -> Result<(), StoreError> {
        sqlx::query("ROLLBACK").execute(&mut *self.connection).await?;
        self.open = false;
        Ok(())
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.open {
            // The first poll hands the statement to the connection's own thread, which runs its work in order; nobody
            // waits for the answer. `Store::begin` copes should it ever not have arrived. sqlx's own transaction type
            // is not used because it loses count when SQLite itself rolled back, as it does on a full disk.
            let _ = sqlx::query("ROLLBACK").execute(&mut *self.connection).now_or_never();
        }
    }
}

impl Deref for Tx {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("open", &self.open).finish_non_exhaustive()
    }
}

/// A connection that can only read; given back when dropped.
pub struct Reader {
    // In this order: let go of the connection, put it back, free the place.
    connection: Held,
    _borrowed: Borrowed,
    _place: OwnedSemaphorePermit,
}

/// A reader's slot away from the idle ones; put back when dropped, also by a caller that gave up.
struct Borrowed {
    slot: Slot,
    store: Arc<Inner>,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.store.idle().push(Arc::clone(&self.slot));
    }
}

impl Deref for Reader {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// A folder of its own that goes when this value does.
struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self { path: parent.join(format!("pocketpilot-{}", uuid::Uuid::now_v7().simple())) }
    }
}

impl Drop for TemporaryFolder {
    #[expect(clippy::disallowed_methods, reason = "this crate made the folder")]
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::debug!(%error, "a temporary folder stays");
        }
    }
}
