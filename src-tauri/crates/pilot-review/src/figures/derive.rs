//! What follows from known figures: totals, differences of the same kind, shares of a known total. Nothing else.
//!
//! The bar is high on purpose: among enough numbers anything is the sum of something. A total must be that of its own
//! column, row or list; a difference must be of one kind and of three digits or more; a share must be of a figure in
//! the same line unless it is shown very exactly.

use super::check::{Check, Settled, half};
use super::currency::{Currency, fits};
use super::draft::{Sheet, is_count_header};
use super::evidence::{Role, plain_name};
use super::number::{Number, Reading};
use super::scan::What;
use crate::card::FigureVerdict;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Figures of one kind among which differences are looked for.
const MAX_POOL: usize = 300;
/// Figures that are tried as a difference or share.
const MAX_OPEN: usize = 3_000;
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
        if let Some(header) =
            draft.at.and_then(|at| check.proposal.sheets.get(at.table)?.header.get(at.column))
        {
            names.push(plain_name(header));
        }
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
            column_totals(check, table, column, &mut sums);
        }
        row_totals(check, table);
    }
    for list in &check.proposal.lists {
        sums.extend(sum_of(check, list));
    }
    for index in 0..check.proposal.drafts.len() {
        if check.proposal.drafts[index].at.is_some() {
            continue;
        }
        let Some(number) = check.open(index).filter(|number| number.is_telling()) else { continue };
        let sum = sums.iter().find(|sum| sum.fits(number)).cloned();
        if let Some(sum) = sum {
            let settled = sum.settled();
            check.derived(index, settled, sum.how);
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
    let sum = sum_of(check, &above)?;
    if !fits(sum.currency, number.currency) {
        return None;
    }
    // The tool's own figure is the better source where there is one.
    let reading = Reading { value: sum.value, unit: Decimal::ONE };
    let entry =
        check.evidence.near(reading, Decimal::ZERO, sum.currency).find(|entry| entry.role < Role::Count);
    let source = entry.map_or(sum.how, |entry| check.evidence.source(entry));
    Some(FigureVerdict::Differs { computed: sum.value.to_string(), source })
}

/// A sum of settled figures.
#[derive(Clone, Debug)]
struct Sum {
    value: Decimal,
    currency: Option<Currency>,
    percent: bool,
    /// How far rounding of its terms may carry it.
    slack: Decimal,
    how: String,
}

impl Sum {
    fn fits(&self, number: &Number) -> bool {
        let close = number.readings.iter().any(|reading| {
            (reading.value - self.value).abs()
                <= half(number, *reading) + if self.percent { self.slack } else { Decimal::ZERO }
        });
        close && self.percent == number.percent && fits(self.currency, number.currency)
    }

    fn settled(&self) -> Settled {
        Settled { value: self.value, currency: self.currency, percent: self.percent, is_total: true }
    }
}

/// The sum of two or more figures; `None` unless all of them are settled and of one kind.
fn sum_of(check: &Check<'_>, terms: &[usize]) -> Option<Sum> {
    let first = check.settled[*terms.first()?].as_ref()?;
    let mut sum = Sum {
        value: Decimal::ZERO,
        currency: None,
        percent: first.percent,
        slack: Decimal::ZERO,
        how: String::new(),
    };
    for term in terms {
        let settled = check.settled[*term].as_ref()?;
        if settled.percent != sum.percent || !fits(sum.currency, settled.currency) {
            return None;
        }
        sum.currency = sum.currency.or(settled.currency);
        sum.value = sum.value.checked_add(settled.value)?;
        if let What::Number(number) = &check.proposal.drafts[*term].what {
            sum.slack += number.readings.first().map_or(Decimal::ZERO, |reading| reading.unit / Decimal::TWO);
        }
    }
    let values = |terms: &[usize]| -> String {
        let texts = terms
            .iter()
            .filter_map(|term| check.settled[*term].as_ref())
            .map(|settled| settled.value.to_string());
        texts.collect::<Vec<_>>().join(" + ")
    };
    sum.how = match terms {
        [] | [_] => return None,
        [first, second, .., last] if terms.len() > MAX_TERMS => {
            format!("{} + … + {} ({})", values(&[*first, *second]), values(&[*last]), terms.len())
        }
        _ => values(terms),
    };
    Some(sum)
}

fn column_totals(check: &mut Check<'_>, table: usize, column: usize, sums: &mut Vec<Sum>) {
    let sheet = &check.proposal.sheets[table];
    let (mut leaves, mut since, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    for row in 1..sheet.rows.len() {
        let Some(index) = sheet.rows[row].get(column).copied().flatten() else { continue };
        let What::Number(number) = &check.proposal.drafts[index].what else { continue };
        let named = sheet.totals.get(row) == Some(&true);
        let found = [&since, &totals, &leaves]
            .into_iter()
            .filter_map(|terms| sum_of(check, terms))
            .find(|sum| sum.fits(number));
        let mut is_total = named;
        if let Some(sum) = found
            && check.open(index).is_some()
            && (named || number.is_telling())
        {
            let settled = sum.settled();
            check.derived(index, settled, sum.how);
            is_total = true;
        }
        if is_total {
            if let Some(settled) = &mut check.settled[index] {
                settled.is_total = true;
            }
            totals.push(index);
            since.clear();
        } else {
            leaves.push(index);
            since.push(index);
        }
    }
    sums.extend(sum_of(check, &leaves));
}

fn row_totals(check: &mut Check<'_>, table: usize) {
    let sheet: &Sheet = &check.proposal.sheets[table];
    for row in 1..sheet.rows.len() {
        let mut left: Vec<usize> = Vec::new();
        for (column, index) in sheet.rows[row].iter().enumerate() {
            let Some(index) = *index else { continue };
            let What::Number(number) = &check.proposal.drafts[index].what else { continue };
            if number.percent || sheet.header.get(column).is_some_and(|header| is_count_header(header)) {
                continue;
            }
            if check.open(index).is_some()
                && number.is_telling()
                && let Some(sum) = sum_of(check, &left).filter(|sum| sum.fits(number))
            {
                let settled = sum.settled();
                check.derived(index, settled, sum.how);
            }
            left.push(index);
        }
    }
}

/// Figures among which a difference makes sense: of one currency, one column or one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Currency(Currency),
    Column(usize, usize),
    Row(usize),
}

/// Differences of two known figures of the same kind.
pub(crate) fn differences(check: &mut Check<'_>) {
    let pools = pools(check);
    let mut tried = 0;
    for index in 0..check.proposal.drafts.len() {
        let Some(number) = check.open(index).filter(|number| number.is_telling() && !number.percent) else {
            continue;
        };
        tried += 1;
        if tried > MAX_OPEN {
            return;
        }
        let draft = &check.proposal.drafts[index];
        let fitting = |kind: &Kind| match (kind, draft.at) {
            (Kind::Currency(currency), _) => fits(Some(*currency), number.currency),
            (Kind::Column(table, column), Some(at)) => at.table == *table && at.column == *column,
            (Kind::Row(row), _) => *row == draft.row,
            (Kind::Column(..), None) => false,
        };
        let found = pools.iter().filter(|(kind, _)| fitting(kind)).find_map(|(kind, pool)| {
            let currency = if let Kind::Currency(currency) = kind { Some(*currency) } else { None };
            difference_in(number, pool).map(|(larger, smaller)| (larger, smaller, currency))
        });
        if let Some((larger, smaller, currency)) = found {
            let value = if number.value().is_sign_negative() { smaller - larger } else { larger - smaller };
            check.derived(
                index,
                Settled { value, currency, percent: false, is_total: false },
                format!("{larger} − {smaller}"),
            );
        }
    }
}

/// Values of each kind, sorted.
fn pools(check: &Check<'_>) -> Vec<(Kind, Vec<Decimal>)> {
    let mut pools: BTreeMap<Kind, Vec<Decimal>> = BTreeMap::new();
    for (draft, settled) in check.proposal.drafts.iter().zip(&check.settled) {
        let Some(settled) = settled.as_ref().filter(|settled| !settled.percent) else { continue };
        match (settled.currency, draft.at) {
            (Some(currency), _) => pools.entry(Kind::Currency(currency)).or_default().push(settled.value),
            (None, Some(at)) => {
                pools.entry(Kind::Column(at.table, at.column)).or_default().push(settled.value)
            }
            (None, None) => pools.entry(Kind::Row(draft.row)).or_default().push(settled.value),
        }
    }
    for entry in check
        .evidence
        .entries
        .iter()
        .filter(|entry| !entry.percent && matches!(entry.role, Role::Total | Role::Group | Role::Single))
    {
        if let Some(currency) = entry.currency {
            pools.entry(Kind::Currency(currency)).or_default().push(entry.value);
        }
    }
    for pool in pools.values_mut() {
        let mut seen = std::collections::HashSet::new();
        pool.retain(|value| !value.is_zero() && seen.insert(value.normalize()));
        pool.truncate(MAX_POOL);
        pool.sort();
    }
    pools.into_iter().collect()
}

/// Two values of a pool whose difference a number shows.
fn difference_in(number: &Number, pool: &[Decimal]) -> Option<(Decimal, Decimal)> {
    let reading = *number.readings.first()?;
    let (wanted, half) = (reading.value.abs(), half(number, reading));
    pool.iter().find_map(|smaller| {
        let from = pool.partition_point(|larger| *larger - *smaller < wanted - half);
        let larger = *pool.get(from)?;
        (larger - *smaller <= wanted + half && larger > *smaller).then_some((larger, *smaller))
    })
}

/// Shares of a known total.
pub(crate) fn shares(check: &mut Check<'_>) {
    let mut totals: Vec<(Decimal, Option<Currency>)> = Vec::new();
    let mut add = |value: Decimal, currency: Option<Currency>| {
        if !value.is_zero() && totals.len() < MAX_POOL && !totals.contains(&(value, currency)) {
            totals.push((value, currency));
        }
    };
    check
        .evidence
        .entries
        .iter()
        .filter(|entry| entry.role == Role::Total && !entry.percent)
        .for_each(|entry| add(entry.value, entry.currency));
    check
        .settled
        .iter()
        .flatten()
        .filter(|settled| settled.is_total && !settled.percent)
        .for_each(|settled| add(settled.value, settled.currency));
    let mut rows: BTreeMap<usize, Vec<(Decimal, Option<Currency>)>> = BTreeMap::new();
    for (draft, settled) in check.proposal.drafts.iter().zip(&check.settled) {
        if let Some(settled) = settled.as_ref().filter(|settled| !settled.percent) {
            rows.entry(draft.row).or_default().push((settled.value, settled.currency));
        }
    }
    let groups: Vec<(Decimal, Option<Currency>)> = check
        .evidence
        .entries
        .iter()
        .filter(|entry| matches!(entry.role, Role::Group | Role::Total) && !entry.percent)
        .take(MAX_POOL)
        .map(|entry| (entry.value, entry.currency))
        .collect();
    for index in 0..check.proposal.drafts.len() {
        let Some(number) = check.open(index).filter(|number| number.percent) else { continue };
        let row = check.proposal.drafts[index].row;
        let mut parts = rows.get(&row).cloned().unwrap_or_default();
        for label in &check.proposal.labels[row] {
            let totals = &check.evidence.labels[*label].totals;
            parts.extend(
                totals.iter().map(|(currency, entry)| (check.evidence.entries[*entry].value, *currency)),
            );
        }
        if number.decimals >= 2 {
            parts.extend(groups.iter().copied());
        }
        if let Some((part, total)) = share(number, &parts, &totals) {
            let value = part / total * Decimal::ONE_HUNDRED;
            check.derived(
                index,
                Settled { value, currency: None, percent: true, is_total: false },
                format!("{part} ÷ {total}"),
            );
        }
    }
}

fn share(
    number: &Number,
    parts: &[(Decimal, Option<Currency>)],
    totals: &[(Decimal, Option<Currency>)],
) -> Option<(Decimal, Decimal)> {
    let reading = *number.readings.first()?;
    let pairs = parts.iter().flat_map(|part| totals.iter().map(move |total| (part, total)));
    pairs
        .filter(|(part, total)| fits(part.1, total.1))
        .find(|(part, total)| {
            let percent =
                part.0.checked_div(total.0).and_then(|share| share.checked_mul(Decimal::ONE_HUNDRED));
            percent.is_some_and(|percent| (percent - reading.value).abs() <= reading.unit / Decimal::TWO)
        })
        .map(|(part, total)| (part.0, total.0))
}

fn shows(number: &Number, value: Decimal) -> bool {
    number.readings.iter().any(|reading| (reading.value.abs() - value.abs()).abs() <= half(number, *reading))
}
