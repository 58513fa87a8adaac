//! `blocklint models twins NAME…`: the model rows of paths as JSON, for programs that rewrite calls.

use blocklint_core::{Language, Runtime};
use blocklint_models::{CallRow, CallRows, LanguageModels, expand_twin, written};
use serde_json::{Map, Value, json};

use super::{load_models_here, print};
use crate::CLEAN;
use crate::arguments::Twins;
use crate::messages::Failure;

/// The runtimes for which Python models have async twins.
const RUNTIMES: [Runtime; 3] = [Runtime::Asyncio, Runtime::Anyio, Runtime::Trio];

pub(super) fn twins(twins: &Twins) -> Result<u8, Failure> {
    let models = load_models_here(twins.isolated, &[])?;
    let models = models.lang(twins.language.unwrap_or(Language::Python));
    let objects = twins.names.iter().map(|name| (name.clone(), path_json(models, name)));
    let text = Value::Object(objects.collect::<Map<_, _>>());
    print(&format!("{text:#}\n"))?;
    Ok(CLEAN)
}

/// Returns the properties of a path that models know, as JSON; `known` is false if there is no row.
fn path_json(models: &LanguageModels, name: &str) -> Value {
    let path = models.canonical(name);
    let calls = models.calls(&path);
    let properties = models.properties(&path);
    let ty = models.ty(&path);
    // A condition may depend on the call's arguments, which are unknown here, so a row counts if one of its conditions
    // could hold.
    let effect = |calls: &CallRows<'_>| {
        let held = calls.with(CallRow::has_effect_group).find_map(|row| row.row.held_effect());
        held.map(|effect| effect.as_str())
    };
    let by_runtime = |value: &dyn Fn(Runtime) -> Value| {
        let values = RUNTIMES.iter().map(|&runtime| (runtime.as_str().to_owned(), value(runtime)));
        Value::Object(values.filter(|(_, value)| !is_empty(value)).collect())
    };
    let rewrite = |runtime| {
        let template = calls.iter().find_map(|row| row.row.rewrite.as_ref()?.for_runtime(Some(runtime)));
        template.map_or(Value::Null, |template| written::template(template).into())
    };
    // A field such as `client.chat` has a type, although it is not a call.
    let holder = path.rsplit_once(blocklint_models::separator(models.language()));
    let field = holder.and_then(|(of, name)| models.ty(of)?.field(name));
    let returns = calls.iter().find_map(|row| row.row.returns.as_ref()).or(field);
    let enters = ty.as_ref().and_then(|rows| rows.iter().find_map(|row| row.row.enters.as_ref()));
    json!({
        "path": path,
        "known": !calls.is_empty() || !properties.is_empty() || ty.is_some() || field.is_some(),
        "type": ty.is_some() || calls.iter().any(|row| row.row.creates.is_some() && row.row.returns.is_none()),
        "effect": effect(&calls),
        "property": !properties.is_empty(),
        "async": calls.iter().find_map(|row| row.row.is_async),
        "lazy": calls.iter().any(|row| row.row.lazy),
        "fix": calls.iter().find_map(|row| row.row.fix).map(|fix| fix.as_str()),
        "returns": returns.map(|ty| written::type_expr(ty, models.language())),
        "enters": enters.map(|ty| written::type_expr(ty, models.language())),
        "twins": by_runtime(&|runtime| twins_of_call(models, &calls, &path, runtime).into()),
        "rewrite": by_runtime(&rewrite),
    })
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Returns the async twins of a call: those of its rows, else the methods of the same name in the twins of its class.
fn twins_of_call(models: &LanguageModels, calls: &CallRows<'_>, path: &str, runtime: Runtime) -> Vec<String> {
    let matched = calls.iter().find_map(|found| Some((found.path, found.row.instead.as_ref()?)));
    if let Some((pattern, instead)) = matched {
        let twins = instead.for_runtime(Some(runtime)).iter();
        return twins.map(|twin| expand_twin(twin, pattern, path, models.language())).collect();
    }
    let separator = blocklint_models::separator(models.language());
    let Some((class, method)) = path.rsplit_once(separator).filter(|_| !calls.is_empty()) else { return Vec::new() };
    let constructor = models.calls(class);
    let Some(instead) = constructor.iter().find_map(|found| found.row.instead.as_ref()) else { return Vec::new() };
    instead.for_runtime(Some(runtime)).iter().map(|twin| format!("{twin}{separator}{method}")).collect()
}
