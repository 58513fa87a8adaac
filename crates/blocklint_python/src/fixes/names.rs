//! Names that a file binds, by imports and by other statements, and the spelling of a path by its imports.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{AnyNodeRef, ExceptHandler, Expr, ExprContext, ModModule, Pattern, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

/// A name that an import binds.
#[derive(Clone, Debug)]
pub(super) struct ImportedName<'a> {
    /// The path that it refers to.
    pub(super) path: String,
    /// The bound name.
    pub(super) local: &'a str,
    /// The module that `import a.b` loads (`a.b`), where only its first part is bound (`a`).
    loaded_module: Option<&'a str>,
    /// True if it is not in `if TYPE_CHECKING:`, so that it exists when the code runs.
    is_at_run_time: bool,
    start: TextSize,
}

impl ImportedName<'_> {
    /// True if the import also loads the module of a path. Packages mostly load their direct submodules, but no deeper
    /// ones.
    fn loads_module_of(&self, path: &str) -> bool {
        let module = path.rsplit_once('.').map_or("", |(module, _)| module);
        let is_below = |loaded_module: &str| {
            loaded_module.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        module.split('.').count() <= 2 || self.loaded_module.is_none_or(is_below)
    }
}

/// The names that a module and its functions bind.
pub(super) struct Names<'a> {
    imports: Vec<ImportedName<'a>>,
    /// Names of the module that another statement than an import binds.
    bound_otherwise: FxHashSet<&'a str>,
    /// The names that each outermost function binds, by the range of the function.
    by_function: RefCell<FxHashMap<TextRange, Rc<Binder<'a>>>>,
}

impl<'a> Names<'a> {
    pub(super) fn collect(module: &'a ModModule) -> Self {
        let mut binder = Binder::new(false);
        binder.visit_body(&module.body);
        Names { imports: binder.imports, bound_otherwise: binder.bound_otherwise, by_function: RefCell::default() }
    }

