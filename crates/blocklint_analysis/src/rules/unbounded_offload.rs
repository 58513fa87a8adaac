//! Work that is handed to threads without a bound: as many pieces at once as there are items or requests.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Effect, Language, Mistake, RuleCode, Severity, Unbounded};
use blocklint_facts::{BodyFlags, BodyId, BodyKind, Flow, Form, RegionKind, SiteFlags, SiteKind};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::Graph;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::lifecycle::frequency::{Frequency, TimesOf};
use blocklint_flow::lifecycle::loops::is_per_item;
use blocklint_link::calls::targets::Target;
use blocklint_link::effect::label::Label;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;
use blocklint_models::{Concurrency, HandoverContext, HandoverRow, RowEffect, Runs, Selector, Subject, Test, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rules::created_repeatedly::waits_for_ever;
use crate::rules::mistakes::MistakeSearch;
use crate::rules::pool_starvation::taken_at;

pub(crate) mod elsewhere;
mod wrappers;

/// Returns the findings of this rule. One that starves a pool of connections is a finding of that rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("work that is handed over without a bound");
    let all = linker.attempt(step, || offloads(search.offloads)).unwrap_or_default();
    let finding = |one: Offload| {
        let rule = if one.takes.is_some() { RuleCode::POOL_STARVATION } else { RuleCode::UNBOUNDED_OFFLOAD };
        let takes = one.takes.map(|path| linker.library.text(path).to_string());
        let mistake = Mistake::Offloads { unbounded: one.unbounded, takes };
        let call = linker.library.text(one.path).to_string();
        let mut finding = search.finding((rule, mistake), one.site, call.clone(), one.severity, one.confidence);
        if let Some(behind) = one.behind {
            let owner = linker.qualified_name(linker.program.body_of_site(behind));
            finding.trace[0].call = owner.clone();
            finding.trace.push(RawStep {
                file: behind.file,
                span: linker.program.site(behind).span,
                function: owner,
                call,
                written: linker.written_site(behind),
            });
        }
        finding
    };
    all.into_iter().map(finding).collect()
}

/// One hand-over without a bound.
#[derive(Clone, Debug)]
pub(crate) struct Offload {
    /// The call that hands over.
    pub(crate) site: SiteRef,
    /// The path of its row.
    pub(crate) path: PathId,
    /// The things of which there are as many as threads.
    pub(crate) unbounded: Unbounded,
    /// The call by which each piece takes a connection from a pool, if it does.
    pub(crate) takes: Option<PathId>,
    /// How bad.
    pub(crate) severity: Severity,
    /// How sure.
    pub(crate) confidence: Confidence,
    /// The hand-over itself, where `site` calls the coroutine that waits for it.
    pub(crate) behind: Option<SiteRef>,
}

/// Coroutines followed from a hand-over up to the loop that starts them.
const COROUTINES: u32 = 2;

/// Calls followed from a task to what it calculates.
const CALCULATIONS: u32 = 4;

/// True if a row hands to a pool that takes all it is given: the one that fixes hand over to, the runtime's own, which
/// a call asks for by naming none (`run_in_executor(None, …)`), or one of which another row states that it has no
/// bound.
fn takes_all(row: &HandoverRow, unbounded: bool) -> bool {
    let names_none =
        || row.when.iter().any(|of| matches!(of.subject, Subject::Argument(_)) && of.tests[..] == [Test::Null(true)]);
    matches!(row.selector, Selector::Argument(_))
        && matches!(row.context, HandoverContext::Is(Runs::In(Context::Worker)))
        && !row.bounded
        && (!row.offer.is_empty() || unbounded || names_none())
}

/// Returns all such hand-overs of the program, in order.
fn offloads(judge: &mut Offloads<'_, '_, '_>) -> Vec<Offload> {
    let mut found = Vec::new();
    let mut sites = offload_sites(judge.linker);
    if !sites.is_empty() {
        let (linker, callers) = (judge.linker, judge.callers);
        let bounding = &*judge.bounding.get_or_insert_with(|| bounding_names(linker));
        let through = wrappers::handed_through(linker, callers, &sites, |site| is_bounded(linker, site, bounding));
        sites.extend(through);
    }
    for handed in sites {
        let awaited = is_awaited(judge.linker, handed.site);
        judge.look_at(&handed, awaited, &mut found);
    }
    // Many hand-overs may stand behind one call: the worst of them counts.
    found.sort_by_key(|one| (one.site, std::cmp::Reverse(one.severity), one.behind));
    found.dedup_by_key(|one| one.site);
    found
}

