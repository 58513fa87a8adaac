//! Explanation of a line for `blocklint why`: the findings that have a place on it, and the function, class and call
//! around it.

use blocklint_core::Span;
use blocklint_facts::{BodyId, BodyKind, ClassId, ClassKind, SiteId, SiteKind};
use blocklint_flow::graph::trace::place_of;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use rustc_hash::FxHashMap;

use super::Explainer;
use crate::Solved;

/// The role of a place in a finding, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceRole {
    /// The place that the finding reports.
    Finding,
    /// The blocking call.
    BlockingCall,
    /// A call on the shown path.
    OnPath,
    /// The call during which other code holds the lock.
    LockHolder,
    /// Another cause of the finding.
    OtherCause,
    /// A call on a path that is not shown.
    OtherPath,
}

/// A place that belongs to a finding.
#[derive(Clone, Copy, Debug)]
pub(super) struct FindingPlace {
    span: Span,
    finding: usize,
    role: PlaceRole,
}

/// Returns for each file the places that belong to findings, in order.
pub(super) fn finding_places(solved: &Solved) -> FxHashMap<FileId, Vec<FindingPlace>> {
    let mut places: FxHashMap<FileId, Vec<FindingPlace>> = FxHashMap::default();
    let mut add = |file: FileId, span: Span, finding: usize, role: PlaceRole| {
        places.entry(file).or_default().push(FindingPlace { span, finding, role });
    };
    for (index, raw) in solved.findings.iter().enumerate() {
        add(raw.file, raw.span, index, PlaceRole::Finding);
        let last = raw.trace.len().saturating_sub(1);
        for (number, step) in raw.trace.iter().enumerate() {
            add(step.file, step.span, index, if number == last { PlaceRole::BlockingCall } else { PlaceRole::OnPath });
        }
        if let Some(step) = &raw.held_by {
            add(step.file, step.span, index, PlaceRole::LockHolder);
        }
        for cause in raw.causes.iter().filter_map(|&cause| solved.causes.get(cause as usize)) {
            add(cause.file, cause.span, index, PlaceRole::OtherCause);
        }
    }
    for of_file in places.values_mut() {
        of_file.sort_by_key(|place| (place.span.start, place.finding, place.role));
    }
    places
}

/// The code around a line: the body, function, class and call that it belongs to.
#[derive(Clone, Debug)]
pub struct LineContext {
    /// The innermost body around the line's first character.
    pub body: BodyRef,
    /// The function around the line, or that the line defines.
    pub function: Option<BodyRef>,
    /// The functions whose names are on the line.
    pub defines: Vec<BodyRef>,
    /// The class whose name is on the line.
    pub class: Option<ClassRef>,
    /// The innermost call that spans the line and begins before it.
    pub enclosing_call: Option<SiteRef>,
    /// The nearest function, if the line is outside of all functions.
    pub nearest: Option<BodyRef>,
    /// True if a name is imported on the line.
    pub is_import: bool,
}

impl Explainer<'_, '_> {
    /// Returns the findings that have a place on a line, each with its most important role there.
    pub fn findings_on(&self, file: FileId, line: Span) -> Vec<(usize, PlaceRole)> {
        let Some(places) = self.finding_places.get(&file) else { return Vec::new() };
        let start_index = places.partition_point(|place| place.span.start < line.start);
        let on_line = places[start_index..].iter().take_while(|place| place.span.start <= line.end);
        let mut findings: Vec<(usize, PlaceRole)> = on_line.map(|place| (place.finding, place.role)).collect();
        findings.sort_unstable();
        findings.dedup_by_key(|(finding, _)| *finding);
        findings
    }

