//! Values of fields: the union of the assignments in the class, in its bases and subclasses, and through other
//! receivers (`client.timeout = 3`).

use crate::classes::hierarchy::Ancestor;
use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name};
use crate::values::attribute::MAX_MODULE_ASSIGNS;
use crate::values::expr::Scope;
use crate::values::tables::{ExternalAssigns, ModuleAssigns};
use crate::values::value::{EnvId, Val, Why};
use blocklint_core::Language;
use blocklint_facts::{AssignId, AssignKind, Form, FormId, ImportKind};
use std::rc::Rc;

/// The most variables and attributes that are followed to a module.
const MAX_MODULE_DEPTH: u32 = 4;

/// The most subclasses of one class whose assignments are read.
const MAX_DESCENDANTS: usize = 64;

impl<'a> Linker<'a> {
    /// Returns the union of the values that are assigned to a field of a class or its bases anywhere. If there are
    /// none, it returns those of the subclasses.
    pub(crate) fn field(&self, class: ClassRef, name: Name) -> Typed {
        self.query_value(&self.tables.values.fields, (class, name), || {
            if !self.is_assigned_anywhere(name) {
                return self.unknown(Why::Attribute);
            }
            let mut assigns_in_class: Vec<(FileId, AssignId)> = Vec::new();
            let order = self.mro(class);
            for ancestor in order.iter() {
                if let Ancestor::Class(base) = *ancestor {
                    assigns_in_class.extend(self.own_assigns(base, name).iter().map(|&assign| (base.file, assign)));
                }
            }
            let external: Vec<(FileId, AssignId)> = self
                .assigns_through_others(name)
                .iter()
                .filter(|(owner, _, _)| order.contains(&Ancestor::Class(*owner)) || self.is_subclass(*owner, class))
                .map(|&(_, file, assign)| (file, assign))
                .collect();
            if assigns_in_class.is_empty() && external.is_empty() {
                assigns_in_class = self.derived_assigns(class, name);
            }
            let mut declared = None;
            let mut parts = Vec::new();
            for &(file, assign) in assigns_in_class.iter().chain(&external) {
                let assignment = self.program.facts(file).assign(assign);
                let scope = Scope { file, at: assignment.at, env: EnvId::NONE };
                if assignment.annotation.is_some() && declared.is_none() {
                    let typed = self.annotation(scope, assignment.annotation);
                    if !self.values.is_unknown(typed.value) {
                        declared = Some(typed);
                    }
                }
                if assignment.value.is_some() && assignment.kind != AssignKind::Augmented {
                    parts.push(self.assigned_value(scope, assign));
                }
            }
            match declared {
                // The value of a single assignment includes its declared type.
                Some(_) if assigns_in_class.len() + external.len() == 1 && parts.len() == 1 => return parts[0],
                Some(declared) => return self.with_callables(declared, || parts),
                None => {}
            }
            if parts.is_empty() {
                return self.unknown(Why::Attribute);
            }
            let joined = self.join(&parts);
            // A value that only code outside of the class assigns is less certain, so it is an inferred step.
            if assigns_in_class.is_empty() { self.inferred(joined) } else { joined }
        })
    }

    /// True if any code assigns an attribute of this name.
    pub(crate) fn is_assigned_anywhere(&self, name: Name) -> bool {
        self.query(&self.tables.values.assigned_attrs, name, bool::default, || {
            let occurrences = self.program.occurrences(name);
            occurrences.iter().any(|&(file, sym)| !self.program.index_of(file).attr_assigns(sym).is_empty())
        })
    }

    /// Returns the assignments to an attribute of the receiver in the methods of a class: `self.name = …`.
    pub fn own_assigns(&self, class: ClassRef, name: Name) -> Vec<AssignId> {
        let Some(sym) = self.program.local(class.file, name) else { return Vec::new() };
        let facts = self.program.facts(class.file);
        let assigns = self.program.index_of(class.file).attr_assigns(sym).iter();
        assigns
            .filter(|(assign, is_own)| {
                *is_own && self.class_around(self.program.body_of(class.file, facts.assign(*assign).at)) == Some(class)
            })
            .map(|(assign, _)| *assign)
            .collect()
    }

    /// Returns the assignments to an attribute in at most 64 subclasses.
    pub(crate) fn derived_assigns(&self, class: ClassRef, name: Name) -> Vec<(FileId, AssignId)> {
        let classes = self.descendants(class, MAX_DESCENDANTS).classes.into_iter();
        classes
            .flat_map(|next| self.own_assigns(next, name).into_iter().map(move |assign| (next.file, assign)))
            .collect()
    }

