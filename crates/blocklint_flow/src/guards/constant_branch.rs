//! Branches that never run, because their test is constant: a literal, or a name or attribute to which the project
//! assigns only one literal.

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

/// The most constructors through which a parameter is followed.
const MOST_CONSTRUCTORS: u32 = 4;

/// The depth to which tests and names are followed.
const DEPTH: u32 = 4;

/// True if a site is in a branch that never runs, because the test always has the other result.
pub(crate) fn never_runs(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.tests_around(site).any(|(test, wanted)| constant_result(linker, site, test, DEPTH) == Some(!wanted))
        || is_closed_for_coroutine(linker, site)
}

/// Returns the result that a test always has, if it is constant.
fn constant_result(linker: &Linker<'_>, site: SiteRef, test: FormId, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(site.file);
    match facts.form(test) {
        Form::Not(inner) => constant_result(linker, site, inner, depth).map(|holds| !holds),
        Form::Alt(AltKind::And, list) => {
            let parts: Vec<_> =
                facts.list(list).iter().map(|&part| constant_result(linker, site, part, depth)).collect();
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.iter().all(|part| *part == Some(true)).then_some(true)
            }
        }
        Form::Alt(AltKind::Or, list) => {
            let parts: Vec<_> =
                facts.list(list).iter().map(|&part| constant_result(linker, site, part, depth)).collect();
            if parts.contains(&Some(true)) {
                Some(true)
            } else {
                parts.iter().all(|part| *part == Some(false)).then_some(false)
            }
        }
        Form::Compare(comparison, left, right) => {
            let plain = |form| plain_literal(linker, site.file, form);
            let (operand, literal) = match plain(right) {
                Some(literal) => (left, literal),
                None => (right, plain(left)?),
            };
            let holds = only_literal(linker, site, operand)? == literal;
            match comparison {
                Comparison::Is | Comparison::Eq => Some(holds),
                Comparison::IsNot | Comparison::NotEq => Some(!holds),
                _ => None,
            }
        }
        _ => truth_of(&only_literal(linker, site, test)?),
    }
}

/// Returns the literal that an expression always is: it is written there, or it is the only value that the project
/// assigns to the name.
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
        Form::Var(var) => only_literal_assigned(linker, site.file, var),
        Form::Attr(base, sym) if blocklint_link::program::occurrences::is_own_receiver(facts, base) => {
            let class = linker.class_around(linker.program.body_of_site(site))?;
            only_literal_in_field(linker, class, site.file, sym)
        }
        Form::Result(call) => only_literal_returned(linker, site.file.site_ref(call)),
        _ => None,
    }
}

/// Returns the literal that the one call target of a call always returns.
fn only_literal_returned(linker: &Linker<'_>, call: SiteRef) -> Option<Constant> {
    let facts = linker.program.facts(call.file);
    if facts.language != Language::Python || linker.program.site(call).kind != SiteKind::Call {
        return None;
    }
    let targets = linker.targets(call, EnvId::NONE);
    let [Target::Body { body, kind: TargetKind::Call, .. }] = targets.list[..] else { return None };
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let is_open = targets.unknown || targets.steps > 0 || linker.is_stub(body);
    if is_open || body_facts.kind != BodyKind::Function || !facts.list(body_facts.decorators).is_empty() {
        return None;
    }
    let mut visited = SeenLiteral::default();
    let mut returns_at_end = false;
    for exit in linker.program.exits_in(body) {
        visited.add(plain_literal(linker, body.file, exit.value)?);
        returns_at_end |= facts.region(exit.at.region).kind == RegionKind::Body;
    }
    // A function that ends without `return` returns `None`.
    if returns_at_end { visited.single() } else { None }
}

/// Returns the literal that all assignments to a variable assign.
fn only_literal_assigned(linker: &Linker<'_>, file: FileId, var: VarId) -> Option<Constant> {
    let facts = linker.program.facts(file);
    let var_facts = facts.var(var);
    if matches!(var_facts.kind, VarKind::Param(_)) {
        return None;
    }
    if linker.may_be_filled(file, var, 0) {
        return None;
    }
    let mut visited = SeenLiteral::default();
    for assignment in facts.assigns_of(var) {
        visited.add(plain_literal(linker, file, assignment.value)?);
    }
    // Code outside of a module may assign the module's variable as an attribute (`settings.debug = True`).
    let is_module_level = facts.body(var_facts.body).parent.get().is_none();
    if is_module_level && is_assigned_from_outside(linker, file, var_facts.name) { None } else { visited.single() }
}

/// True if code may assign a module's variable of this name as an attribute of the module.
pub(crate) fn is_assigned_from_outside(linker: &Linker<'_>, file: FileId, name: Sym) -> bool {
    foreign_receivers(linker, file, name, &[]).any(|val| !matches!(val, Val::Instance { .. }))
}

/// The most subclasses of a class whose fields are read.
const MOST_DERIVED: usize = 63;

