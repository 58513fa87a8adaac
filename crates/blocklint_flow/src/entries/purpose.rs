//! Evidence of what a project is for: a command line (argument parsers such as argparse, clap and picocli) or others that it serves (servers,
//! bots, consumers, loops without end). Tests and examples are no evidence. Never when one body runs.

use blocklint_core::Language;
use blocklint_facts::{BodyId, FileFacts, Form, Region, RegionId, RegionKind, SiteFlags, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::CrateLayout;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::path_kind::is_example;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Asks, CallRow, Phase, Uses, Via};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// The evidence in each language's files of the project's purpose: of Python, Rust and Java.
    purposes: [OnceCell<Purposes>; 3],
    /// Packages of Rust that read arguments.
    parsers_of_arguments: OnceCell<FxHashSet<String>>,
    /// Rust: names of library calls that serve.
    serving_names: OnceCell<FxHashSet<String>>,
    /// True if the project is seen to serve others.
    project_serves: OnceCell<bool>,
}

/// The files of one language that show what a program is for.
#[derive(Debug, Default)]
pub(crate) struct Purposes {
    /// Files that read what stands behind the program's name on a command line.
    takes_arguments: FxHashSet<FileId>,
    /// Files that call what serves others.
    serves: FxHashSet<FileId>,
    /// Files that look as if they served: a loop without end that awaits, a call of a name such as `serve`. Most do, but a command may
    /// ask again and again, and one of several commands may be the one that serves.
    may_serve: FxHashSet<FileId>,
}

/// True if a file reads what stands behind the program's name on a command line: `argparse.ArgumentParser()`, `@click.command()`, `new
/// picocli.CommandLine(app)`, `sys.argv`.
pub(crate) fn takes_arguments(linker: &Linker<'_>, file: FileId) -> bool {
    of_language(linker, linker.program.language(file)).takes_arguments.contains(&file)
}

/// True if a file serves others: `uvicorn.run(app)`, `await server.serve_forever()`, a loop without end that awaits.
pub(crate) fn serves(linker: &Linker<'_>, file: FileId) -> bool {
    let of_language = of_language(linker, linker.program.language(file));
    of_language.serves.contains(&file) || of_language.may_serve.contains(&file)
}

/// Returns the files of Rust that read arguments themselves: `std::env::args()`.
pub(crate) fn rust_files_taking_arguments<'l>(linker: &'l Linker<'_>) -> impl Iterator<Item = FileId> + 'l {
    of_language(linker, Language::Rust).takes_arguments.iter().copied()
}

/// True if some file of the project reads arguments.
pub fn project_takes_arguments(linker: &Linker<'_>) -> bool {
    let of_file = |&language: &Language| !of_language(linker, language).takes_arguments.is_empty();
    let crates = || linker.program.layout.crates.iter();
    linker.program.languages().iter().any(of_file) || crates().any(|own| depends_on_parser(linker, own))
}

/// True if a package of Rust depends on a parser of arguments, and not for its tests alone.
pub(crate) fn depends_on_parser(linker: &Linker<'_>, own: &CrateLayout) -> bool {
    let mut needed = own.dependencies.iter().flatten().filter(|(_, name, _)| own.aside.binary_search(name).is_err());
    needed.any(|(_, name, _)| is_parser_of_arguments(linker, name))
}

/// True if the project is seen to serve others: a file of it serves, or a library enters a body of it on an event loop, as for
/// `@app.get("/")`.
pub fn project_serves(linker: &Linker<'_>) -> bool {
    let memo = &linker.layer_memo::<Memo>().project_serves;
    *memo.get_or_init(|| {
        let languages = linker.program.languages();
        languages.iter().any(|&language| !of_language(linker, language).serves.is_empty())
            || languages.iter().any(|&language| !of_language(linker, language).may_serve.is_empty())
            || languages.iter().any(|&language| language != Language::Rust && registers(linker, language))
    })
}

/// True if a path shows that a file belongs to a command line, and neither the file nor the rest of the project shows
/// otherwise: the file calls nothing that serves others, and what may be anything (`__main__.py`, or in Rust a folder
/// `commands`) reads arguments.
pub fn is_command_file(linker: &Linker<'_>, file: FileId) -> bool {
    let program = linker.program;
    if !program.is_command_line(file) || of_language(linker, program.language(file)).serves.contains(&file) {
        return false;
    }
    let relative = &program.files[file.index()].relative;
    match program.language(file) {
        Language::Rust => project_takes_arguments(linker),
        Language::Python if relative.ends_with("__main__.py") => takes_arguments(linker, file),
        Language::Python | Language::Java => true,
    }
}

