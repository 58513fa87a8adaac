//! The number of items in a value, as far as the code shows: the call that returns them, and the bounds between that
//! call and the value.

use blocklint_facts::{
    AssignKind, Comparison, DisplayKind, Form, FormId, Region, RegionId, RegionKind, SiteId, SiteKind, VarId, VarKind,
};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::EnvId;

use super::query::Chain;
use crate::rules::large_response_on_loop::item::item_of_typed;
use crate::rules::large_response_on_loop::query::{
    bound_in, collect_chain, exits_of, is_narrowed, is_query, shows_query, takes_bound,
};

/// The most assignments to one variable whose sizes are compared.
const MAX_VALUES: usize = 6;

/// How deep an expression is searched for a variable.
const MAX_FORM_DEPTH: u32 = 6;

/// How many variables and calls are followed to the iterated value.
const MAX_ITERATED_DEPTH: u32 = 4;

/// The most nested helper functions that are searched for the bound of a query.
const MAX_BOUND_DEPTH: u32 = 3;

/// A response with at least this number of items is large.
pub(super) const LARGE: u64 = 5_000;

/// Names of calls and parameters that limit the number of items.
const BOUNDS: [&str; 34] = [
    "limit",
    "limits",
    "page",
    "pages",
    "page_size",
    "pagesize",
    "per_page",
    "size",
    "offset",
    "skip",
    "take",
    "first",
    "last",
    "top",
    "top_k",
    "k",
    "n",
    "count",
    "num",
    "max_results",
    "max_items",
    "cursor",
    "after",
    "before",
    "slice",
    "islice",
    "paginate",
    "paginated",
    "paging",
    "pagination",
    "head",
    "sample",
    "fetchmany",
    "nlargest",
];

/// Names of calls that return one item.
const SINGLE: [&str; 26] = [
    "get",
    "one",
    "one_or_none",
    "scalar",
    "scalar_one",
    "scalar_one_or_none",
    "fetchone",
    "fetchval",
    "fetch_one",
    "find_one",
    "len",
    "sum",
    "min",
    "max",
    "any",
    "all_",
    "pop",
    "get_or_404",
    "get_or_none",
    "exists",
    "str",
    "int",
    "float",
    "bool",
    "aggregate_one",
    "mappings_one",
];

/// Names of database calls that return all rows.
const MANY: [&str; 9] = ["all", "fetchall", "fetch_all", "to_list", "scalars", "find", "find_all", "list_all", "fetch"];

/// Names of functions whose result has as many items as their arguments.
const PASSING: [&str; 22] = [
    "list",
    "sorted",
    "set",
    "tuple",
    "reversed",
    "map",
    "filter",
    "zip",
    "enumerate",
    "dict",
    "jsonable_encoder",
    "unique",
    "model_dump",
    "model_validate",
    "parse_obj",
    "from_orm",
    "validate_python",
    "cast",
    "values",
    "items",
    "mappings",
    "gather",
];

/// The number of items in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Size {
    /// One item, or a few that the code lists.
    Small,
    /// A bound limits the number.
    Bounded,
    /// The code does not show the number.
    Unknown,
    /// All rows of a query without a bound.
    Unbounded,
    /// A large number that the code states.
    Large(u64),
}

/// The known size of a value, and its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) size: Size,
    /// The call that returns the items.
    pub(super) source: Option<SiteRef>,
    /// True if the query selects the rows of one thing (`where(Row.user_id == user.id)`).
    pub(super) narrowed: bool,
    /// True if the code shows the query.
    pub(super) shown: bool,
    /// True if the code iterates over the value, so that it is a collection.
    pub(super) listed: bool,
}

const SMALL: Evidence = Evidence { size: Size::Small, source: None, narrowed: false, shown: true, listed: false };
const UNKNOWN: Evidence = Evidence { size: Size::Unknown, ..SMALL };
pub(super) const BOUNDED: Evidence = Evidence { size: Size::Bounded, ..SMALL };

