//! The write protocol: a target is old or new, never half, and never replaced when it is not what it was.

use crate::access::Access;
use crate::error::GuardError;
use crate::guard::{Parent, WorkspaceGuard};
use crate::path::{self, RelativePath};
use crate::sys::{self, Facts, Kind};
use crate::temp::check_temp;
use crate::undo::UndoStore;
use pilot_types::{Digest, faults};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use sha2::Digest as _;
use std::fs::File;
use std::io::{Read, Write};

/// Largest file, in bytes, that can be replaced or removed: what undo keeps at most by default.
pub const MAX_TARGET: u64 = 1 << 30;

/// One write.
#[derive(Clone, Copy, Debug)]
pub struct FileWrite<'a> {
    /// Path relative to the root.
    pub path: &'a str,
    /// Whose write it is.
    pub access: Access,
    /// The final bytes.
    pub bytes: &'a [u8],
    /// Digest of what must stand there now; `None` when nothing may.
    pub base: Option<&'a Digest>,
    /// Name of the temporary file, made by [`temp_name`](crate::temp_name): kept with the operation, so that a leftover can be swept.
    pub temp_name: &'a str,
}

/// A write of a file that is too large to be held in memory, or whose progress somebody follows.
#[derive(Clone, Copy, Debug)]
pub struct FileCopy<'a> {
    /// Path relative to the root.
    pub path: &'a str,
    /// Whose write it is.
    pub access: Access,
    /// Digest of what the reader will give; anything else is not put in place.
    pub digest: &'a Digest,
    /// Digest of what must stand there now; `None` when nothing may.
    pub base: Option<&'a Digest>,
    /// Name of the temporary file, made by [`temp_name`](crate::temp_name).
    pub temp_name: &'a str,
}

/// Where the final bytes come from.
enum Content<'a> {
    Bytes(&'a [u8]),
    Reader(&'a mut dyn Read, &'a Digest),
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Digest of the file, read back from the disk.
    pub digest: Digest,
    /// Bytes.
    pub size: u64,
    /// True when nothing stood there before.
    pub created: bool,
    /// Digest under which the replaced bytes lie in the undo store.
    pub kept: Option<Digest>,
}

impl WorkspaceGuard {
    /// Puts exactly these bytes at a path.
    ///
    /// Folders on the way are made one by one. The bytes go to an exclusive temporary file in the target's folder and
    /// are made durable; the bytes that they replace are made durable in `keep`; the base is compared again on a fresh
    /// handle; then the names are exchanged (or, when nothing may stand there, the temporary file is renamed without
    /// replacing) and the folder is made durable. What was pushed out is compared once more and put back when it is
    /// not what was read. Writes of this program to one folder, from any process, wait for one another.
    ///
    /// Errors leave no file, folder or temporary file behind and the target unchanged. The one exception is
    /// [`GuardError::NotConfirmed`]: the new name stands, but durability or content could not be confirmed.
    pub fn create_or_replace(&self, write: &FileWrite<'_>, keep: &UndoStore) -> Result<Written, GuardError> {
        self.place(write, Content::Bytes(write.bytes), keep)
    }

    /// The same for bytes that a reader gives piece by piece. A reader that fails, or gives something else than the
    /// digest says ([`GuardError::TargetChanged`]), leaves everything as it was.
    pub fn copy_in(
        &self,
        copy: &FileCopy<'_>,
        source: &mut dyn Read,
        keep: &UndoStore,
    ) -> Result<Written, GuardError> {
        let FileCopy { path, access, digest, base, temp_name } = *copy;
        let write = FileWrite { path, access, bytes: &[], base, temp_name };
        self.place(&write, Content::Reader(source, digest), keep)
    }

