//! Code that runs only the first time: lazy initialisation. A test around the code checks a state that the same
//! function then sets: `if _client is None: _client = connect()`.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, AssignId, At, BodyId, BodyKind, Comparison, Form, FormId, RegionKind, Site, SiteKind, VarKind,
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

use crate::lifecycle::owner::{Owner, fills_cell_of_program, owner_at_mention};

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// By site: the reason why it runs only the first time.
    first_times: Table<SiteRef, Option<FirstTime>, Plain>,
}

/// A state that a test finds unset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnsetState {
    /// A variable, a field or a result that is false or `None`: `if _client is None:`.
    Unset(FormId),
    /// A collection that lacks a key: `if name not in _clients:`.
    Lacking(FormId),
}

/// The reason why a site runs only the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstTime {
    /// The owner of the state that the test checks.
    pub(crate) keeper: Owner,
    /// True if the site runs once for each key of a collection.
    pub per_key: bool,
}

/// The depth to which a test is read.
const DEPTH: u32 = 4;

/// Returns the reason why a site runs only the first time, if it does.
pub fn find_first_time(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    linker.query(&linker.layer_memo::<Memo>().first_times, site, Option::default, || search_first_time(linker, site))
}

fn search_first_time(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    let facts = linker.program.facts(site.file);
    if fills_cell_of_program(linker, linker.program.body_of_site(site)) {
        return Some(FirstTime { keeper: Owner::Program, per_key: false });
    }
    let mut current = linker.program.site(site).at.region;
    while let Some(id) = current.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Body {
            break;
        }
        if let Some((test, outcome)) = linker.test_of(site.file, id) {
            if let Form::Result(call) = facts.form(test)
                && outcome
                && lang::words_of(facts.language).is_first_caller_check(facts.text(facts.site(call).name))
            {
                return Some(FirstTime { keeper: Owner::Program, per_key: false });
            }
            let mut states = SmallVec::new();
            add_unset_states(linker, site.file, region.body, test, outcome, &mut states, DEPTH);
            let first_time = states.iter().find_map(|&state| {
                let (keeper, per_key) = match state {
                    UnsetState::Unset(state) => (keeper_of_set(linker, site.file, region.body, state)?, false),
                    UnsetState::Lacking(collection) => {
                        (keeper_of_filled(linker, site.file, region.body, collection)?, true)
                    }
                };
                Some(FirstTime { keeper, per_key })
            });
            if first_time.is_some() {
                return first_time;
            }
        }
        current = region.parent;
    }
    let collection = find_failed_look_up(linker, site)?;
    let keeper = keeper_of_filled(linker, site.file, facts.body_of(linker.program.site(site).at), collection)?;
    Some(FirstTime { keeper, per_key: true })
}

/// Returns the collection that lacks a key where a site runs, because the look-up before it raised: `try: return
/// clients[key]`, `except KeyError:` (Python).
fn find_failed_look_up(linker: &Linker<'_>, site: SiteRef) -> Option<FormId> {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Python {
        return None;
    }
    let exits = linker.program.exits_around(linker.program.body_of_site(site));
    let tried =
        failed_try_before(facts, linker.program.site(site).at, lang::python::conventions::is_lookup_error, exits)?;
    let is_look_up = |row: &Site| row.kind == SiteKind::Subscript && is_region_in(facts, row.at.region, tried);
    facts.sites.iter().find(is_look_up).map(|site_facts| site_facts.callee)
}

