//! The reasons why a site belongs to no finding ([`EndReason`]).

use blocklint_facts::{Flow, SiteFlags, SiteKind};
use blocklint_flow::callers::Node;
use blocklint_flow::graph::{FlowEdge, LabelledBodyId};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::values::value::{BoundId, EnvId, Val};
use blocklint_models::{RowEffect, Runs, Via};

use super::{CallerStep, EndReason, Explainer, PassedCallable, RunTarget};

impl Explainer<'_, '_> {
    /// Returns the reasons why a site belongs to no finding. The result is never empty.
    pub(super) fn end_reasons(
        &self,
        site: SiteRef,
        edges: &[(CallerStep, FlowEdge)],
        labelled_bodies: &[LabelledBodyId],
        targets: &[RunTarget],
    ) -> Vec<EndReason> {
        let mut reasons = Vec::new();
        for &labelled_body in labelled_bodies {
            let body = self.graph.labelled_body(labelled_body).node.body;
            for stop in self.stop_reasons(labelled_body) {
                reasons.push(EndReason::StopsAtBody(body, stop));
            }
        }
        if edges.is_empty() {
            self.add_handovers(site, &mut reasons);
            self.add_registrations(site, &mut reasons);
            for target in &self.linker.targets(site, EnvId::NONE).list {
                match *target {
                    Target::Row { path, receiver, property, made } => {
                        if made.is_none() {
                            self.add_library_reason(site, path, receiver, property, &mut reasons);
                        }
                    }
                    Target::Body { .. } | Target::Overrides { .. } => {}
                }
            }
            for target in targets {
                if let RunTarget::Body { body, kind, awaited, .. } = *target {
                    self.add_body_reason(site, body, kind, awaited, &mut reasons);
                }
            }
        }
        if reasons.is_empty() {
            reasons.push(self.reason_without_target(site));
        }
        reasons
    }

    /// Adds the callables that the site hands over.
    fn add_handovers(&self, site: SiteRef, reasons: &mut Vec<EndReason>) {
        let linker = self.linker;
        for (index, arg) in linker.program.args_of(site).iter().enumerate() {
            let value = linker.eval(linker.scope_of(site, EnvId::NONE), arg.value).value;
            let is_callable = linker.values.members(value).into_iter().any(|val| {
                matches!(
                    val,
                    Val::Fn { .. } | Val::Method { .. } | Val::Partial { .. } | Val::External(_) | Val::Unknown(_)
                )
            });
            if !is_callable {
                continue;
            }
            for (context, runtime) in linker.argument_use(site, index as u32, EnvId::NONE).handed {
                let written = linker.written(site.file, arg.value);
                reasons.push(EndReason::HandsOver(PassedCallable { written, context, runtime }));
            }
        }
    }

    /// Adds the reason why a library call has no effect on its thread.
    fn add_library_reason(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        reasons: &mut Vec<EndReason>,
    ) {
        let linker = self.linker;
        if let Some(sink) = linker.sink(site, path, receiver, property, EnvId::NONE) {
            let owner = linker.program.body_of_site(site);
            if let Some(span) = self.comment_that_ends(site, &sink.label) {
                reasons.push(EndReason::Suppressed(site.file, span));
            } else if sink.row.lazy {
                reasons.push(EndReason::Unconsumed(path));
            } else if let Some(root) = self.roots.find_root(owner)
                && !sink.label.place.contains(root.context, root.runtime)
            {
                reasons.push(EndReason::Allowed(owner));
            } else {
                reasons.push(EndReason::ConditionsNotMet(path));
            }
            return;
        }
        let library = &linker.library;
        let rows = if property { library.properties(path) } else { library.calls(path) };
        let hands_over = reasons.iter().any(|end| matches!(end, EndReason::HandsOver(_) | EndReason::Registers(..)));
        let mut effect_rows = rows.effect().peekable();
        if effect_rows.peek().is_some() {
            let harmless = rows.effect().find(|row| match row.effect {
                Some(RowEffect::Holds(_)) => false,
                _ => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
            });
            match harmless {
                Some(_) if hands_over => {}
                Some(row) if row.is_async == Some(true) => reasons.push(EndReason::Asynchronous(path)),
                Some(_) => reasons.push(EndReason::Harmless(path)),
                None => reasons.push(self.reason_of_failed_conditions(site, path, receiver, property)),
            }
            return;
        }
        if hands_over {
            return;
        }
        if rows.iter().any(|row| row.is_async == Some(true)) {
            reasons.push(EndReason::Asynchronous(path));
        } else if library.is_described(path) || !rows.is_empty() || self.has_model(path) {
            reasons.push(EndReason::NoEffect(path));
        } else {
            reasons.push(EndReason::NoModel(path));
        }
    }

    /// Returns the reason why no row holds the thread at a call that blocking rows describe.
    fn reason_of_failed_conditions(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool) -> EndReason {
        let linker = self.linker;
        let rows = if property { linker.library.properties(path) } else { linker.library.calls(path) };
        for row in rows.effect() {
            let Some(RowEffect::Holds(effect)) = row.effect else { continue };
            if let Some(None) = linker.match_row(site, path, receiver, row, effect, EnvId::NONE, false) {
                if linker.is_lock(receiver) {
                    return EndReason::Lock(path);
                }
                if row.timeout.is_some() {
                    return EndReason::ZeroTimeout(path);
                }
            }
        }
        EndReason::ConditionsNotMet(path)
    }

