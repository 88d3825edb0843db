//! A card on a terminal: everything that the window shows, nothing cut.

use crate::output::Output;
use pilot_review::{
    CellChange, DiffLine, Difference, FigureVerdict, FileFacts, FlagKind, LineKind, LossKind, RowChange,
    Span, SpanMark, TableDifference, Verb,
};
use pilot_service::view::{ApprovalState, ApprovalView};
use std::fmt::Write as _;

const RED: &str = "31";
const GREEN: &str = "32";
const AMBER: &str = "33";
const BOLD: &str = "1";
const GREY: &str = "2";

/// The whole card as text.
pub(crate) fn draw(view: &ApprovalView, output: &Output) -> String {
    let pen = Pen { colour: output.colour, chinese: output.chinese };
    let mut out = String::new();
    head(&mut out, view, &pen);
    warnings(&mut out, view, &pen);
    if !view.said.trim().is_empty() {
        let title = pen.pick("Written by the model. Not checked.", "模型写的，未核对。");
        let _ = writeln!(out, "{}", pen.paint(GREY, title));
        for line in pilot_review::shown_text(view.said.trim()).lines() {
            let _ = writeln!(out, "{}", pen.paint(GREY, &format!("  │ {line}")));
        }
    }
    let _ = writeln!(out, "{}", "─".repeat(72));
    difference(&mut out, &view.card.difference, &pen);
    let _ = writeln!(out, "{}", "─".repeat(72));
    numbers(&mut out, view, &pen);
    let _ = writeln!(
        out,
        "{} {}",
        pen.paint(GREY, pen.pick("fingerprint", "指纹")),
        pen.paint(GREY, view.fingerprint.as_str())
    );
    out
}

struct Pen {
    colour: bool,
    chinese: bool,
}

impl Pen {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn pick<'a>(&self, en: &'a str, zh: &'a str) -> &'a str {
        if self.chinese { zh } else { en }
    }
}

fn head(out: &mut String, view: &ApprovalView, pen: &Pen) {
    let verb = match view.card.verb {
        Verb::Create => pen.pick("Create file", "新建文件"),
        Verb::Overwrite => pen.pick("Change file", "修改文件"),
        Verb::Outside => pen.pick("Run outside tool", "运行外部工具"),
    };
    let target = view.path_shown.as_deref().unwrap_or(&view.tool);
    let _ = writeln!(out, "{} {}  [{}]", pen.paint(BOLD, verb), pen.paint(BOLD, target), state(view, pen));
    let _ = writeln!(
        out,
        "  {} {}  {} {}",
        pen.pick("tool", "工具"),
        view.tool,
        pen.pick("capability", "能力"),
        view.capability
    );
    let _ = writeln!(out, "  {} {}", pen.pick("in folder", "文件夹"), view.workspace.root);
    if let Some(after) = &view.card.after {
        let before = view.card.before.as_ref().map_or_else(|| "0".to_owned(), |facts| facts.size.to_string());
        let _ = writeln!(out, "  {before} → {} B  {}", after.size, facts(after, pen));
    }
    if view.card.hidden_characters > 0 {
        let words = pen.pick("invisible characters, shown as ‹U+…›", "个不可见字符，显示为 ‹U+…›");
        let _ = writeln!(out, "  {}", pen.paint(AMBER, &format!("{} {words}", view.card.hidden_characters)));
    }
    if view.stale && view.card.verb == Verb::Outside {
        let words = pen.pick(
            "The outside tool changed since: approving runs nothing and gives a new card.",
            "外部工具已改变：现在批准不会运行，会换一张新卡片。",
        );
        let _ = writeln!(out, "  {}", pen.paint(RED, words));
    } else if view.stale {
        let words = pen.pick(
            "The file changed since: approving writes nothing and gives a new card.",
            "文件已改变：现在批准不会写入，会换一张新卡片。",
        );
        let _ = writeln!(out, "  {}", pen.paint(RED, words));
    }
    let undo = if view.undoable {
        pen.pick("can be undone", "可以撤销")
    } else {
        pen.pick("cannot be undone", "不能撤销")
    };
    let _ = writeln!(out, "  {undo}");
}

fn facts(facts: &FileFacts, pen: &Pen) -> String {
    let lines = facts.lines.map(|lines| format!("{lines} {}  ", pen.pick("lines", "行"))).unwrap_or_default();
    format!("{lines}{}  {}", facts.encoding, facts.line_end)
}

