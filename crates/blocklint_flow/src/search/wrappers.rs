//! Library wrappers that block in addition to the wrapped function: `@retry(wait=…)` sleeps between two tries, the
//! result of `async_to_sync(…)` runs an event loop.

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

/// A decoration or call by which a library wraps a callable.
struct Wrapping<'a> {
    /// The decoration or call whose result is the wrapper.
    wrapper_site: SiteRef,
    /// The call whose arguments the row describes. For `@retry(wait=…)` it is the call `retry(…)`, and `wrapper_site`
    /// is the decoration.
    arguments_site: SiteRef,
    /// The row of the wrapper.
    row: Match<'a, HandoverRow>,
    /// The row for calls of the wrapper.
    called: Match<'a, CallRow>,
    /// The path of the row.
    path: PathId,
    /// The wrapped body.
    body: BodyRef,
}

impl<'a> Search<'_, 'a> {
    /// Adds the sinks of library wrappers around bodies of the project.
    pub(crate) fn find_wrapper_sinks(&mut self) {
        let linker = self.linker;
        for &language in linker.program.languages() {
            for (file, sites) in self.candidate_sites(language) {
                for site in sites {
                    let site = file.site_ref(site);
                    linker.attempt_site(site, || {
                        for wrapping in self.wrappings(site) {
                            self.add_wrapper_sinks(&wrapping);
                        }
                    });
                }
            }
        }
    }

    /// Returns the decorators and calls that may match a row of a wrapper, in the files that may use its library.
    fn candidate_sites(&self, language: Language) -> Vec<(FileId, Vec<SiteId>)> {
        let (linker, program) = (self.linker, self.linker.program);
        let separator = blocklint_link::models::library::separator(language);
        let mut files: Vec<(FileId, Vec<SiteId>)> = Vec::new();
        let mut visited: FxHashSet<FileId> = FxHashSet::default();
        for row in linker.library.of(language).names(Uses::CALLED) {
            let Some(name) = program.name(row.name).filter(|&name| linker.is_name_in_focus(name)) else { continue };
            let heads: Vec<&str> =
                row.paths(Uses::CALLED).map(|path| path.path.split(separator).next().unwrap_or(path.path)).collect();
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
                    if visited.insert(file) {
                        let all_sites = (0..facts.sites.len() as u32).map(SiteId);
                        files.push((
                            file,
                            all_sites.filter(|&site| facts.site(site).kind == SiteKind::Decorate).collect(),
                        ));
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

    /// Returns the wrappings of callables at a site.
    fn wrappings(&self, wrapper_site: SiteRef) -> Vec<Wrapping<'a>> {
        let linker = self.linker;
        let facts = linker.program.facts(wrapper_site.file);
        let site_facts = linker.program.site(wrapper_site);
        let decorates = site_facts.kind == SiteKind::Decorate;
        let (callee, arguments_site) = match facts.form(site_facts.callee) {
            Form::Result(site) if decorates => {
                let arguments_site = wrapper_site.file.site_ref(site);
                (linker.callee(arguments_site, EnvId::NONE), arguments_site)
            }
            _ if decorates => {
                (linker.eval(linker.scope_of(wrapper_site, EnvId::NONE), site_facts.callee), wrapper_site)
            }
            _ => (linker.callee(wrapper_site, EnvId::NONE), wrapper_site),
        };
        let mut wrappings = Vec::new();
        for val in linker.values.members(callee.value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            let handovers = linker.library.handovers(path);
            // The first row whose conditions hold describes the wrapper.
            let matching = handovers.iter().filter(|row| row.wraps).find_map(|row| {
                let form = match &row.selector {
                    Selector::Via(Via::Decorator) if decorates => {
                        linker.program.args_of(wrapper_site).first().map(|arg| arg.value)
                    }
                    Selector::Argument(argument) if decorates && arguments_site == wrapper_site => {
                        // `@async_to_sync`: the decorated function is the argument.
                        let is_first_argument = linker.is_argument(wrapper_site, 0, argument);
                        linker.program.args_of(wrapper_site).first().map(|arg| arg.value).filter(|_| is_first_argument)
                    }
                    Selector::Argument(argument) if !decorates => linker.argument(wrapper_site, argument),
                    _ => None,
                }?;
                linker.conditions_hold(&row.when, &row.unless, arguments_site, EnvId::NONE).then_some((row, form))
            });
            let Some((row, form)) = matching else { continue };
            let Some(called) = row.called() else { continue };
            for body in self.wrapped_bodies(wrapper_site, form, decorates) {
                wrappings.push(Wrapping { wrapper_site, arguments_site, row, called, path, body });
            }
        }
        wrappings
    }

    /// Returns the project's functions that are values of a form. For a decorated definition this is the function below
    /// its decorators.
    fn wrapped_bodies(&self, site: SiteRef, form: FormId, decorates: bool) -> Vec<BodyRef> {
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

    /// Adds a sink for the wrapper: at the decorated body if the wrapper runs on the caller's thread, otherwise at each
    /// call of the wrapper.
    fn add_wrapper_sinks(&mut self, wrapping: &Wrapping<'a>) {
        let linker = self.linker;
        let &Wrapping { wrapper_site, arguments_site, row, called, path, body } = wrapping;
        let Some(effect) = called.held_effect() else { return };
        let Some(Some(sink)) =
            linker.match_row(arguments_site, path, BoundId::NONE, called, effect, EnvId::NONE, false)
        else {
            return;
        };
        let Sink { mut label, undecided, .. } = sink;
        if effect == Effect::Sleep {
            // The wrapper sleeps only after the wrapped function fails, for a time that its arguments state.
            label.severity = label.severity.min(Severity::Warning);
            label.hold = LabelHold::Fixed(Hold::Unstated);
        }
        let is_sync = linker.program.body(body).flow == Flow::Sync;
        let on_caller = matches!(row.context, HandoverContext::Is(Runs::Caller));
        let steps = add_steps(0, u8::from(undecided));
        let decorates = linker.program.site(wrapper_site).kind == SiteKind::Decorate;
        if on_caller && (!is_sync || self.graph.labelled.contains(&body)) {
            // Coroutine functions are retried without holding the thread, and a labelled body already has a finding.
            return;
        }
        let node = Node::plain(body);
        if on_caller && decorates {
            let edge = self.add_wrapper_sink(wrapping, arguments_site, &label, Some(body), steps);
            self.add_label(node, label, edge);
            return;
        }
        // Only the callers of the body that call the wrapper count.
        let callers = self.callers_of_labels.find_callers(node);
        let mut call_sites: Vec<SiteRef> = callers.iter().map(|caller| caller.site).collect();
        call_sites.sort();
        call_sites.dedup();
        for call_site in call_sites {
            let callee = linker.callee(call_site, EnvId::NONE);
            let is_wrapper = |val: &Val| matches!(*val, Val::Partial { made, .. } if made == wrapper_site);
            if !linker.values.members(callee.value).iter().any(is_wrapper) {
                continue;
            }
            let steps = add_steps(steps, callee.inferred_steps);
            let edge = self.add_wrapper_sink(wrapping, call_site, &label, None, steps);
            self.propagate_to_site(call_site, EnvId::NONE, label.clone(), edge);
        }
    }

    /// Adds the sink of a wrapper's row at a site. Returns the edge to it.
    fn add_wrapper_sink(
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
