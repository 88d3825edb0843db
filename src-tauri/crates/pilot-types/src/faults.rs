//! Named points at which a build with the `faults` feature kills itself, so that recovery can be proved.

/// Dies here when `POCKETPILOT_CRASH_AT` names this point (`NAME`, or `NAME:3` for the third time it is reached).
/// Nothing at all in a build without the `faults` feature.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn point(_name: &str) {}

/// Dies here when `POCKETPILOT_CRASH_AT` names this point (`NAME`, or `NAME:3` for the third time it is reached).
/// The death is SIGKILL: no destructor, no flush, no unwinding.
#[cfg(feature = "faults")]
pub fn point(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static REACHED: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("POCKETPILOT_CRASH_AT") else { return };
    let (wanted, nth) = match wanted.split_once(':') {
        Some((name, nth)) => (name.to_owned(), nth.parse().unwrap_or(1)),
        None => (wanted, 1),
    };
    if wanted == name && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == nth {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
