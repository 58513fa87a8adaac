//! Signals: opinions on how bad or how sure a finding is, in a form that can be listed, shown and switched off. The list is in
//! `signals.rs`; the [`Judge`](crate::judge::Judge) asks them.

use blocklint_core::{Hold, Language, Severity};
use blocklint_link::effect::guard::Guard;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::entries::root::Root;
use crate::graph::best_path::Cost;
use crate::graph::marks::AskId;
use crate::graph::{EdgeTarget, FlowEdge, Graph};
use crate::guards::Conditions;
use crate::judge::beside::Beside;
use crate::judge::climbing::Arrival;
use crate::judge::moments::Moments;
use crate::judge::signals::SIGNALS;

/// One opinion on how bad or how sure a finding is.
#[derive(Debug)]
pub struct Signal {
    /// Its name, in kebab-case: `after-a-failure`.
    pub name: &'static str,
    /// A clause about the finding: "a folder is made only where it lacks".
    pub says: &'static str,
    /// The questions that it asks, each at another time or for other languages.
    pub(crate) asks: &'static [Ask],
}

impl Signal {
    /// Returns the languages in which it is asked.
    pub fn languages(&self) -> impl Iterator<Item = Language> + '_ {
        Language::ALL.iter().copied().filter(|language| self.asks.iter().any(|ask| ask.languages.contains(language)))
    }

    /// Returns the effects that it has on findings, the most frequent first.
    pub fn effects(&self) -> impl Iterator<Item = SignalEffect> + '_ {
        self.asks.iter().map(|ask| ask.makes)
    }
}

/// One question of a signal, with the effect of a "yes".
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) languages: &'static [Language],
    pub(crate) makes: SignalEffect,
    pub(crate) scope: SignalScope,
    /// True if it is asked after all others of its stage.
    pub(crate) is_last: bool,
}

impl Ask {
    /// Returns the question, asked after all others of its stage.
    pub(crate) const fn last(mut self) -> Ask {
        self.is_last = true;
        self
    }
}

impl AskId {
    /// Returns the signal that asks.
    pub fn signal(self) -> &'static Signal {
        &SIGNALS[usize::from(self.signal)]
    }

    /// Returns the effect of a "yes".
    pub fn makes(self) -> SignalEffect {
        self.ask().makes
    }

    pub(crate) fn ask(self) -> &'static Ask {
        &self.signal().asks[usize::from(self.nth)]
    }

    /// Returns the place in the source that it describes, if it describes one: a call on the path, or the next one
    /// behind it.
    pub fn place(self, here: SiteRef, next: Option<SiteRef>) -> Option<SiteRef> {
        match self.ask().scope {
            SignalScope::Site(..) | SignalScope::Arrival(..) | SignalScope::Doubt(_) => Some(here),
            SignalScope::Leaving(..) => next,
            _ => None,
        }
    }
}

/// The effect of a signal on a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEffect {
    /// A `note`.
    Note,
    /// A `note` that holds for a moment.
    BriefNote,
    /// A `note` of something that runs once: a loop around it makes it no worse.
    OnceNote,
    /// A `note` that holds for a moment, once.
    BriefOnceNote,
    /// A `note`, or left as it is where findings in tests, examples and commands count like all others.
    Aside,
    /// A `warning` of what would be an `error`.
    AtMostWarning,
    /// A `warning` of what would be a `note`.
    Warning,
    /// One step less: of an `error` a `warning`, of a `warning` a `note`.
    Lower,
    /// Less sure, by one inferred step or more.
    LessSure,
}

impl SignalEffect {
    const ALL: [SignalEffect; 9] = [
        SignalEffect::Note,
        SignalEffect::BriefNote,
        SignalEffect::OnceNote,
        SignalEffect::BriefOnceNote,
        SignalEffect::Aside,
        SignalEffect::AtMostWarning,
        SignalEffect::Warning,
        SignalEffect::Lower,
        SignalEffect::LessSure,
    ];

    /// Returns the words that `why` uses.
    pub fn words(self) -> &'static str {
        match self {
            SignalEffect::Note
            | SignalEffect::BriefNote
            | SignalEffect::OnceNote
            | SignalEffect::BriefOnceNote
            | SignalEffect::Aside => "note",
            SignalEffect::AtMostWarning | SignalEffect::Warning => "warning",
            SignalEffect::Lower => "one step less",
            SignalEffect::LessSure => "less sure",
        }
    }

    /// Returns the words that are equal to a text, such as a cache holds; `None` if no effect has them.
    pub fn words_equal_to(text: &str) -> Option<&'static str> {
        SignalEffect::ALL.into_iter().map(SignalEffect::words).find(|words| *words == text)
    }

    /// Returns the severity that it leaves of another one.
    pub(crate) fn severity_of(self, severity: Severity) -> Severity {
        match self {
            SignalEffect::Note
            | SignalEffect::BriefNote
            | SignalEffect::OnceNote
            | SignalEffect::BriefOnceNote
            | SignalEffect::Aside => Severity::Note,
            SignalEffect::AtMostWarning => severity.min(Severity::Warning),
            SignalEffect::Warning => Severity::Warning,
            SignalEffect::Lower => severity.lowered(),
            SignalEffect::LessSure => severity,
        }
    }

    /// Changes a label that climbs.
    pub(crate) fn apply(self, label: &mut Label, language: Language) {
        label.severity = self.severity_of(label.severity);
        label.once |= matches!(self, SignalEffect::OnceNote | SignalEffect::BriefOnceNote);
        let is_brief = match self {
            SignalEffect::BriefNote | SignalEffect::BriefOnceNote => true,
            // A note with a time of its own is another label, which would climb to all callers alone.
            SignalEffect::OnceNote => language == Language::Java,
            _ => false,
        };
        if is_brief {
            label.hold = LabelHold::Fixed(Hold::Brief);
        }
    }
}

