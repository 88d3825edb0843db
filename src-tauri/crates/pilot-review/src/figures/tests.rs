use super::*;
use serde_json::{Value, json};

fn analysis() -> Value {
    json!({
        "rows": 6, "files": 4, "totals": {"CNY": "171717.00", "USD": "4392.00"},
        "by_supplier": [
            {"key": "Blue Whale Freight", "count": 3, "totals": {"CNY": "61050.00"}},
            {"key": "Harbor Cloud", "count": 2, "totals": {"CNY": "46800.00"}},
            {"key": "海纳云计算", "count": 4, "totals": {"CNY": "63867.00"}},
            {"key": "Cedarmoor Hosting", "count": 5, "totals": {"USD": "4392.00"}}
        ],
        "by_month": [
            {"key": "2026-07", "count": 2, "totals": {"CNY": "47806.50"}},
            {"key": "2026-08", "count": 2, "totals": {"CNY": "49808.00"}},
            {"key": "2026-09", "count": 2, "totals": {"CNY": "74102.50"}}
        ],
        "median": {"CNY": "4210.00"}, "outlier_limit": {"CNY": "12630.00"},
        "outliers": [{"source": {"file": "invoices/BW-0917.pdf", "row": 0}, "supplier": "Blue Whale Freight", "number": "BW-0917",
            "amount": "24600.00", "currency": "CNY", "times_median": "5.84"}],
        "duplicates": [], "conflicts": [], "unread_rows": [],
        "items": [
            {"source": {"file": "a.csv", "row": 2}, "supplier": "Blue Whale Freight", "number": "BW-0701", "date": "2026-07-02", "amount": "12300.00", "currency": "CNY"},
            {"source": {"file": "a.csv", "row": 3}, "supplier": "Blue Whale Freight", "number": "BW-0801", "date": "2026-08-02", "amount": "11850.00", "currency": "CNY"},
            {"source": {"file": "a.csv", "row": 4}, "supplier": "Blue Whale Freight", "number": "BW-0911", "date": "2026-09-12", "amount": "12300.00", "currency": "CNY"},
            {"source": {"file": "a.csv", "row": 5}, "supplier": "Blue Whale Freight", "number": "BW-0917", "date": "2026-09-17", "amount": "24600.00", "currency": "CNY"},
            {"source": {"file": "a.csv", "row": 6}, "supplier": "Harbor Cloud", "number": "00012345", "date": "2026-09-17", "amount": "46800.00", "currency": "CNY"},
            {"source": {"file": "a.csv", "row": 7}, "supplier": "海纳云计算", "number": "26990000000000000101", "date": "2026-09-17", "amount": "63867.00", "currency": "CNY"}
        ],
        "notes": []
    })
}

fn check(text: &str) -> NumberCheck {
    let content = analysis().to_string();
    let arguments = json!({"path": "invoices"});
    number_check(
        &Proposed::Text(text),
        &[ToolEvidence { tool: "analyze_table", arguments: &arguments, content: &content }],
    )
}

/// `written=verdict` of every figure: `k` known, `d` derived, `x` differs (with what was computed), `u` unsourced.
fn verdicts(text: &str) -> Vec<String> {
    check(text).figures.iter().map(short).collect()
}

fn short(figure: &Figure) -> String {
    let verdict = match &figure.verdict {
        FigureVerdict::Known { .. } => "k".to_owned(),
        FigureVerdict::Derived { .. } => "d".to_owned(),
        FigureVerdict::Differs { computed, .. } => format!("x{computed}"),
        FigureVerdict::Unsourced => "u".to_owned(),
    };
    format!("{}={verdict}", figure.text)
}

