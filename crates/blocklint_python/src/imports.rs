//! `import` statements: a call site, which may run the module's code, and a row and a binding for each name.

use blocklint_facts::{Arg, AssignKind, Form, FormId, Import, ImportKind, SiteFlags, SiteKind, Sym, VarKind};
use ruff_python_ast::{Identifier, StmtImport, StmtImportFrom};
use ruff_text_size::TextRange;

use crate::walk::{Walker, span};

impl Walker<'_> {
    pub(crate) fn walk_import(&mut self, node: &StmtImport) {
        for alias in &node.names {
            let path = &*alias.name.id;
            let head = path.split('.').next().unwrap_or(path);
            let (kind, binds) = match &alias.asname {
                Some(name) => (ImportKind::Module, name),
                None if head.len() == path.len() => (ImportKind::Module, &alias.name),
                None => (ImportKind::Head, &alias.name),
            };
            let module = self.facts.intern(path);
            let import = self.add_import(kind, module, 0, Sym::NONE, alias.range);
            self.add_import_site(import, module, node.range, alias.name.range, &[]);
            let bound = if kind == ImportKind::Head { head } else { &binds.id };
            self.bind_import(bound, import, binds.range);
        }
    }

    /// Adds one site for the statement. The names after the first are its arguments, because each may be a module.
    pub(crate) fn walk_import_from(&mut self, node: &StmtImportFrom) {
        let module = self.facts.intern(node.module.as_ref().map_or("", |module| &module.id));
        let items = self.items.len();
        for alias in &node.names {
            let (kind, name) = match &*alias.name.id {
                "*" => (ImportKind::Star, Sym::NONE),
                name => (ImportKind::Name, self.facts.intern(name)),
            };
            let import = self.add_import(kind, module, node.level, name, alias.range);
            self.items.push(import);
        }
        let imports: Vec<FormId> = self.items.drain(items..).collect();
        let Some((&first, others)) = imports.split_first() else { return };
        let name_range = node.module.as_ref().map_or(node.range, |module| module.range);
        self.add_import_site(first, module, node.range, name_range, others);
        for (alias, &import) in node.names.iter().zip(&imports) {
            if &*alias.name.id != "*" {
                let bound: &Identifier = alias.asname.as_ref().unwrap_or(&alias.name);
                self.bind_import(&bound.id, import, bound.range);
            }
        }
    }

    fn add_import(&mut self, kind: ImportKind, module: Sym, level: u32, name: Sym, range: TextRange) -> FormId {
        let at = self.next_place();
        let import = self.facts.import(Import { kind, module, level, name, at, span: span(range) });
        self.facts.form(Form::Import(import))
    }

    fn add_import_site(&mut self, import: FormId, module: Sym, whole: TextRange, name: TextRange, others: &[FormId]) {
        let args = self.args.len();
        self.args.extend(others.iter().map(|&value| Arg { name: Sym::NONE, value, span: span(whole) }));
        self.add_site(SiteKind::Import, SiteFlags::default(), import, module, whole, name, args);
    }

    fn bind_import(&mut self, name: &str, import: FormId, range: TextRange) {
        if let Some((target, _)) = self.bind_name(name, VarKind::Named) {
            self.add_assignment(AssignKind::Import, target, import, FormId::NONE, range);
        }
    }
}
