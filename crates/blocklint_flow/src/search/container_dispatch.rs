//! Calls through a container of callables: `table[key]()`, `for hook in hooks: hook()`. If the container has several
//! callables, no label flows through the call, because it is unknown which callable runs. If a body that must not block
//! makes such a call, each callable becomes a root of its own and has its own finding. A container with one callable is
//! followed like a plain call.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklint_facts::{Flow, Form};
use blocklint_link::effect::label::Label;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::{Mention, Wrap};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::loop_check::runs_off_loop;
use crate::callers::{CallerKind, Node};
use crate::entries::root::{Root, RootKind};
use crate::graph::{FlowEdge, LabelledBodyId};
use crate::search::Search;

/// The most places that one search visits.
const MAX_VISITED: usize = 256;

impl<'l, 'a> Search<'l, 'a> {
    /// Finds calls through containers that have a labelled body, and propagates the labels through containers with one
    /// callable. Repeats this until no more bodies are labelled.
    pub(crate) fn follow_containers(&mut self) {
        let mut searched: FxHashSet<BodyRef> = FxHashSet::default();
        loop {
            let mut fresh: Vec<BodyRef> =
                self.graph.labelled.iter().copied().filter(|body| searched.insert(*body)).collect();
            if fresh.is_empty() {
                return;
            }
            fresh.sort();
            let mut files: Vec<FileId> =
                fresh.iter().filter(|body| self.may_be_in_container(**body)).map(|body| body.file).collect();
            files.dedup();
            for file in files {
                match self.linker.reach().around(file) {
                    Some(around) => {
                        around.into_iter().for_each(|file| self.conditions.callers.dispatch.add_file(self.linker, file))
                    }
                    None => (0..self.linker.program.files.len() as u32)
                        .for_each(|slot| self.conditions.callers.dispatch.add_file(self.linker, FileId(slot))),
                }
            }
            for body in fresh {
                if self.conditions.callers.dispatch.sites_of_only_callable(body).is_empty() {
                    continue;
                }
                let labelled_bodies = self.graph.labelled_bodies.iter().enumerate();
                let of_body: Vec<LabelledBodyId> = labelled_bodies
                    .filter(|(_, labelled_body)| labelled_body.node == Node::plain(body))
                    .map(|(index, _)| LabelledBodyId(index as u32))
                    .collect();
                let linker = self.linker;
                let callers = || self.conditions.callers.callers_through_containers(Node::plain(body));
                let callers = linker.attempt(WorkUnit::Body(body), callers).unwrap_or_default();
                for labelled_body in of_body {
                    for &caller in &callers {
                        self.propagate_to_caller(caller, labelled_body);
                    }
                }
            }
            self.propagate_all();
        }
    }

    /// Adds hits for the callables among which a body that must not block chooses: each such callable becomes a root.
    /// Repeats the search, because a new root may itself choose among callables.
    pub(crate) fn add_dispatched_roots(&mut self) {
        let mut dispatched: FxHashMap<BodyRef, Root> = FxHashMap::default();
        loop {
            let mut more: Vec<(BodyRef, Root)> = Vec::new();
            for (&body, sites) in &self.conditions.callers.dispatch.among_others {
                if dispatched.contains_key(&body)
                    || !self.graph.labelled.contains(&body)
                    || self.conditions.roots.find_root(body).is_some()
                {
                    continue;
                }
                if self.linker.program.body(body).flow != Flow::Sync {
                    continue;
                }
                let mut visited = FxHashSet::default();
                let root = sites.iter().find_map(|&site| {
                    let around = self.linker.program.body_of_site(site);
                    let root = || {
                        if runs_off_loop(self.linker, site) {
                            None
                        } else {
                            self.root_above(around, &dispatched, &mut visited)
                        }
                    };
                    self.linker.attempt(WorkUnit::Body(around), root).flatten()
                });
                if let Some(root) = root {
                    more.push((body, root));
                }
            }
            if more.is_empty() {
                break;
            }
            dispatched.extend(more);
        }
        let mut dispatched: Vec<(BodyRef, Root)> = dispatched.into_iter().collect();
        dispatched.sort_by_key(|(body, _)| *body);
        for (body, root) in dispatched {
            let edges: Vec<(Label, FlowEdge)> = self
                .graph
                .labelled_bodies
                .iter()
                .filter(|labelled_body| labelled_body.node.body == body)
                .flat_map(|labelled_body| {
                    let label = self.graph.labels.get(labelled_body.label);
                    labelled_body.edges.iter().map(move |edge| (label.clone(), *edge))
                })
                .collect();
            let linker = self.linker;
            for (label, edge) in edges {
                linker.attempt(WorkUnit::Body(body), || self.add_hit(body, root, false, &label, edge));
            }
        }
    }