#[test]
fn single_lines() {
    let cases: &[(&str, &[&str])] = &[
        // Known, at the shown precision, in any notation.
        ("Total 171,717.00 CNY", &["171,717.00=k"]),
        ("合计 171717 元", &["171717=k"]),
        ("合计人民币 １７１，７１７．００ 元", &["１７１，７１７．００=k"]),
        ("约 17.17 万元", &["17.17 万=k"]),
        ("合计：壹拾柒万壹仟柒佰壹拾柒元整", &["壹拾柒万壹仟柒佰壹拾柒=k"]),
        ("Total 171.717,00 €", &["171.717,00 €=x171717.00 CNY"]),
        ("5.84 × median 4,210.00", &["5.84=k", "4,210.00=k"]),
        ("5.8 times the median", &["5.8=k"]),
        ("6 rows from 4 files, no duplicates (0)", &["6=k", "4=k", "0=k"]),
        ("4 suppliers, 3 months", &["4=k", "3=k"]),
        // Identifiers are equal or not.
        ("- BW-0917 of 24,600.00", &["BW-0917=k", "24,600.00=k"]),
        ("- BW-0971", &["BW-0971=u"]),
        ("发票 00012345 和 26990000000000000101", &["00012345=k", "26990000000000000101=k"]),
        ("发票 12345 和 0012345", &["12345=u", "0012345=u"]),
        // Left out.
        ("# 2026-Q3 report, 17 Sep 2026, 2026年9月17日 14:02", &[]),
        ("1. First", &[]),
        // Differences of the same kind.
        ("September was 24,294.50 above August", &["24,294.50=d"]),
        ("9月比8月多 24294.50 元", &["24294.50=d"]),
        ("差额 24294.50 美元", &["24294.50=u"]),
        ("that is 3 more", &["3=k"]),
        ("grew by 7", &["7=k"]),
        ("grew by 11", &["11=u"]),
        // Shares of a known total.
        ("Blue Whale Freight: 61,050.00, 35.55 %", &["61,050.00=k", "35.55 %=d"]),
        ("海纳云计算占 37.2%", &["37.2%=d"]),
        ("海纳云计算占 38.2%", &["38.2%=u"]),
        ("Spending rose 12.4 % compared with last year.", &["12.4 %=u"]),
        // Differs.
        ("Total 171,177.00", &["171,177.00=x171717.00"]),
        ("Total 171,727.00 CNY", &["171,727.00=x171717.00"]),
        ("Blue Whale Freight: 62,999.00 CNY", &["62,999.00=x61050.00"]),
        ("总额 171,717.00 美元", &["171,717.00=x171717.00 CNY"]),
        // Nothing explains it.
        ("VAT 9,999.00", &["9,999.00=u"]),
        ("平均每张 28,619.50 元", &["28,619.50=u"]),
        ("2026-07-15 paid 500.00 CNY", &["500.00=u"]),
        ("Blue Whale Freight sent a reminder about 500.00 CNY", &["500.00=u"]),
        ("海纳云计算合计 500.00 元", &["500.00=x63867.00"]),
    ];
    for (line, expected) in cases {
        assert_eq!(verdicts(line), *expected, "{line}");
    }
}

#[test]
fn sources_are_named() {
    let found = check("Total 171,717.00\n\n3 months\nBlue Whale Freight 61,050.00\n");
    let sources: Vec<(&str, &str)> = found
        .figures
        .iter()
        .map(|figure| match &figure.verdict {
            FigureVerdict::Known { source } => (figure.place.as_str(), source.as_str()),
            other => panic!("{other:?} is not known"),
        })
        .collect();
    let expected = [
        ("1", "analyze_table · totals.CNY"),
        ("3", "analyze_table · count(by_month)"),
        ("4", "analyze_table · by_supplier[Blue Whale Freight].totals.CNY"),
    ];
    assert_eq!(sources, expected, "line and place");
    assert_eq!((found.known, found.derived, found.differs, found.unsourced), (3, 0, 0, 0), "counted");
}

