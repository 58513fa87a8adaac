//! Statements other than calls, such as `raise`, that forbid moving a function of another file to a thread (Python).

use std::sync::Arc;

use blocklint_core::{Place, Refusal, Span};
use blocklint_python::Binding;
use camino::Utf8Path;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::make::TextOf;
use crate::fixing::planned_edit::PlannedEdit;

/// The statements that forbid moving each function that would move with a call, by file and span of the function.
pub(super) struct BindingsElsewhere(FxHashMap<Box<str>, FxHashMap<Span, Vec<Binding>>>);

impl BindingsElsewhere {
    /// Searches the functions of these planned edits, with one parse of each file.
    pub(super) fn new<'w>(planned_edits: impl Iterator<Item = &'w PlannedEdit>, text: &TextOf<'_>) -> Self {
        let mut files: FxHashMap<&str, FxHashSet<Span>> = FxHashMap::default();
        for (path, span) in planned_edits.flat_map(PlannedEdit::functions) {
            files.entry(path.as_str()).or_default().insert(*span);
        }
        let files: Vec<_> = files.into_iter().collect();
        let bindings_by_file = files.into_par_iter().filter_map(|(path, spans)| {
            let spans: Vec<Span> = spans.into_iter().collect();
            let bindings = blocklint_python::find_bindings(&text(Utf8Path::new(path))?, &spans);
            let bindings_by_span: FxHashMap<_, _> =
                spans.into_iter().zip(bindings).filter(|(_, bindings)| !bindings.is_empty()).collect();
            (!bindings_by_span.is_empty()).then(|| (Box::from(path), bindings_by_span))
        });
        BindingsElsewhere(bindings_by_file.collect::<Vec<_>>().into_iter().collect())
    }

    fn bindings(&self, (path, span): &(Arc<Utf8Path>, Span)) -> Option<&[Binding]> {
        self.0.get(path.as_str())?.get(span).map(Vec::as_slice)
    }

    /// Returns the reason why a call in the file `from` cannot move, or the `block` around it. `handles` is true if the
    /// call is in an exception handler.
    pub(super) fn refusal(
        &self,
        planned_edit: &PlannedEdit,
        from: &Utf8Path,
        block: Option<Span>,
        handles: bool,
    ) -> Option<Refusal> {
        let moves = match block {
            None => match &planned_edit.moves {
                Ok(moves) => moves,
                Err(refusal) => return Some(refusal.clone()),
            },
            // The span of a statement contains its block.
            Some(statement) => match planned_edit.blocks.iter().rfind(|(span, _)| statement.contains(*span)) {
                Some((_, Ok(moves))) => moves,
                Some((_, Err(refusal))) => return Some(refusal.clone()),
                None => return Some(Refusal::new("the block around it must move to a thread as a whole")),
            },
        };
        // Functions in the call's own file are checked by the front end.
        let others = moves.iter().filter(|(path, _)| block.is_some() || **path != *from);
        let mut on_the_way = planned_edit.on_path.iter();
        let once = on_the_way.find_map(|key| {
            let binding = self.bindings(key)?.iter().find(|binding| binding.only_on_the_way)?;
            Some(Refusal::with_place(binding.reason, Place::unlocated(Arc::clone(&key.0), binding.span)))
        });
        if once.is_some() {
            return once;
        }
        others.filter_map(|key| Some((key, self.bindings(key)?))).find_map(|((path, _), bindings)| {
            let fits = |binding: &&Binding| !binding.only_on_the_way && (handles || !binding.only_while_handling);
            let binding = bindings.iter().find(fits)?;
            Some(Refusal::with_place(binding.reason, Place::unlocated(Arc::clone(path), binding.span)))
        })
    }
}
