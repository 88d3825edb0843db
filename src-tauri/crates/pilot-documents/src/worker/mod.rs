//! The child process that parses. It is this same program, started with [`ARGUMENT`]; it reads requests from its standard
//! input and answers on its standard output, and it never opens a file: bytes come in by the pipe, from handles that the
//! parent holds. Memory, processor time, open files and file sizes are limited before the first byte is read. Whatever a
//! hostile document does to it, the parent loses one answer.

mod limit;
mod protocol;
mod serve;

pub use limit::{WorkerLimits, limit_self};
pub use protocol::{
    HEADER_BYTES, REPLY_BYTES, Reply, Request, read_reply, write_request, write_request_header,
};
pub use serve::serve;

/// The argument that makes this program a worker. Memory in bytes and processor time in seconds may follow it.
pub const ARGUMENT: &str = "--document-worker";

/// Serves requests if the program was started as a worker, and says whether it was. The programs call this first in
/// `main` and end when it is true.
#[must_use]
pub fn run_if_asked() -> bool {
    let mut arguments = std::env::args().skip(1);
    if !arguments.any(|argument| argument == ARGUMENT) {
        return false;
    }
    let numbers: Vec<u64> = arguments.take(2).filter_map(|argument| argument.parse().ok()).collect();
    let mut limits = WorkerLimits::default();
    if let [memory, seconds] = numbers.as_slice() {
        limits = WorkerLimits { memory_bytes: *memory, cpu_seconds: *seconds };
    }
    // A worker without limits must not run: then it ends, and the parent says that it did.
    if limit_self(&limits).is_ok() {
        let thread = std::thread::Builder::new().name("worker".to_owned()).stack_size(crate::extract::STACK);
        let started = thread.spawn(|| serve(std::io::stdin().lock(), std::io::stdout().lock()));
        if let Ok(handle) = started {
            // A broken pipe or a panic ends the worker; the parent sees the missing answer.
            let _ = handle.join();
        }
    }
    true
}
