//! The rows that describe a path (`Matches`), in order of precedence: the first rows with a key decide it and hide the
//! others.

use std::ops::Deref;

use crate::{Argument, CallRow, FileInfo, HandoverRow, Rank, Selector, TypeExpr, TypeRow, Uses};

/// The origin of a row. Lesser layers take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// A model file of the user.
    User,
    /// A model file that a package ships.
    Shipped,
    /// A model that is compiled into blocklint.
    BuiltIn,
}

/// The identity of an expanded path of a row within one `LanguageModels`, equal in every lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId {
    pub(crate) layer: u8,
    pub(crate) pattern: u32,
}

/// A row that describes a path. Dereferences to the row.
#[derive(Debug)]
pub struct Match<'m, R> {
    /// The row.
    pub row: &'m R,
    /// The row's expanded path, with its globs and parameter list, as findings show it.
    pub path: &'m str,
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// The header of the row's file.
    pub file: &'m FileInfo,
    /// The layer of the row's file.
    pub layer: LayerKind,
    /// The index of the matched path in the list of the lookup: the type distance.
    pub distance: u32,
    /// The handle of the row, which can be stored.
    pub id: MatchId,
    /// The uses of the row.
    pub uses: Uses,
    pub(crate) rank: Rank,
    pub(crate) order: u32,
}

impl<R> Clone for Match<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Match<'_, R> {}

impl<R> Deref for Match<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.row
    }
}

impl<'m, R> Match<'m, R> {
    /// Returns the file and the line of the row, which identify it across runs.
    pub fn origin(&self) -> (&'m str, u32) {
        (&self.file.label, self.line)
    }

    /// Returns the precedence of the row: layer, type distance, rank of its path. A row hides rows whose precedence
    /// value is greater.
    fn precedence(&self) -> (LayerKind, u32, Rank) {
        (self.layer, self.distance, self.rank)
    }

    /// Returns the library that the row describes, by the first name in its file; empty only for user rows.
    pub fn library(&self) -> &'m str {
        self.file.libraries.first().map_or("", String::as_str)
    }

    /// Returns the parameter list of the row's path, if it has one (Java): types, simple or qualified, `_` for any.
    pub fn parameters(&self) -> Option<Vec<&'m str>> {
        let types = self.path.split_once('(')?.1.trim_end_matches(')').trim();
        Some(if types.is_empty() { Vec::new() } else { types.split(',').map(str::trim).collect() })
    }
}

impl<'m> Match<'m, HandoverRow> {
    /// Returns the effect of calling the result of a row with `wraps`, as a `[[call]]` row; `None` if only the wrapped
    /// callable has an effect.
    pub fn called(&self) -> Option<Match<'m, CallRow>> {
        let row: &'m HandoverRow = self.row;
        let Match { path, line, file, layer, distance, id, uses, rank, order, .. } = *self;
        row.called.as_deref().map(|row| Match { row, path, line, file, layer, distance, id, uses, rank, order })
    }
}

/// All rows of one kind that describe one of the paths of a lookup, sorted by layer, type distance, rank of the path
/// and order in the file.
#[derive(Clone, Debug)]
pub struct Matches<'m, R> {
    pub(crate) rows: Vec<Match<'m, R>>,
}

/// The `[[call]]` rows of a path.
pub type CallRows<'m> = Matches<'m, CallRow>;
/// The `[[handover]]` rows of a path.
pub type HandoverRows<'m> = Matches<'m, HandoverRow>;
/// The `[[type]]` rows of a path.
pub type TypeRows<'m> = Matches<'m, TypeRow>;

impl<'m, R> Matches<'m, R> {
    /// True if no row was found for the path.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns every row, including hidden ones.
    pub fn iter(&self) -> impl Iterator<Item = Match<'m, R>> + '_ {
        self.rows.iter().copied()
    }