/// Decides what is handed to threads without a bound.
pub(crate) struct Offloads<'o, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'o Callers<'l, 'a>,
    times: TimesOf<'o, 'l, 'a>,
    /// Bodies that calculate: what a thread does for long without waiting.
    calculating: FxHashSet<BodyRef>,
    /// Bodies that are known to wait: for those a thread each is dear, but no more than that.
    waits: FxHashSet<BodyRef>,
    /// Those that keep a thread and a core busy: what is asked over the network, and what sleeps between two attempts, a few dozen
    /// threads answer in turn.
    busy: FxHashSet<BodyRef>,
    calculates: Calculating,
    bounding: Option<FxHashSet<(Language, &'a str)>>,
}

impl<'o, 'l, 'a> Offloads<'o, 'l, 'a> {
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'o Callers<'l, 'a>, graph: &Graph<'_>) -> Self {
        let bodies = |is: &dyn Fn(&Label) -> bool| {
            let labelled_bodies =
                graph.labelled_bodies.iter().filter(|labelled_body| is(graph.labels.get(labelled_body.label)));
            labelled_bodies.map(|labelled_body| labelled_body.node.body).collect::<FxHashSet<BodyRef>>()
        };
        Offloads {
            linker,
            callers,
            times: TimesOf::new(linker, callers),
            calculating: bodies(&|label| label.effect == Effect::Cpu),
            waits: bodies(&|label| label.effect != Effect::Cpu),
            busy: bodies(&|label| {
                label.severity > Severity::Note && matches!(label.effect, Effect::Cpu | Effect::Subprocess)
            }),
            calculates: Calculating::default(),
            bounding: None,
        }
    }

    /// Returns the call that would start threads without a bound, and be reported, if what this call runs were handed
    /// to one and waited for.
    pub(crate) fn if_handed_over(&mut self, site: SiteRef) -> Option<SiteRef> {
        let body = self.linker.program.body_of_site(site);
        let bounding = &*self.bounding.get_or_insert_with(|| bounding_names(self.linker));
        // Of nearly all the answer is here.
        if gathered(self.linker, body, self.callers, bounding, COROUTINES).is_empty() {
            return None;
        }
        let targets = self.linker.targets(site, EnvId::NONE);
        let tasks = targets.list.iter().filter_map(|target| match *target {
            Target::Body { body, .. } => Some(body),
            _ => None,
        });
        let calls = targets.list.iter().find_map(|target| match *target {
            Target::Row { path, .. } => Some(path),
            _ => None,
        });
        let path = calls.unwrap_or(self.linker.library.path(self.linker.program.language(site.file), ""));
        let mut found = Vec::new();
        self.look_at(&Handed { site, path, tasks: tasks.collect(), calls }, true, &mut found);
        found.iter().find(|one| one.severity > Severity::Note).map(|one| one.site)
    }

    /// Adds what one hand-over does without a bound.
    fn look_at(&mut self, handed: &Handed, awaited: bool, found: &mut Vec<Offload>) {
        let Handed { site, path, ref tasks, calls } = *handed;
        let (linker, callers) = (self.linker, self.callers);
        let bounding = &*self.bounding.get_or_insert_with(|| bounding_names(linker));
        let facts = linker.program.facts(site.file);
        let body = linker.program.body_of_site(site);
        let is_test = linker.program.is_test(site.file) || linker.program.body(body).flags.has(BodyFlags::TEST);
        if is_test || linker.program.is_command_line(site.file) || is_bounded(linker, site, bounding) {
            return;
        }
        let takes = tasks.iter().find_map(|&task| takes_connection(linker, task));
        let when = self.times.of_site(site);
        let is_aside = when.is_once();
        let per_item = (!awaited && is_per_piece(linker, site)) || is_started_per_piece(linker, body);
        // The work keeps a core busy: a known call does, or the project's own code does nothing but calculate.
        let works = tasks.iter().any(|task| self.calculating.contains(task))
            || calls.is_some_and(|path| row_calculates(linker, path))
            || tasks.iter().any(|&task| !self.waits.contains(&task) && calculates(linker, task, &mut self.calculates));
        // Coroutines that wait for their thread, started all at once: what starts them is where a bound belongs.
        let known = works || tasks.iter().any(|task| self.waits.contains(task));
        // Work that is known to be short is not busy; of other work the length is unknown.
        let is_busy = works && !tasks.iter().any(|task| self.calculating.contains(task) && !self.busy.contains(task))
            || tasks.iter().any(|task| self.busy.contains(task));
        let is_short = lang::words_of(facts.language).bounds_offloads && !is_busy;
        // Coroutines whose threads only wait for an answer are queued by the pool, and each of them waits for no more than its own.
        let is_coroutine = matches!(facts.language, Language::Python | Language::Rust);
        if is_coroutine && !is_aside && !per_item && awaited && known && !is_short {
            for call in gathered(linker, body, callers, bounding, COROUTINES) {
                let of_call = self.times.of_site(call);
                if of_call.is_once() {
                    continue;
                }
                let is_served = matches!(of_call, Frequency::PerEntry(..));
                found.push(Offload {
                    site: call,
                    path,
                    unbounded: Unbounded::PerItem,
                    takes,
                    // A thread for each short wait is dear where each request starts some.
                    severity: if works || is_served { Severity::Warning } else { Severity::Note },
                    confidence: Confidence::Medium,
                    behind: Some(site),
                });
            }
        }
        let unbounded = if !is_aside && per_item {
            Unbounded::PerItem
        } else if let Frequency::PerEntry(entry, _) = when
            && works
            && !lang::words_of(facts.language).bounds_offloads
        {
            Unbounded::PerEntry(linker.name_inside_file(entry))
        } else if !is_aside
            && !lang::words_of(facts.language).bounds_offloads
            && tasks.iter().any(|&task| never_ends(linker, task))
        {
            Unbounded::Endless
        } else {
            return;
        };
        let is_served = matches!(when, Frequency::PerEntry(..));
        let known = takes.is_some() || works;
        let severity = match unbounded {
            // A pool with a bound of its own queues the rest: what is soon done lets the next one in.
            Unbounded::PerItem if is_short => Severity::Note,
            Unbounded::PerItem if !known && !is_served && tasks.iter().any(|task| self.waits.contains(task)) => {
                Severity::Note
            }
            _ => Severity::Warning,
        };
        let direct = matches!(when, Frequency::PerEntry(of, 0) if of == body) && known;
        let confidence = if direct { Confidence::High } else { Confidence::Medium };
        found.push(Offload { site, path, unbounded, takes, severity, confidence, behind: None });
    }
}

