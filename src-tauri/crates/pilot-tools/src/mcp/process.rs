//! One server as a process: started below a supervisor, heard within bounds, ended for certain.

use super::supervise::{Ending, Plan, kill_marked};
use super::{McpLimits, McpSetup};
use pilot_types::OperationId;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// How much of what a server says on its standard error is kept, in bytes: its end.
const COMPLAINT_BYTES: usize = 2 * 1024;
/// How long a supervisor may take beyond the two graces of its server.
const SUPERVISOR_LIMIT: Duration = Duration::from_secs(5);
/// Variables that every program gets, where they are set.
const PASSED: &[&str] = &["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
/// Names a process as part of one call.
const MARK: &str = "POCKETPILOT_CALL";

/// A running server. Dropping it ends it too: its supervisor sees the end of its input.
pub(super) struct ServerProcess {
    child: Option<Child>,
    stdin: SharedStdin,
    complaint: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    mark: String,
    limits: McpLimits,
}

/// How a server ended.
pub(super) struct Ended {
    /// `None` when its supervisor did not end by itself.
    pub(super) ending: Option<Ending>,
    /// The end of what it said on standard error.
    pub(super) complaint: String,
}

impl ServerProcess {
    /// Starts a server in `root`, with an environment of named variables only.
    pub(super) fn start(
        setup: &McpSetup,
        plan: &Plan,
        root: &Path,
        declared: &[String],
    ) -> io::Result<(Self, Output, SharedStdin)> {
        let mark = OperationId::new().to_string();
        let plan = serde_json::to_string(plan).map_err(io::Error::other)?;
        #[expect(clippy::disallowed_methods, reason = "outside tools run below a child of this program")]
        let mut command = Command::new(&setup.supervisor.program);
        let mut child = command
            .args(&setup.supervisor.args)
            .arg(plan)
            .env_clear()
            .envs(environment(declared))
            .env(MARK, &mark)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a process without pipes"));
        };
        let stdin = SharedStdin(Arc::new(Mutex::new(Some(stdin))));
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let listener = tokio::spawn(listen(stderr, Arc::clone(&complaint)));
        let output = Output { inner: stdout, left: setup.limits.output_bytes, exceeded: Arc::default() };
        let process = Self {
            child: Some(child),
            stdin: stdin.clone(),
            complaint,
            listener,
            mark: format!("{MARK}={mark}"),
            limits: setup.limits,
        };
        Ok((process, output, stdin))
    }

    /// Ends the server with everything that it started, and waits until all of it is gone.
    pub(super) async fn end(mut self) -> Ended {
        self.stdin.close();
        let limit = self.limits.grace.saturating_mul(2).saturating_add(SUPERVISOR_LIMIT);
        let mut ending = None;
        if let Some(mut child) = self.child.take() {
            match tokio::time::timeout(limit, child.wait()).await {
                Ok(Ok(status)) => ending = Ending::of_code(status.code()),
                Ok(Err(_)) | Err(_) => {
                    kill_group(&child);
                    let _ = tokio::time::timeout(SUPERVISOR_LIMIT, child.wait()).await;
                }
            }
        }
        if ending.is_none() {
            let mark = self.mark.clone();
            let _ = tokio::task::spawn_blocking(move || kill_marked(&mark)).await;
        }
        // Nobody holds its standard error any more, so what it said is complete.
        let _ = tokio::time::timeout(Duration::from_millis(200), &mut self.listener).await;
        let complaint = String::from_utf8_lossy(&locked(&self.complaint)).trim().to_owned();
        Ended { ending, complaint }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.stdin.close();
        self.listener.abort();
        // The supervisor ends by itself; somebody has to take its status.
        if let Some(mut child) = self.child.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                let _ = child.wait().await;
            });
        }
    }
}

fn kill_group(child: &Child) {
    // `id` is there only until the child was waited for, so the number cannot belong to somebody else.
    if let Some(group) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The environment of a server: a few variables that say nothing about the person, and those that were declared.
fn environment(declared: &[String]) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = vec![
        ("HOME".into(), "/nonexistent".into()),
        // The current folder is the workspace: a module of the right name in it must not become a program.
        ("PYTHONSAFEPATH".into(), "1".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
    ];
    let named = PASSED.iter().copied().chain(declared.iter().map(String::as_str));
    all.extend(named.filter_map(|name| Some((name.into(), std::env::var_os(name)?))));
    all
}

/// Keeps the end of what a server says on stderr and throws the rest away, so that it can never block on it.
async fn listen(mut stderr: ChildStderr, complaint: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0_u8; 4096];
    while let Ok(count) = stderr.read(&mut piece).await {
        if count == 0 {
            return;
        }
        let mut kept = locked(&complaint);
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINT_BYTES);
        kept.drain(..surplus);
    }
}

/// A server's standard output, up to a number of bytes; then it ends.
pub(super) struct Output {
    inner: ChildStdout,
    left: usize,
    exceeded: Arc<AtomicBool>,
}

impl Output {
    /// Becomes true when the server said more than it may.
    pub(super) fn exceeded(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.exceeded)
    }
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            self.exceeded.store(true, Ordering::Relaxed);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        self.left = self.left.saturating_sub(buffer.filled().len().saturating_sub(before));
        read
    }
}

/// A server's standard input, which whoever ends the call can close, whoever else still holds it.
#[derive(Clone)]
pub(super) struct SharedStdin(Arc<Mutex<Option<ChildStdin>>>);

impl SharedStdin {
    fn close(&self) {
        locked(&self.0).take();
    }

    fn with<T>(&self, act: impl FnOnce(Pin<&mut ChildStdin>) -> Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match locked(&self.0).as_mut() {
            Some(stdin) => act(Pin::new(stdin)),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl AsyncWrite for SharedStdin {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|stdin| stdin.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stdin| stdin.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.close();
        Poll::Ready(Ok(()))
    }
}
