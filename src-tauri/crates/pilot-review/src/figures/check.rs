//! Where each figure comes from.

use super::currency::{Currency, fits};
use super::derive;
use super::draft::{Draft, Proposal, Sheet, is_amount_header, is_count_header};
use super::evidence::{Entry, Evidence, Role, plain_name};
use super::number::{Number, Reading};
use super::scan::What;
use super::totals;
use crate::card::FigureVerdict;
use rust_decimal::Decimal;
use std::collections::{HashMap, HashSet};

/// Figures for which values with nearly the same digits are looked for.
const MAX_TRIES: usize = 1_000;

/// A figure whose source was found.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// Its exact value.
    pub(crate) value: Decimal,
    pub(crate) currency: Option<Currency>,
    pub(crate) percent: bool,
    /// Whether it is a total, so that a share of it means something.
    pub(crate) is_total: bool,
}

/// The check of one proposal.
pub(crate) struct Check<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) proposal: &'a Proposal,
    pub(crate) verdicts: Vec<Option<FigureVerdict>>,
    pub(crate) settled: Vec<Option<Settled>>,
}

/// Looks up every figure: known first, then what follows from what is known, then what comes close.
pub(crate) fn verdicts(proposal: &Proposal, evidence: &Evidence) -> Vec<FigureVerdict> {
    let count = proposal.drafts.len();
    let mut check = Check { evidence, proposal, verdicts: vec![None; count], settled: vec![None; count] };
    check.known();
    check.rows_by_name();
    totals::group_sums(&mut check);
    totals::totals(&mut check);
    derive::differences(&mut check);
    derive::shares(&mut check);
    // A total may stand over figures that were only just explained.
    totals::totals(&mut check);
    check.close_ones();
    check.verdicts.into_iter().map(|verdict| verdict.unwrap_or(FigureVerdict::Unsourced)).collect()
}

