//! Rules `per-instance-scheduler` and `pool-per-call`: threads and connections that are created again for each request,
//! item or instance, although all could share one set.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, CreatedKind, CreatedPer, Effect, Hold, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{At, BodyKind, ExitKind, Flow, Form, FormId, SiteId, SiteKind, Sym, VarKind};
use blocklint_flow::callers::Callers;
use blocklint_flow::judge::java::is_behind_setting;
use blocklint_flow::lifecycle::frequency::{Frequencies, Frequency};
use blocklint_flow::lifecycle::loops::is_looped;
use blocklint_flow::lifecycle::owner::Owner;
use blocklint_flow::lifecycle::owner::{find_owner, runs_later_argument};
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

/// How many nested callees are searched for a loop over an unbounded wait.
const MAX_CALLEE_DEPTH: u32 = 3;

/// How deep an annotation is searched for the word of an administrator.
const MAX_FORM_DEPTH: u32 = 6;

/// How many owners above an object are searched for one that is made on demand.
const MAX_OWNER_DEPTH: u32 = 8;

/// Returns the findings of the two rules about threads and connections.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("objects that are created repeatedly");
    let all = linker
        .attempt(step, || find_repeated_creations(linker, search.callers, search.units, search.reach))
        .unwrap_or_default();
    let finding = |created: RepeatedCreation| {
        let (rule, kind) = match created.creates {
            Creates::Threads => (RuleCode::PER_INSTANCE_SCHEDULER, CreatedKind::Threads),
            Creates::Connections | Creates::Pool => (RuleCode::POOL_PER_CALL, CreatedKind::Connections),
        };
        let repeated_function = match created.repetition.repeated {
            Repeated::Body(body) => linker.name_inside_file(body),
            Repeated::Class(class) => blocklint_core::last_name(&linker.qualified_class(class)).to_owned(),
        };
        let mistake =
            Mistake::CreatedRepeatedly { made: kind, occasion: created.repetition.anew, owner: repeated_function };
        let call = linker.library.text(created.path).to_string();
        search.finding((rule, mistake), created.site, call, created.severity, created.confidence)
    };
    all.into_iter().map(finding).collect()
}

/// A call that creates threads or connections repeatedly.
#[derive(Clone, Copy, Debug)]
struct RepeatedCreation {
    /// The call.
    site: SiteRef,
    /// The path of its row.
    path: PathId,
    /// The kind of object that it creates.
    creates: Creates,
    /// The occasion on which it creates another one.
    repetition: Repetition,
    severity: Severity,
    confidence: Confidence,
}

/// An occasion on which a call creates another object.
#[derive(Clone, Copy, Debug)]
struct Repetition {
    anew: CreatedPer,
    /// The body that runs again, or the class with several instances.
    repeated: Repeated,
    /// True if code of the project shows that the occasion repeats.
    is_shown: bool,
    /// The number of calls between the site and the code that shows the repetition.
    steps: u8,
}

/// The repeated part of the program.
#[derive(Clone, Copy, Debug)]
enum Repeated {
    Body(BodyRef),
    Class(ClassRef),
}

