//! Constant evaluation: the literal of a form, also through a name or field that is assigned once.

use crate::lang;
use blocklint_facts::{At, BodyId, Form, FormId, ImportKind, SiteId, VarKind};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef, VarRef};
use crate::values::value::{EnvId, Val};

impl<'a> Linker<'a> {
    /// Returns the literal value of a form at a site: a literal, or a name that is assigned one literal.
    pub fn constant(&self, site: SiteRef, form: FormId, env: EnvId, depth: u32) -> Constant {
        if self.is_still_empty(site, form) {
            return Constant::Empty;
        }
        self.constant_in(self.program.body_of_site(site), form, env, depth)
    }

    /// Returns the literal value of a form in a body of the same file.
    pub fn constant_in(&self, body: BodyRef, form: FormId, env: EnvId, depth: u32) -> Constant {
        let Some(depth) = depth.checked_sub(1) else { return Constant::Hidden };
        let file = body.file;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::None => Constant::Null,
            Form::Bool(value) => Constant::Bool(value),
            Form::Int(value) => Constant::Int(value),
            Form::Float(value) => Constant::Float(value),
            Form::Str(sym) | Form::Bytes(sym) => Constant::Str(facts.text(sym).to_owned()),
            Form::Text(sym) if facts.text(sym).is_empty() => Constant::Hidden,
            Form::Text(sym) => Constant::Head(facts.text(sym).to_owned()),
            Form::Var(var) => {
                let var_facts = facts.var(var);
                let mut assigns = facts.assigns_of(var);
                if let VarKind::Param(index) = var_facts.kind {
                    if assigns.next().is_none() && file.body_ref(var_facts.body) == body {
                        return Constant::Param(index);
                    }
                    return Constant::Hidden;
                }
                let Some(only) = assigns.next() else { return Constant::Hidden };
                if assigns.next().is_some() {
                    return Constant::Hidden;
                }
                match facts.form(only.value) {
                    // One of its uses is the one that is asked about.
                    Form::None if self.may_be_filled(file, var, 1) => Constant::Hidden,
                    Form::Import(_) => self.constant_of_value(file, form, env),
                    _ => {
                        // A local of this body may have a parameter as its value: `limit = size`.
                        self.constant_in(body, only.value, env, depth)
                    }
                }
            }
            Form::Attr(base, sym) => {
                if crate::program::occurrences::is_own_receiver(facts, base)
                    && let Some(class) = self.class_around(body)
                    && let Some(name) = self.program.global(file, sym)
                    && let Some(constant) = self.constant_field(class, name, depth)
                {
                    return constant;
                }
                self.enum_member(file, base, sym).unwrap_or_else(|| self.constant_of_value(file, form, env))
            }
            Form::Join(list) => {
                let mut paths = Vec::new();
                for &part in facts.list(list) {
                    if let Constant::Symbols(more) = self.constant_in(body, part, env, depth) {
                        paths.extend(more);
                    }
                }
                if paths.is_empty() { Constant::Hidden } else { Constant::Symbols(paths) }
            }
            Form::Result(site) => {
                let site_facts = facts.site(site);
                if let Some(same) = self.cast_argument(file, site) {
                    return self.constant_in(body, same, env, depth);
                }
                // Flags: `os.O_RDONLY | os.O_NONBLOCK`.
                if facts.text(site_facts.name) == "__or__" {
                    let mut paths = Vec::new();
                    let args = facts.args_of(site).into_iter().map(|arg| arg.value);
                    for part in std::iter::once(site_facts.callee).chain(args) {
                        if let Constant::Symbols(more) = self.constant_in(body, part, env, depth) {
                            paths.extend(more);
                        }
                    }
                    if !paths.is_empty() {
                        return Constant::Symbols(paths);
                    }
                }
                Constant::Hidden
            }
            Form::Name(_) | Form::Path(..) => self.constant_of_value(file, form, env),
            _ => Constant::Hidden,
        }
    }

    /// Returns the literal value of a parameter's default; `None` if it has no default.
    pub fn default_of(&self, body: BodyRef, param: u32) -> Option<Constant> {
        let facts = self.program.facts(body.file);
        let default = self.program.params_of(body).get(param as usize).map(|param| param.default)?.get()?;
        let parent = self.program.body(body).parent.get().unwrap_or(BodyId(0));
        if let Form::Display(_, list) | Form::Pairs(list) = facts.form(default)
            && facts.list(list).is_empty()
        {
            return Some(Constant::Empty);
        }
        Some(self.constant_in(body.file.body_ref(parent), default, EnvId::NONE, 6))
    }

    /// Returns the second argument of `typing.cast`, which returns it unchanged: `kind` of `cast(Kind, kind)` (Python).
    pub(crate) fn cast_argument(&self, file: FileId, call: SiteId) -> Option<FormId> {
        let facts = self.program.facts(file);
        let site_facts = facts.site(call);
        if facts.language != blocklint_core::Language::Python
            || !lang::python::conventions::may_be_cast(facts.text(site_facts.name))
        {
            return None;
        }
        let [_, value] = facts.args_of(call)[..] else { return None };
        let scope = crate::values::expr::Scope { file, at: site_facts.at, env: EnvId::NONE };
        match self.values.members(self.eval(scope, site_facts.callee).value)[..] {
            [Val::External(path)] if lang::python::builtins::is_cast(&self.library.text(path)) => Some(value.value),
            _ => None,
        }
    }

    /// Returns the literal value of a name of another module, or the path of a library's constant.
    fn constant_of_value(&self, file: FileId, form: FormId, env: EnvId) -> Constant {
        let scope = crate::values::expr::Scope { file, at: At::default(), env };
        if let Some((file, value)) = self.module_constant_definition(file, form) {
            return self.constant_in(file.body_ref(BodyId(0)), value, EnvId::NONE, 3);
        }
        let mut paths = Vec::new();
        for val in self.values.members(self.eval(scope, form).value) {
            if let Val::External(path) = val {
                paths.push(self.library.text(path).to_string());
            }
        }
        if paths.is_empty() { Constant::Hidden } else { Constant::Symbols(paths) }
    }

    /// Returns the only value that is assigned to the module constant behind an imported name or `module.NAME`.
    fn module_constant_definition(&self, file: FileId, form: FormId) -> Option<(FileId, FormId)> {
        let var = self.module_var(file, form)?;
        self.program.only_value_of(var).map(|row| (var.file, row.value))
    }

    /// Returns the variable of another module that an imported name or `module.NAME` refers to.
    pub fn module_var(&self, file: FileId, form: FormId) -> Option<VarRef> {
        let facts = self.program.facts(file);
        let (module, name) = match facts.form(form) {
            Form::Var(var) => {
                let row = facts.assigns_of(var).next()?;
                let Form::Import(import) = facts.form(row.value) else { return None };
                let import = facts.import(import);
                if import.kind != ImportKind::Name {
                    return None;
                }
                let module = crate::lang::python::names::module_named(self, file, &import);
                (module, self.program.global(file, import.name)?)
            }
            Form::Attr(base, sym) => {
                let scope = crate::values::expr::Scope { file, at: At::default(), env: EnvId::NONE };
                let members = self.values.members(self.eval(scope, base).value);
                let [module] = members[..] else { return None };
                (module, self.program.global(file, sym)?)
            }
            _ => return None,
        };
        let Val::Module(file) = module else { return None };
        let var = self.program.scope_var(file, BodyId(0), name)?;
        Some(file.var_ref(var))
    }

    /// Returns the only literal that is assigned to a field of a class, in its body or a method; `Hidden` if the
    /// assignments differ.
    fn constant_field(&self, class: ClassRef, name: crate::program::ids::Name, depth: u32) -> Option<Constant> {
        let mut constant_value = None;
        let mut add = |constant: Constant| {
            if constant_value.is_none() {
                constant_value = Some(constant);
            } else if constant_value.as_ref() != Some(&constant) {
                constant_value = Some(Constant::Hidden);
            }
        };
        if let Some((owner, var)) = self.own_member(class, name) {
            let facts = self.program.facts(owner.file);
            for assignment in facts.assigns_of(var).filter(|assignment| assignment.value.is_some()) {
                add(self.constant_in(
                    self.program.body_of(owner.file, assignment.at),
                    assignment.value,
                    EnvId::NONE,
                    depth,
                ));
            }
        }
        if let Some(sym) = self.program.local(class.file, name) {
            let facts = self.program.facts(class.file);
            for &(assign, is_own) in self.program.index_of(class.file).attr_assigns(sym) {
                let assignment = facts.assign(assign);
                if is_own
                    && self.class_around(self.program.body_of(class.file, assignment.at)) == Some(class)
                    && assignment.value.is_some()
                {
                    match self.constant_in(
                        self.program.body_of(class.file, assignment.at),
                        assignment.value,
                        EnvId::NONE,
                        depth,
                    ) {
                        // The value of a constructor's parameter depends on the caller.
                        Constant::Param(_) => add(Constant::Hidden),
                        constant => add(constant),
                    }
                }
            }
        }
        constant_value
    }
}
