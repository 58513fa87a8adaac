//! BLT201: responses that a web framework serialises on the event loop, and which of them are large.
//!
//! This is the one place of the analysis that knows a library: how a framework serialises a response depends on the
//! route, on what it declares and on two versions, and no row of a model can state it. The versions' edges are
//! switches. `path` finds how a route serialises its response, `item` how large one item of it is, `size` how many
//! items the code shows, `query` the bounds of a chain of calls on a query.

mod item;
mod path;
mod query;
mod size;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Language, Mistake, RuleCode, Serialisation, Severity};
use blocklint_facts::{ExitKind, Flow, Form, FormId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

use crate::rules::large_response_on_loop::item::{item_of_type, item_of_value};
use crate::rules::large_response_on_loop::path::declared;
use crate::rules::large_response_on_loop::size::size;
use crate::rules::mistakes::MistakeSearch;

pub(crate) use path::{other_path, shows_by_code, slow_call};

use item::Item;
use path::Declared;
use size::{Evidence, Size};

/// Constructors of what routes hang on.
const ROUTERS: [&str; 2] = ["fastapi.FastAPI", "fastapi.APIRouter"];

/// Decorators that make a function a route.
const VERBS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "api_route"];

/// Fields of one item from which on it is wide.
const WIDE: u32 = 20;

/// Fields of one item without models in it up to which it takes tens of thousands to be felt.
const NARROW: u32 = 5;

/// Fields of one item and of the models in it up to which the same holds where only the versions make JSON slow: that
/// is three to four times as long as the fast one.
const SMALL: u32 = 9;

/// Levels of models from which on an item is nested.
const NESTED: u32 = 3;

/// Returns the findings of this rule: they stand at the route, or at the call that renders.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LARGE_RESPONSE_ON_LOOP);
    let all = search.attempt(rule, || large_responses(linker, search.units));
    let finding = |one: SerialisedResponse| {
        let endpoint = linker.qualified_name(one.endpoint);
        let slow = slow_call(one.serialisation).to_owned();
        let mistake = Mistake::LargeResponse(blocklint_core::LargeResponse {
            serialisation: one.serialisation,
            endpoint: blocklint_core::body_name(&endpoint).to_owned(),
            source: one.source.map(|source| linker.written_site(source)),
            is_unseen: one.is_unseen,
            bound: one.bound,
            fields: one.fields,
            levels: one.levels,
            versions: one.versions,
            class: one.class,
            model: one.model,
        });
        let mut finding = search.finding((rule, mistake), one.site, slow.clone(), one.severity, one.confidence);
        finding.root = one.endpoint;
        finding.context = Some(Context::EventLoop);
        finding.trace[0].function = endpoint;
        finding.trace[0].written = slow;
        if finding.suppressed.is_none() {
            finding.suppressed =
                search.suppressions.find_suppression(linker.program, one.site, finding.span.start, one.endpoint, rule);
        }
        finding
    };
    all.into_iter().map(finding).collect()
}

/// A response that may be large, before its parts have names.
#[derive(Clone, Debug)]
struct SerialisedResponse {
    /// The route's decorator, or the call that renders.
    site: SiteRef,
    /// The endpoint.
    endpoint: BodyRef,
    /// How it is serialised.
    serialisation: Serialisation,
    /// The call from which its items come, if the code shows it.
    source: Option<SiteRef>,
    /// True if the code of that call is not there, so that its number of items is unknown.
    is_unseen: bool,
    /// A bound that is visible and large.
    bound: Option<u64>,
    /// Annotated fields of one item.
    fields: u32,
    /// Levels of models of one item.
    levels: u32,
    severity: Severity,
    confidence: Confidence,
    /// The behaviour of other versions in the declared range, in words.
    versions: Option<String>,
    /// The response class that the route or the application names, as written, if it may be dropped.
    class: Option<String>,
    /// The type of the items as the file writes it, where a response model could be declared with it.
    model: Option<String>,
}

/// A route: a function and the call that registers it.
struct Route {
    body: BodyRef,
    made: SiteRef,
}

/// Returns every response that may be large.
fn large_responses(linker: &Linker<'_>, units: &Units) -> Vec<SerialisedResponse> {
    if linker.program.name("fastapi").is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for route in routes(linker) {
        large_response(linker, units, &route, &mut found);
    }
    found.sort_by_key(|one| (one.site, std::cmp::Reverse(one.severity)));
    found.dedup_by_key(|one| one.site);
    found
}

