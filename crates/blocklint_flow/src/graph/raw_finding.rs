//! The parts of findings, before they have words: steps of traces, causes, reasons, doubts.

use blocklint_core::Span;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};

use crate::entries::root::RootKind;

/// A signal that spoke of a finding: what made it less bad, less sure, or worse.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The signal's name.
    pub name: &'static str,
    /// The statement of the signal, as a clause.
    pub says: &'static str,
    /// The effect of the signal on a finding, in a word or two.
    pub makes: &'static str,
    /// Where a reader sees it.
    pub place: Option<(FileId, Span)>,
}

/// An inferred step on the path of a finding, which lowers its confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A call runs one of several things, and not all of them hold the thread.
    Choice(Choice),
    /// The value that a call is made on, or the callee, is inferred.
    Inferred(SiteRef),
    /// A call may also run something that is not known.
    PerhapsOther(SiteRef),
    /// Nothing is known of what a method is called on; the project has only one method of this name.
    ByName(SiteRef),
    /// That a call runs its argument of this number is inferred.
    Argument(SiteRef, u32),
    /// A condition at a call, or around it, is neither shown to hold nor ruled out.
    Undecided(SiteRef),
    /// That the body runs where it must not block is inferred.
    Root(RootKind),
    /// That a greenlet enters this body is inferred.
    Entry(BodyRef),
}

/// The things that one call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The call.
    pub site: SiteRef,
    /// The number of things that it may run.
    pub all: usize,
    /// The number of them that hold the thread with the finding's effect.
    pub holding: usize,
    /// The bodies of the project that do.
    pub holders: Vec<BodyRef>,
    /// The bodies of the project that do not.
    pub others: Vec<BodyRef>,
}

/// One step of a trace.
#[derive(Clone, Debug)]
pub struct RawStep {
    /// The file.
    pub file: FileId,
    /// The site, or the argument that hands a function over.
    pub span: Span,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// Qualified name of what is called, or the row's path.
    pub call: String,
    /// The callee as written.
    pub written: String,
}

/// A place in the project that enters a model row.
#[derive(Clone, Debug)]
pub struct RawCause {
    /// The file.
    pub file: FileId,
    /// The site.
    pub span: Span,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// The row's path.
    pub call: String,
    /// How many roots reach it.
    pub reach: u32,
}