    fn place(
        &self,
        write: &FileWrite<'_>,
        content: Content<'_>,
        keep: &UndoStore,
    ) -> Result<Written, GuardError> {
        check_temp(write.temp_name)?;
        let target = self.target(write.path, write.access)?;
        self.still_there()?;
        let mut draft = self.begin(&target, write)?;
        sys::lock_folder(&draft.dir);
        let now = self.leaf_facts(&draft.dir, &target)?;
        if now.is_some() != write.base.is_some() {
            return Err(GuardError::TargetChanged { path: target.shown() });
        }
        let (expected, size) = self.write_temp(&mut draft, &target, write, content, now.as_ref())?;
        let kept = match write.base {
            Some(base) => Some(self.keep_old(&draft.dir, &target, base, keep)?),
            None => None,
        };
        faults::point("write_kept");
        self.put(&draft, &target, write, keep)?;
        faults::point("write_renamed");
        draft.finish();
        if !self.confirm(&draft.dir, &target, &expected, size) {
            return Err(GuardError::NotConfirmed { path: target.shown() });
        }
        Ok(Written { digest: expected, size, created: write.base.is_none(), kept })
    }

    /// Walks to the target's folder and makes what is missing of it.
    fn begin(&self, target: &RelativePath, write: &FileWrite<'_>) -> Result<Draft, GuardError> {
        match self.parent(target, write.access)? {
            Parent::Found(dir) => Ok(Draft { dir, made: Vec::new(), temp: None }),
            Parent::Missing { .. } if write.base.is_some() => {
                Err(GuardError::TargetChanged { path: target.shown() })
            }
            Parent::Missing { at, from } => {
                let mut draft = Draft { dir: at, made: Vec::new(), temp: None };
                let folders = target.components().count().saturating_sub(1);
                for name in target.components().take(folders).skip(from) {
                    self.make_folder(&mut draft, name, target)?;
                }
                Ok(draft)
            }
        }
    }

    fn make_folder(&self, draft: &mut Draft, name: &str, target: &RelativePath) -> Result<(), GuardError> {
        let fail = |errno| GuardError::of_errno(target.as_str(), errno);
        let ours = match sys::make_folder(&draft.dir, name) {
            Ok(()) => true,
            // Somebody was faster; it is stepped into by the same rules as any folder.
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(fail(errno)),
        };
        let parent = draft.dir.try_clone().map_err(|error| GuardError::of_io(target.as_str(), error))?;
        if ours {
            draft.made.push((parent, name.to_owned()));
        }
        draft.dir = self.handle().step(draft.dir.as_fd(), name, target)?;
        match draft.made.last() {
            Some((parent, _)) if ours => sys::sync(parent).map_err(fail),
            Some(_) | None => Ok(()),
        }
    }

    fn write_temp(
        &self,
        draft: &mut Draft,
        target: &RelativePath,
        write: &FileWrite<'_>,
        content: Content<'_>,
        replaced: Option<&Facts>,
    ) -> Result<(Digest, u64), GuardError> {
        let fail = |errno| GuardError::of_errno(target.as_str(), errno);
        let fd = match sys::create_at(&draft.dir, write.temp_name, 0o644) {
            // Left by this same operation when its process died.
            Err(Errno::EXIST) => {
                sys::remove_file(&draft.dir, write.temp_name).map_err(fail)?;
                sys::create_at(&draft.dir, write.temp_name, 0o644).map_err(fail)?
            }
            made => made.map_err(fail)?,
        };
        let facts = sys::facts(&fd).map_err(fail);
        draft.temp =
            Some(Temp { name: write.temp_name.to_owned(), ino: facts.as_ref().map_or(0, |facts| facts.ino) });
        facts?;
        if let Some(replaced) = replaced {
            sys::set_mode(&fd, replaced.mode).map_err(fail)?;
        }
        let mut file = File::from(fd);
        let written = match content {
            Content::Bytes(bytes) => {
                file.write_all(bytes).map_err(|error| GuardError::of_io(target.as_str(), error))?;
                (Digest::of(bytes), bytes.len() as u64)
            }
            Content::Reader(source, digest) => {
                let (found, size) = pour(source, &mut file, target)?;
                if found != *digest {
                    return Err(GuardError::TargetChanged { path: target.shown() });
                }
                (found, size)
            }
        };
        faults::point("write_temp");
        sys::sync(&file).map_err(fail)?;
        faults::point("write_temp_synced");
        Ok(written)
    }

