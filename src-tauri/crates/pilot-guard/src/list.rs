//! Listing: paged, and with one look at the inode only for what is shown.

use crate::error::GuardError;
use crate::guard::WorkspaceGuard;
use crate::names;
use crate::path::{self, RelativePath};
use crate::resolve::Want;
use crate::sys::{self, Facts, Kind};
use chrono::{DateTime, Utc};
use pilot_types::ErrorCode;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, FileType};
use serde::Serialize;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Names that one listing, walk or count looks at; beyond it the answer says that it is cut.
const MAX_SCAN: usize = 2_000_000;
/// Levels of folders that one listing or walk goes down, whatever is asked: each holds a descriptor.
const MAX_LEVELS: u32 = 64;

/// Which part of a listing is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// Levels: 1 for the folder's own entries, 2 for those of its folders too.
    pub depth: u32,
    /// Entries to return at most.
    pub limit: usize,
    /// Entries to skip.
    pub offset: usize,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A file that can be read.
    File,
    /// A folder that can be listed.
    Folder,
    /// Something that the guard would refuse, and why.
    Refused(ErrorCode),
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Path relative to the root. For a name that is not UTF-8 a readable stand-in; such an entry is refused.
    pub path: String,
    /// Last component of it. It may hold hidden characters: see [`shown`](crate::shown).
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes; `None` for anything but a file.
    pub size: Option<u64>,
    /// When it was last changed; `None` where it was not looked at.
    pub modified: Option<DateTime<Utc>>,
}

/// A page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// In each folder its folders first, then the rest, both by name; the entries of a folder follow it.
    pub entries: Vec<Entry>,
    /// Entries on all pages.
    pub total: usize,
    /// True when entries follow this page, or when there were too many to count.
    pub cut: bool,
}

/// An entry as the folder names it.
struct Raw {
    name: Vec<u8>,
    kind: Kind,
}

impl Raw {
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.name).ok()
    }
}

/// What has been gathered of a listing.
struct Page {
    options: ListOptions,
    total: usize,
    entries: Vec<Entry>,
}

impl Page {
    /// Counts an entry; true when it belongs on the page.
    fn takes(&mut self) -> bool {
        self.total += 1;
        self.total > self.options.offset && self.entries.len() < self.options.limit
    }

    /// Entries that still have to be passed or put on the page.
    fn open(&self) -> usize {
        self.options.offset.saturating_add(self.options.limit).saturating_sub(self.total)
    }
}

impl WorkspaceGuard {
    /// Lists a folder (`.` or an empty path for the root). Links are shown as what they lead to when that is inside,
    /// and never gone down. Nothing is said about what a refused entry leads to.
    pub fn list(&self, path: &str, options: &ListOptions) -> Result<Listing, GuardError> {
        let folder = parse_folder(path)?;
        let dir = self.handle().open_read(&folder, Want::Folder)?;
        let mut page = Page { options: *options, total: 0, entries: Vec::new() };
        self.gather(&folder, dir, options.depth.clamp(1, MAX_LEVELS), &mut page)?;
        let shown = options.offset.saturating_add(page.entries.len());
        Ok(Listing {
            cut: page.total > shown || page.total >= MAX_SCAN,
            entries: page.entries,
            total: page.total,
        })
    }

    fn gather(
        &self,
        folder: &RelativePath,
        dir: OwnedFd,
        depth: u32,
        page: &mut Page,
    ) -> Result<(), GuardError> {
        let (mut folders, mut others) =
            self.read_folder(folder, &dir, MAX_SCAN.saturating_sub(page.total))?;
        folders.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for raw in &folders {
            if page.takes() {
                page.entries.push(self.entry(folder, &dir, raw));
            }
            if depth > 1
                && let Some(name) = raw.text()
                && let Ok(next) = self.handle().step(dir.as_fd(), name, folder)
            {
                // A folder that cannot be read is an entry without entries, not the end of the listing.
                let _ = self.gather(&folder.join(name), next, depth - 1, page);
            }
        }
        // Only as many are sorted as this page needs.
        let needed = page.open().min(others.len());
        if needed > 0 && needed < others.len() {
            others.select_nth_unstable_by(needed, |a, b| a.name.cmp(&b.name));
        }
        if let Some(first) = others.get_mut(..needed) {
            first.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        }
        for raw in others.iter().take(needed) {
            if page.takes() {
                page.entries.push(self.entry(folder, &dir, raw));
            }
        }
        page.total += others.len() - needed;
        Ok(())
    }

