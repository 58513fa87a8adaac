//! The clap definition of the command line: every command with its options. The doc comments are the help texts.

use blocklint_core::{Confidence, Language, Severity};
use blocklint_project::{Configuration, Persona};
use camino::Utf8PathBuf;
use clap::builder::styling::{AnsiColor, Effects, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::run_arguments::{GlobalArguments, RunArguments, StatisticsKind};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

/// Finds calls that block a thread which must not block, through the whole project.
#[derive(Debug, Parser)]
#[command(name = "blocklint", version, styles = STYLES, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find blocking calls in async code
    #[command(after_help = "Exit code: 1 if findings are shown, 0 if none, 2 if the run failed. \
                            BLT902 (unreadable-source) alone never gives 1; with --strict it gives 2.")]
    Check(Box<Check>),
    /// Make, shrink or show the baseline of old findings
    ///
    /// A baseline holds findings that are there and are not reported again. It only shrinks unless it is told to grow,
    /// and it knows findings by rule, function and cause, so that lines may move.
    Baseline {
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Say which few changes free most functions, in order
    ///
    /// Looks at all ways from functions that must not block to the calls that do, and lists the places whose change
    /// ends most findings: a call, or a function that leads to several. Each step says which functions it frees, how
    /// long they are held today, the command with edits where there are any, and the command that shows whether it is
    /// done.
    #[command(
        mut_args = hide_for_plan,
        after_help = "Exit code: 0, or 2 if the run failed. Formats: full and json."
    )]
    Plan(Plan),
    /// Rewrite Python across files to end a finding
    ///
    /// Runs the codemods of blocklint's Python package (`pip install 'blocklint-async[codemods]'`), which rest on
    /// libcst.
    #[command(disable_help_flag = true, after_help = "Exit code: 0, 1 if something was refused, 2 if the run failed.")]
    Codemod(Codemod),
    /// Answer questions about Python code, for programs that rewrite it
    ///
    /// Reads the project once, then one question a line from standard input, and writes one answer a line: what an
    /// expression means, which functions change together and all their uses, how a file spells a name. Questions and
    /// answers are JSON.
    #[command(mut_args = hide_for_ask, after_help = "Exit code: 0, or 2 if the run failed.")]
    Ask(Ask),
    /// Remove the cache of a project
    Clean(Clean),
    /// Show the page of a rule, or of all rules
    #[command(visible_alias = "explain")]
    Rule(Rule),
    /// Explain why a line is reported or not
    ///
    /// Shows what `check` in the current folder finds at the line, with the same options: findings that stand there,
    /// pass there or have a cause there, what of them is hidden and why, and what makes them less sure; then what each
    /// call of the line leads to. The line of a definition shows the function as a whole: why it must not block, who
    /// uses it, what it reaches that blocks.
    #[command(
        mut_args = adapt_for_why,
        after_help = "Exit code: 0, or 2 if a place is no line of a source file or the run failed. Formats: full and json."
    )]
    Why(Why),
    /// Show, check and verify what is known of libraries
    Models {
        #[command(subcommand)]
        command: ModelsCommand,
    },
    /// Serve an editor over standard input and output
    ///
    /// The protocol is LSP, the Language Server Protocol.
    #[command(after_help = "Exit code: 0 if the editor ended it as the protocol says, else 2.")]
    Server {
        /// Accepted for editors that name their transport; there is no other
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// List the keys of the configuration, or describe one
    Config(Config),
    /// Look inside
    #[command(hide = true)]
    Debug {
        #[command(subcommand)]
        command: Debug,
    },
    /// Print the completions of a shell
    ///
    /// A script that completes blocklint's commands and options.
    GenerateShellCompletion {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print blocklint's manual page
    GenerateManPage {
        /// Write the pages of all commands into this folder instead
        #[arg(long, value_name = "FOLDER")]
        output_folder: Option<Utf8PathBuf>,
    },
    /// Show the version
    Version,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Files and folders to report on; the whole project around them is analysed; `-` reads stdin [default: .]
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// Report only these rules: codes, prefixes (BLT1), names, or ALL
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    pub(crate) select: Vec<String>,
    /// Do not report these rules
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    pub(crate) ignore: Vec<String>,
    /// Report these rules besides
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    pub(crate) extend_select: Vec<String>,
    /// How bad a finding must be to be shown [default: warning]
    #[arg(long, value_name = "SEVERITY", value_parser = severity_parser(), help_heading = "Rules")]
    pub(crate) min_severity: Option<Severity>,
    /// How sure a finding must be to be shown [default: medium]
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence_parser(), help_heading = "Rules")]
    pub(crate) min_confidence: Option<Confidence>,
    /// How strict to be: the two levels and --include-aside under one name [default: regular]
    #[arg(long, value_name = "PERSONA", value_parser = persona_parser(), help_heading = "Rules")]
    pub(crate) persona: Option<Persona>,
    /// Report what only tests, examples and command lines reach like everything else
    #[arg(long, help_heading = "Rules")]
    pub(crate) include_aside: bool,
    /// Report also findings elsewhere whose trace or a cause lies in PATHS
    #[arg(long, help_heading = "Files")]
    pub(crate) trace_in_paths: bool,
    /// Do not read files and folders that match these patterns, whatever the configuration excludes
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", value_parser = parse_pattern, help_heading = "Files")]
    pub(crate) exclude: Option<Vec<String>>,
    /// Do not read these besides
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", value_parser = parse_pattern, help_heading = "Files")]
    pub(crate) extend_exclude: Vec<String>,
    /// Leave out what is excluded even where PATHS name it
    #[arg(long, help_heading = "Files")]
    pub(crate) force_exclude: bool,
    /// Apply fixes that keep what the code does
    #[arg(long, help_heading = "Fixes")]
    pub(crate) fix: bool,
    /// Count fixes that a reviewer should look at among those that are applied
    #[arg(long, help_heading = "Fixes")]
    pub(crate) unsafe_fixes: bool,
    /// Say after --fix and --add-ignore not only which files changed, but also for which rules
    #[arg(long, help_heading = "Fixes")]
    pub(crate) show_fixes: bool,
    /// Print what fixes would change, and change nothing
    #[arg(long, help_heading = "Fixes")]
    pub(crate) diff: bool,
    /// Exit with 1 if something was fixed, even if nothing remains
    #[arg(long, help_heading = "Fixes")]
    pub(crate) exit_non_zero_on_fix: bool,
    /// Do not report what this baseline holds [default: blocklint-baseline.json at the project root, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Old findings")]
    pub(crate) baseline: Option<Utf8PathBuf>,
    /// Use no baseline
    #[arg(long, conflicts_with = "baseline", help_heading = "Old findings")]
    pub(crate) no_baseline: bool,
    /// Exit with 1 also if the baseline holds what is found no more, or holds more than before the change; for CI
    #[arg(long, conflicts_with = "no_baseline", help_heading = "Old findings")]
    pub(crate) strict_baseline: bool,
    /// Report only what the work tree brought since it left the branch, tag or commit REF
    #[arg(long, value_name = "REF", help_heading = "Old findings")]
    pub(crate) since: Option<String>,
    /// Report only what changed since the last commit brought
    #[arg(long, conflicts_with = "since", help_heading = "Old findings")]
    pub(crate) changed: bool,
    /// Report only what is staged for the next commit brought; what is not staged is not looked at
    #[arg(
        long,
        conflicts_with_all = ["since", "changed", "fix", "diff", "add_ignore"],
        help_heading = "Old findings"
    )]
    pub(crate) staged: bool,
    /// Write a comment that ignores it at each finding that would be shown
    #[arg(
        long,
        value_name = "REASON",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["fix", "diff", "statistics"],
        help_heading = "Old findings"
    )]
    pub(crate) add_ignore: Option<String>,
    /// Mark findings that were seen while the program ran, and show them first: a file of
    /// `pytest --blocklint-evidence`, asyncio's log of slow callbacks, raw stacks of py-spy, or BlockHound's errors; may
    /// be given several times
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["fix", "diff", "add_ignore"],
        help_heading = "Evidence"
    )]
    pub(crate) evidence: Vec<Utf8PathBuf>,
    /// How findings are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Full, help_heading = "Output")]
    pub(crate) output_format: OutputFormat,
    /// Write to this file instead
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output_file: Option<Utf8PathBuf>,
    /// Count the findings of each rule, or of each cause, instead of showing them
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "rule")]
    #[arg(help_heading = "Output")]
    pub(crate) statistics: Option<StatisticsKind>,
    /// Say on stderr how long each part of the run took
    #[arg(long, help_heading = "Output")]
    pub(crate) timings: bool,
    /// Exit with 1 only if a finding is at least this bad; those below are shown all the same
    #[arg(long, value_name = "SEVERITY", value_parser = severity_parser(), conflicts_with = "exit_zero", help_heading = "Output")]
    pub(crate) fail_on: Option<Severity>,
    /// Exit with 0 even if findings are shown
    #[arg(short, long, help_heading = "Output")]
    pub(crate) exit_zero: bool,
    /// Exit with 2 if something could not be analysed: a file (BLT902), or a function where blocklint failed
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// Read no configuration but what --config says
    #[arg(long, help_heading = "Configuration")]
    pub(crate) isolated: bool,
    /// A configuration file in place of the one that is found, or a key and its value in TOML (`select=["BLT1"]`) that
    /// win over it; may be given several times
    #[arg(long, value_name = "FILE or KEY=VALUE", help_heading = "Configuration")]
    pub(crate) config: Vec<String>,
    /// Show the settings that hold, and find nothing
    #[arg(long, help_heading = "Configuration", conflicts_with_all = ["show_files", "fix", "diff"])]
    pub(crate) show_settings: bool,
    /// Show the files whose findings would be reported, and find nothing
    #[arg(long, help_heading = "Configuration", conflicts_with_all = ["fix", "diff"])]
    pub(crate) show_files: bool,
    /// Also use the models that packages in this environment ship; those inside the project are used anyway
    #[arg(long, value_name = "FOLDER", help_heading = "Configuration")]
    pub(crate) environment: Vec<Utf8PathBuf>,
    /// Judge without this signal, to measure what it does; docs/signals.md lists them
    #[arg(long, hide = true, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) without_signal: Vec<String>,
    /// Read and write no cache
    #[arg(short, long, help_heading = "Configuration")]
    pub(crate) no_cache: bool,
    /// Where the cache is kept [default: .blocklint_cache at the project root]
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache", help_heading = "Configuration")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("which").required(true).args(["rule", "all", "severity"])))]
pub(crate) struct Rule {
    /// Its code or name
    pub(crate) rule: Option<String>,
    /// Show the pages of all rules
    #[arg(long)]
    pub(crate) all: bool,
    /// Show how bad each kind of work is, and how long it takes
    #[arg(long)]
    pub(crate) severity: bool,
    /// How pages are written: Markdown, or objects with Markdown in them
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
}

