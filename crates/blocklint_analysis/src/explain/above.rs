//! From a site up to the roots: the findings that its labels reach, and the bodies at which labels stop
//! ([`StopReason`]).

use blocklint_core::{Context, Span, rule_of};
use blocklint_facts::{AssignKind, At, BodyKind, Flow, Form, FormId, SiteId, SuppressionKind};
use blocklint_flow::callers::{CallerKind, Node};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::effect::label::Label;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::{HandoverContext, Runs, Via};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{CallerStep, Explainer, StopReason};

/// The most nested `partial` calls that are followed to a body.
const MAX_PARTIAL_DEPTH: u32 = 4;

/// The most mentions of one body that are followed.
const MENTIONS: usize = 64;

/// Returns for each labelled body the labelled bodies and hits to which its label was propagated.
pub(super) fn caller_steps(graph: &Graph<'_>) -> Vec<Vec<CallerStep>> {
    let mut steps: Vec<Vec<CallerStep>> = vec![Vec::new(); graph.labelled_bodies.len()];
    let mut add = |edge: &FlowEdge, step: CallerStep| {
        if let EdgeTarget::LabelledBody(next) = edge.next
            && !steps[next.0 as usize].contains(&step)
        {
            steps[next.0 as usize].push(step);
        }
    };
    for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        for edge in &labelled_body.edges {
            add(edge, CallerStep::LabelledBody(LabelledBodyId(index as u32)));
        }
    }
    for (index, hit) in graph.hits.iter().enumerate() {
        add(&hit.edge, CallerStep::Hit(index));
    }
    steps
}

/// Returns for each site the edges that begin at it. A lazy call also has the edges of the sites that consume its
/// result.
pub(super) fn edges_by_site(graph: &Graph<'_>) -> FxHashMap<SiteRef, Vec<(CallerStep, FlowEdge)>> {
    let mut edges: FxHashMap<SiteRef, Vec<(CallerStep, FlowEdge)>> = FxHashMap::default();
    let mut add = |step: CallerStep, edge: FlowEdge| {
        edges.entry(edge.site).or_default().push((step, edge));
        if let EdgeTarget::Sink(sink) = edge.next
            && graph.sinks[sink as usize].site != edge.site
        {
            edges.entry(graph.sinks[sink as usize].site).or_default().push((step, edge));
        }
    };
    for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        let id = LabelledBodyId(index as u32);
        labelled_body.edges.iter().for_each(|edge| add(CallerStep::LabelledBody(id), *edge));
    }
    for (index, hit) in graph.hits.iter().enumerate() {
        add(CallerStep::Hit(index), hit.edge);
    }
    edges
}

impl Explainer<'_, '_> {
    /// Returns the labelled bodies and hits to which the labels of a site were propagated, with the edges.
    pub(super) fn edges_at(&self, site: SiteRef) -> &[(CallerStep, FlowEdge)] {
        self.edges_by_site.get(&site).map_or(&[], Vec::as_slice)
    }

    /// Returns the findings that labels reach, and the labelled bodies at which labels stop.
    pub(super) fn follow_labels(
        &self,
        from: impl IntoIterator<Item = CallerStep>,
    ) -> (Vec<usize>, Vec<LabelledBodyId>) {
        let mut queue: Vec<CallerStep> = from.into_iter().collect();
        let mut visited: FxHashSet<LabelledBodyId> = FxHashSet::default();
        let (mut findings, mut ends) = (Vec::new(), Vec::new());
        while let Some(step) = queue.pop() {
            match step {
                CallerStep::Hit(hit) => findings.extend(self.findings_of_hit(hit)),
                CallerStep::LabelledBody(labelled_body) if visited.insert(labelled_body) => {
                    let steps = &self.callers_of_labels[labelled_body.0 as usize];
                    let stops = steps.iter().all(|step| *step == CallerStep::LabelledBody(labelled_body));
                    if stops {
                        ends.push(labelled_body);
                    }
                    queue.extend(steps.iter().copied());
                }
                CallerStep::LabelledBody(_) => {}
            }
        }
        findings.sort_unstable();
        findings.dedup();
        // Bodies in tests come last.
        ends.sort_unstable_by_key(|&labelled_body| {
            let node = self.graph.labelled_body(labelled_body).node;
            (self.linker.is_for_tests(node.body), node)
        });
        ends.dedup_by_key(|labelled_body| self.graph.labelled_body(*labelled_body).node.body);
        // If bodies only call each other, the first of them is the end.
        if findings.is_empty() && ends.is_empty() {
            ends.extend(visited.iter().min().copied());
        }
        (findings, ends)
    }

