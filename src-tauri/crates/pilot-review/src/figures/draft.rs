//! The figures of a proposed text, with the table, row and column that each stands in.

use super::currency::Currency;
use super::evidence::Evidence;
use super::number::{Number, Reading};
use super::scan::{What, scan};
use crate::grid::{Grid, column_letters};
use rust_decimal::Decimal;

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub(crate) table: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// A figure before it was looked up.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) place: String,
    pub(crate) what: What,
    /// The line or row that it stands in; figures of one row share it.
    pub(crate) row: usize,
    /// Its cell, when it is the only figure of a cell.
    pub(crate) at: Option<At>,
}

/// A table of the proposed text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) header: Vec<String>,
    /// Rows of cells, each with the one figure in it.
    pub(crate) rows: Vec<Vec<Option<usize>>>,
    /// Row by row: whether it is called a total.
    pub(crate) totals: Vec<bool>,
}

/// Everything that is looked up.
#[derive(Default)]
pub(crate) struct Proposal {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) sheets: Vec<Sheet>,
    /// Rows of the analysis that each line or row names.
    pub(crate) labels: Vec<Vec<usize>>,
    /// Text of each line or row.
    pub(crate) texts: Vec<String>,
    /// Amounts of lists, one of each item.
    pub(crate) lists: Vec<Vec<usize>>,
}

/// Lines in which rows of the analysis are searched for.
const MAX_NAMED_LINES: usize = 3_000;
/// Rows of the analysis that are searched for.
const MAX_NAMES: usize = 400;

