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
    /// A baseline holds old findings, which are not reported again. It only shrinks, except with `create --force`. It
    /// identifies findings by rule, function and cause, so that lines may move.
    Baseline {
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Show which few changes free most functions, in order
    ///
    /// Looks at all paths from functions that must not block to blocking calls, and lists the places whose change ends
    /// most findings: a call, or a function that leads to several calls. Each step shows the functions that it frees,
    /// how long they are held today, the command that makes the edits, if there are any, and the command that checks if
    /// the step is done.
    #[command(
        mut_args = hide_for_plan,
        after_help = "Exit code: 0, or 2 if the run failed. Formats: full and json."
    )]
    Plan(Plan),
    /// Rewrite Python across files to end a finding
    ///
    /// Runs the codemods of blocklint's Python package (`pip install 'blocklint-async[codemods]'`), which use
    /// libcst.
    #[command(disable_help_flag = true, after_help = "Exit code: 0, 1 if something was refused, 2 if the run failed.")]
    Codemod(Codemod),
    /// Answer questions about Python code, for programs that rewrite it
    ///
    /// Reads the project once, then one question per line from standard input, and writes one answer per line: the
    /// meaning of an expression, the functions that change together with all their uses, the spelling of a name in a file.
    /// Questions and answers are JSON.
    #[command(mut_args = hide_for_ask, after_help = "Exit code: 0, or 2 if the run failed.")]
    Ask(Ask),
    /// Remove the cache of a project
    Clean(Clean),
    /// Show the page of a rule, or of all rules
    #[command(visible_alias = "explain")]
    Rule(Rule),
    /// Explain why a line is reported or not
    ///
    /// Shows the findings of `check` in the current folder, with the same options, that are at the line, have a path
    /// through it or a cause at it: why each is hidden, and why it is less sure. Then shows the targets of each call of
    /// the line. The line of a definition shows the whole function: why it must not block, its callers, and the
    /// blocking calls that it reaches.
    #[command(
        mut_args = adapt_for_why,
        after_help = "Exit code: 0, or 2 if a place is not a line of a source file or the run failed. Formats: full \
                      and json."
    )]
    Why(Why),
    /// Show, check and verify the models of libraries
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
    /// Show the inner state of the analysis
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
    /// Report these rules in addition
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
    /// Also report findings that only tests, examples and command lines reach
    #[arg(long, help_heading = "Rules")]
    pub(crate) include_aside: bool,
    /// Also report findings in other files whose trace or cause is in PATHS
    #[arg(long, help_heading = "Files")]
    pub(crate) trace_in_paths: bool,
    /// Do not read files and folders that match these patterns, whatever the configuration excludes
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", value_parser = parse_pattern, help_heading = "Files")]
    pub(crate) exclude: Option<Vec<String>>,
    /// Do not read these in addition
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", value_parser = parse_pattern, help_heading = "Files")]
    pub(crate) extend_exclude: Vec<String>,
    /// Do not read excluded files, even if PATHS name them
    #[arg(long, help_heading = "Files")]
    pub(crate) force_exclude: bool,
    /// Apply fixes that do not change the behaviour of the code
    #[arg(long, help_heading = "Fixes")]
    pub(crate) fix: bool,
    /// Also apply fixes that a reviewer should look at
    #[arg(long, help_heading = "Fixes")]
    pub(crate) unsafe_fixes: bool,
    /// After --fix and --add-ignore, also show the rules of the changes in each file
    #[arg(long, help_heading = "Fixes")]
    pub(crate) show_fixes: bool,
    /// Print what fixes would change, and change nothing
    #[arg(long, help_heading = "Fixes")]
    pub(crate) diff: bool,
    /// Exit with 1 if something was fixed, even if nothing remains
    #[arg(long, help_heading = "Fixes")]
    pub(crate) exit_non_zero_on_fix: bool,
    /// Do not report findings of this baseline [default: blocklint-baseline.json at the project root, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Old findings")]
    pub(crate) baseline: Option<Utf8PathBuf>,
    /// Use no baseline
    #[arg(long, conflicts_with = "baseline", help_heading = "Old findings")]
    pub(crate) no_baseline: bool,
    /// Exit with 1 also if the baseline has findings that no longer exist, or more than before the change; for CI
    #[arg(long, conflicts_with = "no_baseline", help_heading = "Old findings")]
    pub(crate) strict_baseline: bool,
    /// Report only new findings since the work tree left the branch, tag or commit REF
    #[arg(long, value_name = "REF", help_heading = "Old findings")]
    pub(crate) since: Option<String>,
    /// Report only new findings since the last commit
    #[arg(long, conflicts_with = "since", help_heading = "Old findings")]
    pub(crate) changed: bool,
    /// Report only findings of staged changes; unstaged changes are ignored
    #[arg(
        long,
        conflicts_with_all = ["since", "changed", "fix", "diff", "add_ignore"],
        help_heading = "Old findings"
    )]
    pub(crate) staged: bool,
    /// Add an ignore comment at each finding that would be shown
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
    /// Write the duration of each part of the run to stderr
    #[arg(long, help_heading = "Output")]
    pub(crate) timings: bool,
    /// Exit with 1 only if a finding is at least this bad; less severe findings are still shown
    #[arg(long, value_name = "SEVERITY", value_parser = severity_parser(), conflicts_with = "exit_zero", help_heading = "Output")]
    pub(crate) fail_on: Option<Severity>,
    /// Exit with 0 even if findings are shown
    #[arg(short, long, help_heading = "Output")]
    pub(crate) exit_zero: bool,
    /// Exit with 2 if something could not be analysed: a file (BLT902), or a function where blocklint failed
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// Read no configuration except that of --config
    #[arg(long, help_heading = "Configuration")]
    pub(crate) isolated: bool,
    /// A configuration file in place of the one that is found, or a key and its value in TOML (`select=["BLT1"]`) that
    /// win over it; may be given several times
    #[arg(long, value_name = "FILE or KEY=VALUE", help_heading = "Configuration")]
    pub(crate) config: Vec<String>,
    /// Show the effective settings instead of findings
    #[arg(long, help_heading = "Configuration", conflicts_with_all = ["show_files", "fix", "diff"])]
    pub(crate) show_settings: bool,
    /// Show the files whose findings would be reported, instead of findings
    #[arg(long, help_heading = "Configuration", conflicts_with_all = ["fix", "diff"])]
    pub(crate) show_files: bool,
    /// Also use the models that packages in this environment ship; those inside the project are used anyway
    #[arg(long, value_name = "FOLDER", help_heading = "Configuration")]
    pub(crate) environment: Vec<Utf8PathBuf>,
    /// Judge without this signal, to measure its effect; docs/signals.md lists them
    #[arg(long, hide = true, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) without_signal: Vec<String>,
    /// Read and write no cache
    #[arg(short, long, help_heading = "Configuration")]
    pub(crate) no_cache: bool,
    /// The folder of the cache [default: .blocklint_cache at the project root]
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache", help_heading = "Configuration")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("which").required(true).args(["rule", "all", "severity"])))]
pub(crate) struct Rule {
    /// The rule's code or name
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
    /// Write all findings that `check` would show with the same options into the baseline
    #[command(mut_args = hide_for_baseline)]
    Create {
        #[command(flatten)]
        check: Box<Check>,
        /// Replace an existing baseline, also by a larger one
        #[arg(long)]
        force: bool,
    },
    /// Remove entries without a finding from the baseline; add none
    #[command(mut_args = hide_for_baseline)]
    Prune {
        #[command(flatten)]
        check: Box<Check>,
    },
    /// List the entries of the baseline, and mark those without a finding
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
        let help = "The lines, as in `app/views.py:42`; all lines of a project share one analysis";
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
    /// List the libraries with a model, the number of rows, and the version each was last checked against
    List(ListModels),
    /// Check model files for mistakes
    #[command(after_help = "Exit code: 0, 1 if there are mistakes, 2 if the run failed.")]
    Check {
        /// Model files, or folders whose `*.toml` files are all models
        #[arg(required = true)]
        paths: Vec<Utf8PathBuf>,
        /// Check as files that a package ships: they must name their library and describe nothing else
        #[arg(long)]
        shipped: bool,
    },
    /// Show every row that describes a name, the deciding ones first
    Explain(ExplainModel),
    /// Print what models say about paths as JSON: effect, async twins for each runtime, results
    Twins(Twins),
    /// Check each row of a model against the extracted sources of its library
    #[command(after_help = "Exit code: 0, 1 if a row is wrong, 2 if the run failed.")]
    Verify(VerifyModels),
}

