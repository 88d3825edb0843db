//! Tokens by day and provider.

use crate::StoreError;
use crate::cells::{Cells, count};
use chrono::NaiveDate;
use pilot_types::TokenUsage;
use sqlx::SqliteConnection;

/// Adds to the account of a day (UTC).
///
/// # Errors
/// When the database cannot be written.
pub async fn add(
    conn: &mut SqliteConnection,
    day: NaiveDate,
    provider: &str,
    usage: TokenUsage,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO usage (day, provider, tokens_in, tokens_out, estimated) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (day, provider) DO UPDATE SET tokens_in = tokens_in + excluded.tokens_in,
         tokens_out = tokens_out + excluded.tokens_out, estimated = max(estimated, excluded.estimated)",
    )
    .bind(day.to_string())
    .bind(provider)
    .bind(count(usage.input))
    .bind(count(usage.output))
    .bind(usage.estimated)
    .execute(conn)
    .await?;
    Ok(())
}

/// What one provider was given and gave on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayUsage {
    /// The day (UTC).
    pub day: NaiveDate,
    /// Provider label.
    pub provider: String,
    /// Tokens.
    pub usage: TokenUsage,
}

/// The accounts from a day on, the newest day first, each day by provider.
///
/// # Errors
/// When the database cannot be read.
pub async fn since(conn: &mut SqliteConnection, day: NaiveDate) -> Result<Vec<DayUsage>, StoreError> {
    let rows = sqlx::query(
        "SELECT day, provider, tokens_in, tokens_out, estimated FROM usage WHERE day >= ?1
         ORDER BY day DESC, provider",
    )
    .bind(day.to_string())
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let cells = Cells::of("usage", row);
            Ok(DayUsage {
                day: cells.str("day")?.parse().map_err(|_| cells.unreadable("day", "not a day"))?,
                provider: cells.text("provider")?,
                usage: TokenUsage {
                    input: cells.count("tokens_in")?,
                    output: cells.count("tokens_out")?,
                    estimated: cells.flag("estimated")?,
                },
            })
        })
        .collect()
}

/// What a day used, over all providers.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_day(conn: &mut SqliteConnection, day: NaiveDate) -> Result<TokenUsage, StoreError> {
    let row = sqlx::query(
        "SELECT coalesce(sum(tokens_in), 0) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out,
         coalesce(max(estimated), 0) AS estimated FROM usage WHERE day = ?1",
    )
    .bind(day.to_string())
    .fetch_one(conn)
    .await?;
    let cells = Cells::of("usage", &row);
    Ok(TokenUsage {
        input: cells.count("tokens_in")?,
        output: cells.count("tokens_out")?,
        estimated: cells.flag("estimated")?,
    })
}
