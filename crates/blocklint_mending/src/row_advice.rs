//! The advice of model rows for mending a call: its async twins, rewrites, and whether the project's versions have them.

use std::sync::Arc;

use blocklint_core::{FixKind, Language, Piece};
use blocklint_flow::graph::SinkSite;
use blocklint_link::linker::Linker;
use blocklint_link::models::availability::Available;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_models::{Template, expand_twin};

use crate::async_chain::{Chain, Unchained};

/// The advice of a model row for mending a call of it.
#[derive(Clone, Debug, Default)]
pub struct Mending {
    /// The text in place of the call, for the root's runtime.
    pub rewrite: Option<Template>,
    /// The only kind of fix that is right.
    pub kind: Option<FixKind>,
    /// The call only builds: what consumes its result blocks.
    pub lazy: bool,
    /// The call that takes a result instead of a callable would pass arguments on to the callable.
    pub passes: bool,
    /// The call returns a coroutine.
    pub returns_coroutine: bool,
    /// It holds the thread shortly: only a loop around it makes it long.
    pub brief: bool,
    /// The twin returns what the call returns, and can fail in the same way.
    pub same: bool,
    /// The availability of the twin there.
    pub twin: Available,
    /// The availability there of the function that hands a call to a thread.
    pub pool: Available,
    /// Rust: what becomes `async` together where helpers lead to the call, or why they do not.
    pub chain: Option<Result<Arc<Chain>, Unchained>>,
    /// The call that would start threads without a bound if this one were handed to one: the object that it makes runs
    /// for each item.
    pub starts: Option<SiteRef>,
}

/// Returns the async twins for a runtime: the path, and whether the rewrite is local.
pub fn twins(
    linker: &Linker<'_>,
    sink: &SinkSite<'_>,
    runtime: Option<blocklint_core::Runtime>,
    language: Language,
) -> Vec<(String, bool)> {
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
            let local = parent(&twin) == parent(&path) || !of_type && !parent(&twin).is_some_and(|of| is_class(&of));
            (twin, local)
        })
        .collect()
}

/// Returns the methods of the same name on the async twins of a method's class, which its constructor's row names.
fn class_twins(
    linker: &Linker<'_>,
    path: blocklint_link::program::ids::PathId,
    runtime: Option<blocklint_core::Runtime>,
    language: Language,
) -> Vec<(String, bool)> {
    let Some((class, method)) = linker.library.split(path) else { return Vec::new() };
    if !linker.library.is_type(class) || method.starts_with("__") {
        return Vec::new();
    }
    let separator = blocklint_link::models::library::separator(language);
    let calls = linker.library.calls(class);
    let constructor = calls.with(|row| row.instead.is_some()).next();
    let Some(instead) = constructor.and_then(|row| row.row.instead.as_ref()) else { return Vec::new() };
    instead.for_runtime(runtime).iter().map(|twin| (format!("{twin}{separator}{method}"), false)).collect()
}

/// True if a path is spelled like a class: what hangs on it takes a receiver of its own.
fn is_class(path: &str) -> bool {
    blocklint_core::last_name(path).starts_with(char::is_uppercase)
}

/// Returns the advice of a sink's row for mending it, for a runtime.
pub fn mending(
    linker: &Linker<'_>,
    sink: &SinkSite<'_>,
    runtime: Option<blocklint_core::Runtime>,
    site: SiteRef,
    twins: &[(String, bool)],
) -> Mending {
    let file = site.file;
    let calls = linker.library.calls(sink.path);
    let rewrite = sink.row.rewrite.as_ref().or_else(|| calls.advice().find_map(|row| row.row.rewrite.as_ref()));
    let mut mending = Mending {
        rewrite: rewrite.and_then(|rewrite| rewrite.for_runtime(runtime)).cloned(),
        kind: sink.row.fix,
        lazy: sink.row.lazy,
        brief: sink.row.severity == Some(blocklint_core::Severity::Note),
        ..Mending::default()
    };
    if linker.program.language(file) == Language::Rust {
        mending.pool = linker.available_at(site, blocklint_core::Runtime::blocking_pool(runtime).0);
        if let Some((twin, _)) = twins.first() {
            mending.same = twin_returns_same(linker, sink, twin);
            mending.twin = linker.available_at(site, twin);
        }
    }
    if linker.program.language(file) == Language::Python {
        let called =
            mending.rewrite.iter().flat_map(|template| called_in_python(template, &linker.library.text(sink.path)));
        let called = called.chain(twins.iter().take(1).map(|(twin, _)| twin.clone()));
        mending.twin = oldest_of(linker, file, called);
        // Where there are several, one of them works with any version.
        if let [(only, _)] = blocklint_core::Runtime::thread_functions(runtime) {
            mending.pool = linker.has_version_for(file, only);
        }
    }
    if linker.program.language(file) == Language::Java {
        if let Some(of) = blocklint_core::Runtime::publishers(runtime) {
            mending.pool = linker.has_version_for(file, &of.workers_path());
        }
        mending.twin = oldest_of(linker, file, mending.rewrite.iter().flat_map(called_in));
    }
    mending
}

/// True if the twin of a call returns what the call returns, as far as rows show.
pub(crate) fn twin_returns_same(linker: &Linker<'_>, sink: &SinkSite<'_>, twin: &str) -> bool {
    let rows = linker.library.calls(linker.library.path(Language::Rust, twin));
    let given = |rows: &blocklint_models::CallRows<'_>| {
        rows.with(|row| row.returns.is_some()).find_map(|row| row.row.returns.clone())
    };
    !rows.is_empty() && given(&rows) == given(&linker.library.calls(sink.path))
}

/// Returns the first of these paths that the library's version does not have.
fn oldest_of(linker: &Linker<'_>, file: FileId, mut paths: impl Iterator<Item = String>) -> Available {
    let reach = |path: String| Some(linker.has_version_for(file, &path));
    let lacks = |reach: &Available| matches!(reach, Available::Since { .. });
    paths.by_ref().filter_map(reach).find(lacks).unwrap_or_default()
}

/// Returns the imports of a template, and the method that it calls on the call's receiver (Python).
fn called_in_python(template: &Template, call: &str) -> Vec<String> {
    let class = call.rsplit_once('.').map_or("", |(class, _)| class);
    let behind = template.0.iter().skip(1).map(Some).chain([None]);
    let called = template.0.iter().zip(behind).filter_map(|(part, next)| match (part, next) {
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

/// Returns the functions of libraries that a template calls: what it imports, with the member that stands behind.
fn called_in(template: &Template) -> Vec<String> {
    let behind = template.0.iter().skip(1).map(Some).chain([None]);
    let called = template.0.iter().zip(behind).filter_map(|(part, next)| match (part, next) {
        (Piece::Import(class), Some(Piece::Text(text))) => {
            let name = text.strip_prefix('.')?;
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            Some(format!("{class}.{}", &name[..end]))
        }
        _ => None,
    });
    called.collect()
}
