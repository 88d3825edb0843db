//! The document worker as a program of its own, for tests: the real one, and with `hostile` as first argument one that
//! misbehaves by the name of the document and passes everything else on to the real one.
#![expect(
    clippy::disallowed_methods,
    reason = "the hostile stand-in starts the real worker and children of its own"
)]
#![expect(clippy::unwrap_used, reason = "a stand-in for tests may panic; that is one way to misbehave")]

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn main() {
    if pilot_documents::worker::run_if_asked() {
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("hostile") {
        serve();
    }
}

fn serve() {
    let mut real = real_worker();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Some(header) = frame(&mut input) {
        let request: serde_json::Value = serde_json::from_slice(&header).unwrap();
        let length = find(&request, "len").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let mut body = Vec::new();
        (&mut input).take(length).read_to_end(&mut body).unwrap();
        let name = find(&request, "name").and_then(serde_json::Value::as_str).unwrap_or("").to_owned();
        // Only a document does harm, not the mention of its name.
        if length > 0 {
            misbehave(&name);
        }
        let to_real = real.stdin.as_mut().unwrap();
        to_real.write_all(&u32::try_from(header.len()).unwrap().to_le_bytes()).unwrap();
        to_real.write_all(&header).unwrap();
        to_real.write_all(&body).unwrap();
        to_real.flush().unwrap();
        let reply = frame(real.stdout.as_mut().unwrap()).unwrap();
        output.write_all(&u32::try_from(reply.len()).unwrap().to_le_bytes()).unwrap();
        output.write_all(&reply).unwrap();
        output.flush().unwrap();
    }
    // The real one ends with its input.
    drop(real.stdin.take());
    let _ = real.wait();
}

fn misbehave(name: &str) {
    if name.contains("crash") {
        std::process::abort();
    }
    if name.contains("memory") {
        let _ = writeln!(io::stderr(), "memory allocation of 99999999999 bytes failed");
        std::process::abort();
    }
    if name.contains("hang") {
        sleep(Duration::from_secs(600));
    }
    if name.contains("slow") {
        sleep(Duration::from_millis(100));
    }
}

fn real_worker() -> Child {
    Command::new(std::env::current_exe().unwrap())
        .arg(pilot_documents::worker::ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// One length and what follows it; `None` at the end of the stream.
fn frame(input: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0_u8; 4];
    input.read_exact(&mut length).ok()?;
    let mut bytes = vec![0_u8; usize::try_from(u32::from_le_bytes(length)).ok()?];
    input.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn find<'a>(value: &'a serde_json::Value, key: &str) -> Option<&'a serde_json::Value> {
    match value {
        serde_json::Value::Object(object) => object
            .get(key)
            .filter(|found| !found.is_object())
            .or_else(|| object.values().find_map(|inner| find(inner, key))),
        _ => None,
    }
}
