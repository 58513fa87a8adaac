//! Rule `unbounded-offload`: work that is handed over to threads without a bound, so that as many pieces run at once as
//! there are items or requests.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Effect, Language, Mistake, RuleCode, Severity, Unbounded};
use blocklint_facts::{
    At, BodyFlags, BodyId, BodyKind, Flow, Form, RegionId, RegionKind, SiteFlags, SiteId, SiteKind, Sym,
};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::Graph;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::lifecycle::frequency::{Frequencies, Frequency};
use blocklint_flow::lifecycle::loops::is_per_item;
use blocklint_link::calls::targets::Target;
use blocklint_link::effect::label::Label;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::EnvId;
use blocklint_models::{Concurrency, HandoverContext, HandoverRow, RowEffect, Runs, Selector, Subject, Test, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rules::created_repeatedly::loops_over_unbounded_wait;
use crate::rules::mistakes::MistakeSearch;
use crate::rules::pool_starvation::connection_taken_at;

/// How many callers above a call are searched for code that starts it many times.
const MAX_CALLER_DEPTH: u32 = 4;

pub(crate) mod elsewhere;
mod wrappers;

/// Returns the findings of this rule. If the work takes connections of a pool, the finding is one of `pool-starvation`.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("work that is passed to threads without a limit");
    let unbounded_calls = linker.attempt(step, || find_unbounded_offloads(search.offloads)).unwrap_or_default();
    let finding = |offload: Offload| {
        let rule = if offload.takes.is_some() { RuleCode::POOL_STARVATION } else { RuleCode::UNBOUNDED_OFFLOAD };
        let takes = offload.takes.map(|path| linker.library.text(path).to_string());
        let mistake = Mistake::UnboundedOffload { unbounded: offload.unbounded, connection_call: takes };
        let call = linker.library.text(offload.path).to_string();
        let mut finding =
            search.finding((rule, mistake), offload.site, call.clone(), offload.severity, offload.confidence);
        if let Some(handover) = offload.handover {
            let owner = linker.qualified_name(linker.program.body_of_site(handover));
            finding.trace[0].call = owner.clone();
            finding.trace.push(RawStep {
                file: handover.file,
                span: linker.program.site(handover).span,
                function: owner,
                call,
                written: linker.written_site(handover),
            });
        }
        finding
    };
    unbounded_calls.into_iter().map(finding).collect()
}

/// A handover of work to threads without a bound.
#[derive(Clone, Debug)]
pub(crate) struct Offload {
    /// The call that hands the work over, or that starts coroutines which do.
    pub(crate) site: SiteRef,
    /// The path of its row.
    pub(crate) path: PathId,
    /// The number that decides how many threads start: items, requests, or tasks that never end.
    pub(crate) unbounded: Unbounded,
    /// The path of the call by which each piece of work takes a connection from a pool, if it does.
    pub(crate) takes: Option<PathId>,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    /// The handover itself, if `site` starts coroutines that wait for it.
    pub(crate) handover: Option<SiteRef>,
}

/// The most coroutines that are followed from a handover up to the loop that starts them.
const MAX_COROUTINES: u32 = 2;

/// The most calls that are followed from a task to a calculation.
const MAX_CALCULATION_CALLS: u32 = 4;

/// True if a row hands work over to a thread pool without a queue bound: the pool that fixes use, the default pool of
/// the runtime (`run_in_executor(None, …)`), or a pool that another row declares unbounded.
fn is_unbounded_handover(row: &HandoverRow, unbounded: bool) -> bool {
    let uses_default_pool = || {
        row.when.iter().any(|condition| {
            matches!(condition.subject, Subject::Argument(_)) && condition.tests[..] == [Test::Null(true)]
        })
    };
    matches!(row.selector, Selector::Argument(_))
        && matches!(row.context, HandoverContext::Is(Runs::In(Context::Worker)))
        && !row.bounded
        && (!row.offer.is_empty() || unbounded || uses_default_pool())
}

