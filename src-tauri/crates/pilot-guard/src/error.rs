//! Refusals and failures.

use crate::hidden::shown;
use pilot_types::ErrorCode;
use rustix::io::Errno;
use std::fmt;

/// A relative path made fit for a message: hidden characters are shown, a long one is cut in the middle with words.
/// This is the only form in which a path can get into a [`GuardError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPath(String);

/// Characters of a path that a message shows at either end of a cut.
const SHOWN_END: usize = 80;

impl ShownPath {
    pub(crate) fn of(path: &str) -> Self {
        let count = path.chars().count();
        if count <= 2 * SHOWN_END {
            return Self(shown(path));
        }
        let head: String = path.chars().take(SHOWN_END).collect();
        let tail: String = path.chars().skip(count - SHOWN_END).collect();
        Self(format!("{} … ({} characters more) … {}", shown(&head), count - 2 * SHOWN_END, shown(&tail)))
    }
}

impl fmt::Display for ShownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is wrong with a name that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// A character that some system does not allow in a name, or gives a meaning.
    Character(char),
    /// A character that cannot be seen, or that changes the direction of text.
    Hidden(char),
    /// A blank or dot at the beginning or end.
    Edge,
    /// A name that Windows keeps for a device.
    Reserved,
    /// The 8.3 form of another name.
    ShortName,
    /// Letters of scripts that are not used together, so that one name can look like another.
    MixedScripts,
    /// More marks on one letter than any language uses.
    Marks,
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameProblem::Character(c) => {
                write!(f, "the character {} cannot be used in a name", shown(&c.to_string()))
            }
            NameProblem::Hidden(c) => {
                write!(f, "the name holds the hidden character U+{:04X}", u32::from(*c))
            }
            NameProblem::Edge => f.write_str("a name cannot begin or end with a blank or a dot"),
            NameProblem::Reserved => f.write_str("this name is reserved on Windows"),
            NameProblem::ShortName => f.write_str("this is the short form of another name on Windows"),
            NameProblem::MixedScripts => f.write_str("the name mixes letters of different scripts"),
            NameProblem::Marks => f.write_str("the name has too many marks on one letter"),
        }
    }
}

/// Why a path was refused, or what failed. Messages hold the relative path and nothing else of this computer.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// An absolute path, a drive, a share, a URL. The path is not repeated.
    #[error("only paths relative to the workspace can be used")]
    Absolute,
    /// A `..` component.
    #[error("{path}: a path cannot go up with '..'")]
    Parent {
        /// The path.
        path: ShownPath,
    },
    /// Empty, or with characters that no path may have.
    #[error("{path}: {reason}")]
    Invalid {
        /// The path.
        path: ShownPath,
        /// In words.
        reason: &'static str,
    },
    /// Longer than 4,096 bytes, a component longer than 255, or deeper than 32.
    #[error("{path}: the path is too long or too deep")]
    TooLong {
        /// The path.
        path: ShownPath,
    },
    /// A name that may not be made.
    #[error("{path}: {problem}")]
    Name {
        /// The path.
        path: ShownPath,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// An extension that may not be written.
    #[error("{path}: only {allowed} files can be written here")]
    Extension {
        /// The path.
        path: ShownPath,
        /// The extensions that may.
        allowed: &'static str,
    },
    /// `memory/`, `skills/`, a dot name; or, for a memory write, anything else.
    #[error("{path}: {reason}")]
    Protected {
        /// The path.
        path: ShownPath,
        /// In words.
        reason: &'static str,
    },
    /// A link that leads out.
    #[error("{path}: leads out of the workspace")]
    Escape {
        /// The path.
        path: ShownPath,
    },
    /// A link where none may be, or too many of them.
    #[error("{path}: goes through a link")]
    Symlink {
        /// The path.
        path: ShownPath,
    },
    /// A file with a second name.
    #[error("{path}: the file has a second name (hard link)")]
    Hardlink {
        /// The path.
        path: ShownPath,
    },
    /// A FIFO, device or socket.
    #[error("{path}: not an ordinary file or folder")]
    Special {
        /// The path.
        path: ShownPath,
    },
    /// Another file system is mounted there.
    #[error("{path}: lies on another file system that is mounted there")]
    Mount {
        /// The path.
        path: ShownPath,
    },
    /// Nothing there.
    #[error("{path}: not found")]
    NotFound {
        /// The path.
        path: ShownPath,
    },
    /// A folder where a file was wanted.
    #[error("{path}: is a folder, not a file")]
    NotAFile {
        /// The path.
        path: ShownPath,
    },
    /// A file where a folder was wanted.
    #[error("{path}: not a folder")]
    NotAFolder {
        /// The path.
        path: ShownPath,
    },
    /// More bytes than the limit.
    #[error("{path}: larger than {limit} bytes")]
    TooLarge {
        /// The path.
        path: ShownPath,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refused.
    #[error("{path}: permission denied")]
    PermissionDenied {
        /// The path.
        path: ShownPath,
    },
    /// No space left.
    #[error("{path}: the disk is full")]
    DiskFull {
        /// The path.
        path: ShownPath,
    },
    /// The disk or folder is read-only.
    #[error("{path}: the disk is read-only")]
    ReadOnly {
        /// The path.
        path: ShownPath,
    },
    /// The target is not what it was.
    #[error("{path}: changed since it was looked at")]
    TargetChanged {
        /// The path.
        path: ShownPath,
    },
    /// The new name stands, but it could not be confirmed that the bytes are durable and right.
    #[error("{path}: was replaced, but could not be confirmed")]
    NotConfirmed {
        /// The path.
        path: ShownPath,
    },
    /// Any other error of the disk.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: ShownPath,
        /// The error of the system; it holds no path.
        source: std::io::Error,
    },
    /// The workspace folder is not there.
    #[error("the workspace folder is not there")]
    WorkspaceGone,
    /// Another folder has the workspace's name.
    #[error("another folder stands where the workspace was")]
    WorkspaceReplaced,
    /// Not an existing folder.
    #[error("not an existing folder")]
    WorkspaceNotFolder,
    /// `/`, a drive, or the home folder itself.
    #[error("a whole disk or the home folder itself cannot be a workspace; choose a folder in it")]
    WorkspaceTooWide,
    /// The folder holds, or lies in, the folder of this application's data.
    #[error("the folder holds this application's own data, or lies in it")]
    WorkspaceHoldsData,
    /// Kept bytes do not match their digest.
    #[error("kept bytes are damaged")]
    UndoDamaged,
}

