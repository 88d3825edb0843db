//! What can go wrong with the store.

use pilot_types::ErrorCode;
use std::path::PathBuf;

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process kept the database for longer than the five seconds that are waited.
    #[error("the database is in use by another process: {detail}")]
    Locked {
        /// Words for the log.
        detail: String,
    },
    /// The database is damaged. It was not replaced.
    #[error("the database is damaged ({detail}); {}", kept_words(kept.as_ref()))]
    Corrupt {
        /// Words for the log.
        detail: String,
        /// Copy of the damaged file, when one was made.
        kept: Option<PathBuf>,
    },
    /// The database was made by a newer version of this program.
    #[error(
        "the database has schema {found}, this version knows up to {known}; use the newer version of the program"
    )]
    Newer {
        /// Schema of the database.
        found: i64,
        /// Newest schema that this version knows.
        known: i64,
    },
    /// A file that was to be put back is no whole backup of this program. Nothing was changed.
    #[error("this is no whole backup of this program: {detail}")]
    Archive {
        /// Words for the log.
        detail: String,
    },
    /// A row holds something that this version cannot read.
    #[error("{table}.{column} cannot be read: {detail}")]
    Unreadable {
        /// Table.
        table: &'static str,
        /// Column.
        column: &'static str,
        /// Words for the log; never the content.
        detail: String,
    },
    /// A row with this identity is there already.
    #[error("already there: {detail}")]
    Duplicate {
        /// Words for the log.
        detail: String,
    },
    /// No space left.
    #[error("no space left for the database: {detail}")]
    Full {
        /// Words for the log.
        detail: String,
    },
    /// The database or its folder may only be read.
    #[error("the database can only be read: {detail}")]
    ReadOnly {
        /// Words for the log.
        detail: String,
    },
    /// The data folder, or a file in it, could not be used.
    #[error("{what}: {source}")]
    Folder {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A migration could not be applied, or one that was applied has been edited since.
    #[error("the schema could not be brought up to date: {0}")]
    Migration(#[source] Box<sqlx::migrate::MigrateError>),
    /// A value could not be written as JSON.
    #[error("a value could not be stored: {0}")]
    Encode(#[from] serde_json::Error),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Another error of the database.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
}

fn kept_words(kept: Option<&PathBuf>) -> String {
    kept.map_or_else(
        || "nothing was changed".to_owned(),
        |path| format!("a copy is kept at {}", path.display()),
    )
}

impl StoreError {
    /// The code by which window and command line translate it.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            StoreError::Locked { .. } => ErrorCode::DatabaseLocked,
            StoreError::Corrupt { .. } | StoreError::Unreadable { .. } => ErrorCode::DatabaseCorrupt,
            StoreError::Newer { .. } => ErrorCode::DatabaseNewer,
            StoreError::Archive { .. } => ErrorCode::BackupInvalid,
            StoreError::Duplicate { .. } => ErrorCode::AlreadyExists,
            StoreError::Full { .. } => ErrorCode::DiskFull,
            StoreError::ReadOnly { .. } => ErrorCode::ReadOnly,
            StoreError::Folder { source, .. } => folder_code(source),
            StoreError::Migration(_)
            | StoreError::Encode(_)
            | StoreError::Closed
            | StoreError::Database(_) => ErrorCode::Internal,
        }
    }

    pub(crate) fn folder(what: impl Into<String>, source: std::io::Error) -> Self {
        StoreError::Folder { what: what.into(), source }
    }

    pub(crate) fn corrupt(detail: impl Into<String>) -> Self {
        StoreError::Corrupt { detail: detail.into(), kept: None }
    }
}

fn folder_code(error: &std::io::Error) -> ErrorCode {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ErrorCode::DiskFull,
        ErrorKind::ReadOnlyFilesystem => ErrorCode::ReadOnly,
        // `ErrorKind` is open; all the rest is one code.
        _ => ErrorCode::IoFailed,
    }
}

/// SQLite's primary result codes (<https://www.sqlite.org/rescode.html>); the extended ones carry more in the upper bits.
mod primary {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let sqlx::Error::Database(database) = &error else {
            return StoreError::Database(error);
        };
        let detail = database.message().to_owned();
        if database.is_unique_violation() {
            return StoreError::Duplicate { detail };
        }
        let code = database.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or(0);
        let io = |kind| StoreError::Folder {
            what: "the database file".to_owned(),
            source: std::io::Error::new(kind, detail.clone()),
        };
        match code & 0xff {
            primary::BUSY | primary::LOCKED => StoreError::Locked { detail },
            primary::CORRUPT | primary::NOTADB => StoreError::Corrupt { detail, kept: None },
            primary::FULL => StoreError::Full { detail },
            primary::READONLY => StoreError::ReadOnly { detail },
            primary::PERM => io(std::io::ErrorKind::PermissionDenied),
            primary::IOERR | primary::CANTOPEN => io(std::io::ErrorKind::Other),
            // An open list of numbers; all the rest is a fault.
            _ => StoreError::Database(error),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::Execute(error)
            | sqlx::migrate::MigrateError::ExecuteMigration(error, _) => match StoreError::from(error) {
                StoreError::Database(error) => {
                    StoreError::Migration(Box::new(sqlx::migrate::MigrateError::Execute(error)))
                }
                told => told,
            },
            other => StoreError::Migration(Box::new(other)),
        }
    }
}
