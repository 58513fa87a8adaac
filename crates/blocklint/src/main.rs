//! The `blocklint` command: arguments, commands, exit codes.

mod arguments;
mod commands;
mod console;
mod interrupt;
mod messages;
mod output_file;
mod progress;
mod run_arguments;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::messages::{Failure, report_failure};

/// With the system's allocator a run takes a fifth longer, because extraction allocates many small tables on all
/// threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code if no findings are shown, or with `--exit-zero`.
const CLEAN: u8 = 0;
/// The exit code if findings are shown.
const FOUND: u8 = 1;
/// The exit code if the arguments are invalid or the run failed.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    blocklint_engine::install_hook();
    console::set_colors_from_environment();
    let arguments = Arguments::parse();
    console::apply_arguments(arguments.global);
    let result = std::panic::catch_unwind(|| run(arguments.command));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => report_failure(&failure),
        // The panic hook has printed the message and the location.
        Err(_) => report_failure(&Failure::new("internal error; please report it with the lines above")),
    };
    ExitCode::from(code)
}

fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Check(check) => commands::check(&check),
        Command::Baseline { command } => commands::baseline(&command),
        Command::Plan(plan) => commands::plan_command(&plan),
        Command::Ask(ask) => commands::ask_command(&ask),
        Command::Codemod(codemod) => commands::codemod(&codemod),
        Command::Clean(clean) => commands::clean(&clean),
        Command::Rule(rule) => commands::rule(&rule),
        Command::Why(why) => commands::why(&why),
        Command::Config(config) => commands::config(&config),
        Command::Models { command } => commands::models(&command),
        Command::Server { .. } => commands::server(),
        Command::Debug { command } => commands::debug(&command),
        Command::GenerateShellCompletion { shell } => commands::shell_completion(shell),
        Command::GenerateManPage { output_folder } => commands::man_page(output_folder.as_deref()),
        Command::Version => commands::version(),
    }
}
