//! The family of a function, which becomes `async` together: overloads, overrides and overridden methods. Also the
//! bases of its classes outside of the project, the places that export it, and every place that mentions one of its
//! functions.

use blocklint_core::Span;
use blocklint_facts::{Body, BodyFlags, BodyId, BodyKind, Expression, Form, ParamKind, SiteFlags, SiteId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use blocklint_link::values::value::{EnvId, Val};

use super::{MAX_CLASSES, Meaning, Places};

/// The functions that change together, and their uses.
#[derive(Clone, Debug, Default)]
pub struct FunctionUses {
    /// The function, its overloads, the methods that override it, and those that it overrides.
    pub family: Vec<BodyRef>,
    /// Classes with bases outside of the project, with the path of the base if it is known.
    pub bases: Vec<(ClassRef, Option<String>)>,
    /// The places that mention a function of the family, or may mention one.
    pub uses: Vec<Use>,
    /// The places that export the function to other projects: `__all__`, or an import in an `__init__.py`.
    pub exports: Vec<(FileId, Span)>,
    /// The places that export the class of the method.
    pub class_exports: Vec<(FileId, Span)>,
}

/// A place that mentions a function.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The file.
    pub file: FileId,
    /// The name or attribute.
    pub expression: Expression,
    /// The function to which it refers.
    pub means: Means,
}

/// The function to which a place refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A function of the family.
    Family,
    /// A function of the family or another function.
    Either,
    /// The function is unknown.
    Unknown,
}

impl Places<'_, '_> {
    /// Returns the family of a function, and its uses.
    pub fn function_uses(&self, body: BodyRef) -> FunctionUses {
        let (linker, program) = (self.linker, self.linker.program);
        let row = program.body(body);
        let class = row.class.get().map(|class| body.file.class_ref(class));
        let Some(name) = program.global(body.file, row.name) else { return FunctionUses::default() };
        let classes = class.map_or_else(Vec::new, |class| self.family_classes(class, name));
        let mut family: Vec<BodyRef> = classes.iter().flat_map(|&of| self.methods(of, name)).collect();
        let overload = |(index, other): (usize, Body)| {
            (other.kind == BodyKind::Function && row.var.is_some() && other.var == row.var)
                .then(|| body.file.body_ref(BodyId(index as u32)))
        };
        family.extend(program.facts(body.file).bodies.iter().enumerate().filter_map(overload));
        family.push(body);
        family.sort_unstable();
        family.dedup();
        let mut bases: Vec<(ClassRef, Option<String>)> = Vec::new();
        for &of in &classes {
            bases.extend(linker.mro(of).iter().filter_map(|ancestor| match *ancestor {
                Ancestor::Class(_) => None,
                Ancestor::Library(path, _) => Some((of, Some(linker.library.text(path).to_string()))),
                Ancestor::Unknown => Some((of, None)),
            }));
        }
        let mut uses: Vec<Use> = Vec::new();
        for (file, expression) in self.expressions_named(&linker.body_names(body)) {
            if let Some(means) = self.means(file, &expression, &family, &classes, name) {
                uses.push(Use { file, expression, means });
            }
        }
        uses.sort_by_key(|one| (one.file, one.expression.span));
        uses.dedup_by_key(|one| (one.file, one.expression.span));
        let is_top = class.is_none() && row.parent.get() == Some(BodyId(0));
        let exports = if is_top { self.export_places(name, &Meaning::Function(body)) } else { Vec::new() };
        let class_name = class.and_then(|class| program.global(class.file, program.class(class).name));
        let class_exports = class.zip(class_name).map(|(class, name)| self.export_places(name, &Meaning::Class(class)));
        FunctionUses { family, bases, uses, exports, class_exports: class_exports.unwrap_or_default() }
    }

    /// Returns the classes whose methods of a name belong to one family: the bases with this method, and all subclasses
    /// of these.
    fn family_classes(&self, class: ClassRef, name: Name) -> Vec<ClassRef> {
        let has_method =
            |family_class: &ClassRef| *family_class == class || self.linker.own_member(*family_class, name).is_some();
        let mut family: Vec<ClassRef> = self.linker.classes_above(class).into_iter().filter(has_method).collect();
        for top in family.clone() {
            family.extend(self.linker.descendants(top, MAX_CLASSES).classes);
        }
        family.sort_unstable();
        family.dedup();
        family
    }

