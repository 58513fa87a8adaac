//! The Python front end: extracts [`FileFacts`](blocklint_facts::FileFacts) from a source file, and writes fixes for
//! its calls.
//!
//! [`extract`] decodes a file ([`decode`]), parses it once with ruff's parser and walks the tree once. A file with
//! syntax errors, or in Python 2, has the facts of the parts that parsed, and one problem. [`fix`] turns the remedies
//! of findings into edits.
//!
//! Syntax trees can be deep, and dropping one recurses, so [`extract`] must run on a thread with a large stack
//! ([`STACK_SIZE`], of which only touched pages take memory). A file whose tree would be far too deep is not parsed.
//! Parts that nest deeper than the walk goes are left out. Both are reported as one problem.

mod annotations;
mod chains;
mod comments;
mod compound_statements;
mod comprehensions;
mod decode;
mod definitions;
mod depth;
mod dunder;
mod expressions;
mod extract;
mod fixes;
mod format;
mod functions;
mod imports;
mod literals;
mod misplaced;
mod notebook;
mod patterns;
mod protocols;
mod scope;
mod statements;
mod targets;
mod walk;

pub use decode::{Decoded, decode, encode_like};
pub use extract::{Limits, extract, extract_expressions, extract_notebook, extract_watched, extract_with};
pub use fixes::{Binding, Elsewhere, Import, Spelling, add_imports, find_bindings, fix, spell_path};
pub use format::{Quotes, Style, reformat_after_edits};
pub use misplaced::count_misplaced_awaits;
pub use notebook::{Cell, NotebookText, decode_notebook};

/// Size in bytes of the stack that [`extract`] needs.
pub const STACK_SIZE: usize = 256 << 20;
