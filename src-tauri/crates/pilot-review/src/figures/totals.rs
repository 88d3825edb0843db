//! Totals: of the column, row or list that a figure stands in, and of the counted rows of one supplier and month.

use super::check::{Check, Settled, half};
use super::currency::{Currency, fits};
use super::draft::{Sheet, is_count_header};
use super::evidence::{Role, plain_name};
use super::number::{Number, Reading};
use super::scan::What;
use crate::card::FigureVerdict;
use rust_decimal::Decimal;

/// Terms that a sum names before it only counts them.
const MAX_TERMS: usize = 4;

/// Sums of counted rows by supplier and month, where the row or the heading names the supplier.
pub(crate) fn group_sums(check: &mut Check<'_>) {
    if check.evidence.sums.is_empty() {
        return;
    }
    for index in 0..check.proposal.drafts.len() {
        let Some(number) = check.open(index).filter(|number| number.is_telling() && !number.percent) else {
            continue;
        };
        let draft = &check.proposal.drafts[index];
        let mut names: Vec<String> = check.proposal.labels[draft.row]
            .iter()
            .map(|label| plain_name(&check.evidence.labels[*label].name))
            .collect();
        let header = draft.at.and_then(|at| check.proposal.sheets.get(at.table)?.header.get(at.column));
        names.extend(header.map(|header| plain_name(header)));
        let sum = check.evidence.sums.iter().find(|sum| {
            names.contains(&sum.name) && fits(sum.currency, number.currency) && shows(number, sum.value)
        });
        if let Some(sum) = sum {
            let (value, currency, how) = (sum.value, sum.currency, sum.how.clone());
            check.derived(index, Settled { value, currency, percent: false, is_total: false }, how);
        }
    }
}

/// Totals of columns and rows of tables, and of lists; and the same totals where the text repeats them.
pub(crate) fn totals(check: &mut Check<'_>) {
    let mut sums = Vec::new();
    for table in 0..check.proposal.sheets.len() {
        let width = check.proposal.sheets[table].rows.iter().map(Vec::len).max().unwrap_or(0);
        for column in 0..width {
            sums.extend(column_totals(check, table, column));
        }
        row_totals(check, table);
    }
    for list in &check.proposal.lists {
        sums.push(Sum::of(check, list));
    }
    sums.retain(Sum::is_sound);
    for index in 0..check.proposal.drafts.len() {
        if check.proposal.drafts[index].at.is_some() {
            continue;
        }
        let Some(number) = check.open(index).filter(|number| number.is_telling()) else { continue };
        if let Some(sum) = sums.iter().find(|sum| sum.fits(number)) {
            let how = sum.how(check);
            check.derived(index, sum.settled(), how);
        }
    }
}

/// The sum of the figures above in a total row's column, when the figure there is another.
pub(crate) fn mismatched_total(check: &Check<'_>, index: usize) -> Option<FigureVerdict> {
    let number = check.open(index)?;
    let at = check.proposal.drafts[index].at?;
    let sheet = check.proposal.sheets.get(at.table)?;
    if sheet.totals.get(at.row) != Some(&true) || number.percent {
        return None;
    }
    let above: Vec<usize> = (1..at.row)
        .filter(|row| sheet.totals.get(*row) == Some(&false))
        .filter_map(|row| sheet.rows[row].get(at.column).copied().flatten())
        .collect();
    let sum =
        Some(Sum::of(check, &above)).filter(|sum| sum.is_sound() && fits(sum.currency, number.currency))?;
    // The tool's own figure is the better source where there is one.
    let reading = Reading { value: sum.value, unit: Decimal::ONE };
    let entry =
        check.evidence.near(reading, Decimal::ZERO, sum.currency).find(|entry| entry.role < Role::Count);
    let source = entry.map_or_else(|| sum.how(check), |entry| check.evidence.source(entry));
    Some(FigureVerdict::Differs { computed: sum.value.to_string(), source })
}

/// A running sum of figures. Worth nothing unless all of them are settled and of one kind.
#[derive(Clone, Debug, Default)]
struct Sum {
    terms: Vec<usize>,
    value: Decimal,
    currency: Option<Currency>,
    percent: bool,
    /// How far rounding of its terms may carry it.
    slack: Decimal,
    is_broken: bool,
}

impl Sum {
    fn of(check: &Check<'_>, terms: &[usize]) -> Self {
        let mut sum = Self::default();
        terms.iter().for_each(|term| sum.add(check, *term));
        sum
    }

