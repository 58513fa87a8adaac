//! Owners of objects: the program, the instance or the caller that stores an object which a call makes. The owner shows
//! how long the object lives.

use blocklint_core::Language;
use blocklint_facts::{At, BodyFlags, BodyId, BodyKind, ClassId, Form, SiteId, SiteKind, VarId};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{RowEffect, Selector};
use rustc_hash::FxHashSet;

/// How many uses of a result are followed to the owner of the object.
const MAX_MENTION_DEPTH: u32 = 6;

/// The owner of the object that a site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The object has no owner. It lives as long as the call that made it.
    NoOwner,
    /// An instance of this class.
    Instance(ClassRef),
    /// The caller of this body, to which it is returned.
    Caller(BodyRef),
    /// A collection, a cache or another owner that is not followed.
    Untracked,
    /// A module, a class or a static field.
    Program,
}

/// Returns the owner of the object that a site makes.
pub fn find_owner(linker: &Linker<'_>, site: SiteRef) -> Owner {
    let body = linker.program.body_of_site(site);
    let facts = linker.program.facts(site.file);
    let body_facts = linker.program.body(body);
    match body_facts.kind {
        BodyKind::Module | BodyKind::Class => return Owner::Program,
        BodyKind::Initialiser if body_facts.flags.has(BodyFlags::STATIC) => return Owner::Program,
        BodyKind::Initialiser => {
            return body_facts
                .class
                .get()
                .map_or(Owner::Untracked, |class| Owner::Instance(site.file.class_ref(class)));
        }
        _ => {}
    }
    if facts.language == Language::Rust && is_made_once(linker, body) {
        return Owner::Program;
    }
    let mut visited = FxHashSet::default();
    owner_of_result(linker, site, &mut visited, MAX_MENTION_DEPTH)
}

/// True if a body is, or is in, the closure of a cell that is filled once: `CLIENT.get_or_init(|| …)` (Rust).
fn is_made_once(linker: &Linker<'_>, body: BodyRef) -> bool {
    fills_once(linker, body, |_| true)
}

/// True if a body fills a cell that is filled once in the program, because the cell is not a field:
/// `CLIENT.get_or_init(|| …)` (Rust).
pub(crate) fn fills_cell_of_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    facts.language == Language::Rust
        && fills_once(linker, body, |taker| match facts.form(facts.site(taker).callee) {
            Form::Attr(cell, _) => matches!(facts.form(cell), Form::Var(_) | Form::Name(_) | Form::Path(..)),
            _ => false,
        })
}

/// True if a body is, or is in, a closure that a call accepted by `accepts` runs once.
fn fills_once(linker: &Linker<'_>, body: BodyRef, accepts: impl Fn(SiteId) -> bool) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let index = linker.program.index_of(body.file);
    let closures = std::iter::successors(Some(body_id), |&closure| facts.body(closure).parent.get());
    closures.take_while(|&closure| facts.body(closure).kind != BodyKind::Function).any(|closure| {
        index.uses_of_callable(closure).iter().any(|(mention, _)| match mention {
            Mention::Arg(taker, _) => {
                lang::rust::conventions::ONCE_METHODS.contains(&facts.text(facts.site(taker).name)) && accepts(taker)
            }
            _ => false,
        })
    })
}

/// Returns the owner of an object by one mention of it: an assignment, a return, an argument.
pub(crate) fn owner_at_mention(linker: &Linker<'_>, file: FileId, mention: Mention) -> Owner {
    owner_by_mention(linker, file, mention, Wrap::Direct, &mut FxHashSet::default(), MAX_MENTION_DEPTH)
}

/// Returns the owner of the result of a call, by all uses of the result.
fn owner_of_result(linker: &Linker<'_>, site: SiteRef, visited: &mut FxHashSet<(usize, bool)>, depth: u32) -> Owner {
    let Some(depth) = depth.checked_sub(1) else { return Owner::Untracked };
    if !visited.insert((site.index(), true)) {
        return Owner::NoOwner;
    }
    let uses = linker.program.uses_of_result(site);
    uses.iter()
        .map(|(mention, wrap)| owner_by_mention(linker, site.file, mention, wrap, visited, depth))
        .max()
        .unwrap_or(Owner::NoOwner)
}

