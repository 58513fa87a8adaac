//! One-shot programs and commands, which run one coroutine and end (Python): `raise SystemExit(main())`, where `main`
//! calls `asyncio.run`. Only their user waits for the event loop. Also finds the calls that start tasks.

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{
    At, BodyId, BodyKind, Comparison, FileFacts, Flow, Form, FormId, RegionKind, Site, SiteFlags, SiteId, SiteKind,
};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::reactive::BodyUse;
use blocklint_link::syntax::regions::around;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Concurrency, HandoverContext, Phase, Runs, Uses};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::cell::OnceCell;

use crate::entries::purpose::is_command_file;
use crate::lifecycle::phase::overridden_rows;

/// How many nested callees are searched for code that starts tasks or serves.
const MAX_CALLEE_DEPTH: u32 = 4;

/// The most nested groups of commands that are searched.
const MAX_CALLER_DEPTH: u32 = 3;

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// The names of library calls that start tasks.
    task_starters: OnceCell<FxHashSet<String>>,
    /// By body: the position in it at which it first starts tasks or begins to serve.
    first_concurrent_positions: Table<BodyRef, Option<u32>, Plain>,
}

/// True if a function is the main function of a one-shot program: the file, run as a program, exits with the function's
/// result (`sys.exit(main())`), starts no tasks outside of the function, and awaits nothing that serves.
pub(crate) fn is_one_shot(linker: &Linker<'_>, main: BodyRef) -> bool {
    let facts = linker.program.facts(main.file);
    let body_facts = linker.program.body(main);
    let is_function = body_facts.kind == BodyKind::Function && body_facts.class.is_none();
    facts.language == Language::Python
        && is_function
        && is_exit_code(linker, main)
        && !serves(linker, main.file)
        && !starts_tasks_elsewhere(linker, main)
}

/// True if the coroutine that a call makes runs on an event loop that no other code uses: a function runs it for its
/// result (`settings = asyncio.run(load())`), or worker threads run it. False in a program's main function, because the
/// coroutine of `main` mostly serves requests.
pub(crate) fn runs_on_own_loop(linker: &Linker<'_>, coroutine_call: SiteRef) -> bool {
    let facts = linker.program.facts(coroutine_call.file);
    let body = facts.body(facts.body_of(linker.program.site(coroutine_call).at));
    let is_nested = body.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function);
    if facts.language != Language::Python || body.kind != BodyKind::Function {
        return false;
    }
    let drivers = drivers_of(linker, coroutine_call);
    if drivers.is_empty() {
        return false;
    }
    let all_targets = |holds: &dyn Fn(BodyRef) -> bool| {
        linker.targets(coroutine_call, EnvId::NONE).list.iter().all(|target| match *target {
            Target::Body { body, .. } => holds(body),
            _ => true,
        })
    };
    let index = linker.program.index_of(coroutine_call.file);
    let may_be_main = !is_nested && lang::python::conventions::may_be_main(facts.text(body.name));
    let is_for_result = !may_be_main && drivers.iter().any(|&site| !index.uses_of_result(site).is_empty());
    let is_alone = |body: BodyRef| {
        let is_left_alone = |body: BodyRef| !serves_or_leaves_tasks(linker, body);
        !serves_or_starts(linker, body) && holds_below(linker, body, 4, &mut FxHashSet::default(), &is_left_alone)
    };
    if is_for_result && all_targets(&is_alone) {
        return true;
    }
    runs_on_workers(linker, linker.program.body_of_site(coroutine_call), UP_TO_WORKERS)
        && all_targets(&|body| is_quiet_coroutine(linker, body))
}

/// The most calls up to the function that a thread runs.
const UP_TO_WORKERS: u32 = 3;

/// True if only threads that may block run a function: `Thread(target=work)`, `executor.submit(work)`, `Thread.run`
/// (Python).
fn runs_on_workers(linker: &Linker<'_>, body: BodyRef, up: u32) -> bool {
    if overrides_on_worker(linker, body) {
        return true;
    }
    let is_outside_tests = |body_use: &&BodyUse| !linker.is_for_tests(linker.program.body_of_site(body_use.site()));
    let uses = linker.uses_of_body(body);
    let mut uses = uses.iter().filter(is_outside_tests).peekable();
    uses.peek().is_some()
        && uses.all(|body_use| match *body_use {
            BodyUse::Passed(site, arg) => {
                let passing = linker.argument_use(site, arg, EnvId::NONE);
                !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
            }
            BodyUse::Call(site) => {
                up > 0 && {
                    let around = linker.program.body_of_site(site);
                    linker.program.body(around).flow == Flow::Sync && runs_on_workers(linker, around, up - 1)
                }
            }
        })
}

