//! Incremental search: the bodies and calls that must be searched for the findings of a few files. They are computed
//! from the label flows of an earlier search over all files, and from the calls that the changed files make now.

use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::SourceFile;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::graph::{EdgeTarget, FlowEdge, Graph};

/// The flows of labels between bodies in a search over all files. For a file that has changed since, only the flows
/// from other files into its bodies are used.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Flows {
    /// For each body the callees that its labels came from.
    below: FxHashMap<BodyRef, Vec<BodyRef>>,
    /// For each body the calls at which labels began.
    label_starts: FxHashMap<BodyRef, Vec<SiteRef>>,
}

/// The files of an incremental search.
#[derive(Clone, Copy, Debug)]
pub struct FileSearch<'f> {
    /// The files whose findings are wanted.
    pub files: &'f [FileId],
    /// All files that have changed since the search over all files.
    pub changed: &'f FxHashSet<FileId>,
    /// Files whose findings are also wanted if the changes may affect them.
    pub open: &'f [FileId],
}

/// The part of the program outside of the searched files that an incremental search looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowScope {
    /// The bodies that labels may reach.
    bodies: FxHashSet<BodyRef>,
    /// The calls at which labels may begin.
    sites: FxHashSet<SiteRef>,
}

impl Flows {
    /// Returns the label flows in the graph of a search.
    pub fn from_graph(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut flows = Flows::default();
        for labelled_body in &graph.labelled_bodies {
            for edge in &labelled_body.edges {
                flows.add_edge(linker, graph, labelled_body.node.body, edge);
            }
        }
        for hit in &graph.hits {
            flows.add_edge(linker, graph, hit.root, &hit.edge);
        }
        for bodies in flows.below.values_mut() {
            bodies.sort();
            bodies.dedup();
        }
        for sites in flows.label_starts.values_mut() {
            sites.sort();
            sites.dedup();
        }
        flows
    }

    /// True if all bodies and sites of the flows exist in the files. Flows may come from the cache, which is not
    /// trusted.
    pub fn is_valid_for(&self, files: &[SourceFile]) -> bool {
        let has_body =
            |body: &BodyRef| files.get(body.file.index()).is_some_and(|file| body.index() < file.facts.bodies.len());
        let has_site =
            |site: &SiteRef| files.get(site.file.index()).is_some_and(|file| site.index() < file.facts.sites.len());
        self.below.iter().all(|(body, below)| has_body(body) && below.iter().all(has_body))
            && self.label_starts.iter().all(|(body, sites)| has_body(body) && sites.iter().all(has_site))
    }

    /// Adds the flow of a label through an edge of a body.
    fn add_edge(&mut self, linker: &Linker<'_>, graph: &Graph<'_>, body: BodyRef, edge: &FlowEdge) {
        let below = self.below.entry(body).or_default();
        let around = linker.program.body_of_site(edge.site);
        below.extend((around != body).then_some(around));
        match edge.next {
            EdgeTarget::LabelledBody(next) => below.push(graph.labelled_body(next).node.body),
            EdgeTarget::Sink(sink) => {
                let sink = &graph.sinks[sink as usize];
                below.extend(sink.held_by.map(|holding| linker.program.body_of_site(holding)));
                self.label_starts.entry(body).or_default().push(sink.site);
            }
        }
    }

    /// Returns the bodies with flows whose name is unique in the program. A call of that name may run the body even if
    /// the receiver is unknown.
    fn uniquely_named_bodies(&self, linker: &Linker<'_>) -> FxHashMap<Name, BodyRef> {
        let named = self.below.keys().chain(self.label_starts.keys()).filter_map(|&body| {
            let name =
                linker.program.global(body.file, linker.program.facts(body.file).bodies.get(body.index())?.name)?;
            (linker.hierarchy.count_bodies_named(name) == 1).then_some((name, body))
        });
        named.collect()
    }

    /// Returns the files that labels of some files flowed into, directly or through others, and these files themselves.
    fn files_above(&self, files: &[FileId]) -> FxHashSet<FileId> {
        let mut above: FxHashMap<BodyRef, Vec<BodyRef>> = FxHashMap::default();
        for (&body, below) in &self.below {
            for &below in below {
                above.entry(below).or_default().push(body);
            }
        }
        let mut open: Vec<BodyRef> = above.keys().copied().filter(|body| files.contains(&body.file)).collect();
        let mut visited: FxHashSet<BodyRef> = open.iter().copied().collect();
        while let Some(body) = open.pop() {
            open.extend(above.get(&body).into_iter().flatten().copied().filter(|body| visited.insert(*body)));
        }
        visited.into_iter().map(|body| body.file).chain(files.iter().copied()).collect()
    }