/// Returns all calls of the program that create threads or connections repeatedly, in order.
fn find_repeated_creations<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    units: &Units,
    reach: &LibraryReach,
) -> Vec<RepeatedCreation> {
    let mut times = Frequencies::new(linker, callers);
    let mut creations = Vec::new();
    for (site, path, creates) in find_creating_calls(linker, reach) {
        let is_aside = linker.program.is_test(site.file)
            || linker.program.is_command_line(site.file)
            || is_example(&linker.program.files[site.file.index()].relative);
        if is_aside || creates == Creates::Threads && is_dedicated_thread(linker, site) {
            continue;
        }
        let Some(repetition) = find_repetition(linker, &mut times, site) else { continue };
        let Repetition { anew, repeated, is_shown, steps } = repetition;
        let facts = linker.program.facts(site.file);
        let made_for_caller = matches!(find_owner(linker, site), Owner::Caller(_));
        let severity = match creates {
            // A loop over configured items that keeps each object.
            _ if made_for_caller && anew == CreatedPer::PerItem => Severity::Note,
            // The threads end with the run of their body, so none stays.
            Creates::Threads
                if matches!(anew, CreatedPer::PerEntry | CreatedPer::PerItem)
                    && !is_scheduler(linker, site, path)
                    && ends_with_body(linker, site) =>
            {
                if lang::words_of(facts.language).constructs_in_libraries {
                    Severity::Warning
                } else {
                    Severity::Note
                }
            }
            // Few programs switch on a part that depends on a setting.
            Creates::Threads | Creates::Pool if facts.language == Language::Java && is_behind_setting(linker, site) => {
                Severity::Note
            }
            Creates::Threads if is_shown => Severity::Error,
            // The code does not show a repetition. In ten such cases of seven projects there was none. Schedulers are
            // left out, because they are meant to be shared.
            Creates::Threads
                if !is_shown
                    && lang::words_of(facts.language).constructs_in_libraries
                    && !is_scheduler(linker, site, path)
                    && !matches!(repeated, Repeated::Class(class) if is_built_for_callers(linker, callers, class)) =>
            {
                Severity::Note
            }
            // The code does not show the number of instances, because other programs make them.
            Creates::Threads | Creates::Pool
                if !is_shown
                    && lang::words_of(facts.language).constructs_in_libraries
                    && (creates == Creates::Threads || is_of_role(linker, path, Role::Pool)) =>
            {
                match is_singleton(linker, &mut times, site, repeated) {
                    false => Severity::Warning,
                    true if creates == Creates::Threads => Severity::Note,
                    true => continue,
                }
            }
            // A runtime for a single call: its threads start and end with the call.
            Creates::Threads if anew == CreatedPer::PerCall && is_runtime_for_one_call(linker, callers, site) => {
                Severity::Warning
            }
            Creates::Threads if anew != CreatedPer::PerCall => Severity::Note,
            // The pool is an argument without a name, so no code can use it again.
            Creates::Threads if facts.language == Language::Python && is_for_one_call(linker, site) => {
                Severity::Warning
            }
            // A client that depends on data of the request cannot be shared.
            Creates::Connections | Creates::Pool if is_shown && depends_on_caller(linker, site) => Severity::Note,
            Creates::Pool if is_shown => Severity::Warning,
            // Entries for administrators are called rarely.
            Creates::Connections
                if anew == CreatedPer::PerEntry
                    && matches!(repeated, Repeated::Body(entry) if steps == 0 && is_for_administrators(linker, entry)) =>
            {
                Severity::Note
            }
            // The thread of a synchronous server, or a greenlet of a patched one, waits for its own connection, and no other
            // request waits with it.
            Creates::Connections
                if anew == CreatedPer::PerEntry
                    && matches!(repeated, Repeated::Body(entry) if is_entered_on_own_thread(linker, entry)
                        && !is_on_open_hub(linker, units, entry.file)) =>
            {
                Severity::Note
            }
            // Each client connects and shakes hands again.
            Creates::Connections if is_shown => Severity::Warning,
            Creates::Threads | Creates::Connections | Creates::Pool => continue,
        };
        let confidence = match (anew, steps) {
            (CreatedPer::PerEntry | CreatedPer::PerItem, 0) => Confidence::High,
            (_, 0..=3) => Confidence::Medium,
            _ => Confidence::Low,
        };
        creations.push(RepeatedCreation { site, path, creates, repetition, severity, confidence });
    }
    creations
}

/// True if greenlets run the code of a file, and nothing patches what they call: one that waits holds up all of them.
fn is_on_open_hub(linker: &Linker<'_>, units: &Units, file: FileId) -> bool {
    let unit = units.of(linker, file);
    unit.greenlets.is_some() && unit.patched_in.is_empty()
}