/// True if a signal is about such a label.
pub(crate) type OfLabel = fn(&Label) -> bool;

/// The subject of a question, and the function that answers it.
#[derive(Debug)]
pub(crate) enum SignalScope {
    /// A site that a label reaches. The answer is remembered for the site.
    Site(OfLabel, fn(&Linker<'_>, SiteRef) -> bool),
    /// A label that reaches a site by an edge.
    Arrival(OfLabel, fn(&mut Arrival<'_, '_, '_>) -> bool),
    /// The place of a site: how many inferred steps that adds. The answer is remembered for the site.
    Doubt(fn(&Linker<'_>, SiteRef) -> u8),
    /// A body that a label leaves for the callers.
    Leaving(OfLabel, fn(&Linker<'_>, BodyRef) -> bool),
    /// A label that reaches a root.
    AtRoot(OfLabel),
    /// The open condition of a label that reaches a root: how many inferred steps that adds.
    AtRootDoubt(fn(&Conditions<'_, '_>, BodyRef, Root, &Guard) -> u8),
    /// The cost of a path as a whole: how many inferred steps it adds.
    Cost(fn(&Cost) -> u32),
    /// The number of hops of a path: how many inferred steps that adds to the finding, though it is no worse than others for that.
    Length(fn(&Cost) -> u32),
    /// The whole path: how many inferred steps that adds.
    PathDoubt(OfLabel, fn(&Traced<'_, '_>) -> u8),
    /// A root. The answer is remembered for the root.
    Root(fn(&Linker<'_>, BodyRef) -> bool),
    /// The whole path.
    Path(OfLabel, fn(&Traced<'_, '_>) -> bool),
    /// The whole path, and when and how often its code runs.
    Moment(OfLabel, fn(&Traced<'_, '_>, &mut Moments<'_, '_, '_>) -> bool),
    /// All findings: it lowers those that add little beside others.
    Beside(fn(&mut Beside<'_, '_, '_>, AskId)),
}

impl SignalScope {
    pub(crate) fn stage(&self) -> Stage {
        match self {
            SignalScope::Site(..) | SignalScope::Arrival(..) => Stage::Site,
            SignalScope::Doubt(_) => Stage::Doubt,
            SignalScope::Leaving(..) => Stage::Leaving,
            SignalScope::AtRoot(_) => Stage::AtRoot,
            SignalScope::AtRootDoubt(_) => Stage::AtRootDoubt,
            SignalScope::Cost(_) | SignalScope::Length(_) => Stage::Cost,
            SignalScope::PathDoubt(..) => Stage::PathDoubt,
            SignalScope::Root(_) | SignalScope::Path(..) | SignalScope::Moment(..) => Stage::Path,
            SignalScope::Beside(_) => Stage::Beside,
        }
    }
}

/// A time at which signals are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A label reaches a site.
    Site,
    /// A label reaches a site: how sure.
    Doubt,
    /// A label leaves a body.
    Leaving,
    /// A label reaches a root: how sure.
    AtRootDoubt,
    /// A label has reached a root.
    AtRoot,
    /// The best path of a hit is known.
    Cost,
    /// The path of a candidate is judged: how sure.
    PathDoubt,
    /// The path of a candidate is judged.
    Path,
    /// Each candidate is judged; they are compared.
    Beside,
}

impl Stage {
    pub(crate) const COUNT: usize = Stage::Beside as usize + 1;
}

/// A finding's path, as signals see it.
pub struct Traced<'t, 'a> {
    /// The program.
    pub linker: &'t Linker<'a>,
    /// The callers of bodies.
    pub callers: &'t crate::callers::Callers<'t, 'a>,
    /// The graph of the search.
    pub graph: &'t Graph<'a>,
    /// The body that must not block.
    pub root: BodyRef,
    /// Why it must not.
    pub kind: Root,
    /// True if the first edge hands a function over instead of running it.
    pub handed: bool,
    /// The label that reached the root.
    pub label: &'t Label,
    /// The edges from the root down to the sink.
    pub path: &'t [FlowEdge],
}

impl Traced<'_, '_> {
    /// Returns the language of the root.
    pub(crate) fn language(&self) -> Language {
        self.linker.program.language(self.root.file)
    }

    /// Returns the edge that enters a row.
    pub(crate) fn last(&self) -> Option<&FlowEdge> {
        self.path.last()
    }

    /// Returns the number of the sink at the end.
    pub(crate) fn sink(&self) -> Option<u32> {
        match self.last()?.next {
            EdgeTarget::Sink(sink) => Some(sink),
            EdgeTarget::LabelledBody(_) => None,
        }
    }

    /// Returns the site at which the row at the end was found.
    pub(crate) fn sink_site(&self) -> Option<SiteRef> {
        Some(self.graph.sinks[self.sink()? as usize].site)
    }
}

/// Signals by their place in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalSet([u64; 4]);

impl SignalSet {
    /// Returns the set with one signal more.
    pub fn with(mut self, at: usize) -> Self {
        self.0[at / 64] |= 1 << (at % 64);
        self
    }

    /// True if the set holds the signal of this place.
    pub fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Adds a signal.
    pub(crate) fn add(&mut self, at: usize) {
        *self = self.with(at);
    }
}

/// Returns the place in the list of the signal of this name.
pub fn signal_named(name: &str) -> Option<usize> {
    SIGNALS.iter().position(|signal| signal.name == name)
}