/// True if a method overrides a library method that the library runs on a thread that may block:
/// `threading.Thread.run`.
fn overrides_on_worker(linker: &Linker<'_>, body: BodyRef) -> bool {
    overridden_rows(linker, body).iter().any(|row| row.context == HandoverContext::Is(Runs::In(Context::Worker)))
}

/// True if a command runs the coroutine that a call makes, and the coroutine is quiet: neither it nor a coroutine that
/// it awaits starts tasks or serves requests. Only the user waits for that event loop.
pub(crate) fn is_driven_by_command(linker: &Linker<'_>, coroutine_call: SiteRef) -> bool {
    linker.program.language(coroutine_call.file) == Language::Python
        && (is_command_file(linker, coroutine_call.file)
            || is_command(linker, linker.program.body_of_site(coroutine_call), MAX_CALLER_DEPTH))
        && (!drivers_of(linker, coroutine_call).is_empty() || is_driven_by_helper(linker, coroutine_call))
        && linker.targets(coroutine_call, EnvId::NONE).list.iter().all(|target| match *target {
            Target::Body { body, .. } => is_quiet(linker, body, MAX_CALLEE_DEPTH, &mut FxHashSet::default()),
            _ => false,
        })
}

/// True if an event loop is run for the coroutine that a call makes: `asyncio.run(load())`, or by a function of the
/// project that takes the coroutine (Python).
pub(crate) fn drives_coroutine(linker: &Linker<'_>, coroutine_call: SiteRef) -> bool {
    !drivers_of(linker, coroutine_call).is_empty() || is_driven_by_helper(linker, coroutine_call)
}

/// True if a coroutine is quiet: neither it nor a coroutine of the project that it awaits starts tasks or serves
/// requests (Python).
pub(crate) fn is_quiet_coroutine(linker: &Linker<'_>, body: BodyRef) -> bool {
    is_quiet(linker, body, MAX_CALLEE_DEPTH, &mut FxHashSet::default())
}

/// True if a site runs only where its file is run as a program: `if __name__ == "__main__":` (Python).
pub(crate) fn is_run_as_program(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.language == Language::Python
        && linker.tests_around(site).any(|(test, outcome)| {
            outcome
                && matches!(facts.form(test), Form::Compare(Comparison::Eq, left, right)
                    if [left, right].iter().any(|&side| is_module_name(linker, site.file, side)))
        })
}

/// True if a file runs event loops, each for one quiet coroutine, which neither starts tasks nor serves requests. Only
/// the user who runs the file waits for it.
pub fn runs_one_job(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    let runs_loop = |site: &SiteRef| {
        linker.targets(*site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                linker.library.calls(path).effect().any(|row| row.held_effect() == Some(Effect::NestedLoop))
            }
            _ => false,
        })
    };
    let sites = (0..facts.sites.len() as u32).map(|site| file.site_ref(SiteId(site)));
    let drivers: Vec<SiteRef> = sites.filter(runs_loop).collect();
    let is_one_job = |driver: &SiteRef| {
        let argument = linker.program.args_of(*driver).first().map(|arg| facts.form(arg.value));
        let Some(Form::Result(made)) = argument else { return false };
        let targets = linker.targets(file.site_ref(made), EnvId::NONE);
        !targets.list.is_empty()
            && targets.list.iter().all(|target| match *target {
                Target::Body { body, .. } => is_quiet(linker, body, MAX_CALLEE_DEPTH, &mut FxHashSet::default()),
                _ => false,
            })
    };
    !drivers.is_empty() && drivers.iter().all(is_one_job)
}

