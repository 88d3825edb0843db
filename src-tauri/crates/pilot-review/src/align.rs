//! Which items of two sequences belong together. Deterministic and bounded: no clock decides what a card shows.

use similar::algorithms::{DiffHook, myers};
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::Range;

/// Blocks up to this many pairs are compared exactly before anchors are looked for.
const EXACT_PAIRS: usize = 250_000;

/// Steps that exact comparison of blocks without anchors may cost in all.
const EXACT_STEPS: usize = 32_000_000;

/// Pairs of equal items, rising on both sides. Long, but not always the longest: large blocks are cut at items that
/// occur once on either side, and what is still too large after that counts as replaced.
pub(crate) fn common(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut budget = EXACT_STEPS;
    let mut blocks = vec![(0..old.len(), 0..new.len())];
    while let Some((mut olds, mut news)) = blocks.pop() {
        trim(old, new, &mut olds, &mut news, &mut pairs);
        if olds.is_empty() || news.is_empty() {
            continue;
        }
        if olds.len().saturating_mul(news.len()) <= EXACT_PAIRS {
            exact(old, new, olds, news, &mut pairs);
            continue;
        }
        let anchors = anchors(old, new, &olds, &news);
        if anchors.is_empty() {
            filtered(old, new, olds, news, &mut budget, &mut pairs);
            continue;
        }
        let (mut old_from, mut new_from) = (olds.start, news.start);
        for (old_at, new_at) in anchors {
            pairs.push((old_at, new_at));
            blocks.push((old_from..old_at, new_from..new_at));
            (old_from, new_from) = (old_at + 1, new_at + 1);
        }
        blocks.push((old_from..olds.end, new_from..news.end));
    }
    pairs.sort_unstable();
    pairs
}

/// Numbers that stand for items, equal for equal items.
pub(crate) fn interned<T: Eq + Hash>(old: &[T], new: &[T]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&T, u32> = HashMap::with_capacity(old.len());
    let mut number = |item| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(item).or_insert(next)
    };
    let olds = old.iter().map(&mut number).collect();
    let news = new.iter().map(&mut number).collect();
    (olds, news)
}

/// The longest rising part of a sequence, as positions in it.
pub(crate) fn longest_rising(values: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![usize::MAX; values.len()];
    for (at, value) in values.iter().enumerate() {
        let place = ends.partition_point(|end| values[*end] < *value);
        if place > 0 {
            previous[at] = ends[place - 1];
        }
        if place == ends.len() {
            ends.push(at);
        } else {
            ends[place] = at;
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        rising.push(at);
        at = previous[at];
    }
    rising.reverse();
    rising
}

fn trim(
    old: &[u32],
    new: &[u32],
    olds: &mut Range<usize>,
    news: &mut Range<usize>,
    pairs: &mut Vec<(usize, usize)>,
) {
    while olds.start < olds.end && news.start < news.end && old[olds.start] == new[news.start] {
        pairs.push((olds.start, news.start));
        olds.start += 1;
        news.start += 1;
    }
    while olds.start < olds.end && news.start < news.end && old[olds.end - 1] == new[news.end - 1] {
        olds.end -= 1;
        news.end -= 1;
        pairs.push((olds.end, news.end));
    }
}

/// Items that occur exactly once on either side, the longest run of them that is in the same order.
fn anchors(old: &[u32], new: &[u32], olds: &Range<usize>, news: &Range<usize>) -> Vec<(usize, usize)> {
    #[derive(Default)]
    struct Seen {
        old: u32,
        new: u32,
        old_at: usize,
    }
    let mut seen: HashMap<u32, Seen> = HashMap::with_capacity(olds.len());
    for at in olds.clone() {
        let entry = seen.entry(old[at]).or_default();
        entry.old += 1;
        entry.old_at = at;
    }
    for at in news.clone() {
        if let Some(entry) = seen.get_mut(&new[at]) {
            entry.new += 1;
        }
    }
    let unique: Vec<(usize, usize)> = news
        .clone()
        .filter_map(|at| {
            seen.get(&new[at])
                .filter(|entry| entry.old == 1 && entry.new == 1)
                .map(|entry| (entry.old_at, at))
        })
        .collect();
    let places: Vec<usize> = unique.iter().map(|(old_at, _)| *old_at).collect();
    longest_rising(&places).into_iter().map(|at| unique[at]).collect()
}

struct Pairs<'a>(&'a mut Vec<(usize, usize)>);

impl DiffHook for Pairs<'_> {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, length: usize) -> Result<(), Infallible> {
        self.0.extend((0..length).map(|step| (old + step, new + step)));
        Ok(())
    }
}

fn exact(old: &[u32], new: &[u32], olds: Range<usize>, news: Range<usize>, pairs: &mut Vec<(usize, usize)>) {
    let Ok(()) = myers::diff(&mut Pairs(pairs), old, olds, new, news);
}

/// A block without anchors: only items of both sides are compared, and only while the budget lasts.
fn filtered(
    old: &[u32],
    new: &[u32],
    olds: Range<usize>,
    news: Range<usize>,
    budget: &mut usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    let on_old: std::collections::HashSet<u32> = olds.clone().map(|at| old[at]).collect();
    let on_new: std::collections::HashSet<u32> = news.clone().map(|at| new[at]).collect();
    let old_at: Vec<usize> = olds.filter(|at| on_new.contains(&old[*at])).collect();
    let new_at: Vec<usize> = news.filter(|at| on_old.contains(&new[*at])).collect();
    let cost = (old_at.len() + new_at.len()).saturating_pow(2);
    if cost > *budget {
        return;
    }
    *budget -= cost;
    let old_items: Vec<u32> = old_at.iter().map(|at| old[*at]).collect();
    let new_items: Vec<u32> = new_at.iter().map(|at| new[*at]).collect();
    let mut found = Vec::new();
    exact(&old_items, &new_items, 0..old_items.len(), 0..new_items.len(), &mut found);
    pairs.extend(found.into_iter().map(|(left, right)| (old_at[left], new_at[right])));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rising_run_is_found() {
        assert_eq!(longest_rising(&[3, 1, 2, 9, 4]), [1, 2, 4], "1, 2, 4 is the longest");
        assert!(longest_rising(&[]).is_empty(), "nothing rises in nothing");
    }

    #[test]
    fn large_blocks_without_anchors_end_in_time() {
        let old: Vec<u32> = (0..20_000).map(|at| at * 7919 % 3).collect();
        let new: Vec<u32> = (0..20_000).map(|at| at * 104_729 % 5 % 3).collect();
        let pairs = common(&old, &new);
        assert!(
            pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1),
            "pairs rise on both sides"
        );
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_rise(old in prop::collection::vec(0u32..6, 0..80), new in prop::collection::vec(0u32..6, 0..80)) {
            let pairs = common(&old, &new);
            for (left, right) in &pairs {
                prop_assert_eq!(old[*left], new[*right], "a pair is equal");
            }
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "a pair never crosses another");
        }
    }
}