/// Adds the states that are false or `None`, or lack a key, if a test evaluates to `outcome`.
fn add_unset_states(
    linker: &Linker<'_>,
    file: FileId,
    body: BodyId,
    test: FormId,
    outcome: bool,
    states: &mut SmallVec<[UnsetState; 2]>,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => add_unset_states(linker, file, body, inner, !outcome, states, depth),
        Form::Var(_) | Form::Attr(..) | Form::Result(_) if !outcome => {
            states.push(unset_state_of(linker, file, body, test))
        }
        Form::Compare(Comparison::NotIn, _, collection) if outcome => states.push(UnsetState::Lacking(collection)),
        Form::Compare(Comparison::In, _, collection) if !outcome => states.push(UnsetState::Lacking(collection)),
        Form::Compare(comparison, state, right) if facts.form(right) == Form::None => {
            let is_none = match comparison {
                Comparison::Is | Comparison::Eq => outcome,
                Comparison::IsNot | Comparison::NotEq => !outcome,
                _ => return,
            };
            if is_none {
                states.push(unset_state_of(linker, file, body, state));
            }
        }
        Form::Alt(AltKind::And, list) if outcome => {
            facts.list(list).iter().for_each(|&part| add_unset_states(linker, file, body, part, true, states, depth));
        }
        Form::Alt(AltKind::Or, list) if !outcome => {
            facts.list(list).iter().for_each(|&part| add_unset_states(linker, file, body, part, false, states, depth));
        }
        // `_known is not None and not reload`: for a caller that leaves out the parameter, the test checks the state
        // alone.
        Form::Alt(AltKind::And, list) => {
            let mut parts = facts.list(list).iter().filter(|&&part| !holds_by_default(linker, file, body, part));
            if let (Some(&only), None) = (parts.next(), parts.next()) {
                add_unset_states(linker, file, body, only, false, states, depth);
            }
        }
        _ => {}
    }
}

/// Returns the unset state behind an expression that is false or `None`. A value that was looked up means that the
/// collection lacks the key.
fn unset_state_of(linker: &Linker<'_>, file: FileId, body: BodyId, form: FormId) -> UnsetState {
    collection_looked_up(linker, file, body, form).map_or(UnsetState::Unset(form), UnsetState::Lacking)
}

/// Returns the collection in which an expression is looked up by a key, also through a local variable:
/// `client = self.clients.get(key)`.
fn collection_looked_up(linker: &Linker<'_>, file: FileId, body: BodyId, form: FormId) -> Option<FormId> {
    let facts = linker.program.facts(file);
    let form = match facts.form(form) {
        Form::Var(var) if facts.var(var).body == body && facts.var(var).kind == VarKind::Named => {
            facts.assigns_of(var).find(|assign| assign.value.is_some())?.value
        }
        _ => form,
    };
    let Form::Result(call) = facts.form(form) else { return None };
    let site_facts = facts.site(call);
    let Form::Attr(collection, _) = facts.form(site_facts.callee) else { return None };
    let only_reads = lang::words_of(facts.language).reads_key(facts.text(site_facts.name))
        && !lang::words::removes_from_collection(facts.text(site_facts.name));
    only_reads.then_some(collection)
}

/// True if a test checks a parameter of the body, and holds for the parameter's default.
fn holds_by_default(linker: &Linker<'_>, file: FileId, body: BodyId, test: FormId) -> bool {
    let facts = linker.program.facts(file);
    let (tested, wanted) = match facts.form(test) {
        Form::Not(inner) => (inner, false),
        _ => (test, true),
    };
    let Form::Var(var) = facts.form(tested) else { return false };
    let VarKind::Param(index) = facts.var(var).kind else { return false };
    let default = facts.params_of(body).get(index as usize).map(|param| param.default);
    facts.var(var).body == body && default.is_some_and(|default| facts.form(default) == Form::Bool(wanted))
}

