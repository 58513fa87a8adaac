//! Attributes: `#[tokio::main(flavor = "…")]` is a decorator, `#[derive(…)]` lists traits, `#[cfg(test)]` sets a flag.
//!
//! The form of a decorator is the attribute's path, or, if it has arguments, the result of a `Macro` site. Attributes
//! that only concern the compiler (`#[inline]`) are left out.

use blocklint_core::Span;
use blocklint_facts::{Arg, Form, FormId, List, Site, SiteFlags, SiteKind, Sym};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, span};

/// The attributes of one item.
#[derive(Default)]
pub(crate) struct Attrs<'t> {
    /// The attributes, as nodes, in order.
    pub(crate) nodes: Vec<Node<'t>>,
}

/// True if a condition of `cfg` (without blanks) is true in builds for tests only: `test`, `feature="mock"`.
fn is_test_condition(text: &str) -> bool {
    let arguments_of = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(parts) = arguments_of("any") {
        return split_at_commas(parts).all(is_test_condition);
    }
    if let Some(parts) = arguments_of("all") {
        return split_at_commas(parts).any(is_test_condition);
    }
    let feature = text.strip_prefix("feature=").map(|name| name.trim_matches('"'));
    let is_test_word =
        |word: &str| matches!(word, "test" | "tests" | "testing" | "testutils" | "testsuite" | "mock" | "mocks");
    text == "test" || feature.is_some_and(|name| name.split(['-', '_']).any(is_test_word))
}

/// Splits a list at the commas outside of brackets.
fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|part| !part.is_empty())
}

/// Names of attributes that make a function a test, besides those that end in `_test`.
const TEST_ATTRIBUTES: &[&str] = &["test", "rstest", "gtest", "proptest"];

impl<'t> Attrs<'t> {
    /// Returns the start of an item: that of its first attribute.
    pub(crate) fn start(&self, item: Node<'_>) -> u32 {
        self.nodes.first().map_or(item.start_byte(), Node::start_byte) as u32
    }
}

