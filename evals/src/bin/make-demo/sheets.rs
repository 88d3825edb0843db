//! The ledgers: an XLSX of the person's own, an old XLS of the carrier, a GB18030 csv of the canteen, a UTF-8 csv of
//! the software subscriptions.

use crate::model::{Invoice, grouped, plain};
use crate::xls::{self, Cell};
use rust_xlsxwriter::{
    DocProperties, ExcelDateTime, Format, FormatAlign, FormatBorder, Formula, Workbook, XlsxError,
};
use std::io;

/// Row of the first invoice in [`ledger`].
pub(crate) const LEDGER_FIRST: u32 = 4;
/// Row of the first invoice in [`freight`].
pub(crate) const FREIGHT_FIRST: u32 = 3;
/// Row of the first line of a csv.
pub(crate) const CSV_FIRST: u32 = 2;

const HEADERS: [&str; 7] = ["开票日期", "发票号码", "供应商", "不含税金额", "税额", "价税合计", "备注"];

/// The XLSX ledger: a title, a unit line, headers in row 3, the invoices, one row whose amount is still open, a total.
pub(crate) fn ledger(sheet_name: &str, invoices: &[Invoice], open: &OpenRow) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let made = ExcelDateTime::from_ymd(2026, 9, 30)?;
    workbook.set_properties(&DocProperties::new().set_creation_datetime(&made).set_title("采购台账"));
    let title = Format::new().set_bold().set_font_size(14);
    let head = Format::new().set_bold().set_border_bottom(FormatBorder::Thin).set_align(FormatAlign::Center);
    let money = Format::new().set_num_format("#,##0.00");
    let day = Format::new().set_num_format("yyyy-mm-dd");
    let total = Format::new().set_bold().set_num_format("#,##0.00").set_border_top(FormatBorder::Thin);

    let sheet = workbook.add_worksheet();
    sheet.set_name(sheet_name)?;
    for (column, width) in [12.0, 24.0, 28.0, 14.0, 12.0, 14.0, 20.0].into_iter().enumerate() {
        sheet.set_column_width(column as u16, width)?;
    }
    sheet.write_with_format(0, 0, "2026 年第三季度采购台账", &title)?;
    sheet.write(1, 0, "币种：人民币（元）")?;
    for (column, header) in HEADERS.into_iter().enumerate() {
        sheet.write_with_format(2, column as u16, header, &head)?;
    }
    let mut row = LEDGER_FIRST - 1;
    for invoice in invoices {
        sheet.write_with_format(row, 0, &ExcelDateTime::parse_from_str(invoice.date)?, &day)?;
        sheet.write(row, 1, invoice.number)?;
        sheet.write(row, 2, invoice.seller.name)?;
        for (column, amount) in [(3, invoice.net), (4, invoice.tax), (5, invoice.gross)] {
            sheet.write_with_format(row, column, amount as f64 / 100.0, &money)?;
        }
        row += 1;
    }
    sheet.write_with_format(row, 0, &ExcelDateTime::parse_from_str(open.date)?, &day)?;
    sheet.write(row, 1, open.number)?;
    sheet.write(row, 2, open.supplier)?;
    sheet.write(row, 5, open.amount)?;
    sheet.write(row, 6, open.remark)?;
    row += 1;
    sheet.write_with_format(row, 0, "合计", &total)?;
    for (column, letter, amount) in [
        (3, 'D', sum(invoices, |i| i.net)),
        (4, 'E', sum(invoices, |i| i.tax)),
        (5, 'F', sum(invoices, |i| i.gross)),
    ] {
        let formula =
            Formula::new(format!("=SUM({letter}{LEDGER_FIRST}:{letter}{row})")).set_result(plain(amount));
        sheet.write_formula_with_format(row, column, formula, &total)?;
    }
    workbook.save_to_buffer()
}

/// A row of the ledger that has no figure yet.
pub(crate) struct OpenRow {
    pub(crate) date: &'static str,
    pub(crate) number: &'static str,
    pub(crate) supplier: &'static str,
    pub(crate) amount: &'static str,
    pub(crate) remark: &'static str,
}

fn sum(invoices: &[Invoice], part: impl Fn(&Invoice) -> i64) -> i64 {
    invoices.iter().map(part).sum()
}

/// The carrier's XLS: a title, headers in row 2, the invoices, a total.
pub(crate) fn freight(sheet: &str, invoices: &[Invoice]) -> io::Result<Vec<u8>> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let mut rows = vec![vec![text("海潮样例物流有限公司 2026 年第三季度对账明细")]];
    rows.push(["开票日期", "发票号码", "销售方名称", "金额（不含税）", "税额", "价税合计"].map(text).into());
    for invoice in invoices {
        rows.push(vec![
            Cell::Date(invoice.date),
            text(invoice.number),
            text(invoice.seller.name),
            Cell::Money(invoice.net),
            Cell::Money(invoice.tax),
            Cell::Money(invoice.gross),
        ]);
    }
    rows.push(vec![
        text("合计"),
        Cell::Empty,
        Cell::Empty,
        Cell::Money(sum(invoices, |i| i.net)),
        Cell::Money(sum(invoices, |i| i.tax)),
        Cell::Money(sum(invoices, |i| i.gross)),
    ]);
    xls::workbook(sheet, &rows, &[12, 24, 28, 16, 12, 14])
}

/// The canteen's csv in GB18030, as a Chinese spreadsheet program saves it.
pub(crate) fn canteen(invoices: &[Invoice]) -> Vec<u8> {
    let mut text = String::from("开票日期,发票号码,供应商,金额,税额,价税合计,事由\r\n");
    for (invoice, what) in invoices.iter().zip(["客户午餐", "团队聚餐", "加班晚餐", "中秋茶歇"])
    {
        let (net, tax, gross) = (plain(invoice.net), plain(invoice.tax), plain(invoice.gross));
        let line =
            [&invoice.date.replace('-', "/"), invoice.number, invoice.seller.name, &net, &tax, &gross, what];
        text.push_str(&line.join(","));
        text.push_str("\r\n");
    }
    let totals =
        [plain(sum(invoices, |i| i.net)), plain(sum(invoices, |i| i.tax)), plain(sum(invoices, |i| i.gross))];
    text.push_str(&format!("合计,,,{},\r\n", totals.join(",")));
    encoding_rs::GB18030.encode(&text).0.into_owned()
}

/// The software subscriptions as UTF-8 csv with quoted, grouped amounts.
pub(crate) fn subscriptions(invoices: &[Invoice]) -> Vec<u8> {
    let mut text = String::from("Invoice date,Invoice no.,Vendor,Currency,Net,Tax,Total\n");
    for invoice in invoices {
        let amounts =
            [invoice.net, invoice.tax, invoice.gross].map(|amount| format!("\"{}\"", grouped(amount)));
        let name = invoice.seller.name;
        text.push_str(&format!(
            "{},{},{name},{},{}\n",
            invoice.date,
            invoice.number,
            invoice.currency,
            amounts.join(",")
        ));
    }
    text.into_bytes()
}