/// True if a function is registered as a command: by a decorator (`@app.command()`), by a call
/// (`app.command("list")(self.list)`), or with a group of commands, which is a decorated function of the project
/// (`@group.command()`).
fn is_command(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let registers = |path: PathId| linker.library.handovers(path).iter().any(|row| row.phase == Some(Phase::Command));
    if linker.decorator_paths(body).into_iter().any(registers) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let region = facts.body(body_facts.parent.get().unwrap_or(BodyId(0))).region;
    let scope = Scope { file: body.file, at: At { region, position: u32::MAX }, env: EnvId::NONE };
    let is_group = |form: FormId| {
        let callee = match facts.form(form) {
            Form::Result(site) => facts.site(site).callee,
            _ => form,
        };
        let Form::Attr(group, _) = facts.form(callee) else { return false };
        linker.values.members(linker.eval(scope, group).value).iter().any(|val| match *val {
            Val::Fn { body, .. } => is_command(linker, body, depth),
            _ => false,
        })
    };
    if facts.list(body_facts.decorators).iter().any(|&decorator| is_group(decorator)) {
        return true;
    }
    linker.sites_passing_body(body).into_iter().any(|(site, arg)| {
        let facts = linker.program.facts(site.file);
        let Form::Result(made) = facts.form(linker.program.site(site).callee) else { return false };
        let targets = linker.targets(site.file.site_ref(made), EnvId::NONE);
        arg == 0 && targets.list.iter().any(|target| matches!(*target, Target::Row { path, .. } if registers(path)))
    })
}

/// True if the coroutine that a call makes is passed to a plain function of the project that runs an event loop.
fn is_driven_by_helper(linker: &Linker<'_>, coroutine_call: SiteRef) -> bool {
    let runs_loop = |site: SiteRef| {
        linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                linker.library.calls(path).effect().any(|row| row.held_effect() == Some(Effect::NestedLoop))
            }
            _ => false,
        })
    };
    let is_driver = |helper: BodyRef| {
        let facts = linker.program.facts(helper.file);
        let body_facts = linker.program.body(helper);
        let inside =
            (0..facts.sites.len() as u32).map(SiteId).filter(|&site| body_facts.span.contains(facts.site(site).span));
        body_facts.flow != Flow::Coroutine && inside.map(|site| helper.file.site_ref(site)).any(runs_loop)
    };
    linker.program.uses_of_result(coroutine_call).iter().any(|(mention, _)| {
        let Mention::Arg(site, _) = mention else { return false };
        linker.targets(coroutine_call.file.site_ref(site), EnvId::NONE).list.iter().any(|target| match *target {
            Target::Body { body, .. } => is_driver(body),
            _ => false,
        })
    })
}

/// Returns the calls that run the coroutine which a call makes on an event loop of their own: `asyncio.run(load())`.
fn drivers_of(linker: &Linker<'_>, made: SiteRef) -> SmallVec<[SiteId; 1]> {
    let drives = |site: SiteId| {
        let callee = linker.callee(made.file.site_ref(site), EnvId::NONE);
        linker.values.members(callee.value).iter().any(|val| match *val {
            Val::External(path) | Val::Method { path, .. } => {
                linker.library.calls(path).effect().any(|row| row.held_effect() == Some(Effect::NestedLoop))
            }
            _ => false,
        })
    };
    let first_arguments = linker.program.uses_of_result(made).iter().filter_map(|(mention, _)| match mention {
        Mention::Arg(site, 0) => Some(site),
        _ => None,
    });
    first_arguments.filter(|&site| drives(site)).collect()
}

/// True if neither a coroutine nor a coroutine of the project that it awaits, down to `depth`, starts tasks or serves.
fn is_quiet(linker: &Linker<'_>, body: BodyRef, depth: u32, visited: &mut FxHashSet<BodyRef>) -> bool {
    let is_quiet_itself = |body: BodyRef| {
        let name = linker.program.facts(body.file).text(linker.program.body(body).name);
        !lang::python::conventions::serves(name) && !serves_or_starts(linker, body)
    };
    holds_below(linker, body, depth, visited, &is_quiet_itself)
}

/// True if a property holds for a coroutine and for the coroutines of the project that it awaits, down to `depth`.
fn holds_below(
    linker: &Linker<'_>,
    body: BodyRef,
    depth: u32,
    seen: &mut FxHashSet<BodyRef>,
    holds: &dyn Fn(BodyRef) -> bool,
) -> bool {
    if !seen.insert(body) {
        return true;
    }
    if !holds(body) {
        return false;
    }
    let Some(depth) = depth.checked_sub(1) else { return true };
    linker.awaited_sites_in(body).all(|site| {
        linker.targets(site, EnvId::NONE).list.iter().all(|target| match *target {
            Target::Body { body, .. } => holds_below(linker, body, depth, seen, holds),
            _ => true,
        })
    })
}