    /// Returns how code at an offset in these functions (the innermost first) writes a path by the existing imports.
    pub(super) fn spell_path(&self, path: &str, functions: &[&'a StmtFunctionDef], offset: TextSize) -> Option<String> {
        let (in_functions, local_imports) = self.names_in_functions(functions, offset);
        let module_imports = self.imports.iter().filter(|import| {
            import.is_at_run_time
                && !self.bound_otherwise.contains(import.local)
                && !in_functions.binds(import.local)
                && self
                    .imports
                    .iter()
                    .all(|other_import| other_import.local != import.local || other_import.path == import.path)
        });
        let mut best: Option<(usize, String)> = None;
        for import in module_imports.chain(&local_imports) {
            let Some(rest) = path.strip_prefix(import.path.as_str()) else { continue };
            if !(rest.is_empty() || rest.starts_with('.')) || !import.loads_module_of(path) {
                continue;
            }
            if best.as_ref().is_none_or(|(length, _)| import.path.len() > *length) {
                best = Some((import.path.len(), format!("{}{rest}", import.local)));
            }
        }
        best.map(|(_, written)| written)
    }

    /// Returns the paths of all imports.
    pub(super) fn imported_paths(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(|import| import.path.as_str())
    }

    /// True if the module imports a library or a name of it.
    pub(super) fn imports_library(&self, root: &str) -> bool {
        self.imports.iter().any(|import| import.path.split('.').next() == Some(root))
    }

    /// True if a name that code in these functions reads is a builtin, or one of the module that is bound before an
    /// offset of the module's top level.
    pub(super) fn is_bound_in_module_before(
        &self,
        module: &'a ModModule,
        name: &str,
        functions: &[&'a StmtFunctionDef],
        before: TextSize,
    ) -> bool {
        if self.names_in_functions(functions, before).0.binds(name) {
            return false;
        }
        let mut above = Binder::new(false);
        for statement in module.body.iter().filter(|statement| statement.end() <= before) {
            above.visit_stmt(statement);
        }
        above.binds(name)
            || !(self.bound_otherwise.contains(name) || self.imports.iter().any(|import| import.local == name))
    }

    /// True if a new import of `path` at the top of the module may bind this name for code in these functions.
    pub(super) fn is_free(&self, name: &str, path: &str, functions: &[&'a StmtFunctionDef], offset: TextSize) -> bool {
        let (in_functions, _) = self.names_in_functions(functions, offset);
        !self.bound_otherwise.contains(name)
            && !in_functions.binds(name)
            && self.imports.iter().all(|import| import.local != name || import.path == path)
    }

    /// Returns the names that the functions around an offset bind, and the imports of the innermost function before the
    /// offset.
    fn names_in_functions(
        &self,
        functions: &[&'a StmtFunctionDef],
        offset: TextSize,
    ) -> (Rc<Binder<'a>>, Vec<ImportedName<'a>>) {
        let in_functions = self.names_in_function(functions.last().copied());
        let mut local = Vec::new();
        if let Some(innermost) = functions.first() {
            let mut binder = Binder::new(false);
            for statement in &innermost.body {
                if matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) && statement.end() <= offset {
                    binder.visit_stmt(statement);
                }
            }
            local = binder.imports;
            local.retain(|import| {
                !in_functions.bound_otherwise.contains(import.local)
                    && in_functions.imports.iter().all(|other_import| {
                        other_import.local != import.local
                            || (other_import.path == import.path && other_import.start <= import.start)
                    })
            });
        }
        (in_functions, local)
    }

    /// Returns all names that an outermost function and its inner functions bind. A name too many costs at most a fix,
    /// a missing one would break the code.
    fn names_in_function(&self, outermost: Option<&'a StmtFunctionDef>) -> Rc<Binder<'a>> {
        let mut binder = Binder::new(true);
        let Some(outermost) = outermost else { return Rc::new(binder) };
        if let Some(known) = self.by_function.borrow().get(&outermost.range()) {
            return known.clone();
        }
        binder.add_function(outermost);
        let binder = Rc::new(binder);
        self.by_function.borrow_mut().insert(outermost.range(), binder.clone());
        binder
    }
}

/// A visitor that collects the names that code binds.
struct Binder<'a> {
    imports: Vec<ImportedName<'a>>,
    bound_otherwise: FxHashSet<&'a str>,
    /// True if the bodies of functions and classes are visited too.
    visits_bodies: bool,
    is_type_checking_only: bool,
}

impl<'a> Binder<'a> {
    fn new(visits_bodies: bool) -> Self {
        Binder {
            imports: Vec::new(),
            bound_otherwise: FxHashSet::default(),
            visits_bodies,
            is_type_checking_only: false,
        }
    }

    fn binds(&self, name: &str) -> bool {
        self.bound_otherwise.contains(name) || self.imports.iter().any(|import| import.local == name)
    }

    fn add_import(&mut self, path: String, local: &'a str, loaded_module: Option<&'a str>, start: TextSize) {
        self.imports.push(ImportedName {
            path,
            local,
            loaded_module,
            is_at_run_time: !self.is_type_checking_only,
            start,
        });
    }

    fn add_function(&mut self, function: &'a StmtFunctionDef) {
        for parameter in &*function.parameters {
            self.bound_otherwise.insert(parameter.name().as_str());
        }
        self.visit_body(&function.body);
    }
}

impl<'a> SourceOrderVisitor<'a> for Binder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        // Decorators bind no names.
        match node {
            AnyNodeRef::Decorator(_) => TraversalSignal::Skip,
            _ => TraversalSignal::Traverse,
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let whole = alias.name.as_str();
                    match &alias.asname {
                        Some(name) => self.add_import(whole.to_owned(), name.as_str(), None, import.range.start()),
                        None => {
                            let head = whole.split('.').next().unwrap_or(whole);
                            self.add_import(head.to_owned(), head, Some(whole), import.range.start());
                        }
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let local = alias.asname.as_ref().map_or(name, |asname| asname.as_str());
                    // The leading dot keeps a relative import apart from the paths of models.
                    let path = match import.level {
                        0 => format!("{module}.{name}"),
                        _ => format!(".{module}.{name}"),
                    };
                    self.add_import(path, local, None, import.range.start());
                }
            }
            Stmt::FunctionDef(function) => {
                self.bound_otherwise.insert(function.name.as_str());
                if self.visits_bodies {
                    self.add_function(function);
                }
            }
            Stmt::ClassDef(class) => {
                self.bound_otherwise.insert(class.name.as_str());
                if self.visits_bodies {
                    self.visit_body(&class.body);
                }
            }
            Stmt::Global(global) => self.bound_otherwise.extend(global.names.iter().map(|name| name.as_str())),
            Stmt::Nonlocal(nonlocal) => self.bound_otherwise.extend(nonlocal.names.iter().map(|name| name.as_str())),
            Stmt::If(test) if is_type_checking(&test.test) => {
                let outer = std::mem::replace(&mut self.is_type_checking_only, true);
                self.visit_body(&test.body);
                self.is_type_checking_only = outer;
                for clause in &test.elif_else_clauses {
                    self.visit_body(&clause.body);
                }
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                self.bound_otherwise.insert(name.id.as_str());
            }
            Expr::Lambda(lambda) if self.visits_bodies => {
                for parameter in lambda.parameters.iter().flat_map(|parameters| parameters.iter()) {
                    self.bound_otherwise.insert(parameter.name().as_str());
                }
                self.visit_expr(&lambda.body);
            }
            _ => walk_expr(self, expression),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        self.bound_otherwise.extend(handler.name.iter().map(|name| name.as_str()));
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        self.bound_otherwise.extend(name.map(|name| name.as_str()));
        walk_pattern(self, pattern);
    }
}

/// True for `TYPE_CHECKING` and `typing.TYPE_CHECKING`.
fn is_type_checking(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
