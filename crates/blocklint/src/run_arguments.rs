//! Options of runs (threads, watch, stdin) and of every command (colour, verbosity).

use blocklint_engine::Fault;
use camino::Utf8PathBuf;
use clap::{ArgAction, Args, ValueEnum};

/// Options of `check` about the run itself.
#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// With `-` as path: the file whose text is read from stdin; its findings are reported
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) stdin_filename: Option<Utf8PathBuf>,
    /// Show at most this many findings, those of the most important causes first
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub(crate) max_findings: Option<u32>,
    /// Run again whenever a file changes, until Ctrl-C
    #[arg(short, long, conflicts_with_all = ["fix", "diff"], help_heading = "Output")]
    pub(crate) watch: bool,
    /// The number of threads [default: the number of processors]
    #[arg(short = 'j', long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Options of every command about the amount and the colour of output.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct GlobalArguments {
    /// When to colour [default: auto, which heeds NO_COLOR and FORCE_COLOR]
    #[arg(long, value_enum, value_name = "WHEN", global = true, help_heading = "Global options")]
    pub(crate) color: Option<ColorWhen>,
    /// Print less: only findings; twice: only errors
    #[arg(short, long, action = ArgAction::Count, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub(crate) quiet: u8,
    /// Print more on stderr: the files that are read; twice: also durations
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = "Global options")]
    pub(crate) verbose: u8,
    /// Let the analysis of a function fail, for tests: `panic:NAME`, `stall:NAME`
    #[arg(long, value_name = "KIND:FUNCTION", global = true, hide = true, value_parser = parse_fault)]
    pub(crate) inject_fault: Option<Fault>,
    /// The time limit of the analysis of a function in seconds, for tests
    #[arg(long, value_name = "SECONDS", global = true, hide = true)]
    pub(crate) patience: Option<f64>,
}

/// Parses `panic:NAME` or `stall:NAME`. The name is leaked, so that a fault is `Copy`.
fn parse_fault(text: &str) -> Result<Fault, String> {
    let (kind, function) = text.split_once(':').ok_or("expected KIND:FUNCTION")?;
    let stalls = match kind {
        "panic" => false,
        "stall" => true,
        _ => return Err("the kinds are `panic` and `stall`".to_owned()),
    };
    Ok(Fault { function: function.to_owned().leak(), stalls })
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// If the output is a terminal that shows colour
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The kind of `--statistics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatisticsKind {
    /// The findings of each rule
    Rule,
    /// The findings of each cause, the functions that it stalls, and for how long
    Cause,
}
