//! Which fix a finding in Rust asks for.
//!
//! - The twin that returns the same, of the same name and by itself a path (`std::fs::read`), is **safe** where the
//!   feature it needs is on. Other twins that return the same are **unsafe**; one that returns something else is for
//!   **display**, for what follows the call must change with it.
//! - Helpers that become `async` with their callers, for what they call has a twin, are **unsafe**: other tasks run meanwhile, and
//!   what is alive at the new `.await` must be `Send` where the task is.
//! - The blocking pool is **unsafe**: whether what the closure takes may leave the task (`Send`, `'static`) only the
//!   compiler knows.

use blocklint_core::{Applicability, EditKind, Effect, FixKind, Offload, Refusal, Remedy, Runtime, last_name};

use crate::remedy::{Advice, Availability};
use crate::{SiteForm, Subject};

/// Decides which fix a finding asks for.
pub(crate) fn remedy(raw: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let mut remedy = decided(raw, advice)?;
    let is_proven = |edit_kind: &EditKind| RUST_FIX_SHAPES.contains(&(raw.rule.name, shape(edit_kind)));
    if !remedy.edit_kinds.iter().all(is_proven) {
        remedy.at_most = Applicability::Display;
    }
    Ok(remedy)
}

fn decided(raw: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match raw.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: an operator, a loop, a macro or the end of a scope runs the code");
        }
        SiteForm::Call => {}
    }
    if !raw.owner.kind.is_async() {
        return refuse("the function is not `async`: nothing can be awaited in it");
    }
    if advice.kind == Some(FixKind::None) {
        return refuse("the models know no correct edit of this call");
    }
    for availability in [&advice.twin_availability, &advice.pool_availability] {
        if let Availability::Beside(other) = availability {
            let runtime = Runtime::Tokio;
            return Err(Refusal::new(format!("it is not known whether it runs on `{runtime}` or on `{other}`")));
        }
    }
    let (mut edit_kinds, mut at_most) = (Vec::new(), Applicability::Safe);
    let mut missing = None;
    if advice.kind != Some(FixKind::Offload) && raw.direct && !advice.lazy {
        match (&advice.rewrite, raw.twin) {
            (Some(template), _) => {
                edit_kinds.push(EditKind::Rewrite { template: template.clone() });
                at_most = Applicability::Unsafe;
            }
            (None, Some(_)) if advice.twin_availability == Availability::No => {
                missing = Some("the crate does not depend on the twin's library")
            }
            (None, Some(_)) if matches!(advice.twin_availability, Availability::Newer(_)) => {}
            (None, Some(twin)) => {
                let parent = |path: &str| path.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned();
                let needs = match &advice.twin_availability {
                    Availability::Needs(what) => Some(what.clone()),
                    _ => None,
                };
                let (of, by) = (parent(raw.call), parent(twin.path));
                let method = of == by && is_type(&of);
                if twin.is_local {
                    let same = advice.twin_returns_same
                        && advice.twin_availability == Availability::Yes
                        && !is_type(&by)
                        && (last_name(twin.path) == last_name(raw.call) || raw.rule.effect == Some(Effect::Sleep));
                    at_most = match advice.twin_returns_same {
                        true if same => Applicability::Safe,
                        true => Applicability::Unsafe,
                        // A call that panics here is replaced by one that does the same where it may.
                        false if method && raw.fails.is_some() => Applicability::Unsafe,
                        false => Applicability::Display,
                    };
                    edit_kinds.push(EditKind::Twin { path: twin.path.to_owned(), method, same, needs });
                } else if is_type(&of) && is_type(&by) {
                    at_most = if advice.twin_returns_same { Applicability::Unsafe } else { Applicability::Display };
                    edit_kinds.push(EditKind::TwinType { from: of, to: by, needs });
                }
            }
            (None, None) => {}
        }
        // Without the feature the crate would not compile.
        if matches!(advice.twin_availability, Availability::Needs(_)) && advice.rewrite.is_none() {
            at_most = at_most.min(Applicability::Display);
        }
        if !edit_kinds.is_empty() && (at_most != Applicability::Display || raw.rule.effect == Some(Effect::Sleep)) {
            return Ok(Remedy { edit_kinds, at_most });
        }
    }
    let nested = raw.rule.effect == Some(Effect::NestedLoop);
    let offloads = advice.kind != Some(FixKind::Twin) && !(advice.lazy && raw.direct) && !(nested && raw.direct);
    let newer =
        [&advice.pool_availability, &advice.twin_availability].into_iter().find_map(
            |availability| match availability {
                Availability::Newer(what) => Some(format!("its replacement needs {what}")),
                _ => None,
            },
        );
    if offloads
        && advice.pool_availability != Availability::No
        && !matches!(advice.pool_availability, Availability::Newer(_))
    {
        let (path, fallible) = Runtime::blocking_pool(raw.runtime);
        // A connection or a guard is of use to the code around the call, and cannot come back from a thread by itself.
        let is_part = raw.direct && advice.kind.is_none() && raw.rule.effect == Some(Effect::Database);
        let lacks = matches!(advice.pool_availability, Availability::Needs(_));
        let most = match lacks || is_part || nested || advice.kind.is_none() && raw.fails.is_some() {
            true => Applicability::Display,
            false => Applicability::Unsafe,
        };
        // A way that is only displayed comes after the ways that can be applied.
        let edit_kind = EditKind::Offload { to: vec![Offload { path: path.to_owned(), keywords: false, fallible }] };
        if most == Applicability::Unsafe || edit_kinds.is_empty() {
            edit_kinds = vec![edit_kind];
            at_most = most;
        }
    } else if offloads && newer.is_none() {
        missing = missing.or(Some("the crate does not depend on a runtime with a blocking pool"));
    }
    // No fix moves a sleep to a thread.
    let sleeps = raw.rule.effect == Some(Effect::Sleep);
    match advice.chain.as_ref().filter(|_| !raw.direct) {
        Some(Ok(helpers)) => {
            // A way that can only be displayed is worth less than one that can be applied.
            if at_most == Applicability::Display || sleeps {
                edit_kinds.clear();
            }
            at_most = Applicability::Unsafe;
            // One hop for all turns of a loop is better than one for each.
            let at = if helpers.hops_in_loop { edit_kinds.len() } else { 0 };
            edit_kinds.insert(at, EditKind::Asyncify);
        }
        Some(Err(refusal)) if edit_kinds.is_empty() || sleeps => return Err(refusal.clone()),
        _ => {}
    }
    match edit_kinds.is_empty() {
        false => Ok(Remedy { edit_kinds, at_most }),
        true if newer.is_some() => refuse(newer.as_deref().unwrap_or_default()),
        true => refuse(missing.unwrap_or(match advice.lazy {
            true => "the call only builds a lazy result: the code that consumes it blocks",
            false => "the surrounding code must await the future",
        })),
    }
}

