//! The bodies and calls that a search for the findings of a few files must look at: known from the flows of labels in an earlier search
//! over the same files, and from the calls that the changed files make now.

use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::SourceFile;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::graph::{EdgeTarget, FlowEdge, Graph};

/// The flows of labels between bodies, for the files as they were. Of files that have changed since, only the flows out of them count.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Flows {
    /// The bodies that the labels of a body came from.
    below: FxHashMap<BodyRef, Vec<BodyRef>>,
    /// The calls of a body at which labels began.
    begins: FxHashMap<BodyRef, Vec<SiteRef>>,
}

/// The question to a search over a few files.
#[derive(Clone, Copy, Debug)]
pub struct FileSearch<'f> {
    /// The files whose findings are wanted.
    pub files: &'f [FileId],
    /// All that have changed since the search over all files.
    pub changed: &'f FxHashSet<FileId>,
    /// Files whose findings are wanted if they may be others now.
    pub open: &'f [FileId],
}

/// Where a search looks that is asked only for the findings of a few files.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowScope {
    /// The bodies outside of those files that they lead to, which labels may reach.
    bodies: FxHashSet<BodyRef>,
    /// The calls outside of those files at which labels may begin.
    sites: FxHashSet<SiteRef>,
}

impl Flows {
    /// Returns the flows of a search.
    pub fn of(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut flows = Flows::default();
        for labelled_body in &graph.labelled_bodies {
            for edge in &labelled_body.edges {
                flows.add(linker, graph, labelled_body.node.body, edge);
            }
        }
        for hit in &graph.hits {
            flows.add(linker, graph, hit.root, &hit.edge);
        }
        for of_body in flows.below.values_mut() {
            of_body.sort();
            of_body.dedup();
        }
        for of_body in flows.begins.values_mut() {
            of_body.sort();
            of_body.dedup();
        }
        flows
    }

    /// True if all bodies and sites in it exist. It may come from the cache, whose files are not trusted.
    pub fn fits(&self, files: &[SourceFile]) -> bool {
        let has_body =
            |body: &BodyRef| files.get(body.file.index()).is_some_and(|file| body.index() < file.facts.bodies.len());
        let has_site =
            |site: &SiteRef| files.get(site.file.index()).is_some_and(|file| site.index() < file.facts.sites.len());
        self.below.iter().all(|(body, below)| has_body(body) && below.iter().all(has_body))
            && self.begins.iter().all(|(body, sites)| has_body(body) && sites.iter().all(has_site))
    }

    fn add(&mut self, linker: &Linker<'_>, graph: &Graph<'_>, body: BodyRef, edge: &FlowEdge) {
        let below = self.below.entry(body).or_default();
        let around = linker.program.body_of_site(edge.site);
        below.extend((around != body).then_some(around));
        match edge.next {
            EdgeTarget::LabelledBody(next) => below.push(graph.labelled_body(next).node.body),
            EdgeTarget::Sink(sink) => {
                let sink = &graph.sinks[sink as usize];
                below.extend(sink.held_by.map(|holding| linker.program.body_of_site(holding)));
                self.begins.entry(body).or_default().push(sink.site);
            }
        }
    }

    /// Returns the bodies in which something flowed whose name no other body bears: a call of that name may mean one
    /// whatever it is called on.
    fn named_alone(&self, linker: &Linker<'_>) -> FxHashMap<Name, BodyRef> {
        let named = self.below.keys().chain(self.begins.keys()).filter_map(|&body| {
            let name =
                linker.program.global(body.file, linker.program.facts(body.file).bodies.get(body.index())?.name)?;
            (linker.hierarchy.bodies_named(name) == 1).then_some((name, body))
        });
        named.collect()
    }

    /// Returns the files into which something flowed from one of some files, these among them.
    fn above(&self, files: &[FileId]) -> FxHashSet<FileId> {
        let mut above: FxHashMap<BodyRef, Vec<BodyRef>> = FxHashMap::default();
        for (&body, below) in &self.below {
            for &below in below {
                above.entry(below).or_default().push(body);
            }
        }
        let mut open: Vec<BodyRef> = above.keys().copied().filter(|body| files.contains(&body.file)).collect();
        let mut seen: FxHashSet<BodyRef> = open.iter().copied().collect();
        while let Some(body) = open.pop() {
            open.extend(above.get(&body).into_iter().flatten().copied().filter(|body| seen.insert(*body)));
        }
        seen.into_iter().map(|body| body.file).chain(files.iter().copied()).collect()
    }