impl Evidence {
    /// Returns the evidence with the larger size. Of two equal sizes the one with a known source counts.
    fn larger(self, other: Evidence) -> Evidence {
        let has_source = |evidence: Evidence| evidence.source.is_some();
        let is_larger = other.size > self.size || other.size == self.size && has_source(other) && !has_source(self);
        if is_larger { other } else { self }
    }

    /// True if the value comes from a call of unknown code.
    pub(super) fn is_unseen(self) -> bool {
        self.size == Size::Unknown && self.source.is_some()
    }
}

/// Words in names of arguments that select one item or some.
const SELECTING: [&str; 22] = [
    "id", "ids", "uuid", "name", "key", "slug", "code", "email", "user", "username", "token", "path", "date", "day",
    "start", "end", "since", "until", "filter", "filters", "search", "q",
];

/// True if the name of a parameter or method limits the number of items: `limit`, `page_size`.
pub(super) fn is_bound_name(name: &str) -> bool {
    let is_set = matches!(name, "in_" | "any_");
    let name = name.trim_matches('_').to_ascii_lowercase();
    is_set
        || BOUNDS.contains(&name.as_str())
        || ["limit", "page_size", "per_page", "paginat", "offset"].iter().any(|part| name.contains(part))
}

/// True if such a name is for the number of items, not for their offset.
pub(super) fn is_amount_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let start_nodes = ["offset", "skip", "cursor", "after", "before"].iter().any(|part| name.contains(part));
    !start_nodes && !matches!(name.as_str(), "page" | "page_number" | "page_num" | "page_no" | "page_index" | "p")
}

/// True if a type has a name for pages: `Page`, `PaginationParams`.
pub(super) fn is_bound_type(text: &str) -> bool {
    ["Page", "Pagin", "pagin", "page", "Cursor", "Limit", "limit"].iter().any(|part| text.contains(part))
}

/// Returns the number of items in a value, as far as the code shows.
pub(super) fn size(linker: &Linker<'_>, scope: Scope, form: FormId) -> Evidence {
    size_within(linker, scope, form, 14)
}