/// True for each body that calculates, as far as bodies were asked.
type Calculating = FxHashMap<BodyRef, bool>;

/// A call that hands work to a pool which takes all it is given.
struct Handed {
    site: SiteRef,
    /// The path of its row.
    path: PathId,
    /// The bodies that it hands over.
    tasks: Vec<BodyRef>,
    /// The library's function that it hands over.
    calls: Option<PathId>,
}

/// Returns the calls that hand a callable to a pool of threads that takes all it is given, with what they hand over, in
/// order.
fn offload_sites(linker: &Linker<'_>) -> Vec<Handed> {
    offloads_at(linker, Language::ALL, |site| linker.is_site_in_focus(site))
}

/// Returns the calls that hand a callable to such a pool, in some languages, of the sites that are wanted.
fn offloads_at<'a>(linker: &Linker<'a>, languages: &[Language], is_wanted: impl Fn(SiteRef) -> bool) -> Vec<Handed> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in languages {
        let models = linker.library.of(language);
        // The rows of an overload are asked for by its method.
        let method = |path: &'a str| path.split('(').next().unwrap_or(path);
        let offloads = |path: &&'a str| {
            let unbounded = is_unbounded(linker, linker.library.path(language, method(path)));
            models.handovers(method(path)).iter().any(|row| takes_all(row.row, unbounded))
        };
        let wanted = |paths: Vec<&'a str>| if paths.iter().any(offloads) { paths } else { Vec::new() };
        sites.extend(linker.sites_of_rows(linker.reach(), language, Uses::HANDOVER, &[SiteKind::Call], wanted));
    }
    sites.retain(|&site| is_wanted(site));
    sites.sort();
    sites.into_iter().filter_map(|site| offload_at(linker, site)).collect()
}

/// True if a call starts whatever it is given, however much there is.
fn is_unbounded(linker: &Linker<'_>, path: PathId) -> bool {
    linker.library.calls(path).iter().any(|row| row.row.concurrency == Some(Concurrency::Unbounded))
}