    /// Makes the bytes that stand at the target durable in the undo store; they must be the base.
    fn keep_old(
        &self,
        dir: &OwnedFd,
        target: &RelativePath,
        base: &Digest,
        keep: &UndoStore,
    ) -> Result<Digest, GuardError> {
        let changed = || GuardError::TargetChanged { path: target.shown() };
        let (fd, facts) = self.open_target(dir, target)?.ok_or_else(changed)?;
        let limit = keep.limits().bytes.min(MAX_TARGET);
        if facts.size > limit {
            return Err(GuardError::TooLarge { path: target.shown(), limit });
        }
        let kept = keep.keep_expected(File::from(fd), base)?;
        if kept { Ok(base.clone()) } else { Err(changed()) }
    }

    /// Gives the temporary file the target's name.
    fn put(
        &self,
        draft: &Draft,
        target: &RelativePath,
        write: &FileWrite<'_>,
        keep: &UndoStore,
    ) -> Result<(), GuardError> {
        let changed = || GuardError::TargetChanged { path: target.shown() };
        let fail = |errno| match errno {
            Errno::EXIST | Errno::NOENT | Errno::ISDIR => changed(),
            errno => GuardError::of_errno(target.as_str(), errno),
        };
        let leaf = target.file_name();
        let Some(base) = write.base else {
            return sys::rename_new(&draft.dir, write.temp_name, leaf).map_err(fail);
        };
        let (fd, seen) = self.open_target(&draft.dir, target)?.ok_or_else(changed)?;
        if digest_of(fd, &seen, target, MAX_TARGET)? != *base {
            return Err(changed());
        }
        if !sys::swap(&draft.dir, write.temp_name, leaf).map_err(fail)? {
            return sys::rename_over(&draft.dir, write.temp_name, leaf).map_err(fail);
        }
        // The old file has the temporary name now. Was it the one that was read a moment ago?
        match sys::facts_at(&draft.dir, write.temp_name) {
            Ok(old) if old.same_inode_untouched(&seen) => {
                if let Err(errno) = sys::remove_file(&draft.dir, write.temp_name) {
                    tracing::warn!(%errno, "the replaced file could not be removed from its temporary name");
                }
                Ok(())
            }
            Ok(_) | Err(_) => {
                self.take_back(draft, target, write, keep);
                Err(changed())
            }
        }
    }

    /// Takes a swap back: the old file gets its name again, also when somebody removed the new one meanwhile.
    fn take_back(&self, draft: &Draft, target: &RelativePath, write: &FileWrite<'_>, keep: &UndoStore) {
        let back = give_name(&draft.dir, write.temp_name, target.file_name());
        self.settle(draft, target, write, keep, back.is_ok());
    }

    /// After a swap was taken back: the temporary name must hold our own file again, or nothing. When it does not,
    /// somebody replaced the target in between; theirs is the newest and has or gets the name, and what it stood for is
    /// kept. `back` says whether the old file got its name back.
    fn settle(
        &self,
        draft: &Draft,
        target: &RelativePath,
        write: &FileWrite<'_>,
        keep: &UndoStore,
        back: bool,
    ) {
        let ours = draft.temp.as_ref().map(|temp| temp.ino);
        let at_temp = sys::facts_at(&draft.dir, write.temp_name).ok().map(|facts| facts.ino);
        if at_temp.is_none() || at_temp == ours {
            return;
        }
        if back {
            let _ = give_name(&draft.dir, write.temp_name, target.file_name());
        }
        let Ok((fd, _)) = self.handle().open_leaf(draft.dir.as_fd(), write.temp_name, target) else { return };
        if keep.keep_reader(File::from(fd)).is_ok() {
            let _ = sys::remove_file(&draft.dir, write.temp_name);
        }
    }

    /// Makes the new name durable and reads the file back; false when either fails.
    fn confirm(&self, dir: &OwnedFd, target: &RelativePath, expected: &Digest, size: u64) -> bool {
        if sys::sync(dir).is_err() {
            return false;
        }
        faults::point("write_dir_synced");
        let Ok(Some((fd, facts))) = self.open_target(dir, target) else { return false };
        digest_of(fd, &facts, target, size).is_ok_and(|digest| digest == *expected)
    }

