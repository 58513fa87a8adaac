//! Threads and connections that are made again for each request, item or instance, where one set for all would do.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, CreatedKind, CreatedPer, Effect, Hold, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{At, BodyKind, ExitKind, Flow, Form, FormId, SiteKind, Sym, VarKind};
use blocklint_flow::callers::Callers;
use blocklint_flow::judge::java::is_switched_on;
use blocklint_flow::lifecycle::frequency::{Frequency, TimesOf};
use blocklint_flow::lifecycle::loops::is_looped;
use blocklint_flow::lifecycle::owner::Owner;
use blocklint_flow::lifecycle::owner::{kept, runs_another};
use blocklint_flow::lifecycle::phase::is_entered_on_own_thread;
use blocklint_link::calls::targets::Target;
use blocklint_link::effect::label::LabelHold;
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::program::path_kind::is_example;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Creates, Role, RowEffect, Selector, Uses};
use rustc_hash::FxHashSet;

use crate::rules::mistakes::MistakeSearch;

/// Returns the findings of the two rules about threads and connections.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("what is made anew again and again");
    let all = linker
        .attempt(step, || created_repeatedly(linker, search.callers, search.units, search.reach))
        .unwrap_or_default();
    let finding = |one: CreatedRepeatedly| {
        let (rule, made) = match one.creates {
            Creates::Threads => (RuleCode::PER_INSTANCE_SCHEDULER, CreatedKind::Threads),
            Creates::Connections | Creates::Pool => (RuleCode::POOL_PER_CALL, CreatedKind::Connections),
        };
        let of = match one.repetition.of {
            Repeated::Body(body) => linker.name_inside_file(body),
            Repeated::Class(class) => blocklint_core::last_name(&linker.qualified_class(class)).to_owned(),
        };
        let mistake = Mistake::CreatedRepeatedly { made, anew: one.repetition.anew, of };
        let call = linker.library.text(one.path).to_string();
        search.finding((rule, mistake), one.site, call, one.severity, one.confidence)
    };
    all.into_iter().map(finding).collect()
}

/// One call that makes threads or connections too often.
#[derive(Clone, Copy, Debug)]
struct CreatedRepeatedly {
    /// The call.
    site: SiteRef,
    /// The path of its row.
    path: PathId,
    /// The kind of thing that it makes.
    creates: Creates,
    /// The occasion on which it makes another one.
    repetition: Repetition,
    severity: Severity,
    confidence: Confidence,
}

/// An occasion on which a call makes another thing.
#[derive(Clone, Copy, Debug)]
struct Repetition {
    anew: CreatedPer,
    /// The body that is entered again, or the class with several instances.
    of: Repeated,
    /// True if code of the project shows that there are many.
    is_shown: bool,
    /// The number of calls between the site and the code that shows it.
    steps: u8,
}

/// Code that runs again and again.
#[derive(Clone, Copy, Debug)]
enum Repeated {
    Body(BodyRef),
    Class(ClassRef),
}

