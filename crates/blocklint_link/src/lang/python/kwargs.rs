//! Python: keys of `**kwargs` that a body reads, `kwargs.get("timeout", 5)`, and keyword arguments that a call unpacks
//! from a dictionary: `f(**{"timeout": 5})`.

use crate::lang;
use std::rc::Rc;

use blocklint_facts::{Arg, BodyId, FileFacts, Form, FormId, ParamKind, SiteId, Sym, VarId, VarKind};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// How many variables and fields are followed to the constant of a default.
const MAX_CONSTANT_DEPTH: u32 = 3;

impl Linker<'_> {
    /// Returns the key of the body's own `**kwargs` that a form reads, directly or through a local: the index of the
    /// parameter, the key, and the value if a call does not pass the key.
    pub fn kwargs_key_read(&self, place: Scope, form: FormId) -> Option<(u32, String, Constant)> {
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
        let site_facts = facts.site(call);
        let Form::Attr(base, _) = facts.form(site_facts.callee) else { return None };
        let Form::Var(dictionary) = facts.form(base) else { return None };
        if !lang::words_of(facts.language).reads_key(facts.text(site_facts.name)) {
            return None;
        }
        let VarKind::Param(index) = facts.var(dictionary).kind else { return None };
        let is_kwargs = facts.params_of(body).get(index as usize).is_some_and(|param| param.kind == ParamKind::KwArgs);
        let args = facts.args_of(call);
        let Form::Str(name) = facts.form(args.first()?.value) else { return None };
        if !is_kwargs || facts.var(dictionary).body != body || self.may_change_key(place, dictionary, call, name) {
            return None;
        }
        let default = match args.get(1) {
            Some(default) => self.constant_in(place.file.body_ref(body), default.value, place.env, MAX_CONSTANT_DEPTH),
            None => Constant::Null,
        };
        Some((index, facts.text(name).to_owned(), default))
    }

    /// True if the value of this key in a variable may change before a call: `kwargs["timeout"] = 5`,
    /// `kwargs.update(more)`.
    fn may_change_key(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        let query_key = (place.file.site_ref(call), var);
        self.query(&self.tables.python.changed_keys, query_key, || true, || self.find_key_change(place, var, call, key))
    }

    fn find_key_change(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        self.program.facts(place.file).assigns_of(var).next().is_some() || self.may_add_key(place, var, call, key)
    }

    /// Returns the keyword argument that a call unpacks from a dictionary display, or from an unchanged local that
    /// holds one: `options = {"timeout": 5}; f(**options)`.
    pub(crate) fn unpacked_argument(&self, site: SiteRef, name: &str) -> Option<FormId> {
        let facts = self.program.facts(site.file);
        let unpacks = |arg: &Arg| matches!(facts.form(arg.value), Form::StarStar(_));
        if !self.program.args_of(site).iter().any(unpacks) {
            return None;
        }
        let find = || self.find_unpacked(site).into();
        let pairs = self.query(&self.tables.python.unpacked_arguments, site, Rc::default, find);
        pairs.iter().find(|(key, _)| facts.text(*key) == name).map(|&(_, value)| value)
    }

    /// Returns the keyword arguments that a call unpacks from dictionaries whose keys do not change before it.
    fn find_unpacked(&self, site: SiteRef) -> Vec<(Sym, FormId)> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let place = self.scope_of(site, EnvId::NONE);
        let mut unpacked = Vec::new();
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
            // A dictionary that is unpacked after a key (`{"timeout": 5, **rest}`) may replace its value.
            let certain_pairs = facts.list(list).chunks_exact(2).rev().take_while(|pair| pair[0].is_some());
            unpacked.extend(certain_pairs.filter_map(|pair| match facts.form(pair[0]) {
                Form::Str(key) if var.is_none_or(|var| !self.may_add_key(place, var, site_id, key)) => {
                    Some((key, pair[1]))
                }
                _ => None,
            }));
        }
        unpacked
    }

    /// True if this key, or an unknown key, is added to a dictionary before a call.
    fn may_add_key(&self, place: Scope, var: VarId, call: SiteId, key: Sym) -> bool {
        let facts = self.program.facts(place.file);
        let before = facts.site(call).at.position;
        let is_var = |form: FormId| facts.form(form) == Form::Var(var);
        facts.assigns.iter().any(|assignment| match facts.form(assignment.target) {
            Form::Subscript(base, written_key) => {
                let is_other = matches!(facts.form(written_key), Form::Str(other) if other != key);
                is_var(base) && assignment.at.position < before && !is_other
            }
            _ => false,
        }) || dictionary_writes(facts, facts.var(var).body).any(|site| {
            let site_facts = facts.site(site);
            site_facts.at.position < before
                && matches!(facts.form(site_facts.callee), Form::Attr(base, _) if is_var(base))
        })
    }
}

/// Returns the calls of a body that, by their names, add keys to a dictionary: `update`, `setdefault`.
fn dictionary_writes(facts: &FileFacts, body: BodyId) -> impl Iterator<Item = SiteId> {
    (0..facts.sites.len() as u32).map(SiteId).filter(move |&site| {
        let site_facts = facts.site(site);
        facts.body_of(site_facts.at) == body && lang::words_of(facts.language).writes_keys(facts.text(site_facts.name))
    })
}
