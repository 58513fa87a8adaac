//! Code that runs the first time only: a test around it asks for a state that the same function then sets
//! (`if _client is None: _client = connect()`).

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, AssignId, BodyId, BodyKind, Comparison, Form, FormId, RegionKind, Site, SiteKind, VarKind,
};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::constant::Constant;
use blocklint_link::lang;
use blocklint_link::lang::words::LanguageWords;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{ClassRef, FileId, SiteRef};
use blocklint_link::program::occurrences::{Mention, is_own_receiver};
use blocklint_link::syntax::exception_handlers::{failed_try_before, handler_around};
use blocklint_link::syntax::regions::is_region_in;
use blocklint_link::values::value::{EnvId, Val};
use smallvec::SmallVec;

use crate::lifecycle::owner::Owner;
use crate::lifecycle::owner::{fills_cell_of_program, kept_where};

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// Why sites run the first time only.
    first_times: Table<SiteRef, Option<FirstTime>, Plain>,
}

/// The state that a test asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnsetState {
    /// Something that is false or `None`.
    Unset(FormId),
    /// A collection that lacks a key.
    Lacking(FormId),
}

/// Why a site runs the first time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstTime {
    /// The owner of the state that its test asks for.
    pub(crate) keeper: Owner,
    /// True if it runs once for each key of a collection.
    pub per_key: bool,
}

/// How deep a test is read.
const DEPTH: u32 = 4;

/// Returns the reason why a site runs the first time only, if it does.
pub fn first_time_of(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    linker.query(&linker.layer_memo::<Memo>().first_times, site, Option::default, || find_first_time(linker, site))
}

fn find_first_time(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    let facts = linker.program.facts(site.file);
    if fills_cell_of_program(linker, linker.program.body_of_site(site)) {
        return Some(FirstTime { keeper: Owner::ByProgram, per_key: false });
    }
    let mut at = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Body {
            break;
        }
        if let Some((test, holds)) = linker.test_of(site.file, id) {
            if let Form::Result(call) = facts.form(test)
                && holds
                && lang::words_of(facts.language).sets_once(facts.text(facts.site(call).name))
            {
                return Some(FirstTime { keeper: Owner::ByProgram, per_key: false });
            }
            let mut unset = SmallVec::new();
            unset_where(linker, site.file, region.body, test, holds, &mut unset, DEPTH);
            let found = unset.iter().find_map(|&state| {
                let (keeper, per_key) = match state {
                    UnsetState::Unset(state) => (keeper_of_set(linker, site.file, region.body, state)?, false),
                    UnsetState::Lacking(all) => (keeper_of_filled(linker, site.file, region.body, all)?, true),
                };
                Some(FirstTime { keeper, per_key })
            });
            if found.is_some() {
                return found;
            }
        }
        at = region.parent;
    }
    let all = failed_to_find(linker, site)?;
    let keeper = keeper_of_filled(linker, site.file, facts.body_of(linker.program.site(site).at), all)?;
    Some(FirstTime { keeper, per_key: true })
}

/// Returns the collection in which nothing lay under a key where a site is reached: `try: return known[key]`,
/// `except KeyError:` (Python).
fn failed_to_find(linker: &Linker<'_>, site: SiteRef) -> Option<FormId> {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Python {
        return None;
    }
    let exits = linker.program.exits_around(linker.program.body_of_site(site));
    let tried = failed_try_before(facts, linker.program.site(site).at, lang::python::conventions::is_of_lookup, exits)?;
    let is_look_up = |row: &Site| row.kind == SiteKind::Subscript && is_region_in(facts, row.at.region, tried);
    facts.sites.iter().find(is_look_up).map(|row| row.callee)
}

