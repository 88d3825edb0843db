//! The difference of two texts, line by line, with the changed words of replaced lines marked.

use crate::align::{common, interned};
use crate::card::{DiffLine, LineKind, Span, SpanMark};
use crate::content::Line;
use crate::shown::push_shown;
use std::collections::HashMap;
use std::ops::Range;

/// Removed and added lines of one change are paired by likeness up to this many pairs.
const PAIRING_LIMIT: usize = 2_500;

/// Words of one line that are compared one by one; longer lines are compared at their ends only.
const WORD_LIMIT: usize = 1_500;

/// Part of a line that must be common before single words are marked, in percent.
const LIKENESS: usize = 40;

/// All lines of both sides. Unchanged lines stand once; in each change the removed lines come before the added ones.
pub(crate) fn line_difference(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<DiffLine> {
    let (old_numbers, new_numbers) = interned(old, new);
    let pairs = common(&old_numbers, &new_numbers);
    let mut lines = Vec::with_capacity(old.len().max(new.len()));
    let mut change = 0;
    let (mut old_from, mut new_from) = (0, 0);
    for (old_at, new_at) in pairs.into_iter().chain([(old.len(), new.len())]) {
        if old_from < old_at || new_from < new_at {
            change += 1;
            push_change(old, new, old_from..old_at, new_from..new_at, change, &mut lines);
        }
        if let (Some(line), true) = (old.get(old_at), new_at < new.len()) {
            let mut spans = Vec::new();
            push_shown(line.text, SpanMark::Plain, &mut spans);
            let (old, new) = (number(old_at), number(new_at));
            lines.push(DiffLine {
                kind: LineKind::Same,
                old,
                new,
                spans,
                change: 0,
                no_line_end: !line.ended,
            });
        }
        (old_from, new_from) = (old_at + 1, new_at + 1);
    }
    lines
}

/// Number of changes in a line difference.
pub(crate) fn line_changes(lines: &[DiffLine]) -> u32 {
    lines.iter().map(|line| line.change).max().unwrap_or(0)
}

fn number(at: usize) -> Option<u32> {
    u32::try_from(at + 1).ok()
}

fn push_change(
    old: &[Line<'_>],
    new: &[Line<'_>],
    olds: Range<usize>,
    news: Range<usize>,
    change: u32,
    lines: &mut Vec<DiffLine>,
) {
    let mut old_spans: Vec<Option<Vec<Span>>> = vec![None; olds.len()];
    let mut new_spans: Vec<Option<Vec<Span>>> = vec![None; news.len()];
    for (left, right) in likely_pairs(&old[olds.clone()], &new[news.clone()]) {
        if let Some((removed, added)) = marked(old[olds.start + left].text, new[news.start + right].text) {
            old_spans[left] = Some(removed);
            new_spans[right] = Some(added);
        }
    }
    let plain = |text: &str| {
        let mut spans = Vec::new();
        push_shown(text, SpanMark::Plain, &mut spans);
        spans
    };
    for (at, spans) in olds.zip(old_spans) {
        let spans = spans.unwrap_or_else(|| plain(old[at].text));
        let no_line_end = !old[at].ended;
        lines.push(DiffLine {
            kind: LineKind::Removed,
            old: number(at),
            new: None,
            spans,
            change,
            no_line_end,
        });
    }
    for (at, spans) in news.zip(new_spans) {
        let spans = spans.unwrap_or_else(|| plain(new[at].text));
        let no_line_end = !new[at].ended;
        lines.push(DiffLine {
            kind: LineKind::Added,
            old: None,
            new: number(at),
            spans,
            change,
            no_line_end,
        });
    }
}

/// Which removed line became which added line: by place when there are as many, else by likeness, never crossing.
fn likely_pairs(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<(usize, usize)> {
    if old.len() == new.len() {
        return (0..old.len()).map(|at| (at, at)).collect();
    }
    if old.len().saturating_mul(new.len()) > PAIRING_LIMIT {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    let mut from = 0;
    for (left, removed) in old.iter().enumerate() {
        let best = (from..new.len())
            .map(|right| (likeness(removed.text, new[right].text), right))
            .filter(|(percent, _)| *percent >= LIKENESS)
            .max_by_key(|(percent, right)| (*percent, usize::MAX - right));
        if let Some((_, right)) = best {
            pairs.push((left, right));
            from = right + 1;
        }
    }
    pairs
}

/// Common words of two lines regardless of order, in percent of the longer one's letters.
fn likeness(old: &str, new: &str) -> usize {
    let mut bag: HashMap<&str, usize> = HashMap::new();
    for word in words(old).take(WORD_LIMIT) {
        *bag.entry(word).or_default() += 1;
    }
    let mut shared = 0;
    for word in words(new).take(WORD_LIMIT) {
        if let Some(left) = bag.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            shared += weight(word);
        }
    }
    let longer = words(old).map(weight).sum::<usize>().max(words(new).map(weight).sum());
    (shared * 100).checked_div(longer).unwrap_or(0)
}

/// Letters of a word; blanks count nothing, and a number little, because numbers are what changes in a line that stays.
fn weight(word: &str) -> usize {
    match word.chars().next() {
        None | Some(' ' | '\t') => 0,
        Some('0'..='9') => 1,
        Some(_) => word.chars().count(),
    }
}

/// Pieces of both lines with what differs marked; `None` when they have too little in common.
pub(crate) fn marked(old: &str, new: &str) -> Option<(Vec<Span>, Vec<Span>)> {
    let olds: Vec<&str> = words(old).collect();
    let news: Vec<&str> = words(new).collect();
    let (old_numbers, new_numbers) = interned(&olds, &news);
    let pairs = if olds.len().max(news.len()) <= WORD_LIMIT {
        common(&old_numbers, &new_numbers)
    } else {
        ends(&old_numbers, &new_numbers)
    };
    let shared: usize = pairs.iter().map(|(left, _)| weight(olds[*left])).sum();
    let longer =
        olds.iter().map(|word| weight(word)).sum::<usize>().max(news.iter().map(|word| weight(word)).sum());
    if shared * 100 < longer * LIKENESS {
        return None;
    }
    let old_common: Vec<usize> = pairs.iter().map(|(left, _)| *left).collect();
    let new_common: Vec<usize> = pairs.iter().map(|(_, right)| *right).collect();
    Some((spans(&olds, &old_common), spans(&news, &new_common)))
}

fn spans(words: &[&str], common: &[usize]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut common = common.iter().peekable();
    for (at, word) in words.iter().enumerate() {
        let is_common = common.next_if(|next| **next == at).is_some();
        push_shown(word, if is_common { SpanMark::Plain } else { SpanMark::Changed }, &mut spans);
    }
    spans
}

fn ends(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(|(left, right)| left == right)
        .count();
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    pairs.extend((0..tail).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    pairs
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Digit,
    Letter,
    Blank,
    Single,
}

fn sort(character: char) -> Sort {
    match character {
        '0'..='9' => Sort::Digit,
        ' ' | '\t' => Sort::Blank,
        // Each Chinese, Japanese or Korean character is a word of its own.
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}' => Sort::Single,
        '\u{20000}'..='\u{3FFFF}' => Sort::Single,
        other if other.is_alphabetic() => Sort::Letter,
        _ => Sort::Single,
    }
}

/// Words of a line: numbers with their separators, runs of letters, runs of blanks, single signs. Joined they are the line.
fn words(line: &str) -> impl Iterator<Item = &str> + '_ {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let mut end = first.len_utf8();
        let kind = sort(first);
        let mut following = rest[end..].chars().peekable();
        while let Some(next) = following.next() {
            let joins = match kind {
                Sort::Digit => {
                    sort(next) == Sort::Digit
                        || (matches!(next, '.' | ',')
                            && following.peek().is_some_and(|after| sort(*after) == Sort::Digit))
                }
                Sort::Letter | Sort::Blank => sort(next) == kind,
                Sort::Single => false,
            };
            if !joins {
                break;
            }
            end += next.len_utf8();
        }
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Content;
    use proptest::prelude::*;

    fn difference(old: &str, new: &str) -> Vec<DiffLine> {
        let (old, new) = (Content::of(old.as_bytes()), Content::of(new.as_bytes()));
        line_difference(&old.lines(), &new.lines())
    }

    fn text(spans: &[Span]) -> String {
        let of = |span: &Span| match span.mark {
            SpanMark::Hidden => {
                let number = u32::from_str_radix(span.text.trim_start_matches("U+"), 16).unwrap();
                char::from_u32(number).unwrap().to_string()
            }
            SpanMark::Plain | SpanMark::Changed => span.text.clone(),
        };
        spans.iter().map(of).collect()
    }

    fn side(lines: &[DiffLine], kind: LineKind) -> String {
        let belongs = |line: &&DiffLine| line.kind == LineKind::Same || line.kind == kind;
        lines
            .iter()
            .filter(belongs)
            .map(|line| text(&line.spans) + if line.no_line_end { "" } else { "\n" })
            .collect()
    }

    fn changed(line: &DiffLine) -> Vec<&str> {
        line.spans
            .iter()
            .filter(|span| span.mark == SpanMark::Changed)
            .map(|span| span.text.as_str())
            .collect()
    }

    #[test]
    fn changed_figures_are_marked_as_whole_numbers() {
        let lines = difference(
            "a\n| Blue Whale | 12,300.00 | 36,450.00 |\nz\n",
            "a\n| Blue Whale | 36,900.00 | 61,050.00 |\nz\n",
        );
        assert_eq!(lines.len(), 4, "two unchanged lines, one removed, one added");
        assert_eq!(changed(&lines[1]), ["12,300.00", "36,450.00"], "old figures");
        assert_eq!(changed(&lines[2]), ["36,900.00", "61,050.00"], "new figures");
        assert_eq!((lines[1].change, lines[2].change, lines[3].change), (1, 1, 0), "one change");
        assert_eq!(
            (lines[2].old, lines[2].new, lines[3].old),
            (None, Some(2), Some(3)),
            "numbers of either side"
        );
    }

    #[test]
    fn lines_with_little_in_common_are_not_marked() {
        let lines = difference("Nothing unusual.\n", "- BW-0917 Blue Whale 24,600.00\n- DS-0812\n");
        assert!(
            lines.iter().all(|line| changed(line).is_empty()),
            "marks help only inside a line that stayed"
        );
    }

    #[test]
    fn the_likely_line_is_paired_when_lines_were_added_before_it() {
        let lines = difference("合计 147,117.00 元\n", "新的一行\n合计 171,717.00 元\n");
        assert_eq!(changed(&lines[2]), ["171,717.00"], "the total is paired with the total");
        assert!(changed(&lines[1]).is_empty(), "the new line is new as a whole");
    }

    #[test]
    fn a_missing_line_end_is_a_difference() {
        let lines = difference("a\nb", "a\nb\n");
        let kinds: Vec<(LineKind, bool)> = lines.iter().map(|line| (line.kind, line.no_line_end)).collect();
        let expected = [(LineKind::Same, false), (LineKind::Removed, true), (LineKind::Added, false)];
        assert_eq!(kinds, expected, "the last line gained its end");
    }

    #[test]
    fn hidden_characters_stay_boxed_inside_marks() {
        let lines = difference("pay 100.00 now please\n", "pay \u{202E}900.00 now please\n");
        assert!(
            lines[1].spans.iter().any(|span| span.mark == SpanMark::Hidden && span.text == "U+202E"),
            "boxed"
        );
    }

    fn lines_of() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop_oneof!["[a-c]{0,2}", "合计 [0-9]{1,3},00 [a-b]", "\u{202E}x\u{FEFF}", "\r?"],
            0..14,
        )
        .prop_flat_map(|lines| prop_oneof![Just(lines.join("\n")), Just(lines.join("\n") + "\n")])
    }

    proptest! {
        #[test]
        fn both_sides_come_back_exactly(old in lines_of(), new in lines_of()) {
            let (old_content, new_content) = (Content::of(old.as_bytes()), Content::of(new.as_bytes()));
            let plain = |content: &Content<'_>| -> String {
                content.lines().iter().map(|line| format!("{}{}", line.text, if line.ended { "\n" } else { "" })).collect()
            };
            let lines = line_difference(&old_content.lines(), &new_content.lines());
            prop_assert_eq!(side(&lines, LineKind::Removed), plain(&old_content), "unchanged and removed lines are the present file");
            prop_assert_eq!(side(&lines, LineKind::Added), plain(&new_content), "unchanged and added lines are the new bytes");
            let mut change = 0;
            for line in &lines {
                prop_assert_eq!(line.change == 0, line.kind == LineKind::Same, "only changed lines have a change");
                if line.change > 0 {
                    prop_assert!(line.change == change || line.change == change + 1, "changes are numbered without gaps");
                    change = line.change;
                }
            }
        }

        #[test]
        fn words_joined_are_the_line(line in any::<String>()) {
            prop_assert_eq!(words(&line).collect::<String>(), line, "no character is lost between words");
        }
    }
}
