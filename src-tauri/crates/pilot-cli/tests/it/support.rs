//! The command on folders of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A data folder and a workspace.
pub(crate) struct Desk {
    pub(crate) data: TempDir,
    pub(crate) root: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    /// Exit code; `None` when it was killed.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// The JSON lines of standard output; anything else there is a broken contract.
    pub(crate) fn rows(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("not a JSON line: {line:?}: {error}\n{}", self.err))
            })
            .collect()
    }

    pub(crate) fn last(&self) -> Value {
        self.rows().pop().unwrap_or_else(|| panic!("nothing on standard output: {self:?}"))
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { data: TempDir::new().unwrap(), root: TempDir::new().unwrap() }
    }

    pub(crate) fn root(&self) -> &str {
        self.root.path().to_str().unwrap()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilot"));
        command
            .arg("--data-dir")
            .arg(self.data.path())
            .stdin(Stdio::null())
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env_remove("POCKETPILOT_BASE_URL")
            // No session bus: the keyring of the person who runs the tests is never touched.
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.run_with(args, &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Said {
        let output = self.command().args(args).envs(env.iter().copied()).output().unwrap();
        Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a command in JSON mode with words on its standard input, and variables.
    pub(crate) fn feed(&self, args: &[&str], words: &str, env: &[(&str, &str)]) -> Said {
        let mut child = self
            .command()
            .arg("--json")
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, words.as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn json(&self, args: &[&str]) -> Said {
        let mut all = vec!["--json"];
        all.extend(args);
        self.run(&all)
    }

    pub(crate) fn script(&self, script: &Value) -> String {
        let path = self.data.path().join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        format!("scripted:{}", path.display())
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let place = self.root.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(path)).ok()
    }

    /// Every file of the workspace with its bytes.
    pub(crate) fn manifest(&self) -> Vec<(String, Vec<u8>)> {
        manifest(self.root.path())
    }
}

pub(crate) fn manifest(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                let bytes =
                    if path.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
                found.push((path.strip_prefix(root).unwrap().to_string_lossy().into_owned(), bytes));
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &target);
        } else {
            std::fs::copy(&source, &target).unwrap();
        }
    }
}

/// The checkout.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}