fn state<'a>(view: &ApprovalView, pen: &'a Pen) -> &'a str {
    // Nobody can say what an outside tool changed before it failed, and it is no file that was read back.
    if view.card.verb == Verb::Outside {
        match view.state {
            ApprovalState::Executing => return pen.pick("running", "正在运行"),
            ApprovalState::Done => return pen.pick("ran once", "已运行一次"),
            ApprovalState::Failed => return pen.pick("failed", "未成功"),
            ApprovalState::Replaced => return pen.pick("void: the tool changed", "已失效：工具变了"),
            ApprovalState::Pending
            | ApprovalState::Rejected
            | ApprovalState::Void
            | ApprovalState::Unknown => {}
        }
    }
    match view.state {
        ApprovalState::Pending => pen.pick("waiting for you", "等待审批"),
        ApprovalState::Executing => pen.pick("being written", "正在写入"),
        ApprovalState::Done => pen.pick("written and checked", "已写入并核对"),
        ApprovalState::Failed => pen.pick("failed, 0 bytes changed", "失败，0 字节改变"),
        ApprovalState::Rejected => pen.pick("rejected, 0 bytes changed", "已拒绝，0 字节改变"),
        ApprovalState::Replaced => pen.pick("void: the file changed", "已失效：文件已改变"),
        ApprovalState::Void => pen.pick("void: the task was stopped", "已失效：任务已停止"),
        ApprovalState::Unknown => pen.pick("unknown result", "结果未知"),
    }
}

fn warnings(out: &mut String, view: &ApprovalView, pen: &Pen) {
    for loss in &view.card.losses {
        let _ = writeln!(
            out,
            "  {}",
            pen.paint(AMBER, &format!("− {} ({})", loss_words(loss.kind, pen), loss.count))
        );
    }
    for flag in &view.card.flags {
        let _ = writeln!(
            out,
            "  {}",
            pen.paint(AMBER, &format!("! {} ({}): {}", flag_words(flag.kind, pen), flag.count, flag.sample))
        );
    }
}

fn loss_words(kind: LossKind, pen: &Pen) -> &str {
    match kind {
        LossKind::Formulas => pen.pick("formulas are lost", "公式会丢失"),
        LossKind::CellStyles => pen.pick("cell colours and styles are lost", "单元格样式会丢失"),
        LossKind::HiddenSheets => pen.pick("hidden sheets are lost", "隐藏的工作表会丢失"),
        LossKind::Sheets => pen.pick("sheets are lost", "工作表会丢失"),
        LossKind::Comments => pen.pick("comments are lost", "批注会丢失"),
        LossKind::Drawings => pen.pick("charts and pictures are lost", "图表和图片会丢失"),
        LossKind::Macros => pen.pick("macros are lost", "宏会丢失"),
        LossKind::Encoding => pen.pick("the encoding changes", "编码会改变"),
        LossKind::OtherFeatures => {
            pen.pick("other features of the workbook are lost", "工作簿的其他功能会丢失")
        }
        LossKind::Unreadable => pen.pick(
            "the present file could not be looked into; what it loses is not known",
            "现有文件读不出来，会丢失什么不清楚",
        ),
        LossKind::LineEnds => pen.pick("the line ends change", "换行符会改变"),
    }
}

fn flag_words(kind: FlagKind, pen: &Pen) -> &str {
    match kind {
        FlagKind::HiddenCharacters => pen.pick("invisible characters", "有不可见字符"),
        FlagKind::MixedScripts => pen.pick("words that mix scripts", "混用文字的词"),
        FlagKind::ForgedApproval => {
            pen.pick("text that looks like an approval; it is none", "看起来像审批的文字，它不是审批")
        }
        FlagKind::ReadsLikeInstruction => {
            pen.pick("reads like an instruction to a model", "像是写给模型的指令")
        }
        FlagKind::InstructionFile => {
            pen.pick("other programs read this file as instructions", "其他程序会把它当指令读")
        }
        FlagKind::AccountNumberChanged => pen.pick("a long number changes", "长号码有变化"),
        FlagKind::UnsourcedFigures => pen.pick("figures without a source", "没有来源的数字"),
        FlagKind::DifferingFigures => {
            pen.pick("figures that differ from what was computed", "与计算结果不同的数字")
        }
        FlagKind::FormulaLike => {
            pen.pick("would be taken for a formula; written as text", "会被当成公式，按文本写入")
        }
        FlagKind::LongLines => pen.pick("very long lines", "很长的行"),
    }
}

