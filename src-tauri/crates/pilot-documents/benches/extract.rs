//! How fast documents are read. Fixtures are made here; `make bench` measures the same beside named peers.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "fixtures that cannot be made fail the test"
)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use pilot_documents::{AnalyzeOptions, Analyzer, ExtractOptions, extract};
use rust_xlsxwriter::Workbook;
use std::fmt::Write;
use std::hint::black_box;

fn pdf() -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let root = document.new_object_id();
    let font = document
        .add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" });
    let mut operations = Vec::new();
    for line in 0..50i64 {
        for (x, text) in
            [(50i64, format!("Item {line}")), (300, "12".to_owned()), (420, format!("{line}.50"))]
        {
            operations.push(Operation::new("BT", vec![]));
            operations.push(Operation::new("Tf", vec!["F1".into(), 10.into()]));
            operations.push(Operation::new("Td", vec![x.into(), (780 - line * 14).into()]));
            operations.push(Operation::new("Tj", vec![Object::string_literal(text)]));
            operations.push(Operation::new("ET", vec![]));
        }
    }
    let content = Content { operations }.encode().unwrap();
    let content = document.add_object(Stream::new(Dictionary::new(), content));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => root, "Contents" => content, "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
    });
    document.objects.insert(
        root,
        Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 }),
    );
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => root });
    document.trailer.set("Root", catalog);
    let mut out = Vec::new();
    document.save_to(&mut out).unwrap();
    out
}

fn xlsx() -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for row in 0..5_000u32 {
        sheet.write_string(row, 0, format!("Supplier {}", row % 50)).unwrap();
        sheet.write_string(row, 1, format!("INV-{row:06}")).unwrap();
        sheet.write_number(row, 2, f64::from(row) * 1.25).unwrap();
    }
    book.save_to_buffer().unwrap()
}

fn ledger(rows: u32) -> Vec<u8> {
    let mut csv = String::from("supplier,invoice no,date,amount,currency\n");
    for row in 0..rows {
        let _ = writeln!(
            csv,
            "Supplier {},INV-{row:07},2026-{:02}-{:02},{}.{:02},CNY",
            row % 997,
            row % 12 + 1,
            row % 28 + 1,
            row % 9_000 + 1,
            row % 100
        );
    }
    csv.into_bytes()
}

fn documents(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("extract");
    for (name, bytes) in [("page.pdf", pdf()), ("rows-5000.xlsx", xlsx()), ("rows-5000.csv", ledger(5_000))] {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(extract(name, &bytes, &ExtractOptions::default())));
        });
    }
    group.finish();
}

fn analysis(criterion: &mut Criterion) {
    let bytes = ledger(100_000);
    let mut group = criterion.benchmark_group("analyze");
    group.sample_size(10).throughput(Throughput::Elements(100_000));
    group.bench_function("rows-100000.csv", |bencher| {
        bencher.iter_batched(
            || Analyzer::new(AnalyzeOptions::default()),
            |mut analyzer| {
                analyzer.add("ledger.csv", &bytes);
                black_box(analyzer.finish())
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, documents, analysis);
criterion_main!(benches);
