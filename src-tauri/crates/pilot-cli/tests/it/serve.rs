//! `pilot serve` as a real process: the webhook, schedules under a clock that runs faster, two processes on one data
//! folder, and death at every durable step.
#![cfg(feature = "faults")]

use crate::support::Desk;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const REPORT: &str = "# report\n";

fn writes() -> Value {
    json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "write_file", "arguments": { "path": "report.md", "content": REPORT } }] },
        { "text": "done" }
    ] })
}

fn reads() -> Value {
    json!({ "version": 1, "steps": [{ "tool_calls": [{ "name": "list_files", "arguments": {} }] }, { "text": "done" }] })
}

/// A running `pilot serve`; killed when the test ends.
struct Serving {
    child: Child,
    lines: mpsc::Receiver<Value>,
}

impl Serving {
    fn start(desk: &Desk, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut child = desk
            .command()
            .args(["--json", "serve"])
            .args(args)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("one JSON object a line: {line}"));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line of a type.
    fn line(&self, kind: &str) -> Value {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no line of type {kind}"));
            if line["type"] == kind {
                return line;
            }
        }
    }

    fn port(&self) -> u16 {
        u16::try_from(self.line("serving")["port"].as_u64().expect("the owner says its port")).unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for it to die by itself.
    fn died(mut self) -> bool {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().is_none();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Asks it to end, as a service manager does; gives its exit code.
    fn terminate(mut self, signal: &str) -> Option<i32> {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a text as curl would; gives status and body.
fn post(port: u16, channel: &str, token: &str, text: &str) -> (u16, Value) {
    post_object(port, channel, token, &json!({ "text": text }))
}

fn post_object(port: u16, channel: &str, token: &str, object: &Value) -> (u16, Value) {
    let body = object.to_string();
    let head = format!(
        "POST /api/channels/{channel}/webhook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: curl/8\r\nAccept: */*\r\n\
         Content-Type: application/json\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return (0, Value::Null) };
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = String::new();
    if stream.write_all(format!("{head}{body}").as_bytes()).is_err()
        || stream.read_to_string(&mut answer).is_err()
    {
        return (0, Value::Null);
    }
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn add_channel(desk: &Desk) -> (String, String) {
    let row = desk.json(&["channels", "add", "--workspace", desk.root(), "--name", "scans"]).last();
    (row["id"].as_str().unwrap().to_owned(), row["token"].as_str().unwrap().to_owned())
}

fn add_schedule(desk: &Desk, script: &Value) -> String {
    let provider = desk.script(script);
    let said = desk.json(&[
        "schedules",
        "add",
        "* * * * *",
        "go on",
        "--workspace",
        desk.root(),
        "--provider",
        &provider,
    ]);
    said.last()["id"].as_str().unwrap_or_else(|| panic!("{said:?}")).to_owned()
}

/// Looks again until something holds.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("in a minute it did not come to this: {what}");
}

/// The numbers of each task's record have no gaps, and the chain over all holds.
fn record_is_whole(desk: &Desk) -> usize {
    let tasks = desk.json(&["tasks", "list"]).rows();
    for task in &tasks {
        let events = desk.json(&["tasks", "events", task["id"].as_str().unwrap()]).rows();
        let numbers: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>(), "no event is lost: {task}");
    }
    assert_eq!(desk.json(&["audit", "verify"]).code, Some(0), "the chain holds");
    tasks.len()
}

#[test]
fn curl_and_a_schedule_end_at_cards_and_a_persons_yes_completes_them() {
    let desk = Desk::new();
    desk.write(
        "发票.csv",
        "供应商,日期,金额,币种\n青禾样例,2026-09-01,100.00,CNY\n云杉样例,2026-09-02,250.50,CNY\n".as_bytes(),
    );
    let (channel, token) = add_channel(&desk);
    let before = desk.manifest();
    let serving = Serving::start(&desk, &["--port", "0"], &[("POCKETPILOT_FAST_CLOCK", "60")]);
    let port = serving.port();
    let (status, body) = post(port, &channel, &token, "汇总这个文件夹里的发票");
    assert_eq!(status, 202, "curl is answered once the task is durable: {body}");
    let task = body["task"].as_str().unwrap().to_owned();
    assert_eq!(desk.json(&["tasks", "show", &task]).last()["id"], task.as_str(), "and it is there");
    serving.line("waiting");
    let show = desk.json(&["tasks", "show", &task]).last();
    assert_eq!(show["status"], "waiting_approval", "it stops at its card: {show}");
    assert_eq!(show["task"]["channel"], "webhook", "and says where it came from");
    assert_eq!(desk.manifest(), before, "the disk is unchanged");

    for (object, code) in [
        (json!({ "text": "go on", "follow_up_of": "no-such-task" }), "task_not_found"),
        (json!({ "text": "x".repeat(4_001) }), "text_length"),
        (json!({ "text": "" }), "text_length"),
    ] {
        let (status, body) = post_object(port, &channel, &token, &object);
        assert_eq!((status, body["code"].as_str()), (422, Some(code)), "refused with its reason: {body}");
    }
    assert_eq!(desk.json(&["tasks", "list"]).rows().len(), 1, "none of these is a task");

    add_schedule(&desk, &writes());
    let second = until("a card of the schedule", || {
        desk.json(&["approvals", "list"]).rows().into_iter().find(|row| row["path"] == "report.md")
    });
    assert_eq!(desk.manifest(), before, "the disk is still unchanged");
    for card in desk.json(&["approvals", "list"]).rows() {
        let approved = desk.json(&["approvals", "approve", card["id"].as_str().unwrap()]);
        assert_eq!(
            approved.code,
            Some(0),
            "the command line decides beside the running service: {approved:?}"
        );
    }
    until("both tasks are done", || {
        let done = |id: &str| desk.json(&["tasks", "show", id]).last()["status"] == "completed";
        (done(&task) && done(second["task"].as_str().unwrap())).then_some(())
    });
    assert_eq!(desk.read("report.md").as_deref(), Some(REPORT), "the shown bytes stand there");
    assert_eq!(serving.terminate("-TERM"), Some(0), "it ends cleanly when asked");
    record_is_whole(&desk);
    for (name, bytes) in crate::support::manifest(desk.data.path()) {
        let found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
        assert!(!found, "the token is in no file of the data folder: {name}");
    }
}

#[test]
fn a_taken_port_ends_it_with_words_and_sigint_ends_it_cleanly() {
    let desk = Desk::new();
    let serving = Serving::start(&desk, &["--port", "0"], &[]);
    let port = serving.port().to_string();
    let other = Desk::new();
    let said = other.json(&["serve", "--port", &port]);
    assert_eq!((said.code, said.last()["code"].as_str()), (Some(1), Some("port_taken")), "{said:?}");
    assert!(said.err.contains(&port), "the port is named: {}", said.err);
    // A second one on the same data folder is no error: it waits for its turn.
    let guest = Serving::start(&desk, &["--port", &port], &[]);
    assert_eq!(guest.line("serving")["owner"], false, "it says that another one is the owner");
    assert_eq!(serving.terminate("-INT"), Some(0), "Ctrl-C ends the first");
    let now = guest.line("serving");
    assert_eq!(
        (now["owner"].as_bool(), now["port"].to_string()),
        (Some(true), port),
        "and the second takes over"
    );
    assert_eq!(guest.terminate("-TERM"), Some(0), "it ends cleanly too");
}

#[test]
fn two_processes_under_load_lose_nothing_and_do_nothing_twice() {
    let seconds = if std::env::var_os("POCKETPILOT_SOAK").is_some() { 60 } else { 6 };
    let desk = Desk::new();
    let (channel, token) = add_channel(&desk);
    let fast = [("POCKETPILOT_FAST_CLOCK", "60")];
    let first = Serving::start(&desk, &["--port", "0"], &fast);
    let port = first.port();
    let second = Serving::start(&desk, &["--port", "0"], &fast);
    second.line("serving");
    let schedule = add_schedule(&desk, &reads());
    let writer = desk.script(&writes());
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut accepted, mut runs, mut approved) = (BTreeSet::new(), 0, 0);
    while Instant::now() < end {
        let (status, body) = post(port, &channel, &token, "what can you do");
        if status == 202 {
            accepted.insert(body["task"].as_str().unwrap().to_owned());
        }
        let run = desk.json(&[
            "run",
            "write",
            "--workspace",
            desk.root(),
            "--provider",
            &writer,
            "--approve",
            "never",
        ]);
        assert_eq!(run.code, Some(3), "a run beside both works: {run:?}");
        runs += 1;
        let card = run.last()["approval"].as_str().unwrap().to_owned();
        // Two deciders at once: one wins.
        let racer = desk
            .command()
            .args(["--json", "approvals", "approve", &card])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mine = desk.json(&["approvals", "approve", &card]).code == Some(0);
        let theirs = racer.unwrap().wait().unwrap().code() == Some(0);
        assert!(!(mine && theirs), "a card is decided once");
        approved += u32::from(mine || theirs);
    }
    // The owner dies without a word; the other one goes on from what is in the database.
    first.kill();
    let port = second.port();
    let (status, body) = post(port, &channel, &token, "still there?");
    assert_eq!(status, 202, "the second process took over: {body}");
    accepted.insert(body["task"].as_str().unwrap().to_owned());
    let before = slots_of(&desk, &schedule);
    until("a slot after the change of owner", || (slots_of(&desk, &schedule) != before).then_some(()));
    until("everything has come to a stop", || {
        let tasks = desk.json(&["tasks", "list"]).rows();
        tasks
            .iter()
            .filter(|task| task["channel"] == "webhook")
            .all(|task| task["status"] == "completed" || task["status"] == "interrupted")
            .then_some(())
    });
    assert_eq!(second.terminate("-TERM"), Some(0), "the second ends cleanly");

    let tasks = record_is_whole(&desk);
    let rows = desk.json(&["tasks", "list"]).rows();
    let webhook: BTreeSet<String> = rows
        .iter()
        .filter(|task| task["channel"] == "webhook")
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(webhook, accepted, "every accepted request is a task, and there is no other");
    let mut executions: BTreeMap<String, u32> = BTreeMap::new();
    for line in desk.run(&["audit", "export"]).out.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["type"] == "execution_finished" {
            *executions.entry(event["approval"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert!(executions.values().all(|times| *times == 1), "no card was executed twice: {executions:?}");
    assert!(executions.len() >= approved as usize, "and every yes was carried out");
    let slots = slots_of(&desk, &schedule);
    let started: Vec<&String> =
        slots.iter().filter(|(state, _)| state == "started").map(|(_, slot)| slot).collect();
    assert_eq!(started.iter().collect::<BTreeSet<_>>().len(), started.len(), "no slot twice: {slots:?}");
    println!(
        "{seconds} s, two services, one killed: {tasks} tasks, {runs} runs, {} executions, {} requests accepted; 0 lost, 0 twice",
        executions.len(),
        accepted.len()
    );
}

/// State and moment of what became of the last slots.
fn slots_of(desk: &Desk, schedule: &str) -> Vec<(String, String)> {
    let rows = desk.json(&["schedules", "list"]).rows();
    let row = rows.iter().find(|row| row["id"] == schedule).unwrap();
    row["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["state"].as_str().unwrap().to_owned(), run["slot"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn killed_at_every_step_of_a_slot() {
    for point in ["slot_before", "slot_before_commit", "slot_after_commit"] {
        let desk = Desk::new();
        let schedule = add_schedule(&desk, &writes());
        // Ten times as fast: a slot every six seconds, which leaves time to come back within its grace or not.
        let fast = ("POCKETPILOT_FAST_CLOCK", "10");
        let serving = Serving::start(&desk, &["--port", "0"], &[fast, ("POCKETPILOT_CRASH_AT", point)]);
        assert!(serving.died(), "the process is killed at {point}");
        // The service itself comes back first: any other command would call the task that was made interrupted, and
        // then the next slot is started, as it should be.
        let again = Serving::start(&desk, &["--port", "0"], &[fast]);
        again.line("serving");
        let card = until("the card of the slot", || desk.json(&["approvals", "list"]).rows().pop());
        let slots = slots_of(&desk, &schedule);
        let started = slots.iter().filter(|(state, _)| state == "started").count();
        assert_eq!(started, 1, "one run, after {point}: {slots:?}");
        let tasks = desk.json(&["tasks", "list"]).rows();
        assert_eq!(tasks.len(), 1, "and one task, after {point}");
        assert_eq!(card["task"], tasks[0]["id"], "which has the card");
        assert_eq!(desk.manifest(), vec![], "nothing was written");
        assert_eq!(again.terminate("-TERM"), Some(0), "it ends cleanly after {point}");
        record_is_whole(&desk);
    }
}

#[test]
fn killed_at_every_step_of_a_request() {
    for point in ["webhook_before", "webhook_before_commit", "webhook_after_commit"] {
        let desk = Desk::new();
        let (channel, token) = add_channel(&desk);
        let serving = Serving::start(&desk, &["--port", "0"], &[("POCKETPILOT_CRASH_AT", point)]);
        let (status, _) = post(serving.port(), &channel, &token, "what can you do");
        assert_eq!(status, 0, "nothing was acknowledged at {point}");
        assert!(serving.died(), "the process is killed at {point}");
        let again = Serving::start(&desk, &["--port", "0"], &[]);
        let port = again.port();
        let kept = usize::from(point == "webhook_after_commit");
        let tasks = desk.json(&["tasks", "list"]).rows();
        assert_eq!(tasks.len(), kept, "what was durable is there, what was not is not: {point}");
        let (status, body) = post(port, &channel, &token, "what can you do");
        assert_eq!(status, 202, "the sender tries again: {body}");
        until("all of them end", || {
            let tasks = desk.json(&["tasks", "list"]).rows();
            (tasks.len() == kept + 1 && tasks.iter().all(|task| task["status"] == "completed")).then_some(())
        });
        assert_eq!(desk.json(&["channels", "list"]).last()["accepted"], kept + 1, "counted with the task");
        assert_eq!(again.terminate("-TERM"), Some(0), "it ends cleanly after {point}");
        record_is_whole(&desk);
    }
}