    /// The entries of a folder as named: folders, and the rest.
    fn read_folder(
        &self,
        path: &RelativePath,
        dir: &OwnedFd,
        most: usize,
    ) -> Result<(Vec<Raw>, Vec<Raw>), GuardError> {
        let fail = |errno| GuardError::of_errno(path.as_str(), errno);
        let own = sys::open_at(dir, ".", sys::FOLDER).map_err(fail)?;
        let (mut folders, mut others) = (Vec::new(), Vec::new());
        for entry in Dir::new(own).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => sys::facts_at_bytes(dir, name).map_or(Kind::Other, |facts| facts.kind),
                known => Kind::of(known),
            };
            let raw = Raw { name: name.to_vec(), kind };
            if kind == Kind::Folder {
                folders.push(raw)
            } else {
                others.push(raw)
            }
            if folders.len() + others.len() >= most {
                break;
            }
        }
        Ok((folders, others))
    }

    /// Looks at one entry.
    fn entry(&self, folder: &RelativePath, dir: &OwnedFd, raw: &Raw) -> Entry {
        let lossy = String::from_utf8_lossy(&raw.name);
        let path = folder.join(&lossy);
        let refused = |code| (EntryKind::Refused(code), None);
        let (kind, facts) = match raw.text() {
            None => refused(ErrorCode::PathInvalid),
            Some(name) => match path::parse(folder.join(name).as_str()) {
                Err(error) => refused(error.code()),
                Ok(_) => match self.look(&path, dir, raw) {
                    Err(error) => refused(error.code()),
                    Ok(facts) if facts.kind == Kind::Folder => (EntryKind::Folder, Some(facts)),
                    Ok(facts) => (EntryKind::File, Some(facts)),
                },
            },
        };
        Entry {
            path: path.as_str().to_owned(),
            name: lossy.into_owned(),
            kind,
            size: facts.filter(|facts| facts.kind == Kind::File).map(|facts| facts.size),
            modified: facts.and_then(|facts| facts.modified()),
        }
    }

    /// Facts of an entry that could be opened; for a link those of what it leads to.
    fn look(&self, path: &RelativePath, dir: &OwnedFd, raw: &Raw) -> Result<Facts, GuardError> {
        let fail = |errno| GuardError::of_errno(path.as_str(), errno);
        let mut facts = sys::facts_at_bytes(dir, &raw.name).map_err(fail)?;
        if facts.kind == Kind::Link {
            let fd = self.handle().open_read(path, Want::Name)?;
            facts = sys::facts(fd).map_err(fail)?;
        } else if !self.handle().facts().same_mount(&facts) {
            return Err(GuardError::Mount { path: path.shown() });
        }
        if facts.kind != Kind::Folder {
            sys::require_file(path, &facts)?;
        }
        Ok(facts)
    }

    /// Ordinary readable files below a folder, sorted: at most `limit`, in at most `depth` levels of folders. Dot
    /// names, the root's `memory/` and `skills/`, links and refused files are passed over. True when there is more
    /// than was returned: beyond the limit, deeper, or in a folder that cannot be read.
    pub fn walk(&self, path: &str, depth: u32, limit: usize) -> Result<(Vec<String>, bool), GuardError> {
        let folder = parse_folder(path)?;
        let dir = self.handle().open_read(&folder, Want::Folder)?;
        let mut found = Vec::new();
        let more = self.descend(&folder, dir, depth.clamp(1, MAX_LEVELS), limit, &mut found)?;
        found.sort_unstable();
        Ok((found, more))
    }

    fn descend(
        &self,
        folder: &RelativePath,
        dir: OwnedFd,
        depth: u32,
        limit: usize,
        found: &mut Vec<String>,
    ) -> Result<bool, GuardError> {
        let (folders, mut all) = self.read_folder(folder, &dir, MAX_SCAN)?;
        let mut more = all.len() + folders.len() >= MAX_SCAN;
        all.extend(folders);
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for raw in &all {
            let Some(name) = raw.text().filter(|name| !is_passed_over(folder, name)) else { continue };
            let path = folder.join(name);
            match raw.kind {
                Kind::Folder => match self.handle().step(dir.as_fd(), name, &path) {
                    Ok(next) if depth > 1 => {
                        more |= self.descend(&path, next, depth - 1, limit, found).unwrap_or(true);
                    }
                    Ok(next) => {
                        more |= self
                            .read_folder(&path, &next, 1)
                            .is_ok_and(|(a, b)| !a.is_empty() || !b.is_empty())
                    }
                    // A mount or a link that appeared is refused, not left out by a limit.
                    Err(error) => more |= error.code() == ErrorCode::PermissionDenied,
                },
                Kind::File => {
                    if path::parse(path.as_str()).is_ok() && self.look(&path, &dir, raw).is_ok() {
                        if found.len() >= limit {
                            return Ok(true);
                        }
                        found.push(path.as_str().to_owned());
                    }
                }
                Kind::Link | Kind::Other => {}
            }
            if more && found.len() >= limit {
                return Ok(true);
            }
        }
        Ok(more)
    }

    /// Number of ordinary files below the root, whatever their names; links and mounts are not gone down. True when
    /// counting stopped at `limit`.
    pub fn count_files(&self, limit: u64) -> Result<(u64, bool), GuardError> {
        let mut count: u64 = 0;
        let mut todo = vec![RelativePath::root()];
        let mut first = true;
        while let Some(folder) = todo.pop() {
            let opened = self.handle().open_read(&folder, Want::Folder);
            let read = opened.and_then(|dir| self.read_folder(&folder, &dir, MAX_SCAN));
            let (folders, others) = match read {
                Ok(read) => read,
                Err(error) if first => return Err(error),
                // Unreadable, a mount, or gone since: nothing there can be reached.
                Err(_) => continue,
            };
            first = false;
            count += others.iter().filter(|raw| raw.kind == Kind::File).count() as u64;
            if count >= limit {
                return Ok((limit, true));
            }
            todo.extend(folders.iter().filter_map(Raw::text).map(|name| folder.join(name)));
        }
        Ok((count, false))
    }
}