    /// Adds the functions that a decorator registers.
    fn add_registrations(&self, site: SiteRef, reasons: &mut Vec<EndReason>) {
        let linker = self.linker;
        let Some(form) = self.decorated_form(site) else { return };
        let value = linker.eval(linker.scope_of(site, EnvId::NONE), form).value;
        for val in linker.values.members(value) {
            let Val::Fn { body, .. } = val else { continue };
            let is_async = linker.program.body(body).flow != Flow::Sync;
            for target in &linker.targets(site, EnvId::NONE).list {
                let Target::Row { path, .. } = *target else { continue };
                for matched in linker.library.handovers(path).rows_of_via(Via::Decorator) {
                    if let Runs::In(context) = linker.handover_context(matched.row, site, is_async) {
                        reasons.push(EndReason::Registers(body, context));
                    }
                }
            }
        }
    }

    /// True if models know the library of a path.
    fn has_model(&self, path: PathId) -> bool {
        let library = &self.linker.library;
        let language = library.language(path);
        let text = library.text(path);
        let head = text.split(blocklint_link::models::library::separator(language)).next().unwrap_or_default();
        library.knows_root(language, head)
    }

    /// Adds the reason why a body that the site runs has no effect on its thread.
    fn add_body_reason(
        &self,
        site: SiteRef,
        body: BodyRef,
        kind: TargetKind,
        awaited: bool,
        reasons: &mut Vec<EndReason>,
    ) {
        let linker = self.linker;
        let flow = linker.program.body(body).flow;
        match kind {
            TargetKind::HandOver(context, runtime) => {
                let written = linker.qualified_name(body);
                reasons.push(EndReason::HandsOver(PassedCallable { written, context, runtime }));
            }
            TargetKind::Construct if awaited || self.roots.find_root(body).is_some() => {
                if awaited && flow == Flow::Coroutine {
                    reasons.push(EndReason::Awaits(body, self.findings_of_root(body)));
                } else {
                    reasons.push(EndReason::Makes(body, flow));
                }
            }
            TargetKind::Construct => reasons.push(EndReason::Makes(body, flow)),
            TargetKind::Call | TargetKind::Consume | TargetKind::Init => {
                if self.roots.find_root(body).is_some_and(|root| root.keeps_labels())
                    && self.reached_roots.contains(&body)
                {
                    reasons.push(EndReason::Awaits(body, self.findings_of_root(body)));
                } else if self.graph.labelled.contains(&body) {
                    reasons.push(self.reason_of_lost_labels(site, body));
                } else {
                    reasons
                        .push(self.suppressing_comment_in(body).map_or(EndReason::NothingBlocking(body), |span| {
                            EndReason::SuppressedInCallee(body, span)
                        }));
                }
            }
        }
    }

    /// Returns the reason why the labels of a body do not reach a site that calls it.
    fn reason_of_lost_labels(&self, site: SiteRef, body: BodyRef) -> EndReason {
        let labelled_bodies = self
            .labelled_bodies
            .get(&body)
            .into_iter()
            .flatten()
            .map(|&labelled_body| self.graph.labelled_body(labelled_body));
        for labelled_body in labelled_bodies.filter(|labelled_body| labelled_body.node == Node::plain(body)) {
            if let Some(span) = self.comment_that_ends(site, self.graph.labels.get(labelled_body.label)) {
                return EndReason::Suppressed(site.file, span);
            }
        }
        EndReason::RuledOut(body)
    }

    /// Returns the findings of a root.
    fn findings_of_root(&self, body: BodyRef) -> Vec<usize> {
        self.by_root.get(&body).cloned().unwrap_or_default()
    }

    /// Returns the reason why a site has no target.
    fn reason_without_target(&self, site: SiteRef) -> EndReason {
        let linker = self.linker;
        let site_facts = linker.program.site(site);
        let is_call = matches!(site_facts.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro);
        if !is_call || site_facts.flags.has(SiteFlags::ASYNC) {
            return EndReason::RunsNoCode;
        }
        let members = linker.values.members(linker.callee(site, EnvId::NONE).value);
        match members.iter().find_map(|val| if let Val::Unknown(why) = *val { Some(why) } else { None }) {
            Some(why) => {
                // If the receiver is unknown, its reason explains more than the reason of the method.
                let receiver =
                    linker.receiver_form(site).map(|form| linker.eval(linker.scope_of(site, EnvId::NONE), form));
                let of_receiver = receiver.and_then(|typed| {
                    let unknown = linker.values.is_unknown(typed.value);
                    linker.values.members(typed.value).into_iter().find_map(|val| match val {
                        Val::Unknown(why) if unknown => Some(why),
                        _ => None,
                    })
                });
                EndReason::UnknownCallee(of_receiver.unwrap_or(why))
            }
            None => EndReason::RunsNoCode,
        }
    }
}
