use pilot_documents::write::{Cell, ChartKind, ChartSpec, ColumnSpec, SheetSpec, csv, xlsx};
use pilot_documents::{DocumentError, read_table};
use rust_decimal::Decimal;
use std::io::Read;

const PAYLOADS: [&str; 14] = [
    "=cmd|' /C calc'!A0",
    "=HYPERLINK(\"http://example.invalid\",\"x\")",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
    "＋1+1",
    "－1+1a",
    "＠SUM(1)",
    " =1+1",
    "\u{feff}=1+1",
    "=DDE(\"cmd\";\"/C calc\";\"x\")",
];

fn sheet() -> SheetSpec {
    let mut rows: Vec<Vec<Cell>> = PAYLOADS
        .iter()
        .map(|text| {
            vec![
                Cell::Text((*text).into()),
                Cell::Number(Decimal::new(-1250, 2)),
                Cell::Text("2026-03-05".into()),
                Cell::Text("00012".into()),
            ]
        })
        .collect();
    rows.push(vec![
        Cell::Text("long".into()),
        Cell::Text("1,234.50".into()),
        Cell::Empty,
        Cell::Number(Decimal::from_str_exact("26990000000000000101").unwrap()),
    ]);
    let column = |header: &str, format: Option<&str>| ColumnSpec {
        header: header.into(),
        format: format.map(str::to_owned),
    };
    SheetSpec {
        name: "报告".into(),
        columns: Some(vec![
            column("名称", None),
            column("金额", Some("amount")),
            column("日期", Some("date")),
            column("号码", Some("text")),
        ]),
        rows,
    }
}

fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut part = archive.by_index(index).unwrap();
            let mut text = Vec::new();
            part.read_to_end(&mut text).unwrap();
            (part.name().unwrap().to_string(), String::from_utf8_lossy(&text).into_owned())
        })
        .collect()
}

#[test]
fn no_text_becomes_a_formula() {
    let bytes = xlsx(&[sheet()], None).unwrap();
    assert!(
        parts(&bytes)
            .iter()
            .filter(|(name, _)| name.contains("worksheets"))
            .all(|(_, text)| !text.contains("<f>") && !text.contains("<f ")),
        "no formula in any sheet"
    );
    let tables = read_table("report.xlsx", &bytes).unwrap();
    assert_eq!(tables[0].0.as_deref(), Some("报告"), "by sheet");
    for (row, payload) in tables[0].1.rows[1..].iter().zip(PAYLOADS) {
        // XML cannot hold a lone carriage return as such; it comes back as a line end.
        assert_eq!(row[0].replace(['\n', '\r'], ""), payload.replace('\r', ""), "the text is the text");
        assert_eq!(row[1..], ["-12.5", "2026-03-05", "00012"], "numbers, dates and ids as their columns say");
    }
    assert_eq!(
        tables[0].1.rows.last().unwrap(),
        &["long", "1234.5", "", "26990000000000000101"],
        "amounts in text are numbers, long ones stay whole"
    );
    let rows: Vec<Vec<Cell>> = PAYLOADS
        .iter()
        .map(|text| vec![Cell::Text((*text).into()), Cell::Number(Decimal::new(-1250, 2))])
        .collect();
    let tables = read_table("report.csv", &csv(&rows)).unwrap();
    for (row, payload) in tables[0].1.rows.iter().filter(|row| !row.is_empty()).zip(PAYLOADS) {
        assert_eq!(row[0], format!("'{payload}"), "an apostrophe stands before what would run");
        assert_eq!(row[1], "-12.50", "but not before a number");
    }
}

#[test]
fn the_same_sheets_give_the_same_bytes() {
    let chart = ChartSpec {
        kind: ChartKind::Bar,
        sheet: "报告".into(),
        categories: "名称".into(),
        values: "B".into(),
        title: Some("按供应商".into()),
    };
    let first = xlsx(&[sheet()], Some(&chart)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert_eq!(
        first,
        xlsx(&[sheet()], Some(&chart)).unwrap(),
        "the card shows the bytes that are written, two seconds later too"
    );
    let parts = parts(&first);
    assert!(parts.iter().any(|(name, _)| name.contains("charts/chart")), "a native chart");
    let text = &parts.iter().find(|(name, _)| name.contains("sheet1.xml")).unwrap().1;
    assert!(text.contains("state=\"frozen\""), "the header stays in view");
}

#[test]
fn what_cannot_be_written_is_said() {
    let empty =
        |name: &str| SheetSpec { name: name.into(), columns: None, rows: vec![vec![Cell::Text("a".into())]] };
    let chart = |sheet: &str, values: &str| ChartSpec {
        kind: ChartKind::Line,
        sheet: sheet.into(),
        categories: "a".into(),
        values: values.into(),
        title: None,
    };
    let formatted = SheetSpec {
        columns: Some(vec![ColumnSpec { header: "x".into(), format: Some("=1+1".into()) }]),
        ..empty("x")
    };
    let wide = SheetSpec { columns: Some(vec![]), ..empty("x") };
    let long = SheetSpec { rows: vec![vec![Cell::Text("a".repeat(40_000))]], ..empty("x") };
    let cases: Vec<(Vec<SheetSpec>, Option<ChartSpec>)> = vec![
        (vec![], None),
        (vec![empty("a/b")], None),
        (vec![empty("")], None),
        (vec![empty("Same"), empty("same")], None),
        (vec![formatted], None),
        (vec![wide], None),
        (vec![long], None),
        (vec![empty("x")], Some(chart("y", "a"))),
        (vec![empty("x")], Some(chart("x", "none"))),
    ];
    for (sheets, chart) in cases {
        let result = xlsx(&sheets, chart.as_ref());
        assert!(
            matches!(result, Err(DocumentError::Arguments(ref text)) if !text.is_empty()),
            "{sheets:?} with {chart:?}: {result:?}"
        );
    }
}

#[test]
fn arguments_of_a_tool_call() {
    let json = r#"[{"name":"按供应商","columns":[{"header":"供应商"},{"header":"金额","format":"amount"}],"rows":[["青禾",2000.00],["云杉",null]]}]"#;
    let sheets: Vec<SheetSpec> = serde_json::from_str(json).unwrap();
    let tables = read_table("a.xlsx", &xlsx(&sheets, None).unwrap()).unwrap();
    assert_eq!(tables[0].1.rows, [vec!["供应商", "金额"], vec!["青禾", "2000"], vec!["云杉"]], "as asked");
    assert!(
        serde_json::from_str::<ChartSpec>(r#"{"kind":"pie","sheet":"a","categories":"b","values":"c"}"#)
            .is_err(),
        "bars and lines only"
    );
    assert_eq!(
        read_table("a.md", b"# no table").unwrap_err(),
        pilot_types::ErrorCode::DocumentUnsupported,
        "Markdown is no table"
    );
}
