//! Removal of imports that edits left unused: `use std::fs;` after the only `fs::read` became `tokio::fs::read`.

use tree_sitter::{Node, Parser};

use super::descendants;
use crate::kinds::{K, grammar, kind, named};

/// Returns the text without the imports that were used before the edits and are unused now; `None` if there are none.
pub fn without_unused_imports(before: &str, after: &str) -> Option<String> {
    let mut parser = Parser::new();
    parser.set_language(&grammar()).ok()?;
    let old = parser.parse(before, None)?;
    let new = parser.parse(after, None)?;
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for declaration in named(new.root_node()).filter(|node| kind(*node) == K::UseDeclaration) {
        // An import with an attribute can be conditional, and a public one can be used in other files.
        let has_attribute = declaration.prev_named_sibling().is_some_and(|node| kind(node) == K::AttributeItem);
        let is_private = named(declaration).count() == 1;
        if has_attribute || !is_private {
            continue;
        }
        let leaves = imported_names(declaration);
        let is_unused = |leaf: &Leaf<'_>| {
            let name = leaf.name(after);
            count_uses(old.root_node(), before, name) > 0 && count_uses(new.root_node(), after, name) == 0
        };
        let unused: Vec<&Leaf<'_>> = leaves.iter().filter(|leaf| is_unused(leaf)).collect();
        if unused.is_empty() {
            continue;
        }
        if unused.len() == leaves.len() {
            let end = after[declaration.end_byte()..]
                .find('\n')
                .map_or(after.len(), |newline| declaration.end_byte() + newline + 1);
            cuts.push((declaration.start_byte(), end));
            continue;
        }
        for leaf in unused {
            // A list that would become empty stays.
            let siblings = leaf.node.parent().map_or(0, |list| named(list).count());
            if leaf.node.parent().is_some_and(|list| kind(list) == K::UseList) && siblings > 1 {
                cuts.push(range_with_comma(leaf.node, after));
            }
        }
    }
    if cuts.is_empty() {
        return None;
    }
    let (mut text, mut end_of_last) = (String::new(), 0);
    cuts.sort_unstable();
    for (start, end) in cuts.into_iter().filter(|(start, end)| start < end) {
        if start < end_of_last {
            return None;
        }
        text.push_str(&after[end_of_last..start]);
        end_of_last = end;
    }
    text.push_str(&after[end_of_last..]);
    Some(text)
}

/// A name that a declaration imports.
struct Leaf<'a> {
    node: Node<'a>,
    /// The node with the name: an alias, the last segment of a path, or `a` of `a::{self}`.
    name_node: Node<'a>,
}

impl Leaf<'_> {
    fn name<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.name_node.byte_range()).unwrap_or_default()
    }
}

/// Returns the names that a declaration imports; `*` imports none.
fn imported_names(declaration: Node<'_>) -> Vec<Leaf<'_>> {
    let mut names = Vec::new();
    let mut pending: Vec<Node<'_>> = named(declaration).collect();
    while let Some(node) = pending.pop() {
        let name_node = match kind(node) {
            K::UseList => {
                pending.extend(named(node));
                continue;
            }
            K::ScopedUseList => {
                pending.extend(node.child_by_field_name("list"));
                continue;
            }
            K::UseAs => node.child_by_field_name("alias"),
            K::ScopedIdentifier => node.child_by_field_name("name"),
            K::Identifier => Some(node),
            _ if node.kind() == "self" => {
                let outer = node
                    .parent()
                    .and_then(|list| list.parent())
                    .filter(|list_node| kind(*list_node) == K::ScopedUseList);
                outer.and_then(|list_node| list_node.child_by_field_name("path")).map(last_segment)
            }
            _ => None,
        };
        // An import of an unknown form stays, because its name is the text of the whole declaration.
        names.push(Leaf { node, name_node: name_node.unwrap_or(declaration) });
    }
    names
}

fn last_segment(path: Node<'_>) -> Node<'_> {
    path.child_by_field_name("name").unwrap_or(path)
}

/// Counts the uses of a name outside of imports.
fn count_uses(root: Node<'_>, text: &str, name: &str) -> usize {
    let is_its_own = |node: Node<'_>| kind(node) == K::ModItem && has_own_name(node, text, name);
    let nodes = descendants(root, |node| kind(node) != K::UseDeclaration && !is_its_own(node));
    let is_name = |node: &Node<'_>| {
        // The `name` of `other::name` is not the imported one.
        let path_parent = node.parent().filter(|parent| parent.child_by_field_name("path").is_some());
        let is_part = path_parent.is_some_and(|parent| parent.child_by_field_name("name") == Some(*node));
        node.child_count() == 0 && !is_part && text.get(node.byte_range()) == Some(name)
    };
    nodes.iter().filter(|node| is_name(node)).count()
}

/// True if a name refers to something else in an inline module, which imports it itself or does not use `super`.
fn has_own_name(module: Node<'_>, text: &str, name: &str) -> bool {
    let words = text.get(module.byte_range()).unwrap_or_default();
    let body = module.child_by_field_name("body");
    let imports = body.into_iter().flat_map(named).filter(|node| kind(*node) == K::UseDeclaration);
    !words.contains("super") || imports.flat_map(imported_names).any(|leaf| leaf.name(text) == name)
}

/// Returns the range of a list element with the comma after or before it.
fn range_with_comma(node: Node<'_>, text: &str) -> (usize, usize) {
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

    fn imports_after_edit(imports: &str, before: &str, after: &str) -> Option<String> {
        let text = |body: &str| format!("{imports}\n\nfn main() {{ {body} }}\n");
        let tidy = without_unused_imports(&text(before), &text(after))?;
        Some(tidy.split("\n\nfn").next().unwrap_or_default().trim().to_owned())
    }

    #[test]
    fn imports_that_lost_their_use_are_removed() {
        let gone = |imports: &str| imports_after_edit(imports, "fs::read(p)", "tokio::fs::read(p)");
        assert_eq!(gone("use std::fs;").as_deref(), Some("fn main() { tokio::fs::read(p) }"));
        assert_eq!(gone("use std::{fs, path::Path};").as_deref(), Some("use std::{path::Path};"));
        assert_eq!(gone("use std::{path::Path, fs};").as_deref(), Some("use std::{path::Path};"));
        assert_eq!(gone("use std::fs::{self, File};").as_deref(), Some("use std::fs::{File};"));
        let in_module = "use std::fs;\n\nmod tests { use super::*; use std::fs; fn f() { fs::write(p) } }";
        assert!(gone(in_module).is_some_and(|left| left.starts_with("mod tests")));
        assert_eq!(gone("use std::other as fs;").as_deref(), Some("fn main() { tokio::fs::read(p) }"));
    }

    #[test]
    fn imports_that_are_used_or_were_unused_before_stay() {
        assert_eq!(
            imports_after_edit("use std::fs;", "fs::read(p); fs::write(p)", "tokio::read(p); fs::write(p)"),
            None
        );
        assert_eq!(imports_after_edit("use std::io::Read;", "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(imports_after_edit("pub use std::fs;", "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(imports_after_edit("#[cfg(unix)]\nuse std::fs;", "fs::read(p)", "tokio::read(p)"), None);
        let in_module = "use std::fs;\n\nmod tests { use super::*; fn f() { fs::write(p) } }";
        assert_eq!(imports_after_edit(in_module, "fs::read(p)", "tokio::read(p)"), None);
        assert_eq!(imports_after_edit("use std::*;", "fs::read(p)", "tokio::read(p)"), None);
    }
}
