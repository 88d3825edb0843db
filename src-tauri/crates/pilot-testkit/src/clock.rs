//! A clock that moves only when it is told to.

use chrono::{DateTime, Utc};
use pilot_agent::Clock;
use std::sync::Mutex;
use std::time::Duration;

/// Time as a test says it is.
#[derive(Debug)]
pub struct FixedClock {
    now: Mutex<(DateTime<Utc>, Duration)>,
}

impl FixedClock {
    /// A clock that stands at this moment.
    #[must_use]
    pub fn at(now: DateTime<Utc>) -> Self {
        Self { now: Mutex::new((now, Duration::ZERO)) }
    }

    /// A clock that stands at this RFC 3339 moment, or at the epoch when the text is none.
    #[must_use]
    pub fn at_text(now: &str) -> Self {
        Self::at(
            DateTime::parse_from_rfc3339(now)
                .map_or(DateTime::UNIX_EPOCH, |moment| moment.with_timezone(&Utc)),
        )
    }

    /// Lets time pass: both the date and the running time.
    pub fn advance(&self, by: Duration) {
        let mut now = self.lock();
        now.0 += by;
        now.1 += by;
    }

    /// Sets the date without any running time passing, as a person or a time server does.
    pub fn jump_to(&self, now: DateTime<Utc>) {
        self.lock().0 = now;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (DateTime<Utc>, Duration)> {
        self.now.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.lock().0
    }

    fn monotonic(&self) -> Duration {
        self.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_the_date_is_no_running_time() {
        let clock = FixedClock::at_text("2026-02-28T23:59:59Z");
        clock.advance(Duration::from_secs(2));
        assert_eq!(clock.now().to_rfc3339(), "2026-03-01T00:00:01+00:00", "2026 has no 29 February");
        clock.jump_to(DateTime::UNIX_EPOCH);
        assert_eq!(clock.monotonic(), Duration::from_secs(2), "running time never goes back");
    }
}
