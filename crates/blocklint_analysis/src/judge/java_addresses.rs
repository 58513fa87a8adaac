//! Java: addresses without a host, which a method that looks hosts up returns early for.

use blocklint_facts::{AltKind, Form, FormId, SiteKind, VarKind};

use crate::graph::Way;
use crate::idioms;
use crate::link::Link;
use crate::link::names::java;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};

/// Calls that one expression is made of.
const DEPTH: u32 = 12;

impl<'a> Link<'a> {
    /// Whether a way goes on only for addresses that name a host, `if (!uri.isAbsolute()) return;`, and the one that is passed is
    /// made of a path alone.
    pub(crate) fn asks_for_relative_address(&self, ways: &[Way], body_of: &dyn Fn(&Way) -> Option<BodyRef>) -> bool {
        let Some(last) = ways.last() else { return false };
        let facts = self.program.facts(last.site.file);
        java::looks_up_host(facts.text(facts.site(last.site.site).name))
            && ways.windows(2).any(|pair| {
                let Some(entered) = body_of(&pair[0]) else { return false };
                let here = pair[1].site;
                self.regions_outward(here).into_iter().filter_map(|id| self.test_of(here.file, id)).any(
                    |(test, holds)| {
                        let asked = self.param_said_absolute(entered, test, holds);
                        let passed = asked.and_then(|index| self.passed(pair[0].site, entered, index));
                        passed.is_some_and(|form| self.has_no_host(pair[0].site.file, form, DEPTH))
                    },
                )
            })
    }

    /// The parameter of which a test that comes out so says that it names a host.
    fn param_said_absolute(&self, body: BodyRef, test: FormId, holds: bool) -> Option<u32> {
        let facts = self.program.facts(body.file);
        match facts.form(test) {
            Form::Not(inner) => self.param_said_absolute(body, inner, !holds),
            Form::Alt(AltKind::And, list) if holds => {
                facts.list(list).iter().find_map(|&part| self.param_said_absolute(body, part, true))
            }
            Form::Result(call) if holds && facts.text(facts.site(call).name) == idioms::java::IS_ABSOLUTE => {
                let of = self.receiver_form(SiteRef { file: body.file, site: call })?;
                let Form::Var(var) = facts.form(of) else { return None };
                match facts.var(var).kind {
                    VarKind::Param(index) if facts.var(var).body == body.body => Some(index),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an address is made of a path alone, also where a builder kept it: `Request.builder().uri(…)`, `request.getUri()`.
    fn has_no_host(&self, file: FileId, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) => facts.only_value_of(var).is_some_and(|row| self.has_no_host(file, row.value, depth)),
            Form::Result(call) if facts.site(call).kind == SiteKind::Call => {
                let site = SiteRef { file, site: call };
                idioms::java::makes_of_path(facts.text(facts.site(call).name))
                    || self.receiver_form(site).is_some_and(|of| self.has_no_host(file, of, depth))
                    || self.is_built_without_host(site, depth)
            }
            _ => false,
        }
    }

    /// Whether a getter reads what all builders of its class were given, and that names no host.
    fn is_built_without_host(&self, getter: SiteRef, depth: u32) -> bool {
        let facts = self.program.facts(getter.file);
        let Some(of) = self.receiver_form(getter).filter(|_| facts.args_of(getter.site).is_empty()) else {
            return false;
        };
        let typed = self.eval(self.scope_of(getter, EnvId::NONE), of);
        let class = self.values.members(typed.value).into_iter().find_map(|val| match val {
            Val::Instance { class, .. } => Some(class),
            _ => None,
        });
        let method = facts.text(facts.site(getter.site).name);
        let property = java::property_of(method).and_then(|property| self.program.name(&property));
        let (Some(class), Some(property)) = (class, property) else { return false };
        let mut given = Vec::new();
        for site in self.program.sites_named(property) {
            let facts = self.program.facts(site.file);
            if let [only] = facts.args_of(site.site)[..]
                && !self.program.is_test(site.file)
                && self.is_on_builder_of(site, class, DEPTH)
            {
                given.push((site.file, only.value));
            }
        }
        !given.is_empty() && given.into_iter().all(|(file, form)| self.has_no_host(file, form, depth))
    }

    /// Whether a call stands on a builder of a class: `Request.builder().method(verb).uri(…)`.
    fn is_on_builder_of(&self, site: SiteRef, class: ClassRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(site.file);
        let Some(Form::Result(before)) = self.receiver_form(site).map(|of| facts.form(of)) else { return false };
        let before = SiteRef { site: before, ..site };
        if facts.text(facts.site(before.site).name) != idioms::java::BUILDER {
            return self.is_on_builder_of(before, class, depth);
        }
        let Some(of) = self.receiver_form(before) else { return false };
        let typed = self.eval(self.scope_of(before, EnvId::NONE), of);
        self.values.members(typed.value).into_iter().any(|val| matches!(val, Val::Class(of) if of == class))
    }
}
