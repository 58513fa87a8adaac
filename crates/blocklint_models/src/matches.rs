//! The rows that describe one path, most specific first, and which of them win.

use std::ops::Deref;

use crate::{Argument, CallRow, FileInfo, HandoverRow, Rank, Selector, TypeExpr, TypeRow, Uses};

/// Where a row comes from; the less it is, the sooner it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The user's configuration.
    User,
    /// Shipped by a package with itself.
    Shipped,
    /// Compiled into blocklint.
    BuiltIn,
}

/// Identifies one expanded path of one row within one `LanguageModels`; the same for every lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId {
    pub(crate) layer: u8,
    pub(crate) pattern: u32,
}

/// A row found for a path. Dereferences to the row.
#[derive(Debug)]
pub struct Match<'m, R> {
    /// The row.
    pub row: &'m R,
    /// The row's expanded path, with its globs and parameter list: what findings show.
    pub path: &'m str,
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// The header of the row's file.
    pub file: &'m FileInfo,
    /// The layer of the row's file.
    pub layer: LayerKind,
    /// Position of the matched path in the list that was asked for: the type distance.
    pub distance: u32,
    /// Handle to keep.
    pub id: MatchId,
    /// The bits by which the row is found.
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
    /// Returns the file and line of the row, its stable identity.
    pub fn origin(&self) -> (&'m str, u32) {
        (&self.file.label, self.line)
    }

    /// Returns the parts of a row's precedence by which it hides other rows: layer, type distance, path.
    fn class(&self) -> (LayerKind, u32, Rank) {
        (self.layer, self.distance, self.rank)
    }

    /// Returns the library the row describes: the first name of its file; empty only for user rows.
    pub fn library(&self) -> &'m str {
        self.file.libraries.first().map_or("", String::as_str)
    }

    /// Returns the parameter list of the row's path, if it has one (Java): types, simple or qualified, `_` for any.
    pub fn parameters(&self) -> Option<Vec<&'m str>> {
        let list = self.path.split_once('(')?.1.trim_end_matches(')').trim();
        Some(if list.is_empty() { Vec::new() } else { list.split(',').map(str::trim).collect() })
    }
}

impl<'m> Match<'m, HandoverRow> {
    /// Returns the row for calling the result of a row with `wraps`: its effect, besides that of the callable.
    pub fn called(&self) -> Option<Match<'m, CallRow>> {
        let row: &'m HandoverRow = self.row;
        let Match { path, line, file, layer, distance, id, uses, rank, order, .. } = *self;
        row.called.as_deref().map(|row| Match { row, path, line, file, layer, distance, id, uses, rank, order })
    }
}

/// All rows of one kind that describe a path, or of one path of a list: by layer, type distance, path and order in the
/// file.
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

    /// Returns every row, hidden ones too.
    pub fn iter(&self) -> impl Iterator<Item = Match<'m, R>> + '_ {
        self.rows.iter().copied()
    }

    /// For one key: the rows that decide it, in the order in which they are tried. `has` returns whether a row has the
    /// key. They hide all others, even where none of their conditions hold.
    pub fn with<'s>(&'s self, has: impl Fn(&R) -> bool + 's) -> impl Iterator<Item = Match<'m, R>> + 's {
        let class = self.rows.iter().find(|found| has(found.row)).map(Match::class);
        self.rows.iter().filter(move |found| Some(found.class()) == class && has(found.row)).copied()
    }

    /// Only rows of the user's configuration: what holds for names that the project defines itself.
    pub fn user_only(mut self) -> Self {
        self.rows.retain(|found| found.layer == LayerKind::User);
        self
    }

    /// Keeps the rows that a test accepts.
    pub fn retain(&mut self, keep: impl Fn(&Match<'m, R>) -> bool) {
        self.rows.retain(keep);
    }

    pub(crate) fn sort(&mut self) {
        self.rows.sort_by_key(|found| (found.class(), found.order));
    }
}

impl<'m> CallRows<'m> {
    /// Returns the rows that decide the keys that travel with `effect` or `lazy`.
    pub fn effect(&self) -> impl Iterator<Item = Match<'m, CallRow>> + '_ {
        self.with(CallRow::has_effect_group)
    }

    /// Returns rows that have only advice (`instead`, `rewrite`, `note`), for calls whose deciding row lacks it.
    pub fn advice(&self) -> impl Iterator<Item = Match<'m, CallRow>> + '_ {
        self.with(|row| {
            !row.has_effect_group() && (row.instead.is_some() || row.rewrite.is_some() || row.note.is_some())
        })
    }

    /// Drops rows whose parameter list (Java) is not that of a call with these argument types; `None` is an argument of
    /// unknown type. `is_a(argument, parameter)` returns whether a type is another, which may be written by its simple
    /// name. Rows that name the type of an unknown argument stay only if no other row has a different list of that
    /// arity.
    pub fn fit_parameters(&mut self, arguments: &[Option<&str>], is_a: impl Fn(&str, &str) -> bool) {
        let of_arity: Vec<&str> = self
            .rows
            .iter()
            .filter(|found| found.parameters().is_some_and(|list| list.len() == arguments.len()))
            .map(|found| found.path)
            .collect();
        let overloaded = |path: &str| of_arity.iter().any(|other| *other != path);
        self.rows.retain(|found| {
            let Some(parameters) = found.parameters() else { return true };
            parameters.len() == arguments.len()
                && parameters.iter().zip(arguments).all(|(parameter, argument)| match argument {
                    _ if *parameter == "_" => true,
                    Some(argument) => is_a(argument, parameter),
                    None => !overloaded(found.path),
                })
        });
    }
}

