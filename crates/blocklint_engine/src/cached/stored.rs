//! The serialised form of findings in the cache, and the conversions to and from it.

use std::sync::Arc;

use blocklint_core::{
    Applicability, Aside, Cause, Confidence, Context, Edit, Effect, EntryKind, Finding, Fix, Group, Hold, Place,
    ReachedBy, Reason, Refusal, RuleCode, Runtime, Severity, Span, Step, Suppression, SuppressionSource, Weight,
};
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::choose::Chosen;
use crate::{SIGNALS, SignalEffect, signal_named};

/// The serialised form of [`Chosen`]. Each path is stored once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredChosen {
    paths: Vec<String>,
    findings: Vec<StoredFinding>,
    suppressed: Vec<StoredFinding>,
    groups: Vec<(Option<StoredCause>, Vec<u32>)>,
    below: u64,
    aside: u64,
    left_aside: Vec<StoredFinding>,
    minor: Vec<StoredFinding>,
    must_not_block: Option<u64>,
}

/// A place without rows and columns: the number of its path, and its span in bytes.
type StoredPlace = (u32, Span);
type StoredStep = (StoredPlace, String, String, String);
type StoredCause = (StoredPlace, String, String, u32);

#[derive(Debug, Serialize, Deserialize)]
struct StoredFinding {
    rule: u16,
    severity: Severity,
    confidence: Confidence,
    message: String,
    notes: Vec<String>,
    help: Option<String>,
    place: StoredPlace,
    effect: Option<Effect>,
    weight: Option<Weight>,
    context: Option<Context>,
    runtime: Option<Runtime>,
    function: String,
    hold: StoredHold,
    trace: Vec<StoredStep>,
    held_by: Option<StoredStep>,
    causes: Vec<StoredCause>,
    fix: Option<StoredFix>,
    unfixed: Option<(String, Option<StoredPlace>)>,
    fingerprint: String,
    suppression: Option<(Option<String>, StoredSource)>,
    reasons: Vec<(String, String, Option<StoredPlace>)>,
    reached_by: Vec<(EntryKind, String, Option<String>, StoredPlace)>,
    aside: Option<(Severity, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
enum StoredHold {
    Unstated,
    Brief,
    Seconds(f64),
    Unbounded,
}

#[derive(Debug, Serialize, Deserialize)]
enum StoredSource {
    Comment,
    Configuration,
    Baseline,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFix {
    title: String,
    applicability: StoredApplicability,
    edits: Vec<(StoredPlace, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
enum StoredApplicability {
    Display,
    Unsafe,
    Safe,
}

impl StoredChosen {
    pub(super) fn of(chosen: &Chosen) -> Self {
        let mut writer = Writer::default();
        let findings = chosen.findings.iter().map(|finding| writer.finding(finding)).collect();
        let suppressed = chosen.suppressed.iter().map(|finding| writer.finding(finding)).collect();
        let groups = chosen.groups.iter();
        let groups =
            groups.map(|group| (group.cause.as_ref().map(|cause| writer.cause(cause)), group.findings.clone()));
        let groups = groups.collect();
        let left_aside = chosen.left_aside.iter().map(|finding| writer.finding(finding)).collect();
        let minor = chosen.minor.iter().map(|finding| writer.finding(finding)).collect();
        let (below, aside) = (chosen.below as u64, chosen.aside as u64);
        let must_not_block = chosen.must_not_block.map(|count| count as u64);
        StoredChosen {
            paths: writer.paths,
            findings,
            suppressed,
            groups,
            below,
            aside,
            left_aside,
            minor,
            must_not_block,
        }
    }

    /// Returns the findings as they were before they were stored; `None` if an index or a name is unknown.
    pub(super) fn to_chosen(&self) -> Option<Chosen> {
        let paths = self.paths.iter().map(|path| Arc::from(Utf8Path::new(path)));
        let reader = Reader { paths: paths.collect() };
        let restore = |stored: &[StoredFinding]| -> Option<Vec<Finding>> {
            stored.iter().map(|finding| reader.finding(finding)).collect()
        };
        let findings = restore(&self.findings)?;
        let groups = self.groups.iter().map(|(cause, members)| {
            let has_valid_members = members.iter().all(|index| (*index as usize) < findings.len());
            let cause = match cause {
                Some(cause) => Some(reader.cause(cause)?),
                None => None,
            };
            has_valid_members.then(|| Group { cause, findings: members.clone() })
        });
        let groups = groups.collect::<Option<_>>()?;
        let suppressed = restore(&self.suppressed)?;
        let left_aside = restore(&self.left_aside)?;
        let minor = restore(&self.minor)?;
        let (below, aside) = (self.below as usize, self.aside as usize);
        let must_not_block = self.must_not_block.map(|count| count as usize);
        Some(Chosen { findings, groups, below, aside, left_aside, minor, must_not_block, suppressed })
    }
}

/// Converts findings to the serialised form and numbers their paths.
#[derive(Default)]
struct Writer {
    paths: Vec<String>,
    numbers: FxHashMap<Arc<Utf8Path>, u32>,
}

impl Writer {
    fn place(&mut self, place: &Place) -> StoredPlace {
        let number = *self.numbers.entry(Arc::clone(&place.path)).or_insert_with(|| {
            self.paths.push(place.path.to_string());
            self.paths.len() as u32 - 1
        });
        (number, place.span)
    }

    fn cause(&mut self, cause: &Cause) -> StoredCause {
        (self.place(&cause.place), cause.function.clone(), cause.call.clone(), cause.reach)
    }

    fn finding(&mut self, finding: &Finding) -> StoredFinding {
        let mut step =
            |step: &Step| (self.place(&step.place), step.function.clone(), step.call.clone(), step.written.clone());
        let trace = finding.trace.iter().map(&mut step).collect();
        let held_by = finding.held_by.as_ref().map(&mut step);
        let causes = finding.causes.iter().map(|cause| self.cause(cause)).collect();
        let reasons = finding.reasons.iter();
        let reasons = reasons
            .map(|reason| {
                (reason.name.to_owned(), reason.makes.to_owned(), reason.place.as_ref().map(|place| self.place(place)))
            })
            .collect();
        let reached_by = finding.reached_by.iter();
        let reached_by = reached_by
            .map(|entry| (entry.kind, entry.entry.clone(), entry.route.clone(), self.place(&entry.place)))
            .collect();
        let fix = finding.fix.as_ref().map(|fix| StoredFix {
            title: fix.title.clone(),
            applicability: match fix.applicability {
                Applicability::Display => StoredApplicability::Display,
                Applicability::Unsafe => StoredApplicability::Unsafe,
                Applicability::Safe => StoredApplicability::Safe,
            },
            edits: fix.edits.iter().map(|edit| (self.place(&edit.place), edit.content.clone())).collect(),
        });
        let unfixed = finding.unfixed.as_ref();
        let unfixed =
            unfixed.map(|refusal| (refusal.reason.clone(), refusal.place.as_ref().map(|place| self.place(place))));
        let suppression = finding.suppression.as_ref().map(|suppression| {
            let source = match suppression.source {
                SuppressionSource::Comment => StoredSource::Comment,
                SuppressionSource::Configuration => StoredSource::Configuration,
                SuppressionSource::Baseline => StoredSource::Baseline,
            };
            (suppression.reason.clone(), source)
        });
        StoredFinding {
            rule: finding.rule.0,
            severity: finding.severity,
            confidence: finding.confidence,
            message: finding.message.clone(),
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            place: self.place(&finding.place),
            effect: finding.effect,
            weight: finding.weight,
            context: finding.context,
            runtime: finding.runtime,
            function: finding.function.clone(),
            hold: match finding.hold {
                Hold::Unstated => StoredHold::Unstated,
                Hold::Brief => StoredHold::Brief,
                Hold::Seconds(seconds) => StoredHold::Seconds(seconds),
                Hold::Unbounded => StoredHold::Unbounded,
            },
            trace,
            held_by,
            causes,
            fix,
            unfixed,
            fingerprint: finding.fingerprint.clone(),
            suppression,
            reasons,
            reached_by,
            aside: finding.aside.map(|aside| (aside.severity, aside.because.to_owned())),
        }
    }
}

/// Converts the serialised form back.
struct Reader {
    paths: Vec<Arc<Utf8Path>>,
}

impl Reader {
    fn place(&self, (path, span): &StoredPlace) -> Option<Place> {
        Some(Place::unlocated(Arc::clone(self.paths.get(*path as usize)?), *span))
    }

    fn cause(&self, (place, function, call, reach): &StoredCause) -> Option<Cause> {
        let (function, call) = (function.clone(), call.clone());
        Some(Cause { place: self.place(place)?, function, call, reach: *reach })
    }

    fn step(&self, (place, function, call, written): &StoredStep) -> Option<Step> {
        let (function, call, written) = (function.clone(), call.clone(), written.clone());
        Some(Step { place: self.place(place)?, function, call, written })
    }

    fn fix(&self, fix: &StoredFix) -> Option<Fix> {
        let edits = fix.edits.iter();
        let edits = edits.map(|(place, content)| Some(Edit { place: self.place(place)?, content: content.clone() }));
        Some(Fix {
            title: fix.title.clone(),
            applicability: match fix.applicability {
                StoredApplicability::Display => Applicability::Display,
                StoredApplicability::Unsafe => Applicability::Unsafe,
                StoredApplicability::Safe => Applicability::Safe,
            },
            edits: edits.collect::<Option<_>>()?,
        })
    }

    fn reason(&self, (name, makes, place): &(String, String, Option<StoredPlace>)) -> Option<Reason> {
        let signal = &SIGNALS[signal_named(name)?];
        let place = match place {
            Some(place) => Some(self.place(place)?),
            None => None,
        };
        Some(Reason { name: signal.name, says: signal.says, makes: SignalEffect::words_equal_to(makes)?, place })
    }

    fn finding(&self, stored: &StoredFinding) -> Option<Finding> {
        let trace = stored.trace.iter().map(|step| self.step(step));
        let held_by = match &stored.held_by {
            Some(step) => Some(self.step(step)?),
            None => None,
        };
        let fix = match &stored.fix {
            Some(fix) => Some(self.fix(fix)?),
            None => None,
        };
        let unfixed = match &stored.unfixed {
            Some((reason, Some(place))) => Some(Refusal::with_place(reason, self.place(place)?)),
            Some((reason, None)) => Some(Refusal::new(reason)),
            None => None,
        };
        let suppression = stored.suppression.as_ref().map(|(reason, source)| Suppression {
            reason: reason.clone(),
            source: match source {
                StoredSource::Comment => SuppressionSource::Comment,
                StoredSource::Configuration => SuppressionSource::Configuration,
                StoredSource::Baseline => SuppressionSource::Baseline,
            },
        });
        Some(Finding {
            rule: RuleCode(stored.rule),
            severity: stored.severity,
            confidence: stored.confidence,
            message: stored.message.clone(),
            notes: stored.notes.clone(),
            help: stored.help.clone(),
            place: self.place(&stored.place)?,
            effect: stored.effect,
            weight: stored.weight,
            context: stored.context,
            runtime: stored.runtime,
            function: stored.function.clone(),
            hold: match stored.hold {
                StoredHold::Unstated => Hold::Unstated,
                StoredHold::Brief => Hold::Brief,
                StoredHold::Seconds(seconds) => Hold::Seconds(seconds),
                StoredHold::Unbounded => Hold::Unbounded,
            },
            trace: trace.collect::<Option<_>>()?,
            held_by,
            causes: stored.causes.iter().map(|cause| self.cause(cause)).collect::<Option<_>>()?,
            fix,
            unfixed,
            fingerprint: stored.fingerprint.clone(),
            suppression,
            reached_by: stored
                .reached_by
                .iter()
                .map(|(kind, entry, route, place)| {
                    let (entry, route) = (entry.clone(), route.clone());
                    Some(ReachedBy { kind: *kind, entry, route, place: self.place(place)? })
                })
                .collect::<Option<_>>()?,
            reasons: stored.reasons.iter().map(|reason| self.reason(reason)).collect::<Option<_>>()?,
            aside: stored.aside.as_ref().and_then(|(severity, says)| {
                let signal = SIGNALS.iter().find(|signal| signal.says == says)?;
                Some(Aside { severity: *severity, because: signal.says })
            }),
            // Evidence is matched with findings only after they are restored.
            confirmed: None,
        })
    }
}
