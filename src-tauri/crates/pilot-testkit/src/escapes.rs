//! Path inputs that try to get out of a workspace, and a runner that tries them on any door.
//!
//! The rows lie beside the checkout in `shared/path_escapes.json`. A *door* is anything that takes a path from outside:
//! it is given as a closure, so this module knows no guard. For every row a fresh [`Stage`] is set up: the workspace,
//! a folder outside with a canary, and a sibling whose name begins like the workspace's.
//!
//! ```ignore
//! let read = Door::new("read_file", DoorKind::Read, |stage| {
//!     let guard = open(stage.workspace());
//!     Box::new(move |path| match guard.read(path) {
//!         Ok(text) => Answer::allowed(text),
//!         Err(error) => Answer::refused(error.to_string()),
//!     })
//! });
//! let report = escapes::run(&rows, &[read], Mounts::Skip);
//! assert_eq!(report.wrong, Vec::<String>::new());
//! ```
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: it builds hostile folders, and a stage that cannot be built is a failed test"
)]

use rustix::fs::{CWD, FileType, Mode, RenameFlags};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Text that stands only outside the workspace. No answer of a door may hold it.
pub const CANARY: &str = "CANARY-5f1d7c-outside-the-workspace";
/// How a complaint about time begins.
const SLOW: &str = "took longer than";
/// How long each race is run.
const RACE: Duration = Duration::from_millis(40);

/// What a row says about a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Must work.
    Allow,
    /// Must be refused.
    Deny,
    /// The specification decides; the invariants hold anyway.
    Either,
}

/// One path input.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Its family: `absolute`, `symlink`, `memory` …
    pub class: String,
    /// What is put into the workspace first.
    pub setup: Vec<Setup>,
    /// The path, with `$WS`, `$WS-evil` and `$OUT` for the stage's folders.
    pub path: String,
    /// For reading a file.
    pub read: Expected,
    /// For writing a file.
    pub write: Expected,
    /// Where the verdicts hold: `all`, `unix`, `linux`, `windows`, `macos`.
    pub platform: String,
    /// Why it is there.
    pub note: String,
}

/// One step of a setup. Paths in `at` are relative to the workspace.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the file's own words")]
pub enum Setup {
    Mkdir { at: String },
    File { at: String, text: String },
    Symlink { at: String, to: String },
    Hardlink { at: String, to: String },
    Fifo { at: String },
    Socket { at: String },
    Sparse { at: String, size: u64 },
    Bindmount { at: String, from: String },
    BindmountFile { at: String, from: String },
    Junction { at: String, to: String },
    Race { swap: Vec<String>, kind: String },
    Note { text: String },
}

/// The rows, or `None` when they do not lie beside the checkout; the caller then says that it skipped them.
#[must_use]
pub fn rows() -> Option<Vec<Row>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file =
        here.ancestors().map(|dir| dir.join("shared/path_escapes.json")).find(|file| file.is_file())?;
    let text = fs::read_to_string(file).expect("the rows can be read");
    Some(serde_json::from_str(&text).expect("the rows have the form that this module knows"))
}

/// A workspace with enemies around it. Everything lies in one temporary folder.
#[derive(Debug)]
pub struct Stage {
    dir: TempDir,
    base: PathBuf,
    mounts: Vec<PathBuf>,
    sockets: Vec<UnixListener>,
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

impl Stage {
    /// An empty workspace, the outside folder and the sibling.
    #[must_use]
    pub fn new() -> Self {
        // In memory where that is possible: a stage is made thousands of times, and a busy disk would be all that is
        // measured. Set TMPDIR and POCKETPILOT_STAGE_ON_DISK to try a file system of your own.
        let memory = Path::new("/dev/shm");
        let on_disk = std::env::var_os("POCKETPILOT_STAGE_ON_DISK").is_some() || !memory.is_dir();
        let dir = if on_disk { tempfile::tempdir() } else { tempfile::tempdir_in(memory) };
        let dir = dir.expect("a temporary folder");
        let base = dir.path().canonicalize().expect("its real path");
        for name in ["ws", "out", "ws-evil", "data"] {
            fs::create_dir(base.join(name)).expect("a folder of the stage");
        }
        for name in ["out", "ws-evil"] {
            fs::write(base.join(name).join("secret.md"), CANARY).expect("the canary");
        }
        Self { dir, base, mounts: Vec::new(), sockets: Vec::new() }
    }