fn offload_at(linker: &Linker<'_>, site: SiteRef) -> Option<Handed> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let rows = linker.library.handovers(path);
        // The first row whose conditions hold counts.
        let holds = |row: &HandoverRow| linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
        // Of Java's overloads each has rows of its own.
        let overloaded = linker.program.language(site.file) == Language::Java;
        let mut held = rows.iter().filter(|row| holds(row.row));
        let row = match overloaded {
            true => held.find(|row| takes_all(row.row, is_unbounded(linker, path)))?,
            false => held.next().filter(|row| takes_all(row.row, is_unbounded(linker, path)))?,
        };
        let Selector::Argument(argument) = &row.row.selector else { return None };
        let form = linker.argument(site, argument)?;
        let (tasks, calls) = wrappers::callables(linker, site, form, 1);
        Some(Handed { site, path, tasks, calls })
    })
}

/// True if a library's function calculates.
fn row_calculates(linker: &Linker<'_>, path: PathId) -> bool {
    linker.library.calls(path).iter().any(|row| row.row.effect == Some(RowEffect::Holds(Effect::Cpu)))
}

/// True if a body, or one that it calls, does nothing but calculate, as far as the code shows: it calls what is known
/// to, runs loops in which everything is known, or calls itself.
fn calculates(linker: &Linker<'_>, body: BodyRef, known: &mut Calculating) -> bool {
    calculates_within(linker, body, known, CALCULATIONS)
}

fn calculates_within(linker: &Linker<'_>, body: BodyRef, known: &mut Calculating, depth: u32) -> bool {
    if let Some(&said) = known.get(&body) {
        return said;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    known.insert(body, false);
    let (facts, body_id) = linker.program.facts_and_id(body);
    let inside = |at: blocklint_facts::At| {
        std::iter::successors(Some(facts.body_of(at)), |&id| facts.body(id).parent.get()).any(|id| id == body_id)
    };
    let (mut calls_itself, mut calls_unknown, mut calculates) = (0, false, false);
    for (at, row) in facts.sites.iter().enumerate() {
        if !inside(row.at) || !matches!(row.kind, SiteKind::Call | SiteKind::New) {
            continue;
        }
        let site = body.file.site_ref(blocklint_facts::SiteId(at as u32));
        let targets = linker.targets(site, EnvId::NONE);
        calls_unknown |=
            targets.list.is_empty() && !lang::words_of(facts.language).only_calculates(facts.text(row.name));
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => calculates |= row_calculates(linker, path),
                Target::Body { body: of, .. } if of == body => calls_itself += 1,
                Target::Body { body: of, .. } => calculates |= calculates_within(linker, of, known, depth),
                Target::Overrides { .. } => calls_unknown = true,
            }
        }
    }
    let loops = || {
        let is_own =
            |of: BodyId| std::iter::successors(Some(of), |&id| facts.body(id).parent.get()).any(|id| id == body_id);
        facts.regions.iter().any(|region| region.kind == RegionKind::Loop && is_own(region.body))
    };
    // One that calls itself twice walks a tree.
    let said = calculates || !calls_unknown && (calls_itself > 1 || loops());
    known.insert(body, said);
    said
}

/// Returns the names of operations that run only so many at once. Chains that hold them often have no known type, and
/// nothing else is called so.
fn bounding_names<'a>(linker: &Linker<'a>) -> FxHashSet<(Language, &'a str)> {
    let mut names = FxHashSet::default();
    for &language in Language::ALL {
        for row in linker.library.of(language).names(Uses::CONCURRENCY) {
            let bounds = row.paths(Uses::CONCURRENCY).any(|path| {
                let calls = linker.library.calls(linker.library.path(language, path.path));
                calls.iter().any(|row| matches!(row.row.concurrency, Some(Concurrency::Argument(_))))
            });
            if bounds {
                names.insert((language, row.name));
            }
        }
    }
    names
}

/// True if something around or before a site in its body, or in the call it is an argument of, bounds how much runs at once.
fn is_bounded<'a>(linker: &Linker<'a>, site: SiteRef, bounding: &FxHashSet<(Language, &'a str)>) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(linker.program.body_of_site(site));
    let mut body = Some(body_id);
    while let Some(id) = body {
        let bounded = facts.sites.iter().enumerate().any(|(at, row)| {
            facts.body_of(row.at) == id
                && matches!(row.kind, SiteKind::Call | SiteKind::Enter)
                && (bounding.contains(&(facts.language, facts.text(row.name)))
                    || bounds(linker, site.file.site_ref(blocklint_facts::SiteId(at as u32))))
        });
        if bounded {
            return true;
        }
        let row = facts.body(id);
        body = match row.kind {
            BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression => row.parent.get(),
            // A function inside of another one is started from there.
            BodyKind::Function if row.class.is_none() => row
                .parent
                .get()
                .filter(|&parent| matches!(facts.body(parent).kind, BodyKind::Function | BodyKind::Lambda)),
            _ => None,
        };
    }
    false
}

