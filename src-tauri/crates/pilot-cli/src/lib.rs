//! The `pilot` command: the same services on the same data as the window, for terminals and scripts.
//!
//! **What this crate must not know:** workspace files, SQL, policy. It shows what the service says and passes on what
//! a person types. Its words, formats and exit codes are a contract; ARCHITECTURE.md has them.

mod arguments;
mod card;
mod commands;
mod output;
mod run;
mod serve;
mod words;

use arguments::{Arguments, Command, Schedules};
use clap::Parser as _;
use output::Output;
use pilot_service::{OpenOptions, Service, ServiceError};
use pilot_types::ErrorCode;

/// How the command ends; the numbers are the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// Not a call that this command knows.
    Usage = 2,
    /// Stopped at a card.
    WaitingApproval = 3,
    /// A path or call given to the command itself was refused.
    Refused = 4,
    /// Interrupted; can be resumed.
    Interrupted = 5,
}

/// Runs the command with the process's arguments and returns its exit code.
#[must_use]
pub fn main() -> u8 {
    // The reader of documents and the supervisor of outside tools are this same program; it must not do anything else first.
    if let Some(code) = pilot_service::serve_as_child() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, everything else is a usage error; clap prints both to the right place.
            let code = if error.use_stderr() { Exit::Usage as u8 } else { 0 };
            let _ = error.print();
            return code;
        }
    };
    let _ = tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("POCKETPILOT_LOG").unwrap_or_else(|_| "error".into()),
        )
        .with_writer(std::io::stderr)
        .try_init();
    let output = Output::new(arguments.json);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output.failed(&ServiceError::new(ErrorCode::Internal, format!("no runtime: {error}")));
            return Exit::Failed as u8;
        }
    };
    let exit = runtime.block_on(async {
        match dispatch(&arguments, &output).await {
            Ok(exit) => exit,
            Err(error) => {
                output.failed(&error);
                exit_of(&error)
            }
        }
    });
    // A keyring or a reader that hangs must not keep the terminal.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    exit as u8
}

/// Refusals of what was given on the command line end with 4; everything else that went wrong with 1.
fn exit_of(error: &ServiceError) -> Exit {
    match error.code() {
        ErrorCode::Usage
        | ErrorCode::ScheduleFields
        | ErrorCode::ScheduleValue
        | ErrorCode::ScheduleNever
        | ErrorCode::ScheduleZone => Exit::Usage,
        code if is_refusal(code) => Exit::Refused,
        _ => Exit::Failed,
    }
}

fn is_refusal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::PathAbsolute
            | ErrorCode::PathParent
            | ErrorCode::PathInvalid
            | ErrorCode::PathTooLong
            | ErrorCode::PathName
            | ErrorCode::PathExtension
            | ErrorCode::PathProtected
            | ErrorCode::PathEscape
            | ErrorCode::PathSymlink
            | ErrorCode::PathHardlink
            | ErrorCode::PathSpecial
            | ErrorCode::PathMount
            | ErrorCode::PolicyDenied
            | ErrorCode::InvalidArguments
            | ErrorCode::WorkspaceTooWide
            | ErrorCode::WorkspaceHoldsData
            | ErrorCode::WorkspaceNotFolder
    )
}

fn data_dir(arguments: &Arguments) -> Result<std::path::PathBuf, ServiceError> {
    arguments.data_dir.clone().or_else(pilot_service::default_data_dir).ok_or_else(|| {
        ServiceError::new(ErrorCode::Usage, "no data folder: set HOME, POCKETPILOT_DATA_DIR or --data-dir")
    })
}

async fn open(arguments: &Arguments) -> Result<Service, ServiceError> {
    let mut options = OpenOptions::new(data_dir(arguments)?)?;
    options.chinese = words::chinese();
    options.takes_over = matches!(arguments.command, Command::Serve { .. });
    if let Some(clock) = serve::fast_clock() {
        options.clock = clock;
    }
    Service::open(options).await
}

async fn dispatch(arguments: &Arguments, output: &Output) -> Result<Exit, ServiceError> {
    if let Command::Evals { case } = &arguments.command {
        return commands::evals(case.as_deref(), output).await;
    }
    if let Command::Restore { from } = &arguments.command {
        return commands::restore(data_dir(arguments)?, from, output).await;
    }
    if let Command::Run(wanted) = &arguments.command {
        run::check(wanted)?;
    }
    if let Command::Schedules { action: Schedules::Preview { rule, from, count, zone } } = &arguments.command
    {
        return commands::preview(rule, from.as_deref(), *count, zone.as_deref(), output);
    }
    let service = open(arguments).await?;
    let exit = match &arguments.command {
        Command::Run(wanted) => run::run(&service, wanted, output).await,
        Command::Tasks { action } => commands::tasks(&service, action, output).await,
        Command::Sessions { action } => commands::sessions(&service, action, output).await,
        Command::Approvals { action } => commands::approvals(&service, action, output).await,
        Command::Reach { workspace } => commands::reach(&service, workspace, output).await,
        Command::Extract { files, workspace } => commands::extract(&service, files, workspace, output).await,
        Command::Analyze { paths, workspace, outlier_multiplier } => {
            commands::analyze(&service, paths, workspace, *outlier_multiplier, output).await
        }
        Command::Workspaces { action } => commands::workspaces(&service, action, output).await,
        Command::Artifacts { action } => commands::artifacts(&service, action, output).await,
        Command::Schedules { action } => commands::schedules(&service, action, output).await,
        Command::Channels { action } => commands::channels(&service, action, output).await,
        Command::Serve { port } => serve::serve(&service, *port, output).await,
        Command::Providers { action } => commands::providers(&service, action, output).await,
        Command::Usage { days } => commands::usage(&service, *days, output).await,
        Command::Mcp { action } => commands::mcp(&service, action, output).await,
        Command::Memory { action } => commands::memory(&service, action, output).await,
        Command::Skills { action } => commands::skills(&service, action, output).await,
        Command::Audit { action } => commands::audit(&service, action, output).await,
        Command::Backup { to, without_undo } => commands::back_up(&service, to, !without_undo, output).await,
        Command::Doctor { bundle: Some(to) } => commands::support_file(&service, to, output).await,
        Command::Doctor { bundle: None } => commands::doctor(&service, output).await,
        Command::Evals { .. } | Command::Restore { .. } => Ok(Exit::Done),
    };
    service.close().await;
    exit
}
