//! Code that a person runs by hand: migrations, tests, functions that ask at the terminal, and scripts that
//! lie beside the packages of a project. No edit is made there unless `--include-aside` is given. Their findings stay, because a reader may
//! want to know them.

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{BodyFlags, BodyId, BodyKind, FileFacts, Flow, Form, FormId};
use blocklint_flow::lifecycle::one_shot_program::runs_one_job;
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::folders;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::EnvId;
use blocklint_models::{HandoverContext, Runs};

/// Returns the reason why an edit at a site frees no task, if it does not.
pub fn runs_by_hand(linker: &Linker<'_>, site: SiteRef) -> Option<&'static str> {
    let file = site.file;
    let relative = &linker.program.files[file.index()].relative;
    if is_in_test(linker, site) {
        return Some("it is a test, and no request waits for its preparation");
    }
    if asks_at_terminal(linker, site) {
        return Some("the function asks a person at a terminal, and no request waits for it");
    }
    if is_migration(relative) {
        return Some("a migration runs before anything is served");
    }
    // Deeper it may be the part of the program that serves documentation.
    if folders(relative).next().is_some_and(lang::python::conventions::shows_or_measures) {
        return Some("it is an example or a benchmark, and no request waits for it");
    }
    let facts = linker.program.facts(file);
    if facts.language != Language::Python || !runs_as_program(facts) || serves(linker, file) {
        return None;
    }
    if lies_beside_packages(linker, relative) {
        return Some("it is a script beside the project's packages, and no request waits for it");
    }
    let is_script = linker.reach().is_imported(file) == Some(false) && runs_one_job(linker, file);
    is_script.then_some("the file is a program that does one thing, and no request waits for it")
}

/// True if a call of this path alone takes about as long as a thread. (Python)
pub fn takes_a_moment(path: &str) -> bool {
    lang::python::conventions::only_changes_names(path)
}

/// True if a site stands in a test, or in code that only tests build.
fn is_in_test(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let first = Some(facts.body_of(linker.program.site(site).at));
    let mut bodies = std::iter::successors(first, |&body| facts.body(body).parent.get());
    linker.program.is_test(site.file) || bodies.any(|body| facts.body(body).flags.has(BodyFlags::TEST))
}

/// True if the coroutine around a site starts something up, by its name. A thread there frees no task. (Python)
pub fn starts_up(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let body = facts.body(facts.body_of(linker.program.site(site).at));
    facts.language == Language::Python
        && body.kind == BodyKind::Function
        && body.flow == Flow::Coroutine
        && lang::python::conventions::starts_up(facts.text(body.name))
}

/// True if the function around a site itself waits for typed input, elsewhere than there.
fn asks_at_terminal(linker: &Linker<'_>, at: SiteRef) -> bool {
    let body = linker.program.body_of_site(at);
    let asks = |site: SiteRef| {
        site != at
            && linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    linker.library.calls(path).effect().any(|row| row.held() == Some(Effect::Input))
                }
                _ => false,
            })
    };
    linker.program.language(body.file) == Language::Python && linker.program.sites_in(body).any(asks)
}

fn is_migration(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let stem = name.split('.').next().unwrap_or(name);
    folders(relative).chain([stem]).any(lang::python::conventions::holds_migrations)
}

/// True if a file lies in a folder that is no package, while others of the project are.
fn lies_beside_packages(linker: &Linker<'_>, relative: &str) -> bool {
    let Some((folder, _)) = relative.rsplit_once('/') else { return false };
    let mut packages = linker.program.files.iter().filter_map(|file| file.relative.strip_suffix("/__init__.py"));
    let mut others = false;
    packages.all(|package| {
        // In an example's folder or below, a package shows nothing about the project.
        others |= !package.starts_with(folder);
        package != folder
    }) && others
}

/// `if __name__ == "__main__":`
fn runs_as_program(facts: &FileFacts) -> bool {
    let tests = facts.regions.iter().map(|region| region.test).filter(|test| test.is_some());
    tests.into_iter().any(|test| matches!(facts.form(test), Form::Compare(_, left, _) if is_dunder_name(facts, left)))
}

fn is_dunder_name(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Name(name) => facts.text(name) == "__name__",
        Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
        _ => false,
    }
}

/// True if a file registers functions that run on an event loop: routes, handlers.
fn serves(linker: &Linker<'_>, file: FileId) -> bool {
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
