//! Plays all cases and prints the scorer's report: `evals [--case NAME] [--json] [--real]`.
//!
//! `--real` plays the task cases with the model that `POCKETPILOT_BASE_URL`, `POCKETPILOT_MODEL` and
//! `POCKETPILOT_API_KEY` name. It says what happened; it is never a gate, so it always ends with 0.
#![expect(clippy::disallowed_methods, reason = "a developer's tool that reads the cases of this repository")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

use pilot_evals::{Case, CaseKind, CaseResult, Player, Runner, run_cases};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Default)]
struct Arguments {
    case: Option<String>,
    json: bool,
    real: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--case" => found.case = Some(words.next().ok_or("--case wants a name")?),
            "--json" => found.json = true,
            "--real" => found.real = true,
            other => return Err(format!("what is {other}? usage: evals [--case NAME] [--json] [--real]")),
        }
    }
    Ok(found)
}

/// The cases of this repository, by name.
fn cases() -> Result<Vec<Case>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        cases.push(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    cases.sort_by(|one: &Case, two: &Case| one.name.cmp(&two.name));
    Ok(cases)
}

fn main() -> ExitCode {
    if let Some(code) = pilot_service::serve_as_child() {
        return ExitCode::from(code);
    }
    let done = tokio::runtime::Runtime::new()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(run()));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(words) => {
            eprintln!("evals: {words}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<bool, String> {
    let wanted = arguments()?;
    let player = if wanted.real { Player::Environment } else { Player::Script };
    let runner = Runner { player, ..Runner::default() };
    // A real model gets the tasks that a person could ask for in one sentence.
    let chosen = |case: &Case| {
        let named = wanted.case.as_ref().is_none_or(|name| *name == case.name);
        named && (!wanted.real || case.kind == CaseKind::Task && case.script.is_some())
    };
    let chosen: Vec<Case> = cases()?.into_iter().filter(chosen).collect();
    let (count, began) = (chosen.len(), Instant::now());
    if count == 0 {
        return Err("no case of that name".to_owned());
    }
    let results = run_cases(chosen, &runner).await;
    let millis = began.elapsed().as_micros() as f64 / 1000.0;
    results.iter().for_each(|result| print(result, wanted.json));
    if !wanted.json {
        summary(&results, millis);
    }
    Ok(wanted.real || results.len() == count && results.iter().all(|result| result.held))
}

fn print(result: &CaseResult, json: bool) {
    if json {
        println!("{}", serde_json::to_string(result).unwrap_or_default());
        return;
    }
    let mark = if result.held { "ok  " } else { "FAIL" };
    println!("{mark} {:28} {:7.1} ms  {}", result.name, result.micros as f64 / 1000.0, result.about);
    for problem in &result.problems {
        println!("       {problem}");
    }
}

fn summary(results: &[CaseResult], millis: f64) {
    for (kind, name) in [(CaseKind::Task, "task cases"), (CaseKind::Security, "security cases")] {
        let of: Vec<&CaseResult> = results.iter().filter(|result| result.kind == kind).collect();
        let held = of.iter().filter(|result| result.held).count();
        println!("{name}: {held} of {} held", of.len());
    }
    println!("{millis:.1} ms in all");
}
