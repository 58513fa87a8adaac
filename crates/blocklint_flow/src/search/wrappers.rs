//! Wrappers of libraries that block besides running the wrapped function: `@retry(wait=…)` sleeps between two tries, the result of
//! `async_to_sync(…)` runs a loop.

use blocklint_core::{Effect, Hold, Language, Severity};
use blocklint_facts::{Flow, Form, FormId, SiteId, SiteKind};
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::models::row_match::Sink;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::values::value::{BoundId, EnvId, Val};
use blocklint_models::{CallRow, HandoverContext, HandoverRow, Match, Runs, Selector, Uses, Via};
use rustc_hash::FxHashSet;

use crate::callers::{Node, add_steps};
use crate::graph::marks::Marks;
use crate::graph::{EdgeTarget, FlowEdge, SinkSite};
use crate::search::Search;

/// A place where a library's row wraps a callable.
struct Wrapping<'a> {
    /// The decoration or call whose result is the wrapper.
    made: SiteRef,
    /// The call whose arguments the row describes: with `@retry(wait=…)` another than `made`.
    asked: SiteRef,
    /// The row.
    row: Match<'a, HandoverRow>,
    /// The row for calls of the wrapper.
    called: Match<'a, CallRow>,
    /// Its path.
    path: PathId,
    /// The wrapped body.
    body: BodyRef,
}

