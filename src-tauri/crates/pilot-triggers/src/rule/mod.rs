//! Rules: five fields in their Unix meaning, and when they come round.
//!
//! The `cron` crate computes the times, behind a normaliser: it reads Quartz rules, in which 1 is Sunday and both day
//! fields must fit, so a person's five fields are never handed to it. They are read here, written out as lists (days of
//! the week by name), and where either day field may fit the rule is the union of two schedules.
//!
//! **Time zones.** A rule names times on the wall. Where the clock is put forward, a time that does not exist comes at
//! the first moment after the gap. Where it is put back, a time that exists twice comes at the first of the two. A rule
//! whose hour field begins with `*` goes by the hours that really pass instead: it leaves out a skipped hour and comes
//! round in both of a repeated one.

mod fields;

pub use fields::Field;

use chrono::{DateTime, Duration, MappedLocalTime, NaiveDateTime, Offset as _, TimeZone as _, Utc};
use chrono_tz::Tz;
use fields::{DAYS, Values};
use pilot_types::ErrorCode;
use std::str::FromStr as _;

/// Characters of a rule at most. The longest sensible list of a field is far shorter.
const RULE_LIMIT: usize = 512;
/// No zone's clock ever jumped by more than a day and a bit.
const LARGEST_JUMP: Duration = Duration::hours(26);
/// Times that are worked out at once at most.
const UPCOMING_LIMIT: usize = 1_000;

/// What is wrong with a rule or a zone, in words that name the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Not five fields.
    #[error(
        "a rule has five fields (minute, hour, day of the month, month, day of the week); this one has {found}"
    )]
    Fields {
        /// How many there are.
        found: usize,
    },
    /// Begins with `@` and is not known.
    #[error("{text} is not one of @hourly, @daily and @weekly")]
    Nickname {
        /// What was written.
        text: String,
    },
    /// A value that the field does not have.
    #[error("field {}: {text} is not {}", field.number(), field.noun())]
    Value {
        /// The field.
        field: Field,
        /// What was written.
        text: String,
    },
    /// A range that runs backwards.
    #[error("field {}: the range {text} runs backwards", field.number())]
    Range {
        /// The field.
        field: Field,
        /// What was written.
        text: String,
    },
    /// A step that is 0, too large, or has nothing to step through.
    #[error("field {}: {text} is not a step; write it like */5 or 10-50/5", field.number())]
    Step {
        /// The field.
        field: Field,
        /// What was written.
        text: String,
    },
    /// A day that no year has.
    #[error("this rule never comes round: no such day exists")]
    Never,
    /// Not an IANA time zone.
    #[error("{text} is not a time zone; write it like Asia/Shanghai or Europe/Berlin")]
    Zone {
        /// What was written.
        text: String,
    },
}

impl RuleError {
    /// The code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            RuleError::Fields { .. } | RuleError::Nickname { .. } => ErrorCode::ScheduleFields,
            RuleError::Value { .. } | RuleError::Range { .. } | RuleError::Step { .. } => {
                ErrorCode::ScheduleValue
            }
            RuleError::Never => ErrorCode::ScheduleNever,
            RuleError::Zone { .. } => ErrorCode::ScheduleZone,
        }
    }

    /// The field and the text in it that is wrong.
    #[must_use]
    pub fn place(&self) -> Option<(Field, &str)> {
        match self {
            RuleError::Value { field, text }
            | RuleError::Range { field, text }
            | RuleError::Step { field, text } => Some((*field, text)),
            RuleError::Fields { .. }
            | RuleError::Nickname { .. }
            | RuleError::Never
            | RuleError::Zone { .. } => None,
        }
    }

    fn value(field: Field, text: &str) -> Self {
        RuleError::Value { field, text: shown(text) }
    }

    fn range(field: Field, text: &str) -> Self {
        RuleError::Range { field, text: shown(text) }
    }

    fn step(field: Field, text: &str) -> Self {
        RuleError::Step { field, text: shown(text) }
    }
}

/// What a person wrote, short and without anything that cannot be seen; `nothing` where there is nothing.
fn shown(text: &str) -> String {
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let short: String = text.chars().take(24).collect();
    short.escape_debug().to_string()
}

/// The time zone in which a rule is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone(Tz);

impl Default for Zone {
    fn default() -> Self {
        Self(Tz::UTC)
    }
}

impl Zone {
    /// Reads an IANA name; nothing means UTC.
    ///
    /// # Errors
    /// [`RuleError::Zone`].
    pub fn parse(name: Option<&str>) -> Result<Self, RuleError> {
        match name.map(str::trim).filter(|name| !name.is_empty()) {
            None => Ok(Self::default()),
            Some(name) => Tz::from_str(name).map(Self).map_err(|_| RuleError::Zone { text: shown(name) }),
        }
    }

    /// Its IANA name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// A moment as the wall shows it there, with its offset.
    #[must_use]
    pub fn local(self, at: DateTime<Utc>) -> DateTime<chrono::FixedOffset> {
        at.with_timezone(&self.0).fixed_offset()
    }

    /// True when the clock there is moved within a day of this moment.
    fn jumps_near(self, at: DateTime<Utc>) -> bool {
        let offset = |at: DateTime<Utc>| self.0.offset_from_utc_datetime(&at.naive_utc()).fix();
        let around =
            [at - LARGEST_JUMP, at - Duration::hours(3), at, at + Duration::hours(3), at + LARGEST_JUMP];
        around.windows(2).any(|pair| offset(pair[0]) != offset(pair[1]))
    }
}

/// Which of two moments that look the same on the wall.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    First,
    Second,
}

/// A rule that can be computed.
#[derive(Clone, Debug)]
pub struct Rule {
    /// One schedule, or two of which either may fit.
    either: Vec<cron::Schedule>,
    /// The hour field begins with `*`: the rule goes by the hours that really pass.
    every_hour: bool,
}

