//! The search: labels flow from blocking calls up to the bodies that must not block.
//!
//! Labels flow from the calls that enter a model row to the callers of their bodies, until a root absorbs them. The
//! result is a graph of labelled bodies and of hits (a label at a site of a root); confidence and the best path are
//! read off it afterwards. `guards/` answers for conditions and `judge/` for signals; nothing is placed or worded here.

pub mod ask_first;
pub(crate) mod callable_object_calls;
pub(crate) mod container_dispatch;
pub mod incremental;
pub(crate) mod lazy_results;
pub mod locks;
pub(crate) mod prune;
pub(crate) mod rust_lock_lifetimes;
pub(crate) mod sinks;
pub(crate) mod site_memo;
pub mod suppressions;
pub(crate) mod wrappers;

use blocklint_core::{Hold, Language, Severity, WhereSet};
use blocklint_link::effect::guard::{Guard, Source};
use blocklint_link::effect::label::cap_wait;
use blocklint_link::effect::label::{Label, LabelHold, LabelId, Labels};
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, Name, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::{Caller, CallerKind, Callers, Node, add_steps};
use crate::entries::root::{Root, RootKind};
use crate::graph::distance::Distances;
use crate::graph::marks::{AskId, Mark, MarkLists, Marks};
use crate::graph::{EdgeTarget, FlowEdge, Graph, Hit, HitKind, LabelledBody, LabelledBodyId};
use crate::guards::Conditions;
use crate::guards::decide::{Decided, NextGuard};
use crate::guards::receiver_class::{may_start_at, on_receiver, steps_on_root};
use crate::judge::Judge;
use crate::judge::climbing::{Arrival, FirstTimes};
use crate::lifecycle::never_made::is_of_class_never_made;
use crate::search::incremental::{FileSearch, FlowScope, Flows};
use crate::search::site_memo::Remembered;
use crate::search::suppressions::Suppressions;

/// A label as it leaves its body for the callers.
struct Leaving {
    node: Node,
    label: Label,
    /// The signal that spoke of it.
    spoke: Option<AskId>,
}

