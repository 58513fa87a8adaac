//! The reason why `check` does not show a finding, and the option that would show it.

use blocklint_core::{Finding, SuppressionSource};
use rustc_hash::FxHashSet;

use super::ExplainRequest;
use crate::analyse::group_by_cause;
use crate::choose::{Chosen, Fate, fate};

/// The reason why each finding of a run is hidden; `None` if it is shown.
pub(super) struct Fates {
    reasons: Vec<Option<String>>,
}

impl Fates {
    /// Applies `per-file-ignores`, the selected rules, the levels and the baseline to findings, as `check` does.
    pub(super) fn new(request: &ExplainRequest<'_>, findings: &[Finding]) -> Self {
        let mut marked = findings.to_vec();
        request.rules.suppress_per_file(&mut marked);
        let fates: Vec<Fate> =
            marked.iter().map(|finding| fate(finding, &request.rules.selection, request.levels)).collect();
        let is_shown = |index: &usize| fates[*index] == Fate::Shown;
        let mut shown: Vec<Finding> = (0..marked.len()).filter(is_shown).map(|index| marked[index].clone()).collect();
        crate::analyse::sort_findings(&mut shown);
        let groups = group_by_cause(&shown);
        let mut chosen = Chosen::of(shown, groups);
        let key = |finding: &Finding| (finding.fingerprint.clone(), finding.place.path.clone(), finding.place.span);
        let known: FxHashSet<_> = (request.remove_known)(&mut chosen).iter().map(key).collect();
        let reasons = marked.iter().zip(&fates).map(|(finding, fate)| match fate {
            Fate::Shown => {
                known.contains(&key(finding)).then(|| "the baseline holds it; `--no-baseline` shows it".to_owned())
            }
            fate => Some(reason_of(finding, *fate, request)),
        });
        Fates { reasons: reasons.collect() }
    }

    /// Returns the reason why a finding is hidden, by its index; `None` if it is shown.
    pub(super) fn reason_hidden(&self, index: usize) -> Option<String> {
        self.reasons.get(index).cloned().flatten()
    }
}

fn reason_of(finding: &Finding, fate: Fate, request: &ExplainRequest<'_>) -> String {
    match fate {
        Fate::Shown => String::new(),
        Fate::NotSelected => {
            format!("the rule is not selected; `--extend-select {}` reports it", finding.rule)
        }
        Fate::Suppressed => match &finding.suppression {
            Some(suppression) if suppression.source == SuppressionSource::Configuration => {
                "`per-file-ignores` of the configuration suppresses it".to_owned()
            }
            Some(suppression) => {
                let reason = suppression.reason.as_deref().unwrap_or("no reason given");
                format!("suppressed by a comment: {reason}")
            }
            None => "silenced".to_owned(),
        },
        Fate::Aside => {
            let severity = finding.aside.map_or(finding.severity, |aside| aside.severity);
            let because =
                finding.aside.map_or("only tests, examples or a command line reach it", |aside| aside.because);
            format!("left aside, because {because}; `--include-aside` shows it with severity {severity}")
        }
        Fate::Below => {
            let levels = request.levels;
            let mut options = Vec::new();
            if finding.severity < levels.severity {
                options.push(format!("--min-severity {}", finding.severity));
            }
            if finding.confidence < levels.confidence {
                options.push(format!("--min-confidence {}", finding.confidence));
            }
            format!("below the shown levels; `{}` shows it", options.join(" "))
        }
    }
}
