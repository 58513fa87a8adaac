//! How the result of an endpoint is serialised to a response.

use blocklint_core::Serialisation;
use blocklint_facts::{Form, FormId};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{Units, calls_of};
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

use super::{ROUTERS, Route};
use crate::rules::large_response_on_loop::class_path;

/// Returns the call that takes the time.
pub(crate) fn slow_call(serialisation: Serialisation) -> &'static str {
    match serialisation {
        Serialisation::Direct => "pydantic_core.to_json",
        Serialisation::Rendered | Serialisation::ByClass | Serialisation::ByHand => "json.dumps",
        Serialisation::Encoded => "fastapi.encoders.jsonable_encoder",
        Serialisation::Old => "pydantic.BaseModel.json",
    }
}

/// The declaration of a route's response.
pub(super) struct Declared {
    /// How it is serialised.
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

/// Returns the classes of responses that render JSON of data.
pub(super) fn renders_json(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("JSONResponse" | "ORJSONResponse" | "UJSONResponse")) && is_response(path)
}

/// Returns the classes of responses.
pub(super) fn is_response(path: &str) -> bool {
    let of_framework =
        path.starts_with("fastapi.") || path.starts_with("starlette.") || path.starts_with("sse_starlette");
    let last = path.rsplit('.').next().unwrap_or(path);
    of_framework && last.ends_with("Response") || last == "TemplateResponse"
}

/// The name of a fact about versions that code can show too.
const OLD_MODELS: &str = "pydantic-1";

/// The fact that only the first version of the models' library goes with it.
const WITH_OLD_MODELS: &str = "fastapi-pydantic-1";

/// The switch for versions in which a response model renders bytes in one call.
const DUMPS: &str = "fastapi-dump-json";

