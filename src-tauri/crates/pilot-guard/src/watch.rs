//! Says that something below a root changed. What it says is a hint: it opens nothing for anybody, and whoever hears it
//! looks through the guard.
//!
//! The system is asked to tell (inotify and its like). Where it cannot, because a limit is reached or a folder is of a kind
//! that it does not watch, the folder is looked at every few seconds instead. No link is gone down and no handle of the
//! root is held between looks, so that a disk can be unplugged while it is watched.

use crate::access::{Access, RootIdentity};
use crate::guard::{Parent, WorkspaceGuard};
use crate::path;
use notify::event::{AccessKind, AccessMode};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Paths that are gathered before a change counts as one of everything.
const MOST_PATHS: usize = 256;
/// A look over a folder may take this share of the time at most.
const LOOK_SHARE: u32 = 20;

/// How a folder is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// The system tells.
    Told,
    /// The system cannot tell; the folder is looked at every few seconds.
    Looked,
}

/// What a watch says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskNotice {
    /// From now on changes are said. What changed before is not: look once.
    Watching(WatchMode),
    /// Something changed at these paths, relative to the root, or below them.
    Paths(BTreeSet<String>),
    /// Something changed, it is not known where: too much at a time, or the system lost count.
    Everything,
    /// The folder is not there now, or another one stands in its place. Said once; it is looked for until it is back.
    Gone,
}

/// How a watch behaves. The default is what the product uses.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Changes are gathered for this long before they are said.
    pub gather: Duration,
    /// How often it is looked whether the folder is still there, and what changed where the system does not tell.
    pub look: Duration,
    /// Entries that a look goes over at most; what lies beyond is not noticed where the system does not tell.
    pub look_entries: usize,
    /// Do not ask the system.
    pub never_told: bool,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            gather: Duration::from_millis(150),
            look: Duration::from_secs(2),
            look_entries: 200_000,
            never_told: false,
        }
    }
}

/// A watch on one folder. Dropping it stops it.
#[derive(Debug)]
pub struct FolderWatch {
    shared: Arc<Shared>,
}

impl FolderWatch {
    /// Watches the folder at `root` as long as it is the one that `identity` names. `tell` is called on a thread of the
    /// watch and may block. Returns at once; [`DiskNotice::Watching`] says when it has begun.
    ///
    /// # Errors
    /// The system gives no further thread.
    pub fn start(
        root: &Path,
        identity: RootIdentity,
        options: WatchOptions,
        tell: impl Fn(DiskNotice) + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let watching = Watching {
            root: root.to_owned(),
            identity,
            options,
            shared: shared.clone(),
            tell: Box::new(tell),
        };
        std::thread::Builder::new().name("folder watch".to_owned()).spawn(move || watching.run())?;
        Ok(Self { shared })
    }
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // The thread is not waited for: it may be telling somebody who waits for this very call.
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
    }
}

/// What the system has told and nobody was told yet. Bounded, however fast the disk changes.
#[derive(Debug, Default)]
struct Heard {
    paths: BTreeSet<PathBuf>,
    everything: bool,
    limit: bool,
    stop: bool,
}

impl Heard {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.everything && !self.limit
    }
}

#[derive(Debug, Default)]
struct Shared {
    heard: Mutex<Heard>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, told: notify::Result<Event>) {
        let mut heard = self.lock();
        match told {
            Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => heard.limit = true,
            Err(_) => heard.everything = true,
            Ok(event) if event.need_rescan() => heard.everything = true,
            Ok(event) => match event.kind {
                EventKind::Access(AccessKind::Close(AccessMode::Write))
                | EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_) => heard.paths.extend(event.paths),
                // Reading changes nothing, and this program reads what it is told about.
                EventKind::Access(_) | EventKind::Other => return,
            },
        }
        if heard.paths.len() > MOST_PATHS {
            heard.everything = true;
        }
        if heard.everything {
            heard.paths.clear();
        }
        drop(heard);
        self.wake.notify_all();
    }

    /// Waits until something was heard, `limit` is over, or it is time to stop (`None`). What was heard is gathered for
    /// a while first.
    fn wait(&self, limit: Duration, gather: Duration) -> Option<Heard> {
        let quiet = |heard: &mut Heard| heard.is_empty() && !heard.stop;
        let (heard, _) =
            self.wake.wait_timeout_while(self.lock(), limit, quiet).unwrap_or_else(PoisonError::into_inner);
        if heard.stop {
            return None;
        }
        if heard.is_empty() {
            return Some(Heard::default());
        }
        let (mut heard, _) = self
            .wake
            .wait_timeout_while(heard, gather, |heard| !heard.stop)
            .unwrap_or_else(PoisonError::into_inner);
        if heard.stop { None } else { Some(std::mem::take(&mut *heard)) }
    }
}

/// How the folder is seen right now.
enum Eye {
    /// It is not: it is not there, or was not looked for yet.
    Closed { told: bool },
    /// The system tells.
    Told { _watcher: RecommendedWatcher },
    /// It is looked at.
    Looked { seen: u64, pause: Duration },
}

struct Watching {
    root: PathBuf,
    identity: RootIdentity,
    options: WatchOptions,
    shared: Arc<Shared>,
    tell: Box<dyn Fn(DiskNotice) + Send>,
}

impl Watching {
    fn run(&self) {
        let mut eye = Eye::Closed { told: false };
        loop {
            eye = self.see(eye);
            let pause = match &eye {
                Eye::Looked { pause, .. } => *pause,
                Eye::Closed { .. } | Eye::Told { .. } => self.options.look,
            };
            let Some(heard) = self.shared.wait(pause, self.options.gather) else { return };
            if heard.limit && !matches!(eye, Eye::Looked { .. }) {
                tracing::info!("the system's limit of watched folders is reached; looking instead");
                eye = self.look_from_now(DiskNotice::Watching(WatchMode::Looked));
            }
            if !heard.is_empty() {
                self.pass_on(&heard);
            }
        }
    }

