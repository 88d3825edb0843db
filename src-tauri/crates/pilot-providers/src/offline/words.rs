//! What the helper says, in both languages.

use super::analysis::{Amounts, Analysis};
use super::goal::{Language, Scope};
use super::report::cell;
use pilot_types::ErrorCode;

/// Entries named in closing words.
const NAMED: usize = 10;

pub(super) fn pick(language: Language, zh: &'static str, en: &'static str) -> &'static str {
    match language {
        Language::Chinese => zh,
        Language::English => en,
    }
}

/// What the helper can do, and how to add a model.
pub(super) fn help(language: Language) -> String {
    pick(
        language,
        "我是内置助手：不用模型，也不联网，只按固定步骤工作，不能自由聊天。\n\n\
         我能做的：汇总这个文件夹里的发票、收据和费用表，按供应商、月份和币种合计，指出重复、异常、冲突和读不出的内容，\
         然后提出一份报告；你看过并同意之后才会写入。可以这样说：「汇总这个文件夹里的发票」，或者「汇总「进项发票」文件夹里的发票」。\n\n\
         其他事情需要一个模型：在“设置 → 模型”里添加，可以是本机的 Ollama、LM Studio 等，也可以是填入密钥的在线服务。\
         在命令行中，设置 POCKETPILOT_BASE_URL、POCKETPILOT_MODEL（需要时加 POCKETPILOT_API_KEY），再用 --provider env。",
        "I am the built-in helper: no model, no network. I work by fixed steps and cannot chat freely.\n\n\
         What I can do: sum up the invoices, receipts and expense tables of this folder by supplier, month and currency, \
         point out duplicates, outliers, conflicts and what could not be read, and propose a report. It is written only after \
         you have seen it and agreed. Say for example: Summarise the invoices in this folder. Or name one: Summarise the \
         invoices in the \"invoices\" folder.\n\n\
         Anything else needs a model: add one under Settings → Models, either on this computer (Ollama, LM Studio and others) \
         or an online service with your key. On the command line set POCKETPILOT_BASE_URL and POCKETPILOT_MODEL (and \
         POCKETPILOT_API_KEY if needed) and use --provider env.",
    )
    .to_owned()
}

pub(super) fn scope(language: Language, scope: &Scope) -> String {
    match (language, scope) {
        (Language::Chinese, Scope::Everything) => "整个文件夹".to_owned(),
        (Language::English, Scope::Everything) => "the whole folder".to_owned(),
        (Language::Chinese, Scope::Only(path)) => format!("「{}」", cell(path)),
        (Language::English, Scope::Only(path)) => format!("\"{}\"", cell(path)),
    }
}

pub(super) fn currency(language: Language, currency: &str) -> String {
    if currency.trim().is_empty() {
        pick(language, "币种不明", "no currency").to_owned()
    } else {
        cell(currency)
    }
}

/// `CNY 8,014.00；USD 523.00`.
pub(super) fn amounts(language: Language, amounts: &Amounts) -> String {
    let shown: Vec<String> = amounts
        .iter()
        .map(|(code, amount)| format!("{} {}", currency(language, code), amount.grouped()))
        .collect();
    shown.join(pick(language, "；", "; "))
}

/// Why a row or file was not counted: in the person's language where the code says enough, with the reader's own words.
pub(super) fn why_unread(language: Language, code: &str, reason: &str) -> String {
    if language == Language::English {
        return if reason.is_empty() { code.to_owned() } else { reason.to_owned() };
    }
    let told = match ErrorCode::from_text(code) {
        Some(ErrorCode::DocumentScanned) => "扫描件，没有文字层",
        Some(ErrorCode::DocumentGarbled) => "文字层是乱码",
        Some(ErrorCode::DocumentEncrypted) => "需要密码",
        Some(ErrorCode::DocumentBroken) => "文件或单元格读不出",
        Some(ErrorCode::DocumentUnsupported) => "没有可以计入的内容",
        Some(ErrorCode::DocumentLimit | ErrorCode::TooLarge) => "超出大小限制",
        Some(ErrorCode::DocumentTimeout) => "读取超时",
        Some(ErrorCode::DocumentCrashed) => "读取时出错",
        Some(_) | None => "未读出",
    };
    if reason.is_empty() { told.to_owned() } else { format!("{told}（{reason}）") }
}

/// Why a file was left aside on purpose.
pub(super) fn why_aside(language: Language, what: &str) -> String {
    if language == Language::English {
        return format!("{what}; not counted");
    }
    let told = match what {
        _ if what.contains("quote") => "报价单，不是发票，未计入",
        _ if what.contains("proforma") => "形式发票，不是发票，未计入",
        _ if what.contains("receipt") => "收据，不是发票，未计入",
        _ if what.contains("not a table") => "文字，不是表格，未计入",
        _ => "未计入",
    };
    format!("{told}（{what}）")
}