    /// Returns the findings that are reported at a site, or have another place there.
    pub(super) fn findings_at(&self, site: SiteRef) -> Vec<usize> {
        let site_facts = self.linker.program.site(site);
        let mut spans = vec![site_facts.span, place_of(self.linker, site)];
        spans.extend(self.linker.program.args_of(site).iter().map(|arg| arg.span));
        let mut findings = self.by_site.get(&site).cloned().unwrap_or_default();
        if let Some(places) = self.finding_places.get(&site.file) {
            for span in spans {
                let start_index = places.partition_point(|place| place.span.start < span.start);
                let at_start = places[start_index..].iter().take_while(|place| place.span.start == span.start);
                findings.extend(at_start.filter(|place| place.span == span).map(|place| place.finding));
            }
        }
        findings.sort_unstable();
        findings.dedup();
        findings
    }

    /// Returns the code around a line. `code` is the span of the line without the blanks around it.
    pub fn line_context(&self, file: FileId, line: Span, code: Span) -> LineContext {
        let facts = self.linker.program.facts(file);
        let body_ref = |index: usize| file.body_ref(BodyId(index as u32));
        let on_line = |offset: u32| line.start <= offset && offset <= line.end && line.start < line.end;
        let around = |span: Span| span.start <= code.start && code.start < span.end;
        let (mut body, mut width) = (body_ref(0), u32::MAX);
        let mut defines = Vec::new();
        let mut nearest: Option<(u32, BodyRef)> = None;
        for (index, body_facts) in facts.bodies.iter().enumerate() {
            if around(body_facts.span)
                && body_facts.kind != BodyKind::Module
                && body_facts.span.end - body_facts.span.start < width
            {
                (body, width) = (body_ref(index), body_facts.span.end - body_facts.span.start);
            }
            if body_facts.kind != BodyKind::Function {
                continue;
            }
            if on_line(body_facts.name_span.start) {
                defines.push(body_ref(index));
            }
            let distance = if body_facts.span.end <= code.start {
                code.start - body_facts.span.end
            } else {
                body_facts.span.start.saturating_sub(code.start)
            };
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, body_ref(index)));
            }
        }
        let class = facts.classes.iter().position(|class_facts| {
            class_facts.name_span.start < class_facts.name_span.end
                && class_facts.kind != ClassKind::Impl
                && on_line(class_facts.name_span.start)
        });
        let function = defines.first().copied().or_else(|| self.function_around(body));
        let enclosing_call = facts
            .sites
            .iter()
            .enumerate()
            .filter(|(_, site_facts)| matches!(site_facts.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro))
            .filter(|(_, site_facts)| {
                site_facts.span.start < line.start && code.start < site_facts.span.end && code.start < code.end
            })
            // Code in a lambda that the call gets as an argument is no part of the call.
            .filter(|(_, site_facts)| self.linker.program.body_of(file, site_facts.at) == body)
            .min_by_key(|(_, site_facts)| site_facts.span.end - site_facts.span.start)
            .map(|(index, _)| file.site_ref(SiteId(index as u32)));
        let is_import =
            facts.sites.iter().any(|site_facts| {
                site_facts.kind == SiteKind::Import && (on_line(site_facts.span.start) || around(site_facts.span))
            }) || facts.imports.iter().any(|site_facts| on_line(site_facts.span.start) || around(site_facts.span));
        LineContext {
            body,
            function,
            defines,
            class: class.map(|index| file.class_ref(ClassId(index as u32))),
            enclosing_call,
            nearest: function.is_none().then(|| nearest.map(|(_, body)| body)).flatten(),
            is_import,
        }
    }

    /// True if a site is an import.
    pub fn is_import(&self, site: SiteRef) -> bool {
        self.linker.program.site(site).kind == SiteKind::Import
    }

    /// Returns the function that is a body or encloses it.
    fn function_around(&self, body: BodyRef) -> Option<BodyRef> {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        let mut ancestor = Some(body_id);
        while let Some(id) = ancestor {
            let body_facts = facts.body(id);
            match body_facts.kind {
                BodyKind::Function => return Some(body.file.body_ref(id)),
                BodyKind::Class | BodyKind::Module => return None,
                _ => ancestor = body_facts.parent.get(),
            }
        }
        None
    }
}