/// Returns all handovers of the program without a bound, in order.
fn find_unbounded_offloads(offloads: &mut Offloads<'_, '_, '_>) -> Vec<Offload> {
    let mut unbounded = Vec::new();
    let mut handovers = find_handovers(offloads.linker);
    if !handovers.is_empty() {
        let (linker, callers) = (offloads.linker, offloads.callers);
        let bounding = &*offloads.bounding.get_or_insert_with(|| bounding_names(linker));
        let through =
            wrappers::find_wrapper_handovers(linker, callers, &handovers, |site| is_bounded(linker, site, bounding));
        handovers.extend(through);
    }
    for handover in handovers {
        let awaited = is_awaited(offloads.linker, handover.site);
        offloads.add_unbounded(&handover, awaited, &mut unbounded);
    }
    // One call may lead to many handovers, and the worst of them counts.
    unbounded.sort_by_key(|offload| (offload.site, std::cmp::Reverse(offload.severity), offload.handover));
    unbounded.dedup_by_key(|offload| offload.site);
    unbounded
}

/// The data that decides if a handover has a bound.
pub(crate) struct Offloads<'o, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'o Callers<'l, 'a>,
    times: Frequencies<'o, 'l, 'a>,
    /// Bodies with a label of the effect `cpu`: they keep a thread busy without waiting.
    calculating: FxHashSet<BodyRef>,
    /// Bodies with a label of another effect: they wait on a thread.
    waits: FxHashSet<BodyRef>,
    /// Bodies that keep a core busy. Network access and sleeps are not among them, because a few dozen threads handle
    /// many of these.
    busy: FxHashSet<BodyRef>,
    calculates: CalculationMemo,
    /// The names of calls that bound concurrency, with their languages; computed on first use.
    bounding: Option<FxHashSet<(Language, &'a str)>>,
}

