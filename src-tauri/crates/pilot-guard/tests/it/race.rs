//! Somebody swaps folders and files for links while the guard works. A guard that resolves and compares is raced in
//! the same run and must lose, or the zero of ours would mean nothing.

use crate::control::naive;
use crate::support::{Bench, RESOLVERS, StopOnDrop};
use pilot_guard::{Access, Resolver};
use pilot_testkit::escapes::{CANARY, Stage, tree};
use rustix::fs::{CWD, RenameFlags};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Reads to one write: a write is made durable three times over and much slower.
const READS_PER_WRITE: u64 = 8;
/// Names that are written, so that folders stay small.
const NAMES: u64 = 32;

/// How often the control is run at most.
const CONTROL_ROUNDS: u32 = 40;

/// What came out of one side.
#[derive(Debug, Default)]
struct Figures {
    reads: u64,
    writes: u64,
    allowed: u64,
    refused: u64,
    escaped_reads: u64,
    escaped_writes: u64,
}

/// A workspace in which `d` and `f.md` are real one moment and links to the outside the next.
fn stage() -> Stage {
    let stage = Stage::new();
    let ws = stage.workspace();
    fs::create_dir(ws.join("d")).expect("the folder");
    fs::write(ws.join("d/secret.md"), "inside").expect("its file");
    fs::write(ws.join("f.md"), "inside").expect("the file");
    symlink(stage.outside(), ws.join("d.swap")).expect("the folder's link");
    symlink(stage.outside().join("secret.md"), ws.join("f.swap")).expect("the file's link");
    stage
}

/// Calls `attempt` with 0, 1, 2 … while the swapper swaps. Answers how often it swapped.
fn against_swapper(stage: &Stage, tries: u64, mut attempt: impl FnMut(u64)) -> u64 {
    let ws = stage.workspace();
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let pairs = [("d", "d.swap"), ("f.md", "f.swap")].map(|(one, two)| (ws.join(one), ws.join(two)));
            let mut pause: u64 = 1;
            while !stop.load(Ordering::Relaxed) {
                for (one, two) in &pairs {
                    // Uneven pauses, so that no rhythm of the other side stays out of step for ever.
                    pause = pause.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (0..pause >> 56).for_each(|_| std::hint::spin_loop());
                    if rustix::fs::renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).is_ok() {
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        let _until = StopOnDrop(&stop);
        for number in 0..tries {
            attempt(number);
        }
    });
    swaps.load(Ordering::Relaxed)
}

fn guarded(resolver: Resolver, tries: u64) -> Figures {
    let stage = stage();
    let bench = Bench::on(&stage, resolver);
    let before = tree(&stage.outside());
    let mut figures = Figures::default();
    let swaps = against_swapper(&stage, tries, |number| {
        let answer = if number % (READS_PER_WRITE + 1) == READS_PER_WRITE {
            figures.writes += 1;
            let name = format!("d/n{}.md", number % NAMES);
            let answer =
                bench.put(Access::Write, &name, number.to_string().as_bytes()).map(|_| String::new());
            let outside = stage.outside().join(format!("n{}.md", number % NAMES));
            figures.escaped_writes += u64::from(outside.exists());
            answer
        } else {
            figures.reads += 1;
            bench.read(if number % 2 == 0 { "d/secret.md" } else { "f.md" })
        };
        match answer {
            Ok(text) => {
                figures.allowed += 1;
                figures.escaped_reads += u64::from(text.contains(CANARY));
            }
            Err(_) => figures.refused += 1,
        }
    });
    assert_eq!(tree(&stage.outside()), before, "{resolver:?}: nothing outside may have changed");
    let temps: Vec<String> =
        tree(&stage.workspace()).into_keys().filter(|path| path.contains(".tmp")).collect();
    assert_eq!(temps, Vec::<String>::new(), "{resolver:?}: no temporary file may be left");
    println!("guard {resolver:?}: {figures:?}, {swaps} swaps");
    figures
}

/// The control.
fn unguarded(tries: u64) -> Figures {
    let stage = stage();
    let ws = stage.workspace();
    let mut figures = Figures::default();
    let swaps = against_swapper(&stage, tries, |number| {
        if number % (READS_PER_WRITE + 1) == READS_PER_WRITE {
            figures.writes += 1;
            let Some(folder) = naive(&ws, "d") else { return figures.refused += 1 };
            let name = format!("n{}.md", number % NAMES);
            figures.allowed += u64::from(fs::write(folder.join(&name), "x").is_ok());
            figures.escaped_writes += u64::from(fs::remove_file(stage.outside().join(&name)).is_ok());
        } else {
            figures.reads += 1;
            let path = naive(&ws, if number % 2 == 0 { "d/secret.md" } else { "f.md" });
            let Some(text) = path.and_then(|path| fs::read_to_string(path).ok()) else {
                return figures.refused += 1;
            };
            figures.allowed += 1;
            figures.escaped_reads += u64::from(text.contains(CANARY));
        }
    });
    println!("control (resolve and compare): {figures:?}, {swaps} swaps");
    figures
}

fn race(tries: u64) {
    // On a machine that is busy the two sides may hardly meet; the control goes on until it has lost once.
    let lost = |control: &Figures| control.escaped_reads + control.escaped_writes > 0;
    let met = (0..CONTROL_ROUNDS).any(|_| lost(&unguarded(tries)));
    assert!(met, "the control must lose, or this proves nothing");
    for resolver in RESOLVERS {
        let figures = guarded(resolver, tries);
        assert_eq!(figures.escaped_reads + figures.escaped_writes, 0, "{resolver:?}: nothing escapes");
        assert!(
            figures.allowed > 0 && figures.refused > 0,
            "{resolver:?}: both sides of the swap must have been met"
        );
    }
}

#[test]
fn nothing_escapes_in_a_short_race() {
    race(20_000);
}

/// `make race`: `POCKETPILOT_RACE_TRIES` tries for the control and for each resolver, a million by default.
#[test]
#[ignore = "minutes long; run by make race"]
fn nothing_escapes_in_a_long_race() {
    let tries = std::env::var("POCKETPILOT_RACE_TRIES").ok().and_then(|text| text.parse().ok());
    race(tries.unwrap_or(1_000_000));
}
