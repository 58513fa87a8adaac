//! Edits that make helpers `async` together: `fn load` → `async fn load`, `load(path)` → `load(path).await`,
//! `std::fs::read` in it → `tokio::fs::read`. The caller knows the call graph; this file finds the reasons against the
//! change in the text of one file.

use blocklint_core::{Refusal, Span};
use tree_sitter::Node;

use super::captures::is_harmless_attribute;
use super::held::{check_is_sendable, may_hold_in_tokens};
use super::surroundings::{Surroundings, is_async};
use super::{File, Site, TextEdit, parse, span, span_at};
use crate::kinds::{K, all, fields, kind};

/// The part of one file in a set of helpers that become `async` together.
#[derive(Clone, Debug, Default)]
pub struct ChainPart<'p> {
    /// The spans of the names of the helpers that the file defines.
    pub helpers: Vec<Span>,
    /// The spans of the names of the tests that call helpers.
    pub tests: Vec<Span>,
    /// The path of the attribute that runs an `async` test: `tokio::test`.
    pub runs_tests: &'p str,
    /// The calls of helpers, each from the called name on.
    pub calls: Vec<Span>,
    /// The library calls to replace, with the paths of their async twins.
    pub sinks: Vec<(Span, &'p str)>,
    /// True if other crates can call `pub` functions of the file.
    pub exports: bool,
}

/// The edits of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chained {
    /// The spans that are replaced, with their new text.
    pub edits: Vec<(Span, String)>,
    /// For each helper in order, true if it is private to its module.
    pub is_private: Vec<bool>,
    /// For each helper in order, true if it is a method with a receiver.
    pub is_method: Vec<bool>,
}

/// Macros of the standard library whose arguments are expressions, each evaluated in place.
const EVALUATING_MACROS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "eprint",
    "eprintln",
    "format",
    "panic",
    "print",
    "println",
    "vec",
    "write",
    "writeln",
];

/// The reason against the change, and its place.
pub type Unchanged = (Refusal, Span);

/// Returns the edits that make the helpers of one file `async`. Needs a thread with a stack of 16 MiB.
///
/// # Errors
///
/// Returns the reason against the change, and its place.
pub fn asyncify(source: &str, part: &ChainPart<'_>) -> Result<Chained, Unchanged> {
    let Some(tree) = parse(source) else {
        return Err((Refusal::new("the file could not be parsed"), Span::default()));
    };
    let file = File { source, root: tree.root_node() };
    let mut done = Chained::default();
    for &name in &part.helpers {
        file.make_helper_async(name, part.exports, &mut done).map_err(|refusal| (refusal, name))?;
    }
    for &name in &part.tests {
        file.make_test_async(name, part.runs_tests, &mut done.edits).map_err(|refusal| (refusal, name))?;
    }
    let changed: Vec<Span> = part.helpers.iter().chain(&part.tests).copied().collect();
    for &call in &part.calls {
        file.add_await(call, &changed, &mut done.edits).map_err(|refusal| (refusal, call))?;
    }
    for &(call, twin) in &part.sinks {
        file.replace_by_twin(call, twin, &part.helpers, &mut done.edits).map_err(|refusal| (refusal, call))?;
    }
    done.edits.sort();
    Ok(done)
}

