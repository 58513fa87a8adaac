//! The method and the path of a route, as far as the registration of a handler shows them: `@app.get("/users/{id}")`,
//! `router.add_get("/users", list)`, `#[get("/")]`, `@GetMapping("/users")`, `@GET @Path("/users")`.

use blocklint_facts::Form;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, SiteRef};
use blocklint_link::program::occurrences::Mention;

use crate::lifecycle::entry_points::{At, Entry};

/// The methods of HTTP, and the words for connections that stay open.
const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "WEBSOCKET"];

/// How often the result of a call is followed to the call that takes it: `.route("/users", get(list))`.
const MOST_AROUND: u32 = 3;

/// Returns the route of an entry that requests reach: its method, its path or both.
pub(crate) fn route_of(linker: &Linker<'_>, entry: &Entry) -> Option<String> {
    let (mut method, mut path) = (None, None);
    let mut decorators = marks_of(linker, entry.body);
    let registration = match entry.at {
        At::Registration(site) => Some(site),
        At::Definition | At::TopLevel(_) => None,
    };
    if !decorators.iter().any(|(_, made)| *made == registration) {
        let mut at = registration;
        for _ in 0..MOST_AROUND {
            let Some(of) = at else { break };
            decorators.push((name_of(linker, of), Some(of)));
            at = linker.program.uses_of_result(of).iter().find_map(|(mention, _)| match mention {
                Mention::Arg(taker, _) => Some(of.file.site_ref(taker)),
                _ => None,
            });
        }
    }
    for (name, made) in decorators {
        method = method.or_else(|| method_in_name(&name));
        let Some(made) = made else { continue };
        method = method.or_else(|| methods_in_arguments(linker, made));
        path = path.or_else(|| path_in_arguments(linker, made, Some(made) == registration));
    }
    let class = linker.program.body(entry.body).class.get().map(|class| entry.body.file.class_ref(class));
    if let Some(prefix) = class.and_then(|class| path_of_class(linker, class)) {
        path = Some(join(&prefix, path.as_deref().unwrap_or_default()));
    }
    match (method, path) {
        (Some(method), Some(path)) => Some(format!("{method} {path}")),
        (None, path) => path,
        // A method alone may be any function's name.
        (Some(_), None) => None,
    }
}

fn join(prefix: &str, path: &str) -> String {
    match path.trim_start_matches('/') {
        "" => prefix.to_owned(),
        rest => format!("{}/{rest}", prefix.trim_end_matches('/')),
    }
}

/// Returns the last names of a body's decorators, each with the call that makes it.
fn marks_of(linker: &Linker<'_>, body: BodyRef) -> Vec<(String, Option<SiteRef>)> {
    let facts = linker.program.facts(body.file);
    marks(linker, body.file, facts.list(linker.program.body(body).decorators))
}

fn marks(
    linker: &Linker<'_>,
    file: blocklint_link::program::ids::FileId,
    decorators: &[blocklint_facts::FormId],
) -> Vec<(String, Option<SiteRef>)> {
    let facts = linker.program.facts(file);
    let mark = |form: &blocklint_facts::FormId| match facts.form(*form) {
        Form::Result(site) => (name_of(linker, file.site_ref(site)), Some(file.site_ref(site))),
        _ => {
            let name = blocklint_link::syntax::forms::last_name(facts, *form);
            (name.map_or_else(String::new, |name| facts.text(name).to_owned()), None)
        }
    };
    decorators.iter().map(mark).collect()
}

fn name_of(linker: &Linker<'_>, site: SiteRef) -> String {
    linker.program.facts(site.file).text(linker.program.site(site).name).to_owned()
}

/// Returns the method that a name says: `get`, `add_post`, `PutMapping`, `async_get`.
fn method_in_name(name: &str) -> Option<String> {
    let name = name.strip_suffix("Mapping").unwrap_or(name);
    let last = name.rsplit('_').next().unwrap_or(name);
    METHODS.iter().find(|method| method.eq_ignore_ascii_case(last)).map(|&method| method.to_owned())
}

/// Returns the methods that are written among arguments: `methods=["GET", "POST"]`, `"GET"`.
fn methods_in_arguments(linker: &Linker<'_>, site: SiteRef) -> Option<String> {
    let facts = linker.program.facts(site.file);
    let method = |form| match facts.form(form) {
        Form::Str(text) => METHODS.iter().find(|method| method.eq_ignore_ascii_case(facts.text(text))).copied(),
        Form::Attr(_, text) | Form::Path(_, text) => {
            METHODS.iter().find(|method| **method == facts.text(text)).copied()
        }
        _ => None,
    };
    let mut found: Vec<&str> = Vec::new();
    for arg in linker.program.args_of(site).iter() {
        match facts.form(arg.value) {
            Form::Display(_, list) => found.extend(facts.list(list).iter().filter_map(|&form| method(form))),
            _ => found.extend(method(arg.value)),
        }
    }
    (!found.is_empty()).then(|| found.join(", "))
}

/// Returns the path that is written among arguments: the first literal string with a slash, of the registration itself any string.
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

/// Returns the path that annotations of a class put before those of its methods: `@RequestMapping("/api")` (Java).
fn path_of_class(linker: &Linker<'_>, class: ClassRef) -> Option<String> {
    let facts = linker.program.facts(class.file);
    if facts.language != blocklint_core::Language::Java {
        return None;
    }
    let marks = marks(linker, class.file, facts.list(linker.program.class(class).decorators));
    marks.into_iter().filter_map(|(_, made)| path_in_arguments(linker, made?, false)).find(|path| path.starts_with('/'))
}
