//! The words of the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use rust_decimal::Decimal;
use std::path::PathBuf;

/// A local-first agent that may touch your folder, and asks before it writes.
#[derive(Debug, Parser)]
#[command(name = "pilot", version, propagate_version = true)]
pub(crate) struct Arguments {
    /// Folder of the application's own data.
    #[arg(long, global = true, env = "POCKETPILOT_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// One JSON object a line on standard output, and nothing else there.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Give a goal to a folder.
    Run(Run),
    /// Look at tasks, stop or resume them.
    Tasks {
        #[command(subcommand)]
        action: Tasks,
    },
    /// Look at what waits for you, and decide.
    Approvals {
        #[command(subcommand)]
        action: Approvals,
    },
    /// What a task in a folder could touch.
    Reach {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Read documents.
    Extract {
        /// Files, relative to the folder.
        #[arg(required = true)]
        files: Vec<String>,
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Add up invoices and tables.
    Analyze {
        /// Files or folders, relative to the folder.
        #[arg(required = true)]
        paths: Vec<String>,
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
        /// An amount above the median times this is an outlier.
        #[arg(long)]
        outlier_multiplier: Option<Decimal>,
    },
    /// Folders that tasks may work in.
    Workspaces {
        #[command(subcommand)]
        action: Workspaces,
    },
    /// Files that tasks wrote.
    Artifacts {
        #[command(subcommand)]
        action: Artifacts,
    },
    /// Models, their addresses and keys.
    Providers {
        #[command(subcommand)]
        action: Providers,
    },
    /// Outside tools: what is declared, and whether it works.
    Mcp {
        #[command(subcommand)]
        action: Mcp,
    },
    /// The memory of a folder.
    Memory {
        #[command(subcommand)]
        action: Memory,
    },
    /// Manuals that a model can ask for.
    Skills {
        #[command(subcommand)]
        action: Skills,
    },
    /// The record of everything that happened.
    Audit {
        #[command(subcommand)]
        action: Audit,
    },
    /// The safety check: scripted attacks on temporary folders.
    Evals {
        /// One case only.
        #[arg(long)]
        case: Option<String>,
    },
    /// What is missing on this machine.
    Doctor,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What you want.
    pub(crate) goal: String,
    /// The folder; registered on first use.
    #[arg(long)]
    pub(crate) workspace: PathBuf,
    /// `offline`, `env`, a name from the settings, or `scripted:FILE`. Default: the folder's own choice.
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Model calls at most.
    #[arg(long)]
    pub(crate) max_steps: Option<u32>,
    /// What to do at a card. Default: `ask` on a terminal, `never` elsewhere.
    #[arg(long, value_enum)]
    pub(crate) approve: Option<ApproveMode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveMode {
    /// Show the card and ask.
    Ask,
    /// Stop at the first card.
    Never,
    /// Show each card, then approve it. For scripted tests only.
    AllShown,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tasks {
    /// All tasks.
    List,
    /// One task.
    Show {
        /// Task.
        id: String,
    },
    /// Its record.
    Events {
        /// Task.
        id: String,
    },
    /// Stop it.
    Cancel {
        /// Task.
        id: String,
    },
    /// Go on with an interrupted one.
    Resume {
        /// Task.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// Cards that wait.
    List {
        /// The decided ones too.
        #[arg(long)]
        all: bool,
    },
    /// A whole card.
    Show {
        /// Card.
        id: String,
    },
    /// Approve this one call, once.
    Approve {
        /// Card.
        id: String,
        /// Other arguments, as JSON.
        #[arg(long)]
        edit: Option<String>,
    },
    /// Reject it.
    Reject {
        /// Card.
        id: String,
        /// A word to the model.
        #[arg(long)]
        note: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Workspaces {
    /// Register a folder.
    Add {
        /// The folder.
        folder: PathBuf,
        /// Outside tools allowed here.
        #[arg(long)]
        allow_mcp: Vec<String>,
    },
    /// All folders.
    List,
    /// Take one off the list; its files stay.
    Remove {
        /// Workspace.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Artifacts {
    /// All files that tasks wrote.
    List,
    /// Copy one to a place of your choice; never over a file that is there.
    Save {
        /// Artifact.
        id: String,
        /// Where to.
        to: PathBuf,
    },
    /// Take the write back.
    Undo {
        /// Artifact.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Providers {
    /// All providers.
    List,
    /// Set one up, or change it.
    Add {
        /// Name.
        name: String,
        /// Address of an OpenAI-compatible server.
        #[arg(long)]
        base_url: String,
        /// Model.
        #[arg(long)]
        model: String,
    },
    /// Keep its key, read from standard input.
    Key {
        /// Name.
        name: String,
    },
    /// Remove it and its key.
    Remove {
        /// Name.
        name: String,
    },
    /// Say that content of a folder may go to it.
    Allow {
        /// Name.
        name: String,
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Declared servers, their tools, and what holds them.
    List,
    /// Start a server in an empty folder and shake hands with it. No tool is called.
    Check {
        /// Server.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// What is remembered.
    Show {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Replace it with standard input.
    Edit {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// All skills.
    List {
        /// The folder, for its own skills.
        #[arg(long)]
        workspace: Option<PathBuf>,
    },
    /// One skill.
    Show {
        /// Name.
        name: String,
        /// The folder, for its own skills.
        #[arg(long)]
        workspace: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Look through the chain.
    Verify,
    /// Write it out.
    Export {
        /// Form.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: ExportFormat,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line.
    Jsonl,
    /// A table.
    Md,
}
