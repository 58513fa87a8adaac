//! Discovery of the input of a run: the project root, source files, units, import roots, crates and configuration. The
//! crate does not parse source code, and reads neither the environment nor the current folder.

mod builds;
mod configuration;
mod crates;
mod discover;
mod imports;
mod launch;
mod left_out;
mod locked;
mod modules;
mod pattern;
mod problem;
mod python_settings;
mod read;
mod root;
mod shipped;
mod sources;
mod units;
mod versions;
mod walk;
mod within;

pub use builds::{Builds, StatedVersion};
pub use configuration::{
    BASELINE_FILE, Configuration, ConfigurationError, DEFAULT_MAX_FILE_SIZE, File, KEYS, Key, OptionValue, Origin,
    PerFileIgnore, Persona, RuleSettings, Setting, schema, unknown_key,
};
pub use crates::{CrateRoot, CrateRootKind, RustCrate, RustDependency};
pub use discover::{PathOptions, Project, Request, SourceFile, discover, discover_root, discover_with};
pub use launch::{Command, find_commands, find_settings};
pub use left_out::why_left_out;
pub use modules::{Module, read_modules};
pub use pattern::{FilePattern, check_pattern};
pub use problem::Problem;
pub use python_settings::{FormatSettings, format_settings, oldest_python};
pub use read::read;
pub use root::{absolute, project_root, project_within};
pub use shipped::ShippedModel;
pub use units::Unit;
pub use versions::{Dependency, find_dependencies};
pub use walk::{SKIPPED_FOLDERS, language_of};
pub use within::{lies_within, read_text};
