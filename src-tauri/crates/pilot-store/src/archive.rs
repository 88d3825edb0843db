//! The application's data as one file that a person keeps: written whole or not at all, and put back whole or not at all.
//!
//! Putting back has three steps, so that a kill between any two leaves the old data or the new: [`stage`] unpacks and
//! checks beside the data, [`confirm`] is the decision (one rename), and [`apply`] puts the staged database in the place
//! of the old one, which is kept in the backups folder. [`apply`] runs before the database is opened and does nothing
//! where nothing was confirmed. Keys are not in the archive: they never are in the database.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate owns the data folder; the person named the archive"
)]

use crate::open::{self, Access, Durability};
use crate::{DataDir, Store, StoreError, backup, process};
use chrono::{DateTime, Utc};
use pilot_types::faults;
use serde::{Deserialize, Serialize};
use sqlx::{Connection, SqliteConnection};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const PRODUCT: &str = "pocketpilot";
const FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "pocketpilot.sqlite";
const UNDO: &str = "undo/";
/// Bytes of the manifest at most.
const MANIFEST_LIMIT: u64 = 64 * 1024;
/// Copies of the database that a process died over are removed when they are older than this.
const STALE_COPY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// What an archive says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFacts {
    /// Always `pocketpilot`.
    pub product: String,
    /// Form of the archive; this version writes and reads 1.
    pub format: u32,
    /// Version of the program that made it.
    pub version: String,
    /// Schema of its database.
    pub schema: i64,
    /// When it was made.
    pub made_at: DateTime<Utc>,
    /// Bytes of its database.
    pub database_bytes: u64,
    /// Tasks in it.
    pub tasks: u64,
    /// Replaced contents in it; 0 when they were left out.
    pub undo_entries: u64,
}

/// How an archive is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveOptions {
    /// Version of the program.
    pub version: String,
    /// Now.
    pub made_at: DateTime<Utc>,
    /// Take the replaced contents along.
    pub undo: bool,
    /// The person's own dialog asked whether a file that is there may be replaced.
    pub replace: bool,
}

/// Writes an archive of everything that is committed now.
///
/// # Errors
/// [`StoreError::Duplicate`] when a file of that name is there and may not be replaced; [`StoreError::Locked`] while an
/// approved call is being carried out; an error of the disk. No half archive stays.
pub async fn write(
    store: &Store,
    data: &DataDir,
    to: &Path,
    options: &ArchiveOptions,
) -> Result<ArchiveFacts, StoreError> {
    if !options.replace && to.symlink_metadata().is_ok() {
        return Err(taken(to));
    }
    sweep_copies(data);
    let copy = Removed(data.scratch().join(format!("backup-{}.sqlite", uuid::Uuid::now_v7().simple())));
    let (schema, tasks) = copy_database(store, &copy.0).await?;
    let (undo, to, options) = (data.undo(), to.to_path_buf(), options.clone());
    off_runtime(move || {
        let undo = if options.undo { undo_contents(&undo)? } else { Vec::new() };
        let facts = ArchiveFacts {
            product: PRODUCT.to_owned(),
            format: FORMAT,
            version: options.version.clone(),
            schema,
            made_at: options.made_at,
            database_bytes: std::fs::metadata(&copy.0).map_err(told)?.len(),
            tasks,
            undo_entries: undo.len() as u64,
        };
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        let temp = Removed(to.with_file_name(format!(".{name}.{}.tmp", uuid::Uuid::now_v7().simple())));
        pack(&temp.0, &facts, &copy.0, &undo).map_err(told)?;
        faults::point("backup_packed");
        put(&temp.0, &to, options.replace)?;
        Ok(facts)
    })
    .await
}

/// `VACUUM INTO` a file of its own, and a look whether it may be kept. Answers schema and number of tasks.
async fn copy_database(store: &Store, to: &Path) -> Result<(i64, u64), StoreError> {
    let text = to.to_str().ok_or_else(|| told(io::Error::other("the data folder's name is not UTF-8")))?;
    // SQLite fills an empty file, and leaves its mode alone.
    open::private_file(to).map_err(told)?;
    let mut connection = store.extra_connection().await?;
    let copied = sqlx::query("VACUUM INTO ?1").bind(text).execute(&mut connection).await;
    connection.close().await?;
    copied?;
    let mut copy = open::connect(to, Access::Read, Durability::Full).await?;
    let facts = facts_of(&mut copy).await;
    copy.close().await?;
    let (schema, tasks, open) = facts?;
    if open > 0 {
        // Put back after the person took that write back, it would be carried out a second time.
        let detail = "an approved call is being carried out; try again in a moment";
        return Err(StoreError::Locked { detail: detail.to_owned() });
    }
    Ok((schema, tasks.unsigned_abs()))
}

