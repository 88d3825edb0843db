//! Bytes that were replaced, kept so that a person can go back.

use crate::error::{GuardError, ShownPath};
use chrono::{DateTime, TimeDelta, Utc};
use pilot_types::Digest;
use rustix::fs::FlockOperation;
use sha2::Digest as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How errors of the store call it; its place on the disk is nobody's business.
const NAME: &str = "undo store";
const SUFFIX: &str = ".zst";
const TEMP: &str = "new-";
/// Fast, and text still shrinks to a third.
const LEVEL: i32 = 1;

/// How long and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoLimits {
    /// Days since the bytes were last kept.
    pub days: u32,
    /// Bytes on disk, after compression.
    pub bytes: u64,
}

impl Default for UndoLimits {
    fn default() -> Self {
        Self { days: 90, bytes: 1 << 30 }
    }
}

/// What the store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoUsage {
    /// Number of contents.
    pub entries: u64,
    /// Bytes on disk, after compression.
    pub bytes: u64,
}

/// A folder of contents named by their digests, compressed, readable by this user only, outside every workspace.
/// Several processes may use one folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct UndoStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    limits: Mutex<UndoLimits>,
    /// Bytes as far as this process knows; counted anew at each prune.
    bytes: AtomicU64,
    serial: AtomicU64,
}

/// A content in the store.
struct Item {
    path: PathBuf,
    size: u64,
    kept: SystemTime,
}

impl UndoStore {
    /// Opens the store in `dir`, which is made (for this user only) when it is missing.
    pub fn open(dir: &Path, limits: UndoLimits) -> Result<Self, GuardError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(fail)?;
        let inner = Inner {
            dir: dir.to_owned(),
            limits: Mutex::new(limits),
            bytes: AtomicU64::new(0),
            serial: AtomicU64::new(0),
        };
        let store = Self { inner: Arc::new(inner) };
        let usage = store.usage()?;
        store.inner.bytes.store(usage.bytes, Ordering::Relaxed);
        Ok(store)
    }

    /// The limits that hold now.
    #[must_use]
    pub fn limits(&self) -> UndoLimits {
        *self.inner.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Other limits, from now on and for all clones. What is beyond them goes at the next prune.
    pub fn set_limits(&self, limits: UndoLimits) {
        *self.inner.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// Forgets everything. Answers how many contents were removed.
    pub fn clear(&self) -> Result<u64, GuardError> {
        let _lock = self.lock(FlockOperation::LockExclusive)?;
        let items = self.items()?;
        for item in &items {
            fs::remove_file(&item.path).map_err(fail)?;
        }
        self.inner.bytes.store(0, Ordering::Relaxed);
        Ok(items.len() as u64)
    }

    /// Keeps bytes; durable when this returns. Keeping the same bytes again makes them young again.
    pub fn keep(&self, bytes: &[u8]) -> Result<Digest, GuardError> {
        let digest = Digest::of(bytes);
        self.store(bytes, Some(&digest))?;
        Ok(digest)
    }

    /// Keeps what a reader gives, if it is what `expect` says; false, and nothing is kept, if it is not.
    pub(crate) fn keep_expected(&self, reader: impl Read, expect: &Digest) -> Result<bool, GuardError> {
        self.store(reader, Some(expect)).map(|stored| stored.is_some())
    }

    /// Keeps whatever a reader gives.
    pub(crate) fn keep_reader(&self, reader: impl Read) -> Result<(), GuardError> {
        self.store(reader, None).map(|_| ())
    }

    fn store(&self, mut reader: impl Read, expect: Option<&Digest>) -> Result<Option<Digest>, GuardError> {
        let lock = self.lock(FlockOperation::LockShared)?;
        let temp = self.temp()?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp.0).map_err(fail)?;
        let mut encoder = zstd::Encoder::new(file, LEVEL).map_err(fail)?;
        encoder.include_checksum(true).map_err(fail)?;
        let limit = self.limits().bytes;
        let mut hash = sha2::Sha256::new();
        let mut buffer = vec![0; 128 * 1024];
        let mut total: u64 = 0;
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(fail(error)),
            };
            total += count as u64;
            if total > limit {
                return Err(GuardError::TooLarge { path: ShownPath::of(NAME), limit });
            }
            let piece = buffer.get(..count).unwrap_or_default();
            hash.update(piece);
            encoder.write_all(piece).map_err(fail)?;
        }
        let file = encoder.finish().map_err(fail)?;
        let digest = Digest::from_hash(&hash.finalize());
        if expect.is_some_and(|expect| *expect != digest) {
            return Ok(None);
        }
        file.sync_all().map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        let place = self.place(&digest).ok_or(GuardError::UndoDamaged)?;
        let before = fs::metadata(&place).map_or(0, |meta| meta.len());
        fs::rename(&temp.0, &place).map_err(fail)?;
        File::open(&self.inner.dir).and_then(|dir| dir.sync_all()).map_err(fail)?;
        drop(lock);
        let grown = size.saturating_sub(before);
        if self.inner.bytes.fetch_add(grown, Ordering::Relaxed) + grown > limit {
            self.trim(None, Some(&place))?;
        }
        Ok(Some(digest))
    }

    /// The kept bytes, or `None` when they were never kept or are gone. `UndoDamaged` when they do not match.
    pub fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, GuardError> {
        let Some(place) = self.place(digest) else { return Ok(None) };
        let file = match File::open(place) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        let mut bytes = Vec::new();
        let decoder = zstd::Decoder::new(file).map_err(fail)?;
        // A damaged file may claim to be endless.
        let limit = self.limits().bytes.max(crate::MAX_TARGET);
        decoder.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| GuardError::UndoDamaged)?;
        if Digest::of(&bytes) == *digest { Ok(Some(bytes)) } else { Err(GuardError::UndoDamaged) }
    }

    /// True when bytes of this digest are kept.
    #[must_use]
    pub fn contains(&self, digest: &Digest) -> bool {
        self.place(digest).is_some_and(|place| place.is_file())
    }

    /// Forgets one content. True when it was there.
    pub fn forget(&self, digest: &Digest) -> Result<bool, GuardError> {
        let Some(place) = self.place(digest) else { return Ok(false) };
        match fs::remove_file(place) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(fail(error)),
        }
    }

    /// Removes what is older than the limit of days at `now`, then the oldest until the limit of bytes holds.
    /// Answers how many contents were removed.
    pub fn prune(&self, now: DateTime<Utc>) -> Result<u64, GuardError> {
        self.trim(Some(now), None)
    }

    /// What the store holds now.
    pub fn usage(&self) -> Result<UndoUsage, GuardError> {
        let items = self.items()?;
        Ok(UndoUsage { entries: items.len() as u64, bytes: items.iter().map(|item| item.size).sum() })
    }

    fn trim(&self, now: Option<DateTime<Utc>>, spare: Option<&Path>) -> Result<u64, GuardError> {
        let _lock = self.lock(FlockOperation::LockExclusive)?;
        self.sweep_temp();
        let limits = self.limits();
        let oldest = now.and_then(|now| now.checked_sub_signed(TimeDelta::days(i64::from(limits.days))));
        let mut items = self.items()?;
        items.sort_by_key(|item| item.kept);
        let mut bytes: u64 = items.iter().map(|item| item.size).sum();
        let mut removed = 0;
        for item in items.iter().filter(|item| Some(item.path.as_path()) != spare) {
            let old = oldest.is_some_and(|oldest| DateTime::<Utc>::from(item.kept) < oldest);
            if !old && bytes <= limits.bytes {
                continue;
            }
            fs::remove_file(&item.path).map_err(fail)?;
            bytes = bytes.saturating_sub(item.size);
            removed += 1;
        }
        self.inner.bytes.store(bytes, Ordering::Relaxed);
        Ok(removed)
    }

    /// Removes what a process that died was about to keep. Called with the exclusive lock, so nobody is at work.
    fn sweep_temp(&self) {
        let Ok(entries) = fs::read_dir(&self.inner.dir) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMP) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn items(&self) -> Result<Vec<Item>, GuardError> {
        let mut items = Vec::new();
        for entry in fs::read_dir(&self.inner.dir).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            if !name.to_string_lossy().ends_with(SUFFIX) {
                continue;
            }
            // Another process may have removed it since.
            let Ok(meta) = entry.metadata() else { continue };
            items.push(Item { path: entry.path(), size: meta.len(), kept: meta.modified().map_err(fail)? });
        }
        Ok(items)
    }

    /// Where a content lies; `None` for a text that is no digest, since it comes from a database.
    fn place(&self, digest: &Digest) -> Option<PathBuf> {
        let hex = digest.as_str();
        let plain = hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        plain.then(|| self.inner.dir.join(format!("{hex}{SUFFIX}")))
    }

    fn temp(&self) -> Result<TempPath, GuardError> {
        let serial = self.inner.serial.fetch_add(1, Ordering::Relaxed);
        let nanos =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Ok(TempPath(self.inner.dir.join(format!("{TEMP}{}-{nanos}-{serial}", std::process::id()))))
    }

    /// Keeping is shared, removing exclusive: nothing is removed while another process has just kept it again.
    fn lock(&self, how: FlockOperation) -> Result<File, GuardError> {
        let path = self.inner.dir.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fail)?;
        rustix::fs::flock(&file, how).map_err(|errno| fail(errno.into()))?;
        Ok(file)
    }
}

