//! The other side of a call: this very program, started again, with one server below it.
//!
//! It confines the thread that starts the server, hands its own standard input on, and leaves standard output and error
//! to the server. When its input ends (the call is over, or the parent died) or the server ends, it kills everything that
//! came of the server: also what moved to another group or session, since it adopts what its descendants leave behind.
#![expect(
    clippy::disallowed_methods,
    reason = "starts the declared server, and looks at processes below itself"
)]

use super::landlock;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The argument that makes this program a supervisor; its plan follows, as JSON.
pub const SUPERVISOR_ARGUMENT: &str = "--outside-tool";
/// How long killed processes may take to be gone; only the kernel can keep them.
const GONE: Duration = Duration::from_secs(3);
/// Private memory of one process, in bytes: what a runtime such as Node takes many times over, and no machine's all.
const DATA_BYTES: u64 = 4 << 30;
/// Largest file that it may write, in bytes.
const FILE_BYTES: u64 = 1 << 30;

/// What is to be started, and held to what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// Apply Landlock; without it nothing is started when it cannot be applied.
    pub(super) confine: bool,
    /// Files and folders that may be read and run.
    pub(super) run: Vec<PathBuf>,
    /// Files and folders that may be read.
    pub(super) read: Vec<PathBuf>,
    /// May the current folder be changed?
    pub(super) write: bool,
    /// May it use TCP?
    pub(super) tcp: bool,
    pub(super) grace_millis: u64,
}

/// How a supervisor ended, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ending {
    /// The server was started, and is gone now.
    Served = 0,
    /// There is no such program, or it may not be run.
    NotStarted = 120,
    /// The confinement could not be applied; nothing was started.
    NotConfined = 121,
    /// No supervisor could be made of this process; nothing was started.
    NotReady = 122,
}

impl Ending {
    /// `None` when it did not end by itself.
    pub(super) fn of_code(code: Option<i32>) -> Option<Self> {
        [Self::Served, Self::NotStarted, Self::NotConfined, Self::NotReady]
            .into_iter()
            .find(|ending| code == Some(i32::from(*ending as u8)))
    }
}

enum Happened {
    InputEnded,
    ServerEnded,
}

/// Supervises a server if the program was started for that, and gives its exit code. The programs call this first in
/// `main` and end when there is one.
#[must_use]
pub fn supervise_if_asked() -> Option<u8> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(SUPERVISOR_ARGUMENT) {
        return None;
    }
    let plan = arguments.next().and_then(|text| serde_json::from_str::<Plan>(&text).ok());
    Some(plan.map_or(Ending::NotReady, supervise) as u8)
}

fn supervise(plan: Plan) -> Ending {
    if !get_ready() {
        return Ending::NotReady;
    }
    let grace = Duration::from_millis(plan.grace_millis);
    let mut child = match start(plan) {
        Ok(child) => child,
        Err(ending) => return ending,
    };
    let Some((pid, stdin)) = own_pid(&child).zip(child.stdin.take()) else { return Ending::NotReady };
    let (happened, events) = channel();
    pump(stdin, happened.clone());
    watch(pid, happened);
    if let Ok(Happened::InputEnded) = events.recv() {
        // Told to end: first by the end of its input, then by a signal.
        if !ended_within(&events, grace) {
            let _ = kill_process_group(pid, Signal::TERM);
            let _ = ended_within(&events, grace);
        }
    }
    let _ = kill_process_group(pid, Signal::KILL);
    end_descendants();
    Ending::Served
}

fn own_pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Adopts what descendants leave behind, and limits what any of them may use.
#[cfg(target_os = "linux")]
fn get_ready() -> bool {
    use rustix::process::{Resource, Rlimit, getpid, set_child_subreaper, setrlimit};
    let limit =
        |resource, value| setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).is_ok();
    set_child_subreaper(Some(getpid())).is_ok()
        && limit(Resource::Core, 0)
        && limit(Resource::Data, DATA_BYTES)
        && limit(Resource::Fsize, FILE_BYTES)
}

#[cfg(not(target_os = "linux"))]
fn get_ready() -> bool {
    true
}

/// Starts the server from a thread that is confined: what a thread gave up, its children never had.
fn start(plan: Plan) -> Result<Child, Ending> {
    let started = std::thread::spawn(move || {
        if plan.confine
            && let Err(words) = landlock::restrict(&plan)
        {
            complain(&words);
            return Err(Ending::NotConfined);
        }
        Command::new(&plan.program)
            .args(&plan.args)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::inherit())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| {
                complain(&format!("the program could not be started: {error}"));
                Ending::NotStarted
            })
    });
    started.join().unwrap_or(Err(Ending::NotReady))
}

fn complain(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

/// Hands the input on. Reading never waits for the server: the end of the input is seen at once, whatever it does.
fn pump(mut stdin: ChildStdin, happened: Sender<Happened>) {
    let (pieces, to_write) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        while let Ok(piece) = to_write.recv() {
            if stdin.write_all(&piece).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        let mut piece = [0_u8; 16 * 1024];
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut piece) {
                Ok(0) => break,
                // A server that reads no more is no reason to stop listening for the end.
                Ok(count) => drop(pieces.send(piece[..count].to_vec())),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(pieces);
        let _ = happened.send(Happened::InputEnded);
    });
}

/// Says when the server ends, without taking its status: until then its number cannot belong to anybody else.
fn watch(pid: Pid, happened: Sender<Happened>) {
    std::thread::spawn(move || {
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        let _ = happened.send(Happened::ServerEnded);
    });
}

fn ended_within(events: &Receiver<Happened>, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    loop {
        match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Happened::ServerEnded) => return true,
            Ok(Happened::InputEnded) => {}
            Err(_) => return false,
        }
    }
}

/// Kills everything below this process, and takes the status of all of it.
fn end_descendants() {
    // Stopped first: what is stopped cannot start something new between two looks.
    let mut stopped = BTreeSet::new();
    for _ in 0..32 {
        let fresh: Vec<i32> = descendants().into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if fresh.is_empty() {
            break;
        }
        for pid in fresh {
            signal(pid, Signal::STOP);
            stopped.insert(pid);
        }
    }
    let until = Instant::now() + GONE;
    loop {
        for pid in descendants() {
            signal(pid, Signal::KILL);
        }
        if !children_left() || Instant::now() > until {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Takes the status of whoever ended; false when no child is left.
fn children_left() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Every process below this one.
fn descendants() -> Vec<i32> {
    let parents = all_processes();
    let mut found: BTreeSet<i32> = BTreeSet::new();
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    loop {
        let next: Vec<i32> = parents
            .iter()
            .filter(|(pid, parent)| (**parent == own || found.contains(parent)) && !found.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if next.is_empty() {
            return found.into_iter().collect();
        }
        found.extend(next);
    }
}

/// Process → its parent. Empty on systems without `/proc`; there the group is all that can be killed.
fn all_processes() -> BTreeMap<i32, i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
}

fn parent_of(pid: i32) -> Option<i32> {
    // `pid (any name) S parent …`: a name may hold everything, so the fields begin after the last bracket.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Kills every process that carries `mark` in the environment that it was started with. For the case that a supervisor
/// was killed from outside: then nobody adopted what it had started.
pub(super) fn kill_marked(mark: &str) {
    for _ in 0..16 {
        let marked: Vec<i32> = all_processes()
            .into_keys()
            .filter(|pid| {
                std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
                    environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
                })
            })
            .collect();
        if marked.is_empty() {
            return;
        }
        marked.iter().for_each(|pid| signal(*pid, Signal::KILL));
        std::thread::sleep(Duration::from_millis(5));
    }
}