/// Adds the states that are false or `None`, or lack a key, where a test comes out as `holds`.
fn unset_where(
    linker: &Linker<'_>,
    file: FileId,
    body: BodyId,
    test: FormId,
    holds: bool,
    found: &mut SmallVec<[UnsetState; 2]>,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => unset_where(linker, file, body, inner, !holds, found, depth),
        Form::Var(_) | Form::Attr(..) | Form::Result(_) if !holds => found.push(state_asked(linker, file, body, test)),
        Form::Compare(Comparison::NotIn, _, all) if holds => found.push(UnsetState::Lacking(all)),
        Form::Compare(Comparison::In, _, all) if !holds => found.push(UnsetState::Lacking(all)),
        Form::Compare(comparison, state, nothing) if facts.form(nothing) == Form::None => {
            let is_none = match comparison {
                Comparison::Is | Comparison::Eq => holds,
                Comparison::IsNot | Comparison::NotEq => !holds,
                _ => return,
            };
            if is_none {
                found.push(state_asked(linker, file, body, state));
            }
        }
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().for_each(|&part| unset_where(linker, file, body, part, true, found, depth));
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().for_each(|&part| unset_where(linker, file, body, part, false, found, depth));
        }
        // `_known is not None and not reload`: a caller that leaves out the parameter asks for the state alone.
        Form::Alt(AltKind::And, list) => {
            let mut asking = facts.list(list).iter().filter(|&&part| !holds_by_default(linker, file, body, part));
            if let (Some(&only), None) = (asking.next(), asking.next()) {
                unset_where(linker, file, body, only, false, found, depth);
            }
        }
        _ => {}
    }
}

/// Returns the state of a form that is false or `None`: of a value that was looked up, that the collection lacks the key.
fn state_asked(linker: &Linker<'_>, file: FileId, body: BodyId, form: FormId) -> UnsetState {
    looked_up_in(linker, file, body, form).map_or(UnsetState::Unset(form), UnsetState::Lacking)
}

/// Returns the collection that a form is looked up in by a key, also through a local: `known = self.known.get(key)`.
fn looked_up_in(linker: &Linker<'_>, file: FileId, body: BodyId, form: FormId) -> Option<FormId> {
    let facts = linker.program.facts(file);
    let form = match facts.form(form) {
        Form::Var(var) if facts.var(var).body == body && facts.var(var).kind == VarKind::Named => {
            facts.assigns_of(var).find(|assign| assign.value.is_some())?.value
        }
        _ => form,
    };
    let Form::Result(call) = facts.form(form) else { return None };
    let row = facts.site(call);
    let Form::Attr(all, _) = facts.form(row.callee) else { return None };
    let only_reads =
        lang::words_of(facts.language).reads_a_key(facts.text(row.name)) && !lang::words::empties(facts.text(row.name));
    only_reads.then_some(all)
}

/// True if a test asks for a parameter of the body and holds with its default.
fn holds_by_default(linker: &Linker<'_>, file: FileId, body: BodyId, test: FormId) -> bool {
    let facts = linker.program.facts(file);
    let (asked, wanted) = match facts.form(test) {
        Form::Not(inner) => (inner, false),
        _ => (test, true),
    };
    let Form::Var(var) = facts.form(asked) else { return false };
    let VarKind::Param(index) = facts.var(var).kind else { return false };
    let default = facts.params_of(body).get(index as usize).map(|param| param.default);
    facts.var(var).body == body && default.is_some_and(|default| facts.form(default) == Form::Bool(wanted))
}

/// Returns the owner of a state that a body sets, if nothing but its beginning and its end unset it.
fn keeper_of_set(linker: &Linker<'_>, file: FileId, body: BodyId, state: FormId) -> Option<Owner> {
    let facts = linker.program.facts(file);
    let assigns: Vec<AssignId> = match facts.form(state) {
        Form::Var(var) if facts.var(var).body != body => facts.assign_ids_of(var).collect(),
        Form::Attr(_, sym) => {
            // Another class may have an attribute of this name.
            let class = linker.class_around(file.body_ref(body));
            let of_class = |&&(assign, own): &&(AssignId, bool)| {
                !own || linker.class_around(linker.program.body_of(file, facts.assign(assign).at)) == class
            };
            linker.program.index_of(file).attr_assigns(sym).iter().filter(of_class).map(|&(assign, _)| assign).collect()
        }
        _ => return None,
    };
    let sets = assigns.iter().copied().find(|&assign| {
        let row = facts.assign(assign);
        row.target == state && facts.body_of(row.at) == body && truth_of(linker, file, body, row.value) != Some(false)
    });
    let is_unset_again = assigns.iter().any(|&assign| {
        let row = facts.assign(assign);
        let of = facts.body_of(row.at);
        row.value.is_some()
            && truth_of(linker, file, of, row.value) == Some(false)
            && !may_unset(linker, file, body, row.at)
    });
    if is_unset_again {
        return None;
    }
    let Some(sets) = sets.or_else(|| set_by_own_method(linker, file, body, state, &assigns)) else {
        return is_set_by_callee(linker, file, body, state).then_some(Owner::ByProgram);
    };
    let keeper = kept_where(linker, file, Mention::Assign(sets));
    matches!(keeper, Owner::ByProgram | Owner::ByInstance(_)).then_some(keeper)
}