/// Returns the owner of the object in a local variable, by all uses of the variable.
fn owner_of_variable(
    linker: &Linker<'_>,
    file: FileId,
    var: VarId,
    visited: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    if !visited.insert((var.index(), false)) {
        return Owner::NoOwner;
    }
    let facts = linker.program.facts(file);
    let index = linker.program.index_of(file);
    // A `with` block ends the object that it enters.
    let is_entered = |assign: &blocklint_facts::Assign| match facts.form(assign.value) {
        Form::Result(site) => facts.site(site).kind == SiteKind::Enter,
        _ => false,
    };
    if facts.assigns_of(var).any(|assign| is_entered(&assign)) {
        return Owner::NoOwner;
    }
    let mentions = index.mentions_named(facts.var(var).name).iter();
    mentions
        .filter(|(mention, _)| linker.mentions_var(file.var_ref(var), *mention))
        .map(|(mention, wrap)| owner_by_mention(linker, file, mention, wrap, visited, depth))
        .max()
        .unwrap_or(Owner::NoOwner)
}

/// Returns the owner of an object by one mention of it. `wrap` says whether the object itself is mentioned, or a
/// collection with it.
fn owner_by_mention(
    linker: &Linker<'_>,
    file: FileId,
    mention: Mention,
    wrap: Wrap,
    visited: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    let facts = linker.program.facts(file);
    match mention {
        Mention::Assign(assign) => {
            let assignment = facts.assign(assign);
            if wrap == Wrap::Element {
                return Owner::Untracked;
            }
            match facts.form(assignment.target) {
                Form::Var(var) => {
                    let owner = facts.body(facts.var(var).body);
                    match owner.kind {
                        BodyKind::Module => Owner::Program,
                        // A field by its bare name (Java), or a class attribute.
                        BodyKind::Class => {
                            owner_of_field(linker, file, facts.var(var).body, var, facts.body_of(assignment.at))
                        }
                        _ if facts.var(var).body != facts.body_of(assignment.at) => Owner::Untracked,
                        _ => owner_of_variable(linker, file, var, visited, depth),
                    }
                }
                Form::Attr(base, sym) => {
                    let body = facts.body_of(assignment.at);
                    let is_own = blocklint_link::program::occurrences::is_own_receiver(facts, base)
                        || matches!(facts.form(base), Form::This);
                    match linker.class_around(file.body_ref(body)) {
                        // `cls.pool = …`
                        Some(_) if is_own && linker.method_kind(file.body_ref(body)).of_class => Owner::Program,
                        Some(class) if is_own => {
                            let name = linker.program.global(file, sym);
                            match name.and_then(|name| linker.own_member(class, name)) {
                                Some((declaring, var)) if is_static_field(linker, declaring, var) => Owner::Program,
                                _ => Owner::Instance(class),
                            }
                        }
                        // `Store.pool = …`, `module.pool = …`
                        _ => match linker.values.members(linker.eval(scope_at(file, assignment.at), base).value)[..] {
                            [Val::Class(_) | Val::Module(_)] => Owner::Program,
                            _ => Owner::Untracked,
                        },
                    }
                }
                _ => Owner::Untracked,
            }
        }
        Mention::Exit(exit) => Owner::Caller(linker.program.body_of(file, facts.exits.at(exit as usize).at)),
        Mention::Arg(site, arg) => {
            if wrap == Wrap::Element {
                return Owner::Untracked;
            }
            owner_of_argument(linker, file.site_ref(site), arg, visited, depth)
        }
        Mention::Operand(_) => Owner::NoOwner,
        Mention::Default(_) => Owner::Program,
    }
}

