//! The only room that opens workspace files.
//!
//! A [`WorkspaceGuard`] holds a descriptor of the workspace root from the moment it is made and answers relative paths
//! with open handles, never with checked strings. Writing follows one protocol: exclusive temporary file in the same
//! directory handle, fsync, check of the base digest on a fresh handle, rename, fsync of the directory.
//!
//! **What this crate must not know:** tools, models, tasks, approvals, the database.
