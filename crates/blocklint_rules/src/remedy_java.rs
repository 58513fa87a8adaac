//! Which fix a finding in Java asks for.

use blocklint_core::{Applicability, Effect, Refusal, Remedy, Runtime, Way};

use crate::remedy::{Advice, FixKind, Reach};
use crate::{RawFinding, SiteKind, What};

/// Decides which fix a finding in Java asks for: the edits are those of a chain of publishers.
pub(crate) fn remedy(raw: &RawFinding<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match raw.what {
        What::Holds | What::CalledInstead { .. } => {}
        What::MadeAnew { .. } if raw.rule.code == crate::per_instance_scheduler::PER_INSTANCE_SCHEDULER.code => {
            let Some(of) = Runtime::publishers(Some(Runtime::Reactor)) else {
                return refuse("no edit is known for it");
            };
            if let Reach::Newer(what) = &advice.pool {
                return Err(Refusal::new(format!("a scheduler for all that has bounds needs {what}")));
            }
            return Ok(Remedy { ways: vec![Way::Share { of }], at_most: Applicability::Unsafe });
        }
        What::MadeAnew { .. } => return refuse("where it is made once, and who ends it, is for the program to say"),
        _ => return refuse("no edit is known for it"),
    }
    match raw.site {
        SiteKind::HandOver => return refuse("the function is handed over here, and what it does must change"),
        SiteKind::Implicit => {
            return refuse("no call is written here: a `for`, a resource or a class that begins runs the code");
        }
        SiteKind::Call => {}
    }
    let Some(mut of) = Runtime::publishers(raw.runtime) else {
        return refuse("only chains of publishers have a place for it");
    };
    if advice.kind == Some(FixKind::None) {
        return refuse("no edit of this call is right");
    }
    let sleeps = raw.rule.effect == Some(Effect::Sleep);
    let template = advice.rewrite.clone().filter(|_| raw.direct && !sleeps && advice.kind != Some(FixKind::Offload));
    let template = template.filter(|_| !matches!(advice.twin, Reach::Newer(_)));
    if matches!(advice.pool, Reach::Newer(_)) {
        of.workers = of.older_workers;
    }
    // To wait for another publisher on a worker is allowed there, but who calls it directly means its value.
    let offload = !(raw.direct && raw.rule.effect == Some(Effect::NestedLoop));
    if template.is_none() && !offload {
        if let Reach::Newer(what) = &advice.twin {
            return Err(Refusal::new(format!("what takes its place needs {what}")));
        }
        return refuse("the publisher must become a part of the chain around");
    }
    let taker = advice.taker.clone();
    let ways = vec![Way::Chain { of, taker, template, offload }];
    Ok(Remedy { ways, at_most: Applicability::Unsafe })
}
