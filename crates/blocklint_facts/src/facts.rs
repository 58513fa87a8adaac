//! Everything that one file states.

use blocklint_core::Language;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::forms::Forms;
use crate::table::{Column, Row, Table};
use crate::{
    Arg, Assign, AssignId, At, Body, BodyId, Class, ClassId, Exit, Form, FormId, Import, ImportId, List, Param,
    Problem, Region, RegionId, RegionKind, Site, SiteId, Suppression, Sym, Var, VarId,
};

/// The strings of one file, each once.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    pub(crate) text: Box<str>,
    pub(crate) ends: Column,
}

impl Symbols {
    /// Returns the string; empty for [`Sym::NONE`].
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

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns every string with its symbol.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &str)> {
        (0..self.len() as u32).map(|at| (Sym(at), self.get(Sym(at))))
    }
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.iter().map(|(_, text)| text)).finish()
    }
}

/// The arguments of one site.
pub type Args = SmallVec<[Arg; 4]>;

/// Everything that one file states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its language.
    pub language: Language,
    /// Hash of its bytes.
    pub content_hash: u64,
    /// Its strings.
    pub symbols: Symbols,
    /// Values.
    pub forms: Forms,
    /// Members of displays, alternatives, bases, decorators, rules of comments.
    #[serde(with = "crate::stored::forms")]
    pub lists: Vec<FormId>,
    /// Bodies; the first is the file's top level, and a body follows the one it stands in.
    pub bodies: Table<Body>,
    /// Parameters, those of one body together.
    pub params: Vec<Param>,
    /// Classes and their like.
    pub classes: Vec<Class>,
    /// Variables.
    pub vars: Table<Var>,
    /// Regions.
    pub regions: Table<Region>,
    /// Sites, in the order of evaluation within a body.
    pub sites: Table<Site>,
    /// Arguments, those of one site together.
    pub args: Table<Arg>,
    /// Assignments.
    pub assigns: Table<Assign>,
    /// Ways out of a body.
    pub exits: Table<Exit>,
    /// Imports.
    pub imports: Table<Import>,
    /// Comments that silence or promise something.
    pub suppressions: Vec<Suppression>,
    /// The parts that could not be read; at most one per cause.
    pub problems: Vec<Problem>,
    /// For each variable the run in `assigns_by_var` of the values assigned to it (one entry more than variables).
    pub(crate) var_assign_starts: Column,
    pub(crate) assigns_by_var: Column,
    /// For each body the run in `vars_by_body` of the variables of its scope (one entry more than bodies).
    pub(crate) body_var_starts: Column,
    pub(crate) vars_by_body: Column,
}

