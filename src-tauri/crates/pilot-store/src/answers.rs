//! Questions about a task's record that need no whole record.

use crate::StoreError;
use pilot_types::TaskId;
use sqlx::SqliteConnection;

/// The model's last words in a task; `None` when it has not answered yet.
///
/// # Errors
/// When the database cannot be read.
pub async fn last_words(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<String>, StoreError> {
    let words: Option<Option<String>> = sqlx::query_scalar(
        "SELECT json_extract(body, '$.text') FROM events
         WHERE task = ?1 AND json_extract(body, '$.type') = 'model_answer' AND json_extract(body, '$.text') <> ''
         ORDER BY seq DESC LIMIT 1",
    )
    .bind(task.as_str())
    .fetch_optional(conn)
    .await?;
    Ok(words.flatten())
}

/// True when the conversation with the model has been opened.
///
/// # Errors
/// When the database cannot be read.
pub async fn is_prompted(conn: &mut SqliteConnection, task: &TaskId) -> Result<bool, StoreError> {
    let found: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM events WHERE task = ?1 AND json_extract(body, '$.type') = 'prompted'",
    )
    .bind(task.as_str())
    .fetch_one(conn)
    .await?;
    Ok(found > 0)
}