#[derive(Args, Debug)]
pub(crate) struct Config {
    /// The key to describe
    pub(crate) key: Option<String>,
    /// Print the JSON schema of the configuration
    #[arg(long, conflicts_with = "key")]
    pub(crate) schema: bool,
    /// How keys are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write all that `check` with the same options would show into the baseline
    #[command(mut_args = hide_for_baseline)]
    Create {
        #[command(flatten)]
        check: Box<Check>,
        /// Replace a baseline that is there, also by a larger one
        #[arg(long)]
        force: bool,
    },
    /// Take out of the baseline what is found no more; nothing is added
    #[command(mut_args = hide_for_baseline)]
    Prune {
        #[command(flatten)]
        check: Box<Check>,
    },
    /// List what the baseline holds, and what of it is found no more
    #[command(mut_args = hide_for_baseline)]
    Show {
        #[command(flatten)]
        check: Box<Check>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) check: Box<Check>,
    /// How many changes to plan
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
}

/// Hides the options of `check` that have no effect on `blocklint baseline`.
fn hide_for_baseline(argument: clap::Arg) -> clap::Arg {
    hide_unless(argument, &["baseline", "output_format"])
}

/// Hides the options of `check` that have no effect on `blocklint plan`.
fn hide_for_plan(argument: clap::Arg) -> clap::Arg {
    hide_unless(argument, &["baseline", "no_baseline", "since", "changed", "staged", "output_format", "output_file"])
}

