//! When a body runs (Java): `@PostConstruct`, static initialisers, commands, lambdas in operators of a `Mono` or a
//! future.

use blocklint_facts::{BodyFlags, BodyKind, Form};
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
use crate::lifecycle::frequency::class_decorator_paths;
use crate::lifecycle::phase::{Phases, When};

/// The most calls of one method that are searched.
const MAX_CALLS: usize = 64;

/// The most calls of one method through an interface that are searched.
const MAX_INTERFACE_CALLS: usize = 8;

impl Phases<'_, '_, '_> {
    /// Returns when a body runs. A method runs when its callers do. A lambda in an operator of a reactive chain runs
    /// when the method does that assembles the chain, if the chain emits once.
    pub(super) fn find_time_java(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        match body_facts.kind {
            BodyKind::Lambda => {
                let Some(parent) = body_facts.parent.get().map(|parent| body.file.body_ref(parent)) else {
                    return Some(When::Unknown);
                };
                let when = self.time_of_body_at_depth(parent, depth);
                let has_time_of_parent = runs_once_in_chain(linker, body) || when == Some(When::Test);
                return if has_time_of_parent { when } else { Some(When::Unknown) };
            }
            BodyKind::Module | BodyKind::Class => return Some(When::StartUp),
            BodyKind::Initialiser if body_facts.flags.has(BodyFlags::STATIC) => return Some(When::StartUp),
            _ => {}
        }
        if lang::java::names::starts_up(facts.text(body_facts.name)) && purpose::project_serves(linker) {
            return Some(When::StartUp);
        }
        let class = body_facts.class.get().map(|class| body.file.class_ref(class));
        if class.is_some_and(|class| is_command_class(linker, class)) && !purpose::serves(linker, body.file) {
            return Some(When::Command);
        }
        let is_construction = body_facts.kind == BodyKind::Initialiser
            || lang::words_of(facts.language).is_constructor(facts.text(body_facts.name));
        if is_construction && class.is_some_and(|class| is_made_at_start(linker, class)) {
            return Some(When::StartUp);
        }
        let sites = self.callers.call_sites(body);
        if sites.is_empty() && is_visible_for_tests(linker, body) {
            return Some(When::Test);
        }
        let has_base = has_base(linker, body);
        // Callers through an interface are read only if the interface is the project's own and has few callers.
        let sites: SmallVec<[SiteRef; 8]> = if sites.is_empty() || has_base {
            if has_base && !has_only_own_supertypes(linker, body) {
                SmallVec::new()
            } else {
                let uses = linker.uses_of_body(body);
                let uses = || uses.iter().filter(|body_use| !linker.program.is_test(body_use.file()));
                // A callable that is stored runs later.
                let is_stored = |body_use: &&BodyUse| match **body_use {
                    BodyUse::Call(_) => false,
                    BodyUse::Passed(site, arg) => !linker.argument_use(site, arg, EnvId::NONE).called,
                };
                if uses().any(|body_use| is_stored(&body_use)) {
                    return Some(When::Unknown);
                }
                uses().map(|body_use| body_use.site()).take(MAX_INTERFACE_CALLS + 1).collect()
            }
        } else {
            sites.iter().copied().take(MAX_CALLS + 1).collect()
        };
        let max_sites = if has_base { MAX_INTERFACE_CALLS } else { MAX_CALLS };
        if sites.is_empty() || sites.len() > max_sites {
            return Some(When::Unknown);
        }
        let mut combined: Option<When> = None;
        for &site in sites.iter() {
            let when = self.time_of_body_at_depth(linker.program.body_of_site(site), depth);
            combined = match (combined, when) {
                (Some(earlier), Some(when)) => Some(earlier.combine(when)),
                (earlier, when) => earlier.or(when),
            };
            if matches!(combined, Some(When::Serving | When::Unknown)) {
                break;
            }
        }
        // A method that only tests call has other callers outside of the project, unless an annotation says that it is
        // for tests.
        if combined == Some(When::Test) && !is_visible_for_tests(linker, body) { Some(When::Unknown) } else { combined }
    }
}

