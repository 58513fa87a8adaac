//! Imports: `use`, `mod x;` and `extern crate`.

use blocklint_core::Span;
use blocklint_facts::{AssignKind, Form, FormId, Import, ImportKind, Sym, VarKind};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks a `use` declaration, which is one import for each name.
    pub(crate) fn walk_use(&mut self, node: Node<'_>) {
        if let Some(argument) = child(node, fields().argument) {
            self.walk_use_tree(argument, "");
        }
    }

    fn walk_use_tree(&mut self, node: Node<'_>, prefix: &str) {
        let _ = self.one_level_deeper(node, |walker| walker.walk_use_tree_inner(node, prefix));
    }

    fn walk_use_tree_inner(&mut self, node: Node<'_>, prefix: &str) {
        let f = fields();
        match kind(node) {
            K::UseList => {
                for part in named(node) {
                    self.walk_use_tree(part, prefix);
                }
            }
            K::ScopedUseList => {
                let path = match child(node, f.path) {
                    Some(path) => join_paths(prefix, &self.path_text(path)),
                    // `::{a, b}` begins with names of crates.
                    None if prefix.is_empty() => "::".to_owned(),
                    None => prefix.to_owned(),
                };
                if let Some(list) = child(node, f.list) {
                    self.walk_use_tree(list, &path);
                }
            }
            K::UseWildcard => {
                let path = match named(node).next() {
                    Some(path) => join_paths(prefix, &self.path_text(path)),
                    None => prefix.to_owned(),
                };
                self.add_import(ImportKind::Star, &path, NO_NAME, span(node));
            }
            K::UseAs => {
                let (Some(path), Some(alias)) = (child(node, f.path), child(node, f.alias)) else { return };
                let path = self.use_path(path, prefix);
                let name = self.name_symbol(alias);
                let name = if self.facts.facts().text(name) == "_" { NO_NAME } else { name };
                self.add_import(ImportKind::Module, &path, name, span(node));
            }
            K::Identifier | K::ScopedIdentifier | K::SelfWord | K::Crate | K::Super => {
                let path = self.use_path(node, prefix);
                let last = path.rsplit("::").next().unwrap_or_default();
                let name = match last {
                    "self" | "super" | "crate" | "" => NO_NAME,
                    last => self.facts.intern(last),
                };
                self.add_import(ImportKind::Module, &path, name, span(node));
            }
            _ => {}
        }
    }

    /// Returns the path of a leaf of the `use` tree; `self` in a list is the path before the list.
    fn use_path(&self, node: Node<'_>, prefix: &str) -> String {
        if kind(node) == K::SelfWord && !prefix.is_empty() {
            return prefix.to_owned();
        }
        join_paths(prefix, &self.path_text(node))
    }

    /// Returns the text of a path, without spaces, comments and `r#`.
    fn path_text(&self, node: Node<'_>) -> String {
        let mut parts = Vec::new();
        let mut next = Some(node);
        while let Some(part) = next {
            match kind(part) {
                K::ScopedIdentifier => {
                    if let Some(name) = child(part, fields().name) {
                        parts.push(self.text(name));
                    }
                    next = child(part, fields().path);
                    if next.is_none() {
                        parts.push("".into());
                    }
                }
                _ => {
                    parts.push(self.text(part));
                    next = None;
                }
            }
        }
        let parts: Vec<&str> = parts.iter().rev().map(|part| part.strip_prefix("r#").unwrap_or(part)).collect();
        parts.join("::")
    }

    /// Adds an import, and binds its name if it has one.
    fn add_import(&mut self, kind: ImportKind, path: &str, name: Sym, span: Span) {
        let (level, module) = split_supers(path);
        let module = self.facts.intern(module);
        let at = self.at();
        let import = self.facts.import(Import { kind, module, level, name: NO_NAME, at, span });
        if name != NO_NAME {
            self.bind_import(import, name, span);
        }
    }

    fn bind_import(&mut self, import: blocklint_facts::ImportId, name: Sym, span: Span) {
        let var = self.item_var(name);
        let target = self.var_form(var);
        let value = self.form(Form::Import(import));
        self.bind(target, value, FormId::NONE, AssignKind::Import, span);
    }

    /// Walks `mod x;`, a module in another file.
    pub(crate) fn add_mod_file(&mut self, node: Node<'_>, path: Option<Sym>) {
        let Some(name) = child(node, fields().name) else { return };
        let name = self.name_symbol(name);
        let at = self.at();
        let module = path.unwrap_or(NO_NAME);
        let span = span(node);
        let level = u32::from(self.is_test);
        let import = self.facts.import(Import { kind: ImportKind::File, module, level, name, at, span });
        self.bind_import(import, name, span);
    }

    /// Walks `extern crate a as b;`.
    pub(crate) fn walk_extern_crate(&mut self, node: Node<'_>) {
        let Some(name) = child(node, fields().name) else { return };
        let text = self.text(name);
        if text == "self" {
            return;
        }
        let bound = child(node, fields().alias).unwrap_or(name);
        let bound = self.name_symbol(bound);
        let bound = if self.facts.facts().text(bound) == "_" { NO_NAME } else { bound };
        self.add_import(ImportKind::Module, &format!("::{text}"), bound, span(node));
    }

    /// Returns the variable of an item in the innermost scope, and creates it if there is none.
    pub(crate) fn item_var(&mut self, name: Sym) -> blocklint_facts::VarId {
        if let Some(var) = self.scopes.item_in_innermost(name) {
            return var;
        }
        let var = self.new_var(name, VarKind::Named);
        self.scopes.add_item(name, var);
        var
    }
}

/// Joins two parts of a path.
fn join_paths(prefix: &str, path: &str) -> String {
    match prefix {
        "" => path.to_owned(),
        "::" => format!("::{path}"),
        _ => format!("{prefix}::{path}"),
    }
}

/// Returns the number of leading `super`s of a path, and the rest of the path.
fn split_supers(path: &str) -> (u32, &str) {
    let mut rest = path;
    let mut level = 0;
    let start = rest.strip_prefix("self::").unwrap_or(rest);
    if start.starts_with("super::") || start == "super" {
        rest = start;
    }
    while let Some(next) = rest.strip_prefix("super") {
        if next.is_empty() {
            return (level + 1, "");
        }
        let Some(next) = next.strip_prefix("::") else { break };
        level += 1;
        rest = next;
    }
    (level, rest)
}
