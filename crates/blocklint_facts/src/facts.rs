//! The facts of one file (`FileFacts`): its tables, and lookups in them.

use blocklint_core::Language;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::forms::Forms;
use crate::table::{Column, Row, Table};
use crate::{
    Arg, Assign, AssignId, At, Body, BodyId, Class, ClassId, Exit, Form, FormId, Import, ImportId, List, Param,
    Problem, Region, RegionId, RegionKind, Site, SiteId, Suppression, Sym, Var, VarId,
};

/// The interned strings of one file.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    pub(crate) text: Box<str>,
    pub(crate) ends: Column,
}

impl Symbols {
    /// Returns the string of a symbol; empty for [`Sym::NONE`].
    #[inline]
    pub fn get(&self, sym: Sym) -> &str {
        if sym.index() >= self.ends.len() {
            return "";
        }
        let start = if sym.0 == 0 { 0 } else { self.ends.at(sym.index() - 1) };
        &self.text[start as usize..self.ends.at(sym.index()) as usize]
    }

    /// Returns the number of strings; symbols are numbered from 0.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if the file has no strings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns every string with its symbol.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &str)> {
        (0..self.len() as u32).map(|index| (Sym(index), self.get(Sym(index))))
    }
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.iter().map(|(_, text)| text)).finish()
    }
}

/// The arguments of a site.
pub type Args = SmallVec<[Arg; 4]>;

/// The facts of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The language of the file.
    pub language: Language,
    /// The hash of the file's bytes.
    pub content_hash: u64,
    /// The interned strings.
    pub symbols: Symbols,
    /// The forms of values, which [`FormId`] refers to.
    pub forms: Forms,
    /// The entries of all [`List`]s of forms: members of displays, alternatives, bases, decorators, rules of comments.
    #[serde(with = "crate::stored::forms")]
    pub lists: Vec<FormId>,
    /// The bodies; the first is the file's top level, and each body follows the body around it.
    pub bodies: Table<Body>,
    /// The parameters; those of a body are adjacent.
    pub params: Vec<Param>,
    /// The classes, structs, enums, traits, interfaces, impl blocks and inline modules.
    pub classes: Vec<Class>,
    /// The variables.
    pub vars: Table<Var>,
    /// The regions of bodies.
    pub regions: Table<Region>,
    /// The sites; those of a body are in the order of evaluation.
    pub sites: Table<Site>,
    /// The arguments; those of a site are adjacent.
    pub args: Table<Arg>,
    /// The assignments.
    pub assigns: Table<Assign>,
    /// The exits of bodies: `return`, `yield`.
    pub exits: Table<Exit>,
    /// The imports.
    pub imports: Table<Import>,
    /// The comments that suppress findings or promise that code does not block.
    pub suppressions: Vec<Suppression>,
    /// The parts of the file that could not be read; at most one for each cause.
    pub problems: Vec<Problem>,
    /// For each variable, the start of its assignments in `assigns_by_var` (one entry more than variables).
    pub(crate) var_assign_starts: Column,
    pub(crate) assigns_by_var: Column,
    /// For each body, the start of the variables of its scope in `vars_by_body` (one entry more than bodies).
    pub(crate) body_var_starts: Column,
    pub(crate) vars_by_body: Column,
}