/// The replacements that are applied, by rule: what each comes to has been compiled, in a crate of its name in
/// `tests/fixtures/rust-compile`. Others are shown.
pub const RUST_FIX_SHAPES: &[(&str, &str)] = &[
    ("blocking-sleep", "twin"),
    ("blocking-sleep", "asyncify"),
    ("blocking-network", "rewrite"),
    ("blocking-network", "offload"),
    ("blocking-database", "offload"),
    ("blocking-file", "twin"),
    ("blocking-file", "rewrite"),
    ("blocking-file", "offload"),
    ("blocking-file", "asyncify"),
    ("blocking-subprocess", "twin-type"),
    ("blocking-subprocess", "offload"),
    ("blocking-wait", "twin-method"),
    ("blocking-wait", "rewrite"),
    ("blocking-wait", "offload"),
    ("nested-event-loop", "rewrite"),
    ("cpu-bound", "offload"),
    ("blocking-input", "offload"),
];

/// Returns the name of a way among the shapes.
fn shape(edit_kind: &EditKind) -> &'static str {
    match edit_kind {
        EditKind::Twin { method: true, .. } => "twin-method",
        EditKind::Twin { .. } => "twin",
        EditKind::TwinType { .. } => "twin-type",
        EditKind::Rewrite { .. } => "rewrite",
        EditKind::Offload { .. } => "offload",
        EditKind::Asyncify => "asyncify",
        EditKind::HandOver { .. } => "hand-over",
        EditKind::DropArgument { .. } | EditKind::AddArgument { .. } => "argument",
        EditKind::Chain { .. } | EditKind::Share { .. } => "chain",
        EditKind::ShareInModule => "module",
    }
}

/// True if a path is spelled like that of a type.
fn is_type(path: &str) -> bool {
    path.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase))
}
