//! The global options of a process: colours, verbosity, progress, and the containment of failures.

use std::env;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI8, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use blocklint_engine::Containment;

use crate::run_arguments::{ColorWhen, GlobalArguments};

/// The number of `-v` options minus the number of `-q` options.
static VERBOSITY: AtomicI8 = AtomicI8::new(0);
static CONTAINMENT: OnceLock<Containment> = OnceLock::new();

/// Sets colours from the environment, for messages that are printed before the arguments are parsed.
pub(crate) fn set_colors_from_environment() {
    color_choice(None).write_global();
}

/// Stores the global options of the command line.
pub(crate) fn apply_arguments(arguments: GlobalArguments) {
    color_choice(arguments.color).write_global();
    let level = |count: u8| i8::try_from(count).unwrap_or(i8::MAX);
    VERBOSITY.store(level(arguments.verbose).saturating_sub(level(arguments.quiet)), Ordering::Relaxed);
    let usual = Containment::default();
    let patience = arguments.patience.map_or(usual.patience, Duration::from_secs_f64);
    let _ = CONTAINMENT.set(Containment { patience, fault: arguments.inject_fault });
}

/// Returns how functions whose analysis fails are treated.
pub(crate) fn containment() -> Containment {
    CONTAINMENT.get().copied().unwrap_or_default()
}

/// Returns the colour choice: `--color`, else `FORCE_COLOR`, else automatic, which the library derives from `NO_COLOR`
/// and the terminal.
fn color_choice(when: Option<ColorWhen>) -> ColorChoice {
    match when {
        Some(ColorWhen::Always) => ColorChoice::Always,
        Some(ColorWhen::Never) => ColorChoice::Never,
        Some(ColorWhen::Auto) | None => match env::var_os("FORCE_COLOR") {
            Some(value) if value == "0" || value == "false" => ColorChoice::Never,
            Some(value) if !value.is_empty() => ColorChoice::Always,
            _ => ColorChoice::Auto,
        },
    }
}

/// Returns the number of `-v` options minus the number of `-q` options.
pub(crate) fn verbosity() -> i8 {
    VERBOSITY.load(Ordering::Relaxed)
}

/// True if output on stdout is coloured.
pub(crate) fn stdout_is_styled() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// True if stdout is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// True if stdout is a terminal that supports hyperlinks.
pub(crate) fn stdout_has_links() -> bool {
    stdout_is_styled() && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout)
}

/// True if the progress of a run is shown: stderr is a terminal, and neither `-q` nor `-v` is given.
pub(crate) fn shows_progress() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    verbosity() == 0 && std::io::stderr().is_terminal() && !is_dumb
}