impl FileFacts {
    /// Returns the facts that [`FileFacts::to_bytes`] wrote, or `None` for bytes that are no facts. [`crate::validate`]
    /// checks whether they fit together.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // Here and not where it is used, so that it is optimised as this crate is.
        postcard::from_bytes(bytes).ok()
    }

    /// Returns the facts as bytes for a cache.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }

    /// Returns the form; [`Form::Other`] for [`FormId::NONE`].
    #[inline]
    pub fn form(&self, id: FormId) -> Form {
        self.forms.get(id)
    }

    /// Returns the forms of a list.
    #[inline]
    pub fn list(&self, list: List) -> &[FormId] {
        &self.lists[list.range()]
    }

    /// Returns a string.
    #[inline]
    pub fn text(&self, sym: Sym) -> &str {
        self.symbols.get(sym)
    }

    /// Returns the body.
    #[inline]
    pub fn body(&self, id: BodyId) -> Body {
        self.bodies.at(id.index())
    }

    /// Returns the site.
    #[inline]
    pub fn site(&self, id: SiteId) -> Site {
        self.sites.at(id.index())
    }

    /// Returns the class.
    #[inline]
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Returns the variable.
    #[inline]
    pub fn var(&self, id: VarId) -> Var {
        self.vars.at(id.index())
    }

    /// Returns the region.
    #[inline]
    pub fn region(&self, id: RegionId) -> Region {
        self.regions.at(id.index())
    }

    /// Returns the import.
    #[inline]
    pub fn import(&self, id: ImportId) -> Import {
        self.imports.at(id.index())
    }

    /// Returns the body that a place in a region belongs to.
    #[inline]
    pub fn body_of(&self, at: At) -> BodyId {
        self.region(at.region).body
    }

    /// Returns the parameters of a body, in order; the receiver counts.
    #[inline]
    pub fn params_of(&self, body: BodyId) -> &[Param] {
        &self.params[self.body(body).params.range()]
    }

    /// Returns the arguments of a site, as written; the receiver of a method call does not count.
    #[inline]
    pub fn args_of(&self, site: SiteId) -> Args {
        self.args.slice(self.site(site).args.range())
    }

    /// Returns the assignment.
    #[inline]
    pub fn assign(&self, id: AssignId) -> Assign {
        self.assigns.at(id.index())
    }

    /// Returns the assignments to a variable, in the order of evaluation of each body.
    pub fn assigns_of(&self, var: VarId) -> impl DoubleEndedIterator<Item = Assign> {
        self.assign_ids_of(var).map(|id| self.assign(id))
    }

    /// Returns the one assignment to a variable; none if there are several.
    pub fn only_value_of(&self, var: VarId) -> Option<Assign> {
        let mut values = self.assigns_of(var).filter(|row| row.value.is_some());
        values.next().filter(|_| values.next().is_none())
    }

    /// Returns the numbers of the assignments to a variable, in the order of evaluation of each body.
    pub fn assign_ids_of(&self, var: VarId) -> impl DoubleEndedIterator<Item = AssignId> {
        run(&self.var_assign_starts, var.index()).map(|at| AssignId(self.assigns_by_var.at(at)))
    }

    /// Returns the variables of a body's own scope; none for [`BodyId::NONE`] (a declared alias has no body).
    pub fn vars_of(&self, body: BodyId) -> impl Iterator<Item = VarId> {
        let run = if body.is_none() { 0..0 } else { run(&self.body_var_starts, body.index()) };
        run.map(|at| VarId(self.vars_by_body.at(at)))
    }

    /// Returns the qualified name of a body inside its file: `Store.load`, `make.<lambda>`; empty for the top level.
    pub fn qualified_name(&self, body: BodyId) -> String {
        let mut parts = Vec::new();
        let mut at = body;
        while let Some(id) = at.get() {
            let body = self.body(id);
            // The file's own name is no part; an inline module's is.
            if body.parent.is_some() {
                parts.push(self.text(body.name));
            }
            at = body.parent;
        }
        parts.reverse();
        parts.join(if self.language == Language::Rust { "::" } else { "." })
    }

    /// True if the region lies in a loop of its body.
    pub fn in_loop(&self, region: RegionId) -> bool {
        let mut at = region;
        while let Some(id) = at.get() {
            let region = self.region(id);
            match region.kind {
                RegionKind::Loop => return true,
                RegionKind::Body => return false,
                _ => at = region.parent,
            }
        }
        false
    }

    /// Returns the number of bytes that the tables hold, for memory accounts.
    pub fn heap_size(&self) -> usize {
        self.table_sizes().iter().map(|(_, _, bytes)| bytes).sum()
    }

    /// Returns the name, rows and bytes of each table.
    pub fn table_sizes(&self) -> [(&'static str, usize, usize); 20] {
        fn of<T>(name: &'static str, rows: &[T]) -> (&'static str, usize, usize) {
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
            of("lists", &self.lists),
            packed("bodies", &self.bodies),
            of("parameters", &self.params),
            of("classes", &self.classes),
            packed("variables", &self.vars),
            packed("regions", &self.regions),
            packed("sites", &self.sites),
            packed("arguments", &self.args),
            packed("assignments", &self.assigns),
            packed("exits", &self.exits),
            packed("imports", &self.imports),
            of("comments", &self.suppressions),
            of("problems", &self.problems),
            words("starts by variable", &self.var_assign_starts),
            words("assignments by variable", &self.assigns_by_var),
            words("starts by body", &self.body_var_starts),
            words("variables by body", &self.vars_by_body),
        ]
    }
}

/// Returns the indices that belong to a key, given where each key's begin.
fn run(starts: &Column, key: usize) -> std::ops::Range<usize> {
    starts.at(key) as usize..starts.at(key + 1) as usize
}
