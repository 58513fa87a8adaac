//! How a path is written at a place: by what is imported there, else in full.

use blocklint_core::Refusal;
use tree_sitter::Node;

use super::File;
use crate::kinds::{K, all, fields, kind, named};

impl<'a> File<'a> {
    /// Returns the names that the `use` declarations around a place bind, each with its path as written.
    fn uses(&self, place: Node<'a>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut at = Some(place);
        while let Some(node) = at {
            if matches!(kind(node), K::Block | K::SourceFile | K::DeclarationList) {
                for declaration in named(node).filter(|part| kind(*part) == K::UseDeclaration) {
                    if let Some(tree) = declaration.child_by_field_id(fields().argument) {
                        self.leaves(tree, "", &mut found);
                    }
                }
            }
            // Names of the file around a module are not known inside of it.
            if kind(node) == K::ModItem {
                break;
            }
            at = node.parent();
        }
        found
    }

    /// The leaves of a `use` tree.
    fn leaves(&self, tree: Node<'a>, above: &str, found: &mut Vec<(String, String)>) {
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
                    found.push((name.to_owned(), joined(&tight(path))));
                }
            }
            K::ScopedUseList => {
                let path = tree.child_by_field_id(fields().path).map_or(String::new(), |path| tight(self.text(path)));
                let above = if path.is_empty() { above.to_owned() } else { joined(&path) };
                if let Some(list) = tree.child_by_field_id(fields().list) {
                    self.leaves(list, &above, found);
                }
            }
            K::UseList => named(tree).for_each(|part| self.leaves(part, above, found)),
            K::Identifier | K::ScopedIdentifier | K::SelfWord => {
                let path = joined(&tight(self.text(tree)));
                let name = path.rsplit("::").next().unwrap_or(&path).to_owned();
                found.push((name, path));
            }
            _ => {}
        }
    }

    /// How a path is written at a place.
    pub(super) fn written(&self, place: Node<'a>, path: &str) -> Result<String, Refusal> {
        let uses = self.uses(place);
        let of = |wanted: &str| uses.iter().find(|(_, path)| path == wanted).map(|(name, _)| name.clone());
        if let Some(name) = of(path) {
            return Ok(name);
        }
        let Some((parent, last)) = path.rsplit_once("::") else { return Ok(path.to_owned()) };
        if let Some(name) = of(parent) {
            return Ok(format!("{name}::{last}"));
        }
        let head = path.split("::").next().unwrap_or(path);
        let taken = uses.iter().any(|(name, of)| name == head && of != head);
        let module = all(self.root).any(|item| {
            kind(item) == K::ModItem
                && item.child_by_field_id(fields().name).is_some_and(|name| self.text(name) == head)
        });
        match taken || module {
            true => Err(Refusal::new(format!("`{head}` means something else here"))),
            false => Ok(path.to_owned()),
        }
    }

    /// Returns the path that a path as written at a place means.
    pub(super) fn meant(&self, place: Node<'a>, written: &str) -> String {
        let written = tight(written);
        let (head, rest) = written.split_once("::").unwrap_or((&written, ""));
        match self.uses(place).into_iter().find(|(name, _)| name == head) {
            Some((_, path)) if rest.is_empty() => path,
            Some((_, path)) => format!("{path}::{rest}"),
            None => written,
        }
    }
}

/// Returns a path without blanks.
fn tight(path: &str) -> String {
    path.chars().filter(|c| !c.is_whitespace()).collect()
}
