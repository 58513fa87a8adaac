//! One line of a file: the findings that name it, and where it stands.

use blocklint_core::Span;
use blocklint_facts::{BodyId, BodyKind, ClassKind, SiteId, SiteKind};
use blocklint_flow::graph::trace::place_of;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use rustc_hash::FxHashMap;

use super::Explainer;
use crate::Solved;

/// The role of a place in a finding, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceRole {
    /// The finding stands there.
    Finding,
    /// The call that blocks stands there.
    BlockingCall,
    /// Its path passes there.
    OnPath,
    /// Another holds there the lock that the call waits for.
    LockHolder,
    /// One of its further causes stands there.
    OtherCause,
    /// A path that is not shown leads through a call there.
    OtherPath,
}

/// A place that a finding names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    span: Span,
    finding: usize,
    part: PlaceRole,
}

/// Returns for each file the places that findings name, in order.
pub(super) fn touched(solved: &Solved) -> FxHashMap<FileId, Vec<Touched>> {
    let mut found: FxHashMap<FileId, Vec<Touched>> = FxHashMap::default();
    let mut add = |file: FileId, span: Span, finding: usize, part: PlaceRole| {
        found.entry(file).or_default().push(Touched { span, finding, part });
    };
    for (at, raw) in solved.findings.iter().enumerate() {
        add(raw.file, raw.span, at, PlaceRole::Finding);
        let last = raw.trace.len().saturating_sub(1);
        for (number, step) in raw.trace.iter().enumerate() {
            add(step.file, step.span, at, if number == last { PlaceRole::BlockingCall } else { PlaceRole::OnPath });
        }
        if let Some(step) = &raw.held_by {
            add(step.file, step.span, at, PlaceRole::LockHolder);
        }
        for cause in raw.causes.iter().filter_map(|&cause| solved.causes.get(cause as usize)) {
            add(cause.file, cause.span, at, PlaceRole::OtherCause);
        }
    }
    for places in found.values_mut() {
        places.sort_by_key(|place| (place.span.start, place.finding, place.part));
    }
    found
}

/// The code around a line: the body, function, class and call that it belongs to.
#[derive(Clone, Debug)]
pub struct LineContext {
    /// The innermost body around the line's first character.
    pub body: BodyRef,
    /// The function around the line, or that the line defines.
    pub function: Option<BodyRef>,
    /// The functions whose names stand on the line.
    pub defines: Vec<BodyRef>,
    /// The class whose name stands on the line.
    pub class: Option<ClassRef>,
    /// The innermost call that spans the line and begins before it.
    pub within: Option<SiteRef>,
    /// Outside of any function: the function that is nearest.
    pub nearest: Option<BodyRef>,
    /// True if a name is imported on the line.
    pub is_import: bool,
}

impl Explainer<'_, '_> {
    /// Returns the findings that name a place on a line, each with its nearest part there.
    pub fn findings_on(&self, file: FileId, line: Span) -> Vec<(usize, PlaceRole)> {
        let Some(places) = self.touched.get(&file) else { return Vec::new() };
        let first = places.partition_point(|place| place.span.start < line.start);
        let on_line = places[first..].iter().take_while(|place| place.span.start <= line.end);
        let mut found: Vec<(usize, PlaceRole)> = on_line.map(|place| (place.finding, place.part)).collect();
        found.sort_unstable();
        found.dedup_by_key(|(finding, _)| *finding);
        found
    }

    /// Returns the findings that stand at a site or name it.
    pub(super) fn findings_naming(&self, site: SiteRef) -> Vec<usize> {
        let row = self.linker.program.site(site);
        let mut spans = vec![row.span, place_of(self.linker, site)];
        spans.extend(self.linker.program.args_of(site).iter().map(|arg| arg.span));
        let mut found = self.by_site.get(&site).cloned().unwrap_or_default();
        if let Some(places) = self.touched.get(&site.file) {
            for span in spans {
                let first = places.partition_point(|place| place.span.start < span.start);
                let at_start = places[first..].iter().take_while(|place| place.span.start == span.start);
                found.extend(at_start.filter(|place| place.span == span).map(|place| place.finding));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns where a line stands; `code` is its text without the blanks around it.
    pub fn standing(&self, file: FileId, line: Span, code: Span) -> LineContext {
        let facts = self.linker.program.facts(file);
        let body_ref = |at: usize| file.body_ref(BodyId(at as u32));
        let on_line = |offset: u32| line.start <= offset && offset <= line.end && line.start < line.end;
        let around = |span: Span| span.start <= code.start && code.start < span.end;
        let (mut body, mut width) = (body_ref(0), u32::MAX);
        let mut defines = Vec::new();
        let mut nearest: Option<(u32, BodyRef)> = None;
        for (at, row) in facts.bodies.iter().enumerate() {
            if around(row.span) && row.kind != BodyKind::Module && row.span.end - row.span.start < width {
                (body, width) = (body_ref(at), row.span.end - row.span.start);
            }
            if row.kind != BodyKind::Function {
                continue;
            }
            if on_line(row.name_span.start) {
                defines.push(body_ref(at));
            }
            let distance = match row.span.end <= code.start {
                true => code.start - row.span.end,
                false => row.span.start.saturating_sub(code.start),
            };
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, body_ref(at)));
            }
        }
        let class = facts.classes.iter().position(|row| {
            row.name_span.start < row.name_span.end && row.kind != ClassKind::Impl && on_line(row.name_span.start)
        });
        let function = defines.first().copied().or_else(|| self.function_around(body));
        let within = facts
            .sites
            .iter()
            .enumerate()
            .filter(|(_, row)| matches!(row.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro))
            .filter(|(_, row)| row.span.start < line.start && code.start < row.span.end && code.start < code.end)
            // Code in a function that the call is given is no part of the call.
            .filter(|(_, row)| self.linker.program.body_of(file, row.at) == body)
            .min_by_key(|(_, row)| row.span.end - row.span.start)
            .map(|(at, _)| file.site_ref(SiteId(at as u32)));
        let is_import =
            facts.sites.iter().any(|row| row.kind == SiteKind::Import && (on_line(row.span.start) || around(row.span)))
                || facts.imports.iter().any(|row| on_line(row.span.start) || around(row.span));
        LineContext {
            body,
            function,
            defines,
            class: class.map(|at| file.class_ref(blocklint_facts::ClassId(at as u32))),
            within,
            nearest: function.is_none().then(|| nearest.map(|(_, body)| body)).flatten(),
            is_import,
        }
    }

    /// True if a site is an import.
    pub fn is_import(&self, site: SiteRef) -> bool {
        self.linker.program.site(site).kind == SiteKind::Import
    }

    /// Returns the function that a body is or stands in.
    fn function_around(&self, body: BodyRef) -> Option<BodyRef> {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        let mut at = Some(body_id);
        while let Some(of) = at {
            let row = facts.body(of);
            match row.kind {
                BodyKind::Function => return Some(body.file.body_ref(of)),
                BodyKind::Class | BodyKind::Module => return None,
                _ => at = row.parent.get(),
            }
        }
        None
    }
}
