//! Rules in zones whose clocks are put forward and back.

use crate::rules::{moment, oracle, rule};
use chrono::{DateTime, Duration, NaiveDateTime, Utc};
use chrono_tz::Tz;
use pilot_triggers::{Rule, Zone};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Half-hour jumps, zones west and east, one in the south, one that stays.
const ZONES: &[&str] = &[
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Shanghai",
    "Pacific/Auckland",
    "America/St_Johns",
    "Africa/Casablanca",
];

fn slots(rule: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
    let zone = Zone::parse(Some(zone)).unwrap();
    let from: DateTime<Utc> = from.parse().unwrap();
    let found = Rule::parse(rule).unwrap().upcoming(from, zone, count);
    found.iter().map(|slot| zone.local(*slot).format("%d %H:%M %z").to_string()).collect()
}

#[test]
fn a_skipped_time_comes_right_after_the_gap_once() {
    // Berlin, 2027-03-28: 02:00 becomes 03:00.
    let from = "2027-03-27T12:00:00Z";
    assert_eq!(
        slots("30 2 * * *", "Europe/Berlin", from, 2),
        ["28 03:00 +0200", "29 02:30 +0200"],
        "half past two does not exist on the 28th"
    );
    assert_eq!(
        slots("0,15,30,45 2 * * *", "Europe/Berlin", from, 2),
        ["28 03:00 +0200", "29 02:00 +0200"],
        "four times in the gap are one moment after it"
    );
    assert_eq!(
        slots("0 2,3 * * *", "Europe/Berlin", from, 2),
        ["28 03:00 +0200", "29 02:00 +0200"],
        "and the same moment as three o'clock itself"
    );
}

#[test]
fn a_repeated_time_comes_once_and_hours_that_pass_all_come() {
    // Berlin, 2026-10-25: 03:00 becomes 02:00.
    assert_eq!(
        slots("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
        ["25 02:30 +0200", "26 02:30 +0100"],
        "half past two exists twice and comes once"
    );
    assert_eq!(
        slots("30 * * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", 4),
        ["25 01:30 +0200", "25 02:30 +0200", "25 02:30 +0100", "25 03:30 +0100"],
        "every hour means every hour that passes"
    );
    assert_eq!(
        slots("30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", 2),
        ["28 01:30 +0100", "28 03:30 +0200"],
        "and no hour that does not"
    );
}

#[test]
fn a_lost_day_is_survived() {
    // Samoa had no 30 December 2011.
    assert_eq!(
        slots("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", 3),
        ["29 12:00 -1000", "31 00:00 +1400", "31 12:00 +1400"],
        "noon of a day that never was comes when the next one begins"
    );
}

/// Moments near the nights in which clocks are moved.
fn near_a_jump() -> impl Strategy<Value = DateTime<Utc>> {
    const NIGHTS: &[&str] = &[
        "2026-03-08",
        "2026-03-29",
        "2026-04-05",
        "2026-09-06",
        "2026-09-27",
        "2026-10-04",
        "2026-10-25",
        "2026-11-01",
    ];
    (prop::sample::select(NIGHTS), -40 * 3_600i64..40 * 3_600).prop_map(|(night, seconds)| {
        let night: NaiveDateTime = format!("{night}T00:00:00").parse().unwrap();
        night.and_utc() + Duration::seconds(seconds)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fixed_times_come_round_when_the_oracle_says(
        minute in 0..60u8, hour in 0..24u8, zone in prop::sample::select(ZONES), from in near_a_jump(),
    ) {
        let text = format!("{minute} {hour} * * *");
        compare(&text, zone, from)?;
    }

    #[test]
    fn rules_of_every_hour_come_round_when_the_oracle_says(
        minute in 1..30u8, step in 1..7u8, zone in prop::sample::select(ZONES), from in near_a_jump(),
    ) {
        compare(&format!("*/{minute} */{step} * * *"), zone, from)?;
    }

    #[test]
    fn time_only_goes_forward_and_no_fixed_time_comes_twice(
        text in rule(), zone in prop::sample::select(ZONES), near in near_a_jump(), far in moment(), pick in 0..4u8,
    ) {
        let Ok(parsed) = Rule::parse(&text) else { return Ok(()) };
        let from = if pick > 0 { near } else { far };
        let place = Zone::parse(Some(zone)).unwrap();
        let slots = parsed.upcoming(from, place, 60);
        prop_assert!(slots.first().is_none_or(|slot| *slot > from), "{text} in {zone}: after {from}");
        prop_assert!(slots.windows(2).all(|pair| pair[0] < pair[1]), "{text} in {zone}: {slots:?}");
        if !text.split(' ').nth(1).unwrap().starts_with('*') {
            let walls: BTreeSet<NaiveDateTime> = slots.iter().map(|slot| place.local(*slot).naive_local()).collect();
            prop_assert_eq!(walls.len(), slots.len(), "{} in {}: a time on the wall came twice", text, zone);
        }
    }
}

fn compare(text: &str, zone: &str, from: DateTime<Utc>) -> Result<(), TestCaseError> {
    let tz: Tz = zone.parse().unwrap();
    let (rule, place, oracle) = (Rule::parse(text).unwrap(), Zone::parse(Some(zone)).unwrap(), oracle(text));
    let mut cursor = from;
    for _ in 0..5 {
        let found = rule.next_after(cursor, place).unwrap();
        let wanted = oracle.find_next_occurrence(&cursor.with_timezone(&tz), false).unwrap().to_utc();
        prop_assert_eq!(found, wanted, "{} in {} after {}", text, zone, cursor);
        cursor = found;
    }
    Ok(())
}
