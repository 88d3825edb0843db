use crate::fixtures::{FAPIAO, Face, Fapiao, fapiao, pdf, scan};
use pilot_documents::{Analysis, AnalyzeOptions, Analyzer, ColumnChoice};
use pilot_types::ErrorCode;
use rust_decimal::Decimal;
use rust_xlsxwriter::Workbook;
use std::str::FromStr;

fn analyze(files: &[(&str, &[u8])]) -> Analysis {
    with(AnalyzeOptions::default(), files)
}

fn with(options: AnalyzeOptions, files: &[(&str, &[u8])]) -> Analysis {
    let mut analyzer = Analyzer::new(options);
    for (name, bytes) in files {
        analyzer.add(name, bytes);
    }
    analyzer.finish()
}

fn total(analysis: &Analysis, currency: &str) -> String {
    analysis.totals.get(currency).map(ToString::to_string).unwrap_or_default()
}

fn workbook(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let mut book = Workbook::new();
    for (name, rows) in sheets {
        let sheet = book.add_worksheet();
        sheet.set_name(*name).unwrap();
        for (row, cells) in (0u32..).zip(rows.iter()) {
            for (column, text) in (0u16..).zip(cells.iter()) {
                match text.strip_prefix('#').and_then(|number| f64::from_str(number).ok()) {
                    Some(number) => sheet.write_number(row, column, number).unwrap(),
                    None => sheet.write_string(row, column, *text).unwrap(),
                };
            }
        }
    }
    book.save_to_buffer().unwrap()
}

#[test]
fn a_ledger_with_everything_that_ledgers_have() {
    let csv = "2026年第一季度采购\n单位：元\n供应商,发票号码,开票日期,价税合计,发票状态\n青禾样例,00012345,2026/1/5,\"1,200.00\",正常\n云杉样例,00012346,2026年2月6日,￥800.5,正常\n小满样例,00012347,2026.02.07,300,作废\n海潮样例,00012348,2026-03-08,100.00,红字\n海潮样例,00012349,2026-03-09,待定,正常\n合计,,,2300.50,\n";
    let analysis = analyze(&[("台账.csv", csv.as_bytes())]);
    assert_eq!(
        total(&analysis, "CNY"),
        "1900.50",
        "void rows do not count, red ones subtract, totals are no rows: {:?}",
        analysis.notes
    );
    assert_eq!(analysis.rows, 3, "three invoices");
    let months: Vec<(&str, String)> =
        analysis.by_month.iter().map(|group| (group.key.as_str(), group.totals["CNY"].to_string())).collect();
    assert_eq!(
        months,
        [("2026-01", "1200.00".into()), ("2026-02", "800.50".into()), ("2026-03", "-100.00".into())],
        "by month, in order"
    );
    assert_eq!(analysis.by_supplier[0].key, "青禾样例", "the largest first");
    assert_eq!(
        (analysis.unread_rows.len(), analysis.unread_rows[0].source.row),
        (1, 8),
        "the undecided amount, with its line: {:?}",
        analysis.unread_rows
    );
    assert_eq!(analysis.items[0].number.as_deref(), Some("00012345"), "numbers keep their zeros");
    assert_eq!(
        analysis.conflicts.len(),
        1,
        "the printed total differs from the rows, and that is said: {:?}",
        analysis.conflicts
    );
}

#[test]
fn one_invoice_in_a_ledger_and_a_pdf_counts_once() {
    let ledger = workbook(&[(
        "台账",
        &[
            &["供应商", "发票号码", "开票日期", "价税合计"],
            &["青禾样例办公用品有限公司", "26990000000000000101", "2026-03-05", "#2000"],
            &["云杉样例信息技术有限公司", "26990000000000000102", "2026-03-12", "#10000"],
        ],
    )]);
    let analysis = analyze(&[("台账.xlsx", &ledger), ("发票.pdf", &fapiao(&FAPIAO))]);
    assert_eq!(
        (total(&analysis, "CNY").as_str(), analysis.rows, analysis.files),
        ("12000.00", 2, 2),
        "{analysis:?}"
    );
    let group = &analysis.duplicates[0];
    assert_eq!(
        (group.key.as_str(), group.sources.len()),
        ("26990000000000000101", 2),
        "the group names both"
    );
    assert_eq!(group.sources[0].row, 2, "row of the sheet");
    assert!(analysis.conflicts.is_empty(), "they agree: {:?}", analysis.conflicts);
}