impl<'o, 'l, 'a> Offloads<'o, 'l, 'a> {
    /// Collects the bodies that calculate or wait from the labels of a graph.
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'o Callers<'l, 'a>, graph: &Graph<'_>) -> Self {
        let bodies_with = |is_wanted: &dyn Fn(&Label) -> bool| {
            let labelled_bodies =
                graph.labelled_bodies.iter().filter(|labelled_body| is_wanted(graph.labels.get(labelled_body.label)));
            labelled_bodies.map(|labelled_body| labelled_body.node.body).collect::<FxHashSet<BodyRef>>()
        };
        Offloads {
            linker,
            callers,
            times: Frequencies::new(linker, callers),
            calculating: bodies_with(&|label| label.effect == Effect::Cpu),
            waits: bodies_with(&|label| label.effect != Effect::Cpu),
            busy: bodies_with(&|label| {
                label.severity > Severity::Note && matches!(label.effect, Effect::Cpu | Effect::Subprocess)
            }),
            calculates: CalculationMemo::default(),
            bounding: None,
        }
    }

    /// Returns the call that this rule would report if the work of a call were handed over to a thread and awaited.
    /// Fixes use it to avoid unbounded offloads.
    pub(crate) fn find_offload_after_handover(&mut self, site: SiteRef) -> Option<SiteRef> {
        let body = self.linker.program.body_of_site(site);
        let bounding = &*self.bounding.get_or_insert_with(|| bounding_names(self.linker));
        // Most calls end here.
        if find_gathered_calls(self.linker, body, self.callers, bounding, MAX_COROUTINES).is_empty() {
            return None;
        }
        let targets = self.linker.targets(site, EnvId::NONE);
        let tasks = targets.list.iter().filter_map(|target| match *target {
            Target::Body { body, .. } => Some(body),
            _ => None,
        });
        let library_function = targets.list.iter().find_map(|target| match *target {
            Target::Row { path, .. } => Some(path),
            _ => None,
        });
        let path = library_function.unwrap_or(self.linker.library.path(self.linker.program.language(site.file), ""));
        let mut unbounded = Vec::new();
        self.add_unbounded(&Handover { site, path, tasks: tasks.collect(), library_function }, true, &mut unbounded);
        unbounded.iter().find(|offload| offload.severity > Severity::Note).map(|offload| offload.site)
    }

    /// Adds the offloads of one handover that have no bound. `awaited` is true if the call awaits the handover.
    fn add_unbounded(&mut self, handover: &Handover, awaited: bool, offloads: &mut Vec<Offload>) {
        let Handover { site, path, ref tasks, library_function } = *handover;
        let (linker, callers) = (self.linker, self.callers);
        let bounding = &*self.bounding.get_or_insert_with(|| bounding_names(linker));
        let facts = linker.program.facts(site.file);
        let body = linker.program.body_of_site(site);
        let is_test = linker.program.is_test(site.file) || linker.program.body(body).flags.has(BodyFlags::TEST);
        if is_test || linker.program.is_command_line(site.file) || is_bounded(linker, site, bounding) {
            return;
        }
        let takes = tasks.iter().find_map(|&task| takes_connection(linker, task));
        let when = self.times.frequency_of_site(site);
        let is_once = when.is_once();
        let per_item = (!awaited && runs_per_item(linker, site)) || is_started_per_item(linker, body);
        // The work calculates: a known call does, or code of the project that calls nothing unknown.
        let is_calculation = tasks.iter().any(|task| self.calculating.contains(task))
            || library_function.is_some_and(|path| row_calculates(linker, path))
            || tasks.iter().any(|&task| !self.waits.contains(&task) && calculates(linker, task, &mut self.calculates));
        let known = is_calculation || tasks.iter().any(|task| self.waits.contains(task));
        // A calculation that a label describes as short keeps no core busy.
        let is_busy = is_calculation
            && !tasks.iter().any(|task| self.calculating.contains(task) && !self.busy.contains(task))
            || tasks.iter().any(|task| self.busy.contains(task));
        let is_short = lang::words_of(facts.language).bounds_offloads && !is_busy;
        // If many coroutines that wait for their thread start at once, the bound belongs where they are started. Short
        // waits are left out, because the pool queues them.
        let is_coroutine = matches!(facts.language, Language::Python | Language::Rust);
        if is_coroutine && !is_once && !per_item && awaited && known && !is_short {
            for call in find_gathered_calls(linker, body, callers, bounding, MAX_COROUTINES) {
                let times = self.times.frequency_of_site(call);
                if times.is_once() {
                    continue;
                }
                let is_served = matches!(times, Frequency::PerEntry(..));
                offloads.push(Offload {
                    site: call,
                    path,
                    unbounded: Unbounded::PerItem,
                    takes,
                    // Threads that only wait are a warning only if each request starts them.
                    severity: if is_calculation || is_served { Severity::Warning } else { Severity::Note },
                    confidence: Confidence::Medium,
                    handover: Some(site),
                });
            }
        }
        let unbounded = if !is_once && per_item {
            Unbounded::PerItem
        } else if let Frequency::PerEntry(entry, _) = when
            && is_calculation
            && !lang::words_of(facts.language).bounds_offloads
        {
            Unbounded::PerEntry(linker.name_inside_file(entry))
        } else if !is_once
            && !lang::words_of(facts.language).bounds_offloads
            && tasks.iter().any(|&task| never_ends(linker, task))
        {
            Unbounded::Endless
        } else {
            return;
        };
        let is_served = matches!(when, Frequency::PerEntry(..));
        let known = takes.is_some() || is_calculation;
        let severity = match unbounded {
            // A pool with a bounded number of threads queues the rest, so short work does little harm.
            Unbounded::PerItem if is_short => Severity::Note,
            Unbounded::PerItem if !known && !is_served && tasks.iter().any(|task| self.waits.contains(task)) => {
                Severity::Note
            }
            _ => Severity::Warning,
        };
        let is_direct = matches!(when, Frequency::PerEntry(entry, 0) if entry == body) && known;
        let confidence = if is_direct { Confidence::High } else { Confidence::Medium };
        offloads.push(Offload { site, path, unbounded, takes, severity, confidence, handover: None });
    }
}

/// Cached answers of [`calculates`].
type CalculationMemo = FxHashMap<BodyRef, bool>;

/// A call that hands work over to a pool without a bound.
struct Handover {
    site: SiteRef,
    /// The path of its row.
    path: PathId,
    /// The bodies that it hands over.
    tasks: Vec<BodyRef>,
    /// The library function that it hands over.
    library_function: Option<PathId>,
}

