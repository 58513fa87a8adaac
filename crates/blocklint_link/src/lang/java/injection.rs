//! Java: dependency injection: the object that a container puts into a constructor or field. A method of the project makes it
//! (`@Bean`); of several classes of a declared type, the one whose name the field has is taken
//! (<https://docs.spring.io/spring-framework/reference/core/beans/annotation-config/autowired-qualifiers.html>).

use crate::lang;
use blocklint_core::{Context, Language};
use blocklint_facts::{Assign, AssignKind, BodyId, BodyKind, ClassKind, Form, VarKind};
use blocklint_models::{HandoverContext, Phase, Runs, Via};

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, ValueId};

/// A method that makes an object for a container.
pub(crate) struct Provider {
    body: BodyRef,
    /// The names of the object in the container: the method's name, or the names in its annotation.
    names: Vec<String>,
    /// The library types that it is declared to return.
    gives: Vec<PathId>,
}

impl Linker<'_> {
    /// Returns the methods that may have made what a container puts into a parameter or field that no code assigns: of
    /// its type, of those the ones of its name where there are any.
    pub(crate) fn made_by_container(&self, var: VarRef) -> Vec<BodyRef> {
        let wanted = self.declared_paths(var);
        let Some(&wanted) = wanted.first().filter(|_| wanted.len() == 1) else { return Vec::new() };
        let facts = self.program.facts(var.file);
        let name = facts.text(self.program.var(var).name);
        let of_type: Vec<&Provider> = self
            .providers()
            .iter()
            .filter(|provider| provider.gives.iter().any(|&gives| self.library.is_subtype(gives, wanted)))
            .filter(|provider| self.may_meet(provider.body.file, var.file))
            .collect();
        let of_name: Vec<&&Provider> =
            of_type.iter().filter(|provider| provider.names.iter().any(|given| given == name)).collect();
        match of_name.is_empty() {
            true => of_type.iter().map(|provider| provider.body).collect(),
            false => of_name.iter().map(|provider| provider.body).collect(),
        }
    }

    /// True if a container may supply the parameters of a body: a constructor, or a method that makes an object for the
    /// container.
    pub(crate) fn is_injected(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        facts.language == Language::Java
            && (lang::words_of(Language::Java).is_constructor(facts.text(self.program.body(body).name))
                || self.providers().iter().any(|provider| provider.body == body))
    }

    fn declared_paths(&self, var: VarRef) -> Vec<PathId> {
        let facts = self.program.facts(var.file);
        let row = self.program.var(var);
        let declared = match row.kind {
            VarKind::Param(index) => {
                let body = var.file.body_ref(row.body);
                let annotation = facts.params_of(row.body).get(index as usize).map(|param| param.annotation);
                annotation.map(|annotation| self.annotation(self.signature_scope(body), annotation))
            }
            _ => self.program.assigns_of(var).find(|assign| assign.kind == AssignKind::Declaration).map(|assign| {
                self.annotation(Scope { file: var.file, at: assign.at, env: EnvId::NONE }, assign.annotation)
            }),
        };
        declared.map_or(Vec::new(), |declared| self.library_types(declared.value))
    }

    fn library_types(&self, value: ValueId) -> Vec<PathId> {
        let types = self.values.members(value).into_iter().filter_map(|val| match val {
            Val::Library { ty, .. } => Some(ty),
            _ => None,
        });
        types.collect()
    }

    fn providers(&self) -> &[Provider] {
        self.tables.java.providers.get_or_init(|| {
            let mut found = Vec::new();
            for (slot, source) in self.program.files.iter().enumerate() {
                if source.facts.language != Language::Java {
                    continue;
                }
                for (at, row) in source.facts.bodies.iter().enumerate() {
                    if row.kind == BodyKind::Function && row.returns.is_some() && row.decorators.len > 0 {
                        let body = FileId(slot as u32).body_ref(BodyId(at as u32));
                        found.extend(self.provider(body));
                    }
                }
            }
            found
        })
    }

    fn provider(&self, body: BodyRef) -> Option<Provider> {
        let makes = |path: PathId| {
            self.library.handovers(path).of_via(Via::Decorator).any(|of| {
                of.row.phase == Some(Phase::Startup)
                    && of.row.context == HandoverContext::Is(Runs::In(Context::Unknown))
            })
        };
        let (_, made) = self.decorators(body).into_iter().find(|&(path, _)| makes(path))?;
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let gives = self.library_types(self.annotation(self.signature_scope(body), row.returns).value);
        let mut said = Vec::new();
        for arg in made.into_iter().flat_map(|site| self.program.args_of(site)) {
            match facts.form(arg.value) {
                Form::Str(sym) => said.push(facts.text(sym).to_owned()),
                Form::Display(_, list) => {
                    let texts = facts.list(list).iter().filter_map(|&part| match facts.form(part) {
                        Form::Str(sym) => Some(facts.text(sym).to_owned()),
                        _ => None,
                    });
                    said.extend(texts);
                }
                _ => {}
            }
        }
        let names = if said.is_empty() { vec![facts.text(row.name).to_owned()] } else { said };
        Some(Provider { body, names, gives })
    }
}

/// Classes that are looked at for one field.
const MOST: usize = 64;

impl Linker<'_> {
    /// Returns a field's declared type, or the class of that type that the field is named for, where there are several.
    pub(crate) fn named_for(&self, file: FileId, row: &Assign, declared: Typed) -> Typed {
        let facts = self.program.facts(file);
        let Form::Var(var) = facts.form(row.target) else { return declared };
        if facts.language != Language::Java
            || row.value.is_some()
            || facts.body(facts.var(var).body).kind != BodyKind::Class
        {
            return declared;
        }
        let [Val::Instance { class, exact: false, .. }] = self.values.members(declared.value)[..] else {
            return declared;
        };
        let field = facts.text(facts.var(var).name);
        let classes = self.classes_below(class);
        let mut named = classes.iter().filter(|of| {
            let facts = self.program.facts(of.file);
            is_object_of(facts.text(self.program.class(**of).name), field)
        });
        match (named.next(), named.next()) {
            (Some(&class), None) if classes.len() > 1 => {
                Typed { value: self.values.one(Val::Instance { class, exact: false, args: ArgsId::NONE }), ..declared }
            }
            _ => declared,
        }
    }

    /// Returns the classes that derive from one, those of tests apart.
    fn classes_below(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut seen = self.with_descendants(class, usize::MAX, MOST);
        seen.retain(|of| {
            let is_class = self.program.class(*of).kind != ClassKind::Interface;
            *of != class && is_class && !self.program.is_test(of.file)
        });
        seen
    }
}

/// True if a field has the name under which a container holds the object of a class: `bankPayment` of `BankPayment`.
fn is_object_of(class: &str, field: &str) -> bool {
    let (mut class, mut field) = (class.chars(), field.chars());
    match (class.next(), field.next()) {
        (Some(a), Some(b)) => a.is_uppercase() && a.to_lowercase().eq([b]) && class.eq(field),
        _ => false,
    }
}