/// True if code shows a fact that no version decides: names that only the first version of the models' library has, and
/// none of those that came later.
pub(crate) fn shows_by_code(linker: &Linker<'_>, folder: &str, switch: &str) -> bool {
    if switch != OLD_MODELS {
        return false;
    }
    let program = linker.program;
    let (mut old, mut new) = (false, false);
    // A file bears the names of the modules that it imports.
    let files_with = |module: &str| program.name(module).map(|name| program.occurrences(name)).unwrap_or_default();
    for module in OF_OLD.iter().chain(OF_NEW) {
        for &(file, _) in files_with(module) {
            let relative = &program.files[file.index()].relative;
            let inside = folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            let facts = program.facts(file);
            if !inside || facts.language != blocklint_core::Language::Python {
                continue;
            }
            let imports =
                facts.imports.iter().filter(|import| import.level == 0 && facts.text(import.module) == *module);
            for import in imports {
                match *module {
                    "pydantic.generics" => old = true,
                    of_new if OF_NEW.contains(&of_new) => new = true,
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

/// Modules of the models' library of which the first version has names that later ones lack.
const OF_OLD: &[&str] =
    &["pydantic", "pydantic.main", "pydantic.class_validators", "pydantic.tools", "pydantic.generics"];

/// Modules that only later versions have.
const OF_NEW: &[&str] = &["pydantic_settings", "pydantic_core", "pydantic.v1", "pydantic.functional_validators"];

/// Returns the behaviour of older versions that a range allows besides the newest, in words.
pub(crate) fn other_path(switch: &str, dependency: &blocklint_link::program::Dependency) -> Option<String> {
    let said = &dependency.said_in;
    match switch {
        DUMPS => Some(format!(
            "`{said}` also allows versions of {} that render the JSON in Python, which takes three to four times as long",
            dependency.name
        )),
        OLD_MODELS => Some(format!(
            "`{said}` also allows version 1 of {}, which converts everything in Python and takes ten times as long and more",
            dependency.name
        )),
        _ => None,
    }
}

/// Returns the declaration of a route's response; none if the route returns no JSON of models.
pub(super) fn declared(linker: &Linker<'_>, units: &Units, route: &Route) -> Option<Declared> {
    let file = route.body.file;
    let facts = linker.program.facts(file);
    let args = linker.program.args_of(route.made);
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
        // The annotation states that a response is returned; what it is made of is looked at where it is made.
        return Some(Declared {
            serialisation: Serialisation::ByHand,
            model: None,
            class: None,
            compiled: false,
            versions: None,
        });
    }
    let class = arg("response_class").map(|form| (form, route.made, true));
    let class = class.or_else(|| default_class(linker, units, route));
    let (mut dropped, mut compiled) = (None, false);
    if let Some((form, made, own)) = class {
        let text = class_text(linker, made, form)?;
        if !renders_json(&text.0) {
            // HTML, files, streams and classes of one's own.
            return None;
        }
        compiled = !text.0.ends_with(".JSONResponse");
        dropped = own.then_some(text.1);
    }
    let unit = units.of(linker, file);
    let on = |name: &str| unit.on.iter().any(|on| on == name);
    let serialisation = if on(OLD_MODELS) || on(WITH_OLD_MODELS) {
        Serialisation::Old
    } else if model.is_none() {
        Serialisation::Encoded
    } else if class.is_some() && (compiled || on(DUMPS)) {
        Serialisation::ByClass
    } else if !on(DUMPS) {
        Serialisation::Rendered
    } else {
        Serialisation::Direct
    };
    let slower = |switch: &str| match serialisation {
        Serialisation::Direct => true,
        Serialisation::Rendered | Serialisation::ByClass => switch == OLD_MODELS,
        Serialisation::ByHand | Serialisation::Encoded | Serialisation::Old => false,
    };
    let versions: Vec<&str> =
        unit.other_paths.iter().filter(|(switch, _)| slower(switch)).map(|(_, words)| words.as_str()).collect();
    let versions = (!versions.is_empty()).then(|| versions.join("; "));
    Some(Declared {
        serialisation,
        model,
        class: dropped.filter(|_| serialisation == Serialisation::ByClass && on(DUMPS)),
        compiled,
        versions,
    })
}

/// Returns the path and the text of a response class.
fn class_text(linker: &Linker<'_>, site: SiteRef, form: FormId) -> Option<(String, String)> {
    let file = site.file;
    let scope = linker.scope_of(site, EnvId::NONE);
    let typed = linker.eval(scope, form);
    let path = linker.values.members(typed.value).iter().find_map(|val| match *val {
        Val::External(path) => Some(linker.library.text(path).to_string()),
        // A class of the project adds something.
        _ => None,
    })?;
    Some((path, linker.written(file, form)))
}

/// Returns the response class that the file's router or application, else the unit's application sets for all routes.
fn default_class(linker: &Linker<'_>, units: &Units, route: &Route) -> Option<(FormId, SiteRef, bool)> {
    let file = route.body.file;
    let class = |site: &SiteRef| {
        let facts = linker.program.facts(site.file);
        let args = linker.program.args_of(*site);
        let class = args.iter().find(|arg| facts.text(arg.name) == "default_response_class")?;
        Some((class.value, *site, false))
    };
    let unit = units.of(linker, file);
    let of_unit =
        |site: &&SiteRef| std::ptr::eq(units.of(linker, site.file), unit) && !linker.program.is_test(site.file);
    let routers: Vec<SiteRef> = ROUTERS.iter().flat_map(|path| calls_of(linker, path)).collect();
    let applications = calls_of(linker, ROUTERS[0]);
    let own = routers.iter().filter(|site| site.file == file).find_map(class);
    own.or_else(|| applications.iter().filter(of_unit).find_map(class))
}

fn is_response_type(linker: &Linker<'_>, route: &Route, form: FormId) -> bool {
    let typed = linker.annotation(linker.signature_scope(route.body), form);
    let known = linker.values.members(typed.value).iter().any(|val| match *val {
        Val::Library { ty, .. } => is_response(&linker.library.text(ty)),
        Val::Instance { class, .. } => class_path(linker, class).is_some_and(|path| is_response(&path)),
        _ => false,
    });
    known || linker.written(route.body.file, form).ends_with("Response") && linker.values.is_unknown(typed.value)
}