    /// The workspace's real path.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.base.join("ws")
    }

    /// The folder outside, which holds `secret.md`.
    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.base.join("out")
    }

    /// A folder for the application's own data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.base.join("data")
    }

    /// The folder that holds all of these; no message may name it.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// A text with the stage's folders put in.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let path = |name: &str| self.base.join(name).to_string_lossy().into_owned();
        text.replace("$WS-evil", &path("ws-evil")).replace("$WS", &path("ws")).replace("$OUT", &path("out"))
    }

    /// Does one step. `false` for one that this system or these rights do not allow.
    pub fn apply(&mut self, step: &Setup, mounts: Mounts) -> bool {
        let place = |at: &str| self.workspace().join(at);
        match step {
            Setup::Mkdir { at } => fs::create_dir_all(place(at)).expect("mkdir"),
            Setup::File { at, text } => {
                let file = place(at);
                fs::create_dir_all(file.parent().expect("a parent")).expect("mkdir");
                fs::write(file, text).expect("file");
            }
            Setup::Symlink { at, to } => symlink(self.fill(to), place(at)).expect("symlink"),
            Setup::Hardlink { at, to } => fs::hard_link(self.fill(to), place(at)).expect("hard link"),
            Setup::Fifo { at } => {
                rustix::fs::mknodat(CWD, place(at), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                    .expect("fifo");
            }
            Setup::Socket { at } => self.sockets.push(UnixListener::bind(place(at)).expect("socket")),
            Setup::Sparse { at, size } => {
                let file = fs::File::create(place(at)).expect("sparse file");
                file.set_len(*size).expect("its size");
            }
            Setup::Bindmount { at, from } | Setup::BindmountFile { at, from } => {
                if mounts == Mounts::Skip {
                    return false;
                }
                let (at, from) = (place(at), PathBuf::from(self.fill(from)));
                if from.is_dir() {
                    fs::create_dir_all(&at).expect("mount point");
                } else {
                    fs::write(&at, "under the mount").expect("mount point");
                }
                let done = Command::new("mount").arg("--bind").arg(&from).arg(&at).status();
                assert!(
                    done.is_ok_and(|status| status.success()),
                    "a bind mount must work when mounts are asked for"
                );
                self.mounts.push(at);
            }
            Setup::Junction { .. } => return false,
            Setup::Race { .. } | Setup::Note { .. } => {}
        }
        true
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        while let Some(mount) = self.mounts.pop() {
            let _ = Command::new("umount").arg(mount).status();
        }
        // Whatever the test left: the folder itself goes with the `TempDir`.
        let _ = self.dir.path();
    }
}

/// Whether rows that need a bind mount are tried. They need rights of root in a mount namespace of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// They are reported as skipped.
    Skip,
    /// They are tried.
    Try,
}

/// Which verdict of a row a door is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorKind {
    /// It returns content of a file.
    Read,
    /// It writes a file, or says whether one may be written.
    Write,
    /// Anything else: the invariants, and refusal of whatever leads out.
    Other,
    /// The same for a door that may refuse more than reading does.
    Stricter,
    /// The same for a door that may change `memory/`: the person's own, or `memory_write`.
    Person,
}

/// What a door answered.
#[derive(Clone, Debug)]
pub struct Answer {
    allowed: bool,
    text: String,
}

impl Answer {
    /// It worked, and returned this text.
    #[must_use]
    pub fn allowed(text: impl Into<String>) -> Self {
        Self { allowed: true, text: text.into() }
    }

    /// It was refused, with these words.
    #[must_use]
    pub fn refused(text: impl Into<String>) -> Self {
        Self { allowed: false, text: text.into() }
    }
}

/// An opened door: takes a path, gives an answer.
pub type Opened = Box<dyn FnMut(&str) -> Answer>;
/// Opens a door on a stage.
type Opens<'a> = Box<dyn Fn(&Stage) -> Opened + 'a>;

/// A way into the workspace.
pub struct Door<'a> {
    name: &'a str,
    kind: DoorKind,
    open: Opens<'a>,
}