impl GuardError {
    /// The code by which the window and the command line translate.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            GuardError::Absolute => ErrorCode::PathAbsolute,
            GuardError::Parent { .. } => ErrorCode::PathParent,
            GuardError::Invalid { .. } => ErrorCode::PathInvalid,
            GuardError::TooLong { .. } => ErrorCode::PathTooLong,
            GuardError::Name { .. } => ErrorCode::PathName,
            GuardError::Extension { .. } => ErrorCode::PathExtension,
            GuardError::Protected { .. } => ErrorCode::PathProtected,
            GuardError::Escape { .. } => ErrorCode::PathEscape,
            GuardError::Symlink { .. } => ErrorCode::PathSymlink,
            GuardError::Hardlink { .. } => ErrorCode::PathHardlink,
            GuardError::Special { .. } => ErrorCode::PathSpecial,
            GuardError::Mount { .. } => ErrorCode::PathMount,
            GuardError::NotFound { .. } => ErrorCode::NotFound,
            GuardError::NotAFile { .. } => ErrorCode::NotAFile,
            GuardError::NotAFolder { .. } => ErrorCode::NotAFolder,
            GuardError::TooLarge { .. } => ErrorCode::TooLarge,
            GuardError::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            GuardError::DiskFull { .. } => ErrorCode::DiskFull,
            GuardError::ReadOnly { .. } => ErrorCode::ReadOnly,
            GuardError::TargetChanged { .. } => ErrorCode::TargetChanged,
            GuardError::NotConfirmed { .. } => ErrorCode::OutcomeUnknown,
            GuardError::Io { .. } | GuardError::UndoDamaged => ErrorCode::IoFailed,
            GuardError::WorkspaceGone => ErrorCode::WorkspaceGone,
            GuardError::WorkspaceReplaced => ErrorCode::WorkspaceReplaced,
            GuardError::WorkspaceNotFolder => ErrorCode::WorkspaceNotFolder,
            GuardError::WorkspaceTooWide => ErrorCode::WorkspaceTooWide,
            GuardError::WorkspaceHoldsData => ErrorCode::WorkspaceHoldsData,
        }
    }

    /// An error of the system about a path. `EXDEV` must have been told apart before.
    pub(crate) fn of_errno(path: &str, errno: Errno) -> Self {
        let shown = ShownPath::of(path);
        match errno {
            Errno::NOENT => GuardError::NotFound { path: shown },
            Errno::NOTDIR => GuardError::NotAFolder { path: shown },
            Errno::ISDIR => GuardError::NotAFile { path: shown },
            Errno::LOOP => GuardError::Symlink { path: shown },
            Errno::XDEV => GuardError::Mount { path: shown },
            Errno::ACCESS | Errno::PERM => GuardError::PermissionDenied { path: shown },
            Errno::NOSPC | Errno::DQUOT => GuardError::DiskFull { path: shown },
            Errno::ROFS => GuardError::ReadOnly { path: shown },
            Errno::NAMETOOLONG => GuardError::TooLong { path: shown },
            Errno::NXIO | Errno::NODEV => GuardError::Special { path: shown },
            other => GuardError::Io { path: shown, source: other.into() },
        }
    }

    /// An error of the standard library about a path.
    pub(crate) fn of_io(path: &str, error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(raw) => Self::of_errno(path, Errno::from_raw_os_error(raw)),
            None => GuardError::Io { path: ShownPath::of(path), source: error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_cut_in_the_middle_and_keeps_its_end() {
        let path = format!("{}/../out", "a".repeat(3000));
        let text = ShownPath::of(&path).to_string();
        assert!(text.chars().count() < 300, "a message must stay readable");
        assert!(text.ends_with("/../out"), "the end is what an attacker would hide");
        assert!(text.contains("characters more"), "a cut must be said");
    }

    #[test]
    fn hidden_characters_are_visible_in_messages() {
        let error = GuardError::NotFound { path: ShownPath::of("report\u{202e}fdp.md") };
        assert_eq!(
            error.to_string(),
            "report‹U+202E›fdp.md: not found",
            "no message may change the direction of text"
        );
    }
}