/// Returns where a method that a body calls on its own object sets a field: `if self._store is None: self._open()`
/// (Python).
fn set_by_own_method(
    linker: &Linker<'_>,
    file: FileId,
    body: BodyId,
    state: FormId,
    assigns: &[AssignId],
) -> Option<AssignId> {
    let facts = linker.program.facts(file);
    if facts.language != Language::Python
        || !matches!(facts.form(state), Form::Attr(base, _) if is_own_receiver(facts, base))
    {
        return None;
    }
    let class = linker.class_around(file.body_ref(body))?;
    assigns.iter().copied().find(|&assign| {
        let row = facts.assign(assign);
        let setter = facts.body_of(row.at);
        let name = facts.body(setter).name;
        let is_called = |site: &Site| {
            site.name == name && matches!(facts.form(site.callee), Form::Attr(base, _) if is_own_receiver(facts, base))
        };
        setter != body
            && linker.class_around(file.body_ref(setter)) == Some(class)
            && matches!(facts.form(row.target), Form::Attr(base, _) if is_own_receiver(facts, base))
            && truth_of(linker, file, setter, row.value) != Some(false)
            && linker.program.sites_in(file.body_ref(body)).any(|of| is_called(&linker.program.site(of)))
    })
}

/// True if a body calls a function of its file that sets or fills a global, and no code empties that global:
/// `if not CONFIG: set_up()`.
fn is_set_by_callee(linker: &Linker<'_>, file: FileId, body: BodyId, state: FormId) -> bool {
    let facts = linker.program.facts(file);
    let Form::Var(var) = facts.form(state) else { return false };
    if facts.body(facts.var(var).body).kind != BodyKind::Module {
        return false;
    }
    let on_state = |site: &blocklint_facts::Site| match facts.form(site.callee) {
        Form::Attr(base, _) => facts.form(base) == Form::Var(var),
        _ => false,
    };
    if facts.sites.iter().any(|site| on_state(&site) && lang::words::empties(facts.text(site.name))) {
        return false;
    }
    let filling = facts.sites.iter().filter(|site| on_state(site) && lang::words::fills(facts.text(site.name)));
    let setting = facts.assigns.iter().filter(|row| match facts.form(row.target) {
        Form::Subscript(base, _) => facts.form(base) == Form::Var(var),
        target => target == Form::Var(var),
    });
    let mut setters = filling.map(|site| facts.body_of(site.at)).chain(setting.map(|row| facts.body_of(row.at)));
    setters.any(|setter| {
        let row = facts.body(setter);
        row.kind == BodyKind::Function
            && row.class.is_none()
            && setter != body
            && linker.program.sites_in(file.body_ref(body)).any(|of| linker.program.site(of).name == row.name)
    })
}

/// Returns the owner of a collection that a body fills.
fn keeper_of_filled(linker: &Linker<'_>, file: FileId, body: BodyId, all: FormId) -> Option<Owner> {
    let facts = linker.program.facts(file);
    let is_filled = || {
        facts.assigns.iter().any(|row| match facts.form(row.target) {
            Form::Subscript(base, _) => base == all && facts.body_of(row.at) == body,
            _ => false,
        }) || notes_what_was_seen(linker, file, body, all)
    };
    match facts.form(all) {
        Form::Var(var) => {
            (facts.body(facts.var(var).body).kind == BodyKind::Module && is_filled()).then_some(Owner::ByProgram)
        }
        Form::Attr(base, sym) if is_own_receiver(facts, base) && is_filled() => {
            let class = linker.class_around(file.body_ref(body))?;
            let name = linker.program.global(file, sym)?;
            Some(match linker.own_member(class, name) {
                Some(_) => Owner::ByProgram,
                None => Owner::ByInstance(class),
            })
        }
        _ => None,
    }
}

