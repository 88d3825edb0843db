//! One document worker as a process: how it is started, asked, and ended for certain.
//!
//! A worker gets bytes of handles that the guard opened, never a path. It runs in its own process group with an empty
//! environment, in `/`; the limits of memory and processor time it sets itself, the limit of time is kept by the caller.

use pilot_guard::GuardedFile;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// How much of a worker's complaints is kept, in bytes: enough for the line that an aborting program leaves.
const COMPLAINT_BYTES: usize = 4 * 1024;
/// Size of a piece on its way to the worker, in bytes.
const PIECE_BYTES: usize = 128 * 1024;
/// How long an ended worker may take to be gone. It was killed; only the kernel can keep it.
const REAP_LIMIT: Duration = Duration::from_secs(5);
/// Memory that a worker may have, in bytes.
const MEMORY_BYTES: u64 = 1536 << 20;
/// Processor time that a worker may use over its life. The caller's clock is far stricter; this one ends a worker whose
/// parent died.
const PROCESSOR_SECONDS: u64 = 400;
/// How long the sending of a file may go on after the worker gave up.
const LAST_PIECES: Duration = Duration::from_millis(250);

/// The program that reads documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// Program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl WorkerCommand {
    /// This program itself, asked to be a document worker. Its `main` must begin with
    /// `pilot_documents::worker::run_if_asked()`.
    ///
    /// # Errors
    /// When the system does not say which program this is.
    pub fn this_program() -> io::Result<Self> {
        let program = std::env::current_exe()?;
        // After an update the path names another program; this link always names the running one.
        let link = PathBuf::from("/proc/self/exe");
        let program = if cfg!(target_os = "linux") && link.exists() { link } else { program };
        let limits = [MEMORY_BYTES.to_string(), PROCESSOR_SECONDS.to_string()];
        let args = std::iter::once(pilot_documents::worker::ARGUMENT.to_owned()).chain(limits).collect();
        Ok(Self { program, args })
    }
}

/// Why an exchange gave no reply.
#[derive(Debug)]
pub(crate) enum ExchangeFault {
    /// The worker is gone, or what it said is no reply.
    Gone,
    /// The reply is larger than allowed.
    ReplyTooLarge,
    /// The file could not be read to its end; the worker is no longer in step.
    Source(io::Error),
}

/// Why a worker died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// Panic, signal, overflow of the stack, or it stopped answering sensibly.
    Crashed,
    /// It wanted more memory than it may have.
    OutOfMemory,
    /// It used up its processor time.
    OutOfTime,
}

/// A running worker. Dropping it kills it with everything it started.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    complaint: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    served: u32,
    busy: Duration,
}

impl WorkerProcess {
    #[expect(
        clippy::disallowed_methods,
        reason = "parsers of hostile documents run in a child of this program"
    )]
    pub(crate) fn start(command: &WorkerCommand) -> io::Result<Self> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a worker without pipes"));
        };
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let listener = tokio::spawn(listen(stderr, Arc::clone(&complaint)));
        Ok(Self { child, stdin, stdout, complaint, listener, served: 0, busy: Duration::ZERO })
    }

    /// True for a worker that has not read any document yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.served == 0
    }

    /// How long it has worked in all.
    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }

    /// True while the process runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a header and the bytes of a file, and waits for the reply. The file comes back, so that it can be read
    /// again. Without a reply the worker is out of step and must be ended.
    pub(crate) async fn exchange(
        &mut self,
        header: &[u8],
        file: Option<(GuardedFile, u64)>,
        max_reply: usize,
    ) -> (Result<Vec<u8>, ExchangeFault>, Option<GuardedFile>) {
        self.served = self.served.saturating_add(1);
        let began = Instant::now();
        let (reply, file) = Self::converse(&mut self.stdin, &mut self.stdout, header, file, max_reply).await;
        self.busy = self.busy.saturating_add(began.elapsed());
        (reply, file)
    }

    async fn converse(
        stdin: &mut ChildStdin,
        stdout: &mut ChildStdout,
        header: &[u8],
        file: Option<(GuardedFile, u64)>,
        max_reply: usize,
    ) -> (Result<Vec<u8>, ExchangeFault>, Option<GuardedFile>) {
        // Both at once: a worker that answers before it has read everything must not block the two of us.
        let sending = send(stdin, header, file);
        let receiving = receive(stdout, max_reply);
        tokio::pin!(sending, receiving);
        let (mut sent, reply) = tokio::select! {
            sent = &mut sending => match sent {
                (Err(ExchangeFault::Source(error)), file) => return (Err(ExchangeFault::Source(error)), file),
                sent => (Some(sent), receiving.await),
            },
            reply = &mut receiving => (None, reply),
        };
        if sent.is_none() {
            // A reply came first. A worker that died of the document ends the sending too; one that does not read on is
            // waited for as long as the caller likes, unless it already said nonsense.
            let patience = if reply.is_ok() { Duration::MAX } else { LAST_PIECES };
            sent = tokio::time::timeout(patience, sending).await.ok();
        }
        match (sent, reply) {
            (Some((Ok(()), file)), Ok(reply)) => (Ok(reply), file),
            (Some((Err(fault), file)), Ok(_)) => (Err(fault), file),
            (Some((_, file)), Err(fault)) => (Err(fault), file),
            (None, reply) => (Err(reply.err().unwrap_or(ExchangeFault::Gone)), None),
        }
    }

    /// Kills the worker with its group, waits until it is gone, and says why it died. The status of a process that had
    /// already died by itself is not changed by the kill.
    pub(crate) async fn end(mut self) -> Death {
        self.kill_group();
        let status = tokio::time::timeout(REAP_LIMIT, self.child.wait()).await;
        let _ = tokio::time::timeout(REAP_LIMIT, &mut self.listener).await;
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        match status {
            Ok(Ok(status)) => cause(status, &complaint),
            Ok(Err(_)) | Err(_) => Death::Crashed,
        }
    }

    fn kill_group(&self) {
        // `id` is there only until the child was waited for, so the number cannot belong to somebody else.
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill_group();
        self.listener.abort();
    }
}

