//! Options of every command: what the terminal can, how much is to be said, what is done about failures.

use std::env;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI8, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use blocklint_engine::Containment;

use crate::run_arguments::{ColorWhen, GlobalArguments};

/// Below zero by how often `-q` was given, above by `-v`.
static VERBOSITY: AtomicI8 = AtomicI8::new(0);
static CONTAINMENT: OnceLock<Containment> = OnceLock::new();

/// Settles colours by the environment, for what is said before the arguments are known.
pub(crate) fn set_up() {
    color(None).write_global();
}

/// Settles colours and how much is said.
pub(crate) fn heed(arguments: GlobalArguments) {
    color(arguments.color).write_global();
    let level = |count: u8| i8::try_from(count).unwrap_or(i8::MAX);
    VERBOSITY.store(level(arguments.verbose).saturating_sub(level(arguments.quiet)), Ordering::Relaxed);
    let usual = Containment::default();
    let patience = arguments.patience.map_or(usual.patience, Duration::from_secs_f64);
    let _ = CONTAINMENT.set(Containment { patience, fault: arguments.inject_fault });
}

/// How functions whose analysis fails are treated.
pub(crate) fn containment() -> Containment {
    CONTAINMENT.get().copied().unwrap_or_default()
}

/// `--color` wins over `FORCE_COLOR`, and that over `NO_COLOR`, which the library heeds together with the terminal.
fn color(when: Option<ColorWhen>) -> ColorChoice {
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

/// Below zero by how often `-q` was given, above by `-v`.
pub(crate) fn verbosity() -> i8 {
    VERBOSITY.load(Ordering::Relaxed)
}

/// True if what goes to stdout is coloured.
pub(crate) fn stdout_is_styled() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// True if a person reads stdout.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// True if stdout is a terminal that makes links of places.
pub(crate) fn stdout_has_links() -> bool {
    stdout_is_styled() && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout)
}

/// True if stderr is a terminal on which the progress of a run may be shown.
pub(crate) fn shows_progress() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    verbosity() == 0 && std::io::stderr().is_terminal() && !is_dumb
}
