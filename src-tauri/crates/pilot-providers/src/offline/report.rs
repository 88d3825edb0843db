//! The report, composed from the analysis and nothing else. The same analysis gives the same bytes: no clock, no chance.

use super::analysis::{Amounts, Analysis, GroupTotal, Place};
use super::goal::{Language, Scope};
use super::words::{self, pick};

/// Most rows of one table; what is left out is said.
const ROWS: usize = 200;

/// A Markdown table under its heading.
struct Table<'a> {
    heading: &'a str,
    columns: &'a [&'a str],
    /// Which columns are figures.
    figures: &'a [usize],
}

pub(super) fn compose(language: Language, scope: &Scope, analysis: &Analysis) -> String {
    let mut report = Report { language, text: String::new() };
    report.opening(scope, analysis);
    report.totals(analysis);
    report.groups(analysis);
    report.second_look(analysis);
    report.notes(analysis);
    report.text
}

struct Report {
    language: Language,
    text: String,
}

impl Report {
    fn pick(&self, zh: &'static str, en: &'static str) -> &'static str {
        pick(self.language, zh, en)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn opening(&mut self, scope: &Scope, analysis: &Analysis) {
        self.line(self.pick("# 发票汇总", "# Invoice summary"));
        self.line("");
        let what = words::scope(self.language, scope);
        let (files, rows) = (analysis.files, analysis.rows);
        let read = match self.language {
            Language::Chinese => format!("范围：{what}。读取 {files} 个文件，计入 {rows} 条记录。"),
            Language::English => format!("Scope: {what}. Files read: {files}. Records counted: {rows}."),
        };
        self.line(&read);
        self.line("");
        self.line(self.pick(
            "所有数字都照抄自表格分析的结果；不同币种不相加。",
            "Every figure is copied from the analysis of the tables; currencies are never added together.",
        ));
    }

    fn totals(&mut self, analysis: &Analysis) {
        let rows = analysis
            .totals
            .iter()
            .map(|(currency, total)| {
                let of = |amounts: &Amounts| {
                    amounts.get(currency).map(super::analysis::Amount::grouped).unwrap_or_default()
                };
                vec![
                    self.currency(currency),
                    total.grouped(),
                    total.plain(),
                    of(&analysis.median),
                    of(&analysis.outlier_limit),
                ]
            })
            .collect();
        let columns: &[&str] = match self.language {
            Language::Chinese => &["币种", "合计", "合计（无分隔符）", "单笔中位数", "异常界限"],
            Language::English => {
                &["Currency", "Total", "Total (plain digits)", "Median amount", "Outlier above"]
            }
        };
        self.table(
            &Table { heading: self.pick("## 合计", "## Totals"), columns, figures: &[1, 2, 3, 4] },
            rows,
            None,
        );
    }