/// Closing words after the report was written.
pub(super) fn written(language: Language, path: &str, analysis: &Analysis) -> String {
    let (rows, files, totals) = (analysis.rows, analysis.files, amounts(language, &analysis.totals));
    let mut words = match language {
        Language::Chinese => format!("报告已写入 {path}：{files} 个文件，{rows} 条记录。合计 {totals}。"),
        Language::English => {
            format!("The report is written to {path}: {files} files, {rows} records. Totals: {totals}.")
        }
    };
    let lists = [
        ("outliers", analysis.outliers.len(), "处异常金额", "outliers"),
        ("duplicates", analysis.duplicates.len(), "组重复", "duplicates"),
        ("conflicts", analysis.conflicts.len(), "处冲突", "conflicts"),
        ("unread_rows", analysis.unread_rows.len(), "处未读出", "not read"),
        ("", analysis.left_aside().count(), "个文件未计入", "left aside"),
    ];
    let shown: Vec<String> = lists
        .iter()
        .map(|(list, shown, zh, en)| {
            (analysis.length_of(list).unwrap_or_else(|| u64::try_from(*shown).unwrap_or(0)), *zh, *en)
        })
        .filter(|(count, ..)| *count > 0)
        .map(|(count, zh, en)| format!("{count} {}", pick(language, zh, en)))
        .collect();
    match language {
        Language::Chinese if !shown.is_empty() => {
            words.push_str(&format!("需要再看一眼：{}。", shown.join("，")))
        }
        Language::Chinese => words.push_str("没有需要核对的内容。"),
        Language::English if !shown.is_empty() => {
            words.push_str(&format!(" To look at: {}.", shown.join(", ")))
        }
        Language::English => words.push_str(" Nothing needs a second look."),
    }
    words
}

/// Words after a write that did not happen, or of which it is not known.
pub(super) fn not_written(language: Language, code: Option<ErrorCode>, content: &str) -> String {
    let content = shortened(content);
    match (language, code) {
        (Language::Chinese, Some(ErrorCode::ApprovalRejected)) => {
            "好的，没有写入任何文件。内置助手只会按固定步骤写这一份报告，不能按备注修改；要修改内容，可以在卡片上编辑后再同意，或者添加一个模型。".to_owned()
        }
        (Language::English, Some(ErrorCode::ApprovalRejected)) => {
            "All right, nothing was written. The built-in helper makes this one report by fixed steps and cannot follow a note: \
             edit the text on the card before you approve it, or add a model."
                .to_owned()
        }
        (Language::Chinese, Some(ErrorCode::OutcomeUnknown)) => format!("不能确定报告是否已经写入，请看一下文件夹：{content}"),
        (Language::English, Some(ErrorCode::OutcomeUnknown)) => {
            format!("Whether the report was written cannot be known; please look into the folder: {content}")
        }
        (Language::Chinese, Some(_) | None) => format!("没有写入任何文件：{content}"),
        (Language::English, Some(_) | None) => format!("Nothing was written: {content}"),
    }
}

/// Words when nothing could be counted.
pub(super) fn nothing_found(language: Language, wanted: &Scope, analysis: &Analysis) -> String {
    let what = scope(language, wanted);
    let mut words = match language {
        Language::Chinese => format!("在{what}里没有读到可以汇总的发票或表格，所以没有写任何文件。"),
        Language::English => format!(
            "No invoice or table that could be summed up was found in {what}, so nothing was written."
        ),
    };
    for unread in analysis.unread_rows.iter().take(NAMED) {
        let why = why_unread(language, &unread.code, &unread.reason);
        words.push_str(&format!("\n- {}: {}", cell(&unread.source.file), cell(&why)));
    }
    words
}

pub(super) fn no_documents(language: Language, content: &str) -> String {
    let content = shortened(content);
    match language {
        Language::Chinese => format!("没有找到可以汇总的表格或发票，所以没有写任何文件（{content}）。"),
        Language::English => {
            format!("There is no table or invoice to sum up, so nothing was written ({content}).")
        }
    }
}

pub(super) fn no_such_folder(language: Language, name: &str) -> String {
    match language {
        Language::Chinese => {
            format!("在文件夹里（两层之内）没有看到「{name}」，所以没有继续，也没有写任何文件。")
        }
        Language::English => {
            format!(
                "\"{name}\" is not to be seen in this folder (two levels deep), so nothing more was done and nothing was written."
            )
        }
    }
}

pub(super) fn step_failed(language: Language, tool: &str, content: &str) -> String {
    let content = shortened(content);
    match language {
        Language::Chinese => format!("{tool} 没有成功，所以到此为止，没有写任何文件：{content}"),
        Language::English => {
            format!("{tool} did not work, so this is the end and nothing was written: {content}")
        }
    }
}

pub(super) fn unreadable_analysis(language: Language) -> String {
    pick(
        language,
        "表格分析的结果读不出，所以没有写任何文件。",
        "The result of the analysis could not be read, so nothing was written.",
    )
    .to_owned()
}

fn shortened(content: &str) -> String {
    let mut short: String = content.chars().take(300).collect();
    if content.chars().nth(300).is_some() {
        short.push('…');
    }
    short
}
