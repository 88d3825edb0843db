//! The calls of the system that the guard is built of. Nothing here knows a rule; everything is relative to a handle.

use crate::error::GuardError;
use chrono::{DateTime, Utc};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// Kind of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Kind {
    pub(crate) fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Kind::Other,
        }
    }
}

/// What is known of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) links: u64,
    pub(crate) mode: u32,
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
    /// Which mount it was reached through, where the system says so.
    pub(crate) mount: Option<u64>,
}

impl Facts {
    /// True when both were reached through one mount. Device numbers alone would miss a bind mount, and would refuse
    /// ordinary files of an overlay; they are the fallback where mounts have no number.
    pub(crate) fn same_mount(&self, other: &Facts) -> bool {
        match (self.mount, other.mount) {
            (Some(one), Some(two)) => one == two,
            (Some(_), None) | (None, Some(_)) | (None, None) => self.dev == other.dev,
        }
    }

    /// True when it is the very same inode with, as far as can be seen, the same content.
    pub(crate) fn same_inode_untouched(&self, other: &Facts) -> bool {
        (self.dev, self.ino, self.size, self.seconds, self.nanos)
            == (other.dev, other.ino, other.size, other.seconds, other.nanos)
    }

    pub(crate) fn modified(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(self.seconds, self.nanos)
    }
}

/// Flags of a handle that only names an inode.
#[cfg(target_os = "linux")]
pub(crate) const NAME_ONLY: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// Flags of a handle that only names an inode; without `O_PATH` it has to be readable.
#[cfg(not(target_os = "linux"))]
pub(crate) const NAME_ONLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags to read a file: a FIFO or terminal neither blocks nor takes over.
pub(crate) const READ_FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags to use a folder.
pub(crate) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
/// Flags of a temporary file.
pub(crate) const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Facts of a handle, by one cheap call. The mount is not looked up.
pub(crate) fn facts(fd: impl AsFd) -> Result<Facts, Errno> {
    rustix::fs::fstat(fd).map(|stat| of_stat(&stat))
}

/// Facts of a handle with its mount.
pub(crate) fn facts_with_mount(fd: impl AsFd) -> Result<Facts, Errno> {
    let mut facts = facts(&fd)?;
    facts.mount = mount_of(&fd);
    Ok(facts)
}

/// Facts of a name in a folder; a link is not followed.
pub(crate) fn facts_at(dir: impl AsFd, name: &str) -> Result<Facts, Errno> {
    facts_at_bytes(dir, name.as_bytes())
}

#[cfg(target_os = "linux")]
pub(crate) fn facts_at_bytes(dir: impl AsFd, name: &[u8]) -> Result<Facts, Errno> {
    use rustix::fs::StatxFlags;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match rustix::fs::statx(&dir, name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID) {
        Ok(stat) => Ok(Facts {
            kind: Kind::of(FileType::from_raw_mode(u32::from(stat.stx_mode))),
            size: stat.stx_size,
            links: u64::from(stat.stx_nlink),
            mode: u32::from(stat.stx_mode),
            dev: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            ino: stat.stx_ino,
            seconds: stat.stx_mtime.tv_sec,
            nanos: stat.stx_mtime.tv_nsec,
            mount: (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id),
        }),
        // Kernels before 4.11, and sandboxes that refuse the call.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| of_stat(&stat))
        }
        Err(errno) => Err(errno),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn facts_at_bytes(dir: impl AsFd, name: &[u8]) -> Result<Facts, Errno> {
    rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| of_stat(&stat))
}

#[allow(clippy::unnecessary_cast, reason = "the width of these fields differs between systems")]
fn of_stat(stat: &rustix::fs::Stat) -> Facts {
    Facts {
        kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        links: stat.st_nlink as u64,
        mode: stat.st_mode as u32,
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        seconds: stat.st_mtime as i64,
        nanos: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
        mount: None,
    }
}

#[cfg(target_os = "linux")]
fn mount_of(fd: impl AsFd) -> Option<u64> {
    use rustix::fd::AsRawFd;
    use rustix::fs::StatxFlags;
    if let Ok(stat) = rustix::fs::statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)
        && stat.stx_mask & StatxFlags::MNT_ID.bits() != 0
    {
        return Some(stat.stx_mnt_id);
    }
    // Kernels before 5.8 say it here.
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_fd().as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

#[cfg(not(target_os = "linux"))]
fn mount_of(_fd: impl AsFd) -> Option<u64> {
    None
}

/// Opens a name in a folder without following a link at its end.
pub(crate) fn open_at(dir: impl AsFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::openat(&dir, name, flags | OFlags::NOFOLLOW, Mode::empty()))
}