    /// Returns the findings of a hit.
    fn findings_of_hit(&self, hit: usize) -> Vec<usize> {
        let hit = &self.graph.hits[hit];
        let Some(rule) = rule_of(hit.label.effect, hit.label.native, hit.entry_point.context) else {
            return Vec::new();
        };
        let finding = |index: usize| &self.solved.findings[index];
        let of_rule = |index: &&usize| finding(**index).rule == rule;
        let at_site = self.by_site.get(&hit.edge.site).into_iter().flatten().filter(of_rule).copied();
        let at_site: Vec<usize> = at_site.collect();
        if !at_site.is_empty() {
            return at_site;
        }
        // A hit at the call of a lambda is reported inside the lambda.
        let EdgeTarget::LabelledBody(labelled_body) = hit.edge.next else { return at_site };
        let lambda = self.graph.labelled_body(labelled_body).node.body;
        let of_root = self.by_root.get(&hit.root).into_iter().flatten().filter(of_rule).copied();
        of_root.filter(|index| self.is_inside(lambda, self.linker.program.body_of_site(finding(*index).site))).collect()
    }

    /// True if `inner` is `outer` or is defined inside of it.
    pub(super) fn is_inside(&self, outer: BodyRef, inner: BodyRef) -> bool {
        let (facts, inner_id) = self.linker.program.facts_and_id(inner);
        let mut ancestor = Some(inner_id);
        while let Some(body) = ancestor {
            if outer == inner.file.body_ref(body) {
                return true;
            }
            ancestor = facts.body(body).parent.get();
        }
        false
    }

    /// Returns the reasons why the label of a labelled body does not reach the callers of the body.
    pub(super) fn stop_reasons(&self, labelled_body: LabelledBodyId) -> Vec<StopReason> {
        let row = self.graph.labelled_body(labelled_body);
        let body = row.node.body;
        let label = self.graph.labels.get(row.label);
        let program = self.linker.program;
        if program.body(body).kind == BodyKind::Module {
            return vec![StopReason::TopLevel];
        }
        let mut reasons = Vec::new();
        let mut calls = Vec::new();
        for caller in self.callers.find_callers(Node::plain(body)).iter() {
            let around = program.body_of_site(caller.site);
            if around == body {
                continue;
            }
            if let Some(span) = self.comment_that_ends(caller.site, label) {
                reasons.push(StopReason::Suppressed(caller.site.file, span));
            } else if matches!(caller.kind, CallerKind::PassesToLoop(_)) && self.roots.find_root(body).is_some() {
                continue;
            } else if label.guard.is_some() {
                reasons.push(StopReason::RuledOut(caller.site));
            } else if let Some(root) = self.roots.find_root(around)
                && !label.place.contains(root.context, root.runtime)
            {
                reasons.push(StopReason::Allowed(around));
            } else {
                calls.push(caller.site);
            }
        }
        if !calls.is_empty() {
            calls.sort_by_key(|site| (self.is_site_in_test(*site), site.file != body.file));
            reasons.push(StopReason::Called(calls));
        }
        if let Some((path, context)) = self.registered(body) {
            reasons.push(StopReason::Registered(path, context));
        }
        self.add_mentions(body, &mut reasons);
        if reasons.is_empty() {
            reasons.push(StopReason::NoCaller);
        }
        // Places in tests come last.
        reasons.sort_by_key(|reason| match reason {
            StopReason::Made(site)
            | StopReason::HandedOver(site, _)
            | StopReason::PassedOn(site)
            | StopReason::RuledOut(site) => self.is_site_in_test(*site),
            StopReason::Called(sites) => sites.first().is_some_and(|site| self.is_site_in_test(*site)),
            StopReason::Kept(file, _) | StopReason::Suppressed(file, _) => self.linker.program.is_test(*file),
            StopReason::Allowed(root) => self.linker.is_for_tests(*root),
            StopReason::NoCaller | StopReason::TopLevel | StopReason::Registered(..) => false,
        });
        reasons
    }

