//! A folder of its own for each test.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "test support: it plays the person's disk, and a folder that cannot be built is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary workspace beside a temporary data folder; both are gone when it is dropped.
#[derive(Debug)]
pub struct TempWorkspace {
    _dir: TempDir,
    root: PathBuf,
    data: PathBuf,
}

impl Default for TempWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl TempWorkspace {
    /// An empty workspace.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let base = dir.path().canonicalize().expect("its real path");
        let (root, data) = (base.join("workspace"), base.join("data"));
        fs::create_dir(&root).expect("the workspace");
        fs::create_dir(&data).expect("the data folder");
        Self { _dir: dir, root, data }
    }

    /// A workspace with these files, given by relative path.
    #[must_use]
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let workspace = Self::new();
        for (path, bytes) in files {
            workspace.put(path, bytes);
        }
        workspace
    }

    /// The workspace's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A folder for the application's own data, outside the workspace.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Puts a file there, with its folders, as the person would.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        let target = self.root.join(path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).expect("the folders of the file");
        }
        fs::write(target, bytes).expect("the file");
    }

    /// The bytes of a file; `None` when nothing is there.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    /// Everything in the workspace by relative path: files with their bytes, folders with a trailing slash and links
    /// with `->` and their target, neither followed. Two equal manifests are two equal folders.
    #[must_use]
    pub fn manifest(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("the folder").flatten() {
                let path = entry.path();
                let name = path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned();
                let kind = entry.file_type().expect("the kind of the entry");
                if kind.is_symlink() {
                    let target = fs::read_link(&path).expect("the link's target");
                    found.insert(format!("{name}->{}", target.display()), Vec::new());
                } else if kind.is_dir() {
                    found.insert(format!("{name}/"), Vec::new());
                    folders.push(path);
                } else if kind.is_file() {
                    found.insert(name, fs::read(&path).unwrap_or_default());
                } else {
                    found.insert(format!("{name}?"), Vec::new());
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_tells_every_change() {
        let workspace = TempWorkspace::with(&[("a.csv", b"1"), ("sub/b.md", b"2")]);
        let before = workspace.manifest();
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            ["a.csv", "sub/", "sub/b.md"],
            "files and folders are named"
        );
        workspace.put("a.csv", b"3");
        assert_ne!(workspace.manifest(), before, "changed bytes are a change");
        assert!(!workspace.data().starts_with(workspace.root()), "data lies outside");
    }
}
