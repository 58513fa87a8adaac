//! What makes a finding less bad, less sure, or worse, in a form that can be listed, shown and switched off.

use blocklint_core::Language;
use blocklint_link::effect::label::Label;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::callers::Callers;
use crate::entries::root::Root;
use crate::graph::{EdgeTarget, FlowEdge, Graph};
use crate::judge::signals::SIGNALS;

/// One opinion on how bad or how sure a finding is.
#[derive(Debug)]
pub struct Signal {
    /// Its name, in kebab-case: `made-where-it-lacks`.
    pub name: &'static str,
    /// What it says of a finding, as a clause: "it is made only where it lacks".
    pub says: &'static str,
    /// The languages it speaks of.
    pub languages: &'static [Language],
    /// What it makes of a finding.
    pub makes: SignalEffect,
    pub(crate) asks: SignalScope,
}

/// What a signal makes of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEffect {
    /// A `note`.
    Note,
    /// A `note` that holds for a moment.
    BriefNote,
    /// A `warning` of what would be a `note`.
    Warning,
    /// One step less: of an `error` a `warning`, of a `warning` a `note`.
    Lower,
    /// Less sure, by one inferred step or more.
    LessSure,
}

impl SignalEffect {
    /// As `why` says it.
    pub fn words(self) -> &'static str {
        match self {
            SignalEffect::Note | SignalEffect::BriefNote => "note",
            SignalEffect::Warning => "warning",
            SignalEffect::Lower => "one step less",
            SignalEffect::LessSure => "less sure",
        }
    }
}

/// Which labels a signal speaks of, on one way on.
pub(crate) type OfLabel = fn(&Label, &FlowEdge) -> bool;