/// [`size`] with a depth to which forms are followed.
fn size_within(linker: &Linker<'_>, scope: Scope, form: FormId, depth: u32) -> Evidence {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN };
    let facts = linker.program.facts(scope.file);
    let strongest = |forms: &[FormId]| {
        let each = forms.iter().filter(|form| form.is_some()).map(|&form| size_within(linker, scope, form, depth));
        each.fold(SMALL, Evidence::larger)
    };
    match facts.form(form) {
        Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Str(_) | Form::Bytes(_) | Form::Ellipsis => {
            SMALL
        }
        Form::Display(kind, list) => {
            let elements = facts.list(list);
            if let [element] = elements
                && kind != DisplayKind::Tuple
                && let Some(iterated) = iterated_for(linker, scope, *element)
            {
                return size_over(linker, scope, iterated, depth);
            }
            match kind {
                DisplayKind::Tuple => strongest(elements),
                _ => {
                    let stars: Vec<FormId> = elements
                        .iter()
                        .filter_map(|&element| match facts.form(element) {
                            Form::Star(inner) => Some(inner),
                            _ => None,
                        })
                        .collect();
                    strongest(&stars)
                }
            }
        }
        Form::Pairs(list) => {
            let values: Vec<FormId> = facts.list(list).iter().skip(1).step_by(2).copied().collect();
            let key = facts.list(list).first().copied();
            // `{row.id: row for row in rows}`
            if let ([value], Some(key)) = (values.as_slice(), key)
                && key.is_some()
                && !matches!(facts.form(key), Form::Str(_))
                && let Some(iterated) = iterated_for(linker, scope, key).or_else(|| iterated_for(linker, scope, *value))
            {
                return size_over(linker, scope, iterated, depth);
            }
            strongest(&values)
        }
        Form::Alt(_, list) => strongest(facts.list(list)),
        Form::Await(inner) | Form::Try(inner) | Form::Cast(inner, _) | Form::Part(inner, _) | Form::Star(inner) => {
            size_within(linker, scope, inner, depth)
        }
        Form::Run(body) => {
            // A generator expression has as many items as the iterated value.
            let loop_region =
                facts.regions.iter().find(|region| region.body == body && region.kind == RegionKind::Loop);
            loop_region.map_or(UNKNOWN, |region| size_over(linker, scope, region.test, depth))
        }
        Form::Element(_) => SMALL,
        Form::Subscript(base, index) => match facts.form(index) {
            Form::Int(_) => SMALL,
            Form::Str(_) => match size_within(linker, scope, base, depth) {
                // The size of a part does not follow from the object.
                of_base if of_base.size <= Size::Small => UNKNOWN,
                of_base => of_base,
            },
            // A slice has no form of its own.
            Form::Other => BOUNDED,
            _ => UNKNOWN,
        },
        Form::Attr(base, _) => match facts.form(base) {
            Form::Var(_) | Form::Result(_) | Form::Await(_) => {
                let of_base = size_within(linker, scope, base, depth);
                // The size of a field does not follow from the object.
                if of_base.size <= Size::Small { UNKNOWN } else { of_base }
            }
            _ => UNKNOWN,
        },
        Form::Var(var) => {
            if matches!(facts.var(var).kind, VarKind::Param(_)) || facts.body(facts.var(var).body).parent.is_none() {
                return UNKNOWN;
            }
            let plain = facts.assigns_of(var).filter(|assign| assign.kind != AssignKind::Declaration);
            let values: Vec<FormId> = plain.map(|assign| assign.value).filter(|value| value.is_some()).collect();
            if values.len() > MAX_VALUES {
                return UNKNOWN;
            }
            // `rows = rows[:10]`, `stmt = stmt.limit(10)`: the last bound holds.
            let each = values.iter().map(|&value| {
                if mentions_var(linker, scope, value, var, MAX_FORM_DEPTH) {
                    bound_in(linker, scope, &collect_chain(linker, scope, [value]), MAX_BOUND_DEPTH).unwrap_or(SMALL)
                } else {
                    size_within(linker, scope, value, depth)
                }
            });
            let each: Vec<Evidence> = each.collect();
            if let Some(bounded) = each.iter().find(|evidence| evidence.size == Size::Bounded) {
                return *bounded;
            }
            let assigned = each.into_iter().fold(SMALL, Evidence::larger);
            assigned.larger(filled_by_loops(linker, scope, var, depth))
        }
        Form::Result(site) => size_of_call(linker, scope.file.site_ref(site), scope, depth),
        _ => UNKNOWN,
    }
}

/// Returns the number of items that loops put into a container: `for row in rows: found.append(row)`.
fn filled_by_loops(linker: &Linker<'_>, scope: Scope, var: VarId, depth: u32) -> Evidence {
    let facts = linker.program.facts(scope.file);
    let mut evidence = SMALL;
    let index = linker.program.index_of(scope.file);
    let fills = ["append", "add", "extend", "update"].into_iter();
    let names = fills.filter_map(|name| linker.program.local(scope.file, linker.program.name(name)?));
    let mut sites: Vec<SiteId> = names.flat_map(|sym| index.sites_named(sym).iter().copied()).collect();
    sites.sort_unstable();
    for id in sites {
        let site = facts.site(id);
        let Form::Attr(base, _) = facts.form(site.callee) else { continue };
        if site.kind != SiteKind::Call || facts.form(base) != Form::Var(var) {
            continue;
        }
        match facts.text(site.name) {
            "append" | "add" => {
                if let Some(iterated) = loop_around(linker, scope, site.at.region) {
                    evidence = evidence.larger(size_over(linker, scope, iterated, depth));
                }
            }
            "extend" | "update" => {
                if let Some(arg) = facts.args_of(id).first() {
                    evidence = evidence.larger(size_within(linker, scope, arg.value, depth));
                }
            }
            _ => {}
        }
    }
    evidence
}

