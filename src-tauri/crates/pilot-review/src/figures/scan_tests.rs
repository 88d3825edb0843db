use super::*;

fn found(line: &str) -> Vec<String> {
    scan(line)
        .into_iter()
        .map(|found| match found.what {
            What::Identifier(id) => format!("#{id}"),
            What::Number(number) => {
                let currency = number.currency.map(|currency| format!(" {}", currency.0)).unwrap_or_default();
                let percent = if number.percent { "%" } else { "" };
                let year = if number.year_like { " year" } else { "" };
                format!("{}{percent}{currency}{year}", number.value().normalize())
            }
        })
        .collect()
}

#[test]
fn figures_are_found_and_everything_else_is_left_out() {
    let cases: &[(&str, &[&str])] = &[
        ("| Blue Whale | 12,300.00 | 61,050.00 |", &["12300", "61050"]),
        ("合计：人民币 171,717.00 元，37 张发票", &["171717 CNY", "37"]),
        ("总额 ¥１７１，７１７．００（约 17.17 万元）", &["171717 ¥", "171700 CNY"]),
        ("同比增长 12.4 %，占比 35.55%", &["12.4%", "35.55%"]),
        (
            "- BW-0917  Blue Whale Freight  24,600.00  (5.84 × median 4,210.00)",
            &["#BW-0917", "24600", "5.84", "4210"],
        ),
        ("发票号码 00012345 与 26990000000000000101", &["#00012345", "#26990000000000000101"]),
        ("CNY171717.00, USD 1,234.50, -€5.00, $ 7", &["171717 CNY", "1234.5 USD", "-5 EUR", "7 $"]),
        ("On 2026-09-17 at 14:02, 17 Sep 2026, 2026年9月, Q3 2026", &["2026 year"]),
        ("read 30 Nov 2026, 2000 invoices, 2000 rows in 2026", &["2000", "2000", "2026 year"]),
        ("see reports/summary-2026-Q3.md and https://a.example/1234?x=5 or a1@b2.example", &[]),
        ("[link 5](notes-12.txt) end", &["5"]),
        ("a 30-day term, top-10, 37/38, 3rd, 12kg, 1.2M", &["30", "10", "37", "38", "3", "12", "1.2"]),
        (
            "accounts 6222 0200 1234 5678 901 and DE89 3704 0044 0532 0130 00",
            &["#6222020012345678901", "#DE89", "#370400440532013000"],
        ),
        ("-300.00 and (300.00) and 10-20", &["-300", "300", "10", "20"]),
        ("UTC+8, v1.2.3, 2.1.3, H2", &[]),
        ("12345678 元 and 12345678", &["12345678 CNY", "#12345678"]),
        ("17\u{200B}1,717.00", &["171717"]),
        ("人民币壹拾柒万壹仟柒佰壹拾柒元整", &["171717 CNY"]),
        ("1.5万，2亿，3 million, 4 thousand", &["15000", "200000000", "3000000", "4000"]),
        ("税率13%，0.5%", &["13%", "0.5%"]),
    ];
    for (line, expected) in cases {
        assert_eq!(found(line), *expected, "{line}");
    }
}

#[test]
fn the_text_is_kept_as_written() {
    let texts: Vec<String> =
        scan("¥１７１，７１７．００ 和 12.4 % 与 17.17万元").into_iter().map(|found| found.text).collect();
    assert_eq!(texts, ["¥１７１，７１７．００", "12.4 %", "17.17万"], "what the person sees in the line");
}

#[test]
fn tokens_are_whole_and_by_path() {
    let mut all = Vec::new();
    tokens("invoices/BW-0917.pdf,26990000000000000101;6222 0200 1234 5678", |token| all.push(token));
    for token in
        ["BW-0917.pdf", "BW-0917", "invoices/BW-0917.pdf", "26990000000000000101", "6222020012345678"]
    {
        assert!(all.iter().any(|other| other == token), "{token} can be named in a report: {all:?}");
    }
}