fn routes(linker: &Linker<'_>) -> Vec<Route> {
    let mut found = Vec::new();
    for file in linker.reported_files() {
        let facts = linker.program.facts(file);
        if facts.language != Language::Python || linker.program.is_test(file) {
            continue;
        }
        for (at, row) in facts.bodies.iter().enumerate() {
            let is_verb = |form: &FormId| match facts.form(*form) {
                Form::Result(site) => VERBS.contains(&facts.text(facts.site(site).name)),
                _ => false,
            };
            if !facts.list(row.decorators).iter().any(is_verb) {
                continue;
            }
            let body = file.body_ref(blocklint_facts::BodyId(at as u32));
            let made = linker.decorators(body).into_iter().find_map(|(path, made)| {
                let text = linker.library.text(path);
                let (router, verb) = text.rsplit_once('.')?;
                (ROUTERS.contains(&router) && VERBS.contains(&verb)).then_some(made?)
            });
            found.extend(made.map(|made| Route { body, made }));
        }
    }
    found
}

fn large_response(linker: &Linker<'_>, units: &Units, route: &Route, found: &mut Vec<SerialisedResponse>) {
    let facts = linker.program.facts(route.body.file);
    let row = linker.program.body(route.body);
    let Some(declared) = declared(linker, units, route) else { return };
    let limited = is_limited(linker, route.body);
    for exit in facts.exits.iter() {
        if exit.kind != ExitKind::Return
            || exit.value.is_none()
            || linker.program.body_of(route.body.file, exit.at) != route.body
        {
            continue;
        }
        let scope = Scope { file: route.body.file, at: exit.at, env: EnvId::NONE };
        // A returned value that renders itself is judged at its own call.
        if let Some((site, content, serialisation)) = rendered(linker, scope, exit.value, row.flow == Flow::Coroutine) {
            let evidence = size(linker, scope, content);
            if let Some(one) = judged(linker, route, site, serialisation, &declared, evidence, limited, None) {
                found.push(one);
            }
            continue;
        }
        if is_response(linker, scope, exit.value) {
            continue;
        }
        let mut evidence = size(linker, scope, exit.value);
        if declared.model.is_none()
            && !evidence.listed
            && evidence.is_unseen()
            && is_put_under_keys(linker, scope, exit.value)
        {
            // A dictionary of the results of several calls does not show that one of them has many items.
            evidence.source = None;
        }
        let item = declared.model.and_then(|model| item_of_type(linker, route.body, model));
        if declared.model.is_some() && item.is_none() {
            // The response model states that it is one thing.
            continue;
        }
        let item = item.or_else(|| item_of_value(linker, scope, exit.value));
        if let Some(one) =
            judged(linker, route, route.made, declared.serialisation, &declared, evidence, limited, item.as_ref())
        {
            found.push(one);
        }
    }
    let is_async = matches!(row.flow, Flow::Coroutine);
    if is_async {
        encoded_by_hand(linker, route, &declared, limited, found);
    }
}

/// `jsonable_encoder(rows)` in an endpoint that runs on the loop.
fn encoded_by_hand(
    linker: &Linker<'_>,
    route: &Route,
    declared: &Declared,
    limited: Option<u64>,
    found: &mut Vec<SerialisedResponse>,
) {
    let facts = linker.program.facts(route.body.file);
    for (at, site) in facts.sites.iter().enumerate() {
        if site.kind != SiteKind::Call
            || facts.text(site.name) != "jsonable_encoder"
            || linker.program.body_of(route.body.file, site.at) != route.body
        {
            continue;
        }
        let site_ref = route.body.file.site_ref(blocklint_facts::SiteId(at as u32));
        let Some(first) = linker.program.args_of(site_ref).first().copied() else { continue };
        let scope = Scope { file: route.body.file, at: site.at, env: EnvId::NONE };
        let evidence = size(linker, scope, first.value);
        let item = item_of_value(linker, scope, first.value);
        let serialisation = Serialisation::Encoded;
        found.extend(judged(linker, route, site_ref, serialisation, declared, evidence, limited, item.as_ref()));
    }
}

