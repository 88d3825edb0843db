//! The service as the window and the command line use it, on real folders and a real database.

mod approvals;
mod bindings;
mod resolvers;
mod support;
mod tasks;
mod undo;