/// Returns all such calls of the program, in order.
fn created_repeatedly<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    units: &Units,
    reach: &LibraryReach,
) -> Vec<CreatedRepeatedly> {
    let mut times = TimesOf::new(linker, callers);
    let mut found = Vec::new();
    for (site, path, creates) in makers(linker, reach) {
        let aside = linker.program.is_test(site.file)
            || linker.program.is_command_line(site.file)
            || is_example(&linker.program.files[site.file.index()].relative);
        if aside || creates == Creates::Threads && is_dedicated(linker, site) {
            continue;
        }
        let Some(repetition) = repetition(linker, &mut times, site) else { continue };
        let Repetition { anew, of, is_shown, steps } = repetition;
        let facts = linker.program.facts(site.file);
        let made_for_caller = matches!(kept(linker, site), Owner::ByCaller(_));
        let severity = match creates {
            // A collection of what is configured, in which each is kept.
            _ if made_for_caller && anew == CreatedPer::PerItem => Severity::Note,
            // Threads that work together on one thing and end with it: many at once are many threads, but none stays.
            Creates::Threads
                if matches!(anew, CreatedPer::PerEntry | CreatedPer::PerItem)
                    && !is_scheduler(linker, site, path)
                    && ends_here(linker, site) =>
            {
                if lang::words_of(facts.language).is_made_by_others {
                    Severity::Warning
                } else {
                    Severity::Note
                }
            }
            // Few programs switch on a part that a setting asks for.
            Creates::Threads | Creates::Pool if facts.language == Language::Java && is_switched_on(linker, site) => {
                Severity::Note
            }
            Creates::Threads if is_shown => Severity::Error,
            // Nothing shows that there are many: of ten such in seven projects none was. A scheduler is there to be shared.
            Creates::Threads
                if !is_shown
                    && lang::words_of(facts.language).is_made_by_others
                    && !is_scheduler(linker, site, path)
                    && !matches!(of, Repeated::Class(class) if is_built_for_callers(linker, callers, class)) =>
            {
                Severity::Note
            }
            // Nothing shows how many there are: who makes the instances is mostly not in the project.
            Creates::Threads | Creates::Pool
                if !is_shown
                    && lang::words_of(facts.language).is_made_by_others
                    && (creates == Creates::Threads || is_of_role(linker, path, Role::Pool)) =>
            {
                match is_one_of_its_kind(linker, &mut times, site, of) {
                    false => Severity::Warning,
                    true if creates == Creates::Threads => Severity::Note,
                    true => continue,
                }
            }
            // A runtime that is there for one call: its threads start and end with it.
            Creates::Threads if anew == CreatedPer::PerCall && runs_a_loop(linker, callers, site) => Severity::Warning,
            Creates::Threads if anew != CreatedPer::PerCall => Severity::Note,
            // It is an argument of a call and has no name, so not even the function can use it again.
            Creates::Threads if facts.language == Language::Python && is_for_one_call(linker, site) => {
                Severity::Warning
            }
            // A client that is made of data of the request cannot be shared as it stands.
            Creates::Connections | Creates::Pool if is_shown && depends_on_caller(linker, site) => Severity::Note,
            Creates::Pool if is_shown => Severity::Warning,
            // Administrators of a program call their entries only now and then.
            Creates::Connections
                if anew == CreatedPer::PerEntry
                    && matches!(of, Repeated::Body(entry) if steps == 0 && is_for_administrators(linker, entry)) =>
            {
                Severity::Note
            }
            // The thread of a synchronous server, or a greenlet of a patched one, waits for its own connection, and no other
            // request waits with it.
            Creates::Connections
                if anew == CreatedPer::PerEntry
                    && matches!(of, Repeated::Body(entry) if is_entered_on_own_thread(linker, entry)
                        && !is_on_open_hub(linker, units, entry.file)) =>
            {
                Severity::Note
            }
            // Each one connects and shakes hands anew.
            Creates::Connections if is_shown => Severity::Warning,
            Creates::Threads | Creates::Connections | Creates::Pool => continue,
        };
        let confidence = match (anew, steps) {
            (CreatedPer::PerEntry | CreatedPer::PerItem, 0) => Confidence::High,
            (_, 0..=3) => Confidence::Medium,
            _ => Confidence::Low,
        };
        found.push(CreatedRepeatedly { site, path, creates, repetition, severity, confidence });
    }
    found
}

/// True if greenlets run the code of a file, and nothing patches what they call: one that waits holds up all of them.
fn is_on_open_hub(linker: &Linker<'_>, units: &Units, file: FileId) -> bool {
    let unit = units.of(linker, file);
    unit.greenlets.is_some() && unit.patched_in.is_empty()
}

