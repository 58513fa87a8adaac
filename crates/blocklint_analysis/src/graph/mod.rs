//! Labels at bodies, the ways between them, and what is read off these: best paths, causes, steps of a trace. Plain data, which resolves
//! nothing and lowers nothing.

pub(crate) mod finding;
pub(crate) mod paths;
pub(crate) mod shortest;
pub(crate) mod steps;

use std::cell::RefCell;

use blocklint_core::{Effect, Severity};
use blocklint_models::{CallRow, Match};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entries::callers::Node;
use crate::entries::roots::Root;
use crate::graph::paths::ShareKey;
use crate::graph::shortest::Shortest;
use crate::labels::label::{Label, LabelId, Labels};
use crate::link::Link;
use crate::link::reach::Reach;
use crate::program::ids::{BodyRef, PathId, SiteRef};

/// A body with one of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StateId(pub(crate) u32);

/// What an edge leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    /// A called body with its label.
    State(StateId),
    /// A model row: the cause of this number.
    Leaf(u32),
}

/// One way on from a state or hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) site: SiteRef,
    pub(crate) arg: Option<u32>,
    pub(crate) next: Next,
    /// Inferred steps of this edge, unions apart.
    pub(crate) steps: u8,
    /// Whether the site has other targets.
    pub(crate) shared: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) node: Node,
    pub(crate) label: LabelId,
    pub(crate) ways: Vec<Way>,
}

/// A label at a site of a root.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The body that must not block.
    pub(crate) root: BodyRef,
    /// What kind of root, or the context a function is handed to.
    pub(crate) kind: Root,
    /// Whether the site hands a function over instead of running it.
    pub(crate) handed: bool,
    /// Whether a comment cuts it right here.
    pub(crate) cut: bool,
    pub(crate) label: Label,
    pub(crate) way: Way,
}

/// How a label meets the site of a root.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    /// Whether the site hands a function over instead of running it.
    pub(crate) handed: bool,
    /// Whether a comment cuts the label right there.
    pub(crate) cut: bool,
}

/// A call that enters a model row.
#[derive(Debug)]
pub(crate) struct LeafSite<'m> {
    pub(crate) site: SiteRef,
    pub(crate) row: Match<'m, CallRow>,
    pub(crate) path: PathId,
    /// Silenced for some rules.
    pub(crate) label: LabelId,
    /// It takes a lock that is held over this call.
    pub(crate) held_by: Option<SiteRef>,
    /// The body that the row's decorator wraps, where the site is that decorator's.
    pub(crate) wraps: Option<BodyRef>,
}

impl LeafSite<'_> {
    /// The body that enters the row.
    pub(crate) fn body(&self, link: &Link<'_>) -> BodyRef {
        self.wraps.unwrap_or_else(|| link.program.body_of_site(self.site))
    }
}

/// The graph that the search leaves behind.
pub(crate) struct Graph<'m> {
    pub(crate) labels: Labels,
    pub(crate) states: Vec<State>,
    pub(crate) leaves: Vec<LeafSite<'m>>,
    pub(crate) hits: Vec<Hit>,
    /// Bodies that carry a label.
    pub(crate) labelled: FxHashSet<BodyRef>,
    /// The same, by the label's effect, with how bad it is at worst.
    pub(crate) effects: FxHashMap<(BodyRef, Effect), Severity>,
    /// The shortest ways on from labels, once somebody asks.
    pub(crate) shortest: Shortest,
    /// Sites at which a model row holds the thread, with how many rows do.
    pub(crate) leaf_sites: FxHashMap<SiteRef, u32>,
    /// Which libraries' values are where.
    pub(crate) reach: Reach,
    /// The steps of unions, once all labels are there.
    pub(crate) shares: RefCell<FxHashMap<ShareKey, u8>>,
}