/// Returns the owner of a state that a body sets, if no other code unsets the state, except where its life begins or
/// ends.
fn keeper_of_set(linker: &Linker<'_>, file: FileId, body: BodyId, state: FormId) -> Option<Owner> {
    let facts = linker.program.facts(file);
    let assigns: Vec<AssignId> = match facts.form(state) {
        Form::Var(var) if facts.var(var).body != body => facts.assign_ids_of(var).collect(),
        Form::Attr(_, sym) => {
            // Another class may have an attribute of this name.
            let class = linker.class_around(file.body_ref(body));
            let is_of_class = |&&(assign, is_own): &&(AssignId, bool)| {
                !is_own || linker.class_around(linker.program.body_of(file, facts.assign(assign).at)) == class
            };
            linker
                .program
                .index_of(file)
                .attr_assigns(sym)
                .iter()
                .filter(is_of_class)
                .map(|&(assign, _)| assign)
                .collect()
        }
        _ => return None,
    };
    let setting = assigns.iter().copied().find(|&assign| {
        let assignment = facts.assign(assign);
        assignment.target == state
            && facts.body_of(assignment.at) == body
            && truth_of(linker, file, body, assignment.value) != Some(false)
    });
    let is_unset_again = assigns.iter().any(|&assign| {
        let assignment = facts.assign(assign);
        let setter = facts.body_of(assignment.at);
        assignment.value.is_some()
            && truth_of(linker, file, setter, assignment.value) == Some(false)
            && !may_unset(linker, file, body, assignment.at)
    });
    if is_unset_again {
        return None;
    }
    let Some(setting) = setting.or_else(|| find_setting_in_own_method(linker, file, body, state, &assigns)) else {
        return is_set_by_callee(linker, file, body, state).then_some(Owner::Program);
    };
    let keeper = owner_at_mention(linker, file, Mention::Assign(setting));
    matches!(keeper, Owner::Program | Owner::Instance(_)).then_some(keeper)
}

/// Returns the assignment by which a method that the body calls on its own object sets a field:
/// `if self._store is None: self._open()` (Python).
fn find_setting_in_own_method(
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
        let assignment = facts.assign(assign);
        let setter = facts.body_of(assignment.at);
        let name = facts.body(setter).name;
        let is_called = |site: &Site| {
            site.name == name && matches!(facts.form(site.callee), Form::Attr(base, _) if is_own_receiver(facts, base))
        };
        setter != body
            && linker.class_around(file.body_ref(setter)) == Some(class)
            && matches!(facts.form(assignment.target), Form::Attr(base, _) if is_own_receiver(facts, base))
            && truth_of(linker, file, setter, assignment.value) != Some(false)
            && linker.program.sites_in(file.body_ref(body)).any(|site| is_called(&linker.program.site(site)))
    })
}

/// True if a body calls a function of its file that sets or fills a global variable, and no code empties the variable:
/// `if not CONFIG: set_up()`.
fn is_set_by_callee(linker: &Linker<'_>, file: FileId, body: BodyId, state: FormId) -> bool {
    let facts = linker.program.facts(file);
    let Form::Var(var) = facts.form(state) else { return false };
    if facts.body(facts.var(var).body).kind != BodyKind::Module {
        return false;
    }
    let is_on_state = |site: &Site| match facts.form(site.callee) {
        Form::Attr(base, _) => facts.form(base) == Form::Var(var),
        _ => false,
    };
    if facts.sites.iter().any(|site| is_on_state(&site) && lang::words::removes_from_collection(facts.text(site.name)))
    {
        return false;
    }
    let filling =
        facts.sites.iter().filter(|site| is_on_state(site) && lang::words::adds_to_collection(facts.text(site.name)));
    let setting = facts.assigns.iter().filter(|assignment| match facts.form(assignment.target) {
        Form::Subscript(base, _) => facts.form(base) == Form::Var(var),
        target => target == Form::Var(var),
    });
    let mut setters = filling.map(|site| facts.body_of(site.at)).chain(setting.map(|row| facts.body_of(row.at)));
    setters.any(|setter| {
        let body_facts = facts.body(setter);
        body_facts.kind == BodyKind::Function
            && body_facts.class.is_none()
            && setter != body
            && linker
                .program
                .sites_in(file.body_ref(body))
                .any(|site| linker.program.site(site).name == body_facts.name)
    })
}

/// Returns the owner of a collection that a body fills. `None` if the body does not fill it.
fn keeper_of_filled(linker: &Linker<'_>, file: FileId, body: BodyId, collection: FormId) -> Option<Owner> {
    let facts = linker.program.facts(file);
    let is_filled = || {
        facts.assigns.iter().any(|assignment| match facts.form(assignment.target) {
            Form::Subscript(base, _) => base == collection && facts.body_of(assignment.at) == body,
            _ => false,
        }) || records_elements(linker, file, body, collection)
    };
    match facts.form(collection) {
        Form::Var(var) => {
            (facts.body(facts.var(var).body).kind == BodyKind::Module && is_filled()).then_some(Owner::Program)
        }
        Form::Attr(base, sym) if is_own_receiver(facts, base) && is_filled() => {
            let class = linker.class_around(file.body_ref(body))?;
            let name = linker.program.global(file, sym)?;
            Some(match linker.own_member(class, name) {
                Some(_) => Owner::Program,
                None => Owner::Instance(class),
            })
        }
        _ => None,
    }
}