/// Returns the occasion on which a site makes another thing; `None` where it makes one, or where all are kept.
fn repetition<'a>(linker: &Linker<'a>, times: &mut TimesOf<'_, '_, 'a>, site: SiteRef) -> Option<Repetition> {
    let own = linker.program.body_of_site(site);
    let on = |anew: CreatedPer, body: BodyRef, is_shown: bool, steps: u8| {
        Some(Repetition { anew, of: Repeated::Body(body), is_shown, steps })
    };
    let repetition = |times: Frequency| match times {
        Frequency::Tested | Frequency::Once => None,
        Frequency::Unseen => on(CreatedPer::PerCall, own, false, 1),
        Frequency::Unknown | Frequency::Looped => on(CreatedPer::PerCall, own, false, 0),
        Frequency::PerItem(body) => on(CreatedPer::PerItem, body, true, u8::from(body != own)),
        Frequency::PerEntry(body, steps) => on(CreatedPer::PerEntry, body, true, steps),
    };
    match kept(linker, site) {
        Owner::ByProgram | Owner::Elsewhere => None,
        Owner::Nowhere => repetition(times.of_site(site)),
        Owner::ByInstance(class) => {
            let made = repetition(times.of_made(site))?;
            let anew = CreatedPer::PerInstance { is_shown: made.is_shown };
            Some(Repetition { anew, of: Repeated::Class(class), ..made })
        }
        // A lambda that returns it passes it to its caller, mostly a cache. Of a function without a known caller
        // nothing is known, unless it is a builder's, which puts it into the thing that it builds.
        Owner::ByCaller(body) => match linker.program.body(body).kind {
            BodyKind::Function => repetition(times.of_made(site))
                .filter(|repetition| repetition.anew != CreatedPer::PerCall || is_returned_inside(linker, body)),
            _ => None,
        },
    }
}

/// Returns the calls that make threads or connections, with their rows' paths, in order.
fn makers(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<(SiteRef, PathId, Creates)> {
    let kinds = [SiteKind::Call, SiteKind::New];
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in Language::ALL {
        sites.extend(linker.sites_of_rows(reach, language, Uses::CREATES, &kinds, |paths| paths));
    }
    sites.retain(|site| linker.is_reported(site.file));
    sites.sort();
    sites.into_iter().filter_map(|site| made_at(linker, site).map(|(path, creates)| (site, path, creates))).collect()
}

/// Returns the row by which a site makes threads or connections.
fn made_at(linker: &Linker<'_>, site: SiteRef) -> Option<(PathId, Creates)> {
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let calls = linker.library.calls(path);
        let mut rows = calls.with(|row| row.creates.is_some());
        let row = rows.find(|row| linker.conditions_shown(&row.row.when, &row.row.unless, site, EnvId::NONE))?;
        Some((path, row.row.creates?))
    })
}

/// True if the object that a site makes is a scheduler of chains, or becomes one.
fn is_scheduler(linker: &Linker<'_>, site: SiteRef, path: PathId) -> bool {
    let says = |path: PathId| linker.library.calls(path).iter().any(|row| row.row.scheduler.is_some());
    if says(path) {
        return true;
    }
    let index = linker.program.index_of(site.file);
    let class = linker.class_around(linker.program.body_of_site(site));
    let of_holder = variable_storing(linker, site).map(|sym| index.mentions_named(sym));
    linker.program.uses_of_result(site).iter().chain(of_holder.iter().flat_map(|of| of.iter())).any(|(mention, _)| {
        let Mention::Arg(taker, _) = mention else { return false };
        let taker = site.file.site_ref(taker);
        linker.class_around(linker.program.body_of(site.file, linker.program.site(taker).at)) == class
            && linker.targets(taker, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => says(path),
                _ => false,
            })
    })
}

/// True if the object that a site makes stands where a call takes an executor, and nothing else has it: the function
/// that is entered again makes another one.
fn is_for_one_call(linker: &Linker<'_>, site: SiteRef) -> bool {
    let uses = linker.program.uses_of_result(site);
    let mut uses = uses.iter();
    let (Some((Mention::Arg(taker, arg), Wrap::Direct)), None) = (uses.next(), uses.next()) else { return false };
    let taker = site.file.site_ref(taker);
    linker.targets(taker, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => runs_another(linker, taker, arg, path),
        _ => false,
    })
}

/// True if the object that a site makes ends with the run of its body: it is entered, or shut down there, or dropped.
fn ends_here(linker: &Linker<'_>, site: SiteRef) -> bool {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = linker.program.body_of_site(site);
    match kept(linker, site) {
        Owner::Nowhere if facts.language == Language::Rust => return true,
        // A generator lends it.
        Owner::ByCaller(of) if of == body => {}
        Owner::Nowhere => {}
        _ => return false,
    }
    let holder = variable_storing(linker, site);
    let is_it = |form: FormId| match facts.form(form) {
        Form::Result(of) => of == site_id,
        Form::Var(var) => Some(facts.var(var).name) == holder,
        _ => false,
    };
    facts.sites.iter().any(|row| match (row.kind, facts.form(row.callee)) {
        (SiteKind::Enter, _) => is_it(row.callee),
        (SiteKind::Call, Form::Attr(base, method)) => {
            lang::words::ends_threads(facts.text(method)) && is_it(base) && is_inside(linker, row.at, body)
        }
        _ => false,
    })
}