impl<'m> HandoverRows<'m> {
    /// Drops rows whose parameter list (Java) is not that of a call with these argument types. A lambda has no type by itself: rows
    /// that name the type of an unknown argument stay.
    pub fn fit_arguments(&mut self, arguments: &[Option<&str>], is_a: impl Fn(&str, &str) -> bool) {
        self.rows.retain(|found| {
            found.parameters().is_none_or(|parameters| {
                parameters.len() == arguments.len()
                    && parameters.iter().zip(arguments).all(|(parameter, argument)| {
                        *parameter == "_" || argument.is_none_or(|argument| is_a(argument, parameter))
                    })
            })
        });
    }

    /// Returns for each argument or `via` the rows that decide it, in the order in which they are tried.
    pub fn groups(&self) -> Vec<Vec<Match<'m, HandoverRow>>> {
        let mut selectors: Vec<&Selector> = Vec::new();
        for found in &self.rows {
            if !selectors.contains(&&found.row.selector) {
                selectors.push(&found.row.selector);
            }
        }
        selectors.into_iter().map(|selector| self.with(move |row| row.selector == *selector).collect()).collect()
    }

    /// Returns the rows that decide one argument.
    pub fn of_argument<'s>(&'s self, argument: &'s Argument) -> impl Iterator<Item = Match<'m, HandoverRow>> + 's {
        self.with(move |row| matches!(&row.selector, Selector::Argument(of) if of == argument))
    }

    /// Returns the rows that decide what is decorated, or overrides.
    pub fn of_via(&self, via: crate::Via) -> impl Iterator<Item = Match<'m, HandoverRow>> + '_ {
        self.with(move |row| row.selector == Selector::Via(via))
    }
}

impl<'m> TypeRows<'m> {
    fn first<T>(&self, key: impl Fn(&'m TypeRow) -> Option<T>) -> Option<T> {
        self.rows.iter().find_map(|found| key(found.row))
    }

    /// Returns its type parameters, in order.
    pub fn params(&self) -> &'m [String] {
        self.first(|row| (!row.params.is_empty()).then_some(row.params.as_slice())).unwrap_or(&[])
    }

    /// Returns the library types it derives from or implements, in method resolution order.
    pub fn bases(&self) -> &'m [TypeExpr] {
        self.first(|row| (!row.bases.is_empty()).then_some(row.bases.as_slice())).unwrap_or(&[])
    }

    /// Returns the type of an attribute or field.
    pub fn field(&self, name: &str) -> Option<&'m TypeExpr> {
        self.first(|row| row.fields.iter().find(|(field, _)| field == name).map(|(_, of)| of))
    }

    /// Returns every attribute and field that rows name.
    pub fn fields(&self) -> impl Iterator<Item = (&'m str, &'m TypeExpr)> + '_ {
        self.rows.iter().flat_map(|found| found.row.fields.iter().map(|(name, of)| (name.as_str(), of)))
    }

    /// Returns the type of an element by iteration or index.
    pub fn element(&self) -> Option<&'m TypeExpr> {
        self.first(|row| row.element.as_ref())
    }

    /// Returns the type of the result of awaiting it.
    pub fn awaits(&self) -> Option<&'m TypeExpr> {
        self.first(|row| row.awaits.as_ref())
    }

    /// Returns the type of the value that `with ... as` gives; `None` means the type itself.
    pub fn enters(&self) -> Option<&'m TypeExpr> {
        self.first(|row| row.enters.as_ref())
    }

    /// Returns the index in `params` of the parameter as which it behaves.
    pub fn through(&self) -> Option<usize> {
        let through = self.first(|row| row.through.as_deref())?;
        self.params().iter().position(|param| param == through)
    }

    /// Returns the one abstract method of a functional interface (Java).
    pub fn functional(&self) -> Option<&'m str> {
        self.first(|row| row.functional.as_deref())
    }

    /// Returns the role of the type in rules.
    pub fn role(&self) -> Option<crate::Role> {
        self.first(|row| row.role)
    }

    /// Returns where the bytes of its values come from.
    pub fn source(&self) -> Option<crate::Source> {
        self.first(|row| row.source)
    }

    /// Returns the thread, loop or task to which its values belong.
    pub fn bound(&self) -> Option<crate::Bound> {
        self.first(|row| row.bound)
    }

    /// For executors: the context of its tasks, unless the call that made it decides.
    pub fn scheduler(&self) -> Option<crate::Runs> {
        self.first(|row| row.scheduler)
    }

    /// True if the type itself has a tag. The caller asks its bases.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.rows.iter().any(|found| found.row.tags.iter().any(|of| of == tag))
    }
}
