//! Tests for a missing value that cannot be missing, because the project stores it in the mapping from which the caller takes it: `look_up(self.kept["base"])`
//! with `if base is None:`, or `look_up(self.kept["given"])` with `settings = Settings(**given)` and
//! `if settings.base is None:`; and somewhere before `self.kept["given"]["base"] = base`.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, Sym};
use blocklint_link::effect::guard::{Choice, Guard, Question};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, Name};

use crate::callers::Caller;

/// True if a guard holds only for a missing value, and the project stores a value there. The value is the argument itself, taken by key
/// from a mapping (`look_up(self.kept["base"])`), or one part of a mapping that is passed as a whole (`Settings(**given)`).
pub(crate) fn is_filled(linker: &Linker<'_>, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
    let lacks = match &*guard.question {
        Question::Choice(Choice::LacksKey(part)) if guard.wanted => Some(part.as_str()),
        _ if guard.tests_absence() => None,
        _ => return false,
    };
    if guard.asked.is_some() || caller.arg.is_some() || linker.program.language(caller.site.file) != Language::Python {
        return false;
    }
    let facts = linker.program.facts(caller.site.file);
    let Some(form) = linker.argument_for_param(caller.site, body, guard.param, caller.with_receiver) else {
        return false;
    };
    let Some((field, key)) = key_of_field(facts, form) else { return false };
    let global = |sym: Sym| linker.program.global(caller.site.file, sym);
    let (Some(field), Some(key)) = (global(field), global(key)) else { return false };
    match lacks.map(|part| linker.program.name(part)) {
        Some(Some(part)) => puts(linker, part, |file, base| {
            let of = |(of, under): (Sym, Sym)| {
                linker.program.global(file, of) == Some(field) && linker.program.global(file, under) == Some(key)
            };
            key_of_field(linker.program.facts(file), base).is_some_and(of)
        }),
        Some(None) => false,
        None => puts(linker, key, |file, base| {
            let form = linker.program.facts(file).form(base);
            matches!(form, Form::Attr(_, name) if linker.program.global(file, name) == Some(field))
        }),
    }
}

/// True if the project puts something under a key of a mapping: `it.field[key] = value`.
fn puts(linker: &Linker<'_>, key: Name, is_mapping: impl Fn(FileId, FormId) -> bool) -> bool {
    let Some(setter) = linker.program.name("__setitem__") else { return false };
    linker.program.occurrences(setter).iter().any(|&(file, setter)| {
        let facts = linker.program.facts(file);
        linker.program.index_of(file).sites_named(setter).iter().any(|&site| {
            let [at, value] = facts.args_of(site)[..] else { return false };
            matches!(facts.form(at.value), Form::Str(text) if linker.program.global(file, text) == Some(key))
                && facts.form(value.value) != Form::None
                && is_mapping(file, facts.site(site).callee)
        })
    })
}

/// Returns the field and the key under which a form finds something: `it.field["key"]`, `it.field.get("key", {})`.
fn key_of_field(facts: &FileFacts, form: FormId) -> Option<(Sym, Sym)> {
    let (base, key) = match facts.form(form) {
        Form::Subscript(base, key) => (base, key),
        Form::Result(call) => {
            let row = facts.site(call);
            let Form::Attr(base, _) = facts.form(row.callee) else { return None };
            let reads = lang::words_of(facts.language).reads_a_key(facts.text(row.name));
            (base, facts.args_of(call).first().filter(|_| reads)?.value)
        }
        _ => return None,
    };
    match (facts.form(base), facts.form(key)) {
        (Form::Attr(_, field), Form::Str(key)) => Some((field, key)),
        _ => None,
    }
}
