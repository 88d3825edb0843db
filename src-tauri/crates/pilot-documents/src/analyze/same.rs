//! Which rows are the same invoice. Counted once, listed as a group; what has the same number and another total is a
//! contradiction that a person must look at.

use super::log::Log;
use super::store::{Item, Store};
use crate::fold;
use crate::model::{DuplicateGroup, RowSource};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Takes a hash that was already computed.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// First row of each key; later ones with the same hash are chained.
#[derive(Default)]
struct Index {
    first: HashMap<u64, u32, BuildHasherDefault<Given>>,
    next: HashMap<u32, u32>,
}

impl Index {
    /// All rows with this hash so far, in order.
    fn chain(&self, hash: u64) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = self.first.get(&hash).copied();
        while let Some(index) = at {
            found.push(index);
            at = self.next.get(&index).copied();
        }
        found
    }

    fn add(&mut self, hash: u64, index: u32) {
        match self.first.get(&hash) {
            None => {
                self.first.insert(hash, index);
            }
            Some(first) => {
                let mut last = *first;
                while let Some(next) = self.next.get(&last) {
                    last = *next;
                }
                self.next.insert(last, index);
            }
        }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Given(0xCBF2_9CE4_8422_2325);
    hasher.write(bytes);
    // The table uses the upper bits too.
    let value = hasher.finish();
    value ^ value.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The number in comparable form: letters and digits.
fn number_key(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
        text.to_owned()
    } else {
        fold::key(text).to_uppercase()
    }
}

/// What two rows with the same number are to each other.
enum Relation {
    Same,
    Contradiction,
    Different,
}

/// Marks the rows that count. `counted[i]` is false for a row that another one stands for.
pub(super) struct Settled {
    pub(super) counted: Vec<bool>,
    pub(super) duplicates: Vec<DuplicateGroup>,
}

/// Finds duplicates and contradictions.
pub(super) fn settle(store: &Store, log: &mut Log) -> Settled {
    let mut counted = vec![true; store.items.len()];
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (mut by_number, mut by_facts) = (Index::default(), Index::default());
    for (index, item) in (0u32..).zip(&store.items) {
        let number = number_key(store.number(item));
        let mut twin = None;
        if !number.is_empty() {
            let hash = hash(number.as_bytes());
            for other in by_number.chain(hash) {
                let before = &store.items[other as usize];
                if number_key(store.number(before)) != number {
                    continue;
                }
                match relation(store, (other, before), (index, item), &number) {
                    Relation::Same => {
                        twin = Some(other);
                        break;
                    }
                    Relation::Contradiction => {
                        let both = before.table == item.table || !sellers_fit(store, before, item);
                        contradict(store, before, item, both, log);
                        if !both {
                            counted[index as usize] = false;
                        }
                        break;
                    }
                    Relation::Different => {}
                }
            }
            by_number.add(hash, index);
        }
        if twin.is_none() && counted[index as usize] {
            twin = by_facts_twin(store, item, &number, &mut by_facts, index);
        }
        if let Some(first) = twin {
            counted[index as usize] = false;
            groups.entry(first).or_default().push(index);
        }
    }
    let duplicates = groups.into_iter().map(|(first, others)| group(store, first, &others)).collect();
    Settled { counted, duplicates }
}

/// Without a number on one of the two sides, seller, amount, currency and date make the same invoice.
fn by_facts_twin(store: &Store, item: &Item, number: &str, index: &mut Index, at: u32) -> Option<u32> {
    if item.supplier.is_none() || item.day == i32::MIN {
        return None;
    }
    let amount = item.amount.normalize();
    let mut bytes = Vec::with_capacity(40);
    bytes.extend_from_slice(&amount.serialize());
    bytes.extend_from_slice(&item.day.to_le_bytes());
    bytes.extend_from_slice(store.spelled(item.supplier).as_bytes());
    let hash = hash(&bytes);
    let twin = index.chain(hash).into_iter().find(|other| {
        let before = &store.items[*other as usize];
        let same = before.supplier == item.supplier
            && before.day == item.day
            && before.amount == item.amount
            && currencies_fit(store, before, item);
        same && (number.is_empty() || store.number(before).is_empty())
    });
    if twin.is_none() {
        index.add(hash, at);
    }
    twin
}

fn currencies_fit(store: &Store, one: &Item, two: &Item) -> bool {
    let (one, two) = (store.currency(one), store.currency(two));
    one == two || one.is_empty() || two.is_empty()
}

fn relation(store: &Store, one: (u32, &Item), two: (u32, &Item), number: &str) -> Relation {
    let ((_, before), (_, item)) = (one, two);
    // An old number of eight digits repeats under another code.
    if !before.code.is_none() && !item.code.is_none() && before.code != item.code {
        return Relation::Different;
    }
    let sellers = sellers_fit(store, before, item);
    let strong = number.len() >= 16 && number.bytes().all(|byte| byte.is_ascii_digit());
    if !sellers && !strong {
        return Relation::Different;
    }
    let currencies = currencies_fit(store, before, item);
    if currencies && (before.amount == item.amount || listed_elsewhere(store, one, two)) {
        return Relation::Same;
    }
    // A reversal under the same number is a row of its own.
    if before.amount.is_sign_negative() != item.amount.is_sign_negative() {
        return Relation::Different;
    }
    Relation::Contradiction
}

/// A ledger may list the amount without tax, or what is still due, of the invoice that the document shows in full.
fn listed_elsewhere(store: &Store, one: (u32, &Item), two: (u32, &Item)) -> bool {
    let has =
        |index: u32, amount: Decimal| store.others.get(&index).is_some_and(|others| others.contains(&amount));
    has(one.0, two.1.amount) || has(two.0, one.1.amount)
}

/// The same name, one inside the other, or none on one side.
fn sellers_fit(store: &Store, one: &Item, two: &Item) -> bool {
    if one.supplier == two.supplier || one.supplier.is_none() || two.supplier.is_none() {
        return true;
    }
    let (a, b) = (fold::key(store.spelled(one.supplier)), fold::key(store.spelled(two.supplier)));
    let short = a.chars().count().min(b.chars().count());
    short >= 4 && (a.contains(&b) || b.contains(&a))
}

fn contradict(store: &Store, before: &Item, item: &Item, both: bool, log: &mut Log) {
    let amount = |item: &Item| {
        format!("{} {}", super::figures::money(item.amount, store.currency(item)), store.currency(item))
    };
    let counted = if both { "both rows are counted" } else { "the first is counted" };
    let detail =
        format!("the same number with {} and {}; {counted}", amount(before).trim(), amount(item).trim());
    log.conflict(store.number(item).to_owned(), detail, vec![store.source(before), store.source(item)]);
}

fn group(store: &Store, first: u32, others: &[u32]) -> DuplicateGroup {
    let item = &store.items[first as usize];
    let sources: Vec<RowSource> = std::iter::once(first)
        .chain(others.iter().copied())
        .map(|index| store.source(&store.items[index as usize]))
        .collect();
    let numbered = std::iter::once(first)
        .chain(others.iter().copied())
        .map(|index| store.number(&store.items[index as usize]))
        .find(|number| !number.is_empty());
    let key = match numbered {
        Some(number) => number.to_owned(),
        None => format!(
            "{} {} {}",
            store.spelled(item.supplier),
            Store::date(item).map(|date| date.to_string()).unwrap_or_default(),
            item.amount
        ),
    };
    let currency = store.currency(item).to_owned();
    DuplicateGroup { key, amount: super::figures::money(item.amount, &currency), currency, sources }
}
