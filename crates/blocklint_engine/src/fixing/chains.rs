//! Makes the fix of a chain: helpers that become `async` together, with edits in all files of the chain (Rust).

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_analysis::PathAvailability;
use blocklint_core::{Applicability, Edit, EditKind, Fix, Place, Refusal, Span};
use blocklint_mending::{Chain, NoChain, Unchained};
use blocklint_rust::{ChainPart, Chained, Sought};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::make::{TextOf, is_generated};
use crate::fixing::planned_edit::PlannedEdit;

/// The fixes of the chains of some findings, one for each chain.
pub(super) struct Chains(FxHashMap<usize, Result<Fix, Refusal>>);

impl Chains {
    pub(super) fn new<'w>(planned_edits: impl Iterator<Item = &'w PlannedEdit>, text: &TextOf<'_>) -> Self {
        let mut fixes_by_chain = FxHashMap::default();
        for chain in planned_edits.filter_map(|planned| planned.chain.as_ref()) {
            fixes_by_chain.entry(key(chain)).or_insert_with(|| fix_of(chain, text));
        }
        Chains(fixes_by_chain)
    }

    /// Returns the fix of a finding's chain, if its remedy includes one.
    pub(super) fn fix_of_chain(&self, planned_edit: &PlannedEdit) -> Option<Result<Fix, Refusal>> {
        let makes_async =
            planned_edit.remedy.edit_kinds.iter().any(|edit_kind| matches!(edit_kind, EditKind::Asyncify));
        self.0.get(&key(planned_edit.chain.as_ref().filter(|_| makes_async)?)).cloned()
    }
}

/// Returns the fix of a finding. Both the chain (`chained`) and an edit at the call (`direct`) can fix it: the fix that
/// the remedy prefers is returned if it can be made, else the other fix. If neither can be made, returns the refusal of
/// the preferred fix.
pub(super) fn preferred_fix(
    planned_edit: &PlannedEdit,
    chained: Option<Result<Fix, Refusal>>,
    direct: Result<Fix, Refusal>,
) -> Result<Fix, Refusal> {
    let Some(chained) = chained else { return direct };
    let is_first = matches!(planned_edit.remedy.edit_kinds.first(), Some(EditKind::Asyncify));
    match (is_first, chained, direct) {
        (true, Ok(fix), _) | (false, _, Ok(fix)) => Ok(fix),
        (true, Err(_), Ok(fix)) | (false, Ok(fix), Err(_)) => Ok(fix),
        (true, Err(refusal), Err(_)) | (false, Err(_), Err(refusal)) => Err(refusal),
    }
}

fn key(chain: &Arc<Chain>) -> usize {
    Arc::as_ptr(chain) as usize
}

/// The parts of a chain in one file.
#[derive(Default)]
struct FileChain<'c> {
    part: ChainPart<'c>,
    names: Vec<&'c str>,
}

fn fix_of(chain: &Chain, text: &TextOf<'_>) -> Result<Fix, Refusal> {
    let mut files: BTreeMap<&Arc<Utf8Path>, FileChain<'_>> = BTreeMap::new();
    for helper in &chain.helpers {
        let file_chain = files.entry(&helper.place.path).or_default();
        file_chain.part.helpers.push(helper.place.span);
        file_chain.names.push(&helper.name);
    }
    for test in &chain.tests {
        files.entry(&test.place.path).or_default().part.tests.push(test.place.span);
    }
    for call in &chain.calls {
        files.entry(&call.path).or_default().part.calls.push(call.span);
    }
    for sink in &chain.sinks {
        files.entry(&sink.place.path).or_default().part.sinks.push((sink.place.span, &sink.twin));
    }
    let (mut edits, mut sought) = (Vec::new(), Vec::new());
    for (path, file_chain) in &mut files {
        file_chain.part.exports = chain.exports;
        file_chain.part.runs_tests = &chain.runs_tests;
        let place = |span| Place::unlocated(Arc::clone(path), span);
        let source = text(path).ok_or_else(|| Refusal::new("the file can no longer be read"))?;
        if is_generated(&source) {
            return Err(Refusal::with_place("a file that it needs to change is generated", place(Span::default())));
        }
        let Chained { edits: file_edits, is_private, is_method } = blocklint_rust::asyncify(&source, &file_chain.part)
            .map_err(|(refusal, span)| Refusal::with_place(refusal.reason, place(span)))?;
        edits.extend(file_edits.into_iter().map(|(span, content)| Edit { place: place(span), content }));
        for ((name, is_private), is_method) in file_chain.names.iter().zip(is_private).zip(is_method) {
            sought.push((*path, is_private, Sought { name, is_method }));
        }
    }
    for path in &chain.files {
        let sought_names: Vec<Sought<'_>> = sought
            .iter()
            .filter(|(defined_in, is_private, _)| !is_private || can_access_private_items(defined_in, path))
            .map(|(_, _, name)| *name)
            .collect();
        if sought_names.is_empty() {
            continue;
        }
        let helpers = chain.helpers.iter().map(|helper| &helper.place);
        let changed = helpers.chain(&chain.others).chain(&chain.calls).filter(|place| place.path == *path);
        let changed: Vec<u32> = changed.map(|place| place.span.start).collect();
        let unreadable = || {
            Refusal::with_place("the file can no longer be read", Place::unlocated(Arc::clone(path), Span::default()))
        };
        let source = text(path).ok_or_else(unreadable)?;
        if let Some(span) = blocklint_rust::find_mention(&source, &sought_names, &changed) {
            let name = source.get(span.start as usize..span.end as usize).unwrap_or_default();
            let reason =
                format!("`{name}` refers to an unknown function at that place, which would have to change too");
            return Err(Refusal::with_place(reason, Place::unlocated(Arc::clone(path), span)));
        }
    }
    Ok(Fix { title: title(chain), applicability: Applicability::Unsafe, edits })
}