/// Returns the number of items that a loop over a value yields. A condition on the items selects some of them.
fn size_over(linker: &Linker<'_>, scope: Scope, iterated: FormId, depth: u32) -> Evidence {
    let facts = linker.program.facts(scope.file);
    let mut evidence = size_within(linker, scope, iterated, depth);
    // A nested loop yields at least as many items as the outer value:
    // `for group in groups for client in group["clients"]`.
    if evidence.size == Size::Unknown
        && evidence.source.is_none()
        && let Some(outer) = iterated_value_of(linker, scope, iterated, MAX_ITERATED_DEPTH)
        && let Some(depth) = depth.checked_sub(1)
    {
        evidence = size_over(linker, scope, outer, depth);
    }
    evidence.listed = true;
    evidence.narrowed |= facts.regions.iter().any(|region| {
        let selects = matches!(facts.form(region.test), Form::Compare(Comparison::Eq | Comparison::In, ..));
        let is_loop = |row: &Region| row.kind == RegionKind::Loop && row.test == iterated;
        selects && region.kind == RegionKind::Then && region.parent.is_some() && is_loop(&facts.region(region.parent))
    });
    evidence
}

/// Returns the iterated value of the loop variable in a form: `rows` for `row.name` in `for row in rows`.
fn iterated_value_of(linker: &Linker<'_>, scope: Scope, form: FormId, depth: u32) -> Option<FormId> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Subscript(base, _) | Form::Attr(base, _) => iterated_value_of(linker, scope, base, depth),
        Form::Var(var) => facts.assigns_of(var).find_map(|assign| match facts.form(assign.value) {
            Form::Element(iterated) => Some(iterated),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the value that the innermost loop around a region iterates over. `None` outside of loops.
fn loop_around(linker: &Linker<'_>, scope: Scope, region: RegionId) -> Option<FormId> {
    let facts = linker.program.facts(scope.file);
    let mut ancestor = region;
    while let Some(id) = ancestor.get() {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Loop => return region.test.is_some().then_some(region.test),
            RegionKind::Body => return None,
            _ => ancestor = region.parent,
        }
    }
    None
}

/// Returns the value that a comprehension with this element iterates over.
fn iterated_for(linker: &Linker<'_>, scope: Scope, element: FormId) -> Option<FormId> {
    let facts = linker.program.facts(scope.file);
    match facts.form(element) {
        Form::Var(var) if facts.var(var).kind == VarKind::Inner => {
            facts.assigns_of(var).find_map(|assign| match facts.form(assign.value) {
                Form::Element(iterated) => Some(iterated),
                Form::Part(inner, _) => match facts.form(inner) {
                    Form::Element(iterated) => Some(iterated),
                    _ => None,
                },
                _ => None,
            })
        }
        Form::Result(site) => {
            let site_facts = facts.site(site);
            // The region of the element is the loop of the comprehension, or a condition in it.
            let mut region = facts.region(site_facts.at.region);
            while region.kind == RegionKind::Then && region.parent.is_some() {
                region = facts.region(region.parent);
            }
            let is_inner = region.kind == RegionKind::Loop && is_comprehension(linker, scope, region.test);
            is_inner
                .then_some(region.test)
                .or_else(|| facts.args_of(site).iter().find_map(|arg| iterated_for(linker, scope, arg.value)))
        }
        Form::Attr(base, _) | Form::Await(base) | Form::Subscript(base, _) => iterated_for(linker, scope, base),
        Form::Pairs(list) | Form::Display(_, list) | Form::Alt(_, list) => {
            facts.list(list).iter().find_map(|&part| iterated_for(linker, scope, part))
        }
        Form::Star(inner) | Form::StarStar(inner) => iterated_for(linker, scope, inner),
        _ => None,
    }
}

/// True if the loop over a value belongs to a comprehension.
fn is_comprehension(linker: &Linker<'_>, scope: Scope, iterated: FormId) -> bool {
    let facts = linker.program.facts(scope.file);
    let is_element = |form: FormId| match facts.form(form) {
        Form::Element(of) => of == iterated,
        Form::Part(inner, _) => matches!(facts.form(inner), Form::Element(of) if of == iterated),
        _ => false,
    };
    iterated.is_some()
        && facts.assigns.iter().any(|assign| {
            let is_inner = matches!(facts.form(assign.target), Form::Var(var) if facts.var(var).kind == VarKind::Inner);
            is_inner && is_element(assign.value)
        })
}

/// Returns the number of items in the result of a call.
fn size_of_call(linker: &Linker<'_>, site: SiteRef, scope: Scope, depth: u32) -> Evidence {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    match site_facts.kind {
        SiteKind::Call => {}
        SiteKind::Read | SiteKind::Subscript => return UNKNOWN,
        _ => return UNKNOWN,
    }
    let name = facts.text(site_facts.name);
    if let Some(bound) = bound_of_call(linker, site) {
        return bound;
    }
    let args = linker.program.args_of(site);
    // A call of the project's own function has the size of its result.
    let targets = linker.targets(site, EnvId::NONE);
    let bodies: Vec<BodyRef> = targets
        .list
        .iter()
        .filter_map(|target| match *target {
            Target::Body { body, .. } => Some(body),
            _ => None,
        })
        .collect();
    let is_constructor =
        bodies.iter().any(|body| matches!(name_of_body(linker, *body), "__init__" | "__new__" | "__post_init__"));
    if !bodies.is_empty() && !is_constructor {
        if bodies.iter().any(|&body| takes_bound(linker, body)) {
            return BOUNDED;
        }
        let each = bodies.iter().map(|&body| size_of_body(linker, body, depth));
        let evidence = each.fold(SMALL, Evidence::larger);
        if evidence.size != Size::Unbounded || evidence.shown {
            return evidence;
        }
        // The function is a helper that gets its query as an argument.
        let chain = collect_chain(linker, scope, args.iter().map(|arg| arg.value));
        if let Some(bound) = bound_in(linker, scope, &chain, MAX_BOUND_DEPTH) {
            return bound;
        }
        let of_query = size_of_query(linker, scope, site, &chain);
        return if of_query.shown { of_query } else { evidence };
    }
    let is_class = makes_instance(linker, site);
    if is_class || is_constructor {
        let collections = collections_of(linker, site);
        let each = args.iter().map(|arg| {
            let is_collection = collections.iter().any(|field| field == facts.text(arg.name));
            (size_within(linker, scope, arg.value, depth), is_collection)
        });
        let known = each.filter(|(evidence, is_collection)| {
            evidence.size != Size::Unknown || evidence.listed || *is_collection && evidence.is_unseen()
        });
        return known.map(|(evidence, _)| evidence).fold(SMALL, Evidence::larger);
    }
    if name == "range" {
        return match args.last().map(|arg| facts.form(arg.value)) {
            Some(Form::Int(most)) if u64::try_from(most).is_ok_and(|most| most >= LARGE) => {
                Evidence { size: Size::Large(most as u64), source: Some(site), ..SMALL }
            }
            Some(Form::Int(_)) => BOUNDED,
            _ => UNKNOWN,
        };
    }
    if MANY.contains(&name) {
        // `session.exec(select(A).limit(10)).all()`
        let chain =
            collect_chain(linker, scope, [site_facts.callee].into_iter().chain(args.iter().map(|arg| arg.value)));
        if let Some(bound) = bound_in(linker, scope, &chain, MAX_BOUND_DEPTH) {
            return bound;
        }
        return if is_query(linker, scope, &chain) {
            size_of_query(linker, scope, site, &chain)
        } else {
            size_by_arguments(linker, scope, site)
        };
    }
    if SINGLE.contains(&name) {
        return SMALL;
    }
    if PASSING.contains(&name) {
        let receiver = match facts.form(site_facts.callee) {
            Form::Attr(base, _) => Some(size_within(linker, scope, base, depth)),
            _ => None,
        };
        let each = args.iter().map(|arg| size_within(linker, scope, arg.value, depth));
        let known = each.chain(receiver).filter(|evidence| evidence.size != Size::Unknown);
        return known.fold(UNKNOWN, |all, evidence| {
            if evidence.size < Size::Unknown && all.size == Size::Unknown { evidence } else { all.larger(evidence) }
        });
    }
    // The result of a query may be iterated directly: `for row in await session.execute(select(A))`.
    if matches!(name, "execute" | "exec" | "stream" | "query") {
        let chain = collect_chain(linker, scope, args.iter().map(|arg| arg.value));
        if let Some(bound) = bound_in(linker, scope, &chain, MAX_BOUND_DEPTH) {
            return bound;
        }
        if is_query(linker, scope, &chain) {
            return size_of_query(linker, scope, site, &chain);
        }
    }
    size_by_arguments(linker, scope, site)
}

/// Returns the number of items in the result of a call of unknown code, by its arguments.
fn size_by_arguments(linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Evidence {
    let facts = linker.program.facts(site.file);
    let args = linker.program.args_of(site);
    // Built-in functions return parts of objects: `getattr(route, "methods")`.
    if matches!(
        facts.text(linker.program.site(site).name),
        "getattr" | "vars" | "dir" | "type" | "iter" | "next" | "repr" | "super"
    ) {
        return UNKNOWN;
    }
    // A number as an argument may be a limit.
    if args.iter().any(|arg| matches!(facts.form(arg.value), Form::Int(_))) {
        return BOUNDED;
    }
    let chain = collect_chain(
        linker,
        scope,
        [linker.program.site(site).callee].into_iter().chain(args.iter().map(|arg| arg.value)),
    );
    if let Some(bound) = bound_in(linker, scope, &chain, 2) {
        return bound;
    }
    let is_selecting = |text: &str| text.split('_').any(|word| SELECTING.contains(&word.to_ascii_lowercase().as_str()));
    let narrowed = is_narrowed(linker, scope, &chain)
        || chain.has_long_text(facts)
        || args.iter().any(|arg| {
            arg.name.is_some() && is_selecting(facts.text(arg.name))
                || match facts.form(arg.value) {
                    Form::Var(var) => is_selecting(facts.text(facts.var(var).name)),
                    Form::Attr(_, name) => is_selecting(facts.text(name)),
                    Form::Pairs(pairs) => !facts.list(pairs).is_empty(),
                    _ => false,
                }
        });
    // A call on a loop variable returns a part of one item.
    let of_one = matches!(facts.form(linker.program.site(site).callee), Form::Attr(base, _)
            if iterated_value_of(linker, scope, base, MAX_ITERATED_DEPTH).is_some());
    Evidence { source: (!of_one).then_some(site), narrowed, ..UNKNOWN }
}

/// Returns the fields of the model that a call constructs that are collections of models, or contain one.
fn collections_of(linker: &Linker<'_>, site: SiteRef) -> Vec<String> {
    use blocklint_link::values::value::Val;
    let made = linker.values.members(linker.callee(site, EnvId::NONE).value).iter().find_map(|val| match *val {
        Val::Class(class) => Some(class),
        _ => None,
    });
    let fields = made.map(|class| (class, linker.annotated_fields(class)));
    let Some((class, fields)) = fields else { return Vec::new() };
    fields
        .into_iter()
        .filter(|(_, typed)| item_of_typed(linker, *typed, class.file).is_some_and(|item| item.nesting_depth > 0))
        .map(|(name, _)| name)
        .collect()
}

/// Returns the evidence for the result of a query without a bound.
fn size_of_query(linker: &Linker<'_>, scope: Scope, site: SiteRef, chain: &Chain) -> Evidence {
    let narrowed = is_narrowed(linker, scope, chain);
    Evidence {
        size: Size::Unbounded,
        source: Some(site),
        narrowed,
        shown: shows_query(linker, scope, chain),
        listed: true,
    }
}

/// True if a call constructs an instance of some class.
fn makes_instance(linker: &Linker<'_>, site: SiteRef) -> bool {
    use blocklint_link::values::value::Val;
    let facts = linker.program.facts(site.file);
    let upper = facts.text(linker.program.site(site).name).starts_with(char::is_uppercase);
    linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::Class(_) => true,
        Val::External(_) => upper,
        _ => false,
    })
}

