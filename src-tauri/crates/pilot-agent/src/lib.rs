//! The loop, and the ports through which it meets the world.
//!
//! **What this crate must not know:** the database, the policy engine, the guard, which tools or providers exist, the
//! window. It is given a [`ModelProvider`], a [`ToolRegistry`], a [`Gate`], an [`EventSink`] and a [`Clock`], and
//! answers with a [`RunOutcome`]. It can run a tool only through [`AuthorizedCall`], which is made from
//! [`Verdict::Allow`](pilot_types::Verdict) or by consuming an [`ApprovalGrant`].

mod authorize;
mod conversation;
mod port;
mod run;
mod schema;
mod settle;
mod transcript;
mod wait;

pub use authorize::{ApprovalGrant, AuthorizedCall};
pub use port::{
    Clock, DeltaSink, EventSink, Gate, ModelAnswer, ModelError, ModelProvider, ModelRequest, SinkError,
    SystemClock, Tool, ToolContext, ToolError, ToolRegistry,
};
pub use run::{Checkpoint, RunOutcome, RunPorts, RunStart, run_task};
pub use schema::check_arguments;
pub use settle::{CALLS_PER_ANSWER, TOOL_TIMEOUT};
pub use transcript::rebuild;