    /// Returns all assignments to an attribute of a class, its bases and its subclasses, through the receiver or
    /// another object.
    pub fn assigns_to_member(&self, class: ClassRef, name: Name) -> Vec<(FileId, AssignId)> {
        let mut assigns = self.derived_assigns(class, name);
        for ancestor in self.mro(class).iter() {
            if let Ancestor::Class(base) = *ancestor {
                assigns.extend(self.own_assigns(base, name).into_iter().map(|assign| (base.file, assign)));
            }
        }
        let external = self.assigns_through_others(name);
        let is_related = |owner: ClassRef| self.is_subclass(owner, class) || self.is_subclass(class, owner);
        assigns
            .extend(external.iter().filter(|(owner, ..)| is_related(*owner)).map(|&(_, file, assign)| (file, assign)));
        assigns
    }

    /// Returns the assignments to an attribute of this name through objects other than the receiver, each with the
    /// class of the object: `client.timeout = 3`.
    pub(crate) fn assigns_through_others(&self, name: Name) -> ExternalAssigns {
        self.query(&self.tables.values.external_assigns, name, Rc::default, || {
            self.budget.global(|refuel| self.find_assigns_through_others(name, refuel).into())
        })
    }

    fn find_assigns_through_others(&self, name: Name, refuel: &dyn Fn()) -> Vec<(ClassRef, FileId, AssignId)> {
        let mut assigns = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            for &(assign, is_own) in self.program.index_of(file).attr_assigns(sym) {
                if is_own {
                    continue;
                }
                let facts = self.program.facts(file);
                let assignment = facts.assign(assign);
                let Form::Attr(base, _) = facts.form(assignment.target) else { continue };
                let scope = Scope { file, at: assignment.at, env: EnvId::NONE };
                refuel();
                for val in self.values.members(self.eval(scope, base).value) {
                    if let Val::Instance { class, .. } | Val::Class(class) = val {
                        assigns.push((class, file, assign));
                    }
                }
            }
        }
        assigns
    }

    /// Returns the assignments in other files to a name of project modules (`settings.store = Store()`), each with the
    /// module and the assigning file (Python).
    pub(crate) fn module_assigns(&self, name: Name) -> ModuleAssigns {
        let find = || self.find_module_assigns(name).into();
        self.query(&self.tables.values.module_assigns, name, Rc::default, find)
    }

    fn find_module_assigns(&self, name: Name) -> Vec<(FileId, FileId, AssignId)> {
        let mut assigns = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            if self.program.language(file) != Language::Python {
                continue;
            }
            let facts = self.program.facts(file);
            for &(assign, is_own) in self.program.index_of(file).attr_assigns(sym) {
                let assignment = facts.assign(assign);
                let Form::Attr(base, _) = facts.form(assignment.target) else { continue };
                if let (false, Some(module)) = (is_own, self.module_of_form(file, base, MAX_MODULE_DEPTH)) {
                    assigns.push((module, file, assign));
                }
            }
        }
        assigns
    }

    /// Returns the module that a form refers to, by imports alone and without evaluating values (Python).
    pub(crate) fn module_of_form(&self, file: FileId, form: FormId, depth: u32) -> Option<FileId> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) => {
                let mut rows = facts.assigns_of(var);
                let Form::Import(import) = facts.form(rows.next()?.value) else { return None };
                let row = facts.import(import);
                if row.kind != ImportKind::Name {
                    return match self.values.members(self.import(file, import).value)[..] {
                        [Val::Module(module)] => Some(module),
                        _ => None,
                    };
                }
                let (_, folder) = lang::python::names::imported_module(self, file, &row);
                lang::python::names::module_file_in(self, &folder?, self.program.global(file, row.name)?)
            }
            Form::Attr(base, sym) => {
                let module = self.module_of_form(file, base, depth)?;
                let folder = self.program.files[module.index()].relative.strip_suffix("/__init__.py")?;
                lang::python::names::module_file_in(self, folder, self.program.global(file, sym)?)
            }
            _ => None,
        }
    }

    /// Returns the value that other files assign to a name of a module. Assignments in tests count only for modules
    /// that are tests (Python).
    pub(crate) fn module_attribute_from_others(&self, module: FileId, name: Name) -> Option<Typed> {
        if !self.is_assigned_anywhere(name) {
            return None;
        }
        let module_assigns = self.module_assigns(name);
        let in_tests = self.program.is_test(module);
        let counts = |owner: FileId, file: FileId| owner == module && (in_tests || !self.program.is_test(file));
        let assigns = module_assigns.iter().filter(|(owner, file, _)| counts(*owner, *file));
        let parts: Vec<Typed> = assigns
            .take(MAX_MODULE_ASSIGNS)
            .map(|&(_, file, assign)| {
                let at = self.program.facts(file).assign(assign).at;
                self.assigned_value(Scope { file, at, env: EnvId::NONE }, assign)
            })
            .collect();
        if parts.is_empty() { None } else { Some(self.inferred(self.join(&parts))) }
    }
}
