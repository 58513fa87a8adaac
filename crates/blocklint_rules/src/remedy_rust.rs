//! The choice of a finding's fix in Rust, and its applicability.
//!
//! - A twin is **safe** if it has the same name and result type, is a function (`std::fs::read`), and the feature that
//!   it needs is enabled. Other twins with the same result type are **unsafe**. A twin with another result type is only
//!   **displayed**, because the code behind the call must change with it.
//! - Making helpers `async`, because the call in them has a twin, is **unsafe**: other tasks run during the new
//!   `.await`, and values that are alive at it must be `Send` if the task is.
//! - The blocking pool is **unsafe**: only the compiler knows if the captured values may leave the task (`Send`,
//!   `'static`).

use blocklint_core::{Applicability, EditKind, Effect, FixKind, Offload, Refusal, Remedy, Runtime, last_name};

use crate::remedy::{Advice, Availability};
use crate::{SiteForm, Subject, Twin};

/// Returns the remedy of a blocking call, or the reason why no edit is right (Rust). A remedy with a shape that is not
/// in [`RUST_FIX_SHAPES`] is only displayed.
pub(crate) fn choose_rust_remedy(subject: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let mut remedy = choose_unproven_remedy(subject, advice)?;
    let is_proven = |edit_kind: &EditKind| RUST_FIX_SHAPES.contains(&(subject.rule.name, shape_name(edit_kind)));
    if !remedy.edit_kinds.iter().all(is_proven) {
        remedy.at_most = Applicability::Display;
    }
    Ok(remedy)
}

/// Returns an error if no edit can be right: the site is no call, the function is not `async`, the row excludes edits, or
/// the runtime is ambiguous.
fn refuse_uneditable(subject: &Subject<'_>, advice: &Advice) -> Result<(), Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match subject.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: an operator, a loop, a macro or the end of a scope runs the code");
        }
        SiteForm::Call => {}
    }
    if !subject.owner.kind.is_async() {
        return refuse("the function is not `async`, so it cannot `await`");
    }
    if advice.kind == Some(FixKind::None) {
        return refuse("no model describes a correct edit of this call");
    }
    for availability in [&advice.twin_availability, &advice.pool_availability] {
        if let Availability::AmbiguousRuntime(other) = availability {
            let runtime = Runtime::Tokio;
            return Err(Refusal::new(format!("the runtime is ambiguous: `{runtime}` or `{other}`")));
        }
    }
    Ok(())
}