#[test]
fn the_same_number_with_other_figures_is_a_contradiction() {
    let other =
        Fapiao {
            net: "1800.00", tax: "234.00", gross: "2034.00", words: "贰仟零叁拾肆圆整", ..FAPIAO
        };
    let analysis = analyze(&[("a.pdf", &fapiao(&FAPIAO)), ("b.pdf", &fapiao(&other))]);
    assert_eq!(total(&analysis, "CNY"), "2000.00", "the first counts");
    assert!(
        analysis.conflicts[0].detail.contains("2000.00") && analysis.conflicts[0].detail.contains("2034.00"),
        "both values are told: {:?}",
        analysis.conflicts
    );
    assert_eq!(analysis.conflicts[0].sources.len(), 2, "and both places");
    let own = Fapiao { tax: "235.00", ..FAPIAO };
    let analysis = analyze(&[("c.pdf", &fapiao(&own))]);
    assert!(
        analysis.conflicts.iter().any(|conflict| conflict.detail.contains("2004.91")),
        "a paper that contradicts itself: {:?}",
        analysis.conflicts
    );
}

#[test]
fn without_numbers_seller_amount_and_date_decide() {
    let csv = "Supplier,Date,Amount (EUR)\nAcme Ltd,2026-03-01,100.00\nACME  LTD,2026-03-01,100.00\nAcme Ltd,2026-03-02,100.00\nOther,2026-03-01,100.00\n";
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(
        (total(&analysis, "EUR").as_str(), analysis.rows, analysis.duplicates.len()),
        ("300.00", 3, 1),
        "another day or seller is another invoice"
    );
    let numbered =
        "Supplier,Invoice no,Date,Amount\nAcme Ltd,A-1,2026-03-01,100.00\nAcme Ltd,A-2,2026-03-01,100.00\n";
    assert_eq!(
        analyze(&[("a.csv", numbered.as_bytes())]).rows,
        2,
        "two numbers are two invoices, however alike"
    );
    let coded =
        "供应商,发票代码,发票号码,价税合计\n青禾,099002600111,00000123,318\n青禾,099002600112,00000123,318\n";
    assert_eq!(analyze(&[("a.csv", coded.as_bytes())]).rows, 2, "old numbers repeat under other codes");
}

#[test]
fn decimal_commas_by_column() {
    let csv = "Lieferant;Rechnungsnummer;Rechnungsdatum;Bruttobetrag;Währung\nAcme GmbH;R-1;05.03.2026;1.190,00;EUR\nBeta AG;R-2;06.03.2026;1.234;EUR\nGamma;R-3;07.03.2026;0,50;CHF\n";
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(
        (total(&analysis, "EUR"), total(&analysis, "CHF")),
        ("2424.00".into(), "0.50".into()),
        "1.234 is a thousand here, and francs stay apart"
    );
    assert!(analysis.notes.iter().any(|note| note.contains("never added")), "which is said");
}

#[test]
fn two_header_rows_and_units() {
    let csv = "供应商,开票日期,金额（万元）,\n,,不含税,价税合计\nB,2026-03-01,1.25,1.4125\nD,2026-03-02,０.８０,0.848\n合计,,2.05,2.2605\n";
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(
        total(&analysis, "CNY"),
        "22605.00",
        "ten thousand yuan a unit, full-width digits: {:?}",
        analysis.notes
    );
    assert!(analysis.conflicts.is_empty(), "and the printed total agrees: {:?}", analysis.conflicts);
}

#[test]
fn sheets_that_repeat_the_same_money() {
    let lines: &[&[&str]] = &[
        &[
            "数电发票号码",
            "销方名称",
            "开票日期",
            "货物或应税劳务名称",
            "数量",
            "单价",
            "金额",
            "税额",
            "价税合计",
        ],
        &[
            "26990000000000000201",
            "青禾样例",
            "2026-07-29 21:38:43",
            "纸",
            "#1",
            "#78.05",
            "#78.05",
            "#10.15",
            "#88.20",
        ],
        &[
            "26990000000000000201",
            "青禾样例",
            "2026-07-29 21:38:43",
            "笔",
            "#1",
            "#-26.55",
            "#-26.55",
            "#-3.45",
            "#-30",
        ],
    ];
    let invoices: &[&[&str]] = &[
        &["数电发票号码", "销方名称", "开票日期", "金额", "税额", "价税合计"],
        &["26990000000000000201", "青禾样例", "2026-07-29 21:38:43", "#51.50", "#6.70", "#58.20"],
    ];
    let analysis =
        analyze(&[("export.xlsx", &workbook(&[("信息汇总表", lines), ("发票基础信息", invoices)]))]);
    assert_eq!(
        (total(&analysis, "CNY").as_str(), analysis.rows),
        ("58.20", 1),
        "not 116.40: {:?}",
        analysis.notes
    );
    assert_eq!(analysis.by_month[0].key, "2026-07", "a date with a time is a date");
}

