//! Tokens by day and provider.

use crate::error::ServiceError;
use crate::open::Service;
use crate::view::UsageDayView;
use chrono::Days;
use pilot_store::usage;
use pilot_types::ErrorCode;

/// Days that can be asked for at once.
const MOST_DAYS: u32 = 3_650;

impl Service {
    /// What the last days used, today included, the newest first. A day is one of UTC, as the cap counts it.
    ///
    /// # Errors
    /// No days, or more than ten years of them.
    pub async fn usage(&self, days: u32) -> Result<Vec<UsageDayView>, ServiceError> {
        let today = self.now().date_naive();
        let from = Some(days)
            .filter(|days| (1..=MOST_DAYS).contains(days))
            .and_then(|days| today.checked_sub_days(Days::new(u64::from(days - 1))))
            .ok_or_else(|| {
                ServiceError::new(ErrorCode::Usage, format!("1 to {MOST_DAYS} days can be shown"))
            })?;
        let rows = usage::since(&mut *self.inner.store.read().await?, from).await?;
        let view = |row: usage::DayUsage| UsageDayView {
            day: row.day.to_string(),
            provider: row.provider,
            usage: row.usage,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}
