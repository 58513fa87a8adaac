//! Rows of any table, and the arguments they name.

use blocklint_models::{
    Argument, CallRow, Concurrency, Condition, File, HandoverContext, HandoverRow, MoveTo, Moves, Selector, Subject,
    TypeExpr, TypeRow, VersionRange,
};

/// A row of one of the tables that describe paths.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowView<'a> {
    Call(&'a CallRow),
    Type(&'a TypeRow),
    Handover(&'a HandoverRow),
}

impl<'a> RowView<'a> {
    /// True if the row states a reason for having no check.
    pub(crate) fn is_unchecked(self) -> bool {
        match self {
            RowView::Call(row) => row.unchecked.is_some(),
            RowView::Type(row) => row.unchecked.is_some(),
            RowView::Handover(row) => row.unchecked.is_some(),
        }
    }

    /// The versions it holds for.
    pub(crate) fn version(self) -> Option<&'a VersionRange> {
        match self {
            RowView::Call(row) => row.version.as_ref(),
            RowView::Type(row) => row.version.as_ref(),
            RowView::Handover(row) => row.version.as_ref(),
        }
    }
}

/// Returns every argument of the call that a row names, but for the receiver and "all".
pub(crate) fn arguments_of(row: RowView<'_>) -> Vec<Argument> {
    let mut found: Vec<&Argument> = Vec::new();
    let mut types: Vec<&TypeExpr> = Vec::new();
    let conditions: &[&[Condition]] = match &row {
        RowView::Call(row) => {
            found.extend([&row.timeout, &row.adds, &row.consumes].into_iter().flatten());
            if let Some(Concurrency::Argument(argument)) = &row.concurrency {
                found.push(argument);
            }
            if let Some(Moves::Source(MoveTo::Scheduler(argument)) | Moves::Rest(MoveTo::Scheduler(argument))) =
                &row.moves
            {
                found.push(argument);
            }
            types.extend(&row.returns);
            &[&row.when, &row.unless]
        }
        RowView::Handover(row) => {
            if let Selector::Argument(argument) = &row.selector {
                found.push(argument);
            }
            if let HandoverContext::Of(argument) = &row.context {
                found.push(argument);
            }
            types.extend(&row.gives);
            &[&row.when, &row.unless]
        }
        RowView::Type(_) => &[],
    };
    for condition in conditions.iter().copied().flatten() {
        if let Subject::Argument(argument) = &condition.subject {
            found.push(argument);
        }
    }
    for ty in types {
        ty.visit(&mut |part| {
            if let TypeExpr::Argument(argument) = part {
                found.push(argument);
            }
        });
    }
    found.retain(|argument| !matches!(argument, Argument::AllPositional | Argument::Receiver));
    found.into_iter().cloned().collect()
}

/// Returns every path of which a model speaks: those of its rows, their twins and bases, and its aliases.
pub(crate) fn paths_of(model: &File) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let calls = model.calls.iter().flat_map(|entry| &entry.paths);
    let types = model.types.iter().flat_map(|entry| &entry.paths);
    let handovers = model.handovers.iter().flat_map(|entry| &entry.paths);
    found.extend(calls.chain(types).chain(handovers).map(|path| path.text.clone()));
    let twins = model.calls.iter().flat_map(|entry| &entry.row.instead).flat_map(|instead| instead.all());
    found.extend(twins.map(|twin| twin.to_string()));
    let bases = model.types.iter().flat_map(|entry| &entry.row.bases).filter_map(TypeExpr::path);
    found.extend(bases.map(|base| base.to_string()));
    found.extend(model.aliases.iter().flat_map(|(left, right, _)| [left.clone(), right.clone()]));
    found
}
