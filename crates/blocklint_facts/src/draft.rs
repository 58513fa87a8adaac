//! The tables of a file while they are filled.

use blocklint_core::Language;

use crate::facts::{FileFacts, Symbols};
use crate::forms::Forms;
use crate::table::{Column, Table};
use crate::{
    Arg, Assign, At, Body, BodyId, Class, ClassId, Exit, Form, FormId, Import, ImportId, List, Param, Problem, Region,
    RegionId, Site, SiteId, Suppression, Sym, Var, VarId,
};

/// The strings of a file so far.
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

/// The facts that [`crate::FactsBuilder`] has collected so far. Its tables are those of [`FileFacts`].
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
    /// Returns the form; [`Form::Other`] for [`FormId::NONE`].
    pub fn form(&self, id: FormId) -> Form {
        self.forms.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the forms of a list.
    pub fn list(&self, list: List) -> &[FormId] {
        &self.lists[list.range()]
    }

    /// Returns a string.
    pub fn text(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }

    /// Returns the body.
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.index()]
    }

    /// Returns the site.
    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id.index()]
    }

    /// Returns the class.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Returns the variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// Returns the variables so far.
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// Returns the region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Returns the import.
    pub fn import(&self, id: ImportId) -> &Import {
        &self.imports[id.index()]
    }

    /// Returns the body that a place in a region belongs to.
    pub fn body_of(&self, at: At) -> BodyId {
        self.region(at.region).body
    }

    /// Packs the tables; `scratch` is overwritten.
    pub(crate) fn packed(&mut self, language: Language, content_hash: u64, scratch: &mut Vec<u32>) -> FileFacts {
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
            // A copy has no slack; shrinking in place would leave an allocator's rounding behind.
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

    /// Empties all tables and keeps their room.
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

    /// Returns about how many bytes the tables have room for.
    pub(crate) fn room(&self) -> usize {
        fn of<T>(rows: &Vec<T>) -> usize {
            rows.capacity() * size_of::<T>()
        }
        self.strings.text.capacity()
            + of(&self.forms)
            + of(&self.lists)
            + of(&self.bodies)
            + of(&self.params)
            + of(&self.classes)
            + of(&self.vars)
            + of(&self.regions)
            + of(&self.sites)
            + of(&self.args)
            + of(&self.assigns)
            + of(&self.exits)
            + of(&self.imports)
            + of(&self.suppressions)
            + of(&self.problems)
    }
}

/// Returns rows grouped by a key below `keys`, as starts and members; rows with a larger key are left out. Order is
/// kept.
fn group_by(keys: usize, rows: impl Iterator<Item = u32> + Clone, scratch: &mut Vec<u32>) -> (Column, Column) {
    let below = |key: u32| (key as usize) < keys;
    scratch.clear();
    scratch.resize(keys + 1, 0);
    for key in rows.clone().filter(|&key| below(key)) {
        scratch[key as usize + 1] += 1;
    }
    for key in 0..keys {
        scratch[key + 1] += scratch[key];
    }
    let starts = Column::pack(scratch);
    // Behind the starts come the members; the starts move on to where the next member goes.
    let members = keys + 1;
    scratch.resize(members + scratch[keys] as usize, 0);
    for (at, key) in rows.enumerate().filter(|&(_, key)| below(key)) {
        let next = scratch[key as usize] as usize;
        scratch[members + next] = at as u32;
        scratch[key as usize] += 1;
    }
    (starts, Column::pack(&scratch[members..]))
}
