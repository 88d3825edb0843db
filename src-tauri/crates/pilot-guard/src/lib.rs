//! The only room that opens workspace files.
//!
//! A [`WorkspaceGuard`] holds a descriptor of the workspace root from the moment it is made and answers relative paths
//! with open handles, never with checked strings. Writing follows one protocol: exclusive temporary file in the same
//! directory handle, fsync, check of the base digest on a fresh handle, rename, fsync of the directory. The bytes that
//! a write replaces are first made durable in an [`UndoStore`] outside the workspace.
//!
//! A [`FolderWatch`] says which paths changed. It only says so: whoever hears it looks by the guard, as always.
//!
//! Every call blocks; callers in async code use a blocking thread.
//!
//! **What this crate must not know:** tools, models, tasks, approvals, the database.
//!
//! **Invariants:**
//! * a [`GuardedFile`] cannot be made from a string;
//! * an inode that exists is never opened for writing;
//! * nothing between the root descriptor and a target is looked up twice: a race can change which file is reached
//!   inside the workspace, never that it is inside;
//! * no message of a [`GuardError`] holds a path of this computer.
#![expect(
    clippy::disallowed_methods,
    reason = "this room owns access to workspace files and to the undo store"
)]

mod access;
mod error;
mod file;
mod guard;
mod hidden;
mod list;
mod names;
mod outside;
mod path;
mod register;
mod resolve;
mod sys;
mod temp;
mod undo;
mod watch;
mod write;

pub use access::{Access, Resolver, RootIdentity};
pub use error::{GuardError, NameProblem, ShownPath};
pub use file::GuardedFile;
pub use guard::WorkspaceGuard;
pub use hidden::{is_hidden, shown};
pub use list::{Entry, EntryKind, ListOptions, Listing};
pub use names::{EXTENSIONS, MAX_DEPTH, MEMORY, SKILLS};
pub use outside::{OutsideFile, make_folder, measure, save_outside};
pub use path::{MAX_COMPONENT, MAX_PATH, RelativePath};
pub use register::register_root;
pub use temp::temp_name;
pub use undo::{UndoLimits, UndoStore, UndoUsage};
pub use watch::{DiskNotice, FolderWatch, WatchMode, WatchOptions};
pub use write::{FileCopy, FileWrite, MAX_TARGET, Written};
