//! Finds the places that bind a variable or an attribute, and the places that read it.

use blocklint_facts::{BodyKind, Expression, Form, ImportKind, VarKind};
use blocklint_link::lang::python::names::imported_module;
use blocklint_link::program::ids::{ClassRef, FileId, Name, VarRef};
use blocklint_link::values::value::Val;

use super::{MAX_CLASSES, Places};

/// The greatest number of imports that are followed from module to module.
const MAX_IMPORTS: usize = 8;

/// The places that bind and read a variable or attribute.
#[derive(Clone, Debug, Default)]
pub struct VariableUses {
    /// The targets to which values are bound.
    pub targets: Vec<(FileId, Expression)>,
    /// The places that read it.
    pub uses: Vec<(FileId, Expression)>,
    /// Attributes with this name on unknown objects.
    pub unknown: Vec<(FileId, Expression)>,
    /// True if it is a parameter, whose values come from callers.
    pub is_parameter: bool,
    /// True if the variable or attribute is known.
    pub is_known: bool,
}

impl VariableUses {
    fn sorted(mut self) -> Self {
        for places in [&mut self.targets, &mut self.uses, &mut self.unknown] {
            places.sort_by_key(|(file, expression)| (*file, expression.span));
        }
        self
    }
}

impl Places<'_, '_> {
    /// Returns the places that bind and read the variable or attribute at a place.
    pub fn variable_uses(&self, file: FileId, expression: &Expression) -> VariableUses {
        let facts = self.linker.program.facts(file);
        match facts.form(expression.form) {
            Form::Var(var) => self.uses_of_variable(self.origin_of_import(file.var_ref(var))),
            Form::Attr(base, sym) => {
                let Some(name) = self.linker.program.global(file, sym) else { return VariableUses::default() };
                let members = self.members(file, expression, base);
                let module = members.iter().find_map(|val| match *val {
                    Val::Module(module) => self.variable_of_module(module, name),
                    _ => None,
                });
                match module {
                    Some(var) => self.uses_of_variable(self.origin_of_import(var)),
                    None => self.uses_of_attribute(&self.owners(&members), name),
                }
            }
            _ => VariableUses::default(),
        }
    }

    /// Returns the variable of another module from which a variable is imported, or the variable itself.
    pub(super) fn origin_of_import(&self, var: VarRef) -> VarRef {
        let program = self.linker.program;
        let mut current = var;
        for _ in 0..MAX_IMPORTS {
            let facts = program.facts(current.file);
            let next = program.assigns_of(current).find_map(|assign| {
                let Form::Import(import) = facts.form(assign.value) else { return None };
                let row = facts.import(import);
                if row.kind != ImportKind::Name {
                    return None;
                }
                let (module, _) = imported_module(self.linker, current.file, &row);
                let name = program.global(current.file, row.name)?;
                self.variable_of_module(module?, name)
            });
            match next {
                Some(next) => current = next,
                None => break,
            }
        }
        current
    }

    fn uses_of_variable(&self, var: VarRef) -> VariableUses {
        let program = self.linker.program;
        let row = program.var(var);
        let facts = program.facts(var.file);
        let is_global = facts.body(row.body).kind == BodyKind::Module;
        let name = program.global(var.file, row.name);
        let is_parameter = matches!(row.kind, VarKind::Param(_));
        let mut result = VariableUses { is_known: true, is_parameter, ..VariableUses::default() };
        let all = match name.filter(|_| is_global) {
            Some(name) => self.expressions_named(&self.linker.with_aliases(name)),
            None => (self.expressions)(var.file).iter().map(|one| (var.file, *one)).collect(),
        };
        for (file, expression) in all {
            let is_it = match program.facts(file).form(expression.form) {
                Form::Var(other_var) if expression.span == expression.name_span => {
                    self.origin_of_import(file.var_ref(other_var)) == var
                }
                Form::Attr(base, sym) if is_global && expression.span != expression.name_span => {
                    let is_member = |val: &Val| match *val {
                        Val::Module(module) => {
                            let other_var =
                                program.global(file, sym).and_then(|name| self.variable_of_module(module, name));
                            other_var.is_some_and(|other_var| self.origin_of_import(other_var) == var)
                        }
                        _ => false,
                    };
                    self.members(file, &expression, base).iter().any(is_member)
                }
                _ => false,
            };
            match (is_it, expression.is_target) {
                (true, true) => result.targets.push((file, expression)),
                (true, false) => result.uses.push((file, expression)),
                (false, _) => {}
            }
        }
        result.sorted()
    }

    /// Returns the classes of objects, with their bases and subclasses.
    fn owners(&self, objects: &[Val]) -> Vec<ClassRef> {
        let mut owners: Vec<ClassRef> = Vec::new();
        for val in objects {
            if let Val::Instance { class, .. } | Val::Class(class) = *val {
                owners.extend(self.linker.classes_above(class));
                owners.extend(self.linker.descendants(class, MAX_CLASSES).classes);
            }
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    fn uses_of_attribute(&self, owners: &[ClassRef], name: Name) -> VariableUses {
        if owners.is_empty() {
            return VariableUses::default();
        }
        let program = self.linker.program;
        let mut result = VariableUses { is_known: true, ..VariableUses::default() };
        for (file, expression) in self.expressions_named(&[name]) {
            let facts = program.facts(file);
            let (is_it, is_unknown) = match facts.form(expression.form) {
                Form::Attr(base, _) => {
                    let members = self.members(file, &expression, base);
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
            match (is_it, expression.is_target) {
                (true, true) => result.targets.push((file, expression)),
                (true, false) => result.uses.push((file, expression)),
                (false, false) if is_unknown => result.unknown.push((file, expression)),
                (false, _) => {}
            }
        }
        result.sorted()
    }
}