impl<'a> File<'a> {
    /// Makes a helper `async`: `fn load` → `async fn load`.
    fn make_helper_async(&self, name: Span, exports: bool, done: &mut Chained) -> Result<(), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(function) = self.function_named_at(name) else {
            return refuse("no function is defined at this place");
        };
        let text = self.source.get(name.start as usize..name.end as usize).unwrap_or_default();
        if let Some(words) = all(function).find(|part| kind(*part) == K::FunctionModifiers) {
            return Err(Refusal::new(format!(
                "`{text}` is `{}`, which cannot be combined with `async`",
                self.text(words)
            )));
        }
        if let Some(attribute) = attributes(function).find(|attribute| !is_harmless_attribute(self.text(*attribute))) {
            let written = self.text(attribute);
            return Err(Refusal::new(format!("`{text}` has the attribute `{written}`, whose effect is unknown")));
        }
        let mut around = function.parent();
        while let Some(node) = around {
            match kind(node) {
                K::TraitItem => return Err(Refusal::new(format!("a trait defines the signature of `{text}`"))),
                K::ImplItem if node.child_by_field_id(fields().trait_name).is_some() => {
                    return Err(Refusal::new(format!("a trait defines the signature of `{text}`")));
                }
                K::ImplItem if attributes(node).next().is_some() => {
                    return Err(Refusal::new(format!("an attribute of its `impl` may rewrite `{text}`")));
                }
                K::ForeignMod => return refuse("it is declared in an `extern` block"),
                _ => around = node.parent(),
            }
        }
        let visibility = all(function).find(|part| part.kind() == "visibility_modifier").map(|part| self.text(part));
        if exports && visibility == Some("pub") {
            return Err(Refusal::new(format!("`{text}` is `pub`, and other crates may call it")));
        }
        let parameters = function.child_by_field_id(fields().parameters);
        let parameters: Vec<Node<'a>> = parameters.into_iter().flat_map(crate::kinds::named).collect();
        for parameter in &parameters {
            if let Err(bound) = check_is_sendable(self, *parameter) {
                return Err(Refusal::new(format!(
                    "`{text}` takes a `{bound}`, which would live across an `.await` and may not be `Send`"
                )));
            }
        }
        let Some(word) = all(function).find(|part| part.kind() == "fn") else {
            return refuse("no function is at this place");
        };
        done.edits.push((span_at(word.start_byte()), "async ".to_owned()));
        done.is_private.push(visibility.is_none());
        done.is_method.push(parameters.iter().any(|parameter| kind(*parameter) == K::SelfParameter));
        Ok(())
    }

    /// Makes a test `async`: `#[test] fn loads` → `#[tokio::test] async fn loads`.
    fn make_test_async(&self, name: Span, runs: &str, edits: &mut Vec<TextEdit>) -> Result<(), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(function) = self.function_named_at(name) else { return refuse("no test is defined at this place") };
        let text = self.source.get(name.start as usize..name.end as usize).unwrap_or_default();
        let is_plain = |attribute: &Node<'_>| self.text(*attribute) == "#[test]";
        let Some(attribute) = attributes(function).find(is_plain) else {
            return Err(Refusal::new(format!(
                "a test that is not `async` calls it, and the runner of `{text}` is unknown"
            )));
        };
        let leaves = |attribute: &Node<'_>| {
            let written = self.text(*attribute);
            is_plain(attribute) || is_harmless_attribute(written) || is_test_setting(written)
        };
        if let Some(attribute) = attributes(function).find(|attribute| !leaves(attribute)) {
            let written = self.text(attribute);
            return Err(Refusal::new(format!(
                "the test `{text}` has the attribute `{written}`, whose effect is unknown"
            )));
        }
        if all(function).any(|part| kind(part) == K::FunctionModifiers) {
            return Err(Refusal::new(format!("the test `{text}` cannot be `async`")));
        }
        let Some(word) = all(function).find(|part| part.kind() == "fn") else {
            return refuse("no function is at this place");
        };
        edits.push((span(attribute), format!("#[{runs}]")));
        edits.push((span_at(word.start_byte()), "async ".to_owned()));
        Ok(())
    }

    /// Awaits a call of a helper: `load(path)` → `load(path).await`.
    fn add_await(&self, call: Span, helpers: &[Span], edits: &mut Vec<TextEdit>) -> Result<(), Refusal> {
        let call = match self.find_evaluating_macro(call) {
            Some(of_macro) => {
                let of_macro = of_macro?;
                let root = self.find_async_root(of_macro, helpers)?;
                self.check_nothing_is_held(root, of_macro)?;
                edits.push((span_at(call.end as usize), ".await".to_owned()));
                return Ok(());
            }
            None => self.call_at(call)?,
        };
        let root = self.find_async_root(call, helpers)?;
        self.check_nothing_is_held(root, call)?;
        if call.parent().is_some_and(|parent| kind(parent) == K::Await) {
            return Err(Refusal::new("its result is awaited already"));
        }
        edits.push((span_at(call.end_byte()), ".await".to_owned()));
        Ok(())
    }

    /// Replaces a call by its async twin: `std::fs::read(path)` → `tokio::fs::read(path).await`.
    fn replace_by_twin(
        &self,
        call: Span,
        twin: &str,
        helpers: &[Span],
        edits: &mut Vec<TextEdit>,
    ) -> Result<(), Refusal> {
        let call = self.call_at(call)?;
        let callee =
            call.child_by_field_id(fields().function).ok_or_else(|| Refusal::new("no call is at this place"))?;
        let root = self.find_async_root(call, helpers)?;
        self.check_nothing_is_held(root, call)?;
        let around = Surroundings { root, function: root, in_loop: None, is_awaited: false };
        let written = self.write_twin(&Site { call, callee, around }, twin, false, false, None)?;
        edits.extend(written.edits);
        Ok(())
    }

    /// Returns the macro whose arguments contain a call, if there is one. Only macros of the standard library are
    /// accepted that evaluate each argument in place and once, so that an `.await` is allowed in it.
    fn find_evaluating_macro(&self, call: Span) -> Option<Result<Node<'a>, Refusal>> {
        let (start, end) = (call.start as usize, call.end as usize);
        let name = self.root.descendant_for_byte_range(start, (start + 1).min(end))?;
        let outer = std::iter::successors(name.parent(), |node| node.parent());
        let tokens: Vec<Node<'a>> = outer.take_while(|node| kind(*node) == K::TokenTree).collect();
        let whole = tokens.last()?;
        let refused = || Some(Err(Refusal::new("the call is in the arguments of a macro")));
        let Some(of_macro) = whole.parent().filter(|node| kind(*node) == K::MacroInvocation) else { return refused() };
        let is_known = |name: Node<'a>| EVALUATING_MACROS.contains(&self.text(name));
        if !of_macro.child_by_field_id(fields().macro_name).is_some_and(is_known) {
            return refused();
        }
        for group in &tokens {
            let inner = group.prev_sibling().filter(|token| group != whole && self.text(*token) == "!");
            let name = inner.and_then(|token| token.prev_sibling()).filter(|name| kind(*name) == K::Identifier);
            if name.is_some_and(|name| !is_known(name)) {
                return refused();
            }
        }
        // The arguments are tokens and no expressions, so closures and held values are recognised by words.
        let may_be_closure = |group: &Node<'a>| {
            let mut before = all(*group).take_while(|token| token.end_byte() <= start);
            self.text(*group).starts_with('{') || before.any(|token| matches!(self.text(token), "|" | "||"))
        };
        let is_awaited =
            self.source.get(end..whole.end_byte()).is_some_and(|after| after.trim_start().starts_with(".await"));
        if tokens.iter().any(may_be_closure) || may_hold_in_tokens(self.text(*whole)) || is_awaited {
            return refused();
        }
        Some(Ok(of_macro))
    }

    /// Returns the function whose name has this span.
    fn function_named_at(&self, name: Span) -> Option<Node<'a>> {
        let (start, end) = (name.start as usize, name.end as usize);
        let name_node = self.root.descendant_for_byte_range(start, end)?;
        let function = name_node.parent().filter(|node| kind(*node) == K::FunctionItem)?;
        (function.child_by_field_id(fields().name) == Some(name_node) && span(name_node) == name).then_some(function)
    }

    /// Returns the `async` code around a call; the helpers count as `async`.
    fn find_async_root(&self, call: Node<'a>, helpers: &[Span]) -> Result<Node<'a>, Refusal> {
        let mut around = call.parent();
        while let Some(node) = around {
            match kind(node) {
                K::AsyncBlock => return Ok(node),
                K::Closure if is_async(node) => return Ok(node),
                K::Closure => return Err(Refusal::new("the call is in a closure that is not `async`")),
                K::FunctionItem => {
                    let name = node.child_by_field_id(fields().name).map(span);
                    return if is_async(node) || name.is_some_and(|name| helpers.contains(&name)) {
                        Ok(node)
                    } else {
                        Err(Refusal::new("the call is in a function that is not `async`"))
                    };
                }
                K::ConstItem | K::StaticItem | K::ConstBlock => return Err(Refusal::new("the call is in a constant")),
                K::TokenTree => return Err(Refusal::new("the call is in the arguments of a macro")),
                _ => around = node.parent(),
            }
        }
        Err(Refusal::new("the call is in no function"))
    }
}

/// True if an attribute only sets when a test runs or what result it expects.
fn is_test_setting(attribute: &str) -> bool {
    let path = attribute.trim_start_matches("#[").split(['(', ']', '=', ' ']).next().unwrap_or_default();
    matches!(path, "should_panic" | "ignore" | "cfg")
}

/// Returns the attributes of an item.
pub(super) fn attributes(item: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let before = std::iter::successors(item.prev_sibling(), |node| node.prev_sibling());
    let attached_comments = before.take_while(|node| super::is_comment(*node));
    attached_comments.filter(|node| kind(*node) == K::AttributeItem)
}