/// Returns the largest number of items among the values that a function of the project returns.
fn size_of_body(linker: &Linker<'_>, body: BodyRef, depth: u32) -> Evidence {
    let Some(depth) = depth.checked_sub(2) else { return UNKNOWN };
    let each = exits_of(linker, body).into_iter().map(|(scope, value)| size_within(linker, scope, value, depth));
    each.reduce(Evidence::larger).unwrap_or(UNKNOWN)
}

/// Returns the evidence of a call that bounds its result: `.limit(10)`, `find(…, limit=10)`, `to_list(100)`.
pub(super) fn bound_of_call(linker: &Linker<'_>, site: SiteRef) -> Option<Evidence> {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let name = facts.text(site_facts.name);
    let args = linker.program.args_of(site);
    let number = |form: FormId| match facts.form(form) {
        Form::Int(most) => u64::try_from(most).ok(),
        _ => None,
    };
    let evidence_of = |max_items: Option<u64>| match max_items {
        Some(most) if most >= LARGE => Evidence { size: Size::Large(most), source: Some(site), ..SMALL },
        _ => BOUNDED,
    };
    if name == "to_list" {
        let length = args.first().map(|arg| arg.value);
        return match length {
            Some(form) if facts.form(form) != Form::None => Some(evidence_of(number(form))),
            _ => None,
        };
    }
    let by_argument = args.iter().find(|arg| arg.name.is_some() && is_bound_name(facts.text(arg.name)));
    if let Some(arg) = by_argument {
        let is_without_limit = matches!(facts.form(arg.value), Form::None | Form::Int(..0));
        return (!is_without_limit).then(|| evidence_of(number(arg.value)));
    }
    // `limit(-1)` and `limit=None` ask for all.
    let is_method = matches!(facts.form(site_facts.callee), Form::Attr(..));
    if is_bound_name(name) && (is_method || matches!(name, "islice" | "paginate" | "nlargest")) {
        // `count` and `first` return one item.
        return Some(evidence_of(args.first().and_then(|arg| number(arg.value))));
    }
    None
}

/// True if a form mentions a variable.
fn mentions_var(linker: &Linker<'_>, scope: Scope, form: FormId, var: VarId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Var(of) => of == var,
        Form::Result(site) => {
            let site_facts = facts.site(site);
            mentions_var(linker, scope, site_facts.callee, var, depth)
                || facts.args_of(site).iter().any(|arg| mentions_var(linker, scope, arg.value, var, depth))
        }
        Form::Attr(base, _) | Form::Await(base) | Form::Subscript(base, _) => {
            mentions_var(linker, scope, base, var, depth)
        }
        Form::Alt(_, list) => facts.list(list).iter().any(|&part| mentions_var(linker, scope, part, var, depth)),
        _ => false,
    }
}

/// Returns the name of a body.
fn name_of_body<'a>(linker: &Linker<'a>, body: BodyRef) -> &'a str {
    let facts = linker.program.facts(body.file);
    facts.text(linker.program.body(body).name)
}