/// Returns the calls of all languages that hand a callable over to a pool without a bound, in order.
fn find_handovers(linker: &Linker<'_>) -> Vec<Handover> {
    find_handovers_in(linker, Language::ALL, |site| linker.is_site_in_focus(site))
}

/// Returns the wanted calls of some languages that hand a callable over to a pool without a bound, in order.
fn find_handovers_in<'a>(
    linker: &Linker<'a>,
    languages: &[Language],
    is_wanted: impl Fn(SiteRef) -> bool,
) -> Vec<Handover> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in languages {
        let models = linker.library.of(language);
        // Handover rows are stored under the method without its parameter list.
        let method = |path: &'a str| path.split('(').next().unwrap_or(path);
        let is_offload = |path: &&'a str| {
            let unbounded = is_unbounded(linker, linker.library.path(language, method(path)));
            models.handovers(method(path)).iter().any(|matched| is_unbounded_handover(matched.row, unbounded))
        };
        let wanted = |paths: Vec<&'a str>| if paths.iter().any(is_offload) { paths } else { Vec::new() };
        sites.extend(linker.sites_of_rows(linker.reach(), language, Uses::HANDOVER, &[SiteKind::Call], wanted));
    }
    sites.retain(|&site| is_wanted(site));
    sites.sort();
    sites.into_iter().filter_map(|site| handover_at(linker, site)).collect()
}

/// True if a row declares that a call starts any number of tasks at once.
fn is_unbounded(linker: &Linker<'_>, path: PathId) -> bool {
    linker.library.calls(path).iter().any(|matched| matched.row.concurrency == Some(Concurrency::Unbounded))
}

/// Returns the handover of a callable at a site to a pool without a bound.
fn handover_at(linker: &Linker<'_>, site: SiteRef) -> Option<Handover> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let rows = linker.library.handovers(path);
        // The first row whose conditions hold decides.
        let conditions_hold = |row: &HandoverRow| linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
        // In Java each overload has its own rows.
        let is_java = linker.program.language(site.file) == Language::Java;
        let mut matching = rows.iter().filter(|matched| conditions_hold(matched.row));
        let matched = match is_java {
            true => matching.find(|matched| is_unbounded_handover(matched.row, is_unbounded(linker, path)))?,
            false => {
                matching.next().filter(|matched| is_unbounded_handover(matched.row, is_unbounded(linker, path)))?
            }
        };
        let Selector::Argument(argument) = &matched.row.selector else { return None };
        let form = linker.argument(site, argument)?;
        let (tasks, library_function) = wrappers::callables_of(linker, site, form, 1);
        Some(Handover { site, path, tasks, library_function })
    })
}

/// True if a row gives a library function the effect `cpu`.
fn row_calculates(linker: &Linker<'_>, path: PathId) -> bool {
    linker.library.calls(path).iter().any(|matched| matched.row.effect == Some(RowEffect::Holds(Effect::Cpu)))
}

/// True if a body calculates, as far as the code shows: it calls a library function with the effect `cpu`, or it calls
/// nothing unknown and has a loop or calls itself twice.
fn calculates(linker: &Linker<'_>, body: BodyRef, memo: &mut CalculationMemo) -> bool {
    calculates_within(linker, body, memo, MAX_CALCULATION_CALLS)
}

