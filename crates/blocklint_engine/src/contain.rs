//! Containment: a panic or a unit that takes too long costs the unit that was at hand, not the run.
//!
//! A panic leaves answers of the linker half-made. So the linker is thrown away and the search begins again without the
//! unit. The program, with the facts of all files, stays.

use std::time::Duration;

use blocklint_analysis::{Containment, Linker, Program, Stopped, TookTooLong, WorkUnit};
use blocklint_core::{Finding, Language, Place, Severity, fingerprint};
use blocklint_output::Sources;
use blocklint_project::Project;
use blocklint_rules::{UNREADABLE_SOURCE, Unread};
use rustc_hash::FxHashSet;

use crate::Options;
use crate::panics::{Caught, catch_payload};
use crate::sources::locate_one;
use crate::words::place;

/// Units that one run leaves out at most. A mistake that so many functions meet would cost more searches than the rest is worth.
const MOST_LEFT_OUT: usize = 24;

/// The least patience with a unit, once others have taken too long.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);

/// A part of the project that the analysis left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The function, or the name of the step or rule.
    pub what: String,
    /// Where the function is defined; none of a rule or step.
    pub place: Option<Place>,
    /// The language of the function.
    language: Option<Language>,
    /// True if its file is one of those whose findings are reported.
    is_reported: bool,
    /// The path of its file for fingerprints.
    relative: String,
    /// Why.
    pub why: Gave,
}

/// Why a unit was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gave {
    /// It panicked: the message, and where in blocklint.
    Panic(String),
    /// It took longer than this.
    TooLong(Duration),
}

impl std::fmt::Display for Gave {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Gave::Panic(message) => out.write_str(message),
            Gave::TooLong(limit) => write!(out, "it took longer than {} s", limit.as_secs_f64()),
        }
    }
}

impl LeftOut {
    fn new(program: &Program<'_>, linker: &Linker<'_>, unit: WorkUnit, why: Gave) -> Self {
        match unit {
            WorkUnit::Body(body) => {
                let facts = program.facts(body.file);
                let file = &program.files[body.file.index()];
                LeftOut {
                    what: linker.qualified_name(body),
                    place: Some(place(linker, body.file, program.body(body).name_span)),
                    language: Some(facts.language),
                    is_reported: file.reported,
                    relative: file.relative.clone(),
                    why,
                }
            }
            WorkUnit::Rule(_) | WorkUnit::Step(_) => LeftOut {
                what: match unit {
                    WorkUnit::Rule(code) => code.to_string(),
                    WorkUnit::Step(name) => name.to_owned(),
                    WorkUnit::Body(_) => String::new(),
                },
                place: None,
                language: None,
                is_reported: false,
                relative: String::new(),
                why,
            },
        }
    }

    /// Returns the finding about the left-out part; none for a rule or step, or for a file that is not reported.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let place = self.place.clone().filter(|_| self.is_reported)?;
        let unread = match &self.why {
            Gave::Panic(message) => Unread::Failed { function: self.what.clone(), reason: message.clone() },
            Gave::TooLong(limit) => Unread::TookTooLong { function: self.what.clone(), limit: *limit },
        };
        let rule = UNREADABLE_SOURCE.code;
        Some(Finding {
            help: unread.help(),
            function: self.what.clone(),
            fingerprint: fingerprint(rule, &self.relative, &self.what, "", 0),
            ..Finding::of_source(rule, Severity::Note, unread.message(), place)
        })
    }
}

/// Computes rows and columns of the places, and puts them in order.
pub fn locate_left_out(project: &Project, left_out: &mut [LeftOut]) {
    let mut sources = Sources::default();
    for place in left_out.iter_mut().filter_map(|of| of.place.as_mut()) {
        locate_one(project, place, &mut sources);
    }
    left_out.sort_by_key(|of| of.place.as_ref().map(|place| (place.path.clone(), place.span)));
}

/// Returns the languages of which the analysis did not see all: those of files that were not read, and of functions that were left out.
pub(crate) fn unseen_languages(unread: &[Language], left_out: &[LeftOut]) -> Vec<Language> {
    let all = || Language::ALL.iter().copied();
    let of_units =
        left_out.iter().flat_map(|of| all().filter(move |language| of.language.is_none_or(|own| own == *language)));
    let mut languages: Vec<Language> = unread.iter().copied().chain(of_units).collect();
    languages.sort();
    languages.dedup();
    languages
}

/// The result of contained work.
pub(crate) struct Contained<'a, T> {
    /// The result.
    pub(crate) done: T,
    /// The linker that was asked last.
    pub(crate) linker: Linker<'a>,
    /// The parts that are missing in the result.
    pub(crate) left_out: Vec<LeftOut>,
}

/// Does work with a new linker, again without each unit that panics or takes too long.
///
/// # Panics
///
/// Where work panics outside of all units, or in too many of them: then nothing can be analysed. A cancelled run goes on unwinding.
pub(crate) fn contain<'a, T>(
    program: &'a Program<'a>,
    options: Options,
    new_linker: impl Fn() -> Linker<'a>,
    mut work: impl FnMut(&Linker<'a>, &[LeftOut]) -> T,
) -> Contained<'a, T> {
    let mut units: FxHashSet<WorkUnit> = FxHashSet::default();
    let mut left_out: Vec<LeftOut> = Vec::new();
    let Containment { patience: first, fault } = options.containment;
    let mut patience = first;
    loop {
        let linker = new_linker();
        linker.watch_units(patience);
        linker.leave_out(units.clone());
        if let Some(fault) = fault {
            linker.inject_fault(fault);
        }
        let caught = match catch_payload(|| work(&linker, &left_out)) {
            Ok(done) => return Contained { done, linker, left_out },
            Err(caught) => caught,
        };
        let why = match caught {
            Caught::Payload(payload) if payload.is::<Stopped>() => std::panic::resume_unwind(payload),
            Caught::Payload(payload) if payload.is::<TookTooLong>() => {
                let taken = patience;
                patience = (patience / 2).max(LEAST_PATIENCE.min(first));
                Gave::TooLong(taken)
            }
            Caught::Payload(_) => Gave::Panic("panic".to_owned()),
            Caught::Panic(message) => Gave::Panic(message),
        };
        match linker.unit() {
            Some(unit) if units.len() < MOST_LEFT_OUT && units.insert(unit) => {
                left_out.push(LeftOut::new(program, &linker, unit, why));
            }
            _ => panic!("nothing could be analysed: {why}"),
        }
    }
}