fn difference(out: &mut String, difference: &Difference, pen: &Pen) {
    match difference {
        Difference::Text { lines } | Difference::Outside { lines } => text(out, lines, pen),
        Difference::Rows { table, format, .. } => {
            let _ = writeln!(out, "{}", pen.paint(GREY, format));
            rows(out, table, pen);
        }
        Difference::Cells { sheets } => {
            for sheet in sheets {
                let name = pilot_review::shown_text(sheet.name.as_deref().unwrap_or_default());
                let _ = writeln!(out, "{} {}", mark(sheet.kind), pen.paint(BOLD, &name));
                rows(out, sheet, pen);
            }
        }
    }
}

fn mark(kind: LineKind) -> char {
    match kind {
        LineKind::Same => ' ',
        LineKind::Added => '+',
        LineKind::Removed => '−',
        LineKind::Changed => '~',
    }
}

fn colour(kind: LineKind) -> Option<&'static str> {
    match kind {
        LineKind::Same => None,
        LineKind::Added => Some(GREEN),
        LineKind::Removed => Some(RED),
        LineKind::Changed => Some(AMBER),
    }
}

fn text(out: &mut String, lines: &[DiffLine], pen: &Pen) {
    for line in lines {
        let number = |n: Option<u32>| n.map_or_else(|| "    ".to_owned(), |n| format!("{n:4}"));
        let body =
            format!("{} {} {} {}", number(line.old), number(line.new), mark(line.kind), spans(&line.spans));
        let _ = writeln!(out, "{}", colour(line.kind).map_or(body.clone(), |code| pen.paint(code, &body)));
    }
}

fn spans(spans: &[Span]) -> String {
    spans
        .iter()
        .map(|span| match span.mark {
            // The text has no hidden characters left; a literal mark would look like the box of one.
            SpanMark::Plain | SpanMark::Changed => pilot_review::shown_text(&span.text),
            SpanMark::Hidden => format!("‹{}›", span.text),
        })
        .collect()
}

fn rows(out: &mut String, table: &TableDifference, pen: &Pen) {
    for row in &table.rows {
        let body = format!(
            "{:>5} {} {}",
            row_number(row),
            mark(row.kind),
            row.cells.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
        let _ = writeln!(out, "{}", colour(row.kind).map_or(body.clone(), |code| pen.paint(code, &body)));
    }
}

fn row_number(row: &RowChange) -> String {
    row.new.or(row.old).map_or_else(String::new, |n| n.to_string())
}

fn cell(cell: &CellChange) -> String {
    match (&cell.old, &cell.new) {
        (Some(old), Some(new)) => format!("[{} → {}]", spans(old), spans(new)),
        (Some(old), None) => spans(old),
        (None, Some(new)) => spans(new),
        (None, None) => String::new(),
    }
}

fn numbers(out: &mut String, view: &ApprovalView, pen: &Pen) {
    let check = &view.card.numbers;
    let _ = writeln!(
        out,
        "{}: {} {}, {} {}, {} {}, {} {}",
        pen.paint(BOLD, pen.pick("Number check", "数字核对")),
        check.known,
        pen.pick("match a tool result", "与工具结果一致"),
        check.derived,
        pen.pick("follow from them", "可由其推出"),
        check.differs,
        pen.pick("differ", "不同"),
        check.unsourced,
        pen.pick("without a source", "没有来源"),
    );
    for figure in &check.figures {
        let (code, words) = match &figure.verdict {
            FigureVerdict::Known { source } => (None, source.clone()),
            FigureVerdict::Derived { how } => (None, how.clone()),
            FigureVerdict::Differs { computed, source } => {
                (Some(RED), format!("{} {computed} ({source})", pen.pick("computed:", "计算结果：")))
            }
            FigureVerdict::Unsourced => (Some(AMBER), pen.pick("no source", "没有来源").to_owned()),
        };
        let body = format!("  {:>16}  {:>8}  {words}", figure.text, figure.place);
        let _ =
            writeln!(out, "{}", code.map_or_else(|| pen.paint(GREY, &body), |code| pen.paint(code, &body)));
    }
}
