//! Recognises code that a person runs by hand: migrations, tests, functions that read from a terminal, and scripts
//! beside the packages of a project. Findings in such code get no fix without `--include-aside`, but they are reported.

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{BodyId, BodyKind, Comparison, FileFacts, Flow, Form, FormId};
use blocklint_flow::lifecycle::one_shot_program::runs_one_job;
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::folders;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::EnvId;
use blocklint_models::{HandoverContext, Runs};

/// Returns the reason why a fix at a site would free no task, as a clause for messages; `None` if a fix is useful.
pub fn reason_no_edit(linker: &Linker<'_>, site: SiteRef) -> Option<&'static str> {
    let file = site.file;
    let relative = &linker.program.files[file.index()].relative;
    if linker.is_inside_tests(linker.program.body_of_site(site)) {
        return Some("it is in a test, and no request waits for it");
    }
    if asks_at_terminal(linker, site) {
        return Some("the function prompts a person at a terminal, and no request waits for it");
    }
    if is_migration(relative) {
        return Some("it is in a migration, which runs before the program serves requests");
    }
    // Only the first folder counts: `app/docs/` may be the part of the program that serves documentation.
    if folders(relative).next().is_some_and(lang::python::conventions::is_documentation_or_benchmarks) {
        return Some("it is in an example or a benchmark, and no request waits for it");
    }
    let facts = linker.program.facts(file);
    if facts.language != Language::Python || !runs_as_program(facts) || has_loop_handlers(linker, file) {
        return None;
    }
    if is_beside_packages(linker, relative) {
        return Some("it is in a script next to the project's packages, and no request waits for it");
    }
    let is_script = linker.reach().is_imported(file) == Some(false) && runs_one_job(linker, file);
    is_script.then_some("the file is a program that does one thing, and no request waits for it")
}

/// True if a call of this path is faster than the handover to a thread: `os.rename` (Python).
pub fn is_cheaper_than_thread(path: &str) -> bool {
    lang::python::conventions::changes_only_entries(path)
}

/// True if a site is in a coroutine that runs at start-up, by its name: `async def on_startup():`. A thread would free
/// no task there, because nothing is served yet (Python).
pub fn is_startup_coroutine(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let body = facts.body(facts.body_of(linker.program.site(site).at));
    facts.language == Language::Python
        && body.kind == BodyKind::Function
        && body.flow == Flow::Coroutine
        && lang::python::conventions::starts_up(facts.text(body.name))
}

/// True if the function around a site reads from a terminal by another call: `input("Go on?")` before the site
/// (Python).
fn asks_at_terminal(linker: &Linker<'_>, own_site: SiteRef) -> bool {
    let body = linker.program.body_of_site(own_site);
    let asks = |site: SiteRef| {
        site != own_site
            && linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    linker.library.calls(path).effect().any(|row| row.held_effect() == Some(Effect::Input))
                }
                _ => false,
            })
    };
    linker.program.language(body.file) == Language::Python && linker.program.sites_in(body).any(asks)
}

/// True if a folder or file name of a path is that of migrations: `alembic/versions/`.
fn is_migration(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let stem = name.split('.').next().unwrap_or(name);
    folders(relative).chain([stem]).any(lang::python::conventions::holds_migrations)
}

/// True if the folder of a file is no package, but another folder of the project is a package: `scripts/load.py` in a
/// project with `shop/__init__.py`.
fn is_beside_packages(linker: &Linker<'_>, relative: &str) -> bool {
    let Some((folder, _)) = relative.rsplit_once('/') else { return false };
    let mut packages = linker.program.files.iter().filter_map(|file| file.relative.strip_suffix("/__init__.py"));
    let mut has_other_package = false;
    packages.all(|package| {
        // A package below the script's own folder belongs to the script.
        has_other_package |= !package.starts_with(folder);
        package != folder
    }) && has_other_package
}

/// True if a file has code that runs only when the file is started as a program: `if __name__ == "__main__":`.
fn runs_as_program(facts: &FileFacts) -> bool {
    let is_main_name = |form: FormId| matches!(facts.form(form), Form::Str(text) if facts.text(text) == "__main__");
    let names_main = |form: FormId| match facts.form(form) {
        // `if __name__ in {"__main__", "__mp_main__"}:`
        Form::Display(_, list) => facts.list(list).iter().any(|&element| is_main_name(element)),
        _ => is_main_name(form),
    };
    let tests = facts.regions.iter().map(|region| region.test).filter(|test| test.is_some());
    tests.into_iter().any(|test| match facts.form(test) {
        Form::Compare(Comparison::Eq | Comparison::In, left, right) => {
            is_dunder_name(facts, left) && names_main(right) || is_main_name(left) && is_dunder_name(facts, right)
        }
        _ => false,
    })
}

fn is_dunder_name(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Name(name) => facts.text(name) == "__name__",
        Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
        _ => false,
    }
}

/// True if a decorator of a file registers a function that runs on an event loop: `@app.get("/")`.
fn has_loop_handlers(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    let on_loop = |context: &HandoverContext| match context {
        HandoverContext::Is(runs) | HandoverContext::BySync { async_: runs, .. } => {
            *runs == Runs::In(Context::EventLoop)
        }
        HandoverContext::Of(_) => false,
    };
    let registers = |body: BodyRef| {
        let decorators = linker.decorators(body);
        decorators.iter().any(|(path, _)| linker.library.handovers(*path).iter().any(|row| on_loop(&row.row.context)))
    };
    (0..facts.bodies.len() as u32).map(|at| file.body_ref(BodyId(at))).any(registers)
}
