//! The model format: the keys of a model file, the parser and the checks of its TOML, and the compact table that it is
//! compiled to.
//!
//! The build script of `blocklint_builtin` includes this folder with `#[path]`. Files therefore refer to each other
//! through `super` and not through `crate`.

mod argument;
mod check;
mod compile;
mod condition;
mod error;
mod language;
mod packed;
mod path;
mod read;
mod rows;
mod table;
mod template;
mod twin;
mod type_expr;
mod version;
mod words;

pub use argument::Argument;
pub use check::{DeclaredNames, NoDeclarations, check_kinds, check_layer, find_blocking_row};
pub use compile::compile;
pub use condition::{Condition, Literal, Subject, Test, TypeTest};
pub use error::{ModelError, Table, nearest};
pub use language::{library_root, separator};
pub(crate) use path::MAX_PATH;
pub use path::{Path, Rank, last_name, segment_matches};
pub use read::{Origin, read_file};
pub use rows::{
    CallRow, Concurrency, Entry, File, FileInfo, HandoverContext, HandoverRow, Instead, Managed, MoveTo, Moves,
    Rewrite, RowEffect, Selector, Setting, Switch, TypeRow,
};
pub use table::{Kind, Layer, PatternInfo, Uses};
pub use template::Template;
pub use twin::expand_twin;
pub use type_expr::TypeExpr;
pub use version::{Comparison, Version, VersionRange};
pub use words::{Asks, Bound, Creates, FixKind, Passes, Phase, Role, Runs, Source, SwitchContext, Thread, Unit, Via};
