//! The type [`Signal`]: a named reason why a finding is less bad, less sure or worse than its row says, in a form that
//! can be listed, shown and switched off. The list of signals is in `signals.rs`; the [`Judge`](crate::judge::Judge)
//! asks them.

use blocklint_core::{Hold, Language, Severity};
use blocklint_link::effect::guard::Guard;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::entries::root::Root;
use crate::graph::best_path::Cost;
use crate::graph::marks::QuestionId;
use crate::graph::{EdgeTarget, FlowEdge, Graph};
use crate::guards::Conditions;
use crate::judge::beside::CandidateComparison;
use crate::judge::climbing::Arrival;
use crate::judge::moments::Moments;
use crate::judge::signals::SIGNALS;

/// One named reason why a finding is less bad, less sure or worse than its row says.
#[derive(Debug)]
pub struct Signal {
    /// Its name, in kebab-case: `after-a-failure`.
    pub name: &'static str,
    /// The reason as a clause about the finding, for readers: "it runs only after something failed".
    pub says: &'static str,
    /// The questions of the signal, each for another stage or for other languages.
    pub(crate) questions: &'static [Question],
}

impl Signal {
    /// Returns the languages for which the signal is asked.
    pub fn languages(&self) -> impl Iterator<Item = Language> + '_ {
        Language::ALL
            .iter()
            .copied()
            .filter(|language| self.questions.iter().any(|question| question.languages.contains(language)))
    }

    /// Returns the effects of the signal on findings, the most frequent first.
    pub fn effects(&self) -> impl Iterator<Item = SignalEffect> + '_ {
        self.questions.iter().map(|question| question.effect)
    }
}

/// One question of a signal, with the effect of a "yes".
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) languages: &'static [Language],
    pub(crate) effect: SignalEffect,
    pub(crate) scope: SignalScope,
    /// True if it is asked after all others of its stage.
    pub(crate) is_last: bool,
}

impl Question {
    /// Returns the question with `is_last` set.
    pub(crate) const fn last(mut self) -> Question {
        self.is_last = true;
        self
    }
}

impl QuestionId {
    /// Returns the signal that asks.
    pub fn signal(self) -> &'static Signal {
        &SIGNALS[usize::from(self.signal)]
    }

    /// Returns the effect of a "yes".
    pub fn effect(self) -> SignalEffect {
        self.question().effect
    }

    /// Returns the question.
    pub(crate) fn question(self) -> &'static Question {
        &self.signal().questions[usize::from(self.question_index)]
    }

    /// Returns the site that the question is about, for a question that applied to the edge at `site`: that site, or
    /// the next one on the path. `None` for questions about a whole path or root.
    pub fn place(self, site: SiteRef, next: Option<SiteRef>) -> Option<SiteRef> {
        match self.question().scope {
            SignalScope::Site(..) | SignalScope::Arrival(..) | SignalScope::Doubt(_) => Some(site),
            SignalScope::Leaving(..) => next,
            _ => None,
        }
    }
}

/// The effect of a signal on a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEffect {
    /// Lowers to a `note`.
    Note,
    /// Lowers to a `note` with a brief hold.
    BriefNote,
    /// Lowers to a `note` for code that runs once, which no loop raises again.
    OnceNote,
    /// Lowers to a `note` with a brief hold for code that runs once.
    BriefOnceNote,
    /// Lowers to a `note`, unless the run includes findings that only tests, examples and commands reach.
    Aside,
    /// Lowers an `error` to a `warning`.
    AtMostWarning,
    /// Raises a `note` to a `warning`.
    Warning,
    /// Lowers by one step: an `error` to a `warning`, a `warning` to a `note`.
    Lower,
    /// Lowers the confidence, by one inferred step or more.
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

    /// Returns the words for the effect in the output of `blocklint why`.
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

    /// Returns the static words that are equal to a text from the cache; `None` if no effect has them.
    pub fn words_equal_to(text: &str) -> Option<&'static str> {
        SignalEffect::ALL.into_iter().map(SignalEffect::words).find(|words| *words == text)
    }

    /// Returns the severity of a finding after the effect.
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

    /// Applies the effect to a label.
    pub(crate) fn apply(self, label: &mut Label, language: Language) {
        label.severity = self.severity_of(label.severity);
        label.once |= matches!(self, SignalEffect::OnceNote | SignalEffect::BriefOnceNote);
        let is_brief = match self {
            SignalEffect::BriefNote | SignalEffect::BriefOnceNote => true,
            // In other languages the hold stays, because one more distinct label would be propagated to all callers.
            SignalEffect::OnceNote => language == Language::Java,
            _ => false,
        };
        if is_brief {
            label.hold = LabelHold::Fixed(Hold::Brief);
        }
    }
}