/// True if a package of Rust is a library that reads arguments: `clap`. It is asked by package, because derived code
/// has no calls to look at.
fn is_parser_of_arguments(linker: &Linker<'_>, package: &str) -> bool {
    let parsers = linker.layer_memo::<Memo>().parsers_of_arguments.get_or_init(|| {
        let models = linker.library.of(Language::Rust);
        let paths = models.names(Uses::ARGUMENTS).flat_map(|name| name.paths(Uses::ARGUMENTS));
        paths.flat_map(|path| path.file.libraries.iter().cloned()).collect()
    });
    parsers.contains(package)
}

/// Returns the evidence in the files of a language, found when first asked for.
fn of_language<'l>(linker: &'l Linker<'_>, language: Language) -> &'l Purposes {
    let memo = &linker.layer_memo::<Memo>().purposes;
    let place = match language {
        Language::Python => 0,
        Language::Rust => 1,
        Language::Java => 2,
    };
    memo[place].get_or_init(|| find(linker, language))
}

fn find(linker: &Linker<'_>, language: Language) -> Purposes {
    let mut found = Purposes::default();
    add_callers(linker, language, Uses::ARGUMENTS, |row| row.asks == Some(Asks::Arguments), &mut found.takes_arguments);
    add_callers(linker, language, Uses::SERVES, |row| row.serves, &mut found.serves);
    add_takers(linker, language, (Uses::COMMAND, Phase::Command), &mut found.takes_arguments);
    // A function that starts up serves later: `reactor.callWhenRunning(start)`.
    add_takers(linker, language, (Uses::START_UP, Phase::Startup), &mut found.serves);
    let files = || (0..linker.program.files.len() as u32).map(FileId).filter(|&file| counts(linker, language, file));
    if language == Language::Rust {
        add_servers_by_name(linker, &mut found.serves);
        found.may_serve.extend(files().filter(|&file| has_endless_loop(linker, file)));
    }
    if language == Language::Python {
        for &name in lang::python::conventions::COMMAND_LINE_ARGUMENTS {
            let files = linker.program.name(name).map_or(&[][..], |name| linker.program.occurrences(name));
            let counting = files.iter().map(|row| row.0).filter(|&file| counts(linker, language, file));
            found.takes_arguments.extend(counting);
        }
        found.may_serve.extend(files().filter(|&file| serves_by_name(linker, file)));
        found.may_serve.extend(files().filter(|&file| has_endless_loop(linker, file)));
    }
    found
}

/// True if a file is evidence: it is of the language, and neither a test nor an example.
fn counts(linker: &Linker<'_>, language: Language, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    linker.program.language(file) == language && !linker.is_for_tests(file.body_ref(BodyId(0))) && !is_example(relative)
}

/// Adds the files that call a function of a library whose row states it.
fn add_callers(
    linker: &Linker<'_>,
    language: Language,
    uses: Uses,
    says: fn(&CallRow) -> bool,
    found: &mut FxHashSet<FileId>,
) {
    let calls = |path| linker.library.calls(path).iter().any(|row| says(&row));
    add_callers_of(linker, language, uses, calls, found);
}

/// Adds the files that hand a library something to run in a phase: `@app.command()`, `@app.on_event("startup")`.
fn add_takers(linker: &Linker<'_>, language: Language, (uses, phase): (Uses, Phase), found: &mut FxHashSet<FileId>) {
    let takes = |path| linker.library.handovers(path).iter().any(|row| row.phase == Some(phase));
    add_callers_of(linker, language, uses, takes, found);
}