impl<'a> Door<'a> {
    /// A door that `open` opens on a stage. It is opened before the path is used, as a guard is.
    pub fn new(name: &'a str, kind: DoorKind, open: impl Fn(&Stage) -> Opened + 'a) -> Self {
        Self { name, kind, open: Box::new(open) }
    }
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rows times doors.
    pub tried: usize,
    /// Rows that could not be set up, and why.
    pub skipped: Vec<String>,
    /// Wrong verdicts and broken invariants, in words.
    pub wrong: Vec<String>,
}

/// Tries every row on every door.
#[must_use]
pub fn run(rows: &[Row], doors: &[Door<'_>], mounts: Mounts) -> Report {
    let mut report = Report::default();
    for row in rows {
        for door in doors {
            match attempt(row, door, mounts) {
                Some(wrong) => {
                    report.tried += 1;
                    report.wrong.extend(wrong);
                }
                None => {
                    let line = format!("{}: {}", row.id, row.note);
                    if !report.skipped.contains(&line) {
                        report.skipped.push(line);
                    }
                }
            }
        }
    }
    report
}

/// What is wrong with one row on one door; `None` when it cannot be set up here. Slowness counts when it is seen each
/// time: a busy machine can hold up any single call.
fn attempt(row: &Row, door: &Door<'_>, mounts: Mounts) -> Option<Vec<String>> {
    let mut wrong = Vec::new();
    for _ in 0..4 {
        let mut stage = Stage::new();
        if !row.setup.iter().all(|step| stage.apply(step, mounts)) {
            return None;
        }
        wrong.clear();
        let mut judge = Judge { row, door, wrong: &mut wrong };
        let race = row.setup.iter().find_map(|step| match step {
            Setup::Race { swap, kind } => Some((swap, kind.as_str())),
            _ => None,
        });
        match race {
            Some((swap, kind)) => judge.race(&stage, swap, kind),
            None => judge.still(&stage),
        }
        if wrong.is_empty() || wrong.iter().any(|line| !line.contains(SLOW)) {
            break;
        }
    }
    Some(wrong)
}

/// Stops the swapper, also when the door panics: it would go on for ever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Judge<'a> {
    row: &'a Row,
    door: &'a Door<'a>,
    wrong: &'a mut Vec<String>,
}

