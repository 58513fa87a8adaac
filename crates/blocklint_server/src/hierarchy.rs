//! The LSP call hierarchy, along the paths from async code to blocking calls.

use blocklint_core::{Span, body_name};
use camino::Utf8Path;
use serde_json::json;

use crate::blocking_graph::{Body, BodyIndex};
use crate::protocol::{CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range, SymbolKind};
use crate::uri;
use crate::view::View;

/// Returns the item of the body around an offset, if the body is on a path.
pub(crate) fn prepare(view: &View, path: &Utf8Path, offset: u32) -> Option<CallHierarchyItem> {
    view.current_text(path)?;
    let (_, body) = view.analysis.blocking_graph.body_around(path, offset)?;
    Some(item(view, body))
}

/// Returns the callers of an item on a path.
pub(crate) fn incoming_calls(view: &View, callee: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let Some((index, _)) = find_body(view, callee) else { return Vec::new() };
    let callers = view.analysis.blocking_graph.callers(index);
    callers
        .map(|(body, spans)| CallHierarchyIncomingCall {
            from: item(view, body),
            from_ranges: ranges(view, body, spans),
        })
        .collect()
}

/// Returns the calls of an item on a path, its blocking calls included.
pub(crate) fn outgoing_calls(view: &View, caller: &CallHierarchyItem) -> Vec<CallHierarchyOutgoingCall> {
    let Some((_, body)) = find_body(view, caller) else { return Vec::new() };
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

fn find_body<'v>(view: &'v View, item: &CallHierarchyItem) -> Option<(BodyIndex, &'v Body)> {
    let path = uri::to_path(&item.uri)?;
    let start = item.data.as_ref()?.get("start")?.as_u64()?;
    let find_body = view.analysis.blocking_graph.body_defined_at(&path, u32::try_from(start).ok()?)?;
    (body_name(&find_body.1.function) == item.name).then_some(find_body)
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