    fn methods(&self, class: ClassRef, name: Name) -> Vec<BodyRef> {
        let member = self.linker.own_member(class, name);
        member.map_or_else(Vec::new, |(holder, var)| self.linker.functions_of(holder, var))
    }

    /// Returns the function to which a place refers; `None` if it is certainly none of the family.
    fn means(
        &self,
        file: FileId,
        of: &Expression,
        family: &[BodyRef],
        classes: &[ClassRef],
        name: Name,
    ) -> Option<Means> {
        if of.is_target {
            return self.replaces(file, of, classes, family).then_some(Means::Family);
        }
        let called = self.call_of(file, of);
        let means = match called {
            Some(site) => self.means_of_call(site, family, classes, name),
            None => self.means_of_mention(file, of, family),
        };
        if means != Some(Means::Unknown) {
            return means;
        }
        let facts = self.linker.program.facts(file);
        // An unknown decorator hides the function, but the variable of its definition is known.
        if let Form::Var(var) = facts.form(of.form) {
            let bound = self.origin_of_import(file.var_ref(var));
            let is_own = |body: &BodyRef| body.file.var_ref(self.linker.program.body(*body).var) == bound;
            if family.iter().any(is_own) {
                return Some(Means::Family);
            }
        }
        // An attribute of an unknown object is no function of a module. A variable with an unknown value is no method,
        // and a local variable with an unknown value is no function of the family.
        let is_attribute = self.attribute_object(file, of.form).is_some();
        let is_local =
            matches!(facts.form(of.form), Form::Var(var) if facts.body(facts.var(var).body).kind != BodyKind::Module);
        if classes.is_empty() == is_attribute || is_local {
            return None;
        }
        let is_excluded = called.is_some_and(|site| {
            self.linker.program.site(site).flags.has(SiteFlags::AWAITED)
                || !family.iter().any(|body| self.accepts_arguments(site, *body))
        });
        (!is_excluded).then_some(Means::Unknown)
    }

    fn means_of_call(&self, site: SiteRef, family: &[BodyRef], classes: &[ClassRef], name: Name) -> Option<Means> {
        let targets = self.linker.targets(site, EnvId::NONE);
        let is_family = |target: &Target| match target {
            Target::Body { body, .. } => family.contains(body),
            Target::Overrides { class, name: of } => classes.contains(class) && *of == name,
            Target::Row { .. } => false,
        };
        let count = targets.list.iter().filter(|target| is_family(target)).count();
        match count {
            0 if targets.list.is_empty() && targets.unknown => {
                let row = self.linker.program.site(site);
                let scope = self.linker.scope_of(site, EnvId::NONE);
                let form = self.attribute_object(site.file, row.callee).unwrap_or(row.callee);
                let value = self.linker.eval(scope, form).value;
                let is_unknown = self.linker.values.members(value).iter().any(|val| matches!(val, Val::Unknown(_)));
                is_unknown.then_some(Means::Unknown)
            }
            0 => None,
            _ if targets.steps >= LOW_STEPS => Some(Means::Unknown),
            _ if count == targets.list.len() => Some(Means::Family),
            _ => Some(Means::Either),
        }
    }

    fn means_of_mention(&self, file: FileId, expression: &Expression, family: &[BodyRef]) -> Option<Means> {
        let members = self.members(file, expression, expression.form);
        if members.iter().any(|val| matches!(val, Val::Fn { body, .. } if family.contains(body))) {
            return Some(Means::Family);
        }
        let base =
            self.attribute_object(file, expression.form).map_or(members, |base| self.members(file, expression, base));
        base.iter().any(|val| matches!(val, Val::Unknown(_))).then_some(Means::Unknown)
    }

    /// True if an assignment replaces a function of the family.
    fn replaces(&self, file: FileId, expression: &Expression, classes: &[ClassRef], family: &[BodyRef]) -> bool {
        let Some(base) = self.attribute_object(file, expression.form) else { return false };
        self.members(file, expression, base).iter().any(|val| match *val {
            Val::Instance { class, .. } | Val::Class(class) => classes.contains(&class),
            Val::Module(module) => classes.is_empty() && family.iter().any(|body| body.file == module),
            _ => false,
        })
    }

