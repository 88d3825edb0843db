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
    /// Conversations: tasks that follow one another.
    Sessions {
        #[command(subcommand)]
        action: Sessions,
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
    /// Rules that start tasks at their times.
    Schedules {
        #[command(subcommand)]
        action: Schedules,
    },
    /// Doors of the local webhook, each with a token of its own.
    Channels {
        #[command(subcommand)]
        action: Channels,
    },
    /// Run schedules and webhook without a window, until Ctrl-C.
    Serve {
        /// Port of the webhook on 127.0.0.1; 0 takes a free one. Default: that of the settings.
        #[arg(long)]
        port: Option<u16>,
    },
    /// Models, their addresses and keys.
    Providers {
        #[command(subcommand)]
        action: Providers,
    },
    /// Tokens that models used, by day and provider.
    Usage {
        /// The last days, today included.
        #[arg(long, default_value_t = 30)]
        days: u32,
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
    /// Write everything that this program keeps, without keys, into one file.
    Backup {
        /// Where to; never over a file that is there.
        to: PathBuf,
        /// Leave out the versions that writes replaced.
        #[arg(long)]
        without_undo: bool,
    },
    /// Put a backup in the place of what this program keeps; that is kept aside. Close everything else first.
    Restore {
        /// The backup.
        from: PathBuf,
    },
    /// What is missing on this machine.
    Doctor {
        /// Write a file for support without any content; never over a file that is there.
        #[arg(long)]
        bundle: Option<PathBuf>,
    },
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
    /// Conversation that it joins.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Task that it follows: the model is given an extract of the turns up to it.
    #[arg(long)]
    pub(crate) follow_up: Option<String>,
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
    /// Run it again: the same goal, folder and model.
    Again {
        /// Task.
        id: String,
        /// A file to use, relative to the folder; may be given more than once.
        #[arg(long = "file")]
        files: Vec<String>,
    },
    /// Delete one that has ended: its words, cards and replaced versions. Files in the folder stay.
    Delete {
        /// Task.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// Conversations, those that wait for you first.
    List {
        /// Those that were put away.
        #[arg(long)]
        archived: bool,
        /// Only with this text in the title or in a goal.
        #[arg(long)]
        search: Option<String>,
    },
    /// One conversation with its turns.
    Show {
        /// Conversation.
        id: String,
    },
    /// Give it another title.
    Rename {
        /// Conversation.
        id: String,
        /// The title.
        title: String,
    },
    /// Put it away; nothing of it is deleted or stopped.
    Archive {
        /// Conversation.
        id: String,
        /// Put it back instead.
        #[arg(long)]
        undo: bool,
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
    /// Point one to the place where its folder is now.
    Move {
        /// Workspace.
        id: String,
        /// The folder.
        folder: PathBuf,
    },
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
    /// Services and servers with their usual addresses.
    Presets,
    /// Servers of models that run on this computer.
    Detect,
    /// Set one up, or change it.
    Add {
        /// Name.
        name: String,
        /// What the server speaks.
        #[arg(long, value_enum, default_value = "openai")]
        kind: WireKind,
        /// Its address.
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
    /// Try it: is it there, does it take the key, does it have the model, does the model call tools?
    Test {
        /// Name.
        name: String,
    },
    /// The models that it offers.
    Models {
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

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WireKind {
    /// OpenAI-compatible chat completions.
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schedules {
    /// Make one.
    Add {
        /// Five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly.
        rule: String,
        /// What each of its tasks is to do.
        goal: String,
        /// The folder; registered on first use.
        #[arg(long)]
        workspace: PathBuf,
        /// Time zone of the rule, such as Asia/Shanghai. Default: UTC.
        #[arg(long)]
        zone: Option<String>,
        /// `offline`, `env`, a name from the settings, or `scripted:FILE`. Default: the folder's own choice.
        #[arg(long)]
        provider: Option<String>,
    },
    /// All schedules, with their next times and what became of the last ones.
    List,
    /// Change rule, goal or time zone. What is not given stays.
    Edit {
        /// Schedule.
        id: String,
        /// Rule.
        #[arg(long)]
        rule: Option<String>,
        /// Goal.
        #[arg(long)]
        goal: Option<String>,
        /// Time zone; `UTC` for none.
        #[arg(long)]
        zone: Option<String>,
    },
    /// Leave out its times until it is resumed.
    Pause {
        /// Schedule.
        id: String,
    },
    /// Let it go on.
    Resume {
        /// Schedule.
        id: String,
    },
    /// Remove it; its tasks stay.
    Remove {
        /// Schedule.
        id: String,
    },
    /// Start its task now and follow it to its next stop.
    Run {
        /// Schedule.
        id: String,
    },
    /// When a rule comes round; makes nothing.
    Preview {
        /// Rule.
        rule: String,
        /// Moment to begin after (RFC 3339). Default: now.
        #[arg(long)]
        from: Option<String>,
        /// How many times, at most 1,000.
        #[arg(long, default_value_t = 5)]
        count: usize,
        /// Time zone of the rule. Default: UTC.
        #[arg(long)]
        zone: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Channels {
    /// Make one. Its token is shown this once.
    Add {
        /// The folder; registered on first use.
        #[arg(long)]
        workspace: PathBuf,
        /// What you call it.
        #[arg(long)]
        name: String,
    },
    /// All channels whose token works.
    List,
    /// Make its token worthless, at once and for good.
    Remove {
        /// Channel.
        id: String,
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
    /// What is remembered, and how much of it a task is given.
    Show {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
        /// Another page, such as memory/2026-03-01.md.
        #[arg(long)]
        page: Option<String>,
    },
    /// Replace a page with standard input.
    Edit {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
        /// Another page, such as memory/2026-03-01.md.
        #[arg(long)]
        page: Option<String>,
    },
    /// Who changed a page, and when.
    History {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
        /// Another page, such as memory/2026-03-01.md.
        #[arg(long)]
        page: Option<String>,
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
    /// Make a skill of a folder; the text of its SKILL.md comes from standard input.
    New {
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Replace the SKILL.md of a folder's own skill with standard input.
    Edit {
        /// Name of its folder below skills/.
        name: String,
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Remove a folder's own skill; its text is kept for undo.
    Remove {
        /// Name of its folder below skills/.
        name: String,
        /// The folder.
        #[arg(long)]
        workspace: PathBuf,
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