    /// Returns the rows that decide a key, in the order in which their conditions are tried. `has_key` is true for rows
    /// with the key. The first such row and those of equal precedence hide all others, even if none of their conditions
    /// holds.
    pub fn with<'s>(&'s self, has_key: impl Fn(&R) -> bool + 's) -> impl Iterator<Item = Match<'m, R>> + 's {
        let precedence = self.rows.iter().find(|row| has_key(row.row)).map(Match::precedence);
        self.rows.iter().filter(move |row| Some(row.precedence()) == precedence && has_key(row.row)).copied()
    }

    /// Keeps only the rows of the user, which also apply to names that the project defines itself.
    pub fn user_only(mut self) -> Self {
        self.rows.retain(|row| row.layer == LayerKind::User);
        self
    }

    /// Removes the rows for which `is_kept` is false.
    pub fn retain(&mut self, is_kept: impl Fn(&Match<'m, R>) -> bool) {
        self.rows.retain(is_kept);
    }

    pub(crate) fn sort(&mut self) {
        self.rows.sort_by_key(|row| (row.precedence(), row.order));
    }
}

impl<'m> CallRows<'m> {
    /// Returns the rows that decide `effect`, `lazy` and the keys that belong to them.
    pub fn effect(&self) -> impl Iterator<Item = Match<'m, CallRow>> + '_ {
        self.with(CallRow::has_effect_group)
    }

    /// Returns the rows that have only advice (`instead`, `rewrite`, `note`), for calls whose effect row has none.
    pub fn advice(&self) -> impl Iterator<Item = Match<'m, CallRow>> + '_ {
        self.with(|row| {
            !row.has_effect_group() && (row.instead.is_some() || row.rewrite.is_some() || row.note.is_some())
        })
    }

    /// Drops rows whose parameter list (Java) does not fit a call with these argument types; `None` is an argument of
    /// unknown type. `is_a(argument, parameter)` is true if a type is a subtype of the parameter's type, which may be
    /// written by its simple name. A row with a typed parameter for an unknown argument stays only if no other row has
    /// a different list of this length.
    pub fn fit_parameters(&mut self, arguments: &[Option<&str>], is_a: impl Fn(&str, &str) -> bool) {
        let paths_of_arity: Vec<&str> = self
            .rows
            .iter()
            .filter(|row| row.parameters().is_some_and(|types| types.len() == arguments.len()))
            .map(|row| row.path)
            .collect();
        let is_overloaded = |path: &str| paths_of_arity.iter().any(|other_path| *other_path != path);
        self.rows.retain(|row| {
            let Some(parameters) = row.parameters() else { return true };
            parameters.len() == arguments.len()
                && parameters.iter().zip(arguments).all(|(parameter, argument)| match argument {
                    _ if *parameter == "_" => true,
                    Some(argument) => is_a(argument, parameter),
                    None => !is_overloaded(row.path),
                })
        });
    }
}

impl<'m> HandoverRows<'m> {
    /// Drops rows whose parameter list (Java) does not fit a call with these argument types; `None` is an argument of
    /// unknown type. A row with a typed parameter for an unknown argument stays, because a lambda has no type without
    /// its parameter.
    pub fn fit_arguments(&mut self, arguments: &[Option<&str>], is_a: impl Fn(&str, &str) -> bool) {
        self.rows.retain(|row| {
            row.parameters().is_none_or(|parameters| {
                parameters.len() == arguments.len()
                    && parameters.iter().zip(arguments).all(|(parameter, argument)| {
                        *parameter == "_" || argument.is_none_or(|argument| is_a(argument, parameter))
                    })
            })
        });
    }

