//! Java: callables that an object of the project was made with. Of several objects each has its own: a call of a method runs the
//! callable that the object it is called on was given, where the call that made it is in sight.

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

/// Calls of an object on itself that are followed.
const DEEPEST: u32 = 3;

impl Linker<'_> {
    /// Returns the fields whose callables a method runs on its caller's thread, also through its own methods.
    fn fields_run_by(&self, body: BodyRef) -> Rc<[VarRef]> {
        let find = || {
            let mut found = Vec::new();
            self.see_fields_run(body, DEEPEST, &mut found);
            Rc::from(found)
        };
        self.query(&self.tables.java.fields_run, body, Rc::default, find)
    }

    fn see_fields_run(&self, body: BodyRef, depth: u32, found: &mut Vec<VarRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.program.facts(body.file);
        for site in self.program.sites_in(body) {
            let row = self.program.site(site);
            if row.kind != SiteKind::Call {
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
                        && !found.contains(&field)
                        && self.runs_its_callable(field, facts.text(row.name))
                    {
                        found.push(field);
                    }
                }
                _ => {
                    for own in self.methods_beside(body, row.name) {
                        self.see_fields_run(own, depth, found);
                    }
                }
            }
        }
    }

    /// Returns the methods of this name in the class of a method.
    fn methods_beside(&self, body: BodyRef, name: Sym) -> Vec<BodyRef> {
        let (facts, body_id) = self.program.facts_and_id(body);
        let class = self.program.body(body).class;
        let of_class = |id: BodyId| {
            let row = facts.body(id);
            row.kind == BodyKind::Function && row.class == class && row.name == name && id != body_id
        };
        let all = (0..facts.bodies.len()).map(|at| BodyId(at as u32));
        all.filter(|&id| class.is_some() && of_class(id)).map(|id| body.file.body_ref(id)).collect()
    }

    /// True if a call of this method on a field runs the lambda that the field holds.
    fn runs_its_callable(&self, field: VarRef, method: &str) -> bool {
        let Some(row) = self.program.assigns_of(field).find(|row| row.annotation.is_some()) else { return false };
        let declared = self.annotation(Scope { file: field.file, at: row.at, env: EnvId::NONE }, row.annotation);
        if !self.is_callable_type(declared) {
            return false;
        }
        self.values.members(declared.value).iter().all(|val| match *val {
            Val::Instance { class, .. } => self.functional_method(class).is_some_and(|of| {
                let of_facts = self.program.facts(of.file);
                of_facts.text(self.program.body(of).name) == method
            }),
            _ => lang::words_of(Language::Java).is_functional_method(method),
        })
    }

    /// Returns the parameters of constructors that a field keeps.
    fn params_kept_in(&self, field: VarRef) -> Vec<(BodyRef, u32)> {
        let facts = self.program.facts(field.file);
        let kept = self.values_assigned_to(field).into_iter().filter_map(|(_, value)| {
            let Form::Var(var) = facts.form(value) else { return None };
            let row = facts.var(var);
            let VarKind::Param(index) = row.kind else { return None };
            let is_constructor = facts.text(facts.body(row.body).name) == "<init>";
            is_constructor.then_some((field.file.body_ref(row.body), index))
        });
        kept.collect()
    }

    /// Adds the callables that a method of an object runs and that were passed to the object's constructor. A
    /// constructor with a single call is left out, because the fields of its class already show the callable. So are
    /// calls on the object itself.
    pub(crate) fn add_kept(&self, targets: &mut Targets, body: BodyRef, site: SiteRef) {
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
            for (constructor, index) in self.params_kept_in(field) {
                if self.sites_calling(constructor).len() < 2 {
                    continue;
                }
                for &call in calls.iter().filter(|&&call| self.is_made_by(call, constructor)) {
                    if let Some(form) = self.passed_argument(call, constructor, index) {
                        self.add_callables_in(targets, call, form, site);
                    }
                }
            }
        }
    }

    fn is_made_by(&self, call: SiteRef, constructor: BodyRef) -> bool {
        self.program.site(call).kind == SiteKind::New
            && self.targets(call, EnvId::NONE).receiver_of(constructor).is_some()
    }

    /// Returns the names of the methods that run the callable in a parameter of a constructor.
    pub(crate) fn names_run_later(&self, constructor: BodyRef, index: u32) -> Vec<Name> {
        let facts = self.program.facts(constructor.file);
        let row = self.program.body(constructor);
        if facts.language != Language::Java || facts.text(row.name) != "<init>" {
            return Vec::new();
        }
        let methods = (0..facts.bodies.len()).map(|at| constructor.file.body_ref(BodyId(at as u32)));
        let methods = methods.filter(|method| {
            let of = self.program.body(*method);
            of.kind == BodyKind::Function && of.class == row.class && of.name != row.name
        });
        let running = methods.filter(|&method| {
            let fields = self.fields_run_by(method);
            fields.iter().any(|&field| self.params_kept_in(field).contains(&(constructor, index)))
        });
        running.filter_map(|method| self.program.global(method.file, self.program.body(method).name)).collect()
    }
}
