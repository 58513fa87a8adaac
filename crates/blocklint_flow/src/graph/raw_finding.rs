//! The parts of findings, before they have words: steps of traces, causes, reasons, doubts.

use blocklint_core::Span;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};

use crate::entries::root::RootKind;

/// A signal that applies to a finding: it made the finding less bad, less sure, or worse.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The signal's name.
    pub name: &'static str,
    /// The statement of the signal, as a clause.
    pub says: &'static str,
    /// The effect of the signal on a finding, in a word or two.
    pub makes: &'static str,
    /// The place in the source that shows the reason, if there is one.
    pub place: Option<(FileId, Span)>,
}

/// An inferred step on the path of a finding, which lowers its confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A call runs one of several targets, and not all of them hold the thread.
    Choice(Choice),
    /// The receiver or the callee of a call is inferred.
    Inferred(SiteRef),
    /// A call may also run an unknown target.
    PerhapsOther(SiteRef),
    /// The receiver of a method call is unknown, but the project has only one method of this name.
    ByName(SiteRef),
    /// A call is only inferred to run its argument with this index.
    Argument(SiteRef, u32),
    /// A condition at a call, or around it, is neither shown to hold nor ruled out.
    Undecided(SiteRef),
    /// The body is only inferred to run where it must not block.
    Root(RootKind),
    /// A greenlet is only inferred to enter this body.
    Entry(BodyRef),
}

/// The targets that one call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The call.
    pub site: SiteRef,
    /// The number of targets.
    pub all: usize,
    /// The number of targets that hold the thread with the finding's effect.
    pub holding: usize,
    /// The bodies of the project that hold the thread.
    pub holders: Vec<BodyRef>,
    /// The bodies of the project that do not hold it.
    pub others: Vec<BodyRef>,
}

/// One step of a trace, before it is worded.
#[derive(Clone, Debug)]
pub struct RawStep {
    /// The file.
    pub file: FileId,
    /// The site, or the argument that hands a function over.
    pub span: Span,
    /// The qualified name of the body that contains the site.
    pub function: String,
    /// The qualified name of the callee, or the row's path.
    pub call: String,
    /// The callee as written.
    pub written: String,
}

/// A call of the project that matches a blocking model row.
#[derive(Clone, Debug)]
pub struct RawCause {
    /// The file.
    pub file: FileId,
    /// The site.
    pub span: Span,
    /// The qualified name of the body that contains the site.
    pub function: String,
    /// The row's path.
    pub call: String,
    /// The number of roots that reach it.
    pub reach: u32,
}
