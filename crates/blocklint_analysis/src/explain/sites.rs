//! Explanation of a site for `blocklint why`: its receiver, arguments and call targets, and the rows that describe it.

use blocklint_core::Span;
use blocklint_facts::{Flow, Form, FormId, SiteFlags, SiteId, SiteKind, VarKind};
use blocklint_flow::graph::marks::Marks;
use blocklint_flow::graph::{EdgeTarget, FlowEdge};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::label::LabelHold;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::is_field_of_receiver;
use blocklint_link::values::value::{BoundId, EnvId, ValueId};
use blocklint_models::{Argument, CallRow, Condition, Match, RowEffect, Selector, Subject, Via};

use super::{
    ArgumentValue, ConditionResult, Explainer, Explanation, PlaceRole, RowMatch, RunTarget, TestedCondition, TestedRow,
};

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 6;

/// The most overrides that are listed.
const OVERRIDES: usize = 12;

impl<'a> Explainer<'_, 'a> {
    /// Returns the sites on a line, in their order: sites that begin there, whose name is there, or at which a finding
    /// is reported there. Implicit calls without an explanation are left out if there are others.
    pub fn sites_on_line(&self, file: FileId, line: Span) -> Vec<SiteRef> {
        let Some(source) = self.linker.program.files.get(file.index()) else { return Vec::new() };
        let facts = &source.facts;
        let on_line = |offset: u32| line.start <= offset && offset <= line.end && line.start < line.end;
        let mut sites: Vec<SiteRef> = Vec::new();
        for (index, site_facts) in facts.sites.iter().enumerate() {
            if on_line(site_facts.span.start) || on_line(site_facts.name_span.start) {
                sites.push(file.site_ref(SiteId(index as u32)));
            }
        }
        for (finding, role) in self.findings_on(file, line) {
            let raw = &self.solved.findings[finding];
            if role == PlaceRole::Finding && raw.site.file == file && !sites.contains(&raw.site) {
                sites.push(raw.site);
            }
        }
        sites.sort_by_key(|site| {
            let site_facts = self.linker.program.site(*site);
            (site_facts.name_span.start, site_facts.span.start, *site)
        });
        let explained: Vec<SiteRef> = sites.iter().copied().filter(|&site| self.has_explanation(site)).collect();
        if explained.is_empty() { sites } else { explained }
    }

    /// True if a site is a call, or its targets or edges need an explanation.
    fn has_explanation(&self, site: SiteRef) -> bool {
        match self.linker.program.site(site).kind {
            SiteKind::Call | SiteKind::New | SiteKind::Macro => true,
            _ => {
                !self.edges_at(site).is_empty()
                    || self.by_site.contains_key(&site)
                    || self.linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                        Target::Body { .. } | Target::Overrides { .. } => true,
                        Target::Row { path, property, made, .. } => {
                            made.is_some() || self.effect_rows(path, property).next().is_some()
                        }
                    })
            }
        }
    }

    /// Returns the rows with an effect for a call or property.
    fn effect_rows(&self, path: PathId, property: bool) -> impl Iterator<Item = Match<'a, CallRow>> {
        let library = &self.linker.library;
        let rows = if property { library.properties(path) } else { library.calls(path) };
        rows.effect().collect::<Vec<_>>().into_iter()
    }

    /// Returns the receiver of a site: its source text and its value.
    pub fn receiver(&self, site: SiteRef) -> Option<(String, ValueId)> {
        let form = self.linker.receiver_form(site)?;
        let value = self.linker.eval(self.linker.scope_of(site, EnvId::NONE), form).value;
        Some((self.linker.written(site.file, form), value))
    }

    /// Returns the explanation of a site.
    pub fn explain(&self, site: SiteRef) -> Explanation<'a> {
        let linker = self.linker;
        let program = linker.program;
        let site_facts = program.site(site);
        let owner = program.body_of_site(site);
        let receiver = self.receiver(site).map(|(_, value)| value);
        let mut rows = Vec::new();
        let mut arguments = Vec::new();
        let edges = self.edges_at(site);
        let targets = self.run_targets(site, &edges.iter().map(|(_, edge)| *edge).collect::<Vec<_>>());
        for target in &linker.targets(site, EnvId::NONE).list {
            if let Target::Row { path, receiver, property, .. } = *target {
                self.add_rows(site, path, receiver, property, &mut rows, &mut arguments);
            }
        }
        for (_, edge) in edges {
            // Rows that the site matches only with bound parameters: a callable that a closure captures.
            if let EdgeTarget::Sink(sink) = edge.next
                && edge.site == site
            {
                let sink = &self.graph.sinks[sink as usize];
                let known = rows.iter().any(|tried: &TestedRow<'_>| match tried.row {
                    RowMatch::Call(row) => row.id == sink.row.id,
                    RowMatch::Handover(_) => false,
                });
                if !known && sink.site == site {
                    let hold = Some(self.graph.labels.get(sink.label).hold);
                    rows.push(TestedRow {
                        row: RowMatch::Call(sink.row),
                        conditions: Vec::new(),
                        decides: true,
                        hold,
                        hold_parameter: None,
                    });
                }
            }
        }
        let (mut findings, ends) = self.follow_labels(edges.iter().map(|(step, _)| *step));
        findings.extend(self.findings_at(site));
        findings.sort_unstable();
        findings.dedup();
        let ends = if findings.is_empty() { self.end_reasons(site, edges, &ends, &targets) } else { Vec::new() };
        let arguments = arguments.into_iter().map(|argument| {
            let value = self.argument_value(site, &argument);
            (argument, value)
        });
        let span = match site_facts.kind {
            SiteKind::Call | SiteKind::New | SiteKind::Macro => blocklint_flow::graph::trace::place_of(linker, site),
            _ => site_facts.span,
        };
        Explanation {
            site,
            span,
            owner,
            root: self.roots.find_root(owner),
            receiver,
            arguments: arguments.collect(),
            targets,
            rows,
            findings,
            ends,
        }
    }

    /// Returns the targets of a site, and the bodies that its edges lead to.
    fn run_targets(&self, site: SiteRef, edges: &[FlowEdge]) -> Vec<RunTarget> {
        let linker = self.linker;
        let awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
        let targets = linker.targets(site, EnvId::NONE);
        let shared = linker.bodies_are_alternatives(site, &targets);
        let edge = FlowEdge {
            site,
            arg: None,
            next: EdgeTarget::Sink(0),
            steps: targets.steps,
            shared,
            marks: Marks::default(),
        };
        let unknown = u8::from(targets.unknown && !self.is_on_own_field(site));
        let steps = blocklint_flow::graph::best_path::edge_steps(linker, &self.graph, &edge) + u32::from(unknown);
        let confidence = blocklint_flow::judge::confidence::confidence_of(steps);
        let mut run_targets: Vec<RunTarget> = Vec::new();
        let mut known: Vec<BodyRef> = Vec::new();
        let mut add = |run_targets: &mut Vec<RunTarget>, body, kind, by_argument, confidence| {
            if !known.contains(&body) {
                known.push(body);
                run_targets.push(RunTarget::Body { body, kind, awaited, by_argument, confidence });
            }
        };
        for target in &targets.list {
            match *target {
                Target::Body { body, kind, .. } => add(&mut run_targets, body, kind, None, confidence),
                Target::Overrides { class, name } => {
                    for &body in linker.overrides(class, name).iter().take(OVERRIDES) {
                        let kind = match linker.program.body(body).flow {
                            Flow::Sync => TargetKind::Call,
                            _ => TargetKind::Construct,
                        };
                        add(&mut run_targets, body, kind, None, confidence);
                    }
                }
                Target::Row { path, property, .. } => {
                    run_targets.push(RunTarget::Library { path, property, confidence });
                }
            }
        }
        for edge in edges.iter().filter(|edge| edge.site == site) {
            let EdgeTarget::LabelledBody(labelled_body) = edge.next else { continue };
            let body = self.graph.labelled_body(labelled_body).node.body;
            let handed = self.graph.hits.iter().find(|hit| hit.handed && hit.edge == *edge);
            let kind = handed
                .map_or(TargetKind::Call, |hit| TargetKind::HandOver(hit.entry_point.context, hit.entry_point.runtime));
            let argument = edge.arg.and_then(|arg| linker.program.args_of(site).get(arg as usize).copied());
            let argument = argument.map(|arg| linker.written(site.file, arg.value));
            let confidence = blocklint_flow::judge::confidence::confidence_of(
                blocklint_flow::graph::best_path::edge_steps(linker, &self.graph, edge),
            );
            add(&mut run_targets, body, kind, argument, confidence);
        }
        run_targets
    }

    /// True if the receiver of a call is a field of the own object: `self.client.get()`.
    fn is_on_own_field(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        self.linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(facts, form))
    }

    /// Adds the rows of one path at a site, and the arguments that they refer to.
    fn add_rows(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        rows: &mut Vec<TestedRow<'a>>,
        arguments: &mut Vec<Argument>,
    ) {
        let linker = self.linker;
        let sink = linker.sink(site, path, receiver, property, EnvId::NONE);
        let mut decided = false;
        for matched in self.effect_rows(path, property) {
            let conditions = self.test_conditions(site, receiver, &matched.when, &matched.unless, arguments);
            if let Some(timeout) = &matched.timeout {
                add_argument(arguments, timeout);
            }
            let decides = !decided
                && match (&sink, matched.effect) {
                    (Some(sink), _) => sink.row.id == matched.id && std::ptr::eq(sink.row.row, matched.row),
                    (None, Some(RowEffect::Holds(effect))) => {
                        matches!(
                            linker.match_row(site, path, receiver, matched, effect, EnvId::NONE, false),
                            Some(None)
                        )
                    }
                    (None, _) => linker.conditions_hold(&matched.when, &matched.unless, site, EnvId::NONE),
                };
            decided |= decides;
            let hold = sink.as_ref().filter(|_| decides).map(|sink| sink.label.hold);
            let hold_parameter = match hold {
                Some(LabelHold::Param { index, .. }) => self.parameter_name(site, index),
                _ => None,
            };
            rows.push(TestedRow { row: RowMatch::Call(matched), conditions, decides, hold, hold_parameter });
        }
        let is_decoration = self.decorated_form(site).is_some();
        for row in linker.library.handovers(path).iter() {
            let applies = match &row.selector {
                Selector::Argument(argument) => linker.argument(site, argument).is_some(),
                Selector::Via(via) => is_decoration && *via == Via::Decorator,
            };
            if applies {
                let conditions = self.test_conditions(site, receiver, &row.when, &row.unless, arguments);
                let decides = linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
                rows.push(TestedRow {
                    row: RowMatch::Handover(row),
                    conditions,
                    decides,
                    hold: None,
                    hold_parameter: None,
                });
            }
        }
        if rows.is_empty() {
            // No row is about blocking, but a row that says if the call is asynchronous is shown.
            let calls = linker.library.calls(path);
            if let Some(row) = calls.with(|row| row.is_async.is_some()).next() {
                let conditions = self.test_conditions(site, receiver, &row.when, &row.unless, arguments);
                rows.push(TestedRow {
                    row: RowMatch::Call(row),
                    conditions,
                    decides: true,
                    hold: None,
                    hold_parameter: None,
                });
            }
        }
    }

    /// Tests the conditions of a row at a site. Adds the arguments that they refer to.
    fn test_conditions(
        &self,
        site: SiteRef,
        receiver: BoundId,
        when: &[Condition],
        unless: &[Condition],
        arguments: &mut Vec<Argument>,
    ) -> Vec<TestedCondition> {
        let when = when.iter().map(|condition| (condition, false));
        let unless = unless.iter().map(|condition| (condition, true));
        when.chain(unless)
            .map(|(condition, is_unless)| {
                if let Subject::Argument(argument) = &condition.subject {
                    add_argument(arguments, argument);
                }
                let shown = self.linker.condition_result(condition, site, receiver, EnvId::NONE);
                let parameter = match shown {
                    ConditionResult::Param(index) => self.parameter_name(site, index),
                    _ => None,
                };
                TestedCondition { condition: condition.clone(), is_unless, shown, parameter }
            })
            .collect()
    }

    /// Returns the name of a parameter of the body around a site.
    fn parameter_name(&self, site: SiteRef, index: u32) -> Option<String> {
        let facts = self.linker.program.facts(site.file);
        let params = self.linker.program.params_of(self.linker.program.body_of_site(site));
        params.get(index as usize).map(|param| facts.text(param.name).to_owned())
    }

    /// Returns the form that a site decorates: the site is the decoration, or the call that makes the decorator.
    pub(super) fn decorated_form(&self, site: SiteRef) -> Option<FormId> {
        let (facts, site_id) = self.linker.program.facts_and_id(site);
        let decorators = facts.sites.iter().enumerate().filter(|(_, site_facts)| site_facts.kind == SiteKind::Decorate);
        let mut of_site = decorators.filter(|(index, row)| {
            *index == site.index() || matches!(facts.form(row.callee), Form::Result(made) if made == site_id)
        });
        let (index, _) = of_site.next()?;
        facts.args_of(SiteId(index as u32)).first().map(|arg| arg.value)
    }

    /// Returns the value of an argument, as far as the code around the site shows.
    fn argument_value(&self, site: SiteRef, argument: &Argument) -> ArgumentValue {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let Some(form) = linker.argument(site, argument) else {
            return if linker.may_be_unpacked(site, argument) {
                ArgumentValue::Unpacked
            } else {
                ArgumentValue::Absent
            };
        };
        match linker.constant(site, form, EnvId::NONE, MAX_CONSTANT_DEPTH) {
            Constant::Hidden => {
                if let Form::Var(var) = facts.form(form)
                    && let VarKind::Param(_) = facts.var(var).kind
                    && facts.assigns_of(var).next().is_none()
                {
                    return ArgumentValue::Parameter(facts.text(facts.var(var).name).to_owned(), None);
                }
                let value = linker.eval(linker.scope_of(site, EnvId::NONE), form).value;
                ArgumentValue::Value(linker.written(site.file, form), value)
            }
            Constant::Param(index) => {
                let owner = linker.program.body_of_site(site);
                let default = linker.program.params_of(owner).get(index as usize).and_then(|param| param.default.get());
                let default = default.and_then(|default| {
                    let parent = linker.program.body(owner).parent.get()?;
                    match linker.constant_in(site.file.body_ref(parent), default, EnvId::NONE, MAX_CONSTANT_DEPTH) {
                        Constant::Hidden | Constant::Param(_) => None,
                        constant => Some(constant),
                    }
                });
                ArgumentValue::Parameter(self.parameter_name(site, index).unwrap_or_default(), default)
            }
            constant => ArgumentValue::Literal(constant),
        }
    }
}

/// Adds an argument that a row refers to, once. The receiver is left out, because it is explained separately.
fn add_argument(arguments: &mut Vec<Argument>, argument: &Argument) {
    if *argument != Argument::Receiver && !arguments.contains(argument) {
        arguments.push(argument.clone());
    }
}