/// Of what a signal is asked.
#[derive(Debug)]
pub(crate) enum SignalScope {
    /// A site that a label reaches: decides while labels climb, and is remembered.
    Site(OfLabel, fn(&Linker<'_>, SiteRef) -> bool),
    /// Where a site stands: how many inferred steps that adds, remembered.
    Doubt(fn(&Linker<'_>, SiteRef) -> u8),
    /// A root, remembered.
    Root(fn(&Linker<'_>, BodyRef) -> bool),
    /// The whole way, if the label is such a one.
    Way(OfLabel, fn(&Traced<'_, '_>) -> bool),
    /// The whole way: how many inferred steps that adds.
    WayDoubt(OfLabel, fn(&Traced<'_, '_>) -> u8),
    /// It is decided where it is found, which asks whether the signal is on.
    Elsewhere,
}

/// A finding's way, as signals see it.
pub struct Traced<'t, 'a> {
    /// The program.
    pub linker: &'t Linker<'a>,
    /// Who calls what.
    pub callers: &'t Callers<'t, 'a>,
    /// What the search left.
    pub graph: &'t Graph<'a>,
    /// The body that must not block.
    pub root: BodyRef,
    /// Why it must not.
    pub kind: Root,
    /// What reached it.
    pub label: &'t Label,
    /// The calls from the root down to the leaf.
    pub ways: &'t [FlowEdge],
}

impl Traced<'_, '_> {
    /// The last way, which enters a row.
    pub(crate) fn last(&self) -> Option<&FlowEdge> {
        self.ways.last()
    }

    /// The site that the row at the end was found at.
    pub(crate) fn leaf_site(&self) -> Option<SiteRef> {
        match self.last()?.next {
            EdgeTarget::Leaf(leaf) => Some(self.graph.leaves[leaf as usize].site),
            EdgeTarget::LabelledBody(_) => None,
        }
    }
}

/// Signals by their place in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalSet([u64; 4]);

impl SignalSet {
    /// With one more.
    pub fn with(mut self, at: usize) -> Self {
        self.0[at / 64] |= 1 << (at % 64);
        self
    }

    /// Whether it holds the signal of this place.
    pub fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Adds one.
    pub(crate) fn add(&mut self, at: usize) {
        *self = self.with(at);
    }
}

/// The place of a signal of this name.
pub fn signal_named(name: &str) -> Option<usize> {
    SIGNALS.iter().position(|signal| signal.name == name)
}

/// What was asked of one site, and what spoke.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteSignals {
    asked: SignalSet,
    spoke: SignalSet,
    /// The inferred steps of all doubts, once they were asked.
    steps: Option<u8>,
}

/// The places of the signals of one kind that speak of a language, in their order.
type Table = [Vec<usize>; 3];

/// SignalScope the signals that are not switched off.
pub struct Judge {
    off: SignalSet,
    sites: Table,
    doubts: Table,
    roots: Table,
    ways: Table,
    way_doubts: Table,
}

fn nth(language: Language) -> usize {
    match language {
        Language::Python => 0,
        Language::Rust => 1,
        Language::Java => 2,
    }
}

impl Judge {
    /// Without some signals.
    pub fn new(off: SignalSet) -> Self {
        let table = |is_meant: fn(&SignalScope) -> bool| {
            [Language::Python, Language::Rust, Language::Java].map(|language| {
                let all = SIGNALS.iter().enumerate();
                let meant = all.filter(|(at, signal)| {
                    !off.has(*at) && signal.languages.contains(&language) && is_meant(&signal.asks)
                });
                meant.map(|(at, _)| at).collect()
            })
        };
        Judge {
            off,
            sites: table(|asks| matches!(asks, SignalScope::Site(..))),
            doubts: table(|asks| matches!(asks, SignalScope::Doubt(_))),
            roots: table(|asks| matches!(asks, SignalScope::Root(_))),
            ways: table(|asks| matches!(asks, SignalScope::Way(..))),
            way_doubts: table(|asks| matches!(asks, SignalScope::WayDoubt(..))),
        }
    }

    /// Whether a signal that is decided elsewhere is on.
    pub fn is_on(&self, signal: &'static str) -> bool {
        self.off == SignalSet::default() || signal_named(signal).is_some_and(|at| !self.off.has(at))
    }

    /// What signals make of a label at a site that it reaches.
    pub(crate) fn at_site(
        &self,
        linker: &Linker<'_>,
        heard: &mut SiteSignals,
        site: SiteRef,
        label: &Label,
        way: &FlowEdge,
    ) -> Option<SignalEffect> {
        let of_language = &self.sites[nth(linker.program.language(site.file))];
        let speaking = of_language.iter().copied().find(|&at| match SIGNALS[at].asks {
            SignalScope::Site(of, asks) => {
                of(label, way) && {
                    if !heard.asked.has(at) {
                        heard.asked.add(at);
                        if asks(linker, site) {
                            heard.spoke.add(at);
                        }
                    }
                    heard.spoke.has(at)
                }
            }
            _ => false,
        });
        speaking.map(|at| SIGNALS[at].makes)
    }

    /// The inferred steps for where a site stands.
    pub(crate) fn steps_at(&self, linker: &Linker<'_>, heard: &mut SiteSignals, site: SiteRef) -> u8 {
        *heard.steps.get_or_insert_with(|| {
            let of_language = &self.doubts[nth(linker.program.language(site.file))];
            let mut most = 0;
            for &at in of_language {
                if let SignalScope::Doubt(asks) = SIGNALS[at].asks {
                    most = most.max(asks(linker, site));
                    if most >= blocklint_link::linker::LOW_STEPS {
                        break;
                    }
                }
            }
            most
        })
    }

    /// The first signal that says that a root serves nobody.
    pub fn of_root(&self, linker: &Linker<'_>, root: BodyRef) -> Option<&'static Signal> {
        let of_language = &self.roots[nth(linker.program.language(root.file))];
        let speaks = |at: &&usize| matches!(SIGNALS[**at].asks, SignalScope::Root(asks) if asks(linker, root));
        of_language.iter().find(speaks).map(|&at| &SIGNALS[at])
    }

    /// The first signal that makes a note of the whole way.
    pub fn on_way(&self, traced: &Traced<'_, '_>) -> Option<&'static Signal> {
        let of_language = &self.ways[nth(traced.linker.program.language(traced.root.file))];
        let first = traced.ways.first()?;
        let speaks = |at: &&usize| matches!(SIGNALS[**at].asks, SignalScope::Way(of, asks) if of(traced.label, first) && asks(traced));
        of_language.iter().find(speaks).map(|&at| &SIGNALS[at])
    }

    /// The inferred steps that the whole way adds.
    pub fn steps_on_way(&self, traced: &Traced<'_, '_>) -> u8 {
        let of_language = &self.way_doubts[nth(traced.linker.program.language(traced.root.file))];
        let Some(first) = traced.ways.first() else { return 0 };
        let steps = of_language.iter().map(|&at| match SIGNALS[at].asks {
            SignalScope::WayDoubt(of, asks) if of(traced.label, first) => asks(traced),
            _ => 0,
        });
        steps.max().unwrap_or(0)
    }

    /// All that speak of a way, none stopped by another: for people, and to measure what each does alone. A site is given where
    /// one speaks of a site.
    pub fn account(&self, traced: &Traced<'_, '_>) -> Vec<(&'static Signal, Option<SiteRef>)> {
        let linker = traced.linker;
        let mut found: Vec<(&'static Signal, Option<SiteRef>)> = Vec::new();
        let language = nth(linker.program.language(traced.root.file));
        let Some(first) = traced.ways.first() else { return found };
        for way in traced.ways {
            for &at in self.sites[language].iter().chain(&self.doubts[language]) {
                let speaks = match SIGNALS[at].asks {
                    SignalScope::Site(of, asks) => of(traced.label, way) && asks(linker, way.site),
                    SignalScope::Doubt(asks) => asks(linker, way.site) > 0,
                    _ => false,
                };
                if speaks && !found.iter().any(|(known, _)| known.name == SIGNALS[at].name) {
                    found.push((&SIGNALS[at], Some(way.site)));
                }
            }
        }
        for &at in self.roots[language].iter().chain(&self.ways[language]).chain(&self.way_doubts[language]) {
            let speaks = match SIGNALS[at].asks {
                SignalScope::Root(asks) => asks(linker, traced.root),
                SignalScope::Way(of, asks) => of(traced.label, first) && asks(traced),
                SignalScope::WayDoubt(of, asks) => of(traced.label, first) && asks(traced) > 0,
                _ => false,
            };
            if speaks {
                found.push((&SIGNALS[at], None));
            }
        }
        found
    }
}
