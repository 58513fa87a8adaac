//! Texts for inferred values and literals: ``instance of `app.Store` or `None` ``.

use blocklint_analysis::{ArgsId, Constant, Linker, Val, ValueId};

/// The greatest depth of nested type arguments and parts in a text.
const MAX_DEPTH: u32 = 3;

/// Returns the text of the possible values of an expression. Unknown values come last, with their reasons.
pub(super) fn value_text(linker: &Linker<'_>, value: ValueId) -> String {
    value_text_to_depth(linker, value, MAX_DEPTH)
}

fn value_text_to_depth(linker: &Linker<'_>, value: ValueId, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
    let members = linker.values.members(value);
    let (unknown, known): (Vec<Val>, Vec<Val>) = members.iter().partition(|val| matches!(val, Val::Unknown(_)));
    let words = known.iter().chain(&unknown).map(|val| member_text(linker, *val, depth));
    words.collect::<Vec<_>>().join(" or ")
}

fn member_text(linker: &Linker<'_>, val: Val, depth: u32) -> String {
    let path = |path| linker.library.text(path).to_string();
    match val {
        Val::Unknown(why) => format!("unknown: {}", why.as_str()),
        Val::None => "`None`".to_owned(),
        Val::Instance { class, .. } => format!("instance of `{}`", linker.qualified_class(class)),
        Val::Library { ty, args, .. } => format!("`{}`", generic_text(linker, &path(ty), args, depth)),
        Val::Class(class) => format!("class `{}`", linker.qualified_class(class)),
        Val::Module(file) => format!("module `{}`", linker.module_name(file)),
        Val::Folder(folder) => format!("package `{}`", path(folder)),
        Val::External(external) if linker.library.is_described(external) => format!("`{}`", path(external)),
        Val::External(external) => format!("`{}`, which no model describes", path(external)),
        Val::Fn { body, .. } => super::sites::body_text(linker, body),
        Val::Method { path: method, .. } => format!("method `{}`", path(method)),
        Val::Partial { inner, .. } => match depth.checked_sub(1) {
            Some(depth) => format!("partial of {}", member_text(linker, linker.values.single(inner), depth)),
            None => "a partial".to_owned(),
        },
        Val::Coroutine { body, .. } => format!("coroutine of `{}`", linker.qualified_name(body)),
        Val::Awaitable(inner) => format!("awaitable of {}", value_text_to_depth(linker, inner, depth)),
        Val::Iter { body, .. } => format!("generator of `{}`", linker.qualified_name(body)),
        Val::Lazy { path: call, .. } => format!("result of `{}`, which works when consumed", path(call)),
        Val::Tuple(parts) => {
            let parts: Vec<String> =
                linker.values.list(parts).iter().map(|&part| value_text_to_depth(linker, part, depth)).collect();
            format!("tuple of ({})", parts.join(", "))
        }
        Val::Super { class, .. } => format!("`super()` in `{}`", linker.qualified_class(class)),
        Val::Param { class, .. } => format!("a type parameter of `{}`", linker.qualified_class(class)),
    }
}

/// Returns a type with its arguments; unknown ones are `?`.
fn generic_text(linker: &Linker<'_>, ty: &str, args: ArgsId, depth: u32) -> String {
    let args = linker.values.list(args);
    let (Some(depth), false) = (depth.checked_sub(1), args.is_empty()) else { return ty.to_owned() };
    if args.iter().all(|&arg| linker.values.is_unknown(arg)) {
        return ty.to_owned();
    }
    let args: Vec<String> = args
        .iter()
        .map(|&arg| {
            if linker.values.is_unknown(arg) {
                "?".to_owned()
            } else {
                value_text_to_depth(linker, arg, depth).replace('`', "")
            }
        })
        .collect();
    let rust = ty.contains("::");
    let (open, close) = if rust { ('<', '>') } else { ('[', ']') };
    format!("{ty}{open}{}{close}", args.join(", "))
}

/// Returns the text of a literal, similar to its source code.
pub(super) fn literal_text(constant: &Constant) -> String {
    match constant {
        Constant::Hidden => "not visible".to_owned(),
        Constant::Param(index) => format!("parameter {index}"),
        Constant::Null => "none".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => value.to_string(),
        Constant::Str(text) => format!("{text:?}"),
        Constant::Head(text) => format!("{text:?}…"),
        Constant::Symbols(paths) => paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" or "),
        Constant::Empty => "empty".to_owned(),
    }
}
