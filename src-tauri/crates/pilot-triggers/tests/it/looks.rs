//! Looks at schedules over virtual years, under clocks that stop, jump and go back.

use crate::rules::rule;
use async_trait::async_trait;
use chrono::{DateTime, Duration, Utc};
use pilot_triggers::{GRACE, IntakeError, Look, Rule, ScheduleEntry, SlotIntake, Zone, look_once};
use pilot_types::{Channel, ScheduleId, WorkspaceId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Keeps one schedule as the database does: `looked_at` is compared and set, a slot is decided once.
struct Book {
    entry: Mutex<ScheduleEntry>,
    /// Slot → when it was started.
    started: Mutex<BTreeMap<DateTime<Utc>, DateTime<Utc>>>,
    /// Slots that were asked for and had been started before.
    again: Mutex<u32>,
    missed: Mutex<u64>,
    looks: Mutex<u64>,
}

impl Book {
    fn new(rule: &str, zone: Option<&str>, looked_at: DateTime<Utc>) -> Self {
        let entry = ScheduleEntry {
            id: ScheduleId::new(),
            workspace: WorkspaceId::new(),
            rule: rule.to_owned(),
            zone: zone.map(str::to_owned),
            goal: "look".to_owned(),
            provider: None,
            looked_at,
        };
        Self {
            entry: Mutex::new(entry),
            started: Mutex::default(),
            again: Mutex::default(),
            missed: Mutex::default(),
            looks: Mutex::default(),
        }
    }
}

#[async_trait]
impl SlotIntake for Book {
    async fn schedules(&self) -> Result<Vec<ScheduleEntry>, IntakeError> {
        Ok(vec![self.entry.lock().unwrap().clone()])
    }

    async fn look(&self, look: Look) -> Result<(), IntakeError> {
        *self.looks.lock().unwrap() += 1;
        let mut entry = self.entry.lock().unwrap();
        assert_eq!(look.since, entry.looked_at, "a look says from when on it looked");
        entry.looked_at = look.until;
        if let Some(missed) = look.missed {
            assert!(missed.first <= missed.last, "missed slots have an order");
            assert!(missed.first > look.since && missed.last <= look.until, "and lie within the look");
            *self.missed.lock().unwrap() += u64::from(missed.count);
        }
        if let Some(slot) = look.due {
            assert_eq!(slot.intake.channel, Channel::Schedule, "the task says where it comes from");
            let late = look.until - slot.at;
            assert!(
                late >= Duration::zero() && late <= GRACE,
                "a slot is started in time or not at all: {late}"
            );
            if self.started.lock().unwrap().insert(slot.at, look.until).is_some() {
                *self.again.lock().unwrap() += 1;
            }
        }
        Ok(())
    }
}

fn start() -> DateTime<Utc> {
    "2027-11-30T21:00:00Z".parse().unwrap()
}

fn run(book: &Book, now: DateTime<Utc>) {
    futures_util::FutureExt::now_or_never(look_once(book, now)).expect("nothing here waits").unwrap();
}

/// A tenth of those of `make soak`.
fn cases() -> u32 {
    if std::env::var_os("POCKETPILOT_SOAK").is_some() { 160 } else { 16 }
}

/// What the clock does between two looks.
#[derive(Clone, Debug)]
enum Passes {
    /// 15 seconds, give or take.
    Ordinary(i64),
    /// Suspended.
    Suspend(i64),
    Back(i64),
    Forward(i64),
}

fn passes() -> impl Strategy<Value = Passes> {
    prop_oneof![
        60 => (10..20i64).prop_map(Passes::Ordinary),
        6 => (60..5 * 86_400i64).prop_map(Passes::Suspend),
        2 => prop_oneof![Just(3_600i64), Just(86_400), 1..120i64].prop_map(Passes::Back),
        1 => prop_oneof![Just(3_600i64), Just(365 * 86_400)].prop_map(Passes::Forward),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Where the clock only goes forward, every slot is either started once or told as missed: none is lost.
    #[test]
    fn no_slot_is_lost_while_the_clock_goes_forward(
        text in rule(), zone in prop::option::of(prop::sample::select(&["Europe/Berlin", "America/New_York"][..])),
        passes in prop::collection::vec(passes(), 200),
    ) {
        let Ok(parsed) = Rule::parse(&text) else { return Ok(()) };
        let book = Book::new(&text, zone, start());
        let mut now = start();
        for pass in passes {
            match pass {
                Passes::Ordinary(seconds) => now += Duration::seconds(seconds),
                // Short enough that no slot goes beyond what is counted.
                Passes::Suspend(seconds) => now += Duration::seconds(seconds % 50_000),
                Passes::Back(_) | Passes::Forward(_) => {}
            }
            run(&book, now);
        }
        let zone = Zone::parse(zone).unwrap();
        let all = std::iter::successors(parsed.next_after(start(), zone), |slot| parsed.next_after(*slot, zone))
            .take_while(|slot| *slot <= now)
            .count() as u64;
        let started = book.started.lock().unwrap().len() as u64;
        prop_assert_eq!(*book.again.lock().unwrap(), 0, "{}: no slot twice", text);
        prop_assert_eq!(started + *book.missed.lock().unwrap(), all, "{}: started or told", text);
    }

    /// Whatever the clock does, a slot is started within its grace, and looks stay few. That one is not started twice
    /// after a clock went back is the database's unique slot; the look itself asks for it again, which shows here.
    #[test]
    fn jumps_are_survived(text in rule(), passes in prop::collection::vec(passes(), 400)) {
        let Ok(parsed) = Rule::parse(&text) else { return Ok(()) };
        let book = Book::new(&text, None, start());
        let mut now = start();
        let mut went_back = false;
        for pass in passes {
            match pass {
                Passes::Ordinary(seconds) | Passes::Suspend(seconds) | Passes::Forward(seconds) => now += Duration::seconds(seconds),
                Passes::Back(seconds) => {
                    now -= Duration::seconds(seconds);
                    went_back = true;
                }
            }
            run(&book, now);
        }
        if !went_back {
            prop_assert_eq!(*book.again.lock().unwrap(), 0, "{}: no slot twice", text);
        }
        // Afterwards everything is as before: the next slot is started at its time.
        if let Some(slot) = parsed.next_after(now + Duration::minutes(2), Zone::default()) {
            run(&book, now + Duration::minutes(1));
            run(&book, slot - Duration::seconds(5));
            run(&book, slot + Duration::seconds(10));
            prop_assert!(book.started.lock().unwrap().contains_key(&slot), "{}: {} is started", text, slot);
        }
    }
}

#[test]
fn two_years_of_a_daily_rule_start_each_day_once() {
    let book = Book::new("30 2 * * *", Some("Europe/Berlin"), start());
    let (mut now, end) = (start(), start() + Duration::days(731));
    while now < end {
        // Just before and just after each half hour: between them a rule of this kind has nothing.
        run(&book, now + Duration::seconds(7));
        now += Duration::minutes(30);
        run(&book, now - Duration::seconds(7));
    }
    let started = book.started.lock().unwrap();
    assert_eq!(started.len(), 731, "one for each day, 29 February and both nights of the clock among them");
    assert_eq!(*book.missed.lock().unwrap(), 0, "and none was missed");
    assert_eq!(*book.looks.lock().unwrap(), 731, "nothing is written where nothing passed");
}

#[test]
fn a_clock_that_was_a_year_ahead_does_not_silence_a_schedule_for_a_year() {
    let book = Book::new("0 * * * *", None, start());
    run(&book, start() + Duration::days(365));
    let back = start() + Duration::minutes(30);
    run(&book, back);
    run(&book, start() + Duration::hours(1) + Duration::seconds(5));
    assert!(
        book.started.lock().unwrap().contains_key(&(start() + Duration::hours(1))),
        "the next hour of the time as it is now is started"
    );
}