/// True if a builder's method makes objects of a class for its callers, as many as they like. A builder whose callers
/// in the project make it a part of themselves is only where that part is made. (Java)
fn is_built_for_callers<'a>(linker: &Linker<'a>, callers: &Callers<'_, 'a>, class: ClassRef) -> bool {
    let aside =
        |site: SiteRef| linker.program.is_test(site.file) || linker.is_for_tests(linker.program.body_of_site(site));
    let is_part = |site: SiteRef| matches!(kept(linker, site), Owner::ByInstance(_) | Owner::ByProgram);
    linker.class_names(class).into_iter().flat_map(|name| linker.program.sites_named(name)).any(|site| {
        if aside(site)
            || !lang::java::names::makes_on_demand(name_of_body_around(linker, site))
            || eval_made(linker, site) != Some(class)
        {
            return false;
        }
        let Owner::ByCaller(builder) = kept(linker, site) else { return false };
        let calls = callers.call_sites(builder);
        let mut calls = calls.iter().copied().filter(|&call| !aside(call)).peekable();
        calls.peek().is_none() || calls.any(|call| !is_part(call))
    })
}

/// True if a place of the body's file lies in the body or in one inside of it.
fn is_inside(linker: &Linker<'_>, at: At, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    std::iter::successors(Some(facts.body_of(at)), |&id| facts.body(id).parent.get()).any(|id| id == body_id)
}

/// True if what a site is given comes from its body's own parameters or from the loop around it.
fn depends_on_caller(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    // The arguments of a builder count too.
    let told = match facts.form(linker.program.site(site).callee) {
        Form::Attr(base, _) => is_brought(linker, site, base, 12),
        _ => false,
    };
    told || linker.program.args_of(site).into_iter().any(|arg| is_brought(linker, site, arg.value, 12))
}

/// True if a form comes from a parameter or an element of a loop.
fn is_brought(linker: &Linker<'_>, site: SiteRef, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(site.file);
    let any = |form: FormId| is_brought(linker, site, form, depth);
    match facts.form(form) {
        Form::Var(var) => {
            let row = facts.var(var);
            if blocklint_link::program::occurrences::is_own_receiver(facts, form) {
                return false;
            }
            match row.kind {
                VarKind::Param(_) => true,
                // A variable of the module or class is shared by all calls.
                _ if matches!(facts.body(row.body).kind, BodyKind::Module | BodyKind::Class) => false,
                _ => facts.assigns_of(var).any(|assign| any(assign.value)),
            }
        }
        // A value of several parts may hold data of the request, because not all parts are known.
        Form::Element(_) | Form::Text(_) | Form::Other => true,
        Form::Attr(base, _)
        | Form::Path(base, _)
        | Form::Await(base)
        | Form::Try(base)
        | Form::Star(base)
        | Form::StarStar(base)
        | Form::Field(base, _)
        | Form::Part(base, _)
        | Form::Cast(base, _)
        | Form::Not(base) => any(base),
        Form::Subscript(base, index) => any(base) || any(index),
        Form::Result(call) => {
            let row = facts.site(call);
            let receiver = match facts.form(row.callee) {
                Form::Attr(base, _) => any(base),
                _ => false,
            };
            receiver || facts.args_of(call).into_iter().any(|arg| any(arg.value))
        }
        Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
            facts.list(list).iter().any(|&part| any(part))
        }
        _ => false,
    }
}

