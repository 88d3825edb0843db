//! What is wrong with a rule is said by field.

use pilot_triggers::{Rule, Zone};
use pilot_types::ErrorCode;

#[test]
fn every_error_names_its_field_and_what_stands_there() {
    let wrong: &[(&str, ErrorCode, &str)] = &[
        ("0 25 * * *", ErrorCode::ScheduleValue, "field 2: 25 is not an hour"),
        ("60 9 * * *", ErrorCode::ScheduleValue, "field 1: 60 is not a minute"),
        ("0 9 0 * *", ErrorCode::ScheduleValue, "field 3: 0 is not a day of the month"),
        ("0 9 32 * *", ErrorCode::ScheduleValue, "field 3: 32 is not a day of the month"),
        ("0 9 * 13 *", ErrorCode::ScheduleValue, "field 4: 13 is not a month"),
        ("0 9 * FOO *", ErrorCode::ScheduleValue, "field 4: FOO is not a month"),
        ("0 9 * * 8", ErrorCode::ScheduleValue, "field 5: 8 is not a day of the week"),
        ("0 9 * * MON-FOO", ErrorCode::ScheduleValue, "field 5: FOO is not a day of the week"),
        ("0 17-9 * * *", ErrorCode::ScheduleValue, "field 2: the range 17-9 runs backwards"),
        ("*/0 * * * *", ErrorCode::ScheduleValue, "field 1: */0 is not a step"),
        ("5/10 * * * *", ErrorCode::ScheduleValue, "field 1: 5/10 is not a step"),
        ("*/90 * * * *", ErrorCode::ScheduleValue, "field 1: */90 is not a step"),
        ("1, * * * *", ErrorCode::ScheduleValue, "field 1: nothing is not a minute"),
        ("-5 * * * *", ErrorCode::ScheduleValue, "field 1: nothing is not a minute"),
        ("+5 * * * *", ErrorCode::ScheduleValue, "field 1: +5 is not a minute"),
        ("٣ * * * *", ErrorCode::ScheduleValue, "is not a minute"),
        ("? * * * *", ErrorCode::ScheduleValue, "field 1: ? is not a minute"),
        ("0 0 L * *", ErrorCode::ScheduleValue, "field 3: L is not a day of the month"),
        ("0 0 * * 5#2", ErrorCode::ScheduleValue, "field 5: 5#2 is not a day of the week"),
        ("0 0 9 * * 1-5", ErrorCode::ScheduleFields, "this one has 6"),
        ("0 9 * *", ErrorCode::ScheduleFields, "this one has 4"),
        ("", ErrorCode::ScheduleFields, "this one has 0"),
        ("@yearly", ErrorCode::ScheduleFields, "@yearly is not one of"),
        ("@reboot", ErrorCode::ScheduleFields, "@reboot is not one of"),
        ("0 0 31 2 *", ErrorCode::ScheduleNever, "no such day exists"),
        ("0 0 30 2 *", ErrorCode::ScheduleNever, "no such day exists"),
        ("0 0 31 4,6,9,11 *", ErrorCode::ScheduleNever, "no such day exists"),
        ("0 0 31 FEB */2", ErrorCode::ScheduleNever, "no such day exists"),
    ];
    for (text, code, words) in wrong {
        let error = Rule::parse(text).expect_err(text);
        assert_eq!(error.code(), *code, "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?} is explained by {words:?}: {error}");
    }
    let long = format!("{} * * * *", ["1"; 400].join(","));
    assert_eq!(Rule::parse(&long).unwrap_err().code(), ErrorCode::ScheduleFields, "a rule has an end");
}

#[test]
fn a_day_that_comes_by_the_week_or_in_leap_years_is_no_error() {
    for text in ["0 0 31 2 1", "0 0 29 2 *", "0 0 29 FEB SUN", "0 0 30 1-2 *", "@Daily", " 0  9 * * 1-5 "] {
        assert!(Rule::parse(text).is_ok(), "{text:?} comes round");
    }
}

#[test]
fn a_zone_is_an_iana_name_or_nothing() {
    for name in [None, Some(""), Some("UTC"), Some("Asia/Shanghai"), Some(" Europe/Berlin ")] {
        assert!(Zone::parse(name).is_ok(), "{name:?} is a zone");
    }
    for name in ["Mars/Base", "UTC+8", "asia shanghai", "\u{202e}UTC"] {
        let error = Zone::parse(Some(name)).expect_err(name);
        assert_eq!(error.code(), ErrorCode::ScheduleZone, "{name:?}: {error}");
        assert!(!error.to_string().contains('\u{202e}'), "nothing invisible is repeated: {error}");
    }
}