/// True if a body adds elements to a collection from which its file removes none: `if name in _SEEN: return`,
/// `_SEEN.add(name)` (Python).
fn records_elements(linker: &Linker<'_>, file: FileId, body: BodyId, collection: FormId) -> bool {
    let facts = linker.program.facts(file);
    if facts.language != Language::Python {
        return false;
    }
    let mut is_filled = false;
    for site_facts in &facts.sites {
        if site_facts.kind != SiteKind::Call
            || !matches!(facts.form(site_facts.callee), Form::Attr(base, _) if base == collection)
        {
            continue;
        }
        let name = facts.text(site_facts.name);
        if lang::words::removes_from_collection(name) {
            return false;
        }
        is_filled |= lang::words::adds_to_collection(name) && facts.body_of(site_facts.at) == body;
    }
    is_filled
}

/// True if an assignment at a place may unset a state without a second first time: where the state's life begins or
/// ends (`__init__`, `close`), and where setting it failed (`except`).
fn may_unset(linker: &Linker<'_>, file: FileId, setter: BodyId, at: At) -> bool {
    let facts = linker.program.facts(file);
    let body = facts.body_of(at);
    let body_facts = facts.body(body);
    if matches!(body_facts.kind, BodyKind::Module | BodyKind::Class | BodyKind::Initialiser) {
        return true;
    }
    let name = facts.text(body_facts.name);
    lang::words_of(facts.language).is_constructor(name)
        || lang::words::ends_lifetime(name)
        || body == setter && handler_around(facts, at.region).is_some()
}

/// Returns the truth value of an expression in the sense of its language, if the expression is a constant.
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

/// True if the constructor function of a class (`__new__`), or the call of its metaclass (`__call__`), stores the
/// instances that it returns.
pub(crate) fn returns_cached_instances(linker: &Linker<'_>, class: ClassRef) -> bool {
    stores_field_in(linker, class, LanguageWords::chooses_instances)
        || metaclasses(linker, class).iter().any(|&meta| stores_field_in(linker, meta, LanguageWords::is_class_call))
}

/// True if a function of a class whose name `has_name` accepts assigns or fills a field of its receiver.
fn stores_field_in(linker: &Linker<'_>, class: ClassRef, has_name: fn(&LanguageWords, &str) -> bool) -> bool {
    let (facts, class_id) = linker.program.facts_and_id(class);
    facts.assigns.iter().any(|assignment| {
        let target = match facts.form(assignment.target) {
            Form::Subscript(base, _) => base,
            _ => assignment.target,
        };
        let Form::Attr(base, _) = facts.form(target) else { return false };
        let body = facts.body(facts.body_of(assignment.at));
        body.class == class_id
            && has_name(lang::words_of(facts.language), facts.text(body.name))
            && is_own_receiver(facts, base)
    })
}

/// Returns the project's classes that a class or one of its bases has as metaclass: `class
/// Config(metaclass=Singleton):`.
fn metaclasses(linker: &Linker<'_>, class: ClassRef) -> SmallVec<[ClassRef; 1]> {
    let mut metaclasses = SmallVec::new();
    for ancestor in linker.mro(class).iter() {
        let Ancestor::Class(base) = *ancestor else { continue };
        let facts = linker.program.facts(base.file);
        let class_facts = linker.program.class(base);
        let keywords = facts.args.slice::<4>(class_facts.keywords.range());
        let Some(keyword) =
            keywords.iter().find(|arg| lang::words_of(facts.language).is_metaclass_keyword(facts.text(arg.name)))
        else {
            continue;
        };
        let scope = linker.signature_scope(base.file.body_ref(class_facts.body));
        for val in linker.values.members(linker.eval(scope, keyword.value).value) {
            if let Val::Class(meta) = val {
                metaclasses.push(meta);
            }
        }
    }
    metaclasses
}
