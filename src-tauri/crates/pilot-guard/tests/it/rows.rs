//! Every row of the path inputs through every door of the guard, with both resolvers.

use crate::support::{Bench, RESOLVERS, in_mount_namespace};
use pilot_guard::{Access, GuardError, ListOptions, Resolver};
use pilot_testkit::escapes::{self, Answer, Door, DoorKind, Mounts, Report, Row};

fn answer(result: Result<String, GuardError>) -> Answer {
    match result {
        Ok(text) => Answer::allowed(text),
        Err(error) => Answer::refused(format!("{error} [{}]", error.code())),
    }
}

fn door<'a>(
    name: &'a str,
    kind: DoorKind,
    resolver: Resolver,
    call: impl Fn(&Bench, &str) -> Result<String, GuardError> + Copy + 'static,
) -> Door<'a> {
    Door::new(name, kind, move |stage| {
        let bench = Bench::on(stage, resolver);
        Box::new(move |path| answer(call(&bench, path)))
    })
}

fn doors(resolver: Resolver) -> Vec<Door<'static>> {
    vec![
        door("open_file", DoorKind::Read, resolver, |bench, path| bench.read(path)),
        door("create_or_replace", DoorKind::Write, resolver, |bench, path| {
            bench.put(Access::Write, path, b"written").map(|written| written.digest.to_string())
        }),
        door("check for reading", DoorKind::Other, resolver, |bench, path| {
            bench.guard.check(path, Access::Read).map(|path| path.to_string())
        }),
        door("check for writing", DoorKind::Write, resolver, |bench, path| {
            bench.guard.check(path, Access::Write).map(|path| path.to_string())
        }),
        door("list", DoorKind::Other, resolver, |bench, path| {
            let listing = bench.guard.list(path, &ListOptions { depth: 2, limit: 100, offset: 0 })?;
            Ok(serde_json::to_string(&listing).expect("a listing is JSON"))
        }),
        door("walk", DoorKind::Other, resolver, |bench, path| {
            bench.guard.walk(path, 4, 2_000).map(|(files, _)| files.join("\n"))
        }),
        door("digest", DoorKind::Other, resolver, |bench, path| match bench.guard.digest(path)? {
            Some(digest) => Ok(digest.to_string()),
            None => bench.read("nothing-there.md"),
        }),
        door("the person's save", DoorKind::Person, resolver, |bench, path| {
            bench.put(Access::Operator, path, b"saved").map(|written| written.digest.to_string())
        }),
        door("memory_write", DoorKind::Person, resolver, |bench, path| {
            bench.put(Access::Memory, path, b"remembered").map(|written| written.digest.to_string())
        }),
        door("sweep", DoorKind::Other, resolver, |bench, path| {
            match bench.guard.sweep_temp(path, &pilot_guard::temp_name("x"))? {
                true => Ok("swept".to_owned()),
                false => bench.read("nothing-there.md"),
            }
        }),
    ]
}

fn run(rows: &[Row], mounts: Mounts) {
    for resolver in RESOLVERS {
        let Report { tried, skipped, wrong } = escapes::run(rows, &doors(resolver), mounts);
        println!("{resolver:?}: {} rows, {tried} tried, {} wrong", rows.len(), wrong.len());
        for line in &skipped {
            println!("skipped: {line}");
        }
        assert_eq!(wrong, Vec::<String>::new(), "{resolver:?}: every verdict and invariant holds");
        assert!(tried > 0, "the rows must have been tried");
    }
}

#[test]
fn every_row_holds_on_every_door() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    run(&rows, Mounts::Skip);
}

#[test]
fn rows_with_mounts_hold_on_every_door() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    if in_mount_namespace("rows::rows_with_mounts_hold_on_every_door") {
        let mounted: Vec<Row> = rows.into_iter().filter(|row| row.class == "mount").collect();
        run(&mounted, Mounts::Try);
    }
}