#[test]
fn a_cross_table_with_totals_follows_from_the_rows() {
    let text = "| Supplier | 2026-07 | 2026-08 | 2026-09 | Total |\n|---|---:|---:|---:|---:|\n\
        | Blue Whale Freight | 12,300.00 | 11,850.00 | 36,900.00 | 61,050.00 |\n\
        | Harbor Cloud | | | 46,800.00 | 46,800.00 |\n\
        | **合计** | 12,300.00 | 11,850.00 | 83,700.00 | 107,850.00 |\n";
    let expected = [
        "12,300.00=k",
        "11,850.00=k",
        "36,900.00=d",
        "61,050.00=k",
        "46,800.00=k",
        "46,800.00=k",
        "12,300.00=k",
        "11,850.00=k",
        "83,700.00=d",
        "107,850.00=d",
    ];
    assert_eq!(verdicts(text), expected, "sums by supplier and month, and column totals");
    let wrong = text.replace("83,700.00", "84,700.00").replace("107,850.00", "107,580.00");
    let found = verdicts(&wrong);
    assert_eq!(
        found[8..],
        ["84,700.00=x83700.00", "107,580.00=x107850.00"],
        "a wrong total is told with the right one"
    );
}

#[test]
fn a_row_says_whose_figure_it_is() {
    let text = "| 供应商 | 张数 | 金额（CNY） |\n|---|---|---|\n| Blue Whale Freight | 3 | 46,800.00 |\n| Harbor Cloud | 3 | 61,050.00 |\n";
    assert_eq!(
        verdicts(text),
        ["3=k", "46,800.00=x61050.00", "3=x2", "61,050.00=x46800.00"],
        "swapped rows are noticed"
    );
    let right = "| 供应商 | 张数 | 金额（CNY） |\n|---|---|---|\n| Blue Whale Freight | 3 | 61,050.00 |\n| Harbor Cloud | 2 | 46,800.00 |\n";
    assert_eq!(verdicts(right), ["3=k", "61,050.00=k", "2=k", "46,800.00=k"], "the right ones are known");
    let list = "| Supplier | No. | Amount |\n|---|---|---|\n| Blue Whale Freight | BW-0917 | 24,600.00 |\n| Blue Whale Freight | BW-0911 | 12,300.00 |\n";
    assert_eq!(
        verdicts(list),
        ["BW-0917=k", "24,600.00=k", "BW-0911=k", "12,300.00=k"],
        "a list of invoices is no summary"
    );
}

#[test]
fn lists_and_totals_in_words() {
    let text =
        "- BW-0917: 24,600.00\n- BW-0911: 12,300.00\n- BW-0801: 11,850.00\n\n三张合计 48,750.00 元。\n";
    let expected =
        ["BW-0917=k", "24,600.00=k", "BW-0911=k", "12,300.00=k", "BW-0801=k", "11,850.00=k", "48,750.00=d"];
    assert_eq!(verdicts(text), expected, "the sum of the list above");
    let numbered = "1. BW-0917 24,600.00\n2. BW-0911 12,300.00\n500. not a list number\n";
    assert_eq!(
        verdicts(numbered).last().map(String::as_str),
        Some("500=u"),
        "only a list that goes up is one"
    );
}

#[test]
fn a_total_over_an_unknown_figure_is_not_derived() {
    let text = "| x | Amount |\n|---|---|\n| a | 24,600.00 |\n| b | 9,999.00 |\n| Total | 34,599.00 |\n";
    assert_eq!(
        verdicts(text),
        ["24,600.00=k", "9,999.00=u", "34,599.00=u"],
        "a sum is worth what its terms are"
    );
}

#[test]
fn shares_in_a_column() {
    let text = "| 供应商 | 金额 | 占比（%） |\n|---|---|---|\n| Blue Whale Freight | 61,050.00 | 35.6 |\n| Harbor Cloud | 46,800.00 | 27.3 |\n\
        | 海纳云计算 | 63,867.00 | 37.2 |\n| 合计 | 171,717.00 | 100.0 |\n";
    let expected = [
        "61,050.00=k",
        "35.6=d",
        "46,800.00=k",
        "27.3=d",
        "63,867.00=k",
        "37.2=d",
        "171,717.00=k",
        "100.0=d",
    ];
    assert_eq!(verdicts(text), expected, "each share is of its own row");
}

