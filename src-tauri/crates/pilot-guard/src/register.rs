//! Whether a folder can be a workspace.

use crate::error::GuardError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Checks a folder that a person chose and answers its real path: `~` is understood, links are resolved once.
///
/// `WorkspaceNotFolder` for anything but an existing folder, `WorkspaceTooWide` for a whole disk and for `home` itself,
/// `WorkspaceHoldsData` for `data_dir` and every folder above or below it (it need not exist yet).
pub fn register_root(path: &Path, home: Option<&Path>, data_dir: &Path) -> Result<PathBuf, GuardError> {
    let root = fs::canonicalize(expand(path, home)).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => GuardError::of_io(".", error),
        _ => GuardError::WorkspaceNotFolder,
    })?;
    if !root.is_dir() {
        return Err(GuardError::WorkspaceNotFolder);
    }
    let is_home = home.and_then(|home| fs::canonicalize(home).ok()).is_some_and(|home| same(&home, &root));
    if root.parent().is_none() || is_home {
        return Err(GuardError::WorkspaceTooWide);
    }
    let data = resolved(data_dir);
    let holds = data.ancestors().any(|ancestor| same(ancestor, &root));
    let lies_in = root.ancestors().any(|ancestor| same(ancestor, &data));
    if holds || lies_in { Err(GuardError::WorkspaceHoldsData) } else { Ok(root) }
}

/// `~` and `~/x` with the home folder put in.
fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_), None) | (Err(_), _) => path.to_owned(),
    }
}

/// The real path, also of something of which only the upper folders exist.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in path.ancestors() {
        if let Ok(real) = fs::canonicalize(ancestor) {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return rest
                .components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .fold(real, |path, part| path.join(part));
        }
    }
    path
}

/// The same folder, also by another spelling on a system that folds names, or by another mount.
fn same(one: &Path, two: &Path) -> bool {
    if one == two {
        return true;
    }
    match (fs::metadata(one), fs::metadata(two)) {
        (Ok(one), Ok(two)) => (one.dev(), one.ino()) == (two.dev(), two.ino()),
        (Ok(_), Err(_)) | (Err(_), Ok(_) | Err(_)) => false,
    }
}
