//! The data folder: everything that this program keeps, outside every workspace.

use crate::StoreError;
use crate::open::{private_folder, sync_folder};
use std::path::{Path, PathBuf};

/// The data folder of one installation. Its sub-folders exist once this value does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// Opens the folder; makes it, and its sub-folders, with access for this user only (mode 0700). The mode of a
    /// folder that is there already is left alone: it is the person's.
    ///
    /// # Errors
    /// [`StoreError::Folder`] when it cannot be made or is not a folder.
    #[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let fresh = !path.exists();
        make_private(path)?;
        let root = std::fs::canonicalize(path)
            .map_err(|source| StoreError::folder(format!("the data folder {}", path.display()), source))?;
        let data = Self { root };
        for folder in [data.locks(), data.undo(), data.logs(), data.backups(), data.scratch()] {
            make_private(&folder)?;
        }
        if fresh {
            sync_folder(&data.root)?;
        }
        Ok(data)
    }

    /// The folder itself, with every link resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("pocketpilot.sqlite")
    }

    /// Liveness locks of the processes.
    #[must_use]
    pub fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }

    /// Bytes that writes replaced.
    #[must_use]
    pub fn undo(&self) -> PathBuf {
        self.root.join("undo")
    }

    /// Logs of the program.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Copies of the database: made before a migration, on request, or of a damaged file.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    /// Short-lived files of child processes.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    /// A backup that was unpacked and checked, and that nobody has decided about.
    pub(crate) fn restore_staged(&self) -> PathBuf {
        self.root.join("restore.staged")
    }

    /// A backup that is put back the next time that the data is opened.
    pub(crate) fn restore_confirmed(&self) -> PathBuf {
        self.root.join("restore.confirmed")
    }

    /// Lock of the process that runs schedules, webhook and recovery.
    pub(crate) fn owner_lock(&self) -> PathBuf {
        self.root.join("owner.lock")
    }

    /// Held while a process opens the database.
    pub(crate) fn opening_lock(&self) -> PathBuf {
        self.root.join("opening.lock")
    }

    /// Held, shared, by every process that has the database open.
    pub(crate) fn presence_lock(&self) -> PathBuf {
        self.root.join("database.lock")
    }
}

/// A log of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The file.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: std::time::SystemTime,
}

#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
impl DataDir {
    /// The logs, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Folder`] when they cannot be listed.
    pub fn log_files(&self) -> Result<Vec<LogFile>, StoreError> {
        let told = |source| StoreError::folder("the logs", source);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.logs()).map_err(told)? {
            let entry = entry.map_err(told)?;
            // The program that rotates them may have removed it since.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_file() {
                let modified = meta.modified().map_err(told)?;
                found.push(LogFile { path: entry.path(), size: meta.len(), modified });
            }
        }
        found.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
        Ok(found)
    }

    /// Removes the logs that were last written before a time, or all of them. The newest may be in use: where all go it is
    /// emptied, and by age it stays. Answers how many were removed or emptied.
    ///
    /// # Errors
    /// [`StoreError::Folder`] when one cannot be removed.
    pub fn remove_logs(&self, before: Option<chrono::DateTime<chrono::Utc>>) -> Result<u64, StoreError> {
        let told = |source| StoreError::folder("a log", source);
        let mut logs = self.log_files()?;
        let newest = logs.pop();
        let mut removed = 0;
        for log in logs {
            if before.is_none_or(|before| chrono::DateTime::<chrono::Utc>::from(log.modified) < before) {
                std::fs::remove_file(log.path).map_err(told)?;
                removed += 1;
            }
        }
        if let (Some(log), None) = (newest, before) {
            std::fs::OpenOptions::new().write(true).truncate(true).open(log.path).map_err(told)?;
            removed += 1;
        }
        Ok(removed)
    }
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    private_folder(path)
        .map_err(|source| StoreError::folder(format!("the data folder {}", path.display()), source))
}
