//! Parameters of lambdas: the functional interface that a lambda implements at its place, and the values that a library
//! passes to its parameters.

use crate::lang;
use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{At, BodyFlags, BodyId, BodyKind, ClassKind, Form, FormId};
use blocklint_models::{HandoverContext, Runs, Selector, Via};

use crate::calls::targets::{ArgumentUse, Target};
use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The most mentions of one lambda that are followed.
const MAX_MENTIONS: usize = 4;

impl<'a> Linker<'a> {
    /// Returns the path of the library method to which a lambda is passed (Java).
    pub fn library_method_taking(&self, body: BodyRef) -> Option<String> {
        let facts = self.program.facts(body.file);
        if facts.language != Language::Java || self.program.body(body).kind != BodyKind::Lambda {
            return None;
        }
        let uses = self.program.uses_of_callable(body);
        uses.iter().find_map(|(mention, _)| {
            let Mention::Arg(site, _) = mention else { return None };
            let targets = self.targets(body.file.site_ref(site), EnvId::NONE);
            targets.list.iter().find_map(|target| match *target {
                Target::Row { path, .. } => Some(self.library.text(path).to_string()),
                _ => None,
            })
        })
    }

    /// Returns the value of a lambda's n-th parameter, by the row of the library call to which the lambda is passed, or
    /// by the declared functional interface.
    pub(crate) fn lambda_param(&self, body: BodyRef, index: u32) -> Option<Typed> {
        for mention in self.places_of_lambda(body) {
            if let Mention::Arg(site, arg) = mention
                && let Some(passed) = self.value_passed_by_row(body.file.site_ref(site), arg, index)
            {
                return Some(passed);
            }
            for val in self.declared_types_at(body.file, mention) {
                if let Some(declared) = self.interface_param(val, index) {
                    return Some(declared);
                }
            }
        }
        None
    }

    /// Returns the places to which a lambda goes. In Rust it also returns the places of a pointer to it:
    /// `Box::new(|conn| …)`.
    fn places_of_lambda(&self, body: BodyRef) -> Vec<Mention> {
        const MAX_USES: usize = 4;
        let index = self.program.index_of(body.file);
        let facts = self.program.facts(body.file);
        let mut places: Vec<Mention> =
            self.program.uses_of_callable(body).iter().map(|(mention, _)| mention).take(MAX_USES).collect();
        let mut next = 0;
        while facts.language == Language::Rust
            && let Some(&mention) = places.get(next)
            && places.len() < 2 * MAX_USES
        {
            next += 1;
            let Mention::Arg(site, _) = mention else { continue };
            let is_pointer =
                facts.args_of(site).len() == 1 && matches!(facts.form(facts.site(site).callee), Form::Path(..));
            if is_pointer {
                places.extend(index.uses_of_result(site).iter().map(|(mention, _)| mention).take(MAX_USES));
            }
        }
        places
    }

    /// Returns the result of a call of a functional interface's only method, by the type arguments of the interface:
    /// `Mono<Y>` for `work.apply(x)` of a `Function<X, Mono<Y>>`.
    pub(crate) fn functional_result(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        if !crate::lang::words_of(facts.language).is_functional_method(facts.text(self.program.site(site).name)) {
            return None;
        }
        let receiver = self.receiver_form(site)?;
        let typed = self.eval(self.scope_of(site, env), receiver);
        let [Val::Library { ty, args, .. }] = self.values.members(typed.value)[..] else { return None };
        let value = self.values.nth(args, lang::java::names::functional_return(&self.library.text(ty))?)?;
        (!self.values.is_unknown(value)).then_some(Typed { value, inferred_steps: typed.inferred_steps })
    }

    /// Returns the declared type of a parameter, or a subtype of it that a library's row declares for the passed value.
    pub(crate) fn param_narrowed_by_row(&self, body: BodyRef, index: u32, declared: Typed) -> Typed {
        let [Val::Library { ty: declared_ty, args, .. }] = self.values.members(declared.value)[..] else {
            return declared;
        };
        let passed = match self.program.body(body).kind {
            BodyKind::Lambda => self.lambda_param(body, index),
            _ => self.value_passed_to_override(body, index),
        };
        let Some(passed) = passed else { return declared };
        let [Val::Library { ty, made, .. }] = self.values.members(passed.value)[..] else { return declared };
        if ty == declared_ty || !self.library.is_subtype(ty, declared_ty) {
            return declared;
        }
        Typed { value: self.values.one(Val::Library { ty, args, made }), ..declared }
    }