    fn add(&mut self, check: &Check<'_>, term: usize) {
        let (Some(settled), What::Number(number)) = (&check.settled[term], &check.proposal.drafts[term].what)
        else {
            self.is_broken = true;
            return;
        };
        let is_first = self.terms.is_empty();
        self.terms.push(term);
        self.percent = if is_first { settled.percent } else { self.percent };
        let total = self.value.checked_add(settled.value);
        if self.percent != settled.percent || !fits(self.currency, settled.currency) || total.is_none() {
            self.is_broken = true;
        }
        self.value = total.unwrap_or_default();
        self.currency = self.currency.or(settled.currency);
        let half = number.readings.first().map_or(Decimal::ZERO, |reading| reading.unit / Decimal::TWO);
        self.slack = self.slack.checked_add(half).unwrap_or(self.slack);
    }

    fn is_sound(&self) -> bool {
        !self.is_broken && self.terms.len() >= 2
    }

    fn fits(&self, number: &Number) -> bool {
        let slack = if self.percent { self.slack } else { Decimal::ZERO };
        let close = |reading: &Reading| {
            reading
                .value
                .checked_sub(self.value)
                .is_some_and(|off| off.abs() <= half(number, *reading) + slack)
        };
        self.is_sound()
            && self.percent == number.percent
            && fits(self.currency, number.currency)
            && number.readings.iter().any(close)
    }

    fn settled(&self) -> Settled {
        Settled { value: self.value, currency: self.currency, percent: self.percent, is_total: true }
    }

    /// `12300.00 + 11850.00 + 36900.00`; only the ends of a long sum, and how many terms it has.
    fn how(&self, check: &Check<'_>) -> String {
        let value = |term: &usize| {
            check.settled[*term].as_ref().map(|settled| settled.value.to_string()).unwrap_or_default()
        };
        match self.terms.as_slice() {
            [first, second, .., last] if self.terms.len() > MAX_TERMS => {
                format!("{} + {} + … + {} ({})", value(first), value(second), value(last), self.terms.len())
            }
            terms => terms.iter().map(value).collect::<Vec<_>>().join(" + "),
        }
    }
}

/// Explains the totals of a column; gives the sum of all that is no total in it.
fn column_totals(check: &mut Check<'_>, table: usize, column: usize) -> Option<Sum> {
    let proposal = check.proposal;
    let sheet = &proposal.sheets[table];
    let (mut leaves, mut since, mut totals) = (Sum::default(), Sum::default(), Sum::default());
    for row in 1..sheet.rows.len() {
        let Some(index) = sheet.rows[row].get(column).copied().flatten() else { continue };
        let What::Number(number) = &proposal.drafts[index].what else { continue };
        let mut is_total = sheet.totals.get(row) == Some(&true);
        let found = [&since, &totals, &leaves].into_iter().find(|sum| sum.fits(number));
        if let Some(sum) = found
            && check.open(index).is_some()
            && (is_total || number.is_telling())
        {
            let (settled, how) = (sum.settled(), sum.how(check));
            check.derived(index, settled, how);
            is_total = true;
        }
        if is_total {
            if let Some(settled) = &mut check.settled[index] {
                settled.is_total = true;
            }
            totals.add(check, index);
            since = Sum::default();
        } else {
            leaves.add(check, index);
            since.add(check, index);
        }
    }
    Some(leaves).filter(Sum::is_sound)
}

/// Explains figures that are the sum of what stands left of them in their row; counts are no part of it.
fn row_totals(check: &mut Check<'_>, table: usize) {
    let proposal = check.proposal;
    let sheet: &Sheet = &proposal.sheets[table];
    for row in 1..sheet.rows.len() {
        let mut left = Sum::default();
        for (column, index) in sheet.rows[row].iter().enumerate() {
            let Some(index) = *index else { continue };
            let What::Number(number) = &proposal.drafts[index].what else { continue };
            if number.percent || sheet.header.get(column).is_some_and(|header| is_count_header(header)) {
                continue;
            }
            if check.open(index).is_some() && number.is_telling() && left.fits(number) {
                let (settled, how) = (left.settled(), left.how(check));
                check.derived(index, settled, how);
            }
            left.add(check, index);
        }
    }
}

fn shows(number: &Number, value: Decimal) -> bool {
    number.readings.iter().any(|reading| (reading.value.abs() - value.abs()).abs() <= half(number, *reading))
}
