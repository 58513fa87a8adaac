//! The entry that a literal key picks from a table: `REGISTRY["slow"]` is the class under that key and none of the others.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, At, BodyId, Form, FormId, SiteKind, Sym, VarId, VarKind};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::container_elements::Holder;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// A dictionary that a variable or field holds for good.
#[derive(Clone, Copy, Debug)]
struct KeptTable {
    /// The file in which it is made.
    file: FileId,
    /// The form that makes it.
    made: FormId,
    /// The variable or field.
    holder: Holder,
    /// Its name in that file.
    name: Sym,
}

/// Imports that are followed from one name to the table.
const MOST_IMPORTS: u32 = 3;

impl Linker<'_> {
    /// Returns the entry of a table under a literal key: `TABLE["slow"]`.
    pub(crate) fn literal_table_entry(&self, scope: Scope, base: FormId, index: FormId) -> Option<Typed> {
        self.entry_under(scope, base, (scope.file, index))
    }

    /// Returns the entry of the table that a form is under a key, which may be written in another file.
    fn entry_under(&self, scope: Scope, base: FormId, (key_file, key): (FileId, FormId)) -> Option<Typed> {
        if !matches!(self.program.facts(key_file).form(key), Form::Str(_) | Form::Int(_)) {
            return None;
        }
        let table = self.kept_table(scope, base)?;
        let facts = self.program.facts(table.file);
        let is_key = |file: FileId, form: FormId| self.is_same_literal((file, form), (key_file, key));
        if let Form::Pairs(list) = facts.form(table.made) {
            let rows = facts.list(list);
            if let Some(at) = rows.iter().step_by(2).position(|&form| form.is_some() && is_key(table.file, form)) {
                let value = *rows.get(at * 2 + 1)?;
                let place = Scope { file: table.file, at: At::default(), env: EnvId::NONE };
                let find = || Some(self.eval(place, value));
                return self.query(&self.tables.values.literal_entries, (table.file, value), Option::default, find);
            }
            // `**others` may have the key.
            if rows.iter().step_by(2).any(|form| form.is_none()) {
                return None;
            }
        }
        self.added_under(table, &is_key)
    }

    /// Returns what code puts into a table under a key, if it writes out the keys of all that it puts there.
    fn added_under(&self, table: KeptTable, is_key: &dyn Fn(FileId, FormId) -> bool) -> Option<Typed> {
        if self.program.language(table.file) != Language::Python {
            return None;
        }
        let name = self.program.global(table.file, table.name)?;
        let mut found = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            for &site in self.additions_of(file).get(&sym).into_iter().flatten() {
                let site = file.site_ref(site);
                if !self.adds_to_holder(table.holder, site) {
                    continue;
                }
                let facts = self.program.facts(file);
                let [key, value] = self.program.args_of(site)[..] else { return None };
                let is_set = self.program.site(site).kind == SiteKind::Subscript;
                if !is_set || !matches!(facts.form(key.value), Form::Str(_) | Form::Int(_)) {
                    return None;
                }
                if is_key(file, key.value) {
                    found.push(self.eval(self.scope_of(site, EnvId::NONE), value.value));
                }
            }
        }
        (!found.is_empty()).then(|| self.join(&found))
    }

    fn is_same_literal(&self, (a_file, a): (FileId, FormId), (b_file, b): (FileId, FormId)) -> bool {
        let (a_facts, b_facts) = (self.program.facts(a_file), self.program.facts(b_file));
        match (a_facts.form(a), b_facts.form(b)) {
            (Form::Str(a), Form::Str(b)) => a_facts.text(a) == b_facts.text(b),
            (Form::Int(a), Form::Int(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the table that a form is, if it is a variable, import or field to which code assigns one value.
    fn kept_table(&self, scope: Scope, base: FormId) -> Option<KeptTable> {
        let facts = self.program.facts(scope.file);
        match facts.form(base) {
            Form::Var(var) => self.table_in_variable(scope.file, var, MOST_IMPORTS),
            Form::Attr(owner, sym) if facts.language == Language::Python => {
                let name = self.program.global(scope.file, sym)?;
                if is_own_receiver(facts, owner) {
                    let class = self.class_around(scope.file.body_ref(facts.body_of(scope.at)))?;
                    return self.table_in_field(class, name);
                }
                // A field of an object is asked for by its class; most other names are no tables.
                if !matches!(facts.form(owner), Form::Var(_) | Form::Attr(..)) {
                    return None;
                }
                match self.values.members(self.eval(scope, owner).value)[..] {
                    [Val::Module(file)] => {
                        let var = self.program.scope_var(file, BodyId(0), name)?;
                        self.table_in_variable(file, var, MOST_IMPORTS)
                    }
                    [Val::Class(class) | Val::Instance { class, .. }] => self.table_in_field(class, name),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn table_in_variable(&self, file: FileId, var: VarId, depth: u32) -> Option<KeptTable> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        let mut rows = facts.assigns_of(var);
        let only = rows.next()?;
        if rows.next().is_some() || matches!(facts.var(var).kind, VarKind::Param(_)) {
            return None;
        }
        if only.kind != AssignKind::Import {
            return self.table_made(file, only.value, Holder::Var(file, var), facts.var(var).name);
        }
        let Form::Import(import) = facts.form(only.value) else { return None };
        let import = facts.import(import);
        if facts.language != Language::Python || import.name.is_none() {
            return None;
        }
        let Val::Module(from) = crate::lang::python::names::module_named(self, file, &import) else { return None };
        let name = self.program.global(file, import.name)?;
        let var = self.program.scope_var(from, BodyId(0), name)?;
        self.table_in_variable(from, var, depth)
    }

    /// Returns the table that a class holds under a name: assigned once in its body, or once by its methods.
    fn table_in_field(&self, class: ClassRef, name: Name) -> Option<KeptTable> {
        let found = self.mro(class).iter().find_map(|ancestor| {
            let Ancestor::Class(of) = *ancestor else { return None };
            let facts = self.program.facts(of.file);
            let sym = self.program.local(of.file, name)?;
            let own = self.own_assigns(of, name);
            match (self.own_member(of, name), &own[..]) {
                (Some((of, var)), []) => {
                    let mut rows = self.program.facts(of.file).assigns_of(var);
                    let only = rows.next().filter(|_| rows.next().is_none())?;
                    Some((of, sym, only.value))
                }
                (None, [only]) => Some((of, sym, facts.assign(*only).value)),
                _ => None,
            }
        });
        let (of, sym, made) = found?;
        // A subclass may have a table of its own.
        if !self.assigns_through_others(name).is_empty() || self.has_field_below(class, name) {
            return None;
        }
        self.table_made(of.file, made, Holder::Field(of), sym)
    }

    /// True if a class derived from a class assigns a field of this name.
    fn has_field_below(&self, class: ClassRef, name: Name) -> bool {
        const MOST: usize = 64;
        let below = self.descendants(class, MOST);
        let has = |&of: &ClassRef| self.own_member(of, name).is_some() || !self.own_assigns(of, name).is_empty();
        !below.is_complete || below.classes.iter().any(has)
    }

    fn table_made(&self, file: FileId, made: FormId, holder: Holder, name: Sym) -> Option<KeptTable> {
        let facts = self.program.facts(file);
        matches!(facts.form(made), Form::Pairs(_)).then_some(KeptTable { file, made, holder, name })
    }

    /// Returns the result of a function that looks up its own parameter in a table, for a call that passes a literal (Python):
    /// `def build(kind): return REGISTRY[kind]()`, `build("slow")`.
    pub(crate) fn result_by_key(&self, body: BodyRef, site: SiteRef, with_receiver: bool) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        if facts.language != Language::Python {
            return None;
        }
        let mut exits = self.program.exits_in(body);
        let only = exits.next().filter(|_| exits.next().is_none())?;
        let (made, looked_up) = match facts.form(only.value) {
            Form::Result(call) if facts.site(call).kind == SiteKind::Call => (Some(call), facts.site(call).callee),
            _ => (None, only.value),
        };
        let Form::Subscript(base, index) = facts.form(looked_up) else { return None };
        let Form::Var(var) = facts.form(index) else { return None };
        let VarKind::Param(index) = facts.var(var).kind else { return None };
        if body.file.body_ref(facts.var(var).body) != body || facts.assigns_of(var).next().is_some() {
            return None;
        }
        let key = self.argument_for_param(site, body, index, with_receiver)?;
        let scope = Scope { file: body.file, at: only.at, env: EnvId::NONE };
        let entry = self.entry_under(scope, base, (site.file, key))?;
        Some(match made {
            Some(call) => self.map(entry, |val| self.call_member(val, body.file.site_ref(call), EnvId::NONE)),
            None => entry,
        })
    }
}
