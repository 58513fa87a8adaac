//! The purpose of a project: a command line program (argument parsers such as argparse, clap and picocli), or a service
//! (servers, bots, consumers, endless loops). Tests and examples are no evidence. When one body runs is in
//! `lifecycle/`.

use blocklint_core::{Language, Span};
use blocklint_facts::{BodyId, FileFacts, Form, Region, RegionId, RegionKind, SiteFlags, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::CrateLayout;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::path_kind::is_example;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Asks, CallRow, Phase, Uses, Via};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// The evidence in the files of Python, Rust and Java.
    purposes: [OnceCell<Purposes>; 3],
    /// The packages that parse arguments (Rust).
    parsers_of_arguments: OnceCell<FxHashSet<String>>,
    /// The names of library calls that serve (Rust).
    serving_names: OnceCell<FxHashSet<String>>,
    /// True if the project serves.
    project_serves: OnceCell<bool>,
}

/// The files of one language that show what a program is for.
#[derive(Debug, Default)]
pub(crate) struct Purposes {
    /// The files that read the arguments of the command line.
    takes_arguments: FxHashSet<FileId>,
    /// The files with a library call that serves.
    serves: FxHashSet<FileId>,
    /// The files that probably serve: they have an endless loop that awaits, or a call with a name such as `serve`.
    /// Some do not, because a command may poll in a loop, and because only one of several commands may serve.
    may_serve: FxHashSet<FileId>,
}

/// True if a file reads the arguments of the command line: `argparse.ArgumentParser()`, `@click.command()`,
/// `new picocli.CommandLine(app)`, `sys.argv`.
pub(crate) fn takes_arguments(linker: &Linker<'_>, file: FileId) -> bool {
    purposes_of(linker, linker.program.language(file)).takes_arguments.contains(&file)
}

/// True if a file serves: `uvicorn.run(app)`, `await server.serve_forever()`, an endless loop that awaits.
pub(crate) fn serves(linker: &Linker<'_>, file: FileId) -> bool {
    let purposes = purposes_of(linker, linker.program.language(file));
    purposes.serves.contains(&file) || purposes.may_serve.contains(&file)
}

/// Returns the files that read arguments without a parser: `std::env::args()` (Rust).
pub(crate) fn rust_files_taking_arguments<'l>(linker: &'l Linker<'_>) -> impl Iterator<Item = FileId> + 'l {
    purposes_of(linker, Language::Rust).takes_arguments.iter().copied()
}

/// True if some file of the project reads arguments.
pub fn project_takes_arguments(linker: &Linker<'_>) -> bool {
    let has_file = |&language: &Language| !purposes_of(linker, language).takes_arguments.is_empty();
    let crates = || linker.program.layout.crates.iter();
    linker.program.languages().iter().any(has_file) || crates().any(|package| depends_on_parser(linker, package))
}

/// True if a package depends on a parser of arguments, also outside of its tests (Rust).
pub(crate) fn depends_on_parser(linker: &Linker<'_>, package: &CrateLayout) -> bool {
    let mut dependencies =
        package.dependencies.iter().flatten().filter(|(_, name, _)| package.aside.binary_search(name).is_err());
    dependencies.any(|(_, name, _)| is_parser_of_arguments(linker, name))
}

/// True if the project serves: one of its files serves, or a library enters one of its bodies on an event loop
/// (`@app.get("/")`).
pub fn project_serves(linker: &Linker<'_>) -> bool {
    let memo = &linker.layer_memo::<Memo>().project_serves;
    *memo.get_or_init(|| {
        let languages = linker.program.languages();
        languages.iter().any(|&language| !purposes_of(linker, language).serves.is_empty())
            || languages.iter().any(|&language| !purposes_of(linker, language).may_serve.is_empty())
            || languages.iter().any(|&language| language != Language::Rust && has_registration(linker, language))
    })
}

/// True if code of one language serves requests, or registers functions that a library calls.
pub(crate) fn language_serves(linker: &Linker<'_>, language: Language) -> bool {
    let purposes = purposes_of(linker, language);
    !purposes.serves.is_empty() || !purposes.may_serve.is_empty() || has_registration(linker, language)
}

/// True if the path of a file shows that the file belongs to a command, and its code agrees: the file has no call that
/// serves. An ambiguous path needs more evidence: a `__main__.py` must read arguments, and in Rust some file of the
/// project must.
pub fn is_command_file(linker: &Linker<'_>, file: FileId) -> bool {
    let program = linker.program;
    if !program.is_command_line(file) || purposes_of(linker, program.language(file)).serves.contains(&file) {
        return false;
    }
    let relative = &program.files[file.index()].relative;
    match program.language(file) {
        Language::Rust => project_takes_arguments(linker),
        Language::Python if relative.ends_with("__main__.py") => takes_arguments(linker, file),
        Language::Python | Language::Java => true,
    }
}

