//! Tests for a missing value (`if base is None:`) that fail, because the project stores the value in the mapping from
//! which the caller takes it: `look_up(self.options["base"])` with `self.options["base"] = base` elsewhere. Also for a
//! part of a mapping: `look_up(self.options["http"])`, where the callee makes `Settings(**http)` and tests
//! `settings.base`, with `self.options["http"]["base"] = base` elsewhere (Python).

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, Sym};
use blocklint_link::effect::guard::{Choice, Guard, Question};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, Name};

use crate::callers::Caller;

/// True if a guard holds only for a missing value, and the project stores that value. The value is the argument, which
/// the caller reads from a mapping by a key (`look_up(self.options["base"])`), or a part of the argument, which is a
/// mapping (`Settings(**http)`).
pub(crate) fn is_stored_by_project(linker: &Linker<'_>, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
    let missing_part = match &*guard.question {
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
    match missing_part.map(|part| linker.program.name(part)) {
        Some(Some(part)) => stores_under_key(linker, part, |file, base| {
            let is_same_mapping = |(base_field, base_key): (Sym, Sym)| {
                linker.program.global(file, base_field) == Some(field)
                    && linker.program.global(file, base_key) == Some(key)
            };
            key_of_field(linker.program.facts(file), base).is_some_and(is_same_mapping)
        }),
        Some(None) => false,
        None => stores_under_key(linker, key, |file, base| {
            let form = linker.program.facts(file).form(base);
            matches!(form, Form::Attr(_, name) if linker.program.global(file, name) == Some(field))
        }),
    }
}

/// True if the project stores a value other than `None` under a key of a mapping: `self.options["base"] = base`.
fn stores_under_key(linker: &Linker<'_>, key: Name, is_mapping: impl Fn(FileId, FormId) -> bool) -> bool {
    let Some(setter) = linker.program.name("__setitem__") else { return false };
    linker.program.occurrences(setter).iter().any(|&(file, setter)| {
        let facts = linker.program.facts(file);
        linker.program.index_of(file).sites_named(setter).iter().any(|&site| {
            let [index, value] = facts.args_of(site)[..] else { return false };
            matches!(facts.form(index.value), Form::Str(text) if linker.program.global(file, text) == Some(key))
                && facts.form(value.value) != Form::None
                && is_mapping(file, facts.site(site).callee)
        })
    })
}

/// Returns the field and the key of a look-up in a mapping: `self.options["base"]`, `self.options.get("base", {})`.
fn key_of_field(facts: &FileFacts, form: FormId) -> Option<(Sym, Sym)> {
    let (base, key) = match facts.form(form) {
        Form::Subscript(base, key) => (base, key),
        Form::Result(call) => {
            let site_facts = facts.site(call);
            let Form::Attr(base, _) = facts.form(site_facts.callee) else { return None };
            let reads = lang::words_of(facts.language).reads_key(facts.text(site_facts.name));
            (base, facts.args_of(call).first().filter(|_| reads)?.value)
        }
        _ => return None,
    };
    match (facts.form(base), facts.form(key)) {
        (Form::Attr(_, field), Form::Str(key)) => Some((field, key)),
        _ => None,
    }
}
