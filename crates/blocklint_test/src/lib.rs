//! The fixture harness: runs Markdown documents and annotated directories whose comments say which findings
//! there must be.
//!
//! # Documents
//!
//! The first paragraph lists the files that the document specifies: ``Specifies: `link/values/attribute.rs`,
//! `flow/guards/decide.rs` ``. `link/…` is short for `crates/blocklint_link/src/…`; other paths begin at the root of
//! the repository and may be folders: `rules/models/python/`. A test requires that a document specifies each file of
//! the linker, the flow and the rules.
//!
//! A heading opens a section. A section without deeper sections is one project; one with deeper
//! sections holds prose and options only. Names of tests are the document's path and the headings
//! below its title: `python/names.md - Imports - A module`.
//!
//! A fenced block is a file of the project:
//!
//! - a block with a name, `` `app/store.py`: `` as the last line before it, is that file, whatever its language;
//! - a block without a name is `main.py` (`py`, `python`), `src/main.rs` (`rs`, `rust`) or `Main.java` (`java`);
//!   several of one language continue the same file, so prose and code alternate;
//! - `toml` without a name gives options: `select`, `ignore`, `min-severity`, `min-confidence`, `signals`, those without each of
//!   which the section must fail, and `order-dependent = ["main.py:7"]`, the lines whose findings are known to depend on the order of
//!   questions (with `ASK_FIRST=1`, any other difference is a failure, and so is a line without one). Deeper
//!   sections inherit them key by key, so a document may set them once under its title;
//! - `snapshot` pins the rendered output of the section;
//! - `fix` pins the effect of `--fix --unsafe-fixes` on the section: a line for each finding of a language that has fixes,
//!   with the fix or the reason why there is none, then the diff;
//! - any other language is prose.
//!
//! The default options are all rules, `min-severity = "note"`, `min-confidence = "medium"`.
//!
//! # Expectations
//!
//! Expectations are comments (`#` in Python, `//` in Rust and Java) at the end of the line on which a finding
//! begins, or on lines of their own above it, one in each line. Between them and that line only
//! comments and blank lines are allowed.
//!
//! ```text
//! load(path)      # warning: [blocking-file] high "load → read_config → open" "no time limit"
//! time.sleep(1)   # ok
//! client.fetch()  # todo-error: [blocking-network]
//! cache.get(key)  # todo-ok
//! ```
//!
//! The word is the severity and must match; so must the confidence if it is given. Each quoted text
//! must occur in the message or in the trace (`load → open`). `ok` says that the line has no finding.
//! `todo-error` and the like mark a known missed alarm and fail once it is found; `todo-ok` marks a known false alarm
//! and fails once it is gone. Every finding must be expected and every expectation met; a project
//! without an expectation fails. A comment that suppresses a rule counts as an expectation.
//!
//! # Annotated directories
//!
//! Each directory below `tests/fixtures/projects/` is one project, with the same comments in its files
//! and the default options.
//!
//! Every project is also fixed, with unsafe fixes too: all files must still parse, the findings that were fixed be
//! gone, none be new, and a second run must change nothing.
//!
//! A failing project prints the output of `blocklint why` for the line below each mismatch.
//!
//! Projects run in a fresh temporary directory, which is kept if [`run`] is given a function for its path. Nothing here
//! reads the environment or prints: the test binary passes in its options.

mod check;
mod directory;
mod engine;
mod expectation;
mod explain;
#[cfg(test)]
mod fake;
mod fixing;
mod markdown;
mod matching;
mod options;
mod order;
mod project;
mod run;
mod specified;
mod update;

pub use check::{CodeLine, FixRun, HarnessEngine};
pub use directory::read_directory;
pub use engine::engine;
pub use expectation::{Expectation, Expected};
pub use markdown::{Document, parse_document};
pub use options::Options;
pub use order::demand_equal_findings;
pub use project::{Pin, Problem, Project, ProjectFile, Snapshot};
pub use run::{Keep, run};
pub use specified::SpecifiedFile;
pub use update::update_pinned;