    /// Returns the call whose callee is a name or attribute.
    fn call_of(&self, file: FileId, expression: &Expression) -> Option<SiteRef> {
        let facts = self.linker.program.facts(file);
        let sym = match facts.form(expression.form) {
            Form::Var(var) => facts.var(var).name,
            Form::Name(name) | Form::Attr(_, name) => name,
            _ => return None,
        };
        let is_it = |site: &&SiteId| {
            let row = facts.site(**site);
            row.kind == SiteKind::Call && row.name_span == expression.name_span
        };
        let found = self.linker.program.index_of(file).sites_named(sym).iter().find(is_it)?;
        Some(file.site_ref(*found))
    }

    /// True if a function accepts the arguments of a call.
    fn accepts_arguments(&self, site: SiteRef, body: BodyRef) -> bool {
        let (program, facts) = (self.linker.program, self.linker.program.facts(site.file));
        let row = program.body(body);
        let is_bound = row.class.is_some() && !row.flags.has(BodyFlags::STATIC);
        let params = program.params_of(body);
        let args = program.args_of(site);
        if args.iter().any(|arg| matches!(facts.form(arg.value), Form::Star(_) | Form::StarStar(_))) {
            return true;
        }
        let text = |sym| program.facts(body.file).text(sym).to_owned();
        let by_position: Vec<_> = params
            .iter()
            .filter(|param| matches!(param.kind, ParamKind::Normal | ParamKind::PositionalOnly))
            .skip(usize::from(is_bound))
            .collect();
        let has = |kind| params.iter().any(|param| param.kind == kind);
        let keywords: Vec<&str> =
            args.iter().filter(|arg| arg.name.is_some()).map(|arg| facts.text(arg.name)).collect();
        let positions = args.len() - keywords.len();
        let named: Vec<String> =
            params.iter().filter(|param| param.kind == ParamKind::KeywordOnly).map(|param| text(param.name)).collect();
        let known = |name: &&str| {
            by_position.iter().any(|param| text(param.name) == **name) || named.iter().any(|keyword| keyword == *name)
        };
        // `Class.method(object, …)` passes the object too.
        let max_arguments = by_position.len() + usize::from(is_bound);
        if (!has(ParamKind::KwArgs) && !keywords.iter().all(known))
            || (!has(ParamKind::VarArgs) && positions > max_arguments)
        {
            return false;
        }
        let behind = by_position.iter().skip(positions).copied();
        let only_named = params.iter().filter(|param| param.kind == ParamKind::KeywordOnly);
        behind
            .chain(only_named)
            .filter(|param| !param.default.is_some())
            .all(|param| keywords.iter().any(|name| *name == text(param.name)))
    }

    /// Returns the places that export a function or class of a module to other projects.
    fn export_places(&self, name: Name, meaning: &Meaning) -> Vec<(FileId, Span)> {
        let program = self.linker.program;
        let mut places = Vec::new();
        for &(file, _) in program.occurrences(name) {
            let Some(var) = program.scope_var(file, BodyId(0), name) else { continue };
            let facts = program.facts(file);
            if self.meaning_in_module(file, name).meanings != [meaning.clone()] {
                continue;
            }
            let text = program.text(name);
            let all = program.name("__all__").and_then(|all| program.scope_var(file, BodyId(0), all));
            for assign in all.into_iter().flat_map(|all| facts.assigns_of(all)) {
                if let Form::Display(_, list) = facts.form(assign.value)
                    && facts
                        .list(list)
                        .iter()
                        .any(|&part| matches!(facts.form(part), Form::Str(sym) if facts.text(sym) == text))
                {
                    places.push((file, assign.span));
                }
            }
            let is_package = program.files[file.index()].relative.ends_with("__init__.py");
            let by_import = facts.assigns_of(var).find(|assign| matches!(facts.form(assign.value), Form::Import(_)));
            if let Some(assign) = by_import.filter(|_| is_package) {
                places.push((file, assign.span));
            }
        }
        places
    }
}
