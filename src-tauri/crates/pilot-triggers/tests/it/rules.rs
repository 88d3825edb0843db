//! Rules against croner, which reads crontab lines as Unix does, over random rules and years.

use chrono::{DateTime, Datelike as _, TimeZone as _, Timelike as _, Utc, Weekday};
use croner::parser::{CronParser, Seconds, Year};
use pilot_triggers::{Rule, Zone};
use proptest::prelude::*;

/// A tenth of those of `make soak`.
fn cases() -> u32 {
    if std::env::var_os("POCKETPILOT_SOAK").is_some() { 5_000 } else { 500 }
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn oracle(text: &str) -> croner::Cron {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(text).unwrap_or_else(|error| panic!("the oracle reads {text:?} too: {error}"))
}

fn next(rule: &str, from: &str) -> String {
    let next = Rule::parse(rule).unwrap().next_after(at(from), Zone::default()).unwrap();
    next.format("%a %F %H:%M").to_string()
}

#[test]
fn five_fields_mean_what_they_mean_in_a_crontab() {
    // 2026-11-30 is a Monday.
    let from = "2026-11-30T12:00:00Z";
    for (rule, wanted) in [
        ("0 9 * * 1-5", "Tue 2026-12-01 09:00"),
        ("0 9 * * 0", "Sun 2026-12-06 09:00"),
        ("0 9 * * 7", "Sun 2026-12-06 09:00"),
        ("0 9 * * SUN", "Sun 2026-12-06 09:00"),
        ("0 9 * * 6,7", "Sat 2026-12-05 09:00"),
        ("0 9 * * 5-7", "Fri 2026-12-04 09:00"),
        ("0 9 * * fri-sun", "Fri 2026-12-04 09:00"),
        ("0 0 13 * 6", "Sat 2026-12-05 00:00"),
        ("0 0 13 * *", "Sun 2026-12-13 00:00"),
        // A day field that begins with `*` must fit together with the other one.
        ("0 0 */2 * 1", "Mon 2026-12-07 00:00"),
        ("0 0 13 * */2", "Sun 2026-12-13 00:00"),
        ("*/15 * * * *", "Mon 2026-11-30 12:15"),
        ("5-59/20 12 * * *", "Mon 2026-11-30 12:05"),
        ("0 0 29 2 *", "Tue 2028-02-29 00:00"),
        ("0 0 1 jan *", "Fri 2027-01-01 00:00"),
        ("@hourly", "Mon 2026-11-30 13:00"),
        ("@daily", "Tue 2026-12-01 00:00"),
        ("@weekly", "Sun 2026-12-06 00:00"),
    ] {
        assert_eq!(next(rule, from), wanted, "{rule}");
    }
}

#[test]
fn the_crate_alone_gets_this_wrong() {
    // The control: without the normaliser the same five fields mean other days.
    let quartz: cron::Schedule = "0 0 9 * * 1-5".parse().unwrap();
    let days: Vec<Weekday> =
        quartz.after(&at("2026-11-29T00:00:00Z")).take(5).map(|slot| slot.weekday()).collect();
    assert_eq!(days[0], Weekday::Sun, "it takes 1 for Sunday: {days:?}");
    let ours = Rule::parse("0 9 * * 1-5").unwrap().upcoming(at("2026-11-29T00:00:00Z"), Zone::default(), 5);
    let days: Vec<Weekday> = ours.iter().map(DateTime::weekday).collect();
    assert_eq!(
        days,
        [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        "a rule means Monday to Friday"
    );
}

/// One item of a field: a value, a range, or a range with a step.
fn item(first: u8, last: u8) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (first..=last).prop_map(|value| value.to_string()),
        2 => (first..=last, first..=last).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (first..=last, first..=last, 1..=last.min(10))
            .prop_map(|(a, b, step)| format!("{}-{}/{step}", a.min(b), a.max(b))),
    ]
}

fn field(first: u8, last: u8, steps: bool) -> impl Strategy<Value = String> {
    let star = if steps {
        (1..=last.min(10)).prop_map(|step| format!("*/{step}")).boxed()
    } else {
        Just("*".to_owned()).boxed()
    };
    prop_oneof![
        3 => Just("*".to_owned()),
        1 => star,
        4 => item(first, last),
        2 => prop::collection::vec(item(first, last), 2..4).prop_map(|items| items.join(",")),
    ]
}

/// Rules whose day fields have no `*/n`: there croner has a meaning of its own.
pub(crate) fn rule() -> impl Strategy<Value = String> {
    (field(0, 59, true), field(0, 23, true), field(1, 31, false), field(1, 12, true), field(0, 7, false))
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}

pub(crate) fn moment() -> impl Strategy<Value = DateTime<Utc>> {
    // 2024 to 2044: five leap years, and no zone changes that are not known yet.
    (1_704_067_200i64..2_335_219_200).prop_map(|seconds| Utc.timestamp_opt(seconds, 0).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_rules_come_round_when_the_oracle_says(text in rule(), from in moment()) {
        let Ok(rule) = Rule::parse(&text) else {
            // Only a day that no month has is refused, and there the oracle finds nothing either.
            prop_assert!(oracle(&text).find_next_occurrence(&from, false).is_err(), "{text} was refused");
            return Ok(());
        };
        let oracle = oracle(&text);
        let mut cursor = from;
        for _ in 0..6 {
            let wanted = oracle.find_next_occurrence(&cursor, false).unwrap();
            let found = rule.next_after(cursor, Zone::default()).unwrap();
            prop_assert_eq!(found, wanted, "{} after {}", text, cursor);
            cursor = found;
        }
    }

    #[test]
    fn starred_steps_of_days_must_both_fit(
        day in 1u32..=10, weekday in 1u32..=3, from in moment(), which in 0..3,
    ) {
        // A second oracle for what croner sees otherwise: day by day, with nothing but the calendar.
        let (text, fits): (String, Box<dyn Fn(u32, u32) -> bool>) = match which {
            0 => (format!("0 0 */{day} * {weekday}"), Box::new(move |d, w| (d - 1).is_multiple_of(day) && w == weekday)),
            1 => (format!("0 0 {day} * */{weekday}"), Box::new(move |d, w| d == day && w.is_multiple_of(weekday))),
            _ => (format!("0 0 {day} * {weekday}"), Box::new(move |d, w| d == day || w == weekday)),
        };
        let rule = Rule::parse(&text).unwrap();
        let mut wanted = from.date_naive();
        loop {
            wanted = wanted.succ_opt().unwrap();
            if fits(wanted.day(), wanted.weekday().num_days_from_sunday()) {
                break;
            }
        }
        let found = rule.next_after(from, Zone::default()).unwrap();
        prop_assert_eq!(found.date_naive(), wanted, "{} after {}", text, from);
        prop_assert_eq!((found.hour(), found.minute()), (0, 0), "at midnight");
    }

    #[test]
    fn nothing_that_is_typed_makes_it_panic(text in "[ -~*/,0-9]{0,40}", from in moment()) {
        if let Ok(rule) = Rule::parse(&text) {
            let next = rule.next_after(from, Zone::default());
            prop_assert!(next.is_none_or(|next| next > from), "{text:?} comes round after {from}, not before");
        }
    }
}
