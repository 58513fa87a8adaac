//! Rule `large-response-on-loop` (BLT201): large responses that a web framework serialises on the event loop. This is
//! the only place of the analysis that knows a library, because the serialisation of a response depends on the route,
//! on its declared types and on the versions of two libraries, and no row of a model can state that. Switches of models
//! state the versions. `path` finds the serialisation of a route's response, `item` the fields of one item, `size` the
//! number of items that the code shows, and `query` the bounds of a database query.

mod item;
mod path;
mod query;
mod size;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Language, Mistake, RuleCode, Serialisation, Severity};
use blocklint_facts::{BodyId, ExitKind, Flow, Form, FormId, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

use crate::rules::large_response_on_loop::item::{item_of_type, item_of_value};
use crate::rules::large_response_on_loop::path::declared_response;
use crate::rules::large_response_on_loop::size::size;
use crate::rules::mistakes::MistakeSearch;

pub(crate) use path::{other_path, shows_by_code, slow_call};

use item::Item;
use path::DeclaredResponse;
use size::{Evidence, Size};

/// How deep an annotation or default is searched for the words of a page.
const MAX_FORM_DEPTH: u32 = 6;

/// Classes whose methods register routes.
const ROUTERS: [&str; 2] = ["fastapi.FastAPI", "fastapi.APIRouter"];

/// Methods of these classes that make a function a route.
const VERBS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "api_route"];

/// An item with at least this number of fields is wide.
const WIDE: u32 = 20;

/// An item with at most this number of fields and no nested model is narrow: only tens of thousands of them take long.
const NARROW: u32 = 5;

/// An item with at most this number of fields, nested models included, is narrow if the response is rendered in Python,
/// which takes three to four times as long as the fast serialisation.
const SMALL: u32 = 9;

/// An item with at least this number of levels of models is nested.
const NESTED: u32 = 3;

/// Returns the findings of this rule. They are reported at the decorator of the route, or at the call that renders the
/// response.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LARGE_RESPONSE_ON_LOOP);
    let responses = search.attempt(rule, || find_large_responses(linker, search.units));
    let finding = |response: SerialisedResponse| {
        let endpoint = linker.qualified_name(response.endpoint);
        let slow = slow_call(response.serialisation).to_owned();
        let mistake = Mistake::LargeResponse(blocklint_core::LargeResponse {
            serialisation: response.serialisation,
            endpoint: blocklint_core::body_name(&endpoint).to_owned(),
            source: response.source.map(|source| linker.written_site(source)),
            is_source_unknown: response.is_unseen,
            bound: response.bound,
            fields: response.fields,
            nesting_depth: response.nesting_depth,
            versions: response.versions,
            class: response.class,
            model: response.model,
        });
        let mut finding =
            search.finding((rule, mistake), response.site, slow.clone(), response.severity, response.confidence);
        finding.root = response.endpoint;
        finding.context = Some(Context::EventLoop);
        finding.trace[0].function = endpoint;
        finding.trace[0].written = slow;
        if finding.suppressed.is_none() {
            finding.suppressed = search.suppressions.find_suppression(
                linker.program,
                response.site,
                finding.span.start,
                response.endpoint,
                rule,
            );
        }
        finding
    };
    responses.into_iter().map(finding).collect()
}

/// A response that may be large.
#[derive(Clone, Debug)]
struct SerialisedResponse {
    /// The route's decorator, or the call that renders.
    site: SiteRef,
    /// The endpoint.
    endpoint: BodyRef,
    /// The way of serialisation.
    serialisation: Serialisation,
    /// The call that returns its items, if the code shows it.
    source: Option<SiteRef>,
    /// True if the code of that call is unknown, and so is its number of items.
    is_unseen: bool,
    /// A large bound that the code states.
    bound: Option<u64>,
    /// The number of annotated fields of one item.
    fields: u32,
    /// The number of models inside each other in one item: 1 for a model without nested models.
    nesting_depth: u32,
    severity: Severity,
    confidence: Confidence,
    /// The behaviour of other versions in the declared range, in words.
    versions: Option<String>,
    /// The response class that the route or the application names, as written, if it may be dropped.
    class: Option<String>,
    /// The type of the items as the file writes it, if it could be declared as the response model.
    model: Option<String>,
}

/// A route: a function and the call that registers it.
struct Route {
    body: BodyRef,
    registration: SiteRef,
}

/// Returns all responses that may be large.
fn find_large_responses(linker: &Linker<'_>, units: &Units) -> Vec<SerialisedResponse> {
    if linker.program.name("fastapi").is_none() {
        return Vec::new();
    }
    let mut responses = Vec::new();
    for route in find_routes(linker) {
        add_large_responses(linker, units, &route, &mut responses);
    }
    responses.sort_by_key(|response| (response.site, std::cmp::Reverse(response.severity)));
    responses.dedup_by_key(|response| response.site);
    responses
}

