//! The data folder: everything that this program keeps, outside every workspace.

use crate::StoreError;
use crate::open::sync_folder;
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

fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
        .create(path)
        .map_err(|source| StoreError::folder(format!("the data folder {}", path.display()), source))
}
