//! What the task's tools found out: every number and identifier of their results, with its place.

use super::currency::{Currency, fits};
use super::number::{LARGEST, Reading};
use super::scan::{What, scan, tokens};
use rust_decimal::Decimal;
use serde_json::{Map, Value};
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// A tool result of the task.
#[derive(Clone, Copy, Debug)]
pub struct ToolEvidence<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: &'a Value,
    /// The result as the model got it.
    pub content: &'a str,
}

/// Numbers that are kept; more add nothing that a person could follow.
const MAX_ENTRIES: usize = 400_000;
/// Depth to which a JSON result is read.
const MAX_DEPTH: usize = 48;
/// Entries that one look-up goes through.
const MAX_MATCHES: usize = 256;

/// What kind of value an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// A total over everything.
    Total,
    /// A total of one supplier, month or the like.
    Group,
    /// A single value outside lists: a median, a limit, a field of an invoice.
    Single,
    /// How many of something there are.
    Count,
    /// One of many: a row, a cell, a number in a text.
    Item,
}

/// A number of a result.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Decimal,
    pub(crate) percent: bool,
    pub(crate) currency: Option<Currency>,
    pub(crate) role: Role,
    /// Index into [`Evidence::labels`] of the row that it belongs to.
    pub(crate) label: Option<usize>,
    result: usize,
    place: String,
}

/// The row of a result that a number belongs to, such as one supplier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    /// As it stands in the result.
    pub(crate) name: String,
    /// Its totals, by currency.
    pub(crate) totals: Vec<(Option<Currency>, usize)>,
    /// How many rows it has.
    pub(crate) count: Option<usize>,
}

/// A sum over rows of an analysis, such as one supplier in one month.
#[derive(Clone, Debug)]
pub(crate) struct GroupSum {
    pub(crate) value: Decimal,
    pub(crate) currency: Option<Currency>,
    /// The supplier's name in its plain form.
    pub(crate) name: String,
    pub(crate) how: String,
}

/// All results of the task, ready to be asked.
#[derive(Default)]
pub(crate) struct Evidence {
    pub(crate) entries: Vec<Entry>,
    /// Indexes of entries by absolute value.
    sorted: Vec<usize>,
    identifiers: HashMap<String, (usize, String)>,
    pub(crate) labels: Vec<Label>,
    by_name: HashMap<String, usize>,
    pub(crate) sums: Vec<GroupSum>,
    tools: Vec<String>,
}

/// Where in a JSON result the walk is.
#[derive(Clone)]
struct Here {
    result: usize,
    path: String,
    role: Role,
    label: Option<usize>,
    currency: Option<Currency>,
    percent: bool,
    in_list: bool,
}

impl Evidence {
    pub(crate) fn of(results: &[ToolEvidence<'_>]) -> Self {
        let mut evidence = Self::default();
        for (result, item) in results.iter().enumerate() {
            evidence.tools.push(item.tool.to_owned());
            let path = item.arguments.get("path").and_then(Value::as_str).unwrap_or("");
            let trimmed = item.content.trim_start();
            let json = if trimmed.starts_with(['{', '[']) {
                serde_json::from_str::<Value>(trimmed).ok()
            } else {
                None
            };
            match json {
                Some(value) => evidence.json(result, path, &value),
                None => evidence.text(result, path, item.content, 1, None),
            }
        }
        evidence.sorted = (0..evidence.entries.len()).collect();
        evidence.sorted.sort_by(|one, other| {
            evidence.entries[*one].value.abs().cmp(&evidence.entries[*other].value.abs())
        });
        evidence
    }

    /// Tool and place of an entry, such as `analyze_table · totals.CNY`.
    pub(crate) fn source(&self, entry: &Entry) -> String {
        self.named(entry.result, &entry.place)
    }

    fn named(&self, result: usize, place: &str) -> String {
        let tool = self.tools.get(result).map_or("", String::as_str);
        if place.is_empty() { tool.to_owned() } else { format!("{tool} · {place}") }
    }

    /// Where an identifier stands in a result, letter for letter.
    pub(crate) fn identifier(&self, identifier: &str) -> Option<String> {
        self.identifiers.get(identifier).map(|(result, place)| self.named(*result, place))
    }

    /// Entries whose size lies within `half` of a reading's, in a fitting currency.
    pub(crate) fn near(
        &self,
        reading: Reading,
        half: Decimal,
        currency: Option<Currency>,
    ) -> impl Iterator<Item = &Entry> + '_ {
        let (low, high) = (reading.value.abs() - half, reading.value.abs() + half);
        let from = self.sorted.partition_point(|index| self.entries[*index].value.abs() < low);
        self.sorted[from..]
            .iter()
            .map(|index| &self.entries[*index])
            .take_while(move |entry| entry.value.abs() <= high)
            .take(MAX_MATCHES)
            .filter(move |entry| fits(entry.currency, currency))
    }