/// True if an object that a site makes is there once for a program, as far as the code shows: a container makes its
/// owner, or all makers of the owner are parts of a program of which there is one. (Java)
fn is_one_of_its_kind<'a>(linker: &Linker<'a>, times: &mut TimesOf<'_, '_, 'a>, site: SiteRef, of: Repeated) -> bool {
    let Some(class) = class_of_site(linker, site) else { return false };
    match of {
        Repeated::Class(owner) => {
            is_injected(linker, owner) || is_injected(linker, class) || !is_made_on_demand(linker, times, owner, 8)
        }
        Repeated::Body(_) => {
            let name = name_of_body_around(linker, site);
            lang::java::names::ends(name)
                || lang::java::names::runs_once(name)
                    && (is_injected(linker, class) || !is_made_on_demand(linker, times, class, 8))
        }
    }
}

/// Returns the name of the method that a site stands in.
fn name_of_body_around<'a>(linker: &Linker<'a>, site: SiteRef) -> &'a str {
    let facts = linker.program.facts(site.file);
    let mut row = linker.program.body(linker.program.body_of_site(site));
    while matches!(row.kind, BodyKind::Lambda) {
        let Some(parent) = row.parent.get() else { break };
        row = facts.body(parent);
    }
    facts.text(row.name)
}

/// True if objects of a class are made on demand, by a builder or another method, which may also make the class around.
/// An object that stays in a part of the program is made as often as that part. A class that the project never makes is
/// there for other programs. (Java)
fn is_made_on_demand<'a>(linker: &Linker<'a>, times: &mut TimesOf<'_, '_, 'a>, class: ClassRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let mut any = false;
    for name in linker.class_names(class) {
        for &(file, sym) in linker.program.occurrences(name) {
            for &site in linker.program.index_of(file).sites_named(sym) {
                let site = file.site_ref(site);
                let made = eval_made(linker, site);
                if made != Some(class) {
                    continue;
                }
                any = true;
                if times.of_site(site).is_once() {
                    continue;
                }
                let is_part = match kept(linker, site) {
                    Owner::ByProgram => true,
                    Owner::ByInstance(owner) => owner == class || !is_made_on_demand(linker, times, owner, depth),
                    _ => {
                        let around = class_of_site(linker, site).filter(|around| *around != class);
                        lang::java::names::runs_once(name_of_body_around(linker, site))
                            && !around.is_some_and(|around| is_made_on_demand(linker, times, around, depth))
                    }
                };
                if !is_part {
                    return true;
                }
            }
        }
    }
    !any && !is_injected(linker, class)
}

/// True if a method returns an object that holds what a site in it makes (Java).
fn is_returned_inside(linker: &Linker<'_>, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    if !lang::words_of(facts.language).is_made_by_others
        || !lang::java::names::makes_on_demand(facts.text(linker.program.body(body).name))
    {
        return false;
    }
    // The caller asks for the object that is returned; objects inside it are not what it asked for.
    facts.exits.iter().any(|exit| {
        let scope = blocklint_link::values::expr::Scope { file: body.file, at: exit.at, env: EnvId::NONE };
        exit.kind == ExitKind::Return
            && exit.value.is_some()
            && facts.body_of(exit.at) == body_id
            && linker
                .values
                .members(linker.eval(scope, exit.value).value)
                .iter()
                .any(|val| matches!(val, Val::Instance { .. }))
    })
}

/// True if the type that a call returns or makes, by its row, has a role.
fn is_of_role(linker: &Linker<'_>, path: PathId, role: Role) -> bool {
    let text = linker.library.text(path);
    let ty = text.split('(').next().unwrap_or(&text);
    linker.library.role(linker.library.path(linker.library.language(path), ty)) == Some(role)
}

/// True if an entry requires an administrator, by the names of its dependencies (Python).
fn is_for_administrators(linker: &Linker<'_>, entry: BodyRef) -> bool {
    let facts = linker.program.facts(entry.file);
    let says = |form: FormId| names_an_administrator(linker, entry.file, form, 6);
    facts.language == Language::Python
        && (linker.program.params_of(entry).iter().any(|param| says(param.default) || says(param.annotation))
            || facts.list(linker.program.body(entry).decorators).iter().any(|&decorator| match facts.form(decorator) {
                Form::Result(site) => {
                    facts.args_of(site).iter().any(|arg| facts.text(arg.name) == "dependencies" && says(arg.value))
                }
                _ => says(decorator),
            }))
}

