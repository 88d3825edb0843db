//! Files that a person named by hand, outside any workspace: picked, dropped, or a place to save to. No tool can reach
//! these functions; only the operator path calls them.
#![expect(clippy::disallowed_methods, reason = "this room owns file access; the person named these paths")]

use crate::error::{GuardError, ShownPath};
use pilot_types::Digest;
use rustix::fs::{CWD, Mode, OFlags};
use sha2::Digest as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// A file that the person picked, open. Links are followed, since the person chose what they show; anything but an
/// ordinary file is refused without being read.
#[derive(Debug)]
pub struct OutsideFile {
    file: File,
    len: u64,
}

impl OutsideFile {
    /// Opens it. Never waits, also not for a FIFO that nobody writes to.
    ///
    /// # Errors
    /// It is not there, a folder, no ordinary file, or larger than `limit` bytes.
    pub fn open(path: &Path, limit: u64) -> Result<Self, GuardError> {
        let shown = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| GuardError::of_errno(&shown(), errno))?;
        let file = File::from(fd);
        let facts = file.metadata().map_err(|error| GuardError::of_io(&shown(), error))?;
        if facts.is_dir() {
            return Err(GuardError::NotAFile { path: ShownPath::of(&shown()) });
        }
        if !facts.is_file() {
            return Err(GuardError::Special { path: ShownPath::of(&shown()) });
        }
        if facts.len() > limit {
            return Err(GuardError::TooLarge { path: ShownPath::of(&shown()), limit });
        }
        Ok(Self { file, len: facts.len() })
    }

    /// Bytes when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when it was empty when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Back to its beginning.
    ///
    /// # Errors
    /// The disk's.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0)).map(|_| ())
    }
}

impl Read for OutsideFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

/// Reads to the end: digest and number of bytes.
///
/// # Errors
/// The reader's.
pub fn measure(reader: &mut impl Read) -> io::Result<(Digest, u64)> {
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut total: u64 = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok((Digest::from_hash(&hash.finalize()), total)),
            Ok(count) => {
                total += count as u64;
                hash.update(buffer.get(..count).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes a copy to a place that the person chose: whole, or not at all. With `replace` false a file that is there stays.
///
/// # Errors
/// The place is taken, or cannot be written.
pub fn save_outside(path: &Path, bytes: &[u8], replace: bool) -> Result<(), GuardError> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => GuardError::TargetChanged { path: ShownPath::of(&shown) },
        _ => GuardError::of_io(&shown, error),
    };
    if !replace {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        return match file.write_all(bytes).and_then(|()| file.sync_all()) {
            Ok(()) => Ok(()),
            Err(error) => {
                // Ours alone: it was made here a moment ago.
                let _ = std::fs::remove_file(path);
                Err(failed(error))
            }
        };
    }
    let temp = path.with_file_name(format!(".{shown}.{}.tmp", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&temp).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&temp, path)).map_err(|error| {
        let _ = std::fs::remove_file(&temp);
        failed(error)
    })
}

/// Makes a folder that the person asked for. False when a folder of that name is there already.
///
/// # Errors
/// It cannot be made, or something else has that name.
pub fn make_folder(path: &Path) -> Result<bool, GuardError> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match std::fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(error) => Err(GuardError::of_io(&shown, error)),
    }
}
