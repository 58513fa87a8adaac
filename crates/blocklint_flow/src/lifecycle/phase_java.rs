//! When code of Java runs: `@PostConstruct`, static initialisers, commands, operators of chains that emit once.

use blocklint_facts::{BodyFlags, BodyKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::reactive::BodyUse;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Phase, Via};
use smallvec::SmallVec;

use crate::entries::purpose;
use crate::lifecycle::frequency::class_decorators;
use crate::lifecycle::phase::{Phases, When};

impl Phases<'_, '_, '_> {
    /// Returns when a body of Java runs, which has no coroutines: a method runs when its callers do, and a literal when the method does
    /// that puts its chain together, if that emits once.
    pub(super) fn find_java(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        match row.kind {
            BodyKind::Lambda => {
                let Some(parent) = row.parent.get().map(|parent| body.file.body_ref(parent)) else {
                    return Some(When::Unknown);
                };
                let when = self.within(parent, depth);
                let is_complete = runs_once_in_chain(linker, body) || when == Some(When::Test);
                return if is_complete { when } else { Some(When::Unknown) };
            }
            BodyKind::Module | BodyKind::Class => return Some(When::StartUp),
            BodyKind::Initialiser if row.flags.has(BodyFlags::STATIC) => return Some(When::StartUp),
            _ => {}
        }
        if lang::java::names::starts_up(facts.text(row.name)) && purpose::project_serves(linker) {
            return Some(When::StartUp);
        }
        let class = row.class.get().map(|class| body.file.class_ref(class));
        if class.is_some_and(|class| is_command_class(linker, class)) && !purpose::serves(linker, body.file) {
            return Some(When::Command);
        }
        let makes =
            row.kind == BodyKind::Initialiser || lang::words_of(facts.language).is_constructor(facts.text(row.name));
        if makes && class.is_some_and(|class| is_made_at_start(linker, class)) {
            return Some(When::StartUp);
        }
        let sites = self.callers.call_sites(body);
        if sites.is_empty() && is_visible_for_tests(linker, body) {
            return Some(When::Test);
        }
        let has_base = has_base(linker, body);
        // Callers through an interface are asked for only if the interface is the project's own, and few call it.
        let sites: SmallVec<[SiteRef; 8]> = match sites.is_empty() || has_base {
            true if !has_base || is_of_project_alone(linker, body) => {
                let uses = linker.uses_of_body(body);
                let uses = || uses.iter().filter(|of| !linker.program.is_test(of.file()));
                // A callable that is stored runs later.
                let is_kept = |of: &&BodyUse| match **of {
                    BodyUse::Call(_) => false,
                    BodyUse::Passed(site, arg) => !linker.argument_use(site, arg, EnvId::NONE).called,
                };
                if uses().any(|of| is_kept(&of)) {
                    return Some(When::Unknown);
                }
                uses().map(|of| of.site()).take(9).collect()
            }
            true => SmallVec::new(),
            false => sites.iter().copied().take(65).collect(),
        };
        let most = if has_base { 8 } else { 64 };
        if sites.is_empty() || sites.len() > most {
            return Some(When::Unknown);
        }
        let mut all: Option<When> = None;
        for &site in sites.iter() {
            let when = self.within(linker.program.body_of_site(site), depth);
            all = match (all, when) {
                (Some(known), Some(when)) => Some(known.and(when)),
                (known, when) => known.or(when),
            };
            if matches!(all, Some(When::Serving | When::Unknown)) {
                break;
            }
        }
        // A method that only tests call has other callers outside of the project, unless it is there for tests to call.
        if all == Some(When::Test) && !is_visible_for_tests(linker, body) { Some(When::Unknown) } else { all }
    }
}

/// True if a method can only implement or override methods of the project.
fn is_of_project_alone(linker: &Linker<'_>, body: BodyRef) -> bool {
    let Some(class) = linker.program.body(body).class.get() else { return false };
    linker.mro(body.file.class_ref(class)).iter().all(|ancestor| matches!(ancestor, Ancestor::Class(_)))
}

/// True if a method implements or overrides another one.
fn has_base(linker: &Linker<'_>, body: BodyRef) -> bool {
    let row = linker.program.body(body);
    if row.flags.has(BodyFlags::OVERRIDES) {
        return true;
    }
    let Some(class) = row.class.get() else { return false };
    let Some(name) = linker.program.global(body.file, row.name) else { return false };
    let class = body.file.class_ref(class);
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(of) => of != class && linker.own_member(of, name).is_some(),
        _ => false,
    })
}

/// True if an annotation states that only tests need a method to be visible.
fn is_visible_for_tests(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    lang::java::names::mark_names(facts, linker.program.body(body).decorators).any(lang::java::names::is_for_tests)
}

/// True if an annotation makes a class a command of a command line.
fn is_command_class(linker: &Linker<'_>, class: ClassRef) -> bool {
    class_decorators(linker, class)
        .into_iter()
        .any(|path| linker.library.handovers(path).iter().any(|row| row.phase == Some(Phase::Command)))
}

/// True if a container makes the one instance of a class when it starts.
pub(crate) fn is_made_at_start(linker: &Linker<'_>, class: ClassRef) -> bool {
    class_decorators(linker, class)
        .into_iter()
        .any(|path| linker.library.handovers(path).of_via(Via::Decorator).any(|of| !of.row.serves()))
}

/// True if a literal is passed to a call that runs it once for each run of the method around: an operator of a chain
/// that emits once, or of a future.
fn runs_once_in_chain(linker: &Linker<'_>, body: BodyRef) -> bool {
    let uses = linker.program.uses_of_callable(body);
    let mut takers = uses.iter().map(|(mention, _)| match mention {
        Mention::Arg(site, _) => Some(body.file.site_ref(site)),
        _ => None,
    });
    !uses.is_empty() && takers.all(|taker| taker.is_some_and(|taker| runs_once_at(linker, taker)))
}

/// True if a call runs what it is given once for each run of the method around.
pub(crate) fn runs_once_at(linker: &Linker<'_>, taker: SiteRef) -> bool {
    if source_of_chain(linker, taker).is_some_and(lang::java::names::looks_something_up) {
        return true;
    }
    let callee = linker.callee(taker, EnvId::NONE);
    linker.values.members(callee.value).into_iter().all(|val| {
        let (Val::External(path) | Val::Method { path, .. }) = val else { return false };
        let owner = linker.library.split(path).map(|(owner, _)| linker.library.text(owner).to_string());
        owner.is_some_and(|owner| lang::java::names::emits_once(blocklint_core::last_name(&owner)))
    })
}

/// Returns the name of the call that returns the publisher at the beginning of an operator's chain.
pub(crate) fn source_of_chain<'l>(linker: &'l Linker<'_>, operator: SiteRef) -> Option<&'l str> {
    /// Operators of one chain.
    const LONGEST: u32 = 64;
    let facts = linker.program.facts(operator.file);
    let mut at = operator;
    for _ in 0..LONGEST {
        let receiver = linker.receiver_form(at)?;
        let typed = linker.eval(linker.scope_of(at, EnvId::NONE), receiver);
        if !linker.is_publisher(typed.value) {
            return (at != operator).then(|| facts.text(linker.program.site(at).name));
        }
        let blocklint_facts::Form::Result(call) = facts.form(receiver) else { return None };
        at = at.file.site_ref(call);
    }
    None
}