/// [`calculates`] with a depth to which calls are followed.
fn calculates_within(linker: &Linker<'_>, body: BodyRef, memo: &mut CalculationMemo, depth: u32) -> bool {
    if let Some(&answer) = memo.get(&body) {
        return answer;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    memo.insert(body, false);
    let (facts, body_id) = linker.program.facts_and_id(body);
    let inside = |at: At| {
        std::iter::successors(Some(facts.body_of(at)), |&id| facts.body(id).parent.get()).any(|id| id == body_id)
    };
    let (mut calls_itself, mut calls_unknown, mut calculates) = (0, false, false);
    for (index, site_facts) in facts.sites.iter().enumerate() {
        if !inside(site_facts.at) || !matches!(site_facts.kind, SiteKind::Call | SiteKind::New) {
            continue;
        }
        let site = body.file.site_ref(SiteId(index as u32));
        let targets = linker.targets(site, EnvId::NONE);
        calls_unknown |=
            targets.list.is_empty() && !lang::words_of(facts.language).only_calculates(facts.text(site_facts.name));
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => calculates |= row_calculates(linker, path),
                Target::Body { body: callee, .. } if callee == body => calls_itself += 1,
                Target::Body { body: callee, .. } => calculates |= calculates_within(linker, callee, memo, depth),
                Target::Overrides { .. } => calls_unknown = true,
            }
        }
    }
    let has_loop = || {
        let is_own = |inner: BodyId| {
            std::iter::successors(Some(inner), |&id| facts.body(id).parent.get()).any(|id| id == body_id)
        };
        facts.regions.iter().any(|region| region.kind == RegionKind::Loop && is_own(region.body))
    };
    // A function that calls itself twice walks a tree.
    let answer = calculates || !calls_unknown && (calls_itself > 1 || has_loop());
    memo.insert(body, answer);
    answer
}

/// Returns the names of operations with an argument that bounds concurrency (`flatMap(…, 8)`). They are found by name,
/// because the type of a chain is often unknown.
fn bounding_names<'a>(linker: &Linker<'a>) -> FxHashSet<(Language, &'a str)> {
    let mut names = FxHashSet::default();
    for &language in Language::ALL {
        for row in linker.library.of(language).names(Uses::CONCURRENCY) {
            let is_bounding = row.paths(Uses::CONCURRENCY).any(|path| {
                let calls = linker.library.calls(linker.library.path(language, path.path));
                calls.iter().any(|matched| matches!(matched.row.concurrency, Some(Concurrency::Argument(_))))
            });
            if is_bounding {
                names.insert((language, row.name));
            }
        }
    }
    names
}

/// True if a call in the body of a site, or in a body around it, bounds concurrency: a permit, a semaphore, an
/// operation with a bound.
fn is_bounded<'a>(linker: &Linker<'a>, site: SiteRef, bounding: &FxHashSet<(Language, &'a str)>) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(linker.program.body_of_site(site));
    let mut body = Some(body_id);
    while let Some(id) = body {
        let has_bound = facts.sites.iter().enumerate().any(|(index, site_facts)| {
            facts.body_of(site_facts.at) == id
                && matches!(site_facts.kind, SiteKind::Call | SiteKind::Enter)
                && (bounding.contains(&(facts.language, facts.text(site_facts.name)))
                    || bounds_concurrency(linker, site.file.site_ref(SiteId(index as u32))))
        });
        if has_bound {
            return true;
        }
        let body_facts = facts.body(id);
        body = match body_facts.kind {
            BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression => body_facts.parent.get(),
            // A nested function is started by the function around it.
            BodyKind::Function if body_facts.class.is_none() => body_facts
                .parent
                .get()
                .filter(|&parent| matches!(facts.body(parent).kind, BodyKind::Function | BodyKind::Lambda)),
            _ => None,
        };
    }
    false
}

/// True if a call bounds concurrent work: it takes a permit, or has an argument for the number of tasks.
fn bounds_concurrency(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => linker.library.calls(path).iter().any(|matched| {
            matches!(matched.row.concurrency, Some(Concurrency::Bounded | Concurrency::Argument(_)))
                && linker.conditions_hold(&matched.row.when, &matched.row.unless, site, EnvId::NONE)
        }),
        // A permit class of the project.
        Target::Body { body, .. } => {
            let name = linker.program.facts(body.file).text(linker.program.body(body).name);
            matches!(name, "acquire" | "__aenter__" | "__enter__")
        }
        Target::Overrides { .. } => false,
    })
}

