//! The search: which bodies hold their thread, by which calls, and who that is to.
//!
//! Labels flow from the calls that enter a model row to the callers of their bodies, until a root absorbs them. The
//! result is a graph of states (a body with a label) and of hits (a label at a site of a root); confidence and the
//! best path are read off it afterwards. What a call says to a condition, and what a signal says of a site, is asked of the layers
//! below; nothing is placed or worded here.

pub(crate) mod callable_object_calls;
pub(crate) mod container_dispatch;
pub mod incremental;
pub(crate) mod lazy_results;
pub(crate) mod lock_guards;
pub mod locks;
pub(crate) mod prune;
pub(crate) mod sinks;
pub(crate) mod site_memo;
pub mod suppressions;
pub(crate) mod wrappers;

use blocklint_link::lang;
use std::cell::RefCell;

use blocklint_core::{Effect, Hold, Language, Severity, WhereSet};
use blocklint_link::effect::guard::{Guard, Source};
use blocklint_link::effect::label::cap_wait;
use blocklint_link::effect::label::{Label, LabelHold, LabelId, Labels};
use blocklint_link::linker::work::Unit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, Name, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::{Caller, CallerKind, Callers, Node, add_steps};
use crate::entries::root::{Root, RootKind};
use crate::graph::distance::Shortest;
use crate::graph::{EdgeTarget, FlowEdge, Graph, Hit, LabelledBody, LabelledBodyId, Placed};
use crate::guards::Conditions;
use crate::guards::decide::{Decided, NextGuard};
use crate::guards::receiver_class::{may_start_at, on_receiver, steps_on_root};
use crate::judge::signal::{Judge, SignalEffect};
use crate::judge::signals::named;
use crate::lifecycle::first_time::FirstTime;
use crate::lifecycle::first_time::first_time_of;
use crate::lifecycle::first_time_java::runs_first_time;
use crate::lifecycle::frequency::TimesOf;
use crate::lifecycle::owner::Owner;
use crate::search::incremental::{Flows, Focus, Wanted};
use crate::search::site_memo::Remembered;
use crate::search::suppressions::Suppressions;

/// Up to so many seconds a hold is no `error`.
const SHORT: f64 = 0.01;

