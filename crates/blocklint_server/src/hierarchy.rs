//! The call hierarchy, along the paths to calls that block.

use blocklint_core::{Span, body_name};
use camino::Utf8Path;
use serde_json::json;

use crate::blocking_graph::{Body, BodyIndex};
use crate::protocol::{CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range, SymbolKind};
use crate::uri;
use crate::view::View;

/// Returns the body around an offset, if it lies on a path.
pub(crate) fn prepare(view: &View, path: &Utf8Path, offset: u32) -> Option<CallHierarchyItem> {
    view.current_text(path)?;
    let (_, body) = view.analysis.blocking_graph.around(path, offset)?;
    Some(item(view, body))
}

/// Its callers on a path.
pub(crate) fn incoming(view: &View, of: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let Some((index, _)) = found(view, of) else { return Vec::new() };
    let callers = view.analysis.blocking_graph.callers(index);
    callers
        .map(|(body, spans)| CallHierarchyIncomingCall {
            from: item(view, body),
            from_ranges: ranges(view, body, spans),
        })
        .collect()
}

/// Its calls on a path, the blocking ones among them.
pub(crate) fn outgoing(view: &View, of: &CallHierarchyItem) -> Vec<CallHierarchyOutgoingCall> {
    let Some((_, body)) = found(view, of) else { return Vec::new() };
    let mut targets: Vec<(BodyIndex, Vec<Span>)> = Vec::new();
    for &(span, to) in &body.calls {
        match targets.iter_mut().find(|(known, _)| *known == to) {
            Some((_, spans)) => spans.push(span),
            None => targets.push((to, vec![span])),
        }
    }
    let calls = targets.into_iter().filter_map(|(to, spans)| {
        let to = view.analysis.blocking_graph.body(to)?;
        Some(CallHierarchyOutgoingCall { to: item(view, to), from_ranges: ranges(view, body, spans) })
    });
    let blocking = body.blocks.iter().map(|(&span, name)| {
        let range = view.range(&body.path, span);
        let to = CallHierarchyItem {
            name: name.clone(),
            kind: SymbolKind::Function,
            tags: None,
            detail: Some("blocks".to_owned()),
            uri: view.uri(&body.path),
            range,
            selection_range: range,
            data: None,
        };
        CallHierarchyOutgoingCall { to, from_ranges: vec![range] }
    });
    calls.chain(blocking).collect()
}

fn found<'v>(view: &'v View, item: &CallHierarchyItem) -> Option<(BodyIndex, &'v Body)> {
    let path = uri::to_path(&item.uri)?;
    let start = item.data.as_ref()?.get("start")?.as_u64()?;
    let found = view.analysis.blocking_graph.at(&path, u32::try_from(start).ok()?)?;
    (body_name(&found.1.function) == item.name).then_some(found)
}

fn item(view: &View, body: &Body) -> CallHierarchyItem {
    let selection_range = view.range(&body.path, body.place.name);
    let range = if body.place.is_module { selection_range } else { view.range(&body.path, body.place.span) };
    CallHierarchyItem {
        name: body_name(&body.function).to_owned(),
        kind: if body.place.is_module { SymbolKind::Module } else { SymbolKind::Function },
        tags: None,
        detail: Some(body.function.clone()),
        uri: view.uri(&body.path),
        range,
        selection_range,
        data: Some(json!({ "start": body.place.name.start })),
    }
}

fn ranges(view: &View, body: &Body, spans: Vec<Span>) -> Vec<Range> {
    spans.into_iter().map(|span| view.range(&body.path, span)).collect()
}