/// True if a body puts what it has seen into a collection that nothing in its file takes anything out of:
/// `if name in _SEEN: return`, `_SEEN.add(name)` (Python).
fn notes_what_was_seen(linker: &Linker<'_>, file: FileId, body: BodyId, all: FormId) -> bool {
    let facts = linker.program.facts(file);
    if facts.language != Language::Python {
        return false;
    }
    let mut adds = false;
    for row in &facts.sites {
        if row.kind != SiteKind::Call || !matches!(facts.form(row.callee), Form::Attr(base, _) if base == all) {
            continue;
        }
        let name = facts.text(row.name);
        if lang::words::empties(name) {
            return false;
        }
        adds |= lang::words::fills(name) && facts.body_of(row.at) == body;
    }
    adds
}

/// True if a state that is unset there stays what it was for those that come later: where it begins or ends, and where setting it failed.
fn may_unset(linker: &Linker<'_>, file: FileId, setter: BodyId, at: blocklint_facts::At) -> bool {
    let facts = linker.program.facts(file);
    let of = facts.body_of(at);
    let row = facts.body(of);
    if matches!(row.kind, BodyKind::Module | BodyKind::Class | BodyKind::Initialiser) {
        return true;
    }
    let name = facts.text(row.name);
    lang::words_of(facts.language).is_constructor(name)
        || lang::words::ends_a_life(name)
        || of == setter && handler_around(facts, at.region).is_some()
}

/// True if a value is true in the language's sense, where it is written out.
fn truth_of(linker: &Linker<'_>, file: FileId, body: BodyId, value: FormId) -> Option<bool> {
    let facts = linker.program.facts(file);
    match facts.form(value) {
        Form::Display(_, list) | Form::Pairs(list) => return Some(!facts.list(list).is_empty()),
        _ => {}
    }
    match linker.constant_in(file.body_ref(body), value, EnvId::NONE, 2) {
        Constant::Null | Constant::Bool(false) | Constant::Int(0) => Some(false),
        Constant::Str(text) => Some(!text.is_empty()),
        Constant::Bool(true) | Constant::Int(_) | Constant::Head(_) => Some(true),
        _ => None,
    }
}

/// True if the constructor function of a class (`__new__`), or the call of its metaclass (`__call__`), keeps the
/// instances that it returns.
pub(crate) fn returns_cached_instances(linker: &Linker<'_>, class: ClassRef) -> bool {
    keeps_in(linker, class, LanguageWords::chooses_instances)
        || metaclasses(linker, class).iter().any(|&meta| keeps_in(linker, meta, LanguageWords::calls_class))
}

/// True if a function of a class, chosen by its name, assigns a field of its receiver, or fills it.
fn keeps_in(linker: &Linker<'_>, class: ClassRef, is_meant: fn(&LanguageWords, &str) -> bool) -> bool {
    let (facts, class_id) = linker.program.facts_and_id(class);
    facts.assigns.iter().any(|row| {
        let target = match facts.form(row.target) {
            Form::Subscript(base, _) => base,
            _ => row.target,
        };
        let Form::Attr(base, _) = facts.form(target) else { return false };
        let body = facts.body(facts.body_of(row.at));
        body.class == class_id
            && is_meant(lang::words_of(facts.language), facts.text(body.name))
            && is_own_receiver(facts, base)
    })
}

/// Returns the project's classes that a class and its bases name as their metaclass.
fn metaclasses(linker: &Linker<'_>, class: ClassRef) -> SmallVec<[ClassRef; 1]> {
    let mut found = SmallVec::new();
    for ancestor in linker.mro(class).iter() {
        let Ancestor::Class(of) = *ancestor else { continue };
        let facts = linker.program.facts(of.file);
        let row = linker.program.class(of);
        let keywords = facts.args.slice::<4>(row.keywords.range());
        let Some(named) =
            keywords.iter().find(|arg| lang::words_of(facts.language).names_metaclass(facts.text(arg.name)))
        else {
            continue;
        };
        let scope = linker.signature_scope(of.file.body_ref(row.body));
        for val in linker.values.members(linker.eval(scope, named.value).value) {
            if let Val::Class(meta) = val {
                found.push(meta);
            }
        }
    }
    found
}