impl Proposal {
    /// Figures of a text. Tables are those of Markdown.
    pub(crate) fn of_text(text: &str, evidence: &Evidence) -> Self {
        let mut proposal = Self::default();
        let lines: Vec<&str> = text.lines().collect();
        let mut list = ListNumbers::default();
        let mut open_list = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let length = table_length(&lines[at..]);
            if length > 0 {
                proposal.list_item(&mut open_list, false, 0);
                proposal.markdown_table(&lines[at..at + length], at, evidence);
                at += length;
                continue;
            }
            let line = lines[at];
            let start = list.skip(line);
            let row = proposal.begin_row(line, evidence, true);
            let first = proposal.drafts.len();
            for found in scan(&line[start..]) {
                let is_year = matches!(&found.what, What::Number(number) if number.year_like);
                if !is_year {
                    let place = (at + 1).to_string();
                    proposal.drafts.push(Draft { text: found.text, place, what: found.what, row, at: None });
                }
            }
            proposal.list_item(&mut open_list, start > 0 || is_bullet(line), first);
            at += 1;
        }
        proposal.list_item(&mut open_list, false, 0);
        proposal.leave_out_counters();
        proposal
    }

    /// Figures of the cells of sheets.
    pub(crate) fn of_grids(grids: &[Grid], evidence: &Evidence) -> Self {
        let mut proposal = Self::default();
        for grid in grids {
            let header = grid.rows.first().cloned().unwrap_or_default();
            let table = proposal.sheets.len();
            proposal.sheets.push(Sheet { header, ..Sheet::default() });
            for (index, (row, number)) in grid.rows.iter().zip(&grid.numbers).enumerate() {
                let place = |column: usize| {
                    let reference = format!("{}{number}", column_letters(column));
                    grid.name.as_ref().map_or(reference.clone(), |name| format!("{name}!{reference}"))
                };
                proposal.table_row(row, (table, index), place, evidence);
            }
        }
        proposal.leave_out_counters();
        proposal
    }

    fn markdown_table(&mut self, lines: &[&str], first: usize, evidence: &Evidence) {
        let table = self.sheets.len();
        let header = lines.first().map(|line| cells(line)).unwrap_or_default();
        self.sheets.push(Sheet { header, ..Sheet::default() });
        let mut index = 0;
        for (offset, line) in lines.iter().enumerate() {
            if offset == 1 {
                continue;
            }
            let place = (first + offset + 1).to_string();
            self.table_row(&cells(line), (table, index), |_| place.clone(), evidence);
            index += 1;
        }
    }

    fn table_row(
        &mut self,
        cells: &[String],
        at: (usize, usize),
        place: impl Fn(usize) -> String,
        evidence: &Evidence,
    ) {
        let (table, row) = at;
        let line = self.begin_row(&cells.join(" | "), evidence, false);
        self.labels[line] = cells.iter().filter_map(|cell| evidence.label(cell)).collect();
        let mut figures = vec![None; cells.len()];
        for (column, cell) in cells.iter().enumerate() {
            let found = scan(cell);
            let header = self.sheets[table].header.get(column).map_or("", String::as_str);
            let hint = Hint::of(header);
            let alone = found.len() == 1;
            for found in found {
                let mut what = found.what;
                if let What::Number(number) = &mut what {
                    // A bare year is one in the first column, in the header and under a heading that says so.
                    if number.year_like && (row == 0 || column == 0 || is_year_header(header)) {
                        continue;
                    }
                    if row > 0 {
                        hint.apply(number);
                    }
                    if alone {
                        figures[column] = Some(self.drafts.len());
                    }
                }
                let at = alone.then_some(At { table, row, column });
                self.drafts.push(Draft { text: found.text, place: place(column), what, row: line, at });
            }
        }
        let sheet = &mut self.sheets[table];
        sheet.totals.push(row > 0 && cells.iter().any(|cell| is_total_name(cell)));
        sheet.rows.push(figures);
    }

    /// Adds the one amount of an item to the open list, or ends the list.
    fn list_item(&mut self, open: &mut Vec<usize>, is_item: bool, first: usize) {
        let amounts: Vec<usize> = (first..self.drafts.len())
            .filter(|draft| match &self.drafts[*draft].what {
                What::Number(number) => {
                    !number.percent && (number.currency.is_some() || number.decimals == 2)
                }
                What::Identifier(_) => false,
            })
            .collect();
        match (is_item, amounts.as_slice()) {
            (true, [amount]) => open.push(*amount),
            (true, _) | (false, _) => {
                let list = std::mem::take(open);
                if list.len() >= 2 {
                    self.lists.push(list);
                }
            }
        }
    }

    fn begin_row(&mut self, text: &str, evidence: &Evidence, search: bool) -> usize {
        let row = self.labels.len();
        let name =
            if search && row < MAX_NAMED_LINES { super::evidence::plain_name(text) } else { String::new() };
        let mut labels = Vec::new();
        if !name.is_empty() && evidence.labels.len() <= MAX_NAMES {
            labels
                .extend(evidence.names().filter(|(label, _)| is_named(&name, label)).map(|(_, index)| index));
            labels.sort_unstable();
            labels.dedup();
        }
        self.labels.push(labels);
        self.texts.push(text.to_owned());
        row
    }

    /// Columns that only number their rows are no figures.
    fn leave_out_counters(&mut self) {
        let mut gone = vec![false; self.drafts.len()];
        for sheet in &self.sheets {
            let width = sheet.rows.iter().map(Vec::len).max().unwrap_or(0);
            for column in 0..width {
                let drafts: Vec<usize> =
                    sheet.rows.iter().skip(1).filter_map(|row| row.get(column).copied().flatten()).collect();
                let named = sheet.header.get(column).is_some_and(|name| is_counter_header(name));
                if counts_up(&drafts, &self.drafts) && (named || (column == 0 && drafts.len() >= 3)) {
                    drafts.iter().for_each(|draft| gone[*draft] = true);
                }
            }
        }
        if !gone.contains(&true) {
            return;
        }
        let mut places = Vec::with_capacity(gone.len());
        let mut kept = 0;
        for is_gone in &gone {
            places.push((!is_gone).then_some(kept));
            kept += usize::from(!is_gone);
        }
        let mut is_gone = gone.iter();
        self.drafts.retain(|_| !is_gone.next().copied().unwrap_or(false));
        for figure in self.sheets.iter_mut().flat_map(|sheet| sheet.rows.iter_mut()).flatten() {
            *figure = figure.and_then(|draft| places[draft]);
        }
        for list in &mut self.lists {
            *list = list.iter().filter_map(|draft| places[*draft]).collect();
        }
    }
}

/// Whether a text names something, not as part of a longer word, number or date.
fn is_named(text: &str, name: &str) -> bool {
    let is_part = |character: Option<char>| {
        character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '-')
    };
    name.chars().count() >= 2
        && text.match_indices(name).any(|(at, _)| {
            let (before, behind) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
            let ascii = |edge: Option<char>| edge.is_some_and(|edge| edge.is_ascii());
            let cuts_in = ascii(name.chars().next()) && is_part(before);
            let cuts_off = ascii(name.chars().next_back()) && is_part(behind);
            !cuts_in && !cuts_off
        })
}

fn counts_up(drafts: &[usize], all: &[Draft]) -> bool {
    !drafts.is_empty()
        && drafts.iter().enumerate().all(|(index, draft)| match &all[*draft].what {
            What::Number(number) => {
                number.decimals == 0
                    && !number.percent
                    && number.currency.is_none()
                    && number.value() == Decimal::from(index + 1)
            }
            What::Identifier(_) => false,
        })
}

