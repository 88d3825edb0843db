//! How long the difference of large files takes. The promise is 10,000 rows in less than 200 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use pilot_review::{CardInput, ToolEvidence, card, difference};
use std::fmt::Write as _;
use std::hint::black_box;

const ROWS: u64 = 10_000;

fn csv(salt: u64, changed_every: u64) -> String {
    let mut out = String::from("编号,日期,供应商,金额,状态\n");
    for row in 0..ROWS {
        let amount = (row * 7919 + if row % changed_every == 0 { salt } else { 0 }) % 1_000_000;
        let _ = writeln!(
            out,
            "P-{row:05},2026-09-{:02},供应商{},{}.{:02},已付",
            row % 28 + 1,
            row % 97,
            amount,
            row % 100
        );
    }
    out
}

fn shuffled() -> String {
    let text = csv(0, 1);
    let mut lines: Vec<&str> = text.lines().collect();
    let (mut state, length) = (1u64, lines.len());
    for at in (2..length).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = 1 + usize::try_from(state >> 33).unwrap_or(0) % at;
        lines.swap(at, other);
    }
    lines.join("\n") + "\n"
}

fn benches(c: &mut Criterion) {
    let old = csv(0, 1);
    let cases = [
        ("every 100th row changed", csv(5, 100)),
        ("every row changed", csv(5, 1)),
        ("shuffled", shuffled()),
    ];
    let mut group = c.benchmark_group("difference of 10,000 rows");
    group.sample_size(10);
    for (name, new) in &cases {
        group.bench_function(format!("csv, {name}"), |b| {
            b.iter(|| difference(Some(black_box(old.as_bytes())), black_box(new.as_bytes()), "a.csv"));
        });
        group.bench_function(format!("text, {name}"), |b| {
            b.iter(|| difference(Some(black_box(old.as_bytes())), black_box(new.as_bytes()), "a.md"));
        });
    }
    let content = serde_json::json!({ "path": "a.csv", "offset": 0, "text": &old[..100_000] }).to_string();
    let arguments = serde_json::json!({ "path": "a.csv" });
    let results = [ToolEvidence { tool: "read_file", arguments: &arguments, content: &content }];
    group.bench_function("whole card, every 100th row changed", |b| {
        b.iter(|| {
            card(black_box(&CardInput {
                path: Some("a.csv"),
                memory: false,
                before: Some(old.as_bytes()),
                after: cases[0].1.as_bytes(),
                outside: false,
                results: &results,
                said: "",
            }))
        });
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