    /// True if a body may be put into a container: it is decorated, or its name is in a display, stored under a key, or
    /// passed to a method that adds to a container (`hooks.append(hook)`).
    fn may_be_in_container(&self, body: BodyRef) -> bool {
        let program = self.linker.program;
        let facts = program.facts(body.file);
        let body_facts = program.body(body);
        body_facts.var.is_none()
            || !facts.list(body_facts.decorators).is_empty()
            || self.linker.body_names(body).into_iter().any(|name| {
                self.linker.query(&self.names_in_containers, name, bool::default, || {
                    program.occurrences(name).iter().any(|&(file, sym)| {
                        program
                            .index_of(file)
                            .mentions_named(sym)
                            .iter()
                            .any(|mention| self.is_put_in_container(file, mention))
                    })
                })
            })
    }

    /// True if a mention puts its value into a container.
    fn is_put_in_container(&self, file: FileId, (mention, wrap): (Mention, Wrap)) -> bool {
        let facts = self.linker.program.facts(file);
        match mention {
            _ if wrap == Wrap::Element => true,
            Mention::Assign(assign) => matches!(facts.form(facts.assign(assign).target), Form::Subscript(..)),
            Mention::Arg(site, _) => {
                let name = self.linker.program.global(file, facts.site(site).name);
                name.is_some_and(|name| self.linker.adding_names(facts.language).binary_search(&name).is_ok())
            }
            _ => false,
        }
    }

    /// Returns the root that runs a body: the body itself, or the nearest root among its callers. `None` if the path to
    /// every root has so many inferred steps that its finding would have low confidence.
    fn root_above(
        &self,
        body: BodyRef,
        dispatched: &FxHashMap<BodyRef, Root>,
        visited: &mut FxHashSet<Node>,
    ) -> Option<Root> {
        let as_dispatched = |root: Root| Root { kind: RootKind::Dispatched, ..root };
        let mut queue = BinaryHeap::from([Reverse((0u8, Node::plain(body)))]);
        while let Some(Reverse((steps, next))) = queue.pop() {
            if !visited.insert(next) || visited.len() > MAX_VISITED {
                continue;
            }
            if let Some(root) =
                self.conditions.roots.find_root(next.body).or_else(|| dispatched.get(&next.body).copied())
            {
                return Some(as_dispatched(root));
            }
            for caller in self.conditions.callers.find_callers(next).iter() {
                match caller.kind {
                    CallerKind::PassesToLoop(runtime) => {
                        return Some(Root {
                            kind: RootKind::Dispatched,
                            context: blocklint_core::Context::EventLoop,
                            runtime: runtime.or_else(|| self.linker.runtime_of(caller.site.file)),
                        });
                    }
                    CallerKind::Runs | CallerKind::Consumes => {
                        let steps = steps + caller.steps + u8::from(caller.shared);
                        if steps < blocklint_link::linker::LOW_STEPS && !runs_off_loop(self.linker, caller.site) {
                            // A closure of a decorator is called by the callers of the function that it wraps here.
                            let body = self.linker.program.body_of_site(caller.site);
                            queue.push(Reverse((steps, Node { body, env: caller.env })));
                        }
                    }
                }
            }
        }
        None
    }
}
