//! How a database is opened: made whole or not at all, checked after an unclean end, migrated behind a backup, and
//! refused with words when it is damaged or newer.

use crate::{DataDir, StoreError, backup, process};
use pilot_types::faults;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The migrations compiled into this version.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// How long anybody waits for a lock of the database before it is said in words.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Whether commits outlive a power cut. Nothing but a database that dies with its process may be `Volatile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Full,
    Volatile,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
}

/// An open database: the one writer, and the lock that tells the others that it is in use.
pub(crate) struct Opened {
    pub(crate) writer: SqliteConnection,
    pub(crate) presence: File,
}

/// Opens a connection to a database that is there.
pub(crate) async fn connect(
    path: &Path,
    access: Access,
    durability: Durability,
) -> Result<SqliteConnection, StoreError> {
    connect_with(path, access, durability, false).await
}

async fn connect_with(
    path: &Path,
    access: Access,
    durability: Durability,
    create: bool,
) -> Result<SqliteConnection, StoreError> {
    let mut options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(create)
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        .synchronous(match durability {
            Durability::Full => SqliteSynchronous::Full,
            Durability::Volatile => SqliteSynchronous::Off,
        })
        // Sorting spills must not leave content in a system folder.
        .pragma("temp_store", "memory")
        .pragma("journal_size_limit", "8388608")
        .disable_statement_logging();
    options = match access {
        // Nothing to do where it is so already; a backup that was put back has lost it.
        Access::Write => options.journal_mode(SqliteJournalMode::Wal),
        Access::Read => options.pragma("query_only", "on"),
    };
    Ok(options.connect().await?)
}

/// Opens the database of a data folder; makes it when there is none.
pub(crate) async fn open(data: &DataDir, durability: Durability) -> Result<Opened, StoreError> {
    open_with(data, durability, &MIGRATIONS).await
}

async fn open_with(
    data: &DataDir,
    durability: Durability,
    migrations: &Migrator,
) -> Result<Opened, StoreError> {
    let gate = process::open_lock_file(&data.opening_lock())?;
    wait_for(&gate).await?;
    let presence = process::open_lock_file(&data.presence_lock())?;
    let alone = process::try_exclusive(&presence)?;
    let opened = match open_behind_gate(data, durability, migrations, alone).await {
        Err(StoreError::Corrupt { detail, kept: None }) => {
            let kept = backup::keep_damaged(data)?;
            return Err(StoreError::Corrupt { detail, kept: Some(kept) });
        }
        other => other?,
    };
    // From exclusive to shared. The step between is covered by the gate, through which everybody comes.
    let told = |source| StoreError::folder("the lock of the database", source);
    presence.unlock().map_err(told)?;
    presence.lock_shared().map_err(told)?;
    drop(gate);
    Ok(Opened { writer: opened, presence })
}

async fn open_behind_gate(
    data: &DataDir,
    durability: Durability,
    migrations: &Migrator,
    alone: bool,
) -> Result<SqliteConnection, StoreError> {
    let path = data.database();
    let log = wal_of(&path);
    let unclean = alone && size_of(&log).is_some_and(|bytes| bytes > 0);
    match size_of(&path) {
        // A write-ahead log without its database is a loss, not a first start.
        None if unclean => return Err(StoreError::corrupt("the database file is missing, its log is there")),
        None => make(&path, durability, migrations).await?,
        // A database is put in its place whole, so it has never been empty by itself.
        Some(0) => return Err(StoreError::corrupt("the database file is empty")),
        Some(_) => {}
    }
    let mut writer = connect(&path, Access::Write, durability).await?;
    let checked = async {
        let pending = schema_state(&mut writer, migrations).await?;
        if unclean {
            quick_check(&mut writer).await?;
        }
        if pending && !alone {
            let detail =
                "another version of this program has it open; close it to bring the database up to date";
            return Err(StoreError::Locked { detail: detail.to_owned() });
        }
        if pending {
            migrate(&mut writer, data, migrations).await?;
        }
        Ok(())
    }
    .await;
    match checked {
        Ok(()) => Ok(writer),
        Err(error) => {
            // Kept before the connection closes: closing would fold the log into the file.
            let error = match error {
                StoreError::Corrupt { detail, kept: None } => {
                    StoreError::Corrupt { detail, kept: Some(backup::keep_damaged(data)?) }
                }
                other => other,
            };
            if let Err(closing) = writer.close().await {
                tracing::debug!(%closing, "a database that was refused did not close cleanly");
            }
            Err(error)
        }
    }
}

