//! Which slots of a schedule are due and which were missed. Pure: two moments in, an answer out.

use crate::port::Missed;
use crate::rule::{Rule, Zone};
use chrono::{DateTime, Duration, Utc};

/// A slot is started up to this long after its moment; what is older was missed. Four looks fit into it.
pub const GRACE: Duration = Duration::seconds(60);
/// Missed slots that are counted at most: a year of minutes need not be counted to be told.
const COUNT_LIMIT: u32 = 1_000;

/// What passed between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// The one slot that is due.
    pub due: Option<DateTime<Utc>>,
    /// Slots that passed while nobody looked.
    pub missed: Option<Missed>,
}

/// Looks at the time after `since` up to and including `now`. At most one slot is due: the last one, when it is no
/// older than [`GRACE`]. All others were missed. Where the clock went back, nothing passed.
#[must_use]
pub fn slots_between(rule: &Rule, zone: Zone, since: DateTime<Utc>, now: DateTime<Utc>) -> Looked {
    if now <= since {
        return Looked::default();
    }
    let passed = |after: DateTime<Utc>| rule.next_after(after, zone).filter(|slot| *slot <= now);
    // Anything that is due lies in this last stretch, so a long absence costs no long walk.
    let recent = since.max(now - GRACE - Duration::milliseconds(1));
    let due = std::iter::successors(passed(recent), |slot| passed(*slot)).last();
    let mut missed: Option<Missed> = None;
    let mut next = passed(since);
    while let Some(slot) = next.filter(|slot| Some(*slot) != due) {
        match &mut missed {
            None => missed = Some(Missed { first: slot, last: slot, count: 1, more: false }),
            Some(missed) if missed.count == COUNT_LIMIT => {
                missed.more = true;
                break;
            }
            Some(missed) => {
                missed.last = slot;
                missed.count += 1;
            }
        }
        next = passed(slot);
    }
    Looked { due, missed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn look(rule: &str, since: &str, now: &str) -> Looked {
        slots_between(&Rule::parse(rule).unwrap(), Zone::default(), at(since), at(now))
    }

    #[test]
    fn a_slot_is_due_for_a_minute_and_then_missed() {
        let rule = "0 9 * * *";
        let before = look(rule, "2026-12-01T08:00:00Z", "2026-12-01T08:59:59Z");
        assert_eq!(before, Looked::default(), "nothing passed yet");
        for now in ["2026-12-01T09:00:00Z", "2026-12-01T09:00:14Z", "2026-12-01T09:01:00Z"] {
            let looked = look(rule, "2026-12-01T08:00:00Z", now);
            assert_eq!(looked.due, Some(at("2026-12-01T09:00:00Z")), "due within the grace, at {now}");
            assert_eq!(looked.missed, None, "and nothing else passed, at {now}");
        }
        let late = look(rule, "2026-12-01T08:00:00Z", "2026-12-01T09:01:01Z");
        assert_eq!(late.due, None, "a minute later it is no longer started");
        assert_eq!(late.missed.map(|missed| missed.count), Some(1), "but it is told");
    }

    #[test]
    fn a_suspended_night_gives_one_due_slot_and_one_note() {
        let looked = look("* * * * *", "2026-12-01T00:00:00Z", "2026-12-01T08:00:20Z");
        assert_eq!(looked.due, Some(at("2026-12-01T08:00:00Z")), "only the last slot is started");
        let missed = looked.missed.unwrap();
        assert_eq!((missed.count, missed.more), (479, false), "the others are counted");
        assert_eq!(
            (missed.first, missed.last),
            (at("2026-12-01T00:01:00Z"), at("2026-12-01T07:59:00Z")),
            "from the first to the last"
        );
    }

    #[test]
    fn a_year_that_passed_at_once_is_told_without_being_counted_out() {
        let looked = look("* * * * *", "2026-12-01T00:00:00Z", "2027-12-01T00:00:10Z");
        assert_eq!(looked.due, Some(at("2027-12-01T00:00:00Z")), "the slot of now is due");
        let missed = looked.missed.unwrap();
        assert!(missed.more, "there were more than were counted");
        assert_eq!(missed.count, COUNT_LIMIT, "and the count is bounded");
    }

    #[test]
    fn a_clock_that_went_back_passes_nothing() {
        let looked = look("* * * * *", "2026-12-01T09:00:00Z", "2026-12-01T08:00:00Z");
        assert_eq!(looked, Looked::default(), "an hour that comes again has passed before");
        let looked = look("* * * * *", "2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z");
        assert_eq!(looked, Looked::default(), "nor does standing still");
    }
}
