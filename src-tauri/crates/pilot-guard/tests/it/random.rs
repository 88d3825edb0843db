//! Arbitrary text as a path: nothing panics, nothing escapes.

use crate::support::{Bench, RESOLVERS};
use pilot_guard::{Access, ListOptions, RelativePath, Resolver};
use pilot_testkit::escapes::{CANARY, Stage, tree};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::os::unix::fs::symlink;

/// A folder full of ways out.
fn stage() -> Stage {
    let stage = Stage::new();
    let ws = stage.workspace();
    for folder in ["d", "d/e", "memory", "skills", "a b", "..c"] {
        fs::create_dir(ws.join(folder)).expect("a folder");
    }
    for file in ["d/secret.md", "d/e/x.csv", "memory/MEMORY.md", "report.md", "a b/c.txt"] {
        fs::write(ws.join(file), "inside").expect("a file");
    }
    let links = [
        ("out", "$OUT"),
        ("d/out", "../../out"),
        ("up", ".."),
        ("d/up", ".."),
        ("self", "."),
        ("etc", "/etc"),
        ("proc", "/proc/self/root"),
        ("secret.md", "../out/secret.md"),
        ("in.md", "d/secret.md"),
        ("loop", "loop"),
        ("dangling.md", "$OUT/new.md"),
        ("m", "memory"),
        ("d/e/far", "../../../ws-evil"),
    ];
    for (at, to) in links {
        symlink(stage.fill(to), ws.join(at)).expect("a link");
    }
    fs::hard_link(stage.outside().join("secret.md"), ws.join("h.md")).expect("a hard link");
    stage
}

fn component() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "",
        ".",
        "..",
        "...",
        "d",
        "e",
        "out",
        "up",
        "self",
        "etc",
        "proc",
        "secret.md",
        "in.md",
        "loop",
        "m",
        "far",
        "memory",
        "MEMORY",
        "Memory.",
        "MEMORY.md",
        "skills",
        "report.md",
        "new.md",
        "h.md",
        "dangling.md",
        "x.csv",
        "passwd",
        "C:",
        "CON",
        "\\",
        "..\\",
        "~",
        "$OUT",
        "ws-evil",
        "a b",
        "..c",
        "new",
        "x:y",
        ".git",
        "a\u{202e}",
    ]);
    prop_oneof![6 => known.prop_map(str::to_owned), 1 => any::<String>(), 1 => "[a-zA-Z0-9._ ~-]{1,12}(\\.md|\\.csv)?"]
}

fn path() -> impl Strategy<Value = String> {
    let separator = prop::sample::select(vec!["/", "/", "/", "//", "/./", "\\", "\0", ""]);
    let parts = prop::collection::vec((component(), separator), 0..7);
    parts.prop_map(|parts| {
        parts.into_iter().flat_map(|(name, separator)| [name, separator.to_owned()]).collect()
    })
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()))
}

#[test]
fn reading_arbitrary_paths_never_escapes() {
    let stage = stage();
    let base = stage.base().to_string_lossy().into_owned();
    for resolver in RESOLVERS {
        let bench = Bench::on(&stage, resolver);
        let outcome = runner(4_000).run(&path(), |raw| {
            let raw = stage.fill(&raw);
            let options = ListOptions { depth: 3, limit: 1_000, offset: 0 };
            let answers = [
                bench.read(&raw),
                bench.guard.check(&raw, Access::Read).map(|path| path.to_string()),
                bench.guard.list(&raw, &options).map(|listing| format!("{listing:?}")),
                bench.guard.walk(&raw, 5, 1_000).map(|(files, _)| files.join(" ")),
                bench.guard.digest(&raw).map(|digest| format!("{digest:?}")),
            ];
            for answer in answers {
                let text = answer.unwrap_or_else(|error| error.to_string());
                prop_assert!(!text.contains(CANARY), "{raw:?} gave the canary");
                prop_assert!(!text.contains("root:"), "{raw:?} gave a file of the system");
                // The path itself may have held it; then it was absolute, or a harmless name below the root.
                prop_assert!(
                    !text.contains(&base) || raw.contains(&base),
                    "{raw:?} named a path outside: {text}"
                );
            }
            Ok(())
        });
        assert_eq!(outcome.map_err(|error| error.to_string()), Ok(()), "{resolver:?}: reading never escapes");
    }
}

