//! Calls that run only if a setting is turned on (Java), and the branches around a call, through the lambdas that
//! enclose it.

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, Form, RegionId};
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::guard::{Guard, Question};
use blocklint_link::guards::branch::choice_outcome;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, ClassRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::syntax::regions::around;

use smallvec::SmallVec;

use crate::callers::Caller;

/// Returns the regions around a call and around the calls that take its enclosing lambdas, the innermost first.
pub(crate) fn regions_outward(linker: &Linker<'_>, site: SiteRef) -> SmallVec<[RegionId; 8]> {
    /// The most nested lambdas that are followed.
    const DEEPEST: u32 = 4;
    let facts = linker.program.facts(site.file);
    let mut place = linker.program.site(site).at;
    let mut regions = SmallVec::new();
    for _ in 0..DEEPEST {
        regions.extend(around(facts, place.region));
        let body = facts.body_of(place);
        if facts.body(body).kind != BodyKind::Lambda {
            break;
        }
        let uses = linker.program.index_of(site.file).uses_of_callable(body);
        let taker = uses.iter().find_map(|(mention, _)| match mention {
            Mention::Arg(taker, _) => Some(taker),
            _ => None,
        });
        let Some(taker) = taker else { break };
        place = facts.site(taker).at;
    }
    regions
}

/// True if a class is made by reflection from a name in a setting: only tests mention it outside of its own file, and
/// it has no annotation for a container.
pub(crate) fn is_made_by_name(linker: &Linker<'_>, class: ClassRef) -> bool {
    let facts = linker.program.facts(class.file);
    let class_facts = linker.program.class(class);
    let Some(name) = linker.program.global(class.file, class_facts.name) else { return false };
    facts.language == Language::Java
        && class_facts.decorators.is_empty()
        && class_facts.parent == BodyId(0)
        && !linker.program.occurrences(name).iter().any(|&(file, _)| {
            file != class.file && linker.program.language(file) == Language::Java && !linker.program.is_test(file)
        })
}

/// True if the argument of a caller is a setting whose default fails a guard:
/// `send(message, url.getParameter("sent", false))` (Java).
pub(crate) fn fails_by_default(linker: &Linker<'_>, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
    let facts = linker.program.facts(caller.site.file);
    let Question::Choice(choice) = &*guard.question else { return false };
    if facts.language != Language::Java || guard.asked.is_some() || caller.arg.is_some() {
        return false;
    }
    let Some(form) = linker.argument_for_param(caller.site, body, guard.param, caller.with_receiver) else {
        return false;
    };
    let Form::Result(call) = facts.form(form) else { return false };
    let args = facts.args_of(call);
    let Some(Form::Bool(default)) = args.iter().last().map(|arg| facts.form(arg.value)) else { return false };
    args.len() == 2
        && lang::java::names::is_getter(facts.text(facts.site(call).name))
        && match choice_outcome(choice, &Constant::Bool(default)) {
            ConditionResult::Yes => !guard.wanted,
            ConditionResult::No => guard.wanted,
            ConditionResult::Param(_) | ConditionResult::Unknown => false,
        }
}
