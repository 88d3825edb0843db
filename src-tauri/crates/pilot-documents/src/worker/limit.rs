//! Limits that the worker sets on itself.

use std::io;

/// What a worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Address space in bytes, stacks and mapped code included.
    pub memory_bytes: u64,
    /// Processor time in seconds, over the worker's whole life.
    pub cpu_seconds: u64,
}

impl Default for WorkerLimits {
    /// 1.5 GiB and two minutes: far more than any document within the limits needs.
    fn default() -> Self {
        Self { memory_bytes: 1536 << 20, cpu_seconds: 120 }
    }
}

/// Sets the limits on this process: memory, processor time, open files, no core, and no file to be written.
///
/// # Errors
/// When the system refuses a limit; the worker must not run then.
#[cfg(target_os = "linux")]
pub fn limit_self(limits: &WorkerLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, value: u64| {
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).map_err(io::Error::from)
    };
    set(Resource::As, limits.memory_bytes)?;
    set(Resource::Cpu, limits.cpu_seconds)?;
    set(Resource::Nofile, 16)?;
    set(Resource::Core, 0)?;
    set(Resource::Fsize, 0)
}

/// On other systems the parent's clock is the only limit.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn limit_self(_limits: &WorkerLimits) -> io::Result<()> {
    Ok(())
}