    /// The row that a text names exactly.
    pub(crate) fn label(&self, text: &str) -> Option<usize> {
        self.by_name.get(&plain_name(text)).copied()
    }

    /// Rows with their names in plain form, for looking them up in running text.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_name.iter().map(|(name, index)| (name.as_str(), *index))
    }

    fn json(&mut self, result: usize, path: &str, value: &Value) {
        let is_analysis = value.get("totals").is_some() && value.get("by_supplier").is_some();
        let start = if is_analysis { String::new() } else { path.to_owned() };
        let here = Here {
            result,
            path: start,
            role: Role::Single,
            label: None,
            currency: None,
            percent: false,
            in_list: false,
        };
        if let (Some(text), false) = (value.get("text").and_then(Value::as_str), is_analysis) {
            // A text file as read: lines are counted only from its beginning.
            let first = if value.get("offset").and_then(Value::as_u64).unwrap_or(0) == 0 { 1 } else { 0 };
            self.text(result, path, text, first, None);
        }
        self.walk(value, &here, 0);
        if is_analysis {
            self.group_sums(result, value);
        }
    }

    fn walk(&mut self, value: &Value, here: &Here, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Some(value) = decimal(&number.to_string()) {
                    self.push(here, value, here.percent, here.currency);
                }
                self.remember(here.result, number.to_string(), &here.path);
            }
            Value::String(text) => self.string(text, here),
            Value::Array(items) => self.array(items, here, depth),
            Value::Object(object) => self.object(object, here, depth),
        }
    }

    fn string(&mut self, text: &str, here: &Here) {
        if text.contains('\n') || text.len() > 200 {
            self.text(here.result, &here.path, text, 1, here.label);
            return;
        }
        if let Some(value) = decimal(text.trim()) {
            self.push(here, value, here.percent, here.currency);
            self.remember(here.result, text.trim().to_owned(), &here.path);
            return;
        }
        self.line(text, here);
    }

    fn line(&mut self, line: &str, here: &Here) {
        for found in scan(line) {
            if let What::Number(number) = found.what {
                let percent = number.percent || here.percent;
                for reading in &number.readings {
                    self.push(here, reading.value, percent, number.currency.or(here.currency));
                }
            }
        }
        let mut all = Vec::new();
        tokens(line, |token| all.push(token));
        for token in all {
            self.remember(here.result, token, &here.path);
        }
    }

    /// In rows of separated values a comma may part two numbers: both are kept.
    fn listed(&mut self, line: &str, here: &Here) {
        if !line.contains([',', '\t', ';']) {
            return;
        }
        for cell in line.split([',', ';', '\t']) {
            if let Some(value) = decimal(cell.trim().trim_matches('"')) {
                self.push(here, value, false, here.currency);
                self.remember(here.result, cell.trim().trim_matches('"').to_owned(), &here.path);
            }
        }
    }

    fn text(&mut self, result: usize, path: &str, text: &str, first: usize, label: Option<usize>) {
        for (index, line) in text.lines().enumerate() {
            if self.entries.len() > MAX_ENTRIES {
                return;
            }
            let place = match (path.is_empty(), first) {
                (true, 0) => String::new(),
                (true, _) => format!("{}", index + first),
                (false, 0) => path.to_owned(),
                (false, _) => format!("{path}:{}", index + first),
            };
            let here = Here {
                result,
                path: place,
                role: Role::Item,
                label,
                currency: None,
                percent: false,
                in_list: true,
            };
            self.line(line, &here);
            self.listed(line, &here);
        }
    }

    fn array(&mut self, items: &[Value], here: &Here, depth: usize) {
        for (index, item) in items.iter().enumerate() {
            let name = item.as_object().and_then(name_of);
            let step = name.as_ref().map_or_else(|| index.to_string(), |name| shortened(name));
            let role = if matches!(here.role, Role::Group) { Role::Group } else { Role::Item };
            let mut inner =
                Here { path: format!("{}[{step}]", here.path), role, in_list: true, ..here.clone() };
            if let (Some(name), Some(object)) = (name, item.as_object()) {
                inner.label = self.label_of(&name, object, here);
            }
            self.walk(item, &inner, depth + 1);
        }
    }

    /// The row of a grouped list; other lists only inherit a row that exists.
    fn label_of(&mut self, name: &str, object: &Map<String, Value>, here: &Here) -> Option<usize> {
        let plain = plain_name(name);
        if plain.is_empty() {
            return None;
        }
        let is_group = object.contains_key("totals");
        if !is_group || !matches!(here.role, Role::Group) {
            return self.by_name.get(&plain).copied();
        }
        let next = self.labels.len();
        let index = *self.by_name.entry(plain).or_insert(next);
        if index == next {
            self.labels.push(Label { name: name.to_owned(), ..Label::default() });
        }
        Some(index)
    }

    fn object(&mut self, object: &Map<String, Value>, here: &Here, depth: usize) {
        let currency =
            object.get("currency").and_then(Value::as_str).and_then(Currency::of_word).or(here.currency);
        let is_part = object.get("cut").is_some_and(|cut| cut.as_bool() == Some(true));
        // Groups first, so that the rows of other lists find their label.
        let mut keys: Vec<&String> = object.keys().collect();
        keys.sort_by_key(|key| !key.starts_with("by_"));
        for key in keys {
            let Some(value) = object.get(key) else { continue };
            if key == "text" && depth == 0 && value.is_string() {
                continue;
            }
            let path = if here.path.is_empty() { key.clone() } else { joined(&here.path, key, depth) };
            let code = Currency::of_word(key).filter(|_| key.len() == 3);
            let role = role_of(key, here, code.is_some());
            let percent = here.percent || is_percent_key(key);
            let inner = Here { path, role, currency: code.or(currency), percent, ..here.clone() };
            let whole = !is_part && object.get("cut").is_none_or(|cut| cut.get(key).is_none());
            if let (Value::Array(items), true, false) = (value, whole, here.in_list) {
                let place = format!("count({})", inner.path);
                let counted =
                    Here { path: place, role: Role::Count, currency: None, label: None, ..inner.clone() };
                self.push(&counted, Decimal::from(items.len()), false, None);
            }
            self.walk(value, &inner, depth + 1);
        }
    }

    fn push(&mut self, here: &Here, value: Decimal, percent: bool, currency: Option<Currency>) {
        if self.entries.len() >= MAX_ENTRIES || value.abs() > LARGEST {
            return;
        }
        let index = self.entries.len();
        let label = here.label;
        let entry = Entry {
            value,
            percent,
            currency,
            role: here.role,
            label,
            result: here.result,
            place: here.path.clone(),
        };
        if let Some(label) = label.and_then(|label| self.labels.get_mut(label)) {
            match here.role {
                Role::Group => label.totals.push((currency, index)),
                Role::Count => label.count = label.count.or(Some(index)),
                Role::Total | Role::Single | Role::Item => {}
            }
        }
        self.entries.push(entry);
    }

    fn remember(&mut self, result: usize, token: String, place: &str) {
        if self.identifiers.len() < MAX_ENTRIES && token.bytes().any(|byte| byte.is_ascii_digit()) {
            self.identifiers.entry(token).or_insert_with(|| (result, place.to_owned()));
        }
    }

    /// Sums of the counted rows by supplier and month. Only where all rows are in the result.
    fn group_sums(&mut self, result: usize, value: &Value) {
        let items = value.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if items.is_empty() || value.get("rows").and_then(Value::as_u64) != Some(items.len() as u64) {
            return;
        }
        let mut sums: HashMap<(String, String, String), (Decimal, u32)> = HashMap::new();
        for item in items {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or("");
            let Some(amount) = decimal(text("amount")) else { continue };
            let month = text("date").get(..7).unwrap_or("").to_owned();
            let sum =
                sums.entry((text("supplier").to_owned(), month, text("currency").to_owned())).or_default();
            sum.0 = sum.0.checked_add(amount).unwrap_or(sum.0);
            sum.1 += 1;
        }
        let tool = self.tools.get(result).cloned().unwrap_or_default();
        self.sums.extend(sums.into_iter().filter(|((_, month, _), _)| !month.is_empty()).map(
            |((supplier, month, currency), (value, count))| GroupSum {
                value,
                currency: Currency::of_word(&currency),
                how: format!("Σ {tool} · items[{}, {month}] ({count})", shortened(&supplier)),
                name: plain_name(&supplier),
            },
        ));
        self.sums.sort_by(|one, other| one.how.cmp(&other.how));
    }
}