impl Check<'_> {
    /// The number of a figure that is still open.
    pub(crate) fn open(&self, index: usize) -> Option<&Number> {
        match (&self.verdicts[index], &self.proposal.drafts[index].what) {
            (None, What::Number(number)) => Some(number),
            (Some(_), _) | (None, What::Identifier(_)) => None,
        }
    }

    /// Records that a figure follows from others.
    pub(crate) fn derived(&mut self, index: usize, value: Settled, how: String) {
        self.verdicts[index] = Some(FigureVerdict::Derived { how });
        self.settled[index] = Some(value);
    }

    fn known(&mut self) {
        for (index, draft) in self.proposal.drafts.iter().enumerate() {
            match &draft.what {
                What::Identifier(identifier) => {
                    let verdict = match self.evidence.identifier(identifier) {
                        Some(source) => FigureVerdict::Known { source },
                        None => FigureVerdict::Unsourced,
                    };
                    self.verdicts[index] = Some(verdict);
                }
                What::Number(number) => {
                    let labels = &self.proposal.labels[draft.row];
                    if let Some((value, entry)) = best(self.evidence, number, labels) {
                        self.settled[index] = Some(Settled {
                            value,
                            currency: entry.currency.or(number.currency),
                            percent: number.percent,
                            is_total: entry.role == Role::Total,
                        });
                        self.verdicts[index] =
                            Some(FigureVerdict::Known { source: self.evidence.source(entry) });
                    }
                }
            }
        }
    }

    /// In a table, the row says whose figure it is: another one's total or count in it differs.
    fn rows_by_name(&mut self) {
        let named_once = self.named_once();
        let only: Vec<Option<usize>> =
            self.proposal.sheets.iter().map(|sheet| self.only_amount(sheet)).collect();
        for (index, draft) in self.proposal.drafts.iter().enumerate() {
            let (Some(at), What::Number(number), [label]) =
                (draft.at, &draft.what, self.proposal.labels[draft.row].as_slice())
            else {
                continue;
            };
            let Some(sheet) = self.proposal.sheets.get(at.table) else { continue };
            let header = sheet.header.get(at.column).map_or("", String::as_str);
            // A month as a heading asks for less than the row's total; a supplier with several rows has one for each invoice.
            if at.row == 0
                || number.percent
                || self.evidence.label(header).is_some()
                || !named_once.contains(&(at.table, *label))
            {
                continue;
            }
            let expected = if is_count_header(header) && number.decimals == 0 && number.currency.is_none() {
                self.evidence.labels[*label].count
            } else if is_amount_header(header) || only[at.table] == Some(at.column) {
                let known_elsewhere = self.verdicts[index].is_some() && !self.only_other_rows(number, *label);
                if known_elsewhere { None } else { self.total_of(*label, number, draft) }
            } else {
                None
            };
            let Some(entry) = expected.map(|entry| &self.evidence.entries[entry]) else { continue };
            let source = self.evidence.source(entry);
            if matched(number, entry).is_some() {
                let is_total = entry.role == Role::Total;
                let (value, currency) = (entry.value, entry.currency);
                self.settled[index] = Some(Settled { value, currency, percent: false, is_total });
                self.verdicts[index] = Some(FigureVerdict::Known { source });
            } else {
                self.settled[index] = None;
                self.verdicts[index] =
                    Some(FigureVerdict::Differs { computed: entry.value.to_string(), source });
            }
        }
    }

    /// Rows of the analysis that exactly one row of a table names.
    fn named_once(&self) -> HashSet<(usize, usize)> {
        let mut rows: HashMap<(usize, usize), HashSet<usize>> = HashMap::new();
        for draft in &self.proposal.drafts {
            if let (Some(at), [label]) = (draft.at, self.proposal.labels[draft.row].as_slice()) {
                rows.entry((at.table, *label)).or_default().insert(draft.row);
            }
        }
        rows.into_iter().filter(|(_, rows)| rows.len() == 1).map(|(key, _)| key).collect()
    }

    /// The one column of a table with amounts of money, when there is only one.
    fn only_amount(&self, sheet: &Sheet) -> Option<usize> {
        let width = sheet.rows.iter().map(Vec::len).max().unwrap_or(0);
        let has_amounts = |column: &usize| {
            let numbers = sheet.rows.iter().skip(1).filter_map(|row| row.get(*column).copied().flatten());
            let mut numbers = numbers.filter_map(|draft| match &self.proposal.drafts[draft].what {
                What::Number(number) => Some(number),
                What::Identifier(_) => None,
            });
            numbers.any(|number| !number.percent && (number.currency.is_some() || number.decimals == 2))
        };
        let mut columns = (0..width.min(64)).filter(has_amounts);
        columns.next().filter(|_| columns.next().is_none())
    }

    /// Whether a number is only known as a figure of other rows.
    fn only_other_rows(&self, number: &Number, label: usize) -> bool {
        let mut all = matches(self.evidence, number).peekable();
        all.peek().is_some() && all.all(|(_, entry)| entry.label.is_some_and(|other| other != label))
    }

    /// The total of a row of the analysis in the currency of a figure; `None` when it has several and none is named.
    pub(crate) fn total_of(&self, label: usize, number: &Number, draft: &Draft) -> Option<usize> {
        let totals = &self.evidence.labels[label].totals;
        let named = number.currency.or_else(|| Currency::within(&self.proposal.texts[draft.row]));
        let mut fitting = totals.iter().filter(|(currency, _)| fits(*currency, named));
        match (fitting.next(), fitting.next()) {
            (Some((_, entry)), None) => Some(*entry),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }

    fn close_ones(&mut self) {
        let mut tried = 0;
        for index in 0..self.proposal.drafts.len() {
            let Some(number) = self.open(index) else { continue };
            let draft = &self.proposal.drafts[index];
            tried += 1;
            let near = |check: &Self| if tried > MAX_TRIES { None } else { check.near_digits(number, draft) };
            let verdict = self
                .other_currency(number)
                .or_else(|| totals::mismatched_total(self, index))
                .or_else(|| near(self))
                .or_else(|| self.named(number, draft));
            self.verdicts[index] = verdict;
        }
    }

    /// The same amount in another currency.
    fn other_currency(&self, number: &Number) -> Option<FigureVerdict> {
        let currency = number.currency?;
        let reading = *number.readings.first().filter(|_| number.is_telling())?;
        let entry = self
            .evidence
            .near(reading, Decimal::ZERO, None)
            .find(|entry| !fits(entry.currency, Some(currency)))?;
        let code = entry.currency.map_or("", |currency| currency.0);
        Some(FigureVerdict::Differs {
            computed: format!("{} {code}", entry.value),
            source: self.evidence.source(entry),
        })
    }

    /// One digit changed, or two neighbours swapped.
    fn near_digits(&self, number: &Number, draft: &Draft) -> Option<FigureVerdict> {
        let reading = *number.readings.first().filter(|_| number.digits >= 4)?;
        let labels = &self.proposal.labels[draft.row];
        let mut found: Option<(u32, &Entry)> = None;
        for value in neighbours(reading) {
            for entry in
                self.evidence.near(Reading { value, ..reading }, half(number, reading), number.currency)
            {
                let is_item = entry.role == Role::Item;
                if entry.percent != number.percent || (is_item && number.digits < 6) {
                    continue;
                }
                let own = entry.label.is_some_and(|label| labels.contains(&label));
                let rank =
                    u32::from(!own) * 10 + u32::from(is_item) * 5 + u32::from(entry.role != Role::Total);
                if found.is_none_or(|(best, _)| rank < best) {
                    found = Some((rank, entry));
                }
            }
        }
        let (_, entry) = found?;
        Some(FigureVerdict::Differs {
            computed: entry.value.to_string(),
            source: self.evidence.source(entry),
        })
    }

    /// The one amount of a line that names one row of the analysis.
    fn named(&self, number: &Number, draft: &Draft) -> Option<FigureVerdict> {
        let [label] = self.proposal.labels[draft.row].as_slice() else { return None };
        let is_amount =
            |number: &Number| !number.percent && (number.currency.is_some() || number.decimals == 2);
        let amounts = self.proposal.drafts.iter().filter(|other| {
            other.row == draft.row && matches!(&other.what, What::Number(number) if is_amount(number))
        });
        if draft.at.is_some() || !is_amount(number) || amounts.take(2).count() != 1 {
            return None;
        }
        if !speaks_of(&self.proposal.texts[draft.row], &self.evidence.labels[*label].name, &draft.text) {
            return None;
        }
        let entry = &self.evidence.entries[self.total_of(*label, number, draft)?];
        Some(FigureVerdict::Differs {
            computed: entry.value.to_string(),
            source: self.evidence.source(entry),
        })
    }
}

