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
use crate::messages::Failure;

/// The system's allocator costs a fifth of a run: extraction makes many small tables on all threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Nothing is found, or findings were asked not to count.
const CLEAN: u8 = 0;
/// Findings are shown.
const FOUND: u8 = 1;
/// The run was asked wrongly or failed.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    blocklint_engine::install_hook();
    console::set_up();
    let arguments = Arguments::parse();
    console::heed(arguments.global);
    let ended = std::panic::catch_unwind(|| run(arguments.command));
    let code = match ended {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => failure.tell(),
        // The hook has told what happened.
        Err(_) => Failure::new("internal error; please report it with the lines above").tell(),
    };
    ExitCode::from(code)
}

fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Check(check) => commands::check(&check),
        Command::Baseline { what } => commands::baseline(&what),
        Command::Plan(plan) => commands::plan_command(&plan),
        Command::Ask(ask) => commands::ask_command(&ask),
        Command::Codemod(codemod) => commands::codemod(&codemod),
        Command::Clean(clean) => commands::clean(&clean),
        Command::Rule(rule) => commands::rule(&rule),
        Command::Why(why) => commands::why(&why),
        Command::Config(config) => commands::config(&config),
        Command::Models { what } => commands::models(&what),
        Command::Server { .. } => commands::server(),
        Command::Debug { what } => commands::debug(&what),
        Command::GenerateShellCompletion { shell } => commands::shell_completion(shell),
        Command::GenerateManPage { output_folder } => commands::man_page(output_folder.as_deref()),
        Command::Version => commands::version(),
    }
}
