use super::*;
use serde_json::json;

fn analysis() -> String {
    json!({
        "rows": 3, "files": 2, "totals": {"CNY": "171717.00"},
        "by_supplier": [
            {"key": "Blue Whale Freight", "count": 2, "totals": {"CNY": "61050.00"}},
            {"key": "海纳云计算", "count": 1, "totals": {"CNY": "110667.00"}}
        ],
        "by_month": [{"key": "2026-07", "count": 3, "totals": {"CNY": "171717.00"}}],
        "median": {"CNY": "4210.00"}, "outliers": [], "duplicates": [{"key": "BW-0917", "sources": [1, 2]}],
        "items": [
            {"supplier": "Blue Whale Freight", "number": "BW-0917", "date": "2026-07-03", "amount": "24600.00", "currency": "CNY"},
            {"supplier": "Blue Whale Freight", "number": "BW-0918", "date": "2026-07-09", "amount": "36450.00", "currency": "CNY"},
            {"supplier": "海纳云计算", "number": "00012345", "date": "2026-08-01", "amount": "110667.00", "currency": "CNY"}
        ]
    })
    .to_string()
}

fn sources(evidence: &Evidence, value: &str) -> Vec<String> {
    let reading = Reading { value: value.parse().unwrap(), unit: Decimal::ONE };
    evidence.near(reading, Decimal::ZERO, None).map(|entry| evidence.source(entry)).collect()
}

#[test]
fn an_analysis_gives_places_labels_and_counts() {
    let content = analysis();
    let arguments = json!({"path": "invoices"});
    let evidence =
        Evidence::of(&[ToolEvidence { tool: "analyze_table", arguments: &arguments, content: &content }]);
    assert!(sources(&evidence, "171717").contains(&"analyze_table · totals.CNY".to_owned()), "the total");
    let group = "analyze_table · by_supplier[Blue Whale Freight].totals.CNY".to_owned();
    assert_eq!(sources(&evidence, "61050"), [group], "a supplier by name");
    assert!(
        sources(&evidence, "0").contains(&"analyze_table · count(outliers)".to_owned()),
        "an empty list counts"
    );
    let label = &evidence.labels[evidence.label("**blue  whale FREIGHT**").unwrap()];
    assert_eq!(evidence.entries[label.count.unwrap()].value, Decimal::from(2), "rows of the supplier");
    assert_eq!(label.totals.len(), 1, "one currency");
    assert_eq!(
        evidence.identifier("BW-0917").as_deref(),
        Some("analyze_table · duplicates[BW-0917].key"),
        "exactly"
    );
    assert_eq!(evidence.identifier("BW-0971"), None, "and no other");
    assert!(evidence.identifier("00012345").is_some(), "leading zeros stay");
    let sum = evidence.sums.iter().find(|sum| sum.value == Decimal::from(61050)).unwrap();
    assert_eq!(sum.how, "Σ analyze_table · items[Blue Whale Freight, 2026-07] (2)", "supplier and month");
}

#[test]
fn text_results_name_file_and_line() {
    let arguments = json!({"path": "a.csv"});
    let file =
        json!({"path": "a.csv", "offset": 0, "text": "no,amount\n7,24600.00\n5,123,456\n"}).to_string();
    let plain = "Rate: 7.1234 CNY\n";
    let evidence = Evidence::of(&[
        ToolEvidence { tool: "read_file", arguments: &arguments, content: &file },
        ToolEvidence { tool: "mcp_rates_fx", arguments: &json!({}), content: plain },
    ]);
    assert_eq!(sources(&evidence, "24600"), ["read_file · a.csv:2"], "line of the file");
    assert_eq!(sources(&evidence, "7.1234"), ["mcp_rates_fx · 1"], "line of the answer");
    assert_eq!(sources(&evidence, "456").len(), 1, "commas of a csv part numbers");
    assert_eq!(sources(&evidence, "5123456").len(), 1, "or group them");
}

#[test]
fn cut_lists_do_not_count() {
    let content =
        json!({"path": "", "entries": [{"path": "a"}, {"path": "b"}], "total": 900, "cut": true}).to_string();
    let evidence =
        Evidence::of(&[ToolEvidence { tool: "list_files", arguments: &json!({}), content: &content }]);
    assert!(sources(&evidence, "2").is_empty(), "two are shown, not two are there");
    assert_eq!(sources(&evidence, "900"), ["list_files · total"], "the tool's own count");
}