impl FileFacts {
    /// Returns the facts that [`FileFacts::to_bytes`] has written; `None` if the bytes are no facts.
    /// [`crate::validate`] checks that their references are valid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // This code is in this crate so that it is optimised as this crate is.
        postcard::from_bytes(bytes).ok()
    }

    /// Returns the facts as bytes for a cache.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }

    /// Returns the form with an id; [`Form::Other`] for [`FormId::NONE`].
    #[inline]
    pub fn form(&self, id: FormId) -> Form {
        self.forms.get(id)
    }

    /// Returns the forms of a list.
    #[inline]
    pub fn list(&self, list: List) -> &[FormId] {
        &self.lists[list.range()]
    }

    /// Returns the string of a symbol.
    #[inline]
    pub fn text(&self, sym: Sym) -> &str {
        self.symbols.get(sym)
    }

    /// Returns the body with an id.
    #[inline]
    pub fn body(&self, id: BodyId) -> Body {
        self.bodies.at(id.index())
    }

    /// Returns the site with an id.
    #[inline]
    pub fn site(&self, id: SiteId) -> Site {
        self.sites.at(id.index())
    }

    /// Returns the class with an id.
    #[inline]
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Returns the variable with an id.
    #[inline]
    pub fn var(&self, id: VarId) -> Var {
        self.vars.at(id.index())
    }

    /// Returns the region with an id.
    #[inline]
    pub fn region(&self, id: RegionId) -> Region {
        self.regions.at(id.index())
    }

    /// Returns the import with an id.
    #[inline]
    pub fn import(&self, id: ImportId) -> Import {
        self.imports.at(id.index())
    }

    /// Returns the body of a place in the order of evaluation.
    #[inline]
    pub fn body_of(&self, at: At) -> BodyId {
        self.region(at.region).body
    }

    /// Returns the parameters of a body, in order, with the receiver.
    #[inline]
    pub fn params_of(&self, body: BodyId) -> &[Param] {
        &self.params[self.body(body).params.range()]
    }

    /// Returns the arguments of a site, as written, without the receiver of a method call.
    #[inline]
    pub fn args_of(&self, site: SiteId) -> Args {
        self.args.slice(self.site(site).args.range())
    }

    /// Returns the assignment with an id.
    #[inline]
    pub fn assign(&self, id: AssignId) -> Assign {
        self.assigns.at(id.index())
    }

    /// Returns the assignments to a variable, in the order of evaluation of each body.
    pub fn assigns_of(&self, var: VarId) -> impl DoubleEndedIterator<Item = Assign> {
        self.assign_ids_of(var).map(|id| self.assign(id))
    }

    /// Returns the only assignment of a value to a variable; `None` if there are several or none.
    pub fn only_value_of(&self, var: VarId) -> Option<Assign> {
        let mut values = self.assigns_of(var).filter(|row| row.value.is_some());
        values.next().filter(|_| values.next().is_none())
    }

    /// Returns the ids of the assignments to a variable, in the order of evaluation of each body.
    pub fn assign_ids_of(&self, var: VarId) -> impl DoubleEndedIterator<Item = AssignId> {
        range_of_key(&self.var_assign_starts, var.index()).map(|index| AssignId(self.assigns_by_var.at(index)))
    }

    /// Returns the variables of a body's own scope; empty for [`BodyId::NONE`] (a declared alias has no body).
    pub fn vars_of(&self, body: BodyId) -> impl Iterator<Item = VarId> {
        let range = if body.is_none() { 0..0 } else { range_of_key(&self.body_var_starts, body.index()) };
        range.map(|index| VarId(self.vars_by_body.at(index)))
    }

    /// Returns the qualified name of a body inside its file: `Store.load`, `make.<lambda>`; empty for the top level.
    pub fn qualified_name(&self, body: BodyId) -> String {
        let mut parts = Vec::new();
        let mut current = body;
        while let Some(id) = current.get() {
            let body = self.body(id);
            // The name of an inline module is a part, that of the file is not.
            if body.parent.is_some() {
                parts.push(self.text(body.name));
            }
            current = body.parent;
        }
        parts.reverse();
        parts.join(if self.language == Language::Rust { "::" } else { "." })
    }

    /// True if the region is in a loop of its body.
    pub fn is_in_loop(&self, region: RegionId) -> bool {
        let mut current = region;
        while let Some(id) = current.get() {
            let region = self.region(id);
            match region.kind {
                RegionKind::Loop => return true,
                RegionKind::Body => return false,
                _ => current = region.parent,
            }
        }
        false
    }

    /// Returns the size of the tables in bytes, for measurements of memory.
    pub fn heap_size(&self) -> usize {
        self.table_sizes().iter().map(|(_, _, bytes)| bytes).sum()
    }

    /// Returns the name, the number of rows and the size in bytes of each table.
    pub fn table_sizes(&self) -> [(&'static str, usize, usize); 20] {
        fn slice<T>(name: &'static str, rows: &[T]) -> (&'static str, usize, usize) {
            (name, rows.len(), size_of_val(rows))
        }
        fn packed<R: Row>(name: &'static str, table: &Table<R>) -> (&'static str, usize, usize) {
            (name, table.len(), table.heap_size())
        }
        fn words(name: &'static str, words: &Column) -> (&'static str, usize, usize) {
            (name, words.len(), words.heap_size())
        }
        [
            ("text of symbols", self.symbols.len(), self.symbols.text.len()),
            words("ends of symbols", &self.symbols.ends),
            ("forms", self.forms.len(), self.forms.heap_size()),
            slice("lists", &self.lists),
            packed("bodies", &self.bodies),
            slice("parameters", &self.params),
            slice("classes", &self.classes),
            packed("variables", &self.vars),
            packed("regions", &self.regions),
            packed("sites", &self.sites),
            packed("arguments", &self.args),
            packed("assignments", &self.assigns),
            packed("exits", &self.exits),
            packed("imports", &self.imports),
            slice("comments", &self.suppressions),
            slice("problems", &self.problems),
            words("starts by variable", &self.var_assign_starts),
            words("assignments by variable", &self.assigns_by_var),
            words("starts by body", &self.body_var_starts),
            words("variables by body", &self.vars_by_body),
        ]
    }
}

/// Returns the range of the entries of a key; `starts` has the start of each key's entries.
fn range_of_key(starts: &Column, key: usize) -> std::ops::Range<usize> {
    starts.at(key) as usize..starts.at(key + 1) as usize
}
