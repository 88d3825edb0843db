//! An outside server for tests, and the supervisor that it is started below. Its first argument says how it behaves:
//! `good` serves a few tools, everything else is one way to misbehave. See `tests/it/mcp_hostile.rs`.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a stand-in for tests: it reaches for what it should not, and may panic, which is one way to misbehave"
)]

use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

const FOREVER: Duration = Duration::from_secs(3600);

fn main() -> ExitCode {
    if let Some(code) = pilot_tools::mcp::supervise_if_asked() {
        return ExitCode::from(code);
    }
    let behaviour = std::env::args().nth(1).unwrap_or_default();
    match behaviour.as_str() {
        "sleep" => sleep(FOREVER),
        "daemon" => {
            // Out of the group and the session, and out of the parent's sight.
            let _ = rustix::process::setsid();
            start("sleep");
        }
        "exits-at-once" => {}
        "hangs-at-start" => sleep(FOREVER),
        "panics" => panic!("as a server may"),
        "ignores-term" => {
            let own = std::env::current_exe().unwrap();
            let command = format!("trap '' TERM; exec '{}' sleep", own.display());
            let _ = Command::new("/bin/sh").args(["-c", &command]).status();
        }
        "floods-stderr" => loop {
            let _ = std::io::stderr().write_all(&[b'x'; 4096]);
        },
        "floods-without-a-line" => loop {
            if std::io::stdout().write_all(&[b'x'; 4096]).is_err() {
                break;
            }
        },
        "not-utf8" => {
            say_bytes(&[0xff, 0xfe, b'{', b'\n']);
            sleep(FOREVER);
        }
        _ => serve(&behaviour),
    }
    ExitCode::SUCCESS
}

fn start(behaviour: &str) {
    let _ = Command::new(std::env::current_exe().unwrap()).arg(behaviour).stdin(Stdio::null()).spawn();
}

fn serve(behaviour: &str) {
    let mut lines = std::io::stdin().lock().lines();
    if behaviour == "closes-stdin" {
        drop(lines);
        close(0);
    }
    while let Some(Ok(line)) = lines.next() {
        let request: Value = serde_json::from_str(&line).unwrap();
        let (id, method) = (request["id"].clone(), request["method"].as_str().unwrap_or(""));
        match method {
            "initialize" => greet(behaviour, &id, &request["params"]["protocolVersion"]),
            "tools/call" => answer(behaviour, &id, &request["params"]),
            "tools/list" => panic!("a server is never asked which tools it has"),
            _ => {}
        }
    }
}

fn greet(behaviour: &str, id: &Value, version: &Value) {
    let id = if behaviour == "wrong-id-at-start" { json!(4711) } else { id.clone() };
    let version = if behaviour == "unknown-protocol" { json!("1870-01-01") } else { version.clone() };
    if behaviour == "refuses-to-start" {
        return say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "no"}}));
    }
    say(&json!({"jsonrpc": "2.0", "id": id, "result": {
        "protocolVersion": version, "capabilities": {"tools": {}},
        "serverInfo": {"name": "outside-server", "version": "1.2.3"}
    }}));
}

fn answer(behaviour: &str, id: &Value, params: &Value) {
    let good = |text: String| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}});
    match behaviour {
        "hangs-in-call" => sleep(FOREVER),
        "dies-in-call" => std::process::exit(3),
        "dies-mid-answer" => {
            let whole = good("half of this".to_owned()).to_string();
            say_bytes(&whole.as_bytes()[..whole.len() / 2]);
            std::process::exit(3);
        }
        "floods-with-notifications" => loop {
            say(
                &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}),
            );
        },
        "wrong-id" => {
            say(&json!({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}}));
            sleep(FOREVER);
        }
        "garbage" => {
            say_bytes(b"this is { no JSON\n");
            sleep(FOREVER);
        }
        "wrong-form" => {
            say(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": "not a list", "isError": 7}}))
        }
        "deep-nesting" => {
            let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
            say_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}}}\n").as_bytes());
            sleep(FOREVER);
        }
        "huge-answer" => say(&good("x".repeat(32 << 20))),
        "asks-for-more" => say(&json!({"jsonrpc": "2.0", "id": id, "result": {
            "resultType": "input_required", "inputRequests": {}, "requestState": "x"}})),
        "asks-the-model" => {
            say(
                &json!({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}),
            );
            sleep(FOREVER);
        }
        "forks" => {
            (0..20).for_each(|_| start("sleep"));
            std::process::exit(0);
        }
        "leaves-a-daemon" => {
            start("daemon");
            sleep(Duration::from_millis(60));
            std::process::exit(0);
        }
        "closes-stdout" => close(1),
        "kills-its-parent" => {
            start("daemon");
            sleep(Duration::from_millis(60));
            if let Some(parent) = rustix::process::getppid() {
                let _ = rustix::process::kill_process(parent, rustix::process::Signal::KILL);
            }
            sleep(FOREVER);
        }
        "fails" => say(&json!({"jsonrpc": "2.0", "id": id, "result": {
            "content": [{"type": "text", "text": "no such thing"}], "isError": true}})),
        // Answers well, and leaves something behind that holds its output open.
        "answers-and-forks" => {
            start("sleep");
            start("daemon");
            say(&good("done".to_owned()));
        }
        _ => say(&good(tool(params))),
    }
}

/// The tools of a good server. Errors are answers too: the tests look at what the system refused.
fn tool(params: &Value) -> String {
    let text = |name: &str| params["arguments"][name].as_str().unwrap_or("").to_owned();
    let words = |result: std::io::Result<String>| result.unwrap_or_else(|error| format!("refused: {error}"));
    match params["name"].as_str().unwrap_or("") {
        "echo" | "read_anything" if params["arguments"].get("target").is_none() => {
            params["arguments"].to_string()
        }
        "read" => words(std::fs::read_to_string(text("path"))),
        "read_anything" => words(std::fs::read_to_string(text("target"))),
        "list_anything" => {
            words(std::fs::read_dir(text("target")).map(|entries| entries.count().to_string()))
        }
        "write" => words(std::fs::write(text("path"), text("content")).map(|()| "written".to_owned())),
        "write_anything" => {
            words(std::fs::write(text("target"), text("content")).map(|()| "written".to_owned()))
        }
        "remove_anything" => words(std::fs::remove_file(text("target")).map(|()| "removed".to_owned())),
        "connect" | "connect_allowed" => {
            words(std::net::TcpStream::connect(text("address")).map(|_| "connected".to_owned()))
        }
        "environment" => {
            std::env::vars().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n")
        }
        "run_anything" => words(Command::new(text("target")).output().map(|_| "ran".to_owned())),
        other => format!("there is no tool {other}"),
    }
}

fn say(message: &Value) {
    say_bytes(format!("{message}\n").as_bytes());
}

fn say_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Becomes a program that has closed a standard stream and does nothing more.
fn close(stream: u8) -> ! {
    use std::os::unix::process::CommandExt as _;
    let script = if stream == 0 { "exec 0<&-; exec sleep 3600" } else { "exec 1>&-; exec sleep 3600" };
    let error = Command::new("/bin/sh").args(["-c", script]).exec();
    panic!("{error}");
}