/// Returns the occasion on which a site creates another object. `None` if it creates one object only, or if all objects
/// are kept.
fn find_repetition<'a>(linker: &Linker<'a>, times: &mut Frequencies<'_, '_, 'a>, site: SiteRef) -> Option<Repetition> {
    let own = linker.program.body_of_site(site);
    let on = |anew: CreatedPer, body: BodyRef, is_shown: bool, steps: u8| {
        Some(Repetition { anew, repeated: Repeated::Body(body), is_shown, steps })
    };
    let of_frequency = |frequency: Frequency| match frequency {
        Frequency::Tested | Frequency::Once => None,
        Frequency::Unseen => on(CreatedPer::PerCall, own, false, 1),
        Frequency::Unknown | Frequency::Looped => on(CreatedPer::PerCall, own, false, 0),
        Frequency::PerItem(body) => on(CreatedPer::PerItem, body, true, u8::from(body != own)),
        Frequency::PerEntry(body, steps) => on(CreatedPer::PerEntry, body, true, steps),
    };
    match find_owner(linker, site) {
        Owner::Program | Owner::Untracked => None,
        Owner::NoOwner => of_frequency(times.frequency_of_site(site)),
        Owner::Instance(class) => {
            let made = of_frequency(times.frequency_of_made_object(site))?;
            let anew = CreatedPer::PerInstance { is_shown: made.is_shown };
            Some(Repetition { anew, repeated: Repeated::Class(class), ..made })
        }
        // The caller of a lambda that returns the object is mostly a cache. A function without a known caller counts
        // only if it is a builder, which puts the object into another object.
        Owner::Caller(body) => match linker.program.body(body).kind {
            BodyKind::Function => of_frequency(times.frequency_of_made_object(site))
                .filter(|repetition| repetition.anew != CreatedPer::PerCall || returns_containing_object(linker, body)),
            _ => None,
        },
    }
}

/// Returns the calls that create threads or connections, with the paths of their rows, in order.
fn find_creating_calls(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<(SiteRef, PathId, Creates)> {
    let kinds = [SiteKind::Call, SiteKind::New];
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in Language::ALL {
        sites.extend(linker.sites_of_rows(reach, language, Uses::CREATES, &kinds, |paths| paths));
    }
    sites.retain(|site| linker.is_reported(site.file));
    sites.sort();
    sites
        .into_iter()
        .filter_map(|site| creation_at(linker, site).map(|(path, creates)| (site, path, creates)))
        .collect()
}

/// Returns the path of the row by which a site creates threads or connections, and the kind of object.
fn creation_at(linker: &Linker<'_>, site: SiteRef) -> Option<(PathId, Creates)> {
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let calls = linker.library.calls(path);
        let mut rows = calls.with(|row| row.creates.is_some());
        let matched =
            rows.find(|matched| linker.conditions_hold(&matched.row.when, &matched.row.unless, site, EnvId::NONE))?;
        Some((path, matched.row.creates?))
    })
}

/// True if a site creates a scheduler of reactive chains, or an executor that is wrapped in one (Java).
fn is_scheduler(linker: &Linker<'_>, site: SiteRef, path: PathId) -> bool {
    let makes_scheduler =
        |path: PathId| linker.library.calls(path).iter().any(|matched| matched.row.scheduler.is_some());
    if makes_scheduler(path) {
        return true;
    }
    let index = linker.program.index_of(site.file);
    let class = linker.class_around(linker.program.body_of_site(site));
    let variable_mentions = variable_storing(linker, site).map(|sym| index.mentions_named(sym));
    linker.program.uses_of_result(site).iter().chain(variable_mentions.iter().flat_map(|mentions| mentions.iter())).any(
        |(mention, _)| {
            let Mention::Arg(taker, _) = mention else { return false };
            let taker = site.file.site_ref(taker);
            linker.class_around(linker.program.body_of(site.file, linker.program.site(taker).at)) == class
                && linker.targets(taker, EnvId::NONE).list.iter().any(|target| match *target {
                    Target::Row { path, .. } => makes_scheduler(path),
                    _ => false,
                })
        },
    )
}

/// True if the only use of the object that a site creates is as the executor argument of a call:
/// `run_in_executor(ThreadPoolExecutor(), …)`.
fn is_for_one_call(linker: &Linker<'_>, site: SiteRef) -> bool {
    let uses = linker.program.uses_of_result(site);
    let mut uses = uses.iter();
    let (Some((Mention::Arg(taker, arg), Wrap::Direct)), None) = (uses.next(), uses.next()) else { return false };
    let taker = site.file.site_ref(taker);
    linker.targets(taker, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => runs_later_argument(linker, taker, arg, path),
        _ => false,
    })
}

