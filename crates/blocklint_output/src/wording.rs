//! Steps of a trace in words: who calls what, as people name it.

use blocklint_core::{Finding, last_name};

/// Returns the event at a step of the trace, in words.
pub(crate) fn step_label(finding: &Finding, at: usize) -> String {
    let last = finding.trace.len().saturating_sub(1);
    let Some(step) = finding.trace.get(at) else { return String::new() };
    match (at == last, last) {
        (true, 0) => "blocks here".to_owned(),
        // The finding is not that the call blocks.
        (true, _) if finding.effect.is_none() => format!("{} calls `{}`", who(&step.function), step.call),
        (true, _) => format!("{} calls `{}`, which blocks", who(&step.function), step.call),
        (false, _) => format!("{} {}", who(&step.function), does(&step.call, &step.function)),
    }
}

/// Returns the body, by the name its readers look for: a method with its class, a nameless one by what it is and where.
fn who(qualified: &str) -> String {
    match nameless(qualified) {
        Some(what) => format!("{what} of {}", who(parent(qualified))),
        None => format!("`{}`", with_class(qualified)),
    }
}

/// Returns the words for how a body, `by`, runs this one.
fn does(qualified: &str, by: &str) -> String {
    if let Some(what) = nameless(qualified) {
        return format!("runs {what}");
    }
    let class = last_name(parent(qualified));
    match last_name(qualified) {
        "__init__" | "__new__" | "__post_init__" | "<init>" if !class.is_empty() => {
            let article = if class.trim_start_matches('_').starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
            format!("makes {article} `{class}`")
        }
        // The class they share was just said.
        name if parent(qualified) == parent(by) => format!("calls `{name}`"),
        _ => format!("calls `{}`", with_class(qualified)),
    }
}

/// Returns the words for a body without a name.
fn nameless(qualified: &str) -> Option<&'static str> {
    match last_name(qualified) {
        "<lambda>" if qualified.contains("::") => Some("a closure"),
        "<lambda>" => Some("a lambda"),
        "<genexpr>" => Some("a generator expression"),
        "<async block>" => Some("an async block"),
        _ => None,
    }
}

/// `Store.load` of `app.Store.load`, `load` of `app.load`: what begins with a capital letter is a class in all three
/// languages.
fn with_class(qualified: &str) -> &str {
    let name = last_name(qualified);
    let class = last_name(parent(qualified));
    let is_class = class.trim_start_matches('_').starts_with(char::is_uppercase) || name.starts_with("__");
    match is_class && !class.is_empty() && class != name {
        true => qualified.get(parent(qualified).len() - class.len()..).unwrap_or(name),
        false => name,
    }
}

/// Returns the text before the last name, without the separator.
fn parent(qualified: &str) -> &str {
    let before = qualified.len() - last_name(qualified).len();
    qualified.get(..before).unwrap_or_default().trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::{does, who};

    #[test]
    fn methods_go_by_their_class() {
        for (qualified, said) in [
            ("app.load", "`load`"),
            ("app.Store.load", "`Store.load`"),
            ("app._Store.load", "`_Store.load`"),
            ("store::Store::load", "`Store::load`"),
            ("app.store.__getattr__", "`store.__getattr__`"),
            ("app.make.inner", "`inner`"),
            ("main", "`main`"),
            ("", "``"),
        ] {
            assert_eq!(who(qualified), said);
        }
    }

    #[test]
    fn constructors_make_and_the_nameless_go_by_what_they_are() {
        assert_eq!(does("app.Blocks.__init__", "app.f"), "makes a `Blocks`");
        assert_eq!(does("org.acme.App.<init>", "org.acme.App.run"), "makes an `App`");
        assert_eq!(does("app.Store.load", "app.f"), "calls `Store.load`");
        assert_eq!(does("app.Store.load", "app.Store.get"), "calls `load`");
        assert_eq!(does("app.run.<lambda>", "app.run"), "runs a lambda");
        assert_eq!(who("app.run.<lambda>"), "a lambda of `run`");
        assert_eq!(who("app.any.<genexpr>.<lambda>"), "a lambda of a generator expression of `any`");
        assert_eq!(who("a::Store::run::<async block>"), "an async block of `Store::run`");
    }
}
