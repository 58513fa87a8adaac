//! The search: labels flow from blocking calls up to the bodies that must not block. [`Search::run`] finds the sinks,
//! creates a label for each of them, and propagates the labels to the callers, up to the roots. The result is a [`Graph`] of labelled bodies and of hits (a label at a site of a root). `guards/` evaluates
//! conditions and `judge/` signals. Best paths, confidence and findings are computed from the graph afterwards.

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

use blocklint_core::{Context, Hold, Language, Severity, WhereSet};
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
use crate::graph::marks::{Mark, MarkLists, Marks, QuestionId};
use crate::graph::{EdgeTarget, FlowEdge, Graph, Hit, HitKind, LabelledBody, LabelledBodyId};
use crate::guards::Conditions;
use crate::guards::decide::{LabelDecision, NextGuard};
use crate::guards::receiver_class::{may_start_at, narrow_to_receiver, steps_on_root};
use crate::judge::Judge;
use crate::judge::climbing::{Arrival, FirstTimes};
use crate::lifecycle::never_made::is_of_class_never_made;
use crate::search::incremental::{FileSearch, FlowScope, Flows};
use crate::search::site_memo::SearchMemo;
use crate::search::suppressions::Suppressions;

/// A label as it leaves its body for the callers.
struct Leaving {
    node: Node,
    label: Label,
    /// The signal that changed the label as it left its body.
    applied: Option<QuestionId>,
}

