//! What else follows from known figures: differences of the same kind, shares of a known total. Nothing else.
//!
//! The bar is high on purpose: among enough numbers anything is the difference of something. A difference must be of
//! one kind and of three digits or more; a share must be of a figure in the same line unless it is shown very exactly.

use super::check::{Check, Settled, half};
use super::currency::{Currency, fits};
use super::evidence::Role;
use super::number::Number;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, HashSet};

/// Figures of one kind among which differences are looked for.
const MAX_POOL: usize = 300;
/// Figures that are tried as a difference or share.
const MAX_TRIES: usize = 1_000;
/// Totals that a share may be of.
const MAX_TOTALS: usize = 16;
/// Groups that a very exact share may be of without being named in its line.
const MAX_GROUPS: usize = 64;

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
        if tried > MAX_TRIES {
            return;
        }
        let draft = &check.proposal.drafts[index];
        let own = [draft.at.map(|at| Kind::Column(at.table, at.column)), Some(Kind::Row(draft.row))];
        let currencies = pools.keys().take_while(|kind| matches!(kind, Kind::Currency(_))).copied();
        let found = currencies.chain(own.into_iter().flatten()).find_map(|kind| {
            let currency = if let Kind::Currency(currency) = kind { Some(currency) } else { None };
            if !fits(currency, number.currency) {
                return None;
            }
            difference_in(number, pools.get(&kind)?).map(|(larger, smaller)| (larger, smaller, currency))
        });
        if let Some((larger, smaller, currency)) = found {
            let value = if number.value().is_sign_negative() { smaller - larger } else { larger - smaller };
            let settled = Settled { value, currency, percent: false, is_total: false };
            check.derived(index, settled, format!("{larger} − {smaller}"));
        }
    }
}

/// Values of each kind, sorted.
fn pools(check: &Check<'_>) -> BTreeMap<Kind, Vec<Decimal>> {
    let mut pools: BTreeMap<Kind, Vec<Decimal>> = BTreeMap::new();
    for (draft, settled) in check.proposal.drafts.iter().zip(&check.settled) {
        let Some(settled) = settled.as_ref().filter(|settled| !settled.percent) else { continue };
        let kind = match (settled.currency, draft.at) {
            (Some(currency), _) => Kind::Currency(currency),
            (None, Some(at)) => Kind::Column(at.table, at.column),
            (None, None) => Kind::Row(draft.row),
        };
        pools.entry(kind).or_default().push(settled.value);
    }
    let summary = |role: Role| matches!(role, Role::Total | Role::Group | Role::Single);
    for entry in check.evidence.entries.iter().filter(|entry| !entry.percent && summary(entry.role)) {
        if let Some(currency) = entry.currency {
            pools.entry(Kind::Currency(currency)).or_default().push(entry.value);
        }
    }
    for pool in pools.values_mut() {
        let mut seen = HashSet::new();
        pool.retain(|value| !value.is_zero() && seen.insert(value.normalize()));
        pool.truncate(MAX_POOL);
        pool.sort();
    }
    pools
}

/// Two values of a sorted pool whose difference a number shows. Both ends move up together.
fn difference_in(number: &Number, pool: &[Decimal]) -> Option<(Decimal, Decimal)> {
    let reading = *number.readings.first()?;
    let half = half(number, reading);
    let (least, most) = (reading.value.abs() - half, reading.value.abs() + half);
    let mut at = 0;
    for smaller in pool {
        while pool.get(at).is_some_and(|larger| *larger - *smaller < least) {
            at += 1;
        }
        let larger = *pool.get(at)?;
        if larger - *smaller <= most && larger > *smaller {
            return Some((larger, *smaller));
        }
    }
    None
}

type Amount = (Decimal, Option<Currency>);

/// Shares of a known total.
pub(crate) fn shares(check: &mut Check<'_>) {
    let totals = known_totals(check);
    if totals.is_empty() {
        return;
    }
    let mut rows: BTreeMap<usize, Vec<Amount>> = BTreeMap::new();
    for (draft, settled) in check.proposal.drafts.iter().zip(&check.settled) {
        if let Some(settled) = settled.as_ref().filter(|settled| !settled.percent) {
            rows.entry(draft.row).or_default().push((settled.value, settled.currency));
        }
    }
    let groups: Vec<Amount> = check
        .evidence
        .entries
        .iter()
        .filter(|entry| matches!(entry.role, Role::Group | Role::Total) && !entry.percent)
        .take(MAX_GROUPS)
        .map(|entry| (entry.value, entry.currency))
        .collect();
    let mut tried = 0;
    for index in 0..check.proposal.drafts.len() {
        let Some(number) = check.open(index).filter(|number| number.percent) else { continue };
        tried += 1;
        if tried > MAX_TRIES {
            return;
        }
        let row = check.proposal.drafts[index].row;
        let mut parts = rows.get(&row).cloned().unwrap_or_default();
        parts.truncate(MAX_GROUPS);
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
            let settled = Settled { value, currency: None, percent: true, is_total: false };
            check.derived(index, settled, format!("{part} ÷ {total}"));
        }
    }
}

fn known_totals(check: &Check<'_>) -> Vec<Amount> {
    let of_tools = check.evidence.entries.iter().filter(|entry| entry.role == Role::Total && !entry.percent);
    let of_text = check.settled.iter().flatten().filter(|settled| settled.is_total && !settled.percent);
    let all = of_tools
        .map(|entry| (entry.value, entry.currency))
        .chain(of_text.map(|settled| (settled.value, settled.currency)));
    let mut totals: Vec<Amount> = Vec::new();
    for total in all.filter(|total| !total.0.is_zero()) {
        if totals.len() >= MAX_TOTALS {
            break;
        }
        if !totals.contains(&total) {
            totals.push(total);
        }
    }
    totals
}

fn share(number: &Number, parts: &[Amount], totals: &[Amount]) -> Option<(Decimal, Decimal)> {
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
