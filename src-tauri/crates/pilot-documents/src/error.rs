//! Why a document could not be read or written.

use pilot_types::ErrorCode;

/// A document that could not be read, or bytes that could not be made. The text is for people; programs use
/// [`DocumentError::code`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Not a kind that can be read.
    #[error("{0}")]
    Unsupported(String),
    /// Damaged.
    #[error("{0}")]
    Broken(String),
    /// Needs a password.
    #[error("{0}")]
    Encrypted(String),
    /// Only pictures of pages.
    #[error("{0}")]
    Scanned(String),
    /// A text layer that is not readable text.
    #[error("{0}")]
    Garbled(String),
    /// Beyond a limit.
    #[error("{0}")]
    Limit(String),
    /// The reader stopped.
    #[error("{0}")]
    Crashed(String),
    /// What was asked for does not fit the document or the rules of the format.
    #[error("{0}")]
    Arguments(String),
}

impl DocumentError {
    /// The code that the window and the command line translate.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unsupported(_) => ErrorCode::DocumentUnsupported,
            Self::Broken(_) => ErrorCode::DocumentBroken,
            Self::Encrypted(_) => ErrorCode::DocumentEncrypted,
            Self::Scanned(_) => ErrorCode::DocumentScanned,
            Self::Garbled(_) => ErrorCode::DocumentGarbled,
            Self::Limit(_) => ErrorCode::DocumentLimit,
            Self::Crashed(_) => ErrorCode::DocumentCrashed,
            Self::Arguments(_) => ErrorCode::InvalidArguments,
        }
    }
}
