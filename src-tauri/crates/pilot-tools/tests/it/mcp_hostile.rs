//! Servers that misbehave: one error each, in time, and nothing left of them.

use crate::mcp_support::{Outside, alive, declaration, setup};
use pilot_tools::mcp::Confinement;
use pilot_types::ErrorCode;
use serde_json::json;
use std::time::{Duration, Instant};

/// Time of a call where nothing is waited for, and what ending a server may take besides.
const CALL: Duration = Duration::from_millis(1_200);
const ENDING: Duration = Duration::from_secs(4);
/// Hostile servers at a time: a busy machine must not be what is measured.
const AT_A_TIME: usize = 6;

/// Time of one call. Whoever answers nothing is waited for as long as it takes, so that time is short; whoever ends the
/// call by itself gets time enough for a busy machine.
fn limit_of(behaviour: &str, expected: ErrorCode) -> Duration {
    match expected {
        ErrorCode::ToolTimeout => Duration::from_secs(4),
        ErrorCode::McpHandshake if WAITING.contains(&behaviour) => Duration::from_secs(1),
        _ => Duration::from_secs(20),
    }
}

/// Servers that never shake hands and do not end.
const WAITING: &[&str] =
    &["hangs-at-start", "ignores-term", "floods-stderr", "not-utf8", "closes-stdin", "wrong-id-at-start"];

/// Behaviour, and the code of the one error that it costs.
const HOSTILE: &[(&str, ErrorCode)] = &[
    ("exits-at-once", ErrorCode::McpHandshake),
    ("hangs-at-start", ErrorCode::McpHandshake),
    ("panics", ErrorCode::McpHandshake),
    ("ignores-term", ErrorCode::McpHandshake),
    ("floods-stderr", ErrorCode::McpHandshake),
    ("floods-without-a-line", ErrorCode::McpHandshake),
    ("not-utf8", ErrorCode::McpHandshake),
    ("closes-stdin", ErrorCode::McpHandshake),
    ("wrong-id-at-start", ErrorCode::McpHandshake),
    ("refuses-to-start", ErrorCode::McpHandshake),
    ("hangs-in-call", ErrorCode::ToolTimeout),
    ("dies-in-call", ErrorCode::McpBadAnswer),
    ("dies-mid-answer", ErrorCode::McpBadAnswer),
    ("floods-with-notifications", ErrorCode::McpBadAnswer),
    ("wrong-id", ErrorCode::ToolTimeout),
    ("garbage", ErrorCode::ToolTimeout),
    ("wrong-form", ErrorCode::McpBadAnswer),
    ("deep-nesting", ErrorCode::ToolTimeout),
    ("huge-answer", ErrorCode::McpBadAnswer),
    ("asks-for-more", ErrorCode::McpBadAnswer),
    ("asks-the-model", ErrorCode::ToolTimeout),
    ("forks", ErrorCode::McpBadAnswer),
    ("leaves-a-daemon", ErrorCode::McpBadAnswer),
    ("closes-stdout", ErrorCode::ToolTimeout),
    ("kills-its-parent", ErrorCode::ToolTimeout),
    ("fails", ErrorCode::ToolFailed),
];

/// A mark in the command line by which only this test's processes are found, wherever they went.
fn marked(behaviour: &str, mark: &str) -> Outside {
    hold(behaviour, mark, Confinement::of_this_computer(), Duration::from_secs(4))
}

fn hold(behaviour: &str, mark: &str, confinement: Confinement, call: Duration) -> Outside {
    let mut server = declaration(behaviour);
    server.args.push(mark.to_owned());
    Outside::new(setup(confinement, call), server)
}

