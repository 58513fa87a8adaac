//! The serialisation of a route's response, by its response model, response class and the versions of the libraries.

use blocklint_core::{Language, Serialisation};
use blocklint_facts::{Form, FormId};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{Units, calls_of};
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

use super::{ROUTERS, Route};
use crate::rules::large_response_on_loop::library_base_path;

/// Returns the path of the call that takes the time.
pub(crate) fn slow_call(serialisation: Serialisation) -> &'static str {
    match serialisation {
        Serialisation::Direct => "pydantic_core.to_json",
        Serialisation::Rendered | Serialisation::ByClass | Serialisation::ByHand => "json.dumps",
        Serialisation::Encoded => "fastapi.encoders.jsonable_encoder",
        Serialisation::Pydantic1 => "pydantic.BaseModel.json",
    }
}

/// The declaration of a route's response.
pub(super) struct DeclaredResponse {
    /// The way of serialisation.
    pub(super) serialisation: Serialisation,
    /// The response model or return annotation.
    pub(super) model: Option<FormId>,
    /// The response class that may be dropped, as written.
    pub(super) class: Option<String>,
    /// True if the response class renders JSON in compiled code.
    pub(super) compiled: bool,
    /// The behaviour of other versions in the declared range, in words.
    pub(super) versions: Option<String>,
}

/// True for the path of a response class that renders JSON.
pub(super) fn renders_json(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("JSONResponse" | "ORJSONResponse" | "UJSONResponse")) && is_response(path)
}

/// True for the path of a response class.
pub(super) fn is_response(path: &str) -> bool {
    let of_framework =
        path.starts_with("fastapi.") || path.starts_with("starlette.") || path.starts_with("sse_starlette");
    let last = path.rsplit('.').next().unwrap_or(path);
    of_framework && last.ends_with("Response") || last == "TemplateResponse"
}

/// The switch for version 1 of the models' library. Imports in the code can show it too.
const OLD_MODELS: &str = "pydantic-1";

/// The switch for framework versions that need version 1 of the models' library.
const WITH_OLD_MODELS: &str = "fastapi-pydantic-1";

/// The switch for versions in which a response model renders bytes in one call.
const DUMPS: &str = "fastapi-dump-json";

/// True if the imports in a folder show a switch that no declared version decides: they import names that only version
/// 1 of the models' library has, and no later names.
pub(crate) fn shows_by_code(linker: &Linker<'_>, folder: &str, switch: &str) -> bool {
    if switch != OLD_MODELS {
        return false;
    }
    let program = linker.program;
    let (mut old, mut new) = (false, false);
    // The modules that a file imports are among its names.
    let files_with = |module: &str| program.name(module).map(|name| program.occurrences(name)).unwrap_or_default();
    for module in OLD_MODULES.iter().chain(NEW_MODULES) {
        for &(file, _) in files_with(module) {
            let relative = &program.files[file.index()].relative;
            let inside = folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            let facts = program.facts(file);
            if !inside || facts.language != Language::Python {
                continue;
            }
            let imports =
                facts.imports.iter().filter(|import| import.level == 0 && facts.text(import.module) == *module);
            for import in imports {
                match *module {
                    "pydantic.generics" => old = true,
                    module if NEW_MODULES.contains(&module) => new = true,
                    _ => {
                        let name = facts.text(import.name);
                        old |= matches!(name, "BaseSettings" | "validator" | "root_validator" | "parse_obj_as");
                        new |= matches!(
                            name,
                            "ConfigDict" | "field_validator" | "model_validator" | "TypeAdapter" | "RootModel"
                        );
                        new |= matches!(
                            name,
                            "field_serializer" | "computed_field" | "AfterValidator" | "BeforeValidator"
                        );
                    }
                }
            }
        }
    }
    old && !new
}

/// Modules that in version 1 of the models' library have names that later versions lack.
const OLD_MODULES: &[&str] =
    &["pydantic", "pydantic.main", "pydantic.class_validators", "pydantic.tools", "pydantic.generics"];

/// Modules of later versions only.
const NEW_MODULES: &[&str] = &["pydantic_settings", "pydantic_core", "pydantic.v1", "pydantic.functional_validators"];

/// Returns words for the behaviour of older versions that a declared range also allows.
pub(crate) fn other_path(switch: &str, dependency: &blocklint_link::program::Dependency) -> Option<String> {
    let declared_in = &dependency.said_in;
    match switch {
        DUMPS => Some(format!(
            "`{declared_in}` also allows versions of {} that render the JSON in Python, which takes three to four times as long",
            dependency.name
        )),
        OLD_MODELS => Some(format!(
            "`{declared_in}` also allows version 1 of {}, which converts everything in Python and takes ten times as long and more",
            dependency.name
        )),
        _ => None,
    }
}