/// True if a call bounds concurrent work: a permit is taken, or so many run at once.
fn bounds(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => linker.library.calls(path).iter().any(|row| {
            matches!(row.row.concurrency, Some(Concurrency::Bounded | Concurrency::Argument(_)))
                && linker.conditions_hold(&row.row.when, &row.row.unless, site, EnvId::NONE)
        }),
        // A permit of the project's own.
        Target::Body { body, .. } => {
            let name = linker.program.facts(body.file).text(linker.program.body(body).name);
            matches!(name, "acquire" | "__aenter__" | "__enter__")
        }
        Target::Overrides { .. } => false,
    })
}

/// True if the result of a site is awaited where it stands: the next one starts when this one has ended.
fn is_awaited(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if linker.program.site(site).flags.has(SiteFlags::AWAITED) {
        return true;
    }
    // Through the local it is put into, or unwrapped.
    let uses = linker.program.uses_of_result(site);
    uses.iter().any(|(mention, wrap)| match mention {
        _ if wrap == blocklint_link::program::occurrences::Wrap::Awaited => true,
        Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
            Form::Var(var) => facts.sites.iter().any(|row| {
                row.flags.has(SiteFlags::AWAITED)
                    && facts.form(row.callee) == Form::Var(var)
                    && same_loop(linker, site, row.at.region)
            }),
            _ => false,
        },
        Mention::Arg(of, _) => {
            facts.site(of).flags.has(SiteFlags::AWAITED) && same_loop(linker, site, facts.site(of).at.region)
        }
        _ => false,
    })
}

/// True if a region lies in the innermost loop around a site.
fn same_loop(linker: &Linker<'_>, site: SiteRef, region: blocklint_facts::RegionId) -> bool {
    let facts = linker.program.facts(site.file);
    let innermost = |mut at: blocklint_facts::RegionId| {
        while let Some(id) = at.get() {
            if facts.region(id).kind == RegionKind::Loop {
                return Some(id);
            }
            at = facts.region(id).parent;
        }
        None
    };
    innermost(linker.program.site(site).at.region) == innermost(region)
}

/// True if a site runs for each element of a collection: in a loop over it, or in a literal that a lazy operation of a
/// library takes for each element.
fn is_per_piece(linker: &Linker<'_>, site: SiteRef) -> bool {
    if is_per_item(linker, site) {
        return true;
    }
    let body = linker.program.body_of_site(site);
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    match row.kind {
        BodyKind::GeneratorExpression => true,
        BodyKind::Lambda => linker.program.uses_of_callable(body).iter().any(|(mention, _)| {
            let Mention::Arg(of, _) = mention else { return false };
            lang::words_of(facts.language).goes_through(facts.text(facts.site(of).name))
        }),
        _ => false,
    }
}

/// True if tasks that run a body are started for each element of a collection.
fn is_started_per_piece(linker: &Linker<'_>, body: BodyRef) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let row = linker.program.body(body);
    if row.kind != BodyKind::AsyncBlock {
        return false;
    }
    if is_mapped_and_started(linker, body) {
        return true;
    }
    facts.sites.iter().enumerate().any(|(at, of)| {
        let id = blocklint_facts::SiteId(at as u32);
        let takes =
            facts.args_of(id).into_iter().any(|arg| matches!(facts.form(arg.value), Form::Run(of) if of == body_id));
        let site = body.file.site_ref(id);
        takes
            && of.kind == SiteKind::Call
            && !of.flags.has(SiteFlags::AWAITED)
            && is_per_piece(linker, site)
            && linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    linker.library.calls(path).iter().any(|row| row.row.concurrency == Some(Concurrency::Unbounded))
                }
                _ => false,
            })
    })
}

/// True if a lambda returns this block, or the result of this call, for each element of a collection, and the body
/// around it starts all of them: `join_all(pages.iter().map(|page| async move { … }))`.
fn is_mapped_and_started(linker: &Linker<'_>, body: BodyRef) -> bool {
    let uses = linker.program.uses_of_callable(body);
    uses.iter().any(|(mention, _)| is_returned_by_lambda(linker, body.file, mention))
}