#[derive(Args, Debug)]
pub(crate) struct ListModels {
    /// Only libraries of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = language_parser())]
    pub(crate) language: Option<Language>,
    /// How the list is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    pub(crate) output_format: TextFormat,
    /// Ignore all configuration
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Also list the models that packages in this environment ship
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
    /// Also read the models that packages in this environment ship
    #[arg(long, value_name = "FOLDER")]
    pub(crate) environment: Vec<Utf8PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Twins {
    /// Paths as code spells them (`requests.Session.get`)
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// The language of the paths, if it is not Python
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
    /// The version of these sources; rows for other versions also need such a version
    #[arg(long, value_name = "VERSION")]
    pub(crate) library_version: Option<String>,
    /// Another version, for rows that apply to it
    #[arg(long, value_name = "VERSION=FOLDER")]
    pub(crate) other: Vec<String>,
    /// An older version, for names that the library no longer has
    #[arg(long, value_name = "VERSION=FOLDER")]
    pub(crate) older: Vec<String>,
    /// Another package that the library depends on: stubs, libraries of base classes
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
    /// Only calls that are not awaited
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
    /// Print the facts of one file
    Facts {
        /// The file
        file: Utf8PathBuf,
    },
    /// Count the fixes of a project's findings, and the reasons of findings without a fix
    Fixes {
        /// The project
        path: Utf8PathBuf,
    },
    /// Count the calls of library names without a model, in code that must not block
    Missing(Missing),
    /// Edit a project at random, in memory, and compare the findings of a session after each edit with those of a new
    /// session
    #[command(after_help = "Exit code: 0, 1 if anything differs, 2 if the run failed.")]
    Edits {
        /// The project
        path: Utf8PathBuf,
        /// How many edits
        #[arg(long, default_value_t = 100)]
        edits: u32,
        /// The seed of the random numbers
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measure the time of a first search, and of a second one that reuses its answers
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
