//! How many requests a minute: a bucket that fills by itself.

use std::time::{Duration, Instant};

/// Lets through a burst of `per_minute`, and that many a minute in the long run.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    per_minute: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub(super) fn full(per_minute: u32, at: Instant) -> Self {
        Self { per_minute: f64::from(per_minute), level: f64::from(per_minute), at }
    }

    /// Takes one out. Otherwise says how long it takes until there is one.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed * self.per_minute / 60.0).min(self.per_minute);
        self.at = now;
        if self.level >= 1.0 {
            self.level -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.level) * 60.0 / self.per_minute.max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_holds_as_many_as_it_says_and_refills() {
        let start = Instant::now();
        let mut bucket = Bucket::full(60, start);
        let taken = (0..100).filter(|_| bucket.take(start).is_ok()).count();
        assert_eq!(taken, 60, "a burst of a minute's worth is let through");
        let wait = bucket.take(start).unwrap_err();
        assert!(wait <= Duration::from_secs(1) && wait > Duration::ZERO, "and the wait is named: {wait:?}");
        let later = start + Duration::from_secs(30);
        let taken = (0..100).filter(|_| bucket.take(later).is_ok()).count();
        assert_eq!(taken, 30, "half a minute brings half as many");
        assert!(bucket.take(start).is_err(), "a clock that goes back brings none");
    }
}
