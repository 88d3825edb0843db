//! What a path is for, who a root is, and how paths are resolved.

use pilot_types::PathAccess;
use serde::{Deserialize, Serialize};

/// What somebody wants to do with a path. Each access has its own rules; none is weaker than reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read or list. Links may be followed as long as they stay inside.
    Read,
    /// `write_file` and other writers: strict names, md, csv and xlsx only, never below `memory/` or `skills/`.
    Write,
    /// `memory_write`: below `memory/` only, md only.
    Memory,
    /// An approved outside program: strict names, any extension, never below `memory/` or `skills/`.
    Outside,
    /// The person's own upload or save: portable names, any extension, any folder.
    Operator,
}

impl From<PathAccess> for Access {
    fn from(access: PathAccess) -> Self {
        match access {
            PathAccess::Read => Access::Read,
            PathAccess::Write => Access::Write,
            PathAccess::Memory => Access::Memory,
            PathAccess::Outside => Access::Outside,
        }
    }
}

/// Which folder a root is, whatever its name. Stored with a checkpoint and compared when it is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RootIdentity {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

/// How a relative path is turned into a handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolver {
    /// `openat2` where the kernel has it and lets us use it, otherwise [`Resolver::Walk`].
    #[default]
    Auto,
    /// One `openat2` with `RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV`. Linux 5.6.
    OpenAt2,
    /// One `openat` with `O_NOFOLLOW` for each component; links are followed by our own bounded code.
    Walk,
}
