//! The choice of a finding's fix in Java: an edit of a chain of publishers.

use blocklint_core::{Applicability, EditKind, Effect, FixKind, Refusal, Remedy, Runtime};

use crate::remedy::{Advice, Availability};
use crate::{SiteForm, Subject};

/// Returns the remedy of a blocking call, or the reason why no edit is right (Java).
pub(crate) fn choose_java_remedy(subject: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match subject.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: a `for`, a resource or a class initialiser runs the code");
        }
        SiteForm::Call => {}
    }
    let Some(mut publishers) = Runtime::publishers(subject.runtime) else {
        return refuse("only a call in a chain of publishers has an edit");
    };
    if advice.kind == Some(FixKind::None) {
        return refuse("no model describes a correct edit of this call");
    }
    let sleeps = subject.rule.effect == Some(Effect::Sleep);
    let template =
        advice.rewrite.clone().filter(|_| subject.is_direct && !sleeps && advice.kind != Some(FixKind::Offload));
    let template = template.filter(|_| !matches!(advice.twin_availability, Availability::NeedsNewerVersion(_)));
    if matches!(advice.pool_availability, Availability::NeedsNewerVersion(_)) {
        publishers.workers = publishers.older_workers;
    }
    // Offloads nested waits, but not a direct `block()`: that publisher should be composed.
    let offload = !(subject.is_direct && subject.rule.effect == Some(Effect::NestedLoop));
    if template.is_none() && !offload {
        if let Availability::NeedsNewerVersion(what) = &advice.twin_availability {
            return Err(Refusal::new(format!("its replacement needs {what}")));
        }
        return refuse("the publisher must become part of the surrounding chain");
    }
    let taker = advice.taker.clone();
    let edit_kinds = vec![EditKind::Chain { publishers, taker, template, offload }];
    Ok(Remedy { edit_kinds, at_most: Applicability::Unsafe })
}