    /// Returns the value that a library passes to a method that overrides one of its methods.
    fn value_passed_to_override(&self, body: BodyRef, index: u32) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let class = body.file.class_ref(body_facts.class.get()?);
        self.mro(class).iter().find_map(|ancestor| {
            let Ancestor::Library(ty, _) = *ancestor else { return None };
            let handovers = self.library.handovers(self.library.member(ty, facts.text(body_facts.name)));
            let handover = handovers.rows_of_via(Via::Override).find(|row| !row.gives.is_empty())?;
            let passed = handover.row.gives.get(index as usize)?;
            Some(self.type_value(passed, Val::External(ty), None))
        })
    }

    /// Returns the value that a library passes to the n-th parameter of the callable in an argument.
    pub(crate) fn value_passed_by_row(&self, site: SiteRef, arg: u32, index: u32) -> Option<Typed> {
        let targets = self.targets(site, EnvId::NONE);
        for target in &targets.list {
            let Target::Row { path, receiver, .. } = *target else { continue };
            let handovers = self.handovers_for_call(path, site);
            let row = handovers.iter().find(|row| match &row.selector {
                Selector::Argument(argument) => !row.gives.is_empty() && self.is_argument(site, arg, argument),
                Selector::Via(_) => false,
            });
            let Some(matched) = row else { continue };
            let Some(passed) = matched.row.gives.get(index as usize) else { continue };
            let receiver_value = if receiver.is_some() { self.values.single(receiver) } else { Val::External(path) };
            let passed = self.type_value(passed, receiver_value, Some((site, EnvId::NONE)));
            if !self.values.is_unknown(passed.value) {
                return Some(passed);
            }
        }
        None
    }

    /// Returns the declared types at the place of a mention.
    pub(crate) fn declared_types_at(&self, file: FileId, mention: Mention) -> Vec<Val> {
        let facts = self.program.facts(file);
        let read = |at: At, form: FormId| -> Vec<Val> {
            if form.is_none() {
                return Vec::new();
            }
            let typed = self.annotation(Scope { file, at, env: EnvId::NONE }, form);
            self.values.members(typed.value).into_iter().collect()
        };
        match mention {
            Mention::Assign(assign) => {
                let assignment = facts.assign(assign);
                read(assignment.at, assignment.annotation)
            }
            Mention::Exit(exit) => {
                let row = facts.exits.at(exit as usize);
                let body = self.program.body_of(file, row.at);
                let returns = self.program.body(body).returns;
                read(self.signature_scope(body).at, returns)
            }
            Mention::Arg(site, arg) => {
                let site = file.site_ref(site);
                let mut types = Vec::new();
                for target in &self.targets(site, EnvId::NONE).list {
                    let Target::Body { body, with_receiver, .. } = *target else { continue };
                    let Some(index) = self.param_for(site, arg, body, with_receiver) else { continue };
                    let Some(param) = self.program.params_of(body).get(index as usize) else { continue };
                    if param.annotation.is_some() {
                        let typed = self.annotation(self.signature_scope(body), param.annotation);
                        types.extend(self.values.members(typed.value));
                    }
                }
                types
            }
            Mention::Operand(_) | Mention::Default(_) => Vec::new(),
        }
    }

    /// Returns the value of the n-th parameter of a functional interface's only method.
    fn interface_param(&self, interface: Val, index: u32) -> Option<Typed> {
        match interface {
            Val::Param { .. } => {
                let bound = self.bound_of(interface);
                self.values.members(bound.value).into_iter().find_map(|bound| self.interface_param(bound, index))
            }
            Val::Library { ty, args, .. } if self.library.language(ty) == Language::Rust => {
                if !lang::rust::names::is_callable(&self.library.text(ty)) {
                    let inner = self.transparent_inner(ty, args)?;
                    return self
                        .values
                        .members(inner.value)
                        .into_iter()
                        .find_map(|val| self.interface_param(val, index));
                }
                // The first type argument of `Fn(A, B) -> C` is the tuple of its parameters.
                let [Val::Tuple(params)] = self.values.members(self.values.nth(args, 0)?)[..] else { return None };
                let value = self.values.nth(params, index as usize)?;
                (!self.values.is_unknown(value)).then_some(Typed { value, inferred_steps: 0 })
            }
            Val::Library { ty, args, .. } => {
                let text = self.library.text(ty);
                let Some(index) = lang::java::names::functional_argument(&text, index as usize) else {
                    return self.value_passed_to_method_of(ty, index, interface);
                };
                let value = self.values.nth(args, index)?;
                (!self.values.is_unknown(value)).then_some(Typed { value, inferred_steps: 0 })
            }
            Val::Instance { class, .. } => {
                let method = self.functional_method(class)?;
                let param = self.program.params_of(method).get(index as usize)?;
                let declared = self.annotation(self.signature_scope(method), param.annotation.get()?);
                (!self.values.is_unknown(declared.value)).then_some(declared)
            }
            _ => None,
        }
    }

    /// Returns the value that a library passes to the only method of its functional interface, by a row.
    fn value_passed_to_method_of(&self, ty: PathId, index: u32, interface: Val) -> Option<Typed> {
        let method = self.library.ty(ty)?.functional()?;
        let rows = self.library.handovers(self.library.member(ty, method));
        let handover = rows.rows_of_via(Via::Override).find(|row| !row.gives.is_empty())?;
        let passed = self.type_value(handover.row.gives.get(index as usize)?, interface, None);
        (!self.values.is_unknown(passed.value)).then_some(passed)
    }

    /// Returns the only abstract method of an interface of the project.
    pub(crate) fn functional_method(&self, class: ClassRef) -> Option<BodyRef> {
        let (facts, class_id) = self.program.facts_and_id(class);
        if self.program.class(class).kind != ClassKind::Interface {
            return None;
        }
        let mut stubs = facts.bodies.iter().enumerate().filter(|(_, body)| {
            body.class == class_id && body.kind == BodyKind::Function && body.flags.has(BodyFlags::STUB)
        });
        let (index, _) = stubs.next()?;
        stubs.next().is_none().then_some(class.file.body_ref(BodyId(index as u32)))
    }

    /// True if a library's type is a functional interface.
    pub(crate) fn is_functional_type(&self, ty: PathId) -> bool {
        lang::java::names::is_functional_interface(&self.library.text(ty))
            || self.library.ty(ty).is_some_and(|rows| rows.functional().is_some())
    }

    /// True if a function of the project calls an argument inside of closures that outlive the call. The argument then
    /// runs where the closures run.
    fn runs_in_closures(&self, site: SiteRef, arg: u32) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        targets.list.iter().any(|target| {
            let Target::Body { body, with_receiver, .. } = *target else { return false };
            let Some(index) = self.param_for(site, arg, body, with_receiver) else { return false };
            !self.summary(body, index).in_closures.is_empty()
        })
    }

    /// Returns the runtime whose event loop calls a lambda, if the lambda implements a functional interface that a
    /// library calls on its event loop.
    pub fn loop_runtime_of_lambda(&self, body: BodyRef) -> Option<Option<Runtime>> {
        let mentions = self.program.uses_of_callable(body);
        for (mention, _) in mentions.iter().take(MAX_MENTIONS) {
            // A row or summary of the argument takes precedence over its declared type.
            if let Mention::Arg(site, arg) = mention {
                let argument_use = self.argument_use(body.file.site_ref(site), arg, EnvId::NONE);
                if argument_use != ArgumentUse::default() || self.runs_in_closures(body.file.site_ref(site), arg) {
                    continue;
                }
            }
            for val in self.declared_types_at(body.file, mention) {
                let types: Vec<PathId> = match val {
                    Val::Library { ty, .. } => self.library.supertypes(ty).to_vec(),
                    Val::Instance { class, .. } => self
                        .mro(class)
                        .iter()
                        .filter_map(|ancestor| match *ancestor {
                            Ancestor::Library(ty, _) => Some(ty),
                            _ => None,
                        })
                        .collect(),
                    _ => continue,
                };
                for ty in types {
                    let Some(method) = self.library.ty(ty).and_then(|rows| rows.functional()) else { continue };
                    let rows = self.library.handovers(self.library.member(ty, method));
                    let handover = rows.rows_of_via(Via::Override).next();
                    if let Some(row) = handover
                        && matches!(row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
                    {
                        return Some(row.runtime);
                    }
                }
            }
        }
        None
    }
}