/// Returns the literal that a field always has in a class, its bases and its subclasses. `None` if other code may set
/// the field.
fn only_literal_in_field(linker: &Linker<'_>, class: ClassRef, file: FileId, sym: Sym) -> Option<Constant> {
    if linker.program.language(file) != Language::Python {
        return None;
    }
    let name = linker.program.global(file, sym)?;
    // An object of the class may also be one of a subclass, and methods of a base may set the field.
    let below = linker.descendants(class, MOST_DERIVED);
    if !below.is_complete {
        return None;
    }
    let mut related_classes: FxHashSet<ClassRef> = std::iter::once(class).chain(below.classes).collect();
    for next in related_classes.clone() {
        for ancestor in linker.mro(next).iter() {
            match *ancestor {
                Ancestor::Class(base) => _ = related_classes.insert(base),
                Ancestor::Library(path, _)
                    if lang::python::builtins::sets_no_attributes(&linker.library.text(path)) => {}
                Ancestor::Library(..) | Ancestor::Unknown => return None,
            }
        }
    }
    let mut literals = SeenLiteral::default();
    for &next in &related_classes {
        let facts = linker.program.facts(next.file);
        // A decorator or a computed name may set a value that no assignment shows.
        let is_decorated = !facts.list(linker.program.class(next).decorators).is_empty();
        if is_decorated || sets_computed_attributes(linker, next) {
            return None;
        }
        if let Some((owner, var)) = linker.own_member(next, name) {
            let facts = linker.program.facts(owner.file);
            for assignment in facts.assigns_of(var) {
                // `device: str` alone assigns nothing, but shows that other code assigns the field.
                literals.add(plain_literal(linker, owner.file, assignment.value)?);
            }
        }
        for assign in linker.own_assigns(next, name) {
            let assignment = facts.assign(assign);
            let literal_of_constructor = || {
                let setter = linker.program.body_of(next.file, assignment.at);
                linker.constructor_literal(setter, assignment.value, MOST_CONSTRUCTORS)
            };
            literals.add(plain_literal(linker, next.file, assignment.value).or_else(literal_of_constructor)?);
        }
    }
    let related: Vec<ClassRef> = related_classes.into_iter().collect();
    let set_from_outside = foreign_receivers(linker, file, sym, &related).any(|val| match val {
        Val::Instance { class, .. } | Val::Class(class) => related.contains(&class),
        Val::External(_) | Val::Library { .. } | Val::Module(_) | Val::None => false,
        _ => true,
    });
    if set_from_outside { None } else { literals.single() }
}

/// True if a class sets attributes by computed names: `setattr(self, name, value)`.
fn sets_computed_attributes(linker: &Linker<'_>, class: ClassRef) -> bool {
    let facts = linker.program.facts(class.file);
    linker
        .sites_with_names(class.file, &["setattr", "__setattr__", "__dict__"])
        .any(|site| linker.class_around(linker.program.body_of(class.file, facts.site(site).at)) == Some(class))
}

/// Returns the objects other than `self` whose attribute of this name the project assigns (`device.link = None`).
/// Objects of unknown type count only in files that mention one of the classes.
fn foreign_receivers(linker: &Linker<'_>, file: FileId, sym: Sym, classes: &[ClassRef]) -> impl Iterator<Item = Val> {
    let mut receivers = Vec::new();
    let Some(name) = linker.program.global(file, sym) else { return vec![Val::Unknown(Why::Unbound)].into_iter() };
    let names: Vec<_> = classes.iter().flat_map(|&class| linker.class_names(class)).collect();
    for &(file, sym) in linker.program.occurrences(name) {
        let facts = linker.program.facts(file);
        for &(assign, is_own) in linker.program.index_of(file).attr_assigns(sym) {
            let assignment = facts.assign(assign);
            let Form::Attr(base, _) = facts.form(assignment.target) else { continue };
            if is_own {
                continue;
            }
            let scope = blocklint_link::values::expr::Scope { file, at: assignment.at, env: EnvId::NONE };
            for val in linker.values.members(linker.eval(scope, base).value) {
                let mentions_class =
                    || names.is_empty() || names.iter().any(|&name| linker.program.local(file, name).is_some());
                if !matches!(val, Val::Unknown(_)) || mentions_class() {
                    receivers.push(val);
                }
            }
        }
    }
    receivers.into_iter()
}

/// Returns `None`, `True` or `False` if an expression is one of them.
fn plain_literal(linker: &Linker<'_>, file: FileId, form: FormId) -> Option<Constant> {
    match linker.program.facts(file).form(form) {
        Form::None => Some(Constant::Null),
        Form::Bool(value) => Some(Constant::Bool(value)),
        _ => None,
    }
}

/// The literal that all assignments seen so far agree on; `Hidden` once two of them differ.
#[derive(Default)]
struct SeenLiteral(Option<Constant>);

impl SeenLiteral {
    fn single(self) -> Option<Constant> {
        self.0.filter(|constant| *constant != Constant::Hidden)
    }

    fn add(&mut self, constant: Constant) {
        self.0 = match self.0.take() {
            None => Some(constant),
            Some(known) if known == constant => Some(constant),
            Some(_) => Some(Constant::Hidden),
        };
    }
}

/// Returns the truth value of a literal in a test.
fn truth_of(constant: &Constant) -> Option<bool> {
    match constant {
        Constant::Null | Constant::Empty => Some(false),
        Constant::Bool(value) => Some(*value),
        Constant::Int(value) => Some(*value != 0),
        Constant::Float(value) => Some(*value != 0.0),
        Constant::Str(text) => Some(!text.is_empty()),
        // A `Head` is never empty.
        Constant::Head(_) => Some(true),
        Constant::Hidden | Constant::Param(_) | Constant::Symbols(_) => None,
    }
}
