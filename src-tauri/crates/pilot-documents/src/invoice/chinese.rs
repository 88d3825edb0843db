//! Chinese invoices: 数电票, the older VAT invoices, rail and air tickets.

use super::amounts;
use super::grid::{Grid, Hit, trim_lead};
use crate::date;
use crate::fold;
use crate::model::InvoiceFields;
use crate::money;
use rust_decimal::Decimal;

/// True when the paper uses the labels of Chinese invoices, or is a Chinese paper with money on it.
pub(super) fn speaks(grid: &Grid<'_>) -> bool {
    grid.texts().any(|text| {
        ["发票", "价税合计", "开票日期", "金额", "合计", "报价", "票价"]
            .iter()
            .any(|word| text.contains(word))
    })
}

/// Reads the fields.
pub(super) fn read(grid: &Grid<'_>) -> InvoiceFields {
    let mut fields = InvoiceFields {
        number: number(grid),
        code: code(grid),
        date: date(grid),
        ..InvoiceFields::default()
    };
    totals(grid, &mut fields);
    parties(grid, &mut fields);
    fields.refers_to = reference(grid);
    fields.currency = currency(grid);
    fields
}

/// The digits that begin a text, blanks between them dropped.
fn digits(text: &str) -> String {
    trim_lead(text).chars().filter(|c| !c.is_whitespace()).take_while(char::is_ascii_digit).collect()
}

fn number(grid: &Grid<'_>) -> Option<String> {
    for label in [
        "数电发票号码",
        "数电票号码",
        "发票号码",
        "发票号",
        "发票编号",
        "票据号码",
        "报价单号",
        "单据编号",
        "编号",
    ] {
        for hit in grid.find(label) {
            // 被红冲蓝字数电发票号码 is another invoice's number.
            if ["红冲", "蓝字", "对应", "原"].iter().any(|word| hit.before.contains(word)) {
                continue;
            }
            let Some(value) = grid.value(&hit) else { continue };
            let found = digits(&value);
            if found.len() >= 8 {
                return Some(found);
            }
            // Papers that are no tax invoices number themselves as they like.
            let word: String = trim_lead(&value)
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '_' | '.'))
                .collect();
            if word.len() >= 3
                && word.bytes().any(|byte| byte.is_ascii_digit())
                && date::parse(&word, None).is_none()
            {
                return Some(word);
            }
        }
    }
    None
}

fn code(grid: &Grid<'_>) -> Option<String> {
    grid.find("发票代码")
        .iter()
        .filter(|hit| !hit.before.contains("红冲") && !hit.before.contains("对应"))
        .filter_map(|hit| grid.value(hit))
        .map(|value| digits(&value))
        .find(|found| matches!(found.len(), 10 | 12))
}

fn date(grid: &Grid<'_>) -> Option<String> {
    for label in ["开票日期", "填开日期", "发票日期", "报价日期", "日期"] {
        for hit in grid.find(label) {
            let values = [Some(hit.rest.clone()), grid.right(&hit), grid.below(hit.line, hit.cell)];
            // 2026 年 03 月 05 日 may be printed as cells of their own.
            let line = grid.behind(&hit).concat();
            for value in values.into_iter().flatten().chain([line]) {
                if let Some(found) = date::find(&value, None) {
                    return Some(found.date.to_string());
                }
            }
        }
    }
    None
}

/// Amounts behind a hit in its line; a `¥` and its digits may be two cells.
fn line_amounts(grid: &Grid<'_>, hit: &Hit) -> Vec<Decimal> {
    let joined = join_signs(&grid.behind(hit));
    joined
        .iter()
        .flat_map(|text| amounts::all(text, Some(money::Mark::Point)))
        .map(|amount| amount.value)
        .collect()
}

/// Puts a lone currency sign before the cell that follows it.
fn join_signs(cells: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(cells.len());
    let mut sign = String::new();
    for cell in cells {
        if matches!(cell.trim(), "¥" | "￥") {
            sign = "¥".to_owned();
        } else {
            out.push(format!("{sign}{cell}"));
            sign.clear();
        }
    }
    out
}

