//! Which names a file binds, and what its imports call a path.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{AnyNodeRef, ExceptHandler, Expr, ExprContext, ModModule, Pattern, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

/// A name that an import binds.
#[derive(Clone, Debug)]
pub(super) struct Imported<'a> {
    /// The path it stands for.
    pub(super) path: String,
    /// The name.
    pub(super) local: &'a str,
    /// The module that is loaded where only its first part is bound: `a.b` of `import a.b`.
    loaded: Option<&'a str>,
    /// True if it exists when the code runs.
    at_run_time: bool,
    start: TextSize,
}

impl Imported<'_> {
    /// True if the module of a path is there: packages mostly load what lies right in them, but nothing deeper.
    fn reaches(&self, path: &str) -> bool {
        let module = path.rsplit_once('.').map_or("", |(module, _)| module);
        let is_loaded =
            |loaded: &str| loaded.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        module.split('.').count() <= 2 || self.loaded.is_none_or(is_loaded)
    }
}

/// The names of a module.
pub(super) struct Names<'a> {
    imports: Vec<Imported<'a>>,
    /// Names of the module that are bound by something else than an import.
    others: FxHashSet<&'a str>,
    /// The names that outermost functions bind, by the range of the function.
    inside: RefCell<FxHashMap<TextRange, Rc<Binder<'a>>>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(module: &'a ModModule) -> Self {
        let mut binder = Binder::new(false);
        binder.visit_body(&module.body);
        Names { imports: binder.imports, others: binder.others, inside: RefCell::default() }
    }

    /// How code at `at` in these functions (the innermost first) writes a path, by what is imported already.
    pub(super) fn written(&self, path: &str, functions: &[&'a StmtFunctionDef], at: TextSize) -> Option<String> {
        let (inside, local) = self.inside_of(functions, at);
        let of_module = self.imports.iter().filter(|import| {
            import.at_run_time
                && !self.others.contains(import.local)
                && !inside.binds(import.local)
                && self.imports.iter().all(|other| other.local != import.local || other.path == import.path)
        });
        let mut best: Option<(usize, String)> = None;
        for import in of_module.chain(&local) {
            let Some(rest) = path.strip_prefix(import.path.as_str()) else { continue };
            if !(rest.is_empty() || rest.starts_with('.')) || !import.reaches(path) {
                continue;
            }
            if best.as_ref().is_none_or(|(length, _)| import.path.len() > *length) {
                best = Some((import.path.len(), format!("{}{rest}", import.local)));
            }
        }
        best.map(|(_, written)| written)
    }

    /// Returns the paths that imports describe.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(|import| import.path.as_str())
    }

    /// True if the module imports something of a library.
    pub(super) fn uses(&self, root: &str) -> bool {
        self.imports.iter().any(|import| import.path.split('.').next() == Some(root))
    }

    /// True if a name that code in these functions reads is the module's, or of the language, and stands for something when
    /// the module's code has run up to a place.
    pub(super) fn is_of_module(
        &self,
        module: &'a ModModule,
        name: &str,
        functions: &[&'a StmtFunctionDef],
        before: TextSize,
    ) -> bool {
        if self.inside_of(functions, before).0.binds(name) {
            return false;
        }
        let mut above = Binder::new(false);
        for statement in module.body.iter().filter(|statement| statement.end() <= before) {
            above.visit_stmt(statement);
        }
        above.binds(name) || !(self.others.contains(name) || self.imports.iter().any(|import| import.local == name))
    }

    /// True if an import at the top of the module may bind this name for code in these functions.
    pub(super) fn is_free(&self, name: &str, path: &str, functions: &[&'a StmtFunctionDef], at: TextSize) -> bool {
        let (inside, _) = self.inside_of(functions, at);
        !self.others.contains(name)
            && !inside.binds(name)
            && self.imports.iter().all(|import| import.local != name || import.path == path)
    }

    /// Returns the names that the functions around a place bind, and the imports of the innermost function that have
    /// run before the place.
    fn inside_of(&self, functions: &[&'a StmtFunctionDef], at: TextSize) -> (Rc<Binder<'a>>, Vec<Imported<'a>>) {
        let inside = self.bound_in(functions.last().copied());
        let mut local = Vec::new();
        if let Some(innermost) = functions.first() {
            let mut own = Binder::new(false);
            for statement in &innermost.body {
                if matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) && statement.end() <= at {
                    own.visit_stmt(statement);
                }
            }
            local = own.imports;
            local.retain(|import| {
                !inside.others.contains(import.local)
                    && inside.imports.iter().all(|other| {
                        other.local != import.local || (other.path == import.path && other.start <= import.start)
                    })
            });
        }
        (inside, local)
    }

    /// Returns all names that an outermost function, or any function inside it, binds. A name too many costs no more
    /// than a fix.
    fn bound_in(&self, outermost: Option<&'a StmtFunctionDef>) -> Rc<Binder<'a>> {
        let mut inside = Binder::new(true);
        let Some(outermost) = outermost else { return Rc::new(inside) };
        if let Some(known) = self.inside.borrow().get(&outermost.range()) {
            return known.clone();
        }
        inside.function(outermost);
        let inside = Rc::new(inside);
        self.inside.borrow_mut().insert(outermost.range(), inside.clone());
        inside
    }
}

/// Collects the names that code binds.
struct Binder<'a> {
    imports: Vec<Imported<'a>>,
    others: FxHashSet<&'a str>,
    /// True if the insides of functions and classes count.
    deep: bool,
    typing_only: bool,
}

impl<'a> Binder<'a> {
    fn new(deep: bool) -> Self {
        Binder { imports: Vec::new(), others: FxHashSet::default(), deep, typing_only: false }
    }

    fn binds(&self, name: &str) -> bool {
        self.others.contains(name) || self.imports.iter().any(|import| import.local == name)
    }

    fn import(&mut self, path: String, local: &'a str, loaded: Option<&'a str>, start: TextSize) {
        self.imports.push(Imported { path, local, loaded, at_run_time: !self.typing_only, start });
    }

    fn function(&mut self, function: &'a StmtFunctionDef) {
        for parameter in &*function.parameters {
            self.others.insert(parameter.name().as_str());
        }
        self.visit_body(&function.body);
    }
}

impl<'a> SourceOrderVisitor<'a> for Binder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        // Annotations and the like bind nothing.
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
                        Some(name) => self.import(whole.to_owned(), name.as_str(), None, import.range.start()),
                        None => {
                            let head = whole.split('.').next().unwrap_or(whole);
                            self.import(head.to_owned(), head, Some(whole), import.range.start());
                        }
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let local = alias.asname.as_ref().map_or(name, |asname| asname.as_str());
                    // A relative import is none of the paths that models describe.
                    let path = match import.level {
                        0 => format!("{module}.{name}"),
                        _ => format!(".{module}.{name}"),
                    };
                    self.import(path, local, None, import.range.start());
                }
            }
            Stmt::FunctionDef(function) => {
                self.others.insert(function.name.as_str());
                if self.deep {
                    self.function(function);
                }
            }
            Stmt::ClassDef(class) => {
                self.others.insert(class.name.as_str());
                if self.deep {
                    self.visit_body(&class.body);
                }
            }
            Stmt::Global(global) => self.others.extend(global.names.iter().map(|name| name.as_str())),
            Stmt::Nonlocal(nonlocal) => self.others.extend(nonlocal.names.iter().map(|name| name.as_str())),
            Stmt::If(test) if is_type_checking(&test.test) => {
                let outer = std::mem::replace(&mut self.typing_only, true);
                self.visit_body(&test.body);
                self.typing_only = outer;
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
                self.others.insert(name.id.as_str());
            }
            Expr::Lambda(lambda) if self.deep => {
                for parameter in lambda.parameters.iter().flat_map(|parameters| parameters.iter()) {
                    self.others.insert(parameter.name().as_str());
                }
                self.visit_expr(&lambda.body);
            }
            _ => walk_expr(self, expression),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        self.others.extend(handler.name.iter().map(|name| name.as_str()));
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        self.others.extend(name.map(|name| name.as_str()));
        walk_pattern(self, pattern);
    }
}

/// `TYPE_CHECKING`, `typing.TYPE_CHECKING`.
fn is_type_checking(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
