//! Folders of cases: made before, measured before and after.
#![expect(
    clippy::disallowed_methods,
    reason = "a case makes and measures a folder of its own; the service gets it like any other"
)]

use crate::case::FileContent;
use pilot_types::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of one case: the workspace, what lies beside it, and the application's data. Removed when dropped.
pub(crate) struct CaseFolder {
    root: tempfile::TempDir,
}

impl CaseFolder {
    pub(crate) fn make(files: &BTreeMap<String, FileContent>) -> io::Result<Self> {
        let folder = Self { root: tempfile::Builder::new().prefix("pilot-eval-").tempdir()? };
        fs::create_dir_all(folder.workspace())?;
        fs::create_dir_all(folder.data())?;
        for (name, content) in files {
            let path = folder.place(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            match content {
                FileContent::Text(text) => fs::write(path, text)?,
                FileContent::Bytes { base64 } => fs::write(path, decode(base64)?)?,
                FileContent::Link { symlink } => link(symlink, &path)?,
            }
        }
        Ok(folder)
    }

    /// The folder that is registered as workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.path().join("case/workspace")
    }

    /// The application's data, apart from everything that is measured.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Where a path of the case lies.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        match name.strip_prefix("../") {
            Some(beside) => self.root.path().join("case").join(beside),
            None => self.workspace().join(name),
        }
    }

    /// Everything below the case's folder: workspace and surroundings.
    pub(crate) fn measure(&self) -> io::Result<Manifest> {
        let mut manifest = Manifest::default();
        walk(&self.root.path().join("case"), "", &mut manifest)?;
        Ok(manifest)
    }

    /// The bytes of a file of the case.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.place(name))
    }
}

/// What stands on disk: every path with what is there. Files are told by digest, links by where they point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    File(Digest),
    Link(PathBuf),
    Other,
}

impl Manifest {
    /// Paths that differ between two states, as a case names them: from the workspace, or with `../`.
    #[must_use]
    pub fn differences(&self, after: &Manifest) -> BTreeSet<String> {
        let paths: BTreeSet<&String> = self.entries.keys().chain(after.entries.keys()).collect();
        paths
            .into_iter()
            .filter(|path| self.entries.get(*path) != after.entries.get(*path))
            .map(|path| case_name(path))
            .collect()
    }

    /// True when a path of the case exists.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        self.entries.contains_key(&disk_name(name))
    }

    /// True when the path is a folder.
    #[must_use]
    pub fn is_folder(&self, name: &str) -> bool {
        self.entries.get(&disk_name(name)) == Some(&Entry::Folder)
    }
}

fn case_name(path: &str) -> String {
    match path.strip_prefix("workspace/") {
        Some(inside) => inside.to_owned(),
        None if path == "workspace" => ".".to_owned(),
        None => format!("../{path}"),
    }
}

fn disk_name(name: &str) -> String {
    name.strip_prefix("../").map_or_else(|| format!("workspace/{name}"), str::to_owned)
}

fn walk(folder: &Path, prefix: &str, manifest: &mut Manifest) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        let found = if kind.is_symlink() {
            Entry::Link(fs::read_link(entry.path())?)
        } else if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), manifest)?;
            Entry::Folder
        } else if kind.is_file() {
            Entry::File(Digest::of(&fs::read(entry.path())?))
        } else {
            Entry::Other
        };
        manifest.entries.insert(name, found);
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &str, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_target: &str, _at: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "cases with links need a Unix system"))
}

/// Bytes of standard base64; blanks are passed over.
fn decode(text: &str) -> io::Result<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = ALPHABET.iter().position(|known| *known == byte);
        let value = value
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a file of the case is not base64"))?;
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_written_elsewhere() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v\nYmFy", "foobar")] {
            assert_eq!(decode(text).unwrap(), bytes.as_bytes(), "test vectors of RFC 4648: {text:?}");
        }
        assert!(decode("Zm9*").is_err(), "a foreign character is an error, not a hole");
    }

    #[test]
    fn every_kind_of_change_is_seen() {
        let files = BTreeMap::from([
            ("a.md".to_owned(), FileContent::Text("one".into())),
            ("gone.md".to_owned(), FileContent::Text("two".into())),
            ("../beside.md".to_owned(), FileContent::Text("three".into())),
        ]);
        let folder = CaseFolder::make(&files).unwrap();
        let before = folder.measure().unwrap();
        assert!(before.differences(&folder.measure().unwrap()).is_empty(), "measuring changes nothing");
        fs::write(folder.place("a.md"), "changed").unwrap();
        fs::write(folder.place("new.md"), "new").unwrap();
        fs::write(folder.place("../beside.md"), "changed").unwrap();
        fs::remove_file(folder.place("gone.md")).unwrap();
        fs::create_dir(folder.place("sub")).unwrap();
        let seen = before.differences(&folder.measure().unwrap());
        let expected = ["../beside.md", "a.md", "gone.md", "new.md", "sub"].map(str::to_owned);
        assert_eq!(seen, BTreeSet::from(expected), "changed, made, removed, beside, and a folder");
    }
}
