//! Imports that edits left without a use: `use std::fs;` where the only `fs::read` became `tokio::fs::read`.

use tree_sitter::{Node, Parser};

use super::below;
use crate::kinds::{K, grammar, kind, named};

/// The text without the imports of names that it mentioned before the edits and mentions no more. `None` where there are none.
pub fn without_unused_imports(before: &str, after: &str) -> Option<String> {
    let mut parser = Parser::new();
    parser.set_language(&grammar()).ok()?;
    let old = parser.parse(before, None)?;
    let new = parser.parse(after, None)?;
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for declaration in named(new.root_node()).filter(|node| kind(*node) == K::UseDeclaration) {
        // An attribute says when it is there; what others import from here is theirs.
        let has_attribute = declaration.prev_named_sibling().is_some_and(|node| kind(node) == K::AttributeItem);
        let is_private = named(declaration).count() == 1;
        if has_attribute || !is_private {
            continue;
        }
        let leaves = leaves_of(declaration);
        let is_unused = |leaf: &Leaf<'_>| {
            let name = leaf.name(after);
            mentions(old.root_node(), before, name) > 0 && mentions(new.root_node(), after, name) == 0
        };
        let unused: Vec<&Leaf<'_>> = leaves.iter().filter(|leaf| is_unused(leaf)).collect();
        if unused.is_empty() {
            continue;
        }
        if unused.len() == leaves.len() {
            let end =
                after[declaration.end_byte()..].find('\n').map_or(after.len(), |at| declaration.end_byte() + at + 1);
            cuts.push((declaration.start_byte(), end));
            continue;
        }
        for leaf in unused {
            // A list that would be empty is one for the project to tidy up.
            let siblings = leaf.node.parent().map_or(0, |list| named(list).count());
            if leaf.node.parent().is_some_and(|list| kind(list) == K::UseList) && siblings > 1 {
                cuts.push(with_comma(leaf.node, after));
            }
        }
    }
    if cuts.is_empty() {
        return None;
    }
    let (mut text, mut at) = (String::new(), 0);
    cuts.sort_unstable();
    for (start, end) in cuts.into_iter().filter(|(start, end)| start < end) {
        if start < at {
            return None;
        }
        text.push_str(&after[at..start]);
        at = end;
    }
    text.push_str(&after[at..]);
    Some(text)
}

/// A name that a declaration imports.
struct Leaf<'a> {
    node: Node<'a>,
    /// The node with the name: an alias, the last part of a path, or of `a::{self}` the part before.
    named_by: Node<'a>,
}

impl Leaf<'_> {
    fn name<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.named_by.byte_range()).unwrap_or_default()
    }
}

/// Returns the names that a declaration imports, one by one; of `*` none.
fn leaves_of(declaration: Node<'_>) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'_>> = named(declaration).collect();
    while let Some(node) = open.pop() {
        let named_by = match kind(node) {
            K::UseList => {
                open.extend(named(node));
                continue;
            }
            K::ScopedUseList => {
                open.extend(node.child_by_field_name("list"));
                continue;
            }
            K::UseAs => node.child_by_field_name("alias"),
            K::ScopedIdentifier => node.child_by_field_name("name"),
            K::Identifier => Some(node),
            _ if node.kind() == "self" => {
                let outer = node.parent().and_then(|list| list.parent()).filter(|of| kind(*of) == K::ScopedUseList);
                outer.and_then(|of| of.child_by_field_name("path")).map(last_part)
            }
            _ => None,
        };
        // An import in an unknown form keeps its place, because the text of its whole declaration is taken as its name.
        found.push(Leaf { node, named_by: named_by.unwrap_or(declaration) });
    }
    found
}

fn last_part(path: Node<'_>) -> Node<'_> {
    path.child_by_field_name("name").unwrap_or(path)
}

/// How often a name stands outside of imports.
fn mentions(root: Node<'_>, text: &str, name: &str) -> usize {
    let is_its_own = |node: Node<'_>| kind(node) == K::ModItem && has_its_own(node, text, name);
    let nodes = below(root, |node| kind(node) != K::UseDeclaration && !is_its_own(node));
    let is_name = |node: &Node<'_>| {
        // The last part of `other::name` is not what is imported.
        let of_path = node.parent().filter(|of| of.child_by_field_name("path").is_some());
        let is_part = of_path.is_some_and(|of| of.child_by_field_name("name") == Some(*node));
        node.child_count() == 0 && !is_part && text.get(node.byte_range()) == Some(name)
    };
    nodes.iter().filter(|node| is_name(node)).count()
}

/// True if a name is another one in a module of the file: it imports that itself, or nothing of the file's own.
fn has_its_own(module: Node<'_>, text: &str, name: &str) -> bool {
    let words = text.get(module.byte_range()).unwrap_or_default();
    let body = module.child_by_field_name("body");
    let imports = body.into_iter().flat_map(named).filter(|node| kind(*node) == K::UseDeclaration);
    !words.contains("super") || imports.flat_map(leaves_of).any(|leaf| leaf.name(text) == name)
}

/// Returns the range of a part of a list, with the comma behind it or before it.
fn with_comma(node: Node<'_>, text: &str) -> (usize, usize) {
    let behind = &text[node.end_byte()..];
    let blank = behind.len() - behind.trim_start().len();
    if behind.trim_start().starts_with(',') {
        let end = node.end_byte() + blank + 1;
        let rest = &text[end..];
        return (node.start_byte(), end + (rest.len() - rest.trim_start_matches(' ').len()));
    }
    let before = text[..node.start_byte()].trim_end();
    (before.strip_suffix(',').map_or(node.start_byte(), str::len), node.end_byte())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidied(imports: &str, before: &str, after: &str) -> Option<String> {
        let text = |body: &str| format!("{imports}\n\nfn main() {{ {body} }}\n");
        let tidy = without_unused_imports(&text(before), &text(after))?;
        Some(tidy.split("\n\nfn").next().unwrap_or_default().trim().to_owned())
    }

    #[test]
    fn imports_that_lost_their_use_go() {
        let gone = |imports: &str| tidied(imports, "fs::read(p)", "tokio::fs::read(p)");
        assert_eq!(gone("use std::fs;").as_deref(), Some("fn main() { tokio::fs::read(p) }"));
        assert_eq!(gone("use std::{fs, path::Path};").as_deref(), Some("use std::{path::Path};"));
        assert_eq!(gone("use std::{path::Path, fs};").as_deref(), Some("use std::{path::Path};"));
        assert_eq!(gone("use std::fs::{self, File};").as_deref(), Some("use std::fs::{File};"));
        let in_module = "use std::fs;\n\nmod tests { use super::*; use std::fs; fn f() { fs::write(p) } }";
        assert!(gone(in_module).is_some_and(|left| left.starts_with("mod tests")));
        assert_eq!(gone("use std::other as fs;").as_deref(), Some("fn main() { tokio::fs::read(p) }"));
    }

    #[test]
    fn what_is_used_or_was_unused_before_stays() {
        assert_eq!(tidied("use std::fs;", "fs::read(p); fs::write(p)", "tokio::read(p); fs::write(p)"), None);
        assert_eq!(tidied("use std::io::Read;", "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(tidied("pub use std::fs;", "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(tidied("#[cfg(unix)]\nuse std::fs;", "fs::read(p)", "tokio::read(p)"), None);
        let in_module = "use std::fs;\n\nmod tests { use super::*; fn f() { fs::write(p) } }";
        assert_eq!(tidied(in_module, "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(tidied("use std::*;", "fs::read(p)", "tokio::read(p)"), None);
    }
}
