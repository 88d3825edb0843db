//! Settings: JSON by key. Never a key of a provider: those live in the keyring.

use crate::StoreError;
use crate::cells::{Cells, json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::SqliteConnection;

/// A setting; `None` when it was never set.
///
/// # Errors
/// [`StoreError::Unreadable`] when it is not what is asked for.
pub async fn get<T: DeserializeOwned>(
    conn: &mut SqliteConnection,
    key: &str,
) -> Result<Option<T>, StoreError> {
    let row = sqlx::query("SELECT value FROM settings WHERE key = ?1").bind(key).fetch_optional(conn).await?;
    row.as_ref().map(|row| Cells::of("settings", row).json("value")).transpose()
}

/// Sets a setting.
///
/// # Errors
/// When it cannot be written.
pub async fn set<T: Serialize + ?Sized>(
    conn: &mut SqliteConnection,
    key: &str,
    value: &T,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )
    .bind(key)
    .bind(json(value)?)
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets a setting. False when it was never set.
///
/// # Errors
/// When the database cannot be written.
pub async fn remove(conn: &mut SqliteConnection, key: &str) -> Result<bool, StoreError> {
    let done = sqlx::query("DELETE FROM settings WHERE key = ?1").bind(key).execute(conn).await?;
    Ok(done.rows_affected() == 1)
}