    fn groups(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["供应商", "笔数", "合计"],
            Language::English => &["Supplier", "Count", "Total"],
        };
        let heading = self.pick("## 按供应商", "## By supplier");
        let unnamed = self.pick("（未写明）", "(not stated)");
        let rows = self.group_rows(&analysis.by_supplier, unnamed);
        self.table(&Table { heading, columns, figures: &[1, 2] }, rows, analysis.length_of("by_supplier"));
        let columns: &[&str] = match self.language {
            Language::Chinese => &["月份", "笔数", "合计"],
            Language::English => &["Month", "Count", "Total"],
        };
        let heading = self.pick("## 按月份", "## By month");
        let rows = self.group_rows(&analysis.by_month, unnamed);
        self.table(&Table { heading, columns, figures: &[1, 2] }, rows, analysis.length_of("by_month"));
    }

    fn group_rows(&self, groups: &[GroupTotal], unnamed: &str) -> Vec<Vec<String>> {
        let row = |group: &GroupTotal| {
            let name = if group.key.trim().is_empty() { unnamed.to_owned() } else { cell(&group.key) };
            vec![name, group.count.to_string(), words::amounts(self.language, &group.totals)]
        };
        groups.iter().map(row).collect()
    }

    fn second_look(&mut self, analysis: &Analysis) {
        self.line("");
        self.line(self.pick("## 需要核对", "## To look at"));
        let before = self.text.len();
        self.outliers(analysis);
        self.duplicates(analysis);
        self.conflicts(analysis);
        self.credit_notes(analysis);
        self.unread(analysis);
        if self.text.len() == before {
            self.line("");
            self.line(self.pick("没有需要核对的内容。", "Nothing needs a second look."));
        }
    }

    fn outliers(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["供应商", "号码", "金额", "中位数的倍数", "位置"],
            Language::English => &["Supplier", "Number", "Amount", "Times the median", "Where"],
        };
        let rows = analysis
            .outliers
            .iter()
            .map(|outlier| {
                vec![
                    optional(outlier.supplier.as_deref()),
                    optional(outlier.number.as_deref()),
                    self.money(&outlier.currency, &outlier.amount),
                    format!("{} ×", outlier.times_median.plain()),
                    self.place(&outlier.source),
                ]
            })
            .collect();
        let heading = self.pick("### 异常金额", "### Outliers");
        self.table(&Table { heading, columns, figures: &[2, 3] }, rows, analysis.length_of("outliers"));
    }

    fn duplicates(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["号码或依据", "金额", "计入的一处", "其他出现之处"],
            Language::English => &["Number or reason", "Amount", "Counted once, from", "Also in"],
        };
        let rows = analysis
            .duplicates
            .iter()
            .map(|duplicate| {
                let mut places = duplicate.sources.iter().map(|place| self.place(place));
                let counted = places.next().unwrap_or_default();
                let others = places.collect::<Vec<_>>().join(self.pick("；", "; "));
                vec![
                    cell(&duplicate.key),
                    self.money(&duplicate.currency, &duplicate.amount),
                    counted,
                    others,
                ]
            })
            .collect();
        let heading = self.pick("### 重复（只计一次）", "### Duplicates (counted once)");
        self.table(&Table { heading, columns, figures: &[1] }, rows, analysis.length_of("duplicates"));
    }

    fn conflicts(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["号码或文件", "哪里不一致", "位置"],
            Language::English => &["Number or file", "What does not fit", "Where"],
        };
        let rows = analysis
            .conflicts
            .iter()
            .map(|conflict| {
                let places: Vec<String> = conflict.sources.iter().map(|place| self.place(place)).collect();
                vec![cell(&conflict.key), cell(&conflict.detail), places.join(self.pick("；", "; "))]
            })
            .collect();
        let heading = self.pick("### 冲突", "### Conflicts");
        self.table(&Table { heading, columns, figures: &[] }, rows, analysis.length_of("conflicts"));
    }

    fn credit_notes(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["供应商", "号码", "日期", "金额", "位置"],
            Language::English => &["Supplier", "Number", "Date", "Amount", "Where"],
        };
        let rows = analysis
            .items
            .iter()
            .filter(|item| item.amount.is_negative())
            .map(|item| {
                vec![
                    optional(item.supplier.as_deref()),
                    optional(item.number.as_deref()),
                    optional(item.date.as_deref()),
                    self.money(&item.currency, &item.amount),
                    self.place(&item.source),
                ]
            })
            .collect();
        let heading = self.pick("### 红字与退款（已相减）", "### Credit notes (subtracted)");
        self.table(&Table { heading, columns, figures: &[3] }, rows, None);
    }

    fn unread(&mut self, analysis: &Analysis) {
        let columns: &[&str] = match self.language {
            Language::Chinese => &["位置", "原因"],
            Language::English => &["Where", "Why"],
        };
        let mut rows: Vec<Vec<String>> = analysis
            .unread_rows
            .iter()
            .map(|unread| {
                let why = words::why_unread(self.language, &unread.code, &unread.reason);
                vec![self.place(&unread.source), cell(&why)]
            })
            .collect();
        let in_all = analysis.length_of("unread_rows");
        let shown = rows.len();
        let aside = analysis.left_aside();
        rows.extend(aside.map(|(file, what)| vec![cell(file), cell(&words::why_aside(self.language, what))]));
        // Of the rows that the analysis itself left out, the count stands beside those that are listed.
        let in_all = in_all.map(|all| all + u64::try_from(rows.len() - shown).unwrap_or(0));
        let heading = self.pick("### 未读出或未计入", "### Not read or not counted");
        self.table(&Table { heading, columns, figures: &[] }, rows, in_all);
    }

    fn notes(&mut self, analysis: &Analysis) {
        let remarks: Vec<String> = analysis.remarks().map(|remark| format!("- {}", cell(remark))).collect();
        if remarks.is_empty() {
            return;
        }
        self.line("");
        self.line(self.pick("## 读取说明", "## Remarks on reading"));
        self.line("");
        for remark in remarks.iter().take(ROWS) {
            self.line(remark);
        }
        self.say_cut(remarks.len(), analysis.length_of("notes"));
    }

    fn table(&mut self, table: &Table<'_>, rows: Vec<Vec<String>>, in_all: Option<u64>) {
        if rows.is_empty() {
            return;
        }
        self.line("");
        self.line(table.heading);
        self.line("");
        self.line(&format!("| {} |", table.columns.join(" | ")));
        let rule = |column: usize| if table.figures.contains(&column) { "---:" } else { "---" };
        let rules: Vec<&str> = (0..table.columns.len()).map(rule).collect();
        self.line(&format!("| {} |", rules.join(" | ")));
        let shown = rows.len();
        for row in rows.iter().take(ROWS) {
            self.line(&format!("| {} |", row.join(" | ")));
        }
        self.say_cut(shown, in_all);
    }

    fn say_cut(&mut self, shown: usize, in_all: Option<u64>) {
        let listed = shown.min(ROWS);
        let all = in_all.unwrap_or(0).max(u64::try_from(shown).unwrap_or(0));
        if all <= u64::try_from(listed).unwrap_or(u64::MAX) {
            return;
        }
        let words = match self.language {
            Language::Chinese => format!("只列出前 {listed} 条，共 {all} 条。"),
            Language::English => format!("Only the first {listed} of {all} are listed."),
        };
        self.line("");
        self.line(&words);
    }

    fn money(&self, currency: &str, amount: &super::analysis::Amount) -> String {
        format!("{} {}", self.currency(currency), amount.grouped())
    }

    fn currency(&self, currency: &str) -> String {
        words::currency(self.language, currency)
    }

    fn place(&self, place: &Place) -> String {
        let mut text = cell(&place.file);
        if let Some(sheet) = &place.sheet {
            text.push_str(&format!(" · {}", cell(sheet)));
        }
        let (page, row) = match self.language {
            Language::Chinese => {
                (place.page.map(|page| format!("第 {page} 页")), format!("第 {} 行", place.row))
            }
            Language::English => {
                (place.page.map(|page| format!("page {page}")), format!("row {}", place.row))
            }
        };
        if let Some(page) = page {
            text.push_str(&format!(" · {page}"));
        }
        if place.row > 0 {
            text.push_str(&format!(" · {row}"));
        }
        text
    }
}

fn optional(text: Option<&str>) -> String {
    text.map_or_else(|| "—".to_owned(), cell)
}

/// Text of a document inside a table: on one line, without a meaning of its own in Markdown, and with every character
/// visible. What would be invisible or turn the text round is shown as a mark, so that two names that only look the same do not.
pub(super) fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.trim().chars() {
        match character {
            '\n' | '\r' | '\t' => safe.push(' '),
            '|' | '[' | ']' | '`' | '*' | '\\' | '#' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\u{00ad}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}' => safe.push('\u{fffd}'),
            other if other.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_document_stays_text() {
        let table = [
            ("a|b", "a\\|b"),
            ("<img src=x>", "&lt;img src=x>"),
            ("[x](http://a.example)", "\\[x\\](http://a.example)"),
            ("![x](http://a.example)", "!\\[x\\](http://a.example)"),
            ("two\nlines", "two lines"),
            ("ACME\u{200b}\u{202e}", "ACME\u{fffd}\u{fffd}"),
            ("A & B", "A &amp; B"),
            ("青禾样例办公用品有限公司", "青禾样例办公用品有限公司"),
            ("INV_001-2", "INV_001-2"),
        ];
        for (text, expected) in table {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }
}
