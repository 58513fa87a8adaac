//! Owners of objects: who keeps an object that a call makes, and so how long it lives.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyKind, Form, SiteId, SiteKind, VarId};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::EnvId;
use blocklint_models::{RowEffect, Selector};
use rustc_hash::FxHashSet;

/// The owner of the object that a site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The object has no owner: it lives as long as the call that made it.
    Nowhere,
    /// An instance of this class.
    ByInstance(ClassRef),
    /// The caller of this body, to which it is returned.
    ByCaller(BodyRef),
    /// A collection, a cache or something else that is not followed.
    Elsewhere,
    /// A module, a class or a static field.
    ByProgram,
}

/// Returns the owner of the object that a site makes.
pub fn kept(linker: &Linker<'_>, site: SiteRef) -> Owner {
    let body = linker.program.body_of_site(site);
    let facts = linker.program.facts(site.file);
    let row = linker.program.body(body);
    match row.kind {
        BodyKind::Module | BodyKind::Class => return Owner::ByProgram,
        BodyKind::Initialiser if row.flags.has(BodyFlags::STATIC) => return Owner::ByProgram,
        BodyKind::Initialiser => {
            return row.class.get().map_or(Owner::Elsewhere, |class| Owner::ByInstance(site.file.class_ref(class)));
        }
        _ => {}
    }
    if facts.language == Language::Rust && is_made_once(linker, body) {
        return Owner::ByProgram;
    }
    let mut seen = FxHashSet::default();
    kept_result(linker, site, &mut seen, 6)
}

/// True if a body is, or stands in, the closure of a cell that is filled once: `CLIENT.get_or_init(|| …)` (Rust).
fn is_made_once(linker: &Linker<'_>, body: BodyRef) -> bool {
    fills_once(linker, body, |_| true)
}

/// True if a body fills a cell that is no field, of which a program has one (Rust).
pub(crate) fn fills_cell_of_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    facts.language == Language::Rust
        && fills_once(linker, body, |taker| match facts.form(facts.site(taker).callee) {
            Form::Attr(cell, _) => matches!(facts.form(cell), Form::Var(_) | Form::Name(_) | Form::Path(..)),
            _ => false,
        })
}

fn fills_once(linker: &Linker<'_>, body: BodyRef, is_meant: impl Fn(SiteId) -> bool) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let index = linker.program.index_of(body.file);
    let closures = std::iter::successors(Some(body_id), |&at| facts.body(at).parent.get());
    closures.take_while(|&at| facts.body(at).kind != BodyKind::Function).any(|at| {
        index.uses_of_callable(at).iter().any(|(mention, _)| match mention {
            Mention::Arg(taker, _) => {
                lang::rust::conventions::ONCE_METHODS.contains(&facts.text(facts.site(taker).name)) && is_meant(taker)
            }
            _ => false,
        })
    })
}

/// Returns the owner of an object that goes where a callable or value is mentioned.
pub(crate) fn kept_where(linker: &Linker<'_>, file: FileId, mention: Mention) -> Owner {
    kept_mention(linker, file, mention, Wrap::Direct, &mut FxHashSet::default(), 6)
}

fn kept_result(linker: &Linker<'_>, site: SiteRef, seen: &mut FxHashSet<(usize, bool)>, depth: u32) -> Owner {
    let Some(depth) = depth.checked_sub(1) else { return Owner::Elsewhere };
    if !seen.insert((site.index(), true)) {
        return Owner::Nowhere;
    }
    let uses = linker.program.uses_of_result(site);
    uses.iter()
        .map(|(mention, wrap)| kept_mention(linker, site.file, mention, wrap, seen, depth))
        .max()
        .unwrap_or(Owner::Nowhere)
}