fn title(chain: &Chain) -> String {
    let mut names: Vec<&str> = chain.helpers.iter().map(|helper| helper.name.as_str()).collect();
    names.dedup();
    let mut twins: Vec<&str> = chain.sinks.iter().map(|sink| sink.twin.as_str()).collect();
    twins.sort_unstable();
    twins.dedup();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    format!("Make {} `async`, with {}, and await each call", quoted(&names), quoted(&twins))
}

/// True if code of the file `path` can use private items of the file `function_path`: they are one
/// file, or `path` is a module inside of it.
fn can_access_private_items(function_path: &Utf8Path, path: &Utf8Path) -> bool {
    let folder = match function_path.file_name() {
        Some("mod.rs" | "lib.rs" | "main.rs") => function_path.parent().map(Utf8Path::to_owned),
        _ => Some(function_path.with_extension("")),
    };
    path == function_path || folder.is_some_and(|folder| path.starts_with(folder))
}

/// Returns the refusal for helpers that cannot become `async`.
pub(crate) fn refusal(unchained: &Unchained) -> Refusal {
    let reason = match &unchained.why {
        NoChain::NoTwin(call) => {
            format!("its callers would become `async`, and `{call}` has no equivalent async twin")
        }
        NoChain::Unavailable(PathAvailability::WithFeature { package, feature }) => {
            format!("its async twin needs feature `{feature}` of `{package}` in Cargo.toml")
        }
        NoChain::Unavailable(PathAvailability::OtherRuntime(other)) => {
            format!("the runtime is ambiguous: the twin's runtime or `{other}`")
        }
        NoChain::Unavailable(_) => "the crate does not depend on the twin's library".to_owned(),
        NoChain::InClosure => "the blocking call is in a closure, or is passed as a value".to_owned(),
        NoChain::CalledInClosure(name) => format!("a closure that is not `async` calls `{name}`"),
        NoChain::CalledByTest(name) => {
            format!("a test that is not `async` and starts its own runtime calls `{name}`")
        }
        NoChain::NoAsyncTest(reach) => match &**reach {
            PathAvailability::WithFeature { package, feature } => format!(
                "a test that calls it would be `async`, which needs feature `{feature}` of `{package}` in Cargo.toml"
            ),
            _ => "a test that is not `async` calls it, and no test runner for async tests is known".to_owned(),
        },
        NoChain::NoKnownCaller(name) => {
            format!("`{name}` is not `async`, and its unknown callers may not be able to await")
        }
        NoChain::Value(name) => format!("`{name}` is passed as a value here"),
        NoChain::Ambiguous(name) => format!("the call may run another function than `{name}`"),
        NoChain::InConstant(name) => format!("`{name}` is called where `await` is not allowed"),
        NoChain::Recursive(name) => {
            format!("`{name}` calls itself, which an `async` function cannot do without boxing")
        }
        NoChain::TooMany => "more functions call it than one edit changes".to_owned(),
    };
    Refusal::with_place(reason, unchained.place.clone())
}
