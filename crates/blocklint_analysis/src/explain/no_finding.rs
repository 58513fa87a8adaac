//! Why a site belongs to no finding.

use blocklint_facts::{Flow, SiteFlags, SiteKind};
use blocklint_flow::callers::Node;
use blocklint_flow::graph::{FlowEdge, LabelledBodyId};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{RowEffect, Runs, Via};

use super::{End, Explainer, PassedOn, RunTarget, Up};

impl Explainer<'_, '_> {
    /// Returns where the effects of a site end that belongs to no finding; never empty.
    pub(super) fn ends(
        &self,
        site: SiteRef,
        edges: &[(Up, FlowEdge)],
        labelled_bodies: &[LabelledBodyId],
        targets: &[RunTarget],
    ) -> Vec<End> {
        let mut found = Vec::new();
        for &labelled_body in labelled_bodies {
            let body = self.graph.labelled_body(labelled_body).node.body;
            for above in self.stops(labelled_body) {
                found.push(End::Stops(body, above));
            }
        }
        if edges.is_empty() {
            self.handed(site, &mut found);
            self.registers(site, &mut found);
            for target in &self.linker.targets(site, EnvId::NONE).list {
                match *target {
                    Target::Row { path, receiver, property, made } => {
                        if made.is_none() {
                            self.library(site, path, receiver, property, &mut found);
                        }
                    }
                    Target::Body { .. } | Target::Overrides { .. } => {}
                }
            }
            for target in targets {
                if let RunTarget::Body { body, kind, awaited, .. } = *target {
                    self.body(site, body, kind, awaited, &mut found);
                }
            }
        }
        if found.is_empty() {
            found.push(self.without_target(site));
        }
        found
    }

    /// Callables that the site hands over.
    fn handed(&self, site: SiteRef, found: &mut Vec<End>) {
        let linker = self.linker;
        for (at, arg) in linker.program.args_of(site).iter().enumerate() {
            let value = linker.eval(linker.scope_of(site, EnvId::NONE), arg.value).value;
            let callable = linker.values.members(value).into_iter().any(|val| {
                matches!(
                    val,
                    Val::Fn { .. } | Val::Method { .. } | Val::Partial { .. } | Val::External(_) | Val::Unknown(_)
                )
            });
            if !callable {
                continue;
            }
            for (context, runtime) in linker.argument_use(site, at as u32, EnvId::NONE).handed {
                let written = linker.written(site.file, arg.value);
                found.push(End::HandsOver(PassedOn { written, context, runtime }));
            }
        }
    }

    /// Why a library call does nothing.
    fn library(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: blocklint_link::values::value::BoundId,
        property: bool,
        found: &mut Vec<End>,
    ) {
        let linker = self.linker;
        if let Some(sink) = linker.sink(site, path, receiver, property, EnvId::NONE) {
            let owner = linker.program.body_of_site(site);
            if let Some(span) = self.cut_at(site, &sink.label) {
                found.push(End::Suppressed(site.file, span));
            } else if sink.row.lazy {
                found.push(End::Unconsumed(path));
            } else if let Some(root) = self.roots.of(owner)
                && !sink.label.place.holds(root.context, root.runtime)
            {
                found.push(End::Allowed(owner));
            } else {
                found.push(End::Excused(path));
            }
            return;
        }
        let library = &linker.library;
        let rows = if property { library.properties(path) } else { library.calls(path) };
        let hands_over = found.iter().any(|end| matches!(end, End::HandsOver(_) | End::Registers(..)));
        let mut effect_rows = rows.effect().peekable();
        if effect_rows.peek().is_some() {
            let harmless = rows.effect().find(|row| match row.effect {
                Some(RowEffect::Holds(_)) => false,
                _ => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
            });
            match harmless {
                Some(_) if hands_over => {}
                Some(row) if row.is_async == Some(true) => found.push(End::Asynchronous(path)),
                Some(_) => found.push(End::Harmless(path)),
                None => found.push(self.excused(site, path, receiver, property)),
            }
            return;
        }
        if hands_over {
            return;
        }
        if rows.iter().any(|row| row.is_async == Some(true)) {
            found.push(End::Asynchronous(path));
        } else if library.is_described(path) || !rows.is_empty() || self.has_model(path) {
            found.push(End::NoEffect(path));
        } else {
            found.push(End::NoModel(path));
        }
    }