/// Returns the routes of reported files.
fn find_routes(linker: &Linker<'_>) -> Vec<Route> {
    let mut routes = Vec::new();
    for file in linker.reported_files() {
        let facts = linker.program.facts(file);
        if facts.language != Language::Python || linker.program.is_test(file) {
            continue;
        }
        for (index, body_facts) in facts.bodies.iter().enumerate() {
            let is_verb = |form: &FormId| match facts.form(*form) {
                Form::Result(site) => VERBS.contains(&facts.text(facts.site(site).name)),
                _ => false,
            };
            if !facts.list(body_facts.decorators).iter().any(is_verb) {
                continue;
            }
            let body = file.body_ref(BodyId(index as u32));
            let registration = linker.decorators(body).into_iter().find_map(|(path, registration)| {
                let text = linker.library.text(path);
                let (router, verb) = text.rsplit_once('.')?;
                (ROUTERS.contains(&router) && VERBS.contains(&verb)).then_some(registration?)
            });
            routes.extend(registration.map(|registration| Route { body, registration }));
        }
    }
    routes
}

/// Adds the responses of a route that may be large.
fn add_large_responses(linker: &Linker<'_>, units: &Units, route: &Route, responses: &mut Vec<SerialisedResponse>) {
    let facts = linker.program.facts(route.body.file);
    let body_facts = linker.program.body(route.body);
    let Some(declared) = declared_response(linker, units, route) else { return };
    let limit = limit_of_endpoint(linker, route.body);
    for exit in facts.exits.iter() {
        if exit.kind != ExitKind::Return
            || exit.value.is_none()
            || linker.program.body_of(route.body.file, exit.at) != route.body
        {
            continue;
        }
        let scope = Scope { file: route.body.file, at: exit.at, env: EnvId::NONE };
        // A response that the endpoint renders itself is judged at its own call.
        if let Some((site, content, serialisation)) =
            rendered_response(linker, scope, exit.value, body_facts.flow == Flow::Coroutine)
        {
            let evidence = size(linker, scope, content);
            let response = judge_response(linker, route, site, serialisation, &declared, evidence, limit, None);
            if let Some(response) = response {
                responses.push(response);
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
            && is_dict_with_keys(linker, scope, exit.value)
        {
            // A dictionary of several results does not show that one of them has many items.
            evidence.source = None;
        }
        let item = declared.model.and_then(|model| item_of_type(linker, route.body, model));
        if declared.model.is_some() && item.is_none() {
            // The response model states that there is only one item.
            continue;
        }
        let item = item.or_else(|| item_of_value(linker, scope, exit.value));
        let (site, serialisation) = (route.registration, declared.serialisation);
        let response = judge_response(linker, route, site, serialisation, &declared, evidence, limit, item.as_ref());
        if let Some(response) = response {
            responses.push(response);
        }
    }
    let is_async = matches!(body_facts.flow, Flow::Coroutine);
    if is_async {
        add_encoder_calls(linker, route, &declared, limit, responses);
    }
}

/// Adds the calls of `jsonable_encoder(rows)` in an endpoint that runs on the loop.
fn add_encoder_calls(
    linker: &Linker<'_>,
    route: &Route,
    declared: &DeclaredResponse,
    limit: Option<u64>,
    responses: &mut Vec<SerialisedResponse>,
) {
    let facts = linker.program.facts(route.body.file);
    for (index, site) in facts.sites.iter().enumerate() {
        if site.kind != SiteKind::Call
            || facts.text(site.name) != "jsonable_encoder"
            || linker.program.body_of(route.body.file, site.at) != route.body
        {
            continue;
        }
        let site_ref = route.body.file.site_ref(SiteId(index as u32));
        let Some(first) = linker.program.args_of(site_ref).first().copied() else { continue };
        let scope = Scope { file: route.body.file, at: site.at, env: EnvId::NONE };
        let evidence = size(linker, scope, first.value);
        let item = item_of_value(linker, scope, first.value);
        let serialisation = Serialisation::Encoded;
        let item = item.as_ref();
        responses.extend(judge_response(linker, route, site_ref, serialisation, declared, evidence, limit, item));
    }
}

/// Returns the response with its severity and confidence; `None` if the code does not show that it may be large.
#[expect(clippy::too_many_arguments, reason = "the verdict depends on all of them")]
fn judge_response(
    linker: &Linker<'_>,
    route: &Route,
    site: SiteRef,
    serialisation: Serialisation,
    declared: &DeclaredResponse,
    evidence: Evidence,
    limit: Option<u64>,
    item: Option<&Item>,
) -> Option<SerialisedResponse> {
    let (fields, nesting_depth) = item.map_or((0, 0), |item| (item.fields, item.nesting_depth));
    let bound = match (evidence.size, limit) {
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
        // The rows of one user, and rows that one request creates, are rarely many.
        Size::Unbounded if evidence.narrowed || !evidence.shown || !reads_data(linker, route) => Confidence::Low,
        Size::Unbounded => Confidence::Medium,
        // Rows from unknown code: a type or a loop shows a collection, but not its size.
        Size::Unknown
            if evidence.is_unseen()
                && reads_data(linker, route)
                && (evidence.listed || item.is_some_and(|item| item.nesting_depth > 0)) =>
        {
            if evidence.narrowed || is_about_one(linker, route) { Confidence::Low } else { Confidence::Medium }
        }
        // Only the type shows a collection.
        Size::Unknown
            if reads_data(linker, route) && item.is_some_and(|item| item.is_direct && item.nesting_depth > 0) =>
        {
            Confidence::Low
        }
        _ => return None,
    };
    // A response class that renders JSON in compiled code is almost as fast as the direct serialisation.
    let slow =
        serialisation != Serialisation::Direct && !(declared.compiled && serialisation == Serialisation::ByClass);
    let is_narrow = nesting_depth == 1 && fields <= NARROW && serialisation != Serialisation::Encoded;
    let all_fields = item.map_or(0, |item| item.all_fields);
    let is_plain = item.is_some_and(|item| item.is_plain);
    // The oldest serialisation is so slow that narrow items matter too.
    let is_narrow = is_narrow && serialisation != Serialisation::Pydantic1;
    let is_narrow =
        is_narrow || is_plain || serialisation == Serialisation::Rendered && (1..=SMALL).contains(&all_fields);
    let severity = if slow && !is_narrow || nesting_depth >= NESTED && fields >= WIDE || bound.is_some() {
        Severity::Warning
    } else {
        Severity::Note
    };
    Some(SerialisedResponse {
        site,
        endpoint: route.body,
        serialisation,
        source: evidence.source,
        is_unseen: bound.is_none() && evidence.is_unseen(),
        bound,
        fields,
        nesting_depth,
        severity,
        confidence,
        versions: declared.versions.clone().filter(|_| site == route.registration),
        // For a note, dropping the response class gains little.
        class: declared.class.clone().filter(|_| site == route.registration && severity > Severity::Note),
        model: item.filter(|_| declared.model.is_none()).and_then(|item| item.written.clone()),
    })
}

/// True if a route reads data (`GET`), so that its response may have all rows.
fn reads_data(linker: &Linker<'_>, route: &Route) -> bool {
    let facts = linker.program.facts(route.registration.file);
    matches!(facts.text(linker.program.site(route.registration).name), "get" | "api_route")
}

/// True if a value is a dictionary display, also through a local variable.
fn is_dict_with_keys(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Pairs(_) => true,
        Form::Var(var) => facts.assigns_of(var).any(|assign| matches!(facts.form(assign.value), Form::Pairs(_))),
        _ => false,
    }
}

/// True if a route's path has a parameter, so that the route returns parts of one thing: `/users/{user}/orders`.
fn is_about_one(linker: &Linker<'_>, route: &Route) -> bool {
    let facts = linker.program.facts(route.registration.file);
    linker.program.args_of(route.registration).iter().any(|arg| match facts.form(arg.value) {
        Form::Str(text) => facts.text(text).contains('{'),
        _ => false,
    })
}

/// Returns the call, the content and the serialisation of a response that the endpoint renders itself:
/// `JSONResponse(content=rows)`.
fn rendered_response(
    linker: &Linker<'_>,
    scope: Scope,
    form: FormId,
    is_async: bool,
) -> Option<(SiteRef, FormId, Serialisation)> {
    let site = call_of_form(linker, scope, form)?;
    let renders = linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::External(path) => path::renders_json(&linker.library.text(path)),
        Val::Class(class) => library_base_path(linker, class).is_some_and(|path| path::renders_json(&path)),
        _ => false,
    });
    if !renders {
        return None;
    }
    let facts = linker.program.facts(site.file);
    let args = linker.program.args_of(site);
    let named = args.iter().find(|arg| facts.text(arg.name) == "content");
    let content = named.or_else(|| args.iter().find(|arg| arg.name.is_none()))?.value;
    // If the data goes through the encoder first, the encoder's argument is the content.
    let encoder = call_of_form(linker, scope, content)
        .filter(|inner| facts.text(linker.program.site(*inner).name) == "jsonable_encoder");
    match encoder {
        // `add_encoder_calls` reports an encoder that runs on the loop.
        Some(_) if is_async => Some((site, FormId::NONE, Serialisation::ByHand)),
        Some(inner) => {
            let data = linker.program.args_of(inner).first()?.value;
            Some((site, data, Serialisation::ByHand))
        }
        None => Some((site, content, Serialisation::ByHand)),
    }
}

