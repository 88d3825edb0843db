//! Totals, medians, outliers.

use super::same::Settled;
use super::store::{Item, Store};
use crate::model::{Amounts, Analysis, GroupTotal, Outlier, Statistic};
use chrono::Datelike;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Rows that are listed one by one.
const ITEMS: usize = 2_000;
/// Outliers and duplicate groups that are listed.
const LISTED: usize = 2_000;

/// An amount with the places that its currency is written with; more places stay when they are not zero.
#[must_use]
pub(super) fn money(amount: Decimal, currency: &str) -> Decimal {
    let places = if matches!(currency, "JPY" | "KRW" | "VND" | "ISK" | "CLP") { 0 } else { 2 };
    let mut plain = amount.normalize();
    if plain.scale() < places {
        plain.rescale(places);
    }
    plain
}

/// Fills the figures of an analysis from the rows that count.
pub(super) fn fill(analysis: &mut Analysis, store: &Store, settled: Settled, multiplier: Decimal) {
    let counted =
        || store.items.iter().zip(&settled.counted).filter(|(_, counted)| **counted).map(|(item, _)| item);
    let mut suppliers = Groups::default();
    let mut months = Groups::default();
    let mut amounts: BTreeMap<u16, (&Item, Vec<Decimal>)> = BTreeMap::new();
    for item in counted() {
        analysis.rows = analysis.rows.saturating_add(1);
        suppliers.add(u64::from(suppliers_key(item)), item);
        months.add(month_key(item), item);
        let entry = amounts.entry(item.currency).or_insert_with(|| (item, Vec::new()));
        // Credits have a size of their own; among invoices they would only pull the middle down.
        if item.amount.is_sign_positive() {
            entry.1.push(item.amount);
        }
        if analysis.items.len() < ITEMS {
            analysis.items.push(statistic(store, item));
        }
    }
    let mut limits: BTreeMap<u16, (Decimal, Decimal)> = BTreeMap::new();
    for (currency, (sample, mut values)) in amounts {
        let code = store.currency(sample).to_owned();
        let total = counted()
            .filter(|item| item.currency == currency)
            .fold(Decimal::ZERO, |sum, item| sum.saturating_add(item.amount));
        analysis.totals.insert(code.clone(), money(total, &code));
        if let Some(median) = median(&mut values) {
            let limit = median.saturating_mul(multiplier);
            limits.insert(currency, (median, limit));
            analysis.median.insert(code.clone(), money(median, &code));
            analysis.outlier_limit.insert(code.clone(), money(limit, &code));
        }
    }
    analysis.outliers = counted()
        .filter_map(|item| {
            let (median, limit) = limits.get(&item.currency)?;
            (item.amount > *limit && !median.is_zero()).then(|| outlier(store, item, *median))
        })
        .take(LISTED)
        .collect();
    analysis.by_supplier = suppliers.finish(store, |item| store.spelled(item.supplier).to_owned());
    analysis.by_supplier.sort_by(|a, b| {
        largest(b, &analysis.totals).cmp(&largest(a, &analysis.totals)).then_with(|| a.key.cmp(&b.key))
    });
    analysis.by_month = months.finish(store, |item| {
        Store::date(item).map(|date| date.format("%Y-%m").to_string()).unwrap_or_default()
    });
    analysis.by_month.sort_by(|a, b| a.key.cmp(&b.key));
    analysis.duplicates = settled.duplicates;
    analysis.duplicates.truncate(LISTED);
}

fn suppliers_key(item: &Item) -> u32 {
    item.supplier.place()
}

fn month_key(item: &Item) -> u64 {
    Store::date(item).map_or(0, |date| u64::from(date.year().unsigned_abs()) * 100 + u64::from(date.month()))
}

/// The total in the currency that most of the money is in; groups without it come last.
fn largest(group: &GroupTotal, totals: &Amounts) -> Decimal {
    let main =
        totals.iter().max_by_key(|(_, total)| total.abs()).map(|(code, _)| code.as_str()).unwrap_or_default();
    group.totals.get(main).copied().unwrap_or(Decimal::MIN)
}

/// A group: a row of it, how many, and its sums by currency with a row of each.
type Group<'a> = (&'a Item, u32, Vec<(u16, &'a Item, Decimal)>);

/// Sums by a key and a currency.
#[derive(Default)]
struct Groups<'a> {
    places: std::collections::HashMap<u64, usize>,
    groups: Vec<Group<'a>>,
}

impl<'a> Groups<'a> {
    fn add(&mut self, key: u64, item: &'a Item) {
        let place = *self.places.entry(key).or_insert_with(|| {
            self.groups.push((item, 0, Vec::new()));
            self.groups.len() - 1
        });
        let (_, count, sums) = &mut self.groups[place];
        *count += 1;
        match sums.iter_mut().find(|(currency, _, _)| *currency == item.currency) {
            Some((_, _, sum)) => *sum = sum.saturating_add(item.amount),
            None => sums.push((item.currency, item, item.amount)),
        }
    }

    fn finish(self, store: &Store, name: impl Fn(&Item) -> String) -> Vec<GroupTotal> {
        self.groups
            .into_iter()
            .map(|(item, count, sums)| {
                let totals = sums
                    .into_iter()
                    .map(|(_, item, sum)| (store.currency(item).to_owned(), money(sum, store.currency(item))))
                    .collect();
                GroupTotal { key: name(item), count, totals }
            })
            .collect()
    }
}

/// The middle amount; of an even number the mean of the middle two.
fn median(values: &mut [Decimal]) -> Option<Decimal> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (lower, upper, _) = values.select_nth_unstable(middle);
    if odd {
        return Some(*upper);
    }
    let below = lower.iter().max().copied().unwrap_or(*upper);
    below.saturating_add(*upper).checked_div(Decimal::TWO)
}

fn statistic(store: &Store, item: &Item) -> Statistic {
    let currency = store.currency(item).to_owned();
    Statistic {
        source: store.source(item),
        supplier: some(store.spelled(item.supplier)),
        number: some(store.number(item)),
        date: Store::date(item).map(|date| date.to_string()),
        amount: money(item.amount, &currency),
        currency,
    }
}

fn outlier(store: &Store, item: &Item, median: Decimal) -> Outlier {
    let currency = store.currency(item).to_owned();
    let times = item.amount.checked_div(median).unwrap_or_default().round_dp(2);
    Outlier {
        source: store.source(item),
        supplier: some(store.spelled(item.supplier)),
        number: some(store.number(item)),
        amount: money(item.amount, &currency),
        currency,
        times_median: money(times, ""),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_exact() {
        let d = |value: i64| Decimal::new(value, 2);
        assert_eq!(median(&mut [d(300), d(100), d(200)]), Some(d(200)), "odd");
        assert_eq!(
            median(&mut [d(100), d(201), d(50), d(999)]),
            Some(Decimal::new(1505, 3)),
            "even: the mean, to the last place"
        );
        assert_eq!(median(&mut []), None, "of nothing");
    }

    #[test]
    fn places_of_a_currency() {
        assert_eq!(money(Decimal::new(5, 0), "CNY").to_string(), "5.00", "cents are shown");
        assert_eq!(money(Decimal::new(12345, 3), "CNY").to_string(), "12.345", "what is there stays");
        assert_eq!(money(Decimal::new(500, 2), "JPY").to_string(), "5", "yen have none");
    }
}
