//! The HTTP method and the path of a route, read from the registration of its handler: `@app.get("/users/{id}")`,
//! `router.add_get("/users", list)`, `#[get("/")]`, `@GetMapping("/users")`, `@GET @Path("/users")`.

use blocklint_facts::{Form, FormId};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;

use crate::lifecycle::entry_points::{Entry, EntryPlace};

/// The methods of HTTP, and the words for connections that stay open.
const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "WEBSOCKET"];

/// How often the result of a call is followed to the call that gets it as an argument: `.route("/users", get(list))`.
const MOST_OUTER_CALLS: u32 = 3;

/// Returns the text of the route of an entry point: its path, with its method if that is known (`GET /users`).
pub(crate) fn find_route(linker: &Linker<'_>, entry: &Entry) -> Option<String> {
    let (mut method, mut path) = (None, None);
    // The route is possibly in a decorator, or in a call around the registration.
    let mut decorators_and_calls = decorators_of_body(linker, entry.body);
    let registration = match entry.place {
        EntryPlace::Registration(site) => Some(site),
        EntryPlace::Definition | EntryPlace::TopLevel(_) => None,
    };
    if !decorators_and_calls.iter().any(|(_, call)| *call == registration) {
        let mut next = registration;
        for _ in 0..MOST_OUTER_CALLS {
            let Some(call) = next else { break };
            decorators_and_calls.push((callee_name(linker, call), Some(call)));
            next = linker.program.uses_of_result(call).iter().find_map(|(mention, _)| match mention {
                Mention::Arg(outer_call, _) => Some(call.file.site_ref(outer_call)),
                _ => None,
            });
        }
    }
    for (name, call) in decorators_and_calls {
        method = method.or_else(|| method_in_name(&name));
        let Some(call) = call else { continue };
        method = method.or_else(|| methods_in_arguments(linker, call));
        path = path.or_else(|| path_in_arguments(linker, call, Some(call) == registration));
    }
    let class = linker.program.body(entry.body).class.get().map(|class| entry.body.file.class_ref(class));
    if let Some(prefix) = class.and_then(|class| path_of_class(linker, class)) {
        path = Some(join_paths(&prefix, path.as_deref().unwrap_or_default()));
    }
    match (method, path) {
        (Some(method), Some(path)) => Some(format!("{method} {path}")),
        (None, path) => path,
        // A method without a path is no proof of a route: any function may be called `get`.
        (Some(_), None) => None,
    }
}

fn join_paths(prefix: &str, path: &str) -> String {
    match path.trim_start_matches('/') {
        "" => prefix.to_owned(),
        relative => format!("{}/{relative}", prefix.trim_end_matches('/')),
    }
}

/// Returns the last name of each decorator of a body, with the decorator's call if it has one: `get` of
/// `@app.get("/")`.
fn decorators_of_body(linker: &Linker<'_>, body: BodyRef) -> Vec<(String, Option<SiteRef>)> {
    let facts = linker.program.facts(body.file);
    decorator_names(linker, body.file, facts.list(linker.program.body(body).decorators))
}

/// Returns the last name of each decorator or annotation, with its call if it has one.
fn decorator_names(linker: &Linker<'_>, file: FileId, decorators: &[FormId]) -> Vec<(String, Option<SiteRef>)> {
    let facts = linker.program.facts(file);
    let name_and_call = |form: &FormId| match facts.form(*form) {
        Form::Result(site) => (callee_name(linker, file.site_ref(site)), Some(file.site_ref(site))),
        _ => {
            let name = blocklint_link::syntax::forms::last_name(facts, *form);
            (name.map_or_else(String::new, |name| facts.text(name).to_owned()), None)
        }
    };
    decorators.iter().map(name_and_call).collect()
}

fn callee_name(linker: &Linker<'_>, site: SiteRef) -> String {
    linker.program.facts(site.file).text(linker.program.site(site).name).to_owned()
}

/// Returns the HTTP method in the name of a decorator or function: `get`, `add_post`, `PutMapping`, `async_get`.
fn method_in_name(name: &str) -> Option<String> {
    let name = name.strip_suffix("Mapping").unwrap_or(name);
    let last = name.rsplit('_').next().unwrap_or(name);
    METHODS.iter().find(|method| method.eq_ignore_ascii_case(last)).map(|&method| method.to_owned())
}

/// Returns the HTTP methods among the arguments of a call: `methods=["GET", "POST"]`, `"GET"`.
fn methods_in_arguments(linker: &Linker<'_>, site: SiteRef) -> Option<String> {
    let facts = linker.program.facts(site.file);
    let method = |form| match facts.form(form) {
        Form::Str(text) => METHODS.iter().find(|method| method.eq_ignore_ascii_case(facts.text(text))).copied(),
        Form::Attr(_, text) | Form::Path(_, text) => {
            METHODS.iter().find(|method| **method == facts.text(text)).copied()
        }
        _ => None,
    };
    let mut methods: Vec<&str> = Vec::new();
    for arg in linker.program.args_of(site).iter() {
        match facts.form(arg.value) {
            Form::Display(_, list) => methods.extend(facts.list(list).iter().filter_map(|&form| method(form))),
            _ => methods.extend(method(arg.value)),
        }
    }
    (!methods.is_empty()).then(|| methods.join(", "))
}

/// Returns the path among the arguments of a call: the first literal string with a slash. In the registration itself
/// any string without a space is a path (`@app.route("users")`).
fn path_in_arguments(linker: &Linker<'_>, site: SiteRef, is_registration: bool) -> Option<String> {
    let facts = linker.program.facts(site.file);
    let path = |form| {
        let Form::Str(text) = facts.form(form) else { return None };
        let text = facts.text(text);
        let is_method = METHODS.iter().any(|method| method.eq_ignore_ascii_case(text));
        // The address at which a server listens is no route.
        let is_name = !text.contains(' ') && text.parse::<std::net::IpAddr>().is_err();
        let is_path = text.contains('/') || text.starts_with('^') || is_registration && is_name;
        (is_path && !is_method).then(|| if text.is_empty() { "/".to_owned() } else { text.to_owned() })
    };
    linker.program.args_of(site).iter().find_map(|arg| match facts.form(arg.value) {
        Form::Display(_, list) => facts.list(list).iter().find_map(|&form| path(form)),
        _ => path(arg.value),
    })
}

/// Returns the prefix that an annotation of a class puts before the paths of its methods: `@RequestMapping("/api")`
/// (Java).
fn path_of_class(linker: &Linker<'_>, class: ClassRef) -> Option<String> {
    let facts = linker.program.facts(class.file);
    if facts.language != blocklint_core::Language::Java {
        return None;
    }
    let annotations = decorator_names(linker, class.file, facts.list(linker.program.class(class).decorators));
    let mut paths = annotations.into_iter().filter_map(|(_, call)| path_in_arguments(linker, call?, false));
    paths.find(|path| path.starts_with('/'))
}