    /// Returns the comment at a site, or at the definition around it, that ends a label.
    pub(super) fn comment_that_ends(&self, site: SiteRef, label: &Label) -> Option<Span> {
        let program = self.linker.program;
        let body = program.body_of_site(site);
        let (name, whole) = match self.suppressions.suppress_at_site(program, site, label.clone()) {
            None => {
                let span = program.site(site).span;
                return self
                    .find_comment(site.file, |line| blocklint_link::syntax::regions::touches(line, span))
                    .or(Some(span));
            }
            Some(remaining) => match self.suppressions.suppress_at_body(program, body, remaining) {
                None => (program.body(body).name_span, program.body(body).span),
                Some(_) => return None,
            },
        };
        self.find_comment(body.file, |line| line.contains_offset(name.start) || line.contains_offset(whole.start))
            .or(Some(name))
    }

    /// Returns the comment inside a body that suppresses a call of a model's row.
    pub(super) fn suppressing_comment_in(&self, body: BodyRef) -> Option<Span> {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        let comments = facts.suppressions.iter();
        comments.filter(|comment| comment.rules.len > 0).find_map(|comment| {
            let mut sites = facts.sites.iter().enumerate().filter(|(_, site_facts)| {
                blocklint_link::syntax::regions::touches(comment.covered_span, site_facts.span)
            });
            sites.find_map(|(index, row)| {
                let site = body.file.site_ref(SiteId(index as u32));
                if facts.body_of(row.at) != body_id {
                    return None;
                }
                self.linker.targets(site, EnvId::NONE).list.iter().find_map(|target| match *target {
                    Target::Row { path, receiver, property, .. } => {
                        let sink = self.linker.sink(site, path, receiver, property, EnvId::NONE)?;
                        self.comment_that_ends(site, &sink.label)
                    }
                    _ => None,
                })
            })
        })
    }

    /// Returns the first comment with rules on a line that meets a condition.
    fn find_comment(&self, file: FileId, is_wanted: impl Fn(Span) -> bool) -> Option<Span> {
        let comments = self.linker.program.facts(file).suppressions.iter();
        comments
            .filter(|comment| comment.kind != SuppressionKind::Nonblocking && comment.rules.len > 0)
            .find(|comment| is_wanted(comment.covered_span))
            .map(|comment| comment.comment)
    }

    /// Returns the decorator of a body with the context in which its library runs the body.
    pub(super) fn registered(&self, body: BodyRef) -> Option<(PathId, Context)> {
        let linker = self.linker;
        for path in linker.decorator_paths(body) {
            let rows = linker.library.handovers(path);
            for row in rows.rows_of_via(Via::Decorator) {
                let runs = match &row.context {
                    HandoverContext::Is(runs) => *runs,
                    HandoverContext::BySync { sync, .. } => *sync,
                    HandoverContext::Of(_) => continue,
                };
                if let Runs::In(context) = runs {
                    return Some((path, context));
                }
            }
        }
        None
    }

    /// Adds the places that make a coroutine of a body without running it, hand the body over, pass it on or store it.
    pub(super) fn add_mentions(&self, body: BodyRef, reasons: &mut Vec<StopReason>) {
        let linker = self.linker;
        let body_facts = linker.program.body(body);
        let mut mentions: Vec<(FileId, Mention, Wrap)> = Vec::new();
        let mut sites: Vec<SiteRef> = Vec::new();
        let names = linker.body_names(body);
        if names.is_empty() {
            let local = linker.program.index_of(body.file);
            sites.extend(local.sites_named(body_facts.name).iter().map(|&site| body.file.site_ref(site)));
            mentions
                .extend(local.mentions_named(body_facts.name).iter().map(|(mention, wrap)| (body.file, mention, wrap)));
        }
        for name in names {
            for &(file, sym) in linker.program.occurrences(name) {
                let index = linker.program.index_of(file);
                sites.extend(index.sites_named(sym).iter().map(|&site| file.site_ref(site)));
                mentions.extend(index.mentions_named(sym).iter().map(|(mention, wrap)| (file, mention, wrap)));
            }
        }
        let uses = linker.program.uses_of_callable(body);
        mentions.extend(uses.iter().map(|(mention, wrap)| (body.file, mention, wrap)));
        for site in sites.into_iter().take(MENTIONS * 4) {
            for target in &linker.targets(site, EnvId::NONE).list {
                match *target {
                    Target::Body { body: target, kind: TargetKind::Construct, .. }
                        if target == body && body_facts.flow != Flow::Sync =>
                    {
                        reasons.push(StopReason::Made(site));
                    }
                    Target::Body { body: target, kind: TargetKind::HandOver(context, _), .. } if target == body => {
                        reasons.push(StopReason::HandedOver(site, context));
                    }
                    _ => {}
                }
            }
        }
        let mut visited = FxHashSet::default();
        let mut budget = MENTIONS;
        while let Some((file, mention, wrap)) = mentions.pop() {
            if !visited.insert((file, mention)) || budget == 0 {
                continue;
            }
            budget -= 1;
            self.add_mention(body, file, mention, wrap, &mut mentions, reasons);
        }
    }