/// True if a package is a parser of arguments: `clap` (Rust). The package is compared instead of calls, because code
/// that uses a derive macro has no calls of the parser.
fn is_parser_of_arguments(linker: &Linker<'_>, package: &str) -> bool {
    let parsers = linker.layer_memo::<Memo>().parsers_of_arguments.get_or_init(|| {
        let models = linker.library.of(Language::Rust);
        let paths = models.names(Uses::ARGUMENTS).flat_map(|name| name.paths(Uses::ARGUMENTS));
        paths.flat_map(|path| path.file.libraries.iter().cloned()).collect()
    });
    parsers.contains(package)
}

/// Returns the evidence in the files of a language; cached.
fn purposes_of<'l>(linker: &'l Linker<'_>, language: Language) -> &'l Purposes {
    let memo = &linker.layer_memo::<Memo>().purposes;
    let index = match language {
        Language::Python => 0,
        Language::Rust => 1,
        Language::Java => 2,
    };
    memo[index].get_or_init(|| find_purposes(linker, language))
}

fn find_purposes(linker: &Linker<'_>, language: Language) -> Purposes {
    let mut purposes = Purposes::default();
    add_callers(
        linker,
        language,
        Uses::ARGUMENTS,
        |row| row.asks == Some(Asks::Arguments),
        &mut purposes.takes_arguments,
    );
    add_callers(linker, language, Uses::SERVES, |row| row.serves, &mut purposes.serves);
    add_takers(linker, language, (Uses::COMMAND, Phase::Command), &mut purposes.takes_arguments);
    // A program that registers a function for the start serves later: `reactor.callWhenRunning(start)`.
    add_takers(linker, language, (Uses::START_UP, Phase::Startup), &mut purposes.serves);
    let files = || (0..linker.program.files.len() as u32).map(FileId).filter(|&file| counts(linker, language, file));
    if language == Language::Rust {
        add_servers_by_name(linker, &mut purposes.serves);
        purposes.may_serve.extend(files().filter(|&file| has_endless_loop(linker, file)));
    }
    if language == Language::Python {
        for &name in lang::python::conventions::COMMAND_LINE_ARGUMENTS {
            let files = linker.program.name(name).map_or(&[][..], |name| linker.program.occurrences(name));
            let counting = files.iter().map(|row| row.0).filter(|&file| counts(linker, language, file));
            purposes.takes_arguments.extend(counting);
        }
        purposes.may_serve.extend(files().filter(|&file| serves_by_name(linker, file)));
        purposes.may_serve.extend(files().filter(|&file| has_endless_loop(linker, file)));
    }
    purposes
}

/// True if a file counts as evidence: it is of the language, and neither a test nor an example.
fn counts(linker: &Linker<'_>, language: Language, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    linker.program.language(file) == language && !linker.is_for_tests(file.body_ref(BodyId(0))) && !is_example(relative)
}

/// Adds the files that call a library function with a row for which `has_use` holds.
fn add_callers(
    linker: &Linker<'_>,
    language: Language,
    uses: Uses,
    has_use: fn(&CallRow) -> bool,
    files: &mut FxHashSet<FileId>,
) {
    let calls = |path| linker.library.calls(path).iter().any(|row| has_use(&row));
    add_callers_of(linker, language, uses, calls, files);
}

/// Adds the files that register a callable for a phase: `@app.command()`, `@app.on_event("startup")`.
fn add_takers(linker: &Linker<'_>, language: Language, (uses, phase): (Uses, Phase), files: &mut FxHashSet<FileId>) {
    let takes = |path| linker.library.handovers(path).iter().any(|row| row.phase == Some(phase));
    add_callers_of(linker, language, uses, takes, files);
}

/// Adds the files with a call of a library path that `accepts`, outside of tests.
fn add_callers_of(
    linker: &Linker<'_>,
    language: Language,
    uses: Uses,
    accepts: impl Fn(PathId) -> bool,
    files: &mut FxHashSet<FileId>,
) {
    let program = linker.program;
    let names = linker.library.of(language).names(uses).filter_map(|row| program.name(row.name));
    let mut names: Vec<_> = names.flat_map(|name| linker.with_aliases(name)).collect();
    names.sort_unstable();
    names.dedup();
    for site in names.into_iter().flat_map(|name| program.sites_named(name)) {
        if files.contains(&site.file)
            || !counts(linker, language, site.file)
            || linker.is_for_tests(program.body_of_site(site))
        {
            continue;
        }
        let callee = linker.callee(site, EnvId::NONE);
        let is_accepted = linker.values.members(callee.value).iter().any(|val| match *val {
            Val::External(path) | Val::Method { path, .. } => accepts(path),
            _ => false,
        });
        if is_accepted {
            files.insert(site.file);
        }
    }
}

