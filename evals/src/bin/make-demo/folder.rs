//! What lies in the folder: which invoice stands in which file.

use crate::fapiao::{self, Line};
use crate::model::{
    CEDARMOOR, HAICHAO, Invoice, LARKFEN, Ledger, PEBBLEWICK, Place, QINGHE, QUILLBANK, SONGGUO, XIAOMAN,
    YUNSHAN,
};
use crate::sheets::{self, OpenRow};
use crate::{papers, scan, western};
use std::error::Error;

/// Relative paths and bytes, in the order in which they are written.
pub(crate) type Files = Vec<(&'static str, Vec<u8>)>;

/// Makes all files and notes what stands in them.
pub(crate) fn build() -> Result<(Files, Ledger), Box<dyn Error>> {
    let mut files = Files::new();
    let mut ledger = Ledger::default();
    files.push(("说明-about.md", papers::ABOUT.into()));
    fapiaos(&mut files, &mut ledger)?;
    westerns(&mut files, &mut ledger)?;
    tables(&mut files, &mut ledger)?;

    const SCAN: &str = "海外/scan-0803.pdf";
    files.push((SCAN, scan::draw()?));
    ledger.unread(Place::document(SCAN), "scanned page without a text layer");
    const QUOTE: &str = "报价单/松果样例家具-报价单.docx";
    files.push((QUOTE, papers::quote()?));
    ledger.not_counted(QUOTE, "quote");
    files.push(("邮件/0918-对账.md", papers::EMAIL.into()));
    Ok((files, ledger))
}

fn fapiaos(files: &mut Files, ledger: &mut Ledger) -> Result<(), Box<dyn Error>> {
    const PAPER: &[Line] = &[
        Line {
            item: "*纸制品*复印纸",
            spec: "A4 70g",
            unit: "箱",
            quantity: "8",
            price: "150.00",
            net: 120_000,
            rate: "13%",
            tax: 15_600,
        },
        Line {
            item: "*文具*硒鼓",
            spec: "300",
            unit: "支",
            quantity: "3",
            price: "189.97",
            net: 56_991,
            rate: "13%",
            tax: 7_409,
        },
    ];
    const SYSTEM: &[Line] = &[Line {
        item: "*信息技术服务*系统部署服务",
        spec: "",
        unit: "项",
        quantity: "1",
        price: "17735.85",
        net: 1_773_585,
        rate: "6%",
        tax: 106_415,
    }];
    const SHELVES: &[Line] = &[Line {
        item: "*家具*货架",
        spec: "2000×600",
        unit: "组",
        quantity: "4",
        price: "300.00",
        net: 120_000,
        rate: "13%",
        tax: 15_600,
    }];
    const FREIGHT: &[Line] = &[Line {
        item: "*运输服务*国内陆路运输",
        spec: "",
        unit: "次",
        quantity: "2",
        price: "500.00",
        net: 100_000,
        rate: "9%",
        tax: 9_000,
    }];
    let ordinary = "普通发票";
    let special = "增值税专用发票";
    let sheets = [
        (
            "进项发票/dzfp_26990000000000000101_青禾样例办公用品有限公司_20260705093012.pdf",
            PAPER_INVOICE,
            fapiao::Sheet {
                kind: ordinary,
                words: "贰仟圆整",
                lines: PAPER,
                remark: "订单号：PO-2607-03",
                issuer: "林样例",
            },
        ),
        (
            "进项发票/云杉-系统部署-0812.pdf",
            Invoice::cny("26990000000000000119", "2026-08-12", YUNSHAN, 1_773_585, 106_415),
            fapiao::Sheet {
                kind: special,
                words: "壹万捌仟捌佰圆整",
                lines: SYSTEM,
                remark: "合同号：YS-2026-17；开户行：样例银行 账号：9900 0000 0000 0000 019",
                issuer: "周样例",
            },
        ),
        (
            "进项发票/青禾-货架-0820.pdf",
            Invoice::cny("26990000000000000124", "2026-08-20", QINGHE, 120_000, 15_600),
            fapiao::Sheet {
                kind: ordinary,
                words: "壹仟叁佰伍拾陆圆整",
                lines: SHELVES,
                remark: "",
                issuer: "林样例",
            },
        ),
        (
            "进项发票/海潮-运费-0908.pdf",
            Invoice::cny("26990000000000000129", "2026-09-08", HAICHAO, 100_000, 9_000),
            fapiao::Sheet {
                kind: special,
                words: "壹仟零玖拾圆整",
                lines: FREIGHT,
                remark: "起运地：样例市 到达地：虚构市 车种车号：厢式货车",
                issuer: "吴样例",
            },
        ),
    ];
    for (file, invoice, sheet) in sheets {
        files.push((file, fapiao::draw(&invoice, &sheet)?));
        ledger.invoice(Place::document(file), invoice);
    }
    Ok(())
}

/// The invoice that lies in the folder as a PDF and stands in the ledger as well.
const PAPER_INVOICE: Invoice = Invoice::cny("26990000000000000101", "2026-07-05", QINGHE, 176_991, 23_009);

fn westerns(files: &mut Files, ledger: &mut Ledger) -> Result<(), Box<dyn Error>> {
    let blue = (0.11, 0.31, 0.62);
    let plum = (0.45, 0.16, 0.36);
    let green = (0.10, 0.42, 0.28);
    let tax = "Sales tax 8%";
    let sheets = [
        (
            "海外/Cedarmoor-2041.pdf",
            Invoice::usd("CX-2041", "2026-07-31", CEDARMOOR, 30_000, 2_400),
            western::Sheet {
                lines: &[
                    ("Managed server, July 2026", "1", 22_000, 22_000),
                    ("Backup storage, 400 GB", "4", 2_000, 8_000),
                ],
                tax_label: tax,
                due: "2026-08-30",
                note: "Payment within 30 days by bank transfer.",
                colour: blue,
            },
        ),
        (
            "海外/Cedarmoor-2057.pdf",
            Invoice::usd("CX-2057", "2026-08-31", CEDARMOOR, 230_000, 18_400),
            western::Sheet {
                lines: &[
                    ("Migration to new data centre", "1", 200_000, 200_000),
                    ("Managed server, August 2026", "1", 30_000, 30_000),
                ],
                tax_label: tax,
                due: "2026-09-30",
                note: "Payment within 30 days by bank transfer.",
                colour: blue,
            },
        ),
        (
            "海外/Larkfen-1108.pdf",
            // The printed total is 10.00 more than subtotal and tax give.
            Invoice::usd("LS-1108", "2026-08-14", LARKFEN, 40_000, 4_000).printed_gross(45_000),
            western::Sheet {
                lines: &[("Catalogue layout, 16 pages", "16", 2_500, 40_000)],
                tax_label: "VAT 10%",
                due: "2026-09-13",
                note: "Thank you for your order.",
                colour: plum,
            },
        ),
        (
            "海外/Larkfen-credit-1115.pdf",
            Invoice::usd("LS-C1115", "2026-09-04", LARKFEN, 10_000, 1_000).credit_for("LS-1108"),
            western::Sheet {
                lines: &[("Four pages not delivered", "4", 2_500, 10_000)],
                tax_label: "VAT 10%",
                due: "",
                note: "This amount will be set off against your next invoice.",
                colour: plum,
            },
        ),
        (
            "海外/Quillbank-BW-0917.pdf",
            Invoice::usd("BW-0917", "2026-09-17", QUILLBANK, 35_000, 2_800),
            western::Sheet {
                lines: &[
                    ("Flyers A5, colour", "2,000", 12, 24_000),
                    ("Business cards, 250 each", "5", 2_200, 11_000),
                ],
                tax_label: tax,
                due: "2026-10-01",
                note: "Goods remain our property until paid in full.",
                colour: green,
            },
        ),
    ];
    for (file, invoice, sheet) in sheets {
        files.push((file, western::draw(&invoice, &sheet)?));
        ledger.invoice(Place::document(file), invoice);
    }
    Ok(())
}

fn tables(files: &mut Files, ledger: &mut Ledger) -> Result<(), Box<dyn Error>> {
    const LEDGER: &str = "台账/采购台账-2026Q3.xlsx";
    const LEDGER_SHEET: &str = "2026Q3";
    let own = [
        PAPER_INVOICE,
        Invoice::cny("26990000000000000107", "2026-07-18", SONGGUO, 150_000, 19_500),
        Invoice::cny("26990000000000000112", "2026-07-29", YUNSHAN, 141_509, 8_491),
        Invoice::cny("26990000000000000117", "2026-08-09", QINGHE, 70_000, 9_100),
        Invoice::cny("26990000000000000126", "2026-08-25", SONGGUO, 180_000, 23_400),
        Invoice::cny("26990000000000000131", "2026-09-11", YUNSHAN, 188_679, 11_321),
    ];
    let open = OpenRow {
        date: "2026-09-22",
        number: "26990000000000000138",
        supplier: QINGHE.name,
        amount: "待确认",
        remark: "等供应商确认金额",
    };
    files.push((LEDGER, sheets::ledger(LEDGER_SHEET, &own, &open)?));
    rows(ledger, LEDGER, Some(LEDGER_SHEET), sheets::LEDGER_FIRST, &own);
    let row = sheets::LEDGER_FIRST + own.len() as u32;
    ledger.unread(Place { file: LEDGER, sheet: Some(LEDGER_SHEET), row }, "amount is not a number: 待确认");

    const FREIGHT: &str = "台账/海潮物流-2026Q3.xls";
    let freight = [
        Invoice::cny("26990000000000000104", "2026-07-10", HAICHAO, 120_000, 10_800),
        Invoice::cny("26990000000000000110", "2026-07-24", HAICHAO, 90_000, 8_100),
        Invoice::cny("26990000000000000121", "2026-08-14", HAICHAO, 140_000, 12_600),
        Invoice::cny("26990000000000000134", "2026-09-15", HAICHAO, 110_000, 9_900),
    ];
    files.push((FREIGHT, sheets::freight("对账明细", &freight)?));
    rows(ledger, FREIGHT, Some("对账明细"), sheets::FREIGHT_FIRST, &freight);

    const CANTEEN: &str = "台账/小满餐饮-2026Q3.csv";
    let canteen = [
        Invoice::cny("26990000000000000106", "2026-07-16", XIAOMAN, 50_000, 3_000),
        Invoice::cny("26990000000000000116", "2026-08-06", XIAOMAN, 32_000, 1_920),
        Invoice::cny("26990000000000000128", "2026-08-28", XIAOMAN, 45_000, 2_700),
        Invoice::cny("26990000000000000136", "2026-09-19", XIAOMAN, 60_000, 3_600),
    ];
    files.push((CANTEEN, sheets::canteen(&canteen)));
    rows(ledger, CANTEEN, None, sheets::CSV_FIRST, &canteen);

    const SOFTWARE: &str = "海外/software-2026Q3.csv";
    let software = [
        Invoice::usd("PB-70215", "2026-07-15", PEBBLEWICK, 19_900, 0),
        Invoice::usd("PB-71188", "2026-08-15", PEBBLEWICK, 19_900, 0),
        Invoice::usd("PB-71940", "2026-08-29", PEBBLEWICK, 24_900, 0),
        Invoice::usd("PB-72304", "2026-09-15", PEBBLEWICK, 21_900, 0),
    ];
    files.push((SOFTWARE, sheets::subscriptions(&software)));
    rows(ledger, SOFTWARE, None, sheets::CSV_FIRST, &software);
    Ok(())
}

fn rows(
    ledger: &mut Ledger,
    file: &'static str,
    sheet: Option<&'static str>,
    first: u32,
    invoices: &[Invoice],
) {
    for (row, invoice) in (first..).zip(invoices) {
        ledger.invoice(Place { file, sheet, row }, *invoice);
    }
}
