//! Keys against a real Secret Service on a bus of its own, and without one.

use crate::support::{Desk, manifest};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const CANARY: &str = "sk-canary-5f0e1b7c";

/// No service directories: nothing starts by itself, so a missing keyring is really missing.
const BUS: &str = r#"<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"#;

/// A private bus; ends with the test.
struct Bus {
    children: Vec<Child>,
    home: TempDir,
    address: String,
}

impl Bus {
    /// `None` where the programs are not installed.
    fn start() -> Option<Self> {
        let home = TempDir::new().unwrap();
        let config = home.path().join("bus.conf");
        std::fs::write(&config, BUS).unwrap();
        let mut bus = Command::new("dbus-daemon")
            .args(["--nofork", "--nopidfile", "--print-address=1"])
            .arg(format!("--config-file={}", config.display()))
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Some(Self { children: vec![bus], home, address: address.trim().to_owned() })
    }

    fn start_keyring(&mut self) -> bool {
        let runtime = self.home.path().join("runtime");
        std::fs::create_dir_all(&runtime).unwrap();
        let started = Command::new("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets"])
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", &runtime)
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut keyring) = started else { return false };
        // Without a line end: that would be part of the password.
        keyring.stdin.take().unwrap().write_all(b"pw").unwrap();
        self.children.push(keyring);
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            let asked = Command::new("gdbus")
                .args([
                    "call",
                    "--session",
                    "-d",
                    "org.freedesktop.DBus",
                    "-o",
                    "/org/freedesktop/DBus",
                    "-m",
                ])
                .args(["org.freedesktop.DBus.NameHasOwner", "org.freedesktop.secrets"])
                .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
                .output();
            if asked.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("true")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn keep_key(desk: &Desk, address: &str) -> std::process::Output {
    let mut child = desk
        .command()
        .args(["--json", "providers", "key", "far"])
        .env("DBUS_SESSION_BUS_ADDRESS", address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(CANARY.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn has_key(desk: &Desk, address: &str) -> bool {
    let said = desk.run_with(&["--json", "providers", "list"], &[("DBUS_SESSION_BUS_ADDRESS", address)]);
    let row = said.rows().into_iter().find(|row| row["id"] == "far").expect("the provider is listed");
    row["has_key"] == true
}

fn holds_canary(folder: &std::path::Path) -> Option<String> {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    manifest(folder).into_iter().find(|(_, bytes)| holds(bytes)).map(|(name, _)| name)
}

#[test]
fn a_key_lives_in_the_keyring_and_nowhere_else() {
    let desk = Desk::new();
    let add = ["providers", "add", "far", "--base-url", "https://models.invalid/v1", "--model", "m"];
    assert_eq!(desk.run(&add).code, Some(0), "a provider is set up without a key");

    let Some(mut bus) = Bus::start() else {
        println!("skipped: dbus-daemon is not installed");
        return;
    };
    let address = bus.address.clone();
    let refused = keep_key(&desk, &address);
    assert_eq!(
        refused.status.code(),
        Some(1),
        "without a keyring a one-shot command cannot keep a key, and says so"
    );
    assert!(String::from_utf8_lossy(&refused.stdout).contains("keyring_missing"), "with its code");
    assert_eq!(holds_canary(desk.data.path()), None, "and it is not put anywhere else instead");

    if !bus.start_keyring() {
        println!("skipped: gnome-keyring-daemon is not installed");
        return;
    }
    let kept = keep_key(&desk, &address);
    assert_eq!(
        kept.status.code(),
        Some(0),
        "the keyring takes it: {}",
        String::from_utf8_lossy(&kept.stderr)
    );
    assert!(has_key(&desk, &address), "another process finds it there");
    assert_eq!(holds_canary(desk.data.path()), None, "database, log and journal do not hold it");
    assert_eq!(holds_canary(bus.home.path()), None, "and the keyring's own file holds it encrypted");
    let removed = desk.run_with(&["providers", "remove", "far"], &[("DBUS_SESSION_BUS_ADDRESS", &address)]);
    assert_eq!(removed.code, Some(0), "removing a provider removes its key");
    assert_eq!(desk.run(&add).code, Some(0), "the name can be used again");
    assert!(!has_key(&desk, &address), "and the old key does not come back with it");
}