#[test]
fn net_and_tax_make_the_amount() {
    let csv = "供应商,发票号码,金额,税额\n青禾,00000001,100.00,13.00\n云杉,00000002,200.00,***\n";
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(total(&analysis, "CNY"), "313.00", "an exempt line has no tax: {:?}", analysis.notes);
    let csv = "供应商,发票号码,金额,税额,价税合计\n青禾,00000001,100.00,13.00,113.00\n云杉,00000002,200.00,26.00,236.00\n";
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(
        (total(&analysis, "CNY").as_str(), analysis.conflicts.len()),
        ("349.00", 1),
        "the gross counts, and the row that does not add up is told"
    );
    assert_eq!(analysis.conflicts[0].sources[0].row, 3, "with its row");
}

#[test]
fn a_bank_account() {
    let csv = "某银行对账\n账号,9900\n\n交易日期,借方发生额,贷方发生额,余额,对方户名,摘要\n2026-03-01,\"1,200.00\",-,8800.00,海潮样例物流有限公司,运费\n2026-03-02,-,500.00,9300.00,晨星样例商贸有限公司,货款\n";
    let analysis = analyze(&[("bank.csv", csv.as_bytes())]);
    assert_eq!(
        total(&analysis, "CNY"),
        "-700.00",
        "money out is negative, the balance is no amount: {:?}",
        analysis.notes
    );
}

#[test]
fn outliers_by_currency() {
    let rows: String = [320, 350, 365, 410, 1300]
        .iter()
        .enumerate()
        .map(|(at, amount)| format!("D,N-{at},2026-03-0{},{amount}.00,CNY\n", at + 1))
        .collect();
    let csv = format!("supplier,invoice no,date,amount,currency\n{rows}E,N-9,2026-03-09,119.00,EUR\n");
    let analysis = analyze(&[("a.csv", csv.as_bytes())]);
    assert_eq!(
        (analysis.median["CNY"].to_string(), analysis.outlier_limit["CNY"].to_string()),
        ("365.00".into(), "1095.00".into()),
        "the middle of five, three times"
    );
    assert_eq!(
        (analysis.outliers.len(), analysis.outliers[0].times_median.to_string()),
        (1, "3.56".into()),
        "one stands out: {:?}",
        analysis.outliers
    );
    let strict = with(
        AnalyzeOptions { outlier_multiplier: Decimal::new(11, 1), ..AnalyzeOptions::default() },
        &[("a.csv", csv.as_bytes())],
    );
    assert_eq!(strict.outliers.len(), 2, "with another factor others do");
}

#[test]
fn papers_that_are_no_invoices() {
    let quote = pdf(
        Face::Latin,
        &[vec![
            (50.0, 760.0, 16.0, "Quotation"),
            (50.0, 730.0, 10.0, "Quotation no: Q-7"),
            (50.0, 700.0, 10.0, "Total"),
            (300.0, 700.0, 10.0, "999.00 \u{a3}"),
        ]],
    );
    let credit = pdf(
        Face::Latin,
        &[vec![
            (50.0, 800.0, 9.0, "Larkfen Sample Studio Ltd"),
            (50.0, 760.0, 16.0, "Credit note"),
            (50.0, 730.0, 10.0, "Credit note no: C-7"),
            (50.0, 715.0, 10.0, "Date: 2026-03-04"),
            (50.0, 700.0, 10.0, "Grand total"),
            (300.0, 700.0, 10.0, "110.00 \u{a3}"),
        ]],
    );
    let analysis = analyze(&[
        ("quote.pdf", &quote),
        ("credit.pdf", &credit),
        ("scan.pdf", &scan()),
        ("notes.md", b"# notes, and more"),
        ("bad.pdf", b"%PDF-1.4"),
    ]);
    assert_eq!(
        (total(&analysis, "GBP").as_str(), analysis.rows),
        ("-110.00", 1),
        "a credit note subtracts though it is printed positive"
    );
    assert!(
        analysis.notes.iter().any(|note| note.contains("quote.pdf") && note.contains("quote")),
        "the quote is listed: {:?}",
        analysis.notes
    );
    let codes: Vec<(&str, ErrorCode)> =
        analysis.unread_rows.iter().map(|row| (row.source.file.as_str(), row.code)).collect();
    assert_eq!(
        codes,
        [("scan.pdf", ErrorCode::DocumentScanned), ("bad.pdf", ErrorCode::DocumentBroken)],
        "what could not be read has its code"
    );
}