/// Makes a file that must not exist.
pub(crate) fn create_at(dir: impl AsFd, name: &str, mode: u32) -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::openat(&dir, name, NEW_FILE, Mode::from_raw_mode(mode as rustix::fs::RawMode)))
}

/// Makes a folder.
pub(crate) fn make_folder(dir: impl AsFd, name: &str) -> Result<(), Errno> {
    rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o777))
}

/// Removes a file (never a folder).
pub(crate) fn remove_file(dir: impl AsFd, name: &str) -> Result<(), Errno> {
    rustix::fs::unlinkat(dir, name, AtFlags::empty())
}

/// Removes an empty folder.
pub(crate) fn remove_folder(dir: impl AsFd, name: &str) -> Result<(), Errno> {
    rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)
}

/// Makes a handle's content durable. There, `fsync` alone leaves it in the disk's own cache.
#[cfg(target_vendor = "apple")]
pub(crate) fn sync(fd: impl AsFd) -> Result<(), Errno> {
    retry(|| rustix::fs::fcntl_fullfsync(&fd))
}

/// Makes a handle's content durable.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn sync(fd: impl AsFd) -> Result<(), Errno> {
    retry(|| rustix::fs::fsync(&fd))
}

/// How long a write waits for another one in the same folder.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Keeps other writes of this program, in any process, out of a folder until the handle is closed. A write is short;
/// where a folder cannot be locked, or another program holds it, the write goes on: every step of it is safe against
/// strangers, only who of two equals wins is not settled.
pub(crate) fn lock_folder(fd: impl AsFd) {
    let started = Instant::now();
    while let Err(Errno::WOULDBLOCK | Errno::INTR) =
        rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)
    {
        if started.elapsed() > LOCK_WAIT {
            return tracing::warn!("a folder is locked by another program; writing without the lock");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Gives a new file the permission bits of the one it replaces; never set-uid and the like.
pub(crate) fn set_mode(fd: impl AsFd, mode: u32) -> Result<(), Errno> {
    rustix::fs::fchmod(fd, Mode::from_raw_mode((mode & 0o777) as rustix::fs::RawMode))
}

/// Renames within one folder and fails with `EXIST` when the new name is taken.
pub(crate) fn rename_new(dir: impl AsFd, from: &str, to: &str) -> Result<(), Errno> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(&dir, from, &dir, to, RenameFlags::NOREPLACE) {
        // The file system or the kernel does not know the flag: a link refuses a taken name just as well.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(&dir, from, &dir, to, AtFlags::empty())?;
            remove_file(&dir, from)
        }
        answer => answer,
    }
}

/// Swaps two names of one folder; `Ok(false)` where that cannot be done.
pub(crate) fn swap(dir: impl AsFd, one: &str, two: &str) -> Result<bool, Errno> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(&dir, one, &dir, two, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Renames within one folder over whatever has the new name.
pub(crate) fn rename_over(dir: impl AsFd, from: &str, to: &str) -> Result<(), Errno> {
    rustix::fs::renameat(&dir, from, &dir, to)
}

/// The text of a link; a text that is not UTF-8 leads nowhere that has a name here.
pub(crate) fn read_link(dir: impl AsFd, name: &str) -> Result<String, Errno> {
    let text = rustix::fs::readlinkat(dir, name, Vec::new())?;
    text.into_string().map_err(|_| Errno::NOENT)
}

/// Calls again while a signal interrupts.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            answer => return answer,
        }
    }
}

/// Refuses what is not an ordinary file with one name.
pub(crate) fn require_file(path: &crate::RelativePath, facts: &Facts) -> Result<(), GuardError> {
    let shown = path.shown();
    match facts.kind {
        Kind::File if facts.links > 1 => Err(GuardError::Hardlink { path: shown }),
        Kind::File => Ok(()),
        Kind::Folder => Err(GuardError::NotAFile { path: shown }),
        Kind::Link => Err(GuardError::Symlink { path: shown }),
        Kind::Other => Err(GuardError::Special { path: shown }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_new_name_is_given_only_when_it_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let handle = fs::File::open(dir.path()).unwrap();
        for (name, text) in [("ours", "ours"), ("theirs", "theirs")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        assert_eq!(rename_new(&handle, "ours", "theirs"), Err(Errno::EXIST), "a taken name is refused");
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            (read("ours"), read("theirs")),
            ("ours".to_owned(), "theirs".to_owned()),
            "both stay as they are"
        );
        assert_eq!(rename_new(&handle, "ours", "free"), Ok(()), "a free name is given");
        assert_eq!(read("free"), "ours", "to that very file");
    }
}
