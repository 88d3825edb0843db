//! One field of a rule: which of its values are meant.

use super::RuleError;
use std::collections::BTreeSet;

/// One of the five fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or JAN to DEC.
    Month,
    /// 0 to 7, or SUN to SAT; 0 and 7 are Sunday.
    DayOfWeek,
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
pub(super) const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    /// The fields in the order of a rule.
    pub const ALL: [Field; 5] =
        [Field::Minute, Field::Hour, Field::DayOfMonth, Field::Month, Field::DayOfWeek];

    /// Its place in a rule, from 1.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Field::Minute => 1,
            Field::Hour => 2,
            Field::DayOfMonth => 3,
            Field::Month => 4,
            Field::DayOfWeek => 5,
        }
    }

    /// What one of its values is, with an article.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Field::Minute => "a minute",
            Field::Hour => "an hour",
            Field::DayOfMonth => "a day of the month",
            Field::Month => "a month",
            Field::DayOfWeek => "a day of the week",
        }
    }

    fn bounds(self) -> (u8, u8) {
        match self {
            Field::Minute => (0, 59),
            Field::Hour => (0, 23),
            Field::DayOfMonth => (1, 31),
            Field::Month => (1, 12),
            Field::DayOfWeek => (0, 7),
        }
    }

    fn named(self, text: &str) -> Option<u8> {
        let (names, first): (&[&str], u8) = match self {
            Field::Month => (&MONTHS, 1),
            Field::DayOfWeek => (&DAYS, 0),
            Field::Minute | Field::Hour | Field::DayOfMonth => return None,
        };
        let at = names.iter().position(|name| name.eq_ignore_ascii_case(text))?;
        u8::try_from(at).ok().map(|at| at + first)
    }
}

/// The values of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) set: BTreeSet<u8>,
    /// The field begins with `*`. Between the two day fields this decides whether both or either must fit.
    pub(super) starred: bool,
    /// Every value is meant.
    pub(super) all: bool,
}

/// Reads one field: a list of values, ranges and steps.
pub(super) fn read(field: Field, text: &str) -> Result<Values, RuleError> {
    let mut set = BTreeSet::new();
    for item in text.split(',') {
        read_item(field, item, &mut set)?;
    }
    if field == Field::DayOfWeek && set.remove(&7) {
        set.insert(0);
    }
    let (first, last) = field.bounds();
    let whole = if field == Field::DayOfWeek { 7 } else { usize::from(last - first) + 1 };
    Ok(Values { all: set.len() == whole, starred: text.starts_with('*'), set })
}

fn read_item(field: Field, item: &str, set: &mut BTreeSet<u8>) -> Result<(), RuleError> {
    let (range, step) = match item.split_once('/') {
        None => (item, None),
        Some((range, step)) => (range, Some(step)),
    };
    let (first, last) = match range.split_once('-') {
        _ if range == "*" => {
            let (first, last) = field.bounds();
            // The second Sunday of the week would make a step count one day too many.
            (first, if field == Field::DayOfWeek { 6 } else { last })
        }
        None => {
            let value = value(field, range)?;
            if step.is_some() {
                return Err(RuleError::step(field, item));
            }
            (value, value)
        }
        Some((from, to)) => {
            let (from, mut to) = (value(field, from)?, value(field, to)?);
            // `FRI-SUN` means what it says: as the end of a range, Sunday is the seventh day.
            if field == Field::DayOfWeek && to == 0 && from > 0 {
                to = 7;
            }
            if from > to {
                return Err(RuleError::range(field, item));
            }
            (from, to)
        }
    };
    let step = match step {
        None => 1,
        Some(text) => {
            let wanted = number(text).filter(|step| *step > 0 && *step <= field.bounds().1);
            wanted.ok_or_else(|| RuleError::step(field, item))?
        }
    };
    set.extend((first..=last).step_by(usize::from(step)));
    Ok(())
}

fn value(field: Field, text: &str) -> Result<u8, RuleError> {
    let (first, last) = field.bounds();
    let found = field.named(text).or_else(|| number(text).filter(|value| (first..=last).contains(value)));
    found.ok_or_else(|| RuleError::value(field, text))
}

/// A plain number of at most three digits: no sign, no blank, no digit of another script.
fn number(text: &str) -> Option<u8> {
    let plain = !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
