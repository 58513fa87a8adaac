//! Upwards from a site: the findings it belongs to, and where a label goes no further.

use blocklint_core::{Context, Span, rule_of};
use blocklint_facts::{BodyKind, Flow, Form, SuppressionKind};
use blocklint_flow::callers::{CallerKind, Node};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::effect::label::Label;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Via;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Above, Explainer, Up};

/// Mentions that are followed for one body.
const MENTIONS: usize = 64;

/// For each labelled body, the labelled bodies and hits that its label was passed on to.
pub(super) fn of(graph: &Graph<'_>) -> Vec<Vec<Up>> {
    let mut above: Vec<Vec<Up>> = vec![Vec::new(); graph.labelled_bodies.len()];
    let mut add = |edge: &FlowEdge, up: Up| {
        if let EdgeTarget::LabelledBody(next) = edge.next
            && !above[next.0 as usize].contains(&up)
        {
            above[next.0 as usize].push(up);
        }
    };
    for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        for edge in &labelled_body.edges {
            add(edge, Up::LabelledBody(LabelledBodyId(at as u32)));
        }
    }
    for (at, hit) in graph.hits.iter().enumerate() {
        add(&hit.edge, Up::Hit(at));
    }
    above
}

/// Returns for each site the edges that begin at it. A lazy call that is consumed elsewhere has those of its consumer
/// too.
pub(super) fn edges_by_site(graph: &Graph<'_>) -> FxHashMap<SiteRef, Vec<(Up, FlowEdge)>> {
    let mut found: FxHashMap<SiteRef, Vec<(Up, FlowEdge)>> = FxHashMap::default();
    let mut add = |up: Up, edge: FlowEdge| {
        found.entry(edge.site).or_default().push((up, edge));
        if let EdgeTarget::Sink(sink) = edge.next
            && graph.sinks[sink as usize].site != edge.site
        {
            found.entry(graph.sinks[sink as usize].site).or_default().push((up, edge));
        }
    };
    for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        labelled_body.edges.iter().for_each(|edge| add(Up::LabelledBody(LabelledBodyId(at as u32)), *edge));
    }
    for (at, hit) in graph.hits.iter().enumerate() {
        add(Up::Hit(at), hit.edge);
    }
    found
}

impl Explainer<'_, '_> {
    /// Returns the labelled bodies and hits that the labels of a site were passed on to, with the edges by which they
    /// came.
    pub(super) fn edges_at(&self, site: SiteRef) -> &[(Up, FlowEdge)] {
        self.edges.get(&site).map_or(&[], Vec::as_slice)
    }

    /// Returns the findings that labels reach, and the labelled bodies whose labels go no further.
    pub(super) fn reached(&self, from: impl IntoIterator<Item = Up>) -> (Vec<usize>, Vec<LabelledBodyId>) {
        let mut queue: Vec<Up> = from.into_iter().collect();
        let mut seen: FxHashSet<LabelledBodyId> = FxHashSet::default();
        let (mut findings, mut ends) = (Vec::new(), Vec::new());
        while let Some(up) = queue.pop() {
            match up {
                Up::Hit(hit) => findings.extend(self.findings_of(hit)),
                Up::LabelledBody(labelled_body) if seen.insert(labelled_body) => {
                    let above = &self.above[labelled_body.0 as usize];
                    let goes_on = above.iter().any(|up| *up != Up::LabelledBody(labelled_body));
                    if !goes_on {
                        ends.push(labelled_body);
                    }
                    queue.extend(above.iter().copied());
                }
                Up::LabelledBody(_) => {}
            }
        }
        findings.sort_unstable();
        findings.dedup();
        // Callers that count come before those in tests.
        ends.sort_unstable_by_key(|&labelled_body| {
            let node = self.graph.labelled_body(labelled_body).node;
            (self.linker.is_for_tests(node.body), node)
        });
        ends.dedup_by_key(|labelled_body| self.graph.labelled_body(*labelled_body).node.body);
        // Bodies that only call each other.
        if findings.is_empty() && ends.is_empty() {
            ends.extend(seen.iter().min().copied());
        }
        (findings, ends)
    }