    /// The guard, while the folder is the right one.
    fn guard(&self) -> Option<WorkspaceGuard> {
        WorkspaceGuard::open(&self.root).ok().filter(|guard| guard.identity() == self.identity)
    }

    /// Looks whether the folder is there, and what changed where nobody tells.
    fn see(&self, eye: Eye) -> Eye {
        let Some(guard) = self.guard() else {
            if !matches!(eye, Eye::Closed { told: true }) {
                (self.tell)(DiskNotice::Gone);
            }
            return Eye::Closed { told: true };
        };
        match eye {
            Eye::Closed { .. } => {
                drop(guard);
                self.begin()
            }
            Eye::Told { .. } => eye,
            Eye::Looked { seen, .. } => {
                let (now, pause) = self.look(&guard);
                if now != seen {
                    (self.tell)(DiskNotice::Everything);
                }
                Eye::Looked { seen: now, pause }
            }
        }
    }

    fn begin(&self) -> Eye {
        if self.options.never_told {
            return self.look_from_now(DiskNotice::Watching(WatchMode::Looked));
        }
        let shared = self.shared.clone();
        let config = Config::default().with_follow_symlinks(false);
        let made = RecommendedWatcher::new(move |told| shared.hear(told), config).and_then(|mut watcher| {
            watcher.watch(&self.root, RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        match made {
            Ok(watcher) => {
                (self.tell)(DiskNotice::Watching(WatchMode::Told));
                Eye::Told { _watcher: watcher }
            }
            Err(error) => {
                tracing::info!(kind = ?error.kind, "the system does not tell about this folder; looking instead");
                self.look_from_now(DiskNotice::Watching(WatchMode::Looked))
            }
        }
    }

    fn look_from_now(&self, notice: DiskNotice) -> Eye {
        let Some(guard) = self.guard() else { return Eye::Closed { told: false } };
        let (seen, pause) = self.look(&guard);
        (self.tell)(notice);
        Eye::Looked { seen, pause }
    }

    /// A number that changes with the folder, and how long to wait before the next look.
    fn look(&self, guard: &WorkspaceGuard) -> (u64, Duration) {
        let begun = Instant::now();
        let seen = guard.glance(self.options.look_entries);
        (seen, self.options.look.max(begun.elapsed() * LOOK_SHARE))
    }

    fn pass_on(&self, heard: &Heard) {
        if heard.everything || heard.limit {
            return (self.tell)(DiskNotice::Everything);
        }
        // Gone meanwhile: the next look says so.
        let Some(guard) = self.guard() else { return };
        match self.named(&guard, &heard.paths) {
            Some(paths) if paths.is_empty() => {}
            Some(paths) => (self.tell)(DiskNotice::Paths(paths)),
            None => (self.tell)(DiskNotice::Everything),
        }
    }

    /// The paths as the rest of the program names them. A path that the guard would not walk to without following a link
    /// is left out: its name may come from outside. `None` when one cannot be named at all.
    fn named(&self, guard: &WorkspaceGuard, paths: &BTreeSet<PathBuf>) -> Option<BTreeSet<String>> {
        let mut out = BTreeSet::new();
        for path in paths {
            let Ok(relative) = path.strip_prefix(&self.root) else { continue };
            let text = relative.to_str()?;
            if text.is_empty() || crate::temp::is_temp_file(relative.file_name()) {
                continue;
            }
            let Ok(parsed) = path::parse(text) else { return None };
            match guard.parent(&parsed.path, Access::Read) {
                Ok(Parent::Found(_)) => {
                    out.insert(parsed.path.as_str().to_owned());
                }
                // The folder itself went: the first part that is missing is what changed.
                Ok(Parent::Missing { from, .. }) => {
                    let parts: Vec<&str> = parsed.path.components().take(from + 1).collect();
                    out.insert(parts.join("/"));
                }
                Err(_) => {}
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: EventKind, path: &str) -> notify::Result<Event> {
        Ok(Event::new(kind).add_path(path.into()))
    }

    #[test]
    fn what_is_heard_stays_bounded_and_a_lost_count_means_everything() {
        let shared = Shared::default();
        for n in 0..100_000 {
            shared.hear(told(EventKind::Any, &format!("/w/{n}")));
        }
        let heard = shared.wait(Duration::ZERO, Duration::ZERO).unwrap();
        assert!(heard.everything && heard.paths.is_empty(), "more than can be named is everything");
        let overflow = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        shared.hear(Ok(overflow));
        assert!(shared.wait(Duration::ZERO, Duration::ZERO).unwrap().everything, "an overflow is said");
        shared.hear(Err(notify::Error::generic("x")));
        assert!(shared.wait(Duration::ZERO, Duration::ZERO).unwrap().everything, "so is a failure");
        shared.hear(Err(notify::Error::new(ErrorKind::MaxFilesWatch)));
        assert!(shared.wait(Duration::ZERO, Duration::ZERO).unwrap().limit, "and the limit");
    }

    #[test]
    fn reading_is_no_change() {
        let shared = Shared::default();
        shared.hear(told(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/w/a"));
        shared.hear(told(EventKind::Access(AccessKind::Close(AccessMode::Read)), "/w/a"));
        assert!(shared.wait(Duration::ZERO, Duration::ZERO).unwrap().is_empty(), "nobody wrote");
        shared.hear(told(EventKind::Access(AccessKind::Close(AccessMode::Write)), "/w/a"));
        assert_eq!(shared.wait(Duration::ZERO, Duration::ZERO).unwrap().paths.len(), 1, "somebody did");
    }
}
