//! A common view of the rows of all tables (`RowView`), and the arguments and paths that rows refer to.

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
    /// True if the row has `unchecked`: a reason why it cannot be checked.
    pub(crate) fn is_unchecked(self) -> bool {
        match self {
            RowView::Call(row) => row.unchecked.is_some(),
            RowView::Type(row) => row.unchecked.is_some(),
            RowView::Handover(row) => row.unchecked.is_some(),
        }
    }

    /// Returns the versions for which the row holds.
    pub(crate) fn version(self) -> Option<&'a VersionRange> {
        match self {
            RowView::Call(row) => row.version.as_ref(),
            RowView::Type(row) => row.version.as_ref(),
            RowView::Handover(row) => row.version.as_ref(),
        }
    }
}

/// Returns every argument of the call that a row refers to, without `receiver` and `*`.
pub(crate) fn arguments_of(row: RowView<'_>) -> Vec<Argument> {
    let mut arguments: Vec<&Argument> = Vec::new();
    let mut types: Vec<&TypeExpr> = Vec::new();
    let conditions: &[&[Condition]] = match &row {
        RowView::Call(row) => {
            arguments.extend([&row.timeout, &row.adds, &row.consumes].into_iter().flatten());
            if let Some(Concurrency::Argument(argument)) = &row.concurrency {
                arguments.push(argument);
            }
            if let Some(Moves::Source(MoveTo::Scheduler(argument)) | Moves::Rest(MoveTo::Scheduler(argument))) =
                &row.moves
            {
                arguments.push(argument);
            }
            types.extend(&row.returns);
            &[&row.when, &row.unless]
        }
        RowView::Handover(row) => {
            if let Selector::Argument(argument) = &row.selector {
                arguments.push(argument);
            }
            if let HandoverContext::Of(argument) = &row.context {
                arguments.push(argument);
            }
            types.extend(&row.gives);
            &[&row.when, &row.unless]
        }
        RowView::Type(_) => &[],
    };
    for condition in conditions.iter().copied().flatten() {
        if let Subject::Argument(argument) = &condition.subject {
            arguments.push(argument);
        }
    }
    for ty in types {
        ty.visit(&mut |part| {
            if let TypeExpr::Argument(argument) = part {
                arguments.push(argument);
            }
        });
    }
    arguments.retain(|argument| !matches!(argument, Argument::AllPositional | Argument::Receiver));
    arguments.into_iter().cloned().collect()
}

/// Returns every path in a model: those of its rows, their twins and bases, and both sides of its aliases.
pub(crate) fn paths_of(model: &File) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let calls = model.calls.iter().flat_map(|entry| &entry.paths);
    let types = model.types.iter().flat_map(|entry| &entry.paths);
    let handovers = model.handovers.iter().flat_map(|entry| &entry.paths);
    paths.extend(calls.chain(types).chain(handovers).map(|path| path.text.clone()));
    let twins = model.calls.iter().flat_map(|entry| &entry.row.instead).flat_map(|instead| instead.all());
    paths.extend(twins.map(|twin| twin.to_string()));
    let bases = model.types.iter().flat_map(|entry| &entry.row.bases).filter_map(TypeExpr::path);
    paths.extend(bases.map(|base| base.to_string()));
    paths.extend(model.aliases.iter().flat_map(|(left, right, _)| [left.clone(), right.clone()]));
    paths
}