/// True if a signal applies to a label.
pub(crate) type LabelFilter = fn(&Label) -> bool;

/// The subject of a question, and the function that answers it.
#[derive(Debug)]
pub(crate) enum SignalScope {
    /// A site that a label reaches. The answer is cached for the site.
    Site(LabelFilter, fn(&Linker<'_>, SiteRef) -> bool),
    /// A label that reaches a site by an edge.
    Arrival(LabelFilter, fn(&mut Arrival<'_, '_, '_>) -> bool),
    /// The code around a site, with the inferred steps that it adds. The answer is cached for the site.
    Doubt(fn(&Linker<'_>, SiteRef) -> u8),
    /// A body that a label leaves for the callers.
    Leaving(LabelFilter, fn(&Linker<'_>, BodyRef) -> bool),
    /// A label that reaches a root.
    AtRoot(LabelFilter),
    /// The open condition of a label that reaches a root, with the inferred steps that it adds.
    AtRootDoubt(fn(&Conditions<'_, '_>, BodyRef, Root, &Guard) -> u8),
    /// The cost of a path, with the inferred steps that it adds.
    Cost(fn(&Cost) -> u32),
    /// The number of hops of a path, with the inferred steps that they add to the finding. They do not count in
    /// comparisons of candidates.
    Length(fn(&Cost) -> u32),
    /// The whole path, with the inferred steps that it adds.
    PathDoubt(LabelFilter, fn(&PathSubject<'_, '_>) -> u8),
    /// A root. The answer is cached for the root.
    Root(fn(&Linker<'_>, BodyRef) -> bool),
    /// The whole path.
    Path(LabelFilter, fn(&PathSubject<'_, '_>) -> bool),
    /// The whole path, and when and how often its code runs.
    Moment(LabelFilter, fn(&PathSubject<'_, '_>, &mut Moments<'_, '_, '_>) -> bool),
    /// All candidates: the function lowers those that add little to others.
    Beside(fn(&mut CandidateComparison<'_, '_, '_>, QuestionId)),
}

impl SignalScope {
    /// Returns the stage at which a question with this subject is asked.
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

/// A stage of a run at which signals are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A label reaches a site.
    Site,
    /// A label reaches a site; signals change its confidence.
    Doubt,
    /// A label leaves a body.
    Leaving,
    /// A label reaches a root; signals change its confidence.
    AtRootDoubt,
    /// A label has reached a root.
    AtRoot,
    /// The best path of a hit is known.
    Cost,
    /// The path of a candidate is judged; signals change its confidence.
    PathDoubt,
    /// The path of a candidate is judged.
    Path,
    /// All candidates are judged and compared.
    Beside,
}

impl Stage {
    pub(crate) const COUNT: usize = Stage::Beside as usize + 1;
}

/// The path of a candidate, as signals see it.
pub struct PathSubject<'t, 'a> {
    /// The program.
    pub linker: &'t Linker<'a>,
    /// The callers of bodies.
    pub callers: &'t crate::callers::Callers<'t, 'a>,
    /// The graph of the search.
    pub graph: &'t Graph<'a>,
    /// The body that must not block.
    pub root: BodyRef,
    /// The reason why it must not block.
    pub entry_point: Root,
    /// True if the first edge hands a function over instead of running it.
    pub handed: bool,
    /// The label that reached the root.
    pub label: &'t Label,
    /// The edges from the root down to the sink.
    pub path: &'t [FlowEdge],
}

impl PathSubject<'_, '_> {
    /// Returns the language of the root.
    pub(crate) fn language(&self) -> Language {
        self.linker.program.language(self.root.file)
    }

    /// Returns the last edge, which leads to the sink.
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

/// A set of signals, as indices into `SIGNALS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalSet([u64; 4]);

impl SignalSet {
    /// Returns the set with one more signal.
    pub fn with(mut self, index: usize) -> Self {
        self.0[index / 64] |= 1 << (index % 64);
        self
    }

    /// True if the set contains the signal with this index.
    pub fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// Adds a signal.
    pub(crate) fn add(&mut self, index: usize) {
        *self = self.with(index);
    }
}

/// Returns the index of the signal of this name.
pub fn signal_named(name: &str) -> Option<usize> {
    SIGNALS.iter().position(|signal| signal.name == name)
}
