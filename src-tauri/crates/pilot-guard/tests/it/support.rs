//! Guards on stages, and child processes with other rights.

use pilot_guard::{
    Access, FileWrite, GuardError, Resolver, UndoLimits, UndoStore, WorkspaceGuard, Written, temp_name,
};
use pilot_testkit::escapes::Stage;
use pilot_types::Digest;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Both ways of resolving; every test of a path runs with each.
pub(crate) const RESOLVERS: [Resolver; 2] = [Resolver::OpenAt2, Resolver::Walk];
const INSIDE: &str = "POCKETPILOT_TEST_INSIDE";

/// Stops the other side of a race, also when an assertion fails: it would go on for ever.
pub(crate) struct StopOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A guard and an undo store on a stage.
pub(crate) struct Bench {
    pub(crate) guard: WorkspaceGuard,
    pub(crate) undo: UndoStore,
}

impl Bench {
    pub(crate) fn on(stage: &Stage, resolver: Resolver) -> Self {
        let guard = WorkspaceGuard::open_with(&stage.workspace(), resolver).expect("a guard on the stage");
        let undo = UndoStore::open(&stage.data().join("undo"), UndoLimits::default()).expect("an undo store");
        Self { guard, undo }
    }

    /// A write with an explicit base.
    pub(crate) fn write(
        &self,
        path: &str,
        bytes: &[u8],
        base: Option<&Digest>,
    ) -> Result<Written, GuardError> {
        self.write_as(Access::Write, path, bytes, base)
    }

    pub(crate) fn write_as(
        &self,
        access: Access,
        path: &str,
        bytes: &[u8],
        base: Option<&Digest>,
    ) -> Result<Written, GuardError> {
        let temp = temp_name("test");
        self.guard.create_or_replace(&FileWrite { path, access, bytes, base, temp_name: &temp }, &self.undo)
    }

    /// A write over whatever stands there, as a card and its approval do it.
    pub(crate) fn put(&self, access: Access, path: &str, bytes: &[u8]) -> Result<Written, GuardError> {
        self.guard.check(path, access)?;
        let base = self.guard.digest(path)?;
        self.write_as(access, path, bytes, base.as_ref())
    }

    pub(crate) fn read(&self, path: &str) -> Result<String, GuardError> {
        let bytes = self.guard.open_file(path)?.read_all(100 * 1024)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Runs the rest of a test in a mount namespace of its own. True inside; false outside, when the child has passed or
/// when there cannot be one (then the test says that it is skipped).
pub(crate) fn in_mount_namespace(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    let flags: &[&str] = if root { &["-m"] } else { &["-r", "-m"] };
    in_child(test, "unshare", flags, "no mount namespace can be made here")
}

/// Runs the rest of a test as a user whom permissions bind. True inside.
pub(crate) fn as_plain_user(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let flags = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    in_child(test, "setpriv", &flags, "no other user can be had here")
}

fn in_child(test: &str, program: &str, flags: &[&str], why: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !Command::new(program).args(flags).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: {test}: {why}");
        return false;
    }
    let exe = std::env::current_exe().expect("this test binary");
    let child = Command::new(program)
        .args(flags)
        .arg(exe)
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(INSIDE, "1")
        .output()
        .expect("the child runs");
    let said = String::from_utf8_lossy(&child.stdout);
    println!("{said}{}", String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{test} must pass in its child");
    assert!(said.contains("1 passed"), "{test} must have been run in its child");
    false
}

/// Runs a program of the system that a test needs for its setup.
pub(crate) fn system(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().expect("the program is there");
    assert!(status.success(), "{program} {arguments:?} must work");
}
