//! Database queries in a chain of calls: the bounds on their rows, and the conditions that narrow the rows to those of
//! one thing.

use blocklint_facts::{Comparison, ExitKind, FileFacts, Form, FormId, SiteId, SiteKind, Sym, VarKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::EnvId;

use super::size::{BOUNDED, Evidence, is_bound_name};
use crate::rules::large_response_on_loop::size::bound_of_call;

/// How deep a condition of a query is searched.
const MAX_CONDITION_DEPTH: u32 = 4;

/// The most forms of a chain that are followed.
const LONGEST: usize = 120;

/// Facts keep about this many bytes of a text.
const CUT: usize = 60;

/// Names of calls that query rows.
const QUERYING: [&str; 10] =
    ["query", "select", "execute", "exec", "scalars", "find", "find_all", "aggregate", "fetch", "objects"];

/// Methods of cursors and collections that return rows, although the chain shows no query.
const FETCHING: [&str; 5] = ["fetchall", "fetch_all", "find", "find_all", "fetch"];

/// Names of calls and members that name the queried table.
const SHOWING: [&str; 7] = ["query", "select", "find", "find_all", "aggregate", "objects", "list_all"];

/// Names of calls whose argument may be a variable with a query: `session.execute(stmt)`.
const TAKING: [&str; 19] = [
    "execute",
    "exec",
    "scalars",
    "stream",
    "stream_scalars",
    "fetch_all",
    "fetchall",
    "fetch",
    "iterate",
    "select_from",
    "from_statement",
    "union",
    "union_all",
    "query",
    "find",
    "in_thread",
    "run_sync",
    "run_in_threadpool",
    "to_thread",
];

/// Names of calls that return one row for many.
const GROUPING: [&str; 4] = ["group_by", "distinct", "rollup", "having"];

/// Names of calls that select rows by a condition.
const WHERE: [&str; 9] = ["where", "filter", "filter_by", "find", "and_", "or_", "join", "outerjoin", "match"];

/// Names of methods that are conditions.
const PICKING: [&str; 9] = ["any", "has", "exists", "contains", "like", "ilike", "between", "startswith", "match"];

/// The parts of a chain of calls.
#[derive(Default)]
pub(super) struct Chain {
    /// The calls, the outermost first, and calls in arguments after the call itself.
    calls: Vec<SiteId>,
    /// The names of attributes.
    members: Vec<Sym>,
    /// Texts that are arguments, or values of its variables.
    texts: Vec<Sym>,
    /// True if a part of the chain is sliced.
    sliced: bool,
    /// The forms of the chain.
    seen: Vec<FormId>,
}

impl Chain {
    /// True if facts have only the beginning of one of its texts.
    pub(super) fn has_long_text(&self, facts: &FileFacts) -> bool {
        self.texts.iter().any(|&text| facts.text(text).len() >= CUT)
    }
}

/// Returns the chain of calls in some forms.
pub(super) fn collect_chain(linker: &Linker<'_>, scope: Scope, forms: impl IntoIterator<Item = FormId>) -> Chain {
    let mut chain = Chain::default();
    for form in forms {
        extend_chain(linker, scope, form, true, &mut chain);
    }
    chain
}

/// Adds the calls, attributes and texts of a form to a chain. Local variables are followed if `names`.
fn extend_chain(linker: &Linker<'_>, scope: Scope, form: FormId, names: bool, chain: &mut Chain) {
    if form.is_none() || chain.seen.len() >= LONGEST || chain.seen.contains(&form) {
        return;
    }
    chain.seen.push(form);
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Result(site) => {
            let site_facts = facts.site(site);
            if site_facts.kind != SiteKind::Call {
                return;
            }
            chain.calls.push(site);
            extend_chain(linker, scope, site_facts.callee, true, chain);
            let takes = TAKING.contains(&facts.text(site_facts.name));
            for arg in facts.args_of(site) {
                if let Form::Str(text) = facts.form(arg.value) {
                    chain.texts.push(text);
                }
                extend_chain(linker, scope, arg.value, takes, chain);
            }
        }
        Form::Attr(base, name) => {
            chain.members.push(name);
            extend_chain(linker, scope, base, true, chain);
        }
        Form::Await(base) | Form::Try(base) => extend_chain(linker, scope, base, names, chain),
        Form::Subscript(base, index) => {
            // A slice has no form of its own.
            chain.sliced |= matches!(facts.form(index), Form::Other);
            extend_chain(linker, scope, base, names, chain);
        }
        Form::Alt(_, list) => {
            for &part in facts.list(list) {
                extend_chain(linker, scope, part, names, chain);
            }
        }
        Form::Var(var) if names && !matches!(facts.var(var).kind, VarKind::Param(_)) => {
            for assign in facts.assigns_of(var) {
                if let Form::Str(text) = facts.form(assign.value) {
                    chain.texts.push(text);
                }
                extend_chain(linker, scope, assign.value, true, chain);
            }
        }
        _ => {}
    }
}