impl Judge<'_> {
    fn wrong(&mut self, what: &str) {
        self.wrong.push(format!("{} through {}: {what} ({})", self.row.id, self.door.name, self.row.note));
    }

    /// A row in which nothing moves.
    fn still(&mut self, stage: &Stage) {
        let before = (tree(&stage.workspace()), outside(stage));
        let mut door = (self.door.open)(stage);
        let started = Instant::now();
        let answer = door(&stage.fill(&self.row.path));
        if started.elapsed() > Duration::from_secs(1) {
            self.wrong(&format!("{SLOW} 1 s"));
        }
        self.verdict(&answer);
        self.text(stage, &answer);
        let after = (tree(&stage.workspace()), outside(stage));
        if before.1 != after.1 {
            self.wrong("something outside the workspace changed");
        }
        if self.door.kind != DoorKind::Person && memory(&before.0) != memory(&after.0) {
            self.wrong("memory/ changed");
        }
        if !answer.allowed && before.0 != after.0 {
            self.wrong("a refused call left something behind");
        }
    }

    fn verdict(&mut self, answer: &Answer) {
        let here = match self.row.platform.as_str() {
            "all" => true,
            "unix" => cfg!(unix),
            system => system == std::env::consts::OS,
        };
        let leads_out = ["absolute", "dotdot", "symlink", "procfs", "hardlink", "special", "mount"];
        let by_size = self.row.setup.iter().any(|step| matches!(step, Setup::Sparse { .. }));
        let expected = match self.door.kind {
            DoorKind::Read if here => self.row.read,
            // Refusals of names hold on every system, so that a folder that is synchronised stays portable.
            DoorKind::Write if here || self.row.write == Expected::Deny => self.row.write,
            DoorKind::Stricter
                if here
                    && leads_out.contains(&self.row.class.as_str())
                    && !by_size
                    && self.row.read == Expected::Deny =>
            {
                Expected::Deny
            }
            DoorKind::Other | DoorKind::Person
                if here && leads_out.contains(&self.row.class.as_str()) && !by_size =>
            {
                self.row.read
            }
            DoorKind::Read | DoorKind::Write | DoorKind::Other | DoorKind::Stricter | DoorKind::Person => {
                Expected::Either
            }
        };
        match expected {
            Expected::Allow if !answer.allowed => self.wrong(&format!("was refused: {}", answer.text)),
            Expected::Deny if answer.allowed => self.wrong("was allowed"),
            Expected::Allow | Expected::Deny | Expected::Either => {}
        }
    }

    fn text(&mut self, stage: &Stage, answer: &Answer) {
        if answer.text.contains(CANARY) {
            self.wrong("returned the canary");
        }
        let base = stage.base().to_string_lossy().into_owned();
        if answer.text.contains(&base) {
            self.wrong(&format!("named a path outside: {}", answer.text));
        }
    }

    /// A row in which something is swapped while the door is used.
    fn race(&mut self, stage: &Stage, swap: &[String], kind: &str) {
        let [one, two] = swap else { panic!("{}: a race swaps two things", self.row.id) };
        let ws = stage.workspace();
        match kind {
            "root-swap" => return self.root_swap(stage),
            "appears" => {
                let file = ws.join(&self.row.path);
                return self.moving(stage, move || {
                    let _ = fs::write(&file, "appeared");
                    let _ = fs::remove_file(&file);
                });
            }
            _ => {}
        }
        let target = PathBuf::from(stage.fill(two));
        fs::create_dir_all(ws.join("memory")).expect("memory/");
        fs::write(ws.join("memory/MEMORY.md"), "mem").expect("memory file");
        fs::create_dir_all(ws.join(one)).expect("the folder that is swapped");
        fs::write(ws.join(one).join("secret.md"), "inside").expect("its file");
        symlink(&target, ws.join("swap")).expect("the link that it is swapped with");
        let (one, other) = (ws.join(one), ws.join("swap"));
        self.moving(stage, move || {
            let _ = rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        });
    }

    fn moving(&mut self, stage: &Stage, mut swap: impl FnMut() + Send) {
        let before = (memory(&tree(&stage.workspace())), outside(stage));
        let mut door = (self.door.open)(stage);
        let path = stage.fill(&self.row.path);
        let stop = AtomicBool::new(false);
        let started = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    swap();
                }
            });
            let _until = StopOnDrop(&stop);
            while started.elapsed() < RACE {
                let answer = door(&path);
                self.text(stage, &answer);
            }
        });
        if started.elapsed() > RACE + Duration::from_secs(3) {
            self.wrong(&format!("{SLOW} 3 s for a race"));
        }
        let after = (memory(&tree(&stage.workspace())), outside(stage));
        if before != after {
            self.wrong("a race changed something outside or memory/");
        }
        if tree(&stage.workspace()).keys().any(|path| path.contains("tmp")) {
            self.wrong("a race left a temporary file");
        }
    }

    fn root_swap(&mut self, stage: &Stage) {
        let (ws, out) = (stage.workspace(), stage.outside());
        let mut door = (self.door.open)(stage);
        let exchange =
            || rustix::fs::renameat_with(CWD, &ws, CWD, &out, RenameFlags::EXCHANGE).expect("swap");
        let before = outside(stage);
        exchange();
        let answer = door(&stage.fill(&self.row.path));
        exchange();
        self.verdict(&answer);
        self.text(stage, &answer);
        if outside(stage) != before {
            self.wrong("the folder that took the workspace's name was changed");
        }
    }
}

/// A folder as it is: every path below it, with what it is and holds.
#[must_use]
pub fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let what = if meta.is_dir() {
                todo.push(path.clone());
                "folder".to_owned()
            } else if meta.is_symlink() {
                format!("link to {}", fs::read_link(&path).unwrap_or_default().to_string_lossy())
            } else if meta.is_file() && meta.len() <= 1 << 20 {
                format!("file {}", String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()))
            } else if meta.is_file() {
                format!("file of {} bytes", meta.len())
            } else {
                format!("special, fifo {}", meta.file_type().is_fifo())
            };
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            found.insert(name, what);
        }
    }
    found
}

/// The part of a tree that is `memory/`.
fn memory(tree: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let below = |path: &str| path == "memory" || path.starts_with("memory/");
    tree.iter().filter(|(path, _)| below(path)).map(|(path, what)| (path.clone(), what.clone())).collect()
}

fn outside(stage: &Stage) -> [BTreeMap<String, String>; 2] {
    [tree(&stage.outside()), tree(&stage.base().join("ws-evil"))]
}