impl Rule {
    /// Reads five fields, or `@hourly`, `@daily`, `@weekly`.
    ///
    /// # Errors
    /// What is wrong, by field.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let fields: Vec<&str> = match text.strip_prefix('@') {
            Some(name) => nickname(name).ok_or_else(|| RuleError::Nickname { text: shown(text) })?,
            None => text.split_whitespace().collect(),
        };
        let found = fields.len();
        let [minute, hour, day, month, weekday] =
            <[&str; 5]>::try_from(fields).map_err(|_| RuleError::Fields { found })?;
        if text.len() > RULE_LIMIT {
            return Err(RuleError::Fields { found });
        }
        let minute = fields::read(Field::Minute, minute)?;
        let hour = fields::read(Field::Hour, hour)?;
        let day = fields::read(Field::DayOfMonth, day)?;
        let month = fields::read(Field::Month, month)?;
        let weekday = fields::read(Field::DayOfWeek, weekday)?;

        let both = day.starred || weekday.starred;
        if both && !has_a_day(&day, &month) {
            return Err(RuleError::Never);
        }
        let every = |field: Field| fields::read(field, "*");
        let pairs = if both {
            vec![(day, weekday)]
        } else {
            vec![(day, every(Field::DayOfWeek)?), (every(Field::DayOfMonth)?, weekday)]
        };
        let either = pairs
            .iter()
            .map(|(day, weekday)| schedule(&minute, &hour, day, &month, weekday))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { either, every_hour: hour.starred })
    }

    /// The first time after this moment at which the rule comes round; `None` when it does not within this century.
    #[must_use]
    pub fn next_after(&self, at: DateTime<Utc>, zone: Zone) -> Option<DateTime<Utc>> {
        let local = at.with_timezone(&zone.0).naive_local();
        let first = self.first_after(local, at, zone, Pass::First);
        if !self.every_hour || !zone.jumps_near(at) {
            return first;
        }
        // Within a repeated hour the second pass comes after the first, though it reads the same on the wall.
        let second = self.first_after(local - LARGEST_JUMP, at, zone, Pass::Second);
        first.into_iter().chain(second).min()
    }

    /// The next times, at most a thousand.
    #[must_use]
    pub fn upcoming(&self, after: DateTime<Utc>, zone: Zone, count: usize) -> Vec<DateTime<Utc>> {
        std::iter::successors(self.next_after(after, zone), |last| self.next_after(*last, zone))
            .take(count.min(UPCOMING_LIMIT))
            .collect()
    }

    /// The first time on the wall after `local` whose moment is after `at`. The wall's order is the order of moments
    /// within one pass, so nothing before `local` can be meant.
    fn first_after(
        &self,
        mut local: NaiveDateTime,
        at: DateTime<Utc>,
        zone: Zone,
        pass: Pass,
    ) -> Option<DateTime<Utc>> {
        loop {
            local = self.next_on_the_wall(local)?;
            if let Some(moment) = self.moment(local, zone, pass)
                && moment > at
            {
                return Some(moment);
            }
        }
    }

    fn next_on_the_wall(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let after = after.and_utc();
        self.either.iter().filter_map(|schedule| schedule.after(&after).next()).min().map(|at| at.naive_utc())
    }

    fn moment(&self, local: NaiveDateTime, zone: Zone, pass: Pass) -> Option<DateTime<Utc>> {
        match zone.0.from_local_datetime(&local) {
            MappedLocalTime::Single(at) => Some(at.to_utc()),
            MappedLocalTime::Ambiguous(first, second) => match pass {
                Pass::First => Some(first.to_utc()),
                Pass::Second => Some(second.to_utc()),
            },
            MappedLocalTime::None if self.every_hour => None,
            MappedLocalTime::None => after_gap(local, zone),
        }
    }
}

/// The first moment after the gap in which a time on the wall lies.
fn after_gap(local: NaiveDateTime, zone: Zone) -> Option<DateTime<Utc>> {
    (1..=LARGEST_JUMP.num_minutes())
        .find_map(|minutes| zone.0.from_local_datetime(&(local + Duration::minutes(minutes))).earliest())
        .map(|at| at.to_utc())
}

fn nickname(name: &str) -> Option<Vec<&'static str>> {
    let rule = match name.to_ascii_lowercase().as_str() {
        "hourly" => "0 * * * *",
        "daily" => "0 0 * * *",
        "weekly" => "0 0 * * 0",
        _ => return None,
    };
    Some(rule.split(' ').collect())
}

/// True when one of the months has one of the days, in a leap year at least.
fn has_a_day(day: &Values, month: &Values) -> bool {
    let longest = |month: u8| match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    day.set.first().is_some_and(|first| month.set.iter().any(|month| *first <= longest(*month)))
}

/// Writes the fields out for the `cron` crate: seconds first, days of the week by name.
fn schedule(
    minute: &Values,
    hour: &Values,
    day: &Values,
    month: &Values,
    weekday: &Values,
) -> Result<cron::Schedule, RuleError> {
    let numbers = |values: &Values| written(values, |value| value.to_string());
    let names = written(weekday, |value| DAYS[usize::from(value) % DAYS.len()].to_owned());
    let text = format!("0 {} {} {} {} {names}", numbers(minute), numbers(hour), numbers(day), numbers(month));
    // Everything in it was read above; what is left is a rule that has no time at all.
    cron::Schedule::from_str(&text).map_err(|_| RuleError::Never)
}

fn written(values: &Values, word: impl Fn(u8) -> String) -> String {
    if values.all {
        return "*".to_owned();
    }
    values.set.iter().map(|value| word(*value)).collect::<Vec<_>>().join(",")
}