/// Hides all options of `check` but those that decide which files `blocklint ask` reads.
fn hide_for_ask(argument: clap::Arg) -> clap::Arg {
    const KEPT_OPTIONS: &[&str] = &["paths", "isolated", "config"];
    if KEPT_OPTIONS.contains(&argument.get_id().as_str()) { argument } else { argument.hide(true) }
}

/// Turns the paths of `check` into lines, and hides the options that have no effect on `blocklint why`.
fn adapt_for_why(argument: clap::Arg) -> clap::Arg {
    if argument.get_id() == "paths" {
        let help = "The lines, as in `app/views.py:42`; one analysis serves all of a project";
        return argument.value_name("PATH:LINE").help(help).required(true);
    }
    hide_unless(argument, &["baseline", "no_baseline", "output_format", "output_file"])
}

/// Hides the options of `check` that do not decide which findings there are, except `kept_options`.
fn hide_unless(argument: clap::Arg, kept_options: &[&str]) -> clap::Arg {
    const HIDDEN_HEADINGS: &[&str] = &["Fixes", "Old findings", "Evidence", "Output"];
    const HIDDEN_OPTIONS: &[&str] = &["show_settings", "show_files", "stdin_filename", "trace_in_paths"];
    let has_hidden_heading = argument.get_help_heading().is_some_and(|heading| HIDDEN_HEADINGS.contains(&heading));
    let id = argument.get_id().as_str();
    let is_hidden = has_hidden_heading && !kept_options.contains(&id) || HIDDEN_OPTIONS.contains(&id);
    // `hide(false)` would show arguments whose definition hides them.
    if is_hidden { argument.hide(true) } else { argument }
}

