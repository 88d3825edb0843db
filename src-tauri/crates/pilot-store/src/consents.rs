//! The person's yes to sending a workspace's content to a provider outside this computer.

use crate::StoreError;
use crate::cells::micros;
use chrono::{DateTime, Utc};
use pilot_types::WorkspaceId;
use sqlx::SqliteConnection;

/// Keeps a yes. A second one changes nothing.
///
/// # Errors
/// When the database cannot be written.
pub async fn give(
    conn: &mut SqliteConnection,
    workspace: &WorkspaceId,
    provider: &str,
    host: &str,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO consents (workspace, provider, host, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (workspace, provider, host) DO NOTHING",
    )
    .bind(workspace.as_str())
    .bind(provider)
    .bind(host)
    .bind(micros(at))
    .execute(conn)
    .await?;
    Ok(())
}

/// True when the person said yes to exactly this workspace, provider and host.
///
/// # Errors
/// When the database cannot be read.
pub async fn has(
    conn: &mut SqliteConnection,
    workspace: &WorkspaceId,
    provider: &str,
    host: &str,
) -> Result<bool, StoreError> {
    let found: i64 = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM consents WHERE workspace = ?1 AND provider = ?2 AND host = ?3)",
    )
    .bind(workspace.as_str())
    .bind(provider)
    .bind(host)
    .fetch_one(conn)
    .await?;
    Ok(found == 1)
}