    /// Returns the candidates whose findings may depend on some files: they import one of these files, or labels flowed
    /// from there.
    fn affected_files(&self, linker: &Linker<'_>, candidates: &[FileId], files: &[FileId]) -> Vec<FileId> {
        if candidates.iter().all(|file| files.contains(file)) {
            return Vec::new();
        }
        let above = self.files_above(files);
        let changed: FxHashSet<FileId> = files.iter().copied().collect();
        let is_affected = |file: &FileId| above.contains(file) || linker.reach().imports_any(*file, &changed);
        candidates.iter().copied().filter(is_affected).collect()
    }

    /// Returns the scope of an incremental search, and the files that are searched completely: the wanted files, open
    /// files that are affected, and changed files that these lead to, because the flows of changed files are out of
    /// date.
    pub(crate) fn scope_of_search(
        &self,
        linker: &Linker<'_>,
        FileSearch { files, changed, open }: FileSearch<'_>,
    ) -> (FlowScope, FxHashSet<FileId>) {
        let mut of_changed: FxHashMap<FileId, Vec<BodyRef>> = FxHashMap::default();
        for (body, below) in self.below.iter().filter(|(body, _)| changed.contains(&body.file)) {
            of_changed.entry(body.file).or_default().extend(below);
        }
        let mut searched: FxHashSet<FileId> = FxHashSet::default();
        let mut scope = FlowScope::default();
        let unique = self.uniquely_named_bodies(linker);
        let mut queue: Vec<FileId> = self.affected_files(linker, open, files);
        queue.extend(files);
        while let Some(file) = queue.pop() {
            if !searched.insert(file) {
                continue;
            }
            // The bodies that labels of the file came from before its change, and those that it calls and passes on
            // now.
            let mut bodies = of_changed.remove(&file).unwrap_or_default();
            bodies.extend(callees_outside(linker, file, &unique));
            while let Some(body) = bodies.pop() {
                if changed.contains(&body.file) || files.contains(&body.file) {
                    queue.push(body.file);
                } else if scope.bodies.insert(body) {
                    let starts = self.label_starts.get(&body).into_iter().flatten();
                    scope.bodies.extend(starts.clone().map(|&site| linker.program.body_of_site(site)));
                    scope.sites.extend(starts);
                    bodies.extend(self.below.get(&body).into_iter().flatten());
                }
            }
        }
        scope.sites.retain(|site| !searched.contains(&site.file));
        (scope, searched)
    }
}

impl FlowScope {
    /// Returns the bodies outside of the searched files that labels may reach.
    pub(crate) fn bodies(&self) -> &FxHashSet<BodyRef> {
        &self.bodies
    }

    /// True if a label may begin at a call.
    pub(crate) fn may_begin_at(&self, linker: &Linker<'_>, site: SiteRef) -> bool {
        linker.is_reported(site.file) || self.sites.contains(&site)
    }

    /// True if a label may reach the body of a call.
    pub(crate) fn may_reach(&self, linker: &Linker<'_>, site: SiteRef) -> bool {
        linker.is_reported(site.file) || self.bodies.contains(&linker.program.body_of_site(site))
    }
}

/// Returns the bodies of other files that a file calls or mentions.
fn callees_outside(linker: &Linker<'_>, file: FileId, unique: &FxHashMap<Name, BodyRef>) -> Vec<BodyRef> {
    let mut callees = Vec::new();
    let facts = linker.program.facts(file);
    for (index, site_facts) in facts.sites.iter().enumerate() {
        let site = file.site_ref(blocklint_facts::SiteId(index as u32));
        let targets = linker.targets(site, EnvId::NONE);
        if targets.list.is_empty() && targets.unknown {
            let named = linker.program.global(file, site_facts.name).and_then(|name| unique.get(&name));
            callees.extend(named);
        }
        for target in &targets.list {
            match *target {
                Target::Body { body, .. } => callees.push(body),
                Target::Overrides { class, name } => callees.extend(linker.overrides(class, name).iter()),
                Target::Row { .. } => {}
            }
        }
    }
    callees.extend(linker.bodies_mentioned_in(file));
    callees.retain(|body| body.file != file);
    callees
}