/// True if a coroutine starts a task that it does not await in the same expression, or awaits a call that serves or goes
/// on for ever.
fn serves_or_leaves_tasks(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let task_starters = task_starter_names(linker);
    linker.program.sites_in(body).any(|site| {
        let row = linker.program.site(site);
        let starts = || task_starters.contains(facts.text(row.name)) && may_start(linker, site);
        awaits_what_serves(facts, &row) || !row.flags.has(SiteFlags::AWAITED) && starts()
    })
}

/// True if a coroutine starts tasks itself, or awaits a call that serves or goes on for ever.
fn serves_or_starts(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let task_starters = task_starter_names(linker);
    linker.program.sites_in(body).any(|site| {
        let site_facts = linker.program.site(site);
        awaits_what_serves(facts, &site_facts) || {
            let name = facts.text(site_facts.name);
            (task_starters.contains(name) || lang::python::conventions::has_concurrent_name(name))
                && may_start(linker, site)
        }
    })
}

/// True if a file that is run as a program exits with the result of a function: `sys.exit(main())`.
fn is_exit_code(linker: &Linker<'_>, main: BodyRef) -> bool {
    let facts = linker.program.facts(main.file);
    let name = linker.program.body(main).name;
    let is_main = |form: FormId| match facts.form(form) {
        Form::Result(call) => facts.site(call).name == name,
        _ => false,
    };
    linker.sites_with_names(main.file, lang::python::conventions::PROGRAM_EXITS).any(|exit| {
        let position = facts.site(exit).at;
        facts.body_of(position) == BodyId(0)
            && facts.args_of(exit).iter().any(|arg| is_main(arg.value))
            && is_run_as_program(linker, main.file.site_ref(exit))
    })
}

/// True if an expression is the variable `__name__`.
fn is_module_name(linker: &Linker<'_>, file: FileId, form: FormId) -> bool {
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Name(sym) => facts.text(sym) == "__name__",
        Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
        _ => false,
    }
}

/// True if a file awaits a call that serves by its name, or awaits in an endless loop.
fn serves(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.sites.iter().any(|site_facts| awaits_what_serves(facts, &site_facts))
}

/// True if a body of the file other than `main` starts tasks.
fn starts_tasks_elsewhere(linker: &Linker<'_>, main: BodyRef) -> bool {
    let task_starters = task_starter_names(linker);
    let (facts, main_id) = linker.program.facts_and_id(main);
    (0..facts.sites.len() as u32).map(SiteId).any(|site| {
        let site_facts = facts.site(site);
        facts.body_of(site_facts.at) != main_id
            && task_starters.contains(facts.text(site_facts.name))
            && may_start(linker, main.file.site_ref(site))
    })
}

/// True if other tasks run while a site runs: the site makes a coroutine that is neither awaited nor driven, or its
/// body has started tasks or begun to serve before the site (Python).
pub(crate) fn runs_among_tasks(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Python {
        return false;
    }
    let site_facts = linker.program.site(site);
    let makes_coroutine = || {
        linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Body { body, .. } => linker.program.body(body).flow == Flow::Coroutine,
            _ => false,
        })
    };
    let is_task = !site_facts.flags.has(SiteFlags::AWAITED) && makes_coroutine() && drivers_of(linker, site).is_empty();
    is_task
        || first_concurrent_position(linker, linker.program.body_of_site(site))
            .is_some_and(|first| first < site_facts.at.position)
}

/// True if the coroutine that a call makes is passed to a call that starts tasks: `asyncio.create_task(load())`
/// (Python).
pub(crate) fn is_started_as_task(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let task_starters = task_starter_names(linker);
    let starts = |taker: SiteId| {
        task_starters.contains(facts.text(facts.site(taker).name)) && may_start(linker, site.file.site_ref(taker))
    };
    facts.language == Language::Python
        && linker.program.uses_of_result(site).iter().any(|(mention, _)| match mention {
            Mention::Arg(taker, _) => starts(taker),
            _ => false,
        })
}