fn cause(status: ExitStatus, complaint: &[u8]) -> Death {
    let said = String::from_utf8_lossy(complaint);
    if said.contains("memory allocation of") || said.contains("out of memory") {
        return Death::OutOfMemory;
    }
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return Death::OutOfTime;
    }
    Death::Crashed
}

/// Keeps the end of what a worker says on stderr and throws the rest away, so that it can never block on it.
async fn listen(mut stderr: ChildStderr, complaint: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0_u8; 4096];
    while let Ok(count) = stderr.read(&mut piece).await {
        if count == 0 {
            return;
        }
        let mut kept = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINT_BYTES);
        kept.drain(..surplus);
    }
}

async fn send(
    stdin: &mut ChildStdin,
    header: &[u8],
    file: Option<(GuardedFile, u64)>,
) -> (Result<(), ExchangeFault>, Option<GuardedFile>) {
    let started = async {
        let length = u32::try_from(header.len()).map_err(|_| ExchangeFault::Gone)?;
        stdin.write_all(&length.to_le_bytes()).await.map_err(|_| ExchangeFault::Gone)?;
        stdin.write_all(header).await.map_err(|_| ExchangeFault::Gone)
    };
    if let Err(fault) = started.await {
        return (Err(fault), file.map(|(file, _)| file));
    }
    let Some((file, length)) = file else {
        return (stdin.flush().await.map_err(|_| ExchangeFault::Gone), None);
    };
    let (sender, mut pieces) = tokio::sync::mpsc::channel::<io::Result<Vec<u8>>>(4);
    let reading = tokio::task::spawn_blocking(move || {
        let mut file = file;
        read_pieces(&mut file, length, &sender);
        file
    });
    let mut outcome = Ok(());
    while let Some(piece) = pieces.recv().await {
        outcome = match piece {
            Ok(piece) => stdin.write_all(&piece).await.map_err(|_| ExchangeFault::Gone),
            Err(error) => Err(ExchangeFault::Source(error)),
        };
        if outcome.is_err() {
            break;
        }
    }
    // The reader stops at the next piece once nobody takes it.
    drop(pieces);
    let file = reading.await.ok();
    if outcome.is_ok() {
        outcome = stdin.flush().await.map_err(|_| ExchangeFault::Gone);
    }
    (outcome, file)
}

/// Reads exactly `length` bytes from the beginning, in pieces. Bytes that were added since are left out; when some are
/// missing, that is an error, since the worker was told how many come.
fn read_pieces(file: &mut GuardedFile, length: u64, sender: &tokio::sync::mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut left = length;
    if let Err(error) = file.rewind() {
        let _ = sender.blocking_send(Err(error));
        return;
    }
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        let mut piece = vec![0_u8; want];
        let read = match file.read(&mut piece) {
            Ok(0) => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"))
            }
            Ok(count) => {
                piece.truncate(count);
                left -= count as u64;
                Ok(piece)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if sender.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

async fn receive(stdout: &mut ChildStdout, max_reply: usize) -> Result<Vec<u8>, ExchangeFault> {
    let mut length = [0_u8; 4];
    stdout.read_exact(&mut length).await.map_err(|_| ExchangeFault::Gone)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| ExchangeFault::ReplyTooLarge)?;
    if length > max_reply {
        return Err(ExchangeFault::ReplyTooLarge);
    }
    // Grows with what arrives: a length alone must not reserve memory.
    let mut reply = Vec::new();
    let read = stdout.take(length as u64).read_to_end(&mut reply).await.map_err(|_| ExchangeFault::Gone)?;
    if read < length {
        return Err(ExchangeFault::Gone);
    }
    Ok(reply)
}