    /// Adds the place of one mention of a body, if it hands the body over, passes it on or stores it. Adds further
    /// mentions to follow to `mentions`.
    fn add_mention(
        &self,
        body: BodyRef,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        mentions: &mut Vec<(FileId, Mention, Wrap)>,
        reasons: &mut Vec<StopReason>,
    ) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        match mention {
            Mention::Arg(site, arg) => {
                let Some(form) = facts.args_of(site).get(arg as usize).map(|arg| arg.value) else { return };
                let site = file.site_ref(site);
                if wrap == Wrap::Element {
                    if self.is_in_display(file, form, body) {
                        reasons.push(StopReason::Kept(file, linker.program.site(site).span));
                    }
                    return;
                }
                if !self.is_body(linker.eval(linker.scope_of(site, EnvId::NONE), form).value, body) {
                    return;
                }
                let passing = linker.argument_use(site, arg, EnvId::NONE);
                for &(context, _) in &passing.handed {
                    if context != Context::EventLoop {
                        reasons.push(StopReason::HandedOver(site, context));
                    }
                }
                if passing.returned {
                    let uses = linker.program.uses_of_result(site);
                    mentions.extend(uses.iter().map(|(mention, wrap)| (file, mention, wrap)));
                }
                let used = passing.returned || passing.called || passing.consumed || !passing.handed.is_empty();
                if !used && !self.runs_only_bodies(site) {
                    reasons.push(StopReason::PassedOn(site));
                }
            }
            Mention::Assign(assign) => {
                let Some(row) = facts.assigns.get(assign.index()) else { return };
                if row.kind != AssignKind::Plain {
                    return;
                }
                let scope = blocklint_link::values::expr::Scope { file, at: row.at, env: EnvId::NONE };
                let stores_body = match wrap {
                    Wrap::Element => self.is_in_display(file, row.value, body),
                    _ => self.is_body(linker.assigned_value(scope, assign).value, body),
                };
                if stores_body {
                    reasons.push(StopReason::Kept(file, row.span));
                }
            }
            Mention::Exit(_) | Mention::Operand(_) | Mention::Default(_) => {}
        }
    }

    /// True if all targets of a call are bodies of the project, whose use of the argument is known.
    fn runs_only_bodies(&self, site: SiteRef) -> bool {
        let targets = self.linker.targets(site, EnvId::NONE);
        !targets.list.is_empty() && targets.list.iter().all(|target| matches!(target, Target::Body { .. }))
    }

    /// True if a list, set or dict display contains a body.
    fn is_in_display(&self, file: FileId, form: FormId, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(file);
        let (Form::Display(_, list) | Form::Pairs(list)) = facts.form(form) else { return false };
        let scope = blocklint_link::values::expr::Scope { file, at: At::default(), env: EnvId::NONE };
        facts.list(list).iter().take(MENTIONS).any(|&part| self.is_body(self.linker.eval(scope, part).value, body))
    }

    /// True if a body is among the members of a value.
    fn is_body(&self, value: ValueId, body: BodyRef) -> bool {
        self.linker.values.members(value).iter().any(|val| self.is_body_or_partial(*val, body, MAX_PARTIAL_DEPTH))
    }

    /// True if a value is a body, or a partial application of it.
    fn is_body_or_partial(&self, val: Val, body: BodyRef, depth: u32) -> bool {
        match val {
            Val::Fn { body: function, .. } => function == body,
            Val::Partial { inner, .. } if depth > 0 => {
                self.is_body_or_partial(self.linker.values.single(inner), body, depth - 1)
            }
            _ => false,
        }
    }
}