/// The search over one program.
pub struct Search<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) conditions: Conditions<'l, 'a>,
    pub(crate) cuts: &'l Suppressions,
    pub(crate) judge: &'l Judge,
    pub(crate) graph: Graph<'a>,
    /// Those who labels climb to.
    pub(crate) climbs: Callers<'l, 'a>,
    /// Where it looks, unless everywhere.
    pub(crate) focus: Option<Focus>,
    ids: FxHashMap<(Node, LabelId), LabelledBodyId>,
    longest: FxHashMap<Node, Vec<LabelId>>,
    queue: Vec<LabelledBodyId>,
    /// Callers that were entered, or not, by what all ways of a state so far stand under: another way may not.
    conditional: FxHashMap<LabelledBodyId, Vec<Caller>>,
    /// Those of them that are to be asked anew.
    again: Vec<(Caller, LabelledBodyId)>,
    /// Sites by whether they run once in the life of a program.
    first_times: FxHashMap<SiteRef, Option<FirstTime>>,
    /// Who keeps things, by whether they live as long as the program.
    keepers: FxHashMap<Owner, bool>,
    /// Names by whether something puts a function of that name into a container.
    put_away: RefCell<FxHashMap<Name, bool>>,
    pub(crate) remembered: Remembered,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Nothing searched yet.
    pub fn new(linker: &'l Linker<'a>, cuts: &'l Suppressions, judge: &'l Judge) -> Self {
        Search {
            linker,
            conditions: Conditions::new(linker),
            cuts,
            judge,
            graph: Graph {
                labels: Labels::default(),
                states: Vec::new(),
                leaves: Vec::new(),
                hits: Vec::new(),
                labelled: FxHashSet::default(),
                effects: FxHashMap::default(),
                shortest: Shortest::default(),
                leaf_sites: FxHashMap::default(),
                shares: RefCell::default(),
            },
            climbs: Callers::near(linker),
            focus: None,
            ids: FxHashMap::default(),
            longest: FxHashMap::default(),
            queue: Vec::new(),
            conditional: FxHashMap::default(),
            again: Vec::new(),
            first_times: FxHashMap::default(),
            keepers: FxHashMap::default(),
            put_away: RefCell::default(),
            remembered: Remembered::default(),
        }
    }

    /// Looks only for what makes findings in some files, as an earlier search over all files tells. From here on the link is asked for the
    /// findings of these files only, and of those that have to be looked at with them.
    pub fn within(mut self, flows: &Flows, wanted: Wanted<'_>) -> Self {
        let (focus, asked) = flows.focus(self.linker, wanted);
        self.linker.report_only(asked);
        self.linker.look_only_at(focus.bodies().clone());
        self.focus = Some(focus);
        self
    }

    /// Whether a label may begin at a call.
    pub(crate) fn begins_at(&self, site: SiteRef) -> bool {
        self.focus.as_ref().is_none_or(|focus| focus.begins_at(self.linker, site))
    }

    /// Finds the leaves and follows their labels to the roots.
    pub fn run(mut self) -> Graph<'a> {
        self.find_leaves();
        self.drain();
        self.find_wrapped();
        self.drain();
        self.call_through_containers();
        let linker = self.linker;
        if linker.attempt(Unit::Step("locks that are held over a blocking call"), || self.wait_for_locks())
            == Some(true)
        {
            self.drain();
        }
        linker.attempt(Unit::Step("calls of one of several callables"), || self.dispatch());
        self.prune_excluded_edges();
        self.graph
    }

    pub(crate) fn drain(&mut self) {
        loop {
            self.linker.check_cancelled();
            if let Some(state) = self.queue.pop() {
                self.propagate_to_callers(state);
            } else if let Some((caller, state)) = self.again.pop() {
                self.enter_from(caller, state);
            } else {
                return;
            }
        }
    }

    /// A label reaches a site: its body carries it, or the site is one of a root.
    pub(crate) fn propagate_to_site(&mut self, site: SiteRef, env: EnvId, label: Label, mut way: FlowEdge) {
        let program = self.linker.program;
        let body = program.body_of_site(site);
        let uncut = self.cuts.speak_in(site.file).then(|| label.clone());
        let left = self.cuts.apply(program, site, label);
        let left = left.and_then(|label| self.cuts.apply_body(program, body, label));
        if self.place(site).never_runs() {
            return;
        }
        let Some(mut label) = left else {
            // Nothing flows on, but a finding that would stand here is made and marked.
            if let Some(uncut) = uncut
                && !self.place(site).off_the_loop()
                && let Some(root) = self.conditions.roots.of(body)
            {
                self.hit_or_cut(body, root, Placed { handed: false, cut: true }, &uncut, way);
            }
            return;
        };
        if !label.once
            && !label.fails
            && let Some(found) = self.runs_once(site)
            && self.judge.is_on(if found.per_key { named::ONCE_PER_KEY } else { named::FIRST_TIME })
            // What is read once for each key is what a cached function reads, and what it waits for.
            && (!found.per_key || matches!(label.effect, Effect::File | Effect::Sleep))
        {
            label.once = !found.per_key;
            label.severity = Severity::Note;
            // A note that says for how long is no other note: each time of its own would climb to all who call this, alone.
            if label.once && self.linker.program.language(site.file) == Language::Java {
                label.hold = LabelHold::Fixed(Hold::Brief);
            }
        }
        if !label.fails
            && label.severity > Severity::Note
            && self.makes_what_is_kept(body, way)
            && self.judge.is_on(named::KEPT_FACTORY)
        {
            (label.once, label.severity) = (true, Severity::Note);
        }
        match self.place(site).makes(&label, &way) {
            Some(SignalEffect::BriefNote) => {
                label.severity = Severity::Note;
                label.hold = LabelHold::Fixed(Hold::Brief);
            }
            Some(_) => label.severity = Severity::Note,
            None => {}
        }
        if self.place(site).off_the_loop() {
            label.place = label.place.without(WhereSet::EVENT_LOOP);
            if label.place.is_empty() {
                return;
            }
        }
        // Of several conditions the row's come first, then branches from the inside out.
        let rare = self.place(site).steps();
        let decides = label.guard.is_none();
        if decides {
            label.guard = self.place(site).guard();
            // Which of many it is says more than what stands further in.
            if rare > 0
                && label.guard.as_ref().is_some_and(|guard| !guard.asks_for_text())
                && let Some(guard) = self.place(site).guard_of_rare_choice()
            {
                label.guard = Some(guard);
            }
        }
        match &mut label.guard {
            // A caller may say which of the many it is.
            Some(guard) if decides && guard.is_choice_of_literal() => {
                guard.rare = rare.max(u8::from(guard.asks_for_text()));
            }
            Some(guard) if decides && guard.asks_for_scheme() => guard.rare = LOW_STEPS,
            _ => way.steps = add_steps(way.steps, rare),
        }
        if let Some(root) = self.conditions.roots.of(body) {
            self.hit(body, root, false, &label, way);
            if root.absorbs() {
                return;
            }
        }
        self.push(Node { body, env }, label, way);
    }

    /// Python: whether a way leads from a cached function without parameters, or to the constructor of what it makes: a cached
    /// factory makes an object once for its settings.
    fn makes_what_is_kept(&self, body: BodyRef, way: FlowEdge) -> bool {
        let facts = self.linker.program.facts(body.file);
        let is_function = facts.language == Language::Python && self.linker.program.body(body).class.is_none();
        let makes = |next: LabelledBodyId| {
            let callee = self.graph.states[next.0 as usize].node.body;
            let made = self.linker.program.facts(callee.file);
            let row = self.linker.program.body(callee);
            row.class.is_some() && lang::is_constructor(made.language, made.text(row.name))
        };
        is_function
            && self.linker.method_kind(body).kept
            && (self.linker.program.params_of(body).is_empty()
                || matches!(way.next, EdgeTarget::LabelledBody(next) if makes(next)))
    }

    /// Whether a site runs once in the life of a program, or of a key.
    fn runs_once(&mut self, site: SiteRef) -> Option<FirstTime> {
        let (linker, callers, keepers) = (self.linker, &self.conditions.callers, &mut self.keepers);
        *self.first_times.entry(site).or_insert_with(|| {
            if let Some(found) = runs_first_time(linker, site) {
                return Some(found);
            }
            let lives_on = |keeper| TimesOf::new(linker, callers).lives_on(keeper);
            first_time_of(linker, site)
                .filter(|found| *keepers.entry(found.keeper).or_insert_with(|| lives_on(found.keeper)))
        })
    }

    pub(crate) fn hit(&mut self, root: BodyRef, kind: Root, handed: bool, label: &Label, way: FlowEdge) {
        self.hit_or_cut(root, kind, Placed { handed, cut: false }, label, way);
    }

    pub(crate) fn hit_or_cut(&mut self, root: BodyRef, kind: Root, placed: Placed, label: &Label, way: FlowEdge) {
        if !label.place.holds(kind.context, kind.runtime) {
            return;
        }
        if !may_start_at(self.linker, label, root) {
            return;
        }
        let (mut label, mut way) = (label.clone(), way);
        way.steps = add_steps(way.steps, steps_on_root(self.linker, &label, root));
        if let Some(guard) = label.guard.as_ref().or(label.outer.as_ref()) {
            if self.conditions.none_awaits_it_so(root, guard) {
                return;
            }
            // Others may call it so; nobody here does.
            if kind.kind == RootKind::Coroutine
                && self.conditions.none_calls_it_so(root, guard, 3)
                && self.judge.is_on(named::NONE_CALLS_IT_SO)
            {
                way.steps = add_steps(way.steps, LOW_STEPS);
            }
        }
        // A root's own parameter is not visible elsewhere.
        label.outer = None;
        if let Some(guard) = label.guard.take() {
            match guard.source {
                // Nobody calls a root and tells.
                Source::When if guard.asks_for_unseen() => {}
                Source::When => return,
                // No chain passes `null` on.
                _ if guard.asks_for_null() && self.linker.is_literal_of_chain(root) => return,
                // Whoever passes it on from here declares that it is there.
                _ if guard.passed > 0
                    && guard.asked.is_none()
                    && self.linker.is_there_by_annotation(root, guard.param, &guard) =>
                {
                    return;
                }
                Source::Unless => way.steps = add_steps(way.steps, 1),
                // Whoever wrote the root and the test in it knows that such values come.
                Source::Branch if guard.passed == 0 && guard.asks_for_scheme() => {}
                Source::Exempt | Source::Timeout | Source::Branch => way.steps = add_steps(way.steps, guard.rare),
            }
        }
        if let LabelHold::Param { .. } = label.hold {
            label.hold = LabelHold::Fixed(Hold::Unstated);
            cap_wait(&mut label);
        }
        // Bounded and short is not worse than what is bounded and real.
        if let LabelHold::Fixed(Hold::Seconds(seconds)) = label.hold
            && seconds <= SHORT
            && !label.fails
            && self.judge.is_on(named::SHORT)
        {
            label.severity = label.severity.min(Severity::Warning);
        }
        let Placed { handed, cut } = placed;
        self.graph.hits.push(Hit { root, kind, handed, cut, label, way });
    }

    pub(crate) fn push(&mut self, node: Node, label: Label, way: FlowEdge) {
        let (effect, severity) = (label.effect, label.severity);
        let id = self.graph.labels.id(label);
        if let Some(&state) = self.ids.get(&(node, id)) {
            let ways = &mut self.graph.states[state.0 as usize].edges;
            if !ways.contains(&way) {
                ways.push(way);
                let callers = self.conditional.remove(&state).unwrap_or_default();
                self.again.extend(callers.into_iter().map(|caller| (caller, state)));
            }
            return;
        }
        let state = LabelledBodyId(self.graph.states.len() as u32);
        self.graph.states.push(LabelledBody { node, label: id, edges: vec![way] });
        self.graph.labelled.insert(node.body);
        let worst = self.graph.effects.entry((node.body, effect)).or_insert(severity);
        *worst = severity.max(*worst);
        self.ids.insert((node, id), state);
        self.longest.entry(node).or_default().push(id);
        self.queue.push(state);
    }

    /// Pushes a state's label to everything that enters its body.
    fn propagate_to_callers(&mut self, state: LabelledBodyId) {
        let (linker, body) = (self.linker, self.graph.states[state.0 as usize].node.body);
        let leaving = linker
            .attempt(Unit::Body(body), || self.leaving(state).map(|(node, label)| (node, label, self.climbs.of(node))));
        let Some((node, label, callers)) = leaving.flatten() else { return };
        for caller in callers.iter() {
            if self.focus.as_ref().is_none_or(|focus| focus.reaches(linker, caller.site)) {
                linker.attempt_site(caller.site, || self.enter(*caller, node, state, &label));
            }
        }
    }

    /// Pushes a state's label to one caller.
    pub(crate) fn enter_from(&mut self, caller: Caller, state: LabelledBodyId) {
        let linker = self.linker;
        linker.attempt_site(caller.site, || {
            if let Some((node, label)) = self.leaving(state) {
                self.enter(caller, node, state, &label);
            }
        });
    }

    /// A state's label as it leaves its body.
    fn leaving(&self, state: LabelledBodyId) -> Option<(Node, Label)> {
        let row = &self.graph.states[state.0 as usize];
        let (node, mut label) = (row.node, self.graph.labels.get(row.label).clone());
        // What a cached function reads is read once.
        if label.effect == Effect::File && self.linker.method_kind(node.body).cached && self.judge.is_on(named::CACHED)
        {
            label.once = true;
            label.severity = Severity::Note;
            label.hold = LabelHold::Fixed(Hold::Brief);
        }
        // No key is all of a request or a file; its method may stand behind every subscript of a program.
        let facts = self.linker.program.facts(node.body.file);
        let is_key = label.guard.as_ref().is_some_and(Guard::asks_for_origin)
            && facts.language == Language::Python
            && blocklint_link::lang::python::protocols::takes_a_key(
                facts.text(self.linker.program.body(node.body).name),
            );
        (!is_key).then_some((node, label))
    }

    fn enter(&mut self, caller: Caller, node: Node, state: LabelledBodyId, label: &Label) {
        let ways = &self.graph.states[state.0 as usize].edges;
        if ways.iter().all(|way| self.conditions.caller_excludes(caller, node.body, way.site)) {
            self.conditional.entry(state).or_default().push(caller);
            return;
        }
        let mut label = label.clone();
        let mut steps = caller.steps;
        let linker = self.linker;
        let received = *self.remembered.received.entry((caller, node, label.own)).or_insert_with(|| {
            let mut own = label.own;
            on_receiver(linker, &mut own, caller, node).map(|more| (more, own))
        });
        let Some((more, own)) = received else { return };
        steps = add_steps(steps, more);
        label.own = own;
        match self.conditions.decide(&mut label, caller, node) {
            Decided::Holds { steps: undecided } => steps = add_steps(steps, undecided),
            Decided::Fails => return,
        }
        if label.outer.is_none() {
            let sites = self.graph.states[state.0 as usize].edges.iter().map(|way| way.site);
            match self.conditions.next_guard(caller, node, sites, label.guard.as_ref()) {
                NextGuard::None => {}
                NextGuard::Holds(guard) => {
                    label.outer = Some(guard);
                    self.conditional.entry(state).or_default().push(caller);
                }
                NextGuard::Fails => {
                    self.conditional.entry(state).or_default().push(caller);
                    return;
                }
            }
        }
        // Which callee a flag selects says more than a branch inside of it.
        let open = label.guard.as_ref().is_none_or(|guard| matches!(guard.source, Source::Branch | Source::Exempt));
        if open
            && caller.arg.is_none()
            && let Some(guard) = self.linker.selection_guard(caller.site, node.body)
        {
            label.guard = Some(guard);
        }
        // What one of several implementations does for a moment, or once, says nothing of who calls any of them.
        if caller.shared && label.severity == Severity::Note && self.linker.means_several(caller.site) {
            return;
        }
        let way = FlowEdge {
            site: caller.site,
            arg: caller.arg,
            next: EdgeTarget::LabelledBody(state),
            steps,
            shared: caller.shared,
        };
        if let CallerKind::HandsToLoop(runtime) = caller.kind {
            // Coroutines and lambdas stand in their own place only.
            if self.conditions.roots.of(node.body).is_some() {
                return;
            }
            let program = self.linker.program;
            let body = program.body_of_site(caller.site);
            let left = self.cuts.apply(program, caller.site, label.clone());
            let left = left.and_then(|label| self.cuts.apply_body(program, body, label));
            let (cut, label) = (left.is_none(), left.unwrap_or(label));
            let runtime = runtime.or_else(|| self.linker.runtime_of(caller.site.file));
            let kind = Root { kind: RootKind::Registered, context: blocklint_core::Context::EventLoop, runtime };
            self.hit_or_cut(body, kind, Placed { handed: true, cut }, &label, way);
            return;
        }
        self.propagate_to_site(caller.site, caller.env, label, way);
    }

    /// A loop around what consumes a lazy result makes short calls long. A loop around a call of the project does not:
    /// that a helper looks at one file each time is still short (see ARCHITECTURE.md).
    pub(crate) fn raise_in_loop(&self, label: &mut Label, site: SiteRef) {
        if !label.once && label.severity == Severity::Note && self.linker.multiplies_hold(site) {
            label.severity = Severity::Warning;
        }
    }
}
