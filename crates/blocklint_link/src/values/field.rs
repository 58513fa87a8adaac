//! Values of fields: own assignments of a class, those of derived classes and those through other receivers.

use crate::classes::hierarchy::Ancestor;
use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name};
use crate::values::attribute::MOST_SET;
use crate::values::expr::Scope;
use crate::values::tables::{ExternalAssigns, ModuleAssigns};
use crate::values::value::{EnvId, Val, Why};
use blocklint_core::Language;
use blocklint_facts::{AssignId, Form, FormId, ImportKind};
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// Returns the union of the values assigned to a field: on the class, on an instance of it or of a base, anywhere;
    /// where there is nothing, on derived classes.
    pub(crate) fn field(&self, class: ClassRef, name: Name) -> Typed {
        self.query_value(&self.tables.values.fields, (class, name), || {
            if !self.is_assigned_anywhere(name) {
                return self.unknown(Why::Attribute);
            }
            let mut own: Vec<(FileId, AssignId)> = Vec::new();
            let order = self.mro(class);
            for ancestor in order.iter() {
                if let Ancestor::Class(of) = *ancestor {
                    own.extend(self.own_assigns(of, name).iter().map(|&assign| (of.file, assign)));
                }
            }
            let strangers: Vec<(FileId, AssignId)> = self
                .assigns_through_others(name)
                .iter()
                .filter(|(of, _, _)| order.contains(&Ancestor::Class(*of)) || self.is_subclass(*of, class))
                .map(|&(_, file, assign)| (file, assign))
                .collect();
            if own.is_empty() && strangers.is_empty() {
                own = self.derived_assigns(class, name);
            }
            let mut declared = None;
            let mut parts = Vec::new();
            for &(file, assign) in own.iter().chain(&strangers) {
                let row = self.program.facts(file).assign(assign);
                let scope = Scope { file, at: row.at, env: EnvId::NONE };
                if row.annotation.is_some() && declared.is_none() {
                    let typed = self.annotation(scope, row.annotation);
                    if !self.values.is_unknown(typed.value) {
                        declared = Some(typed);
                    }
                }
                if row.value.is_some() && row.kind != blocklint_facts::AssignKind::Augmented {
                    parts.push(self.assigned(scope, assign));
                }
            }
            match declared {
                // The one assignment shows no less than its own declaration.
                Some(_) if own.len() + strangers.len() == 1 && parts.len() == 1 => return parts[0],
                Some(declared) => return self.or_callables(declared, || parts),
                None => {}
            }
            if parts.is_empty() {
                return self.unknown(Why::Attribute);
            }
            let joined = self.join(&parts);
            // A value that only code outside of the class assigns is less sure than one that the class assigns.
            if own.is_empty() { self.inferred(joined) } else { joined }
        })
    }

    /// True if any code assigns an attribute of this name.
    pub(crate) fn is_assigned_anywhere(&self, name: Name) -> bool {
        self.query(&self.tables.values.assigned_attrs, name, bool::default, || {
            let occurrences = self.program.occurrences(name);
            occurrences.iter().any(|&(file, sym)| !self.program.index_of(file).attr_assigns(sym).is_empty())
        })
    }

    /// Returns assignments to an attribute of the receiver in the methods of a class.
    pub fn own_assigns(&self, class: ClassRef, name: Name) -> Vec<AssignId> {
        let Some(sym) = self.program.local(class.file, name) else { return Vec::new() };
        let facts = self.program.facts(class.file);
        let assigns = self.program.index_of(class.file).attr_assigns(sym).iter();
        assigns
            .filter(|(assign, own)| {
                *own && self.class_around(self.program.body_of(class.file, facts.assign(*assign).at)) == Some(class)
            })
            .map(|(assign, _)| *assign)
            .collect()
    }

    /// Returns the assignments to an attribute in derived classes, of which it searches at most 64. Callers ask for
    /// them if neither the class nor a base assigns the attribute.
    pub(crate) fn derived_assigns(&self, class: ClassRef, name: Name) -> Vec<(FileId, AssignId)> {
        let below = self.descendants(class, 64).classes.into_iter();
        below.flat_map(|next| self.own_assigns(next, name).into_iter().map(move |assign| (next.file, assign))).collect()
    }

    /// Returns all assignments to an attribute of a class, its bases and the classes derived from it, of the own object
    /// or of another one.
    pub fn assigns_to_member(&self, class: ClassRef, name: Name) -> Vec<(FileId, AssignId)> {
        let mut found = self.derived_assigns(class, name);
        for ancestor in self.mro(class).iter() {
            if let Ancestor::Class(of) = *ancestor {
                found.extend(self.own_assigns(of, name).into_iter().map(|assign| (of.file, assign)));
            }
        }
        let of_others = self.assigns_through_others(name);
        let related = |of: ClassRef| self.is_subclass(of, class) || self.is_subclass(class, of);
        found.extend(of_others.iter().filter(|(of, ..)| related(*of)).map(|&(_, file, assign)| (file, assign)));
        found
    }

    /// Returns assignments to an attribute of this name of objects that are no receiver, with the class of the object.
    pub(crate) fn assigns_through_others(&self, name: Name) -> ExternalAssigns {
        self.query(&self.tables.values.external_assigns, name, Rc::default, || {
            self.budget.global(|refuel| self.find_assigns_through_others(name, refuel).into())
        })
    }

    fn find_assigns_through_others(&self, name: Name, refuel: &dyn Fn()) -> Vec<(ClassRef, FileId, AssignId)> {
        let mut found = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            for &(assign, own) in self.program.index_of(file).attr_assigns(sym) {
                if own {
                    continue;
                }
                let facts = self.program.facts(file);
                let row = facts.assign(assign);
                let Form::Attr(base, _) = facts.form(row.target) else { continue };
                let scope = Scope { file, at: row.at, env: EnvId::NONE };
                refuel();
                for val in self.values.members(self.eval(scope, base).value) {
                    if let Val::Instance { class, .. } | Val::Class(class) = val {
                        found.push((class, file, assign));
                    }
                }
            }
        }
        found
    }

    /// Returns assignments to a name of project modules from elsewhere (`settings.store = Store()`), each with the
    /// module (Python).
    pub(crate) fn assigned_to_modules(&self, name: Name) -> ModuleAssigns {
        let find = || self.find_assigned_to_modules(name).into();
        self.query(&self.tables.values.module_assigns, name, Rc::default, find)
    }

    fn find_assigned_to_modules(&self, name: Name) -> Vec<(FileId, FileId, AssignId)> {
        let mut found = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            if self.program.language(file) != Language::Python {
                continue;
            }
            let facts = self.program.facts(file);
            for &(assign, own) in self.program.index_of(file).attr_assigns(sym) {
                let row = facts.assign(assign);
                let Form::Attr(base, _) = facts.form(row.target) else { continue };
                if let (false, Some(of)) = (own, self.module_behind(file, base, 4)) {
                    found.push((of, file, assign));
                }
            }
        }
        found
    }

    /// Returns the module that a form names, by imports alone: nothing is evaluated (Python).
    pub(crate) fn module_behind(&self, file: FileId, form: FormId, depth: u32) -> Option<FileId> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) => {
                let mut rows = facts.assigns_of(var);
                let Form::Import(import) = facts.form(rows.next()?.value) else { return None };
                let row = facts.import(import);
                if row.kind != ImportKind::Name {
                    return match self.values.members(self.import(file, import).value)[..] {
                        [Val::Module(of)] => Some(of),
                        _ => None,
                    };
                }
                let (_, folder) = lang::python::names::imported_module(self, file, &row);
                lang::python::names::module_file_in(self, &folder?, self.program.global(file, row.name)?)
            }
            Form::Attr(base, sym) => {
                let of = self.module_behind(file, base, depth)?;
                let folder = self.program.files[of.index()].relative.strip_suffix("/__init__.py")?;
                lang::python::names::module_file_in(self, folder, self.program.global(file, sym)?)
            }
            _ => None,
        }
    }

    /// Returns the value that other files assign to a name of a module. Assignments by tests count only in tests
    /// (Python).
    pub(crate) fn module_attribute_from_others(&self, module: FileId, name: Name) -> Option<Typed> {
        if !self.is_assigned_anywhere(name) {
            return None;
        }
        let all = self.assigned_to_modules(name);
        let in_tests = self.program.is_test(module);
        let meant = all.iter().filter(|(of, by, _)| *of == module && (in_tests || !self.program.is_test(*by)));
        let parts: Vec<Typed> = meant
            .take(MOST_SET)
            .map(|&(_, file, assign)| {
                let at = self.program.facts(file).assign(assign).at;
                self.assigned(Scope { file, at, env: EnvId::NONE }, assign)
            })
            .collect();
        if parts.is_empty() { None } else { Some(self.inferred(self.join(&parts))) }
    }
}
