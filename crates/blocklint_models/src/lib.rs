//! The models of libraries: model files are read, checked, compiled in and asked.
//!
//! A model file (`rules/models/<language>/<library>.toml`, or the user's own) describes what library names do. The
//! build script of `blocklint_builtin` checks every built-in file and writes one compact table per language; user files
//! are read at run time and laid on top. No code here knows any library.
//!
//! # Asking
//!
//! ```text
//! Models::builtin()                          what is compiled in; decoded per language when first asked
//! Models::with_user(&[File])                 the user's files on top (from check_user_files)
//! Models::with_shipped(&[File], &[File])     between them what packages ship (from read_shipped)
//! models.lang(Language) -> &LanguageModels
//!
//! lang.canonical(path) -> Cow<str>           aliases applied; every path below is canonical, without `(...)`
//! lang.aliases_in(module)                    (name, path) pairs that a glob import of the module brings
//! lang.is_root(segment), lang.knows_prefix(path)
//!
//! lang.calls(path) -> CallRows               [[call]] rows of `a.b.f` or `a.b.Type.method`, globs included
//! lang.calls_along(&[own, base, ...], versions)     the same by type distance; empty = nothing describes it
//! lang.properties(path), lang.properties_along(..)  rows for reading a property
//! lang.marks(annotation)                     [[call]] rows with via = "decorator"
//! lang.ty(path) -> Option<TypeRows>          params() bases() field(n) element() awaits() enters() through()
//!                                            functional() role() source() scheduler() has_tag(t)
//! lang.is_type(path), lang.bases(path)
//! lang.handovers(path) -> HandoverRows       groups(): one list per argument or `via`
//! lang.switches()                            (&Switch, &FileInfo)
//! lang.call(id), lang.handover(id)           the row behind a MatchId kept in a label
//! ```
//!
//! `CallRows`, `HandoverRows` and `TypeRows` are `Matches<R>`: all rows in the order of precedence. `effect()` returns
//! the rows that decide `effect` and what travels with it, in the order in which their conditions are tried;
//! `with(|row| row.returns.is_some())` gives those that decide another key; rows they hide are not among them, even
//! where no condition holds. `user_only()` is what holds for names the project defines itself;
//! `fit_parameters(types, is_a)` drops Java overloads that are not called.
//!
//! A `Match<R>` dereferences to the row (`CallRow`, ...) and adds `path` (the row's expanded path, which findings
//! show), `file`, `line`, `layer`, `distance`, `id: MatchId` (Copy, to keep) and `origin()` (file and line). `expand_twin`
//! replaces `*` in an `instead`.
//!
//! # Searching backwards
//!
//! ```text
//! lang.names(Uses::EFFECT) -> impl Iterator<Item = Name>     name.name, name.uses, name.paths(uses)
//! lang.effect_names() handover_names() override_names() mark_names()      shorthands of it
//! lang.name_uses(name) -> Uses                               what a site's last name may be
//! lang.named(name) -> impl Iterator<Item = Name>             its rows' paths, per layer
//! lang.glob_names(uses), glob_name_patterns()                `get_*` with the prefix it hangs on
//! ```
//!
//! The last name of a constructor is the class, of a macro it ends in `!`. More uses: `CONSUMES`, `RETURNS`,
//! `STATE`, `ASYNC`, `ADDS`, `ASKS`, `MOVES`, `CREATES`, `CONCURRENCY`, `SOURCE`, `WRAPS`, `DURING`, `SWITCH`, `TYPE`.
//!
//! # Reading
//!
//! `check_user_file(label, text)` reads and checks one file, `check_user_files` several together; each error
//! displays as `file:line: [[table]] key: message`.

mod format;
mod language_models;
mod matches;
mod models;
mod severity;
mod verified;
pub mod written;

pub use format::{
    Argument, Asks, Bound, CallRow, Comparison, Concurrency, Condition, Creates, Declared, Entry, File, FileInfo,
    FixKind, HandoverContext, HandoverRow, Instead, Kind, Layer, Literal, Managed, ModelError, MoveTo, Moves, Nothing,
    Origin, Passes, Path, PatternInfo, Phase, Rank, Rewrite, Role, RowEffect, Runs, Selector, Setting, Source, Subject,
    Switch, SwitchContext, Table, Template, Test, Thread, TypeExpr, TypeRow, TypeTest, Unit, Uses, Version,
    VersionRange, Via, check_kinds, check_layer, compile, expand_twin, holding_row, last_name, nearest, read_file,
    root, segment_matches, separator,
};
pub use language_models::{GlobName, LanguageModels, Name, NamedPath, Unversioned, Versions};
pub use matches::{CallRows, HandoverRows, LayerKind, Match, MatchId, Matches, TypeRows};
pub use models::{
    CompileError, Models, check_builtin_files, check_files, check_user_file, check_user_files, read_shipped,
};
pub use severity::{SeverityLine, SeverityTable};
pub use verified::{Verified, verified};
