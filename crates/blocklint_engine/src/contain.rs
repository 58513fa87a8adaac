//! Containment: if the analysis of a unit (a function, a rule, a step) panics or takes too long, only this unit is left
//! out.
//!
//! A panic leaves answers of the linker half-made. So the linker is dropped, and the search begins again without the
//! unit. The program with the facts of all files is kept.

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
use crate::words::place_of;

/// The greatest number of units that a run leaves out. Each costs a new search, so with more of them the run fails.
const MAX_LEFT_OUT: usize = 24;

/// The least time limit of a unit. The limit is halved each time a unit exceeds it.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

/// A part of the project that the analysis left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of the function, rule or step.
    pub name: String,
    /// The name in the function's definition; `None` for a rule or step.
    pub place: Option<Place>,
    /// The language of the function.
    language: Option<Language>,
    /// True if findings in the function's file are reported.
    is_reported: bool,
    /// The relative path of the function's file, for fingerprints.
    relative: String,
    /// The reason.
    pub why: LeftOutReason,
}

/// The reason why a unit was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It panicked, with this message and place in blocklint's code.
    Panic(String),
    /// It took longer than this limit.
    TooLong(Duration),
}

impl std::fmt::Display for LeftOutReason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeftOutReason::Panic(message) => out.write_str(message),
            LeftOutReason::TooLong(limit) => write!(out, "it took longer than {} s", limit.as_secs_f64()),
        }
    }
}

impl LeftOut {
    fn new(program: &Program<'_>, linker: &Linker<'_>, unit: WorkUnit, why: LeftOutReason) -> Self {
        match unit {
            WorkUnit::Body(body) => {
                let facts = program.facts(body.file);
                let file = &program.files[body.file.index()];
                LeftOut {
                    name: linker.qualified_name(body),
                    place: Some(place_of(linker, body.file, program.body(body).name_span)),
                    language: Some(facts.language),
                    is_reported: file.reported,
                    relative: file.relative.clone(),
                    why,
                }
            }
            WorkUnit::Rule(_) | WorkUnit::Step(_) => LeftOut {
                name: match unit {
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

    /// Returns the finding about the left-out function (BLT902); `None` for a rule or step, or for a file that is not
    /// reported.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let place = self.place.clone().filter(|_| self.is_reported)?;
        let unread = match &self.why {
            LeftOutReason::Panic(message) => Unread::Failed { function: self.name.clone(), reason: message.clone() },
            LeftOutReason::TooLong(limit) => Unread::TookTooLong { function: self.name.clone(), limit: *limit },
        };
        let rule = UNREADABLE_SOURCE.code;
        Some(Finding {
            help: unread.help(),
            function: self.name.clone(),
            fingerprint: fingerprint(rule, &self.relative, &self.name, "", 0),
            ..Finding::of_source(rule, Severity::Note, unread.message(), place)
        })
    }
}

/// Computes rows and columns of the places, and sorts the parts by place.
pub fn locate_left_out(project: &Project, left_out: &mut [LeftOut]) {
    let mut sources = Sources::default();
    for place in left_out.iter_mut().filter_map(|part| part.place.as_mut()) {
        locate_one(project, place, &mut sources);
    }
    left_out.sort_by_key(|part| part.place.as_ref().map(|place| (place.path.clone(), place.span)));
}

/// Returns the languages of unread files and of functions that were left out. A rule or step that was left out affects
/// all languages.
pub(crate) fn unseen_languages(unread: &[Language], left_out: &[LeftOut]) -> Vec<Language> {
    let all_languages = || Language::ALL.iter().copied();
    let of_units = left_out.iter().flat_map(|part| {
        all_languages().filter(move |language| part.language.is_none_or(|part_language| part_language == *language))
    });
    let mut languages: Vec<Language> = unread.iter().copied().chain(of_units).collect();
    languages.sort();
    languages.dedup();
    languages
}

/// The result of [`contain`].
pub(crate) struct Contained<'a, T> {
    /// The result.
    pub(crate) done: T,
    /// The linker of the search that succeeded.
    pub(crate) linker: Linker<'a>,
    /// The parts that the search left out.
    pub(crate) left_out: Vec<LeftOut>,
}

/// Runs `work` with a new linker. If a unit panics or takes too long, runs `work` again with another linker that leaves
/// the unit out.
///
/// # Panics
///
/// If `work` panics outside of all units, or in too many of them. A cancelled run (`Stopped`) unwinds through it.
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
                patience = (patience / 2).max(MIN_PATIENCE.min(first));
                LeftOutReason::TooLong(taken)
            }
            Caught::Payload(_) => LeftOutReason::Panic("panic".to_owned()),
            Caught::Panic(message) => LeftOutReason::Panic(message),
        };
        match linker.unit() {
            Some(unit) if units.len() < MAX_LEFT_OUT && units.insert(unit) => {
                left_out.push(LeftOut::new(program, &linker, unit, why));
            }
            _ => panic!("nothing could be analysed: {why}"),
        }
    }
}