    /// Returns the findings made of a hit.
    fn findings_of(&self, hit: usize) -> Vec<usize> {
        let hit = &self.graph.hits[hit];
        let Some(rule) = rule_of(hit.label.effect, hit.label.native, hit.kind.context) else {
            return Vec::new();
        };
        let finding = |at: usize| &self.solved.findings[at];
        let of_rule = |at: &&usize| finding(**at).rule == rule;
        let at_site = self.by_site.get(&hit.edge.site).into_iter().flatten().filter(of_rule).copied();
        let at_site: Vec<usize> = at_site.collect();
        if !at_site.is_empty() {
            return at_site;
        }
        // A literal that a root runs in place is reported inside it.
        let EdgeTarget::LabelledBody(labelled_body) = hit.edge.next else { return at_site };
        let literal = self.graph.labelled_body(labelled_body).node.body;
        let of_root = self.by_root.get(&hit.root).into_iter().flatten().filter(of_rule).copied();
        of_root.filter(|at| self.is_inside(literal, self.linker.program.body_of_site(finding(*at).site))).collect()
    }

    /// True if a body is another or stands in it.
    pub(super) fn is_inside(&self, outer: BodyRef, inner: BodyRef) -> bool {
        let (facts, inner_id) = self.linker.program.facts_and_id(inner);
        let mut at = Some(inner_id);
        while let Some(body) = at {
            if outer == inner.file.body_ref(body) {
                return true;
            }
            at = facts.body(body).parent.get();
        }
        false
    }

    /// Returns why the label of a labelled body goes no further than the body.
    pub(super) fn stops(&self, labelled_body: LabelledBodyId) -> Vec<Above> {
        let row = self.graph.labelled_body(labelled_body);
        let body = row.node.body;
        let label = self.graph.labels.get(row.label);
        let program = self.linker.program;
        if program.body(body).kind == BodyKind::Module {
            return vec![Above::TopLevel];
        }
        let mut found = Vec::new();
        let mut called = Vec::new();
        for caller in self.callers.of(Node::plain(body)).iter() {
            let around = program.body_of_site(caller.site);
            if around == body {
                continue;
            }
            if let Some(span) = self.cut_at(caller.site, label) {
                found.push(Above::Suppressed(caller.site.file, span));
            } else if matches!(caller.kind, CallerKind::HandsToLoop(_)) && self.roots.of(body).is_some() {
                continue;
            } else if label.guard.is_some() {
                found.push(Above::RuledOut(caller.site));
            } else if let Some(root) = self.roots.of(around)
                && !label.place.holds(root.context, root.runtime)
            {
                found.push(Above::Allowed(around));
            } else {
                called.push(caller.site);
            }
        }
        if !called.is_empty() {
            called.sort_by_key(|site| (self.is_site_in_test(*site), site.file != body.file));
            found.push(Above::Called(called));
        }
        if let Some((path, context)) = self.registered(body) {
            found.push(Above::Registered(path, context));
        }
        self.mentioned(body, &mut found);
        if found.is_empty() {
            found.push(Above::NoCaller);
        }
        // Callers that count come before those in tests.
        found.sort_by_key(|above| match above {
            Above::Made(site) | Above::HandedOver(site, _) | Above::PassedOn(site) | Above::RuledOut(site) => {
                self.is_site_in_test(*site)
            }
            Above::Called(sites) => sites.first().is_some_and(|site| self.is_site_in_test(*site)),
            Above::Kept(file, _) | Above::Suppressed(file, _) => self.linker.program.is_test(*file),
            Above::Allowed(root) => self.linker.is_for_tests(*root),
            Above::NoCaller | Above::TopLevel | Above::Registered(..) => false,
        });
        found
    }