/// What is left of these processes; what the kernel is just taking away is waited for.
fn gone(outside: &Outside) -> Vec<String> {
    // Every process of a call has the workspace as its current folder; nothing else has.
    let root = outside.base().join("ws");
    let until = Instant::now() + Duration::from_secs(2);
    loop {
        let left: Vec<String> = alive("outside_server")
            .into_iter()
            .filter(|line| {
                let pid = line.split(':').next().unwrap_or("");
                std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == root)
            })
            .collect();
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn times() -> usize {
    if std::env::var_os("POCKETPILOT_SOAK").is_some() { 50 } else { 5 }
}

async fn one_error(behaviour: &str, expected: ErrorCode, confinement: Confinement) {
    let call = limit_of(behaviour, expected);
    let outside = hold(behaviour, "mark", confinement, call);
    let began = Instant::now();
    let result = outside.ask("echo", json!({"text": "x"})).await;
    let took = began.elapsed();
    let code = match &result {
        Err(error) => error.code,
        Ok(said) => panic!("{behaviour} cannot give an answer, and gave {said:?}"),
    };
    assert_eq!(code, expected, "{behaviour}: the one error is {expected}, and was {code}: {result:?}");
    assert!(took < call + ENDING, "{behaviour} took {took:?}");
    assert_eq!(gone(&outside), Vec::<String>::new(), "{behaviour} must leave nothing behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_hostile_server_costs_one_error_in_time_and_leaves_nothing() {
    assert!(HOSTILE.len() >= 20, "twenty kinds at least");
    let begun = Instant::now();
    let mut tried = 0;
    // Those that are waited for together, so that the time is spent once.
    let mut kinds = HOSTILE.to_vec();
    kinds.sort_by_key(|(behaviour, code)| limit_of(behaviour, *code));
    for _ in 0..times() {
        for some in kinds.chunks(AT_A_TIME) {
            let running: Vec<_> = some
                .iter()
                .map(|(behaviour, code)| {
                    tokio::spawn(one_error(behaviour, *code, Confinement::of_this_computer()))
                })
                .collect();
            for task in running {
                task.await.unwrap();
                tried += 1;
            }
        }
    }
    println!("{tried} hostile calls of {} kinds in {:?}", HOSTILE.len(), begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_landlock_they_leave_nothing_either() {
    for behaviour in ["forks", "leaves-a-daemon", "ignores-term", "kills-its-parent", "hangs-in-call"] {
        let (_, code) = HOSTILE.iter().find(|(name, _)| *name == behaviour).expect("a known kind");
        one_error(behaviour, *code, Confinement::None).await;
    }
}

#[tokio::test]
async fn an_answer_counts_even_when_something_is_left_behind_and_that_is_killed() {
    let outside = marked("answers-and-forks", "mark");
    assert_eq!(outside.ask("echo", json!({})).await.unwrap(), "done", "the answer is whole");
    assert_eq!(gone(&outside), Vec::<String>::new(), "and nothing is left");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said() {
    let mut server = declaration("good");
    server.command = "/nonexistent/program".to_owned();
    let outside = Outside::new(setup(Confinement::None, CALL), server);
    let error = outside.ask("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::McpNotStarted, "its own code");
    assert!(error.message.contains("/nonexistent/program"), "with its name: {}", error.message);
    let mut server = declaration("good");
    server.command = "/etc/hostname".to_owned();
    let outside = Outside::new(setup(Confinement::None, CALL), server);
    let error = outside.ask("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::McpNotStarted, "a file that is no program: {}", error.message);
}

#[tokio::test]
async fn after_an_approved_call_has_left_its_outcome_is_unknown() {
    for (behaviour, expected) in [
        ("hangs-in-call", ErrorCode::OutcomeUnknown),
        ("dies-mid-answer", ErrorCode::OutcomeUnknown),
        ("huge-answer", ErrorCode::OutcomeUnknown),
        ("hangs-at-start", ErrorCode::McpHandshake),
        ("fails", ErrorCode::ToolFailed),
    ] {
        let outside = marked(behaviour, "mark");
        let error = outside.ask("write", json!({"path": "b.txt", "content": "x"})).await.unwrap_err();
        assert_eq!(error.code, expected, "{behaviour}: {}", error.message);
    }
}

#[tokio::test]
async fn a_stopped_task_stops_its_server_at_once() {
    let outside = marked("hangs-in-call", "mark");
    let cancel = outside.tools.context.cancel.clone();
    let (stopped, took) = tokio::join!(outside.ask("echo", json!({})), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
        Instant::now()
    });
    assert_eq!(stopped.unwrap_err().code, ErrorCode::Cancelled, "the task was stopped");
    assert!(took.elapsed() < Duration::from_secs(3), "without waiting for the call's own limit");
    assert_eq!(gone(&outside), Vec::<String>::new(), "and nothing is left");
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cleared_away() {
    let outside = marked("leaves-a-daemon", "mark");
    let call = tokio::time::timeout(Duration::from_millis(30), outside.ask("echo", json!({}))).await;
    assert!(call.is_err(), "the control: the call was dropped before it ended");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(gone(&outside), Vec::<String>::new(), "the supervisor ends what nobody waits for");
}

/// 1,000 calls (a tenth in the normal run): no orphan, and neither descriptors nor memory grow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_leave_no_orphan_and_memory_is_flat() {
    let calls = if std::env::var_os("POCKETPILOT_SOAK").is_some() { 1_000 } else { 100 };
    let outside = marked("answers-and-forks", "mark");
    let open = || std::fs::read_dir("/proc/self/fd").expect("/proc").count();
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS").to_owned();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number")
    };
    let begun = Instant::now();
    let mut before = None;
    for number in 0..calls {
        outside.ask("echo", json!({})).await.unwrap();
        // The first calls make the threads and buffers that are kept.
        if number == calls / 5 {
            before = Some((open(), resident()));
        }
    }
    let took = begun.elapsed();
    assert_eq!(gone(&outside), Vec::<String>::new(), "0 orphans after {calls} calls");
    let ((fds, kib), (fds_now, kib_now)) = (before.expect("measured"), (open(), resident()));
    println!("{calls} calls in {took:?}: descriptors {fds} → {fds_now}, resident {kib} → {kib_now} KiB");
    assert!(fds_now <= fds + 4, "descriptors must not grow: {fds} → {fds_now}");
    assert!(kib_now < kib + 8 * 1024, "memory must not grow: {kib} → {kib_now} KiB");
}