fn kept_var(linker: &Linker<'_>, file: FileId, var: VarId, seen: &mut FxHashSet<(usize, bool)>, depth: u32) -> Owner {
    if !seen.insert((var.index(), false)) {
        return Owner::Nowhere;
    }
    let facts = linker.program.facts(file);
    let index = linker.program.index_of(file);
    // A block ends the object that it enters.
    let is_entered = |assign: &blocklint_facts::Assign| match facts.form(assign.value) {
        Form::Result(of) => facts.site(of).kind == SiteKind::Enter,
        _ => false,
    };
    if facts.assigns_of(var).any(|assign| is_entered(&assign)) {
        return Owner::Nowhere;
    }
    let mentions = index.mentions_named(facts.var(var).name).iter();
    mentions
        .filter(|(mention, _)| linker.mentions_var(file.var_ref(var), *mention))
        .map(|(mention, wrap)| kept_mention(linker, file, mention, wrap, seen, depth))
        .max()
        .unwrap_or(Owner::Nowhere)
}

fn kept_mention(
    linker: &Linker<'_>,
    file: FileId,
    mention: Mention,
    wrap: Wrap,
    seen: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    let facts = linker.program.facts(file);
    match mention {
        Mention::Assign(assign) => {
            let row = facts.assign(assign);
            if wrap == Wrap::Element {
                return Owner::Elsewhere;
            }
            match facts.form(row.target) {
                Form::Var(var) => {
                    let owner = facts.body(facts.var(var).body);
                    match owner.kind {
                        BodyKind::Module => Owner::ByProgram,
                        // A field by its bare name (Java), or a class attribute.
                        BodyKind::Class => field_of(linker, file, facts.var(var).body, var, facts.body_of(row.at)),
                        _ if facts.var(var).body != facts.body_of(row.at) => Owner::Elsewhere,
                        _ => kept_var(linker, file, var, seen, depth),
                    }
                }
                Form::Attr(base, sym) => {
                    let body = facts.body_of(row.at);
                    let own = blocklint_link::program::occurrences::is_own_receiver(facts, base)
                        || matches!(facts.form(base), Form::This);
                    match linker.class_around(file.body_ref(body)) {
                        // `cls.pool = …`
                        Some(_) if own && linker.method_kind(file.body_ref(body)).of_class => Owner::ByProgram,
                        Some(class) if own => {
                            let name = linker.program.global(file, sym);
                            match name.and_then(|name| linker.own_member(class, name)) {
                                Some((of, var)) if is_static_field(linker, of, var) => Owner::ByProgram,
                                _ => Owner::ByInstance(class),
                            }
                        }
                        // `Store.pool = …`, `module.pool = …`
                        _ => match linker.values.members(linker.eval(scope_at(file, row.at), base).value)[..] {
                            [
                                blocklint_link::values::value::Val::Class(_)
                                | blocklint_link::values::value::Val::Module(_),
                            ] => Owner::ByProgram,
                            _ => Owner::Elsewhere,
                        },
                    }
                }
                _ => Owner::Elsewhere,
            }
        }
        Mention::Exit(exit) => Owner::ByCaller(linker.program.body_of(file, facts.exits.at(exit as usize).at)),
        Mention::Arg(site, arg) => {
            if wrap == Wrap::Element {
                return Owner::Elsewhere;
            }
            kept_argument(linker, file.site_ref(site), arg, seen, depth)
        }
        Mention::Operand(_) => Owner::Nowhere,
        Mention::Default(_) => Owner::ByProgram,
    }
}