/// The path of a key; the file of a result stands apart from the place in it.
fn joined(path: &str, key: &str, depth: usize) -> String {
    if depth == 0 { format!("{path} · {key}") } else { format!("{path}.{key}") }
}

fn role_of(key: &str, here: &Here, is_currency: bool) -> Role {
    let lower = key.to_lowercase();
    if is_currency {
        return here.role;
    }
    if matches!(lower.as_str(), "count" | "rows" | "files" | "total_rows" | "pages" | "lines")
        && !matches!(here.role, Role::Item)
    {
        return Role::Count;
    }
    if lower.starts_with("by_") {
        return Role::Group;
    }
    if matches!(lower.as_str(), "totals" | "grand_total" | "sum" | "gross" | "合计" | "总计" | "价税合计")
    {
        return match here.role {
            Role::Group => Role::Group,
            Role::Total | Role::Single | Role::Count => Role::Total,
            Role::Item => Role::Item,
        };
    }
    here.role
}

fn is_percent_key(key: &str) -> bool {
    let lower = key.to_lowercase();
    ["percent", "pct", "share", "占比", "比例", "百分"].iter().any(|word| lower.contains(word))
}

/// What an object of a list is called.
fn name_of(object: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| {
        object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    let named =
        ["key", "supplier", "name", "sheet", "path", "file", "number"].iter().find_map(|key| text(key));
    named.or_else(|| object.get("page").and_then(Value::as_u64).map(|page| format!("p{page}")))
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= 60 { name.to_owned() } else { name.chars().take(59).chain(['…']).collect() }
}

/// A whole text as an exact number, with thousands separators.
fn decimal(text: &str) -> Option<Decimal> {
    let digits = text.trim_start_matches(['-', '+']);
    // `00012345` is a number to be called by, not an amount.
    let is_code =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if text.contains(',') || is_code {
        return None;
    }
    text.parse::<Decimal>().ok().or_else(|| Decimal::from_scientific(text).ok())
}

/// A name as it is compared: compatibility forms and case folded, blanks joined, signs of Markdown left out.
pub(crate) fn plain_name(text: &str) -> String {
    let text = if text.contains('&') {
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    } else {
        text.to_owned()
    };
    let folded: String = text
        .nfkc()
        .filter(|character| !matches!(character, '*' | '`' | '\\'))
        .flat_map(char::to_lowercase)
        .collect();
    let name = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    month_name(&name).unwrap_or(name)
}

/// `2026年7月` as `2026-07`.
fn month_name(name: &str) -> Option<String> {
    let (year, rest) = name.split_once('年')?;
    let month: u32 = rest.trim().strip_suffix('月')?.trim().parse().ok()?;
    let year: u32 = year.trim().parse().ok()?;
    (1..=12).contains(&month).then(|| format!("{year}-{month:02}"))
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
