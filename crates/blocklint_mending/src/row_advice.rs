//! The advice of model rows about edits of a call: its async twins and rewrites, and their availability in the
//! project's versions.

use std::sync::Arc;

use blocklint_core::{FixKind, Language, Piece};
use blocklint_flow::graph::SinkSite;
use blocklint_link::linker::Linker;
use blocklint_link::models::availability::PathAvailability;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_models::{Template, expand_twin};

use crate::async_chain::{Chain, Unchained};

/// The advice of a model row about edits of a call: its async twin, its rewrite, and their availability.
#[derive(Clone, Debug, Default)]
pub struct RowAdvice {
    /// The template that replaces the call, for the root's runtime.
    pub rewrite: Option<Template>,
    /// The only kind of fix that is right.
    pub kind: Option<FixKind>,
    /// True if the call only builds a lazy value, and its consumer blocks: `session.query(User)`.
    pub lazy: bool,
    /// True if the function that got a result instead of a callable forwards further arguments to the callable:
    /// `asyncio.to_thread(load(path))` becomes `asyncio.to_thread(load, path)`.
    pub forwards_arguments: bool,
    /// True if the call returns a coroutine.
    pub returns_coroutine: bool,
    /// True if the call blocks for a short time, and only a loop around it makes the time long.
    pub brief: bool,
    /// True if the twin returns the same type as the call, and can fail in the same way.
    pub twin_returns_same: bool,
    /// The availability of the twin in the file of the call.
    pub twin_availability: PathAvailability,
    /// The availability of the function that runs a call in a thread (`anyio.to_thread.run_sync`), in the file of the
    /// call.
    pub pool_availability: PathAvailability,
    /// The helpers that become `async` together, if helpers lead to the call, or the reason why they cannot (Rust).
    pub chain: Option<Result<Arc<Chain>, Unchained>>,
    /// The call that would start an unbounded number of threads if this call were moved to a thread, because it is
    /// called for each item.
    pub unbounded_spawn: Option<SiteRef>,
}

/// An async function that can replace a blocking call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncTwin {
    /// Its path.
    pub path: String,
    /// True if the edit changes only the call. A twin on another class also needs an object of that class.
    pub is_local: bool,
}

/// Returns the async twins of a sink for a runtime, in order of preference.
pub fn async_twins(
    linker: &Linker<'_>,
    sink: &SinkSite<'_>,
    runtime: Option<blocklint_core::Runtime>,
    language: Language,
) -> Vec<AsyncTwin> {
    let path = linker.library.text(sink.path);
    let calls = linker.library.calls(sink.path);
    let advice = sink.row.instead.as_ref().or_else(|| calls.advice().find_map(|row| row.row.instead.as_ref()));
    let Some(instead) = advice else { return class_twins(linker, sink.path, runtime, language) };
    let separator = blocklint_link::models::library::separator(language);
    let parent = |path: &str| path.rsplit_once(separator).map(|(parent, _)| parent.to_owned());
    let of_type = linker
        .library
        .split(sink.path)
        .is_some_and(|(parent, _)| linker.library.is_type(parent) && linker.library.ty(parent).is_some());
    instead
        .for_runtime(runtime)
        .iter()
        .map(|twin| {
            let twin = expand_twin(twin, sink.row.path, &path, language);
            let is_local = parent(&twin) == parent(&path) || !of_type && !parent(&twin).is_some_and(|of| is_class(&of));
            AsyncTwin { path: twin, is_local }
        })
        .collect()
}

/// Returns the methods of the same name on the async twins of a method's class. The twins are in the row of the
/// constructor.
fn class_twins(
    linker: &Linker<'_>,
    path: blocklint_link::program::ids::PathId,
    runtime: Option<blocklint_core::Runtime>,
    language: Language,
) -> Vec<AsyncTwin> {
    let Some((class, method)) = linker.library.split(path) else { return Vec::new() };
    if !linker.library.is_type(class) || method.starts_with("__") {
        return Vec::new();
    }
    let separator = blocklint_link::models::library::separator(language);
    let calls = linker.library.calls(class);
    let constructor = calls.with(|row| row.instead.is_some()).next();
    let Some(instead) = constructor.and_then(|row| row.row.instead.as_ref()) else { return Vec::new() };
    instead
        .for_runtime(runtime)
        .iter()
        .map(|twin| AsyncTwin { path: format!("{twin}{separator}{method}"), is_local: false })
        .collect()
}

