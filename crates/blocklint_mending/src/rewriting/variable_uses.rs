//! The places that bind a variable or an attribute, and those that read it.

use blocklint_facts::{BodyKind, Expression, Form, ImportKind, VarKind};
use blocklint_link::lang::python::names::imported_module;
use blocklint_link::program::ids::{ClassRef, FileId, Name, VarRef};
use blocklint_link::values::value::Val;

use super::{MOST_CLASSES, Places};

/// Imports that are followed from module to module.
const MOST_IMPORTS: usize = 8;

/// The places that bind and read a variable or attribute.
#[derive(Clone, Debug, Default)]
pub struct VariableUses {
    /// The targets to which values are bound.
    pub targets: Vec<(FileId, Expression)>,
    /// The places that read it.
    pub uses: Vec<(FileId, Expression)>,
    /// Attributes of that name whose object is not known.
    pub unknown: Vec<(FileId, Expression)>,
    /// True if it is a parameter, whose values callers give.
    pub is_parameter: bool,
    /// True if it is known which variable or attribute it is.
    pub is_known: bool,
}

impl VariableUses {
    fn sorted(mut self) -> Self {
        for places in [&mut self.targets, &mut self.uses, &mut self.unknown] {
            places.sort_by_key(|(file, of)| (*file, of.span));
        }
        self
    }
}

impl Places<'_, '_> {
    /// Returns the places that bind and read the variable or attribute that stands at a place.
    pub fn variable_uses(&self, file: FileId, of: &Expression) -> VariableUses {
        let facts = self.linker.program.facts(file);
        match facts.form(of.form) {
            Form::Var(var) => self.of_variable(self.imported(file.var_ref(var))),
            Form::Attr(base, sym) => {
                let Some(name) = self.linker.program.global(file, sym) else { return VariableUses::default() };
                let members = self.members(file, of, base);
                let module = members.iter().find_map(|val| match *val {
                    Val::Module(module) => self.variable_of_module(module, name),
                    _ => None,
                });
                match module {
                    Some(var) => self.of_variable(self.imported(var)),
                    None => self.of_attribute(&self.owners(&members), name),
                }
            }
            _ => VariableUses::default(),
        }
    }

    /// Returns the variable of another module that a variable is imported from, or the variable itself.
    pub(super) fn imported(&self, var: VarRef) -> VarRef {
        let program = self.linker.program;
        let mut at = var;
        for _ in 0..MOST_IMPORTS {
            let facts = program.facts(at.file);
            let next = program.assigns_of(at).find_map(|assign| {
                let Form::Import(import) = facts.form(assign.value) else { return None };
                let row = facts.import(import);
                if row.kind != ImportKind::Name {
                    return None;
                }
                let (module, _) = imported_module(self.linker, at.file, &row);
                let name = program.global(at.file, row.name)?;
                self.variable_of_module(module?, name)
            });
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    fn of_variable(&self, var: VarRef) -> VariableUses {
        let program = self.linker.program;
        let row = program.var(var);
        let facts = program.facts(var.file);
        let is_global = facts.body(row.body).kind == BodyKind::Module;
        let name = program.global(var.file, row.name);
        let is_parameter = matches!(row.kind, VarKind::Param(_));
        let mut found = VariableUses { is_known: true, is_parameter, ..VariableUses::default() };
        let all = match name.filter(|_| is_global) {
            Some(name) => self.named(&self.linker.with_aliases(name)),
            None => (self.expressions)(var.file).iter().map(|one| (var.file, *one)).collect(),
        };
        for (file, of) in all {
            let is_it = match program.facts(file).form(of.form) {
                Form::Var(other) if of.span == of.name_span => self.imported(file.var_ref(other)) == var,
                Form::Attr(base, sym) if is_global && of.span != of.name_span => {
                    let is_member = |val: &Val| match *val {
                        Val::Module(module) => {
                            let other =
                                program.global(file, sym).and_then(|name| self.variable_of_module(module, name));
                            other.is_some_and(|other| self.imported(other) == var)
                        }
                        _ => false,
                    };
                    self.members(file, &of, base).iter().any(is_member)
                }
                _ => false,
            };
            match (is_it, of.is_target) {
                (true, true) => found.targets.push((file, of)),
                (true, false) => found.uses.push((file, of)),
                (false, _) => {}
            }
        }
        found.sorted()
    }

    /// Returns the classes of objects, with those above and below them.
    fn owners(&self, objects: &[Val]) -> Vec<ClassRef> {
        let mut owners: Vec<ClassRef> = Vec::new();
        for val in objects {
            if let Val::Instance { class, .. } | Val::Class(class) = *val {
                owners.extend(self.linker.classes_above(class));
                owners.extend(self.linker.descendants(class, MOST_CLASSES).classes);
            }
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    fn of_attribute(&self, owners: &[ClassRef], name: Name) -> VariableUses {
        if owners.is_empty() {
            return VariableUses::default();
        }
        let program = self.linker.program;
        let mut found = VariableUses { is_known: true, ..VariableUses::default() };
        for (file, of) in self.named(&[name]) {
            let facts = program.facts(file);
            let (is_it, is_unknown) = match facts.form(of.form) {
                Form::Attr(base, _) => {
                    let members = self.members(file, &of, base);
                    let is_owner = |val: &Val| matches!(*val, Val::Instance { class, .. } | Val::Class(class) if owners.contains(&class));
                    (members.iter().any(is_owner), members.iter().any(|val| matches!(val, Val::Unknown(_))))
                }
                Form::Var(var) => {
                    let body = facts.var(var).body;
                    let is_body = |class: &ClassRef| class.file == file && program.class(*class).body == body;
                    (owners.iter().any(is_body), false)
                }
                _ => (false, false),
            };
            match (is_it, of.is_target) {
                (true, true) => found.targets.push((file, of)),
                (true, false) => found.uses.push((file, of)),
                (false, false) if is_unknown => found.unknown.push((file, of)),
                (false, _) => {}
            }
        }
        found.sorted()
    }
}