fn add_callers_of(
    linker: &Linker<'_>,
    language: Language,
    uses: Uses,
    says: impl Fn(blocklint_link::program::ids::PathId) -> bool,
    found: &mut FxHashSet<FileId>,
) {
    let program = linker.program;
    let names = linker.library.of(language).names(uses).filter_map(|row| program.name(row.name));
    let mut names: Vec<_> = names.flat_map(|name| linker.with_aliases(name)).collect();
    names.sort_unstable();
    names.dedup();
    for site in names.into_iter().flat_map(|name| program.sites_named(name)) {
        if found.contains(&site.file)
            || !counts(linker, language, site.file)
            || linker.is_for_tests(program.body_of_site(site))
        {
            continue;
        }
        let callee = linker.callee(site, EnvId::NONE);
        let is_meant = linker.values.members(callee.value).iter().any(|val| match *val {
            Val::External(path) | Val::Method { path, .. } => says(path),
            _ => false,
        });
        if is_meant {
            found.insert(site.file);
        }
    }
}

/// True if a file of Python calls what serves by its name.
fn serves_by_name(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.sites.iter().any(|row| lang::python::conventions::always_serves(facts.text(row.name)))
}

/// Adds the files of Rust that call what serves by its name: `server.serve(service)`.
fn add_servers_by_name(linker: &Linker<'_>, found: &mut FxHashSet<FileId>) {
    let program = linker.program;
    let awaited = lang::rust::conventions::AWAITED_SERVING_CALLS.iter().map(|&name| (name, true));
    for (name, awaited) in lang::rust::conventions::SERVING_CALLS.iter().map(|&name| (name, false)).chain(awaited) {
        let Some(name) = program.name(name) else { continue };
        for site in program.sites_named(name) {
            if !found.contains(&site.file)
                && is_serving(linker, site, awaited)
                && !linker.is_for_tests(program.body_of_site(site))
            {
                found.insert(site.file);
            }
        }
    }
}

/// True if a call under a name that serves leads to no function of the project, which serves where its own code does.
pub(crate) fn is_serving(linker: &Linker<'_>, site: SiteRef, awaited: bool) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if facts.language != Language::Rust || row.kind != SiteKind::Call {
        return false;
    }
    if awaited && !row.flags.has(SiteFlags::AWAITED) {
        return false;
    }
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().all(|target| matches!(target, Target::Row { .. }))
}

/// True if a body of a file that is none of its tests has a loop without end that awaits.
fn has_endless_loop(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    (0..facts.regions.len() as u32)
        .map(RegionId)
        .any(|id| is_endless(facts, id) && !linker.is_for_tests(file.body_ref(facts.region(id).body)))
}

/// True if a region is a loop that no statement leaves and that awaits each time round.
pub(crate) fn is_endless(facts: &FileFacts, id: RegionId) -> bool {
    let region = facts.region(id);
    if region.kind != RegionKind::Loop || facts.form(region.test) != Form::Bool(true) {
        return false;
    }
    let inside =
        |region: &Region, span: blocklint_core::Span| region.span.start <= span.start && span.end <= region.span.end;
    let awaits = facts.sites.iter().any(|row| {
        row.flags.has(SiteFlags::AWAITED) && facts.body_of(row.at) == region.body && inside(&region, row.span)
    });
    awaits && !facts.exits.iter().any(|exit| facts.body_of(exit.at) == region.body && inside(&region, exit.span))
}

/// True if a library enters a body of this language on an event loop because a decorator or a base class registers it.
fn registers(linker: &Linker<'_>, language: Language) -> bool {
    let program = linker.program;
    (0..program.files.len() as u32).map(FileId).filter(|&file| counts(linker, language, file)).any(|file| {
        let facts = program.facts(file);
        (0..facts.bodies.len() as u32).map(|body| file.body_ref(BodyId(body))).any(|body| {
            let row = program.body(body);
            (row.decorators.len > 0 || row.class.is_some())
                && !linker.is_for_tests(body)
                && (linker.registered(body).is_some() && !is_of_phase(linker, body, Phase::Test)
                    || is_of_phase(linker, body, Phase::Startup))
        })
    })
}

/// True if a decorator hands a body to a library to be run in a phase: `@pytest.fixture` for tests.
fn is_of_phase(linker: &Linker<'_>, body: BodyRef, phase: Phase) -> bool {
    linker
        .decorator_paths(body)
        .into_iter()
        .any(|path| linker.library.handovers(path).of_via(Via::Decorator).any(|of| of.row.phase == Some(phase)))
}

/// True if a call of Rust is one of a library that, by its row, serves others.
pub(crate) fn calls_what_serves(linker: &Linker<'_>, site: SiteRef) -> bool {
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