    /// Returns those of some files whose findings may be others once some files have changed: they import one of these,
    /// or something flowed from there.
    fn affected(&self, linker: &Linker<'_>, of: &[FileId], files: &[FileId]) -> Vec<FileId> {
        if of.iter().all(|file| files.contains(file)) {
            return Vec::new();
        }
        let above = self.above(files);
        let changed: FxHashSet<FileId> = files.iter().copied().collect();
        let is = |file: &FileId| above.contains(file) || linker.reach().imports_any(*file, &changed);
        of.iter().copied().filter(is).collect()
    }

    /// Where the findings of some files can come from, and which files are asked about with them: changed ones that it leads to, for
    /// nothing is known of these, and open ones that are affected.
    pub(crate) fn focus(
        &self,
        linker: &Linker<'_>,
        FileSearch { files, changed, open }: FileSearch<'_>,
    ) -> (FlowScope, FxHashSet<FileId>) {
        let mut of_changed: FxHashMap<FileId, Vec<BodyRef>> = FxHashMap::default();
        for (body, below) in self.below.iter().filter(|(body, _)| changed.contains(&body.file)) {
            of_changed.entry(body.file).or_default().extend(below);
        }
        let mut asked: FxHashSet<FileId> = FxHashSet::default();
        let mut focus = FlowScope::default();
        let unique = self.named_alone(linker);
        let mut queue: Vec<FileId> = self.affected(linker, open, files);
        queue.extend(files);
        while let Some(file) = queue.pop() {
            if !asked.insert(file) {
                continue;
            }
            // The bodies that it led to before its change, and those that it calls and passes on now.
            let mut bodies = of_changed.remove(&file).unwrap_or_default();
            bodies.extend(reached_from(linker, file, &unique));
            while let Some(body) = bodies.pop() {
                if changed.contains(&body.file) || files.contains(&body.file) {
                    queue.push(body.file);
                } else if focus.bodies.insert(body) {
                    let begins = self.begins.get(&body).into_iter().flatten();
                    focus.bodies.extend(begins.clone().map(|&site| linker.program.body_of_site(site)));
                    focus.sites.extend(begins);
                    bodies.extend(self.below.get(&body).into_iter().flatten());
                }
            }
        }
        focus.sites.retain(|site| !asked.contains(&site.file));
        (focus, asked)
    }
}

impl FlowScope {
    /// Returns the bodies that it leads to, outside of the files asked about.
    pub(crate) fn bodies(&self) -> &FxHashSet<BodyRef> {
        &self.bodies
    }

    /// True if a label may begin at a call.
    pub(crate) fn begins_at(&self, linker: &Linker<'_>, site: SiteRef) -> bool {
        linker.is_reported(site.file) || self.sites.contains(&site)
    }

    /// True if a label may reach the body of a call.
    pub(crate) fn reaches(&self, linker: &Linker<'_>, site: SiteRef) -> bool {
        linker.is_reported(site.file) || self.bodies.contains(&linker.program.body_of_site(site))
    }
}

/// Returns the bodies of other files that one calls, or mentions.
fn reached_from(linker: &Linker<'_>, file: FileId, unique: &FxHashMap<Name, BodyRef>) -> Vec<BodyRef> {
    let mut found = Vec::new();
    let facts = linker.program.facts(file);
    for (at, row) in facts.sites.iter().enumerate() {
        let site = file.site_ref(blocklint_facts::SiteId(at as u32));
        let targets = linker.targets(site, EnvId::NONE);
        if targets.list.is_empty() && targets.unknown {
            let named = linker.program.global(file, row.name).and_then(|name| unique.get(&name));
            found.extend(named);
        }
        for target in &targets.list {
            match *target {
                Target::Body { body, .. } => found.push(body),
                Target::Overrides { class, name } => found.extend(linker.overrides(class, name).iter()),
                Target::Row { .. } => {}
            }
        }
    }
    found.extend(linker.bodies_mentioned_in(file));
    found.retain(|body| body.file != file);
    found
}
