//! Why a finding is not shown, and what would show it.

use blocklint_core::{Finding, SuppressionSource};
use rustc_hash::FxHashSet;

use super::ExplainRequest;
use crate::analyse::grouped;
use crate::choose::{Chosen, Fate, fate_of};

/// For each finding of a run why it is not shown.
pub(super) struct Fates {
    hidden: Vec<Option<String>>,
}

impl Fates {
    /// Decides about findings as `check` does.
    pub(super) fn new(request: &ExplainRequest<'_>, findings: &[Finding]) -> Self {
        let mut marked = findings.to_vec();
        request.rules.hide(&mut marked);
        let fates: Vec<Fate> =
            marked.iter().map(|finding| fate_of(finding, &request.rules.selection, request.levels)).collect();
        let is_shown = |at: &usize| fates[*at] == Fate::Shown;
        let mut shown: Vec<Finding> = (0..marked.len()).filter(is_shown).map(|at| marked[at].clone()).collect();
        crate::analyse::sort(&mut shown);
        let groups = grouped(&shown);
        let mut chosen = Chosen::of(shown, groups);
        let key = |finding: &Finding| (finding.fingerprint.clone(), finding.place.path.clone(), finding.place.span);
        let held: FxHashSet<_> = (request.hold)(&mut chosen).iter().map(key).collect();
        let hidden = marked.iter().zip(&fates).map(|(finding, fate)| match fate {
            Fate::Shown => {
                held.contains(&key(finding)).then(|| "the baseline holds it; `--no-baseline` shows it".to_owned())
            }
            fate => Some(in_words(finding, *fate, request)),
        });
        Fates { hidden: hidden.collect() }
    }

    /// Returns why a finding is not shown, if it is not.
    pub(super) fn hidden(&self, at: usize) -> Option<String> {
        self.hidden.get(at).cloned().flatten()
    }
}

fn in_words(finding: &Finding, fate: Fate, request: &ExplainRequest<'_>) -> String {
    match fate {
        Fate::Shown => String::new(),
        Fate::NotSelected => {
            format!("the rule is not selected; `--extend-select {}` reports it", finding.rule)
        }
        Fate::Suppressed => match &finding.suppression {
            Some(suppression) if suppression.source == SuppressionSource::Configuration => {
                "`per-file-ignores` of the configuration silences it".to_owned()
            }
            Some(suppression) => {
                let reason = suppression.reason.as_deref().unwrap_or("no reason given");
                format!("silenced by a comment: {reason}")
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
            format!("below what is shown; `{}` shows it", options.join(" "))
        }
    }
}
