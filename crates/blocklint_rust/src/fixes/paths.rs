//! Spelling of paths: by the imports that are visible at a node, else in full.

use blocklint_core::Refusal;
use tree_sitter::Node;

use super::File;
use crate::kinds::{K, all, fields, kind, named};

impl<'a> File<'a> {
    /// Returns the names that the `use` declarations around a node bind, each with its path.
    fn imported_names(&self, place: Node<'a>) -> Vec<(String, String)> {
        let mut names = Vec::new();
        let mut next = Some(place);
        while let Some(node) = next {
            if matches!(kind(node), K::Block | K::SourceFile | K::DeclarationList) {
                for declaration in named(node).filter(|part| kind(*part) == K::UseDeclaration) {
                    if let Some(tree) = declaration.child_by_field_id(fields().argument) {
                        self.collect_leaves(tree, "", &mut names);
                    }
                }
            }
            // An inline module does not see the names of the file around it.
            if kind(node) == K::ModItem {
                break;
            }
            next = node.parent();
        }
        names
    }

    /// Adds the leaves of a `use` tree: each bound name with its path.
    fn collect_leaves(&self, tree: Node<'a>, above: &str, found: &mut Vec<(String, String)>) {
        let joined = |path: &str| match (above, path) {
            ("", path) => path.trim_start_matches("::").to_owned(),
            (above, "self") => above.to_owned(),
            (above, path) => format!("{above}::{path}"),
        };
        match kind(tree) {
            K::UseAs => {
                let path = tree.child_by_field_id(fields().path).map(|path| self.text(path));
                let name = tree.child_by_field_id(fields().alias).map(|name| self.text(name));
                if let (Some(path), Some(name)) = (path, name) {
                    found.push((name.to_owned(), joined(&without_blanks(path))));
                }
            }
            K::ScopedUseList => {
                let path =
                    tree.child_by_field_id(fields().path).map_or(String::new(), |path| without_blanks(self.text(path)));
                let above = if path.is_empty() { above.to_owned() } else { joined(&path) };
                if let Some(list) = tree.child_by_field_id(fields().list) {
                    self.collect_leaves(list, &above, found);
                }
            }
            K::UseList => named(tree).for_each(|part| self.collect_leaves(part, above, found)),
            K::Identifier | K::ScopedIdentifier | K::SelfWord => {
                let path = joined(&without_blanks(self.text(tree)));
                let name = path.rsplit("::").next().unwrap_or(&path).to_owned();
                found.push((name, path));
            }
            _ => {}
        }
    }

    /// Returns how a path is written at a node.
    pub(super) fn spell_path(&self, place: Node<'a>, path: &str) -> Result<String, Refusal> {
        let imports = self.imported_names(place);
        let name_of_path = |wanted: &str| imports.iter().find(|(_, path)| path == wanted).map(|(name, _)| name.clone());
        if let Some(name) = name_of_path(path) {
            return Ok(name);
        }
        let Some((parent, last)) = path.rsplit_once("::") else { return Ok(path.to_owned()) };
        if let Some(name) = name_of_path(parent) {
            return Ok(format!("{name}::{last}"));
        }
        let head = path.split("::").next().unwrap_or(path);
        let is_bound_otherwise = imports.iter().any(|(name, name_of_path)| name == head && name_of_path != head);
        let is_module = all(self.root).any(|item| {
            kind(item) == K::ModItem
                && item.child_by_field_id(fields().name).is_some_and(|name| self.text(name) == head)
        });
        if is_bound_otherwise || is_module {
            Err(Refusal::new(format!("`{head}` has another meaning here")))
        } else {
            Ok(path.to_owned())
        }
    }

    /// Returns the full path of a path that is written at a node.
    pub(super) fn resolve_path(&self, place: Node<'a>, written: &str) -> String {
        let written = without_blanks(written);
        let (head, rest) = written.split_once("::").unwrap_or((&written, ""));
        match self.imported_names(place).into_iter().find(|(name, _)| name == head) {
            Some((_, path)) if rest.is_empty() => path,
            Some((_, path)) => format!("{path}::{rest}"),
            None => written,
        }
    }
}

/// Returns a path without blanks.
fn without_blanks(path: &str) -> String {
    path.chars().filter(|c| !c.is_whitespace()).collect()
}
