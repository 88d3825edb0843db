//! Who else is at work on this data folder.
//!
//! A process is alive while it holds an advisory lock on its own file, and for no other reason: the system drops the
//! lock when the process ends, however it ends, and a number that is used again by another program proves nothing.

use crate::{DataDir, StoreError};
use pilot_types::ProcessId;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// What a process may do on the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs schedules, webhook and recovery. One at a time.
    Owner,
    /// Does its own work only.
    Guest,
}

/// This process on this data folder. Dropping it ends its life in the eyes of the others.
#[derive(Debug)]
pub struct ProcessLock {
    id: ProcessId,
    role: Role,
    path: PathBuf,
    owner: File,
    /// Held, never read: closing it gives the lock back.
    _own: File,
}

impl ProcessLock {
    /// Makes this process known, as owner when the place is free.
    ///
    /// # Errors
    /// [`StoreError::Folder`] when the lock files cannot be made.
    pub fn acquire(data: &DataDir) -> Result<Self, StoreError> {
        let id = ProcessId::new();
        let (path, own) = make_own_lock(data, &id)?;
        let owner = open_lock_file(&data.owner_lock())?;
        let role = if try_exclusive(&owner)? { Role::Owner } else { Role::Guest };
        if role == Role::Owner {
            sweep(data);
        }
        Ok(Self { id, role, path, owner, _own: own })
    }

    /// Its id, as it stands in the rows that it works on.
    #[must_use]
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// What it may do.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Takes the owner's place when it is free. True when this process is the owner afterwards.
    pub fn try_become_owner(&mut self) -> bool {
        if self.role == Role::Guest && try_exclusive(&self.owner).unwrap_or(false) {
            self.role = Role::Owner;
        }
        self.role == Role::Owner
    }
}

impl Drop for ProcessLock {
    #[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
    fn drop(&mut self) {
        // A missing file means dead, and so it is: nothing of this process goes on without its lock.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the liveness lock was gone already");
        }
    }
}

/// True while the process holds its liveness lock. A free lock or a missing file means that it is dead; a lock that
/// cannot be looked at counts as alive, so that nobody's work is taken over by mistake.
#[must_use]
pub fn process_alive(data: &DataDir, id: &ProcessId) -> bool {
    let Some(path) = lock_path(data, id) else { return false };
    is_held(&path)
}

/// True while any process but this one holds a liveness lock on the data folder. What cannot be looked at counts.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub fn others_alive(data: &DataDir, own: &ProcessId) -> bool {
    let Ok(entries) = std::fs::read_dir(data.locks()) else { return true };
    let own = lock_path(data, own);
    entries.flatten().map(|entry| entry.path()).any(|path| {
        path.extension().is_some_and(|extension| extension == "lock")
            && own.as_ref() != Some(&path)
            && is_held(&path)
    })
}

/// True while somebody holds the lock of this file exclusively.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => {
            // Shared, so that two processes that look at the same moment do not take each other for the holder.
            match file.try_lock_shared() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(%error, "a liveness lock could not be looked at");
                    true
                }
            }
        }
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// `None` for an id that is no plain name; ids come from the database, and a damaged one must not name another file.
fn lock_path(data: &DataDir, id: &ProcessId) -> Option<PathBuf> {
    let text = id.as_str();
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plain.then(|| data.locks().join(format!("{text}.lock")))
}

/// The lock is taken under another name and only then put in its place: a file named `.lock` is at no moment both
/// alive and free, so that [`sweep`] of another process cannot remove it between the two steps.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
fn make_own_lock(data: &DataDir, id: &ProcessId) -> Result<(PathBuf, File), StoreError> {
    let told = |source| StoreError::folder("the liveness lock", source);
    let path = data.locks().join(format!("{id}.lock"));
    let staged = data.locks().join(format!("{id}.new"));
    let file = OpenOptions::new().write(true).create_new(true).open(&staged).map_err(told)?;
    if !try_exclusive(&file)? {
        return Err(told(std::io::Error::other("a new lock file is locked by somebody else")));
    }
    std::fs::rename(&staged, &path).map_err(told)?;
    Ok((path, file))
}

#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub(crate) fn open_lock_file(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|source| StoreError::folder(format!("the lock {}", path.display()), source))
}

/// True when the lock was free and is now held.
pub(crate) fn try_exclusive(file: &File) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(StoreError::folder("a lock in the data folder", source)),
    }
}

/// Removes what dead processes left. Failing changes nothing: a file that stays is looked at again next time.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
fn sweep(data: &DataDir) {
    let Ok(entries) = std::fs::read_dir(data.locks()) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "lock") && !is_held(&path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}
