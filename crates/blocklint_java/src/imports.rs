//! Files: `package`, `import` and top-level classes.

use std::borrow::Cow;

use blocklint_facts::{AssignKind, Form, FormId, Import, ImportKind, VarId, VarKind};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::exprs::contains_word;
use crate::kinds::{K, has, kind, named};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks a file.
    pub(crate) fn walk_file(&mut self, root: Node<'_>) {
        let mut parts = Vec::new();
        for part in named(root) {
            match kind(part) {
                K::Package => self.walk_package(part),
                K::Import => self.walk_import(part),
                _ => {
                    self.declare_type(part);
                    parts.push(part);
                }
            }
        }
        // A compact source file (Java 25) has methods outside of classes.
        for part in parts {
            self.walk_member_or_statement(part);
        }
    }

    /// Declares a class in the innermost scope before its body is walked.
    pub(crate) fn declare_type(&mut self, node: Node<'_>) {
        if crate::classes::class_kind(node).is_some() {
            if let Some(name) = crate::kinds::child(node, crate::kinds::fields().name) {
                self.type_var(name);
            }
        } else if node.is_error() {
            for part in named(node) {
                let _ = self.one_level_deeper(part, |walker| walker.declare_type(part));
            }
        }
    }

    /// Returns the variable of a class in the innermost scope.
    pub(crate) fn type_var(&mut self, name: Node<'_>) -> VarId {
        let sym = self.name_symbol(name);
        if let Some(var) = self.scopes.type_in_innermost(sym) {
            return var;
        }
        let var = match self.members.get(&sym) {
            Some(&var) if self.class.is_some() => var,
            _ => self.new_var(sym, VarKind::Named),
        };
        if self.class.is_some() {
            self.members.insert(sym, var);
        }
        self.scopes.add_type(sym, var);
        var
    }

    /// Walks `package a.b;`.
    fn walk_package(&mut self, node: Node<'_>) {
        let Some(name) = named(node).find(|part| matches!(kind(*part), K::Identifier | K::ScopedIdentifier)) else {
            return;
        };
        let text = without_space(self.text(name));
        let module = self.facts.intern(&text);
        let at = self.at();
        self.facts.import(Import { kind: ImportKind::Package, module, level: 0, name: NO_NAME, at, span: span(node) });
    }

    /// Walks `import a.B;`, `import a.*;`, `import static a.B.m;` or `import static a.B.*;`.
    fn walk_import(&mut self, node: Node<'_>) {
        let mut parts = named(node);
        let Some(name) = parts.find(|part| matches!(kind(*part), K::Identifier | K::ScopedIdentifier)) else {
            return;
        };
        let text = without_space(self.text(name));
        let star = parts.any(|part| kind(part) == K::Asterisk);
        // `static` comes before the name, but the word can also be in a comment.
        let before = self.source.get(node.start_byte()..name.start_byte()).unwrap_or_default();
        let is_static = contains_word(before, b"static") && has(node, K::Static);
        let (import_kind, module, member) = match (is_static, star) {
            (false, true) => (ImportKind::Star, &*text, None),
            (false, false) => (ImportKind::Module, &*text, None),
            (true, true) => (ImportKind::Static, &*text, None),
            (true, false) => match text.rsplit_once('.') {
                Some((class, member)) => (ImportKind::Static, class, Some(member)),
                None => return,
            },
        };
        let module = self.facts.intern(module);
        let member = member.map_or(NO_NAME, |member| self.facts.intern(member));
        let at = self.at();
        let import =
            self.facts.import(Import { kind: import_kind, module, level: 0, name: member, at, span: span(node) });
        if star {
            return;
        }
        let bound = text.rsplit('.').next().unwrap_or_default();
        let bound = self.facts.intern(bound);
        let var = self.new_var(bound, VarKind::Named);
        if is_static {
            self.scopes.add_field(bound, var);
        }
        // A static import can also import a nested class.
        self.scopes.add_type(bound, var);
        let target = self.var_form(var);
        let value = self.form(Form::Import(import));
        self.bind(target, value, FormId::NONE, AssignKind::Import, span(name));
    }
}

/// Returns a name without the white space between its parts.
fn without_space(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(char::is_whitespace) { text.split_whitespace().collect::<String>().into() } else { text }
}