fn names_an_administrator(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1).filter(|_| form.is_some()) else { return false };
    let facts = linker.program.facts(file);
    let says = |form: FormId| names_an_administrator(linker, file, form, depth);
    match facts.form(form) {
        Form::Name(name) => lang::python::conventions::names_administrators(facts.text(name)),
        Form::Var(var) => lang::python::conventions::names_administrators(facts.text(facts.var(var).name)),
        Form::Attr(base, name) => lang::python::conventions::names_administrators(facts.text(name)) || says(base),
        Form::Subscript(base, index) => says(base) || says(index),
        Form::Display(_, list) | Form::Join(list) => facts.list(list).iter().any(|&part| says(part)),
        Form::Result(site) => says(facts.site(site).callee) || facts.args_of(site).iter().any(|arg| says(arg.value)),
        _ => false,
    }
}

/// True if a literal is passed to a call that runs it elsewhere.
fn is_handed_over(linker: &Linker<'_>, literal: BodyRef) -> bool {
    linker.program.uses_of_callable(literal).iter().any(|(mention, _)| {
        let Mention::Arg(of, _) = mention else { return false };
        linker.targets(literal.file.site_ref(of), EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => !linker.library.handovers(path).is_empty(),
            _ => false,
        })
    })
}

/// True if a runtime that a site makes drives futures in the same body, and lives no longer:
/// `Runtime::new()?.block_on(…)`. (Rust)
fn runs_a_loop<'a>(linker: &Linker<'a>, callers: &Callers<'_, 'a>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Rust || kept(linker, site) != Owner::Nowhere {
        return false;
    }
    // In a task it fails, which is another rule's; a thread of its own may have a runtime of its own.
    let own = linker.program.body_of_site(site);
    let is_aside = |body: BodyRef| {
        let (facts, body_id) = linker.program.facts_and_id(body);
        std::iter::successors(Some(body_id), |&id| facts.body(id).parent.get()).any(|id| {
            let of = body.file.body_ref(id);
            let row = facts.body(id);
            row.flow == Flow::Coroutine
                || row.kind == BodyKind::AsyncBlock
                || row.kind == BodyKind::Function && !linker.sites_passing_body(of).is_empty()
                || row.kind == BodyKind::Lambda && is_handed_over(linker, of)
        })
    };
    let calls = callers.call_sites(own);
    if is_aside(own) || !calls.is_empty() && calls.iter().all(|&call| is_aside(linker.program.body_of_site(call))) {
        return false;
    }
    facts.sites.iter().enumerate().any(|(at, row)| {
        let of = site.file.site_ref(blocklint_facts::SiteId(at as u32));
        row.kind == SiteKind::Call
            && is_inside(linker, row.at, own)
            && linker.targets(of, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => linker
                    .library
                    .calls(path)
                    .iter()
                    .any(|row| row.row.effect.is_some_and(|effect| effect == RowEffect::Holds(Effect::NestedLoop))),
                _ => false,
            })
    })
}

/// Returns the class of which a site makes an object.
fn eval_made(linker: &Linker<'_>, site: SiteRef) -> Option<ClassRef> {
    if linker.program.site(site).kind != SiteKind::New {
        return None;
    }
    match linker.values.members(linker.result(site, EnvId::NONE).value)[..] {
        [Val::Instance { class, .. }] => Some(class),
        _ => None,
    }
}

/// Returns the class that a site stands in.
pub(crate) fn class_of_site(linker: &Linker<'_>, site: SiteRef) -> Option<ClassRef> {
    linker.class_around(linker.program.body_of_site(site))
}

/// True if a container makes the objects of a class: an annotation marks the constructor that it calls (Java).
fn is_injected(linker: &Linker<'_>, class: ClassRef) -> bool {
    let (facts, class_id) = linker.program.facts_and_id(class);
    facts.bodies.iter().any(|row| {
        row.class.get() == Some(class_id)
            && row.kind == BodyKind::Function
            && lang::words_of(facts.language).is_constructor(facts.text(row.name))
            && lang::java::names::mark_names(facts, row.decorators).any(lang::java::names::is_injection)
    })
}

