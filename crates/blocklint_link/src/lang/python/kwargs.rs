//! Keys of `**kwargs` that a body asks for by name, `kwargs.get("timeout", 5)`, and arguments that a call takes from a
//! dictionary: `f(**{"timeout": 5})`.

use crate::lang;
use std::rc::Rc;

use blocklint_facts::{Arg, BodyId, FileFacts, Form, FormId, ParamKind, SiteId, Sym, VarId, VarKind};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::values::expr::Scope;
use crate::values::value::EnvId;

impl Linker<'_> {
    /// Returns the key of the body's own `**kwargs` that a form reads, directly or through a local: the parameter's
    /// place, the key, and its default if a call does not pass it.
    pub fn key_of_arguments(&self, place: Scope, form: FormId) -> Option<(u32, String, Constant)> {
        let facts = self.program.facts(place.file);
        let body = facts.body_of(place.at);
        let call = match facts.form(form) {
            Form::Result(call) => call,
            Form::Var(var) if facts.var(var).body == body && !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                let Form::Result(call) = facts.form(facts.only_value_of(var)?.value) else { return None };
                call
            }
            _ => return None,
        };
        let row = facts.site(call);
        let Form::Attr(base, _) = facts.form(row.callee) else { return None };
        let Form::Var(given) = facts.form(base) else { return None };
        if !lang::words_of(facts.language).reads_a_key(facts.text(row.name)) {
            return None;
        }
        let VarKind::Param(index) = facts.var(given).kind else { return None };
        let is_rest = facts.params_of(body).get(index as usize).is_some_and(|param| param.kind == ParamKind::KwArgs);
        let args = facts.args_of(call);
        let Form::Str(name) = facts.form(args.first()?.value) else { return None };
        if !is_rest || facts.var(given).body != body || self.is_changed(place, given, call, name) {
            return None;
        }
        let default = match args.get(1) {
            Some(default) => self.constant_in(place.file.body_ref(body), default.value, place.env, 3),
            None => Constant::Null,
        };
        Some((index, facts.text(name).to_owned(), default))
    }

    /// True if this key, or an unknown key, is put into a variable before a call: `kwargs["timeout"] = 5`,
    /// `kwargs.update(more)`.
    fn is_changed(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        let asked = (place.file.site_ref(call), var);
        self.query(&self.tables.python.changed_keys, asked, || true, || self.find_changed(place, var, call, key))
    }

    fn find_changed(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        self.program.facts(place.file).assigns_of(var).next().is_some() || self.is_put_into(place, var, call, key)
    }

    /// Returns the value that a call passes under a name by unpacking a dictionary display, or an unchanged local that
    /// holds one: `given = {"timeout": 5}; f(**given)`.
    pub(crate) fn unpacked_argument(&self, site: SiteRef, name: &str) -> Option<FormId> {
        let facts = self.program.facts(site.file);
        let unpacks = |arg: &Arg| matches!(facts.form(arg.value), Form::StarStar(_));
        if !self.program.args_of(site).iter().any(unpacks) {
            return None;
        }
        let find = || self.find_unpacked(site).into();
        let pairs = self.query(&self.tables.python.unpacked, site, Rc::default, find);
        pairs.iter().find(|(key, _)| facts.text(*key) == name).map(|&(_, value)| value)
    }

    fn find_unpacked(&self, site: SiteRef) -> Vec<(Sym, FormId)> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let place = self.scope_of(site, EnvId::NONE);
        let mut found = Vec::new();
        for arg in self.program.args_of(site) {
            let Form::StarStar(inner) = facts.form(arg.value) else { continue };
            let (pairs, var) = match facts.form(inner) {
                Form::Var(var) if facts.var(var).body == facts.body_of(place.at) => match facts.only_value_of(var) {
                    Some(only) => (facts.form(only.value), Some(var)),
                    None => continue,
                },
                other => (other, None),
            };
            let Form::Pairs(list) = pairs else { continue };
            // A dictionary that is unpacked behind a key may hold the key, too.
            let behind = facts.list(list).chunks_exact(2).rev().take_while(|pair| pair[0].is_some());
            found.extend(behind.filter_map(|pair| match facts.form(pair[0]) {
                Form::Str(key) if var.is_none_or(|var| !self.is_put_into(place, var, site_id, key)) => {
                    Some((key, pair[1]))
                }
                _ => None,
            }));
        }
        found
    }

    /// True if this key, or an unknown key, is put into a dictionary after it was made and before a call.
    fn is_put_into(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        let facts = self.program.facts(place.file);
        let before = facts.site(call).at.position;
        let is_var = |form: FormId| facts.form(form) == Form::Var(var);
        facts.assigns.iter().any(|row| match facts.form(row.target) {
            Form::Subscript(base, put) => {
                let is_other = matches!(facts.form(put), Form::Str(other) if other != key);
                is_var(base) && row.at.position < before && !is_other
            }
            _ => false,
        }) || fills(facts, facts.var(var).body).any(|site| {
            let row = facts.site(site);
            row.at.position < before && matches!(facts.form(row.callee), Form::Attr(base, _) if is_var(base))
        })
    }
}

/// Returns the calls of a body that, by their names, fill a dictionary.
fn fills(facts: &FileFacts, body: BodyId) -> impl Iterator<Item = SiteId> {
    (0..facts.sites.len() as u32).map(SiteId).filter(move |&site| {
        let row = facts.site(site);
        facts.body_of(row.at) == body && lang::words_of(facts.language).fills_keys(facts.text(row.name))
    })
}
