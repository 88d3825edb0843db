//! Which rows are the same invoice. Counted once, listed as a group; what has the same number and another total is a
//! contradiction that a person must look at.

use super::log::Log;
use super::store::{Item, Store};
use crate::fold;
use crate::model::{DuplicateGroup, RowSource};
use rust_decimal::Decimal;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
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

/// Rows of one key that are compared with a later one. A number that more rows share identifies none of them.
const COMPARED: usize = 64;

type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Given>>;

/// Rows by the hash of a key. Nearly every key has one row, so only later ones cost a list.
#[derive(Default)]
struct Index {
    first: ByHash<u32>,
    more: ByHash<Vec<u32>>,
}

impl Index {
    /// Rows with this hash so far, in order, as many as are compared.
    fn rows(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let more = self.more.get(&hash).map_or(&[][..], Vec::as_slice);
        self.first.get(&hash).copied().into_iter().chain(more.iter().copied())
    }

    fn add(&mut self, hash: u64, index: u32) {
        match self.first.entry(hash) {
            Entry::Vacant(place) => {
                place.insert(index);
            }
            Entry::Occupied(_) => {
                let more = self.more.entry(hash).or_default();
                if more.len() < COMPARED {
                    more.push(index);
                }
            }
        }
    }
}

/// Rows by seller, amount and date: the first with a number of its own and the first without.
#[derive(Default)]
struct Facts {
    numbered: ByHash<u32>,
    unnumbered: ByHash<u32>,
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Given(0xCBF2_9CE4_8422_2325);
    hasher.write(bytes);
    // The table uses the upper bits too.
    let value = hasher.finish();
    (value ^ value >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The number in comparable form, letters and digits, into a buffer that is used again and again.
fn number_key(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.extend(
            text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| char::from(byte.to_ascii_uppercase())),
        );
    } else {
        out.push_str(&fold::key(text).to_uppercase());
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
    let (mut by_number, mut by_facts) = (Index::default(), Facts::default());
    by_number.first.reserve(store.items.len());
    // Where every row has its number, nothing else decides.
    let nameless = store.items.iter().any(|item| store.number(item).is_empty());
    let (mut number, mut other_number) = (String::new(), String::new());
    let mut told: HashSet<u32> = HashSet::new();
    for (index, item) in (0u32..).zip(&store.items) {
        number_key(store.number(item), &mut number);
        let mut twin = None;
        if !number.is_empty() {
            let hash = hash(number.as_bytes());
            for other in by_number.rows(hash) {
                let before = &store.items[other as usize];
                number_key(store.number(before), &mut other_number);
                if other_number != number {
                    continue;
                }
                match relation(store, (other, before), (index, item), &number) {
                    Relation::Same => {
                        twin = Some(other);
                        break;
                    }
                    Relation::Contradiction => {
                        let both = before.table == item.table || !sellers_fit(store, before, item);
                        // A ledger with a row for each line repeats its numbers; once is enough to say so.
                        if before.table != item.table || told.insert(other) {
                            contradict(store, before, item, both, log);
                        }
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
        if nameless && twin.is_none() && counted[index as usize] {
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
fn by_facts_twin(store: &Store, item: &Item, number: &str, facts: &mut Facts, at: u32) -> Option<u32> {
    if item.supplier.is_none() || item.day == i32::MIN || store.is_by_line(item) {
        return None;
    }
    let mut bytes = [0u8; 24];
    bytes[..16].copy_from_slice(&item.amount.normalize().serialize());
    bytes[16..20].copy_from_slice(&item.day.to_le_bytes());
    bytes[20..].copy_from_slice(&item.supplier.place().to_le_bytes());
    let hash = hash(&bytes);
    let same = |other: u32| {
        let before = &store.items[other as usize];
        before.supplier == item.supplier
            && before.day == item.day
            && before.amount == item.amount
            && currencies_fit(store, before, item)
    };
    let unnumbered = facts.unnumbered.get(&hash).copied().filter(|other| same(*other));
    let numbered =
        facts.numbered.get(&hash).copied().filter(|other| same(*other)).filter(|_| number.is_empty());
    let twin = unnumbered.or(numbered);
    if twin.is_none() {
        let side = if number.is_empty() { &mut facts.unnumbered } else { &mut facts.numbered };
        side.entry(hash).or_insert(at);
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
    // Lines of one invoice have its number and are no copies of each other.
    if before.table == item.table && store.is_by_line(item) {
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
