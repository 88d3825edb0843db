//! From a relative path to a handle, in two ways with the same answers.
//!
//! *Reading* follows links that stay inside; *writing* walks folder by folder and follows none.

use crate::access::Resolver;
use crate::error::GuardError;
use crate::path::RelativePath;
use crate::sys::{self, Facts, Kind};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Links that one path may go through; the kernel's own limit.
const MAX_LINKS: usize = 40;
/// Times that a lookup is done again because the tree changed under it.
const MAX_TRIES: usize = 128;

/// What a handle is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// To look at the inode.
    Name,
    /// To read a file.
    File,
    /// To list a folder.
    Folder,
}

impl Want {
    fn flags(self) -> OFlags {
        match self {
            Want::Name => sys::NAME_ONLY,
            Want::File => sys::READ_FILE,
            Want::Folder => sys::FOLDER,
        }
    }
}

/// The root descriptor and the way in which paths below it are looked up.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    facts: Facts,
    kernel: bool,
}

impl Root {
    /// Takes the root's descriptor. `Err` when `OpenAt2` is demanded and the kernel refuses it.
    pub(crate) fn new(fd: OwnedFd, resolver: Resolver) -> Result<Self, Errno> {
        let facts = sys::facts_with_mount(&fd)?;
        let kernel = match resolver {
            Resolver::Walk => false,
            Resolver::OpenAt2 => kernel_open(&fd, ".", sys::FOLDER, Follow::Inside).map(|_| true)?,
            Resolver::Auto => match kernel_open(&fd, ".", sys::FOLDER, Follow::Inside) {
                Ok(_) => true,
                Err(Errno::NOSYS | Errno::PERM) => false,
                Err(errno) => return Err(errno),
            },
        };
        Ok(Self { fd, facts, kernel })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn resolver(&self) -> Resolver {
        if self.kernel { Resolver::OpenAt2 } else { Resolver::Walk }
    }

    /// Opens a path for reading. The handle lies below the root and on its mount; what it is is not checked here.
    pub(crate) fn open_read(&self, path: &RelativePath, want: Want) -> Result<OwnedFd, GuardError> {
        if !self.kernel {
            return self.walk(path, want);
        }
        for _ in 0..MAX_TRIES {
            match kernel_open(&self.fd, path.as_str(), want.flags(), Follow::Inside) {
                Ok(fd) => return Ok(fd),
                // Something was renamed during a `..` of a link; the kernel cannot vouch for the answer.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::XDEV) => {
                    if let Some(error) = self.outside(path) {
                        return Err(error);
                    }
                }
                Err(errno) => return Err(GuardError::of_errno(path.as_str(), errno)),
            }
        }
        // A storm of renames anywhere on the machine. The walk needs no such luck.
        self.walk(path, want)
    }

    /// Tells apart what the kernel calls `EXDEV`: a way out, a mount, or (`None`) a file that was just being moved.
    /// The answer is only a word for the refusal; nothing is opened by it.
    fn outside(&self, path: &RelativePath) -> Option<GuardError> {
        let shown = path.shown();
        match kernel_open(&self.fd, path.as_str(), sys::NAME_ONLY, Follow::InsideAcrossMounts) {
            Err(Errno::XDEV) => Some(GuardError::Escape { path: shown }),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Ok(fd) if self.require_mount(&fd).is_ok() => None,
            Ok(_) | Err(_) => Some(GuardError::Mount { path: shown }),
        }
    }

