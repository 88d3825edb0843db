//! What must have been on screen before a yes of the window counts.

use super::Shown;
use crate::error::ServiceError;
use crate::evidence;
use crate::open::Service;
use crate::run::Bench;
use pilot_review::{Card, Weight};
use pilot_store::ApprovalRow;
use pilot_types::ErrorCode;
use std::collections::BTreeSet;

/// Above this many changes that must be seen, the last one stands for all: the list was gone through to its end. The same
/// number as in the window (`seen-gate.ts`).
const MANY: usize = 60;

impl Service {
    /// Draws the card once more and compares what must be seen with what was. Gives what was seen, for the record; `None` for
    /// a decider that was shown the whole card.
    ///
    /// # Errors
    /// [`ErrorCode::ApprovalUnseen`] when a heavy card has parts that were not on screen.
    pub(crate) async fn check_seen(
        &self,
        row: &ApprovalRow,
        bytes: &[u8],
        bench: &Bench,
        shown: Option<&Shown>,
    ) -> Result<Option<String>, ServiceError> {
        let Some(shown) = shown else { return Ok(None) };
        let events = self.task_events(&row.task, 0).await?;
        let card = self.draw_card(row, bytes, &bench.guard, &evidence::of_events(&events)).await?;
        let seen = known(&shown.seen, &card);
        let missing = match card.weight {
            Weight::Heavy => missing(&seen, &card.must_see),
            Weight::Normal | Weight::Quiet => 0,
        };
        if missing > 0 {
            let words =
                format!("{missing} changes that must be seen were not on screen; nothing was written");
            return Err(ServiceError::new(ErrorCode::ApprovalUnseen, words).about(row.id.to_string()));
        }
        Ok(Some(ranges(&seen)))
    }
}

/// The numbers that stand for a change of this card, each once and in order.
fn known(seen: &[u32], card: &Card) -> BTreeSet<u32> {
    seen.iter().copied().filter(|number| (1..=card.changes).contains(number)).collect()
}

/// How many of those that must be seen were not.
fn missing(seen: &BTreeSet<u32>, must_see: &[u32]) -> usize {
    let asked = if must_see.len() > MANY { &must_see[must_see.len() - 1..] } else { must_see };
    asked.iter().filter(|number| !seen.contains(number)).count()
}

/// `1-4, 7`: a card of ten thousand changes must not fill the record.
fn ranges(seen: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in seen {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let words = runs.iter().map(
        |(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        },
    );
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_the_last_one_stands_for_all() {
        let all = |count: u32| (1..=count).collect::<Vec<u32>>();
        let last = BTreeSet::from([61]);
        assert_eq!(missing(&last, &all(61)), 0, "the end of a long list was reached");
        assert_eq!(missing(&BTreeSet::from([1, 60]), &all(61)), 1, "it was not");
        assert_eq!(missing(&BTreeSet::from([60]), &all(60)), 59, "of few, each one counts");
        assert_eq!(missing(&BTreeSet::new(), &[]), 0, "nothing asked, nothing missing");
    }

    #[test]
    fn neighbours_are_written_as_a_range() {
        let of = |numbers: &[u32]| ranges(&numbers.iter().copied().collect());
        assert_eq!(of(&[]), "", "nothing");
        assert_eq!(of(&[3]), "3", "one");
        assert_eq!(of(&[7, 1, 2, 4, 3, 3]), "1-4, 7", "in order, each once");
        let many: Vec<u32> = (1..=10_000).collect();
        assert_eq!(of(&many), "1-10000", "short, however many there are");
    }
}
