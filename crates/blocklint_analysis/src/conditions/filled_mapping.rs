//! What a function asks for where the project itself puts it into the mapping that a caller keeps: `look_up(self.kept["base"])`
//! with `if base is None:`, or `look_up(self.kept["given"])` with `settings = Settings(**given)` and
//! `if settings.base is None:`; and somewhere before `self.kept["given"]["base"] = base`.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, Sym, VarId, VarKind};

use crate::entries::callers::Caller;
use crate::labels::label::{Choice, Guard, Question};
use crate::link::Link;
use crate::link::eval::Scope;
use crate::link::names;
use crate::program::ids::{BodyRef, FileId, Name};

impl Link<'_> {
    /// The parameter whose part a form is, with the part's name: of a local that is the parameter, or an object that was made
    /// of its keys.
    pub(crate) fn part_of_param(&self, place: Scope, form: FormId) -> Option<(u32, String)> {
        let facts = self.program.facts(place.file);
        let Form::Attr(base, name) = facts.form(form) else { return None };
        let Form::Var(var) = facts.form(base) else { return None };
        if facts.language != Language::Python || facts.var(var).body != facts.body_of(place.at) {
            return None;
        }
        let (mut given, mut is_made) = (None, false);
        for assign in facts.assigns_of(var).filter(|assign| assign.value.is_some()) {
            let unpacked = unpacked_by(facts, assign.value);
            is_made |= unpacked.is_some();
            let source = unpacked.or_else(|| variable(facts, assign.value))?;
            let VarKind::Param(index) = facts.var(source).kind else { return None };
            if facts.assigns_of(source).next().is_some() || given.is_some_and(|known| known != index) {
                return None;
            }
            given = Some(index);
        }
        given.filter(|_| is_made).map(|index| (index, facts.text(name).to_owned()))
    }

    /// Whether a guard asks for nothing where a caller passes what lies under a key of a mapping that it keeps, and the project puts
    /// something there; or for a mapping without a part, and the project puts that part into the one that a caller keeps.
    pub(crate) fn is_filled(&self, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
        let lacks = match &*guard.question {
            Question::Choice(Choice::Lacks(part)) if guard.wanted => Some(part.as_str()),
            _ if guard.asks_for_nothing() => None,
            _ => return false,
        };
        if guard.asked.is_some() || caller.arg.is_some() || self.program.language(caller.site.file) != Language::Python
        {
            return false;
        }
        let facts = self.program.facts(caller.site.file);
        let Some(form) = self.passed_with(caller.site, body, guard.param, caller.with_receiver) else { return false };
        let Some((field, key)) = key_of_field(facts, form) else { return false };
        let global = |sym: Sym| self.program.global(caller.site.file, sym);
        let (Some(field), Some(key)) = (global(field), global(key)) else { return false };
        match lacks.map(|part| self.program.name(part)) {
            Some(Some(part)) => self.puts(part, |file, base| {
                let of = |(of, under): (Sym, Sym)| {
                    self.program.global(file, of) == Some(field) && self.program.global(file, under) == Some(key)
                };
                key_of_field(self.program.facts(file), base).is_some_and(of)
            }),
            Some(None) => false,
            None => self.puts(key, |file, base| {
                let form = self.program.facts(file).form(base);
                matches!(form, Form::Attr(_, name) if self.program.global(file, name) == Some(field))
            }),
        }
    }

    /// Whether the project puts something under a key of a mapping: `it.field[key] = value`.
    fn puts(&self, key: Name, is_mapping: impl Fn(FileId, FormId) -> bool) -> bool {
        let Some(setter) = self.program.name("__setitem__") else { return false };
        self.program.occurrences(setter).iter().any(|&(file, setter)| {
            let facts = self.program.facts(file);
            self.program.index_of(file).sites_named(setter).iter().any(|&site| {
                let [at, value] = facts.args_of(site)[..] else { return false };
                matches!(facts.form(at.value), Form::Str(text) if self.program.global(file, text) == Some(key))
                    && facts.form(value.value) != Form::None
                    && is_mapping(file, facts.site(site).callee)
            })
        })
    }
}

/// The variable whose keys a call takes: `make(name, **given)`.
fn unpacked_by(facts: &FileFacts, form: FormId) -> Option<VarId> {
    let Form::Result(call) = facts.form(form) else { return None };
    facts.args_of(call).iter().find_map(|arg| match facts.form(arg.value) {
        Form::StarStar(inner) => variable(facts, inner),
        _ => None,
    })
}

fn variable(facts: &FileFacts, form: FormId) -> Option<VarId> {
    match facts.form(form) {
        Form::Var(var) => Some(var),
        _ => None,
    }
}

/// The field and the key under which a form finds something: `it.field["key"]`, `it.field.get("key", {})`.
fn key_of_field(facts: &FileFacts, form: FormId) -> Option<(Sym, Sym)> {
    let (base, key) = match facts.form(form) {
        Form::Subscript(base, key) => (base, key),
        Form::Result(call) => {
            let row = facts.site(call);
            let Form::Attr(base, _) = facts.form(row.callee) else { return None };
            let reads = names::reads_a_key(facts.language, facts.text(row.name));
            (base, facts.args_of(call).first().filter(|_| reads)?.value)
        }
        _ => return None,
    };
    match (facts.form(base), facts.form(key)) {
        (Form::Attr(_, field), Form::Str(key)) => Some((field, key)),
        _ => None,
    }
}