impl<'a> Search<'_, 'a> {
    /// Adds the effects of wrappers around bodies that have no effect of their own.
    pub(crate) fn find_wrapped(&mut self) {
        let linker = self.linker;
        for &language in linker.program.languages() {
            for (file, sites) in self.wrapping_sites(language) {
                for site in sites {
                    let site = file.site_ref(site);
                    linker.attempt_site(site, || {
                        for wrapping in self.wrappings(site) {
                            self.wrapped(&wrapping);
                        }
                    });
                }
            }
        }
    }

    /// Returns the decorators and calls that may match such a row, by their names, in the files that may hold its
    /// library.
    fn wrapping_sites(&self, language: Language) -> Vec<(FileId, Vec<SiteId>)> {
        let (linker, program) = (self.linker, self.linker.program);
        let separator = blocklint_link::models::library::separator(language);
        let mut files: Vec<(FileId, Vec<SiteId>)> = Vec::new();
        let mut seen: FxHashSet<FileId> = FxHashSet::default();
        for row in linker.library.of(language).names(Uses::CALLED) {
            let Some(name) = program.name(row.name).filter(|&name| linker.is_name_in_focus(name)) else { continue };
            let heads: Vec<&str> =
                row.paths(Uses::CALLED).map(|of| of.path.split(separator).next().unwrap_or(of.path)).collect();
            let roots = linker.reach().roots(heads.into_iter());
            for name in linker.with_aliases(name) {
                for &(file, sym) in program.occurrences(name) {
                    if !linker.is_in_focus(file) {
                        continue;
                    }
                    let facts = program.facts(file);
                    if facts.language != language || !linker.reach().may_hold(file, language, &roots) {
                        continue;
                    }
                    let named = program.index_of(file).sites_named(sym).iter().copied();
                    let named: Vec<SiteId> = named.filter(|&site| facts.site(site).kind == SiteKind::Call).collect();
                    files.push((file, named));
                    if seen.insert(file) {
                        let all = (0..facts.sites.len() as u32).map(SiteId);
                        files.push((file, all.filter(|&site| facts.site(site).kind == SiteKind::Decorate).collect()));
                    }
                }
            }
        }
        for (_, sites) in &mut files {
            sites.sort();
            sites.dedup();
        }
        files.sort();
        files.dedup();
        files
    }

    /// Returns the callables that are wrapped at a site, and the row that wraps them.
    fn wrappings(&self, made: SiteRef) -> Vec<Wrapping<'a>> {
        let linker = self.linker;
        let facts = linker.program.facts(made.file);
        let row = linker.program.site(made);
        let decorates = row.kind == SiteKind::Decorate;
        let (callee, asked) = match facts.form(row.callee) {
            Form::Result(site) if decorates => {
                let asked = made.file.site_ref(site);
                (linker.callee(asked, EnvId::NONE), asked)
            }
            _ if decorates => (linker.eval(linker.scope_of(made, EnvId::NONE), row.callee), made),
            _ => (linker.callee(made, EnvId::NONE), made),
        };
        let mut found = Vec::new();
        for val in linker.values.members(callee.value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            let handovers = linker.library.handovers(path);
            // The first row whose conditions hold describes the wrapper.
            let speaking = handovers.iter().filter(|row| row.wraps).find_map(|row| {
                let form = match &row.selector {
                    Selector::Via(Via::Decorator) if decorates => {
                        linker.program.args_of(made).first().map(|arg| arg.value)
                    }
                    Selector::Argument(argument) if decorates && asked == made => {
                        // `@async_to_sync`: what is decorated is the argument.
                        let first = linker.is_argument(made, 0, argument);
                        linker.program.args_of(made).first().map(|arg| arg.value).filter(|_| first)
                    }
                    Selector::Argument(argument) if !decorates => linker.argument(made, argument),
                    _ => None,
                }?;
                linker.conditions_hold(&row.when, &row.unless, asked, EnvId::NONE).then_some((row, form))
            });
            let Some((row, form)) = speaking else { continue };
            let Some(called) = row.called() else { continue };
            for body in self.bodies_in(made, form, decorates) {
                found.push(Wrapping { made, asked, row, called, path, body });
            }
        }
        found
    }

    /// Returns the project's functions that a form means; of a decorated definition the function below its decorators.
    fn bodies_in(&self, site: SiteRef, form: FormId, decorates: bool) -> Vec<BodyRef> {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let mut form = form;
        loop {
            match facts.form(form) {
                Form::Callable(body) if decorates => return vec![site.file.body_ref(body)],
                Form::Result(inner) if decorates && facts.site(inner).kind == SiteKind::Decorate => {
                    let below = facts.args_of(inner).first().map(|arg| arg.value);
                    let Some(below) = below else { break };
                    form = below;
                }
                _ => break,
            }
        }
        let members = linker.values.members(linker.eval(linker.scope_of(site, EnvId::NONE), form).value);
        let bodies = members.iter().filter_map(|val| match *val {
            Val::Fn { body, .. } => Some(body),
            _ => None,
        });
        bodies.collect()
    }

    fn wrapped(&mut self, wrapping: &Wrapping<'a>) {
        let linker = self.linker;
        let &Wrapping { made, asked, row, called, path, body } = wrapping;
        let Some(effect) = called.held() else { return };
        let Some(Some(sink)) = linker.match_row(asked, path, BoundId::NONE, called, effect, EnvId::NONE, false) else {
            return;
        };
        let Sink { mut label, undecided, .. } = sink;
        if effect == Effect::Sleep {
            // Only where what is wrapped fails, and for as long as it was asked to.
            label.severity = label.severity.min(Severity::Warning);
            label.hold = LabelHold::Fixed(Hold::Unstated);
        }
        let is_sync = linker.program.body(body).flow == Flow::Sync;
        let on_caller = matches!(row.context, HandoverContext::Is(Runs::Caller));
        let steps = add_steps(0, u8::from(undecided));
        let decorates = linker.program.site(made).kind == SiteKind::Decorate;
        if on_caller && (!is_sync || self.graph.labelled.contains(&body)) {
            // Coroutine functions are retried without holding the thread; and one finding for a call is enough.
            return;
        }
        let node = Node::plain(body);
        if on_caller && decorates {
            let edge = self.sink_of_wrapper(wrapping, asked, &label, Some(body), steps);
            self.push(node, label, edge);
            return;
        }
        // Of its callers those that call the wrapper.
        let callers = self.climbs.of(node);
        let mut places: Vec<SiteRef> = callers.iter().map(|caller| caller.site).collect();
        places.sort();
        places.dedup();
        for place in places {
            let callee = linker.callee(place, EnvId::NONE);
            let is_wrapper = |val: &Val| matches!(*val, Val::Partial { made: of, .. } if of == made);
            if !linker.values.members(callee.value).iter().any(is_wrapper) {
                continue;
            }
            let edge = self.sink_of_wrapper(wrapping, place, &label, None, add_steps(steps, callee.inferred_steps));
            self.propagate_to_site(place, EnvId::NONE, label.clone(), edge);
        }
    }

    /// Adds the sink of a wrapper's row at a site. Returns the edge to it.
    fn sink_of_wrapper(
        &mut self,
        wrapping: &Wrapping<'a>,
        site: SiteRef,
        label: &Label,
        wraps: Option<BodyRef>,
        steps: u8,
    ) -> FlowEdge {
        let label = self.graph.labels.id(label.clone());
        let sink = self.graph.sinks.len() as u32;
        let &Wrapping { called: row, path, .. } = wrapping;
        self.graph.sinks.push(SinkSite { site, row, path, label, held_by: None, wraps });
        *self.graph.sink_rows_at.entry(site).or_default() += 1;
        FlowEdge { site, arg: None, next: EdgeTarget::Sink(sink), steps, shared: false, marks: Marks::default() }
    }
}
