//! The `pilot` command.

fn main() -> std::process::ExitCode {
    pilot_cli::main().into()
}
