//! A fully digital Chinese invoice (数电票) as a PDF, laid out like the ones that the tax platform issues. There is no
//! seal, and the remark says that it is a sample.

use crate::model::{BUYER, Invoice, Party, plain};
use crate::pdf::{self, Font, Page};

/// A line of goods or services.
pub(crate) struct Line {
    /// Tax category and name: `*纸制品*复印纸`.
    pub(crate) item: &'static str,
    pub(crate) spec: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) quantity: &'static str,
    pub(crate) price: &'static str,
    pub(crate) net: i64,
    pub(crate) rate: &'static str,
    pub(crate) tax: i64,
}

/// What stands on the invoice besides its figures.
pub(crate) struct Sheet {
    pub(crate) kind: &'static str,
    pub(crate) words: &'static str,
    pub(crate) lines: &'static [Line],
    pub(crate) remark: &'static str,
    pub(crate) issuer: &'static str,
}

const LEFT: f64 = 4.5;
const RIGHT: f64 = 205.5;
const MIDDLE: f64 = 105.0;

/// Draws it.
pub(crate) fn draw(invoice: &Invoice, sheet: &Sheet) -> Result<Vec<u8>, lopdf::Error> {
    let mut page = Page::new(210.0, 140.0);
    frame(&mut page);
    head(&mut page, invoice, sheet);
    party(&mut page, 0.0, "购买方信息", &BUYER);
    party(&mut page, 100.5, "销售方信息", &invoice.seller);
    lines(&mut page, sheet);
    totals(&mut page, invoice, sheet);
    pdf::document(&format!("Fapiao {}", invoice.number), invoice.date, page)
}

fn brown(page: &mut Page) {
    page.colour(0.5, 0.18, 0.05);
}

fn black(page: &mut Page) {
    page.colour(0.0, 0.0, 0.0);
}

fn frame(page: &mut Page) {
    brown(page);
    page.outline(0.8, LEFT, 27.5, RIGHT - LEFT, 97.5);
    for y in [48.5, 94.0, 102.5] {
        page.line(0.6, (LEFT, y), (RIGHT, y));
    }
    for x in [10.5, MIDDLE, 111.0] {
        page.line(0.6, (x, 27.5), (x, 48.5));
    }
    page.line(0.6, (10.5, 102.5), (10.5, 125.0));
    page.line(0.6, (61.0, 94.0), (61.0, 102.5));
    page.line(0.4, (58.0, 18.0), (152.0, 18.0));
    page.line(0.4, (58.0, 19.0), (152.0, 19.0));
}

fn head(page: &mut Page, invoice: &Invoice, sheet: &Sheet) {
    brown(page);
    page.centre(Font::Song, 19.0, MIDDLE, 15.5, &format!("电子发票（{}）", sheet.kind));
    page.text(Font::Song, 9.0, 154.0, 13.2, "发票号码：");
    page.text(Font::Song, 9.0, 154.0, 19.2, "开票日期：");
    black(page);
    page.text(Font::Song, 9.0, 170.0, 13.2, invoice.number);
    let mut parts = invoice.date.split('-');
    let (year, month, day) =
        (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    page.text(Font::Song, 9.0, 170.0, 19.2, &format!("{year}年{month}月{day}日"));
}

fn party(page: &mut Page, shift: f64, label: &str, party: &Party) {
    brown(page);
    page.vertical(9.0, shift + 5.8, 32.3, 3.7, label);
    page.text(Font::Song, 9.0, shift + 12.0, 35.8, "名称：");
    page.text(Font::Song, 9.0, shift + 12.0, 45.2, "统一社会信用代码/纳税人识别号：");
    black(page);
    page.text(Font::Song, 9.0, shift + 22.0, 35.8, party.name);
    page.text(Font::Song, 9.0, shift + 60.5, 45.2, party.tax_id);
}

fn lines(page: &mut Page, sheet: &Sheet) {
    brown(page);
    page.text(Font::Song, 9.0, 15.5, 53.0, "项目名称");
    page.text(Font::Song, 9.0, 47.5, 53.0, "规格型号");
    page.text(Font::Song, 9.0, 72.5, 53.0, "单 位");
    page.right(Font::Song, 9.0, 103.0, 53.0, "数 量");
    page.right(Font::Song, 9.0, 127.0, 53.0, "单 价");
    page.right(Font::Song, 9.0, 153.0, 53.0, "金 额");
    page.text(Font::Song, 9.0, 157.0, 53.0, "税率/征收率");
    page.right(Font::Song, 9.0, 204.5, 53.0, "税 额");
    black(page);
    let mut y = 59.0;
    for line in sheet.lines {
        page.text(Font::Song, 9.0, 6.0, y, line.item);
        page.text(Font::Song, 9.0, 47.5, y, line.spec);
        page.text(Font::Song, 9.0, 74.0, y, line.unit);
        page.right(Font::Song, 9.0, 103.0, y, line.quantity);
        page.right(Font::Song, 9.0, 127.0, y, line.price);
        page.right(Font::Song, 9.0, 153.0, y, &plain(line.net));
        page.text(Font::Song, 9.0, 162.0, y, line.rate);
        page.right(Font::Song, 9.0, 204.5, y, &plain(line.tax));
        y += 5.5;
    }
}

fn totals(page: &mut Page, invoice: &Invoice, sheet: &Sheet) {
    brown(page);
    page.text(Font::Song, 9.0, 20.0, 92.3, "合");
    page.text(Font::Song, 9.0, 36.0, 92.3, "计");
    page.text(Font::Song, 9.0, 16.0, 99.4, "价税合计（大写）");
    page.text(Font::Song, 9.0, 143.0, 99.4, "（小写）");
    page.vertical(9.0, 5.8, 110.5, 6.0, "备注");
    page.text(Font::Song, 9.0, 19.0, 131.5, "开票人：");
    black(page);
    page.right(Font::Song, 9.0, 153.0, 92.3, &format!("¥{}", plain(invoice.net)));
    page.right(Font::Song, 9.0, 204.5, 92.3, &format!("¥{}", plain(invoice.tax)));
    page.text(Font::Song, 10.0, 64.0, 99.4, sheet.words);
    page.text(Font::Song, 10.0, 158.0, 99.4, &format!("¥{}", plain(invoice.gross)));
    page.text(Font::Song, 8.0, 12.5, 107.5, "样例数据，虚构公司，不是真实发票。");
    page.text(Font::Song, 8.0, 12.5, 112.5, sheet.remark);
    page.text(Font::Song, 9.0, 33.0, 131.5, sheet.issuer);
}