/// True if the only task of a scheduler is an endless loop that waits without a limit: a thread of its own is what
/// such a loop needs.
fn is_dedicated(linker: &Linker<'_>, site: SiteRef) -> bool {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let Some(sym) = variable_storing(linker, site) else {
        // `newSingleThreadScheduledExecutor().scheduleAtFixedRate(…)`: no other code has it.
        return facts.language == Language::Java
            && facts.sites.iter().any(|row| match facts.form(row.callee) {
                Form::Attr(base, _) => {
                    facts.form(base) == Form::Result(site_id)
                        && lang::java::words::REPEATS.contains(&facts.text(row.name))
                }
                _ => false,
            });
    };
    let is_it = |form: FormId| match facts.form(form) {
        Form::Var(var) => facts.var(var).name == sym,
        Form::Attr(_, name) => name == sym,
        _ => false,
    };
    let class = linker.class_around(linker.program.body_of_site(site));
    let mut tasks: Vec<(SiteRef, Option<BodyRef>)> = Vec::new();
    for (at, row) in facts.sites.iter().enumerate() {
        let Form::Attr(base, _) = facts.form(row.callee) else { continue };
        if row.kind != SiteKind::Call || !is_it(base) {
            continue;
        }
        // Another class has a field of this name too.
        if linker.class_around(linker.program.body_of(site.file, row.at)) != class {
            continue;
        }
        let of = site.file.site_ref(blocklint_facts::SiteId(at as u32));
        for target in &linker.targets(of, EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { continue };
            for handed in linker.library.handovers(path).iter() {
                let Selector::Argument(argument) = &handed.row.selector else { continue };
                let Some(form) = linker.argument(of, argument) else { continue };
                let typed = linker.eval(linker.scope_of(of, EnvId::NONE), form);
                tasks.extend(linker.values.members(typed.value).iter().map(|val| match *val {
                    Val::Fn { body, .. } => (of, Some(body)),
                    _ => (of, None),
                }));
            }
        }
    }
    // The rows of a type and of its bases may describe one argument.
    tasks.sort();
    tasks.dedup();
    match tasks[..] {
        [(_, Some(body))] => waits_for_ever(linker, body, 3, &mut FxHashSet::default()),
        _ => false,
    }
}

/// True if a call makes a scheduler of its arguments.
fn made_of(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => linker.rows_at(path, site).with(|row| row.scheduler.is_some()).next().is_some(),
        _ => false,
    })
}

/// Returns the name of the field or local that holds the object that a site makes.
pub(crate) fn variable_storing(linker: &Linker<'_>, site: SiteRef) -> Option<Sym> {
    let facts = linker.program.facts(site.file);
    let body = linker.program.body(linker.program.body_of_site(site));
    if body.kind == BodyKind::Initialiser {
        return Some(body.name);
    }
    let uses = linker.program.uses_of_result(site);
    uses.iter().find_map(|(mention, _)| {
        let assign = match mention {
            Mention::Assign(assign) => assign,
            // A scheduler made of an executor.
            Mention::Arg(taker, _) => {
                let taker = site.file.site_ref(taker);
                return made_of(linker, taker).then(|| variable_storing(linker, taker)).flatten();
            }
            _ => return None,
        };
        match facts.form(facts.assign(assign).target) {
            Form::Var(var) => Some(facts.var(var).name),
            Form::Attr(_, sym) => Some(sym),
            _ => None,
        }
    })
}

/// True if a body loops without a count over a wait or network call that has no limit.
pub(crate) fn waits_for_ever(linker: &Linker<'_>, body: BodyRef, depth: u32, seen: &mut FxHashSet<BodyRef>) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if !seen.insert(body) {
        return false;
    }
    let (facts, body_id) = linker.program.facts_and_id(body);
    facts.sites.iter().enumerate().any(|(at, row)| {
        if facts.body_of(row.at) != body_id {
            return false;
        }
        let site = body.file.site_ref(blocklint_facts::SiteId(at as u32));
        let endless = is_looped(linker, site);
        linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, receiver, property, .. } if endless => {
                linker.sink(site, path, receiver, property, EnvId::NONE).is_some_and(|sink| {
                    matches!(sink.label.effect, Effect::Wait | Effect::Network)
                        && sink.label.hold == LabelHold::Fixed(Hold::Unbounded)
                })
            }
            Target::Body { body, .. } => waits_for_ever(linker, body, depth, seen),
            _ => false,
        })
    })
}