#[expect(clippy::too_many_arguments, reason = "a verdict rests on that much")]
fn judged(
    linker: &Linker<'_>,
    route: &Route,
    site: SiteRef,
    serialisation: Serialisation,
    declared: &Declared,
    evidence: Evidence,
    limited: Option<u64>,
    item: Option<&Item>,
) -> Option<SerialisedResponse> {
    let (fields, levels) = item.map_or((0, 0), |item| (item.fields, item.levels));
    let bound = match (evidence.size, limited) {
        (Size::Small, _) => return None,
        (Size::Unknown, Some(_)) if item.is_none() => return None,
        (Size::Large(bound), _) => Some(bound),
        (_, Some(bound)) if bound >= size::LARGE => Some(bound),
        // The code sets a limit.
        (_, Some(_)) => return None,
        _ => None,
    };
    let confidence = match evidence.size {
        _ if bound.is_some() => Confidence::High,
        // The rows of one user, or rows that one request makes, are rarely many.
        Size::Unbounded if evidence.narrowed || !evidence.shown || !reads(linker, route) => Confidence::Low,
        Size::Unbounded => Confidence::Medium,
        // Rows from code that is not there: a type or a loop shows that there are many of something, and nothing how
        // many.
        Size::Unknown
            if evidence.is_unseen()
                && reads(linker, route)
                && (evidence.listed || item.is_some_and(|item| item.levels > 0)) =>
        {
            match evidence.narrowed || is_about_one(linker, route) {
                true => Confidence::Low,
                false => Confidence::Medium,
            }
        }
        // Only the type counts, if it shows that there are many of something.
        Size::Unknown if reads(linker, route) && item.is_some_and(|item| item.is_direct && item.levels > 0) => {
            Confidence::Low
        }
        _ => return None,
    };
    // A class that renders JSON in compiled code is not much slower than none.
    let slow =
        serialisation != Serialisation::Direct && !(declared.compiled && serialisation == Serialisation::ByClass);
    let is_narrow = levels == 1 && fields <= NARROW && serialisation != Serialisation::Encoded;
    let all_fields = item.map_or(0, |item| item.all_fields);
    let is_plain = item.is_some_and(|item| item.is_plain);
    // The oldest serialisation is so slow that a few fields matter too.
    let is_narrow = is_narrow && serialisation != Serialisation::Old;
    let is_narrow =
        is_narrow || is_plain || serialisation == Serialisation::Rendered && (1..=SMALL).contains(&all_fields);
    let severity = match slow && !is_narrow || levels >= NESTED && fields >= WIDE || bound.is_some() {
        true => Severity::Warning,
        false => Severity::Note,
    };
    Some(SerialisedResponse {
        site,
        endpoint: route.body,
        serialisation,
        source: evidence.source,
        is_unseen: bound.is_none() && evidence.is_unseen(),
        bound,
        fields,
        levels,
        severity,
        confidence,
        versions: declared.versions.clone().filter(|_| site == route.made),
        // Where little is lost dropping it gains little.
        class: declared.class.clone().filter(|_| site == route.made && severity > Severity::Note),
        model: item.filter(|_| declared.model.is_none()).and_then(|item| item.written.clone()),
    })
}

/// True if a route answers questions, rather than doing something and reporting the result.
fn reads(linker: &Linker<'_>, route: &Route) -> bool {
    let facts = linker.program.facts(route.made.file);
    matches!(facts.text(linker.program.site(route.made).name), "get" | "api_route")
}

/// True if a value is a dictionary whose keys are written out, also through one local name.
fn is_put_under_keys(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Pairs(_) => true,
        Form::Var(var) => facts.assigns_of(var).any(|assign| matches!(facts.form(assign.value), Form::Pairs(_))),
        _ => false,
    }
}

/// True if a route's path names one thing, whose parts the route returns: `/users/{user}/orders`.
fn is_about_one(linker: &Linker<'_>, route: &Route) -> bool {
    let facts = linker.program.facts(route.made.file);
    linker.program.args_of(route.made).iter().any(|arg| match facts.form(arg.value) {
        Form::Str(text) => facts.text(text).contains('{'),
        _ => false,
    })
}

/// Returns the content of a response that is made by hand of data: `JSONResponse(content=rows)`.
fn rendered(
    linker: &Linker<'_>,
    scope: Scope,
    form: FormId,
    is_async: bool,
) -> Option<(SiteRef, FormId, Serialisation)> {
    let site = call_behind(linker, scope, form)?;
    let renders = linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::External(path) => path::renders_json(&linker.library.text(path)),
        Val::Class(class) => class_path(linker, class).is_some_and(|path| path::renders_json(&path)),
        _ => false,
    });
    if !renders {
        return None;
    }
    let facts = linker.program.facts(site.file);
    let args = linker.program.args_of(site);
    let named = args.iter().find(|arg| facts.text(arg.name) == "content");
    let content = named.or_else(|| args.iter().find(|arg| arg.name.is_none()))?.value;
    // Data that goes through the encoder first is serialised slowly, wherever it runs.
    let encoder = call_behind(linker, scope, content)
        .filter(|inner| facts.text(linker.program.site(*inner).name) == "jsonable_encoder");
    match encoder {
        // On the loop the encoder itself is reported.
        Some(_) if is_async => Some((site, FormId::NONE, Serialisation::ByHand)),
        Some(inner) => {
            let data = linker.program.args_of(inner).first()?.value;
            Some((site, data, Serialisation::ByHand))
        }
        None => Some((site, content, Serialisation::ByHand)),
    }
}

