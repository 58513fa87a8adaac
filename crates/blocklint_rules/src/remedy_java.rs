//! Which fix a finding in Java asks for.

use blocklint_core::{Applicability, EditKind, Effect, FixKind, Refusal, Remedy, Runtime};

use crate::remedy::{Advice, Availability};
use crate::{SiteForm, Subject};

/// Decides which fix a finding in Java asks for: the edits are those of a chain of publishers.
pub(crate) fn remedy(raw: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match raw.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: a `for`, a resource or a class initialiser runs the code");
        }
        SiteForm::Call => {}
    }
    let Some(mut of) = Runtime::publishers(raw.runtime) else {
        return refuse("only chains of publishers can take it");
    };
    if advice.kind == Some(FixKind::None) {
        return refuse("the models know no correct edit of this call");
    }
    let sleeps = raw.rule.effect == Some(Effect::Sleep);
    let template = advice.rewrite.clone().filter(|_| raw.direct && !sleeps && advice.kind != Some(FixKind::Offload));
    let template = template.filter(|_| !matches!(advice.twin_availability, Availability::Newer(_)));
    if matches!(advice.pool_availability, Availability::Newer(_)) {
        of.workers = of.older_workers;
    }
    // To wait for another publisher on a worker is allowed there, but who calls it directly means its value.
    let offload = !(raw.direct && raw.rule.effect == Some(Effect::NestedLoop));
    if template.is_none() && !offload {
        if let Availability::Newer(what) = &advice.twin_availability {
            return Err(Refusal::new(format!("its replacement needs {what}")));
        }
        return refuse("the publisher must become part of the surrounding chain");
    }
    let taker = advice.taker.clone();
    let edit_kinds = vec![EditKind::Chain { of, taker, template, offload }];
    Ok(Remedy { edit_kinds, at_most: Applicability::Unsafe })
}