    /// Returns the deciding rows of each argument or `via`, in the order in which their conditions are tried.
    pub fn groups(&self) -> Vec<Vec<Match<'m, HandoverRow>>> {
        let mut selectors: Vec<&Selector> = Vec::new();
        for row in &self.rows {
            if !selectors.contains(&&row.row.selector) {
                selectors.push(&row.row.selector);
            }
        }
        selectors.into_iter().map(|selector| self.with(move |row| row.selector == *selector).collect()).collect()
    }

    /// Returns the deciding rows of an argument.
    pub fn rows_of_argument<'s>(&'s self, argument: &'s Argument) -> impl Iterator<Item = Match<'m, HandoverRow>> + 's {
        self.with(move |row| matches!(&row.selector, Selector::Argument(row_argument) if row_argument == argument))
    }

    /// Returns the deciding rows of decorated definitions, or of overrides.
    pub fn rows_of_via(&self, via: crate::Via) -> impl Iterator<Item = Match<'m, HandoverRow>> + '_ {
        self.with(move |row| row.selector == Selector::Via(via))
    }
}

impl<'m> TypeRows<'m> {
    /// Returns the value of a key from the first row that has it.
    fn first_value<T>(&self, key: impl Fn(&'m TypeRow) -> Option<T>) -> Option<T> {
        self.rows.iter().find_map(|row| key(row.row))
    }

    /// Returns the type parameters, in order.
    pub fn params(&self) -> &'m [String] {
        self.first_value(|row| (!row.params.is_empty()).then_some(row.params.as_slice())).unwrap_or(&[])
    }

    /// Returns the library types that the type derives from or implements, in method resolution order.
    pub fn bases(&self) -> &'m [TypeExpr] {
        self.first_value(|row| (!row.bases.is_empty()).then_some(row.bases.as_slice())).unwrap_or(&[])
    }

    /// Returns the type of an attribute or field.
    pub fn field(&self, name: &str) -> Option<&'m TypeExpr> {
        self.first_value(|row| row.fields.iter().find(|(field, _)| field == name).map(|(_, ty)| ty))
    }

    /// Returns every attribute and field with its type.
    pub fn fields(&self) -> impl Iterator<Item = (&'m str, &'m TypeExpr)> + '_ {
        self.rows.iter().flat_map(|row| row.row.fields.iter().map(|(name, ty)| (name.as_str(), ty)))
    }

    /// Returns the type of an element by iteration or index.
    pub fn element(&self) -> Option<&'m TypeExpr> {
        self.first_value(|row| row.element.as_ref())
    }

    /// Returns the type of the result of awaiting a value.
    pub fn awaits(&self) -> Option<&'m TypeExpr> {
        self.first_value(|row| row.awaits.as_ref())
    }

    /// Returns the type of the value that `with ... as` binds; `None` means the type itself.
    pub fn enters(&self) -> Option<&'m TypeExpr> {
        self.first_value(|row| row.enters.as_ref())
    }

    /// Returns the index in `params` of the parameter whose members the type has as well (`through`).
    pub fn through(&self) -> Option<usize> {
        let through = self.first_value(|row| row.through.as_deref())?;
        self.params().iter().position(|param| param == through)
    }

    /// Returns the one abstract method of a functional interface (Java).
    pub fn functional(&self) -> Option<&'m str> {
        self.first_value(|row| row.functional.as_deref())
    }

    /// Returns the role of the type in rules.
    pub fn role(&self) -> Option<crate::Role> {
        self.first_value(|row| row.role)
    }

    /// Returns the source of the bytes of its values.
    pub fn source(&self) -> Option<crate::Source> {
        self.first_value(|row| row.source)
    }

    /// Returns the thread, loop or task to which its values belong.
    pub fn bound(&self) -> Option<crate::Bound> {
        self.first_value(|row| row.bound)
    }

    /// Returns the context of an executor's tasks, unless the call that created the executor decides it.
    pub fn scheduler(&self) -> Option<crate::Runs> {
        self.first_value(|row| row.scheduler)
    }

    /// True if the type has the tag. The caller checks its bases.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.rows.iter().any(|row| row.row.tags.iter().any(|row_tag| row_tag == tag))
    }
}