#[test]
fn writing_arbitrary_paths_never_escapes() {
    let outside = |stage: &Stage| (tree(&stage.outside()), tree(&stage.base().join("ws-evil")));
    for resolver in RESOLVERS {
        for access in [Access::Write, Access::Memory, Access::Operator] {
            let stage = stage();
            let bench = Bench::on(&stage, resolver);
            let before = outside(&stage);
            let protected = |stage: &Stage| {
                (tree(&stage.workspace().join("memory")), tree(&stage.workspace().join("skills")))
            };
            let kept = protected(&stage);
            let outcome = runner(400).run(&path(), |raw| {
                let raw = stage.fill(&raw);
                let inside = tree(&stage.workspace());
                match bench.put(access, &raw, b"written") {
                    Ok(_) => {
                        let target = bench.guard.check(&raw, access).expect("what was written is a target");
                        prop_assert!(is_plain(&target), "{target} has one spelling");
                        let there = fs::read(stage.workspace().join(target.as_str()));
                        prop_assert_eq!(
                            there.ok(),
                            Some(b"written".to_vec()),
                            "{:?} stands where it says",
                            raw
                        );
                    }
                    Err(_) => prop_assert_eq!(tree(&stage.workspace()), inside, "{:?} left something", raw),
                }
                prop_assert!(outside(&stage) == before, "{raw:?} reached out");
                if access == Access::Write {
                    prop_assert!(protected(&stage) == kept, "{raw:?} reached memory/ or skills/");
                }
                Ok(())
            });
            let outcome = outcome.map_err(|error| error.to_string());
            assert_eq!(outcome, Ok(()), "{resolver:?} {access:?}: writing never escapes");
        }
    }
}

fn is_plain(path: &RelativePath) -> bool {
    path.as_str().split('/').all(|component| !component.is_empty() && component != "." && component != "..")
}

#[test]
fn both_resolvers_give_the_same_answers() {
    let stage = stage();
    let [one, two] = RESOLVERS.map(|resolver| Bench::on(&stage, resolver));
    let outcome = runner(6_000).run(&path(), |raw| {
        let raw = stage.fill(&raw);
        let code = |bench: &Bench| bench.read(&raw).map_err(|error| error.code());
        prop_assert_eq!(code(&one), code(&two), "{:?} is read alike", raw);
        for access in [Access::Read, Access::Write, Access::Memory, Access::Operator] {
            let code = |bench: &Bench| bench.guard.check(&raw, access).map_err(|error| error.code());
            prop_assert_eq!(code(&one), code(&two), "{:?} is checked alike for {:?}", raw, access);
        }
        Ok(())
    });
    assert_eq!(
        outcome.map_err(|error| error.to_string()),
        Ok(()),
        "the fallback is no weaker and no stricter"
    );
}

#[test]
fn a_path_in_one_spelling_stays_as_it_is() {
    let stage = stage();
    let bench = Bench::on(&stage, Resolver::Auto);
    let outcome = runner(4_000).run(&path(), |raw| {
        if let Ok(path) = bench.guard.check(&raw, Access::Write) {
            let again = bench.guard.check(path.as_str(), Access::Write).map_err(|error| error.to_string());
            prop_assert_eq!(again, Ok(path), "{:?}", raw);
        }
        Ok(())
    });
    assert_eq!(outcome.map_err(|error| error.to_string()), Ok(()), "one spelling is a fixed point");
}