/// Returns the declaration of a route's response. `None` if the route does not return JSON of models.
pub(super) fn declared_response(linker: &Linker<'_>, units: &Units, route: &Route) -> Option<DeclaredResponse> {
    let file = route.body.file;
    let facts = linker.program.facts(file);
    let args = linker.program.args_of(route.registration);
    let arg = |name: &str| args.iter().find(|arg| facts.text(arg.name) == name).map(|arg| arg.value);
    let is_none = |form: FormId| matches!(facts.form(form), Form::None);
    let returns = linker.program.body(route.body).returns;
    let model = match arg("response_model") {
        Some(form) => (!is_none(form)).then_some(form),
        None => returns.is_some().then_some(returns),
    };
    if let Some(form) = model.filter(|_| arg("response_model").is_none())
        && is_response_type(linker, route, form)
    {
        // The annotation states a response class, so the content is judged at the call that makes the response.
        return Some(DeclaredResponse {
            serialisation: Serialisation::ByHand,
            model: None,
            class: None,
            compiled: false,
            versions: None,
        });
    }
    let class = arg("response_class").map(|form| (form, route.registration, true));
    let class = class.or_else(|| default_class(linker, units, route));
    let (mut droppable, mut compiled) = (None, false);
    if let Some((form, site, is_own)) = class {
        let (path, written) = response_class(linker, site, form)?;
        if !renders_json(&path) {
            // HTML, files, streams, and classes of the project.
            return None;
        }
        compiled = !path.ends_with(".JSONResponse");
        droppable = is_own.then_some(written);
    }
    let unit = units.of(linker, file);
    let is_on = |name: &str| unit.on.iter().any(|switch| switch == name);
    let serialisation = if is_on(OLD_MODELS) || is_on(WITH_OLD_MODELS) {
        Serialisation::Pydantic1
    } else if model.is_none() {
        Serialisation::Encoded
    } else if class.is_some() && (compiled || is_on(DUMPS)) {
        Serialisation::ByClass
    } else if !is_on(DUMPS) {
        Serialisation::Rendered
    } else {
        Serialisation::Direct
    };
    let matters = |switch: &str| match serialisation {
        Serialisation::Direct => true,
        Serialisation::Rendered | Serialisation::ByClass => switch == OLD_MODELS,
        Serialisation::ByHand | Serialisation::Encoded | Serialisation::Pydantic1 => false,
    };
    let versions: Vec<&str> =
        unit.other_paths.iter().filter(|(switch, _)| matters(switch)).map(|(_, words)| words.as_str()).collect();
    let versions = (!versions.is_empty()).then(|| versions.join("; "));
    Some(DeclaredResponse {
        serialisation,
        model,
        class: droppable.filter(|_| serialisation == Serialisation::ByClass && is_on(DUMPS)),
        compiled,
        versions,
    })
}

/// Returns the path and the source text of a response class of a library.
fn response_class(linker: &Linker<'_>, site: SiteRef, form: FormId) -> Option<(String, String)> {
    let file = site.file;
    let scope = linker.scope_of(site, EnvId::NONE);
    let typed = linker.eval(scope, form);
    let path = linker.values.members(typed.value).iter().find_map(|val| match *val {
        Val::External(path) => Some(linker.library.text(path).to_string()),
        // A class of the project may render in another way.
        _ => None,
    })?;
    Some((path, linker.written(file, form)))
}

/// Returns the response class that the router or application of the file sets for all routes, or if there is none, the
/// application of the unit.
fn default_class(linker: &Linker<'_>, units: &Units, route: &Route) -> Option<(FormId, SiteRef, bool)> {
    let file = route.body.file;
    let class_at = |site: &SiteRef| {
        let facts = linker.program.facts(site.file);
        let args = linker.program.args_of(*site);
        let class = args.iter().find(|arg| facts.text(arg.name) == "default_response_class")?;
        Some((class.value, *site, false))
    };
    let unit = units.of(linker, file);
    let is_in_unit =
        |site: &&SiteRef| std::ptr::eq(units.of(linker, site.file), unit) && !linker.program.is_test(site.file);
    let routers: Vec<SiteRef> = ROUTERS.iter().flat_map(|path| calls_of(linker, path)).collect();
    let applications = calls_of(linker, ROUTERS[0]);
    let own = routers.iter().filter(|site| site.file == file).find_map(class_at);
    own.or_else(|| applications.iter().filter(is_in_unit).find_map(class_at))
}

/// True if an annotation is a response class, or an unknown type whose name ends with `Response`.
fn is_response_type(linker: &Linker<'_>, route: &Route, form: FormId) -> bool {
    let typed = linker.annotation(linker.signature_scope(route.body), form);
    let known = linker.values.members(typed.value).iter().any(|val| match *val {
        Val::Library { ty, .. } => is_response(&linker.library.text(ty)),
        Val::Instance { class, .. } => library_base_path(linker, class).is_some_and(|path| is_response(&path)),
        _ => false,
    });
    known || linker.written(route.body.file, form).ends_with("Response") && linker.values.is_unknown(typed.value)
}