fn totals(grid: &Grid<'_>, fields: &mut InvoiceFields) {
    let mut words = None;
    for hit in grid.find("小写") {
        if let Some(found) = line_amounts(grid, &hit).into_iter().next().or_else(|| single(grid, &hit)) {
            fields.gross = Some(found);
        }
    }
    for hit in grid.find("价税合计") {
        let behind = grid.behind(&hit);
        words = words.or_else(|| behind.iter().find_map(|text| capital(text)));
        if fields.gross.is_none() {
            fields.gross = line_amounts(grid, &hit).into_iter().next_back().or_else(|| single(grid, &hit));
        }
    }
    net_and_tax(grid, fields);
    if fields.gross.is_none() {
        for label in ["票价", "总金额", "合计金额", "金额合计", "应付金额", "总计", "合计", "金额"]
        {
            let found = grid.find(label).into_iter().find_map(|hit| {
                line_amounts(grid, &hit).into_iter().next_back().or_else(|| single(grid, &hit))
            });
            // 合计 of a tax invoice is the net amount, which was taken above.
            if let Some(found) = found.filter(|_| !(label == "合计" && fields.net.is_some())) {
                fields.gross = Some(found);
                break;
            }
        }
    }
    // The words may stand on a line of their own.
    let words = words.or_else(|| {
        grid.find("大写").iter().find_map(|hit| grid.behind(hit).iter().find_map(|text| capital(text)))
    });
    if let (Some(words), Some(gross)) = (words, fields.gross)
        && words != gross
    {
        fields.conflicts.push(format!("the amount in words is {words}, in figures {gross}"));
    }
}

/// A value below or beside a label that stands alone.
fn single(grid: &Grid<'_>, hit: &Hit) -> Option<Decimal> {
    let value = grid.value(hit)?;
    let found = amounts::all(&value, Some(money::Mark::Point))
        .into_iter()
        .next_back()
        .or_else(|| money::parse(&value, Some(money::Mark::Point)));
    found.map(|amount| amount.value)
}

/// The amount in capital numerals within a text such as `(大写)贰仟圆整(小写)¥2000.00`.
fn capital(text: &str) -> Option<Decimal> {
    let text = text.split("(小写").next().unwrap_or(text);
    let text = text
        .trim_start_matches("(大写)")
        .trim_start_matches("大写")
        .trim_start_matches([')', ':', '('])
        .trim();
    let text = if text.starts_with("负数)") { format!("({text}") } else { text.to_owned() };
    money::words(&text)
}

/// The line `合 计 ¥1769.91 ¥230.09`: net and tax. Its label may be two cells.
fn net_and_tax(grid: &Grid<'_>, fields: &mut InvoiceFields) {
    for (line, found) in grid.lines.iter().enumerate() {
        let squashed = fold::tidy(&found.squashed());
        let Some(rest) = squashed.strip_prefix("合计") else { continue };
        if rest.starts_with("金额") || rest.starts_with("(大写") {
            continue;
        }
        let cells: Vec<String> =
            grid.cells(line).iter().map(|text| text.trim_start_matches("合计").to_owned()).collect();
        let values: Vec<Decimal> = join_signs(&cells)
            .iter()
            .flat_map(|text| amounts::all(text, Some(money::Mark::Point)))
            .map(|amount| amount.value)
            .collect();
        match values.as_slice() {
            [net, tax] => {
                fields.net = Some(*net);
                fields.tax = Some(*tax);
            }
            [net] if fields.gross.is_some() => fields.net = Some(*net),
            _ => continue,
        }
        // Several pages have a line each; the last one is of the whole.
    }
}

/// Which side a label belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Buyer,
    Seller,
}

fn parties(grid: &Grid<'_>, fields: &mut InvoiceFields) {
    let border = seller_border(grid);
    for (hit, value) in names(grid) {
        let text = clean_name(&value);
        if text.is_empty() {
            continue;
        }
        match side(grid, &hit, border, fields.buyer.is_some()) {
            Side::Buyer if fields.buyer.is_none() => fields.buyer = Some(text),
            Side::Seller if fields.seller.is_none() => fields.seller = Some(text),
            Side::Buyer | Side::Seller => {}
        }
    }
    for hit in grid.find("纳税人识别号") {
        let Some(value) = grid.value(&hit) else { continue };
        let id: String = trim_lead(&value)
            .chars()
            .filter(|c| !c.is_whitespace())
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if !(15..=20).contains(&id.len()) {
            continue;
        }
        match side(grid, &hit, border, fields.buyer_tax_id.is_some()) {
            Side::Buyer if fields.buyer_tax_id.is_none() => fields.buyer_tax_id = Some(id),
            Side::Seller if fields.seller_tax_id.is_none() => fields.seller_tax_id = Some(id),
            Side::Buyer | Side::Seller => {}
        }
    }
    if fields.seller.is_none() {
        fields.seller = ["销售方", "供应商", "报价单位", "报价方", "收款单位", "收款方", "供方", "卖方"]
            .iter()
            .find_map(|label| {
                grid.find(label)
                    .into_iter()
                    .filter(|hit| !hit.rest.starts_with("信息"))
                    .find_map(|hit| grid.value(&hit))
            })
            .map(|value| clean_name(&value))
            .filter(|name| name.chars().count() >= 4);
    }
}