/// Makes a new database beside its place, whole and synced, and then puts it there. A crash leaves none.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
async fn make(path: &Path, durability: Durability, migrations: &Migrator) -> Result<(), StoreError> {
    let told = |source| StoreError::folder("a new database", source);
    if durability == Durability::Volatile {
        let mut fresh = connect_with(path, Access::Write, durability, true).await?;
        migrations.run(&mut fresh).await?;
        return Ok(fresh.close().await?);
    }
    let staged = path.with_extension("sqlite.new");
    for leftover in [staged.clone(), wal_of(&staged), suffixed(&staged, "-shm")] {
        match std::fs::remove_file(&leftover) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(told(error)),
            Ok(()) | Err(_) => {}
        }
    }
    private_file(&staged).map_err(told)?;
    let mut fresh = connect_with(&staged, Access::Write, durability, true).await?;
    migrations.run(&mut fresh).await?;
    fresh.close().await?;
    File::open(&staged).and_then(|file| file.sync_all()).map_err(told)?;
    faults::point("store.create");
    std::fs::rename(&staged, path).map_err(told)?;
    sync_folder(path)
}

/// Makes an empty file that only this user can read; SQLite gives its log and index the same mode.
#[expect(clippy::disallowed_methods, reason = "this crate owns the data folder")]
pub(crate) fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map(drop)
}

/// Makes the entries of the folder that holds `path` durable.
#[cfg_attr(unix, expect(clippy::disallowed_methods, reason = "this crate owns the data folder"))]
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| StoreError::folder("the data folder", source))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Compares the schema with this version. True when migrations are waiting.
async fn schema_state(writer: &mut SqliteConnection, migrations: &Migrator) -> Result<bool, StoreError> {
    let ours: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '_sqlx_migrations'",
    )
    .fetch_one(&mut *writer)
    .await?;
    if ours == 0 {
        return Err(StoreError::corrupt("the file holds no database of this program"));
    }
    let applied =
        sqlx::query("SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version")
            .fetch_all(&mut *writer)
            .await?;
    let known = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
    for row in &applied {
        let found: i64 = row.try_get("version")?;
        let checksum: Vec<u8> = row.try_get("checksum")?;
        match migrations.iter().find(|migration| migration.version == found) {
            None if found > known => return Err(StoreError::Newer { found, known }),
            None => return Err(sqlx::migrate::MigrateError::VersionMissing(found).into()),
            Some(migration) if *migration.checksum != *checksum => {
                return Err(sqlx::migrate::MigrateError::VersionMismatch(found).into());
            }
            Some(_) => {}
        }
    }
    if applied.is_empty() {
        return Err(StoreError::corrupt("the file holds no schema of this program"));
    }
    Ok(applied.len() < migrations.iter().count())
}

async fn migrate(
    writer: &mut SqliteConnection,
    data: &DataDir,
    migrations: &Migrator,
) -> Result<(), StoreError> {
    let kept = backup::copy_into(writer, data, "before-migration").await?;
    tracing::info!(backup = %kept.display(), "the database is brought up to date");
    faults::point("store.migrate");
    migrations.run(writer).await?;
    faults::point("store.migrated");
    Ok(())
}

/// Whether a copy could stand in the place of the database: whole, ours, and not newer.
pub(crate) async fn check_copy(copy: &mut SqliteConnection) -> Result<(), StoreError> {
    schema_state(copy, &MIGRATIONS).await?;
    quick_check(copy).await
}

/// Looks for damage in the structure of the whole file.
async fn quick_check(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found: Vec<String> = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_all(connection).await?;
    match found.first().map(String::as_str) {
        Some("ok") => Ok(()),
        Some(detail) => Err(StoreError::corrupt(detail)),
        None => Err(StoreError::corrupt("the check gave no answer")),
    }
}

async fn wait_for(lock: &File) -> Result<(), StoreError> {
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    while !process::try_exclusive(lock)? {
        if waited >= PATIENCE {
            return Err(StoreError::Locked { detail: "another process is opening it".to_owned() });
        }
        tokio::time::sleep(step).await;
        waited += step;
    }
    Ok(())
}

/// Size of a file in bytes; `None` when there is none.
fn size_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|found| found.len())
}