/// Returns the call whose result a form is, also through a local variable or `await`.
fn call_of_form(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<SiteRef> {
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Result(site) if facts.site(site).kind == SiteKind::Call => Some(scope.file.site_ref(site)),
        Form::Var(var) => {
            let mut assigns = facts.assigns_of(var);
            let (first_assign, second_assign) = (assigns.next()?, assigns.next());
            if second_assign.is_some() {
                return None;
            }
            match facts.form(first_assign.value) {
                Form::Result(site) if facts.site(site).kind == SiteKind::Call => Some(scope.file.site_ref(site)),
                _ => None,
            }
        }
        Form::Await(inner) => call_of_form(linker, scope, inner),
        _ => None,
    }
}

/// True if a value is a response already, which the framework sends as it is.
fn is_response(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let typed = linker.eval(scope, form);
    linker.values.members(typed.value).iter().any(|val| match *val {
        Val::Library { ty, .. } => path::is_response(&linker.library.text(ty)),
        Val::Instance { class, .. } => library_base_path(linker, class).is_some_and(|path| path::is_response(&path)),
        // A class that no model describes is recognised by the path of its constructor.
        _ => call_of_form(linker, scope, form).is_some_and(|site| {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
                Val::External(path) => path::is_response(&linker.library.text(path)),
                _ => false,
            })
        }),
    })
}