/// True if the result of a site is awaited in the same round of a loop, so that the next one starts after this one has
/// ended.
fn is_awaited(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if linker.program.site(site).flags.has(SiteFlags::AWAITED) {
        return true;
    }
    // The result may be awaited through a local variable, or as an argument of an awaited call.
    let uses = linker.program.uses_of_result(site);
    uses.iter().any(|(mention, wrap)| match mention {
        _ if wrap == Wrap::Awaited => true,
        Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
            Form::Var(var) => facts.sites.iter().any(|site_facts| {
                site_facts.flags.has(SiteFlags::AWAITED)
                    && facts.form(site_facts.callee) == Form::Var(var)
                    && is_in_same_loop(linker, site, site_facts.at.region)
            }),
            _ => false,
        },
        Mention::Arg(taker, _) => {
            facts.site(taker).flags.has(SiteFlags::AWAITED)
                && is_in_same_loop(linker, site, facts.site(taker).at.region)
        }
        _ => false,
    })
}

/// True if a region and a site have the same innermost loop.
fn is_in_same_loop(linker: &Linker<'_>, site: SiteRef, region: RegionId) -> bool {
    let facts = linker.program.facts(site.file);
    let innermost = |mut region: RegionId| {
        while let Some(id) = region.get() {
            if facts.region(id).kind == RegionKind::Loop {
                return Some(id);
            }
            region = facts.region(id).parent;
        }
        None
    };
    innermost(linker.program.site(site).at.region) == innermost(region)
}

/// True if a site runs for each element of a collection: in a loop over it, or in a lambda that an operation runs for
/// each element (`map(…)`).
fn runs_per_item(linker: &Linker<'_>, site: SiteRef) -> bool {
    if is_per_item(linker, site) {
        return true;
    }
    let body = linker.program.body_of_site(site);
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    match body_facts.kind {
        BodyKind::GeneratorExpression => true,
        BodyKind::Lambda => linker.program.uses_of_callable(body).iter().any(|(mention, _)| {
            let Mention::Arg(taker, _) = mention else { return false };
            lang::words_of(facts.language).calls_for_each_element(facts.text(facts.site(taker).name))
        }),
        _ => false,
    }
}

/// True if a task that runs an `async` block is started for each element of a collection (Rust).
fn is_started_per_item(linker: &Linker<'_>, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let body_facts = linker.program.body(body);
    if body_facts.kind != BodyKind::AsyncBlock {
        return false;
    }
    if is_returned_to_starter(linker, body) {
        return true;
    }
    facts.sites.iter().enumerate().any(|(index, site_facts)| {
        let id = SiteId(index as u32);
        let takes_block = facts
            .args_of(id)
            .into_iter()
            .any(|arg| matches!(facts.form(arg.value), Form::Run(block) if block == body_id));
        let site = body.file.site_ref(id);
        takes_block
            && site_facts.kind == SiteKind::Call
            && !site_facts.flags.has(SiteFlags::AWAITED)
            && runs_per_item(linker, site)
            && linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => linker
                    .library
                    .calls(path)
                    .iter()
                    .any(|matched| matched.row.concurrency == Some(Concurrency::Unbounded)),
                _ => false,
            })
    })
}

/// True if a lambda returns this block for each element of a collection, and the body around it starts all of them:
/// `join_all(pages.iter().map(|page| async move { … }))`.
fn is_returned_to_starter(linker: &Linker<'_>, body: BodyRef) -> bool {
    let uses = linker.program.uses_of_callable(body);
    uses.iter().any(|(mention, _)| is_returned_by_lambda(linker, body.file, mention))
}

/// True if a mention is the return value of a lambda that runs for each element of a collection, and the body around it
/// starts all results.
fn is_returned_by_lambda(linker: &Linker<'_>, file: FileId, mention: Mention) -> bool {
    let facts = linker.program.facts(file);
    let Mention::Exit(exit) = mention else { return false };
    let lambda = facts.body_of(facts.exits.at(exit as usize).at);
    if facts.body(lambda).kind != BodyKind::Lambda {
        return false;
    }
    let uses = linker.program.index_of(file).uses_of_callable(lambda);
    uses.iter().any(|(mention, _)| {
        let Mention::Arg(taker, _) = mention else { return false };
        let around = facts.body_of(facts.site(taker).at);
        lang::words_of(facts.language).calls_for_each_element(facts.text(facts.site(taker).name))
            && facts.sites.iter().enumerate().any(|(index, site_facts)| {
                site_facts.kind == SiteKind::Call
                    && facts.body_of(site_facts.at) == around
                    && starts_all(linker, file.site_ref(SiteId(index as u32)))
            })
    })
}