impl WorkspaceGuard {
    /// A number that changes when something below the root does: a name, a size, a time. Looks at `most` entries; links
    /// and mounts are not gone down, and what cannot be read counts as it is.
    pub(crate) fn glance(&self, most: usize) -> u64 {
        let mut sum: u64 = 0;
        let mut left = most;
        let mut todo = vec![RelativePath::root()];
        while let Some(folder) = todo.pop() {
            let opened = self.handle().open_read(&folder, Want::Folder);
            let Ok((dir, (folders, others))) =
                opened.and_then(|dir| self.read_folder(&folder, &dir, left).map(|read| (dir, read)))
            else {
                continue;
            };
            for raw in folders.iter().chain(&others) {
                // Added up, since a folder names its entries in any order.
                sum = sum.wrapping_add(glimpse(&folder, &dir, raw));
            }
            left = left.saturating_sub(folders.len() + others.len());
            if left == 0 {
                break;
            }
            todo.extend(folders.iter().filter_map(Raw::text).map(|name| folder.join(name)));
        }
        sum
    }
}

/// One entry of a glance.
fn glimpse(folder: &RelativePath, dir: &OwnedFd, raw: &Raw) -> u64 {
    let mut hash = DefaultHasher::new();
    folder.as_str().hash(&mut hash);
    raw.name.hash(&mut hash);
    if let Ok(facts) = sys::facts_at_bytes(dir, &raw.name) {
        (facts.ino, facts.mode, facts.seconds, facts.nanos).hash(&mut hash);
        if facts.kind != Kind::Folder {
            facts.size.hash(&mut hash);
        }
    }
    hash.finish()
}

/// A path that names a folder; nothing at all means the root.
fn parse_folder(path: &str) -> Result<RelativePath, GuardError> {
    if path.is_empty() { Ok(RelativePath::root()) } else { path::parse(path).map(|parsed| parsed.path) }
}

/// Names that an analysis of a folder does not look at.
fn is_passed_over(folder: &RelativePath, name: &str) -> bool {
    let own = folder.is_root() && (names::means(name, names::MEMORY) || names::means(name, names::SKILLS));
    own || name.starts_with('.')
}
