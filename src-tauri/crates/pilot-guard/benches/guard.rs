//! Cost of opening and listing; `cargo bench -p pilot-guard`.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set up has nothing to measure")]
#![expect(clippy::disallowed_methods, reason = "the bench makes its own folder")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pilot_guard::{
    Access, FileWrite, ListOptions, Resolver, UndoLimits, UndoStore, WorkspaceGuard, temp_name,
};
use std::hint::black_box;

fn open(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("发票/2025")).unwrap();
    std::fs::write(root.join("report.md"), "inside").unwrap();
    std::fs::write(root.join("发票/2025/汇总.md"), "inside").unwrap();
    let mut group = c.benchmark_group("open");
    for (name, resolver) in [("openat2", Resolver::OpenAt2), ("walk", Resolver::Walk)] {
        let guard = WorkspaceGuard::open_with(&root, resolver).unwrap();
        group.bench_function(format!("{name}/flat"), |b| {
            b.iter(|| guard.open_file(black_box("report.md")).unwrap())
        });
        group.bench_function(format!("{name}/nested"), |b| {
            b.iter(|| guard.open_file(black_box("发票/2025/汇总.md")).unwrap());
        });
        group.bench_function(format!("{name}/check_write"), |b| {
            b.iter(|| guard.check(black_box("发票/2025/新.md"), Access::Write).unwrap());
        });
    }
    let path = root.join("发票/2025/汇总.md");
    group.bench_function("std/nested", |b| b.iter(|| std::fs::File::open(black_box(&path)).unwrap()));
    group.finish();
}

fn list(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for index in 0..100_000 {
        std::fs::write(root.join(format!("invoice-{index:06}.csv")), "").unwrap();
    }
    let guard = WorkspaceGuard::open(&root).unwrap();
    let mut group = c.benchmark_group("list_100k");
    group.sample_size(10);
    group.bench_function("first_page", |b| {
        b.iter(|| guard.list(".", &ListOptions { depth: 1, limit: 100, offset: 0 }).unwrap());
    });
    group.bench_function("middle_page", |b| {
        b.iter(|| guard.list(".", &ListOptions { depth: 1, limit: 100, offset: 50_000 }).unwrap());
    });
    group.finish();
}

fn write(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("ws")).unwrap();
    let guard = WorkspaceGuard::open(&root.join("ws")).unwrap();
    let undo = UndoStore::open(&root.join("undo"), UndoLimits::default()).unwrap();
    let temp = temp_name("bench");
    let bytes = vec![b'a'; 10_000];
    let mut serial = 0;
    c.bench_function("write/create_10k", |b| {
        b.iter_batched(
            || {
                serial += 1;
                format!("report-{serial}.md")
            },
            |path| {
                let write = FileWrite {
                    path: &path,
                    access: Access::Write,
                    bytes: &bytes,
                    base: None,
                    temp_name: &temp,
                };
                guard.create_or_replace(&write, &undo).unwrap()
            },
            BatchSize::SmallInput,
        );
    });
    let mut base = None;
    let mut round: u64 = 0;
    c.bench_function("write/replace_10k", |b| {
        b.iter(|| {
            round += 1;
            let bytes = format!("{round:010000}");
            let write = FileWrite {
                path: "same.md",
                access: Access::Write,
                bytes: bytes.as_bytes(),
                base: base.as_ref(),
                temp_name: &temp,
            };
            base = Some(guard.create_or_replace(&write, &undo).unwrap().digest);
        });
    });
}

criterion_group!(benches, open, list, write);
criterion_main!(benches);