/// Returns the owner of an object that is passed to a call.
fn owner_of_argument(
    linker: &Linker<'_>,
    site: SiteRef,
    arg: u32,
    visited: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    // The owner of `Some(pool)`, `Ok(pool)` or a struct literal is the owner of its content.
    if site_facts.kind == SiteKind::New && facts.language == Language::Rust {
        return owner_of_result(linker, site, visited, depth);
    }
    let targets = linker.targets(site, EnvId::NONE);
    let mut owner = Owner::NoOwner;
    for target in &targets.list {
        owner = owner.max(match *target {
            Target::Row { path, .. } => {
                let calls = linker.library.calls(path);
                if calls.iter().any(|matched| matched.row.adds.is_some()) {
                    Owner::Untracked
                } else if site_facts.kind == SiteKind::Call && runs_later_argument(linker, site, arg, path) {
                    // Its result is the result of the callable.
                    Owner::NoOwner
                } else if calls.iter().any(|matched| {
                    matches!(matched.row.effect, Some(RowEffect::Holds(_))) || matched.row.moves.is_some()
                }) {
                    Owner::NoOwner
                } else {
                    owner_through_taker(linker, site, visited, depth)
                }
            }
            Target::Body { body, with_receiver, .. } => match linker.param_for(site, arg, body, with_receiver) {
                Some(index) => {
                    let summary = linker.summary(body, index);
                    let is_delegation = facts.text(site_facts.name) == "<init>";
                    match linker.class_around(linker.program.body_of(site.file, site_facts.at)) {
                        // `this(…)` and `super(…)` pass the object to the instance that is being made.
                        Some(class) if is_delegation && !summary.stored.is_empty() => Owner::Instance(class),
                        // The callee stores or returns the object, so the owner of the callee's result owns it.
                        _ if !summary.stored.is_empty() || summary.returned => {
                            owner_through_taker(linker, site, visited, depth)
                        }
                        _ => Owner::Untracked,
                    }
                }
                None => Owner::Untracked,
            },
            Target::Overrides { .. } => Owner::Untracked,
        });
    }
    if targets.list.is_empty() { owner_through_taker(linker, site, visited, depth) } else { owner }
}

/// True if a call runs a callable that is passed after this argument, and returns the callable's result:
/// `loop.run_in_executor(pool, work)`. The call does not store the arguments before the callable.
pub fn runs_later_argument(linker: &Linker<'_>, site: SiteRef, arg: u32, path: PathId) -> bool {
    let count = linker.program.args_of(site).len() as u32;
    linker.library.handovers(path).iter().any(|handover| match &handover.row.selector {
        Selector::Argument(argument) => {
            let mut later = arg + 1..count;
            handover.row.passes.is_some()
                && !handover.row.wraps
                && later.any(|index| linker.is_argument(site, index, argument))
        }
        Selector::Via(_) => false,
    })
}

/// Returns the owner of an object that a call takes. The result of the call may hold the object. If the code drops the
/// result, the receiver or an unknown owner holds the object.
fn owner_through_taker(
    linker: &Linker<'_>,
    site: SiteRef,
    visited: &mut FxHashSet<(usize, bool)>,
    depth: u32,
) -> Owner {
    owner_of_result(linker, site, visited, depth).max(match linker.program.site(site).kind {
        SiteKind::New => Owner::NoOwner,
        _ if linker.program.uses_of_result(site).iter().next().is_none() => Owner::Untracked,
        _ => Owner::NoOwner,
    })
}

/// Returns the owner of a field that code refers to by its bare name, in the scope of its class: the instance, or the
/// program if the field is static.
fn owner_of_field(linker: &Linker<'_>, file: FileId, scope: BodyId, var: VarId, body: BodyId) -> Owner {
    let facts = linker.program.facts(file);
    let class = facts.classes.iter().position(|class| class.body == scope);
    let Some(class) = class.map(|index| file.class_ref(ClassId(index as u32))) else {
        return Owner::Untracked;
    };
    let is_static = facts.language == Language::Python
            || is_static_field(linker, class, var)
            // A static method can assign static fields only.
            || facts.body(body).flags.has(BodyFlags::STATIC);
    if is_static { Owner::Program } else { Owner::Instance(class) }
}

/// True if a field has a static initialiser.
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

fn scope_at(file: FileId, at: At) -> blocklint_link::values::expr::Scope {
    blocklint_link::values::expr::Scope { file, at, env: EnvId::NONE }
}