    /// Removes a file that must be what `expect` says: the undo of a creation. Its bytes are kept first. Folders stay.
    pub fn remove(
        &self,
        path: &str,
        access: Access,
        expect: &Digest,
        keep: &UndoStore,
    ) -> Result<(), GuardError> {
        let target = self.target(path, access)?;
        self.still_there()?;
        let changed = || GuardError::TargetChanged { path: target.shown() };
        let Parent::Found(dir) = self.parent(&target, access)? else { return Err(changed()) };
        sys::lock_folder(&dir);
        self.leaf_facts(&dir, &target)?.ok_or_else(changed)?;
        self.keep_old(&dir, &target, expect, keep)?;
        let (fd, facts) = self.open_target(&dir, &target)?.ok_or_else(changed)?;
        if digest_of(fd, &facts, &target, MAX_TARGET)? != *expect {
            return Err(changed());
        }
        sys::remove_file(&dir, target.file_name())
            .map_err(|errno| GuardError::of_errno(target.as_str(), errno))?;
        sys::sync(&dir).map_err(|_| GuardError::NotConfirmed { path: target.shown() })
    }

    /// Removes the temporary file that an operation on `folder_of` left when its process died. True when there was
    /// one. `temp_name` must be one that [`temp_name`](crate::temp_name) makes.
    pub fn sweep_temp(&self, folder_of: &str, temp_name: &str) -> Result<bool, GuardError> {
        check_temp(temp_name)?;
        let target = path::parse(folder_of)?.path;
        let Parent::Found(dir) = self.parent(&target, Access::Read)? else { return Ok(false) };
        let fail = |errno| GuardError::of_errno(target.as_str(), errno);
        match sys::facts_at(&dir, temp_name) {
            Ok(facts) if facts.kind == Kind::File => {
                sys::remove_file(&dir, temp_name).map_err(fail)?;
                sys::sync(&dir).map_err(fail)?;
                Ok(true)
            }
            Ok(_) | Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(fail(errno)),
        }
    }
}

/// Gives the file under the temporary name the target's name. What has that name goes under the temporary one; when
/// nothing has it, the temporary name is free afterwards.
fn give_name(dir: &OwnedFd, temp_name: &str, leaf: &str) -> Result<(), Errno> {
    match sys::swap(dir, temp_name, leaf) {
        Err(Errno::NOENT) => sys::rename_new(dir, temp_name, leaf),
        Ok(true) => Ok(()),
        Ok(false) => Err(Errno::NOTSUP),
        Err(errno) => Err(errno),
    }
}

/// What a write has made so far. Dropped before it is finished, it takes everything away again.
struct Draft {
    /// The target's folder.
    dir: OwnedFd,
    /// Folders made on the way, with the folder that each lies in.
    made: Vec<(OwnedFd, String)>,
    /// The temporary file.
    temp: Option<Temp>,
}

struct Temp {
    name: String,
    ino: u64,
}

impl Draft {
    /// The target has its new content; nothing is to be taken away.
    fn finish(&mut self) {
        self.temp = None;
        self.made.clear();
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(temp) = self.temp.take() {
            // Never a file that somebody else put under this name meanwhile.
            let ours = sys::facts_at(&self.dir, &temp.name).is_ok_and(|facts| facts.ino == temp.ino);
            if ours && let Err(errno) = sys::remove_file(&self.dir, &temp.name) {
                tracing::warn!(%errno, "a temporary file could not be removed");
            }
        }
        while let Some((parent, name)) = self.made.pop() {
            // Not empty when somebody else used it meanwhile; then it is theirs.
            let _ = sys::remove_folder(&parent, &name);
        }
    }
}

/// Copies everything that a reader gives into a file; answers with digest and number of bytes.
fn pour(source: &mut dyn Read, file: &mut File, target: &RelativePath) -> Result<(Digest, u64), GuardError> {
    let fail = |error| GuardError::of_io(target.as_str(), error);
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut total: u64 = 0;
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok((Digest::from_hash(&hash.finalize()), total)),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(fail(error)),
        };
        let piece = buffer.get(..count).unwrap_or_default();
        total += count as u64;
        if total > MAX_TARGET {
            return Err(GuardError::TooLarge { path: target.shown(), limit: MAX_TARGET });
        }
        hash.update(piece);
        file.write_all(piece).map_err(fail)?;
    }
}