    /// Returns the comment at a site, or at the definition around it, that ends a label.
    pub(super) fn cut_at(&self, site: SiteRef, label: &Label) -> Option<Span> {
        let program = self.linker.program;
        let body = program.body_of_site(site);
        let (name, whole) = match self.suppressions.apply(program, site, label.clone()) {
            None => {
                let span = program.site(site).span;
                return self
                    .comment(site.file, |line| blocklint_link::syntax::regions::touches(line, span))
                    .or(Some(span));
            }
            Some(left) => match self.suppressions.apply_body(program, body, left) {
                None => (program.body(body).name_span, program.body(body).span),
                Some(_) => return None,
            },
        };
        self.comment(body.file, |line| line.contains_offset(name.start) || line.contains_offset(whole.start))
            .or(Some(name))
    }

    /// Returns the comment inside a body that silences a call of a model's row.
    pub(super) fn silenced_in(&self, body: BodyRef) -> Option<Span> {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        let comments = facts.suppressions.iter();
        comments.filter(|comment| comment.rules.len > 0).find_map(|comment| {
            let mut sites = facts
                .sites
                .iter()
                .enumerate()
                .filter(|(_, row)| blocklint_link::syntax::regions::touches(comment.line, row.span));
            sites.find_map(|(at, row)| {
                let site = body.file.site_ref(blocklint_facts::SiteId(at as u32));
                if facts.body_of(row.at) != body_id {
                    return None;
                }
                self.linker.targets(site, EnvId::NONE).list.iter().find_map(|target| match *target {
                    Target::Row { path, receiver, property, .. } => {
                        let sink = self.linker.sink(site, path, receiver, property, EnvId::NONE)?;
                        self.cut_at(site, &sink.label)
                    }
                    _ => None,
                })
            })
        })
    }

    fn comment(&self, file: FileId, speaks: impl Fn(Span) -> bool) -> Option<Span> {
        let comments = self.linker.program.facts(file).suppressions.iter();
        comments
            .filter(|comment| comment.kind != SuppressionKind::Nonblocking && comment.rules.len > 0)
            .find(|comment| speaks(comment.line))
            .map(|comment| comment.comment)
    }

    /// Returns the library that runs a decorated or overriding body elsewhere than on an event loop.
    pub(super) fn registered(&self, body: BodyRef) -> Option<(PathId, Context)> {
        let linker = self.linker;
        for path in linker.decorator_paths(body) {
            let rows = linker.library.handovers(path);
            for row in rows.of_via(Via::Decorator) {
                let runs = match &row.context {
                    blocklint_models::HandoverContext::Is(runs) => *runs,
                    blocklint_models::HandoverContext::BySync { sync, .. } => *sync,
                    blocklint_models::HandoverContext::Of(_) => continue,
                };
                if let blocklint_models::Runs::In(context) = runs {
                    return Some((path, context));
                }
            }
        }
        None
    }

    /// Adds where a body is made without being run, handed over, given away or kept.
    pub(super) fn mentioned(&self, body: BodyRef, found: &mut Vec<Above>) {
        let linker = self.linker;
        let row = linker.program.body(body);
        let mut mentions: Vec<(FileId, Mention, Wrap)> = Vec::new();
        let mut sites: Vec<SiteRef> = Vec::new();
        let names = linker.body_names(body);
        if names.is_empty() {
            let local = linker.program.index_of(body.file);
            sites.extend(local.sites_named(row.name).iter().map(|&site| body.file.site_ref(site)));
            mentions.extend(local.mentions_named(row.name).iter().map(|(mention, wrap)| (body.file, mention, wrap)));
        }
        for name in names {
            for &(file, sym) in linker.program.occurrences(name) {
                let index = linker.program.index_of(file);
                sites.extend(index.sites_named(sym).iter().map(|&site| file.site_ref(site)));
                mentions.extend(index.mentions_named(sym).iter().map(|(mention, wrap)| (file, mention, wrap)));
            }
        }
        let literal = linker.program.uses_of_callable(body);
        mentions.extend(literal.iter().map(|(mention, wrap)| (body.file, mention, wrap)));
        for site in sites.into_iter().take(MENTIONS * 4) {
            for target in &linker.targets(site, EnvId::NONE).list {
                match *target {
                    Target::Body { body: of, kind: TargetKind::Construct, .. }
                        if of == body && row.flow != Flow::Sync =>
                    {
                        found.push(Above::Made(site));
                    }
                    Target::Body { body: of, kind: TargetKind::HandOver(context, _), .. } if of == body => {
                        found.push(Above::HandedOver(site, context));
                    }
                    _ => {}
                }
            }
        }
        let mut seen = FxHashSet::default();
        let mut left = MENTIONS;
        while let Some((file, mention, wrap)) = mentions.pop() {
            if !seen.insert((file, mention)) || left == 0 {
                continue;
            }
            left -= 1;
            self.mention(body, file, mention, wrap, &mut mentions, found);
        }
    }