/// Returns the calls of a coroutine function that start its coroutines for all elements of a collection at once:
/// `gather(*[load(name) for name in names])`.
fn find_gathered_calls<'a>(
    linker: &Linker<'a>,
    body: BodyRef,
    callers: &Callers<'_, 'a>,
    bounding: &FxHashSet<(Language, &'a str)>,
    depth: u32,
) -> Vec<SiteRef> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let body_facts = linker.program.body(body);
    if body_facts.flow != Flow::Coroutine || body_facts.kind != BodyKind::Function {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for &call in callers.call_sites(body).iter() {
        let caller = linker.program.body_of_site(call);
        let is_aside = linker.program.is_test(call.file) || linker.program.is_command_line(call.file);
        if is_aside || caller == body || is_bounded(linker, call, bounding) {
            continue;
        }
        if is_awaited(linker, call) {
            // `async move { render(page).await }` for each element.
            if is_started_per_item(linker, caller) {
                calls.push(call);
            }
            calls.extend(find_gathered_calls(linker, caller, callers, bounding, depth));
        } else if runs_per_item(linker, call) && is_started_with_others(linker, call, MAX_CALLER_DEPTH) {
            calls.push(call);
        }
    }
    calls
}

/// True if the result of a site is started together with others, as far as the code around it shows.
fn is_started_with_others(linker: &Linker<'_>, site: SiteRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(site.file);
    let index = linker.program.index_of(site.file);
    let starts = |mention: Mention| match mention {
        Mention::Arg(taker, _) => {
            let taker = site.file.site_ref(taker);
            let adds = linker.program.site(taker).kind == SiteKind::Call
                && filled_list(linker, taker).is_some_and(|list| {
                    index.mentions_named(list).iter().any(|(mention, _)| match mention {
                        Mention::Arg(starter, _) => starts_all(linker, site.file.site_ref(starter)),
                        _ => false,
                    })
                });
            adds || starts_all(linker, taker) || is_started_with_others(linker, taker, depth)
        }
        _ => false,
    };
    linker.program.uses_of_result(site).iter().any(|(mention, _)| match mention {
        Mention::Exit(_) => is_returned_by_lambda(linker, site.file, mention),
        Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
            Form::Var(var) => index
                .mentions_named(facts.var(var).name)
                .iter()
                .any(|(mention, _)| linker.mentions_var(site.file.var_ref(var), mention) && starts(mention)),
            _ => false,
        },
        mention => starts(mention),
    })
}

/// True if a call starts all tasks that it gets, without a bound.
fn starts_all(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => {
            linker.library.calls(path).iter().any(|matched| matched.row.concurrency == Some(Concurrency::Unbounded))
        }
        _ => false,
    })
}

/// Returns the name of the local list to which a call adds its argument: `tasks.append(…)`.
fn filled_list(linker: &Linker<'_>, site: SiteRef) -> Option<Sym> {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let Form::Attr(base, method) = facts.form(site_facts.callee) else { return None };
    let Form::Var(var) = facts.form(base) else { return None };
    matches!(facts.text(method), "append" | "add").then(|| facts.var(var).name)
}

/// Returns the path of the call by which a task takes a connection from a pool and holds its thread until one is free.
fn takes_connection(linker: &Linker<'_>, task: BodyRef) -> Option<PathId> {
    let (facts, task_id) = linker.program.facts_and_id(task);
    facts.sites.iter().enumerate().find_map(|(index, site_facts)| {
        if facts.body_of(site_facts.at) != task_id || site_facts.kind != SiteKind::Call {
            return None;
        }
        let site = task.file.site_ref(SiteId(index as u32));
        connection_taken_at(linker, site).filter(|taken| taken.blocks).map(|taken| taken.path)
    })
}

/// True if a task loops without end over a wait that has no time limit.
fn never_ends(linker: &Linker<'_>, task: BodyRef) -> bool {
    loops_over_unbounded_wait(linker, task, 2, &mut FxHashSet::default())
}