/// True if all supertypes of a method's class are the project's own.
fn has_only_own_supertypes(linker: &Linker<'_>, body: BodyRef) -> bool {
    let Some(class) = linker.program.body(body).class.get() else { return false };
    linker.mro(body.file.class_ref(class)).iter().all(|ancestor| matches!(ancestor, Ancestor::Class(_)))
}

/// True if a method implements or overrides another one.
fn has_base(linker: &Linker<'_>, body: BodyRef) -> bool {
    let body_facts = linker.program.body(body);
    if body_facts.flags.has(BodyFlags::OVERRIDES) {
        return true;
    }
    let Some(class) = body_facts.class.get() else { return false };
    let Some(name) = linker.program.global(body.file, body_facts.name) else { return false };
    let class = body.file.class_ref(class);
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(base) => base != class && linker.own_member(base, name).is_some(),
        _ => false,
    })
}

/// True if an annotation states that a method is visible for tests only: `@VisibleForTesting`.
fn is_visible_for_tests(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    lang::java::names::annotation_names(facts, linker.program.body(body).decorators)
        .any(lang::java::names::is_test_visibility_annotation)
}

/// True if an annotation makes a class a command of a command line: `@Command`.
fn is_command_class(linker: &Linker<'_>, class: ClassRef) -> bool {
    class_decorator_paths(linker, class)
        .into_iter()
        .any(|path| linker.library.handovers(path).iter().any(|row| row.phase == Some(Phase::Command)))
}

/// True if a container makes the one instance of a class when it starts: `@Component`.
pub(crate) fn is_made_at_start(linker: &Linker<'_>, class: ClassRef) -> bool {
    class_decorator_paths(linker, class)
        .into_iter()
        .any(|path| linker.library.handovers(path).rows_of_via(Via::Decorator).any(|matched| !matched.row.serves()))
}

/// True if all calls that take a lambda run it once for each run of the enclosing method: operators of a chain that
/// emits once (`Mono`), or of a future.
fn runs_once_in_chain(linker: &Linker<'_>, body: BodyRef) -> bool {
    let uses = linker.program.uses_of_callable(body);
    let mut takers = uses.iter().map(|(mention, _)| match mention {
        Mention::Arg(site, _) => Some(body.file.site_ref(site)),
        _ => None,
    });
    !uses.is_empty() && takers.all(|taker| taker.is_some_and(|taker| runs_argument_once(linker, taker)))
}

/// True if a call runs its callable argument once for each run of the enclosing method.
pub(crate) fn runs_argument_once(linker: &Linker<'_>, taker: SiteRef) -> bool {
    if find_chain_source(linker, taker).is_some_and(lang::java::names::is_lookup) {
        return true;
    }
    let callee = linker.callee(taker, EnvId::NONE);
    linker.values.members(callee.value).into_iter().all(|val| {
        let (Val::External(path) | Val::Method { path, .. }) = val else { return false };
        let owner = linker.library.split(path).map(|(owner, _)| linker.library.text(owner).to_string());
        owner.is_some_and(|owner| lang::java::names::emits_at_most_once(blocklint_core::last_name(&owner)))
    })
}

/// Returns the name of the call that makes the publisher at the beginning of an operator's chain: `findById` in
/// `repository.findById(id).map(…)`.
pub(crate) fn find_chain_source<'l>(linker: &'l Linker<'_>, operator: SiteRef) -> Option<&'l str> {
    /// The most operators of one chain that are read.
    const LONGEST: u32 = 64;
    let facts = linker.program.facts(operator.file);
    let mut link = operator;
    for _ in 0..LONGEST {
        let receiver = linker.receiver_form(link)?;
        let typed = linker.eval(linker.scope_of(link, EnvId::NONE), receiver);
        if !linker.is_publisher(typed.value) {
            return (link != operator).then(|| facts.text(linker.program.site(link).name));
        }
        let Form::Result(call) = facts.form(receiver) else { return None };
        link = link.file.site_ref(call);
    }
    None
}