/// True if the object that a site creates ends with the run of its body: it is entered as a context manager, shut down,
/// or dropped.
fn ends_with_body(linker: &Linker<'_>, site: SiteRef) -> bool {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = linker.program.body_of_site(site);
    match find_owner(linker, site) {
        Owner::NoOwner if facts.language == Language::Rust => return true,
        // A generator that yields the object.
        Owner::Caller(caller) if caller == body => {}
        Owner::NoOwner => {}
        _ => return false,
    }
    let variable = variable_storing(linker, site);
    let is_object = |form: FormId| match facts.form(form) {
        Form::Result(call) => call == site_id,
        Form::Var(var) => Some(facts.var(var).name) == variable,
        _ => false,
    };
    facts.sites.iter().any(|site_facts| match (site_facts.kind, facts.form(site_facts.callee)) {
        (SiteKind::Enter, _) => is_object(site_facts.callee),
        (SiteKind::Call, Form::Attr(base, method)) => {
            lang::words::ends_threads(facts.text(method)) && is_object(base) && is_inside(linker, site_facts.at, body)
        }
        _ => false,
    })
}

/// True if a builder method creates objects of a class for any number of callers. False if all callers in the project
/// store the object in a field (Java).
fn is_built_for_callers<'a>(linker: &Linker<'a>, callers: &Callers<'_, 'a>, class: ClassRef) -> bool {
    let is_aside =
        |site: SiteRef| linker.program.is_test(site.file) || linker.is_for_tests(linker.program.body_of_site(site));
    let is_part = |site: SiteRef| matches!(find_owner(linker, site), Owner::Instance(_) | Owner::Program);
    linker.class_names(class).into_iter().flat_map(|name| linker.program.sites_named(name)).any(|site| {
        if is_aside(site)
            || !lang::java::names::makes_on_demand(name_of_method_around(linker, site))
            || class_of_new_object(linker, site) != Some(class)
        {
            return false;
        }
        let Owner::Caller(builder) = find_owner(linker, site) else { return false };
        let calls = callers.call_sites(builder);
        let mut calls = calls.iter().copied().filter(|&call| !is_aside(call)).peekable();
        calls.peek().is_none() || calls.any(|call| !is_part(call))
    })
}

/// True if a position is in a body or in a body inside of it.
fn is_inside(linker: &Linker<'_>, at: At, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    std::iter::successors(Some(facts.body_of(at)), |&id| facts.body(id).parent.get()).any(|id| id == body_id)
}

/// True if the receiver or an argument of a site depends on a parameter of its body or on the loop around it.
fn depends_on_caller(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    // The arguments of a builder count too.
    let by_receiver = match facts.form(linker.program.site(site).callee) {
        Form::Attr(base, _) => depends_on_input(linker, site, base, 12),
        _ => false,
    };
    by_receiver || linker.program.args_of(site).into_iter().any(|arg| depends_on_input(linker, site, arg.value, 12))
}

/// True if a form depends on a parameter or an element of a loop.
fn depends_on_input(linker: &Linker<'_>, site: SiteRef, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(site.file);
    let depends = |form: FormId| depends_on_input(linker, site, form, depth);
    match facts.form(form) {
        Form::Var(var) => {
            let var_facts = facts.var(var);
            if blocklint_link::program::occurrences::is_own_receiver(facts, form) {
                return false;
            }
            match var_facts.kind {
                VarKind::Param(_) => true,
                // A variable of the module or class is shared by all calls.
                _ if matches!(facts.body(var_facts.body).kind, BodyKind::Module | BodyKind::Class) => false,
                _ => facts.assigns_of(var).any(|assign| depends(assign.value)),
            }
        }
        // A text of several parts may contain data of the request.
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
        | Form::Not(base) => depends(base),
        Form::Subscript(base, index) => depends(base) || depends(index),
        Form::Result(call) => {
            let site_facts = facts.site(call);
            let receiver = match facts.form(site_facts.callee) {
                Form::Attr(base, _) => depends(base),
                _ => false,
            };
            receiver || facts.args_of(call).into_iter().any(|arg| depends(arg.value))
        }
        Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
            facts.list(list).iter().any(|&part| depends(part))
        }
        _ => false,
    }
}