/// True if a file has a call that serves by its name: `serve_forever` (Python).
fn serves_by_name(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.sites.iter().any(|site_facts| lang::python::conventions::always_serves(facts.text(site_facts.name)))
}

/// Adds the files with a call that serves by its name: `server.serve(service)` (Rust).
fn add_servers_by_name(linker: &Linker<'_>, files: &mut FxHashSet<FileId>) {
    let program = linker.program;
    let awaited = lang::rust::conventions::AWAITED_SERVING_CALLS.iter().map(|&name| (name, true));
    for (name, awaited) in lang::rust::conventions::SERVING_CALLS.iter().map(|&name| (name, false)).chain(awaited) {
        let Some(name) = program.name(name) else { continue };
        for site in program.sites_named(name) {
            if !files.contains(&site.file)
                && is_serving(linker, site, awaited)
                && !linker.is_for_tests(program.body_of_site(site))
            {
                files.insert(site.file);
            }
        }
    }
}

/// True if a call with the name of a serving function has no target in the project (Rust). A function of the project
/// does not count, because its own code shows if it serves. With `must_be_awaited` the call must also be awaited.
pub(crate) fn is_serving(linker: &Linker<'_>, site: SiteRef, must_be_awaited: bool) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    if facts.language != Language::Rust || site_facts.kind != SiteKind::Call {
        return false;
    }
    if must_be_awaited && !site_facts.flags.has(SiteFlags::AWAITED) {
        return false;
    }
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().all(|target| matches!(target, Target::Row { .. }))
}

/// True if a body of a file outside of tests has an endless loop that awaits.
fn has_endless_loop(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    (0..facts.regions.len() as u32)
        .map(RegionId)
        .any(|id| is_endless(facts, id) && !linker.is_for_tests(file.body_ref(facts.region(id).body)))
}

/// True if a region is an endless loop that awaits: `while True:` without a statement that leaves the loop.
pub(crate) fn is_endless(facts: &FileFacts, id: RegionId) -> bool {
    let region = facts.region(id);
    if region.kind != RegionKind::Loop || facts.form(region.test) != Form::Bool(true) {
        return false;
    }
    let is_inside = |region: &Region, span: Span| region.span.start <= span.start && span.end <= region.span.end;
    let awaits = facts.sites.iter().any(|site_facts| {
        site_facts.flags.has(SiteFlags::AWAITED)
            && facts.body_of(site_facts.at) == region.body
            && is_inside(&region, site_facts.span)
    });
    awaits && !facts.exits.iter().any(|exit| facts.body_of(exit.at) == region.body && is_inside(&region, exit.span))
}

/// True if a library runs a body of this language on an event loop, because a decorator or a base class registers it.
fn has_registration(linker: &Linker<'_>, language: Language) -> bool {
    let program = linker.program;
    (0..program.files.len() as u32).map(FileId).filter(|&file| counts(linker, language, file)).any(|file| {
        let facts = program.facts(file);
        (0..facts.bodies.len() as u32).map(|body| file.body_ref(BodyId(body))).any(|body| {
            let body_facts = program.body(body);
            (body_facts.decorators.len > 0 || body_facts.class.is_some())
                && !linker.is_for_tests(body)
                && (linker.registered(body).is_some() && !is_of_phase(linker, body, Phase::Test)
                    || is_of_phase(linker, body, Phase::Startup))
        })
    })
}

/// True if a decorator registers a body for a phase: `@pytest.fixture` for tests.
fn is_of_phase(linker: &Linker<'_>, body: BodyRef, phase: Phase) -> bool {
    linker.decorator_paths(body).into_iter().any(|path| {
        linker.library.handovers(path).rows_of_via(Via::Decorator).any(|matched| matched.row.phase == Some(phase))
    })
}

/// True if a call is one of a library function that serves, by its row (Rust).
pub(crate) fn calls_serving_row(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let names = linker.layer_memo::<Memo>().serving_names.get_or_init(|| {
        let models = linker.library.of(Language::Rust);
        models.names(Uses::SERVES).map(|name| name.name.to_owned()).collect()
    });
    if !names.contains(facts.text(linker.program.site(site).name)) {
        return false;
    }
    let callee = linker.callee(site, EnvId::NONE);
    linker.values.members(callee.value).iter().any(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => linker.library.calls(path).iter().any(|row| row.serves),
        _ => false,
    })
}