/// Returns the bound that a chain states, itself or in the helpers of the project that it calls.
pub(super) fn bound_in(linker: &Linker<'_>, scope: Scope, chain: &Chain, depth: u32) -> Option<Evidence> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(scope.file);
    let has_limit = |text: &str| text.split_whitespace().any(|word| word.eq_ignore_ascii_case("limit"));
    if chain.sliced || chain.texts.iter().any(|&text| has_limit(facts.text(text))) {
        return Some(BOUNDED);
    }
    let site = |&site: &SiteId| scope.file.site_ref(site);
    // `func.count()` is a name for bounds too, but it only counts.
    let counts = |site: &SiteRef| facts.text(linker.program.site(*site).name) == "count";
    let own_bound =
        chain.calls.iter().map(site).filter(|site| !counts(site)).find_map(|site| bound_of_call(linker, site));
    own_bound.or_else(|| chain.calls.iter().map(site).find_map(|site| bound_in_helper(linker, site, depth)))
}

/// Returns the bound of a helper of the project that gets the query as an argument: `apply_pagination(stmt, …)`.
fn bound_in_helper(linker: &Linker<'_>, site: SiteRef, depth: u32) -> Option<Evidence> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Body { body, .. } = *target else { return None };
        if takes_bound(linker, body) {
            return Some(BOUNDED);
        }
        exits_of(linker, body)
            .into_iter()
            .find_map(|(scope, value)| bound_in(linker, scope, &collect_chain(linker, scope, [value]), depth))
    })
}

/// Returns the values that a body returns, with their scopes.
pub(super) fn exits_of(linker: &Linker<'_>, body: BodyRef) -> Vec<(Scope, FormId)> {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let exits = facts
        .exits
        .iter()
        .filter(|exit| exit.value.is_some() && exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id);
    exits.map(|exit| (Scope { file: body.file, at: exit.at, env: EnvId::NONE }, exit.value)).collect()
}

/// True if a chain queries rows of a database.
pub(super) fn is_query(linker: &Linker<'_>, scope: Scope, chain: &Chain) -> bool {
    let facts = linker.program.facts(scope.file);
    chain.calls.iter().any(|&site| QUERYING.contains(&facts.text(facts.site(site).name)))
            || chain.members.iter().any(|&name| matches!(facts.text(name), "objects" | "query"))
            // `cursor.fetchall()`, `collection.find()`.
            || chain.members.first().is_some_and(|&name| FETCHING.contains(&facts.text(name)))
}

/// True if the chain shows the query. False if a helper gets its query as an argument, or the text of a query is
/// composed.
pub(super) fn shows_query(linker: &Linker<'_>, scope: Scope, chain: &Chain) -> bool {
    let facts = linker.program.facts(scope.file);
    chain.calls.iter().any(|&site| SHOWING.contains(&facts.text(facts.site(site).name)))
        || chain.members.iter().any(|&name| SHOWING.contains(&facts.text(name)))
        || chain.texts.iter().any(|&text| {
            let text = facts.text(text);
            text.len() < CUT && text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"))
        })
}

/// True if a query selects the rows of one thing, or groups rows: a condition in its chain compares with a value, or a
/// call groups.
pub(super) fn is_narrowed(linker: &Linker<'_>, scope: Scope, chain: &Chain) -> bool {
    let facts = linker.program.facts(scope.file);
    let text_selects = |text: &str| {
        let text = text.to_ascii_uppercase();
        ["WHERE ", "GROUP BY", "DISTINCT"].iter().any(|word| text.contains(word))
    };
    chain.texts.iter().any(|&text| text_selects(facts.text(text)))
        || chain.calls.iter().any(|&site| {
            let name = facts.text(facts.site(site).name);
            let args = facts.args_of(site);
            GROUPING.contains(&name)
                || name == "filter_by" && args.iter().any(|arg| arg.name.is_some())
                || WHERE.contains(&name)
                    && args.iter().any(|arg| selects_some(linker, scope, arg.value, MAX_CONDITION_DEPTH))
        })
}

/// True if a condition selects few rows: `Row.user_id == user.id`, `Row.at >= start`, `{"user": user}`. False for
/// comparisons with flags and constants, which select many.
fn selects_some(linker: &Linker<'_>, scope: Scope, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Compare(Comparison::NotEq | Comparison::Is | Comparison::IsNot | Comparison::NotIn, ..) => false,
        Form::Compare(_, _, right) => {
            !matches!(facts.form(right), Form::Bool(_) | Form::None | Form::Str(_) | Form::Int(_))
        }
        Form::Pairs(pairs) => !facts.list(pairs).is_empty(),
        // `Row.parts.any()`, `Row.name.ilike(text)`; an expression without a form, such as `~…`, selects too.
        Form::Result(site) => {
            let site_facts = facts.site(site);
            site_facts.kind != SiteKind::Call || PICKING.contains(&facts.text(site_facts.name))
        }
        Form::Other => true,
        Form::Not(inner) => selects_some(linker, scope, inner, depth),
        // `(A.x == x) & (A.y == y)`, `*filters` and `and_(…)` are followed to their assignments.
        Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
            facts.assigns_of(var).any(|assign| selects_some(linker, scope, assign.value, depth))
        }
        Form::Join(list) | Form::Alt(_, list) | Form::Display(_, list) => {
            facts.list(list).iter().any(|&part| selects_some(linker, scope, part, depth))
        }
        Form::Star(inner) | Form::StarStar(inner) => selects_some(linker, scope, inner, depth),
        _ => false,
    }
}

/// True if a function has a parameter that bounds its result (`limit`, `page_size`), or a parameter of a type for
/// pages.
pub(super) fn takes_bound(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    linker.program.params_of(body).iter().any(|param| {
        is_bound_name(facts.text(param.name))
            || super::size::is_bound_type(&linker.written(body.file, param.annotation))
    })
}