/// True if the object that a site creates exists once in a program, as far as the code shows: a container creates its
/// owner, or only code that runs once does (Java).
fn is_singleton<'a>(
    linker: &Linker<'a>,
    times: &mut Frequencies<'_, '_, 'a>,
    site: SiteRef,
    repeated: Repeated,
) -> bool {
    let Some(class) = class_of_site(linker, site) else { return false };
    match repeated {
        Repeated::Class(owner) => {
            is_injected(linker, owner)
                || is_injected(linker, class)
                || !is_made_on_demand(linker, times, owner, MAX_OWNER_DEPTH)
        }
        Repeated::Body(_) => {
            let name = name_of_method_around(linker, site);
            lang::java::names::closes_object(name)
                || lang::java::names::runs_once(name)
                    && (is_injected(linker, class) || !is_made_on_demand(linker, times, class, MAX_OWNER_DEPTH))
        }
    }
}

/// Returns the name of the method around a site.
fn name_of_method_around<'a>(linker: &Linker<'a>, site: SiteRef) -> &'a str {
    let facts = linker.program.facts(site.file);
    let mut body_facts = linker.program.body(linker.program.body_of_site(site));
    while matches!(body_facts.kind, BodyKind::Lambda) {
        let Some(parent) = body_facts.parent.get() else { break };
        body_facts = facts.body(parent);
    }
    facts.text(body_facts.name)
}

/// True if objects of a class are created on demand, by a builder or another method. An object in a field is created as
/// often as the object around it. A class that the project never instantiates is treated as created by other programs
/// (Java).
fn is_made_on_demand<'a>(
    linker: &Linker<'a>,
    times: &mut Frequencies<'_, '_, 'a>,
    class: ClassRef,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let mut is_instantiated = false;
    for name in linker.class_names(class) {
        for &(file, sym) in linker.program.occurrences(name) {
            for &site in linker.program.index_of(file).sites_named(sym) {
                let site = file.site_ref(site);
                if class_of_new_object(linker, site) != Some(class) {
                    continue;
                }
                is_instantiated = true;
                if times.frequency_of_site(site).is_once() {
                    continue;
                }
                let is_part = match find_owner(linker, site) {
                    Owner::Program => true,
                    Owner::Instance(owner) => owner == class || !is_made_on_demand(linker, times, owner, depth),
                    _ => {
                        let around = class_of_site(linker, site).filter(|around| *around != class);
                        lang::java::names::runs_once(name_of_method_around(linker, site))
                            && !around.is_some_and(|around| is_made_on_demand(linker, times, around, depth))
                    }
                };
                if !is_part {
                    return true;
                }
            }
        }
    }
    !is_instantiated && !is_injected(linker, class)
}

/// True if a builder method returns an object of the project, which contains the object that the method creates (Java).
fn returns_containing_object(linker: &Linker<'_>, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    if !lang::words_of(facts.language).constructs_in_libraries
        || !lang::java::names::makes_on_demand(facts.text(linker.program.body(body).name))
    {
        return false;
    }
    // The caller gets the returned object and does not know of the objects inside it.
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

/// True if the type that a call returns or constructs has a role.
fn is_of_role(linker: &Linker<'_>, path: PathId, role: Role) -> bool {
    let text = linker.library.text(path);
    let ty = text.split('(').next().unwrap_or(&text);
    linker.library.role(linker.library.path(linker.library.language(path), ty)) == Some(role)
}

/// True if the names of an entry's dependencies show that it requires an administrator (Python).
fn is_for_administrators(linker: &Linker<'_>, entry: BodyRef) -> bool {
    let facts = linker.program.facts(entry.file);
    let is_for_admin = |form: FormId| names_administrator(linker, entry.file, form, MAX_FORM_DEPTH);
    facts.language == Language::Python
        && (linker
            .program
            .params_of(entry)
            .iter()
            .any(|param| is_for_admin(param.default) || is_for_admin(param.annotation))
            || facts.list(linker.program.body(entry).decorators).iter().any(|&decorator| match facts.form(decorator) {
                Form::Result(site) => facts
                    .args_of(site)
                    .iter()
                    .any(|arg| facts.text(arg.name) == "dependencies" && is_for_admin(arg.value)),
                _ => is_for_admin(decorator),
            }))
}

/// True if a name in a form is one for administrators: `Depends(require_admin)` (Python).
fn names_administrator(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1).filter(|_| form.is_some()) else { return false };
    let facts = linker.program.facts(file);
    let contains_name = |form: FormId| names_administrator(linker, file, form, depth);
    match facts.form(form) {
        Form::Name(name) => lang::python::conventions::mentions_administrators(facts.text(name)),
        Form::Var(var) => lang::python::conventions::mentions_administrators(facts.text(facts.var(var).name)),
        Form::Attr(base, name) => {
            lang::python::conventions::mentions_administrators(facts.text(name)) || contains_name(base)
        }
        Form::Subscript(base, index) => contains_name(base) || contains_name(index),
        Form::Display(_, list) | Form::Join(list) => facts.list(list).iter().any(|&part| contains_name(part)),
        Form::Result(site) => {
            contains_name(facts.site(site).callee) || facts.args_of(site).iter().any(|arg| contains_name(arg.value))
        }
        _ => false,
    }
}

