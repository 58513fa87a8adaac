//! Steps of a trace: the source span of a site and the step for one edge of a path.

use blocklint_core::{Language, Span};
use blocklint_facts::SiteKind;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;

use crate::graph::raw_finding::RawStep;
use crate::graph::{EdgeTarget, FlowEdge, Graph};

/// Returns the span at which a site is reported: the whole call in Python, from the called name on in Rust and Java.
pub fn place_of(linker: &Linker<'_>, site: SiteRef) -> Span {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let is_call = matches!(site_facts.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro);
    if facts.language != Language::Python && is_call {
        return Span::new(site_facts.name_span.start, site_facts.span.end);
    }
    site_facts.span
}

/// Returns the trace step for one edge. `handed` is the index of the argument that a handover at the root hands over.
pub fn trace_step(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge, handed: Option<u32>) -> RawStep {
    let site_facts = linker.program.site(edge.site);
    let wraps = match edge.next {
        EdgeTarget::LabelledBody(_) => None,
        EdgeTarget::Sink(sink) => graph.sinks[sink as usize].wraps,
    };
    let body = wraps.unwrap_or_else(|| linker.program.body_of_site(edge.site));
    let call = match edge.next {
        EdgeTarget::LabelledBody(labelled_body) => linker.qualified_name(graph.labelled_body(labelled_body).node.body),
        EdgeTarget::Sink(sink) => linker.library.text(graph.sinks[sink as usize].path).to_string(),
    };
    let arg = edge.arg.and_then(|arg| linker.program.args_of(edge.site).get(arg as usize).copied());
    let (span, written) = match arg {
        // The argument is the code that runs; a literal has no name of its own.
        Some(arg) if handed.is_some() && site_facts.kind != SiteKind::Decorate => {
            (arg.span, linker.written(edge.site.file, arg.value))
        }
        Some(arg) => {
            let text = linker.written(edge.site.file, arg.value);
            (place_of(linker, edge.site), if text.is_empty() { linker.written_site(edge.site) } else { text })
        }
        None => (place_of(linker, edge.site), linker.written_site(edge.site)),
    };
    RawStep { file: edge.site.file, span, function: linker.qualified_name(body), call, written }
}