/// Returns the owner of an object that is passed to a call.
fn kept_argument(
    linker: &Linker<'_>,
    site: SiteRef,
    arg: u32,
    seen: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    // `Some(pool)`, `Ok(pool)` and a struct literal are their content.
    if row.kind == SiteKind::New && facts.language == blocklint_core::Language::Rust {
        return kept_result(linker, site, seen, depth);
    }
    let targets = linker.targets(site, EnvId::NONE);
    let mut kept = Owner::Nowhere;
    for target in &targets.list {
        kept = kept.max(match *target {
            Target::Row { path, .. } => {
                let calls = linker.library.calls(path);
                if calls.iter().any(|row| row.row.adds.is_some()) {
                    Owner::Elsewhere
                } else if row.kind == SiteKind::Call && runs_another(linker, site, arg, path) {
                    // Its result is the result of the callable.
                    Owner::Nowhere
                } else if calls
                    .iter()
                    .any(|row| matches!(row.row.effect, Some(RowEffect::Holds(_))) || row.row.moves.is_some())
                {
                    Owner::Nowhere
                } else {
                    kept_by_taker(linker, site, seen, depth)
                }
            }
            Target::Body { body, with_receiver, .. } => match linker.param_for(site, arg, body, with_receiver) {
                Some(index) => {
                    let summary = linker.summary(body, index);
                    let is_delegation = facts.text(row.name) == "<init>";
                    match linker.class_around(linker.program.body_of(site.file, row.at)) {
                        // `this(…)` and `super(…)` pass it to the instance that is being made.
                        Some(class) if is_delegation && !summary.stored.is_empty() => Owner::ByInstance(class),
                        // An object that keeps it lives on in the keeper of that object; the use by a method is not
                        // known.
                        _ if !summary.stored.is_empty() || summary.returned => kept_by_taker(linker, site, seen, depth),
                        _ => Owner::Elsewhere,
                    }
                }
                None => Owner::Elsewhere,
            },
            Target::Overrides { .. } => Owner::Elsewhere,
        });
    }
    if targets.list.is_empty() { kept_by_taker(linker, site, seen, depth) } else { kept }
}

/// True if a call runs a callable that is passed behind this argument, and returns its result (`run_in_executor`): what
/// stands before the callable it lets go after.
pub fn runs_another(linker: &Linker<'_>, site: SiteRef, arg: u32, path: blocklint_link::program::ids::PathId) -> bool {
    let count = linker.program.args_of(site).len() as u32;
    linker.library.handovers(path).iter().any(|of| match &of.row.selector {
        Selector::Argument(argument) => {
            let mut behind = arg + 1..count;
            of.row.passes.is_some() && !of.row.wraps && behind.any(|at| linker.is_argument(site, at, argument))
        }
        Selector::Via(_) => false,
    })
}

/// Returns the owner of an object that a call takes. The call may hold it in its result; if that is dropped, the receiver holds it, or an
/// unseen owner.
fn kept_by_taker(linker: &Linker<'_>, site: SiteRef, seen: &mut FxHashSet<(usize, bool)>, depth: u32) -> Owner {
    kept_result(linker, site, seen, depth).max(match linker.program.site(site).kind {
        SiteKind::New => Owner::Nowhere,
        _ if linker.program.uses_of_result(site).iter().next().is_none() => Owner::Elsewhere,
        _ => Owner::Nowhere,
    })
}

/// Returns the owner of a field whose bare name stands in a class's scope.
fn field_of(
    linker: &Linker<'_>,
    file: FileId,
    scope: blocklint_facts::BodyId,
    var: VarId,
    at: blocklint_facts::BodyId,
) -> Owner {
    let facts = linker.program.facts(file);
    let class = facts.classes.iter().position(|class| class.body == scope);
    let Some(class) = class.map(|at| file.class_ref(blocklint_facts::ClassId(at as u32))) else {
        return Owner::Elsewhere;
    };
    let is_static = facts.language == blocklint_core::Language::Python
            || is_static_field(linker, class, var)
            // A static method can assign static fields only.
            || facts.body(at).flags.has(BodyFlags::STATIC);
    if is_static { Owner::ByProgram } else { Owner::ByInstance(class) }
}

/// True if a field is known to be static: its initialiser is.
fn is_static_field(linker: &Linker<'_>, class: ClassRef, var: VarId) -> bool {
    let (facts, class_id) = linker.program.facts_and_id(class);
    let name = facts.var(var).name;
    facts.bodies.iter().any(|body| {
        body.kind == BodyKind::Initialiser
            && body.class == class_id
            && body.name == name
            && body.flags.has(BodyFlags::STATIC)
    })
}

fn scope_at(file: FileId, at: blocklint_facts::At) -> blocklint_link::values::expr::Scope {
    blocklint_link::values::expr::Scope { file, at, env: EnvId::NONE }
}