/// True if a lambda is passed to a call that hands it over.
fn is_handed_over(linker: &Linker<'_>, lambda: BodyRef) -> bool {
    linker.program.uses_of_callable(lambda).iter().any(|(mention, _)| {
        let Mention::Arg(taker, _) = mention else { return false };
        linker.targets(lambda.file.site_ref(taker), EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => !linker.library.handovers(path).is_empty(),
            _ => false,
        })
    })
}

/// True if a site creates a runtime that only drives futures in the same body: `Runtime::new()?.block_on(…)` (Rust).
fn is_runtime_for_one_call<'a>(linker: &Linker<'a>, callers: &Callers<'_, 'a>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Rust || find_owner(linker, site) != Owner::NoOwner {
        return false;
    }
    // In a task such a call panics, which another rule reports. A dedicated thread may have its own runtime.
    let own = linker.program.body_of_site(site);
    let is_aside = |body: BodyRef| {
        let (facts, body_id) = linker.program.facts_and_id(body);
        std::iter::successors(Some(body_id), |&id| facts.body(id).parent.get()).any(|id| {
            let enclosing = body.file.body_ref(id);
            let body_facts = facts.body(id);
            body_facts.flow == Flow::Coroutine
                || body_facts.kind == BodyKind::AsyncBlock
                || body_facts.kind == BodyKind::Function && !linker.sites_passing_body(enclosing).is_empty()
                || body_facts.kind == BodyKind::Lambda && is_handed_over(linker, enclosing)
        })
    };
    let calls = callers.call_sites(own);
    if is_aside(own) || !calls.is_empty() && calls.iter().all(|&call| is_aside(linker.program.body_of_site(call))) {
        return false;
    }
    facts.sites.iter().enumerate().any(|(index, site_facts)| {
        let call = site.file.site_ref(SiteId(index as u32));
        site_facts.kind == SiteKind::Call
            && is_inside(linker, site_facts.at, own)
            && linker.targets(call, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => linker.library.calls(path).iter().any(|matched| {
                    matched.row.effect.is_some_and(|effect| effect == RowEffect::Holds(Effect::NestedLoop))
                }),
                _ => false,
            })
    })
}

/// Returns the class of the object that a `new` creates.
fn class_of_new_object(linker: &Linker<'_>, site: SiteRef) -> Option<ClassRef> {
    if linker.program.site(site).kind != SiteKind::New {
        return None;
    }
    match linker.values.members(linker.result(site, EnvId::NONE).value)[..] {
        [Val::Instance { class, .. }] => Some(class),
        _ => None,
    }
}

/// Returns the class around a site.
pub(crate) fn class_of_site(linker: &Linker<'_>, site: SiteRef) -> Option<ClassRef> {
    linker.class_around(linker.program.body_of_site(site))
}

/// True if a dependency injection container creates the objects of a class: an annotation marks the constructor (Java).
fn is_injected(linker: &Linker<'_>, class: ClassRef) -> bool {
    let (facts, class_id) = linker.program.facts_and_id(class);
    facts.bodies.iter().any(|body_facts| {
        body_facts.class.get() == Some(class_id)
            && body_facts.kind == BodyKind::Function
            && lang::words_of(facts.language).is_constructor(facts.text(body_facts.name))
            && lang::java::names::annotation_names(facts, body_facts.decorators)
                .any(lang::java::names::is_injection_annotation)
    })
}