    fn mention(
        &self,
        body: BodyRef,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        mentions: &mut Vec<(FileId, Mention, Wrap)>,
        found: &mut Vec<Above>,
    ) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        match mention {
            Mention::Arg(site, arg) => {
                let Some(form) = facts.args_of(site).get(arg as usize).map(|arg| arg.value) else { return };
                let site = file.site_ref(site);
                if wrap == Wrap::Element {
                    if self.display_holds(file, form, body) {
                        found.push(Above::Kept(file, linker.program.site(site).span));
                    }
                    return;
                }
                if !self.is_body(linker.eval(linker.scope_of(site, EnvId::NONE), form).value, body) {
                    return;
                }
                let passing = linker.argument_use(site, arg, EnvId::NONE);
                for &(context, _) in &passing.handed {
                    if context != Context::EventLoop {
                        found.push(Above::HandedOver(site, context));
                    }
                }
                if passing.returned {
                    let uses = linker.program.uses_of_result(site);
                    mentions.extend(uses.iter().map(|(mention, wrap)| (file, mention, wrap)));
                }
                let used = passing.returned || passing.called || passing.consumed || !passing.handed.is_empty();
                if !used && !self.goes_into_body(site) {
                    found.push(Above::PassedOn(site));
                }
            }
            Mention::Assign(assign) => {
                let Some(row) = facts.assigns.get(assign.index()) else { return };
                if row.kind != blocklint_facts::AssignKind::Plain {
                    return;
                }
                let scope = blocklint_link::values::expr::Scope { file, at: row.at, env: EnvId::NONE };
                let holds = match wrap {
                    Wrap::Element => self.display_holds(file, row.value, body),
                    _ => self.is_body(linker.assigned_value(scope, assign).value, body),
                };
                if holds {
                    found.push(Above::Kept(file, row.span));
                }
            }
            Mention::Exit(_) | Mention::Operand(_) | Mention::Default(_) => {}
        }
    }

    /// True if a call's targets are bodies of the project. Their own use of the argument was looked at.
    fn goes_into_body(&self, site: SiteRef) -> bool {
        let targets = self.linker.targets(site, EnvId::NONE);
        !targets.list.is_empty() && targets.list.iter().all(|target| matches!(target, Target::Body { .. }))
    }

    fn display_holds(&self, file: FileId, form: blocklint_facts::FormId, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(file);
        let (Form::Display(_, list) | Form::Pairs(list)) = facts.form(form) else { return false };
        let scope = blocklint_link::values::expr::Scope { file, at: blocklint_facts::At::default(), env: EnvId::NONE };
        facts.list(list).iter().take(MENTIONS).any(|&part| self.is_body(self.linker.eval(scope, part).value, body))
    }

    fn is_body(&self, value: blocklint_link::values::value::ValueId, body: BodyRef) -> bool {
        self.linker.values.members(value).iter().any(|val| self.member_is(*val, body, 4))
    }

    fn member_is(&self, val: Val, body: BodyRef, depth: u32) -> bool {
        match val {
            Val::Fn { body: of, .. } => of == body,
            Val::Partial { inner, .. } if depth > 0 => {
                self.member_is(self.linker.values.single(inner), body, depth - 1)
            }
            _ => false,
        }
    }
}