/// True if the coroutine that a call makes runs beside other tasks of its event loop: it is one of several
/// (`gather(load(), save())`), or the body that starts it awaits other calls meanwhile (Python).
pub(crate) fn runs_beside_others(linker: &Linker<'_>, made: SiteRef) -> bool {
    let facts = linker.program.facts(made.file);
    let row = linker.program.site(made);
    if facts.language != Language::Python || row.flags.has(SiteFlags::AWAITED) {
        return false;
    }
    let task_starters = task_starter_names(linker);
    let body = linker.program.body_of_site(made);
    let is_starter = |site: SiteRef| {
        task_starters.contains(linker.program.facts(site.file).text(linker.program.site(site).name))
            && may_start(linker, site)
    };
    // `await started` waits for the task itself.
    let goes_on = |starter: SiteRef| {
        let is_later = |other: SiteRef| {
            let other_row = linker.program.site(other);
            other_row.kind != SiteKind::Await && other_row.at.position > row.at.position
        };
        linker.awaited_sites_in(body).any(|other| other != starter && is_later(other))
            || linker.program.sites_in(body).any(|other| other != starter && is_starter(other))
    };
    linker.program.uses_of_result(made).iter().any(|(mention, wrap)| match mention {
        Mention::Arg(taker, _) => {
            let name = facts.text(facts.site(taker).name);
            let starter = made.file.site_ref(taker);
            let is_one_of_several = || {
                facts.args_of(taker).iter().filter(|arg| matches!(facts.form(arg.value), Form::Result(_))).count() > 1
            };
            wrap == Wrap::Element
                || lang::python::conventions::adds_to_collection(name)
                || is_starter(starter)
                    && (facts.is_in_loop(facts.site(taker).at.region) || is_one_of_several() || goes_on(starter))
        }
        _ => wrap == Wrap::Element,
    })
}

/// True if the body of a site has started a task before the site, and has not awaited it in the same expression:
/// `asyncio.create_task(watch())` (Python).
pub(crate) fn follows_started_task(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let task_starters = task_starter_names(linker);
    let position = linker.program.site(site).at.position;
    linker.program.sites_in(linker.program.body_of_site(site)).any(|starter| {
        let row = linker.program.site(starter);
        row.at.position < position
            && !row.flags.has(SiteFlags::AWAITED)
            && task_starters.contains(facts.text(row.name))
            && may_start(linker, starter)
    })
}

/// Returns the position at which a body first starts tasks or begins to serve.
fn first_concurrent_position(linker: &Linker<'_>, body: BodyRef) -> Option<u32> {
    linker.query(&linker.layer_memo::<Memo>().first_concurrent_positions, body, Option::default, || {
        let facts = linker.program.facts(body.file);
        let task_starters = task_starter_names(linker);
        let begins = |site: &SiteRef| {
            let site_facts = linker.program.site(*site);
            awaits_what_serves(facts, &site_facts)
                || task_starters.contains(facts.text(site_facts.name)) && may_start(linker, *site)
        };
        linker.program.sites_in(body).filter(begins).map(|site| linker.program.site(site).at.position).min()
    })
}

/// True if a call starts tasks by the row of a library, or has no known target and a name that sounds concurrent
/// (`spawn_task`).
fn may_start(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.is_empty()
        && lang::python::conventions::has_concurrent_name(facts.text(linker.program.site(site).name))
        || targets.list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                linker.library.calls(path).iter().any(|matched| matched.row.concurrency == Some(Concurrency::Unbounded))
            }
            _ => false,
        })
}

/// Returns the names of library calls that start tasks.
fn task_starter_names<'l>(linker: &'l Linker<'_>) -> &'l FxHashSet<String> {
    linker.layer_memo::<Memo>().task_starters.get_or_init(|| {
        let models = linker.library.of(Language::Python);
        models.names(Uses::CONCURRENCY).map(|name| name.name.to_owned()).collect()
    })
}

/// True if a call is awaited, and it serves by its name (`serve_forever`) or is in an endless loop (`while True:`).
fn awaits_what_serves(facts: &FileFacts, row: &Site) -> bool {
    row.flags.has(SiteFlags::AWAITED)
        && (lang::python::conventions::serves(facts.text(row.name)) || {
            around(facts, row.at.region)
                .map(|id| facts.region(id))
                .any(|region| region.kind == RegionKind::Loop && facts.form(region.test) == Form::Bool(true))
        })
}