#[derive(Args, Debug)]
pub(crate) struct Clean {
    /// A file or folder of the project whose cache is removed [default: .]
    pub(crate) path: Option<Utf8PathBuf>,
    /// Remove this cache instead, of all projects that use it
    #[arg(long, value_name = "FOLDER", conflicts_with = "path")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) check: Box<Check>,
}

#[derive(Args, Debug)]
pub(crate) struct Why {
    /// The arguments of `check`; the paths are lines, as in `app/views.py:42`.
    #[command(flatten)]
    pub(crate) check: Box<Check>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the libraries of which models speak, with rows and the version each was last checked against
    List(ListModels),
    /// Check model files for mistakes
    #[command(after_help = "Exit code: 0, 1 if there are mistakes, 2 if the run failed.")]
    Check {
        /// Files, and folders of which every `*.toml` is one
        #[arg(required = true)]
        paths: Vec<Utf8PathBuf>,
        /// Check as files that a package ships: they must name their library and speak of nothing else
        #[arg(long)]
        shipped: bool,
    },
    /// Show every row that speaks of a name, those that decide first
    Explain(ExplainModel),
    /// Say as JSON what is known of paths: effect, async twins for each runtime, what they give
    Twins(Twins),
    /// Check each row of a model against the extracted sources of its library
    #[command(after_help = "Exit code: 0, 1 if something does not hold, 2 if the run failed.")]
    Verify(VerifyModels),
}

