//! A file that the guard opened.

use crate::error::GuardError;
use crate::path::RelativePath;
use crate::sys::Facts;
use chrono::{DateTime, Utc};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// An open, readable, ordinary file below the root. Only the guard makes one, and never from a string: whoever holds
/// it needs no further check, and no rename or link can change what it reads.
#[derive(Debug)]
pub struct GuardedFile {
    file: File,
    path: RelativePath,
    facts: Facts,
}

impl GuardedFile {
    pub(crate) fn new(fd: OwnedFd, path: RelativePath, facts: Facts) -> Self {
        Self { file: File::from(fd), path, facts }
    }

    /// The path that it was opened by, in one spelling.
    #[must_use]
    pub fn path(&self) -> &RelativePath {
        &self.path
    }

    /// Bytes when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.facts.size
    }

    /// True when it was empty when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.size == 0
    }

    /// When it was last changed, when it was opened.
    #[must_use]
    pub fn modified(&self) -> Option<DateTime<Utc>> {
        self.facts.modified()
    }

    /// The whole content from the beginning. `TooLarge` beyond `limit` bytes, before anything is allocated; also when
    /// the file grows while it is read.
    pub fn read_all(&mut self, limit: u64) -> Result<Vec<u8>, GuardError> {
        let too_large = GuardError::TooLarge { path: self.path.shown(), limit };
        if self.facts.size > limit {
            return Err(too_large);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(self.facts.size).unwrap_or(0).saturating_add(1));
        let fail = |error| GuardError::of_io(self.path.as_str(), error);
        self.file.seek(SeekFrom::Start(0)).map_err(fail)?;
        (&mut self.file).take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > limit { Err(too_large) } else { Ok(bytes) }
    }

    /// Gives the handle away, for a child process that reads it as its standard input.
    #[must_use]
    pub fn into_fd(self) -> OwnedFd {
        self.file.into()
    }
}

impl Read for GuardedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for GuardedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl AsFd for GuardedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