    /// Opens a folder by its name in another folder, without following a link, on the same mount.
    pub(crate) fn step(
        &self,
        dir: BorrowedFd<'_>,
        name: &str,
        path: &RelativePath,
    ) -> Result<OwnedFd, GuardError> {
        self.open_strict(dir, name, sys::FOLDER).map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => match sys::facts_at(dir, name) {
                Ok(Facts { kind: Kind::Link, .. }) => GuardError::Symlink { path: path.shown() },
                Ok(_) | Err(_) => GuardError::NotAFolder { path: path.shown() },
            },
            errno => GuardError::of_errno(path.as_str(), errno),
        })
    }

    /// Opens the file at the end of a path that is to be written, to look at or to read what stands there now.
    pub(crate) fn open_leaf(
        &self,
        dir: BorrowedFd<'_>,
        name: &str,
        path: &RelativePath,
    ) -> Result<(OwnedFd, Facts), GuardError> {
        let fd = self
            .open_strict(dir, name, sys::READ_FILE)
            .map_err(|errno| GuardError::of_errno(path.as_str(), errno))?;
        let facts = sys::facts(&fd).map_err(|errno| GuardError::of_errno(path.as_str(), errno))?;
        sys::require_file(path, &facts)?;
        Ok((fd, facts))
    }

    fn open_strict(&self, dir: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        if self.kernel {
            for _ in 0..MAX_TRIES {
                match kernel_open(dir, name, flags | OFlags::NOFOLLOW, Follow::Never) {
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // A mount, or only a file that somebody moved away while it was opened.
                    Err(Errno::XDEV)
                        if sys::facts_at(dir, name).is_ok_and(|facts| !self.facts.same_mount(&facts)) =>
                    {
                        return Err(Errno::XDEV);
                    }
                    Err(Errno::XDEV) => {}
                    answer => return answer,
                }
            }
        }
        let fd = sys::open_at(dir, name, flags)?;
        self.require_mount(&fd)?;
        Ok(fd)
    }

    fn require_mount(&self, fd: &OwnedFd) -> Result<Facts, Errno> {
        let facts = sys::facts_with_mount(fd)?;
        if self.facts.same_mount(&facts) { Ok(facts) } else { Err(Errno::XDEV) }
    }

    /// The component walk: every step opens one name in a folder that is already held, without following. The text
    /// of a link is walked by the same steps, so it cannot lead above the root, and `..` goes back to a held folder.
    fn walk(&self, path: &RelativePath, want: Want) -> Result<OwnedFd, GuardError> {
        let fail = |errno| GuardError::of_errno(path.as_str(), errno);
        let mut held: Vec<OwnedFd> = Vec::new();
        let mut todo: Vec<String> = path.components().rev().map(str::to_owned).collect();
        let (mut links, mut tries) = (0, 0);
        while let Some(name) = todo.pop() {
            if name == ".." {
                held.pop().ok_or_else(|| GuardError::Escape { path: path.shown() })?;
                continue;
            }
            let dir = held.last().map_or(self.fd.as_fd(), AsFd::as_fd);
            let seen = sys::facts_at(dir, &name).map_err(fail)?;
            if seen.kind == Kind::Link {
                links += 1;
                if links > MAX_LINKS {
                    return Err(GuardError::Symlink { path: path.shown() });
                }
                match sys::read_link(dir, &name) {
                    Ok(text) if text.starts_with('/') => {
                        return Err(GuardError::Escape { path: path.shown() });
                    }
                    Ok(text) => todo.extend(
                        text.split('/').rev().filter(|c| !c.is_empty() && *c != ".").map(str::to_owned),
                    ),
                    Err(Errno::INVAL) => again(&mut tries, &mut todo, name, path)?,
                    Err(errno) => return Err(fail(errno)),
                }
                continue;
            }
            let last = todo.is_empty();
            let flags = if last { want.flags() } else { sys::NAME_ONLY | OFlags::DIRECTORY };
            match sys::open_at(dir, &name, flags) {
                Ok(fd) => {
                    let facts = self.require_mount(&fd).map_err(fail)?;
                    if last && facts.kind != Kind::Link {
                        return Ok(fd);
                    }
                    if last { again(&mut tries, &mut todo, name, path)? } else { held.push(fd) }
                }
                // It was a folder a moment ago and is a link now.
                Err(Errno::LOOP) => again(&mut tries, &mut todo, name, path)?,
                Err(Errno::NOTDIR) if seen.kind == Kind::Folder => again(&mut tries, &mut todo, name, path)?,
                Err(errno) => return Err(fail(errno)),
            }
        }
        // The path, or a link at its end, names a folder that is held already.
        let dir = held.last().map_or(self.fd.as_fd(), AsFd::as_fd);
        sys::open_at(dir, ".", want.flags()).map_err(fail)
    }
}

/// Puts a name back to be looked at once more, a bounded number of times.
fn again(
    tries: &mut usize,
    todo: &mut Vec<String>,
    name: String,
    path: &RelativePath,
) -> Result<(), GuardError> {
    *tries += 1;
    if *tries > MAX_TRIES {
        return Err(GuardError::Symlink { path: path.shown() });
    }
    todo.push(name);
    Ok(())
}

/// Which links the kernel may follow for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    Never,
    Inside,
    InsideAcrossMounts,
}

#[cfg(target_os = "linux")]
fn kernel_open(dir: impl AsFd, path: &str, flags: OFlags, follow: Follow) -> Result<OwnedFd, Errno> {
    use rustix::fs::{Mode, ResolveFlags};
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let resolve = match follow {
        Follow::Never => inside | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS,
        Follow::Inside => inside | ResolveFlags::NO_XDEV,
        Follow::InsideAcrossMounts => inside,
    };
    rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
fn kernel_open(_dir: impl AsFd, _path: &str, _flags: OFlags, _follow: Follow) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}