impl Walker<'_> {
    /// True if the attributes say that the item is compiled only for tests.
    pub(crate) fn is_test_only(&self, attrs: &Attrs<'_>) -> bool {
        attrs.nodes.iter().any(|&node| self.is_test_attribute(node))
    }

    /// True if an attribute (outer or inner) says that its item is compiled only for tests.
    pub(crate) fn is_test_attribute(&self, node: Node<'_>) -> bool {
        let Some(attribute) = named(node).next() else { return false };
        let Some(path) = named(attribute).next() else { return false };
        let path_text = self.text(path);
        match path_text.rsplit("::").next().unwrap_or_default().trim() {
            "bench" => true,
            // `#[test]`, `#[rstest]`, `#[async_test]`; `#[latest]` is no test.
            name if TEST_ATTRIBUTES.contains(&name) || name.ends_with("_test") => true,
            "cfg" => match child(attribute, fields().arguments) {
                Some(arguments) => {
                    let text: String = self.text(arguments).split_whitespace().collect();
                    is_test_condition(text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&text))
                }
                None => false,
            },
            _ => false,
        }
    }

    /// True if an item has an attribute of this name.
    pub(crate) fn has_attribute(&self, attrs: &Attrs<'_>, name: &str) -> bool {
        let mut paths = attrs.nodes.iter().filter_map(|&node| named(node).next().and_then(|inner| named(inner).next()));
        paths.any(|path| self.text(path) == name)
    }

    /// Returns the value of `#[name = "…"]`.
    pub(crate) fn attribute_value(&mut self, attrs: &Attrs<'_>, name: &str) -> Option<Sym> {
        for &node in &attrs.nodes {
            let Some(attribute) = named(node).next() else { continue };
            if named(attribute).next().is_some_and(|path| self.text(path) == name) {
                let Some(value) = child(attribute, fields().value) else { continue };
                let text = self.text(value);
                return Some(self.facts.intern(text.trim_matches('"')));
            }
        }
        None
    }

    /// Returns the derived traits of an item, also those in `#[cfg_attr(…, derive(…))]`.
    pub(crate) fn derive_arguments(&mut self, attrs: &Attrs<'_>) -> Vec<Arg> {
        let mut traits = Vec::new();
        for &node in &attrs.nodes {
            let Some(attribute) = named(node).next() else { continue };
            let Some(arguments) = child(attribute, fields().arguments) else { continue };
            let text = self.text(arguments).into_owned();
            let lists: Vec<&str> = match named(attribute).next().map(|path| self.text(path)).as_deref() {
                Some("derive") => vec![text.trim_start_matches('(')],
                Some("cfg_attr") => {
                    text.split("derive").skip(1).filter_map(|rest| rest.trim().strip_prefix('(')).collect()
                }
                _ => continue,
            };
            for list in lists {
                let list = list.split(')').next().unwrap_or_default();
                for path in list.split(',').map(|path| path.rsplit("::").next().unwrap_or_default().trim()) {
                    if !path.is_empty() {
                        let name = self.facts.intern(path);
                        let value = self.form(Form::Str(name));
                        traits.push(Arg { name: NO_NAME, value, span: span(arguments) });
                    }
                }
            }
        }
        traits
    }

    /// Returns the forms of an item's decorators, the outermost first. Their arguments are walked in the body around
    /// the item.
    pub(crate) fn walk_decorators(&mut self, attrs: &Attrs<'_>) -> Vec<FormId> {
        let mut forms = Vec::new();
        for &node in &attrs.nodes {
            let Some(attribute) = named(node).next() else { continue };
            let Some(path) = named(attribute).next() else { continue };
            if is_inert(&self.text(path)) {
                continue;
            }
            let callee = self.path_form(path);
            let f = fields();
            let args: Vec<Arg> = match (child(attribute, f.arguments), child(attribute, f.value)) {
                (Some(arguments), _) => self.walk_macro_arguments(arguments),
                (None, Some(value)) => vec![Arg { name: NO_NAME, value: self.walk_value(value), span: span(value) }],
                (None, None) => {
                    forms.push(callee);
                    continue;
                }
            };
            let name_node = last_segment(path);
            let name = self.name_symbol(name_node);
            let at = self.at();
            let site = self.facts.site(
                Site {
                    kind: SiteKind::Macro,
                    flags: SiteFlags::default(),
                    callee,
                    name,
                    args: List::EMPTY,
                    at,
                    span: span(attribute),
                    name_span: span(name_node),
                },
                &args,
            );
            forms.push(self.form(Form::Result(site)));
        }
        forms
    }

    /// Adds a `Decorate` site for each decorator of a function.
    pub(crate) fn add_decorator_calls(
        &mut self,
        attrs: &Attrs<'_>,
        decorators: &[FormId],
        target: FormId,
        target_span: Span,
    ) {
        let mut nodes = attrs
            .nodes
            .iter()
            .filter_map(|&node| named(node).next())
            .filter(|&attribute| named(attribute).next().is_some_and(|path| !is_inert(&self.text(path))));
        let attributes: Vec<Node<'_>> = decorators.iter().filter_map(|_| nodes.next()).collect();
        for (&decorator, attribute) in decorators.iter().zip(attributes).rev() {
            let Some(path) = named(attribute).next() else { continue };
            let name_node = last_segment(path);
            let name = self.name_symbol(name_node);
            let at = self.at();
            self.facts.site(
                Site {
                    kind: SiteKind::Decorate,
                    flags: SiteFlags::default(),
                    callee: decorator,
                    name,
                    args: List::EMPTY,
                    at,
                    span: span(attribute),
                    name_span: span(name_node),
                },
                &[Arg { name: NO_NAME, value: target, span: target_span }],
            );
        }
    }
}

/// Returns the last name of a path.
pub(crate) fn last_segment(path: Node<'_>) -> Node<'_> {
    match kind(path) {
        K::ScopedIdentifier | K::ScopedTypeIdentifier => child(path, fields().name).unwrap_or(path),
        K::GenericFunction => child(path, fields().function).map_or(path, last_segment),
        _ => path,
    }
}

/// True for attributes of the compiler and of tools that do not change the behaviour of an item.
fn is_inert(path: &str) -> bool {
    matches!(
        path,
        "allow"
            | "automatically_derived"
            | "bench"
            | "cfg"
            | "cfg_attr"
            | "cold"
            | "default"
            | "deny"
            | "deprecated"
            | "derive"
            | "diagnostic"
            | "doc"
            | "expect"
            | "export_name"
            | "feature"
            | "forbid"
            | "global_allocator"
            | "ignore"
            | "inline"
            | "link"
            | "link_section"
            | "macro_export"
            | "macro_use"
            | "must_use"
            | "no_mangle"
            | "non_exhaustive"
            | "path"
            | "proc_macro"
            | "proc_macro_attribute"
            | "proc_macro_derive"
            | "repr"
            | "should_panic"
            | "target_feature"
            | "test"
            | "track_caller"
            | "used"
            | "warn"
    ) || path.starts_with("rustfmt")
        || path.starts_with("clippy")
        || path.starts_with("diagnostic")
}