async fn facts_of(copy: &mut SqliteConnection) -> Result<(i64, i64, i64), StoreError> {
    Ok(sqlx::query_as(
        "SELECT (SELECT max(version) FROM _sqlx_migrations WHERE success), (SELECT count(*) FROM tasks),
                (SELECT count(*) FROM executions WHERE outcome IS NULL)",
    )
    .fetch_one(copy)
    .await?)
}

fn undo_contents(folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_content(&name) {
            found.push((name, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// `<64 hexadecimal digits>.zst`
fn is_content(name: &str) -> bool {
    name.strip_suffix(".zst").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

fn pack(to: &Path, facts: &ArchiveFacts, database: &Path, undo: &[(String, PathBuf)]) -> io::Result<()> {
    open::private_file(to)?;
    let mut zip = ZipWriter::new(OpenOptions::new().write(true).open(to)?);
    let packed =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    let stored = packed.compression_method(CompressionMethod::Stored);
    zip.start_file(MANIFEST, packed)?;
    zip.write_all(&serde_json::to_vec_pretty(facts)?)?;
    zip.start_file(DATABASE, packed)?;
    io::copy(&mut File::open(database)?, &mut zip)?;
    for (name, path) in undo {
        zip.start_file(format!("{UNDO}{name}"), stored)?;
        io::copy(&mut File::open(path)?, &mut zip)?;
    }
    zip.finish()?.sync_all()
}

/// Gives the finished file its name; over a file that is there only where that was asked for.
fn put(temp: &Path, to: &Path, replace: bool) -> Result<(), StoreError> {
    if replace {
        std::fs::rename(temp, to).map_err(told)?;
    } else {
        match std::fs::hard_link(temp, to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(to)),
            // A disk without second names. Somebody could take the name in between; nobody is asked to.
            Err(_) if to.symlink_metadata().is_ok() => return Err(taken(to)),
            Err(_) => std::fs::rename(temp, to).map_err(told)?,
        }
    }
    open::sync_folder(to)
}

fn taken(to: &Path) -> StoreError {
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    StoreError::Duplicate { detail: format!("{name} is there already") }
}

/// Unpacks an archive beside the data and checks it. Nothing changes for anybody until [`confirm`].
///
/// # Errors
/// [`StoreError::Archive`] for anything that is no whole archive of this program, [`StoreError::Newer`] for one of a newer
/// version, or an error of the disk.
pub async fn stage(data: &DataDir, from: &Path) -> Result<ArchiveFacts, StoreError> {
    discard(data)?;
    let (folder, from) = (data.restore_staged(), from.to_path_buf());
    let unpacked = folder.clone();
    let facts = off_runtime(move || unpack(&from, &unpacked)).await;
    let checked = match facts {
        Ok(facts) => match backup::check_file(&folder.join(DATABASE)).await {
            Ok(()) => Ok(facts),
            Err(StoreError::Corrupt { detail, .. }) => Err(StoreError::Archive { detail }),
            Err(other) => Err(other),
        },
        Err(error) => Err(error),
    };
    if checked.is_err() {
        discard(data)?;
    }
    checked
}

fn unpack(from: &Path, to: &Path) -> Result<ArchiveFacts, StoreError> {
    let mut zip = ZipArchive::new(File::open(from).map_err(told)?).map_err(|error| bad(error.into()))?;
    let facts: ArchiveFacts = {
        let entry = zip.by_name(MANIFEST).map_err(|_| archive("it has no manifest of this program"))?;
        let mut text = Vec::new();
        entry.take(MANIFEST_LIMIT).read_to_end(&mut text).map_err(bad)?;
        serde_json::from_slice(&text).map_err(|_| archive("its manifest cannot be read"))?
    };
    if facts.product != PRODUCT {
        return Err(archive("it is of another program"));
    }
    if facts.format > FORMAT {
        return Err(StoreError::Newer { found: facts.format.into(), known: FORMAT.into() });
    }
    open::private_folder(&to.join(UNDO)).map_err(told)?;
    let (mut databases, mut contents) = (0, 0);
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(|error| bad(error.into()))?;
        let name = entry.name().map_err(|error| bad(error.into()))?.into_owned();
        let content = name.strip_prefix(UNDO).filter(|name| is_content(name)).map(str::to_owned);
        let limit = entry.size();
        match content {
            _ if name == MANIFEST => {}
            _ if name == DATABASE && limit == facts.database_bytes => {
                databases += 1;
                copy_entry(entry, &to.join(DATABASE), limit)?;
            }
            // Stored as it is, so that nothing unpacks to more than the archive itself.
            Some(content) if entry.compression() == CompressionMethod::Stored => {
                contents += 1;
                copy_entry(entry, &to.join(UNDO).join(content), limit)?;
            }
            Some(_) | None => return Err(archive("it holds something that does not belong there")),
        }
    }
    if databases != 1 || contents != facts.undo_entries {
        return Err(archive("something of it is missing"));
    }
    Ok(facts)
}

fn copy_entry(entry: impl Read, to: &Path, limit: u64) -> Result<(), StoreError> {
    open::private_file(to).map_err(told)?;
    let mut file = OpenOptions::new().write(true).open(to).map_err(told)?;
    let copied = io::copy(&mut entry.take(limit.saturating_add(1)), &mut file).map_err(bad)?;
    if copied != limit {
        return Err(archive("a part of it has another size than it says"));
    }
    file.sync_all().map_err(told)
}

/// Decides that what was staged is put back the next time that the data is opened. True when something was staged.
///
/// # Errors
/// An error of the disk; then nothing was decided.
pub fn confirm(data: &DataDir) -> Result<bool, StoreError> {
    if !data.restore_staged().join(DATABASE).is_file() {
        return Ok(false);
    }
    open::sync_folder(&data.restore_staged().join(DATABASE))?;
    std::fs::rename(data.restore_staged(), data.restore_confirmed()).map_err(told)?;
    open::sync_folder(&data.restore_confirmed())?;
    faults::point("restore_confirmed");
    Ok(true)
}

/// Forgets what was staged or confirmed.
///
/// # Errors
/// An error of the disk.
pub fn discard(data: &DataDir) -> Result<(), StoreError> {
    for folder in [data.restore_staged(), data.restore_confirmed()] {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(told(error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Puts back what was confirmed. `None` when nothing was; otherwise where the data that was there is kept, if there was
/// any. Nobody may have the database open.
///
/// # Errors
/// [`StoreError::Locked`] while another process has it open: nothing changed, and it is still confirmed.
pub async fn apply(data: &DataDir) -> Result<Option<Option<PathBuf>>, StoreError> {
    let confirmed = data.restore_confirmed();
    if !confirmed.is_dir() {
        return Ok(None);
    }
    let locks = backup::lock_alone(data)?;
    let kept = match confirmed.join(DATABASE) {
        // A kill after the last rename: all that is left to do is to clean up.
        staged if !staged.is_file() => None,
        staged => {
            take_contents(&confirmed.join(UNDO), &data.undo())?;
            faults::point("restore_contents");
            backup::put_in_place(data, &staged).await?
        }
    };
    faults::point("restore_placed");
    discard(data)?;
    drop(locks);
    Ok(Some(kept))
}

/// Contents are named by what they hold: those that are here already are the same.
fn take_contents(from: &Path, to: &Path) -> Result<(), StoreError> {
    for (name, path) in undo_contents(from)? {
        let place = to.join(name);
        if !place.exists() {
            std::fs::rename(path, place).map_err(told)?;
        }
    }
    open::sync_folder(&to.join(UNDO))
}

/// True when no process has the database open at this moment.
///
/// # Errors
/// The locks cannot be looked at.
pub fn is_free(data: &DataDir) -> Result<bool, StoreError> {
    let presence = process::open_lock_file(&data.presence_lock())?;
    process::try_exclusive(&presence)
}

/// Removes a backup that somebody looked at and never decided about.
pub fn forget_staged(data: &DataDir) {
    if let Err(error) = std::fs::remove_dir_all(data.restore_staged())
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "a backup that was only looked at could not be removed");
    }
}

/// Removes copies of the database that a process died over.
fn sweep_copies(data: &DataDir) {
    let Ok(entries) = std::fs::read_dir(data.scratch()) else { return };
    for entry in entries.flatten() {
        let old = entry.metadata().and_then(|found| found.modified()).is_ok_and(|at| {
            std::time::SystemTime::now().duration_since(at).is_ok_and(|age| age > STALE_COPY)
        });
        if old && entry.file_name().to_string_lossy().starts_with("backup-") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file that goes when this value does, unless it is gone already.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn off_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(told(io::Error::other(error))),
    }
}

fn told(source: io::Error) -> StoreError {
    StoreError::folder("the backup", source)
}

fn archive(detail: &str) -> StoreError {
    StoreError::Archive { detail: detail.to_owned() }
}

/// An error while reading the archive: damage, or the disk.
fn bad(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::Other
        | io::ErrorKind::Unsupported => StoreError::Archive { detail: error.to_string() },
        // `ErrorKind` is open; all the rest is the disk's.
        _ => told(error),
    }
}