/// True if the only task of a pool is an endless loop over a wait without a time limit, which needs a thread of its
/// own.
fn is_dedicated_thread(linker: &Linker<'_>, site: SiteRef) -> bool {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let Some(sym) = variable_storing(linker, site) else {
        // `newSingleThreadScheduledExecutor().scheduleAtFixedRate(…)`: no variable stores the pool.
        return facts.language == Language::Java
            && facts.sites.iter().any(|site_facts| match facts.form(site_facts.callee) {
                Form::Attr(base, _) => {
                    facts.form(base) == Form::Result(site_id)
                        && lang::java::words::REPEATED_SCHEDULES.contains(&facts.text(site_facts.name))
                }
                _ => false,
            });
    };
    let is_pool = |form: FormId| match facts.form(form) {
        Form::Var(var) => facts.var(var).name == sym,
        Form::Attr(_, name) => name == sym,
        _ => false,
    };
    let class = linker.class_around(linker.program.body_of_site(site));
    let mut tasks: Vec<(SiteRef, Option<BodyRef>)> = Vec::new();
    for (index, site_facts) in facts.sites.iter().enumerate() {
        let Form::Attr(base, _) = facts.form(site_facts.callee) else { continue };
        if site_facts.kind != SiteKind::Call || !is_pool(base) {
            continue;
        }
        // Another class may have a field of this name.
        if linker.class_around(linker.program.body_of(site.file, site_facts.at)) != class {
            continue;
        }
        let call = site.file.site_ref(SiteId(index as u32));
        for target in &linker.targets(call, EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { continue };
            for handover in linker.library.handovers(path).iter() {
                let Selector::Argument(argument) = &handover.row.selector else { continue };
                let Some(form) = linker.argument(call, argument) else { continue };
                let typed = linker.eval(linker.scope_of(call, EnvId::NONE), form);
                tasks.extend(linker.values.members(typed.value).iter().map(|val| match *val {
                    Val::Fn { body, .. } => (call, Some(body)),
                    _ => (call, None),
                }));
            }
        }
    }
    // The rows of a type and of its bases may describe one argument.
    tasks.sort();
    tasks.dedup();
    match tasks[..] {
        [(_, Some(body))] => loops_over_unbounded_wait(linker, body, MAX_CALLEE_DEPTH, &mut FxHashSet::default()),
        _ => false,
    }
}

/// True if a call wraps an executor in a scheduler.
fn makes_scheduler_at(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => {
            linker.rows_for_call(path, site).with(|row| row.scheduler.is_some()).next().is_some()
        }
        _ => false,
    })
}

/// Returns the name of the field or local variable that stores the object that a site creates.
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
            // The executor is wrapped in a scheduler.
            Mention::Arg(taker, _) => {
                let taker = site.file.site_ref(taker);
                return makes_scheduler_at(linker, taker).then(|| variable_storing(linker, taker)).flatten();
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

/// True if a body loops without a count over a wait or network call that has no time limit.
pub(crate) fn loops_over_unbounded_wait(
    linker: &Linker<'_>,
    body: BodyRef,
    depth: u32,
    visited: &mut FxHashSet<BodyRef>,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if !visited.insert(body) {
        return false;
    }
    let (facts, body_id) = linker.program.facts_and_id(body);
    facts.sites.iter().enumerate().any(|(index, site_facts)| {
        if facts.body_of(site_facts.at) != body_id {
            return false;
        }
        let site = body.file.site_ref(SiteId(index as u32));
        let is_endless = is_looped(linker, site);
        linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, receiver, property, .. } if is_endless => {
                linker.sink(site, path, receiver, property, EnvId::NONE).is_some_and(|sink| {
                    matches!(sink.label.effect, Effect::Wait | Effect::Network)
                        && sink.label.hold == LabelHold::Fixed(Hold::Unbounded)
                })
            }
            Target::Body { body, .. } => loops_over_unbounded_wait(linker, body, depth, visited),
            _ => false,
        })
    })
}
