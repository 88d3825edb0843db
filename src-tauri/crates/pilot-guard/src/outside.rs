//! Files that a person named by hand, outside any workspace: picked, dropped, or a place to save to. No tool can reach
//! these functions; only the operator path calls them.
#![expect(clippy::disallowed_methods, reason = "this room owns file access; the person named these paths")]

use crate::error::{GuardError, ShownPath};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

/// Reads a file that the person picked. Links are followed, since the person chose what they show; anything but a
/// regular file is refused without being read.
///
/// # Errors
/// It is not there, no regular file, or larger than `limit` bytes.
pub fn read_outside(path: &Path, limit: u64) -> Result<Vec<u8>, GuardError> {
    let shown = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = std::fs::metadata(path).map_err(|error| GuardError::of_io(&shown(), error))?;
    if !kind.is_file() {
        return Err(GuardError::Special { path: ShownPath::of(&shown()) });
    }
    if kind.len() > limit {
        return Err(GuardError::TooLarge { path: ShownPath::of(&shown()), limit });
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| GuardError::of_io(&shown(), error))?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| GuardError::of_io(&shown(), error))?;
    if bytes.len() as u64 > limit {
        return Err(GuardError::TooLarge { path: ShownPath::of(&shown()), limit });
    }
    Ok(bytes)
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
