//! Java: callables that are passed to a constructor and stored in a field: `new Retry(() -> load())`. Each object has
//! its own callable, so a call of a method runs the callable that was passed to the constructor of its receiver, if
//! that constructor call is known.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, Form, SiteKind, Sym, VarKind};

use crate::calls::targets::Targets;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, SiteRef, VarRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of nested calls of an object on itself that are followed.
const DEEPEST: u32 = 3;

impl Linker<'_> {
    /// Returns the fields whose callables a method runs on its caller's thread, also through other methods of its
    /// class.
    fn fields_run_by(&self, body: BodyRef) -> Rc<[VarRef]> {
        let find = || {
            let mut fields = Vec::new();
            self.collect_fields_run(body, DEEPEST, &mut fields);
            Rc::from(fields)
        };
        self.query(&self.tables.java.run_fields, body, Rc::default, find)
    }

    /// Adds the fields whose callables a method runs, also through calls of other methods of its class.
    fn collect_fields_run(&self, body: BodyRef, depth: u32, fields: &mut Vec<VarRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.program.facts(body.file);
        for site in self.program.sites_in(body) {
            let site_facts = self.program.site(site);
            if site_facts.kind != SiteKind::Call {
                continue;
            }
            match self.receiver_form(site) {
                Some(form) if !is_own_receiver(facts, form) => {
                    let field = match facts.form(form) {
                        Form::Var(var) if facts.body(facts.var(var).body).kind == BodyKind::Class => {
                            Some(body.file.var_ref(var))
                        }
                        Form::Attr(base, sym) if is_own_receiver(facts, base) => {
                            self.field_of_attribute(self.scope_of(site, EnvId::NONE), base, sym)
                        }
                        _ => None,
                    };
                    if let Some(field) = field
                        && !fields.contains(&field)
                        && self.runs_callable_in_field(field, facts.text(site_facts.name))
                    {
                        fields.push(field);
                    }
                }
                _ => {
                    for method in self.other_methods_named(body, site_facts.name) {
                        self.collect_fields_run(method, depth, fields);
                    }
                }
            }
        }
    }

    /// Returns the other methods of a method's class that have this name.
    fn other_methods_named(&self, body: BodyRef, name: Sym) -> Vec<BodyRef> {
        let (facts, body_id) = self.program.facts_and_id(body);
        let class = self.program.body(body).class;
        let is_meant = |id: BodyId| {
            let body_facts = facts.body(id);
            body_facts.kind == BodyKind::Function
                && body_facts.class == class
                && body_facts.name == name
                && id != body_id
        };
        let body_ids = (0..facts.bodies.len()).map(|index| BodyId(index as u32));
        body_ids.filter(|&id| class.is_some() && is_meant(id)).map(|id| body.file.body_ref(id)).collect()
    }

    /// True if a call of a method of this name on a field runs the lambda in the field: `task.run()`.
    fn runs_callable_in_field(&self, field: VarRef, method: &str) -> bool {
        let Some(row) = self.program.assigns_of(field).find(|assignment| assignment.annotation.is_some()) else {
            return false;
        };
        let declared = self.annotation(Scope { file: field.file, at: row.at, env: EnvId::NONE }, row.annotation);
        if !self.is_callable_type(declared) {
            return false;
        }
        self.values.members(declared.value).iter().all(|val| match *val {
            Val::Instance { class, .. } => self.functional_method(class).is_some_and(|abstract_method| {
                let facts = self.program.facts(abstract_method.file);
                facts.text(self.program.body(abstract_method).name) == method
            }),
            _ => lang::words_of(Language::Java).is_functional_method(method),
        })
    }

    /// Returns the parameters of constructors that are assigned to a field.
    fn constructor_params_assigned_to(&self, field: VarRef) -> Vec<(BodyRef, u32)> {
        let facts = self.program.facts(field.file);
        let params = self.values_assigned_to(field).into_iter().filter_map(|(_, value)| {
            let Form::Var(var) = facts.form(value) else { return None };
            let var_facts = facts.var(var);
            let VarKind::Param(index) = var_facts.kind else { return None };
            let is_constructor = facts.text(facts.body(var_facts.body).name) == "<init>";
            is_constructor.then_some((field.file.body_ref(var_facts.body), index))
        });
        params.collect()
    }

    /// Adds the callables that were passed to the constructor of the receiver and that a method of it runs. A
    /// constructor with a single call is left out, because the values of its class's fields already show the callable.
    /// Calls of an object on itself are left out, too.
    pub(crate) fn add_constructor_callables(&self, targets: &mut Targets, body: BodyRef, site: SiteRef) {
        if self.program.language(body.file) != Language::Java {
            return;
        }
        let Some(receiver) = self.receiver_form(site) else { return };
        if is_own_receiver(self.program.facts(site.file), receiver) {
            return;
        }
        let fields = self.fields_run_by(body);
        if fields.is_empty() {
            return;
        }
        let mut calls = Vec::new();
        self.collect_calls_on_object(self.scope_of(site, EnvId::NONE), receiver, 2 * DEEPEST, &mut calls);
        for &field in fields.iter() {
            for (constructor, index) in self.constructor_params_assigned_to(field) {
                if self.sites_calling(constructor).len() < 2 {
                    continue;
                }
                for &call in calls.iter().filter(|&&call| self.calls_constructor(call, constructor)) {
                    if let Some(form) = self.passed_argument(call, constructor, index) {
                        self.add_callables_in(targets, call, form, site);
                    }
                }
            }
        }
    }

    /// True if a call is `new` with this constructor.
    fn calls_constructor(&self, call: SiteRef, constructor: BodyRef) -> bool {
        self.program.site(call).kind == SiteKind::New
            && self.targets(call, EnvId::NONE).receiver_of(constructor).is_some()
    }

    /// Returns the names of the methods that run the callable in a parameter of their class's constructor.
    pub(crate) fn names_running_constructor_callable(&self, constructor: BodyRef, index: u32) -> Vec<Name> {
        let facts = self.program.facts(constructor.file);
        let body_facts = self.program.body(constructor);
        if facts.language != Language::Java || facts.text(body_facts.name) != "<init>" {
            return Vec::new();
        }
        let methods = (0..facts.bodies.len()).map(|index| constructor.file.body_ref(BodyId(index as u32)));
        let methods = methods.filter(|method| {
            let method_row = self.program.body(*method);
            method_row.kind == BodyKind::Function
                && method_row.class == body_facts.class
                && method_row.name != body_facts.name
        });
        let running = methods.filter(|&method| {
            let fields = self.fields_run_by(method);
            fields.iter().any(|&field| self.constructor_params_assigned_to(field).contains(&(constructor, index)))
        });
        running.filter_map(|method| self.program.global(method.file, self.program.body(method).name)).collect()
    }
}