/// Labels 名称 that name a party, with their values. 项目名称 heads a column.
fn names(grid: &Grid<'_>) -> Vec<(Hit, String)> {
    grid.find("名称")
        .into_iter()
        .filter(|hit| {
            let before = hit.before.as_str();
            !["项目", "服务", "劳务", "商品", "货物", "产品", "设备"]
                .iter()
                .any(|word| before.ends_with(word))
        })
        .filter_map(|hit| {
            let value = if hit.rest.is_empty() {
                grid.right(&hit).or_else(|| grid.below(hit.line, hit.cell))
            } else {
                Some(hit.rest.clone())
            }?;
            Some((hit, value))
        })
        .collect()
}

/// A name ends where the next label begins, which a narrow gap may have joined to it.
fn clean_name(value: &str) -> String {
    let mut end = value.len();
    for stop in ["销名称", "售名称", "名称:", "统一社会信用代码", "纳税人识别号", "密码区", "地址"]
    {
        if let Some(at) = value.find(stop).filter(|at| *at > 0) {
            end = end.min(at);
        }
    }
    value[..end].trim().trim_end_matches(['销', '密']).trim_matches([':', ' ']).to_owned()
}

/// Left edge of the seller's block, where the glyphs of 销售方信息 stand in a column of their own.
fn seller_border(grid: &Grid<'_>) -> Option<f32> {
    let mut border: Option<f32> = None;
    for (line, row) in grid.lines.iter().enumerate() {
        for (cell, place) in row.cells.iter().enumerate() {
            let text = grid.text(line, cell);
            let single = matches!(text, "销" | "售" | "销售方" | "销售方信息" | "销方");
            let glued = (text.starts_with('销') || text.starts_with('售'))
                && (text.contains("名称") || text.contains("纳税人"));
            if (single || glued) && place.x0 > 1.0 {
                border = Some(border.map_or(place.x0, |found| found.min(place.x0)));
            }
        }
    }
    border
}

fn side(grid: &Grid<'_>, hit: &Hit, border: Option<f32>, have_buyer: bool) -> Side {
    let before = hit.before.as_str();
    let last = |words: &[&str]| words.iter().filter_map(|word| before.rfind(word)).max();
    match (last(&["购", "买"]), last(&["销", "售"])) {
        (Some(buyer), Some(seller)) => return if buyer > seller { Side::Buyer } else { Side::Seller },
        (Some(_), None) => return Side::Buyer,
        (None, Some(_)) => return Side::Seller,
        (None, None) => {}
    }
    let place = grid.place(hit.line, hit.cell);
    // Two blocks side by side: the page tells by place.
    if let (Some(border), Some(place)) = (border, place)
        && border
            > grid.lines.iter().flat_map(|line| &line.cells).map(|cell| cell.x0).fold(f32::MAX, f32::min)
                + 50.0
    {
        return if place.x0 >= border - 2.0 { Side::Seller } else { Side::Buyer };
    }
    // One below the other: a heading 销售方 above, else the second of two.
    for line in (0..=hit.line).rev() {
        for text in grid.cells(line) {
            if text.contains("销售方") || text.contains("销货") {
                return Side::Seller;
            }
            if text.contains("购买方") || text.contains("购货") {
                return if have_buyer { Side::Seller } else { Side::Buyer };
            }
        }
    }
    if have_buyer { Side::Seller } else { Side::Buyer }
}

fn reference(grid: &Grid<'_>) -> Option<String> {
    for label in [
        "被红冲蓝字数电发票号码",
        "被红冲蓝字数电票号码",
        "被红冲蓝字发票号码",
        "对应蓝字发票号码",
        "对应蓝字发票号",
        "对应正数发票号码",
    ] {
        for hit in grid.find(label) {
            let found = grid.value(&hit).map(|value| digits(&value)).unwrap_or_default();
            if found.len() >= 8 {
                return Some(found);
            }
        }
    }
    grid.find("对应正数发票代码").iter().find_map(|hit| {
        let (_, number) = hit.rest.split_once("号码")?;
        Some(digits(number)).filter(|found| found.len() >= 8)
    })
}

fn currency(grid: &Grid<'_>) -> Option<String> {
    for label in ["币种", "币别"] {
        for hit in grid.find(label) {
            let value = grid.value(&hit).unwrap_or_default();
            if let Some(found) = money::currency_in_text(&value) {
                return Some(found.to_owned());
            }
        }
    }
    // A paper in Chinese that names another currency beside its amounts is in that one; all others are in yuan.
    let foreign = grid.texts().find_map(|text| {
        let amounts = amounts::all(text, Some(money::Mark::Point));
        amounts.into_iter().find_map(|amount| amount.currency).filter(|code| *code != "CNY")
    });
    Some(foreign.unwrap_or("CNY").to_owned())
}