/// The search over one program.
pub struct Search<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    /// Evaluates guards at callers and roots.
    pub(crate) conditions: Conditions<'l, 'a>,
    pub(crate) suppressions: &'l Suppressions,
    pub(crate) judge: &'l Judge,
    pub(crate) graph: Graph<'a>,
    /// Finds the callers to which labels are propagated.
    pub(crate) callers_of_labels: Callers<'l, 'a>,
    /// The bodies and calls to which the search is restricted; `None` searches everywhere.
    pub(crate) focus: Option<FlowScope>,
    /// The labelled bodies by node and label.
    ids: FxHashMap<(Node, LabelId), LabelledBodyId>,
    /// Labelled bodies whose labels are not yet propagated.
    queue: Vec<LabelledBodyId>,
    /// Callers that were skipped because their arguments rule out all edges of a labelled body so far. A further edge
    /// of the labelled body may reach them.
    skipped_callers: FxHashMap<LabelledBodyId, Vec<Caller>>,
    /// Skipped callers to try again.
    retries: Vec<(Caller, LabelledBodyId)>,
    first_times: FirstTimes,
    /// True for names under which a function is put into a container.
    names_in_containers: Table<Name, bool, Plain>,
    pub(crate) memo: SearchMemo,
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
            callers_of_labels: Callers::in_focus(linker),
            focus: None,
            ids: FxHashMap::default(),
            queue: Vec::new(),
            skipped_callers: FxHashMap::default(),
            retries: Vec::new(),
            first_times: FirstTimes::default(),
            names_in_containers: Table::default(),
            memo: SearchMemo::default(),
        }
    }

    /// Restricts the search to the findings of some files, by the flows of an earlier search over all files. Afterwards
    /// the linker reports only these files and the files that have to be searched with them.
    pub fn restrict_to(mut self, flows: &Flows, wanted: FileSearch<'_>) -> Self {
        let (focus, searched) = flows.scope_of_search(self.linker, wanted);
        self.linker.restrict_findings_to(searched);
        self.linker.restrict_search_to(focus.bodies().clone());
        self.focus = Some(focus);
        self
    }

    /// True if the search is not restricted, or a label may begin at a call all the same.
    pub(crate) fn may_begin_at(&self, site: SiteRef) -> bool {
        self.focus.as_ref().is_none_or(|focus| focus.may_begin_at(self.linker, site))
    }

    /// Finds the sinks and follows their labels to the roots.
    pub fn run(mut self) -> Graph<'a> {
        self.find_sinks();
        self.propagate_all();
        self.find_wrapper_sinks();
        self.propagate_all();
        self.follow_containers();
        let linker = self.linker;
        if linker.attempt(WorkUnit::Step("locks that are held over a blocking call"), || self.add_lock_waits())
            == Some(true)
        {
            self.propagate_all();
        }
        linker.attempt(WorkUnit::Step("calls of one of several callables"), || self.add_dispatched_roots());
        self.prune_excluded_edges();
        self.graph
    }

    /// Propagates the labels of the queue until it is empty.
    pub(crate) fn propagate_all(&mut self) {
        loop {
            self.linker.check_cancelled();
            if let Some(labelled_body) = self.queue.pop() {
                self.propagate_to_callers(labelled_body);
            } else if let Some((caller, labelled_body)) = self.retries.pop() {
                self.propagate_to_caller(caller, labelled_body);
            } else {
                return;
            }
        }
    }

    /// Propagates a label to a site: it becomes a hit if the site's body is a root, and otherwise (or if the root lets
    /// the label through) the body carries it to its callers.
    pub(crate) fn propagate_to_site(&mut self, site: SiteRef, env: EnvId, label: Label, mut edge: FlowEdge) {
        let program = self.linker.program;
        let body = program.body_of_site(site);
        let unsuppressed = self.suppressions.has_comments(site.file).then(|| label.clone());
        let remaining = self.suppressions.suppress_at_site(program, site, label);
        let remaining = remaining.and_then(|label| self.suppressions.suppress_at_body(program, body, label));
        if self.memo_of(site).never_runs() {
            return;
        }
        let Some(mut label) = remaining else {
            // The label ends here, but the finding is created and marked as suppressed.
            if let Some(unsuppressed) = unsuppressed
                && !self.memo_of(site).runs_off_loop()
                && let Some(root) = self.conditions.roots.find_root(body)
            {
                self.add_hit_of_kind(body, root, HitKind { handed: false, suppressed: true }, &unsuppressed, edge);
            }
            return;
        };
        let mut arrival = Arrival {
            linker: self.linker,
            graph: &self.graph,
            callers: &self.conditions.callers,
            first_times: &mut self.first_times,
            signals: &mut self.memo.sites.entry(site).or_default().signals,
            site,
            label: &label,
            edge,
        };
        if let Some(question) = self.judge.question_at_site(&mut arrival) {
            question.effect().apply(&mut label, program.language(site.file));
            self.add_mark(&mut edge, Mark::Applied(question));
        }
        if self.memo_of(site).runs_off_loop() {
            label.place = label.place.without(WhereSet::EVENT_LOOP);
            if label.place.is_empty() {
                return;
            }
        }
        // If there are several conditions, the row's come first, then branches from the inside out.
        let rare = self.memo_of(site).steps();
        let has_no_guard = label.guard.is_none();
        if has_no_guard {
            label.guard = self.memo_of(site).guard();
            // A choice among many values takes precedence over conditions further in.
            if rare > 0
                && label.guard.as_ref().is_some_and(|guard| !guard.tests_text())
                && let Some(guard) = self.memo_of(site).guard_of_rare_choice()
            {
                label.guard = Some(guard);
            }
        }
        match &mut label.guard {
            // A caller may decide the value.
            Some(guard) if has_no_guard && guard.is_choice_of_literal() => {
                guard.rare = rare.max(u8::from(guard.tests_text()));
                self.add_doubt_marks(site, &mut edge, Mark::IfUndecided);
            }
            Some(guard) if has_no_guard && guard.tests_scheme() => guard.rare = LOW_STEPS,
            _ => {
                edge.steps = add_steps(edge.steps, rare);
                self.add_doubt_marks(site, &mut edge, Mark::Applied);
            }
        }
        if let Some(root) = self.conditions.roots.find_root(body) {
            self.add_hit(body, root, false, &label, edge);
            if root.keeps_labels() {
                return;
            }
        }
        self.add_label(Node { body, env }, label, edge);
    }

    /// Appends a mark to an edge, if the run records marks.
    fn add_mark(&mut self, edge: &mut FlowEdge, mark: Mark) {
        if self.judge.records_marks() {
            edge.marks = self.graph.marks.append(edge.marks, mark);
        }
    }

    /// Appends a mark for each signal that lowers confidence because of the edge's site.
    fn add_doubt_marks(&mut self, site: SiteRef, edge: &mut FlowEdge, mark: fn(QuestionId) -> Mark) {
        if self.judge.records_marks() {
            for question in self.memo_of(site).doubts() {
                self.add_mark(edge, mark(question));
            }
        }
    }

    /// Adds a hit that no comment suppresses, unless the label's conditions rule it out.
    pub(crate) fn add_hit(&mut self, root: BodyRef, entry_point: Root, handed: bool, label: &Label, edge: FlowEdge) {
        self.add_hit_of_kind(root, entry_point, HitKind { handed, suppressed: false }, label, edge);
    }

    /// Adds a hit, unless the root's context or the label's conditions rule it out.
    pub(crate) fn add_hit_of_kind(
        &mut self,
        root: BodyRef,
        entry_point: Root,
        hit_kind: HitKind,
        label: &Label,
        edge: FlowEdge,
    ) {
        if !label.place.contains(entry_point.context, entry_point.runtime) {
            return;
        }
        if !may_start_at(self.linker, label, root) {
            return;
        }
        let (mut label, mut edge) = (label.clone(), edge);
        edge.steps = add_steps(edge.steps, steps_on_root(self.linker, &label, root));
        if let Some(guard) = label.guard.as_ref().or(label.outer.as_ref()) {
            if self.conditions.no_await_meets_guard(root, guard) {
                return;
            }
            if let Some((question, steps)) = self.judge.steps_at_root(&self.conditions, root, entry_point, guard) {
                edge.steps = add_steps(edge.steps, steps);
                self.add_mark(&mut edge, Mark::Applied(question));
            }
        }
        // The outer guard is about a parameter of the root, which no finding can show.
        label.outer = None;
        if let Some(guard) = label.guard.take() {
            match guard.source {
                // No caller of a root passes the value.
                Source::When if guard.tests_unseen() => {}
                Source::When => return,
                // Reactive chains do not pass `null` on.
                _ if guard.tests_null() && self.linker.is_chain_lambda(root) => return,
                // The root passes its own parameter on, and the annotation of the parameter excludes `None`.
                _ if guard.passed > 0
                    && guard.asked.is_none()
                    && self.linker.annotation_excludes_none(root, guard.param, &guard) =>
                {
                    return;
                }
                Source::Unless => edge.steps = add_steps(edge.steps, 1),
                // The author of a root that has the test in it expects such values.
                Source::Branch if guard.passed == 0 && guard.tests_scheme() => {}
                Source::Exempt | Source::Timeout | Source::Branch => {
                    edge.steps = add_steps(edge.steps, guard.rare);
                    self.add_mark(&mut edge, Mark::Undecided);
                }
            }
        }
        if let LabelHold::Param { .. } = label.hold {
            label.hold = LabelHold::Fixed(Hold::Unstated);
            cap_wait(&mut label);
        }
        if let Some(question) = self.judge.question_at_root(self.linker, root, &label) {
            question.effect().apply(&mut label, self.linker.program.language(root.file));
            self.add_mark(&mut edge, Mark::Applied(question));
        }
        let HitKind { handed, suppressed } = hit_kind;
        self.graph.hits.push(Hit { root, entry_point, handed, suppressed, label, edge });
    }

    /// Adds a label to a node, or one more edge to the labelled body that is there already.
    pub(crate) fn add_label(&mut self, node: Node, label: Label, edge: FlowEdge) {
        let (effect, severity) = (label.effect, label.severity);
        let id = self.graph.labels.id(label);
        if let Some(&labelled_body) = self.ids.get(&(node, id)) {
            let edges = &mut self.graph.labelled_bodies[labelled_body.0 as usize].edges;
            if !edges.iter().any(|known| known.is_like(&edge)) {
                edges.push(edge);
                let callers = self.skipped_callers.remove(&labelled_body).unwrap_or_default();
                self.retries.extend(callers.into_iter().map(|caller| (caller, labelled_body)));
            }
            return;
        }
        let labelled_body = LabelledBodyId(self.graph.labelled_bodies.len() as u32);
        self.graph.labelled_bodies.push(LabelledBody { node, label: id, edges: vec![edge] });
        self.graph.labelled.insert(node.body);
        let worst = self.graph.effects.entry((node.body, effect)).or_insert(severity);
        *worst = severity.max(*worst);
        self.ids.insert((node, id), labelled_body);
        self.queue.push(labelled_body);
    }

    /// Propagates the label of a labelled body to all callers of the body.
    fn propagate_to_callers(&mut self, labelled_body: LabelledBodyId) {
        let (linker, body) = (self.linker, self.graph.labelled_body(labelled_body).node.body);
        let leaving = linker.attempt(WorkUnit::Body(body), || {
            let leaving = self.leaving_label(labelled_body)?;
            let callers = self.callers_of_labels.find_callers(leaving.node);
            Some((leaving, callers))
        });
        let Some((leaving, callers)) = leaving.flatten() else { return };
        for caller in callers.iter() {
            if self.focus.as_ref().is_none_or(|focus| focus.may_reach(linker, caller.site)) {
                linker.attempt_site(caller.site, || self.propagate_leaving(*caller, labelled_body, &leaving));
            }
        }
    }

    /// Propagates the label of a labelled body to one caller.
    pub(crate) fn propagate_to_caller(&mut self, caller: Caller, labelled_body: LabelledBodyId) {
        let linker = self.linker;
        linker.attempt_site(caller.site, || {
            if let Some(leaving) = self.leaving_label(labelled_body) {
                self.propagate_leaving(caller, labelled_body, &leaving);
            }
        });
    }

    /// Returns the label of a labelled body as it leaves for the callers, changed by the signals about the body.
    fn leaving_label(&self, labelled_body: LabelledBodyId) -> Option<Leaving> {
        let row = self.graph.labelled_body(labelled_body);
        let (node, mut label) = (row.node, self.graph.labels.get(row.label).clone());
        if is_of_class_never_made(self.linker, node.body) {
            return None;
        }
        let applied = self.judge.question_at_leaving(self.linker, node.body, &label);
        if let Some(question) = applied {
            question.effect().apply(&mut label, self.linker.program.language(node.body.file));
        }
        // A key (`__getitem__`) is never a whole request or file, but the method may be the target of every subscript.
        let facts = self.linker.program.facts(node.body.file);
        let is_key = label.guard.as_ref().is_some_and(Guard::tests_origin)
            && facts.language == Language::Python
            && blocklint_link::lang::python::protocols::takes_only_key(
                facts.text(self.linker.program.body(node.body).name),
            );
        (!is_key).then_some(Leaving { node, label, applied })
    }

    /// Propagates a label that leaves its body to one caller, if the caller's arguments and receiver allow it.
    fn propagate_leaving(&mut self, caller: Caller, labelled_body: LabelledBodyId, leaving: &Leaving) {
        let Leaving { node, ref label, applied } = *leaving;
        let edges = &self.graph.labelled_body(labelled_body).edges;
        if edges.iter().all(|edge| self.conditions.caller_excludes(caller, node.body, edge.site)) {
            self.skipped_callers.entry(labelled_body).or_default().push(caller);
            return;
        }
        let mut label = label.clone();
        let mut steps = caller.steps;
        let linker = self.linker;
        let receiver_effect = *self.memo.receiver_effects.entry((caller, node, label.own)).or_insert_with(|| {
            let mut receiver_effect = label.own;
            narrow_to_receiver(linker, &mut receiver_effect, caller, node)
                .map(|receiver_steps| (receiver_steps, receiver_effect))
        });
        let Some((receiver_steps, own)) = receiver_effect else { return };
        steps = add_steps(steps, receiver_steps);
        label.own = own;
        let is_undecided = match self.conditions.decide_label(&mut label, caller, node) {
            LabelDecision::Holds { steps: undecided, is_rare } => {
                steps = add_steps(steps, undecided);
                is_rare
            }
            LabelDecision::Fails => return,
        };
        if label.outer.is_none() {
            let sites = self.graph.labelled_body(labelled_body).edges.iter().map(|edge| edge.site);
            match self.conditions.next_guard(caller, node, sites, label.guard.as_ref()) {
                NextGuard::None => {}
                NextGuard::Open(guard) => {
                    label.outer = Some(guard);
                    self.skipped_callers.entry(labelled_body).or_default().push(caller);
                }
                NextGuard::Fails => {
                    self.skipped_callers.entry(labelled_body).or_default().push(caller);
                    return;
                }
            }
        }
        // The flag that selects the callee takes precedence over a branch inside of it.
        let open = label.guard.as_ref().is_none_or(|guard| matches!(guard.source, Source::Branch | Source::Exempt));
        if open
            && caller.arg.is_none()
            && let Some(guard) = self.linker.selection_guard(caller.site, node.body)
        {
            label.guard = Some(guard);
        }
        // A note in one of several implementations is no evidence about the callers of all of them.
        if caller.shared && label.severity == Severity::Note && self.linker.may_run_several(caller.site) {
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
        if let Some(question) = applied {
            self.add_mark(&mut edge, Mark::Applied(question));
        }
        if is_undecided {
            self.add_mark(&mut edge, Mark::Undecided);
        }
        if let CallerKind::PassesToLoop(runtime) = caller.kind {
            // Coroutines and lambdas are roots themselves, with findings of their own.
            if self.conditions.roots.find_root(node.body).is_some() {
                return;
            }
            let program = self.linker.program;
            let body = program.body_of_site(caller.site);
            let remaining = self.suppressions.suppress_at_site(program, caller.site, label.clone());
            let remaining = remaining.and_then(|label| self.suppressions.suppress_at_body(program, body, label));
            let (suppressed, label) = (remaining.is_none(), remaining.unwrap_or(label));
            let runtime = runtime.or_else(|| self.linker.runtime_of(caller.site.file));
            let kind = Root { kind: RootKind::Registered, context: Context::EventLoop, runtime };
            self.add_hit_of_kind(body, kind, HitKind { handed: true, suppressed }, &label, edge);
            return;
        }
        self.propagate_to_site(caller.site, caller.env, label, edge);
    }

    /// Raises a note to a warning if a loop around the consumer of a lazy result repeats short calls. A loop around a
    /// call of the project does not count, because a helper that reads one file each time is short (see
    /// ARCHITECTURE.md).
    pub(crate) fn raise_in_loop(&self, label: &mut Label, site: SiteRef) {
        if !label.once && label.severity == Severity::Note && self.linker.multiplies_hold(site) {
            label.severity = Severity::Warning;
        }
    }
}