/// Returns the remedy of a blocking call. Its shape need not be in [`RUST_FIX_SHAPES`].
fn choose_unproven_remedy(subject: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    refuse_uneditable(subject, advice)?;
    let refuse = |reason: &str| Err(Refusal::new(reason));
    let (mut edit_kinds, mut at_most) = (Vec::new(), Applicability::Safe);
    let mut missing = None;
    if advice.kind != Some(FixKind::Offload) && subject.is_direct && !advice.lazy {
        match (&advice.rewrite, subject.twin) {
            (Some(template), _) => {
                edit_kinds.push(EditKind::Rewrite { template: template.clone() });
                at_most = Applicability::Unsafe;
            }
            (None, Some(_)) if advice.twin_availability == Availability::Unavailable => {
                missing = Some("the crate does not depend on the twin's library")
            }
            (None, Some(_)) if matches!(advice.twin_availability, Availability::NeedsNewerVersion(_)) => {}
            (None, Some(twin)) => {
                if let Some((edit_kind, limit)) = twin_edit(subject, advice, twin) {
                    edit_kinds.push(edit_kind);
                    at_most = limit;
                }
            }
            (None, None) => {}
        }
        // Without the feature the crate would not compile.
        if matches!(advice.twin_availability, Availability::MissingFeature(_)) && advice.rewrite.is_none() {
            at_most = at_most.min(Applicability::Display);
        }
        if !edit_kinds.is_empty() && (at_most != Applicability::Display || subject.rule.effect == Some(Effect::Sleep)) {
            return Ok(Remedy { edit_kinds, at_most });
        }
    }
    let nested = subject.rule.effect == Some(Effect::NestedLoop);
    let offloads =
        advice.kind != Some(FixKind::Twin) && !(advice.lazy && subject.is_direct) && !(nested && subject.is_direct);
    let newer =
        [&advice.pool_availability, &advice.twin_availability].into_iter().find_map(
            |availability| match availability {
                Availability::NeedsNewerVersion(what) => Some(format!("its replacement needs {what}")),
                _ => None,
            },
        );
    if offloads
        && advice.pool_availability != Availability::Unavailable
        && !matches!(advice.pool_availability, Availability::NeedsNewerVersion(_))
    {
        let (path, fallible) = Runtime::blocking_pool(subject.runtime);
        // The code around the call uses the connection or guard, which cannot be returned from a thread.
        let is_database_step =
            subject.is_direct && advice.kind.is_none() && subject.rule.effect == Some(Effect::Database);
        let lacks_feature = matches!(advice.pool_availability, Availability::MissingFeature(_));
        let limit = if lacks_feature || is_database_step || nested || advice.kind.is_none() && subject.fails.is_some() {
            Applicability::Display
        } else {
            Applicability::Unsafe
        };
        // An edit that is only displayed does not replace edits that can be applied.
        let edit_kind =
            EditKind::Offload { functions: vec![Offload { path: path.to_owned(), keywords: false, fallible }] };
        if limit == Applicability::Unsafe || edit_kinds.is_empty() {
            edit_kinds = vec![edit_kind];
            at_most = limit;
        }
    } else if offloads && newer.is_none() {
        missing = missing.or(Some("the crate does not depend on a runtime with a blocking pool"));
    }
    // Moving a sleep to a thread is no fix.
    let sleeps = subject.rule.effect == Some(Effect::Sleep);
    match advice.chain.as_ref().filter(|_| !subject.is_direct) {
        Some(Ok(helpers)) => {
            // An edit that is only displayed is worse than making the helpers `async`.
            if at_most == Applicability::Display || sleeps {
                edit_kinds.clear();
            }
            at_most = Applicability::Unsafe;
            // One thread for all iterations of a loop is better than one for each.
            let index = if helpers.hops_in_loop { edit_kinds.len() } else { 0 };
            edit_kinds.insert(index, EditKind::Asyncify);
        }
        Some(Err(refusal)) if edit_kinds.is_empty() || sleeps => return Err(refusal.clone()),
        _ => {}
    }
    match edit_kinds.is_empty() {
        false => Ok(Remedy { edit_kinds, at_most }),
        true if newer.is_some() => refuse(newer.as_deref().unwrap_or_default()),
        true => refuse(missing.unwrap_or(if advice.lazy {
            "the call only builds a lazy result: the code that consumes it blocks"
        } else {
            "the surrounding code must await the future"
        })),
    }
}

/// Returns the edit that replaces the call by its twin, with its applicability; `None` if the twin is a method of another
/// type and the call does not create a value of a type that could be replaced.
fn twin_edit(subject: &Subject<'_>, advice: &Advice, twin: Twin<'_>) -> Option<(EditKind, Applicability)> {
    let parent = |path: &str| path.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned();
    let requirement = match &advice.twin_availability {
        Availability::MissingFeature(feature) => Some(feature.clone()),
        _ => None,
    };
    let (callee_type, twin_type) = (parent(subject.call), parent(twin.path));
    let is_method = callee_type == twin_type && is_type(&callee_type);
    if twin.is_local {
        let same_effect = advice.twin_returns_same
            && advice.twin_availability == Availability::Available
            && !is_type(&twin_type)
            && (last_name(twin.path) == last_name(subject.call) || subject.rule.effect == Some(Effect::Sleep));
        let applicability = match advice.twin_returns_same {
            true if same_effect => Applicability::Safe,
            true => Applicability::Unsafe,
            // The call panics on this thread; the twin has the same effect without the panic.
            false if is_method && subject.fails.is_some() => Applicability::Unsafe,
            false => Applicability::Display,
        };
        let path = twin.path.to_owned();
        return Some((EditKind::Twin { path, is_method, same_effect, requirement }, applicability));
    }
    (is_type(&callee_type) && is_type(&twin_type)).then(|| {
        let applicability = if advice.twin_returns_same { Applicability::Unsafe } else { Applicability::Display };
        (EditKind::TwinType { from: callee_type, to: twin_type, requirement }, applicability)
    })
}

/// The shapes of edits that may be applied, by rule, because a crate in `tests/fixtures/rust-compile` shows that the
/// edited code compiles. Edits of other shapes are only displayed.
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

/// Returns the name of an edit's shape in [`RUST_FIX_SHAPES`].
fn shape_name(edit_kind: &EditKind) -> &'static str {
    match edit_kind {
        EditKind::Twin { is_method: true, .. } => "twin-method",
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

/// True if the last name of a path is capitalised, as that of a type is.
fn is_type(path: &str) -> bool {
    path.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase))
}