/// Returns the call whose result a form is, also through one local name.
fn call_behind(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<SiteRef> {
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Result(site) if facts.site(site).kind == SiteKind::Call => Some(scope.file.site_ref(site)),
        Form::Var(var) => {
            let mut assigns = facts.assigns_of(var);
            let (first, more) = (assigns.next()?, assigns.next());
            if more.is_some() {
                return None;
            }
            match facts.form(first.value) {
                Form::Result(site) if facts.site(site).kind == SiteKind::Call => Some(scope.file.site_ref(site)),
                _ => None,
            }
        }
        Form::Await(inner) => call_behind(linker, scope, inner),
        _ => None,
    }
}

/// True if a value is a response already: the framework sends it as it is.
fn is_response(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let typed = linker.eval(scope, form);
    linker.values.members(typed.value).iter().any(|val| match *val {
        Val::Library { ty, .. } => path::is_response(&linker.library.text(ty)),
        Val::Instance { class, .. } => class_path(linker, class).is_some_and(|path| path::is_response(&path)),
        // A class of a library that no model describes is known by what is called.
        _ => call_behind(linker, scope, form).is_some_and(|site| {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
                Val::External(path) => path::is_response(&linker.library.text(path)),
                _ => false,
            })
        }),
    })
}

/// Returns the library class that a class of the project derives from, as far as that is a response.
fn class_path(linker: &Linker<'_>, class: blocklint_link::program::ids::ClassRef) -> Option<String> {
    linker.mro(class).iter().find_map(|ancestor| match *ancestor {
        blocklint_link::classes::hierarchy::Ancestor::Library(path, _) => Some(linker.library.text(path).to_string()),
        _ => None,
    })
}

/// Returns the bound by which an endpoint lets callers limit the number of items: the stated number, or 1 where none is
/// stated.
fn is_limited(linker: &Linker<'_>, body: BodyRef) -> Option<u64> {
    let facts = linker.program.facts(body.file);
    let mut limited = None;
    for param in linker.program.params_of(body) {
        let name = facts.text(param.name);
        let speaks = [param.annotation, param.default].iter().any(|&form| names_a_page(linker, body.file, form, 6));
        if !size::is_bound_name(name) && !speaks {
            continue;
        }
        let stated = stated_bound(linker, body.file, param.default)
            .or_else(|| stated_in_type(linker, body.file, param.annotation))
            .filter(|_| size::is_amount_name(name));
        limited = Some(limited.unwrap_or(0).max(stated.unwrap_or(1)));
    }
    limited
}

/// True if a type or default names a page: `Depends(pagination)`, `Annotated[int, Depends(page_of)]`, `PageParams`.
fn names_a_page(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    let speaks = |form: FormId| names_a_page(linker, file, form, depth);
    match facts.form(form) {
        Form::Name(name) => size::is_bound_type(facts.text(name)),
        Form::Var(var) => size::is_bound_type(facts.text(facts.var(var).name)),
        Form::Attr(base, name) => size::is_bound_type(facts.text(name)) || speaks(base),
        Form::Subscript(base, index) => speaks(base) || speaks(index),
        Form::Display(_, list) | Form::Join(list) => facts.list(list).iter().any(|&part| speaks(part)),
        Form::Result(site) => {
            speaks(facts.site(site).callee) || facts.args_of(site).iter().any(|arg| speaks(arg.value))
        }
        _ => false,
    }
}

/// `Query(100, le=10_000)`: the largest that a caller may ask for.
fn stated_bound(linker: &Linker<'_>, file: FileId, default: FormId) -> Option<u64> {
    let facts = linker.program.facts(file);
    let Form::Result(site) = facts.form(default) else { return None };
    let le = facts.args_of(site).into_iter().find(|arg| matches!(facts.text(arg.name), "le" | "lt"))?;
    match facts.form(le.value) {
        Form::Int(most) => u64::try_from(most).ok(),
        _ => None,
    }
}

/// `Annotated[int, Query(le=10_000)]`.
fn stated_in_type(linker: &Linker<'_>, file: FileId, annotation: FormId) -> Option<u64> {
    let facts = linker.program.facts(file);
    let Form::Subscript(_, index) = facts.form(annotation) else { return None };
    let Form::Display(_, list) = facts.form(index) else { return None };
    facts.list(list).iter().find_map(|&part| stated_bound(linker, file, part))
}
