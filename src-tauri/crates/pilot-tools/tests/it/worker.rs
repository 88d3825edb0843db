//! Document workers that crash, hang, flood, lie or leave children behind: one clear error in time, and nothing left.

use crate::support::{Folder, code, document_worker, hostile_worker};
use pilot_tools::{WorkerCommand, WorkerLimits};
use pilot_types::ErrorCode;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Limits that make a hanging worker cheap to test.
fn short() -> WorkerLimits {
    WorkerLimits { document: Duration::from_millis(2_500), ..WorkerLimits::default() }
}

fn shell(script: &str) -> WorkerCommand {
    WorkerCommand { program: PathBuf::from("/bin/sh"), args: vec!["-c".into(), script.into()] }
}

/// Processes that run now with this text in their command line.
fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("this test needs /proc").flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(mark.len()).any(|window| window == mark.as_bytes())).count()
}

async fn is_gone(mark: &str) -> bool {
    for _ in 0..100 {
        if running(mark) == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// Asks a stand-in once; answers the code, after checking time and orphans.
async fn ask(number: usize, what: &str, script: &str) -> ErrorCode {
    // A sleep of a length that nobody else uses is a mark that children keep without an environment.
    let mark = format!("{}.{number:02}", 1_000_000 + std::process::id());
    let script = script.replace("SLEEP", &format!("/bin/sleep {mark}"));
    let folder = Folder::with_worker(&[("a.pdf", &vec![b'x'; 300_000])], shell(&script), short());
    let began = Instant::now();
    let answer = code(folder.run("extract_document", json!({"path": "a.pdf"})).await);
    assert!(began.elapsed() < Duration::from_secs(15), "{what}: took {:?}", began.elapsed());
    drop(folder);
    assert!(is_gone(&mark).await, "{what}: a process was left behind");
    answer
}

#[tokio::test]
async fn each_way_of_misbehaving_is_one_clear_error() {
    let cases = [
        ("ends at once", "exit 3", ErrorCode::DocumentCrashed),
        ("reads nothing", "exec SLEEP", ErrorCode::DocumentTimeout),
        ("reads and hangs", "/bin/cat >/dev/null & exec SLEEP", ErrorCode::DocumentTimeout),
        ("has children", "SLEEP & SLEEP & SLEEP", ErrorCode::DocumentTimeout),
        ("dies and leaves children", "SLEEP & SLEEP & exit 1", ErrorCode::DocumentTimeout),
        (
            "ignores the polite signal",
            "trap '' TERM INT HUP; while :; do SLEEP; done",
            ErrorCode::DocumentTimeout,
        ),
        (
            "says no JSON",
            "/usr/bin/head -c 300000 >/dev/null; printf '\\005\\000\\000\\000hello'; exec SLEEP",
            ErrorCode::DocumentCrashed,
        ),
        ("answers half", "printf '\\377\\000\\000\\000{'; exit 0", ErrorCode::DocumentCrashed),
        ("promises four gigabytes", "printf '\\377\\377\\377\\377'; exec SLEEP", ErrorCode::DocumentLimit),
        ("floods stdout", "exec /usr/bin/yes", ErrorCode::DocumentLimit),
        ("floods stderr", "/usr/bin/yes >&2 & exec SLEEP", ErrorCode::DocumentTimeout),
        (
            "runs out of memory",
            "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$",
            ErrorCode::DocumentLimit,
        ),
        ("runs out of processor time", "kill -XCPU $$", ErrorCode::DocumentTimeout),
        ("is killed", "kill -KILL $$", ErrorCode::DocumentCrashed),
        ("overflows its stack", "kill -SEGV $$", ErrorCode::DocumentCrashed),
    ];
    // All at once: most of them are waited for, and none of them works.
    let asked = cases.into_iter().enumerate().map(|(number, (what, script, expected))| {
        tokio::spawn(async move { (what, ask(number, what, script).await, expected) })
    });
    for answer in asked.collect::<Vec<_>>() {
        let (what, answer, expected) = answer.await.expect("a case");
        assert_eq!(answer, expected, "{what}");
    }
}

#[tokio::test]
async fn a_worker_gets_no_environment_and_no_folder() {
    let seen = tempfile::NamedTempFile::new().expect("a file");
    let script = format!("{{ pwd; /usr/bin/env; }} > '{}'; exit 1", seen.path().display());
    let folder = Folder::with_worker(&[("a.pdf", b"x")], shell(&script), short());
    let answer = folder.run("extract_document", json!({"path": "a.pdf"})).await;
    assert_eq!(code(answer), ErrorCode::DocumentCrashed, "it gave no reply");
    let seen = std::fs::read_to_string(seen.path()).expect("what it saw");
    let mut lines = seen.lines();
    assert_eq!(lines.next(), Some("/"), "it does not stand in anybody's folder");
    let own = ["PWD=", "OLDPWD=", "SHLVL=", "_="];
    let inherited: Vec<&str> = lines.filter(|line| !own.iter().any(|name| line.starts_with(name))).collect();
    assert!(inherited.is_empty(), "nothing of our environment may reach it: {inherited:?}");
}

#[tokio::test]
async fn the_real_worker_beyond_its_memory_is_a_limit_and_the_next_document_is_read() {
    let mut command = document_worker();
    command.args.extend(["300000000".to_owned(), "60".to_owned()]);
    let large = "a,b,c\n1,2,3\n".repeat(5_000_000);
    let files: &[(&str, &[u8])] = &[("large.csv", large.as_bytes()), ("small.csv", b"a,b\n1,2\n")];
    let folder = Folder::with_worker(files, command, WorkerLimits::default());
    let answer = folder.run("extract_document", json!({"path": "large.csv"})).await;
    assert_eq!(code(answer), ErrorCode::DocumentLimit, "more memory than it may have is a limit, no crash");
    folder.run("extract_document", json!({"path": "small.csv"})).await.expect("the next document");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_fault_of_the_machine() {
    let command = WorkerCommand { program: "/nonexistent/worker".into(), args: vec![] };
    let folder = Folder::with_worker(&[("a.pdf", b"x")], command, short());
    assert_eq!(
        code(folder.run("extract_document", json!({"path": "a.pdf"})).await),
        ErrorCode::Internal,
        "not the file's"
    );
}

#[tokio::test]
async fn stopping_the_task_ends_the_worker_at_once() {
    let mark = format!("{}.9", 2_000_000 + std::process::id());
    let limits = WorkerLimits { document: Duration::from_secs(60), ..WorkerLimits::default() };
    let folder = Folder::with_worker(&[("a.pdf", b"x")], shell(&format!("exec /bin/sleep {mark}")), limits);
    let cancel = folder.context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    let began = Instant::now();
    let stopped = folder.run("extract_document", json!({"path": "a.pdf"})).await;
    assert_eq!(code(stopped), ErrorCode::Cancelled, "the person's stop is no fault of the document");
    assert!(began.elapsed() < Duration::from_secs(5), "at once, not after a minute");
    assert!(is_gone(&mark).await, "the worker is gone");
}

#[tokio::test]
async fn a_huge_or_special_file_never_reaches_a_worker() {
    let folder = Folder::with_worker(&[], shell("exit 1"), short());
    let sparse = std::fs::File::create(folder.path("sparse.xlsx")).expect("a file");
    sparse.set_len(4 << 30).expect("4 GiB without blocks");
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, folder.path("pipe.pdf"), fifo, mode, 0).expect("a FIFO");
    let began = Instant::now();
    for (tool, path, expected) in [
        ("extract_document", "sparse.xlsx", ErrorCode::DocumentLimit),
        ("extract_document", "pipe.pdf", ErrorCode::PathSpecial),
        ("analyze_table", "pipe.pdf", ErrorCode::PathSpecial),
    ] {
        assert_eq!(code(folder.run(tool, json!({ "path": path })).await), expected, "{tool} {path}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "none of them may take time");
}

#[tokio::test]
async fn an_analysis_goes_on_without_the_file_that_kills_its_reader() {
    let files: &[(&str, &[u8])] = &[
        ("a.csv", "供应商,金额,日期\n甲公司,100.00,2026-01-05\n".as_bytes()),
        ("crash.csv", "供应商,金额,日期\n丙公司,9.00,2026-01-05\n".as_bytes()),
        ("hang.csv", "供应商,金额,日期\n丁公司,9.00,2026-01-05\n".as_bytes()),
        ("memory.csv", "供应商,金额,日期\n戊公司,9.00,2026-01-05\n".as_bytes()),
        ("z.csv", "供应商,金额,日期\n乙公司,200.50,2026-02-05\n".as_bytes()),
    ];
    let limits = WorkerLimits { document: Duration::from_secs(4), ..WorkerLimits::default() };
    let folder = Folder::with_worker(files, hostile_worker(), limits);
    let answer = folder.run("analyze_table", json!({"path": "."})).await.expect("an analysis");
    assert_eq!(answer["totals"], json!({"CNY": "300.50"}), "the others are counted, once: {answer}");
    let unread: Vec<(&str, &str)> = answer["unread_rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| Some((row["source"]["file"].as_str()?, row["code"].as_str()?)))
        .collect();
    let expected = [
        ("crash.csv", "document_crashed"),
        ("hang.csv", "document_timeout"),
        ("memory.csv", "document_limit"),
    ];
    assert_eq!(unread, expected, "and each that was not is named with its reason");
}

#[tokio::test]
async fn a_folder_full_of_hostile_files_is_read_without_starting_over_each_time() {
    let row = "供应商,金额,日期\n甲公司,1.00,2026-01-05\n".as_bytes();
    let folder = Folder::with_worker(&[], hostile_worker(), WorkerLimits::default());
    for n in 0..40 {
        folder.put(&format!("crash-{n:02}.csv"), row);
        folder.put(&format!("good-{n:02}.csv"), &row_of(n));
    }
    let answer = folder.run("analyze_table", json!({"path": "."})).await.expect("an analysis");
    assert_eq!(answer["rows"], 40, "every good file is counted: {answer}");
    assert_eq!(answer["unread_rows"].as_array().map(Vec::len), Some(40), "every other is named: {answer}");
}

fn row_of(n: usize) -> Vec<u8> {
    format!("供应商,发票号码,金额,日期\n甲公司,N{n:04},{n}.25,2026-01-05\n").into_bytes()
}

#[tokio::test]
async fn stopping_an_analysis_ends_it_between_files_and_in_them() {
    let folder = Folder::with_worker(&[], hostile_worker(), WorkerLimits::default());
    for n in 0..200 {
        folder.put(&format!("slow-{n:03}.csv"), &row_of(n));
    }
    let cancel = folder.context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        cancel.cancel();
    });
    let began = Instant::now();
    let stopped = folder.run("analyze_table", json!({"path": "."})).await;
    assert_eq!(code(stopped), ErrorCode::Cancelled, "the person's stop");
    assert!(began.elapsed() < Duration::from_secs(5), "200 slow files were not waited for");
}

#[tokio::test]
async fn an_analysis_that_runs_out_of_time_names_what_it_did_not_read() {
    let limits = WorkerLimits {
        analysis: Duration::from_millis(900),
        analysis_file: Duration::ZERO,
        ..WorkerLimits::default()
    };
    let folder = Folder::with_worker(&[], hostile_worker(), limits);
    for n in 0..40 {
        folder.put(&format!("slow-{n:03}.csv"), &row_of(n));
    }
    let answer = folder.run("analyze_table", json!({"path": "."})).await.expect("an analysis");
    let unread = answer["unread_rows"].as_array().expect("a list");
    let rows = answer["rows"].as_u64().expect("a number");
    assert!(rows < 40 && !unread.is_empty(), "there was no time for all of them: {answer}");
    assert_eq!(rows + unread.len() as u64, 40, "each file is counted or named");
    assert_eq!(unread[0]["code"], "document_timeout", "with the reason");
}

#[tokio::test]
async fn a_worker_is_used_again_and_ends_when_it_is_idle() {
    let mark = format!("idle-{}", std::process::id());
    let command = WorkerCommand { args: vec!["hostile".into(), mark.clone()], ..hostile_worker() };
    let limits = WorkerLimits { idle: Duration::from_millis(1_500), ..WorkerLimits::default() };
    let folder = Folder::with_worker(&[("a.csv", b"a,b\n1,2\n"), ("crash.csv", b"a,b\n")], command, limits);
    for _ in 0..3 {
        folder.run("extract_document", json!({"path": "a.csv"})).await.expect("a document");
        assert_eq!(running(&mark), 1, "one worker, used again");
    }
    let crashed = folder.run("extract_document", json!({"path": "crash.csv"})).await;
    assert_eq!(
        code(crashed),
        ErrorCode::DocumentCrashed,
        "a used worker that dies is tried once more, alone"
    );
    folder
        .run("extract_document", json!({"path": "a.csv"}))
        .await
        .expect("the next document has a new worker");
    assert_eq!(running(&mark), 1, "the dead ones are gone");
    tokio::time::sleep(Duration::from_millis(1_700)).await;
    assert!(is_gone(&mark).await, "an idle worker does not stay");
}
