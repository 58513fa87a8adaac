//! Imports: a site where a module may run, a row and a binding per name.

use blocklint_facts::{Arg, AssignKind, Form, FormId, Import, ImportKind, SiteFlags, SiteKind, Sym, VarKind};
use ruff_python_ast::{Identifier, StmtImport, StmtImportFrom};
use ruff_text_size::TextRange;

use crate::walk::{Walker, span};

impl Walker<'_> {
    pub(crate) fn import(&mut self, node: &StmtImport) {
        for alias in &node.names {
            let path = &*alias.name.id;
            let head = path.split('.').next().unwrap_or(path);
            let (kind, binds) = match &alias.asname {
                Some(name) => (ImportKind::Module, name),
                None if head.len() == path.len() => (ImportKind::Module, &alias.name),
                None => (ImportKind::Head, &alias.name),
            };
            let module = self.facts.intern(path);
            let import = self.import_row(kind, module, 0, Sym::NONE, alias.range);
            self.import_site(import, module, node.range, alias.name.range, &[]);
            let bound = if kind == ImportKind::Head { head } else { &binds.id };
            self.bind_import(bound, import, binds.range);
        }
    }

    /// One site for the statement; the names after the first are its arguments, because each may be a module.
    pub(crate) fn import_from(&mut self, node: &StmtImportFrom) {
        let module = self.facts.intern(node.module.as_ref().map_or("", |module| &module.id));
        let items = self.items.len();
        for alias in &node.names {
            let (kind, name) = match &*alias.name.id {
                "*" => (ImportKind::Star, Sym::NONE),
                name => (ImportKind::Name, self.facts.intern(name)),
            };
            let import = self.import_row(kind, module, node.level, name, alias.range);
            self.items.push(import);
        }
        let imports: Vec<FormId> = self.items.drain(items..).collect();
        let Some((&first, others)) = imports.split_first() else { return };
        let name_range = node.module.as_ref().map_or(node.range, |module| module.range);
        self.import_site(first, module, node.range, name_range, others);
        for (alias, &import) in node.names.iter().zip(&imports) {
            if &*alias.name.id != "*" {
                let bound: &Identifier = alias.asname.as_ref().unwrap_or(&alias.name);
                self.bind_import(&bound.id, import, bound.range);
            }
        }
    }

    fn import_row(&mut self, kind: ImportKind, module: Sym, level: u32, name: Sym, range: TextRange) -> FormId {
        let at = self.at();
        let import = self.facts.import(Import { kind, module, level, name, at, span: span(range) });
        self.facts.form(Form::Import(import))
    }

    fn import_site(&mut self, import: FormId, module: Sym, whole: TextRange, name: TextRange, others: &[FormId]) {
        let args = self.args.len();
        self.args.extend(others.iter().map(|&value| Arg { name: Sym::NONE, value, span: span(whole) }));
        self.site(SiteKind::Import, SiteFlags::default(), import, module, whole, name, args);
    }

    fn bind_import(&mut self, name: &str, import: FormId, range: TextRange) {
        if let Some((target, _)) = self.bind(name, VarKind::Named) {
            self.assign(AssignKind::Import, target, import, FormId::NONE, range);
        }
    }
}
