//! Branches that never run: their test is a literal, or a name or attribute to which the project assigns only one
//! literal.

use blocklint_core::Language;
use blocklint_facts::{AltKind, BodyKind, Comparison, Form, FormId, RegionKind, SiteKind, Sym, VarId, VarKind};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::constant::Constant;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{ClassRef, FileId, SiteRef};
use blocklint_link::values::value::{EnvId, Val, Why};
use rustc_hash::FxHashSet;

use crate::guards::filled_at_import::is_closed_for_coroutine;

/// How often a constructor passes its parameter on to another one.
const CONSTRUCTORS: u32 = 4;

/// How deep tests and names are followed.
const DEPTH: u32 = 4;

/// True if a site stands in a branch whose test can be seen never to come out that way.
pub(crate) fn never_runs(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.tests_over(site).any(|(test, wanted)| always(linker, site, test, DEPTH) == Some(!wanted))
        || is_closed_for_coroutine(linker, site)
}

/// Returns the result that a test always has.
fn always(linker: &Linker<'_>, site: SiteRef, test: FormId, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(site.file);
    match facts.form(test) {
        Form::Not(inner) => always(linker, site, inner, depth).map(|holds| !holds),
        Form::Alt(AltKind::And, list) => {
            let parts: Vec<_> = facts.list(list).iter().map(|&part| always(linker, site, part, depth)).collect();
            match parts.contains(&Some(false)) {
                true => Some(false),
                false => parts.iter().all(|part| *part == Some(true)).then_some(true),
            }
        }
        Form::Alt(AltKind::Or, list) => {
            let parts: Vec<_> = facts.list(list).iter().map(|&part| always(linker, site, part, depth)).collect();
            match parts.contains(&Some(true)) {
                true => Some(true),
                false => parts.iter().all(|part| *part == Some(false)).then_some(false),
            }
        }
        Form::Compare(comparison, left, right) => {
            let plain = |form| plain_literal(linker, site.file, form);
            let (other, literal) = match plain(right) {
                Some(literal) => (left, literal),
                None => (right, plain(left)?),
            };
            let holds = only_literal(linker, site, other)? == literal;
            match comparison {
                Comparison::Is | Comparison::Eq => Some(holds),
                Comparison::IsNot | Comparison::NotEq => Some(!holds),
                _ => None,
            }
        }
        _ => truth(&only_literal(linker, site, test)?),
    }
}

/// Returns the literal that a form always is: written there, or all that is ever assigned to its name.
fn only_literal(linker: &Linker<'_>, site: SiteRef, form: FormId) -> Option<Constant> {
    let facts = linker.program.facts(site.file);
    if let Some(literal) = linker.literal_of_field(site.file, facts.body_of(linker.program.site(site).at), form) {
        return Some(literal);
    }
    match facts.form(form) {
        Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Str(_) | Form::Bytes(_) => {
            Some(linker.constant(site, form, EnvId::NONE, 1))
        }
        Form::Var(_) if linker.is_still_empty(site, form) => Some(Constant::Empty),
        Form::Var(var) => only_assigned(linker, site.file, var),
        Form::Attr(base, sym) if blocklint_link::program::occurrences::is_own_receiver(facts, base) => {
            let class = linker.class_around(linker.program.body_of_site(site))?;
            only_in_field(linker, class, site.file, sym)
        }
        Form::Result(call) => only_returned(linker, site.file.site_ref(call)),
        _ => None,
    }
}

/// Returns the literal that the one function which a call means always returns.
fn only_returned(linker: &Linker<'_>, call: SiteRef) -> Option<Constant> {
    let facts = linker.program.facts(call.file);
    if facts.language != Language::Python || linker.program.site(call).kind != SiteKind::Call {
        return None;
    }
    let targets = linker.targets(call, EnvId::NONE);
    let [Target::Body { body, kind: TargetKind::Call, .. }] = targets.list[..] else { return None };
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let is_open = targets.unknown || targets.steps > 0 || linker.is_stub(body);
    if is_open || row.kind != BodyKind::Function || !facts.list(row.decorators).is_empty() {
        return None;
    }
    let mut found = Only::default();
    let mut at_its_end = false;
    for exit in linker.program.exits_in(body) {
        found.see(plain_literal(linker, body.file, exit.value)?);
        at_its_end |= facts.region(exit.at.region).kind == RegionKind::Body;
    }
    // A function that ends without `return` returns `None`.
    if at_its_end { found.one() } else { None }
}

/// Returns the literal that all assignments to a variable assign.
fn only_assigned(linker: &Linker<'_>, file: FileId, var: VarId) -> Option<Constant> {
    let facts = linker.program.facts(file);
    let row = facts.var(var);
    if matches!(row.kind, VarKind::Param(_)) {
        return None;
    }
    let mut found = Only::default();
    for row in facts.assigns_of(var) {
        found.see(plain_literal(linker, file, row.value)?);
    }
    // A module's variable is assigned from outside as its attribute.
    let is_module_level = facts.body(row.body).parent.get().is_none();
    if is_module_level && is_assigned_from_outside(linker, file, row.name) { None } else { found.one() }
}

/// True if code may assign a module's variable of this name as an attribute of the module.
pub(crate) fn is_assigned_from_outside(linker: &Linker<'_>, file: FileId, name: Sym) -> bool {
    foreign_receivers(linker, file, name, &[]).any(|val| !matches!(val, Val::Instance { .. }))
}

