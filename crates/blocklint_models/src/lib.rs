//! The models of libraries: the format of model files, their checks, the compiled tables, and lookups in them.
//!
//! A model file (`rules/models/<language>/<library>.toml`, or a user's file) describes the calls, types and handovers
//! of a library. The build script of `blocklint_builtin` checks every built-in file and writes one compact table per
//! language. User files are read at run time, and their rows take precedence. No library is named in this crate's code.
//!
//! # Lookups by path
//!
//! ```text
//! Models::builtin()                          the built-in models; each language is decoded at its first lookup
//! Models::with_user(&[File])                 with the user's files (from check_user_files) before them
//! Models::with_shipped(&[File], &[File])     with the user's files, then those that packages ship (from read_shipped)
//! models.lang(Language) -> &LanguageModels
//!
//! lang.canonical(path) -> Cow<str>           aliases applied; every path below is canonical, without `(...)`
//! lang.aliases_in(module)                    (name, path) pairs that a glob import of the module imports
//! lang.is_root(segment), lang.knows_prefix(path)
//!
//! lang.calls(path) -> CallRows               [[call]] rows of `a.b.f` or `a.b.Type.method`, globs included
//! lang.calls_in_types(&[own, base, ...], versions)  rows of a method by type distance; empty = no row describes it
//! lang.properties(path), lang.properties_in_types(..)  rows for reading a property
//! lang.marks(annotation)                     [[call]] rows with via = "decorator"
//! lang.ty(path) -> Option<TypeRows>          params() bases() field(n) element() awaits() enters() through()
//!                                            functional() role() source() scheduler() has_tag(t)
//! lang.is_type(path), lang.bases(path)
//! lang.handovers(path) -> HandoverRows       groups(): one list per argument or `via`
//! lang.switches()                            (&Switch, &FileInfo)
//! lang.call(id), lang.handover(id)           the row of a MatchId that a label stores
//! ```
//!
//! `CallRows`, `HandoverRows` and `TypeRows` are `Matches<R>`: all rows in the order of precedence. `effect()`
//! returns the rows that decide `effect` and the keys that belong to it, in the order in which their conditions are
//! tried; `with(|row| row.returns.is_some())` returns the rows that decide another key. Rows of less precedence are
//! hidden, even if no condition of the deciding rows holds. `user_only()` keeps the rows that apply to names which the
//! project defines itself; `fit_parameters(types, is_a)` drops Java overloads that are not called.
//!
//! A `Match<R>` dereferences to the row (`CallRow`, ...) and adds `path` (the row's expanded path, which findings
//! show), `file`, `line`, `layer`, `distance`, `id` (a `MatchId`, which is `Copy` and can be stored) and `origin()`
//! (file and line). `expand_twin` replaces `*` in an `instead`.
//!
//! # Lookups by last name
//!
//! ```text
//! lang.names(Uses::EFFECT) -> impl Iterator<Item = Name>     name.name, name.uses, name.paths(uses)
//! lang.effect_names() handover_names() override_names() mark_names()      shorthands of it
//! lang.name_uses(name) -> Uses                               the uses of all rows with this last name
//! lang.named(name) -> impl Iterator<Item = Name>             the paths of those rows, per layer
//! lang.glob_names(uses), glob_name_patterns()                `get_*` with the type or module before it
//! ```
//!
//! The last name of a constructor is the class, that of a macro ends in `!`. More uses: `CONSUMES`, `RETURNS`,
//! `STATE`, `ASYNC`, `ADDS`, `ASKS`, `MOVES`, `CREATES`, `CONCURRENCY`, `SOURCE`, `WRAPS`, `DURING`, `SWITCH`, `TYPE`.
//!
//! # Reading
//!
//! `check_user_file(label, text)` reads and checks one file, `check_user_files` several together. An error is displayed
//! as `file:line: [[table]] key: message`.

mod format;
mod language_models;
mod matches;
mod models;
mod severity;
mod verified;
pub mod written;

pub use format::{
    Argument, Asks, Bound, CallRow, Comparison, Concurrency, Condition, Creates, DeclaredNames, Entry, File, FileInfo,
    FixKind, HandoverContext, HandoverRow, Instead, Kind, Layer, Literal, Managed, ModelError, MoveTo, Moves,
    NoDeclarations, Origin, Passes, Path, PatternInfo, Phase, Rank, Rewrite, Role, RowEffect, Runs, Selector, Setting,
    Source, Subject, Switch, SwitchContext, Table, Template, Test, Thread, TypeExpr, TypeRow, TypeTest, Unit, Uses,
    Version, VersionRange, Via, check_kinds, check_layer, compile, expand_twin, find_blocking_row, last_name,
    library_root, nearest, read_file, segment_matches, separator,
};
pub use language_models::{GlobName, LanguageModels, Name, NamedPath, Unversioned, Versions};
pub use matches::{CallRows, HandoverRows, LayerKind, Match, MatchId, Matches, TypeRows};
pub use models::{
    CompileError, Models, check_builtin_files, check_files, check_user_file, check_user_files, read_shipped,
};
pub use severity::{ReachPoints, SeverityLine, SeverityTable};
pub use verified::{Verified, verified};