/// What the heading of a column says about its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint {
    percent: bool,
    currency: Option<Currency>,
    scale: Option<i64>,
}

impl Hint {
    fn of(header: &str) -> Self {
        let lower = header.to_lowercase();
        Self {
            percent: lower.contains('%')
                || lower.contains('％')
                || lower.contains("占比")
                || lower.contains("percent"),
            currency: Currency::within(header),
            scale: if header.contains('万') { Some(10_000) } else { None },
        }
    }

    fn apply(self, number: &mut Number) {
        if self.percent && number.currency.is_none() {
            number.percent = true;
        }
        if !number.percent {
            number.currency = number.currency.or(self.currency);
        }
        if let (Some(scale), Some(first)) = (self.scale, number.readings.first().copied()) {
            let scale = Decimal::from(scale);
            if let (Some(value), Some(unit)) = (first.value.checked_mul(scale), first.unit.checked_mul(scale))
            {
                number.readings.insert(0, Reading { value, unit });
            }
        }
    }
}

fn is_year_header(header: &str) -> bool {
    let lower = header.to_lowercase();
    ["年", "year", "period", "期间", "date", "日期"].iter().any(|word| lower.contains(word))
}

fn is_counter_header(header: &str) -> bool {
    matches!(
        header.trim().to_lowercase().as_str(),
        "#" | "no" | "no." | "nr" | "nr." | "序号" | "编号" | "行号" | "id" | "row"
    )
}

/// Whether a heading is that of a sum of money.
pub(crate) fn is_amount_header(header: &str) -> bool {
    let lower = header.to_lowercase();
    ["金额", "合计", "总额", "总计", "小计", "价税", "total", "amount", "sum"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a heading is that of a count.
pub(crate) fn is_count_header(header: &str) -> bool {
    let lower = header.to_lowercase();
    ["张数", "笔数", "数量", "份数", "件数", "count", "invoices", "rows"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a cell calls its row a total.
fn is_total_name(cell: &str) -> bool {
    let name = super::evidence::plain_name(cell);
    let name = name.trim_end_matches([':', '：']);
    matches!(
        name,
        "合计"
            | "总计"
            | "小计"
            | "总额"
            | "共计"
            | "total"
            | "totals"
            | "grand total"
            | "subtotal"
            | "sum"
            | "overall"
    ) || ["all suppliers", "所有供应商", "全部供应商", "全部合计"].contains(&name)
        || (name.chars().count() <= 16
            && (name.ends_with("合计") || name.ends_with(" total") || name.starts_with("total ")))
}

fn is_bullet(line: &str) -> bool {
    let rest = line.trim_start();
    ["- ", "* ", "+ ", "• ", "· "].iter().any(|bullet| rest.starts_with(bullet))
}

/// Cells of a Markdown row.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = inner.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(inner);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for character in inner.chars() {
        match character {
            '|' if !escaped => cells.push(String::new()),
            other => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(other);
                }
            }
        }
        escaped = character == '\\' && !escaped;
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Lines of the Markdown table that begins here; 0 when none does.
fn table_length(lines: &[&str]) -> usize {
    let [head, rule, ..] = lines else { return 0 };
    let is_rule = rule.contains('-')
        && rule.contains('|')
        && rule.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' ' | '\t'));
    if !head.contains('|') || !is_rule {
        return 0;
    }
    lines.iter().take_while(|line| line.contains('|')).count()
}

/// Numbers of a list: 1, 2, 3 …, each at the start of its line.
#[derive(Default)]
struct ListNumbers {
    last: u32,
}

impl ListNumbers {
    /// Bytes at the start of a line that are only its list number.
    fn skip(&mut self, line: &str) -> usize {
        let indent = line.len() - line.trim_start_matches([' ', '\t', '#', '>', '(', '（']).len();
        let rest = &line[indent..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 3 {
            return 0;
        }
        let behind = &rest[digits..];
        let ends = [". ", ") ", "）", "、", "．"].iter().any(|sign| behind.starts_with(sign))
            || matches!(behind, "." | ")");
        let value: u32 = rest[..digits].parse().unwrap_or(0);
        // A list goes up by one; `500. …` at the start of a line is a figure.
        if !ends || !(value <= 1 || value == self.last || value == self.last + 1) {
            return 0;
        }
        self.last = value;
        indent + digits
    }
}
