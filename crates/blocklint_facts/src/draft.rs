//! The tables of a file while the builder fills them (`Draft`), before they are packed.

use blocklint_core::Language;

use crate::facts::{FileFacts, Symbols};
use crate::forms::Forms;
use crate::table::{Column, Table};
use crate::{
    Arg, Assign, At, Body, BodyId, Class, ClassId, Exit, Form, FormId, Import, ImportId, List, Param, Problem, Region,
    RegionId, Site, SiteId, Suppression, Sym, Var, VarId,
};

/// The interned strings of a file so far.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pub(crate) text: String,
    pub(crate) ends: Vec<u32>,
}

impl Strings {
    pub(crate) fn get(&self, sym: Sym) -> &str {
        let Some(&end) = self.ends.get(sym.index()) else { return "" };
        let start = if sym.0 == 0 { 0 } else { self.ends[sym.index() - 1] };
        &self.text[start as usize..end as usize]
    }
}

/// The facts that [`crate::FactsBuilder`] has collected so far, in the tables of [`FileFacts`].
#[derive(Debug, Default)]
pub struct Draft {
    pub(crate) strings: Strings,
    pub(crate) forms: Vec<Form>,
    pub(crate) lists: Vec<FormId>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) params: Vec<Param>,
    pub(crate) classes: Vec<Class>,
    pub(crate) vars: Vec<Var>,
    pub(crate) regions: Vec<Region>,
    pub(crate) sites: Vec<Site>,
    pub(crate) args: Vec<Arg>,
    pub(crate) assigns: Vec<Assign>,
    pub(crate) exits: Vec<Exit>,
    pub(crate) imports: Vec<Import>,
    pub(crate) suppressions: Vec<Suppression>,
    pub(crate) problems: Vec<Problem>,
}

impl Draft {
    /// Returns the form with an id; [`Form::Other`] for [`FormId::NONE`].
    pub fn form(&self, id: FormId) -> Form {
        self.forms.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the forms of a list.
    pub fn list(&self, list: List) -> &[FormId] {
        &self.lists[list.range()]
    }

    /// Returns the string of a symbol.
    pub fn text(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }

    /// Returns the body with an id.
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.index()]
    }

    /// Returns the site with an id.
    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id.index()]
    }

    /// Returns the class with an id.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Returns the variable with an id.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// Returns the variables so far.
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// Returns the region with an id.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Returns the import with an id.
    pub fn import(&self, id: ImportId) -> &Import {
        &self.imports[id.index()]
    }

    /// Returns the body of a place in the order of evaluation.
    pub fn body_of(&self, at: At) -> BodyId {
        self.region(at.region).body
    }

    /// Returns the packed tables; `scratch` is overwritten.
    pub(crate) fn pack(&mut self, language: Language, content_hash: u64, scratch: &mut Vec<u32>) -> FileFacts {
        let targets = self.assigns.iter().map(|assign| match self.form(assign.target) {
            Form::Var(var) => var.0,
            _ => u32::MAX,
        });
        let (var_assign_starts, assigns_by_var) = group_by(self.vars.len(), targets, scratch);
        let (body_var_starts, vars_by_body) =
            group_by(self.bodies.len(), self.vars.iter().map(|var| var.body.0), scratch);
        FileFacts {
            language,
            content_hash,
            symbols: Symbols { text: self.strings.text.as_str().into(), ends: Column::pack(&self.strings.ends) },
            forms: Forms::pack(&self.forms, scratch),
            // A copy has no spare capacity; shrinking in place would keep what the allocator rounds up.
            lists: self.lists.clone(),
            bodies: Table::pack(self.bodies.iter().copied(), scratch),
            params: self.params.clone(),
            classes: self.classes.clone(),
            vars: Table::pack(self.vars.iter().copied(), scratch),
            regions: Table::pack(self.regions.iter().copied(), scratch),
            sites: Table::pack(self.sites.iter().copied(), scratch),
            args: Table::pack(self.args.iter().copied(), scratch),
            assigns: Table::pack(self.assigns.iter().copied(), scratch),
            exits: Table::pack(self.exits.iter().copied(), scratch),
            imports: Table::pack(self.imports.iter().copied(), scratch),
            suppressions: self.suppressions.clone(),
            problems: std::mem::take(&mut self.problems),
            var_assign_starts,
            assigns_by_var,
            body_var_starts,
            vars_by_body,
        }
    }

    /// Empties all tables and keeps their capacity.
    pub(crate) fn clear(&mut self) {
        self.strings.text.clear();
        self.strings.ends.clear();
        self.forms.clear();
        self.lists.clear();
        self.bodies.clear();
        self.params.clear();
        self.classes.clear();
        self.vars.clear();
        self.regions.clear();
        self.sites.clear();
        self.args.clear();
        self.assigns.clear();
        self.exits.clear();
        self.imports.clear();
        self.suppressions.clear();
        self.problems.clear();
    }

    /// Returns the approximate capacity of the tables in bytes.
    pub(crate) fn capacity_bytes(&self) -> usize {
        fn bytes<T>(rows: &Vec<T>) -> usize {
            rows.capacity() * size_of::<T>()
        }
        self.strings.text.capacity()
            + bytes(&self.forms)
            + bytes(&self.lists)
            + bytes(&self.bodies)
            + bytes(&self.params)
            + bytes(&self.classes)
            + bytes(&self.vars)
            + bytes(&self.regions)
            + bytes(&self.sites)
            + bytes(&self.args)
            + bytes(&self.assigns)
            + bytes(&self.exits)
            + bytes(&self.imports)
            + bytes(&self.suppressions)
            + bytes(&self.problems)
    }
}

/// Returns the indices of rows grouped by key, as the start of each key's group and the grouped indices. `rows` has the
/// key of each row; rows with a key of `keys` or more are skipped. The order within a group is that of the rows.
fn group_by(keys: usize, rows: impl Iterator<Item = u32> + Clone, scratch: &mut Vec<u32>) -> (Column, Column) {
    let is_valid = |key: u32| (key as usize) < keys;
    scratch.clear();
    scratch.resize(keys + 1, 0);
    for key in rows.clone().filter(|&key| is_valid(key)) {
        scratch[key as usize + 1] += 1;
    }
    for key in 0..keys {
        scratch[key + 1] += scratch[key];
    }
    let starts = Column::pack(scratch);
    // The members are stored behind the starts, and each start is advanced to the position of its next member.
    let members = keys + 1;
    scratch.resize(members + scratch[keys] as usize, 0);
    for (index, key) in rows.enumerate().filter(|&(_, key)| is_valid(key)) {
        let next = scratch[key as usize] as usize;
        scratch[members + next] = index as u32;
        scratch[key as usize] += 1;
    }
    (starts, Column::pack(&scratch[members..]))
}