    /// Returns why no row holds the thread at a call that rows describe.
    fn excused(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: blocklint_link::values::value::BoundId,
        property: bool,
    ) -> End {
        let linker = self.linker;
        let rows = if property { linker.library.properties(path) } else { linker.library.calls(path) };
        for row in rows.effect() {
            let Some(RowEffect::Holds(effect)) = row.effect else { continue };
            if let Some(None) = linker.match_row(site, path, receiver, row, effect, EnvId::NONE, false) {
                if linker.is_lock(receiver) {
                    return End::Lock(path);
                }
                if row.timeout.is_some() {
                    return End::NoTime(path);
                }
            }
        }
        End::Excused(path)
    }

    /// Adds the functions that a decorator registers.
    fn registers(&self, site: SiteRef, found: &mut Vec<End>) {
        let linker = self.linker;
        let Some(form) = self.decorated(site) else { return };
        let value = linker.eval(linker.scope_of(site, EnvId::NONE), form).value;
        for val in linker.values.members(value) {
            let Val::Fn { body, .. } = val else { continue };
            let is_async = linker.program.body(body).flow != Flow::Sync;
            for target in &linker.targets(site, EnvId::NONE).list {
                let Target::Row { path, .. } = *target else { continue };
                for row in linker.library.handovers(path).of_via(Via::Decorator) {
                    if let Runs::In(context) = linker.handover_context(row.row, site, is_async) {
                        found.push(End::Registers(body, context));
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

    /// Why a body that the site runs does nothing to its thread.
    fn body(&self, site: SiteRef, body: BodyRef, kind: TargetKind, awaited: bool, found: &mut Vec<End>) {
        let linker = self.linker;
        let flow = linker.program.body(body).flow;
        match kind {
            TargetKind::HandOver(context, runtime) => {
                let written = linker.qualified_name(body);
                found.push(End::HandsOver(PassedOn { written, context, runtime }));
            }
            TargetKind::Construct if awaited || self.roots.of(body).is_some() => {
                if awaited && flow == Flow::Coroutine {
                    found.push(End::Awaits(body, self.findings_in(body)));
                } else {
                    found.push(End::Makes(body, flow));
                }
            }
            TargetKind::Construct => found.push(End::Makes(body, flow)),
            TargetKind::Call | TargetKind::Consume | TargetKind::Init => {
                if self.roots.of(body).is_some_and(|root| root.absorbs()) && self.reached_roots.contains(&body) {
                    found.push(End::Awaits(body, self.findings_in(body)));
                } else if self.graph.labelled.contains(&body) {
                    found.push(self.lost(site, body));
                } else {
                    found.push(self.silenced_in(body).map_or(End::Quiet(body), |span| End::Silenced(body, span)));
                }
            }
        }
    }

    /// Returns why the labels of a body do not reach a site that calls it.
    fn lost(&self, site: SiteRef, body: BodyRef) -> End {
        let labelled_bodies = self
            .labelled_bodies
            .get(&body)
            .into_iter()
            .flatten()
            .map(|&labelled_body| self.graph.labelled_body(labelled_body));
        for labelled_body in labelled_bodies.filter(|labelled_body| labelled_body.node == Node::plain(body)) {
            if let Some(span) = self.cut_at(site, self.graph.labels.get(labelled_body.label)) {
                return End::Suppressed(site.file, span);
            }
        }
        End::RuledOut(body)
    }

    /// Returns the findings placed in a root.
    fn findings_in(&self, body: BodyRef) -> Vec<usize> {
        self.by_root.get(&body).cloned().unwrap_or_default()
    }

    /// Returns why a site has no target.
    fn without_target(&self, site: SiteRef) -> End {
        let linker = self.linker;
        let row = linker.program.site(site);
        let is_call = matches!(row.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro);
        if !is_call || row.flags.has(SiteFlags::ASYNC) {
            return End::Plain;
        }
        let members = linker.values.members(linker.callee(site, EnvId::NONE).value);
        match members.iter().find_map(|val| if let Val::Unknown(why) = *val { Some(why) } else { None }) {
            Some(why) => {
                // A method of a value that is not known: the receiver's reason explains more.
                let receiver =
                    linker.receiver_form(site).map(|form| linker.eval(linker.scope_of(site, EnvId::NONE), form));
                let of_receiver = receiver.and_then(|typed| {
                    let unknown = linker.values.is_unknown(typed.value);
                    linker.values.members(typed.value).into_iter().find_map(|val| match val {
                        Val::Unknown(why) if unknown => Some(why),
                        _ => None,
                    })
                });
                End::UnknownCallee(of_receiver.unwrap_or(why))
            }
            None => End::Plain,
        }
    }
}