/// Returns the path of the first library class that a class of the project derives from.
fn library_base_path(linker: &Linker<'_>, class: ClassRef) -> Option<String> {
    linker.mro(class).iter().find_map(|ancestor| match *ancestor {
        blocklint_link::classes::hierarchy::Ancestor::Library(path, _) => Some(linker.library.text(path).to_string()),
        _ => None,
    })
}

/// Returns the limit on the number of items that an endpoint has as a parameter: the stated maximum, or 1 if none is
/// stated. `None` if it has no such parameter.
fn limit_of_endpoint(linker: &Linker<'_>, body: BodyRef) -> Option<u64> {
    let facts = linker.program.facts(body.file);
    let mut limit = None;
    for param in linker.program.params_of(body) {
        let name = facts.text(param.name);
        let is_for_page = [param.annotation, param.default]
            .iter()
            .any(|&form| mentions_page(linker, body.file, form, MAX_FORM_DEPTH));
        if !size::is_bound_name(name) && !is_for_page {
            continue;
        }
        let stated = stated_bound(linker, body.file, param.default)
            .or_else(|| stated_in_type(linker, body.file, param.annotation))
            .filter(|_| size::is_amount_name(name));
        limit = Some(limit.unwrap_or(0).max(stated.unwrap_or(1)));
    }
    limit
}

/// True if a type or default has a name for pages: `Depends(pagination)`, `Annotated[int, Depends(page_of)]`,
/// `PageParams`.
fn mentions_page(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    let mentions_page = |form: FormId| mentions_page(linker, file, form, depth);
    match facts.form(form) {
        Form::Name(name) => size::is_bound_type(facts.text(name)),
        Form::Var(var) => size::is_bound_type(facts.text(facts.var(var).name)),
        Form::Attr(base, name) => size::is_bound_type(facts.text(name)) || mentions_page(base),
        Form::Subscript(base, index) => mentions_page(base) || mentions_page(index),
        Form::Display(_, list) | Form::Join(list) => facts.list(list).iter().any(|&part| mentions_page(part)),
        Form::Result(site) => {
            mentions_page(facts.site(site).callee) || facts.args_of(site).iter().any(|arg| mentions_page(arg.value))
        }
        _ => false,
    }
}

/// Returns the maximum that a default states: 10,000 for `Query(100, le=10_000)`.
fn stated_bound(linker: &Linker<'_>, file: FileId, default: FormId) -> Option<u64> {
    let facts = linker.program.facts(file);
    let Form::Result(site) = facts.form(default) else { return None };
    let le = facts.args_of(site).into_iter().find(|arg| matches!(facts.text(arg.name), "le" | "lt"))?;
    match facts.form(le.value) {
        Form::Int(most) => u64::try_from(most).ok(),
        _ => None,
    }
}

/// Returns the maximum that an annotation states: 10,000 for `Annotated[int, Query(le=10_000)]`.
fn stated_in_type(linker: &Linker<'_>, file: FileId, annotation: FormId) -> Option<u64> {
    let facts = linker.program.facts(file);
    let Form::Subscript(_, index) = facts.form(annotation) else { return None };
    let Form::Display(_, list) = facts.form(index) else { return None };
    facts.list(list).iter().find_map(|&part| stated_bound(linker, file, part))
}
