//! Outside tools: programs that speak the Model Context Protocol over their standard streams.
//!
//! * [`ServerDeclaration`] is what a person wrote about a server; [`read_servers`] checks it. Nothing else makes a tool:
//!   a server is never asked which tools it has.
//! * `capability` works out what a tool may do when that was not declared, and never anything weaker than the kernel can
//!   hold the program to ([`Confinement`]).
//! * `McpTool` is an ordinary tool. Each call starts one process, shakes hands, calls once, and ends it with everything
//!   that it started.
//! * `supervise` is the other side: this very program, started again, which starts the server below itself. It adopts
//!   whatever the server leaves behind, and kills it, also when the parent dies.
//!
//! Only this folder knows the protocol's library. A call reaches a server only through [`pilot_agent::AuthorizedCall`].

mod capability;
mod client;
mod confinement;
mod declaration;
mod landlock;
mod process;
mod program;
mod supervise;
mod tool;
mod workspace_fs;

pub use capability::{Found, Resolved, resolve};
pub use client::ServerGreeting;
pub use confinement::Confinement;
pub use declaration::{
    Annotations, BUILT_IN_SERVER, DeclarationError, ServerDeclaration, ToolDeclaration, read_server,
    read_servers, tool_name,
};
pub use supervise::{SUPERVISOR_ARGUMENT, supervise_if_asked};
pub use tool::greet;

pub(crate) use tool::register;

use crate::WorkerCommand;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Bounds of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpLimits {
    /// From the start of the process to its answer.
    pub call: Duration,
    /// How long a server may take to end when it is told to, before it is killed.
    pub grace: Duration,
    /// Bytes that a server may say on its standard output, in all.
    pub output_bytes: usize,
    /// Bytes of an answer that the model gets.
    pub answer_bytes: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(30),
            grace: Duration::from_millis(400),
            output_bytes: 8 << 20,
            answer_bytes: 100 * 1024,
        }
    }
}

/// How outside programs are started.
#[derive(Clone, Debug)]
pub struct McpSetup {
    /// Program that starts a server below itself; normally this very program.
    pub supervisor: WorkerCommand,
    /// Bounds.
    pub limits: McpLimits,
    /// What the kernel can hold a program to.
    pub confinement: Confinement,
    /// True when nothing may run that cannot be confined whole.
    pub demand: bool,
    /// Folders that no program is given for reading: the person's home as such, the application's data.
    pub off_limits: Vec<PathBuf>,
}

/// The outside tools of one run.
#[derive(Clone, Debug)]
pub struct McpDeps {
    /// How they are started.
    pub setup: Arc<McpSetup>,
    /// Servers that this workspace allows, by name.
    pub servers: BTreeMap<String, ServerDeclaration>,
    /// True when the workspace allows [`BUILT_IN_SERVER`] and nothing of that name is declared.
    pub built_in: bool,
}

/// This program itself, asked to supervise one server. Its `main` must begin with [`supervise_if_asked`].
///
/// # Errors
/// When the system does not say which program this is.
pub fn this_supervisor() -> std::io::Result<WorkerCommand> {
    let WorkerCommand { program, .. } = WorkerCommand::this_program()?;
    Ok(WorkerCommand { program, args: vec![SUPERVISOR_ARGUMENT.to_owned()] })
}