#[test]
fn cells_have_references() {
    let table = Table {
        first_row: 1,
        rows: [
            ["序号", "供应商", "金额", "年份"],
            ["1", "Blue Whale Freight", "61050", "2026"],
            ["2", "Harbor Cloud", "46800", "2026"],
            ["", "合计", "107850", ""],
        ]
        .map(|row| row.map(str::to_owned).to_vec())
        .to_vec(),
    };
    let content = analysis().to_string();
    let arguments = json!({});
    let results = [ToolEvidence { tool: "analyze_table", arguments: &arguments, content: &content }];
    let found = number_check(&Proposed::Tables(&[(Some("汇总".to_owned()), table)]), &results);
    let places: Vec<(String, String)> =
        found.figures.iter().map(|figure| (figure.place.clone(), short(figure))).collect();
    let expected = [("汇总!C2", "61050=k"), ("汇总!C3", "46800=k"), ("汇总!C4", "107850=d")];
    assert_eq!(
        places,
        expected.map(|(place, verdict)| (place.to_owned(), verdict.to_owned())),
        "row numbers and years are left out"
    );
}

#[test]
fn without_results_nothing_is_known() {
    let found = number_check(&Proposed::Text("Total 171,717.00, 3 files, BW-0917, 12 %"), &[]);
    assert_eq!(
        (found.unsourced, found.figures.len()),
        (4, 4),
        "P12: a number that no tool computed is marked"
    );
}

#[test]
fn small_numbers_are_not_explained_by_rounding_or_chance() {
    assert_eq!(
        verdicts("6 suppliers in 9 regions"),
        ["6=k", "9=u"],
        "6 is the number of rows; 5.84 or a difference makes no 9"
    );
    assert_eq!(verdicts("占 36%"), ["36%=u"], "a whole percentage needs its figure in the same line");
}

proptest::proptest! {
    #[test]
    fn any_text_is_checked_without_a_panic(text in "\\PC{0,60}|[0-9,.%万亿元¥|\\-\n 年月a-c]{0,80}", result in "\\PC{0,60}|[0-9,.%\\[\\]{}\":\n a-c]{0,80}") {
        let arguments = json!({"path": "x"});
        let results = [ToolEvidence { tool: "read_file", arguments: &arguments, content: &result }];
        let found = number_check(&Proposed::Text(&text), &results);
        let all = found.known + found.derived + found.differs + found.unsourced;
        proptest::prop_assert_eq!(all as usize, found.figures.len(), "every figure has one verdict");
    }

    #[test]
    fn numbers_of_any_size_are_checked_without_a_panic(one in "-?[0-9]{1,32}([.,][0-9]{0,30})?(%| 万亿元)?", two in "-?[0-9]{1,30}(\\.[0-9]{1,28})?") {
        let content = format!("{{\"totals\": {{\"CNY\": \"{two}\", \"USD\": {}}}, \"by_supplier\": []}}", two.trim_start_matches('0').trim_start_matches("-0"));
        let arguments = json!({});
        let results = [ToolEvidence { tool: "analyze_table", arguments: &arguments, content: &content }];
        let text = format!("{one} and {two} CNY\n\n| a | b |\n|---|---|\n| x | {one} |\n| y | {two} |\n| total | {one} |\n");
        let found = number_check(&Proposed::Text(&text), &results);
        proptest::prop_assert!(!found.figures.is_empty(), "something was found in {}", text);
    }

    #[test]
    fn a_copied_number_is_known(value in 0u64..10_000_000_000, decimals in 0u32..4) {
        let number = rust_decimal::Decimal::new(i64::try_from(value).unwrap(), decimals);
        let content = json!({"value": number.to_string()}).to_string();
        let arguments = json!({});
        let results = [ToolEvidence { tool: "x", arguments: &arguments, content: &content }];
        let found = number_check(&Proposed::Text(&format!("value: {number}")), &results);
        proptest::prop_assert_eq!(found.known as usize, found.figures.len(), "what was copied is known: {}", number);
    }
}
