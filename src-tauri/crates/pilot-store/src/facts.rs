//! Figures about the database for a support file: counts, states and codes, and nothing that a person wrote.

use crate::StoreError;
use serde::Serialize;
use sqlx::SqliteConnection;

/// How many rows there are of a kind. Both words come from closed lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What is counted, such as `tasks.completed`.
    pub of: String,
    /// Rows.
    pub rows: i64,
}

/// Figures about the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Newest migration that was applied.
    pub schema: i64,
    /// Version of SQLite.
    pub sqlite: String,
    /// Bytes of the database.
    pub bytes: i64,
    /// Counts, in a fixed order.
    pub counts: Vec<Count>,
}

/// What is counted: a name, and a query that gives a word of a closed list and a number.
const COUNTS: &[(&str, &str)] = &[
    (
        "workspaces",
        "SELECT iif(removed_at IS NULL, 'listed', 'removed') AS word, count(*) AS n FROM workspaces GROUP BY word ORDER BY word",
    ),
    (
        "sessions",
        "SELECT iif(archived_at IS NULL, 'open', 'archived') AS word, count(*) AS n FROM sessions GROUP BY word ORDER BY word",
    ),
    ("tasks", "SELECT status AS word, count(*) AS n FROM tasks GROUP BY word ORDER BY word"),
    ("tasks.channel", "SELECT channel AS word, count(*) AS n FROM tasks GROUP BY word ORDER BY word"),
    (
        "tasks.code",
        "SELECT code AS word, count(*) AS n FROM tasks WHERE code IS NOT NULL GROUP BY word ORDER BY word",
    ),
    ("approvals", "SELECT status AS word, count(*) AS n FROM approvals GROUP BY word ORDER BY word"),
    (
        "approvals.code",
        "SELECT code AS word, count(*) AS n FROM approvals WHERE code IS NOT NULL GROUP BY word ORDER BY word",
    ),
    (
        "executions",
        "SELECT coalesce(outcome, 'open') AS word, count(*) AS n FROM executions GROUP BY word ORDER BY word",
    ),
    (
        "executions.code",
        "SELECT code AS word, count(*) AS n FROM executions WHERE code IS NOT NULL GROUP BY word ORDER BY word",
    ),
    (
        "artifacts",
        "SELECT iif(undone_at IS NULL, 'standing', 'undone') AS word, count(*) AS n FROM artifacts GROUP BY word ORDER BY word",
    ),
    (
        "events",
        "SELECT coalesce(json_extract(body, '$.type'), 'erased') AS word, count(*) AS n FROM events GROUP BY word ORDER BY word",
    ),
    (
        "events.code",
        "SELECT json_extract(body, '$.code') AS word, count(*) AS n FROM events
       WHERE json_extract(body, '$.code') IS NOT NULL GROUP BY word ORDER BY word",
    ),
];

/// Reads the figures.
///
/// # Errors
/// When the database cannot be read.
pub async fn read(conn: &mut SqliteConnection) -> Result<Facts, StoreError> {
    let schema: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success")
        .fetch_one(&mut *conn)
        .await?;
    let sqlite: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut *conn).await?;
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut *conn).await?;
    let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut *conn).await?;
    let mut counts = Vec::new();
    for (name, query) in COUNTS {
        let rows: Vec<(String, i64)> = sqlx::query_as(*query).fetch_all(&mut *conn).await?;
        counts.extend(rows.into_iter().map(|(word, rows)| Count { of: format!("{name}.{word}"), rows }));
    }
    Ok(Facts { schema: schema.unwrap_or(0), sqlite, bytes: pages.saturating_mul(size), counts })
}