/// A file that is not kept yet; removed when it does not come to that.
struct TempPath(PathBuf);

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn fail(error: io::Error) -> GuardError {
    GuardError::of_io(NAME, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_limits_hold_for_every_clone_and_all_can_be_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let store = UndoStore::open(dir.path(), UndoLimits::default()).unwrap();
        let clone = store.clone();
        let digest = store.keep(b"more than four bytes").unwrap();
        clone.set_limits(UndoLimits { days: 1, bytes: 4 });
        assert_eq!(store.limits().bytes, 4, "a clone is the same store");
        assert!(store.keep(b"five!").is_err(), "what is beyond the new limit is refused at once");
        assert!(store.contains(&digest), "what is there goes at the next prune only");
        assert_eq!(store.prune(Utc::now()).unwrap(), 1, "which removes what is beyond it");
        store.set_limits(UndoLimits::default());
        store.keep(b"one").unwrap();
        store.keep(b"two").unwrap();
        assert_eq!(store.clear().unwrap(), 2, "all are forgotten");
        assert_eq!(store.usage().unwrap(), UndoUsage::default(), "and nothing is counted");
    }

    #[test]
    fn bytes_that_are_not_the_expected_ones_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = UndoStore::open(dir.path(), UndoLimits::default()).unwrap();
        let expected = Digest::of(b"expected");
        assert!(!store.keep_expected(&b"other"[..], &expected).unwrap(), "it says so");
        assert_eq!(store.usage().unwrap(), UndoUsage::default(), "and keeps nothing");
        assert!(store.keep_expected(&b"expected"[..], &expected).unwrap(), "the expected ones are kept");
        assert!(store.contains(&expected), "and there");
    }
}
