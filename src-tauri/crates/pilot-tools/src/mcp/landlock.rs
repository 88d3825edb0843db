//! Landlock: what a thread, and every program that it starts, may reach from now on.

use super::supervise::Plan;

/// The Landlock ABI of this kernel; 0 where it cannot be applied. Tried for real, on a thread that then ends.
#[cfg(target_os = "linux")]
pub(super) fn abi() -> u32 {
    use landlock::{AccessFs, LandlockStatus, Ruleset, RulesetAttr as _, RulesetStatus};
    let tried = std::thread::spawn(|| {
        let status =
            Ruleset::default().handle_access(AccessFs::Execute).ok()?.create().ok()?.restrict_self().ok()?;
        match (status.ruleset, status.landlock) {
            (RulesetStatus::NotEnforced, _) => None,
            (_, LandlockStatus::Available { effective_abi, kernel_abi }) => {
                let known = effective_abi as u32;
                Some(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(known).max(known))
            }
            (_, LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) => None,
        }
    });
    tried.join().ok().flatten().unwrap_or(0)
}

/// Elsewhere there is none.
#[cfg(not(target_os = "linux"))]
pub(super) fn abi() -> u32 {
    0
}

/// Restricts the calling thread. The current folder is the workspace.
///
/// # Errors
/// In words, when it could not be applied; then nothing may be started.
#[cfg(target_os = "linux")]
pub(super) fn restrict(plan: &Plan) -> Result<(), String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    // The newest that this library knows; older kernels apply what they have.
    const NEWEST: ABI = ABI::V10;
    let words = |error: &dyn std::fmt::Display| format!("the confinement could not be applied: {error}");
    let run = AccessFs::from_read(NEWEST);
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    // No programs from the workspace, no devices, sockets or links in it.
    let change = AccessFs::from_all(NEWEST)
        & !(AccessFs::Execute
            | AccessFs::MakeChar
            | AccessFs::MakeBlock
            | AccessFs::MakeSock
            | AccessFs::MakeFifo
            | AccessFs::MakeSym
            | AccessFs::IoctlDev
            | AccessFs::ResolveUnix);
    let build = || -> Result<landlock::RestrictionStatus, landlock::RulesetError> {
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?;
        rules = rules.scope(Scope::from_all(NEWEST))?;
        if !plan.tcp {
            rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        let mut rules = rules
            .create()?
            .add_rules(path_beneath_rules(SYSTEM_PROGRAMS, run))?
            .add_rules(path_beneath_rules(SYSTEM_FILES, read))?
            .add_rules(path_beneath_rules(&plan.run, run))?
            .add_rules(path_beneath_rules(&plan.read, read))?
            .add_rules(path_beneath_rules(
                ["/dev/null", "/dev/zero"],
                AccessFs::ReadFile | AccessFs::WriteFile,
            ))?;
        if plan.tcp {
            rules = rules.add_rules(path_beneath_rules(NETWORK_FILES, read))?;
        }
        if let Ok(workspace) = PathFd::new(".") {
            rules = rules.add_rule(PathBeneath::new(workspace, if plan.write { change } else { read }))?;
        }
        rules.restrict_self()
    };
    let status = build().map_err(|error| words(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced if status.no_new_privs => Ok(()),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
            Err(words(&"this kernel did not enforce it"))
        }
    }
}

/// Programs and libraries of the system: they hold nothing of a person's.
#[cfg(target_os = "linux")]
const SYSTEM_PROGRAMS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"];

/// What programs of the system read when they start.
#[cfg(target_os = "linux")]
const SYSTEM_FILES: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/nsswitch.conf",
    "/dev/urandom",
    "/dev/random",
];

/// What resolving a name needs.
#[cfg(target_os = "linux")]
const NETWORK_FILES: &[&str] =
    &["/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/run/systemd/resolve"];

/// Elsewhere it cannot be applied.
#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_plan: &Plan) -> Result<(), String> {
    Err("programs cannot be confined on this system".to_owned())
}
