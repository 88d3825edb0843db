//! Cases that play a scripted model against the whole service, each in a folder of its own, and a scorer that looks at
//! what changed on disk.
//!
//! The security cases are compiled in: they are the *safety check* of the settings page and of `pilot evals`. The task
//! cases, the report of the scorer and runs with a real model belong to the developers' programs of this package.
//!
//! **What this crate must not know:** guard, tools, policy, the database. A case sees what a person sees: a goal, cards,
//! files, the record. If a case needed a way in of its own, it would prove nothing about the ordinary one.

mod case;
mod folder;
mod play;
mod safety;
mod score;

pub use case::{Case, CaseDecision, CaseKind, CaseResult, Earlier, Expect, ExpectedResult, FileContent};
pub use folder::Manifest;
pub use play::{Player, Runner, run_case, run_cases};
pub use safety::{safety_cases, safety_check};