/// Digest of an open file. `TooLarge` beyond `limit` bytes, before reading.
pub(crate) fn digest_of(
    fd: OwnedFd,
    facts: &Facts,
    path: &RelativePath,
    limit: u64,
) -> Result<Digest, GuardError> {
    if facts.size > limit {
        return Err(GuardError::TooLarge { path: path.shown(), limit });
    }
    let mut reader = File::from(fd).take(limit.saturating_add(1));
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; usize::try_from(facts.size.clamp(4096, 256 * 1024)).unwrap_or(4096)];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(Digest::from_hash(&hash.finalize())),
            Ok(count) => hash.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(GuardError::of_io(path.as_str(), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UndoLimits;
    use crate::temp::temp_name;
    use std::fs;

    /// A folder with one file under the temporary name, and what `test` finds after it ran with that write.
    fn with_stray(
        target_text: Option<&str>,
        test: impl Fn(&WorkspaceGuard, &Draft, &FileWrite<'_>, &UndoStore),
    ) -> (Option<String>, bool, bool) {
        let dir = tempfile::tempdir().unwrap();
        let ws = dir.path().join("ws");
        fs::create_dir(&ws).unwrap();
        let keep = UndoStore::open(&dir.path().join("undo"), UndoLimits::default()).unwrap();
        let guard = WorkspaceGuard::open(&ws).unwrap();
        let target = path::parse("report.md").unwrap().path;
        let Parent::Found(folder) = guard.parent(&target, Access::Write).unwrap() else { unreachable!() };
        let temp_name = temp_name("x");
        fs::write(ws.join(&temp_name), "stray").unwrap();
        if let Some(text) = target_text {
            fs::write(ws.join("report.md"), text).unwrap();
        }
        let draft =
            Draft { dir: folder, made: Vec::new(), temp: Some(Temp { name: temp_name.clone(), ino: 0 }) };
        let write = FileWrite {
            path: "report.md",
            access: Access::Write,
            bytes: b"ours",
            base: None,
            temp_name: &temp_name,
        };
        test(&guard, &draft, &write, &keep);
        let stands = fs::read_to_string(ws.join("report.md")).ok();
        let kept = target_text.is_some_and(|text| keep.contains(&Digest::of(text.as_bytes())));
        (stands, ws.join(&temp_name).exists(), kept)
    }

    /// A swap was taken back, but an editor had saved in between: its file lies under the temporary name, an older one
    /// has the target's. Too rare for a race to show.
    #[test]
    fn a_save_between_two_swaps_gets_its_name_back() {
        let target = path::parse("report.md").unwrap().path;
        let found = with_stray(Some("older save"), |guard, draft, write, keep| {
            guard.settle(draft, &target, write, keep, true);
        });
        let right = (Some("stray".to_owned()), false, true);
        assert_eq!(found, right, "the newest save stands, no temporary file, the older one is kept");
    }

    /// The old file was pushed out and changed under its handle, and the new one was removed before the swap could be
    /// taken back: the old one must not stay behind under the temporary name.
    #[test]
    fn an_old_file_gets_its_name_back_when_the_new_one_was_removed() {
        let target = path::parse("report.md").unwrap().path;
        let found = with_stray(None, |guard, draft, write, keep| {
            guard.take_back(draft, &target, write, keep);
        });
        assert_eq!(found, (Some("stray".to_owned()), false, false), "it has its name, no temporary file");
    }

    /// The name could not be given back since somebody has it with a newer file: that one stays, the old one is kept.
    #[test]
    fn a_newer_file_keeps_the_name_that_could_not_be_given_back() {
        let target = path::parse("report.md").unwrap().path;
        let found = with_stray(Some("newest"), |guard, draft, write, keep| {
            guard.settle(draft, &target, write, keep, false);
            assert!(keep.contains(&Digest::of(b"stray")), "the old file is kept, not lost");
        });
        assert_eq!(found, (Some("newest".to_owned()), false, false), "the newest stands, no temporary file");
    }
}