#[derive(Args, Debug)]
pub(crate) struct ListModels {
    /// Only those of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = language_parser())]
    pub(crate) language: Option<Language>,
    /// How they are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
    /// Ignore all configuration
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Also list what packages in this environment ship
    #[arg(long, value_name = "FOLDER")]
    pub(crate) environment: Vec<Utf8PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainModel {
    /// A path as code spells it (`json.loads`), or a library
    pub(crate) name: String,
    /// Only in this language
    #[arg(long, value_name = "LANGUAGE", value_parser = language_parser())]
    pub(crate) language: Option<Language>,
    /// Ignore all configuration
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Also look at what packages in this environment ship
    #[arg(long, value_name = "FOLDER")]
    pub(crate) environment: Vec<Utf8PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Twins {
    /// Paths as code spells them (`requests.Session.get`)
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// The language of which they are, if it is not Python
    #[arg(long, value_name = "LANGUAGE", value_parser = language_parser())]
    pub(crate) language: Option<Language>,
    /// Ignore all configuration
    #[arg(long)]
    pub(crate) isolated: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Codemod {
    /// `asyncify` or `offload` and its arguments; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyModels {
    /// Folders with the library's extracted sources, stubs or classes
    #[arg(required = true)]
    pub(crate) folders: Vec<Utf8PathBuf>,
    /// The model
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) model: Vec<Utf8PathBuf>,
    /// The version that lies there; rows for other versions need one of those besides
    #[arg(long, value_name = "VERSION")]
    pub(crate) library_version: Option<String>,
    /// Another version, for rows that speak of it
    #[arg(long, value_name = "VERSION=FOLDER")]
    pub(crate) other: Vec<String>,
    /// An older version, for names that the library has no more
    #[arg(long, value_name = "VERSION=FOLDER")]
    pub(crate) older: Vec<String>,
    /// Another package that it rests on: stubs, libraries of base classes
    #[arg(long, value_name = "FOLDER")]
    pub(crate) with: Vec<Utf8PathBuf>,
    /// The sources of the language's own library
    #[arg(long, value_name = "FOLDER")]
    pub(crate) standard_library: Option<Utf8PathBuf>,
    /// How the result is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
}

impl Check {
    /// True if findings that only tests, examples and command lines reach are reported too.
    pub(crate) fn includes_aside(&self, configuration: &Configuration) -> bool {
        self.include_aside || self.persona.map_or_else(|| configuration.looks_aside(), Persona::looks_aside)
    }

    /// Returns the minimum severity and confidence that the command line sets, if it does.
    pub(crate) fn levels(&self) -> (Option<Severity>, Option<Confidence>) {
        let persona_levels = self.persona.map(Persona::levels);
        let severity = self.min_severity.or(persona_levels.map(|(severity, _)| severity));
        (severity, self.min_confidence.or(persona_levels.map(|(_, confidence)| confidence)))
    }
}

/// The format of output that has no findings: for people or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Text
    Text,
    /// JSON
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct Missing {
    /// The projects
    #[arg(required = true)]
    pub(crate) projects: Vec<Utf8PathBuf>,
    /// Only calls that are not awaited where they stand
    #[arg(long)]
    pub(crate) not_awaited: bool,
    /// Show at most this many paths; the sums count all
    #[arg(long, value_name = "COUNT")]
    pub(crate) top: Option<usize>,
    /// How the counts are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Debug {
    /// Print what one file says, before any other file is known
    Facts {
        /// The file
        file: Utf8PathBuf,
    },
    /// Count the fixes of a project's findings, and why the others have none
    Fixes {
        /// The project
        path: Utf8PathBuf,
    },
    /// Count the calls, in code that must not block, of library names of which no model speaks
    Missing(Missing),
    /// Edit a project at random, in memory, and compare what a session finds after each edit with what one that is
    /// opened anew does
    #[command(after_help = "Exit code: 0, 1 if anything differs, 2 if the run failed.")]
    Edits {
        /// The project
        path: Utf8PathBuf,
        /// How many edits
        #[arg(long, default_value_t = 100)]
        edits: u32,
        /// Where the random numbers begin
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Time the search cold, and again over what the first one resolved
    Search {
        /// The project
        path: Utf8PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Source frames along the path to the blocking call
    Full,
    /// One line per finding
    Concise,
    /// An array of objects, a superset of ruff's
    Json,
    /// JSON objects as in `json`, one on each line
    Jsonl,
    /// SARIF 2.1.0, for code-scanning services
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines of a pull request
    Github,
    /// A Code Quality report, which GitLab shows in merge requests
    Gitlab,
    /// JUnit's XML, a failed test for each finding
    Junit,
    /// The diagnostic format of reviewdog
    Rdjson,
    /// A page to explore: causes, paths as a graph, source, filters; one file, offline
    Html,
}

fn parse_pattern(text: &str) -> Result<String, String> {
    blocklint_project::check_pattern(text).map(|()| text.to_owned())
}

fn language_parser() -> impl TypedValueParser<Value = Language> {
    let words = Language::ALL.iter().map(|language| language.as_str());
    PossibleValuesParser::new(words).try_map(|word| Language::parse(&word).ok_or("unknown language"))
}

fn severity_parser() -> impl TypedValueParser<Value = Severity> {
    let words = Severity::ALL.iter().rev().map(|severity| severity.as_str());
    PossibleValuesParser::new(words).try_map(|word| Severity::parse(&word).ok_or("unknown severity"))
}

fn confidence_parser() -> impl TypedValueParser<Value = Confidence> {
    let words = Confidence::ALL.iter().rev().map(|confidence| confidence.as_str());
    PossibleValuesParser::new(words).try_map(|word| Confidence::parse(&word).ok_or("unknown confidence"))
}

fn persona_parser() -> impl TypedValueParser<Value = Persona> {
    let words = Persona::ALL.map(|persona| PossibleValue::new(persona.as_str()).help(persona.says()));
    PossibleValuesParser::new(words).try_map(|word| Persona::parse(&word).ok_or("unknown persona"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }
}