#[test]
fn columns_by_name_and_what_is_missing() {
    let csv = "Wer,Wann,Wieviel,Rest\nAcme,2026-03-01,10.00,x\nBeta,2026-03-02,20.00,y\n";
    let columns = ColumnChoice {
        supplier: Some("Wer".into()),
        amount: Some("wieviel".into()),
        date: Some("Wann".into()),
    };
    let analysis =
        with(AnalyzeOptions { columns, ..AnalyzeOptions::default() }, &[("a.csv", csv.as_bytes())]);
    assert_eq!(
        (total(&analysis, "").as_str(), analysis.by_supplier.len(), analysis.by_month.len()),
        ("30.00", 2, 1),
        "as named; no currency is invented: {:?}",
        analysis.unread_rows
    );
    assert!(analysis.notes.iter().any(|note| note.contains("no currency")), "which is said");
    let columns = ColumnChoice { amount: Some("Total".into()), ..ColumnChoice::default() };
    let analysis =
        with(AnalyzeOptions { columns, ..AnalyzeOptions::default() }, &[("a.csv", csv.as_bytes())]);
    assert!(
        analysis.unread_rows[0].reason.contains("Total"),
        "a column that is not there: {:?}",
        analysis.unread_rows
    );
    let analysis = analyze(&[("a.csv", b"just,some,words\nand,no,amounts\n")]);
    assert_eq!(
        (analysis.rows, analysis.unread_rows.len()),
        (0, 1),
        "a table without amounts is said to be one"
    );
}

#[test]
fn damaged_numbers_are_no_keys() {
    let sheet: &[&[&str]] = &[
        &["供应商", "发票号码", "开票日期", "价税合计"],
        &["青禾", "#26990000000000000000", "#45367", "#100"],
        &["青禾", "#26990000000000000000", "2024.03.17", "#200"],
        &["青禾", "2.699E+19", "2024-03-18", "#300"],
    ];
    let analysis = analyze(&[("a.xlsx", &workbook(&[("S", sheet)]))]);
    assert_eq!(
        (total(&analysis, "CNY").as_str(), analysis.conflicts.len()),
        ("600.00", 0),
        "twenty digits stored as a number are not compared: {analysis:?}"
    );
    assert_eq!(
        analysis.items[0].date.as_deref(),
        Some("2024-03-16"),
        "a serial under a date header is a day"
    );
    assert!(
        analysis.notes.iter().any(|note| note.contains("3 numbers with more than 15 digits")),
        "which is said: {:?}",
        analysis.notes
    );
}

#[test]
fn streams_are_the_same_as_bytes() {
    let mut csv = String::from("supplier,invoice no,date,amount,currency\r\n");
    for number in 0..60_000 {
        csv.push_str(&format!(
            "Supplier {},N-{number:06},2026-{:02}-01,{}.{:02},USD\r\n",
            number % 7,
            number % 12 + 1,
            number % 900 + 1,
            number % 100
        ));
    }
    let bytes = encoding_rs::GB18030.encode(&csv).0.into_owned();
    assert!(bytes.len() > 1 << 21, "longer than what is held at once");
    let mut streamed = Analyzer::new(AnalyzeOptions::default());
    streamed.add_stream("a.csv", std::io::Cursor::new(&bytes)).unwrap();
    let (streamed, whole) = (streamed.finish(), analyze(&[("a.csv", &bytes)]));
    assert_eq!(streamed, whole, "one answer by either way");
    assert_eq!((whole.rows, whole.items.len()), (60_000, 2_000), "all rows count, the first are listed");
    assert_eq!(whole.items[1_999].source.row, 2_001, "with their lines");
}