/// True if the last name of a path is spelled like a class: `httpx.AsyncClient`.
fn is_class(path: &str) -> bool {
    blocklint_core::last_name(path).starts_with(char::is_uppercase)
}

/// Returns the advice of a sink's row about edits of the call, for a runtime.
pub fn row_advice(
    linker: &Linker<'_>,
    sink: &SinkSite<'_>,
    runtime: Option<blocklint_core::Runtime>,
    site: SiteRef,
    twins: &[AsyncTwin],
) -> RowAdvice {
    let file = site.file;
    let calls = linker.library.calls(sink.path);
    let rewrite = sink.row.rewrite.as_ref().or_else(|| calls.advice().find_map(|row| row.row.rewrite.as_ref()));
    let mut row_advice = RowAdvice {
        rewrite: rewrite.and_then(|rewrite| rewrite.for_runtime(runtime)).cloned(),
        kind: sink.row.fix,
        lazy: sink.row.lazy,
        brief: sink.row.severity == Some(blocklint_core::Severity::Note),
        ..RowAdvice::default()
    };
    if linker.program.language(file) == Language::Rust {
        row_advice.pool_availability = linker.availability_at(site, blocklint_core::Runtime::blocking_pool(runtime).0);
        if let Some(AsyncTwin { path: twin, .. }) = twins.first() {
            row_advice.twin_returns_same = twin_returns_same(linker, sink, twin);
            row_advice.twin_availability = linker.availability_at(site, twin);
        }
    }
    if linker.program.language(file) == Language::Python {
        let called =
            row_advice.rewrite.iter().flat_map(|template| called_in_python(template, &linker.library.text(sink.path)));
        let called = called.chain(twins.iter().take(1).map(|twin| twin.path.clone()));
        row_advice.twin_availability = first_unavailable(linker, file, called);
        // If there are several thread functions, one of them works with any version.
        if let [(only, _)] = blocklint_core::Runtime::thread_functions(runtime) {
            row_advice.pool_availability = linker.version_availability(file, only);
        }
    }
    if linker.program.language(file) == Language::Java {
        if let Some(of) = blocklint_core::Runtime::publishers(runtime) {
            row_advice.pool_availability = linker.version_availability(file, &of.workers_path());
        }
        row_advice.twin_availability =
            first_unavailable(linker, file, row_advice.rewrite.iter().flat_map(called_in_java));
    }
    row_advice
}

/// True if the rows of a twin and of its call have equal return types.
pub(crate) fn twin_returns_same(linker: &Linker<'_>, sink: &SinkSite<'_>, twin: &str) -> bool {
    let rows = linker.library.calls(linker.library.path(Language::Rust, twin));
    let returns = |rows: &blocklint_models::CallRows<'_>| {
        rows.with(|row| row.returns.is_some()).find_map(|row| row.row.returns.clone())
    };
    !rows.is_empty() && returns(&rows) == returns(&linker.library.calls(sink.path))
}

/// Returns the availability of the first path that the installed version of its library lacks; `Unknown` if it has all.
fn first_unavailable(linker: &Linker<'_>, file: FileId, mut paths: impl Iterator<Item = String>) -> PathAvailability {
    let availability = |path: String| Some(linker.version_availability(file, &path));
    let is_missing = |availability: &PathAvailability| matches!(availability, PathAvailability::Since { .. });
    paths.by_ref().filter_map(availability).find(is_missing).unwrap_or_default()
}

/// Returns the imports of a template, and the method that it calls on the call's receiver (Python).
fn called_in_python(template: &Template, call: &str) -> Vec<String> {
    let class = call.rsplit_once('.').map_or("", |(class, _)| class);
    let following = template.0.iter().skip(1).map(Some).chain([None]);
    let called = template.0.iter().zip(following).filter_map(|(part, next)| match (part, next) {
        (Piece::Import(path), _) => Some(path.clone()),
        (Piece::Receiver, Some(Piece::Text(text))) => {
            let name = text.strip_prefix('.')?;
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            Some(format!("{class}.{}", &name[..end]))
        }
        _ => None,
    });
    called.collect()
}

/// Returns the library functions that a template calls: an imported class with the member that follows it (Java).
fn called_in_java(template: &Template) -> Vec<String> {
    let following = template.0.iter().skip(1).map(Some).chain([None]);
    let called = template.0.iter().zip(following).filter_map(|(part, next)| match (part, next) {
        (Piece::Import(class), Some(Piece::Text(text))) => {
            let name = text.strip_prefix('.')?;
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            Some(format!("{class}.{}", &name[..end]))
        }
        _ => None,
    });
    called.collect()
}
