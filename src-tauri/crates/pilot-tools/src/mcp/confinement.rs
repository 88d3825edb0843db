//! What the kernel can hold an outside program to.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Lowest Landlock ABI that can refuse TCP (kernel 6.7); it also refuses truncating.
const WHOLE_FROM: u32 = 4;

/// The word for a program that is held to files and not from the network.
pub(super) const FILES_ONLY: &str = "files_only";

/// How far an outside program can be confined on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Confinement {
    /// Files and TCP.
    Whole {
        /// Landlock ABI.
        abi: u32,
    },
    /// Files, but not the network.
    FilesOnly {
        /// Landlock ABI.
        abi: u32,
    },
    /// Not at all: it has the person's own rights.
    None,
}

impl Confinement {
    /// Asks the kernel, once in the life of the process.
    #[must_use]
    pub fn of_this_computer() -> Self {
        static FOUND: OnceLock<Confinement> = OnceLock::new();
        *FOUND.get_or_init(|| Self::from_abi(super::landlock::abi()))
    }

    fn from_abi(abi: u32) -> Self {
        match abi {
            0 => Self::None,
            1..WHOLE_FROM => Self::FilesOnly { abi },
            WHOLE_FROM.. => Self::Whole { abi },
        }
    }

    /// True when files and TCP are held.
    #[must_use]
    pub fn is_whole(self) -> bool {
        match self {
            Self::Whole { .. } => true,
            Self::FilesOnly { .. } | Self::None => false,
        }
    }

    /// True when Landlock can be applied at all.
    #[must_use]
    pub fn is_any(self) -> bool {
        match self {
            Self::Whole { .. } | Self::FilesOnly { .. } => true,
            Self::None => false,
        }
    }

    /// One word for records and cards.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole { .. } => "files_and_network",
            Self::FilesOnly { .. } => FILES_ONLY,
            Self::None => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_abi_decides() {
        assert_eq!(Confinement::from_abi(0), Confinement::None, "no Landlock");
        assert_eq!(Confinement::from_abi(3), Confinement::FilesOnly { abi: 3 }, "before TCP was known");
        assert_eq!(Confinement::from_abi(4), Confinement::Whole { abi: 4 }, "kernel 6.7");
        assert_eq!(
            Confinement::from_abi(99),
            Confinement::Whole { abi: 99 },
            "a later kernel keeps what it has"
        );
    }
}