/// The write-ahead log of a database.
pub(crate) fn wal_of(database: &Path) -> PathBuf {
    suffixed(database, "-wal")
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests damage and look at files on purpose")]
mod tests {
    use super::*;
    use pilot_types::ErrorCode;
    use sqlx::SqlSafeStr;
    use sqlx::migrate::{Migration, MigrationType};

    /// This version's migrations and one more.
    fn next_version(sql: &'static str) -> Migrator {
        let mut all: Vec<Migration> = MIGRATIONS.iter().cloned().collect();
        let version = all.iter().map(|migration| migration.version).max().unwrap() + 1;
        all.push(Migration::new(version, "next".into(), MigrationType::Simple, sql.into_sql_str(), false));
        Migrator::with_migrations(all)
    }

    async fn closed_database(data: &DataDir) {
        let opened = open(data, Durability::Full).await.unwrap();
        opened.writer.close().await.unwrap();
    }

    #[tokio::test]
    async fn an_older_database_is_backed_up_and_then_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let mut opened = open(&data, Durability::Full).await.unwrap();
        sqlx::query("INSERT INTO settings (key, value) VALUES ('kept', '1')")
            .execute(&mut opened.writer)
            .await
            .unwrap();
        opened.writer.close().await.unwrap();
        drop(opened.presence);

        let newer = next_version("CREATE TABLE later (id TEXT) STRICT");
        let mut opened = open_with(&data, Durability::Full, &newer).await.unwrap();
        let later: i64 =
            sqlx::query_scalar("SELECT count(*) FROM later").fetch_one(&mut opened.writer).await.unwrap();
        assert_eq!(later, 0, "the migration was applied");
        opened.writer.close().await.unwrap();
        drop(opened.presence);

        let backups = backup::list(&data).unwrap();
        assert_eq!(backups.len(), 1, "one backup was made before the schema changed: {backups:?}");
        let mut copy = connect(&backups[0].path, Access::Read, Durability::Full).await.unwrap();
        let kept: String =
            sqlx::query_scalar("SELECT value FROM settings").fetch_one(&mut copy).await.unwrap();
        assert_eq!(kept, "1", "the backup holds the rows");
        let applied: i64 = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
            .fetch_one(&mut copy)
            .await
            .unwrap();
        let known = MIGRATIONS.iter().map(|migration| migration.version).max();
        assert_eq!(Some(applied), known, "the backup holds the old schema");
        copy.close().await.unwrap();

        let refused = open(&data, Durability::Full).await.err().unwrap();
        assert_eq!(
            refused.code(),
            ErrorCode::DatabaseNewer,
            "this version must not open the newer one: {refused}"
        );
        assert!(refused.to_string().contains("newer version"), "the refusal says what to do: {refused}");

        backup::restore(&data, &backups[0].path).await.unwrap();
        let mut opened = open(&data, Durability::Full).await.unwrap();
        let mode: String =
            sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut opened.writer).await.unwrap();
        assert_eq!(mode, "wal", "a backup that was put back is a full database again");
        let kept: String =
            sqlx::query_scalar("SELECT value FROM settings").fetch_one(&mut opened.writer).await.unwrap();
        assert_eq!(kept, "1", "with its rows");
    }

    #[tokio::test]
    async fn a_failed_migration_leaves_the_old_database_usable() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        closed_database(&data).await;
        let broken = next_version("CREATE TABLE later (id TEXT); INSERT INTO nowhere VALUES (1)");
        let refused = open_with(&data, Durability::Full, &broken).await.err().unwrap();
        assert_eq!(refused.code(), ErrorCode::Internal, "a broken migration is a fault: {refused}");
        let mut opened = open(&data, Durability::Full).await.unwrap();
        let later: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'later'")
            .fetch_one(&mut opened.writer)
            .await
            .unwrap();
        assert_eq!(later, 0, "nothing of the broken migration stays");
    }

    #[tokio::test]
    async fn nobody_migrates_under_a_living_process() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let living = open(&data, Durability::Full).await.unwrap();
        let newer = next_version("CREATE TABLE later (id TEXT) STRICT");
        let refused = open_with(&data, Durability::Full, &newer).await.err().unwrap();
        assert_eq!(refused.code(), ErrorCode::DatabaseLocked, "the old version still works on it: {refused}");
        drop(living);
    }

    #[tokio::test]
    async fn an_edited_migration_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        closed_database(&data).await;
        let mut all: Vec<Migration> = MIGRATIONS.iter().cloned().collect();
        all[0].checksum = vec![0; 48].into();
        let refused =
            open_with(&data, Durability::Full, &Migrator::with_migrations(all)).await.err().unwrap();
        assert_eq!(refused.code(), ErrorCode::Internal, "a migration is never edited: {refused}");
    }

    #[tokio::test]
    async fn a_crash_while_the_database_is_made_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        std::fs::write(data.database().with_extension("sqlite.new"), b"half").unwrap();
        std::fs::write(wal_of(&data.database().with_extension("sqlite.new")), b"half a log").unwrap();
        closed_database(&data).await;
        let names: Vec<String> = std::fs::read_dir(data.root())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains("sqlite"))
            .collect();
        assert_eq!(names, ["pocketpilot.sqlite"], "the leftover of the crash is gone and the log is folded");
    }
}
