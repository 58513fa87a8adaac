//! Java: dependency injection: the object that a container passes to a constructor or assigns to a field. A method of
//! the project makes the object (`@Bean`). Of several classes with the declared type, the container takes the class
//! with the name of the field
//! (<https://docs.spring.io/spring-framework/reference/core/beans/annotation-config/autowired-qualifiers.html>).

use crate::lang;
use blocklint_core::{Context, Language};
use blocklint_facts::{Assign, AssignKind, BodyId, BodyKind, ClassKind, Form, VarKind};
use blocklint_models::{HandoverContext, Phase, Runs, Via};

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, ValueId};

/// A method that makes an object for a container: `@Bean Store store()`.
pub(crate) struct Provider {
    body: BodyRef,
    /// The names of the object in the container: the method's name, or the names in its annotation.
    names: Vec<String>,
    /// The library types in its declared result.
    result_types: Vec<PathId>,
}

impl Linker<'_> {
    /// Returns the methods that may have made the object which a container passes to a parameter or assigns to a field:
    /// the methods of its type, and if some of them have its name, only these.
    pub(crate) fn providers_for(&self, var: VarRef) -> Vec<BodyRef> {
        let declared = self.declared_paths(var);
        let Some(&wanted) = declared.first().filter(|_| declared.len() == 1) else { return Vec::new() };
        let facts = self.program.facts(var.file);
        let name = facts.text(self.program.var(var).name);
        let of_type: Vec<&Provider> = self
            .providers()
            .iter()
            .filter(|provider| provider.result_types.iter().any(|&result| self.library.is_subtype(result, wanted)))
            .filter(|provider| self.may_run_in_one_program(provider.body.file, var.file))
            .collect();
        let of_name: Vec<&&Provider> =
            of_type.iter().filter(|provider| provider.names.iter().any(|own| own == name)).collect();
        if of_name.is_empty() {
            of_type.iter().map(|provider| provider.body).collect()
        } else {
            of_name.iter().map(|provider| provider.body).collect()
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

    /// Returns the library types in the declared type of a parameter or field.
    fn declared_paths(&self, var: VarRef) -> Vec<PathId> {
        let facts = self.program.facts(var.file);
        let var_facts = self.program.var(var);
        let declared = match var_facts.kind {
            VarKind::Param(index) => {
                let body = var.file.body_ref(var_facts.body);
                let annotation = facts.params_of(var_facts.body).get(index as usize).map(|param| param.annotation);
                annotation.map(|annotation| self.annotation(self.signature_scope(body), annotation))
            }
            _ => self.program.assigns_of(var).find(|assign| assign.kind == AssignKind::Declaration).map(|assign| {
                self.annotation(Scope { file: var.file, at: assign.at, env: EnvId::NONE }, assign.annotation)
            }),
        };
        declared.map_or(Vec::new(), |declared| self.library_types(declared.value))
    }

    /// Returns the library types of the possible values.
    fn library_types(&self, value: ValueId) -> Vec<PathId> {
        let types = self.values.members(value).into_iter().filter_map(|val| match val {
            Val::Library { ty, .. } => Some(ty),
            _ => None,
        });
        types.collect()
    }

    /// Returns all methods of the project that make an object for a container.
    fn providers(&self) -> &[Provider] {
        self.tables.java.providers.get_or_init(|| {
            let mut providers = Vec::new();
            for (slot, source) in self.program.files.iter().enumerate() {
                if source.facts.language != Language::Java {
                    continue;
                }
                for (index, body_facts) in source.facts.bodies.iter().enumerate() {
                    if body_facts.kind == BodyKind::Function
                        && body_facts.returns.is_some()
                        && body_facts.decorators.len > 0
                    {
                        let body = FileId(slot as u32).body_ref(BodyId(index as u32));
                        providers.extend(self.find_provider(body));
                    }
                }
            }
            providers
        })
    }

    /// Returns a method as a provider, if an annotation makes a container call it at startup: `@Bean`.
    fn find_provider(&self, body: BodyRef) -> Option<Provider> {
        let is_provider_annotation = |path: PathId| {
            self.library.handovers(path).rows_of_via(Via::Decorator).any(|handover| {
                handover.row.phase == Some(Phase::Startup)
                    && handover.row.context == HandoverContext::Is(Runs::In(Context::Unknown))
            })
        };
        let (_, made) = self.decorators(body).into_iter().find(|&(path, _)| is_provider_annotation(path))?;
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let result_types = self.library_types(self.annotation(self.signature_scope(body), body_facts.returns).value);
        let mut annotated_names = Vec::new();
        for arg in made.into_iter().flat_map(|site| self.program.args_of(site)) {
            match facts.form(arg.value) {
                Form::Str(sym) => annotated_names.push(facts.text(sym).to_owned()),
                Form::Display(_, list) => {
                    let texts = facts.list(list).iter().filter_map(|&part| match facts.form(part) {
                        Form::Str(sym) => Some(facts.text(sym).to_owned()),
                        _ => None,
                    });
                    annotated_names.extend(texts);
                }
                _ => {}
            }
        }
        let names =
            if annotated_names.is_empty() { vec![facts.text(body_facts.name).to_owned()] } else { annotated_names };
        Some(Provider { body, names, result_types })
    }
}

/// The number of subclasses that are compared with one field's name.
const MOST_CLASSES: usize = 64;

impl Linker<'_> {
    /// Returns the subclass of a field's declared type that the field is named after (`bankPayment`), if the type has
    /// several subclasses; else the declared type.
    pub(crate) fn subclass_named_like_field(&self, file: FileId, row: &Assign, declared: Typed) -> Typed {
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
        let classes = self.concrete_subclasses(class);
        let mut named = classes.iter().filter(|candidate| {
            let facts = self.program.facts(candidate.file);
            is_object_of(facts.text(self.program.class(**candidate).name), field)
        });
        match (named.next(), named.next()) {
            (Some(&class), None) if classes.len() > 1 => {
                Typed { value: self.values.one(Val::Instance { class, exact: false, args: ArgsId::NONE }), ..declared }
            }
            _ => declared,
        }
    }

    /// Returns the subclasses of a class, without interfaces and classes of tests.
    fn concrete_subclasses(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut subclasses = self.with_descendants(class, usize::MAX, MOST_CLASSES);
        subclasses.retain(|subclass| {
            let is_class = self.program.class(*subclass).kind != ClassKind::Interface;
            *subclass != class && is_class && !self.program.is_test(subclass.file)
        });
        subclasses
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
