//! SQLite: migrations and one repository a table. The only crate that knows `sqlx`, and the owner of the data folder.
//!
//! **What this crate must not know:** what a task does, which tool or provider exists, what policy says, the
//! workspace's files, the window. It keeps rows and answers questions about rows. Repositories are functions on a
//! connection; the caller owns the transaction ([`Store::begin`]), so that what belongs together is committed together.
//!
//! Four promises live here and nowhere else:
//! - one conditional update decides an approval ([`approvals::transition`]), and an approval has at most one
//!   execution ([`executions::start`]);
//! - the record is one hash chain over all tasks with numbers without gaps in each ([`events`]);
//! - what was committed survives (WAL, `synchronous=FULL`), and a damaged or newer database is refused with words,
//!   never replaced by an empty one ([`Store::open`]);
//! - whether another process lives is read from the lock that it holds ([`process_alive`]), never from a number.

pub mod answers;
pub mod approvals;
pub mod archive;
pub mod artifacts;
pub mod backup;
mod cells;
pub mod channels;
pub mod consents;
mod data_dir;
pub mod edits;
mod error;
pub mod events;
pub mod executions;
pub mod facts;
mod open;
mod process;
pub mod retention;
pub mod schedules;
pub mod sessions;
pub mod settings;
mod store;
pub mod tasks;
pub mod usage;
pub mod workspaces;

pub use approvals::{ApprovalEdit, ApprovalRow, EffectKind};
pub use artifacts::ArtifactRow;
pub use channels::ChannelRow;
pub use data_dir::{DataDir, LogFile};
pub use edits::EditRow;
pub use error::StoreError;
pub use events::{ChainCheck, ChainEntry};
pub use executions::ExecutionRow;
pub use process::{ProcessLock, Role, others_alive, process_alive};
pub use schedules::{RunRow, ScheduleRow};
pub use sessions::{SessionFilter, SessionRow, SessionSummary};
pub use sqlx::SqliteConnection;
pub use store::{Reader, Store, Tx};
pub use workspaces::WorkspaceRow;