fn is_returned_by_lambda(linker: &Linker<'_>, file: blocklint_link::program::ids::FileId, mention: Mention) -> bool {
    let facts = linker.program.facts(file);
    let Mention::Exit(exit) = mention else { return false };
    let literal = facts.body_of(facts.exits.at(exit as usize).at);
    if facts.body(literal).kind != BodyKind::Lambda {
        return false;
    }
    let uses = linker.program.index_of(file).uses_of_callable(literal);
    uses.iter().any(|(mention, _)| {
        let Mention::Arg(of, _) = mention else { return false };
        let around = facts.body_of(facts.site(of).at);
        lang::words_of(facts.language).goes_through(facts.text(facts.site(of).name))
            && facts.sites.iter().enumerate().any(|(at, row)| {
                row.kind == SiteKind::Call
                    && facts.body_of(row.at) == around
                    && starts_all(linker, file.site_ref(blocklint_facts::SiteId(at as u32)))
            })
    })
}

/// Returns the calls that make a coroutine, which waits for its thread, for each element of a collection, and none of
/// which is awaited before the next one starts: `gather(*[load(name) for name in names])`.
fn gathered<'a>(
    linker: &Linker<'a>,
    body: BodyRef,
    callers: &Callers<'_, 'a>,
    bounding: &FxHashSet<(Language, &'a str)>,
    depth: u32,
) -> Vec<SiteRef> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let row = linker.program.body(body);
    if row.flow != Flow::Coroutine || row.kind != BodyKind::Function {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &call in callers.call_sites(body).iter() {
        let of = linker.program.body_of_site(call);
        let aside = linker.program.is_test(call.file) || linker.program.is_command_line(call.file);
        if aside || of == body || is_bounded(linker, call, bounding) {
            continue;
        }
        if is_awaited(linker, call) {
            // `async move { render(page).await }`, one for each.
            if is_started_per_piece(linker, of) {
                found.push(call);
            }
            found.extend(gathered(linker, of, callers, bounding, depth));
        } else if is_per_piece(linker, call) && is_started(linker, call, 4) {
            found.push(call);
        }
    }
    found
}

/// True if the result of a site is started together with others, as far as the code around it shows.
fn is_started(linker: &Linker<'_>, site: SiteRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(site.file);
    let index = linker.program.index_of(site.file);
    let starts = |mention: Mention| match mention {
        Mention::Arg(of, _) => {
            let of = site.file.site_ref(of);
            let adds = linker.program.site(of).kind == SiteKind::Call
                && adds_to(linker, of).is_some_and(|list| {
                    index.mentions_named(list).iter().any(|(mention, _)| match mention {
                        Mention::Arg(of, _) => starts_all(linker, site.file.site_ref(of)),
                        _ => false,
                    })
                });
            adds || starts_all(linker, of) || is_started(linker, of, depth)
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

/// True if a call starts all that it is given.
fn starts_all(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        Target::Row { path, .. } => {
            linker.library.calls(path).iter().any(|row| row.row.concurrency == Some(Concurrency::Unbounded))
        }
        _ => false,
    })
}

/// Returns the name of the local list that a call puts its argument into.
fn adds_to(linker: &Linker<'_>, site: SiteRef) -> Option<blocklint_facts::Sym> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let Form::Attr(base, method) = facts.form(row.callee) else { return None };
    let Form::Var(var) = facts.form(base) else { return None };
    matches!(facts.text(method), "append" | "add").then(|| facts.var(var).name)
}

/// Returns the call by which a task takes a connection from a pool, holding its thread until there is one.
fn takes_connection(linker: &Linker<'_>, task: BodyRef) -> Option<PathId> {
    let (facts, task_id) = linker.program.facts_and_id(task);
    facts.sites.iter().enumerate().find_map(|(at, row)| {
        if facts.body_of(row.at) != task_id || row.kind != SiteKind::Call {
            return None;
        }
        let site = task.file.site_ref(blocklint_facts::SiteId(at as u32));
        taken_at(linker, site).filter(|taken| taken.blocks).map(|taken| taken.path)
    })
}

/// True if a task loops without an end over a wait that has no limit.
fn never_ends(linker: &Linker<'_>, task: BodyRef) -> bool {
    waits_for_ever(linker, task, 2, &mut FxHashSet::default())
}
