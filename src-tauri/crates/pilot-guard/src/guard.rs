//! The guard itself.

use crate::access::{Access, Resolver, RootIdentity};
use crate::error::GuardError;
use crate::file::GuardedFile;
use crate::names;
use crate::path::{self, RelativePath};
use crate::resolve::{Root, Want};
use crate::sys::{self, Facts, Kind};
use crate::write::{MAX_TARGET, digest_of};
use pilot_types::Digest;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The one door to a workspace. Holds a descriptor of the root, so that renaming or replacing the folder cannot move
/// an open guard elsewhere. Cheap to clone; all calls block.
#[derive(Clone, Debug)]
pub struct WorkspaceGuard {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    root: Root,
}

/// Where the walk to a target's folder ended.
pub(crate) enum Parent {
    /// The folder is there.
    Found(OwnedFd),
    /// The first missing component has this index; `at` is the folder that it would be made in.
    Missing {
        /// The last folder that is there.
        at: OwnedFd,
        /// Index of the first component that is not.
        from: usize,
    },
}

impl WorkspaceGuard {
    /// Opens the workspace whose real path (see [`register_root`](crate::register_root)) is `root`. `WorkspaceGone`
    /// when nothing is there, `WorkspaceNotFolder` when it is not a folder or became a link.
    pub fn open(root: &Path) -> Result<Self, GuardError> {
        Self::open_with(root, Resolver::Auto)
    }

    /// The same with a chosen resolver; tests run both.
    pub fn open_with(root: &Path, resolver: Resolver) -> Result<Self, GuardError> {
        let fd =
            rustix::fs::openat(CWD, root, sys::FOLDER | OFlags::NOFOLLOW, Mode::empty()).map_err(of_root)?;
        let handle = Root::new(fd, resolver).map_err(of_root)?;
        Ok(Self { inner: Arc::new(Inner { path: root.to_owned(), root: handle }) })
    }

