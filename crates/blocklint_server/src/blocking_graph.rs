//! The graph of the bodies on the paths from async code to blocking calls. Code lenses count its entry points, and the
//! call hierarchy walks its edges.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use blocklint_core::{Finding, Span};
use blocklint_engine::BodyPlace;
use camino::Utf8Path;

use crate::analysis::FilePath;

/// The index of a body in a [`BlockingGraph`].
pub(crate) type BodyIndex = usize;

/// A body on a path.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) path: FilePath,
    /// The qualified name.
    pub(crate) function: String,
    pub(crate) place: BodyPlace,
    /// The entry points whose paths lead through this body.
    pub(crate) stalls: BTreeSet<BodyIndex>,
    /// Its calls on a path: the span of the call and the called body.
    pub(crate) calls: BTreeSet<(Span, BodyIndex)>,
    /// Its blocking calls: the span of the call and the name of the function.
    pub(crate) blocks: BTreeMap<Span, String>,
}

/// The bodies and their calls, by file.
#[derive(Debug, Default)]
pub(crate) struct BlockingGraph {
    bodies: Vec<Body>,
    by_file: HashMap<FilePath, Vec<BodyIndex>>,
}

impl BlockingGraph {
    /// Builds the graph from the traces of findings; `body_at` returns the body around an offset.
    pub(crate) fn new(findings: &[Finding], body_at: impl Fn(&Utf8Path, u32) -> Option<BodyPlace>) -> Self {
        let mut blocking_graph = BlockingGraph::default();
        let mut indices: HashMap<(FilePath, Span), BodyIndex> = HashMap::new();
        for finding in findings {
            let steps: Option<Vec<BodyIndex>> = finding
                .trace
                .iter()
                .map(|step| {
                    let place = body_at(&step.place.path, step.place.span.start)?;
                    let key = (FilePath::clone(&step.place.path), place.span);
                    Some(
                        *indices
                            .entry(key)
                            .or_insert_with(|| blocking_graph.add(&step.place.path, &step.function, place)),
                    )
                })
                .collect();
            let Some(steps) = steps else { continue };
            let Some((&root, helpers)) = steps.split_first() else { continue };
            for &helper in helpers {
                if helper != root {
                    blocking_graph.bodies[helper].stalls.insert(root);
                }
            }
            for (position, step) in finding.trace.iter().enumerate() {
                let body = &mut blocking_graph.bodies[steps[position]];
                if let Some(&next) = steps.get(position + 1) {
                    body.calls.insert((step.place.span, next));
                } else {
                    body.blocks.insert(step.place.span, step.call.clone());
                }
            }
        }
        blocking_graph
    }

    fn add(&mut self, path: &FilePath, function: &str, place: BodyPlace) -> BodyIndex {
        let index = self.bodies.len();
        self.by_file.entry(FilePath::clone(path)).or_default().push(index);
        self.bodies.push(Body {
            path: FilePath::clone(path),
            function: function.to_owned(),
            place,
            stalls: BTreeSet::new(),
            calls: BTreeSet::new(),
            blocks: BTreeMap::new(),
        });
        index
    }

    pub(crate) fn body(&self, index: BodyIndex) -> Option<&Body> {
        self.bodies.get(index)
    }

    /// Returns the bodies of a file.
    pub(crate) fn bodies_in(&self, path: &Utf8Path) -> impl Iterator<Item = (BodyIndex, &Body)> {
        self.by_file.get(path).into_iter().flatten().map(|&index| (index, &self.bodies[index]))
    }

    /// Returns the innermost body around an offset.
    pub(crate) fn body_around(&self, path: &Utf8Path, offset: u32) -> Option<(BodyIndex, &Body)> {
        let holds =
            |body: &Body| body.place.is_module || body.place.span.start <= offset && offset <= body.place.span.end;
        let candidates = self.bodies_in(path).filter(|(_, body)| holds(body));
        candidates.min_by_key(|(_, body)| (body.place.is_module, body.place.span.end - body.place.span.start))
    }

    /// Returns the body whose name begins at `start`.
    pub(crate) fn body_defined_at(&self, path: &Utf8Path, start: u32) -> Option<(BodyIndex, &Body)> {
        self.bodies_in(path).find(|(_, body)| body.place.name.start == start)
    }

    /// Returns the callers of a body on a path, each with the spans of its calls.
    pub(crate) fn callers(&self, callee: BodyIndex) -> impl Iterator<Item = (&Body, Vec<Span>)> {
        self.bodies.iter().filter_map(move |body| {
            let spans: Vec<Span> = body.calls.iter().filter(|(_, to)| *to == callee).map(|(span, _)| *span).collect();
            (!spans.is_empty()).then_some((body, spans))
        })
    }
}
