//! Python source → [`FileFacts`].
//!
//! [`extract`] decodes a file ([`decode`]), parses it once with ruff's parser and walks the tree once. It tolerates
//! what the parser tolerates: of a file with syntax errors, or in Python 2, the facts of what parsed are given, and one
//! problem.
//!
//! Trees can be deep. Dropping one recurses, so [`extract`] must run on a thread with a large stack
//! ([`STACK_SIZE`]; only touched pages count). Files in which no tree of tolerable depth can be built are refused
//! before they are parsed, and parts nested deeper than the walk goes are left out, each with one problem.

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
pub use extract::{Limits, expressions, extract, extract_notebook, extract_watched, extract_with};
pub use fixes::{Binding, Elsewhere, Import, Spelling, bindings, fix, spelling, with_imports};
pub use format::{Quotes, Style, reformatted};
pub use misplaced::misplaced_awaits;
pub use notebook::{Cell, NotebookText, decode_notebook};

/// Stack that a thread needs on which [`extract`] runs, in bytes.
pub const STACK_SIZE: usize = 256 << 20;
