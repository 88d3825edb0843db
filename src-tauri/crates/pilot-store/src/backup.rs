//! Copies of the database: before a migration, on request, and of a damaged file.

use crate::open::{self, Access, Durability, wal_of};
use crate::{DataDir, Store, StoreError, process};
use pilot_types::faults;
use sqlx::{Connection, SqliteConnection};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// True when it is a damaged file that was kept, and not a backup that can be put back.
    pub damaged: bool,
}

/// Writes a whole, checked copy of the database into the backups folder and returns its path.
///
/// # Errors
/// When the copy cannot be written; no half copy stays.
pub async fn make(store: &Store, data: &DataDir) -> Result<PathBuf, StoreError> {
    let mut connection = store.extra_connection().await?;
    let made = copy_into(&mut connection, data, "backup").await;
    connection.close().await?;
    made
}

/// All copies, newest name first.
///
/// # Errors
/// [`StoreError::Folder`] when the folder cannot be listed.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub fn list(data: &DataDir) -> Result<Vec<Backup>, StoreError> {
    let told = |source| StoreError::folder("the backups folder", source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(data.backups()).map_err(told)? {
        let entry = entry.map_err(told)?;
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "sqlite") {
            let damaged = entry.file_name().to_string_lossy().starts_with(DAMAGED);
            found.push(Backup { size: entry.metadata().map_err(told)?.len(), path, damaged });
        }
    }
    found.sort_by(|one, other| other.path.cmp(&one.path));
    Ok(found)
}

/// Puts a backup in the place of the database. The file that was there is kept in the backups folder. Nobody may have
/// the database open.
///
/// # Errors
/// [`StoreError::Locked`] while a process has it open; [`StoreError::Corrupt`] or [`StoreError::Newer`] when the backup
/// itself is damaged, foreign or newer. Then nothing was changed.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub async fn restore(data: &DataDir, backup: &Path) -> Result<(), StoreError> {
    let told = |source| StoreError::folder("the backup", source);
    let locks = lock_alone(data)?;
    let staged = data.database().with_extension("sqlite.restored");
    copy_private(backup, &staged).map_err(told)?;
    if let Err(error) = check_file(&staged).await {
        std::fs::remove_file(&staged).map_err(told)?;
        return Err(error);
    }
    std::fs::File::open(&staged).and_then(|file| file.sync_all()).map_err(told)?;
    put_in_place(data, &staged).await?;
    drop(locks);
    Ok(())
}

/// The locks of a process that is alone with the data.
pub(crate) struct Alone {
    _gate: std::fs::File,
    _presence: std::fs::File,
}

/// # Errors
/// [`StoreError::Locked`] while anybody has the database open or is opening it.
pub(crate) fn lock_alone(data: &DataDir) -> Result<Alone, StoreError> {
    let gate = process::open_lock_file(&data.opening_lock())?;
    let presence = process::open_lock_file(&data.presence_lock())?;
    if !process::try_exclusive(&gate)? || !process::try_exclusive(&presence)? {
        let detail = "close every window and command of this program first";
        return Err(StoreError::Locked { detail: detail.to_owned() });
    }
    Ok(Alone { _gate: gate, _presence: presence })
}

/// Puts a checked and synced database in the place of the one that is there, which is kept in the backups folder;
/// answers where. Killed at any point, the old database with all its commits stands there, or the new one.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub(crate) async fn put_in_place(data: &DataDir, staged: &Path) -> Result<Option<PathBuf>, StoreError> {
    let told = |source| StoreError::folder("the backup", source);
    let database = data.database();
    let kept = if database.exists() || wal_of(&database).exists() {
        // Every commit is in the file before its log goes. A database that is too damaged for that is kept as it is.
        if let Err(error) = fold_log(&database).await {
            tracing::warn!(%error, "the database that is replaced could not be folded");
        }
        let prefix = format!("replaced-{}-", chrono::Utc::now().format("%Y%m%dT%H%M%S%6fZ"));
        Some(keep_as_it_is(data, &prefix)?)
    } else {
        None
    };
    faults::point("restore_kept");
    // The log belongs to the file that goes; beside another file it would be poison.
    match std::fs::remove_file(wal_of(&database)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(told(error)),
        Ok(()) | Err(_) => {}
    }
    faults::point("restore_log_gone");
    std::fs::rename(staged, &database).map_err(told)?;
    open::sync_folder(&database)?;
    Ok(kept)
}

async fn fold_log(database: &Path) -> Result<(), StoreError> {
    let mut connection = open::connect(database, Access::Write, Durability::Full).await?;
    let folded = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await;
    connection.close().await?;
    folded?;
    Ok(())
}

pub(crate) async fn check_file(path: &Path) -> Result<(), StoreError> {
    let mut copy = open::connect(path, Access::Write, Durability::Full).await?;
    let checked = open::check_copy(&mut copy).await;
    copy.close().await?;
    checked
}

/// Copies into a file that only this user can read, whatever the mode of the other.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
fn copy_private(from: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut source = std::fs::File::open(from)?;
    open::private_file(to)?;
    std::io::copy(&mut source, &mut std::fs::OpenOptions::new().write(true).open(to)?)?;
    Ok(())
}

const DAMAGED: &str = "damaged-";

/// Copies the database file and its log into the backups folder as they are. The same damaged file is copied once,
/// however often it is opened.
pub(crate) fn keep_damaged(data: &DataDir) -> Result<PathBuf, StoreError> {
    keep_as_it_is(data, DAMAGED)
}

#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
fn keep_as_it_is(data: &DataDir, prefix: &str) -> Result<PathBuf, StoreError> {
    let told = |source| StoreError::folder("a copy of the database as it is", source);
    let database = data.database();
    let log = wal_of(&database);
    let (seconds, size) = [&database, &log]
        .into_iter()
        .find_map(|path| std::fs::metadata(path).ok())
        .map(|found| (found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()), found.len()))
        .map_or((0, 0), |(at, size)| (at.map_or(0, |at| at.as_secs()), size));
    let kept = data.backups().join(format!("{prefix}{seconds}-{size}.sqlite"));
    for (from, to) in [(&database, kept.clone()), (&log, wal_of(&kept))] {
        if from.exists() && !to.exists() {
            copy_private(from, &to).map_err(told)?;
            std::fs::File::open(&to).and_then(|file| file.sync_all()).map_err(told)?;
        }
    }
    Ok(kept)
}

/// `VACUUM INTO` a new file of the backups folder.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub(crate) async fn copy_into(
    connection: &mut SqliteConnection,
    data: &DataDir,
    reason: &str,
) -> Result<PathBuf, StoreError> {
    let told = |source| StoreError::folder("a backup of the database", source);
    let name = format!(
        "{}-{reason}-{}.sqlite",
        chrono::Utc::now().format("%Y%m%dT%H%M%SZ"),
        uuid::Uuid::now_v7().simple()
    );
    let path = data.backups().join(name);
    let text =
        path.to_str().ok_or_else(|| told(std::io::Error::other("the data folder's name is not UTF-8")))?;
    // SQLite fills an empty file, and leaves its mode alone.
    open::private_file(&path).map_err(told)?;
    if let Err(error) = sqlx::query("VACUUM INTO ?1").bind(text).execute(connection).await {
        let _ = std::fs::remove_file(&path);
        return Err(error.into());
    }
    std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(told)?;
    open::sync_folder(&path)?;
    Ok(path)
}