/// Whether a line gives an amount as that of a name: right behind it, or with a word for a total.
fn speaks_of(line: &str, name: &str, amount: &str) -> bool {
    let (line, name, amount) = (plain_name(line), plain_name(name), plain_name(amount));
    let Some(behind) = line.find(&name).map(|at| &line[at + name.len()..]) else { return false };
    let Some(between) = behind.find(&amount).map(|at| &behind[..at]) else { return false };
    let says_total =
        ["合计", "总计", "总额", "共计", "共", "total", "sum"].iter().any(|word| between.contains(word));
    says_total || between.chars().count() <= 8
}

/// How far a value may lie from what is shown: half of the last digit. Small whole numbers must be equal.
pub(crate) fn half(number: &Number, reading: Reading) -> Decimal {
    let rounds = number.digits >= 3 || number.decimals > 0 || reading.unit > Decimal::ONE;
    if rounds { reading.unit / Decimal::TWO } else { Decimal::ZERO }
}

/// Entries that a number may be, with their value in the number's own terms.
fn matches<'a>(
    evidence: &'a Evidence,
    number: &'a Number,
) -> impl Iterator<Item = (Decimal, &'a Entry)> + 'a {
    let whole = number.readings.iter().flat_map(move |reading| {
        evidence
            .near(*reading, half(number, *reading), number.currency)
            .filter_map(move |entry| matched(number, entry).map(|value| (value, entry)))
    });
    // A share that a tool gave as a fraction of one.
    let fractions = number.readings.iter().filter(|_| number.percent).flat_map(move |reading| {
        let scaled = Reading {
            value: reading.value / Decimal::ONE_HUNDRED,
            unit: reading.unit / Decimal::ONE_HUNDRED,
        };
        let entries = evidence.near(scaled, scaled.unit / Decimal::TWO, None);
        entries
            .filter(|entry| {
                !entry.percent
                    && entry.currency.is_none()
                    && entry.role != Role::Count
                    && !entry.value.is_integer()
            })
            .map(move |entry| (entry.value * Decimal::ONE_HUNDRED, entry))
    });
    whole.chain(fractions)
}

/// The value of an entry, when a number shows it: same kind, same sign where a minus is written.
fn matched(number: &Number, entry: &Entry) -> Option<Decimal> {
    if number.percent != entry.percent || !fits(number.currency, entry.currency) {
        return None;
    }
    let shows = number.readings.iter().any(|reading| {
        let close = (reading.value.abs() - entry.value.abs()).abs() <= half(number, *reading);
        // `300.00` may speak of a credit of -300.00, but `-300.00` never of 300.00.
        close
            && (entry.value.is_sign_negative()
                || !reading.value.is_sign_negative()
                || reading.value.is_zero())
    });
    shows.then_some(entry.value)
}

/// The best source: the row that the line names, then the exact value, then totals before single rows.
fn best<'a>(evidence: &'a Evidence, number: &'a Number, labels: &[usize]) -> Option<(Decimal, &'a Entry)> {
    matches(evidence, number).min_by_key(|(value, entry)| {
        let own = entry.label.is_some_and(|label| labels.contains(&label));
        let exact = number.readings.first().is_some_and(|reading| reading.value.abs() == value.abs());
        (!own, !exact, entry.role)
    })
}

/// Values that differ from a shown one by one digit, or by two neighbours that changed places.
fn neighbours(reading: Reading) -> Vec<Decimal> {
    let (value, unit) = (reading.value.abs(), reading.unit);
    let Some(steps) = value.checked_div(unit).map(|steps| steps.trunc().normalize().to_string()) else {
        return Vec::new();
    };
    let digits: Vec<u32> = steps.chars().filter_map(|digit| digit.to_digit(10)).collect();
    if digits.len() > 18 {
        return Vec::new();
    }
    let number = |digits: &[u32]| -> Option<Decimal> {
        let value = digits.iter().fold(0_i64, |value, digit| value * 10 + i64::from(*digit));
        Decimal::from(value).checked_mul(unit)
    };
    let mut values = Vec::new();
    for at in 0..digits.len() {
        for other in 0..10 {
            if other != digits[at] && !(at == 0 && other == 0) {
                let mut changed = digits.clone();
                changed[at] = other;
                values.extend(number(&changed));
            }
        }
        if at + 1 < digits.len() && digits[at] != digits[at + 1] && !(at == 0 && digits[1] == 0) {
            let mut changed = digits.clone();
            changed.swap(at, at + 1);
            values.extend(number(&changed));
        }
    }
    values
}