    /// The path that the guard was opened by. For the person's own eyes; never part of a refusal.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.inner.path
    }

    /// Which folder this is.
    #[must_use]
    pub fn identity(&self) -> RootIdentity {
        let facts = self.inner.root.facts();
        RootIdentity { dev: facts.dev, ino: facts.ino }
    }

    /// Which resolver is in use: never [`Resolver::Auto`].
    #[must_use]
    pub fn resolver(&self) -> Resolver {
        self.inner.root.resolver()
    }

    /// Checks that the root's path still names the folder that is held: `WorkspaceGone` or `WorkspaceReplaced`.
    pub fn still_there(&self) -> Result<(), GuardError> {
        let stat = rustix::fs::lstat(&self.inner.path).map_err(of_root)?;
        #[allow(clippy::unnecessary_cast, reason = "the width of these fields differs between systems")]
        let now = RootIdentity { dev: stat.st_dev as u64, ino: stat.st_ino as u64 };
        if now == self.identity() { Ok(()) } else { Err(GuardError::WorkspaceReplaced) }
    }

    /// Everything that can be refused before acting. For [`Access::Read`] the path must name a file or folder that
    /// could be opened now; for the others the target may be missing. The answer is a name in one spelling, not a
    /// permission: every later call checks anew.
    pub fn check(&self, path: &str, access: Access) -> Result<RelativePath, GuardError> {
        let parsed = path::parse(path)?;
        match access {
            Access::Read => {
                let fd = self.inner.root.open_read(&parsed.path, Want::Name)?;
                let facts =
                    sys::facts(&fd).map_err(|errno| GuardError::of_errno(parsed.path.as_str(), errno))?;
                if facts.kind != Kind::Folder {
                    sys::require_file(&parsed.path, &facts)?;
                    if parsed.folder {
                        return Err(GuardError::NotAFolder { path: parsed.path.shown() });
                    }
                }
                Ok(parsed.path)
            }
            Access::Write | Access::Memory | Access::Outside | Access::Operator => {
                let target = self.target(path, access)?;
                self.still_there()?;
                if let Parent::Found(dir) = self.parent(&target, access)? {
                    self.leaf_facts(&dir, &target)?;
                }
                Ok(target)
            }
        }
    }

    /// Opens a file for reading: an ordinary file with one name, below the root, on its mount. Never blocks on a FIFO.
    pub fn open_file(&self, path: &str) -> Result<GuardedFile, GuardError> {
        let parsed = path::parse(path)?;
        if parsed.path.is_root() {
            return Err(GuardError::NotAFile { path: parsed.path.shown() });
        }
        let fd = self.inner.root.open_read(&parsed.path, Want::File)?;
        let facts = sys::facts(&fd).map_err(|errno| GuardError::of_errno(parsed.path.as_str(), errno))?;
        sys::require_file(&parsed.path, &facts)?;
        if parsed.folder {
            return Err(GuardError::NotAFolder { path: parsed.path.shown() });
        }
        Ok(GuardedFile::new(fd, parsed.path, facts))
    }

    /// Digest of what stands at a path that is or would be written; `None` when nothing does. No link is followed.
    /// `TooLarge` beyond [`MAX_TARGET`] bytes, since such a file could not be kept for undo.
    pub fn digest(&self, path: &str) -> Result<Option<Digest>, GuardError> {
        let target = path::parse(path)?.path;
        if target.is_root() {
            return Err(GuardError::NotAFile { path: target.shown() });
        }
        let Parent::Found(dir) = self.parent(&target, Access::Read)? else { return Ok(None) };
        let Some((fd, facts)) = self.open_target(&dir, &target)? else { return Ok(None) };
        digest_of(fd, &facts, &target, MAX_TARGET).map(Some)
    }

    /// The target of a write, by its text and names alone.
    pub(crate) fn target(&self, path: &str, access: Access) -> Result<RelativePath, GuardError> {
        let parsed = path::parse(path)?;
        names::check(&parsed.path, access)?;
        if parsed.folder {
            return Err(GuardError::NotAFile { path: parsed.path.shown() });
        }
        Ok(parsed.path)
    }

    /// Walks to the folder of a target, following no link.
    pub(crate) fn parent(&self, target: &RelativePath, access: Access) -> Result<Parent, GuardError> {
        let root = &self.inner.root;
        let protected = Protected::of(root, access);
        let fail = |errno| GuardError::of_errno(target.as_str(), errno);
        let components: Vec<&str> = target.components().collect();
        let folders = components.len().saturating_sub(1);
        let mut dir = sys::open_at(root.fd(), ".", sys::FOLDER).map_err(fail)?;
        for (index, name) in components.iter().take(folders).enumerate() {
            match root.step(rustix::fd::AsFd::as_fd(&dir), name, target) {
                Ok(next) => {
                    protected.refuse(&next, target)?;
                    dir = next;
                }
                Err(GuardError::NotFound { .. }) => {
                    let missing = components.iter().take(folders).skip(index);
                    if access != Access::Read && !missing.clone().all(|name| names::may_be_made(name)) {
                        return Err(GuardError::Protected {
                            path: target.shown(),
                            reason: "names with a leading dot are not written",
                        });
                    }
                    return Ok(Parent::Missing { at: dir, from: index });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Parent::Found(dir))
    }

    /// Facts of what stands at a target; refuses everything that may not be replaced. `None` when nothing is there.
    pub(crate) fn leaf_facts(
        &self,
        dir: &OwnedFd,
        target: &RelativePath,
    ) -> Result<Option<Facts>, GuardError> {
        match sys::facts_at(dir, target.file_name()) {
            Ok(facts) => {
                sys::require_file(target, &facts)?;
                if !self.inner.root.facts().same_mount(&facts) {
                    return Err(GuardError::Mount { path: target.shown() });
                }
                Ok(Some(facts))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(GuardError::of_errno(target.as_str(), errno)),
        }
    }

    /// A fresh handle of what stands at a target; `None` when nothing is there.
    pub(crate) fn open_target(
        &self,
        dir: &OwnedFd,
        target: &RelativePath,
    ) -> Result<Option<(OwnedFd, Facts)>, GuardError> {
        match self.inner.root.open_leaf(rustix::fd::AsFd::as_fd(dir), target.file_name(), target) {
            Ok(found) => Ok(Some(found)),
            Err(GuardError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn handle(&self) -> &Root {
        &self.inner.root
    }
}

/// Folders of the root that a write may not get into, by identity: on a file system that folds names, another spelling
/// opens the same folder.
struct Protected(Vec<(u64, u64)>);

impl Protected {
    fn of(root: &Root, access: Access) -> Self {
        let names: &[&str] = match access {
            Access::Write | Access::Outside => &[names::MEMORY, names::SKILLS],
            Access::Read | Access::Memory | Access::Operator => &[],
        };
        let found = names.iter().filter_map(|name| sys::facts_at(root.fd(), name).ok());
        Self(found.map(|facts| (facts.dev, facts.ino)).collect())
    }

    fn refuse(&self, dir: &OwnedFd, target: &RelativePath) -> Result<(), GuardError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let facts = sys::facts(dir).map_err(|errno| GuardError::of_errno(target.as_str(), errno))?;
        if self.0.contains(&(facts.dev, facts.ino)) {
            return Err(GuardError::Protected {
                path: target.shown(),
                reason: "this is another spelling of memory/ or skills/",
            });
        }
        Ok(())
    }
}

/// An error of the system about the root itself.
fn of_root(errno: Errno) -> GuardError {
    match errno {
        Errno::NOENT => GuardError::WorkspaceGone,
        Errno::NOTDIR | Errno::LOOP => GuardError::WorkspaceNotFolder,
        errno => GuardError::of_errno(".", errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::ErrorCode;

    /// On a file system that folds names, a spelling that our own folding does not know opens `memory/` all the same.
    #[test]
    fn a_folder_that_is_memory_by_identity_is_refused_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["memory", "skills", "plain"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let guard = WorkspaceGuard::open(dir.path()).unwrap();
        let root = guard.handle();
        let target = path::parse("another-spelling/x.md").unwrap().path;
        for (name, access, refused) in [
            ("memory", Access::Write, true),
            ("skills", Access::Write, true),
            ("plain", Access::Write, false),
            ("memory", Access::Memory, false),
            ("skills", Access::Operator, false),
            ("memory", Access::Outside, true),
        ] {
            let opened = sys::open_at(root.fd(), name, sys::FOLDER).unwrap();
            let answer = Protected::of(root, access).refuse(&opened, &target).err().map(|error| error.code());
            assert_eq!(answer, refused.then_some(ErrorCode::PathProtected), "{name} for {access:?}");
        }
    }

    #[test]
    fn an_odd_folder_is_used_when_it_is_there_and_never_made() {
        let dir = tempfile::tempdir().unwrap();
        let guard = WorkspaceGuard::open(dir.path()).unwrap();
        let code = |path: &str| guard.check(path, Access::Write).err().map(|error| error.code());
        assert_eq!(code("a/..c/x.md"), Some(ErrorCode::PathProtected), "it would be made");
        std::fs::create_dir_all(dir.path().join("a/..c")).unwrap();
        assert_eq!(code("a/..c/x.md"), None, "it is there");
    }
}
