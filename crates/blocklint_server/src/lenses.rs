//! Code lenses: the number of async functions that a blocking helper stalls.

use camino::Utf8Path;
use serde_json::json;

use crate::protocol::{CodeLens, Command, Location};
use crate::view::View;

/// The command of clients that show a list of locations.
const SHOW_REFERENCES: &str = "blocklint.showReferences";

/// Returns the lenses of a file.
pub(crate) fn code_lenses(view: &View, path: &Utf8Path) -> Vec<CodeLens> {
    if view.current_text(path).is_none() {
        return Vec::new();
    }
    let bodies = view
        .analysis
        .blocking_graph
        .bodies_in(path)
        .filter(|(_, body)| !body.stalls.is_empty() && !body.place.is_module);
    let lenses = bodies.map(|(_, body)| {
        let range = view.range(path, body.place.name);
        let title = match body.stalls.len() {
            1 => "stalls 1 async function".to_owned(),
            many => format!("stalls {many} async functions"),
        };
        let roots = body.stalls.iter().filter_map(|&root| view.analysis.blocking_graph.body(root));
        let places: Vec<Location> = roots
            .map(|root| Location { uri: view.uri(&root.path), range: view.range(&root.path, root.place.name) })
            .collect();
        let is_offered = view.client.commands.iter().any(|command| command == SHOW_REFERENCES);
        let arguments = is_offered.then(|| vec![json!(view.uri(path)), json!(range.start), json!(places)]);
        let command = if is_offered { SHOW_REFERENCES.to_owned() } else { String::new() };
        CodeLens { range, command: Some(Command { title, tooltip: None, command, arguments }), data: None }
    });
    let mut lenses: Vec<CodeLens> = lenses.collect();
    lenses.sort_by_key(|lens| lens.range);
    lenses
}
