//! The steps of a trace in words: `` `Store.load` calls `get`, which blocks``. Also the entry point that reaches a
//! finding: `reached from GET /users/{id}`.

use blocklint_core::{EntryKind, Finding, ReachedBy, last_name};

use crate::ReachedFrom;

/// Returns the event at a step of the trace, in words.
pub(crate) fn step_label(finding: &Finding, index: usize) -> String {
    let last = finding.trace.len().saturating_sub(1);
    let Some(step) = finding.trace.get(index) else { return String::new() };
    match (index == last, last) {
        (true, 0) => "blocks here".to_owned(),
        // A finding without an effect does not say that the call blocks.
        (true, _) if finding.effect.is_none() => format!("{} calls `{}`", body_text(&step.function), step.call),
        (true, _) => format!("{} calls `{}`, which blocks", body_text(&step.function), step.call),
        (false, _) => format!("{} {}", body_text(&step.function), action_text(&step.call, &step.function)),
    }
}

/// Returns the entry point that reaches a finding in words, with the time of the call for each of its runs: `reached
/// from GET /users/{id}, about 35 ms for each request`.
pub(crate) fn reached_from_text(finding: &Finding, reached_from: ReachedFrom) -> Option<String> {
    let entry = finding.reached_by.get(reached_from.entry as usize)?;
    let text = format!("reached from {}", entry_text(entry)?);
    let run = match entry.kind {
        EntryKind::Request => "for each request",
        EntryKind::Message => "for each message",
        _ => "each time",
    };
    Some(match reached_from.takes {
        Some(takes) => format!("{text}, about {takes} {run}"),
        None => text,
    })
}

/// Returns an entry point in words, as an object of "from"; `None` if its kind tells people nothing.
fn entry_text(entry: &ReachedBy) -> Option<String> {
    if let Some(route) = &entry.route {
        return Some(route.clone());
    }
    let (body, is_nameless) = (body_text(&entry.entry), nameless_kind(&entry.entry).is_some());
    Some(match entry.kind {
        // A body without a name is "a lambda of `run`", to which no article goes.
        EntryKind::Request if is_nameless => format!("{body}, which handles requests"),
        EntryKind::Message if is_nameless => format!("{body}, which handles messages"),
        EntryKind::Task if is_nameless => format!("{body}, which runs as a task"),
        EntryKind::Request => format!("the request handler {body}"),
        EntryKind::Message => format!("the message handler {body}"),
        EntryKind::Tick => format!("the timer that runs {body}"),
        EntryKind::Task => format!("the task {body}"),
        EntryKind::Start => format!("the start of the program ({body})"),
        EntryKind::Stop => format!("the end of the program ({body})"),
        EntryKind::Reload => format!("a reload of the configuration ({body})"),
        EntryKind::Command => format!("the command {body}"),
        EntryKind::Test | EntryKind::None | EntryKind::Unknown => return None,
    })
}

/// Returns the name of a body for people: a method with its class, a body without a name by its kind (`a lambda of
/// `run``).
pub(crate) fn body_text(qualified: &str) -> String {
    match nameless_kind(qualified) {
        Some(kind) => format!("{kind} of {}", body_text(parent(qualified))),
        None => format!("`{}`", with_class(qualified)),
    }
}

/// Returns the words for how the body `caller` runs this one: `calls `load``, `makes a `Store``.
fn action_text(qualified: &str, caller: &str) -> String {
    if let Some(kind) = nameless_kind(qualified) {
        return format!("runs {kind}");
    }
    let class = last_name(parent(qualified));
    match last_name(qualified) {
        "__init__" | "__new__" | "__post_init__" | "<init>" if !class.is_empty() => {
            let article = if class.trim_start_matches('_').starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
            format!("makes {article} `{class}`")
        }
        // The class of the caller is left out, because the text has just named it.
        name if parent(qualified) == parent(caller) => format!("calls `{name}`"),
        _ => format!("calls `{}`", with_class(qualified)),
    }
}

/// Returns the kind of a body without a name, in words.
fn nameless_kind(qualified: &str) -> Option<&'static str> {
    match last_name(qualified) {
        "<lambda>" if qualified.contains("::") => Some("a closure"),
        "<lambda>" => Some("a lambda"),
        "<genexpr>" => Some("a generator expression"),
        "<async block>" => Some("an async block"),
        _ => None,
    }
}

/// Returns the name of a body with its class: `Store.load` of `app.Store.load`, `load` of `app.load`. In all three
/// languages a name with a capital letter is a class.
fn with_class(qualified: &str) -> &str {
    let name = last_name(qualified);
    let class = last_name(parent(qualified));
    let is_class = class.trim_start_matches('_').starts_with(char::is_uppercase) || name.starts_with("__");
    if is_class && !class.is_empty() && class != name {
        qualified.get(parent(qualified).len() - class.len()..).unwrap_or(name)
    } else {
        name
    }
}

/// Returns the text before the last name, without the separator.
fn parent(qualified: &str) -> &str {
    let before = qualified.len() - last_name(qualified).len();
    qualified.get(..before).unwrap_or_default().trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::{action_text, body_text};

    #[test]
    fn methods_are_named_with_their_class() {
        for (qualified, text) in [
            ("app.load", "`load`"),
            ("app.Store.load", "`Store.load`"),
            ("app._Store.load", "`_Store.load`"),
            ("store::Store::load", "`Store::load`"),
            ("app.store.__getattr__", "`store.__getattr__`"),
            ("app.make.inner", "`inner`"),
            ("main", "`main`"),
            ("", "``"),
        ] {
            assert_eq!(body_text(qualified), text);
        }
    }

    #[test]
    fn constructors_make_objects_and_nameless_bodies_have_a_kind() {
        assert_eq!(action_text("app.Blocks.__init__", "app.f"), "makes a `Blocks`");
        assert_eq!(action_text("org.acme.App.<init>", "org.acme.App.run"), "makes an `App`");
        assert_eq!(action_text("app.Store.load", "app.f"), "calls `Store.load`");
        assert_eq!(action_text("app.Store.load", "app.Store.get"), "calls `load`");
        assert_eq!(action_text("app.run.<lambda>", "app.run"), "runs a lambda");
        assert_eq!(body_text("app.run.<lambda>"), "a lambda of `run`");
        assert_eq!(body_text("app.any.<genexpr>.<lambda>"), "a lambda of a generator expression of `any`");
        assert_eq!(body_text("a::Store::run::<async block>"), "an async block of `Store::run`");
    }
}