/// Classes derived from one whose fields are looked at.
const MOST_DERIVED: usize = 63;

/// Returns the literal that a field of a class and of its relatives always holds; `None` where something else may set
/// it.
fn only_in_field(linker: &Linker<'_>, class: ClassRef, file: FileId, sym: Sym) -> Option<Constant> {
    if linker.program.language(file) != Language::Python {
        return None;
    }
    let name = linker.program.global(file, sym)?;
    // Its bases, and what derives from it: an instance of either may be what `link` is.
    let below = linker.descendants(class, MOST_DERIVED);
    if !below.is_whole {
        return None;
    }
    let mut seen: FxHashSet<ClassRef> = std::iter::once(class).chain(below.classes).collect();
    for next in seen.clone() {
        for ancestor in linker.mro(next).iter() {
            match *ancestor {
                Ancestor::Class(base) => _ = seen.insert(base),
                Ancestor::Library(path, _)
                    if lang::python::builtins::sets_no_attributes(&linker.library.text(path)) => {}
                Ancestor::Library(..) | Ancestor::Unknown => return None,
            }
        }
    }
    let mut found = Only::default();
    for &next in &seen {
        let facts = linker.program.facts(next.file);
        // A decorator or a computed name may set a value that no assignment shows.
        let decorated = !facts.list(linker.program.class(next).decorators).is_empty();
        if decorated || sets_by_name(linker, next) {
            return None;
        }
        if let Some((owner, var)) = linker.own_member(next, name) {
            let facts = linker.program.facts(owner.file);
            for row in facts.assigns_of(var) {
                // `device: str` alone assigns nothing here, but shows that other code does.
                found.see(plain_literal(linker, owner.file, row.value)?);
            }
        }
        for assign in linker.own_assigns(next, name) {
            let row = facts.assign(assign);
            let given = || {
                let setter = linker.program.body_of(next.file, row.at);
                linker.constructor_literal(setter, row.value, CONSTRUCTORS)
            };
            found.see(plain_literal(linker, next.file, row.value).or_else(given)?);
        }
    }
    let related: Vec<ClassRef> = seen.into_iter().collect();
    let set_from_outside = foreign_receivers(linker, file, sym, &related).any(|val| match val {
        Val::Instance { class, .. } | Val::Class(class) => related.contains(&class),
        Val::External(_) | Val::Library { .. } | Val::Module(_) | Val::None => false,
        _ => true,
    });
    if set_from_outside { None } else { found.one() }
}

/// True if a class sets attributes whose names it computes.
fn sets_by_name(linker: &Linker<'_>, class: ClassRef) -> bool {
    let facts = linker.program.facts(class.file);
    linker
        .sites_under(class.file, &["setattr", "__setattr__", "__dict__"])
        .any(|site| linker.class_around(linker.program.body_of(class.file, facts.site(site).at)) == Some(class))
}

/// Returns the objects, no receivers of methods, to whose attribute of this name something is assigned. Of those whose
/// type is not known only those in files that name one of the classes.
fn foreign_receivers(linker: &Linker<'_>, file: FileId, sym: Sym, classes: &[ClassRef]) -> impl Iterator<Item = Val> {
    let mut found = Vec::new();
    let Some(name) = linker.program.global(file, sym) else { return vec![Val::Unknown(Why::Unbound)].into_iter() };
    let names: Vec<_> = classes.iter().flat_map(|&class| linker.class_names(class)).collect();
    for &(file, sym) in linker.program.occurrences(name) {
        let facts = linker.program.facts(file);
        for &(assign, own) in linker.program.index_of(file).attr_assigns(sym) {
            let row = facts.assign(assign);
            let Form::Attr(base, _) = facts.form(row.target) else { continue };
            if own {
                continue;
            }
            let scope = blocklint_link::values::expr::Scope { file, at: row.at, env: EnvId::NONE };
            for val in linker.values.members(linker.eval(scope, base).value) {
                let named = || names.is_empty() || names.iter().any(|&name| linker.program.local(file, name).is_some());
                if !matches!(val, Val::Unknown(_)) || named() {
                    found.push(val);
                }
            }
        }
    }
    found.into_iter()
}

fn plain_literal(linker: &Linker<'_>, file: FileId, form: FormId) -> Option<Constant> {
    match linker.program.facts(file).form(form) {
        Form::None => Some(Constant::Null),
        Form::Bool(value) => Some(Constant::Bool(value)),
        _ => None,
    }
}

/// The one literal seen; nothing once two differ.
#[derive(Default)]
struct Only(Option<Constant>);

impl Only {
    fn one(self) -> Option<Constant> {
        self.0.filter(|constant| *constant != Constant::Hidden)
    }

    fn see(&mut self, constant: Constant) {
        self.0 = match self.0.take() {
            None => Some(constant),
            Some(known) if known == constant => Some(constant),
            Some(_) => Some(Constant::Hidden),
        };
    }
}

/// Returns the truth of a literal in a test.
fn truth(constant: &Constant) -> Option<bool> {
    match constant {
        Constant::Null | Constant::Empty => Some(false),
        Constant::Bool(value) => Some(*value),
        Constant::Int(value) => Some(*value != 0),
        Constant::Float(value) => Some(*value != 0.0),
        Constant::Str(text) => Some(!text.is_empty()),
        // Only what begins with something is made a head.
        Constant::Head(_) => Some(true),
        Constant::Hidden | Constant::Param(_) | Constant::Symbols(_) => None,
    }
}
