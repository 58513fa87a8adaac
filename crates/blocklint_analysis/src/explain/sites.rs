//! One site: its receiver, the code that it runs, which rows describe it.

use blocklint_core::Span;
use blocklint_facts::{Form, FormId, SiteFlags, SiteId, SiteKind, VarKind};
use blocklint_flow::graph::marks::Marks;
use blocklint_flow::graph::{EdgeTarget, FlowEdge};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::label::LabelHold;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::is_field_of_receiver;
use blocklint_link::values::value::{BoundId, EnvId, ValueId};
use blocklint_models::{Argument, Condition, Match, RowEffect, Selector, Subject, Via};

use super::{ConditionResult, Explainer, Explanation, GivenArgument, PlaceRole, RowMatch, RowTried, RunTarget, Tried};

/// Overrides that are listed.
const OVERRIDES: usize = 12;

impl<'a> Explainer<'_, 'a> {
    /// Returns the sites of a line, in its order: those that begin there, whose name stands there or at which a finding is
    /// placed there. Implicit ones of which nothing is to be said only where there are no others.
    pub fn sites_of(&self, file: FileId, line: Span) -> Vec<SiteRef> {
        let Some(source) = self.linker.program.files.get(file.index()) else { return Vec::new() };
        let facts = &source.facts;
        let on_line = |offset: u32| line.start <= offset && offset <= line.end && line.start < line.end;
        let mut found: Vec<SiteRef> = Vec::new();
        for (at, row) in facts.sites.iter().enumerate() {
            if on_line(row.span.start) || on_line(row.name_span.start) {
                found.push(file.site_ref(SiteId(at as u32)));
            }
        }
        for (finding, part) in self.findings_on(file, line) {
            let raw = &self.solved.findings[finding];
            if part == PlaceRole::Finding && raw.site.file == file && !found.contains(&raw.site) {
                found.push(raw.site);
            }
        }
        found.sort_by_key(|site| {
            let row = self.linker.program.site(*site);
            (row.name_span.start, row.span.start, *site)
        });
        let telling: Vec<SiteRef> = found.iter().copied().filter(|&site| self.tells(site)).collect();
        if telling.is_empty() { found } else { telling }
    }

    /// True if a site has something to explain.
    fn tells(&self, site: SiteRef) -> bool {
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

    fn effect_rows(&self, path: PathId, property: bool) -> impl Iterator<Item = Match<'a, blocklint_models::CallRow>> {
        let library = &self.linker.library;
        let rows = if property { library.properties(path) } else { library.calls(path) };
        rows.effect().collect::<Vec<_>>().into_iter()
    }

    /// Returns what a site is called on: as it is written, and what it may be.
    pub fn receiver(&self, site: SiteRef) -> Option<(String, ValueId)> {
        let form = self.linker.receiver_form(site)?;
        let value = self.linker.eval(self.linker.scope_of(site, EnvId::NONE), form).value;
        Some((self.linker.written(site.file, form), value))
    }

    /// Returns everything that decided about a site.
    pub fn explain(&self, site: SiteRef) -> Explanation<'a> {
        let linker = self.linker;
        let program = linker.program;
        let row = program.site(site);
        let owner = program.body_of_site(site);
        let receiver = self.receiver(site).map(|(_, value)| value);
        let mut rows = Vec::new();
        let mut arguments = Vec::new();
        let edges = self.edges_at(site);
        let targets = self.run_targets(site, &edges.iter().map(|(_, edge)| *edge).collect::<Vec<_>>());
        for target in &linker.targets(site, EnvId::NONE).list {
            if let Target::Row { path, receiver, property, .. } = *target {
                self.rows_of(site, path, receiver, property, &mut rows, &mut arguments);
            }
        }
        for (_, edge) in edges {
            // Rows that the site enters only under another binding: a closure's captured callable.
            if let EdgeTarget::Sink(sink) = edge.next
                && edge.site == site
            {
                let sink = &self.graph.sinks[sink as usize];
                let known = rows.iter().any(|tried: &RowTried<'_>| match tried.row {
                    RowMatch::Call(row) => row.id == sink.row.id,
                    RowMatch::Handover(_) => false,
                });
                if !known && sink.site == site {
                    let hold = Some(self.graph.labels.get(sink.label).hold);
                    rows.push(RowTried {
                        row: RowMatch::Call(sink.row),
                        conditions: Vec::new(),
                        decides: true,
                        hold,
                        hold_parameter: None,
                    });
                }
            }
        }
        let (mut findings, ends) = self.reached(edges.iter().map(|(up, _)| *up));
        findings.extend(self.findings_naming(site));
        findings.sort_unstable();
        findings.dedup();
        let ends = if findings.is_empty() { self.ends(site, edges, &ends, &targets) } else { Vec::new() };
        let arguments = arguments.into_iter().map(|argument| {
            let given = self.given(site, &argument);
            (argument, given)
        });
        let span = match row.kind {
            SiteKind::Call | SiteKind::New | SiteKind::Macro => blocklint_flow::graph::trace::place_of(linker, site),
            _ => row.span,
        };
        Explanation {
            site,
            span,
            owner,
            root: self.roots.of(owner),
            receiver,
            arguments: arguments.collect(),
            targets,
            rows,
            findings,
            ends,
        }
    }

    fn run_targets(&self, site: SiteRef, edges: &[FlowEdge]) -> Vec<RunTarget> {
        let linker = self.linker;
        let awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
        let targets = linker.targets(site, EnvId::NONE);
        let shared = linker.are_alternatives(site, &targets);
        let edge = FlowEdge {
            site,
            arg: None,
            next: EdgeTarget::Sink(0),
            steps: targets.steps,
            shared,
            marks: Marks::default(),
        };
        let unknown = u8::from(targets.unknown && !self.is_own_field(site));
        let steps = blocklint_flow::graph::best_path::edge_steps(linker, &self.graph, &edge) + u32::from(unknown);
        let confidence = blocklint_flow::judge::confidence::confidence_of(steps);
        let mut found: Vec<RunTarget> = Vec::new();
        let mut known: Vec<BodyRef> = Vec::new();
        let mut add = |found: &mut Vec<RunTarget>, body, kind, by_argument, confidence| {
            if !known.contains(&body) {
                known.push(body);
                found.push(RunTarget::Body { body, kind, awaited, by_argument, confidence });
            }
        };
        for target in &targets.list {
            match *target {
                Target::Body { body, kind, .. } => add(&mut found, body, kind, None, confidence),
                Target::Overrides { class, name } => {
                    for &body in linker.overrides(class, name).iter().take(OVERRIDES) {
                        let kind = match linker.program.body(body).flow {
                            blocklint_facts::Flow::Sync => TargetKind::Call,
                            _ => TargetKind::Construct,
                        };
                        add(&mut found, body, kind, None, confidence);
                    }
                }
                Target::Row { path, property, .. } => {
                    found.push(RunTarget::Library { path, property, confidence });
                }
            }
        }
        for edge in edges.iter().filter(|edge| edge.site == site) {
            let EdgeTarget::LabelledBody(labelled_body) = edge.next else { continue };
            let body = self.graph.labelled_body(labelled_body).node.body;
            let handed = self.graph.hits.iter().find(|hit| hit.handed && hit.edge == *edge);
            let kind = handed.map_or(TargetKind::Call, |hit| TargetKind::HandOver(hit.kind.context, hit.kind.runtime));
            let argument = edge.arg.and_then(|arg| linker.program.args_of(site).get(arg as usize).copied());
            let argument = argument.map(|arg| linker.written(site.file, arg.value));
            let confidence = blocklint_flow::judge::confidence::confidence_of(
                blocklint_flow::graph::best_path::edge_steps(linker, &self.graph, edge),
            );
            add(&mut found, body, kind, argument, confidence);
        }
        found
    }

    fn is_own_field(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        self.linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(facts, form))
    }

    /// The rows of one path at a site, and the arguments they ask for.
    fn rows_of(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        rows: &mut Vec<RowTried<'a>>,
        arguments: &mut Vec<Argument>,
    ) {
        let linker = self.linker;
        let sink = linker.sink(site, path, receiver, property, EnvId::NONE);
        let mut decided = false;
        for row in self.effect_rows(path, property) {
            let conditions = self.tried(site, receiver, &row.when, &row.unless, arguments);
            if let Some(timeout) = &row.timeout {
                want(arguments, timeout);
            }
            let decides = !decided
                && match (&sink, row.effect) {
                    (Some(sink), _) => sink.row.id == row.id && std::ptr::eq(sink.row.row, row.row),
                    (None, Some(RowEffect::Holds(effect))) => {
                        matches!(linker.match_row(site, path, receiver, row, effect, EnvId::NONE, false), Some(None))
                    }
                    (None, _) => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                };
            decided |= decides;
            let hold = sink.as_ref().filter(|_| decides).map(|sink| sink.label.hold);
            let hold_parameter = match hold {
                Some(LabelHold::Param { index, .. }) => self.parameter(site, index),
                _ => None,
            };
            rows.push(RowTried { row: RowMatch::Call(row), conditions, decides, hold, hold_parameter });
        }
        let is_decoration = self.decorated(site).is_some();
        for row in linker.library.handovers(path).iter() {
            let meant = match &row.selector {
                Selector::Argument(argument) => linker.argument(site, argument).is_some(),
                Selector::Via(via) => is_decoration && *via == Via::Decorator,
            };
            if meant {
                let conditions = self.tried(site, receiver, &row.when, &row.unless, arguments);
                let decides = linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
                rows.push(RowTried {
                    row: RowMatch::Handover(row),
                    conditions,
                    decides,
                    hold: None,
                    hold_parameter: None,
                });
            }
        }
        if rows.is_empty() {
            // Nothing about holding; whether it is something to await is worth saying.
            let calls = linker.library.calls(path);
            if let Some(row) = calls.with(|row| row.is_async.is_some()).next() {
                let conditions = self.tried(site, receiver, &row.when, &row.unless, arguments);
                rows.push(RowTried {
                    row: RowMatch::Call(row),
                    conditions,
                    decides: true,
                    hold: None,
                    hold_parameter: None,
                });
            }
        }
    }

    fn tried(
        &self,
        site: SiteRef,
        receiver: BoundId,
        when: &[Condition],
        unless: &[Condition],
        arguments: &mut Vec<Argument>,
    ) -> Vec<Tried> {
        let when = when.iter().map(|condition| (condition, false));
        let unless = unless.iter().map(|condition| (condition, true));
        when.chain(unless)
            .map(|(condition, excuses)| {
                if let Subject::Argument(argument) = &condition.subject {
                    want(arguments, argument);
                }
                let shown = self.linker.condition_result(condition, site, receiver, EnvId::NONE);
                let parameter = match shown {
                    ConditionResult::Param(index) => self.parameter(site, index),
                    _ => None,
                };
                Tried { condition: condition.clone(), excuses, shown, parameter }
            })
            .collect()
    }

    /// Returns the name of a parameter of the body around a site.
    fn parameter(&self, site: SiteRef, index: u32) -> Option<String> {
        let facts = self.linker.program.facts(site.file);
        let params = self.linker.program.params_of(self.linker.program.body_of_site(site));
        params.get(index as usize).map(|param| facts.text(param.name).to_owned())
    }

    /// Returns the form that a site decorates, by itself or by the decorator that it makes.
    pub(super) fn decorated(&self, site: SiteRef) -> Option<FormId> {
        let (facts, site_id) = self.linker.program.facts_and_id(site);
        let decorators = facts.sites.iter().enumerate().filter(|(_, row)| row.kind == SiteKind::Decorate);
        let mut meant = decorators.filter(|(at, row)| {
            *at == site.index() || matches!(facts.form(row.callee), Form::Result(made) if made == site_id)
        });
        let (at, _) = meant.next()?;
        facts.args_of(SiteId(at as u32)).first().map(|arg| arg.value)
    }

    /// Returns the value of an argument, as far as the code around the site shows.
    fn given(&self, site: SiteRef, argument: &Argument) -> GivenArgument {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let Some(form) = linker.argument(site, argument) else {
            return if linker.may_be_unpacked(site, argument) {
                GivenArgument::Unpacked
            } else {
                GivenArgument::Absent
            };
        };
        match linker.constant(site, form, EnvId::NONE, 6) {
            Constant::Hidden => {
                if let Form::Var(var) = facts.form(form)
                    && let VarKind::Param(_) = facts.var(var).kind
                    && facts.assigns_of(var).next().is_none()
                {
                    return GivenArgument::Parameter(facts.text(facts.var(var).name).to_owned(), None);
                }
                let value = linker.eval(linker.scope_of(site, EnvId::NONE), form).value;
                GivenArgument::Value(linker.written(site.file, form), value)
            }
            Constant::Param(index) => {
                let owner = linker.program.body_of_site(site);
                let default = linker.program.params_of(owner).get(index as usize).and_then(|param| param.default.get());
                let default = default.and_then(|default| {
                    let parent = linker.program.body(owner).parent.get()?;
                    match linker.constant_in(site.file.body_ref(parent), default, EnvId::NONE, 6) {
                        Constant::Hidden | Constant::Param(_) => None,
                        constant => Some(constant),
                    }
                });
                GivenArgument::Parameter(self.parameter(site, index).unwrap_or_default(), default)
            }
            constant => GivenArgument::Literal(constant),
        }
    }
}

/// Adds an argument that a row asks for, once; the receiver is explained by itself.
fn want(arguments: &mut Vec<Argument>, argument: &Argument) {
    if *argument != Argument::Receiver && !arguments.contains(argument) {
        arguments.push(argument.clone());
    }
}