/// The search over one program.
pub struct Search<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) conditions: Conditions<'l, 'a>,
    pub(crate) suppressions: &'l Suppressions,
    pub(crate) judge: &'l Judge,
    pub(crate) graph: Graph<'a>,
    /// The callers that labels climb to.
    pub(crate) climbs: Callers<'l, 'a>,
    /// Where it looks, unless everywhere.
    pub(crate) focus: Option<FlowScope>,
    ids: FxHashMap<(Node, LabelId), LabelledBodyId>,
    longest: FxHashMap<Node, Vec<LabelId>>,
    queue: Vec<LabelledBodyId>,
    /// Callers that were passed over because all edges of a labelled body so far stand under a condition that they
    /// exclude; a further edge may not.
    conditional: FxHashMap<LabelledBodyId, Vec<Caller>>,
    /// Those of them that are to be asked again.
    again: Vec<(Caller, LabelledBodyId)>,
    first_times: FirstTimes,
    /// Names by whether something puts a function of that name into a container.
    put_away: Table<Name, bool, Plain>,
    pub(crate) remembered: Remembered,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Returns a search that has not begun.
    pub fn new(linker: &'l Linker<'a>, suppressions: &'l Suppressions, judge: &'l Judge) -> Self {
        Search {
            linker,
            conditions: Conditions::new(linker),
            suppressions,
            judge,
            graph: Graph {
                labels: Labels::default(),
                labelled_bodies: Vec::new(),
                sinks: Vec::new(),
                hits: Vec::new(),
                labelled: FxHashSet::default(),
                effects: FxHashMap::default(),
                shortest: Distances::default(),
                sink_rows_at: FxHashMap::default(),
                marks: MarkLists::default(),
                shares: Table::default(),
            },
            climbs: Callers::near(linker),
            focus: None,
            ids: FxHashMap::default(),
            longest: FxHashMap::default(),
            queue: Vec::new(),
            conditional: FxHashMap::default(),
            again: Vec::new(),
            first_times: FirstTimes::default(),
            put_away: Table::default(),
            remembered: Remembered::default(),
        }
    }

    /// Restricts the search to the findings of some files, by the flows of an earlier search over all files. From here
    /// on the linker is asked for the findings of these files only, and of those that have to be looked at with them.
    pub fn within(mut self, flows: &Flows, wanted: FileSearch<'_>) -> Self {
        let (focus, asked) = flows.focus(self.linker, wanted);
        self.linker.report_only(asked);
        self.linker.look_only_at(focus.bodies().clone());
        self.focus = Some(focus);
        self
    }

    /// True if a label may begin at a call.
    pub(crate) fn begins_at(&self, site: SiteRef) -> bool {
        self.focus.as_ref().is_none_or(|focus| focus.begins_at(self.linker, site))
    }

    /// Finds the sinks and follows their labels to the roots.
    pub fn run(mut self) -> Graph<'a> {
        self.find_sinks();
        self.drain();
        self.find_wrapped();
        self.drain();
        self.call_through_containers();
        let linker = self.linker;
        if linker.attempt(WorkUnit::Step("locks that are held over a blocking call"), || self.wait_for_locks())
            == Some(true)
        {
            self.drain();
        }
        linker.attempt(WorkUnit::Step("calls of one of several callables"), || self.dispatch());
        self.prune_excluded_edges();
        self.graph
    }

    pub(crate) fn drain(&mut self) {
        loop {
            self.linker.check_cancelled();
            if let Some(labelled_body) = self.queue.pop() {
                self.propagate_to_callers(labelled_body);
            } else if let Some((caller, labelled_body)) = self.again.pop() {
                self.enter_from(caller, labelled_body);
            } else {
                return;
            }
        }
    }

    /// A label reaches a site: its body carries it, or the site is one of a root.
    pub(crate) fn propagate_to_site(&mut self, site: SiteRef, env: EnvId, label: Label, mut edge: FlowEdge) {
        let program = self.linker.program;
        let body = program.body_of_site(site);
        let uncut = self.suppressions.speak_in(site.file).then(|| label.clone());
        let left = self.suppressions.apply(program, site, label);
        let left = left.and_then(|label| self.suppressions.apply_body(program, body, label));
        if self.place(site).never_runs() {
            return;
        }
        let Some(mut label) = left else {
            // Nothing flows on, but a finding that would stand here is made and marked.
            if let Some(uncut) = uncut
                && !self.place(site).off_the_loop()
                && let Some(root) = self.conditions.roots.of(body)
            {
                self.hit_or_cut(body, root, HitKind { handed: false, cut: true }, &uncut, edge);
            }
            return;
        };
        let mut arrival = Arrival {
            linker: self.linker,
            graph: &self.graph,
            callers: &self.conditions.callers,
            first_times: &mut self.first_times,
            heard: &mut self.remembered.sites.entry(site).or_default().heard,
            site,
            label: &label,
            edge,
        };
        if let Some(ask) = self.judge.at_site(&mut arrival) {
            ask.makes().apply(&mut label, program.language(site.file));
            self.mark(&mut edge, Mark::Spoke(ask));
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
            // The choice among many counts more than conditions further in.
            if rare > 0
                && label.guard.as_ref().is_some_and(|guard| !guard.asks_for_text())
                && let Some(guard) = self.place(site).guard_of_rare_choice()
            {
                label.guard = Some(guard);
            }
        }
        match &mut label.guard {
            // A caller may decide which of the many it is.
            Some(guard) if decides && guard.is_choice_of_literal() => {
                guard.rare = rare.max(u8::from(guard.asks_for_text()));
                self.mark_doubts(site, &mut edge, Mark::IfUndecided);
            }
            Some(guard) if decides && guard.asks_for_scheme() => guard.rare = LOW_STEPS,
            _ => {
                edge.steps = add_steps(edge.steps, rare);
                self.mark_doubts(site, &mut edge, Mark::Spoke);
            }
        }
        if let Some(root) = self.conditions.roots.of(body) {
            self.hit(body, root, false, &label, edge);
            if root.absorbs() {
                return;
            }
        }
        self.push(Node { body, env }, label, edge);
    }

    /// Marks on an edge that a signal decided, if the run records it.
    fn mark(&mut self, edge: &mut FlowEdge, mark: Mark) {
        if self.judge.notes_marks() {
            edge.marks = self.graph.marks.with(edge.marks, mark);
        }
    }

    /// Marks on an edge the signals that lower confidence because of its site.
    fn mark_doubts(&mut self, site: SiteRef, edge: &mut FlowEdge, mark: fn(AskId) -> Mark) {
        if self.judge.notes_marks() {
            for ask in self.place(site).doubts() {
                self.mark(edge, mark(ask));
            }
        }
    }

    pub(crate) fn hit(&mut self, root: BodyRef, kind: Root, handed: bool, label: &Label, edge: FlowEdge) {
        self.hit_or_cut(root, kind, HitKind { handed, cut: false }, label, edge);
    }

    pub(crate) fn hit_or_cut(&mut self, root: BodyRef, kind: Root, placed: HitKind, label: &Label, edge: FlowEdge) {
        if !label.place.holds(kind.context, kind.runtime) {
            return;
        }
        if !may_start_at(self.linker, label, root) {
            return;
        }
        let (mut label, mut edge) = (label.clone(), edge);
        edge.steps = add_steps(edge.steps, steps_on_root(self.linker, &label, root));
        if let Some(guard) = label.guard.as_ref().or(label.outer.as_ref()) {
            if self.conditions.none_awaits_it_so(root, guard) {
                return;
            }
            if let Some((ask, steps)) = self.judge.steps_at_root(&self.conditions, root, kind, guard) {
                edge.steps = add_steps(edge.steps, steps);
                self.mark(&mut edge, Mark::Spoke(ask));
            }
        }
        // A root's own parameter is not visible elsewhere.
        label.outer = None;
        if let Some(guard) = label.guard.take() {
            match guard.source {
                // A root has no caller that shows the value.
                Source::When if guard.asks_for_unseen() => {}
                Source::When => return,
                // No chain passes `null` on.
                _ if guard.asks_for_null() && self.linker.is_chain_lambda(root) => return,
                // A parameter that is passed on from here is declared to be there.
                _ if guard.passed > 0
                    && guard.asked.is_none()
                    && self.linker.is_there_by_annotation(root, guard.param, &guard) =>
                {
                    return;
                }
                Source::Unless => edge.steps = add_steps(edge.steps, 1),
                // The author of a root that has the test in it knows that such values come.
                Source::Branch if guard.passed == 0 && guard.asks_for_scheme() => {}
                Source::Exempt | Source::Timeout | Source::Branch => {
                    edge.steps = add_steps(edge.steps, guard.rare);
                    self.mark(&mut edge, Mark::Undecided);
                }
            }
        }
        if let LabelHold::Param { .. } = label.hold {
            label.hold = LabelHold::Fixed(Hold::Unstated);
            cap_wait(&mut label);
        }
        if let Some(ask) = self.judge.at_root(self.linker, root, &label) {
            ask.makes().apply(&mut label, self.linker.program.language(root.file));
            self.mark(&mut edge, Mark::Spoke(ask));
        }
        let HitKind { handed, cut } = placed;
        self.graph.hits.push(Hit { root, kind, handed, cut, label, edge });
    }

    pub(crate) fn push(&mut self, node: Node, label: Label, edge: FlowEdge) {
        let (effect, severity) = (label.effect, label.severity);
        let id = self.graph.labels.id(label);
        if let Some(&labelled_body) = self.ids.get(&(node, id)) {
            let edges = &mut self.graph.labelled_bodies[labelled_body.0 as usize].edges;
            if !edges.iter().any(|known| known.is_like(&edge)) {
                edges.push(edge);
                let callers = self.conditional.remove(&labelled_body).unwrap_or_default();
                self.again.extend(callers.into_iter().map(|caller| (caller, labelled_body)));
            }
            return;
        }
        let labelled_body = LabelledBodyId(self.graph.labelled_bodies.len() as u32);
        self.graph.labelled_bodies.push(LabelledBody { node, label: id, edges: vec![edge] });
        self.graph.labelled.insert(node.body);
        let worst = self.graph.effects.entry((node.body, effect)).or_insert(severity);
        *worst = severity.max(*worst);
        self.ids.insert((node, id), labelled_body);
        self.longest.entry(node).or_default().push(id);
        self.queue.push(labelled_body);
    }

    /// Propagates the label of a labelled body to all callers of the body.
    fn propagate_to_callers(&mut self, labelled_body: LabelledBodyId) {
        let (linker, body) = (self.linker, self.graph.labelled_body(labelled_body).node.body);
        let leaving = linker.attempt(WorkUnit::Body(body), || {
            let leaving = self.leaving(labelled_body)?;
            let callers = self.climbs.of(leaving.node);
            Some((leaving, callers))
        });
        let Some((leaving, callers)) = leaving.flatten() else { return };
        for caller in callers.iter() {
            if self.focus.as_ref().is_none_or(|focus| focus.reaches(linker, caller.site)) {
                linker.attempt_site(caller.site, || self.enter(*caller, labelled_body, &leaving));
            }
        }
    }

    /// Propagates the label of a labelled body to one caller.
    pub(crate) fn enter_from(&mut self, caller: Caller, labelled_body: LabelledBodyId) {
        let linker = self.linker;
        linker.attempt_site(caller.site, || {
            if let Some(leaving) = self.leaving(labelled_body) {
                self.enter(caller, labelled_body, &leaving);
            }
        });
    }

    /// Returns the label of a labelled body as callers see it.
    fn leaving(&self, labelled_body: LabelledBodyId) -> Option<Leaving> {
        let row = self.graph.labelled_body(labelled_body);
        let (node, mut label) = (row.node, self.graph.labels.get(row.label).clone());
        if is_of_class_never_made(self.linker, node.body) {
            return None;
        }
        let spoke = self.judge.leaving(self.linker, node.body, &label);
        if let Some(ask) = spoke {
            ask.makes().apply(&mut label, self.linker.program.language(node.body.file));
        }
        // No key is all of a request or a file; its method may stand behind every subscript of a program.
        let facts = self.linker.program.facts(node.body.file);
        let is_key = label.guard.as_ref().is_some_and(Guard::asks_for_origin)
            && facts.language == Language::Python
            && blocklint_link::lang::python::protocols::takes_a_key(
                facts.text(self.linker.program.body(node.body).name),
            );
        (!is_key).then_some(Leaving { node, label, spoke })
    }

    fn enter(&mut self, caller: Caller, labelled_body: LabelledBodyId, leaving: &Leaving) {
        let Leaving { node, ref label, spoke } = *leaving;
        let edges = &self.graph.labelled_body(labelled_body).edges;
        if edges.iter().all(|edge| self.conditions.caller_excludes(caller, node.body, edge.site)) {
            self.conditional.entry(labelled_body).or_default().push(caller);
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
        let is_undecided = match self.conditions.decide(&mut label, caller, node) {
            Decided::Holds { steps: undecided, is_rare } => {
                steps = add_steps(steps, undecided);
                is_rare
            }
            Decided::Fails => return,
        };
        if label.outer.is_none() {
            let sites = self.graph.labelled_body(labelled_body).edges.iter().map(|edge| edge.site);
            match self.conditions.next_guard(caller, node, sites, label.guard.as_ref()) {
                NextGuard::None => {}
                NextGuard::Holds(guard) => {
                    label.outer = Some(guard);
                    self.conditional.entry(labelled_body).or_default().push(caller);
                }
                NextGuard::Fails => {
                    self.conditional.entry(labelled_body).or_default().push(caller);
                    return;
                }
            }
        }
        // The flag that selects the callee counts more than a branch inside of it.
        let open = label.guard.as_ref().is_none_or(|guard| matches!(guard.source, Source::Branch | Source::Exempt));
        if open
            && caller.arg.is_none()
            && let Some(guard) = self.linker.selection_guard(caller.site, node.body)
        {
            label.guard = Some(guard);
        }
        // An effect of a moment, or of one time, in one of several implementations shows nothing about the callers of
        // all of them.
        if caller.shared && label.severity == Severity::Note && self.linker.means_several(caller.site) {
            return;
        }
        let mut edge = FlowEdge {
            site: caller.site,
            arg: caller.arg,
            next: EdgeTarget::LabelledBody(labelled_body),
            steps,
            shared: caller.shared,
            marks: Marks::default(),
        };
        if let Some(ask) = spoke {
            self.mark(&mut edge, Mark::Spoke(ask));
        }
        if is_undecided {
            self.mark(&mut edge, Mark::Undecided);
        }
        if let CallerKind::HandsToLoop(runtime) = caller.kind {
            // Coroutines and lambdas stand in their own place only.
            if self.conditions.roots.of(node.body).is_some() {
                return;
            }
            let program = self.linker.program;
            let body = program.body_of_site(caller.site);
            let left = self.suppressions.apply(program, caller.site, label.clone());
            let left = left.and_then(|label| self.suppressions.apply_body(program, body, label));
            let (cut, label) = (left.is_none(), left.unwrap_or(label));
            let runtime = runtime.or_else(|| self.linker.runtime_of(caller.site.file));
            let kind = Root { kind: RootKind::Registered, context: blocklint_core::Context::EventLoop, runtime };
            self.hit_or_cut(body, kind, HitKind { handed: true, cut }, &label, edge);
            return;
        }
        self.propagate_to_site(caller.site, caller.env, label, edge);
    }

    /// A loop around what consumes a lazy result makes short calls long. A loop around a call of the project does not:
    /// that a helper looks at one file each time is still short (see ARCHITECTURE.md).
    pub(crate) fn raise_in_loop(&self, label: &mut Label, site: SiteRef) {
        if !label.once && label.severity == Severity::Note && self.linker.multiplies_hold(site) {
            label.severity = Severity::Warning;
        }
    }
}
